"""Divergences, proper scores and correlations: how far the system's values are from the reference's.

No threshold cuts anything here. Source and convention of the Kullback-Leibler divergence: Harju & Mesaros
2023, whose Table 1 it reproduces. Reference first, in nats, 0 ln 0 = 0, the system's values clipped to
[eps, 1 - eps]. Divergences are summed per file and class; correlations and distances of distributions need
all cells of a class, or of all classes, at once.

A cell that is 0 on both sides adds what `silent` says to each sum, whatever its class and file. These are
kept apart, so that a class that is absent from a file needs no entry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index
from sedeval_soft.fields import TNorm
from sedeval_soft.measures.base import Measure, Table, averaged, ratio
from sedeval_soft.measures.segment import count_files, sum_files
from sedeval_soft.sorting import Blocks
from sedeval_soft.threads import for_each

_TINY = float(np.finfo(np.float64).tiny)

ROUNDING = 1e-14
"""How far apart entropies may be that would be one without rounding."""

_BLOCK = 1 << 14
"""Cells worked on at a time: what is in between stays in the processor's cache."""

_LONG_BLOCK = 1 << 15
"""Cells whose products are summed at a time."""

ENTROPIES = ("kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon")
"""What is counted in nats."""

KL = ("kl_divergence",)
"""What is summed of a soft reference at least."""

SOFT = (*ENTROPIES, "brier", "mean_absolute_error", "product")
"""What is summed of a soft reference where divergences are asked for."""

PROPER = ("cross_entropy", "brier")
"""What is summed of a cut reference."""


def silent(name: str, eps: float) -> float:
    """Return what a cell adds to a sum where both sides are 0. For the clipping it may not be 0."""
    clipped = {"kl_divergence", "kl_divergence_reverse", "cross_entropy"}
    return -math.log1p(-eps) if name in clipped else 0.0


def log_clipped(values: Floats, eps: float) -> Floats:
    """Return the logarithms of values in [0, 1] that are clipped to [eps, 1 - eps].

    What a value lacks to 1 is clipped by itself: of 1 - 1e-7 a float keeps nine digits of the 1e-7, so that
    a value of 1 would cost less than one of 0.
    """
    logarithms: Floats = np.minimum(np.log(np.maximum(values, eps)), math.log1p(-eps))
    return logarithms


def cross_entropy(values: Floats, others: Floats, eps: float) -> Floats:
    """Return -v ln(w) - (1 - v) ln(1 - w) elementwise; others: the values w, which are clipped."""
    return -(values * log_clipped(others, eps) + (1.0 - values) * log_clipped(1.0 - others, eps))


def entropy(values: Floats) -> Floats:
    """Return -v ln v - (1 - v) ln(1 - v) elementwise, in nats."""
    rest = 1.0 - values
    # The logarithm at 0 is multiplied by 0: any finite one will do.
    entropies: Floats = -(values * np.log(np.maximum(values, _TINY)) + rest * np.log(np.maximum(rest, _TINY)))
    return entropies


def kl_divergence(reference: Floats, system: Floats, eps: float) -> Floats:
    """Return y ln(y/p) + (1-y) ln((1-y)/(1-p)) elementwise, in nats.

    reference, system: values in [0, 1] of one shape. eps: p and 1 - p are clipped to [eps, 1 - eps].
    """
    return cross_entropy(reference, system, eps) - entropy(reference)


def _values(names: tuple[str, ...], y: Floats, p: Floats, eps: float) -> tuple[Floats, ...]:
    """Return named values of each cell; names: `KL`, `SOFT` or `PROPER`."""
    if names == KL:
        return (kl_divergence(y, p, eps),)
    if names == PROPER:
        # Of a cut reference, one of the two logarithms counts.
        return -log_clipped(np.where(y > 0, p, 1.0 - p), eps), (y - p) ** 2
    forward, ours, theirs = cross_entropy(y, p, eps), entropy(y), entropy(p)
    reverse, middle = cross_entropy(p, y, eps) - theirs, entropy((y + p) / 2) - (ours + theirs) / 2
    return forward - ours, reverse, forward, middle, (y - p) ** 2, np.abs(y - p), y * p


def count_divergence(
    reference: Floats | Bools,
    system: Floats,
    start: Index,
    names: tuple[str, ...],
    eps: float,
    times: Array | None = None,
) -> dict[str, Array]:
    """Sum named values of the cells where either side is above 0, (n_files, n_classes) each, by name.

    reference, system, start, times: as in `segment.count_soft`. names: `KL`, `SOFT` or `PROPER`. Beside these
    sums, `sounding` is how many such cells there are.
    """
    shape = len(start) - 1, len(reference)
    totals = np.zeros((len(names), *shape))
    sounding = np.zeros(shape, dtype=np.int64 if times is None else times.dtype)

    def count(label: int) -> None:
        size = reference.shape[1]
        values, either = np.empty((len(names), size)), np.empty(size, dtype=bool)
        for begin in range(0, size, _BLOCK):
            block = slice(begin, begin + _BLOCK)
            y, p = reference[label, block].astype(np.float64, copy=False), system[label, block]
            either[block] = sounds = (y > 0) | (p > 0)
            for row, cells in zip(values, _values(names, y, p, eps), strict=True):
                np.multiply(cells, sounds, out=row[block])
        if times is not None:
            values *= times
        totals[:, :, label] = sum_files(values, start)
        sounding[:, label] = count_files(either[None], start, times)[:, 0]

    for_each(count, range(len(reference)), reference.size)
    return {**dict(zip(names, totals, strict=True)), "sounding": sounding}


def divergence_scores(
    totals: Mapping[str, Array],
    sounding: Array,
    cells: Array,
    n_ref: Array,
    n_sys: Array,
    eps: float,
    unit: str,
    is_expected: Bools | None = None,
) -> Table:
    """Return the mean of each sum per cell: of classes, over all, and averaged over classes.

    totals, sounding: (..., n_classes) totals of `count_divergence`. n_ref, n_sys: (..., n_classes) the sizes
    of both sides. cells: (...) the number of cells of a class. unit: `nats` or `bits`. is_expected:
    (n_classes,) the classes that the mean over all is of, None for all classes.
    """
    of_class = np.broadcast_to(np.asarray(cells)[..., None], sounding.shape)
    some = slice(None) if is_expected is None else is_expected
    means: dict[str, tuple[Array, Array]] = {}
    for name in [name for name in totals if name != "product"]:
        # At y = p rounding may leave some -1e-17, and no divergence is negative.
        sums = np.maximum(totals[name] + (of_class - sounding) * silent(name, eps), 0.0)
        if unit == "bits" and name in ENTROPIES:
            sums /= math.log(2)
        pooled = ratio(sums[..., some].sum(axis=-1), of_class[..., some].sum(axis=-1))
        means[name] = ratio(sums, of_class), pooled
    if "product" in totals:
        # With TP = sum y p, FP = sum (1-y) p and FN = sum y (1-p), 2 TP + FP + FN is N_ref + N_sys.
        columns = totals["product"], n_ref, n_sys
        loss, joint = (
            np.maximum(1.0 - 2 * product / (ours + theirs + eps), 0.0)
            for product, ours, theirs in (columns, [column.sum(axis=-1) for column in columns])
        )
        means["soft_f1_loss"] = loss, joint
    return {name: averaged(*values, n_ref) for name, values in means.items()}


# Correlations and distances of distributions: of all cells of a class, or of all classes, at once.


def pearson(reference: Floats, system: Floats) -> float:
    """Return the linear correlation of two arrays, (n_parts, n) each; NaN where either is constant."""
    if not reference.size:
        return math.nan
    sides = [(float(side.mean()), float(side.min()), float(side.max())) for side in (reference, system)]
    if any(low == high for _, low, high in sides):
        return math.nan
    # Of the size of 1, deviations have squares that are numbers, however small they are.
    centres = [(mean, max(high - mean, mean - low)) for mean, low, high in sides]
    blocks = [
        (y[begin : begin + _LONG_BLOCK], p[begin : begin + _LONG_BLOCK])
        for y, p in zip(reference, system, strict=True)
        for begin in range(0, len(y), _LONG_BLOCK)
    ]
    return _correlation(for_each(lambda pair: _products(*pair, *centres), blocks, reference.size))


def entropy_correlation(reference: Floats, system: Floats) -> float:
    """Return the linear correlation of the entropies of two arrays, (n_parts, n) each.

    NaN where those of either are constant: those that differ by rounding, as of 0.2 and 0.8, are one.
    """
    sides = []
    for values in (reference, system):
        entropies = entropy(values)
        is_constant = entropies.size and np.ptp(entropies) < ROUNDING
        sides.append(np.zeros_like(entropies) if is_constant else entropies)
    return pearson(*sides)


def rank_correlation(parts: Sequence[Floats], orders: Sequence[Codes], ranks: Floats) -> float:
    """Return the correlation of the ranks of some values with other ranks; NaN where either is constant.

    parts: ascending values, (n,) each. orders: the place that each of them has in its part. ranks: those of
    the other side at these places, ties at their mean, (n_parts, n).
    """
    middle = (ranks.size + 1) / 2
    blocks = Blocks.of(parts)

    def products(block: int) -> Floats:
        own = np.concatenate(blocks.rank(block))
        slices = zip(ranks, orders, blocks.slices(block), strict=True)
        others = np.concatenate([row[order[part]] for row, order, part in slices])
        return _products(others, own, (middle, middle), (middle, middle))

    return _correlation(for_each(products, range(len(blocks)), ranks.size))


def _products(y: Floats, p: Floats, of_y: tuple[float, float], of_p: tuple[float, float]) -> Floats:
    """Return the sums of squares of both sides and of their product, (3,); of: a mean and a unit of each."""
    y, p = (y - of_y[0]) / of_y[1], (p - of_p[0]) / of_p[1]
    return np.array([np.einsum("i,i->", a, b) for a, b in ((y, y), (p, p), (y, p))])


def _correlation(products: Sequence[Floats]) -> float:
    spread, other, common = (math.fsum(column) for column in zip(*products, strict=True))
    scale = math.sqrt(spread * other)
    return max(-1.0, min(1.0, common / scale)) if scale > 0 else math.nan


def ranks_of(parts: Sequence[Floats], orders: Sequence[Codes]) -> Floats:
    """Return the rank of each value among all of them, ties at their mean, (n_parts, n).

    parts: ascending values, (n,) each. orders: the place that each of them has in its part.
    """
    blocks = Blocks.of(parts)
    found = np.empty((len(parts), len(parts[0])))

    def rank(block: int) -> None:
        own = zip(blocks.slices(block), blocks.rank(block), strict=True)
        for row, order, (part, numbers) in zip(found, orders, own, strict=True):
            row[order[part]] = numbers

    for_each(rank, range(len(blocks)), found.size)
    return found


def wasserstein(reference: Sequence[Floats], system: Sequence[Floats]) -> float:
    """Return the distance between two distributions of as many values; parts in ascending order.

    The area between the two distribution functions, divided by the number of values: n |F - G| is how many
    more values one side has up to a level than the other. Source: Vallender 1974.
    """
    size = sum(map(len, reference))
    if not size:
        return math.nan
    blocks = Blocks.of([*reference, *system])
    sign = np.repeat([1, -1], [len(reference), len(system)])
    ahead = sign @ blocks.edges

    def area(block: int) -> tuple[float, float, float]:
        level = blocks.level(block)
        if level is not None:
            return 0.0, level, level
        values, order = blocks.ordered(block)
        signs = np.repeat(sign, [own.stop - own.start for own in blocks.slices(block)])
        if order is not None:
            signs = signs[order]
        steps = np.abs(ahead[block] + np.cumsum(signs)[:-1]) * np.diff(values)
        return float(steps.sum()), float(values[0]), float(values[-1])

    full = np.flatnonzero(blocks.size)
    found = for_each(area, full.tolist(), 2 * size)
    between = (
        abs(int(ahead[block])) * (after[1] - before[2])
        for block, before, after in zip(full[1:], found[:-1], found[1:], strict=True)
    )
    return math.fsum([*(own for own, _, _ in found), *between]) / size


# Means over all ways to put the segments of a system beside those of a reference: closed forms. Where every
# segment of the system is as likely to stand beside any of the reference, the mean of a sum over segments is
# the sum over all pairs of segments, divided by their number. N_ref and N_sys of a class do not depend on the
# order: so every score that is linear in TP has a closed form. reference, system: (n_classes, n_segments).


def expected_common(reference: Floats, system: Floats, t_norm: TNorm) -> Floats:
    """Return the mean of sum T(y, p) of each class, (n_classes,)."""
    n = max(reference.shape[1], 1)
    if t_norm == "product":
        return np.asarray(reference.sum(axis=1) * system.sum(axis=1) / n)
    if t_norm == "lukasiewicz":
        # max(0, y + p - 1) = y - min(y, 1 - p)
        return np.asarray(reference.sum(axis=1) - _minima(reference, 1.0 - system) / n)
    return np.asarray(_minima(reference, system) / n)


def _minima(reference: Floats, system: Floats) -> Floats:
    """Return the sum of min(y, p) over all pairs, (n_classes,)."""
    minima = np.empty(len(reference))
    for k, (y, p) in enumerate(zip(reference, system, strict=True)):
        ordered = np.sort(p)
        below = np.searchsorted(ordered, y)
        total = np.concatenate(([0.0], np.cumsum(ordered)))
        minima[k] = (total[below] + y * (len(p) - below)).sum()
    return minima


def expected_kl(reference: Floats, system: Floats, eps: float) -> Floats:
    """Return the mean of the sum of Kullback-Leibler divergences of each class, (n_classes,), in nats."""
    inside, own, crossed = np.clip(system, eps, 1.0 - eps), np.zeros(len(reference)), np.zeros(len(reference))
    for y, p in ((reference, inside), (1.0 - reference, 1.0 - inside)):
        own += (y * np.log(np.maximum(y, _TINY))).sum(axis=1)
        crossed += y.sum(axis=1) * np.log(p).sum(axis=1)
    return np.asarray(own - crossed / max(reference.shape[1], 1))


_NONE = "there are no segments"

_distance = partial(Measure, direction="lower", undefined=_NONE, table="divergence")
_correlation_of = partial(Measure, low=-1.0, undefined="either side is constant", table="divergence")

KL_DIVERGENCE = _distance("kl_divergence",
    "mean Bernoulli divergence of the system from the reference, in nats (--entropy-unit)",
    "mean of y ln(y/p) + (1-y) ln((1-y)/(1-p)), p clipped to [eps, 1 - eps] (--epsilon)",
    source="Kullback & Leibler 1951; convention of Harju & Mesaros 2023", high=None, short="KLD",
    table="main", aliases=("kl", "kld"))  # fmt: skip

OF_CUT = (
    _distance("cross_entropy", "mean log loss per cell, in nats (--entropy-unit)",
        "mean of -y ln p - (1-y) ln(1-p), p clipped to [eps, 1 - eps]",
        source="Good 1952; as scikit-learn's log_loss", high=None, short="CE",
        aliases=("bce", "log_loss", "logloss")),
    _distance("brier", "mean squared error of the values", "mean of (y - p)^2", source="Brier 1950",
        short="Brier"),
)  # fmt: skip
"""Proper scores, which a cut reference has, too."""

DISTANCES = (
    _distance("kl_divergence_reverse", "mean Bernoulli divergence of the reference from the system, in nats",
        "mean of p ln(p/y) + (1-p) ln((1-p)/(1-y)), y clipped to [eps, 1 - eps]",
        source="Kullback & Leibler 1951", high=None, short="KLD rev."),
    _distance("jensen_shannon", "mean Bernoulli divergence of both from their mean m = (y + p) / 2, in nats",
        "mean of (KL(y, m) + KL(p, m)) / 2", source="Lin 1991", short="JSD", aliases=("js", "jsd")),
    _distance("mean_absolute_error", "mean absolute (Manhattan) distance of the values", "mean of |y - p|",
        source="Willmott & Matsuura 2005", short="MAE", aliases=("mae",)),
)  # fmt: skip

SOFT_F1_LOSS = _distance("soft_f1_loss",
    "1 - F of the product T-norm, as in training; not 0 for a copied soft reference",
    "1 - 2 TP / (2 TP + FP + FN + eps), TP = sum y p, FP = sum (1-y) p, FN = sum y (1-p)",
    source="Pastor-Pellicer et al. 2013", undefined="never", short="soft F1 loss",
    letters={"TP": "sum of y p", "FP": "sum of (1-y) p", "FN": "sum of y (1-p)"})  # fmt: skip

WASSERSTEIN = _distance("wasserstein",
    "distance between the distributions of both sides' values, wherever they lie",
    "mean of |y(k) - p(k)|, each side's values sorted", source="Vallender 1974", short="W1")  # fmt: skip

PEARSON = _correlation_of("pearson", "linear correlation of the values", "cov(y, p) / (std(y) std(p))",
    source="Pearson 1895", short="Pearson")  # fmt: skip

SPEARMAN = _correlation_of("spearman", "correlation of the ranks of the values, ties at their mean rank",
    "pearson of the ranks", source="Spearman 1904", short="Spearman")  # fmt: skip

ENTROPY_CORRELATION = _correlation_of("entropy_correlation",
    "whether the system is unsure where the annotators disagree", "pearson of H(y) and H(p)",
    undefined="either side's entropy is constant", source="Uma et al. 2020", short="r of H",
    letters={"H": "entropy of a value v, -v ln v - (1-v) ln(1-v)"},
    aliases=("entcorr", "entropy_corr"))  # fmt: skip

OF_VALUES = (*OF_CUT, *DISTANCES, SOFT_F1_LOSS, WASSERSTEIN, PEARSON, SPEARMAN, ENTROPY_CORRELATION)
"""What comes beside KL_DIVERGENCE where divergences are asked for."""
