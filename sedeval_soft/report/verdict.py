"""Whether scores are as they are required to be, and which scores are told where nobody asks for some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sedeval_soft.core.value import Score, Scores
from sedeval_soft.report.layout import AVERAGED
from sedeval_soft.report.table import number


@dataclass(frozen=True, slots=True)
class Verdict:
    """A requirement held against a system.

    requirement: as it was given, such as `segment.soft.f1.macro>=0.35`. value: what the score is.
    """

    system: str
    requirement: str
    value: float | int | None
    met: bool

    @property
    def found(self) -> str:
        """Return what the score is, in words."""
        return "it is undefined" if self.value is None else f"it is {self.value!r}"


def told(scores: Scores, wanted: Sequence[str]) -> list[Score]:
    """Return the scores that were asked for; the main averages where none were."""
    if wanted:
        return [scores.score(name) for name in dict.fromkeys(wanted)]
    averages = [s for s in scores.scores.values() if s.average is not None and s.group is None]
    return [s for s in averages if AVERAGED[0].shows(s.measure, s.average)] or averages


def with_ends(score: Score) -> str:
    """Return a value as tables have it, with its interval where it has one."""
    if score.low is None or score.high is None:
        return number(score.value)
    return f"{number(score.value)} [{number(float(score.low))}, {number(float(score.high))}]"
