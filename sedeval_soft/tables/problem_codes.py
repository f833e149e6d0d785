"""Every kind of problem by its code: how bad it is, what it means, and what to do about it.

Codes are stable: scripts and CI look for them. Readers and checks name a code; its meaning is a line of
`problem_codes.tsv`, in the order of the documentation.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from sedeval_soft.errors import Problem, Severity
from sedeval_soft.tables.columns import data

ANY = 0.0
"""The share of rows that one row is always above."""


class Rule(NamedTuple):
    """What a code stands for: severity, meaning, and what is done about it where a problem says no better.

    misread: of what share of the rows (of `early-end`: of the recordings) it must be so for `evaluate` and
    `board` to take the table for misread, and warn: 0 where one is enough, None where they do not. What may
    be meant so in an ordinary table, and what costs a row but not the meaning of the table, is None.
    """

    severity: Severity
    meaning: str
    mend: str
    misread: float | None


RULES = {
    code: Rule(cast(Severity, severity), meaning, mend, float(misread) if misread else None)
    for code, severity, misread, meaning, mend in data("problem_codes.tsv")
}


def problem(
    code: str, source: str, message: str, line: int | None = None, column: int | None = None, mend: str = ""
) -> Problem:
    """Return a problem of a kind, with the kind's severity, and its mend where there is no better one."""
    rule = RULES[code]
    return Problem(source, message, line, column, code, rule.severity, mend or rule.mend)
