"""Segment-based scores that only the segment grid has: it knows true negatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.detection import DetectionCounts

Array = npt.NDArray[Any]


def confusion_scores(
    counts: DetectionCounts,
    n_segments: Array,
    beyond: Array | int = 0,
    is_expected: npt.NDArray[np.bool_] | None = None,
) -> dict[str, Averaged]:
    """Return the measures that need true negatives, by name.

    counts: totals, classes last. n_segments: (...) the number of evaluated segments. beyond: (..., n_classes)
    of `counts.n_sys` are not among these, but after the end of a file: they are left out here. is_expected:
    (n_classes,) the classes that the reference or the settings name, None for all: others are left out, too.
    So nothing that a system adds has a say in where there is silence to be right about. Micro averages pool
    the cells of all classes. Source: Mesaros, Heittola & Virtanen 2016.
    """
    n_classes = counts.tp.shape[-1]
    n_ref = counts.n_ref
    n_sys = counts.n_sys - beyond
    tn = np.asarray(n_segments)[..., None] - n_ref - n_sys + counts.tp
    if is_expected is not None and not is_expected.all():
        n_sys, tn = (np.where(is_expected, column, 0) for column in (n_sys, tn))
    values = _measures(counts.tp, n_ref, n_sys, tn)
    pooled = _measures(*(column.sum(axis=-1) for column in (counts.tp, n_ref, n_sys, tn)))
    scores = {name: averaged(values[name], pooled[name], n_ref) for name in values}
    scores["tn"] = Averaged(tn, tn.sum(axis=-1) if n_classes else np.zeros(tn.shape[:-1], dtype=np.int64))
    return scores


def _measures(tp: Array, n_ref: Array, n_sys: Array, tn: Array) -> dict[str, Array]:
    fp, fn = n_sys - tp, n_ref - tp
    sensitivity, specificity = ratio(tp, n_ref), ratio(tn, tn + fp)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "accuracy": ratio(tp + tn, tp + tn + fp + fn),
        "balanced_accuracy": (sensitivity + specificity) / 2,
        "npv": ratio(tn, tn + fn),
    }
