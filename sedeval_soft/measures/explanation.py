"""Explanations of scores: their parts, the letters of their formulas, and differences to other tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.measures.base import Family, Measure
from sedeval_soft.measures.registry import FAMILIES, OVERALL, ScoreName, family_of
from sedeval_soft.settings import CLASS_MEANS, PART_MEANS, PSDS, PSDS_NUMBERS, means_in

BASES: Mapping[str, str] = {
    "segment": "time cut into segments of one length (--segment-length); a class in a segment is a cell",
    "event": "events, matched one to one: onsets within --onset-collar, offsets within the larger of "
    "--offset-collar and --offset-collar-rate of the reference's length; with --set match_by=iou by their "
    "intersection over union, at least --set iou",
    "intersection": "events, judged by how much of them the other side covers (--set dtc, --set gtc)",
    "clip": "whole files: a class in a file is a cell, and has the largest value of its segments",
    "ranking": "segments: the order of the values of their classes",
}  # fmt: skip

AVERAGES: Mapping[str, str] = {
    "micro": "all classes pooled: from counts, or cells, of all of them",
    "macro": "mean over the classes with a reference (N_ref > 0), each counting the same",
    "weighted": "mean over the classes, weighted by the size of their reference (N_ref)",
    "harmonic": "harmonic mean over the classes with a reference (N_ref > 0): 0 if that of any of them is",
    "geometric": "geometric mean over the classes with a reference (N_ref > 0): 0 if that of any of them is",
    "class": "one class", "overall": "defined over all classes together",
}  # fmt: skip

_PSDS = {
    name: f"PSDS with the settings of {name}: "
    + ", ".join(f"{key} {value:g}" for key, value in PSDS[name].items())
    + f"; it is computed by --psds {name}"
    for name in PSDS
}

_READINGS = {
    "hard": "both tables are binarised at a threshold (--threshold, 0.5 by default), then compared",
    "optimal": "each class at its best threshold on the files that are scored: an upper bound, not a "
    "result; --cross-tune finds thresholds on other files",
    "tuned": "the system is binarised at thresholds that were found on other files (--thresholds, "
    "--cross-tune)",
    "soft": "no threshold: the mean of the hard counts over all levels of both tables. For segments the "
    "true positives are the sum of min(reference, system). A system that is as unsure as the annotators "
    "scores 1",
}

WORDS: Mapping[str, tuple[str, str]] = {
    **{word: (text, f"segment.{word}.f1.macro") for word, text in _READINGS.items()},
    **{word: (text, f"{word}.hard.f1.macro") for word, text in BASES.items()},
    "ranking": (BASES["ranking"], "ranking.hard.one_error"),
    **{
        word: (AVERAGES[word], f"segment.hard.f1.{word}")
        for word in ("micro", "macro", "weighted", *CLASS_MEANS)
    },
    **{PSDS_NUMBERS[word]: (text, "intersection.hard.psds") for word, text in _PSDS.items()},
    **{word: (text, "intersection.hard.psds") for word, text in _PSDS.items()},
}
"""Words of screens and options that are not names of scores: their meanings, and a score for each."""

_OVER_CELLS = frozenset(
    {
        *("accuracy", "kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon", "brier"),
        "mean_absolute_error",
    }
)
"""Measures that are means over all cells; absent classes count in them."""


def _rows(name: str) -> list[list[str]]:
    """Return the cells of a table beside this module, row by row, without its header."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


_LETTERS: dict[str, dict[str, str]] = {}
"""Meanings of letters in formulas, by the thing counted; letters of counts are for cells and events."""
for _kind, _letter, _meaning in _rows("letters.tsv"):
    _LETTERS.setdefault(_kind, {})[_letter] = _meaning

_WORDS = re.compile(r"(?<![A-Za-z_])[A-Za-z]+(?:_(?:ref|sys|k))?(?![A-Za-z_])")


def letters_of(basis: str, reading: str, measure: Measure) -> dict[str, str]:
    """Return the meanings of the letters of a formula, and of the letters in these meanings, in order."""
    meanings = {**_LETTERS["formulas"], **_letters(basis, reading, measure.name), **measure.letters}
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
    kind = ("soft cells" if soft else "cut cells") if cells else "events"
    counts = _LETTERS["counts"] | _LETTERS[kind]
    integrated = ("TP", "N_ref", "N_sys", "M")
    if basis == "clip":
        counts = {**counts, "M": counts["M"].replace("segments", "files")}
    if basis == "intersection":
        counts, integrated = _LETTERS["intersections"], ("TP", "N_ref", "M", "FP")
    if not cells and soft:
        levels = "of both sides cut at a, integrated over a in (0, 1]"
        counts = {**counts, **{name: f"{counts[name]}, {levels}" for name in integrated}}
    both_cut = basis == "ranking" and not soft and measure in {"hamming_loss", "subset_accuracy"}
    return {
        **counts,
        "y": "the reference's value" if soft else "1 where the reference is above its threshold, else 0",
        "p": "1 where the system is above its threshold, else 0" if both_cut else "the system's value",
    }


# Intended differences to other tools: for `explain`, and the tables of explanations/differences.md. To add a
# difference, add a row to differences.tsv.


@dataclass(frozen=True, slots=True)
class Difference:
    """One case that another tool computes differently.

    - tool: its name. what: the case.
    - theirs, ours: the computation of either tool; Markdown with code in backticks only.
    - scores: patterns of the scores that the case can change, as `basis.reading.measure.form`; the form is an
      average, `class` or `overall`.
    """

    tool: str
    what: str
    theirs: str
    ours: str
    scores: tuple[str, ...]

    def concerns(self, name: ScoreName) -> bool:
        """Return whether the case can change a score; a pattern without average includes all of its forms."""
        form = "class" if name.class_name is not None else name.average
        stem = f"{name.basis}.{name.reading}.{name.measure}"
        forms = ("micro", "macro", "weighted", "class", "overall") if form is None else (form,)
        # Changes to the values of classes change every mean of them.
        forms = ("macro",) if form in CLASS_MEANS else forms
        return any(fnmatchcase(f"{stem}.{each}", pattern) for pattern in self.scores for each in forms)


DIFFERENCES = tuple(
    Difference(tool, what, theirs, ours, tuple(scores.split()))
    for tool, what, theirs, ours, scores in _rows("differences.tsv")
)
"""All known differences, by tool, in the order of the docs."""

TOOLS = tuple(dict.fromkeys(difference.tool for difference in DIFFERENCES))


# Explanation of one score.


@dataclass(frozen=True, slots=True)
class Explanation:
    """Meaning of a score.

    - name: as requested. measure: with formula, range, source and undefined case.
    - basis, reading, average: the meanings of these parts of the name. letters: letters of the formula.
    - asked_by: options that compute it, empty for scores that are always computed.
    - differences: differences to other tools. alike: names of the measures with the same name in tables.
    """

    name: str
    measure: Measure
    basis: str
    reading: str
    average: str
    letters: dict[str, str]
    asked_by: str
    differences: tuple[Difference, ...]
    alike: tuple[str, ...] = ()


def explained(text: str) -> Explanation:
    """Return the explanation of a score, of a class, of a group (`@name`) or of all forms of a measure.

    text: its name, or its name in tables, such as `KLD` or `f1`: then the first measure with this name that
    is computed by default.

    Raises ScoreNameError, with close matches, for a name that no score has.
    """
    measures = [
        (ScoreName(family.basis, family.reading, measure.name), family, measure)
        for family in FAMILIES
        for measure in family.measures
    ]
    for name, family, measure in measures:
        if text == ".".join(name[:3]) and OVERALL not in measure.averages:
            return _explanation(name, family, measure)
    called = [each for each in measures if text.casefold() in {each[2].short.casefold(), each[2].name} - {""}]
    usual = [each for each in called if not _asked_by(*each)] or called
    if usual:
        return replace(_explanation(*usual[0]), alike=tuple(".".join(name[:3]) for name, *_ in usual[1:]))
    family, measure = family_of(text)
    return _explanation(ScoreName.parse(text), family, measure)


def _explanation(name: ScoreName, family: Family, measure: Measure) -> Explanation:
    form = "class" if name.class_name is not None else name.average
    forms = [*measure.averages, *measure.means, *(["class"] if measure.has_classes else [])]
    average = AVERAGES[form] if form else f"none is named; there are {', '.join(forms)}"
    if form == "micro" and name.reading in {"optimal", "tuned"}:
        average += ", each class at its own threshold"
    if form == "micro" and measure.name in _OVER_CELLS:
        average += (
            ": a mean over all cells, silent ones too, so it changes with the list of classes (--classes)"
        )
    if name.group in PART_MEANS:
        parts, _, kind = name.group.partition(".")
        average += (
            f"; the {kind if kind == 'mean' else f'{kind} mean'} of these over {parts}, each scored by "
        )
        average += "itself; those that the reference leaves undefined are left out"
        average += "" if kind == "mean" else ", a 0 makes it 0"
    elif name.group is not None:
        average += f"; as if only what belongs to {name.group} were evaluated (groups, scenes, folds)"
    spelled = str(name) if form else f"{name.basis}.{name.reading}.{name.measure}"
    return Explanation(
        spelled,
        measure,
        BASES[name.basis],
        family.summary,
        average,
        letters_of(name.basis, name.reading, measure),
        _asked_by(name, family, measure),
        tuple(difference for difference in DIFFERENCES if difference.concerns(name)),
    )


def _asked_by(name: ScoreName, family: Family, measure: Measure) -> str:
    """Return the options without which a score is not computed."""
    needed = []
    # PSDS is requested separately.
    if measure.table != "psds":
        needed += [f"--only {family.basis}" if family.basis not in DEFAULT_ONLY else ""]
        needed += [f"--measures {family.group}" if family.group else ""]
    means = [f"--set means={mean}" for mean in means_in(str(name))]
    if name.group in PART_MEANS and name.group.startswith("scenes"):
        means.append("--by or `scenes` of the settings")
    needed += means
    needed += ["--thresholds, --cross-tune or --folds" if family.reading == "tuned" else "", measure.needs]
    return " and ".join(filter(None, needed))
