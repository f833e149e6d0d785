"""All that is known of a score, from its name: what its parts mean, and the letters of its formula."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.differences import Difference, differences_of
from sedeval_soft.measures.names import OVERALL, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import FAMILIES, family_of

BASES: Mapping[str, str] = {
    "segment": "time cut into segments of one length (--segment-length); a class in a segment is a cell",
    "event": "events, matched one to one: onsets within --onset-collar, offsets within the larger of "
    "--offset-collar and --offset-collar-rate of the reference's length",
    "intersection": "events, judged by how much of them the other side covers (--dtc, --gtc)",
    "clip": "whole files: a class in a file is a cell, and has the largest value of its segments",
    "ranking": "segments: the order of the values of their classes",
}

AVERAGES: Mapping[str, str] = {
    "micro": "all classes pooled: from counts, or cells, of all of them",
    "macro": "mean over the classes with a reference (N_ref > 0), each counting the same",
    "weighted": "mean over the classes, weighted by the size of their reference (N_ref)",
    "class": "one class",
    "overall": "defined over all classes together",
}

_COUNTED = {
    "FN": "N_ref - TP",
    "FP": "N_sys - TP",
    "S": "M - TP: right time, wrong class",
    "D": "N_ref - M: nothing there in the system",
    "I": "N_sys - M: nothing there in the reference",
}
_CUT_CELLS = {
    **_COUNTED,
    "TP": "cells active on both sides",
    "N_ref": "cells active in the reference",
    "N_sys": "cells active in the system",
    "TN": "cells active on neither side",
    "M": "sum over segments of the smaller number of active classes of the two sides",
}
_SOFT_CELLS = {
    **_COUNTED,
    "TP": "sum over cells of min(y, p), or what --t-norm says (Harju & Mesaros 2023)",
    "N_ref": "sum over cells of y",
    "N_sys": "sum over cells of p",
    "M": "sum over segments and k of min(y(k), p(k)), the k-th largest values of the two sides",
}
_EVENTS = {
    **_COUNTED,
    "TP": "pairs of matched events of a class",
    "N_ref": "events of the reference",
    "N_sys": "events of the system",
    "M": "pairs matched regardless of class",
}
_COVERED = {
    "TP": "reference events of which detections that pass --dtc cover --gtc",
    "N_ref": "events of the reference",
    "N_sys": "TP + FP",
    "FP": "detections of which the reference covers less than --dtc",
    "FN": "N_ref - TP",
    "M": "TP: nothing is matched one to one",
    "D": "FN",
    "I": "FP",
}
_OTHERS = {
    "b": "--beta",
    "R_k": "recall at the k-th threshold, from the highest",
    "P_k": "precision at the k-th threshold",
    "n_k": "cells in bin k",
    "n": "cells",
    "C": "classes",
    "TPR": "recall: share of positives that are found",
    "FPR": "share of negatives that are detected",
    "FNR": "1 - TPR",
}
_CUT_REFERENCE = "1 where the reference is above its threshold, else 0"
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
    cells = basis in {"segment", "clip", "ranking"}
    counts = (_SOFT_CELLS if reading == "soft" else _CUT_CELLS) if cells else _EVENTS
    if basis == "clip":
        counts = {**counts, "M": counts["M"].replace("segments", "files")}
    if basis == "intersection":
        counts = _COVERED
    if not cells and reading == "soft":
        own = (
            ("TP", "N_ref", "N_sys", "M", "FP") if basis == "intersection" else ("TP", "N_ref", "N_sys", "M")
        )
        integrated = "of both sides cut at a, integrated over a in (0, 1]"
        told = {name: f"{text}, {integrated}" for name, text in counts.items() if name in own}
        counts = {**counts, **told, **({"N_sys": counts["N_sys"]} if basis == "intersection" else {})}
    both_cut = basis == "ranking" and reading == "hard" and measure in {"hamming_loss", "subset_accuracy"}
    return {
        **counts,
        "y": "the reference's value" if reading == "soft" else _CUT_REFERENCE,
        "p": "1 where the system is above its threshold, else 0" if both_cut else "the system's value",
    }


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
    every = [(family, measure) for family in FAMILIES for measure in family.measures]
    for family, measure in every:
        name = ScoreName(family.basis, family.reading, measure.name)
        if text == f"{name.basis}.{name.reading}.{name.measure}" and OVERALL not in measure.averages:
            return _explanation(name, family, measure)
    named = [f"{family.basis}.{family.reading}.{text}" for family, measure in every if measure.name == text]
    if named:
        names = ", ".join(dict.fromkeys(named))
        raise ScoreNameError(f"{text!r} is a measure of several scores; expected one of {names}")
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
        differences_of(name),
    )


def _asked_by(family: Family, measure: Measure) -> str:
    """Return the options without which a score is not computed."""
    needed = []
    # PSDS is asked for by itself.
    if measure.table != "psds":
        needed += [f"--only {family.basis}"] if family.basis not in DEFAULT_ONLY else []
        needed += [f"--measures {family.group}"] if family.group else []
    if family.reading == "tuned":
        needed.append("--thresholds, --cross-tune or --folds")
    needed += [measure.needs] if measure.needs else []
    return " and ".join(needed)
