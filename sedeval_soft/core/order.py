"""The order of many values in [0, 1], faster than `numpy.argsort` finds it.

numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value, as
many of its leading bits as there is room for, and its index are packed into one integer. What the bits
that did not fit would have parted is put right afterwards: by then it is all but in order.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

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


def heads(ordered: npt.NDArray[np.number[Any]]) -> Index:
    """Return where groups of equal values begin, (n_groups,); ordered: (n,) values in order."""
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
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
