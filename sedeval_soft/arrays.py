"""Types of arrays by their elements, and their values in order, faster than numpy.argsort finds it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

Index = npt.NDArray[np.int64]
"""Numbers of things, or of places."""

Codes = npt.NDArray[np.int32]
"""Numbers of files or classes, of as many rows as there are."""

Number = TypeVar("Number", bound=np.number[Any])

_BITS = 62

_BLOCK = 1 << 15
"""Values worked on at a time: arrays as long as all of them are made as few as can be."""


def in_order(values: Floats) -> tuple[Floats, Index]:
    """Return values in ascending order, and the place that each had, (n,) each; equal ones stay as they are.

    values: (n,) in [0, 1].

    numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value,
    as many of its leading bits as fit, and its index are packed into one integer. A final pass sorts values
    that differ only in the bits that did not fit: by then they are nearly in order.
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
    blocks = [slice(begin, begin + _BLOCK) for begin in range(0, n - 1, _BLOCK)]
    if any(np.any(ordered[1:][block] < ordered[:-1][block]) for block in blocks):
        again = np.argsort(ordered, kind="stable")
        return ordered[again], keys[again]
    return ordered, keys


def order_of(*keys: npt.NDArray[np.integer[Any]]) -> Index:
    """Return the result of `numpy.lexsort`, (n,); keys: (n,) each, not negative, the last one counts most.

    As many keys as fit are packed into one; others are compared only for ties of that one.
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
    """Return the begins of groups of equal rows, (n_groups,); columns: (n,) each, their rows in order."""
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
    """Return the different values in order; values: any shape, none of them NaN.

    `numpy.unique` imports `numpy.ma`, which takes longer than a small evaluation, and puts whole numbers into
    a table, which takes many times as long as sorting them.
    """
    ordered = np.sort(values, axis=None)
    return ordered[heads(ordered)]
