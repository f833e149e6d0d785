"""The grammar of score names, which parses back.

    basis.reading.measure.average      segment.soft.f1.macro
    basis.reading.measure[class]       event.hard.recall[people talking]
    basis.reading.measure              intersection.hard.psds

The last form is that of measures defined over all classes together. Scores of a group of classes, or of the
files of a scene, have its name behind an `@`:

    segment.soft.f1.macro@traffic      intersection.hard.psds@traffic      segment.soft.f1[car]@street

A class name may hold anything, brackets, dots and `@` too: it is what stands between the first `[` and
the last `]`. The name of a group or a scene holds neither, so what stands behind the last `]` is told apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sedeval_soft.errors import EvaluationError
from sedeval_soft.settings import is_part_name

AVERAGES = ("micro", "macro", "weighted")

OVERALL = "overall"
"""Stands for the average of a measure that is defined over all classes together; names leave it out."""


class ScoreNameError(EvaluationError):
    """A score name that the grammar does not know."""


@dataclass(frozen=True, slots=True)
class ScoreName:
    """The parts of a score's name; exactly one of `average` and `class_name` is set.

    group: the group of classes, or the scene, that it is a score of; None for the whole.
    """

    basis: str
    reading: str
    measure: str
    average: str | None = None
    class_name: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        """Return the name, which `parse` reads back."""
        return spell(self.basis, self.reading, self.measure, self.average, self.class_name, self.group)

    @classmethod
    def parse(cls, text: str) -> ScoreName:
        """Read a name; raises ScoreNameError that says which form is expected."""
        part = r"([^.@[]+)"
        average = rf"\.({'|'.join(AVERAGES)})|\[(.*)\]"
        match = re.fullmatch(rf"{part}\.{part}\.{part}(?:{average})?(?:@([^]]*))?", text, re.DOTALL)
        if match is None or not (match[6] is None or is_part_name(match[6])):
            raise ScoreNameError(
                f"{text!r} is not a score name; expected basis.reading.measure.average (average: "
                f"{', '.join(AVERAGES)}) or basis.reading.measure[class], such as segment.soft.f1.macro, and "
                "@name behind it for a group of classes or a scene"
            )
        basis, reading, measure, average, label, group = match.groups()
        return cls(basis, reading, measure, average or (OVERALL if label is None else None), label, group)


def spell(
    basis: str,
    reading: str,
    measure: str,
    average: str | None = None,
    class_name: str | None = None,
    group: str | None = None,
) -> str:
    """Return the name of a score from its parts, of which it has an average or a class."""
    stem = f"{basis}.{reading}.{measure}"
    suffix = "" if group is None else f"@{group}"
    if class_name is not None:
        return f"{stem}[{class_name}]{suffix}"
    return f"{stem}{suffix}" if average == OVERALL else f"{stem}.{average}{suffix}"
