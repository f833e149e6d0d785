"""The grammar of score names, which parses back.

    basis.reading.measure.average      segment.soft.f1.macro
    basis.reading.measure[class]       event.hard.recall[people talking]
    basis.reading.measure              intersection.hard.psds

The last form is that of measures defined over all classes together.

A class name may hold anything, brackets and dots too: it is what stands between the first `[` and
the last `]`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.core.errors import EvaluationError

AVERAGES = ("micro", "macro", "weighted")

OVERALL = "overall"
"""Stands for the average of a measure that is defined over all classes together; names leave it out."""


class ScoreNameError(EvaluationError):
    """A score name that the grammar does not know."""


@dataclass(frozen=True, slots=True)
class ScoreName:
    """The parts of a score's name; exactly one of `average` and `class_name` is set."""

    basis: str
    reading: str
    measure: str
    average: str | None = None
    class_name: str | None = None

    def __str__(self) -> str:
        """Return the name, which `parse` reads back."""
        return spell(self.basis, self.reading, self.measure, self.average, self.class_name)

    @classmethod
    def parse(cls, text: str) -> ScoreName:
        """Read a name; raises ScoreNameError that says which form is expected."""
        head, bracket, tail = text.partition("[")
        parts = head.split(".")
        if bracket and text.endswith("]") and len(parts) == 3 and all(parts):
            return cls(parts[0], parts[1], parts[2], class_name=tail[:-1])
        if not bracket and len(parts) == 4 and all(parts) and parts[3] in AVERAGES:
            return cls(parts[0], parts[1], parts[2], average=parts[3])
        if not bracket and len(parts) == 3 and all(parts):
            return cls(parts[0], parts[1], parts[2], average=OVERALL)
        raise ScoreNameError(
            f"{text!r} is not a score name; expected basis.reading.measure.average (average: "
            f"{', '.join(AVERAGES)}) or basis.reading.measure[class], such as segment.soft.f1.macro"
        )


def spell(
    basis: str, reading: str, measure: str, average: str | None = None, class_name: str | None = None
) -> str:
    """Return the name of a score from its parts, of which it has an average or a class."""
    stem = f"{basis}.{reading}.{measure}"
    if class_name is not None:
        return f"{stem}[{class_name}]"
    return stem if average == OVERALL else f"{stem}.{average}"
