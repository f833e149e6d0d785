"""Many values in order, faster than numpy.argsort finds it, and many sorted arrays as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Floats, Index

Number = TypeVar("Number", bound=np.number[Any])

_BITS = 62

_BLOCK = 1 << 15
"""Values worked on at a time: arrays as long as all of them are made as few as can be."""

_PROBES = 8
"""Values looked at for each block that an array may have, to find levels."""


def in_order(values: Floats) -> tuple[Floats, Index]:
    """Return values in ascending order, and the place that each had, (n,) each; equal ones stay as they are.

    values: (n,) in [0, 1].

    numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value,
    as many of its leading bits as there is room for, and its index are packed into one integer. What the bits
    that did not fit would have parted is put right afterwards: by then it is all but in order.
    """
    n = len(values)
    index_bits = max(n - 1, 0).bit_length()
    # A product by a power of two is exact, and cutting it off keeps the order: only ties are added.
    keys = np.empty(n, dtype=np.int64)
    np.multiply(values, 2.0 ** (_BITS - index_bits), out=keys, casting="unsafe")
    keys <<= index_bits
    for begin in range(0, n, _BLOCK):
        keys[begin : begin + _BLOCK] |= np.arange(begin, min(begin + _BLOCK, n))
    keys.sort()
    keys &= (1 << index_bits) - 1
    ordered = values[keys]
    blocks = (slice(begin, begin + _BLOCK) for begin in range(0, n - 1, _BLOCK))
    if any(np.any(ordered[1:][block] < ordered[:-1][block]) for block in blocks):
        again = np.argsort(ordered, kind="stable")
        return ordered[again], keys[again]
    return ordered, keys


def order_of(*keys: npt.NDArray[np.integer[Any]]) -> Index:
    """Return what `numpy.lexsort` does, (n,); keys: (n,) each, not negative, the last one counts most.

    As many keys as there is room for are packed into one; others are looked at where that one has ties.
    """
    packed, size, others = np.zeros(len(keys[0]), dtype=np.int64), 1, [*keys]
    while others and (scale := size * (int(others[-1].max(initial=0)) + 1)) < 1 << _BITS:
        packed *= scale // size
        packed += others.pop()
        size = scale
    order = np.argsort(packed, kind="stable")
    if others:
        ordered = packed[order]
        same = np.append(False, ordered[1:] == ordered[:-1])
        tied = np.flatnonzero(same | np.append(same[1:], False))[: len(order)]
        some = order[tied]
        order[tied] = some[np.lexsort((*(key[some] for key in others), ordered[tied]))]
    return order


def heads(*columns: npt.NDArray[np.number[Any]]) -> Index:
    """Return where groups of equal rows begin, (n_groups,); columns: (n,) each, their rows in order."""
    new = np.ones(len(columns[0]), dtype=bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=new[1:])
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the values that there are, once each and in order; values: any shape, none of them NaN.

    `numpy.unique` imports `numpy.ma`, which takes longer than a small evaluation, and puts whole numbers into
    a table, which takes many times as long as sorting them.
    """
    ordered = np.sort(values, axis=None)
    return ordered[heads(ordered)]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Ascending arrays cut at common levels: many sorted arrays as one, block by block of values.

    What lies between two levels is a slice of each array, small enough to be worked on in the processor's
    cache; blocks are independent of one another. Equal values are never parted.

    parts: the arrays, at least one. edges: (n_parts, n_blocks + 1) positions; block b is what lies between
    `edges[:, b]` and `edges[:, b + 1]`. size: (n_blocks,) values in each.
    before: (n_blocks + 1,) values before each, and in all.
    """

    parts: Sequence[Floats]
    edges: Index
    size: Index
    before: Index

    @classmethod
    def of(cls, parts: Sequence[Floats]) -> Blocks:
        """Cut ascending arrays with values in [0, 1] into blocks of about equal size."""
        levels = _levels(parts)
        edges = np.zeros((len(parts), len(levels) + 2), dtype=np.int64)
        for row, part in zip(edges, parts, strict=True):
            row[1:-1], row[-1] = np.searchsorted(part, levels, side="left"), len(part)
        before = edges.sum(axis=0)
        return cls(parts, edges, np.diff(before), before)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.size)

    def slices(self, block: int) -> list[slice]:
        """Return where a block lies in each part."""
        return [slice(int(row[block]), int(row[block + 1])) for row in self.edges]

    def ordered(self, block: int) -> tuple[Floats, Index | None]:
        """Return the values of a block in order, and their places in the slices one after another.

        The places are None where the slices are in order as they are.
        """
        slices = self._values(block)
        values = slices[0] if len(slices) == 1 else np.concatenate([np.zeros(0), *slices])
        if len(slices) < 2 or self.level(block) is not None:
            return values, None
        return in_order(values)

    def level(self, block: int) -> float | None:
        """Return the value that all of a block have; None where they differ, or there are none."""
        ends = {float(value) for values in self._values(block) for value in (values[0], values[-1])}
        return ends.pop() if len(ends) == 1 else None

    def _values(self, block: int) -> list[Floats]:
        slices = [part[place] for part, place in zip(self.parts, self.slices(block), strict=True)]
        return [values for values in slices if len(values)]

    def sums(self, part: int, weights: Array) -> Array:
        """Return the sums of weights of a part in each block, (n_blocks,); int64 if they are no floats."""
        kind = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
        total, edges = np.zeros(len(self), dtype=kind), self.edges[part]
        full = np.flatnonzero(np.diff(edges))
        if len(full):
            total[full] = np.add.reduceat(weights, edges[full], dtype=kind)
        return total

    def rank(self, block: int) -> list[Floats]:
        """Return the ranks of a block's values among all, for each part; ties have their mean."""
        below = int(self.before[block])
        lengths = np.diff(self.edges[:, block : block + 2])[:, 0].tolist()
        if self.level(block) is not None:
            # One value may fill a block beyond all bounds: silence.
            rank = np.full(1, below + (int(self.size[block]) + 1) / 2)
            return [np.broadcast_to(rank, length) for length in lengths]
        values, order = self.ordered(block)
        first = heads(values)
        after = np.append(first[1:], len(values))
        ranks = np.repeat((first + after + 1) / 2, after - first) + below
        if order is not None:
            ranks[order] = ranks.copy()
        return np.split(ranks, np.cumsum(lengths)[:-1])


def _levels(parts: Sequence[Floats]) -> Floats:
    """Return ascending levels that part all values into blocks; a value that fills some is one by itself."""
    total = sum(map(len, parts))
    n_blocks = max(1, total // _BLOCK)
    step = max(1, total // (n_blocks * _PROBES))
    # Probes of different arrays at different places: alike arrays would have theirs at the same values.
    probes = [part[step * i // len(parts) :: step] for i, part in enumerate(parts)]
    levels = np.sort(np.concatenate(probes))[_PROBES::_PROBES]
    many = levels[1:][levels[1:] == levels[:-1]]
    return np.unique(np.concatenate((levels, np.nextafter(many, 2.0))))
