"""Tables of text as they are written: DESED, DCASE, sed_eval, MAESTRO, sed_scores_eval; long and wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.columns import Layout, LayoutError, layout_of_header
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import check_text, shown, unused_names
from sedeval_soft.tables.sniff import Sniffed, sniff
from sedeval_soft.tables.source import BOM, Source
from sedeval_soft.tables.text import read_sniffed
from sedeval_soft.tables.text_lines import DELIMITERS


@dataclass(frozen=True, slots=True)
class Dialect:
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
    named = () if rows.files == (UNNAMED,) or not rows.files else ("filename",)
    if rows.is_wide:
        return (*named, "onset", "offset", *rows.classes)
    return (*named, "onset", "offset", "event_label", *(("soft_value",) if rows.value is not None else ()))


def check_header(rows: EventTable, form: str) -> None:
    """Raise InputError where classes are called so that a wide table of them would be read otherwise."""
    if not rows.is_wide:
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


def columns_of(rows: EventTable) -> list[npt.NDArray[np.float64]]:
    """Return the columns of numbers in their order in a table, those of names left out."""
    if rows.is_wide:
        return [rows.onset, rows.offset, *rows.values]
    return [rows.onset, rows.offset, *([] if rows.value is None else [rows.value])]


def silent_files(rows: EventTable) -> list[str]:
    """Return the recordings that have a name and no row."""
    return [name for name in unused_names(rows.files, rows.file) if name != UNNAMED]


def write_table(rows: EventTable, delimiter: str, *, header: bool, form: str) -> bytes:
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


def _lines(rows: EventTable, names: Sequence[str], delimiter: str, begin: int) -> bytes:
    """Return up to `_ROWS` rows as lines: columns are joined at once, in the buffer that is written."""
    end = min(begin + _ROWS, len(rows))
    fields: list[Any] = []
    if names[0] == "filename":
        fields.append(_names(rows.files, rows.file[begin:end], delimiter))
    numbers = [pa.array(column[begin:end]).cast(pa.large_string()) for column in columns_of(rows)]
    fields += numbers[:2]
    if not rows.is_wide:
        fields.append(_names(rows.classes, rows.row_label[begin:end], delimiter))
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


def write(rows: EventTable, form: str) -> bytes:
    """Return rows as the lines of a table of text."""
    dialect = DIALECTS[form]
    return write_table(rows, dialect.delimiter, header=dialect.header, form=form)


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
