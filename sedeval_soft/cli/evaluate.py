"""`soft-sed-eval REFERENCE SYSTEM...`: the main job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import PurePath
from typing import Any

import click

import sedeval_soft as library
from sedeval_soft import api, evaluation
from sedeval_soft.cli import options
from sedeval_soft.cli.command import Option, argument, command, refuse, setting
from sedeval_soft.cli.output import Presentation, progress
from sedeval_soft.fields import OUTPUT, STEERING

EXAMPLES = """
  soft-sed-eval ref.tsv sys.tsv
  soft-sed-eval ref.tsv a.tsv b.tsv c.tsv --rank-by segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --score segment.soft.f1.macro --ci
  soft-sed-eval ref.tsv sys.tsv --require 'segment.soft.f1.macro>=0.35'
  soft-sed-eval report ref.tsv sys.tsv -o page.html
"""


def _jobs(text: str) -> int | str:
    """Return a number of processes, 0 for one for each processor, or where a scheduler is."""
    if re.fullmatch("all|[0-9]{1,4}", text):
        return 0 if text == "all" else int(text)
    if "." in text or "/" in text:
        return text
    raise click.BadParameter(f"{text!r} is not a number of processes such as 4, all, or a scheduler.")


def _names(paths: Sequence[str], names: Sequence[str], *, runs: bool) -> list[str]:
    """Return the names of systems: the values of `--name`, else the names of their files if these differ."""
    if names and not runs:
        expected = f"expected {len(paths)} different names, one for each SYSTEM; found {', '.join(names)}"
        refuse((len({*names}) != len(paths) or len(names) != len(paths), f"--name: {expected}."))
        return [*names]
    refuse((len(names) > 1, "--name with --runs is the name of the mean; expected it once."))
    twice = next((path for path in paths if paths.count(path) > 1), "")
    refuse((bool(twice), f"SYSTEM {twice} is given twice; expected each once."))
    files = [PurePath(path).name or path for path in paths]
    return files if len({*files}) == len(files) else [*paths]


def _workers(jobs: int | str | None, *, points: bool) -> Any:  # noqa: ANN401 - a context of workers
    """Return the workers of a scheduler, or none; points: whether it would count these."""
    if not isinstance(jobs, str):
        return nullcontext()
    refuse((points, f"--jobs {jobs}: a scheduler needs tables in files; found operating points."))
    from sedeval_soft.apps.cluster import workers

    return workers(jobs)


@command(
    EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", required=True, nargs=-1),
    *options.EVERYTHING,
    *options.READ,
    setting("strict"),
    *options.PARTS,
    *options.RANKED,
    Option(options.SYSTEMS, "--runs", is_flag=True, help="Each SYSTEM is a training run of one system: print "
        "the mean of each score over the runs, and its interval."),
    *options.RESULTS,
    Option(OUTPUT, "--name", "names", multiple=True, metavar="TEXT",
        help="Name of a SYSTEM, once for each; with --runs, once for the mean.  "
        "[default: its file's name]"),
    setting("worst"),
    options.POINTS,
    *options.INTAKE,
    Option(options.LIMITS, "--jobs", type=_jobs, metavar="N|all|ADDRESS|FILE", help="Count large tables in N "
        "processes, in one for each processor (all), or on the workers of a dask scheduler: tcp://HOST:PORT, "
        "or its file.  [default: half of the processors, for tables from 256 MiB on]"),
    status=options.REQUIRED,
)  # fmt: skip
def evaluate(
    reference: str, systems: tuple[str, ...], asked: api.Request, limits: library.Limits,
    baseline: str | None, runs: bool, names: tuple[str, ...], jobs: int | str | None, save_tally: str | None,
    **shown: Any,  # noqa: ANN401 - as `Presentation` takes them
) -> None:  # fmt: skip
    """Score sound event detection systems against a hard or soft reference.

    REFERENCE and SYSTEM are tables of onset, offset, class and (optional) value in [0, 1] per row, or of
    onset, offset and one column per class; tab-, comma- or semicolon-separated, with or without a
    header, gzipped or not; or folders of such tables, one per recording. `-` is standard input.

    Prints segment- and event-based scores in three readings: hard (both sides at one threshold),
    optimal (each class at its best threshold) and soft (all levels of both sides). For several systems
    it prints a leaderboard; with --runs they are training runs of one system, and it prints their mean.
    """
    several, form, per_file = len(systems) > 1, shown["form"], shown["per_file"]
    ci, worst, services = "ci" in asked.values, "worst" in asked.values, ", ".join(options.SERVICE_FORMATS)
    # Which forms of results show what costs most.
    listing = ("json", "yaml") if several else ("json", "yaml", "text", "markdown", "github")
    refuse(
        (several and (save_tally or jobs is not None or (form == "codabench" and not runs)),
         f"--save-tally, --jobs and --format codabench need one SYSTEM; found {len(systems)}."),
        (not several and (runs or baseline), "--runs and --baseline need two or more SYSTEM; found 1."),
        (runs and (baseline or per_file or ci or worst),
         "--runs prints means over trainings: it cannot go with --baseline, --ci, --worst or --per-file."),
        (per_file and (form in options.SERVICE_FORMATS or ci or worst),
         f"--per-file prints single files' scores: it cannot go with --ci, --worst or --format {services}."),
        (shown["wanted"] and (shown["averages"] or worst),
         "--score prints what it names and nothing else: it cannot go with --average or --worst."),
        (worst and form not in listing, f"--worst needs --format {' or '.join(listing)}; found {form}."),
        (form == "junit" and not shown["requirements"],
         "--format junit has a test for each requirement; expected --require 'NAME>=NUMBER', too."),
    )  # fmt: skip
    called = _names(systems, names, runs=runs)
    baseline = dict(zip(systems, called, strict=True)).get(baseline or "", baseline)
    view = Presentation(**shown, likely=asked.computed)
    system = None if several else api.with_points(systems[0], limits)
    # Which of the default scores ranks systems is known when the reference was read.
    ranking = api.RANK_BY.values() if several and not runs and asked.rank_by is None else ()
    of_several = ("confidence",) if runs else () if per_file else STEERING
    settings = asked.checked(
        view.names, beside=[*ranking], systems=[system], also=of_several if several else (), ranks=True,
        just=bool(view.wanted), averages=view.averages,
    )  # fmt: skip
    if settings.ci:
        evaluation.refuse_jackknife(settings, view.wanted)
    how: dict[str, Any] = {"settings": settings, "limits": limits, **asked.tables}
    with progress(quiet=view.quiet) as show, _workers(jobs, points=api.is_points(system)) as execute:
        how["progress"], shard = show, None
        if several:
            mean, named = (*names, "")[0] if runs else None, dict(zip(called, systems, strict=True))
            together = {"mean": mean, "apart": per_file, "baseline": baseline}
            scores, board = api.score_several(reference, named, **together, **how)
        else:
            how |= {"jobs": None if execute else jobs, "execute": execute}
            done = api.evaluation_of(reference, system, name=called[0], **how)
            scores, board, shard = [done.scores], None, done.shard
    save = partial(api.save_tally, save_tally, shard) if save_tally and shard else None
    view.finish([asked.with_doubts(each) for each in scores], board, save)
