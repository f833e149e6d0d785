"""Best thresholds of a tally, and its scores at them: of each class, of all jointly, or under a constraint.

Where all files count the same, they are counted as one: values are sorted without saying whose they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.scores import Score
from sedeval_soft.measures.base import Averaged, Table, averaged, ratio
from sedeval_soft.measures.detection import DetectionCounts, detection_scores
from sedeval_soft.measures.event import Collars, candidate_pairs, count_events, count_per_class, file_class
from sedeval_soft.measures.level_matching import LevelEdges, TooManyPairsError, match_levels
from sedeval_soft.measures.segment import count_hard
from sedeval_soft.measures.tally import Tally, cells_of
from sedeval_soft.measures.threshold_counts import (
    N_SYS,
    PAIRED,
    TP,
    Alive,
    Lives,
    ThresholdCounts,
    best_thresholds,
    error_merit,
    f_merit,
)
from sedeval_soft.measures.thresholds import Candidates, joint_scores, satisficed_scores
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import Constraint, Settings
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import EventLifetimes, Events, active
from sedeval_soft.timeline.recordings import positive

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
WeightedScores = Callable[[Floats], Table]
"""Returns the scores of weighted files; weights: (n_weights, n_files)."""

_MOST_COPIES = 20_000_000
"""Pairs of events times thresholds at which they compete, that are matched whatever their class."""


def optimal_scores(tally: Tally, basis: str, settings: Settings) -> Table:
    """Return the scores at each class's best threshold, and at those that are best jointly or constrained."""
    inclusive = settings.inclusive
    fewest = {}
    if basis in CELLS:
        hits = positive(tally.samples[f"{basis}.reference"], settings)
        thresholds = best_thresholds(tally.samples[f"{basis}.system"], hits, settings.beta, inclusive)
        counts = _cells_at(tally, basis, hits, thresholds, settings)
    else:
        table = threshold_counts(tally, basis, settings)
        thresholds, _, _ = table.best(f_merit(settings.beta), inclusive=inclusive)
        counts = counts_at(tally, basis, thresholds, settings)
        errors_at, tp, n_sys = table.best(error_merit, inclusive=inclusive)
        fewest = error_rate_table(tp, n_sys, table.n_ref, errors_at)
    scores = optimal_table(counts.total(), thresholds, settings) | fewest
    every = np.ones((1, 1))
    if "joint" in settings.measures:
        classes = candidates_of(tally, basis, settings, together=True)
        pooled = pooled_candidates(tally, basis, settings, together=True)
        scores |= _only_row(joint_scores(classes, pooled, every, settings.beta, inclusive=inclusive))
    if settings.satisfice:
        scores |= _only_row(satisficed(tally, basis, settings, together=True)(every))
    return scores


def counts_at(tally: Tally, basis: str, thresholds: Floats, settings: Settings) -> DetectionCounts:
    """Return the counts of each file where each class has a threshold of its own, (n_classes,)."""
    if basis in CELLS:
        hits = positive(tally.samples[f"{basis}.reference"], settings)
        return _cells_at(tally, basis, hits, thresholds, settings)
    reference, system = tally.events["reference"].events(), tally.events["system"]
    alive = system.take(system.alive(thresholds[system.label], settings.inclusive)).events()
    sizes = len(tally.files), len(tally.classes)
    if basis == "event":
        return count_events(reference, alive, *sizes, Collars.of(settings))
    from sedeval_soft.measures.intersection_counts import Criteria, count_intersections

    return count_intersections(reference, alive, *sizes, Criteria.of(settings))


def _cells_at(
    tally: Tally, basis: str, hits: Bools, thresholds: Floats, settings: Settings
) -> DetectionCounts:
    detected = active(tally.samples[f"{basis}.system"], thresholds[:, None], settings.inclusive)
    return count_hard(hits, detected, np.append(0, np.cumsum(tally.per_file[cells_of(basis)])))


def events_when(
    reference: Events,
    system: EventLifetimes,
    n_files: int,
    n_classes: int,
    collars: Collars,
    most: float = math.inf,
) -> tuple[Lives, Index]:
    """Return which file has which matched and existing events when, and its events, (n_files, n_classes).

    most: as for `match_levels`, which raises TooManyPairsError beyond it.
    """
    groups = (file_class(reference, n_classes), file_class(system, n_classes))
    left, right = candidate_pairs(reference, system, *groups, collars)
    matched = match_levels(LevelEdges(left, right, system.born[right], system.dies[right]), most)
    hits = Alive(reference.label[matched.left], reference.file[matched.left], matched.low, matched.high)
    alive = Alive(system.label, system.file, system.born, system.dies)
    return [(hits, (TP,)), (alive, (N_SYS,))], count_per_class(reference, n_files, n_classes)


def lives_of(tally: Tally, basis: str, settings: Settings, apart: bool | None = None) -> tuple[Lives, Index]:
    """Return what counts of a basis of events when, and the events of the reference, (n_files, n_classes).

    apart: as for `found_when`.
    """
    sides = tally.events["reference"].events(), tally.events["system"]
    sizes = len(tally.files), len(tally.classes)
    if basis == "event":
        return events_when(*sides, *sizes, Collars.of(settings))
    from sedeval_soft.measures.intersection_counts import Criteria
    from sedeval_soft.measures.intersection_thresholds import intersections_when

    return intersections_when(*sides, *sizes, Criteria.of(settings), apart)


def paired_events(tally: Tally, settings: Settings) -> Alive:
    """Return which file has how many pairs of events, whatever their class, at which thresholds.

    Raises EvaluationError where too many events overlap to be matched at every threshold.
    """
    sides = (tally.events[name] for name in ("reference", "system"))
    reference, system = (replace(side, label=np.zeros_like(side.label), nested=False) for side in sides)
    sizes = len(tally.files), 1
    try:
        lives, _ = events_when(reference.events(), system, *sizes, Collars.of(settings), _MOST_COPIES)
    except TooManyPairsError as error:
        raise EvaluationError(
            f"satisfice={settings.satisfice}: too many events overlap to be matched at every threshold "
            "whatever their class; expected a constraint on precision, recall or fpr_per_hour"
        ) from error
    return lives[0][0]


def threshold_counts(
    tally: Tally, basis: str, settings: Settings, apart: bool | None = None
) -> ThresholdCounts:
    """Return the counts of a basis at every threshold, all files as one; apart: as for `found_when`."""
    if basis in CELLS:
        hits = positive(tally.samples[f"{basis}.reference"], settings)
        return ThresholdCounts.of_cells(tally.samples[f"{basis}.system"], hits)
    return ThresholdCounts.of_lives(*lives_of(tally, basis, settings, apart))


def candidates_of(
    tally: Tally, basis: str, settings: Settings, *, every: bool = False, together: bool = False
) -> list[Candidates]:
    """Return the candidate thresholds of each class.

    every: as for `Candidates.of`. together: count all files as one, which is faster where they have no
    weights of their own.
    """
    classes = range(len(tally.classes))
    if basis not in CELLS:
        table = ThresholdCounts.of_lives(*lives_of(tally, basis, settings), apart=not together)
        return [Candidates.of(table, c, every=every) for c in classes]
    scores = tally.samples[f"{basis}.system"]
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    files = () if together else _files(tally, basis)

    def of_class(c: int) -> Candidates:
        table = ThresholdCounts.of_cells(scores[c : c + 1], hits[c : c + 1], *files)
        return Candidates.of(table, every=every)

    return for_each(of_class, classes, scores.size)


def pooled_candidates(
    tally: Tally,
    basis: str,
    settings: Settings,
    *,
    every: bool = False,
    together: bool = False,
    regardless: bool = False,
) -> Candidates:
    """Return the candidate thresholds of all classes as one.

    regardless: also count what is paired whatever its class, which intersections do not know. every,
    together: as for `candidates_of`.
    """
    if basis not in CELLS:
        lives, n_ref = lives_of(tally, basis, settings)
        pooled = [(alive._replace(label=np.zeros_like(alive.label)), rows) for alive, rows in lives]
        regardless = regardless and basis == "event"
        if regardless:
            pooled.append((paired_events(tally, settings), (PAIRED,)))
        sizes, n_counts = n_ref.sum(axis=1, keepdims=True), 3 if regardless else 2
        table = ThresholdCounts.of_lives(pooled, sizes, n_counts, apart=not together)
        return Candidates.of(table, every=every)
    scores = tally.samples[f"{basis}.system"]
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    paired = _first_detected(scores, hits).reshape(1, -1) if regardless else None
    file, n_files = (None, 0) if together else _files(tally, basis)
    files = None if file is None else np.tile(file, len(scores))
    cells = scores.reshape(1, -1), hits.reshape(1, -1)
    return Candidates.of(ThresholdCounts.of_cells(*cells, files, n_files, paired), every=every or regardless)


def _files(tally: Tally, basis: str) -> tuple[npt.NDArray[np.int32] | None, int]:
    """Return whose each cell is, and how many files there are; one file needs no column."""
    lengths = tally.per_file[cells_of(basis)]
    if len(lengths) == 1:
        return None, 0
    return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths), len(lengths)


def _first_detected(scores: Floats, hits: Bools) -> Bools:
    """Return which classes of a cell are the first ones detected, of as many as are active in the reference.

    As the threshold falls, one more of a cell's classes is paired with each of these, whatever it is.
    """
    n_ref = hits.sum(axis=0)
    sounding = np.flatnonzero(n_ref)
    order = np.argsort(-scores[:, sounding], axis=0)
    first = np.zeros_like(hits)
    rank, cell = np.nonzero(np.arange(len(scores))[:, None] < n_ref[sounding])
    first[order[rank, cell], sounding[cell]] = True
    return first


def satisficed(tally: Tally, basis: str, settings: Settings, *, together: bool = False) -> WeightedScores:
    """Return what finds the best thresholds of weighted files that satisfy the constraint of the settings.

    together: count all files as one, where they have no weights of their own.
    """
    constraint = Constraint.parse(settings.satisfice)
    # A precision of 0 is one; that of nothing is none. Of events any level may come nearest to a constraint.
    every = constraint.best == "precision" or basis not in CELLS
    classes = candidates_of(tally, basis, settings, every=every, together=together)
    regardless = constraint.counts_regardless
    pooled = pooled_candidates(tally, basis, settings, every=every, together=together, regardless=regardless)
    length = tally.per_file["length"]
    of = length.sum(keepdims=True) if together else length, constraint, settings.beta
    return lambda weights: satisficed_scores(classes, pooled, weights, *of, inclusive=settings.inclusive)


def unreachable(scores: Sequence[Score], settings: Settings) -> list[str]:
    """Return a warning for each basis with classes for which no threshold satisfies the constraint.

    scores: of one evaluation; what a constrained measure comes nearest to stands beside a missing F.
    """
    if settings.satisfice is None:
        return []
    constraint = Constraint.parse(settings.satisfice)
    values = {(s.basis, s.class_name, s.measure): s.value for s in scores if s.reading == "optimal"}
    near: dict[str, list[str]] = {}
    for (basis, label, measure), threshold in values.items():
        if measure != "satisficed_threshold" or threshold is None:
            continue  # a class without reference has none
        if values[basis, label, "satisficed_recall"] is None:
            value = values[basis, label, "satisficed_constraint"]
            reached = "undefined" if value is None else f"{value:.4g}"
            name = "all classes at one threshold" if label is None else label
            near.setdefault(basis, []).append(f"{name} {reached}")
    wanted = f"{constraint.measure}{constraint.sign}{constraint.number:g}"
    return [
        f"{basis}: no threshold reaches {wanted}; the nearest: {', '.join(classes)}"
        for basis, classes in near.items()
    ]


def optimal_table(counts: DetectionCounts, thresholds: Floats, settings: Settings) -> Table:
    """Return the scores of counts at class-wise thresholds, totals over files, and those thresholds.

    thresholds: (..., n_classes), infinite where a class has none.
    """
    table = detection_scores(counts, settings.beta)
    # A class without reference has no best threshold; nothing of it is detected.
    table["threshold"] = Averaged(np.where(np.isinf(thresholds), np.nan, thresholds))
    return table


def error_rate_table(tp: Array, n_sys: Array, n_ref: Array, thresholds: Floats) -> Table:
    """Return the lowest error rates of counts at class-wise thresholds, and those; (..., n_classes) each.

    Micro pools the counts at the thresholds that give them.
    """
    present = n_ref > 0
    errors = np.where(present, n_ref + n_sys - 2 * tp, 0)
    return {
        "best_error_rate": averaged(
            ratio(errors, n_ref), ratio(errors.sum(axis=-1), n_ref.sum(axis=-1)), n_ref
        ),
        "best_error_rate_threshold": Averaged(np.where(present, thresholds, np.nan)),
    }


def _only_row(table: Table) -> Table:
    """Return the values of the one row of weights."""
    return {
        name: Averaged(
            None if of.classes is None else of.classes[0],
            overall=None if of.overall is None else of.overall[0],
        )
        for name, of in table.items()
    }
