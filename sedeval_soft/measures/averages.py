"""Averages over classes, and how undefined values enter them.

Undefined is NaN inside the package and leaves it as None. Arrays have the classes last; whatever
axes stand before (replicates) are kept.

- A class without reference (n_ref = 0) is left out of macro averages, whatever its value.
- Precision of a class that has a reference but was never detected is undefined, and counts 0: a
  system must not gain by staying silent. Any other undefined value of a class is left out.
- An average over no class is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Averaged:
    """One measure of all classes and its averages; None where an average has no meaning.

    classes: (..., n_classes). micro, macro, weighted: (...). overall: (...) of a measure that is no
    average but defined over all classes together.
    """

    classes: Array | None
    micro: Array | None = None
    macro: Array | None = None
    weighted: Array | None = None
    overall: Array | None = None


def ratio(numerator: Array, denominator: Array) -> Floats:
    """Divide; NaN (undefined) where the denominator is 0."""
    # Beside a size of 1e-300 a quotient may be too large for a float: infinite, and so undefined when shown.
    with np.errstate(over="ignore"):
        quotient: Floats = np.asarray(numerator / np.where(denominator, denominator, np.nan))
    return quotient


def weighted(values: Array, n_ref: Array, undefined: float | None = None) -> Floats:
    """Return the mean over classes weighted by `n_ref`, shape (...).

    values, n_ref: (..., n_classes). undefined: what an undefined value counts, None to leave it out.
    """
    weight = np.asarray(n_ref, dtype=np.float64)
    missing = np.isnan(values)
    if undefined is None:
        weight = np.where(missing, 0.0, weight)
    filled = np.where(missing, 0.0 if undefined is None else undefined, values)
    return ratio((filled * weight).sum(axis=-1), weight.sum(axis=-1))


def averaged(classes: Array, micro: Array | None, n_ref: Array, undefined: float | None = None) -> Averaged:
    """Complete the values of classes and their micro average by macro and weighted ones.

    The macro average is the mean over classes with a reference. Both means are taken at once: small
    evaluations make hundreds of them.
    """
    n_ref = np.asarray(n_ref)
    weight = np.array((n_ref > 0, n_ref), dtype=np.float64)
    weight = weight.reshape(2, *(1,) * (classes.ndim - n_ref.ndim), *n_ref.shape)
    by_class, by_reference = weighted(classes, weight, undefined)
    return Averaged(classes, micro, by_class, by_reference)
