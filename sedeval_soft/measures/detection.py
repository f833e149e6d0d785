"""Precision, recall, F and error rate: the same formulas for every basis and reading.

All of them are computed from six statistics, for segments, for events and for any reading of either:

    tp, n_ref, n_sys    per class: matched, in the reference, in the system
    substitutions       S = M - TP, where M is the number of matches regardless of class
    deletions           D = N_ref - M
    insertions          I = N_sys - M

Hard counts are int64, soft counts float64 sums: soft F is F of the counts of `count_soft` in `segment.py`.

Sources: Mesaros, Heittola and Virtanen 2016 (segment- and event-based), Harju and Mesaros 2023 (soft).
Differences to sed_eval: undefined values (see `base.py`), and S for events, which does not depend on the
order of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Bools
from sedeval_soft.measures.base import Averaged, Measure, Table, ratio, scores_of
from sedeval_soft.measures.tally import Totals


class DetectionCounts(NamedTuple):
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


def f_beta(tp: Array, n_ref: Array, n_sys: Array, beta: float = 1.0) -> Array:
    """Return (1 + b^2) TP / (b^2 N_ref + N_sys), NaN if neither side has anything.

    Source: van Rijsbergen 1979, written with counts so that only an empty class is undefined.
    """
    square = beta * beta
    return ratio((1.0 + square) * tp, square * n_ref + n_sys)


class Detection(NamedTuple):
    """Statistics for measures of detection: of each class, (..., n_classes), or pooled, (...).

    - fp, fn, tn: false positives and negatives, and true negatives, which only cells have.
    - silent: the cells with a reference known to be silent.
    - substitutions, deletions, insertions: for one class these are 0, `fn` and `fp`.
    """

    tp: Array
    n_ref: Array
    n_sys: Array
    fp: Array
    fn: Array
    tn: Array
    silent: Array
    substitutions: Array | int
    deletions: Array
    insertions: Array
    beta: float


def detection_scores(
    counts: DetectionCounts,
    beta: float = 1.0,
    measures: Iterable[Measure] | None = None,
    of_cells: tuple[Array, Array] | None = None,
) -> Table:
    """Return measures by name, each with its averages.

    counts: totals over files, classes last. Micro averages come from counts summed over classes. measures:
    None for all that need no true negatives. of_cells: true negatives, and silent cells of the reference.
    """
    if measures is None:
        usual = [measure for measure in MEASURES if measure is not FBETA or beta != 1.0]
        measures = [*usual, *(each for each in OWN if each.table != NEGATIVES)]
    fp, fn = counts.n_sys - counts.tp, counts.n_ref - counts.tp
    tn, silent = (np.zeros_like(fp),) * 2 if of_cells is None else of_cells
    columns = counts.tp, counts.n_ref, counts.n_sys, fp, fn, tn, silent
    errors = counts.substitutions, counts.deletions, counts.insertions
    tp, n_ref, n_sys, all_fp, all_fn, all_tn, all_silent = (column.sum(axis=-1) for column in columns)
    pooled = Detection(tp, n_ref, n_sys, all_fp, all_fn, all_tn, all_silent, *errors, beta)
    return scores_of(measures, Detection(*columns, 0, fn, fp, beta), pooled)


def count_scores(counts: DetectionCounts) -> Table:
    """Return the counts themselves as scores: of each class, and in total as their micro value."""
    return detection_scores(counts, measures=COUNTS)


def confusion_scores(
    counts: DetectionCounts, n_segments: Array, beyond: Array | int = 0, is_expected: Bools | None = None
) -> Table:
    """Return the measures that need true negatives, by name.

    - counts: totals, classes last. n_segments: (...) the number of evaluated segments.
    - beyond: (..., n_classes) the cells of `counts.n_sys` after the end of a file: false positives beside the
      evaluated segments.
    - is_expected: (n_classes,) the classes that the reference or the settings name, None for all.

    Only expected classes have true negatives: a system cannot add silence to be right about, and every false
    positive counts. Micro averages pool the cells of all classes. Source: Mesaros, Heittola & Virtanen 2016.
    """
    silent = np.asarray(n_segments)[..., None] - counts.n_ref
    tn = silent - (counts.n_sys - beyond - counts.tp)
    if is_expected is not None:
        silent, tn = (np.where(is_expected, column, 0) for column in (silent, tn))
    own = (each for each in OWN if each.table == NEGATIVES)
    return detection_scores(counts, measures=[*OF_CELLS, *own], of_cells=(tn, silent))


def _specificity(counts: Detection) -> Array:
    """Return TN / (TN + FP); undefined without cells that are known to be silent."""
    return ratio(counts.tn, np.where(counts.silent, counts.tn + counts.fp, 0))


def _mcc(counts: Detection) -> Array:
    """Return the correlation of both sides, 0 if the system is the same in all cells."""
    tp, fp, fn, tn = (np.asarray(x, dtype=np.float64) for x in (counts.tp, counts.fp, counts.fn, counts.tn))
    # In this order the spread of two equal sides is exact.
    spread = np.sqrt(((tp + fn) * (tn + fp)) * ((tp + fp) * (tn + fn)))
    known = (tp + fn > 0) & (tn + fp > 0) & (counts.silent > 0)
    return np.where(known, np.nan_to_num(ratio(tp * tn - fp * fn, spread)), np.nan)


_PAPER = "Mesaros, Heittola & Virtanen 2016"
_EBBERS = "Ebbers, Haeb-Umbach & Serizel 2022"
_RIJSBERGEN = "van Rijsbergen 1979"
_DINKELBACH = "Dinkelbach 1967"
_UNREACHED = "N_ref = 0; no threshold satisfies the constraint"

_detection = partial(Measure, source=_PAPER, table="main", undefined="N_ref = 0")
_f = partial(_detection, source=_RIJSBERGEN, undefined="N_ref = N_sys = 0")
_rate = partial(_detection, direction="lower", table="rates")
_count = partial(Measure, high=None, direction="none", source=_PAPER, averages=("micro",), table="counts")
NEGATIVES = "negatives"
_negatives = partial(Measure, source=_PAPER, table=NEGATIVES)
_NO_THRESHOLD = "nothing of the class is detected"
_threshold = partial(Measure, high=2.0, direction="none", averages=(), exact=True, undefined=_NO_THRESHOLD)
_overall = partial(Measure, undefined="N_ref = 0", averages=("overall",), has_classes=False, table="joint")
_satisficed = partial(
    Measure, missing=0.0, source=_EBBERS, averages=("overall",), table="satisficed", needs="--set satisfice"
)

PRECISION = _detection("precision", "share of what the system detects that is right", "TP / N_sys",
    lambda c: ratio(c.tp, c.n_sys), missing=0.0, short="P",
    undefined="N_sys = 0; counts 0 in macro and weighted averages if the class has a reference",
    aliases=("p", "prec", "ppv"))  # fmt: skip

RECALL = _detection("recall", "share of the reference that the system found", "TP / N_ref",
    lambda c: ratio(c.tp, c.n_ref), short="R", aliases=("r", "rec", "tpr"))  # fmt: skip

F1 = _f("f1", "harmonic mean of precision and recall", "2 TP / (N_ref + N_sys)",
    lambda c: f_beta(c.tp, c.n_ref, c.n_sys), short="F1", aliases=("f", "f_1", "f-1", "fscore", "f_score",
    "f-score", "f1score", "f1_score", "f1-score", "fmeasure", "f_measure", "f-measure", "eb_f1",
    "sb_f1"))  # fmt: skip

FBETA = _f("fbeta", "F with recall weighted beta times (with --set beta other than 1)",
    "(1 + b^2) TP / (b^2 N_ref + N_sys)", lambda c: f_beta(c.tp, c.n_ref, c.n_sys, c.beta),
    needs="--set beta other than 1")  # fmt: skip

ERROR_RATE = _detection("error_rate", "errors per reference item",
    "(S + D + I) / N_ref; of a class (FN + FP) / N_ref",
    lambda c: ratio(c.substitutions + c.deletions + c.insertions, c.n_ref), high=None, direction="lower",
    short="ER", aliases=("er", "error", "errorrate"))  # fmt: skip

RATES = (
    # Sums of files and of classes round differently: no share is above 1.
    _rate("substitution_rate", "right time, wrong class, per reference item", "S / N_ref",
        lambda c: np.minimum(ratio(c.substitutions, c.n_ref), 1.0), averages=("micro",), has_classes=False,
        short="S", aliases=("s", "sub", "subst", "substitution")),
    _rate("deletion_rate", "misses per reference item", "D / N_ref; of a class FN / N_ref",
        lambda c: np.minimum(ratio(c.deletions, c.n_ref), 1.0), short="D", aliases=("d", "del", "deletion")),
    _rate("insertion_rate", "false alarms per reference item", "I / N_ref; of a class FP / N_ref",
        lambda c: ratio(c.insertions, c.n_ref), high=None, short="I", aliases=("i", "ins", "insertion")),
)  # fmt: skip

COUNTS = (
    _count("n_ref", "size of the reference", "N_ref", lambda c: c.n_ref, short="N_ref"),
    _count("n_sys", "size of the system output", "N_sys", lambda c: c.n_sys, short="N_sys"),
    _count("tp", "true positives", "TP", lambda c: c.tp, short="TP"),
    _count("fp", "false positives", "N_sys - TP", lambda c: c.fp, short="FP"),
    _count("fn", "false negatives", "N_ref - TP", lambda c: c.fn, short="FN"),
    _count("substitutions", "right time, wrong class", "S = M - TP", lambda c: c.substitutions, short="subst",
        has_classes=False),
    _count("deletions", "misses beyond substitutions", "D = N_ref - M", lambda c: c.deletions, short="del",
        has_classes=False),
    _count("insertions", "false alarms beyond substitutions", "I = N_sys - M", lambda c: c.insertions,
        short="ins", has_classes=False),
)  # fmt: skip

OWN: list[Measure] = []
"""Measures of one's own, which `registry.register` adds."""

MEASURES: tuple[Measure, ...] = (PRECISION, RECALL, F1, FBETA, ERROR_RATE, *RATES, *COUNTS)

OF_CELLS = (
    _negatives("sensitivity", "share of active reference segments found: recall", "TP / (TP + FN)",
        lambda c: ratio(c.tp, c.n_ref), undefined="N_ref = 0", short="sens", aliases=("sens",)),
    _negatives("specificity", "share of silent reference segments left silent", "TN / (TN + FP)",
        _specificity, undefined="the reference is active in every segment",
        short="spec", aliases=("spec", "tnr")),
    _negatives("accuracy", "share of segments that are judged correctly", "(TP + TN) / (TP + TN + FP + FN)",
        lambda c: ratio(c.tp + c.tn, c.tp + c.tn + c.fp + c.fn), undefined="there are no segments",
        short="acc", aliases=("acc",)),
    _negatives("balanced_accuracy", "mean of sensitivity and specificity", "(sensitivity + specificity) / 2",
        lambda c: (ratio(c.tp, c.n_ref) + _specificity(c)) / 2,
        undefined="sensitivity or specificity is", short="bacc", aliases=("bacc", "balanced-accuracy")),
    _negatives("npv", "negative predictive value: share of silent system segments that are right",
        "TN / (TN + FN)",
        # No output could be right about silence if the reference is active in every segment.
        lambda c: np.where(c.tn + c.fp > 0, ratio(c.tn, c.tn + c.fn), -np.inf), source="Altman & Bland 1994",
        short="NPV", missing=0.0, undefined="either side is active in every segment; counts 0 in averages if "
        "the reference is not"),
    _negatives("mcc", "Matthews correlation coefficient: correlation of both sides' active segments; 0 for a "
        "system that is active in all segments or in none",
        "(TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN))", _mcc, low=-1.0,
        source="Matthews 1975; as scikit-learn", short="MCC", aliases=("phi", "matthews_corrcoef"),
        undefined="the reference is active in every segment or in none"),
    _count("tn", "true negatives: segments silent on both sides", "TN", lambda c: c.tn, short="TN"),
)  # fmt: skip

_FUZZY = {
    "precision": "Harju & Mesaros 2023",
    "recall": "Harju & Mesaros 2023",
    "f1": "Harju & Mesaros 2023; of text Kurniawan et al. 2025",
}

OF_FUZZY_SETS = tuple(
    measure._replace(source=_FUZZY.get(measure.name, measure.source)) for measure in MEASURES
)
"""The measures of soft segments and clips, which others have defined for these."""

# Measures of the thresholds that readings find; they are computed by the search for these thresholds.

THRESHOLD = _threshold("threshold",
    "the threshold of the class that gives its best F",
    "argmax over all distinct scores of F, the highest of ties", source=_EBBERS)  # fmt: skip

TUNED_THRESHOLD = _threshold("threshold",
    "the threshold of the class that was given; where each fold has its own there is none", "--thresholds",
    undefined=f"thresholds differ between folds; {_NO_THRESHOLD}")  # fmt: skip

BEST_ERROR_RATE = (
    Measure("best_error_rate", "lowest error rate of a class over all thresholds",
        "min over thresholds of (FN + FP) / N_ref; micro pools the counts at them", high=None,
        direction="lower", undefined="N_ref = 0", short="best ER", table="best error rate"),
    _threshold("best_error_rate_threshold", "threshold with the lowest error rate",
        "argmin over thresholds of the error rate, the highest of ties", short="at"),
)  # fmt: skip

JOINT = (
    _overall("joint_f", "largest micro F (with --set beta) over all combinations of class-wise thresholds",
        "max over thresholds of (1 + b^2) sum TP / (b^2 sum N_ref + sum N_sys)", source=_DINKELBACH,
        short="joint F"),
    _threshold("joint_threshold", "the threshold of the class where micro F is largest", "argmax of joint_f",
        source=_DINKELBACH, short="joint at"),
    _overall("single_f", "largest micro F (with --set beta) at one threshold for all classes",
        "max over thresholds of F of the counts of all classes", source=_RIJSBERGEN, short="single F"),
    _overall("single_threshold", "the one threshold where micro F is largest", "argmax of single_f",
        undefined="nothing is detected", high=2.0, direction="none", source=_RIJSBERGEN, short="at",
        exact=True),
)  # fmt: skip

F1_OF_MEANS = _overall("f1_of_means",
    "F of mean precision and mean recall: the harmonic mean of both macro averages",
    "2 P R / (P + R) of precision.macro and recall.macro", undefined="no class has a reference",
    source="ranking script of BioDCASE 2025 task 2; Opitz & Burst 2019, which call it F of averages",
    short="F of means", aliases=("f_of_averages",))  # fmt: skip


def f1_of_means(table: Table) -> Table:
    """Return F of the macro averages of precision and recall of a table, (...)."""
    p, r = (np.asarray(table[name].macro) for name in ("precision", "recall"))
    whole = np.where(p + r > 0, p + r, 1.0)
    return {"f1_of_means": Averaged(None, overall=np.where(p + r > 0, 2 * p * r / whole, p + r))}


SATISFICED = (
    _satisficed("satisficed_threshold",
        "the threshold that is best under --set satisfice, of a class, or one for all classes",
        "argmax of F (or what --set satisfice names) where the constraint holds", short="at",
        undefined="nothing is detected", high=2.0, direction="none", exact=True),
    _satisficed("satisficed_constraint",
        "the constrained measure at that threshold; the nearest to it where none satisfies it",
        "what --set satisfice names", short="constrained", undefined="N_ref = 0", high=None,
        direction="none"),
    _satisficed("satisficed_f", "F (with --set beta) at that threshold", "F", short="F",
        undefined=_UNREACHED),
    _satisficed("satisficed_precision", "precision at that threshold", "TP / N_sys", short="P",
        undefined=f"{_UNREACHED}; N_sys = 0"),
    _satisficed("satisficed_recall", "recall at that threshold", "TP / N_ref", short="R",
        undefined=_UNREACHED),
)  # fmt: skip

# The measures of intersections: nothing is matched one to one, so that there are no substitutions.

_BILEN = "Bilen et al. 2020"

_OTHERWISE = {
    "n_sys": ("detections that count: found reference events and false positives", "TP + FP"),
    "error_rate": ("misses and false positives per reference event", "(FN + FP) / N_ref"),
}

OF_INTERSECTIONS = tuple(
    measure._replace(source=_BILEN, summary=summary, formula=formula)
    for measure in MEASURES
    if measure.name not in {"substitution_rate", "substitutions"}
    for summary, formula in [_OTHERWISE.get(measure.name, (measure.summary, measure.formula))]
)

PSDS = Measure("psds", "polyphonic sound detection score (when asked for)",
    "area under the PSD-ROC to max_efpr / max_efpr",
    undefined="no class has a reference, or the files have no length", source=_BILEN, averages=("overall",),
    short="PSDS", table="psds", needs="--psds NAME",
    aliases=("psds1", "psds2", "psd", "psd_score"))  # fmt: skip

PIPSDS = PSDS._replace(name="pipsds", source="Ebbers, Haeb-Umbach & Serizel 2023", short="piPSDS", aliases=(),
    summary="PSDS with the best of several median filters at every false positive rate (when asked for)",
    needs="--set psds_median_filters")  # fmt: skip

SOFT_PSDS = PSDS._replace(source="this project, after Bilen et al. 2020",
    summary="mean over the reference's levels of PSDS against the reference cut there (when asked for)",
    formula="integral of PSDS(a) over levels a where the cut has events / how many levels have")  # fmt: skip
