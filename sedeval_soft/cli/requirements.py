"""`--require 'NAME>=NUMBER'` and `--score NAME`: names are checked before anything is computed."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Settings
from sedeval_soft.tables.columns import is_number

if TYPE_CHECKING:
    from sedeval_soft.core.value import Scores
    from sedeval_soft.report.services import Verdict

T = TypeVar("T")

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
# The name is greedy: a class name may hold comparison signs too.
_FORM = re.compile(r"(?P<name>.*[^<>=\s])\s*(?P<sign>>=|<=|==|>|<)\s*(?P<number>[^<>=\s]+)\s*", re.DOTALL)


_ROUNDING = 1e-12
"""Shares by which sums of floats miss the decimal that they stand for."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A score that must compare so with a number.

    A score that differs from the number by rounding alone is equal to it: a mean of 0.7, 0.7 and 0.7 may be
    computed as 0.6999999999999998, and is at least 0.7.
    """

    name: str
    sign: str
    number: float

    def met_by(self, value: float | None) -> bool:
        """Return whether a value meets it; an undefined one does not."""
        if value is None:
            return False
        same = math.isclose(value, self.number, rel_tol=_ROUNDING)
        return _COMPARE[self.sign](self.number if same else value, self.number)

    def __str__(self) -> str:
        """Return the requirement as it could be given again."""
        return f"{self.name}{self.sign}{self.number!r}"


def parse_requirement(text: str) -> Requirement:
    """Read one requirement; raises SettingsError that says which form is expected."""
    match = _FORM.fullmatch(text)
    number = _number(match["number"]) if match else None
    if match is None or number is None:
        raise SettingsError(
            f"--require {text!r} is not a requirement; expected NAME>=NUMBER (or >, <=, <, ==)"
        )
    measure_of(match["name"].strip())
    return Requirement(match["name"].strip(), match["sign"], number)


def _number(text: str) -> float | None:
    number = float(text) if is_number(text) else math.inf
    return number if math.isfinite(number) else None


def parse_requirements(texts: Sequence[str]) -> list[Requirement]:
    """Read all requirements; raises SettingsError with all that are wrong."""
    return all_of(parse_requirement, texts)


def parse_wanted(names: Sequence[str]) -> list[str]:
    """Check all names of `--score`; raises SettingsError with all that no measure has."""

    def check(text: str) -> str:
        name = text.strip()
        measure_of(name)
        return name

    return all_of(check, names)


def check_part(name: ScoreName, settings: Settings) -> None:
    """Raise SettingsError for a score of a group or a scene that the settings, or the group, do not have."""
    part = name.group
    if part is None or part in settings.scenes:
        return
    if part not in settings.groups:
        known = [*settings.groups, *settings.scenes]
        hint = did_you_mean(part, known) or (f"; known: {', '.join(known)}" if known else "")
        place = "" if known else ", and no settings file (--config) has groups or scenes"
        raise SettingsError(f"{name}: no group or scene is named {part!r}{hint}{place}")
    if name.class_name is not None:
        whole = replace(name, group=None)
        raise SettingsError(f"{name}: a group of classes has averages only; of the class there is {whole}")


def all_of(parse: Callable[[str], T], texts: Sequence[str]) -> list[T]:
    """Return what a function makes of each text; raises SettingsError with all that are wrong."""
    parsed, problems = [], []
    for text in texts:
        try:
            parsed.append(parse(text))
        except EvaluationError as error:
            problems.append(str(error))
    if problems:
        raise SettingsError("\n".join(problems))
    return parsed


def judged(scores: Scores, requirements: Sequence[Requirement]) -> list[Verdict]:
    """Return each requirement held against the scores of a system."""
    from sedeval_soft.report.services import Verdict

    return [
        Verdict(scores.system, str(requirement), value, requirement.met_by(value))
        for requirement in requirements
        for value in (scores[requirement.name],)
    ]
