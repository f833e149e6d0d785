"""Counts at the candidate thresholds of a class, file by file: what is best for any weights of the files.

Candidates are in descending order, so that of equally good ones the first has the highest threshold. What
counts at a candidate has begun at it or before and not yet ended: weighted cumulative sums over an order
that is sorted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import heads, in_order
from sedeval_soft.measures.segment.optimal import thresholds_between
from sedeval_soft.measures.steps import Changes, Weights

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

Merit = Callable[[Floats, Floats, Floats], Floats]
"""What is best where it is highest: of TP and N_sys, (n_weights, n_candidates), and N_ref, (n_weights, 1)."""

_DENSE = 32
"""A table of files by candidates may have so many cells for each of its entries."""

_LARGEST = 1 << 20
"""Cells that such a table may have at all."""

_AT_ONCE = 1 << 16
"""Numbers in an array that is made for some weights."""

_BELOW, _ABOVE = -1.0, 3.0
"""What stands for a neighbour below and above all values."""


@dataclass(frozen=True, slots=True)
class Cumulative:
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
    def of(cls, place: Index, file: Codes, amount: Floats | None, n_files: int, n: int) -> Cumulative:
        """Build from changes, (n_changes,): at which candidate, of which file, by how much (None: by 1)."""
        size = n_files * n
        if size <= min(_DENSE * len(place), _LARGEST):
            key = file.astype(np.int64) * n + place
            table = np.bincount(key, amount, minlength=size).astype(np.float64)
            return cls(np.cumsum(table.reshape(n_files, n), axis=1), file[:0], None, place[:0])
        order = np.argsort(place, kind="stable")
        last = np.searchsorted(place[order], np.arange(n), side="right")
        return cls(None, file[order], None if amount is None else amount[order], last)

    @classmethod
    def of_one(cls, counts: Floats) -> Cumulative:
        """Return the counts of one file, (n_candidates,)."""
        none = np.zeros(0, dtype=np.int64)
        return cls(counts.astype(np.float64)[None, :], none.astype(np.int32), None, none)

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


@dataclass(frozen=True, slots=True)
class Levels:
    """The values of a class at which something changes, to tell which thresholds part what is present.

    value: (n,) ascending. file: (n,) whose each is; -1 for one that is always there.
    """

    value: Floats
    file: Codes

    def below(self, weights: Floats, value: Floats, *, equal: bool) -> Floats:
        """Return for each weights the highest value present below (or at) one; (n_weights,)."""
        at = np.searchsorted(self.value, value, side="right" if equal else "left") - 1
        return self._present(weights, at, -1)

    def above(self, weights: Floats, value: Floats) -> Floats:
        """Return for each weights the lowest value present above one; (n_weights,)."""
        return self._present(weights, np.searchsorted(self.value, value, side="right"), 1)

    def _present(self, weights: Floats, at: Index, step: int) -> Floats:
        n = len(self.value)
        row = np.arange(len(weights))
        absent = (at >= 0) & (at < n)
        while absent.any():
            row_, at_ = row[absent], at[absent]
            file = self.file[at_]
            here = (file < 0) | (weights[row_, file] > 0)
            moved = np.where(here, at_, at_ + step)
            at[absent] = moved
            absent[absent] = ~here & (moved >= 0) & (moved < n)
        return np.concatenate(([_BELOW], self.value, [_ABOVE]))[at + 1]


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
    """The candidate thresholds of one class.

    value: (n,) descending: the lowest score that is detected, or, if stepwise, the lowest threshold of a
    step. tp, n_sys: the counts at each. n_ref: (n_files,) sizes of the reference. levels: where anything
    changes. paired: of all classes as one, how much is paired whatever its class; None if nobody asks.
    """

    value: Floats
    tp: Cumulative
    n_sys: Cumulative
    n_ref: Floats
    levels: Levels
    stepwise: bool
    paired: Cumulative | None = None

    @classmethod
    def of_cells(
        cls,
        scores: Floats,
        positive: Bools,
        file: Codes,
        n_files: int,
        *,
        with_nothing: bool = False,
        every: bool = False,
        pairs: tuple[Floats, Codes] | None = None,
    ) -> Candidates:
        """Return the candidates of cells: right below the score of a positive F can be best.

        scores, positive, file: (n_cells,). with_nothing: whether detecting nothing is one, too; every:
        whether any score is one. pairs: above which score something is paired whatever its class, and in
        which file.
        """
        if n_files == 1:
            return cls._of_one(scores, positive, with_nothing, every, None if pairs is None else pairs[0])
        ordered, order = in_order(scores)
        # From the highest down: what is detected first comes first.
        ordered, order = ordered[::-1], order[::-1]
        file, positive = file[order], positive[order]
        hits = ordered if every else ordered[positive]
        value = np.append([_ABOVE] if with_nothing else [], hits[::-1][heads(hits[::-1])][::-1])
        n = len(value)
        # A cell is detected from the first candidate on that is not above its score.
        place = n - np.searchsorted(value[::-1], ordered, side="right")
        found = int(np.searchsorted(place, n))

        def counts(chosen: slice | Bools) -> Cumulative:
            return Cumulative.of(place[:found][chosen], file[:found][chosen], None, n_files, n)

        n_ref = np.bincount(file[positive], minlength=n_files).astype(np.float64)
        levels = Levels(ordered[::-1], file[::-1])
        paired = None
        if pairs is not None:
            place_of_pairs = n - np.searchsorted(value[::-1], pairs[0], side="right")
            paired = Cumulative.of(place_of_pairs, pairs[1], None, n_files, n)
        return cls(value, counts(positive[:found]), counts(slice(None)), n_ref, levels, False, paired)

    @classmethod
    def _of_one(
        cls, scores: Floats, positive: Bools, with_nothing: bool, every: bool, pairs: Floats | None
    ) -> Candidates:
        """Return the candidates of cells of one file: values are sorted, and nothing else with them."""
        ordered, hits = np.sort(scores), np.sort(scores[positive])
        candidates = ordered if every else hits
        first = heads(candidates)
        upwards = candidates[first]
        value = np.append([_ABOVE] if with_nothing else [], upwards[::-1])

        def counts(own: Floats) -> Cumulative:
            below = first if own is candidates else np.searchsorted(own, upwards, side="left")
            from_it_up = (len(own) - below)[::-1]
            return Cumulative.of_one(np.append([0.0] if with_nothing else [], from_it_up))

        levels = Levels(ordered, np.broadcast_to(np.int32(0), len(ordered)))
        paired = None if pairs is None else counts(np.sort(pairs))
        n_ref = np.array([len(hits)], dtype=np.float64)
        return cls(value, counts(hits), counts(ordered), n_ref, levels, False, paired)

    @classmethod
    def of_changes(
        cls,
        columns: Sequence[Sequence[tuple[Changes, Weights]]],
        label: int | None,
        n_ref: Index,
    ) -> Candidates:
        """Return the candidates of events of one class, whose counts hold from one level to the next.

        columns: what adds to TP, to N_sys and, if a third is given, to what is paired whatever its class,
        which changes where N_sys does. label: None for all classes as one. n_ref: (n_files,) events of the
        reference.
        """
        own = [[_of_class(changes, weight, label) for changes, weight in column] for column in columns]
        ends = [(level, file) for column in own for born, dies, file, _ in column for level in (born, dies)]
        value = np.concatenate([np.zeros(1), *(level for level, _ in ends)])
        files = np.concatenate([np.full(1, -1, dtype=np.int32), *(file for _, file in ends)])
        order = np.argsort(value, kind="stable")
        levels = Levels(value[order], files[order])
        steps = levels.value[heads(levels.value)][::-1]
        tp, n_sys, *paired = (_cumulative(column, steps, len(n_ref)) for column in own)
        return cls(steps, tp, n_sys, n_ref.astype(np.float64), levels, True, *paired)

    @classmethod
    def of_steps(cls, low: Floats, counts: Index, n_ref: int) -> Candidates:
        """Return the candidates of events of one class, or of all as one, with all files as one.

        low: (n,) ascending, the lowest thresholds of steps. counts: (2 or 3, n), those of
        `of_changes`.
        """
        tp, n_sys, *paired = (Cumulative.of_one(row[::-1]) for row in counts)
        levels = Levels(low, np.broadcast_to(np.int32(-1), len(low)))
        return cls(low[::-1], tp, n_sys, np.array([n_ref], dtype=np.float64), levels, True, *paired)

    def best(self, weights: Floats, merits: Sequence[Merit]) -> list[Best]:
        """Return the candidate that each merit is highest at for each weights, (n_weights, n_files)."""
        n_ref = weights @ self.n_ref
        parts = []
        rows = max(1, _AT_ONCE // max(len(self.value), len(self.n_sys.file), 1))
        for begin in range(0, len(weights), rows):
            block = slice(begin, begin + rows)
            parts.append(self._best(weights[block], n_ref[block], merits))
        found = []
        for column in zip(*parts, strict=True):
            at, tp, n_sys = (np.concatenate(of) for of in zip(*column, strict=True))
            found.append(Best(at, tp, n_sys, n_ref))
        return found

    def _best(
        self, weights: Floats, n_ref: Floats, merits: Sequence[Merit]
    ) -> list[tuple[Index, Floats, Floats]]:
        if not len(self.value):
            none = np.zeros(len(weights))
            return [(np.full(len(weights), -1), none, none)] * len(merits)
        tp, n_sys = self.tp.weighted(weights), self.n_sys.weighted(weights)
        row, present, found = np.arange(len(weights)), n_ref > 0, []
        for merit in merits:
            at = np.argmax(merit(tp, n_sys, n_ref[:, None]), axis=1)
            hits, detections = (np.where(present, of[row, at], 0.0) for of in (tp, n_sys))
            found.append((np.where(present, at, -1), hits, detections))
        return found

    def plateau(self, weights: Floats, at: int, merit: Merit) -> tuple[float, float]:
        """Return between which thresholds all are as good as a candidate; weights: (1, n_files)."""
        value = self.value[[at]]
        if not self.stepwise:
            low, high = float(self.levels.below(weights, value, equal=False)[0]), float(value[0])
            return max(low, -1.0), min(high, 1.0)
        tp, n_sys = self.tp.weighted(weights), self.n_sys.weighted(weights)
        merits = merit(tp, n_sys, (weights @ self.n_ref)[:, None])[0]
        worse = np.flatnonzero(merits[at:] != merits[at])
        last = at + int(worse[0]) - 1 if len(worse) else len(merits) - 1
        high = float(self.levels.above(weights, value)[0])
        return float(self.value[last]), min(high, 1.0)

    def thresholds(self, weights: Floats, at: Index, *, inclusive: bool) -> Floats:
        """Return the threshold that stands for a candidate for each weights, NaN where there is none."""
        found = np.full(len(at), np.nan)
        chosen = np.flatnonzero(at >= 0)
        if not len(chosen):
            return found
        weights, value = weights[chosen], self.value[at[chosen]]
        if self.stepwise:
            low = self.levels.below(weights, value, equal=True)
            high = self.levels.above(weights, value)
        else:
            low, high = self.levels.below(weights, value, equal=False), value
        middles = thresholds_between(np.where(low == _BELOW, np.nan, low), high, inclusive=inclusive)
        found[chosen] = np.where(high == _ABOVE, 2.0 if inclusive else 1.0, middles)
        return found


def f_merit(beta: float) -> Merit:
    """Return F as a merit."""
    square = beta * beta

    def merit(tp: Floats, n_sys: Floats, n_ref: Floats) -> Floats:
        top, bottom = tp * (1.0 + square), n_sys + square * n_ref
        # Weights without a reference are left out later; here they must not divide by 0.
        bottom += n_ref == 0
        return np.divide(top, bottom, out=top)

    return merit


def error_merit(tp: Floats, n_sys: Floats, n_ref: Floats) -> Floats:  # noqa: ARG001 - a Merit
    """Return what is highest where errors, N_ref + N_sys - 2 TP, are fewest."""
    return 2 * tp - n_sys


def _of_class(changes: Changes, weight: Weights, label: int | None) -> tuple[Floats, Floats, Codes, Floats]:
    """Return births, deaths, files and weights of what is of a class."""
    own = np.arange(len(changes.label)) if label is None else np.flatnonzero(changes.label == label)
    weights = (
        weight[own].astype(np.float64) if isinstance(weight, np.ndarray) else np.full(len(own), float(weight))
    )
    return changes.born[own], changes.dies[own], changes.file[own].astype(np.int32), weights


def _cumulative(
    column: Sequence[tuple[Floats, Floats, Codes, Floats]], steps: Floats, n_files: int
) -> Cumulative:
    """Return the counts at levels in descending order: what dies above one has begun by it."""
    n, upwards = len(steps), steps[::-1]
    places, files, amounts = [], [], []
    for born, dies, file, weight in column:
        # Alive at the levels born <= low < dies.
        begins = n - np.searchsorted(upwards, dies, side="left")
        ends = n - np.searchsorted(upwards, born, side="left")
        lasting = ends < n
        places += [begins, ends[lasting]]
        files += [file, file[lasting]]
        amounts += [weight, -weight[lasting]]
    place = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    file = np.concatenate([np.zeros(0, dtype=np.int32), *files])
    return Cumulative.of(place, file, np.concatenate([np.zeros(0), *amounts]), n_files, n)
