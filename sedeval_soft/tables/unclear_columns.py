"""Columns that play no role, but may be those that name the recordings or have the values.

A table whose column of file names goes by a name that nobody knows would be read as one recording, one whose
values do as a table without any: both give numbers that look sound. So what such columns hold is looked at
from the begin of a table until each is settled, which the first rows do nearly always, and where it could be
either, the user is asked. Which names are beyond doubt is in `word_lists.tsv`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.arrow_columns import TEXT, words_as_numbers
from sedeval_soft.tables.columns import (
    COLUMNS,
    UNCLEAR_FILE,
    UNCLEAR_VALUE,
    WORD_LISTS,
    Layout,
    normal,
    option,
    role_of,
    with_label,
)
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import ROUNDING

Batches = Iterable[Sequence[Any]]
"""Cells of some columns, a few rows at a time: an array of Arrow for each column."""

Cells = Callable[[Sequence[int]], Batches]

_RECORDINGS, _OF_RECORDINGS = ("|".join(WORD_LISTS[key]) for key in ("recordings", "of-recordings"))

_MESSAGES = {
    UNCLEAR_FILE: "no column is known to name the recordings, but column {names} has several texts "
    "({cells}): all rows would be of one recording; expected {first} if it names them, or {ignore} if not",
    UNCLEAR_VALUE: "there is no column of values, but column {names} has numbers in [0, 1] ({cells}), which "
    "would be ignored; expected {first} if it has the values, or {ignore} if not",
}

_ROLES = {UNCLEAR_FILE: "filename", UNCLEAR_VALUE: "value"}

_SHOWN = 3


@dataclass(slots=True)
class _Column:
    """A column, and what its cells have been so far.

    may_name, may_value: whether by its name it may name the recordings, or have the values. likely: its name
    is one of a column that names recordings. texts: the first cells that differ. textual: one is no number.
    low, high: the least and the largest number, if there are any.
    """

    name: str
    position: int
    may_name: bool
    may_value: bool
    likely: bool
    texts: list[str] = field(default_factory=list)
    textual: bool = False
    low: float = math.inf
    high: float = -math.inf

    @property
    def open(self) -> bool:
        """Whether more cells could tell that it must be asked about.

        A column of numbers does not name recordings, unless its name says so: the first cells tell that.
        """
        if self.textual or self.likely:
            names = self.may_name and len(self.texts) <= _SHOWN
        else:
            names = self.may_name and not self.texts
        return names or self._may_be_values()

    def _may_be_values(self) -> bool:
        within = self.low >= -ROUNDING and self.high <= 1 + ROUNDING
        return self.may_value and within and not self.textual

    def add(self, cells: Any) -> None:  # noqa: ANN401
        """Look at more cells: an array of texts, of numbers, or of truth values; null is blank."""
        try:
            if not pa.types.is_primitive(cells.type):
                cells = pc.unique(pc.utf8_trim_whitespace(cells.drop_null().cast(TEXT)))
                cells = cells.filter(pc.not_equal(cells, ""))
                cells = words_as_numbers(cells)
            numbers = cells.cast(pa.float64()).drop_null().to_numpy(zero_copy_only=False)
            numbers = numbers[~np.isnan(numbers)]
            texts = [f"{number:.15g}" for number in (*numbers[:1], *numbers[numbers != numbers[:1]][:1])]
            self.low = min(self.low, numbers.min(initial=math.inf))
            self.high = max(self.high, numbers.max(initial=-math.inf))
        except pa.ArrowInvalid:
            self.textual = True
            texts = cells[: len(self.texts) + _SHOWN + 1].to_pylist()
        self.texts = list(dict.fromkeys([*self.texts, *texts]))[: _SHOWN + 1]

    def names_recordings(self, *, by_table: bool) -> bool:
        """Return whether it may name the recordings; by_table: these are named after the table otherwise."""
        flags = {text.casefold() for text in self.texts} <= {*WORD_LISTS["flags"]}
        if not self.may_name or len(self.texts) < 2 or flags:
            return False
        audio = all(without_extension(text) != text for text in self.texts)
        return self.textual and (self.likely or audio) if by_table else self.textual or self.likely

    def has_values(self) -> bool:
        """Return whether it may have the values: where all are 1 it does not matter."""
        return self._may_be_values() and self.low < math.inf and (self.low, self.high) != (1, 1)


def _unclear(layout: Layout) -> list[_Column]:
    """Return the columns that must be looked at, by their names: none in most tables."""
    may_name, valueless = (layout.position(role) is None for role in ("filename", "soft_value"))
    columns = []
    for i, name in enumerate(layout.names) if layout.has_header and not layout.wide else ():
        key = normal(name)
        may_value = valueless and {*WORD_LISTS["no-values"]}.isdisjoint(re.split(r"[^a-z]+", key))
        plain = layout.roles[i] is None and i not in layout.settled and name and not role_of(name)
        if plain and (may_name or may_value):
            likely = bool(re.search(_RECORDINGS, key)) and not re.search(_OF_RECORDINGS, key)
            # A table of a tool that has no such column is of one recording.
            columns.append(_Column(name, i, may_name and (likely or not layout.dialect), may_value, likely))
    return columns


def settled(source: str, layout: Layout, limits: Limits, batches: Cells, line: int | None = None) -> Layout:
    """Return a layout, its label one of several columns that has texts; raises InputError as `check_unclear`.

    Arguments as there.
    """
    check_unclear(source, layout, limits, batches, line)
    if not layout.labels:
        return layout
    candidates = [layout.roles.index("event_label"), *layout.labels]
    filled: set[int] = set()
    for cells in batches(candidates):
        for at, array in zip(candidates, cells, strict=True):
            if at not in filled and any(text and text.strip() for text in _texts(array)):
                filled.add(at)
        if len(filled) == len(candidates):
            break
    return with_label(layout, [*filled])


def _texts(cells: Any) -> list[str]:  # noqa: ANN401
    """Return the distinct cells of an array as texts; null is left out."""
    texts: list[str] = pc.unique(cells.drop_null().cast(TEXT)).to_pylist()
    return texts


def check_unclear(
    source: str, layout: Layout, limits: Limits, batches: Cells, line: int | None = None
) -> None:
    """Refuse a table with a column that may name the recordings, or have the values; raises InputError.

    It is refused, too, where the user says what the column of file names is called, and there is none.
    batches: the cells of columns at some positions; called only where a column must be looked at. line: of
    the header.
    """
    columns = _unclear(layout)
    for cells in batches([each.position for each in columns]) if columns else ():
        for each, array in zip(columns, cells, strict=True):
            if each.open:
                each.add(array)
        if not any(each.open for each in columns):
            break
    by_table = limits.by_table and not limits.only
    files = [each for each in columns if each.names_recordings(by_table=by_table)]
    values = [each for each in columns if each.has_values() and each not in files]
    problems = []
    for code, unclear in ((UNCLEAR_FILE, files), (UNCLEAR_VALUE, values)):
        for first in unclear[:1]:
            cells = first.texts if code == UNCLEAR_VALUE else [quoted(text) for text in first.texts]
            message = _MESSAGES[code].format(
                names=" or ".join(quoted(each.name) for each in unclear[:_SHOWN]),
                cells=", ".join(cells[:_SHOWN]) + (" ..." if len(cells) > _SHOWN else ""),
                first=option((_ROLES[code], first.name)),
                ignore=option(*(("", each.name) for each in unclear[:_SHOWN])),
            )
            problems.append(Problem(source, message, line, first.position + 1, code))
    if problems:
        raise InputError(problems)
    given = [name for role, name in limits.columns if role == "filename"]
    if given and layout.has_header and layout.position("filename") is None and not limits.by_table:
        names = " or ".join(map(quoted, given))
        message = f"has no column {names}, as {COLUMNS} has it, and none that is known to name the recordings"
        raise InputError(Problem(source, message, line, code="missing-column"))
