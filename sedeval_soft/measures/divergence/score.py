"""Divergence scores from sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.divergence.count import SILENT

Array = npt.NDArray[Any]


def divergence_scores(total: Array, sounding: Array, n_segments: Array, n_ref: Array) -> dict[str, Averaged]:
    """Return the mean divergence per segment: of classes, over all, and averaged over classes.

    total, sounding, n_ref: (..., n_classes) totals of `DivergenceCounts` and the soft reference
    size. n_segments: (...) the number of evaluated segments.
    """
    cells = np.broadcast_to(np.asarray(n_segments)[..., None], total.shape)
    summed = total + (cells - sounding) * SILENT
    # At y = p rounding may leave some -1e-17, and no divergence is negative.
    summed = np.maximum(summed, 0.0)
    micro = ratio(summed.sum(axis=-1), cells.sum(axis=-1))
    return {"kl_divergence": averaged(ratio(summed, cells), micro, n_ref)}
