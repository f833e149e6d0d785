"""Lists whose rows are no events with onset, offset and label: weak labels, few-shot cells, SELD frames.

- Weak labels: `filename` and labels of the whole recording, one in a row or several divided by commas, in a
  column such as `event_labels` or `tags`. There are no times: only clips can be scored. A recording whose
  labels are empty has no events.
- Few-shot: file, start, end and a column for each class, whose cells are POS, NEG or UNK. A POS is an event.
- SELD: lines of frame, class, and where it comes from (source or track, azimuth, elevation, distance), no
  header. Frames are of 0.1 s, classes are called by their numbers, and only these two columns are read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.annotation_rows import HEAD, origin_of, read_past, rows_of
from sedeval_soft.tables.columns import (
    COLUMNS,
    ColumnNames,
    Layout,
    is_number,
    layout_of_labels,
    looks_like_header,
)
from sedeval_soft.tables.event_table import WEAK, EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import (
    DELIMITERS,
    SOLID,
    Record,
    line_ends,
    records,
    settled_columns,
    sniff,
    split,
)

_ROWS = 200
"""Lines from which it is told what a file holds."""


def _head(source: Source, most: int = _ROWS) -> list[str]:
    """Return the first lines that hold anything, whole ones as far as that is known."""
    data = source.data[:HEAD]
    pieces = data.splitlines()[: None if len(data) < HEAD else -1]
    solid = (piece for piece in pieces if SOLID.search(piece))
    return [piece.decode("utf-8", "replace") for piece in islice(solid, most)]


# Weak labels

_INSTANT = "0.000001"
"""The offset of a label without times, whose onset is 0: it has an extent, as what is active must."""


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
    layout = settled_columns(source, layout, limits)
    at, file = layout.roles.index("event_label"), layout.roles.index("filename")
    wanted: list[Record] = []
    files: list[str] = []
    for line, fields in records(source, layout.delimiter, layout.skip):
        if isinstance(fields, Problem) or len(fields) != len(layout.names):
            wanted.append((line, fields))
            continue
        labels = fields[at].split(",") if several else [fields[at]]
        labels = [label for label in labels if label.strip()]
        files += [fields[file].strip()] * (not labels)
        wanted += [(line, [*fields[:at], label, *fields[at + 1 :], "0", _INSTANT]) for label in labels]
    timed = replace(
        layout, names=(*layout.names, "onset", "offset"), roles=(*layout.roles, "onset", "offset")
    )
    origin = replace(origin_of(source, WEAK, (), layout.ignored), timed=False)
    return rows_of(source, limits, timed, wanted, origin, files)


# Few-shot

_MARKS = ("POS", "NEG", "UNK")


def reads_few_shot(source: Source, columns: ColumnNames = ()) -> bool:
    """Return whether the first row of a table with onset and offset has a cell of POS, NEG or UNK."""
    head = _head(source, 2)
    return len(head) > 1 and any(
        looks_like_header(split(head[0], delimiter), columns)
        and {field.strip() for field in split(head[1], delimiter)} & {*_MARKS}
        for delimiter in DELIMITERS
    )


def read_few_shot(source: Source, limits: Limits) -> EventTable | None:
    """Read an event for each cell that is POS; what is NEG is none, and what is UNK is read past."""
    layout = sniff(source, limits)
    if layout is None:
        return None
    if not layout.wide:
        wrong = "has no column of a class; expected columns whose cells are POS, NEG or UNK"
        raise InputError(Problem(source.name, wrong, layout.skip or None))
    classes = [i for i, role in enumerate(layout.roles) if role == "class"]
    file = layout.position("filename")
    wanted: list[Record] = []
    files: list[str] = []
    unknown = 0
    for line, fields in records(source, layout.delimiter, layout.skip):
        if isinstance(fields, Problem) or len(fields) != len(layout.names):
            wanted.append((line, fields))
            continue
        files += [] if file is None else [fields[file].strip()]
        for i in classes:
            mark = fields[i].strip()
            unknown += mark == "UNK"
            if mark == "POS":
                wanted.append((line, [*fields, layout.names[i]]))
            elif mark not in _MARKS:
                wrong = f"{layout.names[i]} {quoted(fields[i])} is not POS, NEG or UNK"
                mend = f"expected one of these, or {COLUMNS} ignore={layout.names[i]} where that is no class"
                wanted.append((line, Problem(source.name, f"{wrong}; {mend}", line, i + 1)))
    roles = tuple(None if role == "class" else role for role in layout.roles)
    long = replace(layout, names=(*layout.names, "class"), roles=(*roles, "event_label"))
    form = f"few-shot table, {len(classes)} class{'es' * (len(classes) != 1)}"
    origin = origin_of(source, form, read_past(unknown, "cell{s} of UNK"), layout.ignored)
    if unknown:
        origin = replace(origin, assumed=(_UNKNOWN,))
    return rows_of(source, limits, long, wanted, origin, [name for name in dict.fromkeys(files) if name])


_UNKNOWN = (
    "what is UNK is taken for no event: a detection there counts as a false alarm, which rules that leave "
    "such times out do not count; a table without these rows says the same"
)


# SELD

_SELD = ("frame", "class", "source", "azimuth", "elevation", "distance", "more")
_FRAMES_PER_SECOND = 10
_FRAME = Layout(
    ("frame", "end", "class", "value"), ("onset", "offset", "event_label", "soft_value"), has_header=False
)


def reads_seld(source: Source, columns: ColumnNames = ()) -> bool:  # noqa: ARG001 - there is no header
    """Return whether lines could be frames: whole numbers in order, a class, and where that comes from."""
    rows = [line.split(",") for line in _head(source)]
    if not rows or not 4 <= len(rows[0]) <= len(_SELD) or any(len(row) != len(rows[0]) for row in rows):
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
    wanted: list[Record] = []
    most = 0
    for line, fields in records(source, ","):
        if isinstance(fields, Problem):
            wanted.append((line, fields))
        elif not 4 <= len(fields) <= len(_SELD) or not all(_WHOLE.fullmatch(each) for each in fields[:2]):
            wrong = f"{quoted(','.join(fields))} is no frame"
            expected = "expected frame, class, source, azimuth and elevation, the former two in whole numbers"
            wanted.append((line, Problem(source.name, f"{wrong}; {expected}", line)))
        else:
            most = max(most, len(fields))
            times = [repr(k / _FRAMES_PER_SECOND) for k in (int(float(fields[0])), int(float(fields[0])) + 1)]
            wanted.append((line, [*times, str(int(float(fields[1]))), "1"]))
    ignored = _SELD[3:5] if most == 4 else _SELD[2:most]
    return rows_of(source, limits, _FRAME, wanted, origin_of(source, "SELD frames of 0.1 s", (), ignored))


_WHOLE = re.compile(r"\s*[0-9]{1,9}(\.0*)?\s*", re.ASCII)
