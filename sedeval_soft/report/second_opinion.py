"""Our scores beside another tool's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sedeval_soft.errors import counted, visible
from sedeval_soft.report.table import Table, number
from sedeval_soft.report.text import plain_table

Value = float | int | None


class Changed(Protocol):
    """What one rule of another tool does to a score."""

    @property
    def cause(self) -> str:
        """Return the rule's name."""

    @property
    def before(self) -> Value:
        """Return the score without the rule, None where undefined."""

    @property
    def after(self) -> Value:
        """Return the score with it."""

    @property
    def changes(self) -> bool:
        """Return whether these differ."""


class Compared(Protocol):
    """One score as two tools compute it."""

    @property
    def name(self) -> str:
        """Return the score's name."""

    @property
    def ours(self) -> Value:
        """Return our value, None where undefined."""

    @property
    def theirs(self) -> Value:
        """Return the other tool's value, None where undefined."""

    @property
    def parts(self) -> Sequence[Changed]:
        """Return what each known cause does to the score, in order."""

    @property
    def difference(self) -> float | None:
        """Return ours minus theirs, None where either is undefined."""

    @property
    def agrees(self) -> bool:
        """Return whether both say the same."""

    @property
    def explained(self) -> bool:
        """Return whether the known causes make up all of the difference."""


def comparison_table(
    tool: str, compared: Sequence[Compared], causes: Mapping[str, str], notes: Sequence[str] = ()
) -> str:
    """Return a table of all scores that both have, what differs and why, and lines that count these.

    causes: what is known of each. notes: what else should be said.
    """
    differing = [row for row in compared if not row.agrees]
    head = ("score", "ours", tool, "difference", "", *(("of which",) if differing else ()))
    rows = tuple(
        (
            visible(row.name),
            number(row.ours, 6),
            number(row.theirs, 6),
            "" if row.difference is None else f"{row.difference:+.2e}" if row.difference else "0",
            "" if row.agrees else "differs",
            *((("" if row.agrees else _why(row)),) if differing else ()),
        )
        for row in compared
    )
    alike = len(compared) - len(differing)
    lines = [f"{alike} of {counted(len(compared), 'score')} agree{'s' * (alike == 1)}."]
    if differing:
        explained = sum(row.explained for row in differing)
        told = f"{len(differing)} that differ{'s' * (len(differing) == 1)}"
        lines.append(f"Of {told}, known causes make up all of {explained}, to 1e-9.")
        seen = {of.cause for row in differing for of in row.parts if of.changes}
        lines += [f"{cause}: {text}." for cause, text in causes.items() if cause in seen]
    table = Table(f"Second opinion: {tool}", head, rows)
    return f"\n{plain_table(table)}\n" + "".join(f"{line}\n" for line in (*lines, *notes))


def _why(row: Compared) -> str:
    """Return what each cause adds to the difference, and what is left of it."""
    said = []
    for of in row.parts:
        if not of.changes:
            continue
        if of.before is None or of.after is None:
            said.append(f"{of.cause} ({number(of.before, 6)} to {number(of.after, 6)})")
        else:
            said.append(f"{of.cause} {of.before - of.after:+.2e}")
    if not row.explained:
        said.append(_left(row.parts[-1].after if row.parts else row.ours, row.theirs))
    return "; ".join(said)


def _left(last: Value, theirs: Value) -> str:
    """Return what no cause explains."""
    if last is None or theirs is None:
        return "the rest unexplained"
    return f"unexplained {last - theirs:+.2e}"
