"""Lists whose rows are no events with onset, offset and label: weak labels, few-shot cells, SELD frames.

- Weak labels: `filename` and labels of the whole recording, one in a row or several divided by commas, in a
  column such as `event_labels` or `tags`. There are no times: only clips can be scored. A recording whose
  labels are empty has no events.
- Few-shot: file, start, end and a column for each class, whose cells are POS, NEG or UNK. A POS is an event;
  where there is an UNK nothing is known: it is a row of the class UNK, which is declared to be such time.
- SELD: lines of frame, class, and where it comes from (source or track, azimuth, elevation, distance), no
  header. Frames are of 0.1 s, classes are called by their numbers, and only these two columns are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.annotation_rows import HEAD, origin_of, read_past, rows_of
from sedeval_soft.tables.columns import (
    ColumnNames,
    Layout,
    is_number,
    layout_of_labels,
    looks_like_header,
    option,
)
from sedeval_soft.tables.event_table import COMMAS, INSTANT, UNKNOWN, WEAK, EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import (
    DELIMITERS,
    SOLID,
    Record,
    check_lines,
    line_ends,
    records,
    settled_columns,
    sniff,
    split,
)

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


def _lines(source: Source, layout: Layout) -> Iterator[Record]:
    """Yield the number of each line behind the header, and a field for each column, or what is wrong.

    The others of the name of a recording that stands alone are empty.
    """
    n_fields = len(layout.names)
    for line, fields in records(source, layout.delimiter, layout.skip):
        if isinstance(fields, Problem) or len(fields) == n_fields:
            yield line, fields
        elif len(fields) == 1 and layout.roles[0] == "filename":
            yield line, fields + [""] * (n_fields - 1)
        else:
            wrong = f"has {counted(len(fields), 'field')}; expected {n_fields}"
            yield line, Problem(source.name, wrong, line)


def _with(layout: Layout, added: Mapping[str, str]) -> tuple[list[int], Layout]:
    """Return the positions of columns that are no class, and a layout of them and of others.

    added: the roles of the others by name, which stand behind. Of many columns those without a role are left
    out; of few they stay, so that messages count columns as the table has them.
    """
    kept = [i for i, role in enumerate(layout.roles) if role != "class"]
    kept = kept if len(kept) <= _FEW else [i for i in kept if layout.roles[i] is not None]
    part = layout.of(kept)
    return kept, replace(part, names=(*part.names, *added), roles=(*part.roles, *added.values()))


# Weak labels


def _weak_layout(source: Source, columns: ColumnNames) -> tuple[Layout, bool] | None:
    """Return how a table of weak labels is laid out, and whether labels are lists; None for another table."""
    solid = SOLID.search(source.data)
    first = _head(source, 1)
    if solid is None or not first:
        return None
    line = 1 + line_ends(source.data, solid.start())
    for delimiter in DELIMITERS:
        layout = layout_of_labels(split(first[0], delimiter), columns)
        if layout is not None:
            return replace(layout[0], delimiter=delimiter, skip=line), layout[1]
    return None


def reads_weak(source: Source, columns: ColumnNames = ()) -> bool:
    """Return whether a header names recordings and labels, and no times."""
    return _weak_layout(source, columns) is not None


def read_weak(source: Source, limits: Limits) -> EventTable | None:
    """Read a row for each label of a recording, without times; raises InputError where there is no header."""
    found = _weak_layout(source, limits.columns)
    if found is None:
        wrong = "has no header with a filename and labels, and without times"
        raise InputError(Problem(source.name, f"{wrong}; expected filename and event_labels", 1))
    layout, several = found
    _check(source, limits, source.data[:].count(b"\n") + several * source.data[:].count(b","))
    layout = settled_columns(source, layout, limits)
    kept, timed = _with(layout, {"onset": "onset", "offset": "offset"})
    at, file = timed.roles.index("event_label"), timed.roles.index("filename")
    wanted: list[Record] = []
    files: list[str] = []
    commas = False
    for line, fields in _lines(source, layout):
        if isinstance(fields, Problem):
            wanted.append((line, fields))
            continue
        row = [fields[i] for i in kept]
        labels = [label for label in (row[at].split(",") if several else [row[at]]) if label.strip()]
        files += [row[file].strip()] * (not labels)
        commas = commas or (not several and "," in row[at])
        wanted += [(line, [*row[:at], label, *row[at + 1 :], "0", str(INSTANT)]) for label in labels]
    form, assumed = f"{WEAK}{layout.choices}", [*layout.assumed, *[COMMAS] * commas]
    origin = replace(origin_of(source, form, (), layout.ignored, assumed), timed=False)
    return rows_of(source, limits, timed, wanted, origin, files)


# Few-shot

_MARKS = ("POS", "NEG", UNKNOWN)


def reads_few_shot(source: Source, columns: ColumnNames = ()) -> bool:
    """Return whether the first row of a table with onset and offset has a cell of POS, NEG or UNK."""
    head = _head(source, 2)
    return len(head) > 1 and any(
        looks_like_header(split(head[0], delimiter), columns)
        and {field.strip() for field in split(head[1], delimiter)} & {*_MARKS}
        for delimiter in DELIMITERS
    )


def read_few_shot(source: Source, limits: Limits) -> EventTable | None:
    """Read an event for each cell that is POS, none where it is NEG, and a row of the class UNK for UNK.

    Where a class of the table is called UNK itself, cells of UNK are read past.
    """
    layout = sniff(source, limits)
    if layout is None:
        return None
    if not layout.wide:
        wrong = "has no column of a class; expected columns whose cells are POS, NEG or UNK"
        raise InputError(Problem(source.name, wrong, layout.skip or None))
    _check(source, limits, source.data[:].count(b"POS") + source.data[:].count(b"UNK"))
    classes = [i for i, role in enumerate(layout.roles) if role == "class"]
    kept, long = _with(layout, {"class": "event_label"})
    file = layout.position("filename")
    wanted: list[Record] = []
    files: dict[str, None] = {}
    n_unknown, declares = 0, UNKNOWN not in (layout.names[i] for i in classes)
    for line, fields in _lines(source, layout):
        if isinstance(fields, Problem):
            wanted.append((line, fields))
            continue
        if file is not None and fields[file].strip():
            files[fields[file].strip()] = None
        row = [fields[i] for i in kept]
        if any(fields[i].strip() == UNKNOWN for i in classes):
            n_unknown += 1
            wanted += [(line, [*row, UNKNOWN])] * declares
        if any(fields[i].strip() for i in range(len(fields)) if i != file):
            wanted += _positives(source.name, layout, line, fields, row)
    form = f"few-shot table, {counted(len(classes), 'class')}{layout.choices}"
    notes, assumed = (
        read_past(n_unknown, "row{s} with UNK"),
        [*layout.assumed, *[_NO_EVENT] * (n_unknown > 0)],
    )
    if declares:
        where = f"{counted(n_unknown, 'row')} with UNK: there nothing is known, of any class"
        notes, assumed = [where] * (n_unknown > 0 and len(classes) > 1), [*layout.assumed]
    origin = origin_of(source, form, notes, layout.ignored, assumed)
    origin = replace(origin, unknown=(UNKNOWN,) * declares)
    return rows_of(source, limits, long, wanted, origin, [*files])


def _positives(
    name: str, layout: Layout, line: int, fields: Sequence[str], row: Sequence[str]
) -> Iterator[Record]:
    """Yield a row for each class whose cell is POS, and what is wrong with a cell."""
    for i, title in enumerate(layout.names):
        mark = fields[i].strip() if layout.roles[i] == "class" else "NEG"
        if mark == "POS":
            yield line, [*row, title]
        elif mark not in _MARKS:
            wrong = f"{title} {quoted(fields[i])} is not POS, NEG or UNK"
            mend = f"expected one of these, or {option(('', title))} where that is no class"
            yield line, Problem(name, f"{wrong}; {mend}", line, i + 1)


_NO_EVENT = (
    "there is a class called UNK, so that cells of UNK are taken for no event: a detection there counts as a "
    "false alarm; call the class otherwise, and such times are left out"
)


# SELD

_SELD = ("frame", "class", "source", "azimuth", "elevation", "distance", "more")
_FEWEST = 4
_FRAMES_PER_SECOND = 10
_FRAME = Layout(
    ("frame", "end", "class", "value"), ("onset", "offset", "event_label", "soft_value"), has_header=False
)


def _names_frames(fields: Sequence[str]) -> bool:
    """Return whether a line is the header that some tables of frames have."""
    return [field.strip().lower() for field in fields[:2]] == [*_SELD[:2]] and len(fields) >= _FEWEST


def reads_seld(source: Source, columns: ColumnNames = ()) -> bool:  # noqa: ARG001 - there is no header
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
    _check(source, limits, source.data[:].count(b"\n"))
    wanted: list[Record] = []
    names: tuple[str, ...] = _SELD
    most = 0
    for line, fields in records(source, ","):
        if isinstance(fields, Problem):
            wanted.append((line, fields))
        elif not wanted and _names_frames(fields):
            names = tuple(field.strip() for field in fields)
        elif _FEWEST <= len(fields) <= len(_SELD) and all(map(_WHOLE.fullmatch, fields[:2])):
            most = max(most, len(fields))
            frame, label = (int(float(field)) for field in fields[:2])
            times = [repr(k / _FRAMES_PER_SECOND) for k in (frame, frame + 1)]
            wanted.append((line, [*times, str(label), "1"]))
        else:
            wrong = f"{quoted(','.join(fields))} is not a frame"
            expected = "expected frame, class, source, azimuth and elevation, the former two in whole numbers"
            wanted.append((line, Problem(source.name, f"{wrong}; {expected}", line)))
    # Tables of four columns do not number the sources.
    ignored = names[3:5] if most == _FEWEST and names == _SELD else names[2:most]
    return rows_of(source, limits, _FRAME, wanted, origin_of(source, "SELD frames of 0.1 s", (), ignored))


_WHOLE = re.compile(r"\s*[0-9]{1,9}(\.0*)?\s*", re.ASCII)
