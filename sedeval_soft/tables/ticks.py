"""Time as whole microseconds.

Times are int64 ticks of one microsecond, so that 0.3 s on a grid of 0.1 s is segment 3, where
floats say 2.9999999999999996. A tick is far below what any annotation resolves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

TICKS_PER_SECOND = 1_000_000

Ticks = npt.NDArray[np.int64]


def to_ticks(seconds: npt.NDArray[np.floating[Any]]) -> Ticks:
    """Round seconds, of any shape, to the nearest tick."""
    scaled = seconds * float(TICKS_PER_SECOND)
    np.rint(scaled, out=scaled)
    return scaled.astype(np.int64)


def tick(seconds: float) -> int:
    """Round one time in seconds to the nearest tick."""
    return round(seconds * TICKS_PER_SECOND)


def to_seconds(ticks: Ticks) -> npt.NDArray[np.float64]:
    """Return ticks as seconds: the float nearest to the decimal number."""
    return ticks / TICKS_PER_SECOND
