"""Cases of thresholds: scores over all of them; the best ones of all classes together; of both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import inputs
import numpy as np
from case import FULL, Bench, Result, check, hour, within
from timing import call, in_turn


def thresholds(bench: Bench) -> Iterator[Result]:
    """Find scores over all thresholds, the best micro F of all combinations, and F for all pairs of both."""
    yield _everything(bench)
    tally, size = _cells(bench)
    yield _joint(bench, tally, "segment", size)
    yield _surface(bench, tally, size)
    tally = _events(bench)
    yield _joint(bench, tally, "event", f"{hour(bench)} x {inputs.N_CLASSES} classes x 0.2 s frames")


def _everything(bench: Bench) -> Result:
    """Return what best F of segments and events and PSDS take together, tables in memory."""
    from sedeval_soft import evaluate

    reference, edges, scores = inputs.frame_scores(bench.size.hour * 5, frames_per_second=5)
    tables = reference.table(), inputs.frame_table(edges, scores)
    of_classes = [np.ascontiguousarray(values) for values in scores.T]

    def ours() -> Any:  # noqa: ANN401 - Scores
        return evaluate(
            *tables, only=("segment.optimal", "event.optimal", "intersection.optimal"), psds="dcase-psds1"
        )

    def sorted_() -> None:
        for values in of_classes:
            np.sort(values)

    costs = in_turn(call(ours), call(sorted_), bench.runs)
    case = "best F of segments, events and intersections, and PSDS1"
    size = f"{hour(bench)} x {inputs.N_CLASSES} classes x 0.2 s frames"
    return within(f"{case}, {size}", costs, "numpy.sort of each class's values", None)


def _cells(bench: Bench) -> tuple[Any, str]:
    """Return a tally of the values of many segments, as `evaluate` makes it, and how large it is."""
    from sedeval_soft.measures.tally import Tally

    n, labels = bench.size.cells, inputs.CLASSES
    rng = np.random.default_rng(0)
    reference = np.round(rng.random((len(labels), n)) ** 6, 2)
    system = np.clip(reference + rng.normal(0.0, 0.2, reference.shape), 0.0, 1.0)
    per_file = {"n_segments": np.array([n]), "length": np.array([n * 1_000_000])}
    samples = {"segment.reference": reference, "segment.system": system}
    shown = "1 M" if n == FULL.cells else f"{n:,}"
    return Tally(
        ("x",), tuple(sorted(labels)), {}, per_file, samples
    ), f"{shown} segments x {len(labels)} classes"


def _events(bench: Bench) -> Any:  # noqa: ANN401 - a Tally
    from sedeval_soft.api.sources import to_rows
    from sedeval_soft.evaluation.shard import count_rows
    from sedeval_soft.settings import Settings

    reference, edges, scores = inputs.frame_scores(bench.size.hour * 5, frames_per_second=5)
    settings = Settings.of(only=("event.optimal",))
    sides = (to_rows(of, "t", settings) for of in (reference.table(), inputs.frame_table(edges, scores)))
    return count_rows(*sides, settings).tally


def _joint(bench: Bench, tally: Any, basis: str, size: str) -> Result:  # noqa: ANN401 - a Tally
    from sedeval_soft.evaluation.optimal import as_one, candidates_of, merits_of, optimal_scores
    from sedeval_soft.measures.thresholds import joint_best
    from sedeval_soft.settings import Settings

    settings, every = Settings.of(only=(f"{basis}.optimal",)), np.ones((1, 1))

    def together() -> float:
        candidates = candidates_of(tally, basis, settings, as_one(tally))
        at, best = joint_best(candidates, every, 1.0)
        for c, own in enumerate(candidates):
            own.thresholds(every, at[:, c], inclusive=False)
        return float(best[0])

    def alone() -> Any:  # noqa: ANN401 - an array
        candidates = candidates_of(tally, basis, settings, as_one(tally))
        merits = merits_of(basis, settings)
        return [own.best(every, merits, inclusive=False) for own in candidates]

    table = optimal_scores(tally, basis, replace(settings, measures=("joint",)))
    check(basis, together(), float(table["joint_f"].overall))
    costs = in_turn(call(together), call(alone), bench.runs)
    case = f"best micro F over class-wise thresholds, {basis}s: {size}"
    return within(case, costs, "each class's best F", 2.0)


def _surface(bench: Bench, tally: Any, size: str) -> Result:  # noqa: ANN401 - a Tally
    from sedeval_soft.measures.curve_scores import Surface

    reference, system = (tally.samples[f"segment.{side}"] for side in ("reference", "system"))

    def counted() -> Surface:
        return Surface.of(reference, system)

    def sorted_() -> None:
        for row in system:
            np.sort(row)

    found = counted()
    both = np.logical_and(reference[0] > 0.3, system[0] > 0.7)
    check("surface", float(found.tp[0, 29, 69]), float(both.sum()))
    costs = in_turn(call(counted), call(sorted_), bench.runs)
    case = f"hard F at 99 x 99 thresholds of both sides, {size}"
    return within(case, costs, "one sort per class", 10.0)
