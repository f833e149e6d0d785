"""All that is known of a score: its parts, the letters of its formula, and what other tools do otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.names import OVERALL, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import FAMILIES, family_of

BASES: Mapping[str, str] = {
    "segment": "time cut into segments of one length (--segment-length); a class in a segment is a cell",
    "event": "events, matched one to one: onsets within --onset-collar, offsets within the larger of "
    "--offset-collar and --offset-collar-rate of the reference's length",
    "intersection": "events, judged by how much of them the other side covers (--dtc, --gtc)",
    "clip": "whole files: a class in a file is a cell, and has the largest value of its segments",
    "ranking": "segments: the order of the values of their classes",
}  # fmt: skip

AVERAGES: Mapping[str, str] = {
    "micro": "all classes pooled: from counts, or cells, of all of them",
    "macro": "mean over the classes with a reference (N_ref > 0), each counting the same",
    "weighted": "mean over the classes, weighted by the size of their reference (N_ref)",
    "class": "one class", "overall": "defined over all classes together",
}  # fmt: skip

_COUNTED = {
    "FN": "N_ref - TP", "FP": "N_sys - TP", "S": "M - TP: right time, wrong class",
    "D": "N_ref - M: nothing there in the system", "I": "N_sys - M: nothing there in the reference",
}  # fmt: skip
_CUT_CELLS = {
    **_COUNTED, "TP": "cells active on both sides", "N_ref": "cells active in the reference",
    "N_sys": "cells active in the system", "TN": "cells active on neither side",
    "M": "sum over segments of the smaller number of active classes of the two sides",
}  # fmt: skip
_SOFT_CELLS = {
    **_COUNTED, "TP": "sum over cells of min(y, p), or what --t-norm says (Harju & Mesaros 2023)",
    "N_ref": "sum over cells of y", "N_sys": "sum over cells of p",
    "M": "sum over segments and k of min(y(k), p(k)), the k-th largest values of the two sides",
}  # fmt: skip
_EVENTS = {
    **_COUNTED, "TP": "pairs of matched events of a class", "N_ref": "events of the reference",
    "N_sys": "events of the system", "M": "pairs matched regardless of class",
}  # fmt: skip
_COVERED = {
    "TP": "reference events of which detections that pass --dtc cover --gtc",
    "N_ref": "events of the reference", "N_sys": "TP + FP",
    "FP": "detections of which the reference covers less than --dtc", "FN": "N_ref - TP",
    "M": "TP: nothing is matched one to one", "D": "FN", "I": "FP",
}  # fmt: skip
_OTHERS = {
    "b": "--beta", "R_k": "recall at the k-th threshold, from the highest",
    "P_k": "precision at the k-th threshold", "n_k": "cells in bin k", "n": "cells", "C": "classes",
    "TPR": "recall: share of positives that are found", "FPR": "share of negatives that are detected",
    "FNR": "1 - TPR",
}  # fmt: skip
_WORDS = re.compile(r"(?<![A-Za-z_])[A-Za-z]+(?:_(?:ref|sys|k))?(?![A-Za-z_])")


def letters_of(basis: str, reading: str, measure: Measure) -> dict[str, str]:
    """Return what the letters of a formula stand for, and those that these are told by, in order."""
    meanings = {**_OTHERS, **_letters(basis, reading, measure.name), **measure.letters}
    letters: dict[str, str] = {}
    texts = [measure.formula]
    while texts:
        for letter in _WORDS.findall(texts.pop(0)):
            if letter in meanings and letter not in letters:
                letters[letter] = meanings[letter]
                texts.append(meanings[letter])
    return letters


def _letters(basis: str, reading: str, measure: str) -> dict[str, str]:
    soft, cells = reading == "soft", basis in {"segment", "clip", "ranking"}
    counts = (_SOFT_CELLS if soft else _CUT_CELLS) if cells else _EVENTS
    integrated = ("TP", "N_ref", "N_sys", "M")
    if basis == "clip":
        counts = {**counts, "M": counts["M"].replace("segments", "files")}
    if basis == "intersection":
        counts, integrated = _COVERED, ("TP", "N_ref", "M", "FP")
    if not cells and soft:
        levels = "of both sides cut at a, integrated over a in (0, 1]"
        counts = {**counts, **{name: f"{counts[name]}, {levels}" for name in integrated}}
    both_cut = basis == "ranking" and not soft and measure in {"hamming_loss", "subset_accuracy"}
    return {
        **counts,
        "y": "the reference's value" if soft else "1 where the reference is above its threshold, else 0",
        "p": "1 where the system is above its threshold, else 0" if both_cut else "the system's value",
    }


# Where others' numbers differ on purpose: for `explain`, and the tables of explanations/differences.md.


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that another tool does otherwise.

    tool: its name. what: the case. theirs, ours: what is done in it; Markdown, of code in backticks only.
    scores: patterns of the scores that it can change, as `basis.reading.measure.form` where the form is an
    average, `class` or `overall`.
    """

    tool: str
    what: str
    theirs: str
    ours: str
    scores: tuple[str, ...]

    def concerns(self, name: ScoreName) -> bool:
        """Return whether it can change a score; one without average stands for all of its forms."""
        form = "class" if name.class_name is not None else name.average
        stem = f"{name.basis}.{name.reading}.{name.measure}"
        forms = ("micro", "macro", "weighted", "class", "overall") if form is None else (form,)
        return any(fnmatchcase(f"{stem}.{each}", pattern) for pattern in self.scores for each in forms)


_HARD_CELLS = ("segment.hard.*", "clip.hard.*")
_OVERLAPS = ("intersection.hard.*", "intersection.optimal.*", "intersection.tuned.*")
_AT_BEST = ("segment.optimal.*", "event.optimal.*", *_OVERLAPS)
_PSDS = ("intersection.hard.psds.*", "intersection.hard.pipsds.*")
_AREAS = ("*.average_precision.*", "*.roc_auc.*", "*.partial_auc*")
_ITS = ("average_precision.*", "roc_auc.*", "partial_auc*", "cross_entropy.*", "brier.*")
_ERRORS = tuple(
    f"event.hard.{part}*" for part in ("substitution", "deletion", "insertion", "error_rate.micro")
)

_sed_eval, _sed_scores_eval, _scikit_learn, _psds_eval = (
    partial(Difference, tool) for tool in ("sed_eval", "sed_scores_eval", "scikit-learn", "psds_eval")
)

DIFFERENCES: tuple[Difference, ...] = (
    _sed_eval("segment edges",
        "floor and ceil of floats: at 0.1 s an event at 0.3 s begins one segment early", "whole microseconds",
        ("segment.hard.*",)),
    _sed_eval("collars", "floats: 0.9 s against 1.1 s at 0.2 s is a miss", "whole microseconds: a hit",
        ("event.hard.*",)),
    _sed_eval("F1 where precision or recall is undefined", "NaN",
        "2 TP / (N_ref + N_sys), undefined only if both are 0",
        ("segment.hard.f1.*", "segment.hard.fbeta.*", "event.hard.f1.*", "event.hard.fbeta.*")),
    _sed_eval("a class never detected, in macro segment-based F1", "left out", "counts 0",
        ("segment.hard.f1.macro", "segment.hard.fbeta.macro")),
    _sed_eval("a class without reference, in macro error rate and sensitivity", "counts 0 or 4.5e15",
        "left out",
        ("segment.hard.error_rate.macro", "event.hard.error_rate.macro", "segment.hard.sensitivity.macro")),
    _sed_eval("events without length", "each is an event", "where rows are merged, none", ("event.hard.*",)),
    _sed_eval("substitutions of events", "leftovers of one matching, in row order",
        "M - TP, whatever the order", _ERRORS),
    _sed_scores_eval("classes without reference, files missing on a side", "refused",
        "shown and left out of macro averages and PSDS; a missing file counts, with a warning", _AT_BEST),
    _sed_scores_eval("touching or overlapping reference rows of a class", "refused",
        "merged, or an event each (`--events`)", ("event.optimal.*", *_OVERLAPS)),
    _sed_scores_eval("two thresholds with the same F", "its floats may tell them apart in the last bit",
        "the highest", ("*.optimal.*",)),
    _sed_scores_eval("the best threshold where all scores, or none, are detected", "-inf, inf",
        "the middle between 0 and the lowest score, or -1 where that is 0; 1 (2 with `--inclusive`)",
        ("*.optimal.*threshold.*",)),
    _sed_scores_eval("nothing detected", "precision 1", "precision undefined",
        ("*.optimal.precision.*", "*.hard.precision.*", "*.optimal.satisficed_precision.*")),
    _sed_scores_eval("a value of 0, in events and intersections",
        "a score as any other: at one threshold each file is one event", "silence, as time without a row",
        ("event.optimal.*", *_OVERLAPS)),
    _sed_scores_eval("limits on the rates of insertions and deletions at the best error rate",
        "inverted: what keeps them is struck out", "none", ("*.optimal.best_error_rate*",)),
    _sed_scores_eval("intersections against a criterion", "both sides rounded to 6 decimals",
        "whole microseconds, with half of one of slack: about the same", _OVERLAPS),
    _sed_scores_eval("a criterion of 0", "always met, also without overlap", "refused", _OVERLAPS),
    _sed_scores_eval("`cttc` with `alpha_ct` 0; one class and `alpha_ct` above 0", "an error", "works",
        _PSDS),
    _sed_scores_eval("reference events without length", "counted, and found", "take no part in intersections",
        _OVERLAPS),
    _sed_scores_eval("median filter",
        "of any length; values change between frames if it is no odd multiple of them",
        "the nearest odd number of time steps; at odd multiples the same", _AT_BEST),
    _scikit_learn("soft references", "refused", "weights",
        ("ranking.soft.*", *(f"*.soft.{measure}" for measure in _ITS))),
    _scikit_learn("a class without a positive, or (ROC) without a negative", "NaN or a warning, or 0",
        "undefined, and left out of averages", _AREAS),
    _scikit_learn("values of 0 and 1 in `log_loss`", "clipped by 2.2e-16", "clipped by `--epsilon`, 1e-7",
        ("*.cross_entropy.*",)),
    _scikit_learn("precision where nothing is detected", "0 with a warning",
        "undefined; counts 0 in averages", tuple(f"{cells[:-1]}precision.*" for cells in _HARD_CELLS)),
    _scikit_learn("ranking measures of rows without any label", "count (as 1 or 0)", "left out",
        ("ranking.*",)),
    _psds_eval("thresholds", "the operating points that are given",
        "all, exactly; or points, by `--operating-point`", _PSDS),
    _psds_eval("intersections against a criterion",
        "floats: of 1.3 s to 2.3 s, 1.6 s to 2.3 s is less than 0.7",
        "whole microseconds, with half of one of slack for the rounding of times: it is 0.7", _OVERLAPS),
    _psds_eval("a criterion of 0", "any overlap at all", "refused", _OVERLAPS),
    _psds_eval("a class without reference", "its detections are ignored; a KeyError if `class_names` has it",
        "takes no part in PSDS; its false positives count in micro scores",
        ("intersection.hard.*.micro", *_PSDS)),
    _psds_eval("detections beyond a file's duration", "never false positives", "every detection counts",
        _OVERLAPS),
    _psds_eval("one class only", "PSDS 0 even for a perfect system", "works: nothing can be a cross trigger",
        _PSDS),
    _psds_eval("macro F, a class with TP = 0", "left out", "counts 0", ("intersection.hard.f*.macro",)),
    _psds_eval("overlapping rows of a class", "refused, but for exact duplicates, whose covers add up",
        "where rows are events each is one, and what several cover counts once; else they are merged",
        _OVERLAPS),
)  # fmt: skip
"""All that are known, by tool, in the order of the docs."""

TOOLS = tuple(dict.fromkeys(difference.tool for difference in DIFFERENCES))


# What is known of one score.


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a score means.

    name: as it was asked for. measure: with formula, range, source and undefined case.
    basis, reading, average: what these parts of the name say. letters: of the formula.
    asked_by: options that it needs, empty for what is always there.
    differences: what other tools do otherwise.
    """

    name: str
    measure: Measure
    basis: str
    reading: str
    average: str
    letters: dict[str, str]
    asked_by: str
    differences: tuple[Difference, ...]


def explained(text: str) -> Explanation:
    """Return all that is known of a score, of a class, of a group (`@name`) or of all forms of a measure.

    Raises ScoreNameError, with close matches, for a name that no score has.
    """
    measures = [
        (f"{family.basis}.{family.reading}.{measure.name}", family, measure)
        for family in FAMILIES
        for measure in family.measures
    ]
    for stem, family, measure in measures:
        if text == stem and OVERALL not in measure.averages:
            return _explanation(ScoreName(*stem.split(".")), family, measure)
    if stems := dict.fromkeys(stem for stem, _, measure in measures if measure.name == text):
        raise ScoreNameError(f"{text!r} is a measure of several scores; expected one of {', '.join(stems)}")
    family, measure = family_of(text)
    return _explanation(ScoreName.parse(text), family, measure)


def _explanation(name: ScoreName, family: Family, measure: Measure) -> Explanation:
    form = "class" if name.class_name is not None else name.average
    forms = [*measure.averages, *(["class"] if measure.has_classes else [])]
    average = AVERAGES[form] if form else f"none is named; there are {', '.join(forms)}"
    if form == "micro" and name.reading in {"optimal", "tuned"}:
        average += ", each class at its own threshold"
    if name.group is not None:
        average += f"; as if only what belongs to {name.group} were evaluated (groups, scenes, folds)"
    spelled = str(name) if form else f"{name.basis}.{name.reading}.{name.measure}"
    return Explanation(
        spelled,
        measure,
        BASES[name.basis],
        family.summary,
        average,
        letters_of(name.basis, name.reading, measure),
        _asked_by(family, measure),
        tuple(difference for difference in DIFFERENCES if difference.concerns(name)),
    )


def _asked_by(family: Family, measure: Measure) -> str:
    """Return the options without which a score is not computed."""
    needed = []
    # PSDS is asked for by itself.
    if measure.table != "psds":
        needed += [f"--only {family.basis}" if family.basis not in DEFAULT_ONLY else ""]
        needed += [f"--measures {family.group}" if family.group else ""]
    needed += ["--thresholds, --cross-tune or --folds" if family.reading == "tuned" else "", measure.needs]
    return " and ".join(filter(None, needed))
