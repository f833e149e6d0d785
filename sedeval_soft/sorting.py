"""Many values in order, faster than numpy.argsort finds it, and many sorted arrays as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

# The order of many values in [0, 1], faster than `numpy.argsort` finds it.
#
# numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value, as
# many of its leading bits as there is room for, and its index are packed into one integer. What the bits
# that did not fit would have parted is put right afterwards: by then it is all but in order.


Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.number[Any])

_BITS = 62

_BLOCK = 1 << 15
"""Values worked on at a time: arrays as long as all of them are made as few as can be."""

_MANY = 1 << 16
"""Values from which on a hash table finds those that there are sooner than sorting them."""


def in_order(values: Floats) -> tuple[Floats, Index]:
    """Return values in ascending order, and the place that each had, (n,) each; equal ones stay as they are.

    values: (n,) in [0, 1].
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
    found = values[keys]
    after = found[1:]
    blocks = (slice(begin, begin + _BLOCK) for begin in range(0, n - 1, _BLOCK))
    if any(np.any(after[block] < found[:-1][block]) for block in blocks):
        again = np.argsort(found, kind="stable")
        return found[again], keys[again]
    return found, keys


def heads(*columns: npt.NDArray[np.number[Any]]) -> Index:
    """Return where groups of equal rows begin, (n_groups,); columns: (n,) each, their rows in order."""
    new = np.ones(len(columns[0]), dtype=bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=new[1:])
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the values that there are, once each and in order; values: any shape, none of them NaN.

    `numpy.unique` imports `numpy.ma`, which takes longer than a small evaluation; its table wins where
    values are many.
    """
    if values.size > _MANY:
        return np.unique(values)
    ordered = np.sort(values, axis=None)
    return ordered[heads(ordered)]


def middle_ranks(ordered: Floats) -> Floats:
    """Return the ranks of ordered values from 1, (n,); equal values share the mean of theirs."""
    n = len(ordered)
    first = heads(ordered)
    if len(first) == n:
        return np.arange(1.0, n + 1.0)
    after = np.append(first[1:], n)
    return np.repeat((first + after + 1) / 2, after - first)


# Many sorted arrays as one, block by block of values.
#
# To bring what several sorted arrays hold into one order, their values are parted at some levels. What lies
# between two levels is a slice of each array, small enough to be worked on in the processor's cache; blocks
# are independent of one another. Equal values are never parted.


_PROBES = 8
"""Values looked at for each block that an array may have, to find levels."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Ascending arrays cut at common levels.

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
        inner = [np.searchsorted(part, levels, side="left") for part in parts]
        edges = np.zeros((len(parts), len(levels) + 2), dtype=np.int64)
        for row, cuts, part in zip(edges, inner, parts, strict=True):
            row[1:-1], row[-1] = cuts, len(part)
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
        found = self._values(block)
        if not found:
            return np.zeros(0), None
        joined = np.concatenate(found) if len(found) > 1 else found[0]
        if len(found) == 1 or self.level(block) is not None:
            return joined, None
        return in_order(joined)

    def level(self, block: int) -> float | None:
        """Return the value that all of a block have; None where they differ, or there are none."""
        ends = {float(value) for values in self._values(block) for value in (values[0], values[-1])}
        return ends.pop() if len(ends) == 1 else None

    def _values(self, block: int) -> list[Floats]:
        found = [part[own] for part, own in zip(self.parts, self.slices(block), strict=True)]
        return [values for values in found if len(values)]

    def sums(self, part: int, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
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
        lengths = [own.stop - own.start for own in self.slices(block)]
        if self.level(block) is not None:
            # One value may fill a block beyond all bounds: silence.
            rank = np.full(1, below + (int(self.size[block]) + 1) / 2)
            return [np.broadcast_to(rank, length) for length in lengths]
        values, order = self.ordered(block)
        ranks = middle_ranks(values) + below
        if order is not None:
            placed = np.empty(len(ranks))
            placed[order] = ranks
            ranks = placed
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
