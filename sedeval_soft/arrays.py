"""Types of arrays, by their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

Index = npt.NDArray[np.int64]
"""Numbers of things, or of places."""

Codes = npt.NDArray[np.int32]
"""Numbers of files or classes, of as many rows as there are."""
