"""Numbers as they were written: times as whole microseconds, values of single precision as decimals.

Times are int64 ticks of one microsecond, so that 0.3 s on a grid of 0.1 s is segment 3; with floats it is
2.9999999999999996. A tick is far below the resolution of any annotation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.arrays import Array, Floats, Index

TICKS_PER_SECOND = 1_000_000

Ticks = Index


def to_ticks(seconds: npt.NDArray[np.floating[Any]]) -> Ticks:
    """Round seconds, of any shape, to the nearest tick."""
    scaled = seconds * float(TICKS_PER_SECOND)
    np.rint(scaled, out=scaled)
    return scaled.astype(np.int64)


def tick(seconds: float) -> int:
    """Round one time in seconds to the nearest tick."""
    return round(seconds * TICKS_PER_SECOND)


def clock_seconds(text: str) -> float:
    """Return hours, minutes and seconds, or the latter two, with `:` between, in seconds."""
    *parts, last = text.split(":")
    total = 0
    for part in parts:
        total = 60 * total + int(part)
    return round(60 * total + float(last), 9)


def to_seconds(ticks: Ticks) -> Floats:
    """Return ticks as seconds: the float nearest to the decimal number."""
    return ticks / TICKS_PER_SECOND


# Numbers of single and half precision as the decimals that they were written as, and sums without last bits.
#
# 0.6 in single precision is 0.60000002384 in double: compared with 0.6, a value meant as 0.6 would be
# above it, and a time would reach into the next segment. Read as the decimal it is 0.6 again, and comparing
# it gives the result of comparing within single precision.
#
# A number x of a floating-point type is within half of the distance u to its neighbours from the decimal
# that it was made of. Take the most decimals p with 10^-p > u: multiples of 10^-p are further apart than u,
# so that at most one of them is rounded to x, and it is the nearest one. So it is found by rounding x to p
# decimals, and trusted if it is rounded to x again. Other numbers stay as they are. The
# order of numbers also stays: each stays where no other number of its type would be rounded to. In single
# precision all decimals of six significant digits from 1e-15 to ten million are found, and most of seven.


_EXACT = 22
"""The most decimals whose power of ten is a float exactly: a whole number by it is the float of a decimal."""

_DIGITS = 13
"""Significant digits that sums keep."""

_BFLOAT16 = 8
"""Significant bits of that type."""

_BLOCK = 1 << 15
"""Numbers that are looked at at once: they stay in the processor's cache."""

_LEAST, _MOST = -160, 140
"""Powers of two below and above which numbers of single precision do not go."""

_POWERS = np.arange(_LEAST, _MOST + 1) * np.log10(2.0)


def as_written(values: Array, *, bfloat16: bool = False) -> Floats:
    """Return numbers in double precision, single and half precision as decimals; any shape.

    bfloat16: whether the numbers, in single precision, were of that type, which numpy lacks. numpy converts
    numbers of other types, and numbers that are not finite.
    """
    kind = values.dtype
    if kind.kind != "f" or kind.itemsize >= np.dtype(np.float64).itemsize:
        return np.array(values, dtype=np.float64)
    kind = kind.newbyteorder("=")
    flat = np.ascontiguousarray(values, dtype=kind).reshape(-1)
    decimals = flat.astype(np.float64)
    bits = _BFLOAT16 if bfloat16 else np.finfo(kind).nmant + 1
    # 10^-p > u = 2^(e - bits) for numbers below 2^e
    scales = _scales(np.ceil(bits * np.log10(2.0) - _POWERS) - 1)
    for begin in range(0, len(flat), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        written = _to_scale(decimals[part], scales)
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = written.astype(kind)
            if bfloat16:  # the upper half of the bits, rounded, ties to even
                whole = narrow.view(np.uint32)
                narrow = ((whole + 0x7FFF + (whole >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(kind)
            same = narrow == flat[part]
        np.copyto(decimals[part], written, where=same)
    return decimals.reshape(values.shape)


def rounded(means: Floats) -> Floats:
    """Return sums of decimals to `_DIGITS` significant digits, (n,): those that should be equal are, then."""
    return _to_scale(means, _scales(_DIGITS - np.ceil(_POWERS)))


def _scales(decimals: Floats) -> Floats:
    """Return ten to the power of some decimals, 0 if that is not a float exactly, or below 1."""
    exact = (decimals >= 0) & (decimals <= _EXACT)
    return np.where(exact, np.power(10.0, np.where(exact, decimals, 0)), 0.0)


def _to_scale(values: Floats, scales: Floats) -> Floats:
    """Return numbers rounded to decimals, as many as the power of ten for their power of two requires.

    They stay as they are if that is 0.
    """
    power = np.clip(np.frexp(values)[1], _LEAST, _MOST) - _LEAST
    scale = scales[power]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 0, np.rint(values * scale) / scale, values)
