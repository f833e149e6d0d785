"""Divergences and proper scores of Bernoulli variables, summed per file and class.

Source and convention of the Kullback-Leibler divergence: Harju & Mesaros 2023, whose Table 1 it
reproduces. Reference first, in nats, 0 ln 0 = 0, the system's values clipped to [eps, 1 - eps].

A cell that is 0 on both sides adds what `silent` says to each sum, whatever its class and file. These are
kept apart, so that a class that is absent from a file needs no entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.laws import Columns, Law, at_least, at_most, equal
from sedeval_soft.core.threads import for_each
from sedeval_soft.fields import TNorm
from sedeval_soft.measures.segment.count import count_files, sum_files

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Index = npt.NDArray[np.int64]

_TINY = float(np.finfo(np.float64).tiny)

_BLOCK = 1 << 14
"""Cells worked on at a time: what is in between stays in the processor's cache."""

ENTROPIES = frozenset({"kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon"})
"""What is counted in nats."""

KL = ("kl_divergence",)
"""What is summed of a soft reference at least."""

SOFT = (
    *("kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon"),
    *("brier", "mean_absolute_error", "product"),
)
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
    found: Floats = np.minimum(np.log(np.maximum(values, eps)), math.log1p(-eps))
    return found


def largest_loss(eps: float) -> float:
    """Return the most that -ln of a clipped value can be, or of what it lacks to 1."""
    return -math.log(eps)


@dataclass(frozen=True, slots=True)
class DivergenceCounts:
    """Sums of each file and class: (n_files, n_classes).

    totals: by name, over the cells where either side is above 0. sounding: how many those are.
    """

    totals: Mapping[str, Floats]
    sounding: Index


@dataclass(frozen=True, slots=True)
class _Logs:
    """Logarithms of values and of what they lack to 1."""

    value: Floats
    rest: Floats

    @classmethod
    def of(cls, values: Floats) -> _Logs:
        # The logarithm at 0 is multiplied by 0: any finite one will do.
        return cls(np.log(np.maximum(values, _TINY)), np.log(np.maximum(1.0 - values, _TINY)))

    @classmethod
    def clipped(cls, values: Floats, eps: float) -> _Logs:
        return cls(log_clipped(values, eps), log_clipped(1.0 - values, eps))

    def cross_entropy(self, values: Floats) -> Floats:
        """Return -v ln(value) - (1 - v) ln(rest) of other values v."""
        return -(values * self.value + (1.0 - values) * self.rest)


def kl_divergence(reference: Floats, system: Floats, eps: float) -> Floats:
    """Return y ln(y/p) + (1-y) ln((1-y)/(1-p)) elementwise, in nats.

    reference, system: values in [0, 1] of one shape. eps: p and 1 - p are clipped to [eps, 1 - eps].
    """
    return _Logs.clipped(system, eps).cross_entropy(reference) - _Logs.of(reference).cross_entropy(reference)


def _values(names: tuple[str, ...], y: Floats, p: Floats, eps: float) -> tuple[Floats, ...]:
    """Return named values of each cell; names: `KL`, `SOFT` or `PROPER`."""
    if names == KL:
        return (kl_divergence(y, p, eps),)
    if names == PROPER:
        # Of a cut reference, one of the two logarithms counts.
        return -log_clipped(np.where(y > 0, p, 1.0 - p), eps), (y - p) ** 2
    cross_entropy, reverse = _Logs.clipped(p, eps).cross_entropy(y), _Logs.clipped(y, eps).cross_entropy(p)
    middle = (y + p) / 2
    ours, theirs, common = (_Logs.of(values).cross_entropy(values) for values in (y, p, middle))
    divergences = cross_entropy - ours, reverse - theirs, cross_entropy, common - (ours + theirs) / 2
    return *divergences, (y - p) ** 2, np.abs(y - p), y * p


def count_divergence(
    reference: Floats | Bools, system: Floats, start: Index, names: tuple[str, ...], eps: float
) -> DivergenceCounts:
    """Sum named values per file and class; arrays as in `segment.count`.

    names: `KL`, `SOFT` or `PROPER`.
    """
    n_files = len(start) - 1
    totals = np.zeros((len(names), n_files, len(reference)))
    sounding = np.zeros((n_files, len(reference)), dtype=np.int64)

    def count(label: int) -> None:
        size = reference.shape[1]
        values, either = np.empty((len(names), size)), np.empty(size, dtype=bool)
        for begin in range(0, size, _BLOCK):
            block = slice(begin, begin + _BLOCK)
            y, p = reference[label, block].astype(np.float64, copy=False), system[label, block]
            either[block] = sounds = (y > 0) | (p > 0)
            for row, cells in zip(values, _values(names, y, p, eps), strict=True):
                np.multiply(cells, sounds, out=row[block])
        totals[:, :, label] = sum_files(values, start)
        sounding[:, label] = count_files(either[None], start)[:, 0]

    for_each(count, range(len(reference)), reference.size)
    return DivergenceCounts(dict(zip(names, totals, strict=True)), sounding)


def divergence_laws(
    columns: Columns,
    n_cells: Index,
    n_beyond: Index,
    names: tuple[str, ...],
    eps: float,
    *,
    t_norm: TNorm | None,
) -> Iterator[Law]:
    """Yield the laws of sums of divergences.

    columns: the sums by name, `sounding`, `tp`, `n_ref`, `n_sys`, (n_files, n_classes). n_cells: (n_files,)
    how many cells of each file are evaluated. n_beyond: (n_files,) how many it has after these, which are
    in N_sys alone. names: `KL`, `SOFT` or `PROPER`. t_norm: that of the soft reading, whose TP,
    N_ref and N_sys are sums over the same values; None where these are counts.
    """
    sounding = columns["sounding"]
    yield at_least(columns, "sounding", 0)
    yield at_most(columns, "sounding", n_cells[:, None], "the number of cells of the file")
    largest = {"jensen_shannon": math.log(2), "brier": 1.0, "mean_absolute_error": 1.0, "product": 1.0}
    for name in names:
        most = largest.get(name, largest_loss(eps)) * sounding
        yield at_least(columns, name, 0.0, scale=most)
        yield at_most(columns, name, most, "what so many cells can add, each at its worst,", most)
    if t_norm is None:
        return
    tp, n_ref, n_sys = (columns[name] for name in ("tp", "n_ref", "n_sys"))
    for name, cells in (("n_ref", sounding), ("n_sys", sounding + n_beyond[:, None])):
        yield at_most(columns, name, cells, "the number of cells that are not silent", columns[name])
    if names == KL:
        return
    # Cross entropy is the divergence and the reference's own entropy.
    cross_entropy = columns["cross_entropy"]
    yield at_most(columns, "kl_divergence", cross_entropy, "the cross entropy", largest["brier"] * sounding)
    yield at_most(columns, "brier", columns["mean_absolute_error"], "the mean absolute error", sounding)
    for of, says in ((n_ref, "N_ref"), (n_sys, "N_sys")):
        yield at_most(columns, "product", of, says, of)
    if t_norm == "minimum":
        apart = n_ref + n_sys - 2 * tp
        least = apart - n_beyond[:, None]
        yield at_most(columns, "mean_absolute_error", apart, "N_ref + N_sys - 2 TP", n_ref + n_sys)
        yield at_least(columns, "mean_absolute_error", least, "N_ref + N_sys - 2 TP", n_ref + n_sys)
    if t_norm == "product":
        yield equal(columns, "product", tp, "TP", n_ref + n_sys)
