"""Cases of events at every threshold: against sed_scores_eval, against ourselves, and how time grows."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import inputs
import pyarrow as pa
from case import COMMAND, FULL, Bench, Command, Result, check, faster, hour, processes, seconds, within
from timing import Costs, call, in_turn, process

PEER = "sed_scores_eval"

ANNOTATED = 30.0
"""Seconds in which a hundred thousand events of each of five annotators are to be evaluated."""


def collars(bench: Bench) -> Iterator[Result]:
    """Find every class's best threshold by collars, against sed_scores_eval."""
    name = f"best event-based F, {hour(bench)} (minutes) x {inputs.N_CLASSES} classes x 0.2 s frames"

    def other(frames: Any, truth: Any, _durations: Any) -> float:  # noqa: ANN401 - the peer's own
        from sed_scores_eval.collar_based import best_fscore

        rules = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.5}
        return float(best_fscore(frames, truth, **rules)[0]["macro_average"])

    yield _against_peer(bench, name, "event.optimal.f1.macro", {"only": ("event.optimal",)}, other, 10)


def psds(bench: Bench) -> Iterator[Result]:
    """Compute the PSDS of DCASE, against sed_scores_eval."""
    scene = {"dtc": 0.7, "gtc": 0.7}, {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3, "alpha_ct": 0.5}
    for number, rules in enumerate(scene, 1):
        case = f"PSDS{number}, {hour(bench)} (minutes) x {inputs.N_CLASSES} classes x 0.2 s frames"
        settings = {"only": ("intersection.hard",), "psds": f"dcase-psds{number}"}
        names = {
            "dtc": "dtc_threshold",
            "gtc": "gtc_threshold",
            "cttc": "cttc_threshold",
            "alpha_ct": "alpha_ct",
        }
        theirs = {names[key]: value for key, value in rules.items()}

        def other(frames: Any, truth: Any, durations: Any, theirs: dict[str, float] = theirs) -> float:  # noqa: ANN401
            from sed_scores_eval.intersection_based import psds as their_psds

            return float(their_psds(frames, truth, durations, alpha_st=1.0, max_efpr=100.0, **theirs)[0])

        yield _against_peer(bench, case, "intersection.hard.psds", settings, other, 10)


def _against_peer(
    bench: Bench, case: str, name: str, settings: dict[str, Any], other: Callable[..., float], target: float
) -> Result:
    if find_spec(PEER) is None:
        return Result(case, "-", f"{PEER} is not installed")
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    from sedeval_soft import evaluate

    made = inputs.recordings(max(2, bench.size.hour // 60), 60, frames_per_second=5)
    frames = {
        name: create_score_dataframe(scores, made.edges, list(inputs.CLASSES))
        for name, scores in made.scores.items()
    }
    arguments = frames, made.truth, made.durations

    def ours() -> float | int | None:
        return evaluate(*made.tables, durations=made.durations, **settings)[name]

    theirs: list[float] = []
    costs = in_turn(call(ours), call(lambda: theirs.append(other(*arguments))), bench.runs, once=True)
    check(case, ours(), theirs[0])
    return faster(case, costs, PEER, target)


def soft(bench: Bench) -> Iterator[Result]:
    """Read events softly, against reading them at their best thresholds; with numba and without it."""
    listed = inputs.recordings(max(2, bench.size.hour // 60), 60, frames_per_second=5).tables
    valued = inputs.soft_tables(bench.size.hour * 5, frames_per_second=5)
    shared = f"soft event-based, {hour(bench)} x {inputs.N_CLASSES} classes x 0.2 s frames"
    for tables, reference in ((listed, "event list as reference"), (valued, "values in every frame of both")):
        costs = _soft_and_optimal(tables, bench.runs)
        yield within(f"{shared}, {reference}", costs, "our optimal event-based", 3.0)
    # By now this process has swept enough for numba to be loaded.
    with ProcessPoolExecutor(1, get_context("spawn"), _without_numba) as other:
        costs = other.submit(_soft_and_optimal, valued, bench.runs).result()
    yield within(f"{shared}, {reference}, without numba", costs, "our optimal event-based", 6.0)


def _soft_and_optimal(tables: tuple[pa.Table, pa.Table], runs: int) -> Costs:
    """Return what reading events softly takes, and reading them at their best thresholds."""
    from sedeval_soft import evaluate

    soft, optimal = (partial(evaluate, *tables, only=(f"event.{r}",)) for r in ("soft", "optimal"))
    return in_turn(call(soft), call(optimal), runs)


def _without_numba() -> None:
    """Let this process not import numba."""
    sys.modules["numba"] = None  # type: ignore[assignment]


_WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None; from sedeval_soft.cli import main; main()"


def noise(bench: Bench) -> Iterator[Result]:
    """Read white noise softly as a whole process, with and without numba, against the time it may take."""
    n_fine = 3000 if bench.size is FULL else 100
    for case, n_frames, n_classes, frames_per_second, limits in (
        (f"{hour(bench)} x 17 classes x 0.2 s", bench.size.hour * 5, 17, 5, (15.0, 3.0)),
        (f"{n_fine:,} frames of 20 ms x 10 classes", n_fine, 10, 50, (30.0, 3.0)),
    ):
        tables = inputs.noise_tables(bench.folder, n_frames, n_classes, frames_per_second)
        arguments = [tables.reference, tables.system, "--only", "event.soft"]
        commands = {"with numba": [COMMAND], "without numba": [sys.executable, "-c", _WITHOUT_NUMBA]}
        runs = [process([*command, *arguments]) for command in commands.values()]
        costs = in_turn(runs[0], runs[1], min(bench.runs, 3))
        for name, took, limit in zip(commands, costs.processor_seconds, limits[::-1], strict=True):
            row = f"soft event-based, white noise, {case}, {name}: processor time"
            if name == "with numba" and find_spec("numba") is None:
                yield Result(row, "-", "numba is not installed")
            else:
                yield Result(row, seconds(took), f"the limit, {seconds(limit)}", took / limit, 1.0)


def clips(bench: Bench) -> Iterator[Result]:
    """Score many short clips in fine frames as a whole process, against only reading the table."""
    n_clips = 1168 if bench.size is FULL else 8
    tables = inputs.clip_tables(bench.folder, n_clips, n_classes=10, frames_per_second=50)
    arguments = [COMMAND, tables.reference, tables.system, "--only", "event", "--by-class"]
    costs = processes(bench, arguments, inputs.reading(tables.system), inputs.CLASSES[9], runs=3)
    values = n_clips * 500 * 10
    case = f"all event readings, {n_clips:,} clips x 10 classes x 20 ms ({values:,} values)"
    yield within(case, costs, "pyarrow.csv reads the table", 15.0)
    part = inputs.clip_tables(bench.folder, n_clips // 4, n_classes=10, frames_per_second=50, name="part")
    fewer = processes(
        bench, [COMMAND, part.reference, part.system, "--only", "event", "--by-class"],
        inputs.reading(part.system), inputs.CLASSES[9], runs=1,
    )  # fmt: skip
    ours, other = costs.peak_bytes, fewer.peak_bytes
    yield Result(
        f"{case}: peak memory", f"{ours / 1e6:,.0f} MB", f"a quarter of the clips, {other / 1e6:,.0f} MB",
        ours / other, 4.0,
    )  # fmt: skip


READINGS = ("event.optimal", "event.soft", "intersection.optimal", "intersection.soft")


def growth(bench: Bench) -> Iterator[Result]:
    """Tell with which power of the number of values the time of each reading grows."""
    from sedeval_soft import evaluate

    sizes = (100_000, 1_000_000, 10_000_000) if bench.size is FULL else (1000, 10_000)
    took: dict[str, list[float]] = {reading: [] for reading in READINGS}
    for size in sizes:
        tables = inputs.soft_tables(size // inputs.N_CLASSES, frames_per_second=5, file_seconds=300)
        for reading in READINGS:
            runs = 3 if size < sizes[-1] else 1
            evaluation = partial(evaluate, *tables, only=(reading,))
            took[reading].append(min(_seconds(evaluation) for _ in range(runs)))
    for reading, times in took.items():
        power = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
        yield Result(
            f"{reading}, {sizes[0]:,} to {sizes[-1]:,} values: power of growth",
            seconds(times[-1]), f"{sizes[0]:,} values, {seconds(times[0])}", power, 1.15,
        )  # fmt: skip


def adversarial(bench: Bench) -> Iterator[Result]:
    """Score inputs made to be hard, against random ones of the same size."""
    from sedeval_soft import evaluate

    n = bench.size.hour * 5
    kinds = inputs.adversarial_values(n)
    for reading in READINGS:
        asked = {"segment_length": 0.2, "only": (reading,)}
        took = {
            kind: min(_seconds(partial(evaluate, *values, **asked)) for _ in range(2))
            for kind, values in kinds.items()
        }
        slowest = max((kind for kind in took if kind != "random"), key=took.__getitem__)
        yield Result(
            f"{reading}, {hour(bench)} x {inputs.N_CLASSES} classes x 0.2 s frames, slowest of "
            f"{len(took) - 1} hard inputs ({slowest})",
            seconds(took[slowest]), f"random values, {seconds(took['random'])}",
            took[slowest] / took["random"], 10.0,
        )  # fmt: skip


def annotators(bench: Bench) -> Iterator[Result]:
    """Make a reference of five annotators as a whole process, and say what they are like, against reading."""
    n_events = bench.size.large_rows // 10
    paths = inputs.annotators(bench.folder, 5, n_events)
    ours: Command = [COMMAND, "annotate", *paths, "-o", bench.folder / "made.tsv", "--force"]
    costs = processes(bench, ours, inputs.reading(*paths), "Ceiling", runs=min(bench.runs, 3))
    case = f"annotate, 5 annotators x {n_events:,} events, reference written"
    yield within(case, costs, "pyarrow.csv reads them", None)
    limit = ANNOTATED * bench.size.large_rows / FULL.large_rows
    yield Result(
        f"{case}: the time",
        seconds(costs.seconds[0]),
        f"the goal, {seconds(limit)}",
        costs.seconds[0] / limit,
        1.0,
    )


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
