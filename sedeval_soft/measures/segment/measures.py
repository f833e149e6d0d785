"""The measures of segments, and of clips: only cells know true negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures import detection
from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.base import Family, Measure, Table, scores_of
from sedeval_soft.measures.detection import DetectionCounts, count_measure

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class CellCounts:
    """What is active or silent on either side: of each class, (..., n_classes), or of all pooled, (...)."""

    tp: Array
    n_ref: Array
    n_sys: Array
    tn: Array

    @property
    def fp(self) -> Array:
        """Return what the system has and the reference has not."""
        return self.n_sys - self.tp

    @property
    def fn(self) -> Array:
        """Return what the reference has and the system has not."""
        return self.n_ref - self.tp

    @property
    def sensitivity(self) -> Array:
        """Return the share of the reference that is found."""
        return ratio(self.tp, self.n_ref)

    @property
    def specificity(self) -> Array:
        """Return the share of silence that is left silent."""
        return ratio(self.tn, self.tn + self.fp)

    def pooled(self) -> CellCounts:
        """Return the counts of all classes together."""
        return CellCounts(*(column.sum(axis=-1) for column in (self.tp, self.n_ref, self.n_sys, self.tn)))


def confusion_scores(
    counts: DetectionCounts,
    n_segments: Array,
    beyond: Array | int = 0,
    is_expected: npt.NDArray[np.bool_] | None = None,
) -> Table:
    """Return the measures that need true negatives, by name.

    counts: totals, classes last. n_segments: (...) the number of evaluated segments. beyond: (..., n_classes)
    of `counts.n_sys` are not among these, but after the end of a file: they are left out here. is_expected:
    (n_classes,) the classes that the reference or the settings name, None for all: others are left out, too.
    So nothing that a system adds has a say in where there is silence to be right about. Micro averages pool
    the cells of all classes. Source: Mesaros, Heittola & Virtanen 2016.
    """
    tp, n_ref, n_sys = counts.tp, counts.n_ref, counts.n_sys - beyond
    tn = np.asarray(n_segments)[..., None] - n_ref - n_sys + tp
    if is_expected is not None and not is_expected.all():
        n_sys, tn = (np.where(is_expected, column, 0) for column in (n_sys, tn))
    return scores_of(OF_CELLS, CellCounts(tp, n_ref, n_sys, tn))


_PAPER = "Mesaros, Heittola & Virtanen 2016"

OF_CELLS = (
    Measure(
        "sensitivity", "share of active reference segments found: recall", "TP / (TP + FN)",
        lambda c: c.sensitivity, undefined="N_ref = 0", source=_PAPER, short="sens", table="negatives",
        aliases=("sens",),
    ),
    Measure(
        "specificity", "share of silent reference segments left silent", "TN / (TN + FP)",
        lambda c: c.specificity, undefined="the reference is active in every segment", source=_PAPER,
        short="spec", table="negatives", aliases=("spec", "tnr"),
    ),
    Measure(
        "accuracy", "share of segments judged rightly", "(TP + TN) / (TP + TN + FP + FN)",
        lambda c: ratio(c.tp + c.tn, c.tp + c.tn + c.fp + c.fn), undefined="there are no segments",
        source=_PAPER, short="acc", table="negatives", aliases=("acc",),
    ),
    Measure(
        "balanced_accuracy", "mean of sensitivity and specificity", "(sensitivity + specificity) / 2",
        lambda c: (c.sensitivity + c.specificity) / 2, undefined="sensitivity or specificity is",
        source=_PAPER, short="bacc", table="negatives", aliases=("bacc", "balanced-accuracy"),
    ),
    Measure(
        "npv", "negative predictive value: share of silent system segments that are right",
        "TN / (TN + FN)", lambda c: ratio(c.tn, c.tn + c.fn), source="Altman & Bland 1994", short="NPV",
        undefined="the system is active in every segment", table="negatives",
    ),
    count_measure("tn", "true negatives: segments silent on both sides", "TN", lambda c: c.tn, "TN"),
)  # fmt: skip


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis that has a value for every cell: segments or clips."""
    cut, soft = (
        "reference and system cut at one threshold each",
        "fuzzy sets: hard counts integrated over all levels of both sides",
    )
    return (
        Family(basis, "hard", cut, (*detection.MEASURES, *OF_CELLS)),
        Family(basis, "tuned", detection.TUNED_SUMMARY, (*detection.MEASURES, detection.TUNED_THRESHOLD)),
        Family(basis, "optimal", detection.OPTIMAL_SUMMARY, (*detection.MEASURES, detection.THRESHOLD)),
        Family(basis, "soft", soft, detection.MEASURES),
    )
