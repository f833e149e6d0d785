"""Tables of text as they are written: DESED, DCASE, sed_eval, MAESTRO, sed_scores_eval; long and wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.columns import LayoutError, layout_of_header
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import check_text, shown, unused_names
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import BOM, Source
from sedeval_soft.tables.text import read_sniffed, sniff
from sedeval_soft.tables.text_lines import DELIMITERS


class Dialect(NamedTuple):
    """A table of text as it is written: its delimiter, whether it has a header, and a column per class.

    strict: whether a table that is read must have this delimiter and header.
    """

    delimiter: str
    header: bool = True
    wide: bool = False
    strict: bool = True


DIALECTS = {
    "long": Dialect("\t"),
    "csv": Dialect(","),
    "wide": Dialect("\t", wide=True),
    "wide-csv": Dialect(",", wide=True),
    "sed-eval": Dialect("\t", header=False),
    "maestro": Dialect("\t", header=False, strict=False),
    "score-dir": Dialect("\t", wide=True, strict=False),
}
"""By the names of forms."""

PLAIN = 5
"""Columns that are none of a class, at the most: file name, times, label, value."""

_ROWS = 1 << 18
"""Rows that are made text at once: what a string array of pyarrow holds is bounded."""


def header_of(rows: EventTable) -> tuple[str, ...]:
    """Return the names of the columns of a table with header, in order."""
    times = ("onset", "offset") if rows.files in {(), (UNNAMED,)} else ("filename", "onset", "offset")
    if rows.is_wide:
        return (*times, *rows.classes)
    return (*times, "event_label") if rows.value is None else (*times, "event_label", "soft_value")


def check_header(rows: EventTable, form: str) -> None:
    """Raise InputError where classes are called so that a wide table of them would be read otherwise."""
    if not rows.is_wide:
        return
    name = rows.origin.name
    if not rows.classes:
        raise InputError(Problem(name, f"holds no class; {form} has a column for each"))
    header = header_of(rows)
    expected = ("class",) * len(rows.classes)
    roles: Sequence[str | None] = expected
    try:
        layout = layout_of_header(header)
        roles = layout.roles[-len(rows.classes) :]
        if layout.names == header and roles == expected:
            return
    except LayoutError:
        pass
    bad = next((label for label, role in zip(rows.classes, roles, strict=True) if role != "class"), None)
    what = "its classes" if bad is None else f"the class {shown(bad)}"
    message = (
        f"{what} cannot be a column of {form}: it would be read as one of another kind; expected --to long"
    )
    raise InputError(Problem(name, message, code="cannot-hold"))


def columns_of(rows: EventTable) -> list[npt.NDArray[np.float64]]:
    """Return the columns of numbers in their order in a table, those of names left out."""
    if rows.is_wide:
        return [rows.onset, rows.offset, *rows.values]
    return [rows.onset, rows.offset, *([] if rows.value is None else [rows.value])]


def silent_files(rows: EventTable) -> list[str]:
    """Return the recordings that have a name and no row."""
    return [name for name in unused_names(rows.files, rows.file) if name != UNNAMED]


def write(rows: EventTable, form: str) -> bytes:
    """Return rows as the lines of a table of text."""
    dialect = DIALECTS[form]
    return write_table(rows, dialect.delimiter, header=dialect.header, form=form)


def write_table(rows: EventTable, delimiter: str, *, header: bool, form: str) -> bytes:
    """Return rows as lines of text; raises InputError for names that would not be read back as they are."""
    name = rows.origin.name
    check_text(name, (*rows.files, *rows.classes), form)
    check_header(rows, form)
    names = header_of(rows)
    head = delimiter.join(_quoted(name, delimiter) for name in names) + "\n" if header else ""
    lines = [_lines(rows, delimiter, begin) for begin in range(0, len(rows), _ROWS)]
    empty = delimiter * (len(names) - 1) + "\n"
    silent = "".join(_quoted(file, delimiter) + empty for file in silent_files(rows))
    data = b"".join([head.encode(), *lines, silent.encode()])
    if data.startswith(BOM):
        message = f"its first name begins with a byte order mark, which {form} cannot hold"
        raise InputError(Problem(name, message, code="cannot-hold"))
    if data and not _is_read_so(data, delimiter, names, header=header):
        message = f"its names would not be told from other columns in {form}"
        message += "; expected a form with a header, such as --to long"
        raise InputError(Problem(name, message, code="cannot-hold"))
    return data


def _quoted(name: str, delimiter: str) -> str:
    """Return a name as a field, in quotes where it needs them."""
    if '"' in name or delimiter in name:
        return '"' + name.replace('"', '""') + '"'
    return name


def _lines(rows: EventTable, delimiter: str, begin: int) -> bytes:
    """Return up to `_ROWS` rows as lines: columns are joined at once, in the buffer that is written."""
    part = slice(begin, begin + _ROWS)
    text = pa.large_string()

    def texts(names: Sequence[str], codes: npt.NDArray[np.int32]) -> Any:  # noqa: ANN401 - pyarrow is untyped
        return pa.array([_quoted(name, delimiter) for name in names], text).take(pa.array(codes[part]))

    fields: list[Any] = [pa.array(column[part]).cast(text) for column in columns_of(rows)]
    if not rows.is_wide:
        fields.insert(2, texts(rows.classes, rows.row_label))
    if rows.files != (UNNAMED,):
        fields.insert(0, texts(rows.files, rows.file))
    breaks = pa.array(["\n"], text).take(pa.array(np.zeros(len(fields[0]), dtype=np.int32)))
    fields[-1] = pc.binary_join_element_wise(fields[-1], breaks, pa.scalar("", text))
    joined = pc.binary_join_element_wise(*fields, pa.scalar(delimiter, text))
    _, offsets, characters = joined.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[joined.offset : joined.offset + len(joined) + 1]
    return bytes(memoryview(characters)[int(ends[0]) : int(ends[-1])])


def _is_read_so(data: bytes, delimiter: str, names: Sequence[str], *, header: bool) -> bool:
    """Return whether the first lines of a table will be taken for what they are."""
    try:
        seen = sniff(Source("", data, lambda: ""))
    except InputError:
        return False
    if seen is None or (seen.delimiter, seen.layout.has_header) != (delimiter, header):
        return False
    return (seen.layout.names if header else seen.layout.roles) == tuple(names)


def read(source: Source, limits: Limits, form: str) -> EventTable | None:
    """Read a table of text that must look as it was said to."""
    sniffed = sniff(source, limits)
    if sniffed is None:
        return None
    dialect, layout = DIALECTS[form], sniffed.layout
    other = dialect.strict and (sniffed.delimiter, layout.has_header) != (dialect.delimiter, dialect.header)
    if other or layout.wide != dialect.wide:
        wanted = f"{'wide' if dialect.wide else 'long'} table"
        if dialect.strict:
            wanted += f" {'with' if dialect.header else 'without'} header, {DELIMITERS[dialect.delimiter]}"
        raise InputError(Problem(source.name, f"is a {sniffed.describe()}; expected a {wanted}", line=1))
    return read_sniffed(source, sniffed, limits)
