"""The order of the classes within each segment: statistics summed per file, and their measures.

Within a segment the classes are put in order of the system's values. A class is active by y and silent by
1 - y. Segments without an active reference class count nothing; others weigh as much as their highest y,
which is the share of levels at which they have one, and is 1 where the reference is cut. Classes
with equal values share a rank, the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index
from sedeval_soft.measures.base import Averaged, Measure, Table, averaged, ratio
from sedeval_soft.measures.divergence import log_clipped
from sedeval_soft.measures.segment import count_files, sum_classes, sum_files
from sedeval_soft.threads import for_each

_BLOCK = 8192

SUMS = (
    "weight", "one_error", "coverage", "ranking_loss", "misordered", "label_ranking_average_precision",
    "cross_entropy", "distance",
)  # fmt: skip
"""Sums over segments that every reference has, each weighted: `misordered` pairs, `distance` |y - p|."""

CUT_SUMS = ("exact_match_prefix", "subset_accuracy")
"""Sums over segments that only a cut reference has."""

CLASS_SUMS = ("prefix", "prefix_hits", "n_ref")
"""Sums of a cut reference by class: in the prefix, in it and active, and active."""

_Tied = tuple[Index, Floats, Floats]
"""Segments in which classes share the last places of the prefix: which, and the shares of classes in it, and
in it and active, (n, n_classes) each."""


class _Ranks(NamedTuple):
    """Classes of each segment in descending order of the system's values; all (n_segments, n_classes).

    order: the classes. y: their reference values. first, last: where the group of equal values that each
    belongs to begins and ends. above, silent: sums of y and of 1 - y down to the end of the group.
    """

    order: Index
    y: Floats
    first: Index
    last: Index
    above: Floats
    silent: Floats

    @classmethod
    def of(cls, y: Floats, p: Floats) -> _Ranks:
        order = np.argsort(-p, axis=1)
        values, y = _picked(order, p, y)
        place = np.broadcast_to(np.arange(p.shape[1]), p.shape)
        above, silent = np.cumsum(y, axis=1), np.cumsum(1.0 - y, axis=1)
        parted = values[:, 1:] != values[:, :-1]
        if parted.all():
            return cls(order, y, place, place, above, silent)
        first, last = place.copy(), place.copy()
        first[:, 1:][~parted] = 0
        np.maximum.accumulate(first, axis=1, out=first)
        last[:, :-1][~parted] = p.shape[1] - 1
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        return cls(order, y, first, last, *_picked(last, above, silent))


def count_ranking(
    reference: Floats | Bools, system: Floats, start: Index, detected: Bools | None, eps: float
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return sums over the segments of each file by name, (n_files,), and by class, (n_files, n_classes).

    reference, system, start: as in `segment.count_soft`. detected: where the system is active, for a
    reference that is cut; None for a soft one. eps: values are clipped to [eps, 1 - eps] in logarithms.
    """
    n_classes, size = reference.shape
    hard = detected is not None
    names = SUMS + CUT_SUMS if hard else SUMS
    per_segment = np.zeros((len(names), size))
    prefix = np.zeros(reference.shape if hard else (0, 0), dtype=bool)

    def count(begin: int) -> _Tied:
        block = slice(begin, begin + _BLOCK)
        y = np.ascontiguousarray(reference[:, block].T, dtype=np.float64)
        p = np.ascontiguousarray(system[:, block].T)
        other = p if detected is None else detected[:, block].T.astype(np.float64)
        ranks = _Ranks.of(y, p)
        loss = -(y * log_clipped(p, eps) + (1.0 - y) * log_clipped(1.0 - p, eps))
        values = {
            "weight": np.ones(len(y)),
            **_sums_of(ranks, hard=hard),
            "cross_entropy": sum_classes(loss),
            "distance": sum_classes(np.abs(y - other)),
        }
        values |= {
            "exact_match_prefix": values["misordered"] == 0,
            "subset_accuracy": values["distance"] == 0,
        }
        for row, name in zip(per_segment, names, strict=True):
            np.multiply(values[name], y.max(axis=1), out=row[block])
        if not hard:
            return np.zeros(0, dtype=np.int64), y[:0], y[:0]
        prefix[:, block], tied = _prefix(ranks, p, begin)
        return tied

    parts = for_each(count, range(0, size, _BLOCK), reference.size) if n_classes else []
    per_file = dict(zip(names, sum_files(per_segment, start), strict=True))
    if not hard:
        return per_file, {}
    active = reference.astype(bool, copy=False)
    # Whole places are counted, shares of places added.
    sums = [count_files(cells, start).astype(np.float64) for cells in (prefix, prefix & active, active)]
    if any(len(segment) for segment, _, _ in parts):
        segment, *shares = (np.concatenate(column) for column in zip(*parts, strict=True))
        first = np.searchsorted(segment, start)
        for i, share in enumerate(shares):
            sums[i] += sum_files(share.T, first).T
    return per_file, dict(zip(CLASS_SUMS, sums, strict=True))


def _picked(places: Index, *arrays: Floats) -> list[Floats]:
    """Return what arrays have at some places of each row, as `numpy.take_along_axis`, which is slower."""
    flat = places + (np.arange(len(places)) * places.shape[1])[:, None]
    return [array.take(flat) for array in arrays]


def _sums_of(ranks: _Ranks, *, hard: bool) -> dict[str, Floats]:
    """Return what follows from the order of the classes, (n_segments,) each."""
    y, rank = ranks.y, ranks.last.astype(np.float64) + 1.0
    mass = sum_classes(y)
    # What is at once active and silent makes no pair with itself.
    itself = sum_classes(y * (1.0 - y))
    wrong = np.maximum(sum_classes(y * ranks.silent) - itself, 0.0)
    pairs = mass * sum_classes(1.0 - y) - itself
    top = np.take_along_axis(ranks.above, ranks.last[:, :1], axis=1)[:, 0] / rank[:, 0]
    return {
        "one_error": 1.0 - top,
        # Of a cut reference, every level has the same classes.
        "coverage": (y * rank).max(axis=1) if hard else _coverage(y, rank),
        "misordered": wrong,
        # Nothing is out of order where there is no pair.
        "ranking_loss": np.minimum(_quotient(wrong, pairs), 1.0),
        "label_ranking_average_precision": _quotient(sum_classes(y * ranks.above / rank), mass),
    }


def _quotient(values: Floats, size: Floats) -> Floats:
    return np.divide(values, size, out=np.zeros_like(values), where=size > 0)


def _coverage(y: Floats, rank: Floats) -> Floats:
    """Return the mean over the levels of a segment of the lowest rank of a class active at that level."""
    y, rank = _picked(np.argsort(-y, axis=1), y, rank)
    width = y.copy()
    width[:, :-1] -= y[:, 1:]
    return _quotient(sum_classes(width * np.maximum.accumulate(rank, axis=1)), y[:, 0])


def _prefix(ranks: _Ranks, p: Floats, begin: int) -> tuple[Bools, _Tied]:
    """Return which classes are among the N_ref highest of their segment, (n_classes, n_segments).

    Classes with equal values share the places that are left for them: segments in which some do are returned
    by themselves, and none of their classes is in the first array. begin: the first segment.
    """
    places = sum_classes(ranks.y).astype(np.int64)
    last = np.maximum(places - 1, 0)[:, None]
    lowest = np.take_along_axis(p, np.take_along_axis(ranks.order, last, axis=1), axis=1)
    sharing = (places > 0) & (np.take_along_axis(ranks.last, last, axis=1)[:, 0] != last[:, 0])
    inside = (p >= lowest) & ((places > 0) & ~sharing)[:, None]
    rows = np.flatnonzero(sharing)
    first, end, y = ranks.first[rows], ranks.last[rows], ranks.y[rows]
    share = np.clip((places[rows, None] - first) / (end - first + 1), 0.0, 1.0)
    shares = np.empty((2, *share.shape))
    for out, values in zip(shares, (share, share * y), strict=True):
        np.put_along_axis(out, ranks.order[rows], values, axis=1)
    return inside.T, (rows + begin, shares[0], shares[1])


def ranking_scores(
    sums: Mapping[str, Array], of_classes: Mapping[str, Array], n_classes: int, unit: str
) -> Table:
    """Return the measures of rankings by name.

    sums: totals of segments by name, (...). of_classes: those of classes of a cut reference, (..., n_classes)
    by `CLASS_SUMS`; empty for a soft one. n_classes: how many are put in order. unit: `nats` or `bits`.
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


_NONE = "no segment has an active reference class"
_ZHANG = "Zhang & Zhou 2014"
_SCHAPIRE = "Schapire & Singer 2000"
_PREFIX = "the N_ref highest of a segment"

_overall = partial(
    Measure, direction="lower", undefined=_NONE, averages=("overall",), has_classes=False, table="ranking"
)

SHARED = (
    _overall("one_error", "how often the class with the highest value is not active",
        "mean over segments of 1 - y of the highest p, ties at their mean", source=_SCHAPIRE, short="1-err"),
    _overall("coverage", "how far down the ranks the last active class is; the first is 1",
        "mean over segments of the largest rank of an active class, ties at their last",
        source=f"{_SCHAPIRE}; as scikit-learn's coverage_error", low=1.0, high=None),
    _overall("ranking_loss", "share of pairs of an active and a silent class that are out of order",
        "mean over segments of pairs with p_active <= p_silent / pairs",
        source=f"{_SCHAPIRE}; as scikit-learn", short="loss"),
    _overall("ranking_loss_all_pairs", "pairs out of order as a share of all pairs of classes",
        "mean over segments of pairs with p_active <= p_silent / (C (C - 1) / 2)",
        source=f"{_SCHAPIRE}, over all pairs", short="loss (all)",
        undefined=f"{_NONE}, or there is one class"),
    _overall("label_ranking_average_precision", "mean share of active classes among those ranked as high",
        "mean over segments and active classes of active ranked as high / ranked as high",
        source="Tsoumakas, Katakis & Vlahavas 2010; as scikit-learn", short="LRAP", direction="higher"),
    _overall("cross_entropy", "log loss of a segment, summed over the classes, in nats (--entropy-unit)",
        "mean over segments of sum over classes of -y ln p - (1-y) ln(1-p)", source="Good 1952", short="CE",
        high=None),
    _overall("hamming_loss", "share of classes that are wrong", "mean over segments and classes of |y - p|",
        source=_ZHANG, short="Hamming"),
)  # fmt: skip

HARD = (
    _overall("exact_match_prefix", "share of segments whose active classes have the highest values",
        "mean over segments of [every active p > every silent p]", source=_ZHANG, short="prefix",
        direction="higher"),
    _overall("subset_accuracy", "share of segments with every class right", "mean over segments of [y = p]",
        source=_ZHANG, short="subset", direction="higher"),
    Measure("label_wise_precision", f"how often a class is active where it is among {_PREFIX}",
        "segments with the class active and among the N_ref highest / segments with it among them",
        source=_ZHANG, averages=("macro", "weighted"), short="label P",
        undefined="the class has no reference; 0 if it is never among them", table="label-wise"),
    _overall("label_wise_precision_minimum", "the lowest label_wise_precision of any class",
        "min over classes of label_wise_precision", source=_ZHANG, short="min label P", direction="higher"),
)  # fmt: skip
