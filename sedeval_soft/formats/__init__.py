"""Tables in, rows out: one module per form, and one pass that finds what is wrong where.

A table is read by pyarrow in one go. Where that fails, or where the numbers it read cannot be
right, a second, careful pass over the text finds the first bad lines.
"""

from sedeval_soft.formats.durations import read_durations
from sedeval_soft.formats.frames import rows_from_data
from sedeval_soft.formats.read import read_rows

__all__ = ["read_durations", "read_rows", "rows_from_data"]
