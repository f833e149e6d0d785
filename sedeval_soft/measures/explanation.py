"""All that is known of a score, from its name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.measures.differences import Difference, differences_of
from sedeval_soft.measures.meanings import AVERAGES, BASES, letters_of
from sedeval_soft.measures.measure import Family, Measure
from sedeval_soft.measures.names import OVERALL, ScoreName, ScoreNameError
from sedeval_soft.measures.registry import FAMILIES, family_of


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
    parts = text.split(".")
    whole = len(parts) == 3 and "[" not in text and _family(*parts)
    if whole and OVERALL not in whole[1].averages:
        return _explanation(ScoreName(*parts), *whole)
    if "." not in text:
        named = [f"{f.basis}.{f.reading}.{m.name}" for f in FAMILIES for m in f.measures if m.name == text]
        if named:
            raise ScoreNameError(f"{text!r} is a measure of several scores; expected one of {_some(named)}")
    found = family_of(text)
    return _explanation(ScoreName.parse(text), *found)


def _some(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _family(basis: str, reading: str, measure: str) -> tuple[Family, Measure] | None:
    for family in FAMILIES:
        if (family.basis, family.reading) == (basis, reading):
            for each in family.measures:
                if each.name == measure:
                    return family, each
    return None


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
        letters_of(name.basis, name.reading, measure.name, measure.formula),
        _asked_by(family, measure),
        differences_of(name),
    )


def _asked_by(family: Family, measure: Measure) -> str:
    """Return the options without which a score is not computed."""
    needed = []
    if family.basis not in DEFAULT_ONLY:
        needed.append(f"--only {family.basis}")
    if family.group:
        needed.append(f"--measures {family.group}")
    if measure.name in {"psds", "pipsds"}:
        needed = ["--psds NAME"] if measure.name == "psds" else ["--psds-median-filters"]
    if measure.name.startswith("satisficed_"):
        needed.append("--satisfice")
    if family.reading == "tuned":
        needed.append("--thresholds, --cross-tune or --folds")
    if measure.name == "fbeta":
        needed.append("--beta other than 1")
    return " and ".join(needed)
