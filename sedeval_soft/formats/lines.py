"""Lines of a table before anything is made of them: how many there are, how long, and of how many columns."""

from __future__ import annotations

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.formats.source import Source
from sedeval_soft.formats.taken import Bytes

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon"}
BLANK = " \r\n" + "".join(DELIMITERS)
"""Of what a line consists that holds nothing."""

_PIECE = 1 << 20
_COUNTED = 1 << 25
"""Bytes of a table from which on it is estimated how much memory its rows will take."""

_CELL = 16
"""Bytes that a cell takes at the most: as it is parsed, and as a number of ours."""

_BESIDE_ROWS = 100
"""Lines that a table may have beside those of rows before they are counted one by one."""

_BESIDE_CLASSES = 100
"""Columns that a table may have beside those of classes."""

MOST_COLUMNS = LIMITS.classes + _BESIDE_CLASSES


def check_lines(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table with a line that is too long, or a first one of too many fields; raises InputError.

    Only where lines may end is looked for, from behind, once in as many bytes as a line may have.
    """
    data, most = source.data, limits.line_length
    _check_columns(source, limits)
    begin = 0
    while len(data) - begin > most:
        # To look for what few tables have is to look at all of it.
        end = data.rfind(b"\n", begin, begin + most + 1)
        end = data.rfind(b"\r", begin, begin + most + 1) if end < 0 else end
        if end < 0:
            line = 1 + sum(data[at : min(at + _PIECE, begin)].count(b"\n") for at in range(0, begin, _PIECE))
            raise limits.refusal(
                source.name, "line_length", f"has a line of more than {most} bytes", line=line
            )
        begin = end + 1


def check_rows(source: Source, n_columns: int, limits: Limits = LIMITS) -> None:
    """Refuse a table of more rows than there may be, or than memory can hold; raises InputError, RoomError.

    Lines are counted only where the size of the table allows for so many, of two bytes at the least.
    """
    if len(source.data) > _COUNTED:
        _check_memory(source, n_columns)
    check_row_count(source, limits)


def check_row_count(source: Source, limits: Limits = LIMITS) -> None:
    """Refuse a table of more rows than there may be; raises InputError."""
    data = source.data
    if len(data) // 2 > limits.rows:
        lines = sum(data[at : at + _PIECE].count(b"\n") for at in range(0, len(data), _PIECE))
        # A header is no row, and there may be a few blank lines.
        limits.check(source.name, "rows", lines - _BESIDE_ROWS, "lines or more")


def _check_memory(source: Source, n_columns: int) -> None:
    from sedeval_soft.core.room import check_room

    data = source.data
    # Of the lines at the begin, in the middle and at the end.
    samples = [data[at : at + _PIECE] for at in (0, len(data) // 2, len(data) - _PIECE)]
    lines = sum(sample.count(b"\n") or sample.count(b"\r") for sample in samples)
    rows = len(data) * max(lines, 1) / (len(samples) * _PIECE)
    check_room(
        rows * max(n_columns, 3) * _CELL,
        f"{source.name}: to read about {rows:.2g} rows of {n_columns} columns",
        "Expected less data, or batches of files one after another (an Evaluator, or soft-sed-eval merge)",
    )


def is_blank(data: Bytes) -> bool:
    """Return whether there is nothing in a table but blanks, delimiters and ends of lines."""
    blank = BLANK.encode()
    return not any(data[at : at + _PIECE].strip(blank) for at in range(0, len(data), _PIECE))


def _check_columns(source: Source, limits: Limits) -> None:
    data = source.data
    end = data.find(b"\n", 0, limits.line_length + 1)
    first = data[: end if end >= 0 else limits.line_length]
    if len(first) <= limits.classes:
        return
    columns = 1 + max(first.count(delimiter.encode()) for delimiter in DELIMITERS)
    if columns > limits.classes + _BESIDE_CLASSES and first.find(b"\r", 0, len(first) - 1) < 0:
        # The rest of a line that is cut off here may have more.
        known = columns if end >= 0 else None
        found = f"has {'' if known else 'more than '}{columns} columns"
        raise limits.refusal(source.name, "classes", found, known, line=1)
