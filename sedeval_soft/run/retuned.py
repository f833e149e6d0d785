"""The optimal readings of weighted files: each weights find the best threshold of each class anew.

What depends on the files is sorted and matched once. Then TP and N_sys of all weights are weighted
cumulative sums; only what is counted regardless of class, M, needs a look at all classes together at the
thresholds that were found: S = M - TP, D = N_ref - M, I = N_sys - M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.hard import positive
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.ranges import expand
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.tally import Tally, cells_of
from sedeval_soft.core.threads import for_each
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.base import Table
from sedeval_soft.measures.candidates import Candidates, error_merit, f_merit
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.event.count import count_regardless, match_events
from sedeval_soft.measures.event.pairs import Collars
from sedeval_soft.measures.joint import joint_scores
from sedeval_soft.measures.segment.count import sum_files
from sedeval_soft.run.candidates import candidates_of, pooled_candidates
from sedeval_soft.run.cell_scores import CELLS
from sedeval_soft.run.thresholds import error_rate_table, optimal_table

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Regardless = Callable[[Floats, Index], Floats]
"""Returns M of weights, (n_weights,), at positions of candidates, (n_weights, n_classes)."""

_EVENTS = 1 << 20
"""Events that are matched at a time."""


@dataclass(frozen=True, slots=True)
class Retuned:
    """What finds the best thresholds of weighted files.

    classes: the candidates of each class. pooled: those of all classes as one; None if no score needs them.
    regardless: counts pairs whatever their class; None where nothing is matched one to one. with_errors:
    whether the lowest error rate is wanted as well.
    """

    classes: Sequence[Candidates]
    pooled: Candidates | None
    regardless: Regardless | None
    with_errors: bool
    settings: Settings

    @classmethod
    def of(cls, tally: Tally, basis: str, settings: Settings) -> Retuned:
        """Prepare the optimal reading of a basis."""
        if basis in CELLS:
            return _of_cells(tally, basis, settings)
        return _of_events(tally, basis, settings)

    def table(self, weights: Floats) -> Table:
        """Return the scores of each weights at their best thresholds; weights: (n_weights, n_files)."""
        settings = self.settings
        merits = (f_merit(settings.beta), error_merit) if self.with_errors else (f_merit(settings.beta),)

        def best(own: Candidates) -> list[_AtBest]:
            found = own.best(weights, merits)
            inclusive = settings.inclusive
            return [_AtBest(*of, own.thresholds(weights, of.at, inclusive=inclusive)) for of in found]

        size = len(weights) * sum(len(own.value) for own in self.classes)
        found = for_each(best, self.classes, size)
        by_f = _AtBest.stacked([of[0] for of in found], len(weights))
        tp_all, sys_all, ref_all = (of.sum(axis=1) for of in (by_f.tp, by_f.n_sys, by_f.n_ref))
        m = tp_all if self.regardless is None else self.regardless(weights, by_f.at)
        counts = DetectionCounts(by_f.tp, by_f.n_ref, by_f.n_sys, m - tp_all, ref_all - m, sys_all - m)
        table = optimal_table(counts, by_f.threshold, settings) | self._joint(weights)
        if not self.with_errors:
            return table
        fewest = _AtBest.stacked([of[1] for of in found], len(weights))
        return table | error_rate_table(fewest.tp, fewest.n_sys, fewest.n_ref, fewest.threshold)

    def _joint(self, weights: Floats) -> Table:
        if self.pooled is None:
            return {}
        of = self.classes, self.pooled, weights
        return joint_scores(*of, self.settings.beta, inclusive=self.settings.inclusive)


def joint_table(tally: Tally, basis: str, settings: Settings) -> Table:
    """Return the scores at the thresholds that are best for all classes together."""
    classes = candidates_of(tally, basis, settings, together=True)
    pooled = pooled_candidates(tally, basis, settings, together=True)
    table = joint_scores(classes, pooled, np.ones((1, 1)), settings.beta, inclusive=settings.inclusive)
    return {name: only_row(values) for name, values in table.items()}


def only_row(values: Averaged) -> Averaged:
    """Return the values of the one row of weights."""
    classes, overall = values.classes, values.overall
    return Averaged(None if classes is None else classes[0], overall=None if overall is None else overall[0])


def _pooled(tally: Tally, basis: str, settings: Settings) -> Candidates | None:
    return pooled_candidates(tally, basis, settings) if "joint" in settings.measures else None


class _AtBest(NamedTuple):
    """The best candidates of a class, (n_weights,) each, or of all classes, (n_weights, n_classes)."""

    at: Index
    tp: Floats
    n_sys: Floats
    n_ref: Floats
    threshold: Floats

    @classmethod
    def stacked(cls, classes: Sequence[_AtBest], n: int) -> _AtBest:
        """Return the best candidates of classes side by side."""
        if not classes:
            none = np.zeros((n, 0))
            return cls(none.astype(np.int64), none, none, none, none)
        return cls(*(np.stack(column, axis=1) for column in zip(*classes, strict=True)))


def _of_cells(tally: Tally, basis: str, settings: Settings) -> Retuned:
    scores = tally.samples[f"{basis}.system"]
    hits = positive(tally.samples[f"{basis}.reference"], settings)
    lengths = tally.per_file[cells_of(basis)]
    classes = candidates_of(tally, basis, settings)
    sizes = hits.sum(axis=0)
    # Only where the reference has something can anything be paired with it.
    sounding = np.flatnonzero(sizes)
    n_ref = sizes[sounding].astype(np.min_scalar_type(max(len(classes), 1)))
    start = np.searchsorted(sounding, np.append(0, np.cumsum(lengths)))
    # How many candidates lie above each score: it is detected from that one on.
    small = np.min_scalar_type(max((len(own.value) for own in classes), default=0) + 1)
    place = np.zeros((len(classes), len(sounding)), dtype=small)
    for c, own in enumerate(classes):
        place[c] = len(own.value) - np.searchsorted(own.value[::-1], scores[c, sounding], side="right")

    def regardless(weights: Floats, at: Index) -> Floats:
        reached = (at + 1).astype(small)

        def count(row: int) -> float:
            n_sys = np.add.reduce(place < reached[row][:, None], axis=0, dtype=n_ref.dtype)
            pairs = sum_files(np.minimum(n_sys, n_ref), start, np.int64)
            return float(weights[row] @ pairs)

        return np.array(for_each(count, range(len(weights)), place.size * len(weights)))

    pooled = _pooled(tally, basis, settings)
    return Retuned(classes, pooled, regardless, with_errors=False, settings=settings)


def _of_events(tally: Tally, basis: str, settings: Settings) -> Retuned:
    classes = candidates_of(tally, basis, settings)
    regardless = _EventPairs.of(tally, classes, settings).weighted if basis == "event" else None
    pooled = _pooled(tally, basis, settings)
    return Retuned(classes, pooled, regardless, with_errors=True, settings=settings)


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
            upwards, n = own.value[::-1], len(own.value)
            first[mine] = n - np.searchsorted(upwards, system.dies[mine], side="left")
            last[mine] = n - np.searchsorted(upwards, system.born[mine], side="left")
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
            references = _as(reference.take(mine), copy)
            copy, their = expand(theirs[file[block]], theirs[file[block] + 1])
            their = order[their]
            position = at[block][copy, system.label[their]]
            alive = (self.first[their] <= position) & (position < self.last[their])
            found.append(self._count(references, _as(system.take(their[alive]), copy[alive]), end - begin))
            begin = end
        return np.concatenate(found)

    def _count(self, reference: EventLifetimes, system: EventLifetimes, n_files: int) -> Index:
        sides = reference.events(), system.events()
        matched = match_events(*sides, self.n_classes, self.collars)
        return count_regardless(*sides, matched, n_files, self.collars)


def _as(events: EventLifetimes, file: Index) -> EventLifetimes:
    """Return events under other numbers of files."""
    codes = file.astype(np.int32)
    return EventLifetimes(codes, events.label, events.onset, events.offset, events.born, events.dies)
