"""Our scores beside another tool's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sedeval_soft.core.visible import visible
from sedeval_soft.report.plain import plain_table
from sedeval_soft.report.table import Table, number


class Compared(Protocol):
    """One score as two tools compute it."""

    @property
    def name(self) -> str:
        """Return the score's name."""

    @property
    def ours(self) -> float | int | None:
        """Return our value, None where undefined."""

    @property
    def theirs(self) -> float | int | None:
        """Return the other tool's value, None where undefined."""

    @property
    def difference(self) -> float | None:
        """Return ours minus theirs, None where either is undefined."""

    @property
    def agrees(self) -> bool:
        """Return whether both say the same."""


def comparison_table(tool: str, compared: Sequence[Compared]) -> str:
    """Return a table of all scores that both have, and a line that counts the differences."""
    rows = tuple(
        (
            visible(row.name),
            number(row.ours, 6),
            number(row.theirs, 6),
            "" if row.difference is None else f"{row.difference:+.2e}" if row.difference else "0",
            "" if row.agrees else "differs",
        )
        for row in compared
    )
    title = f"Second opinion: {tool}"
    table = Table(title, ("score", "ours", tool, "difference", ""), rows)
    differing = sum(not row.agrees for row in compared)
    verdict = f"{len(compared) - differing} of {len(compared)} scores agree"
    reason = f"; --compat {tool} follows its arithmetic" if differing else ""
    return f"\n{plain_table(table)}\n{verdict}{reason}.\n"
