"""Rows from data in memory: data frames of any library that speaks Arrow, and mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits, intake_of
from sedeval_soft.core.order import distinct
from sedeval_soft.formats.assemble import ROUNDING, Columns, Named
from sedeval_soft.formats.columns import Layout, LayoutError, layout_of_header
from sedeval_soft.formats.memory import Table, table_of
from sedeval_soft.formats.unclear import RAVEN, check, look, unclear
from sedeval_soft.tables.event_table import EventTable, Origin

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_NAMES = ("filename", "event_label")


def rows_from_data(data: object, name: str, limits: Limits = LIMITS, *, settled: bool = False) -> EventTable:
    """Return the rows of a data frame or a mapping of columns, long or wide, by the names of its columns.

    A row with a filename and nothing else declares a file without events; one with nothing is left out.
    name: what messages call it. settled: columns that play no role were looked at before. Raises
    InputError, which counts rows from 0, as data frames do.
    """
    if isinstance(data, EventTable):
        return data
    table = table_of(data, name)
    try:
        layout = layout_of_header(table.names, intake_of(limits).columns)
    except LayoutError as error:
        code = error.code if error.code == RAVEN else "invalid"
        raise InputError(Problem(name, str(error), code=code)) from error
    if not settled:
        columns_unclear = unclear(layout)
        look(columns_unclear, [[table.cells(each.position) for each in columns_unclear]])
        check(name, layout, columns_unclear, limits)
    numbers = {
        i: table.numbers(i, words=role == "soft_value")
        for i, role in enumerate(layout.roles)
        if role is not None and role not in _NAMES
    }
    names = {role: _texts(table, layout.position(role)) for role in _NAMES}
    kept, declared = _declared(layout, numbers, names["filename"], names["event_label"])
    if kept is not None:
        numbers = {i: column[kept] for i, column in numbers.items()}
    rows = np.arange(table.length) if kept is None else np.flatnonzero(kept)
    file, label = (
        None if column is None else _named(column, kept, rows, layout.names[layout.roles.index(role)], name)
        for role, column in names.items()
    )
    value = layout.position("soft_value")
    columns = Columns(
        file=file,
        label=label,
        onset=numbers[layout.roles.index("onset")],
        offset=numbers[layout.roles.index("offset")],
        value=None if value is None or layout.wide else numbers[value],
        classes=tuple((layout.names[i], numbers[i]) for i in layout.class_positions()),
        declared=declared,
    )
    shape = "wide" if layout.wide else "long"
    found = columns.rows(Origin(name, None, f"{shape} data frame{layout.said()}", layout.ignored), limits)
    if found is None:
        raise InputError(_first_problem(columns, rows, name, limits))
    return found


@dataclass(frozen=True, slots=True)
class _Texts:
    """A column of names before it is checked: codes into the names, -1 where one is missing or blank."""

    names: tuple[str, ...]
    codes: Codes


def _texts(table: Table, position: int | None) -> _Texts | None:
    if position is None:
        return None
    encoded = table.texts(position)
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)
    found = Named.of((name or "" for name in encoded.dictionary.to_pylist()), codes)
    if "" in found.names:
        codes = np.where(found.codes == found.names.index(""), np.int32(-1), found.codes)
        return _Texts(found.names, codes)
    return _Texts(found.names, np.where(codes < 0, codes, found.codes))


def _declared(
    layout: Layout, numbers: Mapping[int, Floats], file: _Texts | None, label: _Texts | None
) -> tuple[Bools | None, list[str]]:
    """Return which rows are no declarations of files (None for all), and the files that are declared."""
    columns = list(numbers.values())
    blank = np.isnan(columns[0])
    if not blank.any():
        return None, []
    for column in columns[1:]:
        blank &= np.isnan(column)
    if label is not None:
        blank &= label.codes < 0
    if layout.ignored:
        # What stands in a column that is read past may be all that a nameless row holds.
        blank &= False if file is None else file.codes >= 0
    if file is None:
        return ~blank, []
    codes = distinct(file.codes[blank])
    return ~blank, [file.names[code] for code in codes.tolist() if code >= 0]


def _named(texts: _Texts, kept: Bools | None, rows: npt.NDArray[np.intp], column: str, name: str) -> Named:
    codes = texts.codes if kept is None else texts.codes[kept]
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        message = f"row {rows[missing[0]]}: {column} is missing or is empty; expected a name"
        raise InputError(Problem(name, message))
    return Named(texts.names, codes)


def _first_problem(columns: Columns, rows: npt.NDArray[np.intp], name: str, limits: Limits) -> Problem:
    """Return the first thing that is wrong with columns that are not sound."""
    with np.errstate(invalid="ignore"):
        checks: list[tuple[str, npt.NDArray[np.bool_], Floats, str]] = [
            ("onset", columns.onset >= 0, columns.onset, "a number of seconds, 0 or more"),
            ("offset", columns.offset <= limits.duration, columns.offset, "seconds"),
            ("offset", columns.offset >= columns.onset, columns.offset, "one not before its onset"),
        ]
        values = [("soft_value", columns.value)] if columns.value is not None else list(columns.classes)
        checks += [
            (label, (v >= -ROUNDING) & (v <= 1 + ROUNDING), v, "a number in [0, 1]")
            for label, v in values
            if v is not None
        ]
    for label, good, found, expected in checks:
        bad = np.flatnonzero(~good)
        if len(bad):
            said = f"row {rows[bad[0]]}: {label} is {float(found[bad[0]])!r}"
            much = expected == "seconds" and found[bad[0]] > limits.duration
            said += f", which {limits.too_long()}" if much else ""
            return Problem(name, f"{said}; expected {expected}")
    return Problem(name, "a filename or event_label holds a NUL character; expected a name")
