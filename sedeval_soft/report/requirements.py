"""Names of requested scores, and requirements on scores: `segment.soft.f1.macro>=0.35`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.measures.registry import ScoreName, ScoreNameError, measure_of
from sedeval_soft.tables.columns import is_number

if TYPE_CHECKING:
    from sedeval_soft.evaluation.scores import Scores

T = TypeVar("T")


def all_of(parse: Callable[[str], T], texts: Sequence[str]) -> list[T]:
    """Return the result of a function for each text; raises SettingsError with all wrong texts."""
    parsed, problems = [], []
    for text in texts:
        try:
            parsed.append(parse(text))
        except EvaluationError as error:
            problems.append(str(error))
    if problems:
        raise SettingsError("\n".join(problems))
    return parsed


Likely = Callable[[], Sequence[str]]
"""Returns the names of computed scores that a part of a name may mean."""


def parse_name(text: str, likely: Likely = tuple) -> str:
    """Return a name of `--score`; raises ScoreNameError with similar names if no measure has it."""
    name = text.strip()
    try:
        measure_of(name)
    except ScoreNameError:
        measure_of(name, likely())
    return str(ScoreName.parse(name))


def check_named(systems: Sequence[Scores], wanted: Sequence[str], required: Sequence[str]) -> None:
    """Raise UnknownScoreError for all wanted and required names that a system lacks."""
    from sedeval_soft.evaluation.scores import UnknownScoreError
    from sedeval_soft.report.score_table import expanded

    problems = dict[str, None]()
    for scores in systems:
        for name in (*expanded([scores], wanted), *required):
            try:
                scores.score(name)
            except UnknownScoreError as error:
                problems[f"{scores.system}: {error}" if len(systems) > 1 else str(error)] = None
    if problems:
        raise UnknownScoreError("\n".join(problems))


_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
# The name is greedy: a class name may contain comparison signs.
_FORM = r"(?P<name>.*[^<>=\s])\s*(?P<sign>>=|<=|==|>|<)\s*(?P<number>[^<>=\s]+)\s*"

_ROUNDING = 1e-12
"""Relative error of sums of floats from their decimal."""


def parse_requirement(text: str, likely: Likely = tuple) -> tuple[str, str, float]:
    """Read `NAME>=NUMBER`: a name, a sign and a number; raises SettingsError for other forms."""
    match = re.fullmatch(_FORM, text, re.DOTALL)
    if match is None or not is_number(match["number"]) or not math.isfinite(float(match["number"])):
        expected = "expected 'NAME>=NUMBER' (or >, <=, <, ==) in quotes, as > alone means a file to a shell"
        raise SettingsError(f"--require {text!r} is not a requirement; {expected}")
    return parse_name(match["name"], likely), match["sign"], float(match["number"])


def meets(value: float | None, sign: str, number: float) -> bool:
    """Return whether a value compares so with a number; an undefined one does not.

    A value that differs from the number by rounding alone is equal to it: a mean of 0.7, 0.7 and 0.7 may be
    computed as 0.6999999999999998, and is at least 0.7.
    """
    if value is None:
        return False
    same = math.isclose(value, number, rel_tol=_ROUNDING)
    return bool(_COMPARE[sign](number if same else value, number))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a requirement for a system.

    requirement: as it was given, such as `segment.soft.f1.macro>=0.35`. value: the score.
    """

    system: str
    requirement: str
    value: float | int | None
    met: bool

    @property
    def reason(self) -> str:
        """Return the score in words."""
        return "it is undefined" if self.value is None else f"it is {self.value!r}"


def verdicts(systems: Sequence[Scores], requirements: Sequence[tuple[str, str, float]]) -> list[Verdict]:
    """Return the outcome of each requirement (a name, a sign and a number) for each system."""
    return [
        Verdict(scores.system, f"{name}{sign}{number!r}", scores[name], meets(scores[name], sign, number))
        for scores in systems
        for name, sign, number in requirements
    ]
