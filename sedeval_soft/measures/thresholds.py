"""Best thresholds of weighted files: of each class, of all classes jointly, and under a constraint.

Candidates are in descending order, so that of equally good ones the first has the highest threshold. Counts
of weighted files are sums over an order that is sorted once.

- Jointly: micro F pools the counts of classes, so the threshold that is best for a class alone need not be
  best for all. F is a ratio of sums over classes: for a given value f, the classes part, each maximising
  (1 + b^2) TP - f N_sys by itself; the F that these reach is the next f, until it is not higher. A few rounds
  do. Source: Dinkelbach 1967.
- Under a constraint: exact over all thresholds. One for which nothing is detected is among them: it has no
  precision, and so reaches none. Where no threshold satisfies the constraint, what comes nearest to it is
  told, and nothing is best. sed_scores_eval answers with a precision of 1 at F = 0, and takes constraints of
  its best error rate the wrong way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sedeval_soft.measures.base import Array, Averaged, Codes, Floats, Index, Table, ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.threshold_counts import (
    N_SYS,
    TP,
    Merit,
    ThresholdCounts,
    f_merit,
    thresholds_between,
)
from sedeval_soft.settings import AT_LEAST, Constraint
from sedeval_soft.sorting import heads
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

_DENSE = 32
"""A table of files by candidates may have so many cells for each of its entries."""

_LARGEST = 1 << 20
"""Cells that such a table may have at all."""

_AT_ONCE = 1 << 16
"""Numbers in an array that is made for some weights."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Counts at candidates: sums of what changes there and before.

    table: (n_files, n_candidates) the counts of each file, where that is small; else None, and
    file, amount: (n,) the changes by candidate, None where each is 1, last: (n_candidates,) how many there
    are until each.
    """

    table: Floats | None
    file: Codes
    amount: Floats | None
    last: Index

    @classmethod
    def of(cls, place: Index, file: Codes, change: Index, n_files: int, n: int) -> _Sums:
        """Build from changes, (n_changes,): at which of n candidates, ascending, of which file, how large."""
        changing = np.flatnonzero(change)
        place, file, change = place[changing], file[changing], change[changing]
        amount = None if np.all(change == 1) else change.astype(np.float64)
        size = n_files * n
        if size <= min(_DENSE * len(place), _LARGEST):
            table = np.bincount(file.astype(np.int64) * n + place, amount, minlength=size).astype(np.float64)
            return cls(np.cumsum(table.reshape(n_files, n), axis=1), file[:0], None, place[:0])
        return cls(None, file, amount, np.searchsorted(place, np.arange(n), side="right"))

    def weighted(self, weights: Floats) -> Floats:
        """Return the counts of weighted files, (n_weights, n_candidates); weights: (n_weights, n_files)."""
        if self.table is not None:
            return weights @ self.table
        changes = weights[:, self.file]
        if self.amount is not None:
            changes *= self.amount
        sums = np.zeros((len(weights), len(self.file) + 1))
        np.cumsum(changes, axis=1, out=sums[:, 1:])
        return sums[:, self.last]


class Best(NamedTuple):
    """The best candidate of a class for each of some weights, (n_weights,) each.

    at: its position, -1 where there is no reference. tp, n_sys, n_ref: weighted counts there; n_sys is 0
    where there is no reference.
    """

    at: Index
    tp: Floats
    n_sys: Floats
    n_ref: Floats


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate thresholds of one class, or of all classes as one.

    value: (n,) descending: a threshold right below each; the first is infinite, where nothing is detected.
    sums: the counts at each. n_ref: (n_files,) sizes of the reference. level, file: (n_levels,) where
    anything changes, ascending, and in which file, None if files are summed. every: whether all levels are
    candidates. lowest: the lowest threshold there is.
    """

    value: Floats
    sums: tuple[_Sums, ...]
    n_ref: Floats
    level: Floats
    file: Codes | None
    every: bool
    lowest: float

    @classmethod
    def of(cls, table: ThresholdCounts, label: int = 0, *, every: bool = False) -> Candidates:
        """Return the candidates of a class of a table.

        every: whether any level is one; F can only be best, and errors fewest, where TP rises or N_sys falls.
        """
        own = table.own(label)
        # From the highest level down: what is detected first comes first.
        level, changes = table.level[own][::-1], table.changes[:, own][:, ::-1]
        file = None if table.file is None else table.file[own]
        chosen = level if every else level[(changes[TP] > 0) | (changes[N_SYS] < 0)]
        value = np.append(math.inf, chosen[heads(chosen)])
        n_ref = np.atleast_1d(table.n_ref[..., label]).astype(np.float64)
        if file is None:
            counts = np.zeros((len(changes), len(level) + 1))
            np.cumsum(changes, axis=1, out=counts[:, 1:])
            until = len(level) - np.searchsorted(level[::-1], value, side="left")
            none = np.zeros(0, dtype=np.int64)
            sums = [_Sums(row[None, until], none.astype(np.int32), None, none) for row in counts]
        else:
            # The first candidate at which what changes at a level has changed.
            place = len(value) - np.searchsorted(value[::-1], level, side="right")
            n = int(np.searchsorted(place, len(value)))
            reached = place[:n], file[::-1][:n]
            sums = [_Sums.of(*reached, row[:n], len(n_ref), len(value)) for row in changes]
        return cls(value, tuple(sums), n_ref, level[::-1], file, every, table.lowest)

    def place(self, level: Floats) -> Index:
        """Return the first candidate at which what changes at a level has changed, (n,)."""
        return len(self.value) - np.searchsorted(self.value[::-1], level, side="right")

    def counts(self, weights: Floats) -> tuple[Floats, ...]:
        """Return the counts at all candidates, (n_weights, n) each, and N_ref, (n_weights, 1), at the end."""
        return *(sums.weighted(weights) for sums in self.sums), (weights @ self.n_ref)[:, None]

    def blocks(self, weights: Floats) -> Iterator[Floats]:
        """Yield weights in blocks whose counts are not too large together; at least one."""
        rows = max(1, _AT_ONCE // max(len(self.value), len(self.sums[N_SYS].file)))
        for begin in range(0, max(len(weights), 1), rows):
            yield weights[begin : begin + rows]

    def best(self, weights: Floats, merits: Sequence[Merit]) -> list[Best]:
        """Return the candidate that each merit is highest at for each weights, (n_weights, n_files)."""
        parts: list[list[tuple[Array, ...]]] = [[] for _ in merits]
        for block in self.blocks(weights):
            tp, n_sys, *_, n_ref = self.counts(block)
            row, present = np.arange(len(block)), n_ref[:, 0] > 0
            for part, merit in zip(parts, merits, strict=True):
                at = np.argmax(merit(tp, n_sys, n_ref), axis=1)
                hits, detections = (np.where(present, counts[row, at], 0.0) for counts in (tp, n_sys))
                part.append((np.where(present, at, -1), hits, detections, n_ref[:, 0]))
        return [Best(*map(np.concatenate, zip(*part, strict=True))) for part in parts]

    def plateau(self, at: int, merit: Merit) -> tuple[float, float]:
        """Return between which thresholds all are as good as a candidate, all files counting once."""
        every, last = np.ones((1, len(self.n_ref))), at
        if self.every:
            tp, n_sys, *_, n_ref = self.counts(every)
            merits = merit(tp, n_sys, n_ref)[0, at:]
            last += int(np.argmax(np.append(merits != merits[0], True))) - 1
        (low,) = self._below(every, self.value[[last]])
        return self.lowest if math.isnan(low) else float(low), min(float(self.value[at]), 1.0)

    def thresholds(self, weights: Floats, at: Index, *, inclusive: bool) -> Floats:
        """Return the threshold that stands for a candidate for each weights, NaN where there is none."""
        thresholds = np.full(len(at), np.nan)
        chosen = np.flatnonzero(at >= 0)
        value = self.value[at[chosen]]
        middles = thresholds_between(self._below(weights[chosen], value), value, inclusive=inclusive)
        thresholds[chosen] = np.where(np.isinf(value), 2.0 if inclusive else 1.0, middles)
        return thresholds

    def _below(self, weights: Floats, value: Floats) -> Floats:
        """Return for each weights the highest level below a value in files that count, NaN for none."""
        at = np.searchsorted(self.level, value, side="left") - 1
        row = np.arange(len(weights))
        while self.file is not None and len(row := row[at[row] >= 0]):
            row = row[weights[row, self.file[at[row]]] <= 0]
            at[row] -= 1
        return np.append(self.level, math.nan)[at]


def joint_scores(
    classes: Sequence[Candidates], pooled: Candidates, weights: Floats, beta: float, *, inclusive: bool
) -> Table:
    """Return the best micro F of weighted files, and the thresholds that reach it, by name.

    classes: the candidates of each class. pooled: those of all classes as one. weights: (n_weights, n_files).
    """
    at, best = joint_best(classes, weights, beta)
    thresholds = [own.thresholds(weights, at[:, c], inclusive=inclusive) for c, own in enumerate(classes)]
    single = pooled.best(weights, [f_merit(beta)])[0]
    f = np.where(single.n_ref > 0, f_beta(single.tp, single.n_ref, single.n_sys, beta), np.nan)
    threshold = pooled.thresholds(weights, single.at, inclusive=inclusive)
    return {
        "joint_f": Averaged(None, overall=best),
        "joint_threshold": Averaged(_by_class(thresholds, weights)),
        "single_f": Averaged(None, overall=f),
        "single_threshold": Averaged(None, overall=threshold),
    }


def _by_class(columns: Sequence[Floats], weights: Floats) -> Floats:
    """Return columns of each class, (n_weights,), as one array (n_weights, n_classes)."""
    return np.stack(columns, axis=1) if columns else np.zeros((len(weights), 0))


def joint_best(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    """Return the positions of the thresholds with the best micro F of each weights, and that F.

    Positions are (n_weights, n_classes), -1 where nothing of a class is detected; F is (n_weights,), NaN
    where there is no reference.
    """
    rows = max(1, 4 * _AT_ONCE // max(sum(len(own.value) for own in classes), 1))
    parts = [_joint(classes, weights[i : i + rows], beta) for i in range(0, len(weights), rows)]
    at, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    return at, best


def _joint(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    square, row = beta * beta, np.arange(len(weights))
    counts = [own.counts(weights) for own in classes]
    n_ref = sum((own[-1][:, 0] for own in counts), np.zeros(len(weights)))
    at, best = np.full((len(weights), len(classes)), -1), np.zeros(len(weights))
    while True:
        places, (tp, n_sys) = np.full_like(at, -1), np.zeros((2, len(weights)))
        for c, (hits, detections, *_) in enumerate(counts):
            gain = (1.0 + square) * hits - best[:, None] * detections
            place = np.argmax(gain, axis=1)
            # Where nothing is gained, nothing of the class is detected.
            worth = gain[row, place] > 0
            places[:, c] = np.where(worth, place, -1)
            tp += np.where(worth, hits[row, place], 0.0)
            n_sys += np.where(worth, detections[row, place], 0.0)
        f = f_beta(tp, n_ref, n_sys, beta)
        better = f > best
        if not better.any():
            return at, np.where(n_ref > 0, best, np.nan)
        best = np.where(better, f, best)
        at = np.where(better[:, None], places, at)


SATISFICED = ("threshold", "constraint", "f", "precision", "recall")
"""What is told of the best threshold: it, the constrained measure there, and F, precision and recall."""

_TICKS_PER_HOUR = 3600.0 * TICKS_PER_SECOND


def satisficed_scores(
    classes: Sequence[Candidates],
    pooled: Candidates,
    weights: Floats,
    length: Index,
    constraint: Constraint,
    beta: float,
    *,
    inclusive: bool,
) -> Table:
    """Return what is told of the best threshold of each class, and of the best one for all, by name.

    classes: the candidates of each class. pooled: those of all classes as one, with what is PAIRED where
    the constraint needs it. weights: (n_weights, n_files). length: (n_files,) of the recordings in ticks.
    """
    columns = []
    for own in (*classes, pooled):
        parts = [_satisfying(own, block, length, constraint, beta) for block in own.blocks(weights)]
        at, *values = (np.concatenate(column) for column in zip(*parts, strict=True))
        columns.append((own.thresholds(weights, at, inclusive=inclusive), *values))
    table = {}
    for name, (*of_classes, overall) in zip(SATISFICED, zip(*columns, strict=True), strict=True):
        table[f"satisficed_{name}"] = Averaged(_by_class(of_classes, weights), overall=overall)
    return table


def _satisfying(
    own: Candidates, weights: Floats, length: Index, constraint: Constraint, beta: float
) -> tuple[Array, ...]:
    """Return the best candidates, and what they reach, (n_weights,) each.

    These are their positions, -1 without reference; the constrained measure there; and F, precision and
    recall, NaN where the constraint is not satisfied. Of one class M, what is paired, is TP.
    """
    tp, n_sys, *paired, n_ref = own.counts(weights)
    m = paired[0] if paired else tp
    # As whole as counts are: hours would be rounded, and a rate that is just at its limit be above it.
    ticks = (weights @ length)[:, None]

    def values(measure: str) -> Floats:
        """Return a measure at all candidates, with S = M - TP, D = N_ref - M and I = N_sys - M."""
        if measure == "f":
            return f_beta(tp, n_ref, n_sys, beta)
        if measure == "precision":
            return ratio(tp, n_sys)
        if measure == "fpr_per_hour":
            return ratio((n_sys - tp) * _TICKS_PER_HOUR, ticks)
        counts = {
            "recall": tp,
            "substitution_rate": m - tp,
            "deletion_rate": n_ref - m,
            "insertion_rate": n_sys - m,
            "error_rate": n_ref + n_sys - m - tp,
        }
        return ratio(counts[measure], n_ref)

    value, goal = values(constraint.measure), values(constraint.best)
    at_least = constraint.measure in AT_LEAST
    holds = value >= constraint.number if at_least else value <= constraint.number
    feasible = np.any(holds, axis=1)
    # What has no value cannot be nearest, and is not best.
    near = np.where(np.isnan(value), -np.inf, value if at_least else -value)
    merit = np.where(holds & ~np.isnan(goal), -goal if constraint.best == "error_rate" else goal, -np.inf)
    row, present = np.arange(len(weights)), (n_ref > 0)[:, 0]
    at = np.where(feasible, np.argmax(merit, axis=1), np.argmax(near, axis=1))
    reached = (values(name)[row, at] for name in ("f", "precision", "recall"))
    return (
        np.where(present, at, -1),
        np.where(present, value[row, at], np.nan),
        *(np.where(present & feasible, column, np.nan) for column in reached),
    )
