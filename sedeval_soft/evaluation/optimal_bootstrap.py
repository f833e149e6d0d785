"""The optimal readings of weighted files: each weights find the best threshold of each class anew.

What depends on the files is sorted and matched once. Then TP and N_sys of all weights are weighted
cumulative sums; only what is counted regardless of class, M, needs a look at all classes together at the
thresholds that are best: S = M - TP, D = N_ref - M, I = N_sys - M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation.optimal import (
    WeightedScores,
    candidates_of,
    error_rate_table,
    optimal_table,
    pooled_candidates,
)
from sedeval_soft.measures.base import Table
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event import Collars, count_regardless, match_events
from sedeval_soft.measures.segment import sum_files
from sedeval_soft.measures.tally import Tally, cells_of
from sedeval_soft.measures.thresholds import Best, Candidates, error_merit, f_merit, joint_scores
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import Settings
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.ranges import expand
from sedeval_soft.timeline.recordings import positive

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,), at positions of candidates, (n_weights, n_classes)."""

_EVENTS = 1 << 20
"""Events that are matched at a time."""


def optimal_of_weights(tally: Tally, basis: str, settings: Settings) -> WeightedScores:
    """Return what finds the scores of weighted files at their best thresholds."""
    classes = candidates_of(tally, basis, settings)
    pooled = pooled_candidates(tally, basis, settings) if "joint" in settings.measures else None
    regardless: Regardless | None = None
    if basis in CELLS:
        regardless = _paired_cells(tally, basis, classes, settings)
    elif basis == "event":
        regardless = _EventPairs.of(tally, classes, settings).weighted
    inclusive, size = settings.inclusive, sum(len(own.value) for own in classes)
    merits = [f_merit(settings.beta), *(() if basis in CELLS else (error_merit,))]

    def scores(weights: Floats) -> Table:
        def best(own: Candidates) -> list[tuple[Best, Floats]]:
            found = own.best(weights, merits)
            return [(of, own.thresholds(weights, of.at, inclusive=inclusive)) for of in found]

        of_classes = for_each(best, classes, len(weights) * size)
        (by_f, thresholds), *rest = (
            _side_by_side([of[k] for of in of_classes], len(weights)) for k in range(len(merits))
        )
        tp_all, sys_all, ref_all = (of.sum(axis=1) for of in (by_f.tp, by_f.n_sys, by_f.n_ref))
        m = tp_all if regardless is None else regardless(weights, by_f.at)
        counts = DetectionCounts(by_f.tp, by_f.n_ref, by_f.n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = optimal_table(counts, thresholds, settings)
        if pooled is not None:
            table |= joint_scores(classes, pooled, weights, settings.beta, inclusive=inclusive)
        for fewest, errors_at in rest:
            table |= error_rate_table(fewest.tp, fewest.n_sys, fewest.n_ref, errors_at)
        return table

    return scores


def _side_by_side(classes: Sequence[tuple[Best, Floats]], n: int) -> tuple[Best, Floats]:
    """Return the best candidates and thresholds of all classes, (n, n_classes) each."""
    if not classes:
        none = np.zeros((n, 0))
        return Best(none.astype(np.int64), none, none, none), none
    best, thresholds = zip(*classes, strict=True)
    return Best(*(np.stack(column, axis=1) for column in zip(*best, strict=True))), np.stack(
        thresholds, axis=1
    )


def _paired_cells(tally: Tally, basis: str, classes: Sequence[Candidates], settings: Settings) -> Regardless:
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


@dataclass(frozen=True, slots=True)
class _EventPairs:
    """What is needed to match events regardless of class at the thresholds of each class.

    first, last: (n_events,) the positions of candidates at which a system event exists, first <= at < last.
    """

    tally: Tally
    first: Index
    last: Index
    n_classes: int
    collars: Collars

    @classmethod
    def of(cls, tally: Tally, classes: Sequence[Candidates], settings: Settings) -> _EventPairs:
        system = tally.events["system"]
        first, last = np.zeros((2, len(system)), dtype=np.int64)
        for c, own in enumerate(classes):
            mine = np.flatnonzero(system.label == c)
            first[mine], last[mine] = own.place(system.dies[mine]), own.place(system.born[mine])
        return cls(tally, first, last, len(classes), Collars.of(settings))

    def weighted(self, weights: Floats, at: Index) -> Floats:
        """Return M of weighted files at positions of candidates."""
        state = self._states(at)
        files = np.broadcast_to(np.arange(weights.shape[1]), weights.shape)
        counts = weights > 0
        # What exists in a file at some thresholds is the same at many: each such state is matched once.
        key = state[counts] * weights.shape[1] + files[counts]
        _, example, back = np.unique(key, return_index=True, return_inverse=True)
        pairs = self._match(files[counts][example], at[np.nonzero(counts)[0][example]])
        sums = np.zeros(weights.shape)
        sums[counts] = pairs[back]
        total: Floats = (sums * weights).sum(axis=1)
        return total

    def _states(self, at: Index) -> Index:
        """Return numbers that are equal where the same events of a file exist, (n_weights, n_files)."""
        system, n_files = self.tally.events["system"], len(self.tally.files)
        state = np.zeros((len(at), n_files), dtype=np.int64)
        for c in range(self.n_classes):
            own = system.label == c
            n = int(self.last[own].max(initial=0)) + 1
            file = system.file[own].astype(np.int64)
            changes = np.concatenate((file * n + self.first[own], file * n + self.last[own]))
            # Distinct, so that between two of them nothing changes in a file.
            changes = np.unique(changes)
            passed = np.searchsorted(
                changes, np.arange(n_files) * n + np.clip(at[:, c], -1, n - 1)[:, None], side="right"
            )
            passed -= np.searchsorted(changes, np.arange(n_files) * n)
            state = np.unique(state * (int(passed.max(initial=0)) + 1) + passed, return_inverse=True)[1]
            state = state.reshape(len(at), n_files)
        return state

    def _match(self, file: Index, at: Index) -> Index:
        """Return M of files, (n,), at positions of candidates, (n, n_classes)."""
        reference, system = self.tally.events["reference"], self.tally.events["system"]
        n_files = len(self.tally.files)
        order = np.argsort(system.file, kind="stable")
        ours = np.searchsorted(reference.file, np.arange(n_files + 1))
        theirs = np.searchsorted(system.file[order], np.arange(n_files + 1))
        size = np.cumsum((ours[file + 1] - ours[file]) + (theirs[file + 1] - theirs[file]))
        found = [np.zeros(0, dtype=np.int64)]
        begin = 0
        while begin < len(file):
            base = int(size[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(size, base + _EVENTS, side="right")))
            block = slice(begin, end)
            copy, mine = expand(ours[file[block]], ours[file[block] + 1])
            references = replace(reference.take(mine), file=copy.astype(np.int32), nested=False)
            copy, their = expand(theirs[file[block]], theirs[file[block] + 1])
            their = order[their]
            position = at[block][copy, system.label[their]]
            alive = (self.first[their] <= position) & (position < self.last[their])
            systems = replace(system.take(their[alive]), file=copy[alive].astype(np.int32), nested=False)
            sides = references.events(), systems.events()
            matched = match_events(*sides, self.n_classes, self.collars)
            found.append(count_regardless(*sides, matched, end - begin, self.collars))
            begin = end
        return np.concatenate(found)
