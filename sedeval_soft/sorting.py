"""Many values in order, faster than numpy.argsort finds it, and many sorted arrays as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Bools, Codes, Floats, Index
from sedeval_soft.threads import for_each

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
    for begin in range(0, n, _BLOCK):
        block = keys[begin : begin + _BLOCK]
        np.multiply(values[begin : begin + _BLOCK], 2.0 ** (_BITS - index_bits), out=block, casting="unsafe")
        block <<= index_bits
        block |= np.arange(begin, begin + len(block))
    keys.sort()
    keys &= (1 << index_bits) - 1
    # Without a check of each index, which takes as long again.
    ordered = values.take(keys, mode="clip")
    blocks = (slice(begin, begin + _BLOCK) for begin in range(0, n - 1, _BLOCK))
    if any(np.any(ordered[1:][block] < ordered[:-1][block]) for block in blocks):
        again = np.argsort(ordered, kind="stable")
        return ordered[again], keys[again]
    return ordered, keys


def order_of(*keys: npt.NDArray[np.integer[Any]]) -> Index:
    """Return what `numpy.lexsort` does, (n,); keys: (n,) each, not negative, the last one counts most.

    As many keys as there is room for are packed into one; others are looked at where that one has ties.
    """
    *others, last = keys
    if not others and np.all(last[1:] >= last[:-1]):
        return np.arange(len(last))
    packed, size = last.astype(np.int64), int(last.max(initial=0)) + 1
    while others and (scale := size * (int(others[-1].max(initial=0)) + 1)) < 1 << _BITS:
        packed *= scale // size
        packed += others.pop()
        size = scale
    bits = max(len(last) - 1, 0).bit_length()
    if size <= 1 << (_BITS - bits):
        # Plain integers are sorted several times faster than indices by them.
        places = (packed << bits) + np.arange(len(last))
        places.sort()
        order = places & ((1 << bits) - 1)
    else:
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


def counts_between(active: Bools, edges: Index) -> Index:
    """Return how many are active from each edge to the next, (n_edges - 1,); active: (n,).

    numpy counts booleans many times faster than it adds them.
    """
    ends = pairwise(edges.tolist())
    return np.fromiter((np.count_nonzero(active[begin:end]) for begin, end in ends), np.int64, len(edges) - 1)


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
    `edges[:, b]` and `edges[:, b + 1]`. before: (n_blocks + 1,) values before each block, and in all. levels:
    of each block the value that all of it have; None where they differ, or there are none. orders: the places
    of its values in the slices one after another; None where these are in order as they are. distinct:
    whether no two of its values are equal.
    """

    parts: Sequence[Floats]
    edges: Index
    before: Index
    levels: Sequence[float | None]
    orders: Sequence[Index | None]
    distinct: Sequence[bool]

    @classmethod
    def of(cls, parts: Sequence[Floats]) -> Blocks:
        """Cut ascending arrays with values in [0, 1] into blocks of about equal size."""
        levels = _levels(parts)
        edges = np.zeros((len(parts), len(levels) + 2), dtype=np.int64)
        for row, part in zip(edges, parts, strict=True):
            row[1:-1], row[-1] = np.searchsorted(part, levels, side="left"), len(part)

        def order(block: int) -> tuple[float | None, Index | None, bool]:
            slices = [part[first:last] for part, first, last in zip(parts, *ends[block], strict=True)]
            slices = [values for values in slices if len(values)] or [np.zeros(0)]
            low, high = min(values[:1] for values in slices), max(values[-1:] for values in slices)
            if len(low) and low == high:
                return float(low[0]), None, False
            values, places = slices[0], None
            if len(slices) > 1:
                values, places = in_order(np.concatenate(slices))
                places = places.astype(np.min_scalar_type(len(places)))
            return None, places, bool(np.all(values[1:] > values[:-1]))

        before, ends = edges.sum(axis=0), list(pairwise(edges.T.tolist()))
        ordered = for_each(order, range(len(ends)), int(before[-1]))
        return cls(parts, edges, before, *zip(*ordered, strict=True))

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.levels)

    def joined(self, block: int, arrays: Sequence[Array] | None = None) -> Array:
        """Return in order what belongs to a block's values, of arrays as long as the parts, or of these."""
        arrays = self.parts if arrays is None else arrays
        slices = [array[place] for array, place in zip(arrays, self.slices(block), strict=True)]
        order = self.orders[block]
        if len(slices) == 1:
            return slices[0]
        values: Array = np.concatenate(slices)
        return values if order is None else values.take(order)

    def slices(self, block: int) -> list[slice]:
        """Return where a block lies in each part."""
        first, last = self.edges[:, block : block + 2].T.tolist()
        return list(map(slice, first, last))

    def between(self, first: int, last: int, joined: Callable[[int], Floats] | None = None) -> Floats | float:
        """Return the values at some ranks, from 0 on, all in one block; one number where they are equal.

        joined: gives a block's values in order, where they are at hand.
        """
        block = int(np.searchsorted(self.before, first, side="right")) - 1
        level, before = self.levels[block], int(self.before[block])
        if level is not None:
            return level
        return (joined or self.joined)(block)[first - before : last - before]

    def sums(self, part: int, weights: Array) -> Array:
        """Return the sums of weights of a part in each block, (n_blocks,); int64 if they are no floats."""
        edges = self.edges[part]
        if weights.dtype == np.bool_:
            return counts_between(weights, edges)
        kind = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
        total = np.zeros(len(self), dtype=kind)
        full = np.flatnonzero(np.diff(edges))
        if len(full):
            total[full] = np.add.reduceat(weights, edges[full], dtype=kind)
        return total

    def ranks(self, block: int) -> Index:
        """Return twice the ranks of a block's values among all, part by part; ties have their mean."""
        below, after = self.before[block : block + 2].tolist()
        if self.levels[block] is not None:
            # One value may fill a block beyond all bounds: silence.
            return np.broadcast_to(np.int64(below + after + 1), after - below)
        ranks, order = np.arange(2 * below + 2, 2 * after + 2, 2), self.orders[block]
        if not self.distinct[block]:
            first = heads(self.joined(block))
            end = np.append(first[1:], after - below)
            ranks = np.repeat(first + end + (2 * below + 1), end - first)
        if order is None:
            return ranks
        placed = np.empty_like(ranks)
        # numpy puts values at indices of 64 bits faster.
        placed[order.astype(np.intp)] = ranks
        return placed

    def ranks_at(self, places: Sequence[Codes]) -> list[Index]:
        """Return twice the ranks of the values at some places of each part, (n,) each."""
        # Numbers of 32 bits take half the memory.
        kind = np.int32 if self.before[-1] < 2**30 else np.int64
        if len(self.parts) == 1 and np.all(np.asarray(self.distinct) | (np.diff(self.before) < 2)):
            return [np.asarray(2 * places[0].astype(kind) + 2)]
        found: list[Array] = [np.empty(len(part), dtype=kind) for part in self.parts]

        def put(block: int) -> None:
            slices = self.slices(block)
            ends = np.cumsum([part.stop - part.start for part in slices])[:-1]
            for row, part, ranks in zip(found, slices, np.split(self.ranks(block), ends), strict=True):
                row[part] = ranks

        def pick(part: int) -> None:
            ranks, place = found[part], places[part]
            found[part] = np.empty_like(ranks)
            for begin in range(0, len(place), _BLOCK):
                block = slice(begin, begin + _BLOCK)
                found[part][block] = ranks.take(place[block], mode="clip")

        for_each(put, range(len(self)), int(self.before[-1]))
        for_each(pick, range(len(found)), int(self.before[-1]))
        return found


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
