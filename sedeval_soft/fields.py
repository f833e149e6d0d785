"""Every setting of an evaluation: its type, default, range, meaning and option.

This is the one definition of settings. The options of the commands, the keyword arguments of `evaluate`, the
checks of `Settings`, the JSON Schema of settings files and the page of settings are made from it.
A new setting needs a row here and a line in the class `Settings`; a test compares the two. `aliases.toml` has
the names of settings in other tools.

`soft-sed-eval --help` reads this module: it imports nothing that takes time.
"""

# The annotations are read when the program runs: no `from __future__ import annotations` here.
import types
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Union, get_args, get_origin

Pool = Literal["max", "mean"]
Matching = Literal["optimal", "greedy"]
MatchBy = Literal["collar", "iou"]
EventForm = Literal["auto", "merge", "rows"]
RegionEdges = Literal["cut", "onset"]
Compat = Literal["sed_eval"]
PSDSName = Literal["dcase-psds1", "dcase-psds2"]
TNorm = Literal["minimum", "product", "lukasiewicz"]
EntropyUnit = Literal["nats", "bits"]
Interval = Literal["bootstrap", "bca", "expanded", "jackknife"]
Rule = Literal["midpoint", "prior"]
"""Thresholds that follow from the values of segments: the middle of a class's range, and that above which as
many segments are as are active in the reference."""

RULES: tuple[str, ...] = get_args(Rule)

Never = Literal["never"]
"""The threshold of a class without detections."""

LONGEST = 1e6
"""Seconds; a limit of segments and collars that keeps ticks far from overflow."""

DEFAULT_ONLY = ("segment", "event")
"""The bases that are evaluated by default."""

Columns = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""Columns by their roles: `filename=segment_id,value=p`, some such texts, or names by role."""

SCORING = "What is compared"
EVENTS = "Events"
PROCESSING = "Post-processing of the system's output, in this order"
INTERSECTIONS = "Intersections and PSDS"
MEASURES = "Further measures"
TUNED = "Thresholds found on other data"
INTERVALS = "Confidence intervals and chance"
OUTPUT = "Output"
CHECKS = "Requirements and second opinions"
TABLES = "How tables are read"


class Field(NamedTuple):
    """The definition of a setting beside its type.

    - default: None if the setting has none, or if another setting implies it.
    - heading, metavar, help, flag: of its option, if it has a heading.
    - brief: its text in the short help, which lists no setting without one.
    - shown: the default in both helps.
    - meaning: for the reference and the JSON Schema; by default the help.
    - least, most: the range of numbers. above: whether the least is excluded.
    - implied: the value if neither the setting nor `psds` is given.
    - steers: whether the setting shapes no statistic of a file, but the results made of the statistics.
    - From its type: kind (number, whole, switch, choice, other), choices, optional (whether it may be None),
      several (whether it is a list).
    - seldom: whether it is one of `SELDOM`.
    """

    default: Any
    heading: str = ""
    metavar: str | None = None
    meaning: str = ""
    help: str = ""
    brief: str = ""
    flag: str = ""
    shown: str | None = None
    least: float | None = None
    most: float | None = None
    above: bool = False
    implied: float | None = None
    steers: bool = False
    kind: str = "other"
    choices: tuple[str, ...] = ()
    optional: bool = False
    several: bool = False
    seldom: bool = False

    def typed(self, value: str) -> str:
        """Return how its option is typed with a value: `--min-gap 0.2`, or `--set min_gap=0.2`."""
        return f"{self.flag}={value}" if self.seldom else f"{self.flag} {value}"

    def with_default(self, text: str) -> str:
        """Return a text of its option's help with the default, if there is one to show."""
        default = self.default if self.implied is None else self.implied
        shown = self.shown or (str(default) if isinstance(default, float | int | str) else "")
        return f"{text}  [default: {shown}]" if text and shown and self.kind != "switch" else text


# fmt: off
class SettingsKeywords(TypedDict, total=False):
    """The settings as keyword arguments, for `evaluate(..., **settings)` and `Settings.of`."""

    segment_length: Annotated[float | str, Field(1.0, SCORING, "SECONDS", least=1e-6, most=LONGEST,
        meaning="Seconds per segment, exactly: also a text such as `1/3` or `1024/44100`, or the float "
        "nearest to such a fraction. Edge k lies at k times that, however long a recording is.",
        help="Length of a segment, also as 1/3 or 1024/44100.", brief="Length of a segment.")]
    pool: Annotated[Pool, Field("max", SCORING,
        help="The value of a segment: the largest in it, or the time-weighted mean.")]
    threshold: Annotated[float, Field(0.5, SCORING, "NUMBER", least=0, most=2.0,
        meaning="A system value is active above it.",
        help="The system is active where its values are above this.",
        brief="Above it, the system is active.")]
    reference_threshold: Annotated[float | None, Field(None, SCORING, "NUMBER", least=0, most=2.0,
        shown="the same",
        meaning="A reference value is active above it; null for the same number as `threshold`.",
        help="The reference is active where its values are above this.")]
    inclusive: Annotated[bool, Field(False, SCORING,
        help="Values that equal a threshold are active, too (>= instead of >).")]
    match_by: Annotated[MatchBy, Field("collar", EVENTS,
        meaning="Which events may match: those whose onsets and offsets are within collars (`collar`), or "
        "those whose intersection over union is at least `iou` (`iou`).",
        help="Match events whose onsets and offsets are within collars (collar), or whose intersection over "
        "union is at least `iou` (iou).")]
    onset_collar: Annotated[float, Field(0.2, EVENTS, "SECONDS", least=0, most=LONGEST,
        meaning="Tolerance of onsets in seconds.", help="How far apart the onsets of two matched events may "
        "be.")]
    offset_collar: Annotated[float, Field(0.2, EVENTS, "SECONDS", least=0, most=LONGEST,
        meaning="Tolerance of offsets in seconds, or `offset_collar_rate` of the reference's length if that "
        "is longer.", help="How far apart the offsets of two matched events may be, if --offset-collar-rate "
        "does not allow more.")]
    offset_collar_rate: Annotated[float, Field(0.5, EVENTS, "RATE", least=0, most=LONGEST,
        meaning="Tolerance of offsets as a share of the reference's length, if that is longer than "
        "`offset_collar`.", help="The same as a share of the reference event's length; the longer of the two "
        "holds.")]
    onset: Annotated[bool, Field(True, EVENTS,
        help="Whether event-based scores look at onsets.")]
    offset: Annotated[bool, Field(True, EVENTS,
        help="Whether event-based scores look at offsets.")]
    matching: Annotated[Matching, Field("optimal", EVENTS,
        help="Match as many events as possible (optimal), or each with the first that is free (greedy).")]
    events: Annotated[EventForm, Field("auto", EVENTS,
        help="What an event is: touching active rows of a class together (merge), or each row by itself "
        "(rows). auto merges rows that are time steps with values, and no list of events.")]
    median_filter: Annotated[float | Mapping[str, float], Field(0.0, PROCESSING, "SECONDS", least=0,
        most=LONGEST, meaning="A median filter of the system's output, of about so many seconds, before "
        "`min_gap` and `min_duration`. One number, or a mapping of class names to seconds, which leaves "
        "other classes as they are; the same holds for `min_gap` and `min_duration`.",
        help="Smooth the output with a median filter of about this length, an odd number of time steps.")]
    min_gap: Annotated[float | Mapping[str, float], Field(0.0, PROCESSING, "SECONDS", least=0, most=LONGEST,
        help="Close gaps between events of a class that are shorter than this.")]
    min_duration: Annotated[float | Mapping[str, float], Field(0.0, PROCESSING, "SECONDS", least=0,
        most=LONGEST, help="Drop events that are shorter than this.")]
    dtc: Annotated[float | None, Field(None, INTERSECTIONS, "SHARE", least=0.0, most=1.0, above=True,
        implied=0.5,
        meaning="Share of a detection that reference events must cover; null for that of `psds`, else 0.5.",
        help="Share of a detection that reference events must cover; with less it is a false positive.")]
    gtc: Annotated[float | None, Field(None, INTERSECTIONS, "SHARE", least=0.0, most=1.0, above=True,
        implied=0.5,
        meaning="Share of a reference event that detections must cover; null for that of `psds`, else 0.5.",
        help="Share of a reference event that detections must cover for it to count as found. False "
        "positives do not cover anything.")]
    cttc: Annotated[float | None, Field(None, INTERSECTIONS, "SHARE", least=0.0, most=1.0, above=True,
        implied=0.3, meaning="Share of a false positive that events of another class must cover to make it a "
        "cross trigger; null for that of `psds`, else 0.3.", help="Share of a false positive that reference "
        "events of another class must cover to make it a cross trigger.")]
    psds: Annotated[PSDSName | Sequence[PSDSName] | None, Field(None, MEASURES, "NAME",
        meaning="Null, or the name of a polyphonic sound detection score to compute. Of several names each "
        "further one, such as `dcase-psds2`, means `variants: intersection.hard.psds@psds=dcase-psds2`.",
        help="Compute PSDS as DCASE does: dcase-psds1, dcase-psds2 or, repeated, both. The first sets dtc, "
        "gtc, cttc, alpha_ct, alpha_st and max_efpr where they are not given.",
        brief="Compute PSDS: dcase-psds1 or dcase-psds2.")]
    alpha_ct: Annotated[float | None, Field(None, INTERSECTIONS, "NUMBER", least=0.0, most=1e3, implied=0.0,
        meaning="Weight of cross triggers in PSDS; a number asks for PSDS. null for that of `psds`, else 0.",
        help="Compute PSDS with this weight of cross triggers.")]
    alpha_st: Annotated[float | None, Field(None, INTERSECTIONS, "NUMBER", least=0.0, most=1e3, implied=0.0,
        meaning="Weight of the spread over classes in PSDS; a number asks for PSDS. null for that of `psds`, "
        "else 0.", help="Compute PSDS with this weight of the spread over classes.")]
    max_efpr: Annotated[float | None, Field(None, INTERSECTIONS, "NUMBER", least=0.0, most=1e9, above=True,
        implied=100.0, meaning="Largest effective false positive rate per hour of PSDS; a number asks for "
        "PSDS. null for that of `psds`, else 100.",
        help="Compute PSDS up to this effective false positive rate per hour.")]
    psds_median_filters: Annotated[Sequence[float] | None, Field((), INTERSECTIONS, "SECONDS", least=0,
        most=LONGEST,
        meaning="Asks for PSDS with the best of median filters of these lengths, in seconds (piPSDS).",
        help="Compute PSDS with the best of these median filters at every false positive rate (piPSDS). "
        "Repeatable.")]
    beta: Annotated[float, Field(1.0, SCORING, "NUMBER", least=1e-3, most=1e3,
        help="Weight of recall in F.")]
    t_norm: Annotated[TNorm, Field("minimum", MEASURES,
        meaning="What soft labels of segments and clips have in common: `minimum`, `product` or "
        "`lukasiewicz` (max(0, y + p - 1)). Only with the minimum is F of a copied soft reference 1.",
        help="What two soft labels have in common: the smaller, the product, or max(0, sum - 1).")]
    measures: Annotated[Sequence[str] | None, Field((), MEASURES, "GROUP",
        meaning="Groups of measures to compute as well: `curves`, `divergence`, `calibration`, `confusion`, "
        "`joint`, `grounding`, or `all`.", help="Compute these, too: curves (average precision, ROC), "
        "divergence, calibration, confusion (of classes), joint (best thresholds of all classes), grounding "
        "(mean IoU), or all. Repeatable; a --score from a group is computed without it.")]
    means: Annotated[Sequence[str] | None, Field((), MEASURES, "MEAN",
        meaning="Means to compute as well, of measures of which more is better: `harmonic` and `geometric` "
        "over classes (`segment.hard.f1.harmonic`), and `mean`, `harmonic` or `geometric` over `files`, "
        "`scenes` or `groups`, such as `scenes.harmonic` (`segment.hard.f1.micro@scenes.harmonic`).",
        help="Compute these, too: harmonic or geometric (means over classes), or mean, harmonic or geometric "
        "of files, scenes or groups, such as scenes.harmonic. Repeatable; a --score that is such a mean is "
        "computed without it.")]
    max_fpr: Annotated[float, Field(0.1, MEASURES, "RATE", least=0.0, most=1.0, above=True,
        help="False alarm rate at which partial areas under the ROC curve end, and at which miss rates are "
        "read off.")]
    max_fnr: Annotated[float, Field(0.1, MEASURES, "RATE", least=0.0, most=1.0, above=True,
        help="Miss rate at which false alarm rates are read off.")]
    iou: Annotated[float, Field(0.5, EVENTS, "SHARE", least=0.0, most=1.0, above=True,
        help="The least intersection over union of two matched events, by match_by=iou and in average "
        "precision.")]
    bins: Annotated[int, Field(15, MEASURES, "N", least=1, most=10_000,
        help="Number of bins of the calibration measures.")]
    entropy_unit: Annotated[EntropyUnit, Field("nats", MEASURES,
        help="Unit of divergences and of the cross-entropy.")]
    epsilon: Annotated[float, Field(1e-7, MEASURES, "NUMBER", least=1e-16, most=0.1, above=True,
        help="Where a logarithm is taken, values stay this far from 0 and 1.")]
    thresholds: Annotated[Mapping[str, float | Never] | Rule | None, Field(None, TUNED, "YAML|RULE",
        least=0, most=2.0, meaning="The system's threshold of each class in the tuned reading, `never` to "
        "detect nothing of it; a class that is not named has `threshold`. Or a rule: `midpoint` of the "
        "class's lowest and highest segment, `prior` (as many segments are above it as are active in the "
        "reference).",
        help="Add the tuned reading: each class of the system has a threshold of its own, from a file of "
        "`soft-sed-eval tune` or by a rule: midpoint (of its lowest and its highest value) or prior (as many "
        "segments are above it as are active in the reference).")]
    cross_tune: Annotated[int | Literal["folds"] | None, Field(None, TUNED, "K", least=2, most=1000,
        meaning="Find thresholds for each fold on the other folds instead: those that are given (`folds`), "
        "or so many, into which files are dealt by `seed`.",
        help="Add the tuned reading by cross-validation: --seed deals the files into K parts, of which each "
        "has the thresholds that are best on the others. --folds does the same with its folds.")]
    objective: Annotated[str | None, Field(None, TUNED, "BASIS.MEASURE",
        meaning="What `cross_tune` finds thresholds for, see `OBJECTIVES`; null for the F of each basis "
        "itself.", help="The score for which thresholds are found: f1 or error_rate of segment, event, "
        "intersection or clip, such as event.f1.  [default: the f1 of each basis; segment.f1 for tune]")]
    satisfice: Annotated[str | None, Field(None, MEASURES, "'MEASURE>=NUMBER'",
        help="Add scores at the thresholds, of each class and one for all classes, with the best F among "
        "those that keep a limit: precision or recall is at least a number, or fpr_per_hour, error_rate, "
        "substitution_rate, deletion_rate or insertion_rate is at most one. 'recall at precision>=0.9' looks "
        "for the best recall instead of the best F.")]
    reference_sweep: Annotated[bool, Field(False, MEASURES,
        meaning="Also score hard and optimal readings over thresholds of the reference, 0.1 to 0.9.",
        help="Also show the hard and optimal readings with reference thresholds from 0.1 to 0.9.")]
    ci: Annotated[Interval | None, Field(None, INTERVALS, "[METHOD]", steers=True,
        meaning="Null, or how intervals of scores are found, resampling files: percentiles of `bootstrap` "
        "replicates, those corrected for bias and acceleration (`bca`), these with tails widened for few "
        "files (`expanded`), or the delete-one `jackknife`.", help="Confidence intervals of all scores, by "
        "resampling files: bootstrap, bca (without its bias), expanded (bca for few files), or jackknife.  "
        "[default method: bootstrap]",
        brief="Confidence intervals, by resampling files.")]
    replicates: Annotated[int | None, Field(1000, INTERVALS, "N", least=1, most=1_000_000, steers=True,
        help="How often files are resampled, or exchanged between two systems to compare them.")]
    confidence: Annotated[float | None, Field(0.95, INTERVALS, "SHARE", least=0.0, most=0.9999, above=True,
        steers=True,
        help="Confidence level of intervals. Systems that cannot be told apart at this level share a rank.")]
    seed: Annotated[int | None, Field(0, INTERVALS, "N", least=0, most=2**63 - 1, steers=True,
        help="Seed of the random numbers: the same seed gives the same results.")]
    fixed_thresholds: Annotated[bool | None, Field(False, INTERVALS, steers=True,
        help="Optimal readings: find the best thresholds once, on all files, and not again in every "
        "replicate.")]
    worst: Annotated[int, Field(0, OUTPUT, "N", least=0, most=1_000_000,
        help="List the N files, classes and segments with the most misses and false alarms.")]
    classes: Annotated[Sequence[str] | None, Field(None, SCORING, "A,B,...",
        meaning="The classes to evaluate; null for all that occur on either side.",
        help="Evaluate only these classes, in this order: A,B or '\"a, b\",c'. Repeatable.",
        brief="Evaluate only these classes.")]
    ignore_class: Annotated[Sequence[str] | None, Field(None, SCORING, "NAME",
        meaning="Classes of the reference whose rows are no events but time about which nothing is known, "
        "for all classes, such as `UNK`; null for none. Detections that match only such a row, or lie in "
        "such time for more than half of their length, count neither way, and segments in it are not "
        "evaluated. A class that a form of tables declares to be one need not be named.",
        help="Rows of this class in the reference say where nothing is known: detections that match only "
        "these, or lie in them for more than half, count neither way; segments in them are not evaluated. "
        "Repeatable.")]
    map: Annotated[Mapping[str, str] | str | PathLike[str] | None, Field({}, SCORING, "TSV",
        meaning="The class that each label stands for, where tables call classes otherwise: many labels may "
        "be one class. `system:dog` or `reference:dog` is the label of one side. The path of a table of "
        "label and class (from the settings file on) does, too.",
        help="Labels that stand for other classes: a table of label and class.")]
    map_to: Annotated[str | None, Field(None, SCORING, "COLUMN",
        meaning="The column of the table of `map` that has the classes; null for `class`.",
        help="Its column of classes.  [default: class]")]
    files: Annotated[Sequence[str] | str | PathLike[str] | None, Field(None, SCORING, "LIST",
        meaning="The recordings to evaluate, and no others: their names, or the path of a list or a table "
        "of them (from the settings file on); null for all. Signatures and results have their number and the "
        "hash of their names.",
        help="Evaluate only these recordings: names, one a line, or a table with a column of file names.")]
    regions: Annotated[Any | None, Field(None, SCORING, "TSV|UEM",
        meaning="The regions to evaluate of each recording, and of no others: lists of onset and offset in "
        "seconds, and perhaps a class, by file name, or the path of a table of filename, onset, offset and "
        "perhaps event_label, or of a UEM file (from the settings file on); null for whole recordings. "
        "Signatures and results have number and hash.",
        help="Evaluate only these regions: a table of filename, onset, offset (event_label), or UEM.")]
    region_edges: Annotated[RegionEdges | None, Field("cut", SCORING,
        help="Events that cross the edge of a region: cut keeps the part inside, onset keeps the whole event "
        "if its onset is inside. Segments and clips are cut in any case.")]
    after_shots: Annotated[str | int | None, Field(None, SCORING, "'N [CLASS]'",
        meaning="Evaluate each recording from where the N-th event of the reference ends, as few-shot tasks "
        "do: `5`, or `5 POS` to count events of one class only; null for the whole.",
        help="Evaluate each recording from the end of its N-th reference event on, of a class or of any, as "
        "few-shot tasks do: '5 POS'. Files with fewer are left out.")]
    groups: Annotated[Mapping[str, Sequence[str]] | None, Field({}, meaning="Names of classes by the name of "
        "a group: all averages are computed over each group as well, as if only its classes were evaluated.")]
    scenes: Annotated[Mapping[str, Sequence[str]] | None, Field({},
        meaning="Patterns of file names by the name of a scene (`*`, `?`, `[ab]`, case matters): all scores "
        "are computed of the matching files as well, as if only these were evaluated, with the same "
        "classes.")]
    only: Annotated[Sequence[str] | None, Field(DEFAULT_ONLY, SCORING, "BASIS[.READING]",
        meaning="What to evaluate: bases (`segment`, `event`, `intersection`), single readings of one "
        "(`segment.soft`), or `all`.", help="Evaluate only this: segment, event, "
        "intersection, clip (a whole file), ranking (of the classes of a segment), or a reading of one, such "
        "as segment.soft; or all. Repeatable.  [default: segment and event]",
        brief="Only this, such as event or segment.soft, or all.")]
    compat: Annotated[Compat | None, Field(None, CHECKS,
        meaning="Null, or a tool whose arithmetic the hard reading follows to the bit.",
        help="Compute the hard reading exactly as that package does.")]
    strict: Annotated[bool, Field(False, SCORING,
        meaning="Stop with an error, not a warning, if something may be misread: times, columns, missing or "
        "unknown files and classes.",
        help="Stop, and not only warn, where something may be misread: times, columns, files or classes.")]
    rank_by: Annotated[str | None, Field(None, meaning="The score that stands first in results and by which "
        "several systems are ranked, such as `event.hard.f1.macro`; null for `segment.soft.f1.macro`, or "
        "`segment.hard.f1.macro` if the reference has no values.")]
    variants: Annotated[Sequence[str] | None, Field((), flag="--score", meaning="Scores by other "
        "settings than these, which their names have: `event.hard.f1.macro@onset_collar=0.5`.")]


class ReadingKeywords(TypedDict, total=False):
    """Keyword arguments for reading tables: by default of both sides."""

    columns: Annotated[Columns | None, Field(None, TABLES, "ROLE=COLUMN",
        meaning="Which columns play which role where their names do not say it, as "
        "`filename=segment_id,value=p`, some such texts, or names by role (`filename`, `onset`, `offset`, "
        "`duration`, `event_label`, `value`, or `ignore` for those that are to be skipped). A table "
        "without such a column is read as always.",
        help="Which column is the filename, onset, offset, duration, event_label or value where its name "
        "does not say so, and which to ignore: filename=segment_id,value=p,ignore=scene; by number in a "
        "table without a header: onset=2,offset=3. Repeatable.")]
    label: Annotated[str | None, Field(None, TABLES, "NAME",
        meaning="The class of all rows of a table that has neither a column of labels nor columns of "
        "classes.", help="The class of all rows of tables without labels.")]
    sample_rate: Annotated[float | None, Field(None, TABLES, "HZ",
        meaning="The sample rate of tables whose times are in samples; null for times in seconds.",
        help="The times of tables are in samples at this rate.")]
    source_form: Annotated[str | Sequence[str] | Mapping[str, str] | None, Field(None, TABLES, "[SIDE=]FORM",
        flag="--from", meaning="The form that tables must have, where they could be taken for another one: "
        "a name, or names by side (`reference`, `system`).",
        help="The form of the tables, such as audacity, where they could be taken for another; or that of "
        "one side only: reference=audacity. Repeatable.")]
    operating_points: Annotated[bool | None, Field(None, TABLES,
        meaning="Whether systems that are folders are operating points: tables of one system at thresholds, "
        "which their names hold (`out_0.1.tsv`, `out_0.5.tsv`).",
        help="SYSTEM is a folder, or a pattern in quotes, of its tables at thresholds that are in their "
        "names: out_0.1.tsv.")]
# fmt: on


class Keywords(SettingsKeywords, ReadingKeywords, total=False):
    """Keyword arguments of `evaluate`: settings, and arguments for reading tables.

    preset: the name of settings that apply below these.
    """

    preset: str


SELDOM = (
    *("inclusive", "beta", "ignore_class", "after_shots", "region_edges"),
    *("pool", "match_by", "iou", "onset", "offset", "matching", "events", "min_gap", "min_duration"),
    *("dtc", "gtc", "cttc", "alpha_ct", "alpha_st", "max_efpr", "psds_median_filters"),
    *(
        "means",
        "satisfice",
        "reference_sweep",
        "t_norm",
        "max_fpr",
        "max_fnr",
        "bins",
        "entropy_unit",
        "epsilon",
    ),
    *("objective", "confidence", "fixed_thresholds", "compat"),
)
"""Settings that few change: on the command line they are given by `--set NAME=VALUE`."""


def _defined(keywords: Any) -> dict[str, Field]:  # noqa: ANN401 - a TypedDict
    """Return the fields of some keyword arguments, completed from their types."""
    defined: dict[str, Field] = {}
    for name, annotation in keywords.__annotations__.items():
        kind, field = get_args(annotation)
        kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
        several = [each for each in kinds if each is not type(None)]
        origins = [get_origin(each) for each in several]
        choices = get_args(several[0]) if get_origin(several[0]) is Literal else ()
        plain = {float: "number", int: "whole", bool: "switch"}
        one = plain.get(several[0], "choice" if choices else "other")
        defined[name] = field._replace(
            kind=one if len(several) == 1 else "other",
            choices=choices,
            optional=len(several) < len(kinds),
            several=Sequence in origins and PathLike not in origins,
            seldom=name in SELDOM,
            meaning=field.meaning or field.help,
            flag=field.flag or (f"--set {name}" if name in SELDOM else f"--{name.replace('_', '-')}"),
        )
    return defined


FIELDS = _defined(SettingsKeywords)
"""All settings by their names, in the order in which signatures list them."""

READING = _defined(ReadingKeywords)
"""Keyword arguments for reading tables, by name. Settings files use the name of the option as the key."""

STEERING = tuple(name for name, field in FIELDS.items() if field.steers)
"""Settings that shape no statistic of a file, but the results made of the statistics."""

UNCOUNTED = frozenset({*STEERING, "rank_by", "means"})
"""Settings that shape no statistic of a file."""

IMPLIED = {name: field.implied for name, field in FIELDS.items() if field.implied is not None}
"""Values for intersections and PSDS if neither these settings nor `psds` are given."""

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml", "latex")
"""Forms of results."""

OF_CURVES = (".tsv", ".parquet")
"""Ends of the names of files that have the numbers of curves."""

METHODS = FIELDS["ci"].choices
"""Methods to find intervals."""
