"""The optimal readings of weighted files: each weights find the best threshold of each class anew.

What depends on the files is sorted and matched once. Then TP and N_sys of all weights are weighted
cumulative sums; only what is counted regardless of class, M, needs a look at all classes together at the
thresholds that are best: S = M - TP, D = N_ref - M, I = N_sys - M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.evaluation.optimal import (
    WeightedScores,
    candidates_of,
    error_rate_table,
    optimal_table,
)
from sedeval_soft.measures.base import Array, Floats, Index, Table
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event import Collars, count_events
from sedeval_soft.measures.segment import sum_files
from sedeval_soft.measures.tally import Tally, cells_of
from sedeval_soft.measures.thresholds import Candidates, error_merit, f_merit, joint_scores
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import Settings
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.recordings import positive

Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,), at positions of candidates, (n_weights, n_classes)."""

_EVENTS = 1 << 20
"""Events that are matched at a time."""


def optimal_of_weights(tally: Tally, basis: str, settings: Settings) -> WeightedScores:
    """Return what finds the scores of weighted files at their best thresholds."""
    classes = candidates_of(tally, basis, settings)
    pooled = candidates_of(tally, basis, settings, pooled=True) if "joint" in settings.measures else []
    regardless: Regardless | None = None
    if basis in CELLS:
        regardless = _paired_cells(tally, basis, classes, settings)
    elif basis == "event":
        regardless = _paired_events(tally, classes, settings)
    inclusive, size = settings.inclusive, sum(len(own.value) for own in classes)
    merits = [f_merit(settings.beta), *(() if basis in CELLS else (error_merit,))]

    def scores(weights: Floats) -> Table:
        def best(own: Candidates) -> Floats:
            chosen = own.best(weights, merits)
            return np.array([(*of, own.thresholds(weights, of.at, inclusive=inclusive)) for of in chosen])

        of_classes = for_each(best, classes, len(weights) * size)
        shape = len(classes), len(merits), 5, len(weights)
        by_f, *rest = np.ascontiguousarray(np.moveaxis(np.reshape(of_classes, shape), 0, -1))
        at, tp, n_sys, n_ref, thresholds = by_f
        tp_all, sys_all, ref_all = (of.sum(axis=1) for of in (tp, n_sys, n_ref))
        m = tp_all if regardless is None else regardless(weights, at.astype(np.int64))
        counts = DetectionCounts(tp, n_ref, n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = optimal_table(counts, thresholds, settings)
        for every in pooled:
            table |= joint_scores(classes, every, weights, settings.beta, inclusive=inclusive)
        for _, *fewest in rest:
            table |= error_rate_table(*fewest)
        return table

    return scores


def _paired_cells(tally: Tally, basis: str, classes: Sequence[Candidates], settings: Settings) -> Regardless:
    """Return what counts the classes of a cell that are paired, whichever they are."""
    scores = tally.samples[f"{basis}.system"]
    sizes = positive(tally.samples[f"{basis}.reference"], settings).sum(axis=0)
    # Only where the reference has something can anything be paired with it.
    sounding = np.flatnonzero(sizes)
    n_ref = sizes[sounding].astype(np.min_scalar_type(max(len(classes), 1)))
    start = np.searchsorted(sounding, np.append(0, np.cumsum(tally.per_file[cells_of(basis)])))
    # From which candidate on each cell is detected.
    small = np.min_scalar_type(max((len(own.value) for own in classes), default=0) + 1)
    place = np.zeros((len(classes), len(sounding)), dtype=small)
    for c, own in enumerate(classes):
        place[c] = own.place(scores[c, sounding])

    def regardless(weights: Floats, at: Index) -> Floats:
        reached = (at + 1).astype(small)

        def count(row: int) -> float:
            n_sys = np.add.reduce(place < reached[row][:, None], axis=0, dtype=n_ref.dtype)
            pairs = sum_files(np.minimum(n_sys, n_ref), start, np.int64)
            return float(weights[row] @ pairs)

        return np.array(for_each(count, range(len(weights)), place.size * len(weights)))

    return regardless


def _paired_events(tally: Tally, classes: Sequence[Candidates], settings: Settings) -> Regardless:
    """Return what counts the events that are matched regardless of class."""
    n_files, collars, system = len(tally.files), Collars.of(settings), tally.events["system"]
    # Where an event begins and ends to exist among the candidates, the highest of which come first.
    first, last = np.zeros((2, len(system)))
    for c, own in enumerate(classes):
        mine = system.label == c
        first[mine], last[mine] = own.place(system.dies[mine]), own.place(system.born[mine])
    events = {
        "reference": replace(tally.events["reference"], nested=False),
        "system": replace(system, born=first, dies=last, nested=False),
    }
    bare = Tally(tally.files, tally.classes, events=events)
    file = np.concatenate([side.file for side in events.values()])
    step = max(1, _EVENTS // int(np.bincount(file).max(initial=1)))

    def states(at: Index) -> Index:
        """Return numbers that are equal where the same events of a file exist, (n_weights, n_files)."""
        state = np.zeros((len(at), n_files), dtype=np.int64)
        for c in range(len(classes)):
            mine = system.label == c
            n = last[mine].max(initial=0) + 1.0
            # Distinct, so that between two of them nothing changes in a file.
            changes = np.unique([system.file[mine] * n + ends[mine] for ends in (first, last)])
            begin = np.arange(n_files) * n
            passed = np.searchsorted(changes, begin + np.clip(at[:, c], -1, n - 1)[:, None], side="right")
            passed -= np.searchsorted(changes, begin)
            numbers = state * (int(passed.max(initial=0)) + 1) + passed
            state = np.unique(numbers, return_inverse=True)[1].reshape(state.shape)
        return state

    def match(file: Index, at: Floats) -> Array:
        """Return M of files, (n,), at positions of candidates, (n, n_classes)."""
        drawn = bare.take(file, tuple(f"{k:012}" for k in range(len(file)))).events
        reference, theirs = drawn["reference"].events(), drawn["system"]
        alive = theirs.take(theirs.alive(at[theirs.file, theirs.label])).events()
        counts = count_events(reference, alive, len(file), len(classes), collars)
        m: Array = counts.tp.sum(axis=1) + counts.substitutions
        return m

    def regardless(weights: Floats, at: Index) -> Floats:
        places, (row, file) = at.astype(np.float64), np.nonzero(weights > 0)
        # What exists in a file at some thresholds is the same at many: each such state is matched once.
        numbers = states(at)[row, file] * n_files + file
        _, example, back = np.unique(numbers, return_index=True, return_inverse=True)
        parts = (example[begin : begin + step] for begin in range(0, len(example), step))
        pairs = np.concatenate([np.zeros(0), *(match(file[some], places[row[some]]) for some in parts)])
        m = np.bincount(row, pairs[back] * weights[row, file], minlength=len(weights))
        return m.astype(np.float64)

    return regardless
