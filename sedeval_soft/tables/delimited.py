"""Tables of text as this package writes them: long with and without header, and wide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sedeval_soft.core.rows import UNNAMED, LongRows, Rows, WideRows
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.columns import Layout, LayoutError, layout_of_header
from sedeval_soft.tables.fit import check_text, shown
from sedeval_soft.tables.form import Form, Holds, Reading, never
from sedeval_soft.tables.source import BOM, Source
from sedeval_soft.tables.text import Sniffed, read_sniffed, sniff
from sedeval_soft.tables.text_lines import DELIMITERS

PLAIN = 5
"""Columns that are none of a class, at the most: file name, times, label, value."""

_ROWS = 1 << 18
"""Rows that are made text at once: what a string array of pyarrow holds is bounded."""


def header_of(rows: Rows) -> tuple[str, ...]:
    """Return the names of the columns of a table with header, in order."""
    named = () if rows.files == (UNNAMED,) or not rows.files else ("filename",)
    if isinstance(rows, WideRows):
        return (*named, "onset", "offset", *rows.classes)
    return (*named, "onset", "offset", "event_label", *(("soft_value",) if rows.value is not None else ()))


def check_header(rows: Rows, form: str) -> None:
    """Raise InputError where classes are called so that a wide table of them would be read otherwise."""
    if not isinstance(rows, WideRows):
        return
    if not rows.classes:
        raise InputError(Problem(rows.origin.name, f"holds no class; {form} has a column for each"))
    header = header_of(rows)
    try:
        layout: Layout | None = layout_of_header(header)
    except LayoutError:
        layout = None
    times = len(header) - len(rows.classes)
    if (
        layout is None
        or layout.class_positions() != list(range(times, len(header)))
        or layout.names != header
    ):
        roles = [] if layout is None else layout.roles[times:]
        bad = next((name for name, role in zip(rows.classes, roles, strict=False) if role != "class"), None)
        what = "its classes" if bad is None else f"the class {shown(bad)}"
        raise InputError(
            Problem(
                rows.origin.name,
                f"{what} cannot be a column of {form}: it would be read as one of another kind; expected "
                "--to long",
                code="cannot-hold",
            )
        )


def columns_of(rows: Rows) -> list[npt.NDArray[np.float64]]:
    """Return the columns of numbers in their order in a table, those of names left out."""
    if isinstance(rows, WideRows):
        return [rows.onset, rows.offset, *rows.values]
    return [rows.onset, rows.offset, *([] if rows.value is None else [rows.value])]


def silent_files(rows: Rows) -> list[str]:
    """Return the recordings that have a name and no row."""
    used = np.bincount(rows.file, minlength=len(rows.files)) > 0
    return [name for name, has in zip(rows.files, used.tolist(), strict=True) if not has and name != UNNAMED]


def write_table(rows: Rows, delimiter: str, *, header: bool, form: str) -> bytes:
    """Return rows as lines of text; raises InputError for names that would not be read back as they are."""
    source = rows.origin.name
    check_text(source, (*rows.files, *rows.classes), form)
    check_header(rows, form)
    names = header_of(rows)
    lines = [delimiter.join(quoted(name, delimiter) for name in names) + "\n"] if header else []
    pieces = [line.encode() for line in lines]
    pieces += [_lines(rows, names, delimiter, begin) for begin in range(0, len(rows), _ROWS)]
    empty = delimiter * (len(names) - 1) + "\n"
    pieces += [(quoted(name, delimiter) + empty).encode() for name in silent_files(rows)]
    data = b"".join(pieces)
    _check_seen(source, data, names, delimiter, header=header, form=form)
    return data


def quoted(name: str, delimiter: str) -> str:
    """Return a name as a field, in quotes where it needs them."""
    if '"' in name or delimiter in name:
        return '"' + name.replace('"', '""') + '"'
    return name


def _lines(rows: Rows, names: Sequence[str], delimiter: str, begin: int) -> bytes:
    """Return up to `_ROWS` rows as lines: columns are joined at once, in the buffer that is written."""
    end = min(begin + _ROWS, len(rows))
    fields: list[Any] = []
    if names[0] == "filename":
        fields.append(_names(rows.files, rows.file[begin:end], delimiter))
    numbers = [pa.array(column[begin:end]).cast(pa.large_string()) for column in columns_of(rows)]
    fields += numbers[:2]
    if isinstance(rows, LongRows):
        fields.append(_names(rows.classes, rows.label[begin:end], delimiter))
    fields += numbers[2:]
    breaks = pa.array(["\n"], pa.large_string()).take(pa.array(np.zeros(end - begin, dtype=np.int32)))
    fields[-1] = pc.binary_join_element_wise(fields[-1], breaks, pa.scalar("", pa.large_string()))
    joined = pc.binary_join_element_wise(*fields, pa.scalar(delimiter, pa.large_string()))
    _, offsets, text = joined.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[joined.offset : joined.offset + len(joined) + 1]
    return bytes(memoryview(text)[int(ends[0]) : int(ends[-1])])


def _names(names: Sequence[str], codes: npt.NDArray[np.int32], delimiter: str) -> Any:  # noqa: ANN401
    texts = pa.array([quoted(name, delimiter) for name in names], pa.large_string())
    return texts.take(pa.array(codes))


def _check_seen(
    source: str, data: bytes, names: Sequence[str], delimiter: str, *, header: bool, form: str
) -> None:
    """Raise InputError where the first lines would be taken for those of another table."""
    if not data:
        return
    if data.startswith(BOM):
        why = f"its first name begins with a byte order mark, which {form} cannot hold"
        raise InputError(Problem(source, why, code="cannot-hold"))
    try:
        seen: Sniffed | None = sniff(Source(source, data, lambda: ""))
    except InputError:
        seen = None
    same = (
        seen is not None
        and seen.delimiter == delimiter
        and seen.layout.has_header == header
        and [*(seen.layout.names if header else seen.layout.roles)] == [*names]
    )
    if not same:
        raise InputError(
            Problem(
                source,
                f"its names would not be told from other columns in {form}; expected a form with a header, "
                "such as --to long",
                code="cannot-hold",
            )
        )


def _write(rows: Rows, *, delimiter: str, header: bool, form: str) -> bytes:
    return write_table(rows, delimiter, header=header, form=form)


def _read(
    source: Source, reading: Reading, *, delimiter: str, header: bool | None, wide: bool | None
) -> Rows | None:
    """Read a table of text that must look as it was said to."""
    sniffed = sniff(source, reading.limits)
    if sniffed is None:
        return None
    layout = sniffed.layout
    other = (
        (delimiter and sniffed.delimiter != delimiter)
        or (header is not None and layout.has_header != header)
        or (wide is not None and layout.wide != wide)
    )
    if other:
        shape = {None: "", True: "wide ", False: "long "}[wide]
        head = {None: "", True: " with header", False: " without header"}[header]
        wanted = f"{shape}table{head}" + (f", {DELIMITERS[delimiter]}" if delimiter else "")
        raise InputError(Problem(source.name, f"is a {sniffed.describe()}; expected a {wanted}", line=1))
    return read_sniffed(source, sniffed, reading.limits)


def _form(
    name: str,
    title: str,
    extensions: tuple[str, ...],
    holds: Holds,
    delimiter: str,
    *,
    header: bool | None = True,
    wide: bool | None = None,
    folder: bool = False,
    read_delimiter: str | None = None,
) -> Form:
    said = delimiter if read_delimiter is None else read_delimiter
    return Form(
        name,
        title,
        extensions,
        holds,
        partial(_read, delimiter=said, header=header if not folder else None, wide=wide),
        never,
        partial(_write, delimiter=delimiter, header=bool(header), form=name),
        folder=folder,
    )


LONG = _form(
    "long", "DESED and DCASE tables: a row per event, with header, tab", (".tsv",), Holds(), "\t", wide=False
)
CSV = _form("csv", "DCASE tables: a row per event, with header, comma", (".csv",), Holds(), ",", wide=False)
WIDE = _form(
    *("wide", "a column per class, with header, tab", (".tsv",), Holds(long=False, wide=True, classes=True)),
    *("\t",),
    wide=True,
)
WIDE_CSV = _form(
    "wide-csv",
    "a column per class, with header, comma",
    (".csv",),
    Holds(long=False, wide=True, classes=True),
    ",",
    wide=True,
)
SED_EVAL = _form(
    "sed-eval",
    "sed_eval lists: filename, onset, offset, label, without header, tab",
    (".ann", ".lab", ".txt"),
    Holds(values=False, nothing=False),
    "\t",
    header=False,
    wide=False,
)
MAESTRO = _form(
    "maestro",
    "MAESTRO: a folder of tables of onset, offset, label, value, without header, tab",
    (".txt",),
    Holds(),
    "\t",
    header=False,
    wide=False,
    folder=True,
    read_delimiter="",
)
SCORE_DIR = _form(
    "score-dir",
    "sed_scores_eval: a folder of wide tables, tab",
    (".tsv",),
    Holds(long=False, wide=True, classes=True, gaps=False),
    "\t",
    wide=True,
    folder=True,
    read_delimiter="",
)
