"""Divergence scores from sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.divergence.count import ENTROPIES, silent

Array = npt.NDArray[Any]


def divergence_scores(
    totals: Mapping[str, Array],
    sounding: Array,
    cells: Array,
    n_ref: Array,
    eps: float,
    unit: str,
    is_expected: npt.NDArray[np.bool_] | None = None,
) -> dict[str, Averaged]:
    """Return the mean of each sum per cell: of classes, over all, and averaged over classes.

    totals, sounding, n_ref: (..., n_classes) totals of `DivergenceCounts` and the size of the reference.
    cells: (...) the number of cells of a class. unit: `nats` or `bits`. is_expected: (n_classes,) the classes
    that the mean over all is of, None for all classes.
    """
    pooled = slice(None) if is_expected is None else is_expected
    of_class = np.broadcast_to(np.asarray(cells)[..., None], sounding.shape)
    scores = {}
    for name, total in totals.items():
        # At y = p rounding may leave some -1e-17, and no divergence is negative.
        summed = np.maximum(total + (of_class - sounding) * silent(name, eps), 0.0)
        if unit == "bits" and name in ENTROPIES:
            summed /= math.log(2)
        micro = ratio(summed[..., pooled].sum(axis=-1), of_class[..., pooled].sum(axis=-1))
        scores[name] = averaged(ratio(summed, of_class), micro, n_ref)
    return scores


def soft_f1_loss(product: Array, n_ref: Array, n_sys: Array, eps: float) -> Averaged:
    """Return 1 - 2 TP / (2 TP + FP + FN + eps) with the product T-norm.

    product: (..., n_classes) sum of y p, which is TP; with FP = sum (1-y) p and FN = sum y (1-p) the
    denominator is N_ref + N_sys + eps. Source: Pastor-Pellicer et al. 2013.
    """
    sums = (column.sum(axis=-1) for column in (product, n_ref, n_sys))
    classes, micro = (1.0 - 2 * tp / (ref + sys + eps) for tp, ref, sys in ((product, n_ref, n_sys), sums))
    return averaged(np.maximum(classes, 0.0), np.maximum(micro, 0.0), n_ref)
