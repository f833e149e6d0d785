"""Lists whose rows are no events with onset, offset and label: few-shot cells, SELD frames.

- Few-shot: file, start, end and a column for each class, whose cells are POS, NEG or UNK. A POS is an event;
  where there is an UNK nothing is known: it is a row of the class UNK, which is declared to be such time.
- SELD: lines of frame, class, and where it comes from (source or track, azimuth, elevation, distance), no
  header. Frames are of 0.1 s, classes are called by their numbers, and only these two columns are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from sedeval_soft.errors import Problem, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.annotation_document import HEAD, Document
from sedeval_soft.tables.columns import WORD_LISTS, Layout, in_vain, is_number, looks_like_header, option
from sedeval_soft.tables.event_table import UNKNOWN, EventTable
from sedeval_soft.tables.exact import declares, misdivided
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import DELIMITERS, SOLID, check_lines, records, split
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import sniff

_ROWS = 200
"""Lines from which it is told what a file holds."""

_FEW = 20  # columns

_EVENT = 600
"""Bytes that an event takes while it is read."""


def _head(source: Source, most: int = _ROWS) -> list[str]:
    """Return the first lines that hold anything, whole ones as far as that is known."""
    data = source.data[:HEAD]
    pieces = data.splitlines()[: None if len(data) < HEAD else -1]
    solid = (piece for piece in pieces if SOLID.search(piece))
    return [piece.decode("utf-8", "replace") for piece in islice(solid, most)]


def _check(source: Source, limits: Limits, n_events: int) -> None:
    """Refuse lines that are too long, and more events than memory can hold; raises InputError, RoomError."""
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
    head = _head(source, 2)
    return len(head) > 1 and any(
        looks_like_header(split(head[0], delimiter), limits.columns)
        and {field.strip() for field in split(head[1], delimiter)} & {*_MARKS}
        for delimiter in DELIMITERS
    )


def read_few_shot(source: Source, limits: Limits) -> EventTable | None:
    """Read an event for each cell that is POS, none where it is NEG, and a row of the class UNK for UNK.

    Where a class of the table is called UNK itself, cells of UNK are ignored.
    """
    layout = sniff(source, limits)
    if layout is None:
        return None
    classes = [i for i, role in enumerate(layout.roles) if role == "class"]
    # Of many others those without a role are left out; of few they stay, so that messages count columns.
    others = [i for i, role in enumerate(layout.roles) if role != "class"]
    others = others if len(others) <= _FEW else [i for i in others if layout.roles[i] is not None]
    part = layout.of(others)
    long = replace(part, names=(*part.names, "class"), roles=(*part.roles, "event_label"))
    form = f"few-shot table, {counted(len(classes), 'class')}{layout.choices}"
    document = Document(source, limits, form, long, ignored=dict.fromkeys(layout.ignored))
    if not classes:
        wrong = "has no column of a class; expected columns whose cells are POS, NEG or UNK"
        raise document.error(wrong, layout.skip or None)
    _check(source, limits, source.data[:].count(b"POS") + source.data[:].count(b"UNK"))
    file, n_unknown, declares_unknown = layout.position("filename"), 0, UNKNOWN not in layout.names
    for line, fields in records(source, layout.delimiter, layout.skip):
        if isinstance(fields, Problem):
            document.wrong(line, fields.message, fields.column)
            continue
        if declared := declares(layout, fields):
            document.recordings[declared] = None
            continue
        if len(fields) != len(layout.names):
            document.wrong(line, _other_length(layout, fields))
            continue
        if file is not None and fields[file].strip():
            document.recordings[fields[file].strip()] = None
        row = [fields[i] for i in others]
        is_unknown = UNKNOWN in (fields[i].strip() for i in classes)
        n_unknown += is_unknown
        document.records += [(line, [*row, UNKNOWN], "")] * (is_unknown and declares_unknown)
        for i in classes:
            _add_cell(document, line, [*row, layout.names[i]], fields[i], i + 1)
    document.assumed += layout.assumed
    if declares_unknown:
        where = f"{counted(n_unknown, 'row')} with UNK: there nothing is known, of any class"
        document.notes += [where] * (n_unknown > 0 and len(classes) > 1)
    else:
        document.n_ignored["row{s} with UNK"] = n_unknown
        document.assumed += [_NO_EVENT] * (n_unknown > 0)
    rows = document.rows()
    named = replace(layout, label=limits.label if limits.label in layout.names else "")
    lacking = in_vain(named, limits.columns, limits.label)
    return rows and replace(
        rows, origin=replace(rows.origin, unknown=(UNKNOWN,) * declares_unknown, lacking=lacking)
    )


def _other_length(layout: Layout, fields: Sequence[str]) -> str:
    """Return what is wrong with a line that has not as many fields as the header."""
    other = misdivided(layout.delimiter.join(fields), layout)
    if other:
        return f"is divided by {DELIMITERS[other]}; expected {DELIMITERS[layout.delimiter]}"
    return f"has {counted(len(fields), 'field')}; expected {len(layout.names)}"


def _add_cell(document: Document, line: int, event: list[str], cell: str, column: int) -> None:
    """Add an event where the cell of its class is POS; enter what is wrong with one that is no mark."""
    if cell.strip() == "POS":
        document.add(line, event)
    elif cell.strip() not in _MARKS:
        mend = f"expected one of these, or {option(('', event[-1]))} where that is no class"
        document.wrong(line, f"{event[-1]} {quoted(cell)} is not POS, NEG or UNK; {mend}", column)


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


def reads_seld(source: Source, limits: Limits) -> bool:  # noqa: ARG001 - there is no header
    """Return whether lines could be frames: whole numbers in order, a class, and where that comes from."""
    rows = [line.split(",") for line in _head(source)]
    if rows and _names_frames(rows[0]):
        return True
    if not rows or not _FEWEST <= len(rows[0]) <= len(_SELD) or any(len(row) != len(rows[0]) for row in rows):
        return False
    if not all(is_number(field) for row in rows for field in row):
        return False
    if not all(_WHOLE.fullmatch(field) for row in rows for field in row[: 2 + (len(row) > 4)]):
        return False
    numbers = [[float(field) for field in row] for row in rows]
    frames = [row[0] for row in numbers]
    at = 2 + (len(rows[0]) > 4)
    in_sphere = all(abs(row[at]) <= 180 and abs(row[at + 1]) <= 90 for row in numbers)
    # Were all second numbers above the first ones, they could be onsets and offsets.
    return in_sphere and frames == sorted(frames) and not all(row[1] > row[0] for row in numbers)


def read_seld(source: Source, limits: Limits) -> EventTable | None:
    """Read the class of each frame, 1.0 where it is active; raises InputError for what is no frame."""
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
