"""Divergences, proper scores and correlations: how far the system's values are from the reference's.

None of these measures uses a threshold. Source and convention of the Kullback-Leibler divergence: Harju &
Mesaros 2023, whose Table 1 it reproduces. The reference comes first, in nats, 0 ln 0 = 0, the system's values
clipped to [eps, 1 - eps]. Divergences are summed per file and class; correlations and distances of
distributions need all cells of a class, or of all classes, at once.

A cell that is 0 on both sides adds the same to a sum, whatever its class and file. These cells are counted
separately, so that a class that is absent from a file needs no entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Array, Bools, Floats, Index, for_each, heads
from sedeval_soft.measures.base import Measure, Table, averaged, ratio

_TINY = float(np.finfo(np.float64).tiny)

ROUNDING = 1e-14
"""Largest distance between entropies that would be equal without rounding."""

_BLOCK = 1 << 16
"""Cells whose values are summed at a time."""

ENTROPIES = ("kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon")
"""Sums in nats."""

_CLIPPED = {*ENTROPIES} - {"jensen_shannon"}
"""Sums that clipping makes nonzero if both sides are 0."""

KL = ("kl_divergence",)
"""Sums that every soft reference has."""

SOFT = (*ENTROPIES, "brier", "mean_absolute_error", "product")
"""Sums of a soft reference if divergences are requested."""

PROPER = ("cross_entropy", "brier")
"""Sums of a binarised reference."""


class Logarithms(NamedTuple):
    """Values in [0, 1], their differences to 1, and the logarithms of both, all of one shape.

    The logarithm of 0 is finite, for it is clipped, or multiplied by 0. The difference to 1 has its own
    logarithm: a float keeps nine digits of the 1e-7 in 1 - 1e-7, so that a value of 1 would cost less than a
    value of 0.
    """

    value: Floats
    rest: Floats
    of_value: Floats
    of_rest: Floats

    @classmethod
    def of(cls, value: Floats) -> Self:
        """Take the logarithms of values."""
        rest = 1.0 - value
        of_value, of_rest = (np.maximum(side, _TINY) for side in (value, rest))
        return cls(value, rest, np.log(of_value, out=of_value), np.log(of_rest, out=of_rest))

    def clipped(self, eps: float) -> Self:
        """Return the logarithms of the values clipped to [eps, 1 - eps]."""
        ends = float(np.log(eps)), math.log1p(-eps)
        return self._replace(of_value=self.of_value.clip(*ends), of_rest=self.of_rest.clip(*ends))

    def expected(self, value: Floats, rest: Floats) -> Floats:
        """Return v ln(w) + (1 - v) ln(1 - w) elementwise; value, rest: v and 1 - v, of these values w.

        The result is minus the cross-entropy, in nats; for w = v, minus the entropy.
        """
        logarithms = value * self.of_value
        logarithms += rest * self.of_rest
        return logarithms

    def entropy(self) -> Floats:
        """Return -v ln v - (1 - v) ln(1 - v) elementwise."""
        entropy = self.expected(self.value, self.rest)
        return np.negative(entropy, out=entropy)


def _values(
    names: tuple[str, ...], y: Floats, p: Logarithms, clipped: Logarithms, eps: float
) -> Iterator[Floats]:
    """Yield the named values of each cell in their order; names: `KL`, `SOFT` or `PROPER`.

    clipped: the logarithms of p. The caller may change each array. Arrays are made on demand, so that the
    arrays in use stay in the processor's cache.
    """
    if names == PROPER:
        forward, distance = clipped.expected(y, 1.0 - y), y - p.value
        yield np.negative(forward, out=forward)
        yield np.square(distance, out=distance)
        return
    of_y = Logarithms.of(y)
    forward, ours = clipped.expected(y, of_y.rest), of_y.expected(y, of_y.rest)
    # y ln(y/p) + (1-y) ln((1-y)/(1-p))
    yield ours - forward
    if names == KL:
        return
    theirs = p.expected(p.value, p.rest)
    yield theirs - of_y.clipped(eps).expected(p.value, p.rest)
    yield np.negative(forward, out=forward)
    ours += theirs
    ours /= 2
    values = y + p.value
    values /= 2
    of_mean = Logarithms.of(values)
    ours -= of_mean.expected(of_mean.value, of_mean.rest)
    yield ours
    distance = y - p.value
    yield np.square(distance)
    yield np.abs(distance, out=distance)
    yield y * p.value


def count_divergence(
    reference: Floats | Bools, system: Floats, start: Index, names: tuple[str, ...], eps: float
) -> dict[str, Array]:
    """Sum named values of the cells with a side above 0, (n_files, n_classes) each.

    names: `KL`, `SOFT` or `PROPER`. reference, system, start: as in `segment.count_soft`. Beside these sums,
    `sounding` is the number of these cells.
    """
    n_files, (n_classes, n_cells) = len(start) - 1, system.shape
    file = np.repeat(np.arange(n_files), np.diff(start))

    def count(block: tuple[slice, slice]) -> tuple[Array, list[Floats]]:
        labels, cells = block
        ours, theirs, files = reference[block], system[block], file[cells]
        heard = np.flatnonzero((ours > 0) | (theirs > 0))
        row, cell = np.divmod(heard, max(len(files), 1))
        group = (labels.start + row) * n_files + files.take(cell)
        first, sounding = heads(group), np.ones(len(heard))
        y = ours.reshape(-1).take(heard).astype(np.float64, copy=False)
        p = Logarithms.of(theirs.reshape(-1).take(heard))
        values = *_values(names, y, p, p.clipped(eps), eps), sounding
        return group[first], [np.add.reduceat(each, first) for each in values]

    rows = max(1, _BLOCK // max(n_cells, 1))
    blocks = [
        (slice(label, min(label + rows, n_classes)), slice(begin, begin + _BLOCK))
        for label in range(0, n_classes, rows)
        for begin in range(0, n_cells, _BLOCK)
    ]
    totals = np.zeros((len(names) + 1, n_classes * n_files))
    for groups, sums in for_each(count, blocks, system.size):
        # A long row has several blocks, which may begin within a file.
        totals[:, groups] += sums
    *columns, sounding = (total.reshape(n_classes, n_files).T for total in totals)
    return dict(zip(names, columns, strict=True)) | {"sounding": sounding.astype(np.int64)}


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
        silent = -math.log1p(-eps) if name in _CLIPPED else 0.0
        sums = np.maximum(totals[name] + (of_class - sounding) * silent, 0.0)
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


_NONE = "there are no segments"

_distance = partial(Measure, direction="lower", undefined=_NONE, table="divergence")
_correlation_of = partial(Measure, low=-1.0, missing=-1.0, table="divergence",
    undefined="either side is constant; counts -1 in averages if the reference is not")  # fmt: skip

KL_DIVERGENCE = _distance("kl_divergence",
    "mean Bernoulli divergence of the system from the reference, in nats (--set entropy_unit)",
    "mean of y ln(y/p) + (1-y) ln((1-y)/(1-p)), p clipped to [eps, 1 - eps] (--set epsilon)",
    source="Kullback & Leibler 1951; convention of Harju & Mesaros 2023", high=None, short="KLD",
    table="main", aliases=("kl", "kld"))  # fmt: skip

OF_CUT = (
    _distance("cross_entropy", "mean log loss per cell, in nats (--set entropy_unit)",
        "mean of -y ln p - (1-y) ln(1-p), p clipped to [eps, 1 - eps]",
        source="Good 1952; as scikit-learn's log_loss", high=None, short="CE",
        aliases=("bce", "log_loss", "logloss")),
    _distance("brier", "mean squared error of the values", "mean of (y - p)^2", source="Brier 1950",
        short="Brier"),
)  # fmt: skip
"""Proper scores that a binarised reference has as well."""

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
    undefined="either side's entropy is constant; counts -1 in averages if that of the reference is not",
    source="Uma et al. 2020", short="r of H",
    letters={"H": "entropy of a value v, -v ln v - (1-v) ln(1-v)"},
    aliases=("entcorr", "entropy_corr"))  # fmt: skip

OF_VALUES = (*OF_CUT, *DISTANCES, SOFT_F1_LOSS, WASSERSTEIN, PEARSON, SPEARMAN, ENTROPY_CORRELATION)
"""Measures beside KL_DIVERGENCE if divergences are requested."""

MISSING = {measure.name: measure.missing for measure in OF_VALUES}
"""Values that count for undefined values of these measures in averages."""
