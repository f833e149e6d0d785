"""Rows fitted to a format, with the losses in words; tables of text written.

Tables of text are those by DESED, DCASE, sed_eval, MAESTRO and sed_scores_eval, long and wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Array, Codes, range_maximum
from sedeval_soft.errors import InputError, Problem, be, counted, plural, quoted, without_commands
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import LayoutError, are_decimal, layout_of_header
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.forms import Form, form_of
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import BOM, Source
from sedeval_soft.tables.text import may_be_value, sniff
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, to_seconds, to_ticks

_ROWS = 1 << 16  # made text at once
_NAMED = 3  # names that a message shows
_LONGEST = 200  # bytes of a name that leave room for an extension within the limit of file systems (255)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows that a format can express without loss, and the losses from fitting them.

    rows: with the recordings' names as they will be read. stems: the name of each recording's file, without
    extension, if each has its own; None if all share one.
    """

    rows: EventTable
    losses: tuple[str, ...]
    stems: tuple[str, ...] | None = None


def fit(
    rows: EventTable, form: Form, *, apart: bool = False, called: str = "", limits: Limits = LIMITS
) -> Fitted:
    """Make rows fit a format.

    apart: the output is a folder of files, one per recording. called: the name of a recording without one, if
    it needs a name. Raises InputError for rows that cannot be written in this format at all.
    """
    lacks = form.lacks
    if rows.born is not None:
        raise _cannot(rows, "holds operating points, which no form of tables can")
    if not rows.origin.timed:
        raise _cannot(
            rows, "holds labels of whole recordings, without times; expected onset and offset of each"
        )
    losses: list[str] = []
    apart = apart or form.folder
    rows = _in_shape(rows, form, losses, limits)
    if "values" in lacks and not rows.has_steps and rows.value is not None:
        silent = int(np.count_nonzero(rows.value == 0))
        left_out = f", and {counted(silent, 'row')} of value 0 {be(silent)} left out" if silent else ""
        losses.append(f"values of {counted(len(rows), 'row')}: those above 0 become events{left_out}")
        rows = replace(rows.take(rows.value > 0), values=())
    if "fine" in lacks:
        rows = _rounded(rows, losses)
    rows = _without_unused(rows, form, losses, apart=apart)
    if "blanks" in lacks:
        files = _joined(rows, rows.files, "recording", losses)
        rows = replace(rows, files=files, classes=_joined(rows, rows.classes, "class", losses))
    if UNNAMED in rows.files and len(rows.files) > 1:
        raise _cannot(rows, "holds a recording without a name among others; expected a name of each")
    if apart:
        return _apart(rows, form, losses, called)
    if "recordings" in lacks and len(rows.files) > 1:
        one = f"a file of {form.name} holds one: expected a folder, a path that ends in /"
        raise _cannot(rows, f"holds {len(rows.files)} recordings; {one}")
    if "recordings" in lacks and rows.files not in {(), (UNNAMED,)}:
        losses.append(f"the name of the recording, {quoted(rows.files[0])}")
        rows = replace(rows, files=(UNNAMED,) if len(rows) else ())
    return Fitted(rows, tuple(losses))


def recordings(rows: EventTable, *, named: bool = False) -> Iterator[EventTable]:
    """Yield the rows of each recording, with or without its name."""
    ends = np.cumsum(np.bincount(rows.file, minlength=len(rows.files))).tolist()
    rows = rows.take(np.argsort(rows.file, kind="stable"))
    for name, begin, end in zip(rows.files, [0, *ends], ends, strict=False):
        files, file = (name if named else UNNAMED,), np.zeros(end - begin, np.int32)
        yield replace(rows.take(slice(begin, end)), files=files, file=file)


def _in_shape(rows: EventTable, form: Form, losses: list[str], limits: Limits) -> EventTable:
    name, n, gaps = rows.origin.name, len(rows) * len(rows.classes), "gaps" not in form.lacks
    fits = "long" not in form.lacks
    if rows.has_steps:
        fits = "wide" not in form.lacks and (gaps or contiguous(rows))
    if fits:
        return rows
    batches = "Expected batches of files"
    if rows.has_steps:
        check_room(32 * n, f"{name}: to hold it as a long table", batches)
        rows = unfold(rows)
        if "long" not in form.lacks:
            return rows
    needed = 48 * max(len(rows), n)
    limits.check(name, "size", needed, "bytes as a wide table")
    check_room(needed, f"{name}: to hold it as a wide table", batches)
    wide, lost = fold(rows, gaps=gaps)
    losses += lost
    if not wide.classes:
        raise _cannot(rows, f"holds no class; {form.name} has a column for each")
    return wide


def _rounded(rows: EventTable, losses: list[str]) -> EventTable:
    times = (rows.onset, rows.offset)
    onset, offset = (np.rint(each * TICKS_PER_SECOND) / TICKS_PER_SECOND for each in times)
    finer = int(np.count_nonzero((onset != rows.onset) | (offset != rows.offset)))
    if finer:
        losses.append(f"{counted(finer, 'row')} with times finer than a microsecond, which are rounded")
    return replace(rows, onset=onset, offset=offset)


def _without_unused(rows: EventTable, form: Form, losses: list[str], *, apart: bool) -> EventTable:
    lacks = form.lacks
    unused = [] if rows.has_steps or "classes" not in lacks else unused_names(rows.classes, rows.row_label)
    if unused:
        losses.append(f"{counted(len(unused), 'class')} without rows: {_listed(unused)}")
        rows = rows.with_classes(tuple(name for name in rows.classes if name not in {*unused}))
    if apart:
        return rows
    lost = {name for name in unused_names(rows.files, rows.file) if "silent" in lacks or name == UNNAMED}
    if lost:
        if lost != {UNNAMED}:
            names = [name for name in rows.files if name in lost]
            losses.append(f"{counted(len(lost), 'recording')} without rows: {_listed(names)}")
        rows = rows.only_files(np.array([name not in lost for name in rows.files]))
    if not len(rows) and "nothing" in lacks and ("recordings" in lacks or not rows.files):
        losses.append("that there are no rows: a file without a line is no table")
    return rows


def unused_names(names: Sequence[str], codes: Codes) -> list[str]:
    """Return the names, of recordings or classes, that no row has; codes: (n,) of the rows."""
    used = np.bincount(codes, minlength=len(names)) > 0
    return [name for name, is_used in zip(names, used.tolist(), strict=True) if not is_used]


def _joined(rows: EventTable, names: Sequence[str], what: str, losses: list[str]) -> tuple[str, ...]:
    joined = tuple("_".join(name.split()) for name in names)
    changed = [name for name, new in zip(names, joined, strict=True) if name != new]
    if changed:
        losses.append(f"blanks in names of {counted(len(changed), what)}, which become _: {_listed(changed)}")
    if len(set(joined)) < len(joined):
        raise _cannot(rows, f"names {plural(what)} that differ in blanks only: {_listed(changed)}")
    return joined


def _apart(rows: EventTable, form: Form, losses: list[str], called: str) -> Fitted:
    if rows.files == (UNNAMED,) or (not rows.files and called):
        if not called:
            raise _cannot(rows, "holds a recording without a name; a folder has a file for each, by name")
        losses.append(f"that the recording has no name: it is called {quoted(called)}")
        rows = replace(rows, files=(called,))
    if not rows.files:
        raise _cannot(rows, "holds no recording; a folder has a file for each")
    ended = sum(without_extension(name) != name for name in rows.files)
    if ended and form.apart:
        losses.append(f"extensions of audio files in the names of {counted(ended, 'recording')}")
    names = stems(rows.origin.name, rows.files)
    return Fitted(rows if not form.apart else replace(rows, files=names), tuple(losses), names)


def unfold(rows: EventTable) -> EventTable:
    """Return rows as long ones: of a wide table one for each class and time step, values of 0 included."""
    if not rows.has_steps:
        return rows
    n_classes = len(rows.classes)
    values = np.column_stack(rows.values) if n_classes else np.empty((len(rows), 0))
    label = np.tile(np.arange(n_classes, dtype=np.int32), len(rows))
    file = np.repeat(rows.file, n_classes)
    onset, offset = np.repeat([rows.onset, rows.offset], n_classes, axis=1)
    return EventTable(rows.files, rows.classes, file, onset, offset, (values.ravel(),), rows.origin, label)


def fold(rows: EventTable, *, gaps: bool = True) -> tuple[EventTable, list[str]]:
    """Return time steps between all boundaries of a recording, and the losses.

    A class has the largest value of its rows in a step, 0 if it has none. gaps: times without any row have no
    step; else steps begin at 0 and leave none out.
    """
    begins, ends = to_ticks(rows.onset), to_ticks(rows.offset)
    value = np.ones(len(rows)) if rows.value is None else rows.value
    finer = (to_seconds(begins) != rows.onset) | (to_seconds(ends) != rows.offset)
    # Edges of all recordings in one order: by recording, then by time.
    starts = np.zeros(0 if gaps else len(rows.files), dtype=np.int64)
    ticks, code = np.unique(np.concatenate([begins, ends, starts]), return_inverse=True)
    file = np.concatenate([rows.file, rows.file, np.arange(len(starts))]).astype(np.int64)
    edges, edge = np.unique(file * len(ticks) + code, return_inverse=True)
    edge_file, tick = np.divmod(edges, max(1, len(ticks)))
    first, last = edge[: len(rows)], edge[len(rows) : 2 * len(rows)]
    length, place = last - first, rows.row_label.astype(np.int64) * len(edges)
    # Edges of a class are behind those of the class before it; no row covers the last edge of a recording.
    cells = range_maximum(len(rows.classes) * len(edges), place + first, place + last, value)
    counts = np.zeros((len(edges), len(rows.classes)), dtype=np.int32)
    np.add.at(counts, (first, rows.row_label), 1)
    np.subtract.at(counts, (last, rows.row_label), 1)
    np.cumsum(counts, axis=0, out=counts)
    # The last edge of a recording begins no step.
    steps = np.append(edge_file[1:] == edge_file[:-1], False)[: len(edges)]
    if gaps:
        steps &= (counts > 0).any(axis=1)
    at = np.flatnonzero(steps)
    onset, offset = (to_seconds(ticks[tick[step]]) for step in (at, at + 1))
    columns = [column[at] for column in cells.reshape(len(rows.classes), len(edges))]
    codes = edge_file[at].astype(np.int32)
    wide = EventTable(rows.files, rows.classes, codes, onset, offset, tuple(columns), rows.origin)
    lost = (
        (finer, "row", "with times finer than a microsecond, which are rounded"),
        (np.full(len(rows), rows.value is None), "row", "without a value, which become{s} {values} of 1"),
        (length == 0, "row", "without length"),
        (counts > 1, "overlap", "of rows of one class, which take{s} the largest value"),
        (length > 1, "row", "that {are} cut where others begin or end"),
        (counts[at] == 0, "cell", "of classes without row, which become{s} {values} of 0"),
    )
    losses = []
    for n, noun, text in ((int(np.count_nonzero(mask)), noun, text) for mask, noun, text in lost):
        words = text.format(s="s" * (n == 1), are=be(n), values="a value" if n == 1 else "values")
        losses += [f"{counted(n, noun)} {words}"] if n else []
    return wide, losses


def in_steps(rows: EventTable) -> EventTable:
    """Return the values of all classes in time steps that touch, from 0 on in each recording."""
    return rows if rows.has_steps and contiguous(rows) else fold(unfold(rows), gaps=False)[0]


def contiguous(rows: EventTable) -> bool:
    """Return whether the steps of each recording begin at 0, in order, and leave no time out.

    The end of one must be the beginning of the next to the last digit: sed_scores_eval refuses others.
    """
    first = np.append(True, rows.file[1:] != rows.file[:-1])[: len(rows)]
    together = len(np.unique(rows.file[first])) == np.count_nonzero(first)
    touching = first[1:] | (rows.onset[1:] == rows.offset[:-1])
    return bool(
        together and not rows.onset[first].any() and touching.all() and np.all(rows.onset < rows.offset)
    )


def check_text(source: str, names: Iterable[str], form: str, forbidden: str = "\r\n") -> None:
    """Raise InputError for a name that cannot be written as text, or has a forbidden character."""
    for name in names:
        bad = next((character for character in forbidden if character in name), None)
        if bad is not None:
            raise _refused(source, name, f"holds {bad!r}, which {form} cannot hold")
        if name != name.strip():
            raise _refused(source, name, "has blanks around it, which readers take away")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _refused(source, name, "cannot be written as UTF-8") from error


def check_labels(rows: EventTable, form: str) -> None:
    """Raise InputError for names that a reader of a table without header could take for values or times."""
    name = next((name for name in rows.classes if may_be_value(name)), None)
    if name is not None:
        raise _refused(rows.origin.name, name, f"would be read as a value in {form}, which has no header")
    if form == "sed-eval" and are_decimal(rows.files):
        why = f"and those of all other files would be read as times in {form}, which has no header"
        raise _refused(rows.origin.name, rows.files[0], why)


def stems(source: str, files: Iterable[str]) -> tuple[str, ...]:
    """Return the name of each recording's file, without extension: never a path to somewhere else.

    Raises InputError for names that are paths, that systems reserve, or that two recordings would share.
    """
    by_stem: dict[str, str] = {}
    for file in files:
        stem = without_extension(file)
        reasons = (
            (not stem, "is empty"),
            (stem in {".", ".."} or ".." in re.split(r"[/\\]", stem), "leads out of a folder"),
            ("/" in stem or "\\" in stem, "holds a separator of folders"),
            (re.match(r"[A-Za-z]:", stem), "begins with the name of a drive"),
            (_CONTROL.search(stem), "holds a character that names of files must not have"),
            (_RESERVED.fullmatch(stem), "is reserved by some systems"),
            (stem.startswith("."), "begins with a dot, as hidden files do"),
            (stem.endswith((".", " ")), "ends in a dot or a blank"),
            (len(stem.encode("utf-8", "replace")) > _LONGEST, f"is longer than {_LONGEST} bytes"),
        )
        why = next((reason for wrong, reason in reasons if wrong), "")
        if why:
            raise _refused(source, file, f"{why}: it cannot be the name of a file in a folder", "unsafe-name")
        other = by_stem.setdefault(stem, file)
        if other != file:
            raise _refused(source, file, f"and {quoted(other)} would both be written as {quoted(stem)}")
    return tuple(by_stem)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:_NAMED])) + (", ..." if len(names) > _NAMED else "")


def _refused(source: str, name: str, why: str, code: str = "cannot-hold") -> InputError:
    return InputError(Problem(source, f"the name {quoted(name)} {why}", code=code))


def _cannot(rows: EventTable, why: str) -> InputError:
    return InputError(Problem(rows.origin.name, why, code="cannot-hold"))


Column = tuple[str, Sequence[str] | None, Array]
"""A column as it is written: its name, and numbers, (n,), or names and codes into these."""


def written_columns(rows: EventTable, form: str, forbidden: str = "\r\n") -> list[Column]:
    """Return the columns of a table with header, in order.

    Raises InputError for names that the format cannot express, or that a reader would misinterpret.
    """
    check_text(rows.origin.name, (*rows.files, *rows.classes), form, forbidden)
    columns: list[Column] = [("onset", None, rows.onset), ("offset", None, rows.offset)]
    if rows.files not in {(), (UNNAMED,)}:
        columns.insert(0, ("filename", rows.files, rows.file))
    if rows.has_steps:
        columns += zip(rows.classes, [None] * len(rows.classes), rows.values, strict=True)
        _check_header(rows, tuple(name for name, _, _ in columns), form)
        return columns
    columns.append(("event_label", rows.classes, rows.row_label))
    return columns if rows.value is None else [*columns, ("soft_value", None, rows.value)]


def _check_header(rows: EventTable, header: tuple[str, ...], form: str) -> None:
    if not rows.classes:
        raise _cannot(rows, f"holds no class; {form} has a column for each")
    roles: tuple[str | None, ...] = ()
    with suppress(LayoutError):
        roles = layout_of_header(header).roles[-len(rows.classes) :]
    if roles != ("class",) * len(rows.classes):
        taken = (label for label, role in zip(rows.classes, roles, strict=False) if role != "class")
        what = next((f"the class {quoted(label)}" for label in taken), "its classes")
        message = f"cannot be a column of {form}: it would be read as one of another kind; expected --to long"
        raise _cannot(rows, f"{what} {message}")


def silent_files(rows: EventTable) -> list[str]:
    """Return the recordings that have a name and no row."""
    return [name for name in unused_names(rows.files, rows.file) if name != UNNAMED]


def write_text(rows: EventTable, form: str) -> bytes:
    """Return rows as the lines of a table; raises InputError for names that would not be read back so."""
    delimiter, header = form_of(form).delimiter, "header" in form_of(form).kind
    columns = written_columns(rows, form)
    if not header:
        check_labels(rows, form)
    names = tuple(name for name, _, _ in columns)
    head = delimiter.join(_quoted(name, delimiter) for name in names) + "\n" if header else ""
    fields = [
        (among and [_quoted(name, delimiter, first=not k) for name in among], cells)
        for k, (_, among, cells) in enumerate(columns)
    ]
    lines = [_lines(fields, slice(at, at + _ROWS), delimiter) for at in range(0, len(rows), _ROWS)]
    empty = delimiter * (len(names) - 1) + "\n"
    silent = (_quoted(file, delimiter, first=True) + empty for file in silent_files(rows))
    data = "".join((head, *lines, *silent)).encode()
    if data.startswith(BOM):
        raise _cannot(rows, f"its first name begins with a byte order mark, which {form} cannot hold")
    try:
        seen = sniff(Source("", data, str)) if data else None
        layout = seen and (seen.delimiter, seen.names if header else seen.roles)
    except InputError:
        layout = None
    if data and layout != (delimiter, names):
        expected = "expected a form with a header, such as --to long"
        raise _cannot(rows, f"its names would not be told from other columns in {form}; {expected}")
    return data


def _quoted(name: str, delimiter: str, *, first: bool = False) -> str:
    """Return a name as a field, in quotes if it needs them; first: whether a line begins with it."""
    # In quotes the begin of a line is not a command to a program that keeps a log.
    quotes = '"' in name or delimiter in name or (first and without_commands(name) != name)
    return '"' + name.replace('"', '""') + '"' if quotes else name


def _lines(columns: Sequence[tuple[Sequence[str] | None, Array]], part: slice, delimiter: str) -> str:
    """Return some rows as lines; columns: names and codes into these, or None and numbers."""
    fields: list[list[str]] = []
    for names, cells in columns:
        if names is None:
            # Arrow writes the shortest decimals that are read as the same numbers, 1.0 as 1. Its array is
            # made of a buffer: any other way imports pandas if it is installed.
            numbers = np.ascontiguousarray(cells[part], np.float64)
            buffers = [None, pa.py_buffer(numbers)]
            fields.append(
                pa.Array.from_buffers(pa.float64(), len(numbers), buffers).cast("string").to_pylist()
            )
        else:
            fields.append([names[code] for code in cells[part].tolist()])
    return "".join(delimiter.join(row) + "\n" for row in zip(*fields, strict=True))


def write_columnar(rows: EventTable, form: str) -> bytes:
    """Return rows as a table of columns; recordings without rows are rows of nothing but their name."""
    columns, silent = written_columns(rows, form, ""), silent_files(rows)
    arrays: list[Any] = []
    for name, names, cells in columns:
        array = pa.array(cells) if names is None else pa.array(names, pa.string()).take(pa.array(cells))
        more = pa.array(silent if name == "filename" else [None] * len(silent), array.type)
        arrays.append(pa.concat_arrays([array, more]) if silent else array)
    table = pa.table(arrays, names=[name for name, _, _ in columns])
    sink = pa.BufferOutputStream()
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())


def write_jsonl(rows: EventTable) -> bytes:
    """Return an object for each row."""
    columns = written_columns(rows, "jsonl", "")
    names = [name for name, _, _ in columns]
    cells: list[Sequence[object]] = [
        column.tolist() if among is None else [among[code] for code in column.tolist()]
        for _, among, column in columns
    ]
    encode = msgspec.json.Encoder().encode
    lines = [encode(dict(zip(names, row, strict=True))) for row in zip(*cells, strict=True)]
    lines += [encode(dict.fromkeys(names, None) | {"filename": name}) for name in silent_files(rows)]
    return b"".join(line + b"\n" for line in lines)
