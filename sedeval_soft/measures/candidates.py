"""Candidate thresholds: for files with weights, the best of all classes jointly, or under a constraint.

They are made of the counts at every threshold, where more is asked than what is best for each class alone:

- Jointly: micro F pools the counts of classes, so the threshold that is best for a class alone need not be
  best for all. F is a ratio of sums over classes: for a given value f, the classes part, each maximising
  (1 + b^2) TP - f N_sys by itself; the F that these reach is the next f, until it is not higher. A few rounds
  do. Source: Dinkelbach 1967.
- Under a constraint: exact over all thresholds. One for which nothing is detected is among them: it has no
  precision, and so reaches none. Where no threshold satisfies the constraint, the scores are those of what
  comes nearest to it, and nothing is best. sed_scores_eval answers with a precision of 1 at F = 0, and takes
  constraints of its best error rate the wrong way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.base import Averaged, Table, ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.file_sums import FileSums
from sedeval_soft.measures.thresholds import N_SYS, TP, Merit, ThresholdCounts, f_merit, threshold_between
from sedeval_soft.settings import AT_LEAST, Constraint, Settings
from sedeval_soft.sorting import distinct, heads
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.ranges import expand

_AT_ONCE = 1 << 18
"""Numbers in an array that is made for some weights."""

_SHORTEST, _GROWTH, _GROWTH_OF_FILES = 128, 1 / 32, 2.0**-16
"""Changes in a stretch of candidates; as what share of those before it, and more of it for each file."""

_RUN = 16
"""Candidates whose counts are summed by one product of matrices."""

_SINGLE = 2.0**24
"""From which whole numbers on float32 has not every one."""


@dataclass(frozen=True, slots=True)
class Changes:
    """By how much a count grows at which candidate in which file; candidates are the things of the sums."""

    sums: FileSums

    def counts(self, weights: Floats) -> Floats:
        """Return the count of weighted files at all candidates, (n_candidates, n_weights)."""
        return np.cumsum(self.sums.weighted(weights), axis=1).T

    def by_stretch(self, begins: Index) -> tuple[Floats, Floats, Floats]:
        """Return the counts right before stretches of candidates, and the least and the most within them.

        begins: (n,) the first candidate of each, that of the first one 0. Returns (n_files, n) each; no
        candidate need have the ends.
        """
        sums, n = self.sums, len(begins)
        key = sums.file * n + np.repeat(np.arange(n), np.diff(sums.start[begins], append=len(sums.file)))
        rises, falls = (
            np.bincount(key, bound(sums.amount, 0.0), n * sums.n_files).astype(np.float64).reshape(-1, n)
            for bound in (np.maximum, np.minimum)
        )
        before: Floats = (rises + falls).cumsum(axis=1) - rises - falls
        least: Floats = np.maximum(before + falls, 0.0)
        return before, least, before + rises


@dataclass(frozen=True, slots=True)
class Stretches:
    """Candidates in stretches, and what weighted files may have in each.

    changes: of each count. weights: (n_weights, n_files). ends: (n + 1,) the first candidate of each stretch,
    and how many there are. before: each count right before each stretch, (n_weights, n). least, most: bounds
    of N_sys and of TP within it, (n_weights, n), which no candidate need reach.
    """

    changes: Sequence[Changes]
    weights: Floats
    ends: Index
    before: Sequence[Floats]
    least: Floats
    most: Floats

    def counts(self, worth: Bools) -> Iterator[tuple[slice, Index, Floats]]:
        """Yield the counts at all candidates of the stretches that are worth it, (n_weights, n_stretches).

        These are some stretches next to one another, positions of weights, (n,), and the counts there,
        (n_counts, n_candidates, n). Others may be among them.
        """
        # Products are of weights in columns.
        size = max(float(np.abs(of.sums.amount).sum()) for of in self.changes)
        kind = _exact(size * float(self.weights.max(initial=0.0)))
        columns, every = self.weights.T.astype(kind, order="C"), np.arange(len(self.weights))
        chosen = np.flatnonzero(worth.any(axis=0))
        # As many neighbours together as there is room for, of all counts.
        room = max(1, 2 * _AT_ONCE // len(self.changes))
        block = np.cumsum(np.diff(self.ends)[chosen]) * len(every) // room
        cuts = np.flatnonzero((np.diff(chosen) > 1) | (np.diff(block) > 0)) + 1
        for group in np.split(chosen, cuts) if len(chosen) else []:
            some = slice(int(group[0]), int(group[-1]) + 1)
            begin, end = self.ends[[some.start, some.stop]].tolist()
            rows = np.flatnonzero(worth[:, some].any(axis=1))
            # Picking columns takes as long as some products.
            rows = every if 2 * len(rows) > len(every) else rows
            step = max(1, room // (end - begin))
            for i in range(0, len(rows), step):
                row = rows[i : i + step]
                of_rows = columns if len(row) == len(every) else columns.take(row, axis=1)
                n = -(end - begin) % _RUN
                sums = FileSums.joined([of.sums.take(slice(begin, end)).padded(n) for of in self.changes])
                counts = sums.of_columns(of_rows).reshape(len(self.changes), -1, _RUN, len(row))
                counts[:, 0, 0] += [of[row, some.start] for of in self.before]
                yield some, row, _running(counts)[:, : end - begin]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate thresholds of one class, or of all classes as one.

    value: (n,) descending: a threshold right below each; the first is infinite, where nothing is detected.
    changes: of each count. table: what they are candidates of.
    """

    value: Floats
    changes: Sequence[Changes]
    table: ThresholdCounts

    @classmethod
    def of(cls, table: ThresholdCounts, *, every: bool = False) -> Self:
        """Return the candidates among the levels of a table.

        every: whether any level is one; F can only be best, and errors fewest, where TP rises or N_sys falls.
        """
        level, file = table.level, table.file
        chosen = level if every else level[(table.changes[TP] > 0) | (table.changes[N_SYS] < 0)]
        # From the highest level down: of equally good ones the first has the highest threshold.
        value = np.append(math.inf, chosen[heads(chosen)][::-1])
        place = cls(value, (), table).place(level)
        n_files, files = (1, np.zeros_like(place)) if file is None else (len(table.n_ref), file)
        changes = []
        for row in table.changes:
            # Levels ascend, and candidates descend.
            some = np.flatnonzero((row != 0) & (place < len(value)))[::-1]
            changes.append(Changes(FileSums.of(place[some], files[some], row[some], (len(value), n_files))))
        return cls(value, changes, table)

    def place(self, level: Floats) -> Index:
        """Return the first candidate at which what changes at a level has changed, (n,)."""
        return len(self.value) - np.searchsorted(self.value[::-1], level, side="right")

    def counts(self, weights: Floats) -> list[Floats]:
        """Return the counts of weighted files at all candidates, (n, n_weights), then N_ref, (n_weights,).

        weights: (n_weights, n_files), whole numbers, so that sums are exact in any order.
        """
        return [*(changes.counts(weights) for changes in self.changes), weights @ self.table.n_ref]

    def stretches(self, weights: Floats) -> Stretches:
        """Return stretches of candidates: the further down, the more changes are in each.

        weights: (n_weights, n_files), whole numbers.
        """
        ends: Index = np.sum([of.sums.start[1:] for of in self.changes], axis=0)
        growth, edges = max(_GROWTH, weights.shape[1] * _GROWTH_OF_FILES), [0]
        while edges[-1] < ends[-1]:
            edges.append(edges[-1] + max(_SHORTEST, int(edges[-1] * growth)))
        begins = distinct(np.minimum(np.searchsorted(ends, edges), len(ends) - 1))
        before, least, most = zip(*(changes.by_stretch(begins) for changes in self.changes), strict=True)
        columns = [*before, least[N_SYS], most[TP]]
        counts = np.split(_product(weights, np.concatenate(columns, axis=1)), len(columns), axis=1)
        return Stretches(self.changes, weights, np.append(begins, len(ends)), counts[:-2], *counts[-2:])

    def best(self, weights: Floats, merits: Sequence[Merit]) -> list[list[Array]]:
        """Return the candidate that each merit is highest at for each weights, (n_weights, n_files).

        For each merit these are its position, -1 where there is no reference, and weighted TP, N_sys and
        N_ref there, (n_weights,) each; TP and N_sys are 0 where there is no reference.

        Most candidates are far from the best: a stretch of them is looked at only where the most TP and the
        least N_sys that it may have are as good as what some candidate right before a stretch has.
        """
        stretches, n_ref = self.stretches(weights), weights @ self.table.n_ref
        worth = np.zeros((len(merits), *stretches.before[TP].shape), dtype=bool)
        for merit, of_merit in zip(merits, worth, strict=True):
            reached = merit(stretches.before[TP], stretches.before[N_SYS], n_ref[:, None])
            bound = merit(stretches.most, stretches.least, n_ref[:, None])
            of_merit[:] = bound >= reached.max(axis=1, keepdims=True)
        highest = np.full((len(merits), len(weights)), -np.inf)
        at = np.zeros((len(merits), 3, len(weights)))
        for some, row, (tp, n_sys, *_) in stretches.counts(np.logical_or.reduce(worth)):
            for number in np.flatnonzero(worth[:, :, some].any(axis=(1, 2))).tolist():
                values = merits[number](tp, n_sys, n_ref[row])
                place, column = values.argmax(axis=0), np.arange(len(row))
                value = values[place, column]
                # Of equally good ones the first: its threshold is the highest.
                better = np.flatnonzero(value > highest[number, row])
                chosen, place = row[better], place[better]
                highest[number, chosen] = value[better]
                first = stretches.ends[some.start]
                at[number][:, chosen] = first + place, tp[place, better], n_sys[place, better]
        at[:, :, n_ref <= 0] = np.array([-1.0, 0.0, 0.0])[:, None]
        return [[place.astype(np.int64), tp, n_sys, n_ref] for place, tp, n_sys in at]

    def thresholds(self, weights: Floats, at: Index, *, inclusive: bool) -> Floats:
        """Return the threshold that is written for a candidate for each weights, NaN where there is none."""
        high = self.value[np.maximum(at, 0)]
        ranges = [*zip(self._lows(weights, high).tolist(), high.tolist(), strict=True)]
        known = {each: threshold_between(*each, inclusive) for each in {*ranges}}
        return np.array([known[each] for each in ranges])

    def _lows(self, weights: Floats, high: Floats) -> Floats:
        """Return for each weights the highest level below one at which counts change, 0 for none."""
        table = self.table
        if table.below is not None:
            return np.append(table.below, 0.0)[np.searchsorted(table.level, high)]
        first = heads(table.level)
        start, level = np.append(first, len(table.level)), table.level[first]
        file = np.zeros(len(table.level), dtype=np.int32) if table.file is None else table.file
        low, at = np.zeros(len(high)), np.searchsorted(level, high) - 1
        step = max(1, _AT_ONCE // int(np.diff(start).max(initial=1)))
        for begin in range(0, len(high), step):
            row = np.arange(begin, min(begin + step, len(high)))
            while len(row := row[at[row] >= 0]):
                number, change = expand(start[at[row]], start[at[row] + 1])
                drawn = weights[row[number], file[change]]
                sums = [np.bincount(number, drawn * of[change], len(row)) for of in table.changes]
                moves = np.any(sums, axis=0)
                low[row[moves]] = level[at[row[moves]]]
                row = row[~moves]
                at[row] -= 1
        return low


def _exact(most: float) -> type[np.floating[Any]]:
    """Return the type of whole numbers up to `most`: small ones take half the memory, and half the time."""
    return np.float32 if most < _SINGLE else np.float64


def _running(counts: Array) -> Floats:
    """Return running sums over the two axes in the middle, (n_counts, n, n_weights); of whole numbers.

    counts: (n_counts, n_runs, _RUN, n_weights). numpy.cumsum goes along columns, and takes twice as long.
    """
    runs = np.tri(_RUN, dtype=counts.dtype) @ counts
    before = np.zeros((len(runs), runs.shape[1], 1, runs.shape[3]))
    np.cumsum(runs[:, :-1, -1], axis=1, out=before[:, 1:, 0])
    return (runs + before).reshape(len(runs), -1, runs.shape[3])


def _product(weights: Floats, counts: Floats) -> Floats:
    """Return counts of weighted files, (n_weights, n); whole numbers, counts are (n_files, n)."""
    kind = _exact(float(np.abs(counts).max(initial=0.0)) * float(weights.sum(axis=1).max(initial=0.0)))
    product: Floats = (weights.astype(kind, copy=False) @ counts.astype(kind, copy=False)).astype(np.float64)
    return product


def _in_blocks(of_block: Callable[[Floats], Sequence[Array]], weights: Floats, size: int) -> list[Array]:
    """Return the columns that a function makes of weights, of some at a time; size: numbers for each."""
    rows = max(1, _AT_ONCE // max(size, 1))
    parts = [of_block(weights[i : i + rows]) for i in range(0, max(len(weights), 1), rows)]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def joint_scores(
    classes: Sequence[Candidates], pooled: Candidates, weights: Floats, beta: float, *, inclusive: bool
) -> Table:
    """Return the best micro F of weighted files, and the thresholds that reach it, by name.

    classes: the candidates of each class. pooled: those of all classes as one. weights: (n_weights, n_files).
    """
    at, best = joint_best(classes, weights, beta)
    thresholds = [each.thresholds(weights, at[:, c], inclusive=inclusive) for c, each in enumerate(classes)]
    single, tp, n_sys, n_ref = pooled.best(weights, [f_merit(beta)])[0]
    threshold = pooled.thresholds(weights, single, inclusive=inclusive)
    return {
        "joint_f": Averaged(None, overall=best),
        "joint_threshold": Averaged(np.reshape(thresholds, (-1, len(weights))).T),
        "single_f": Averaged(None, overall=np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, beta), np.nan)),
        "single_threshold": Averaged(None, overall=threshold),
    }


def joint_best(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    """Return the positions of the thresholds with the best micro F of each weights, and that F.

    Positions are (n_weights, n_classes), -1 where nothing of a class is detected; F is (n_weights,), NaN
    where there is no reference.
    """
    square = beta * beta

    def of_block(block: Floats) -> tuple[Index, Floats]:
        column, counts = np.arange(len(block)), [each.counts(block) for each in classes]
        n_ref = sum((n_ref for *_, n_ref in counts), np.zeros(len(block)))
        at, best = np.full((len(block), len(classes)), -1), np.zeros(len(block))
        while True:
            places, (tp, n_sys) = np.full_like(at, -1), np.zeros((2, len(block)))
            for c, (hits, detections, *_) in enumerate(counts):
                gain = (1.0 + square) * hits - best * detections
                place = np.argmax(gain, axis=0)
                # Where nothing is gained, nothing of the class is detected.
                worth = gain[place, column] > 0
                places[:, c] = np.where(worth, place, -1)
                tp += np.where(worth, hits[place, column], 0.0)
                n_sys += np.where(worth, detections[place, column], 0.0)
            f = f_beta(tp, n_ref, n_sys, beta)
            better = f > best
            if not better.any():
                return at, np.where(n_ref > 0, best, np.nan)
            best = np.where(better, f, best)
            at = np.where(better[:, None], places, at)

    at, best = _in_blocks(of_block, weights, sum(len(each.value) for each in classes) // 4)
    return at, best


_TICKS_PER_HOUR = 3600.0 * TICKS_PER_SECOND


def satisficed_scores(
    candidates: Sequence[Candidates], weights: Floats, length: Index, settings: Settings
) -> Table:
    """Return the scores at the best threshold of each class, and at the best one for all, by name.

    candidates: those of each class, then those of all classes as one, with what is PAIRED where the
    constraint needs it. weights: (n_weights, n_files). length: (n_files,) of the recordings in ticks.
    """
    constraint, inclusive = Constraint.parse(settings.satisfice), settings.inclusive
    columns = []
    for each in candidates:

        def of_block(block: Floats, each: Candidates = each) -> Sequence[Array]:
            # As whole as counts are: hours would be rounded, and a rate just at its limit be above it.
            return _satisfying(each.counts(block), block @ length, constraint, settings.beta)

        at, *values = _in_blocks(of_block, weights, len(each.value))
        columns.append((each.thresholds(weights, at, inclusive=inclusive), *values))
    names = ("threshold", "constraint", "f", "precision", "recall")
    table = np.moveaxis(np.array(columns), 0, -1)
    return {
        f"satisficed_{name}": Averaged(values[:, :-1], overall=values[:, -1])
        for name, values in zip(names, table, strict=True)
    }


def _satisfying(counts: Sequence[Floats], ticks: Floats, constraint: Constraint, beta: float) -> list[Array]:
    """Return the best candidates, and what they reach, (n_weights,) each.

    counts: as `Candidates.counts` returns them. ticks: (n_weights,) length of all files. Returns positions,
    -1 without reference; the constrained measure there; and F, precision and recall, NaN where the constraint
    is not satisfied. Of one class M, what is paired, is TP.
    """
    tp, n_sys, *paired, n_ref = counts
    every = tp, n_sys, paired[0] if paired else tp

    def values(measure: str, tp: Floats, n_sys: Floats, m: Floats) -> Floats:
        """Return a measure of counts, with S = M - TP, D = N_ref - M and I = N_sys - M."""
        if measure == "f":
            return f_beta(tp, n_ref, n_sys, beta)
        if measure == "precision":
            return ratio(tp, n_sys)
        if measure == "fpr_per_hour":
            return ratio((n_sys - tp) * _TICKS_PER_HOUR, ticks)
        errors = {
            "recall": tp,
            "substitution_rate": m - tp,
            "deletion_rate": n_ref - m,
            "insertion_rate": n_sys - m,
            "error_rate": n_ref + n_sys - m - tp,
        }
        return ratio(errors[measure], n_ref)

    value, goal = values(constraint.measure, *every), values(constraint.best, *every)
    at_least = constraint.measure in AT_LEAST
    holds = value >= constraint.number if at_least else value <= constraint.number
    # What has no value is not best, and cannot be nearest.
    merit = np.where(holds & ~np.isnan(goal), -goal if constraint.best == "error_rate" else goal, -np.inf)
    at, feasible, present, column = merit.argmax(axis=0), holds.any(axis=0), n_ref > 0, np.arange(len(n_ref))
    never = np.flatnonzero(~feasible)
    near = value[:, never] if at_least else -value[:, never]
    at[never] = np.where(np.isnan(near), -np.inf, near).argmax(axis=0)
    picked = [of[at, column] for of in every]
    reached = (values(name, *picked) for name in ("f", "precision", "recall"))
    return [
        np.where(present, at, -1),
        np.where(present, value[at, column], np.nan),
        *(np.where(present & feasible, numbers, np.nan) for numbers in reached),
    ]
