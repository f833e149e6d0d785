"""What the parts of a score's name mean, and the letters of its formula."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
_OF_PRODUCTS = {"TP": "sum of y p", "FP": "sum of (1-y) p", "FN": "sum of y (1-p)"}
_LETTERS = re.compile(
    r"(?<![A-Za-z_])(TP|TN|FP|FN|TPR|FPR|FNR|N_ref|N_sys|[MSDICbyp]|[RPn]_k|n)(?![A-Za-z_])"
)


def letters_of(basis: str, reading: str, measure: str, formula: str) -> dict[str, str]:
    """Return what the letters of a formula stand for, and those that these are told by, in order."""
    known = {**_OTHERS, **_letters(basis, reading, measure)}
    found: dict[str, str] = {}
    texts = [formula]
    while texts:
        for letter in _LETTERS.findall(texts.pop(0)):
            if letter in known and letter not in found:
                found[letter] = known[letter]
                texts.append(known[letter])
    return found


def _letters(basis: str, reading: str, measure: str) -> dict[str, str]:
    cells = basis in {"segment", "clip", "ranking"}
    counts = (_SOFT_CELLS if reading == "soft" else _CUT_CELLS) if cells else _EVENTS
    if basis == "clip":
        counts = {**counts, "M": counts["M"].replace("segments", "files")}
    if basis == "intersection":
        counts = _COVERED
    if measure == "soft_f1_loss":
        counts = _OF_PRODUCTS
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
