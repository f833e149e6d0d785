"""Annotations and rows: what readers and writers of annotations have in common.

Readers take files apart into fields; `text.scan` says what is wrong with these, as of tables of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, Problem, counted
from sedeval_soft.tables.columns import Layout, to_number
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.fit import check_text, unfold
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import Record, Scan, decode, scan
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

HEAD = 1 << 16
"""Bytes from which it is told what a file holds."""


def rows_of(
    source: Source,
    limits: Limits,
    layout: Layout,
    records: list[Record],
    origin: Origin,
    declared: Sequence[str] = (),
) -> EventTable | None:
    """Return the rows that records hold; raises InputError with what is wrong with any.

    layout: of their fields; recordings and values may be missing where it has no header. declared:
    recordings, whether they have events or not.
    """
    for role in ("filename", "soft_value"):
        at = layout.position(role)
        if at is None:
            continue
        rows = [fields for _, fields in records if not isinstance(fields, Problem) and len(fields) > at]
        missing = [fields for fields in rows if not fields[at]]
        if len(missing) == len(rows) and not layout.has_header:
            layout = replace(layout, roles=(*layout.roles[:at], None, *layout.roles[at + 1 :]))
        elif missing and role == "soft_value":
            note = f"{counted(len(missing), 'event')} without a value count{'s' * (len(missing) == 1)} 1.0"
            origin = replace(origin, notes=(*origin.notes, note))
            for fields in missing:
                fields[at] = "1"
    if not source.data[:].strip():
        return None
    sound = _sound_rows(layout, records, origin, limits, declared)
    if sound is not None:
        return sound
    scanned = scan(source, layout, MAX_PROBLEMS, limits, records)
    scanned.problems = [replace(each, code="invalid") for each in scanned.problems]
    scanned.check()
    scanned.declared += declared
    return scanned.rows(layout, origin, limits)


def _sound_rows(
    layout: Layout, records: Sequence[Record], origin: Origin, limits: Limits, declared: Sequence[str]
) -> EventTable | None:
    """Return the rows of records of which nothing is wrong, None where they must be looked at one by one."""
    cells = [fields for _, fields in records if not isinstance(fields, Problem)]
    n_fields, positions = len(layout.names), layout.number_positions()
    if len(cells) < len(records) or any(len(fields) != n_fields for fields in cells):
        return None
    numbers = [[to_number(fields[i]) for i in positions] for fields in cells]
    if np.isnan(np.array(numbers, dtype=np.float64)).any():
        return None
    return Scan(cells=cells, numbers=numbers, declared=[*declared]).rows(layout, origin, limits)


def origin_of(source: Source, form: str, notes: Sequence[str] = (), ignored: Sequence[str] = ()) -> Origin:
    """Return where annotations come from; their form, and what was read past, in words."""
    return Origin(source.name, source.sha256, form, tuple(ignored), tuple(notes))


def lines_of(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not blank, with their numbers."""
    for line, text in enumerate(decode(source).split("\n"), 1):
        if text.strip():
            yield line, text.rstrip("\r")


def end_of(onset: str, duration: str) -> str:
    """Return the offset of an event, to the nearest tick; its duration where that is no number, 0 or more."""
    begin, length = to_number(onset), to_number(duration)
    if not (begin >= 0 and length >= 0):
        return duration
    end = begin + length
    return repr((tick(begin) + tick(length)) / TICKS_PER_SECOND if end < 1e9 else end)


def read_past(n: int, what: str) -> list[str]:
    """Return the note of what was read past, `{s}` its plural; none where nothing was."""
    words = what.format(s="s" * (n != 1), are="is" if n == 1 else "are")
    return [f"{n} {words} {'was' if n == 1 else 'were'} read past"] * (n > 0)


def events_of(
    rows: EventTable, form: str, forbidden: str = "\r\n", *, files: bool = True
) -> Iterator[tuple[str, str, int, int, float | None]]:
    """Return file, label, onset and offset in ticks, and value of the events of rows, as a form writes them.

    forbidden: characters that names must not have. files: whether the names of recordings are written.
    Raises InputError for names that the form cannot hold.
    """
    rows = unfold(rows)
    check_text(rows.origin.name, (*(rows.files if files else ()), *rows.classes), form, forbidden)
    values = [None] * len(rows) if rows.value is None else rows.value.tolist()
    times = to_ticks(rows.onset).tolist(), to_ticks(rows.offset).tolist()
    columns = (rows.file.tolist(), rows.row_label.tolist(), *times, values)
    return (
        (rows.files[file], rows.classes[label], onset, offset, value)
        for file, label, onset, offset, value in zip(*columns, strict=True)
    )


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"
