"""What is doubtful in a table, or in a system output beside a reference, though it can be scored.

A check has a code, a function that finds rows, and its messages: `evaluate` counts the rows, and `validate`
names the place of each, so that both find the same.
"""

from typing import TYPE_CHECKING

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.checks.alignment import NO_DURATIONS, STRICT, AlignmentReport
    from sedeval_soft.checks.placed_tables import SEVERITIES

__getattr__ = face(__name__)
