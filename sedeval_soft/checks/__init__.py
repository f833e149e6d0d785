"""Checks of tables: rows and names that can be scored but are probably wrong.

A check has a code, a function that finds rows, and its messages: `evaluate` counts the rows, and `validate`
names each place, so that both find the same rows.
"""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.checks.alignment import NO_DURATIONS, STRICT, AlignmentReport
    from sedeval_soft.checks.placed_tables import SEVERITIES

__getattr__ = face(__name__)
