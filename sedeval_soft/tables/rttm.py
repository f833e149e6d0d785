"""RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between."""

from __future__ import annotations

import numpy as np

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.tables.annotations import Events, number
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import as_long, check_text
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import decode
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

_MISSING = "<NA>"
_TYPES = frozenset({
    "SPEAKER", "SPKR-INFO", "NOSCORE", "NO_RT_METADATA", "SEGMENT", "LEXEME", "NON-LEX", "NON-SPEECH",
    "SU", "IP", "EDIT", "FILLER", "CB", "A/P", "SPKR_INFO",
})  # fmt: skip
_HEAD = 1 << 14


def reads(source: Source) -> bool:
    """Return whether the first line that is no comment is one of RTTM."""
    head = source.data[:_HEAD]
    if not head.startswith((b"S", b"N", b";;", b"L", b"I", b"E", b"F", b"C", b"A")):
        return False
    for line in head.splitlines():
        fields = line.split()
        if fields and not line.startswith(b";;"):
            return fields[0].decode("ascii", "replace") in _TYPES and 9 <= len(fields) <= 10
    return False


def read(source: Source, limits: Limits) -> EventTable | None:
    """Read the SPEAKER lines; others are counted and read past."""
    if not source.data[:].strip():
        return None
    found = Events(source, limits)
    others = 0
    for line, text in enumerate(decode(source).split("\n"), 1):
        fields = text.split()
        if not fields or fields[0].startswith(";;"):
            continue
        if fields[0] != "SPEAKER":
            if fields[0] in _TYPES:
                others += 1
            else:
                found.wrong(line, f"begins with {quoted(fields[0])}; expected SPEAKER", 1)
        elif len(fields) not in {9, 10}:
            found.wrong(
                line,
                f"has {len(fields)} fields; expected 10: SPEAKER file channel onset duration <NA> <NA> name "
                "confidence <NA>",
            )
        else:
            _enter(found, line, fields)
    are, were = ("is", "was") if others == 1 else ("are", "were")
    past = f"{counted(others, 'line')} of RTTM that {are} not SPEAKER {were} read past"
    return found.rows("RTTM", [past] * (others > 0))


def write(rows: EventTable) -> bytes:
    """Return a SPEAKER line for each row; its confidence is the value."""
    rows = as_long(rows)
    if _MISSING in rows.files:
        why = f"a recording called {_MISSING} would be read as one without a name"
        raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    check_text(rows.origin.name, (*rows.files, *rows.classes), "rttm")
    onset, offset = to_ticks(rows.onset), to_ticks(rows.offset)
    values = [_MISSING] * len(rows) if rows.value is None else [repr(v) for v in rows.value.tolist()]
    lines = [
        f"SPEAKER {rows.files[file] or _MISSING} 1 {seconds(begin)} {seconds(length)} <NA> <NA> "
        f"{rows.classes[label]} {value} <NA>\n"
        for file, label, begin, length, value in zip(
            rows.file.tolist(),
            rows.row_label.tolist(),
            onset.tolist(),
            np.subtract(offset, onset).tolist(),
            values,
            strict=True,
        )
    ]
    return "".join(lines).encode()


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


def _enter(found: Events, line: int, fields: list[str]) -> None:
    onset, length = number(fields[3]), number(fields[4])
    for text, value, column in ((fields[3], onset, 4), (fields[4], length, 5)):
        if not 0 <= value < float("inf"):
            what = "onset" if column == 4 else "duration"
            found.wrong(line, f"{what} {quoted(text)}; expected a number of seconds, 0 or more", column)
            return
    confidence = None if fields[8] == _MISSING else number(fields[8])
    if confidence is not None and confidence != confidence:  # noqa: PLR0124 - NaN
        found.wrong(line, f"confidence {quoted(fields[8])}; expected a number in [0, 1], or <NA>", 9)
        return
    file = UNNAMED if fields[1] == _MISSING else fields[1]
    found.add(line, file, fields[7], (onset, end_of(onset, length)), confidence)


def end_of(onset: float, length: float) -> float:
    """Return the offset of an event of which the duration is known, to the nearest tick."""
    exact = onset + length
    return (tick(onset) + tick(length)) / TICKS_PER_SECOND if exact < 1e9 else exact
