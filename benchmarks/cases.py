"""The cases: what is compared with what, and the target that the project has set itself.

A case makes its input, checks where it can that both sides compute the same number, and times
them in turn. In-process cases go through the public library, as a user would: our side is
given tables in memory, the peer its own structures, built beforehand. Ours is asked for the reading
that the peer has, with all its measures and averages; as whole processes it computes every reading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import cases_board
import cases_challenge
import cases_events
import cases_floors
import cases_install
import cases_report
import cases_resample
import cases_scores
import cases_thresholds
import inputs
from case import COMMAND, Bench, Command, Result, check, faster, hour, megabytes, processes, within
from timing import call, in_turn

Case = Callable[[Bench], Iterator[Result]]


def small(bench: Bench) -> Iterator[Result]:
    """Score a small pair of tables as a whole process, against only importing what reading needs."""
    rows = bench.size.small_rows
    tables = inputs.long_tables(bench.folder, rows, file_seconds=60)
    floor = [sys.executable, "-c", "import click, numpy, pyarrow.csv"]
    costs = processes(bench, [COMMAND, tables.reference, tables.system, "-v"], floor, inputs.CLASSES[-1])
    yield within(f"{rows:,} + {rows:,} rows, all tables", costs, "import click, numpy, pyarrow.csv", 1.8)


def wide(bench: Bench) -> Iterator[Result]:
    """Score large wide tables, against only reading them; and peak memory, against their size."""
    tables = inputs.wide_tables(bench.folder, bench.size.large_rows, file_seconds=300)
    yield from _large(bench, tables, "wide", 2.0)


def long(bench: Bench) -> Iterator[Result]:
    """Score large long tables, against only reading them; and peak memory, against their size."""
    tables = inputs.long_tables(bench.folder, bench.size.large_rows, file_seconds=300)
    yield from _large(bench, tables, "long", 3.0)


def _large(bench: Bench, tables: inputs.Tables, form: str, target: float) -> Iterator[Result]:
    paths = [tables.reference, tables.system]
    ours: Command = [COMMAND, *paths, "--only", "segment", "--by-class"]
    floor: Command = inputs.reading(*paths)
    costs = processes(bench, ours, floor, inputs.CLASSES[-1])
    rows = bench.size.large_rows
    case = f"{rows:,} + {rows:,} rows {form}, segment-based"
    yield within(case, costs, "pyarrow.csv reads both", target)
    peak, size = costs.peak_bytes, tables.size
    yield Result(f"{case}: peak memory", megabytes(peak), f"both files, {megabytes(size)}", peak / size, 6.0)


def validate(bench: Bench) -> Iterator[Result]:
    """Look for problems in a large clean table, by itself and beside its reference, against only reading."""
    rows = bench.size.large_rows
    for form, make in (("wide", inputs.wide_tables), ("long", inputs.long_tables)):
        tables = make(bench.folder, rows, file_seconds=300)
        ours: Command = [COMMAND, "validate", tables.system]
        costs = processes(bench, ours, inputs.reading(tables.system), "no problems")
        yield within(f"validate {rows:,} rows {form}", costs, "pyarrow.csv reads it", 3.0)
        both = inputs.reading(tables.reference, tables.system)
        costs = processes(bench, [*ours, "--reference", tables.reference], both, "no problems")
        yield within(f"validate {rows:,} rows {form}, with reference", costs, "pyarrow.csv reads both", 3.0)


def start_up(bench: Bench) -> Iterator[Result]:
    """Print the help, against importing click."""
    floor = [sys.executable, "-c", "import click"]
    costs = processes(bench, [COMMAND, "--help"], floor, "--segment-length", runs=3 * bench.runs)
    yield within("`soft-sed-eval --help`", costs, "import click", 1.5)


def segments(bench: Bench) -> Iterator[Result]:
    """Score one long recording in very short segments, against sed_eval."""
    reference, system = inputs.segment_lists(bench.size.segment_events, bench.size.hour)
    metrics = _sed_eval("SegmentBasedMetrics", time_resolution=0.01)
    case = f"segment-based, {hour(bench)} x {inputs.N_CLASSES} classes at 10 ms"
    settings = {"only": ("segment.hard",), "segment_length": 0.01}
    yield _against_sed_eval(bench, case, (reference, system), metrics, settings=settings, target=10)


def events(bench: Bench) -> Iterator[Result]:
    """Match many events of one file, of one class and of several, against sed_eval."""
    n_events = bench.size.events
    collars = {"t_collar": 0.2, "percentage_of_length": 0.5}
    metrics = _sed_eval("EventBasedMetrics", event_matching_type="optimal", **collars)
    for n_classes, of in ((1, "one class"), (inputs.N_CLASSES, f"{inputs.N_CLASSES} classes")):
        sides = inputs.event_lists(n_events, bench.size.hour, n_classes)
        case = f"event-based, {n_events:,} x {n_events:,} events of one file, {of}"
        yield _against_sed_eval(bench, case, sides, metrics, settings={"only": ("event.hard",)}, target=10)


def _sed_eval(name: str, **settings: Any) -> Callable[[], Any]:  # noqa: ANN401 - sed_eval has no types
    import sed_eval

    kind = getattr(sed_eval.sound_event, name)
    return lambda: kind(event_label_list=list(inputs.CLASSES), **settings)


def _against_sed_eval(
    bench: Bench,
    case: str,
    sides: tuple[inputs.Events, inputs.Events],
    metrics: Callable[[], Any],
    *,
    settings: dict[str, Any],
    target: float,
) -> Result:
    from dcase_util.containers import MetaDataContainer

    from sedeval_soft import evaluate

    tables = [side.table() for side in sides]
    containers = [MetaDataContainer(side.rows()) for side in sides]
    theirs: list[float] = []

    def ours() -> float | int | None:
        return evaluate(*tables, **settings)[f"{settings['only'][0].split('.')[0]}.hard.f1.micro"]

    def other() -> None:
        evaluator = metrics()
        evaluator.evaluate(*containers)
        theirs.append(evaluator.results()["overall"]["f_measure"]["f_measure"])

    costs = in_turn(call(ours), call(other), bench.runs, once=True)
    check(case, ours(), theirs[0])
    return faster(case, costs, "sed_eval", target)


def best_f(bench: Bench) -> Iterator[Result]:
    """Find every class's best threshold, against sed_scores_eval."""
    for length in (1.0, 0.2):
        case = f"best F, {hour(bench)} x {inputs.N_CLASSES} classes x 0.2 s frames, {length} s segments"
        if find_spec("sed_scores_eval") is None:
            yield Result(case, "-", "sed_scores_eval is not installed")
        else:
            yield _best_f(bench, case, length)


def _best_f(bench: Bench, case: str, segment_length: float) -> Result:
    from sed_scores_eval.base_modules.scores import create_score_dataframe
    from sed_scores_eval.segment_based import best_fscore

    from sedeval_soft import evaluate

    reference, edges, scores = inputs.frame_scores(bench.size.hour * 5, frames_per_second=5)
    tables = reference.table(), inputs.frame_table(edges, scores)
    frames = {inputs.FILE: create_score_dataframe(scores, edges, list(inputs.CLASSES))}
    truth, durations = {inputs.FILE: reference.tuples()}, {inputs.FILE: float(bench.size.hour)}
    names = [f"segment.optimal.f1.{average}" for average in ("macro", "micro")]
    settings: dict[str, Any] = {"only": ("segment.optimal",), "segment_length": segment_length}

    def ours() -> list[float | int | None]:
        found = evaluate(*tables, **settings)
        return [found[name] for name in names]

    def other() -> list[float]:
        found = best_fscore(frames, truth, durations, segment_length=segment_length)[0]
        return [found[f"{average}_average"] for average in ("macro", "micro")]

    costs = in_turn(call(ours), call(other), bench.runs)
    for mine, theirs in zip(ours(), other(), strict=True):
        check(case, mine, theirs)
    return faster(case, costs, "sed_scores_eval", 10)


CASES: dict[str, Case] = {
    "small": small,
    "wide": wide,
    "long": long,
    "validate": validate,
    "segments": segments,
    "events": events,
    "challenge": cases_challenge.challenge,
    "best-f": best_f,
    "collars": cases_events.collars,
    "psds": cases_events.psds,
    "psds-eval": cases_floors.psds_eval,
    "floors": cases_floors.floors,
    "archive": cases_floors.archive,
    "workers": cases_floors.workers,
    "soft": cases_events.soft,
    "noise": cases_events.noise,
    "clips": cases_events.clips,
    "growth": cases_events.growth,
    "adversarial": cases_events.adversarial,
    "annotators": cases_events.annotators,
    "scores": cases_scores.scores,
    "intervals": cases_resample.intervals,
    "thresholds": cases_thresholds.thresholds,
    "board": cases_board.board,
    "report": cases_report.report,
    "start-up": start_up,
    "install": cases_install.install,
}
"""All cases by name, in the order of the document."""
