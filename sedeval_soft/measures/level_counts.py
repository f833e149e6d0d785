"""Whole numbers that change with the level, and their integrals over all levels, which are exact.

The integral of a count that grows by c(k) at the level a(k), and is 0 beyond all of these, is minus the sum
of c(k) a(k). Levels are cut into whole numbers of 27 bits, whose sums are exact. So integrals may be added
and subtracted before they are rounded: what is 0 or equal is so to the last digit, what is larger never
becomes smaller, and nothing depends on the order in which changes were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.timeline.ranges import STRETCH

_BITS = 27
"""Bits of a level in a whole number: sums of 2**26 of these are exact in floats."""


class LevelChanges(NamedTuple):
    """By how much a count of each group grows where the level rises beyond some level; (n,) each."""

    group: Index
    level: Floats
    change: Index

    @classmethod
    def of_lives(cls, group: Index, born: Floats, dies: Floats) -> Self:
        """Return the changes of how many there are of what lives at the levels born < a <= dies."""
        one = np.ones(len(group), dtype=np.int64)
        return cls(np.concatenate((group, group)), np.concatenate((born, dies)), np.concatenate((one, -one)))

    @classmethod
    def joined(cls, parts: Sequence[LevelChanges]) -> Self:
        """Return the changes of all parts, at least one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def integrals(counts: Sequence[LevelChanges], n_groups: int) -> Index:
    """Return the integrals of counts over all levels, which are in [0, 1], (n_digits, n_counts, n_groups).

    Digit k is a whole number of 2**(-27 (k + 1)), of any sign and size.
    """
    size = len(counts) * n_groups
    group = np.concatenate([changes.group + k * n_groups for k, changes in enumerate(counts)])
    level, change = (np.concatenate([changes[k] for changes in counts]) for k in (1, 2))
    digits = [np.zeros(size, dtype=np.int64)]
    # Few at a time stay in the processor's cache.
    step = max(STRETCH, size)
    for begin in range(0, len(level), step):
        some = slice(begin, begin + step)
        rest, k = level[some], 0
        while rest.any():
            rest = rest * 2.0**_BITS
            digit = np.floor(rest)
            rest -= digit
            if k == len(digits):
                digits.append(np.zeros(size, dtype=np.int64))
            digits[k] -= np.bincount(group[some], digit * change[some], minlength=size).astype(np.int64)
            k += 1
    return np.array(digits).reshape(len(digits), len(counts), n_groups)


def rounded(digits: Index) -> Floats:
    """Return integrals, which are not negative, as floats; digits: (n_digits, ...), as of `integrals`."""
    value, carry = np.zeros(digits.shape[1:]), np.zeros(digits.shape[1:], dtype=np.int64)
    for digit in digits[::-1]:
        carry = digit + carry
        value = (value + (carry & ((1 << _BITS) - 1))) / 2.0**_BITS
        carry >>= _BITS
    return value + carry
