"""Curves over all thresholds of weighted files: their areas and rates, of many weights at once.

A curve has a point wherever a positive is detected in any file; with weights it may gain
nothing there, and then it is on the straight line between its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.curve_scores import PRECISIONS, RATES, Units, d_prime
from sedeval_soft.measures.weighted_files import FileSums, first_where, in_blocks, picked
from sedeval_soft.sorting import heads


@dataclass(frozen=True, slots=True)
class WeightedCurve:
    """What each file counts between the points of a curve, thresholds from the highest down.

    counts: in the units of labels, in turn: the positives gained at each point and the false alarms there,
    (n_points,) each; the false alarms right before each, and after the last one, (n_points + 1,); and all
    that is detected from the point before to each, (n_points,). False alarms are those among which rates are.
    n_ref: (n_files,) the positives, None where all of them are detected at some threshold.
    """

    counts: FileSums
    n_points: int
    units: Units
    n_ref: Index | None

    @classmethod
    def of(
        cls,
        score: Floats,
        reference: Array,
        file: Array,
        n_files: int,
        units: Units | None = None,
        rated: Bools | None = None,
        n_ref: Index | None = None,
    ) -> Self:
        """Count cells, (n,) each: descending scores, values, or whether they are active, and files.

        rated: which of them rates are of; others are false alarms in precision alone. None for all.
        """
        units, first = units or Units(), heads(score)
        value = units.counted(reference).astype(np.float64)
        gaining = np.logical_or.reduceat(value > 0, first) if len(first) else np.zeros(0, dtype=bool)
        # Where nothing is ever gained there is one point without anything, so that there is one.
        n, whole = max(int(gaining.sum()), 1), float(units.whole or 1)
        sizes = np.diff(first, append=len(score))
        gained = np.repeat(gaining, sizes)
        point = np.repeat(np.cumsum(gaining) - gaining, sizes)
        alarms = np.ones(len(score), dtype=bool) if rated is None else rated
        before, amount = point < n, np.full(len(score), whole)
        rows = [
            (gained & (value > 0), 0, value),
            (gained & alarms, n, whole - value),
            (~gained & alarms, 2 * n, amount),
            (before, 3 * n + 1, amount),
        ]
        thing, owner, amounts = (
            np.concatenate(column)
            for column in zip(*((point[m] + start, file[m], of[m]) for m, start, of in rows), strict=True)
        )
        return cls(FileSums.of(thing, owner, amounts, (4 * n + 1, n_files)), n, units, n_ref)

    def scores(self, weights: Floats, rates: tuple[float, float] | None = None) -> dict[str, Floats]:
        """Return the measures of curves by name, (n_weights,) each; see the specification of each.

        weights: (n_weights, n_files), whole numbers. rates: `max_fpr` and `max_fnr`; None for precisions.
        """
        n, slack = self.n_points, self.units.slack

        def of_block(block: Floats) -> dict[str, Floats]:
            counts = self.counts.weighted(block)
            gained, alarms, silent, detected = np.split(counts, (n, 2 * n, 3 * n + 1), axis=1)
            tp = np.cumsum(gained, axis=1)
            n_ref = tp[:, -1] if self.n_ref is None else block @ self.n_ref
            precisions = _precisions(gained, tp, np.cumsum(detected, axis=1), n_ref, slack)
            return precisions if rates is None else precisions | _rates(tp, alarms, silent, slack, *rates)

        return in_blocks(of_block, weights, 4 * n + 1)


def _precisions(gained: Floats, tp: Floats, n_sys: Floats, n_ref: Floats, slack: float) -> dict[str, Floats]:
    """Return the average precisions by name, (n_weights,) each.

    gained, tp, n_sys: (n_weights, n_points). n_ref: (n_weights,).
    """
    precision = np.divide(tp, n_sys, out=np.zeros_like(tp), where=n_sys > 0)
    # The highest at this point or any later one.
    reached = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    n_points = tp.shape[1]

    def at_recalls(count: int) -> Floats:
        """Return the mean of interpolated precision at recalls 0, 1/count .. 1."""
        recalls = np.arange(count + 1) * n_ref[:, None] - (count * n_ref * slack)[:, None]
        at = first_where(lambda at: picked(tp, at) * count >= recalls, recalls.shape, n_points)
        # No threshold may reach the highest recalls: events are found or not.
        values = np.where(at < n_points, picked(reached, np.minimum(at, n_points - 1)), 0.0)
        mean: Floats = values.mean(axis=1)
        return mean

    steps, every = (ratio(np.einsum("ij,ij->i", gained, of), n_ref) for of in (precision, reached))
    values = (steps, at_recalls(10), every, at_recalls(100))
    named = zip(PRECISIONS, values, strict=True)
    return {name: np.where(n_ref > 0, np.minimum(value, 1.0), np.nan) for name, value in named}


def _rates(
    tp: Floats, alarms: Floats, silent: Floats, slack: float, max_fpr: float, max_fnr: float
) -> dict[str, Floats]:
    """Return the measures of the ROC by name, (n_weights,) each.

    tp, alarms: (n_weights, n_points) TP at each point, and the false alarms there. silent: (n_weights,
    n_points + 1) the false alarms between points.
    """
    nothing, shape, n = np.zeros((len(tp), 1)), (len(tp),), tp.shape[1]
    # The ROC is level to each point, slopes there, and is level to the end. What is reached once so many
    # points are: TP, the area below the ROC, and FP; and FP at the end of the level line that comes then.
    low = np.append(nothing, tp, axis=1)
    fp = np.cumsum(silent + np.append(nothing, alarms, axis=1), axis=1)
    after = np.append(nothing, fp[:, :-1] + alarms, axis=1)
    level = silent * low
    area = np.append(nothing, np.cumsum(level[:, :-1] + alarms * (low[:, :-1] + tp) / 2, axis=1), axis=1)
    n_ref, n_silent = tp[:, -1], fp[:, -1]
    defined = (n_ref > 0) & (n_silent > 0)
    n_ref, n_silent = (np.where(defined, total, 1.0) for total in (n_ref, n_silent))

    def alarm_rate(of: Floats, at: Index) -> Floats:
        rate: Floats = picked(of, at) / n_silent
        return rate

    def miss_rate(at: Index) -> Floats:
        rate: Floats = (n_ref - picked(low, at)) / n_ref
        return rate

    whole = (area[:, -1] + level[:, -1]) / (n_ref * n_silent)
    # Of floats, what is wrong in TP is wrong in FP, too, however small that is.
    most = max_fpr + slack * (n_ref + n_silent) / n_silent
    inside = first_where(lambda at: alarm_rate(after, at + 1) > most, shape, n)
    corner, following = alarm_rate(fp, inside), np.minimum(inside + 1, n)
    passed = corner <= most
    begin = np.where(passed, corner, alarm_rate(after, inside))
    partial = (picked(area, inside) + passed * picked(level, inside)) / (n_ref * n_silent)
    run = max_fpr - begin
    slope = passed * ratio(miss_rate(inside) - miss_rate(following), alarm_rate(after, following) - begin)
    partial += run * (1.0 - miss_rate(inside) + np.nan_to_num(slope) * run / 2)
    partial = np.minimum(np.where(passed & (inside == n), whole, partial), max_fpr)
    chance = max_fpr * max_fpr / 2
    few = np.minimum(first_where(lambda at: miss_rate(at) <= max_fnr + slack, shape, n + 1), n)
    # The rate at which the straight lines have FNR = FPR.
    at = first_where(lambda at: alarm_rate(after, at + 1) >= miss_rate(at + 1), shape, n)
    following, corner, misses = np.minimum(at + 1, n), alarm_rate(fp, at), miss_rate(at)
    crossed = corner >= misses
    begin = np.where(crossed, alarm_rate(after, at), corner)
    rise = np.where(crossed, corner, alarm_rate(after, following)) - begin
    fall = np.where(crossed, 0.0, misses - miss_rate(following))
    equal = begin + ratio(misses - begin, rise + fall) * rise
    roc_auc, scaled = np.minimum(whole, 1.0), 0.5 * (1 + (partial - chance) / (max_fpr - chance))
    values = (
        *(roc_auc, partial / max_fpr, scaled, d_primes(roc_auc), equal),
        *(miss_rate(inside), alarm_rate(after, few)),
    )
    return {name: np.where(defined, value, np.nan) for name, value in zip(RATES, values, strict=True)}


def d_primes(area: Floats) -> Floats:
    """Return `d_prime` of each area under a ROC, of any shape."""
    return np.reshape([*map(d_prime, area.reshape(-1).tolist())], area.shape)
