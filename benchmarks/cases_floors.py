"""What nothing that reads a table can be faster than; and the tool that PSDS comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import inputs
import large
import numpy as np
from case import (
    COMMAND,
    FULL,
    Bench,
    Command,
    DisagreementError,
    Result,
    faster,
    hour,
    megabytes,
    processes,
    seconds,
    within,
)
from timing import call, in_turn
from watch import watched

_SCORE = "segment.soft.f1.micro"
_COPY = "import numpy, sys; values = numpy.full(int(sys.argv[1]), 0.5); values.copy()"
_POINTS = {True: 50, False: 3}
"""Thresholds at which the other tool is asked, of whole inputs and of trials."""


def floors(bench: Bench) -> Iterator[Result]:
    """Score large long tables, against counting their lines, and against copying their numbers in memory."""
    rows = bench.size.large_rows
    tables = inputs.long_tables(bench.folder, rows, file_seconds=300)
    paths = [tables.reference, tables.system]
    ours: Command = [COMMAND, *paths, "--only", "segment", "--by-class"]
    case = f"{rows:,} + {rows:,} rows long, segment-based"
    others: dict[str, Command] = {
        "wc -l": ["wc", "-l", *paths],
        "numpy copies six columns of numbers": [sys.executable, "-c", _COPY, str(6 * rows)],
        "pyarrow.csv reads both": inputs.reading(*paths),
    }
    for name, command in others.items():
        costs = processes(bench, ours, command, inputs.CLASSES[-1])
        yield within(f"{case}: a floor, {name}", costs, name, None)


def archive(bench: Bench) -> Iterator[Result]:
    """Score tables of a gigabyte each within 2 GB of memory, against only reading them."""
    case, paths, ours = _archive(bench, 20)
    rounds = [(watched(ours), watched(inputs.reading(*paths))) for _ in range(min(bench.runs, 3))]
    took, read = (median(run.seconds for run in runs) for runs in zip(*rounds, strict=True))
    ratio = median(run.seconds / other.seconds for run, other in rounds)
    yield Result(case, seconds(took), f"pyarrow.csv reads both, {seconds(read)}", ratio, 2.5)
    peak = max(run.peak_bytes for run, _ in rounds)
    yield Result(f"{case}: peak memory", megabytes(peak), "the limit, 2,000 MB", peak / 2e9, 1.0)


def workers(bench: Bench) -> Iterator[Result]:
    """Score larger tables by two workers, against one on one processor; and what two processors give."""
    case, _, ours = _archive(bench, 50)
    # One process by itself works in threads on all processors: as a worker of many it has one.
    first, second = (["taskset", "-c", str(n), *ours, "--jobs", "1"] for n in (0, 1))
    rounds = []
    for _ in range(min(bench.runs, 3)):
        with ThreadPoolExecutor(2) as pool:
            at_once = max(run.seconds for run in pool.map(watched, (first, second)))
        rounds.append((watched([*ours, "--jobs", "2"]).seconds, watched(first).seconds, at_once))
    both, one, at_once = (median(times) for times in zip(*rounds, strict=True))
    other = f"one, on one processor, {seconds(one)}"
    gain = median(one / both for both, one, _ in rounds)
    yield Result(f"{case}: two workers", seconds(both), other, gain, 1.7, at_least=True)
    name = f"{case}: two such runs at once, one on each processor"
    most = median(2 * one / at_once for _, one, at_once in rounds)
    yield Result(name, seconds(at_once), f"twice {seconds(one)}", most, at_least=True)


def _archive(bench: Bench, times: int) -> tuple[str, list[Path], Command]:
    """Make tables, so many times larger than large ones; return the case, their paths and our command."""
    rows = times * bench.size.large_rows
    tables = large.tables(bench.folder, rows)
    paths = [tables.reference, tables.system]
    ours = [COMMAND, *paths, "--only", "segment", "--memory-limit", "2GB", "--score", _SCORE]
    return f"{rows:,} + {rows:,} rows long, segment-based, within 2 GB", paths, ours


def psds_eval(bench: Bench) -> Iterator[Result]:
    """Compute PSDS over all thresholds, against psds_eval at fifty."""
    case = f"PSDS1, {hour(bench)} (minutes) x {inputs.N_CLASSES} classes x 0.2 s frames, all thresholds"
    if find_spec("psds_eval") is None:
        yield Result(case, "-", "psds_eval is not installed")
        return
    import pandas as pd
    from psds_eval import PSDSEval

    from sedeval_soft import evaluate

    n_points = _POINTS[bench.size is FULL]
    made = inputs.recordings(max(2, bench.size.hour // 60), 60, frames_per_second=5)
    events = [(name, *event) for name, own in made.truth.items() for event in own]
    columns = ["filename", "onset", "offset", "event_label"]
    truth = pd.DataFrame(events, columns=columns)
    lengths = pd.DataFrame({"filename": list(made.durations), "duration": list(made.durations.values())})
    points = [
        pd.DataFrame(_detected(made, t), columns=columns) for t in np.linspace(0, 1, n_points + 2)[1:-1]
    ]

    def ours() -> Any:  # noqa: ANN401
        return evaluate(
            *made.tables, durations=made.durations, only=("intersection.hard",), psds="dcase-psds1"
        )["intersection.hard.psds"]

    class Judge(PSDSEval):  # type: ignore[misc]
        """psds_eval, whose own sum of rectangles fails with numpy 2.4."""

        @staticmethod
        def _auc(x: Any, y: Any, max_x: float, _decreasing: bool) -> float:  # noqa: ANN401
            kept = x < max_x
            return float((np.diff(np.append(x[kept], max_x)) * y[kept]).sum())

    theirs: list[float] = []

    def other() -> None:
        judge = Judge(0.7, 0.7, 0.3, ground_truth=truth, metadata=lengths, class_names=list(inputs.CLASSES))
        for point in points:
            judge.add_operating_point(point)
        theirs.append(float(judge.psds(alpha_ct=0.0, alpha_st=1.0, max_efpr=100.0).value))

    costs = in_turn(call(ours), call(other), bench.runs, once=True)
    # Some thresholds enclose less than all.
    if not theirs[0] <= ours() + 1e-9 or (bench.size is FULL and ours() - theirs[0] > 0.1):
        raise DisagreementError(f"{case}: ours is {ours()}, theirs {theirs[0]}")
    yield faster(case, costs, f"psds_eval at {n_points} thresholds", None)


def _detected(made: inputs.Recordings, threshold: float) -> list[tuple[str, float, float, str]]:
    """Return the events of all recordings at a threshold."""
    found = []
    for name, scores in made.scores.items():
        active = np.zeros((len(scores) + 2, scores.shape[1]), dtype=np.int8)
        active[1:-1] = scores > threshold
        change = np.diff(active, axis=0).T
        label, onset = np.nonzero(change == 1)
        offset = np.nonzero(change == -1)[1]
        times = zip(made.edges[onset].tolist(), made.edges[offset].tolist(), label.tolist(), strict=True)
        found += [(name, begin, end, inputs.CLASSES[code]) for begin, end, code in times]
    return found
