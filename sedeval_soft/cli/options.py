"""The options that commands share, in the groups that their help shows.

An option that is a setting has no default here: what was not given stays as the settings have it.
The defaults that the help shows are held against `Settings` by a test.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import click

from sedeval_soft.core.paths import is_file

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

METHODS = ("bootstrap", "bca", "expanded", "jackknife")

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex")

SERVICE_FORMATS = ("github", "junit", "codabench")
"""Forms that services take, which say what is required, too."""


def number(text: str) -> float:
    """Return a decimal number in plain digits: Python would take `1_0` and digits of other scripts, too."""
    if text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return float(text)
    raise click.BadParameter(f"{text!r} is not a number such as 0.5.")


def segment_length(text: str) -> float:
    """Return a number of seconds, which may be a fraction such as 1/3 or 1024/44100."""
    if "/" not in text:
        return number(text)
    # Not before they are asked for: they import numpy and dataclasses, which the help has no use for.
    from sedeval_soft.core.errors import SettingsError
    from sedeval_soft.core.numbers import segment

    try:
        return segment("it", text)
    except SettingsError:
        raise click.BadParameter(f"{text!r} is not a number of seconds such as 0.5 or 1/3.") from None


def jobs(text: str) -> int:
    """Return a number of processes, 0 for one for each processor."""
    if text == "all":
        return 0
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text)
    raise click.BadParameter(f"{text!r} is not a number of processes such as 4, or all.")


def threshold(text: str) -> float | str:
    """Return a number, or what `--thresholds` takes: a rule, or the path of a file."""
    from sedeval_soft.core.tuning import RULES

    try:
        return number(text)
    except click.BadParameter:
        if text in RULES or is_file(text):
            return text
        rules = " or ".join(RULES)
        raise click.BadParameter(
            f"{text!r} is no number such as 0.5, no rule ({rules}), and no file."
        ) from None


class Grouped(click.Option):
    """An option that knows under which heading the help shows it, and which default to show."""

    def __init__(self, *args: Any, heading: str = "Other", shown: str | None = None, **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.heading = heading
        self.shown = shown

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the default that it stands for."""
        record = super().get_help_record(ctx)
        if record is None or self.shown is None:
            return record
        return record[0], f"{record[1]}  [default: {self.shown}]"


class _Context(click.Context):
    """The context of a command; of the one that needs no name, usage and hints show the program alone."""

    @property
    def command_path(self) -> str:
        """Return what was called, as one would call it."""
        parent = self.parent
        if parent is None or self.info_name != getattr(parent.command, "default_cmd_name", None):
            return super().command_path
        return parent.command_path


class GroupedCommand(click.Command):
    """A command whose help shows its options under headings."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read `--ci` without a method as that with the first: what follows it is a path, then."""
        args = list(args)
        end = args.index("--") if "--" in args else len(args)
        for i in range(end):
            if args[i] == "--ci" and (i + 1 == len(args) or args[i + 1].lower() not in METHODS):
                args[i] = f"--ci={METHODS[0]}"
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options heading by heading, in the order in which headings first appear."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters = self.params if ctx.command is self else [*self.params, *ctx.command.params]
        for parameter in [*parameters, ctx.command.get_help_option(ctx)]:
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "heading", "Other"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def option(heading: str, *names: str, **kwargs: Any) -> Decorator:  # noqa: ANN401 - click's own
    """Return a decorator that adds an option under a heading."""
    return click.option(*names, cls=Grouped, heading=heading, **kwargs)


def setting(heading: str, *names: str, **kwargs: Any) -> Decorator:  # noqa: ANN401 - click's own
    """Return a decorator for an option that is a setting; `shown` is its default for the help."""
    return option(heading, *names, default=None, **kwargs)


def switch(heading: str, name: str, destination: str, *, value: bool, text: str) -> Decorator:
    """Return a decorator for a setting that is switched on or off by one flag."""
    return option(heading, name, destination, is_flag=True, flag_value=value, default=None, help=text)


_FILE = click.Path(dir_okay=False, path_type=str)

SCORING = "What is compared"
SEGMENTS = "Segments"
EVENTS = "Events"
PROCESSING = "Post-processing of the system's output, in this order"
INTERSECTIONS = "Intersections and PSDS"
MEASURES = "Further measures"
TUNED = "Thresholds found on other data"
INTERVALS = "How sure scores are"
FILES = "Parts of the files"
SYSTEMS = "Several systems"
OUTPUT = "Output"
TABLES = "Columns of tables"
LIMITS = "Limits of inputs"
CHECKS = "Requirements and second opinions"

READ: tuple[Decorator, ...] = (
    option(SCORING, "--durations", type=click.Path(path_type=str), metavar="TSV",
           help="Table of filename and duration: evaluated lengths (else the reference's last offsets), and "
                "the list of evaluated files."),
    option(SCORING, "--preset", metavar="NAME",
           help="Settings of a challenge, as `soft-sed-eval presets` lists them; options override them."),
    option(SCORING, "--config", type=_FILE, metavar="YAML",
           help="File of settings. Options override it; it overrides the file or preset that it `extends`."),
)  # fmt: skip

LIMITED: tuple[Decorator, ...] = (
    option(LIMITS, "--limit", "limits", multiple=True, metavar="NAME=NUMBER",
           help="Raise or lower the most that an input may have: size (bytes, decompressed), ratio (of "
           "compression), rows, classes, files, duration (seconds), name_length, members (of a folder), "
           "line_length. Repeatable."),
    option(LIMITS, "--memory-limit", metavar="SIZE",
           help="Take no more memory than this, such as 4G; what would need more is refused, or counted in "
           "parts where it can be.  [default: 80 % of what is free]"),
)  # fmt: skip

INTAKE: tuple[Decorator, ...] = (
    option(TABLES, "--columns", "columns", multiple=True, metavar="ROLE=COLUMN[,...]",
           help="Which column of a table is its filename, onset, offset, event_label or value, where it is "
           "not called so, and which to ignore: filename=segment_id,value=p,ignore=scene. It holds for each "
           "table that has such a column. Repeatable."),
    *LIMITED,
)  # fmt: skip

STREAM: tuple[Decorator, ...] = (
    option(LIMITS, "--jobs", type=jobs, metavar="N|all",
           help="Count large tables in N processes; 0 or all: one for each processor. The scores are the "
           "same.  [default: half as many as processors, from 256 MiB]"),
    option(LIMITS, "--scheduler", metavar="ADDRESS|local|FILE",
           help="Count by the workers of a dask scheduler: tcp://HOST:PORT, the file that a scheduler writes "
           "for jobs of a cluster, or local for workers of this machine (--jobs of them). The scores are the "
           "same."),
)  # fmt: skip

QUIET = option(OUTPUT, "-q", "--quiet", is_flag=True, help="No warnings and remarks on standard error.")

COUNTING: tuple[Decorator, ...] = (
    setting(SCORING, "--reference-threshold", type=number, shown="the same", metavar="NUMBER",
            help="Reference values above it are active."),
    switch(SCORING, "--inclusive", "inclusive", value=True, text="Active at the threshold too (>=)."),
    setting(SCORING, "--beta", type=number, shown="1.0", metavar="NUMBER", help="Weight of recall in F."),
    setting(SCORING, "--classes", multiple=True, metavar="A,B,...",
            help="Evaluate these classes only, in this order. Repeatable; quote names with commas: "
            "'\"a, b\",c'."),
    setting(SEGMENTS, "--segment-length", type=segment_length, shown="1.0", metavar="SECONDS",
            help="Length of a segment, also as 1/3 or 1024/44100."),
    setting(SEGMENTS, "--pool", type=click.Choice(["max", "mean"]), shown="max",
            help="A segment takes the largest value in it, or the time-weighted mean."),
    setting(EVENTS, "--onset-collar", type=number, shown="0.2", metavar="SECONDS",
            help="Tolerance of onsets."),
    setting(EVENTS, "--offset-collar", type=number, shown="0.2", metavar="SECONDS",
            help="Tolerance of offsets ..."),
    setting(EVENTS, "--offset-collar-rate", type=number, shown="0.5", metavar="RATE",
            help="... or this share of the reference event's length, if that is longer."),
    switch(EVENTS, "--no-onset", "onset", value=False, text="Do not look at onsets."),
    switch(EVENTS, "--no-offset", "offset", value=False, text="Do not look at offsets."),
    setting(EVENTS, "--events", type=click.Choice(["auto", "merge", "rows"]), shown="auto",
            help="Touching active rows of a class are one event (merge), or each row is one (rows); "
            "auto merges where a table has values."),
    setting(PROCESSING, "--median-filter", type=number, shown="0.0", metavar="SECONDS",
            help="Median filter of about this length: an odd number of time steps."),
    setting(PROCESSING, "--min-gap", type=number, shown="0.0", metavar="SECONDS",
            help="Close shorter gaps between events of a class."),
    setting(PROCESSING, "--min-duration", type=number, shown="0.0", metavar="SECONDS",
            help="Drop shorter events."),
    setting(INTERSECTIONS, "--dtc", type=number, shown="0.5", metavar="SHARE",
            help="Share of a detection that reference events must cover, else it is a false positive."),
    setting(INTERSECTIONS, "--gtc", type=number, shown="0.5", metavar="SHARE",
            help="Share of a reference event that detections, if they are no false positives, must cover to "
            "find it."),
)  # fmt: skip
"""What shapes the counts at any threshold."""

SETTINGS: tuple[Decorator, ...] = (
    setting(SCORING, "--threshold", type=threshold, shown="0.5", metavar="NUMBER|RULE|YAML",
            help="System values above it are active. A rule or a file is taken as by --thresholds."),
    *COUNTING,
    setting(SCORING, "--only", multiple=True, metavar="BASIS[.READING]",
            help="Evaluate this: segment, event, intersection, clip (a file), ranking (of the classes of "
            "a segment), or one reading, such as segment.hard, segment.optimal, segment.soft; or all. "
            "Repeatable.  [default: segment and event]"),
    setting(EVENTS, "--matching", type=click.Choice(["optimal", "greedy"]), shown="optimal",
            help="Match as many events as can be (optimal), or each with the first that is free (greedy)."),
    setting(INTERSECTIONS, "--cttc", type=number, shown="0.3", metavar="SHARE",
            help="Share of a false positive that reference events of another class must cover to make it a "
            "cross trigger."),
    setting(INTERSECTIONS, "--psds", type=click.Choice(["dcase-psds1", "dcase-psds2"]),
            help="Compute PSDS as DCASE does: sets --dtc, --gtc, --cttc and the three options below where "
            "they are not given."),
    setting(INTERSECTIONS, "--alpha-ct", type=number, shown="0.0", metavar="NUMBER",
            help="Compute PSDS; weight of cross triggers."),
    setting(INTERSECTIONS, "--alpha-st", type=number, shown="0.0", metavar="NUMBER",
            help="Compute PSDS; weight of the spread over classes."),
    setting(INTERSECTIONS, "--max-efpr", type=number, shown="100.0", metavar="NUMBER",
            help="Compute PSDS; largest effective false positive rate per hour."),
    setting(INTERSECTIONS, "--psds-median-filters", multiple=True, type=number, metavar="SECONDS",
            help="Compute PSDS with the best of these median filters at every false positive rate (piPSDS). "
            "Repeatable."),
    setting(MEASURES, "--measures", multiple=True, metavar="GROUP",
            help="Compute these too: curves (average precision, ROC), divergence, calibration, confusion (of "
            "classes), joint (best thresholds of all classes), or all. Repeatable; --score of one of "
            "them is enough."),
    setting(MEASURES, "--max-fpr", type=number, shown="0.1", metavar="RATE",
            help="False alarm rate at which partial areas under the ROC end, and at which miss rates are "
            "read."),
    setting(MEASURES, "--max-fnr", type=number, shown="0.1", metavar="RATE",
            help="Miss rate at which false alarm rates are read."),
    setting(MEASURES, "--iou", type=number, shown="0.5", metavar="SHARE",
            help="Intersection over union from which average precision counts an event as found."),
    setting(MEASURES, "--bins", type=int, shown="15", metavar="N", help="Bins of calibration."),
    setting(MEASURES, "--t-norm", type=click.Choice(["minimum", "product", "lukasiewicz"]), shown="minimum",
            help="What two soft labels have in common: the smaller, the product, or max(0, sum - 1)."),
    setting(MEASURES, "--entropy-unit", type=click.Choice(["nats", "bits"]), shown="nats",
            help="Unit of divergences and cross-entropy."),
    setting(MEASURES, "--epsilon", type=number, shown="1e-07", metavar="NUMBER",
            help="Where a logarithm is taken, values stay this far from 0 and 1."),
)  # fmt: skip

TUNING: tuple[Decorator, ...] = (
    setting(TUNED, "--thresholds", metavar="YAML|RULE",
            help="Add a tuned reading: the system cut at each class's threshold, from a file of "
            "soft-sed-eval tune or by a rule: midpoint (of the values of a class) or prior (as many "
            "segments are above it as the reference has)."),
    setting(TUNED, "--cross-tune", type=int, metavar="K",
            help="Add a tuned reading: files dealt into K parts by --seed, the thresholds of each found on "
            "the others. With --folds it is there, each fold's thresholds found on the other folds."),
)  # fmt: skip

SEARCH: tuple[Decorator, ...] = (
    setting(MEASURES, "--satisfice", metavar="'MEASURE>=NUMBER'",
            help="Optimal readings: the threshold of each class, and the one for all, with the best F where "
            "precision or recall is at least a number, or fpr_per_hour, error_rate, substitution_rate, "
            "deletion_rate or insertion_rate at most one. 'recall at precision>=0.9' finds another best."),
    switch(MEASURES, "--reference-sweep", "reference_sweep", value=True,
           text="Show hard and optimal readings over thresholds of the reference, 0.1 to 0.9; --curves also "
           "has hard F of segments over thresholds of both sides."),
)  # fmt: skip

OBJECTIVE: tuple[Decorator, ...] = (
    setting(TUNED, "--objective", metavar="BASIS.MEASURE",
            help="What thresholds are best for: f1 or error_rate of segment, event, intersection or clip.  "
            "[default: the f1 of each basis itself; of tune segment.f1]"),
)  # fmt: skip

TUNE: tuple[Decorator, ...] = (
    *READ,
    option(OUTPUT, "-o", "--output", type=click.Path(path_type=str), metavar="FILE",
           help="Write the thresholds to a file; it is complete or not touched."),
    QUIET,
)  # fmt: skip

SURE: tuple[Decorator, ...] = (
    setting(INTERVALS, "--ci", type=click.Choice(METHODS, case_sensitive=False),
            metavar="[bootstrap|bca|expanded|jackknife]",
            help="Give every score an interval, from files drawn anew (bootstrap; bca corrects its bias, "
            "expanded widens that for few files) or left out one by one (jackknife). Without a method: "
            "bootstrap."),
    setting(INTERVALS, "--replicates", type=int, shown="1000", metavar="N",
            help="How often files are drawn anew, and exchanged between two systems that are compared."),
    setting(INTERVALS, "--confidence", type=number, shown="0.95", metavar="SHARE",
            help="Confidence of intervals. Systems that cannot be told apart at this confidence share a "
            "rank."),
    setting(INTERVALS, "--seed", type=int, shown="0", metavar="N",
            help="Seed of the random numbers: the same seed gives the same results."),
    switch(INTERVALS, "--fixed-thresholds", "fixed_thresholds", value=True,
           text="Optimal readings: find best thresholds once, on all files, not in every replicate anew."),
)  # fmt: skip

PARTS: tuple[Decorator, ...] = (
    option(FILES, "--folds", type=click.Path(path_type=str), metavar="TSV",
           help="Table of filename and fold: the files of all folds are scored together, and how far the "
           "scores of single folds lie apart is shown below."),
    option(FILES, "--by", type=click.Path(path_type=str), metavar="TSV|PATTERN",
           help="Score the files of each scene by themselves, too: a table of filename and scene, or a "
           "pattern of file names with the scene in braces, such as '{scene}_[0-9]*'."),
)  # fmt: skip

SEVERAL: tuple[Decorator, ...] = (
    option(SYSTEMS, "--rank-by", metavar="NAME",
           help="The score by which several systems are ranked.  [default: segment.soft.f1.macro]"),
    option(SYSTEMS, "--baseline", metavar="SYSTEM",
           help="Compare the others with this one of them.  [default: the best]"),
    option(SYSTEMS, "--runs", is_flag=True,
           help="Each SYSTEM is one training of the same system: print the mean of each score over "
           "trainings, and its interval."),
)  # fmt: skip

INPUT: tuple[Decorator, ...] = (
    option(INTERSECTIONS, "--operating-point", "points", multiple=True, metavar="THRESHOLD=TABLE",
           help="In place of SYSTEM: the events that it detects at a threshold. Repeatable; what is computed "
           "over all thresholds is then over these."),
    option(INTERSECTIONS, "--operating-points", "points_folder", metavar="FOLDER",
           help="In place of SYSTEM: a folder, or a pattern in quotes, of such tables whose names hold their "
           "thresholds (out_0.1.tsv, out_0.5.tsv)."),
    *READ,
    switch(SCORING, "--strict", "strict", value=True,
           text="What may be misread (times, columns, files and classes that are missing or unknown) is an "
           "error, not a warning."),
)  # fmt: skip

RESULTS: tuple[Decorator, ...] = (
    option(OUTPUT, "--format", "form", type=click.Choice((*FORMATS, *SERVICE_FORMATS)), default="text",
           show_default=True,
           help="Form of the results: for people, programs, papers (latex), services. github: annotations, "
           "and a job summary in $GITHUB_STEP_SUMMARY; junit: each requirement a test; codabench: "
           "scores.json, or scores.txt where that is what -o names."),
    option(OUTPUT, "-o", "--output", type=click.Path(path_type=str), metavar="FILE",
           help="Write the results to a file; it is complete or not touched."),
    option(OUTPUT, "--save-tally", type=click.Path(path_type=str), metavar="FILE",
           help="Write what was counted in each file to FILE, for `soft-sed-eval merge`."),
    option(OUTPUT, "--raw-names", is_flag=True,
           help="Leave names in CSV and TSV as they are, also those that a spreadsheet would run."),
    option(OUTPUT, "--average", "averages", multiple=True, type=click.Choice(["micro", "macro", "weighted"]),
           help="Show only these averages, whatever the form of the results. Repeatable.  [default: all]"),
    option(OUTPUT, "--score", "wanted", multiple=True, metavar="NAME",
           help="Print just this number, such as segment.soft.f1.macro; with --ci, its interval behind it. "
           "Repeatable."),
    QUIET,
    option(CHECKS, "--require", "requirements", multiple=True, metavar="'NAME>=NUMBER'",
           help="Exit with 1 unless the score is so (>=, >, <=, <, ==). Repeatable."),
)  # fmt: skip

PAGE: tuple[Decorator, ...] = (
    option(OUTPUT, "--report", type=click.Path(path_type=str), metavar="FILE",
           help="Write a page of HTML for people, too: all readings, thresholds to move, curves, timelines."),
    option(OUTPUT, "--timeline", "timelines", multiple=True, metavar="FILENAME",
           help="Show this recording over time in the report, beside those that cost most and some drawn at "
           "random. Repeatable."),
)  # fmt: skip

SINGLE: tuple[Decorator, ...] = (
    option(INTERVALS, "--chance", is_flag=True,
           help="Show the chance level of each score, what the same output has where it knows nothing of the "
           "recordings, and the score between chance and the best."),
    option(INTERVALS, "--draws", type=click.IntRange(1, 1_000_000), metavar="N",
           help="How often the output is moved in time for chance levels without closed form.  "
           "[default: 100]"),
    setting(OUTPUT, "--worst", type=int, shown="0", metavar="N",
            help="List the N files, classes and segments with the most misses and false alarms."),
    option(OUTPUT, "--curves", type=click.Path(path_type=str), metavar="FILE",
           help="Write the curves of what is evaluated, over all thresholds, to a .tsv or .parquet file."),
    option(OUTPUT, "--list-scores", is_flag=True,
           help="Print the names and meanings of all scores, and exit."),
    option(CHECKS, "--check", type=click.Choice(["sed_eval", "sed_scores_eval"]),
           help="Score once more with that package, and print ours, theirs, the difference and its causes."),
    setting(CHECKS, "--compat", type=click.Choice(["sed_eval"]),
            help="Follow that package's arithmetic exactly in the hard reading."),
)  # fmt: skip


def add(*groups: tuple[Decorator, ...]) -> Decorator:
    """Return one decorator that adds all options of some groups, in their order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed([item for group in groups for item in group]):
            function = decorator(function)
        return function

    return decorate
