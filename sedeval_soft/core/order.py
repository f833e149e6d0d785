"""The order of many values in [0, 1], faster than `numpy.argsort` finds it.

numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value, as
many of its leading bits as there is room for, and its index are packed into one integer. What the bits
that did not fit would have parted is put right afterwards: by then it is all but in order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_BITS = 62


def ascending(values: Floats) -> Index:
    """Return the positions of values in ascending order, (n,); equal values stay in the order they have.

    values: (n,) in [0, 1].
    """
    n = len(values)
    index_bits = max(n - 1, 0).bit_length()
    # A product by a power of two is exact, and cutting it off keeps the order: only ties are added.
    keys = (values * 2.0 ** (_BITS - index_bits)).astype(np.int64)
    keys <<= index_bits
    keys |= np.arange(n, dtype=np.int64)
    keys.sort()
    keys &= (1 << index_bits) - 1
    found = values[keys]
    if np.any(found[1:] < found[:-1]):
        keys = keys[np.argsort(found, kind="stable")]
    return keys


def heads(ordered: npt.NDArray[np.float64]) -> Index:
    """Return where groups of equal values begin, (n_groups,); ordered: (n,) values in order."""
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def middle_ranks(ordered: Floats) -> Floats:
    """Return the ranks of ordered values from 1, (n,); equal values share the mean of theirs."""
    n = len(ordered)
    first = heads(ordered)
    if len(first) == n:
        return np.arange(1.0, n + 1.0)
    after = np.append(first[1:], n)
    return np.repeat((first + after + 1) / 2, after - first)
