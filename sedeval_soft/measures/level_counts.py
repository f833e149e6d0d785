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


Lives = tuple[Index, Floats, Floats]
"""What there is of each group at which levels: groups, born and dies; (n,) each.

What is born above where it dies is one less at the levels between these.
"""


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

    def lives(self) -> Lives:
        """Return lives of which there are as many at each level above 0; beyond all levels there are none."""
        each = np.repeat(np.arange(len(self.change)), np.abs(self.change))
        level, grows = self.level[each], self.change[each] > 0
        return self.group[each], np.where(grows, level, 0.0), np.where(grows, 0.0, level)


def integrals(counts: Sequence[Lives], n_groups: int) -> Index:
    """Return how much all lives of each group are together, (n_digits, n_counts, n_groups).

    Levels are in [0, 1]. Digit k is a whole number of 2**(-27 (k + 1)), of any sign and size.
    """
    digits: list[Index] = []

    def add(digit: int, count: int, group: Index, values: Index) -> None:
        if digit == len(digits):
            digits.append(np.zeros((len(counts), n_groups), dtype=np.int64))
        digits[digit][count] += np.bincount(group, values, minlength=n_groups).astype(np.int64)

    # Few at a time stay in the processor's cache.
    step = max(STRETCH, n_groups)
    for count, (group, born, dies) in enumerate(counts):
        for begin in range(0, len(group), step):
            some = slice(begin, begin + step)
            of, ends, digit = group[some], (born[some], dies[some]), 0
            while len(of):
                # Two digits at a time. What is left has more of them, of levels that are low.
                scaled = [end * 4.0**_BITS for end in ends]
                whole = [end.astype(np.int64) for end in scaled]
                length = whole[1] - whole[0]
                add(digit, count, of, length >> _BITS)
                add(digit + 1, count, of, length & ((1 << _BITS) - 1))
                rest = [end - floor for end, floor in zip(scaled, whole, strict=True)]
                more = np.flatnonzero((rest[0] > 0) | (rest[1] > 0))
                of, ends, digit = of[more], (rest[0][more], rest[1][more]), digit + 2
    return np.array(digits, dtype=np.int64).reshape(len(digits), len(counts), n_groups)


def rounded(digits: Index) -> Floats:
    """Return integrals, which are not negative, as floats; digits: (n_digits, ...), as of `integrals`."""
    value, carry = np.zeros(digits.shape[1:]), np.zeros(digits.shape[1:], dtype=np.int64)
    for digit in digits[::-1]:
        carry = digit + carry
        value = (value + (carry & ((1 << _BITS) - 1))) / 2.0**_BITS
        carry >>= _BITS
    return value + carry
