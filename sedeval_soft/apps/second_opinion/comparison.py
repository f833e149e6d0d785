"""Our scores beside another tool's: which differ, and which of the known causes make up the difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sedeval_soft.errors import counted, visible
from sedeval_soft.evaluation.scores import finite
from sedeval_soft.measures.base import Averaged
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.report.table import Table, number, plain_table

Value = float | int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score as we and as another tool compute it; None where it is undefined.

    steps: known causes of differences, each with our score once the rule of the other tool, and of those
    before it, is in the place of ours.
    """

    name: str
    ours: Value
    theirs: Value
    steps: tuple[tuple[str, Value], ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether both say the same: equal to rounding, or both undefined."""
        return same(self.ours, self.theirs)

    @property
    def _values(self) -> list[Value]:
        return [self.ours, *(value for _, value in self.steps)]

    @property
    def explained(self) -> bool:
        """Whether the known causes make up all of the difference."""
        return same(self._values[-1], self.theirs)

    @property
    def causes(self) -> dict[str, tuple[Value, Value]]:
        """Return the rules that matter to the score, each with the score before and after it."""
        changes = zip(self.steps, pairwise(self._values), strict=True)
        return {cause: change for (cause, _), change in changes if not same(*change)}

    def why(self) -> str:
        """Return in words what each cause adds to the difference, and what is left of it."""
        reasons = [
            f"{cause} {_minus(before, after) or f'({number(before, 6)} to {number(after, 6)})'}"
            for cause, (before, after) in self.causes.items()
        ]
        if not self.explained:
            rest = _minus(self._values[-1], self.theirs)
            reasons.append(f"unexplained {rest}" if rest else "the rest unexplained")
        return "; ".join(reasons)


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal to rounding, or both undefined."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _minus(one: Value, other: Value) -> str:
    return "" if one is None or other is None else f"{one - other:+.2e}"


def value_at(
    measure: Averaged | None, name: ScoreName, classes: Sequence[str], otherwise: Value = None
) -> Value:
    """Return the value of a measure for the class or the average of a name, None where undefined.

    otherwise: returned where there is no such measure, class value or average.
    """
    values: Any = measure and (measure.classes if name.average is None else getattr(measure, name.average))
    if values is None:
        return otherwise
    return finite(float(values if name.class_name is None else values[classes.index(name.class_name)]))


def comparison_text(
    tool: str,
    compared: Sequence[Comparison],
    causes: Mapping[str, str],
    notes: Iterable[str] = (),
    *,
    explained: bool = True,
) -> str:
    """Return a table of all scores that both have, what differs and why, and lines that count these.

    causes: what is known of each. notes: what else a reader must know. explained: whether causes were sought.
    """
    differing = [row for row in compared if not row.agrees]
    head = ("score", "ours", tool, "difference", "", *(["of which"] if differing and explained else []))
    rows = []
    for row in compared:
        difference = "0" if row.ours == row.theirs is not None else _minus(row.ours, row.theirs)
        verdict = ("", "") if row.agrees else ("differs", row.why())
        cells = visible(row.name), number(row.ours, 6), number(row.theirs, 6), difference, *verdict
        rows.append(cells[: len(head)])
    alike = len(compared) - len(differing)
    lines = [f"{alike} of {counted(len(compared), 'score')} agree{'s' * (alike == 1)}."]
    if differing and explained:
        n_explained = sum(row.explained for row in differing)
        differ = f"{len(differing)} that differ{'s' * (len(differing) == 1)}"
        lines.append(f"Of {differ}, known causes make up all of {n_explained}, to 1e-9.")
        lines += [f"{c}: {text}." for c, text in causes.items() if any(c in row.causes for row in differing)]
    table = Table(f"Second opinion: {tool}", head, tuple(rows))
    return f"\n{plain_table(table)}\n" + "".join(f"{line}\n" for line in (*lines, *notes))
