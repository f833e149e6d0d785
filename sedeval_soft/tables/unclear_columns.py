"""Columns that play no role, but may be those that name the recordings or have the values.

A table whose column of file names goes by a name that nobody knows would be read as one recording, one whose
values do as a table without any: both give numbers that look sound. So what such columns hold is looked at
from the begin of a table until each is settled, which the first rows do nearly always, and where it could be
either, the user is asked; a column of numbers most of which are like values is told. Which names are beyond
doubt is in `word_lists.tsv`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
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
    words_in,
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
    UNCLEAR_VALUE: "there is no column of values, but column {names} {what} ({cells}), which "
    "would be ignored; expected {first} if it has the values, or {ignore} if not",
}
_ASSUMED = (
    "column {name} was ignored, but most of its numbers are in [0, 1] ({cells}); {first} says that they are "
    "the values, {ignore} that they are not"
)

_ROLES = {UNCLEAR_FILE: "filename", UNCLEAR_VALUE: "value"}

_SHOWN = 3
_PLAIN = r"^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


@dataclass(slots=True)
class _Column:
    """A column, and what its cells have been so far.

    may_name, may_value: whether by its name it may name the recordings, or have the values. likely: its name
    is one of a column that names recordings; called: one of a column of values. texts: the first cells that
    differ. textual: one is no number. low, high: the least and the largest number, if there are any. n: how
    many cells are not blank; within: how many are numbers in [0, 1]. digits: there is a number, or a text
    with one. fraction: there is a number between 0 and 1.
    """

    name: str
    position: int
    may_name: bool
    may_value: bool
    likely: bool
    called: bool
    texts: list[str] = field(default_factory=list)
    textual: bool = False
    low: float = math.inf
    high: float = -math.inf
    n: int = 0
    within: int = 0
    digits: bool = False
    fraction: bool = False

    @property
    def open(self) -> bool:
        """Whether more cells could tell that it must be asked about, or told.

        A column of numbers does not name recordings, unless its name says so: the first cells tell that.
        """
        if self.textual or self.likely:
            names = self.may_name and len(self.texts) <= _SHOWN
        else:
            names = self.may_name and not self.texts
        values = not self.has_values() if self.called else 2 * self.within >= self.n
        return names or (self.may_value and values)

    def add(self, cells: Any) -> None:  # noqa: ANN401
        """Look at more cells: an array of texts, of numbers, or of truth values; null is blank."""
        texts: list[str] = []
        counts = None
        if not pa.types.is_primitive(cells.type):
            cells = pc.utf8_trim_whitespace(cells.drop_null().cast(TEXT))
            cells, counts = pc.value_counts(cells.filter(pc.not_equal(cells, ""))).flatten()
            counts = counts.to_numpy()
            try:
                cells = words_as_numbers(cells)
            except pa.ArrowInvalid:
                self.textual = True
                self.digits |= bool(pc.any(pc.match_substring_regex(cells, r"\d")).as_py())
                texts = cells[: len(self.texts) + _SHOWN + 1].to_pylist()
                plain = pc.match_substring_regex(cells, _PLAIN).to_numpy(zero_copy_only=False)
                self.n += int(counts[~plain].sum())
                cells, counts = cells.filter(pa.array(plain)), counts[plain]
        numbers = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
        counts = np.ones(len(numbers), np.int64) if counts is None else counts
        counts, numbers = counts[~np.isnan(numbers)], numbers[~np.isnan(numbers)]
        if not texts:
            texts = [f"{number:.15g}" for number in (*numbers[:1], *numbers[numbers != numbers[:1]][:1])]
        self.texts = list(dict.fromkeys([*self.texts, *texts]))[: _SHOWN + 1]
        self.low = min(self.low, numbers.min(initial=math.inf))
        self.high = max(self.high, numbers.max(initial=-math.inf))
        within = (numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING)
        self.n += int(counts.sum())
        self.within += int(counts[within].sum())
        self.digits |= len(numbers) > 0
        self.fraction |= bool(((numbers > 0) & (numbers < 1)).any())

    def names_recordings(self, *, by_table: bool) -> bool:
        """Return whether it may name the recordings; by_table: these are named after the table otherwise."""
        flags = {text.casefold() for text in self.texts} <= {*WORD_LISTS["flags"]}
        if not self.may_name or len(self.texts) < 2 or flags:
            return False
        audio = all(without_extension(text) != text for text in self.texts)
        return self.textual and (self.likely or audio) if by_table else self.textual or self.likely

    def has_values(self) -> bool:
        """Return whether it has the values by its name, or may have: where all are 1 it does not matter."""
        ones = not self.textual and (self.low, self.high) == (1, 1)
        return self.may_value and self.digits and not ones and (self.called or self.within == self.n)

    def seems_values(self) -> bool:
        """Return whether most of its cells are like values, so that this should be told."""
        return self.may_value and self.fraction and 2 * self.within >= self.n


def _unclear(layout: Layout) -> list[_Column]:
    """Return the columns that must be looked at, the likeliest to name recordings first: mostly none."""
    may_name, valueless = (layout.position(role) is None for role in ("filename", "soft_value"))
    columns = []
    for i, name in enumerate(layout.names) if layout.has_header else ():
        if layout.roles[i] is not None or i in layout.settled or role_of(name):
            continue
        key = normal(name)
        words = words_in(key)
        may_value = valueless and not layout.wide and bool(name) and words.isdisjoint(WORD_LISTS["no-values"])
        called = not words.isdisjoint(WORD_LISTS["values"])
        likely = bool(re.search(_RECORDINGS, key)) and not re.search(_OF_RECORDINGS, key)
        # A table of a tool that has no column of recordings is of one.
        may_name_them = may_name and (likely or not (called or layout.dialect))
        if may_name_them or may_value:
            columns.append(_Column(name, i, may_name_them, may_value, likely, called))
    return sorted(columns, key=lambda each: not each.likely)


def settled(source: str, layout: Layout, limits: Limits, batches: Cells, line: int | None = None) -> Layout:
    """Return a layout, its label one of several columns that has texts, and what was assumed of others.

    Raises InputError for a table with a column that may name the recordings, or have the values, and where
    the user says what the column of file names is called, and there is none. batches: the cells of columns at
    some positions; called only where a column must be looked at. line: of the header.
    """
    assumed = _assumed(source, layout, limits, batches, line)
    if layout.labels:
        candidates = [layout.roles.index("event_label"), *layout.labels]
        filled: set[int] = set()
        for cells in batches(candidates):
            for at, array in zip(candidates, cells, strict=True):
                if at not in filled and any(text and text.strip() for text in _texts(array)):
                    filled.add(at)
            if len(filled) == len(candidates):
                break
        layout = with_label(layout, [*filled])
    return replace(layout, assumed=(*layout.assumed, *assumed))


def _texts(cells: Any) -> list[str]:  # noqa: ANN401
    """Return the distinct cells of an array as texts; null is left out."""
    texts: list[str] = pc.unique(cells.drop_null().cast(TEXT)).to_pylist()
    return texts


def _assumed(source: str, layout: Layout, limits: Limits, batches: Cells, line: int | None) -> list[str]:
    """Return what was assumed of columns that play no role; arguments and errors as those of `settled`."""
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
            named = [("", each.name) for each in unclear[:_SHOWN] if each.name]
            message = _MESSAGES[code].format(
                names=" or ".join(map(_named, unclear[:_SHOWN])),
                cells=_shown(first),
                what="has numbers in [0, 1]" if first.within == first.n else "is called like one",
                first=option((_ROLES[code], first.name)) if first.name else "'filename' as its name",
                ignore=option(*named) if first.name else "the table without it",
            )
            problems.append(Problem(source, message, line, first.position + 1, code))
    if problems:
        raise InputError(problems)
    given = [name for role, name in limits.columns if role == "filename"]
    if given and layout.has_header and layout.position("filename") is None and not limits.by_table:
        names = " or ".join(map(quoted, given))
        message = f"has no column {names}, as {COLUMNS} has it, and none that is known to name the recordings"
        raise InputError(Problem(source, message, line, code="missing-column"))
    return [
        _ASSUMED.format(
            name=quoted(each.name),
            cells=_shown(each),
            first=option(("value", each.name)),
            ignore=option(("", each.name)),
        )
        for each in columns
        if each.seems_values()
    ]


def _named(column: _Column) -> str:
    return quoted(column.name) if column.name else f"{column.position + 1}, which has no name,"


def _shown(column: _Column) -> str:
    """Return the first cells of a column."""
    cells = [text if re.fullmatch(_PLAIN, text) else quoted(text) for text in column.texts]
    return ", ".join(cells[:_SHOWN]) + (" ..." if len(cells) > _SHOWN else "")
