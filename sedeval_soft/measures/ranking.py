"""The order of the classes within each segment: statistics summed per file, and their measures.

Within a segment the classes are ordered by the system's values. A class is active by y and silent by 1 - y.
Segments without an active reference class count nothing. Others weigh as much as their highest y, the share
of levels with an active class, which is 1 for a binarised reference. Classes with equal values share a rank,
the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, for_each
from sedeval_soft.measures.base import Averaged, Table, averaged, ratio
from sedeval_soft.measures.divergence import Logarithms
from sedeval_soft.measures.segment import count_files, sum_classes, sum_files

_BLOCK = 4096
"""Segments worked on at a time: 17 classes of them stay in the processor's cache."""

SUMS = (
    "weight", "one_error", "coverage", "ranking_loss", "misordered", "label_ranking_average_precision",
    "cross_entropy", "distance",
)  # fmt: skip
"""Sums over segments that every reference has, each weighted: `misordered` pairs, `distance` |y - p|."""

CUT_SUMS = ("exact_match_prefix", "subset_accuracy")
"""Sums over segments that only a binarised reference has."""

CLASS_SUMS = ("prefix", "prefix_hits", "n_ref")
"""Sums of a binarised reference by class: in the prefix, in it and active, and active."""

_Tied = tuple[Index, Floats, Floats]
"""Segments with classes that share the last ranks of the prefix: positions, and the shares of classes in it,
and in it and active, (n_classes, n) each."""

Sides = tuple[Floats | Bools, Floats | Bools]
"""A reference, and the values that its distance is computed from: detections for a binarised reference."""


class _Ranks(NamedTuple):
    """The classes of each segment in descending order of the system's values; all (n_classes, n_segments).

    p: the values. order: the index in such arrays of the class of each rank. tied: the ranks that have the
    value of the next in some segments, from the last up, and these segments. rank: from 1 on, of ties the
    last.
    """

    p: Floats
    order: Index
    tied: Sequence[tuple[int, Bools]]
    rank: Floats

    @classmethod
    def of(cls, p: Floats) -> _Ranks:
        n_classes, size = p.shape
        # Values sorted together are adjacent in memory.
        order = np.multiply(np.argsort(np.negative(p.T, order="C"), axis=1).T, size, order="C")
        order += np.arange(size)
        values = p.take(order, mode="clip")
        equal = values[1:] == values[:-1]
        tied = [(k, equal[k]) for k in np.flatnonzero(equal.any(axis=1))[::-1].tolist()]
        rank = np.broadcast_to(np.arange(1.0, n_classes + 1)[:, None], p.shape)
        return cls(p, order, tied, _as_last(rank.copy(), tied) if tied else rank)

    def sums(self, values: Array) -> Array:
        """Return the cumulative sums of values by rank, down to the last tie of each."""
        sums = values.copy()
        for before, row in pairwise(sums):
            np.add(before, row, out=row)
        return _as_last(sums, self.tied)


def _as_last(sums: Array, tied: Sequence[tuple[int, Bools]]) -> Array:
    """Give ties the sum of the last of them, and return the sums; sums: not falling from rank to rank."""
    for k, of_next in tied:
        np.maximum(sums[k], sums[k + 1] * of_next, out=sums[k])
    return sums


def count_ranking(
    readings: Mapping[str, Sides], system: Floats, start: Index, eps: float
) -> dict[str, tuple[dict[str, Floats], dict[str, Floats]]]:
    """Return sums over the segments of each file by name, (n_files,), and by class, (n_files, n_classes).

    readings: the pairs of arrays compared in the hard and in the soft reading, (n_classes, n_segments) each;
    they share the order of the classes. system, start: as in `segment.count_soft`. eps: values are clipped to
    [eps, 1 - eps] in logarithms.
    """
    n_classes, size = system.shape
    names = {reading: SUMS + CUT_SUMS if reading == "hard" else SUMS for reading in readings}
    per_segment = {reading: np.zeros((len(names[reading]), size)) for reading in readings}
    prefix = np.zeros(system.shape if "hard" in readings else (0, 0), dtype=bool)
    whole = np.min_scalar_type(-(n_classes**2))

    def count(begin: int) -> _Tied | None:
        block = slice(begin, begin + _BLOCK)
        ranks = _Ranks.of(np.ascontiguousarray(system[:, block]))
        logarithms = Logarithms.of(ranks.p).clipped(eps)
        tied = None
        for reading, sides in readings.items():
            y, other = (side[:, block] for side in sides)
            hard = reading == "hard"
            # Active cells are counted, in numbers as small as possible.
            distance = (y != other).view(np.uint8) if hard else np.abs(y - other)
            by_rank = np.ascontiguousarray(y).take(ranks.order, mode="clip")
            y = np.ascontiguousarray(y, dtype=np.float64)
            values = {
                "weight": np.ones(y.shape[1]),
                **_sums_of(ranks, by_rank.astype(whole) if hard else by_rank, hard=hard),
                "cross_entropy": -sum_classes(logarithms.expected(y, 1.0 - y)),
                "distance": distance.sum(axis=0, dtype=whole) if hard else sum_classes(distance),
            }
            if hard:
                values["exact_match_prefix"] = values["misordered"] == 0
                values["subset_accuracy"] = values["distance"] == 0
                prefix[:, block], tied = _prefix(ranks, y, begin)
            weight = y.max(axis=0)
            for row, name in zip(per_segment[reading], names[reading], strict=True):
                np.multiply(values[name], weight, out=row[block])
        return tied

    parts = for_each(count, range(0, size, _BLOCK), system.size) if n_classes else []
    counted: dict[str, tuple[dict[str, Floats], dict[str, Floats]]] = {}
    for reading, rows in per_segment.items():
        counted[reading] = dict(zip(names[reading], sum_files(rows, start), strict=True)), {}
    if "hard" in readings:
        active = readings["hard"][0].astype(bool, copy=False)
        # Whole places are counted, shares of places added.
        cells = (prefix, prefix & active, active)
        sums = [count_files(of_cells, start).astype(np.float64) for of_cells in cells]
        shared = [part for part in parts if part is not None]
        if shared:
            segment, *shares = (np.concatenate(column, axis=-1) for column in zip(*shared, strict=True))
            first = np.searchsorted(segment, start)
            for i, share in enumerate(shares):
                sums[i] += sum_files(share, first).T
        counted["hard"][1].update(zip(CLASS_SUMS, sums, strict=True))
    return counted


def _sums_of(ranks: _Ranks, y: Array, *, hard: bool) -> dict[str, Array]:
    """Return the sums computed from the order of the classes, (n_segments,) each.

    y: by rank; for hard readings, whole numbers large enough for the square of the number of classes.
    """
    above, rank = ranks.sums(y), ranks.rank
    if hard:
        places, itself = rank.astype(y.dtype), np.zeros_like(above[-1])
        silent = places - above
        wrong = (y * silent).sum(axis=0, dtype=y.dtype)
        # A binarised reference has the same classes at every level.
        coverage = (y * places).max(axis=0)
    else:
        # A class makes no pair with itself, even if it is partly active and partly silent.
        silent, itself = ranks.sums(1.0 - y), sum_classes(y * (1.0 - y))
        wrong = np.maximum(sum_classes(y * silent) - itself, 0.0)
        coverage = _coverage(rank, y)
    mass = above[-1]
    pairs = mass * silent[-1] - itself
    return {
        "one_error": 1.0 - above[0] / rank[0],
        "coverage": coverage,
        "misordered": wrong,
        # Segments without pairs have nothing out of order.
        "ranking_loss": np.minimum(_quotient(wrong, pairs), 1.0),
        "label_ranking_average_precision": _quotient(sum_classes(y * above / rank), mass),
    }


def _quotient(values: Array, size: Array) -> Floats:
    full = size > 0
    if full.all():
        # Without a look at each.
        return np.asarray(values / size)
    return np.divide(values, size, out=np.zeros(values.shape), where=full)


def _coverage(rank: Floats, y: Floats) -> Floats:
    """Return the mean over the levels of a segment of the lowest rank of a class active at that level.

    rank, y: (n_classes, n_segments) by rank. A class is the lowest at the levels that none below it reaches.
    """
    total, reached = np.zeros((2, y.shape[1]))
    for place, values in zip(rank[::-1], y[::-1], strict=True):
        highest = np.maximum(reached, values)
        more = highest - reached
        more *= place
        total += more
        reached = highest
    return _quotient(total, reached)


def _prefix(ranks: _Ranks, y: Floats, begin: int) -> tuple[Bools, _Tied | None]:
    """Return which classes are among the N_ref highest of their segment, (n_classes, n_segments).

    Classes with equal values share the remaining ranks: segments with such classes are returned separately,
    and none of these classes is in the first array. y: by class. begin: the first segment.
    """
    p, places = ranks.p, sum_classes(y)
    last = np.maximum(places.astype(np.int64) - 1, 0), np.arange(p.shape[1])
    lowest = p.take(ranks.order[last])
    sharing = (places > 0) & (ranks.rank[last] > places)
    inside = p >= np.where((places > 0) & ~sharing, lowest, np.inf)
    rows = np.flatnonzero(sharing)
    if not len(rows):
        return inside, None
    values, lowest = p[:, rows], lowest[rows]
    higher, equal = values > lowest, values == lowest
    share = higher + equal * ((places[rows] - higher.sum(axis=0)) / equal.sum(axis=0))
    return inside, (rows + begin, share, share * y[:, rows])


def ranking_scores(
    sums: Mapping[str, Array], of_classes: Mapping[str, Array], n_classes: int, unit: str
) -> Table:
    """Return the measures of rankings by name.

    sums: totals of segments by name, (...). of_classes: totals of classes of a binarised reference, (...,
    n_classes) by `CLASS_SUMS`; empty for a soft one. n_classes: the number of ordered classes. unit: `nats`
    or `bits`.
    """
    means = {name: ratio(total, sums["weight"]) for name, total in sums.items()}
    shares = {name: means[name] for name in ("one_error", "ranking_loss", "label_ranking_average_precision")}
    shares["ranking_loss_all_pairs"] = ratio(means["misordered"], np.asarray(n_classes * (n_classes - 1) / 2))
    shares["hamming_loss"] = ratio(means["distance"], np.asarray(n_classes))
    shares |= {name: means[name] for name in CUT_SUMS if of_classes}
    # Sums of shares may round beyond 1.
    values = {name: np.minimum(share, 1.0) for name, share in shares.items()}
    values["coverage"] = means["coverage"]
    values["cross_entropy"] = means["cross_entropy"] / (math.log(2) if unit == "bits" else 1.0)
    table = {}
    if of_classes:
        prefix, hits, n_ref = (of_classes[name] for name in CLASS_SUMS)
        # A class that is never in a prefix has 0: a system must not gain by ranking it last.
        precision = np.where(prefix > 0, np.minimum(ratio(hits, prefix), 1.0), 0.0)
        lowest = np.where(n_ref > 0, precision, np.inf).min(axis=-1, initial=np.inf)
        values["label_wise_precision_minimum"] = np.where(np.isinf(lowest), np.nan, lowest)
        table["label_wise_precision"] = averaged(np.where(n_ref > 0, precision, np.nan), None, n_ref)
    return table | {name: Averaged(None, overall=value) for name, value in values.items()}
