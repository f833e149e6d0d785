"""Every kind of problem by its code: its severity, its meaning, and its fix.

Codes are stable: scripts and CI look for them. Readers and checks name a code; its meaning is a line of
`problem_codes.tsv`, in the order of the documentation.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from sedeval_soft.errors import Problem, Severity
from sedeval_soft.tables.columns import data


class Rule(NamedTuple):
    """The severity and meaning of a code, and its fix if a problem has no better one.

    misread: the share of the rows (of `early-end`: of the recordings) with the problem from which on
    `evaluate` and `board` take the table for misread, and warn. It is 0 if one is enough, None if they never
    do. Problems that may be intended in an ordinary table, or that cost a row but not the meaning of the
    table, have None.
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
    """Return a problem of a kind, with the kind's severity, and the kind's fix by default."""
    rule = RULES[code]
    return Problem(source, message, line, column, code, rule.severity, mend or rule.mend)
