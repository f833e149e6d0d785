"""Lists whose rows are not events with onset, offset and label: few-shot cells, SELD frames.

- Few-shot: file, start, end and a column for each class, whose cells are POS, NEG or UNK. A POS is an event;
  an UNK marks unknown time: it is a row of the class UNK, which is declared to be such time.
- SELD: lines of frame, class, and the sound's place (source or track, azimuth, elevation, distance), no
  header. Frames are of 0.1 s, classes are called by their numbers, and only these two columns are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.annotation_document import HEAD, Document
from sedeval_soft.tables.columns import WORD_LISTS, Layout, in_vain, looks_like_header, option
from sedeval_soft.tables.event_table import UNKNOWN, EventTable, Origin
from sedeval_soft.tables.exact import exact_columns, rows_of_columns
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import DELIMITERS, SOLID, check_lines, records, split
from sedeval_soft.tables.row_checks import Findings
from sedeval_soft.tables.rows import Texts
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import sniff

_EVENT = 600
"""Bytes that an event takes while it is read."""


def _check(source: Source, limits: Limits, n_events: int) -> None:
    """Refuse lines that are too long, and events that exceed memory; raises InputError, RoomError."""
    check_lines(source, limits)
    what = f"{source.name}: to read about {n_events} events"
    check_room(_EVENT * n_events, what, "Expected less data, or batches of files")


# Few-shot

_MARKS = WORD_LISTS["marks"]

_NO_EVENT = (
    "there is a class called UNK, so that cells of UNK are taken for no event: a detection there counts as a "
    "false alarm; call the class otherwise, and such times are left out"
)


def reads_few_shot(source: Source, limits: Limits) -> bool:
    """Return whether the first row of a table with onset and offset has a cell of POS, NEG or UNK."""
    pieces = (piece for piece in source.data[:HEAD].splitlines() if SOLID.search(piece))
    head = [piece.decode("utf-8", "replace") for piece in islice(pieces, 2)]
    return len(head) > 1 and any(
        looks_like_header(split(head[0], delimiter), limits.columns)
        and {field.strip() for field in split(head[1], delimiter)} & {*_MARKS}
        for delimiter in DELIMITERS
    )


def read_few_shot(source: Source, limits: Limits) -> EventTable | None:
    """Read an event for each POS cell, none for NEG, and a row of the class UNK for UNK.

    If a class of the table is called UNK itself, cells of UNK are ignored.
    """
    layout = sniff(source, limits)
    if layout is None:
        return None
    classes = [i for i, role in enumerate(layout.roles) if role == "class"]
    if not classes:
        wrong = "has no column of a class; expected columns whose cells are POS, NEG or UNK"
        raise InputError(Problem(source.name, wrong, layout.skip or None))
    _check(source, limits, source.data[:].count(b"POS") + source.data[:].count(b"UNK"))
    found = Findings()
    table = exact_columns(source, layout, found)
    cells = {i: column.stripped() for i, column in table.cells.items() if isinstance(column, Texts)}
    file, unknown = layout.position("filename"), np.zeros(len(table), dtype=bool)
    full = [column.where(bool) for i, column in cells.items() if i != file]
    # A line of the name of a file alone declares it.
    looked_at = np.logical_or.reduce([*full, unknown if file is None else ~cells[file].where(bool)])
    marked = []
    for i in classes:
        for row in np.flatnonzero(looked_at & ~cells[i].where(lambda text: text in _MARKS)).tolist():
            name, cell = layout.names[i], table.cells[i]
            given = quoted(cell.names[cell.codes[row]] if isinstance(cell, Texts) else "")
            mend = f"expected one of these, or {option(('', name))} where that is no class"
            wrong = f"{name} {given} is not POS, NEG or UNK; {mend}"
            found.add(Problem(source.name, wrong, table.lines[row], i + 1), MAX_PROBLEMS)
        unknown |= cells[i].where(lambda text: text == UNKNOWN)
        marked.append(np.flatnonzero(cells[i].where(lambda text: text == "POS")))
    n_unknown, declares_unknown = int(unknown.sum()), UNKNOWN not in layout.names
    marked = [np.flatnonzero(unknown & declares_unknown), *marked]
    rows, kinds = np.concatenate(marked), np.repeat(np.arange(len(marked)), [*map(len, marked)])
    order = np.lexsort((kinds, rows))
    events = table.of_rows(rows[order])
    names = (UNKNOWN, *(layout.names[i] for i in classes))
    label = Texts.of([names[kind] for kind in kinds[order].tolist()])
    roles = (*(None if role == "class" else role for role in layout.roles), "event_label")
    events = replace(
        events,
        layout=replace(layout, names=(*layout.names, "class"), roles=roles),
        cells={i: column for i, column in events.cells.items() if i not in classes} | {len(roles) - 1: label},
        declared=[*(() if file is None else filter(None, cells[file].names)), *table.declared],
    )
    told = f"{counted(n_unknown, 'row')} with UNK" if n_unknown else ""
    note = f"{told} {'was' if n_unknown == 1 else 'were'} ignored"
    if declares_unknown:
        note = f"{told}: there nothing is known, of any class" if len(classes) > 1 else ""
    named = replace(layout, label=limits.label if limits.label in layout.names else "")
    origin = Origin(
        source.name,
        source.sha256,
        f"few-shot table, {counted(len(classes), 'class')}{layout.choices}",
        layout.ignored,
        (note,) * bool(told and note),
        (*layout.assumed, *[_NO_EVENT] * (not declares_unknown and n_unknown > 0)),
        unknown=(UNKNOWN,) * declares_unknown,
        lacking=in_vain(named, limits.columns, limits.label),
    )
    return rows_of_columns(source.name, events, found, origin, limits)


# SELD

_SELD = ("frame", "class", "source", "azimuth", "elevation", "distance", "more")
_FEWEST = 4
_FRAMES_PER_SECOND = 10
_FRAME = Layout(
    ("frame", "end", "class", "value"), ("onset", "offset", "event_label", "soft_value"), has_header=False
)
_WHOLE = re.compile(r"\s*[0-9]{1,9}(\.0*)?\s*", re.ASCII)


def _names_frames(fields: Sequence[str]) -> bool:
    """Return whether a line is the header that some tables of frames have."""
    return [field.strip().lower() for field in fields[:2]] == [*_SELD[:2]] and len(fields) >= _FEWEST


def read_seld(source: Source, limits: Limits) -> EventTable | None:
    """Read the class of each frame, 1.0 while it is active; raises InputError for other lines."""
    document = Document(source, limits, "SELD frames of 0.1 s", _FRAME)
    _check(source, limits, source.data[:].count(b"\n"))
    names: tuple[str, ...] = _SELD
    most = 0
    for line, fields in records(source, ","):
        if isinstance(fields, Problem):
            document.wrong(line, fields.message, fields.column)
        elif not document.records and _names_frames(fields):
            names = tuple(field.strip() for field in fields)
        elif _FEWEST <= len(fields) <= len(_SELD) and all(map(_WHOLE.fullmatch, fields[:2])):
            most = max(most, len(fields))
            frame, label = (int(float(field)) for field in fields[:2])
            times = [repr(k / _FRAMES_PER_SECOND) for k in (frame, frame + 1)]
            document.add(line, [*times, str(label), "1"])
        else:
            expected = "expected frame, class, source, azimuth and elevation, the former two in whole numbers"
            document.wrong(line, f"{quoted(','.join(fields))} is not a frame; {expected}")
    # Tables of four columns do not number the sources.
    ignored = names[3:5] if most == _FEWEST and names == _SELD else names[2:most]
    document.ignored = dict.fromkeys(ignored)
    rows = document.rows()
    return rows and rows.known_as_joined(joined=True)
