"""Counts of a class at every threshold of the system, and the best thresholds by these counts.

A level is a value of the system at which counts change: detections right below it need not be detections at
it or above. Thresholds between two adjacent levels have the same counts, and `threshold_between` is the
number written for them; of equally good ones the highest is best. No threshold is below 0: a value of 0 is
never a detection.

Candidate thresholds of weighted files: the best of each class, of all jointly, or under a constraint.

They are computed from the counts at every threshold. Weights of one give the best thresholds for all files.

- Of each class: the candidate at which F, or another merit, is highest; of several the highest threshold.
- Jointly: micro F pools the counts of classes, so the best threshold for a class alone need not be best for
  all. F is a ratio of sums over classes. For a given value f each class maximises (1 + b^2) TP - f N_sys
  separately; the resulting F is the next f, until it is not higher. A few rounds are enough. Source:
  Dinkelbach 1967.
- Under a constraint: exact over all thresholds. One candidate detects nothing: its precision is undefined and
  satisfies no constraint. If no threshold satisfies the constraint, the scores are the scores of the nearest
  candidate, and no threshold is best. sed_scores_eval answers with a precision of 1 at F = 0, and takes
  constraints of its best error rate the wrong way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index, expand, for_each, heads, in_order
from sedeval_soft.measures.base import Averaged, Table, ratio
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.tally import FileSums, blocks, in_blocks
from sedeval_soft.settings import AT_LEAST, Constraint, Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

Merit = Callable[[Any, Any, Any], Any]
"""Function of TP, N_sys and N_ref to be maximised. It never falls with TP, nor rises with N_sys."""

TP, N_SYS, PAIRED = 0, 1, 2
"""Rows of counts; PAIRED counts matches regardless of class, if requested."""


class Alive(NamedTuple):
    """Lives that count for thresholds born <= t < dies, (n,) each; weight: (n,) or one for all."""

    label: npt.NDArray[np.integer[Any]]
    file: npt.NDArray[np.integer[Any]]
    born: Floats
    dies: Floats
    weight: Index | int = 1


Lives = Sequence[tuple[Alive, Sequence[int]]]
"""Lives at thresholds, and the rows of counts that each adds to."""


@dataclass(frozen=True, slots=True)
class ThresholdCounts:
    """Growth of the counts of a class from thresholds at or above a level to those right below it.

    - level: (n,) ascending, above 0; one may occur several times. file: (n,) the file of each change.
    - changes: (n_counts, n) whole numbers, in rows TP, N_SYS and others.
    - n_ref: (n_files,) sizes of the reference. Files that are counted as one are file 0.
    """

    level: Floats
    file: Codes
    changes: Array
    n_ref: Index

    @classmethod
    def of(cls, level: Floats, file: Codes, changes: Array, n_ref: Index) -> Self:
        """Put changes in the order of levels."""
        level, order = in_order(level)
        return cls(level, file.take(order), changes.take(order, axis=1), n_ref)

    @classmethod
    def of_cells(
        cls, system: Floats, positive: Bools, file: Codes, n_files: int, paired: Bools | None = None
    ) -> Self:
        """Count cells, (n_cells,) each: each is detected at every threshold below its value.

        file: the file of each cell, of `n_files`. paired: as `positive`, the cells that are detected first of
        as many as are positive at their position.
        """
        heard = system > 0
        marks = [positive[heard], np.ones(np.count_nonzero(heard), dtype=bool)]
        marks += [] if paired is None else [paired[heard]]
        n_ref = np.bincount(file[positive], minlength=n_files)
        return cls.of(system[heard], file[heard], np.array(marks), n_ref)

    @classmethod
    def of_lives(cls, lives: Lives, n_ref: Index, n_counts: int = 2) -> list[ThresholdCounts]:
        """Count lives at thresholds, for each class; n_ref: (n_files, n_classes).

        Births at level 0 count at no threshold, for no threshold is below.
        """
        n_classes = n_ref.shape[1]
        # Where lives end, and where they begin.
        ends = [
            (
                rows,
                level[some],
                of.label[some],
                of.file[some],
                np.broadcast_to(sign * of.weight, some.shape)[some],
            )
            for of, rows in lives
            for level, sign, some in ((of.dies, 1, of.dies > 0), (of.born, -1, of.born > 0))
        ]
        rows_of, levels, *others = zip(*ends, strict=True)
        level, label, file, weight = map(np.concatenate, (levels, *others))
        changes, edges = np.zeros((n_counts, len(level)), dtype=np.int64), np.cumsum([0, *map(len, levels)])
        for rows, some in zip(rows_of, map(slice, edges[:-1], edges[1:]), strict=True):
            changes[list(rows), some] = weight[some]
        # Small integers are sorted by their digits.
        order = np.argsort(label.astype(np.min_scalar_type(n_classes)), kind="stable")
        bounds = np.searchsorted(label, np.arange(n_classes + 1), sorter=order)

        def of_class(c: int) -> ThresholdCounts:
            own = order[bounds[c] : bounds[c + 1]]
            return cls.of(level[own], file[own], changes.take(own, axis=1), n_ref[:, c])

        return for_each(of_class, range(n_classes), len(level))

    def steps(self) -> tuple[Floats, Index]:
        """Return the summed counts at all thresholds: (n,) ascending, and (n_counts, n).

        Each applies up to the next threshold, the last from there on.
        """
        first = heads(self.level)
        counts = np.zeros((len(self.changes), len(first) + 1), dtype=np.int64)
        changes = np.add.reduceat(self.changes, first, axis=1, dtype=np.int64)
        np.cumsum(changes[:, ::-1], axis=1, out=counts[:, -2::-1])
        return np.append(0.0, self.level[first]), counts


def f_merit(beta: float) -> Merit:
    """Return F as a merit; 0 if neither side has anything."""
    square = beta * beta
    return lambda tp, n_sys, n_ref: tp * (1.0 + square) / (n_sys + (square * n_ref + (n_ref == 0)))


def error_merit(tp: Any, n_sys: Any, n_ref: Any) -> Any:  # noqa: ANN401, ARG001 - a Merit
    """Return a merit that is highest if errors, N_ref + N_sys - 2 TP, are fewest."""
    return 2 * tp - n_sys


def threshold_between(low: float, high: float, inclusive: bool = False) -> float:
    """Return the number that is written for all thresholds between two levels, 0 <= low < high.

    It is the middle, half their sum in 64-bit floats, rounded to as few decimals as leave it strictly between
    them: to the nearest, and a half to the even digit, as `round` does. For two adjacent floats it is `low`,
    or `high` if inclusive, which detect the same. NaN if `high` is infinite: nothing is detected in that
    range.
    """
    middle = (low + high) / 2
    if math.isinf(high):
        return math.nan
    if not low < middle < high:
        return high if inclusive else low
    decimals = 1
    while not low < round(middle, decimals) < high:
        decimals += 1
    return round(middle, decimals)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate thresholds of one class, or of all classes as one.

    value: (n,) descending: a threshold right below each; the first is infinite and detects nothing. changes:
    the growth of each count at each candidate. table: the counts of the candidates.
    """

    value: Floats
    changes: Sequence[FileSums]
    table: ThresholdCounts

    @classmethod
    def of(cls, table: ThresholdCounts, *, every: bool = False) -> Self:
        """Return the candidates among the levels of a table.

        every: whether any level is one; else levels with rising TP or falling N_sys, where alone F can be
        best and errors fewest.
        """
        first = heads(table.level)
        may = (
            np.ones(len(table.level), dtype=bool)
            if every
            else (table.changes[TP] > 0) | (table.changes[N_SYS] < 0)
        )
        chosen = np.logical_or.reduceat(may, first)[::-1]
        # From the highest level down: of equally good ones the first has the highest threshold.
        value = np.append(math.inf, table.level[first][::-1][chosen])
        # Changes at a level have happened at the first candidate that is not above it.
        place = 1 + np.cumsum(chosen) - chosen
        place = np.repeat(place, np.diff(first, append=len(table.level))[::-1])
        size = len(value), len(table.n_ref)
        changes = []
        for row in table.changes[:, ::-1]:
            some = np.flatnonzero((row != 0) & (place < len(value)))
            changes.append(FileSums.of(place[some], table.file[::-1][some], row[some], size))
        return cls(value, changes, table)

    def counts(self, weights: Floats) -> list[Floats]:
        """Return the counts of weighted files at all candidates, (n, n_weights), then N_ref, (n_weights,).

        weights: (n_weights, n_files), whole numbers, so that sums are exact in any order.
        """
        sums = [np.cumsum(of.of_columns(weights.T), axis=0) for of in self.changes]
        return [*sums, weights @ self.table.n_ref]

    def best(self, weights: Floats, merits: Sequence[Merit], *, inclusive: bool) -> Floats:
        """Return the best candidates, (n_merits, 6, n_weights); weights: (n_weights, n_files).

        The six rows at the highest merit are: weighted TP, N_sys and N_ref, the threshold that is written,
        and the two levels between which all thresholds count the same. Without reference nothing is detected.
        """
        parts = []
        for some in blocks(len(weights), len(self.value)):
            tp, n_sys, *_, n_ref = self.counts(weights[some])
            column, chosen = np.arange(len(n_ref)), []
            for merit in merits:
                # Of equally good ones the first: its threshold is the highest.
                at = merit(tp, n_sys, n_ref).argmax(axis=0) * (n_ref > 0)
                chosen.append((at, tp[at, column], n_sys[at, column], n_ref))
            parts.append(np.array(chosen))
        best = np.concatenate(parts, axis=-1)
        ranges = [self.ranges(weights, of_merit[0].astype(np.int64)) for of_merit in best]
        return np.array([
            (*of_merit[1:], written(*ends, inclusive), *ends)
            for of_merit, ends in zip(best, ranges, strict=True)
        ])  # fmt: skip

    def ranges(self, weights: Floats, at: Index) -> tuple[Floats, Floats]:
        """Return the levels between which all thresholds count the same as candidates, (n_weights,) each.

        The lower one is 0 for candidates without a level below, the higher one infinite for candidates that
        detect nothing.
        """
        table, high = self.table, self.value[at]
        first = heads(table.level)
        start, level = np.append(first, len(table.level)), table.level[first]
        low, below = np.zeros(len(high)), np.searchsorted(level, high) - 1
        for some in blocks(len(high), int(np.diff(start).max(initial=1))):
            row = np.arange(len(high))[some]
            while len(row := row[below[row] >= 0]):
                number, change = expand(start[below[row]], start[below[row] + 1])
                drawn = weights[row[number], table.file[change]]
                sums = [np.bincount(number, drawn * of[change], len(row)) for of in table.changes]
                moves = np.any(sums, axis=0)
                low[row[moves]] = level[below[row[moves]]]
                row = row[~moves]
                below[row] -= 1
        return low, high

    def thresholds(self, weights: Floats, at: Index, *, inclusive: bool) -> Floats:
        """Return the threshold that is written for a candidate for each weights, NaN if it has none."""
        return written(*self.ranges(weights, at), inclusive)


def written(low: Floats, high: Floats, inclusive: bool) -> Floats:
    """Return the result of `threshold_between` for many levels, (n,)."""
    ranges = [*zip(low.tolist(), high.tolist(), strict=True)]
    known = {ends: threshold_between(*ends, inclusive) for ends in {*ranges}}
    return np.array([known[ends] for ends in ranges])


def joint_scores(candidates: Sequence[Candidates], weights: Floats, beta: float, *, inclusive: bool) -> Table:
    """Return the best micro F of weighted files, and the thresholds that reach it, by name.

    candidates: for each class, then for all classes as one. weights: (n_weights, n_files).
    """
    *classes, pooled = candidates
    at, best = joint_best(classes, weights, beta)
    thresholds = [each.thresholds(weights, at[:, c], inclusive=inclusive) for c, each in enumerate(classes)]
    tp, n_sys, n_ref, threshold, *_ = pooled.best(weights, [f_merit(beta)], inclusive=inclusive)[0]
    return {
        "joint_f": Averaged(None, overall=best),
        "joint_threshold": Averaged(np.reshape(thresholds, (-1, len(weights))).T),
        "single_f": Averaged(None, overall=np.where(n_ref > 0, f_beta(tp, n_ref, n_sys, beta), np.nan)),
        "single_threshold": Averaged(None, overall=threshold),
    }


def joint_best(classes: Sequence[Candidates], weights: Floats, beta: float) -> tuple[Index, Floats]:
    """Return the positions of the thresholds with the best micro F of each weights, and that F.

    Positions are (n_weights, n_classes), 0 for a class without detections; F is (n_weights,), NaN without
    reference.
    """
    square = beta * beta

    def of_block(block: Floats) -> dict[str, Array]:
        column, counts = np.arange(len(block)), [each.counts(block) for each in classes]
        n_ref = sum((n_ref for *_, n_ref in counts), np.zeros(len(block)))
        at, best = np.zeros((len(block), len(classes)), dtype=np.int64), np.zeros(len(block))
        while True:
            places, (tp, n_sys) = np.zeros_like(at), np.zeros((2, len(block)))
            for c, (hits, detections, *_) in enumerate(counts):
                # If no candidate gains anything the first is the best: it detects nothing of the class.
                place = places[:, c] = np.argmax((1.0 + square) * hits - best * detections, axis=0)
                tp += hits[place, column]
                n_sys += detections[place, column]
            f = f_beta(tp, n_ref, n_sys, beta)
            better = f > best
            if not better.any():
                return {"at": at, "best": np.where(n_ref > 0, best, np.nan)}
            best = np.where(better, f, best)
            at = np.where(better[:, None], places, at)

    joint = in_blocks(of_block, weights, sum(len(each.value) for each in classes) // 4)
    return joint["at"], joint["best"]


_TICKS_PER_HOUR = 3600.0 * TICKS_PER_SECOND


def satisficed_scores(
    candidates: Sequence[Candidates], weights: Floats, length: Index, settings: Settings
) -> Table:
    """Return the scores at the best threshold of each class, and at the best one for all, by name.

    candidates: for each class, then for all classes as one, with PAIRED counts if the constraint needs them.
    weights: (n_weights, n_files). length: (n_files,) of the recordings in ticks.
    """
    constraint, columns = Constraint.parse(settings.satisfice), []
    for each in candidates:

        def of_block(block: Floats, each: Candidates = each) -> dict[str, Array]:
            # As whole as counts are: hours would be rounded, and a rate just at its limit be above it.
            return _satisfying(each.counts(block), block @ length, constraint, settings.beta)

        own = in_blocks(of_block, weights, len(each.value))
        own["threshold"] = each.thresholds(weights, own["threshold"], inclusive=settings.inclusive)
        columns.append([*own.values()])
    table = zip(own, np.moveaxis(np.array(columns), 0, -1), strict=True)
    return {f"satisficed_{name}": Averaged(values[:, :-1], overall=values[:, -1]) for name, values in table}


def _satisfying(
    counts: Sequence[Floats], ticks: Floats, constraint: Constraint, beta: float
) -> dict[str, Array]:
    """Return the best candidates, and their scores, (n_weights,) each.

    counts: the result of `Candidates.counts`. ticks: (n_weights,) length of all files. Returns positions, 0
    without reference; the constrained measure there; and F, precision and recall, NaN if the constraint is
    not satisfied. For a single class M, the number of pairs, is TP.
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
    # Candidates without a value are not best, and cannot be nearest.
    merit = np.where(holds & ~np.isnan(goal), -goal if constraint.best == "error_rate" else goal, -np.inf)
    at, feasible, present, column = merit.argmax(axis=0), holds.any(axis=0), n_ref > 0, np.arange(len(n_ref))
    never = np.flatnonzero(~feasible)
    near = value[:, never] if at_least else -value[:, never]
    at[never] = np.where(np.isnan(near), -np.inf, near).argmax(axis=0)
    picked = [of[at, column] for of in every]
    names = "f", "precision", "recall"
    return {
        "threshold": at * present,
        "constraint": np.where(present, value[at, column], np.nan),
        **{name: np.where(present & feasible, values(name, *picked), np.nan) for name in names},
    }
