"""Our scores beside another tool's: which differ, and which of the known causes make up the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sedeval_soft.errors import counted, visible
from sedeval_soft.measures.base import Averaged
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.report.table import Table, number
from sedeval_soft.report.text import plain_table

Value = float | int | None


@dataclass(frozen=True, slots=True)
class Part:
    """What one rule of another tool does to a score; before and after are values, None where undefined."""

    cause: str
    before: Value
    after: Value

    @property
    def changes(self) -> bool:
        """Whether the rule matters to the score."""
        return not same(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score as we and as another tool compute it; None where it is undefined.

    parts: what each known cause of a difference does to it.
    """

    name: str
    ours: Value
    theirs: Value
    parts: tuple[Part, ...] = ()

    @property
    def difference(self) -> float | None:
        """Return ours minus theirs, None where either is undefined."""
        return None if self.ours is None or self.theirs is None else self.ours - self.theirs

    @property
    def agrees(self) -> bool:
        """Whether both say the same: equal to rounding, or both undefined."""
        return same(self.ours, self.theirs)

    @property
    def rest(self) -> tuple[Value, Value]:
        """What our score is with all known causes, and theirs."""
        return (self.parts[-1].after if self.parts else self.ours), self.theirs

    @property
    def explained(self) -> bool:
        """Whether the known causes make up all of the difference."""
        return same(*self.rest)


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal to rounding, or both undefined."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def value_at(
    measure: Averaged | None, name: ScoreName, classes: Sequence[str], otherwise: Value = None
) -> Value:
    """Return the value of a measure for the class or the average of a name, None where undefined.

    otherwise: returned where there is no such measure, class value or average.
    """
    values: Any = measure and (measure.classes if name.average is None else getattr(measure, name.average))
    if values is None:
        return otherwise
    value = float(values if name.class_name is None else values[classes.index(name.class_name)])
    return value if math.isfinite(value) else None


def comparison_text(
    tool: str, compared: Sequence[Comparison], causes: Mapping[str, str], notes: Sequence[str] = ()
) -> str:
    """Return a table of all scores that both have, what differs and why, and lines that count these.

    causes: what is known of each. notes: what else a reader must know.
    """
    differing = [row for row in compared if not row.agrees]
    head = ("score", "ours", tool, "difference", "", *(["of which"] if differing else []))
    rows = [
        (
            *(visible(row.name), number(row.ours, 6), number(row.theirs, 6)),
            "" if row.difference is None else f"{row.difference:+.2e}" if row.difference else "0",
            "" if row.agrees else "differs",
            *(["" if row.agrees else _why(row)] if differing else []),
        )
        for row in compared
    ]
    alike = len(compared) - len(differing)
    lines = [f"{alike} of {counted(len(compared), 'score')} agree{'s' * (alike == 1)}."]
    if differing:
        explained = sum(row.explained for row in differing)
        differ = f"{len(differing)} that differ{'s' * (len(differing) == 1)}"
        lines.append(f"Of {differ}, known causes make up all of {explained}, to 1e-9.")
        seen = {part.cause for row in differing for part in row.parts if part.changes}
        lines += [f"{cause}: {text}." for cause, text in causes.items() if cause in seen]
    table = Table(f"Second opinion: {tool}", head, tuple(rows))
    return f"\n{plain_table(table)}\n" + "".join(f"{line}\n" for line in (*lines, *notes))


def _why(row: Comparison) -> str:
    """Return what each cause adds to the difference, and what is left of it."""
    reasons = []
    for part in row.parts:
        if part.changes:
            difference = _minus(part.before, part.after)
            undefined = f"({number(part.before, 6)} to {number(part.after, 6)})"
            reasons.append(f"{part.cause} {difference or undefined}")
    if not row.explained:
        rest = _minus(*row.rest)
        reasons.append(f"unexplained {rest}" if rest else "the rest unexplained")
    return "; ".join(reasons)


def _minus(one: Value, other: Value) -> str:
    return "" if one is None or other is None else f"{one - other:+.2e}"
