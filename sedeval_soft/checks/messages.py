"""What is said of each check: where `validate` names a row, and where `evaluate` counts them."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """The sentences of one code.

    role: of the column that is wrong. placed: of one row, with its times and the facts of the check. counted:
    of `n` of a `total` of rows or recordings (`noun`), where `evaluate` counts them; mend: what to do then.
    """

    role: str
    placed: str
    counted: str = ""
    mend: str = ""
    noun: str = "row"


MESSAGES = {
    "zero-length": Message(
        "offset", "begins and ends at {onset:.6g} s",
        "onset and offset are equal in {n:,} {total}",
        "write when each event ends",
    ),
    "duplicate-row": Message(
        "onset", "repeats line {line}",
        "file, class and times repeat those of another row in {n:,} {total}",
        "are several outputs, views or annotators in one table? Keep one of each",
    ),
    "overlapping-rows": Message(
        "onset", "overlaps line {line} of the same {group}: {onset:.6g} to {offset:.6g} s",
        "another event of the same file and class is still going on at the onset of {n:,} {total}",
        "are several recordings or outputs in one? Name the file of each row",
    ),
    "touching-rows": Message("onset", "begins where line {line} ends{likewise}"),
    "gap": Message(
        "onset", "there are no rows from {end:.6g} to {onset:.6g} s",
        "there is a gap in the wide table before {n:,} {total}",
        "write a row for all times",
    ),
    "late-start": Message("onset", "the first row of the recording begins at {onset:.6g} s"),
    "early-end": Message(
        "offset", "its last row ends at {offset:.6g} s, the recording at {length:.6g} s",
        "a wide table ends before {n:,} {total} do",
        "are the time steps as long as the table says? Write rows up to the end", "recording",
    ),
    "after-end": Message("offset", "ends at {offset:.6g} s, {after} {length:.6g} s long{likewise}"),
    "long-recording": Message(
        "offset", "ends at {offset:.6g} s: the recording would be {days:.3g} days long",
    ),
    "outlasting-row": Message(
        "offset", "ends at {offset:.6g} s, {times:,.3g} times as late as any other row"
    ),
    "time-unit": Message("offset", "ends at {offset:.6g} s; {unit}"),
    "swapped-columns": Message("filename", "{why}"),
}  # fmt: skip
"""By code."""

SHIFTED = Message(
    "onset", "",
    "{n:,} {total} share half or more of their time with another event of the same file and class",
    "are several outputs or annotators in one table, some of them shifted? Keep one of each",
)  # fmt: skip
"""Of overlapping rows that may be copies: said in place of what is said of other ones."""
