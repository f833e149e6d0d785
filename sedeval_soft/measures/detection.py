"""Precision, recall, F and error rate: the same formulas for every basis and reading.

All of them are made of six statistics. For segments, events and any reading of either:

    tp, n_ref, n_sys    per class: what is matched, what the reference has, what the system has
    substitutions       S = M - TP, where M is what could be matched regardless of class
    deletions           D = N_ref - M
    insertions          I = N_sys - M

Counts are int64, their soft readings float64 sums. Sources: Mesaros, Heittola and Virtanen 2016
(segment- and event-based), Harju and Mesaros 2023 (soft). Differences to sed_eval: undefined
values (see `averages`), and S for events, which does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.laws import ROUNDING, Columns, Law, at_most, not_negative, size_of
from sedeval_soft.core.tally import Totals
from sedeval_soft.measures.averages import Averaged, averaged, ratio
from sedeval_soft.measures.measure import Measure

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class DetectionCounts:
    """The statistics of detection.

    tp, n_ref, n_sys: (..., n_classes). substitutions, deletions, insertions: (...).
    """

    tp: Array
    n_ref: Array
    n_sys: Array
    substitutions: Array
    deletions: Array
    insertions: Array

    def total(self) -> DetectionCounts:
        """Return the counts summed over files, the first axis."""
        return DetectionCounts(*(getattr(self, name).sum(axis=0) for name in (*PER_CLASS, *PER_FILE)))


PER_CLASS = ("tp", "n_ref", "n_sys")
PER_FILE = ("substitutions", "deletions", "insertions")


def totals(tally: Totals, prefix: str) -> DetectionCounts:
    """Return the counts that a tally has below a prefix, such as `segment.hard`, summed over files."""
    return DetectionCounts(*(tally.total(f"{prefix}.{name}") for name in (*PER_CLASS, *PER_FILE)))


def detection_laws(columns: Columns, *, crowded: bool = False) -> Iterator[Law]:
    """Yield the laws of the statistics of detection.

    columns: `PER_CLASS` and `PER_FILE`, of each file. crowded: whether the errors of a file may all be NaN,
    as those of the soft reading of events are where too many overlap.

    No order of adding makes TP larger than what it is a part of: these laws are exact in floats, too.
    """
    tp, n_ref, n_sys = (columns[name] for name in PER_CLASS)
    yield from not_negative(columns, PER_CLASS)
    yield at_most(columns, "tp", n_ref, "N_ref")
    yield at_most(columns, "tp", n_sys, "N_sys")
    errors = [columns[name] for name in PER_FILE]
    unknown = np.logical_and.reduce([np.isnan(column) for column in errors]) & crowded
    for name, values in zip(PER_FILE, errors, strict=True):
        holds = unknown | (np.isfinite(values) & (values >= 0))
        yield Law(name, "a number that is 0 or more", holds, values)
    substituted, deleted, inserted = errors
    slack = ROUNDING * np.asarray(size_of(n_ref.sum(axis=1), n_sys.sum(axis=1)))
    for name, values, part, whole in (
        ("deletions", deleted, n_ref, "N_ref"),
        ("insertions", inserted, n_sys, "N_sys"),
    ):
        left = (part - tp).sum(axis=1) - substituted
        holds = unknown | (np.abs(values - left) <= slack)
        yield Law(name, f"the sum over classes of {whole} - TP, less the substitutions,", holds, values, left)


def f_beta(tp: Array, n_ref: Array, n_sys: Array, beta: float = 1.0) -> Array:
    """Return (1 + b^2) TP / (b^2 N_ref + N_sys), NaN where neither side has anything.

    Source: van Rijsbergen 1979, written with counts so that only an empty class is undefined.
    """
    square = beta * beta
    return ratio((1.0 + square) * tp, square * n_ref + n_sys)


def detection_scores(counts: DetectionCounts, beta: float = 1.0) -> dict[str, Averaged]:
    """Return all detection measures by name, each with its averages.

    counts: totals over files, classes last. Micro averages come from counts summed over classes.
    """
    tp, n_ref, n_sys = counts.tp, counts.n_ref, counts.n_sys
    tp_all, ref_all, sys_all = tp.sum(axis=-1), n_ref.sum(axis=-1), n_sys.sum(axis=-1)
    deleted, inserted = n_ref - tp, n_sys - tp
    scores = {
        "precision": averaged(ratio(tp, n_sys), ratio(tp_all, sys_all), n_ref, undefined=0.0),
        "recall": averaged(ratio(tp, n_ref), ratio(tp_all, ref_all), n_ref),
        "f1": averaged(f_beta(tp, n_ref, n_sys), f_beta(tp_all, ref_all, sys_all), n_ref),
    }
    if beta != 1.0:
        scores["fbeta"] = averaged(
            f_beta(tp, n_ref, n_sys, beta), f_beta(tp_all, ref_all, sys_all, beta), n_ref
        )
    errors = counts.substitutions + counts.deletions + counts.insertions
    scores["error_rate"] = averaged(ratio(deleted + inserted, n_ref), ratio(errors, ref_all), n_ref)
    # Sums of files and of classes round differently: no share is above 1.
    substituted, missed = (ratio(c, ref_all) for c in (counts.substitutions, counts.deletions))
    scores["substitution_rate"] = Averaged(None, np.minimum(substituted, 1.0))
    scores["deletion_rate"] = averaged(ratio(deleted, n_ref), np.minimum(missed, 1.0), n_ref)
    scores["insertion_rate"] = averaged(ratio(inserted, n_ref), ratio(counts.insertions, ref_all), n_ref)
    scores |= count_scores(counts)
    return scores


def count_scores(counts: DetectionCounts) -> dict[str, Averaged]:
    """Return the counts themselves as scores: of each class, and in total as their micro value."""
    tp, n_ref, n_sys = counts.tp, counts.n_ref, counts.n_sys
    per_class = {"n_ref": n_ref, "n_sys": n_sys, "tp": tp, "fp": n_sys - tp, "fn": n_ref - tp}
    scores = {name: Averaged(column, column.sum(axis=-1)) for name, column in per_class.items()}
    for name in PER_FILE:
        scores[name] = Averaged(None, getattr(counts, name))
    return scores


_PAPER = "Mesaros, Heittola & Virtanen 2016"
_MICRO = ("micro",)


def _count(name: str, summary: str, formula: str, *, has_classes: bool = True) -> Measure:
    return Measure(name, summary, formula, 0.0, None, "none", "never", _PAPER, _MICRO, has_classes)


MEASURES: tuple[Measure, ...] = (
    Measure(
        "precision", "share of what the system says that is right", "TP / N_sys", 0.0, 1.0, "higher",
        "N_sys = 0; counts 0 in macro and weighted averages if the class has a reference", _PAPER,
    ),
    Measure(
        "recall", "share of the reference that the system found", "TP / N_ref", 0.0, 1.0, "higher",
        "N_ref = 0", _PAPER,
    ),
    Measure(
        "f1", "harmonic mean of precision and recall", "2 TP / (N_ref + N_sys)", 0.0, 1.0, "higher",
        "N_ref = N_sys = 0", "van Rijsbergen 1979",
    ),
    Measure(
        "fbeta", "F with recall weighted beta times (with --beta other than 1)",
        "(1 + b^2) TP / (b^2 N_ref + N_sys)", 0.0, 1.0, "higher", "N_ref = N_sys = 0", "van Rijsbergen 1979",
    ),
    Measure(
        "error_rate", "errors per reference item", "(S + D + I) / N_ref; of a class (FN + FP) / N_ref",
        0.0, None, "lower", "N_ref = 0", _PAPER,
    ),
    Measure(
        "substitution_rate", "right time, wrong class, per reference item", "S / N_ref", 0.0, 1.0, "lower",
        "N_ref = 0", _PAPER, _MICRO, has_classes=False,
    ),
    Measure(
        "deletion_rate", "misses per reference item", "D / N_ref; of a class FN / N_ref", 0.0, 1.0, "lower",
        "N_ref = 0", _PAPER,
    ),
    Measure(
        "insertion_rate", "false alarms per reference item", "I / N_ref; of a class FP / N_ref", 0.0, None,
        "lower", "N_ref = 0", _PAPER,
    ),
    _count("n_ref", "size of the reference", "N_ref"),
    _count("n_sys", "size of the system output", "N_sys"),
    _count("tp", "true positives", "TP"),
    _count("fp", "false positives", "N_sys - TP"),
    _count("fn", "false negatives", "N_ref - TP"),
    _count("substitutions", "right time, wrong class", "S = M - TP", has_classes=False),
    _count("deletions", "misses beyond substitutions", "D = N_ref - M", has_classes=False),
    _count("insertions", "false alarms beyond substitutions", "I = N_sys - M", has_classes=False),
)  # fmt: skip
