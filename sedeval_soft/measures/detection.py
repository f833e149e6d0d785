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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.measures.averages import ratio
from sedeval_soft.measures.base import Direction, Family, Measure, Table, scores_of
from sedeval_soft.measures.laws import ROUNDING, Columns, Law, at_most, not_negative, size_of
from sedeval_soft.measures.tally import Totals

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


@dataclass(frozen=True, slots=True)
class Detection:
    """What the measures of detection are values of: of each class, (..., n_classes), or of all pooled, (...).

    fp, fn: false positives and negatives. substitutions, deletions, insertions: of one class there are no
    substitutions, so that these are 0, `fn` and `fp`. all_classes: what they are of all classes pooled.
    """

    tp: Array
    n_ref: Array
    n_sys: Array
    fp: Array
    fn: Array
    substitutions: Array | int
    deletions: Array
    insertions: Array
    all_classes: tuple[Array, Array, Array]
    beta: float

    @classmethod
    def of(cls, counts: DetectionCounts, beta: float = 1.0) -> Detection:
        """Take totals over files."""
        tp, n_ref, n_sys = counts.tp, counts.n_ref, counts.n_sys
        fp, fn = n_sys - tp, n_ref - tp
        errors = counts.substitutions, counts.deletions, counts.insertions
        return cls(tp, n_ref, n_sys, fp, fn, 0, fn, fp, errors, beta)

    def pooled(self) -> Detection:
        """Return the statistics of all classes together."""
        columns = self.tp, self.n_ref, self.n_sys, self.fp, self.fn
        tp, n_ref, n_sys, fp, fn = (column.sum(axis=-1) for column in columns)
        return Detection(tp, n_ref, n_sys, fp, fn, *self.all_classes, self.all_classes, self.beta)


def detection_scores(counts: DetectionCounts, beta: float = 1.0) -> Table:
    """Return all detection measures by name, each with its averages.

    counts: totals over files, classes last. Micro averages come from counts summed over classes.
    """
    chosen = [measure for measure in MEASURES if measure is not FBETA or beta != 1.0]
    return scores_of(chosen, Detection.of(counts, beta))


def count_scores(counts: DetectionCounts) -> Table:
    """Return the counts themselves as scores: of each class, and in total as their micro value."""
    return scores_of(COUNTS, Detection.of(counts))


_PAPER = "Mesaros, Heittola & Virtanen 2016"
_EBBERS = "Ebbers, Haeb-Umbach & Serizel 2022"
_RIJSBERGEN = "van Rijsbergen 1979"
_DINKELBACH = "Dinkelbach 1967"

PRECISION = Measure(
    "precision", "share of what the system says that is right", "TP / N_sys",
    lambda c: ratio(c.tp, c.n_sys), missing=0.0, source=_PAPER, short="P", table="main",
    undefined="N_sys = 0; counts 0 in macro and weighted averages if the class has a reference",
    aliases=("p", "prec", "ppv"),
)  # fmt: skip

RECALL = Measure(
    "recall", "share of the reference that the system found", "TP / N_ref",
    lambda c: ratio(c.tp, c.n_ref), undefined="N_ref = 0", source=_PAPER, short="R", table="main",
    aliases=("r", "rec", "tpr"),
)  # fmt: skip

F1 = Measure(
    "f1", "harmonic mean of precision and recall", "2 TP / (N_ref + N_sys)",
    lambda c: f_beta(c.tp, c.n_ref, c.n_sys), undefined="N_ref = N_sys = 0", source=_RIJSBERGEN,
    short="F1", table="main",
    aliases=(
        "f", "f_1", "f-1", "fscore", "f_score", "f-score", "f1score", "f1_score", "f1-score", "fmeasure",
        "f_measure", "f-measure", "eb_f1", "sb_f1",
    ),
)  # fmt: skip

FBETA = Measure(
    "fbeta", "F with recall weighted beta times (with --beta other than 1)",
    "(1 + b^2) TP / (b^2 N_ref + N_sys)", lambda c: f_beta(c.tp, c.n_ref, c.n_sys, c.beta),
    undefined="N_ref = N_sys = 0", source=_RIJSBERGEN, table="main", needs="--beta other than 1",
)  # fmt: skip

ERROR_RATE = Measure(
    "error_rate", "errors per reference item", "(S + D + I) / N_ref; of a class (FN + FP) / N_ref",
    lambda c: ratio(c.substitutions + c.deletions + c.insertions, c.n_ref), high=None, direction="lower",
    undefined="N_ref = 0", source=_PAPER, short="ER", table="main",
    aliases=("er", "error", "errorrate"),
)  # fmt: skip

RATES = (
    Measure(
        "substitution_rate", "right time, wrong class, per reference item", "S / N_ref",
        # Sums of files and of classes round differently: no share is above 1.
        lambda c: np.minimum(ratio(c.substitutions, c.n_ref), 1.0), direction="lower", undefined="N_ref = 0",
        source=_PAPER, averages=("micro",), has_classes=False, short="S", table="rates",
        aliases=("s", "sub", "subst", "substitution"),
    ),
    Measure(
        "deletion_rate", "misses per reference item", "D / N_ref; of a class FN / N_ref",
        lambda c: np.minimum(ratio(c.deletions, c.n_ref), 1.0), direction="lower", undefined="N_ref = 0",
        source=_PAPER, short="D", table="rates", aliases=("d", "del", "deletion"),
    ),
    Measure(
        "insertion_rate", "false alarms per reference item", "I / N_ref; of a class FP / N_ref",
        lambda c: ratio(c.insertions, c.n_ref), high=None, direction="lower", undefined="N_ref = 0",
        source=_PAPER, short="I", table="rates", aliases=("i", "ins", "insertion"),
    ),
)  # fmt: skip


def count_measure(
    name: str,
    summary: str,
    formula: str,
    value: Callable[[Any], Array],
    short: str,
    *,
    has_classes: bool = True,
) -> Measure:
    """Return the measure that a count by itself is."""
    return Measure(
        name, summary, formula, value, high=None, direction="none", source=_PAPER, averages=("micro",),
        has_classes=has_classes, short=short, table="counts",
    )  # fmt: skip


COUNTS = (
    count_measure("n_ref", "size of the reference", "N_ref", lambda c: c.n_ref, "N_ref"),
    count_measure("n_sys", "size of the system output", "N_sys", lambda c: c.n_sys, "N_sys"),
    count_measure("tp", "true positives", "TP", lambda c: c.tp, "TP"),
    count_measure("fp", "false positives", "N_sys - TP", lambda c: c.fp, "FP"),
    count_measure("fn", "false negatives", "N_ref - TP", lambda c: c.fn, "FN"),
    count_measure(
        "substitutions", "right time, wrong class", "S = M - TP", lambda c: c.substitutions, "subst",
        has_classes=False,
    ),
    count_measure(
        "deletions", "misses beyond substitutions", "D = N_ref - M", lambda c: c.deletions, "del",
        has_classes=False,
    ),
    count_measure(
        "insertions", "false alarms beyond substitutions", "I = N_sys - M", lambda c: c.insertions, "ins",
        has_classes=False,
    ),
)  # fmt: skip

MEASURES: tuple[Measure, ...] = (PRECISION, RECALL, F1, FBETA, ERROR_RATE, *RATES, *COUNTS)

# What is told of the thresholds that readings find; they are computed where these are looked for.

THRESHOLD = Measure(
    "threshold",
    "the threshold of the class that gives its best F; -1 detects all, 1 (2 if inclusive) nothing",
    "argmax over all distinct scores of F", low=-1.0, high=2.0, direction="none", undefined="N_ref = 0",
    source=_EBBERS, averages=(), exact=True,
)  # fmt: skip

TUNED_THRESHOLD = Measure(
    "threshold", "the threshold of the class that was given; where each fold has its own there is none",
    "--thresholds", low=-1.0, high=2.0, direction="none", undefined="thresholds differ between folds",
    averages=(), exact=True,
)  # fmt: skip

BEST_ERROR_RATE = (
    Measure(
        "best_error_rate", "lowest error rate of a class over all thresholds",
        "min over thresholds of (FN + FP) / N_ref; micro pools the counts at them", high=None,
        direction="lower", undefined="N_ref = 0", short="best ER", table="best error rate",
    ),
    Measure(
        "best_error_rate_threshold", "threshold with the lowest error rate; -1 detects all, 1 nothing",
        "argmin over thresholds of the error rate, the highest of ties", low=-1.0, high=2.0, direction="none",
        undefined="the class has no reference", averages=(), short="at", exact=True,
    ),
)  # fmt: skip

JOINT = (
    Measure(
        "joint_f", "largest micro F (with --beta) over all combinations of class-wise thresholds",
        "max over thresholds of (1 + b^2) sum TP / (b^2 sum N_ref + sum N_sys)", undefined="N_ref = 0",
        source=_DINKELBACH, averages=("overall",), has_classes=False, short="joint F", table="joint",
    ),
    Measure(
        "joint_threshold", "the threshold of the class where micro F is largest", "argmax of joint_f",
        low=-1.0, high=2.0, direction="none", undefined="nothing of the class is detected",
        source=_DINKELBACH, averages=(), short="joint at", exact=True,
    ),
    Measure(
        "single_f", "largest micro F (with --beta) at one threshold for all classes",
        "max over thresholds of F of the counts of all classes", undefined="N_ref = 0", source=_RIJSBERGEN,
        averages=("overall",), has_classes=False, short="single F", table="joint",
    ),
    Measure(
        "single_threshold", "the one threshold where micro F is largest", "argmax of single_f", low=-1.0,
        high=2.0, direction="none", undefined="N_ref = 0", source=_RIJSBERGEN, averages=("overall",),
        has_classes=False, short="at", table="joint", exact=True,
    ),
)  # fmt: skip


def _satisficed(
    name: str, summary: str, formula: str, short: str, undefined: str, *,
    low: float = 0.0, high: float | None = 1.0, direction: Direction = "higher", exact: bool = False,
) -> Measure:  # fmt: skip
    return Measure(
        f"satisficed_{name}", summary, formula, low=low, high=high, direction=direction, undefined=undefined,
        source=_EBBERS, averages=("overall",), short=short, table="satisficed", needs="--satisfice",
        exact=exact,
    )  # fmt: skip


_UNREACHED = "N_ref = 0; no threshold satisfies the constraint"

SATISFICED = (
    _satisficed(
        "threshold", "the threshold that is best under --satisfice, of a class, or one for all classes",
        "argmax of F (or what --satisfice names) where the constraint holds", "at", "N_ref = 0",
        low=-1.0, high=2.0, direction="none", exact=True,
    ),
    _satisficed(
        "constraint", "the constrained measure at that threshold; the nearest to it where none satisfies it",
        "what --satisfice names", "constrained", "N_ref = 0", high=None, direction="none",
    ),
    _satisficed("f", "F (with --beta) at that threshold", "F", "F", _UNREACHED),
    _satisficed("precision", "precision at that threshold", "TP / N_sys", "P", f"{_UNREACHED}; N_sys = 0"),
    _satisficed("recall", "recall at that threshold", "TP / N_ref", "R", _UNREACHED),
)  # fmt: skip

TUNED_SUMMARY = "the system cut at thresholds that were found on other data, or on other files"
OPTIMAL_SUMMARY = "the system cut at each class's best threshold"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of thresholds of a basis that are not each class's own with the best F."""
    return (
        Family(basis, "optimal", "the system cut where all classes together are best", JOINT, "joint"),
        Family(basis, "optimal", "the system cut where it is best among what --satisfice allows", SATISFICED),
    )
