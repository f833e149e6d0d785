"""Columns that play no role, but may name the recordings or have the values.

A table whose column of file names has an unknown name would be read as one recording. A table whose column of
values has one would be read as a table without values. Both give numbers that look sound. So the module
inspects the cells of such columns, and asks the user if a column could be either. It reports a column of
numbers most of which are like values. `word_lists.tsv` has the names that are certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.columns import (
    COLUMNS,
    UNCLEAR_FILE,
    UNCLEAR_VALUE,
    WORD_LISTS,
    Layout,
    in_vain,
    is_number,
    normal,
    option,
    role_of,
    with_label,
    words_in,
)
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import ROUNDING, Texts

Cells = Callable[[Sequence[int]], Sequence[Texts | Floats]]
"""Returns the columns at some positions, (n,) each: texts, or numbers, NaN for a missing one."""

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


class _Column:
    """A column that may name the recordings, or have the values; its name and its cells.

    likely, called: whether it has the name of a column that names recordings, or of a column of values.
    may_value: whether it may have the values by its name.

    texts: the first ones that differ. textual: one is not a number. digits: there is a number, or a text with
    one. ones: all are 1.

    n: the number of cells, blank ones left out; within: the number of cells that are numbers in [0, 1].
    fraction: there is a number between 0 and 1.
    """

    def __init__(self, layout: Layout, position: int) -> None:
        """Look at the name."""
        self.position, self.name = position, layout.names[position]
        key = normal(self.name)
        words = words_in(key)
        valueless = layout.position("soft_value") is None and not layout.wide and bool(self.name)
        self.may_value = valueless and words.isdisjoint(WORD_LISTS["no-values"])
        self.called = not words.isdisjoint(WORD_LISTS["values"])
        self.likely = bool(re.search(_RECORDINGS, key)) and not re.search(_OF_RECORDINGS, key)
        # A table of a tool that has no column of recordings is of one.
        may_name = self.likely or not (self.called or layout.dialect)
        self.may_name = layout.position("filename") is None and may_name

    def look_at(self, cells: Texts | Floats) -> None:
        """Look at the cells."""
        if isinstance(cells, Texts):
            cells = cells.stripped()
            numbers = cells.as_numbers("soft_value")[cells.where(bool)]
            self.texts = [*islice(filter(None, cells.names), _SHOWN + 1)]
            digits = re.search(r"\d", "\n".join(cells.names)) is not None
        else:
            numbers, digits = cells[~np.isnan(cells)], False
        self.textual = bool(np.isnan(numbers).any())
        if not self.textual:
            self.texts = [f"{number:.15g}" for number in (*numbers[:1], *numbers[numbers != numbers[:1]][:1])]
        within = (numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING)
        self.n, self.within, self.ones = len(numbers), int(within.sum()), bool((numbers == 1).all())
        self.digits = digits or not np.isnan(numbers).all()
        self.fraction = bool(((numbers > 0) & (numbers < 1)).any())

    def names_recordings(self, *, by_table: bool) -> bool:
        """Return whether it may name the recordings; by_table: these are named after the table otherwise."""
        flags = {text.casefold() for text in self.texts} <= {*WORD_LISTS["flags"]}
        if not self.may_name or len(self.texts) < 2 or flags:
            return False
        audio = all(without_extension(text) != text for text in self.texts)
        return self.textual and (self.likely or audio) if by_table else self.textual or self.likely

    def has_values(self) -> bool:
        """Return whether it has the values by its name, or may have them: it does not matter if all are 1."""
        may_have = self.may_value and self.digits and not self.ones
        return may_have and (self.called or self.within == self.n)

    def seems_values(self) -> bool:
        """Return whether most of its cells are like values, so that a message should report this."""
        return self.may_value and self.fraction and 2 * self.within >= self.n

    def __str__(self) -> str:
        """Return the first cells."""
        cells = [text if is_number(text) else quoted(text) for text in self.texts]
        return ", ".join(cells[:_SHOWN]) + (" ..." if len(cells) > _SHOWN else "")


def settled(source: str, layout: Layout, limits: Limits, cells: Cells, line: int | None = None) -> Layout:
    """Return a layout, its label one of several columns that has texts, and the assumptions about others.

    Raises InputError for a table with a column that may name the recordings, or have the values, and if the
    user's name of the column of file names does not occur.

    cells: called only if a column must be inspected. line: of the header.
    """
    assumed = _assumed(source, layout, limits, cells, line)
    if layout.labels:
        candidates = [layout.roles.index("event_label"), *layout.labels]
        columns = zip(candidates, cells(candidates), strict=True)
        filled = [at for at, each in columns if isinstance(each, Texts) and any(map(str.strip, each.names))]
        layout = with_label(layout, filled)
    lacking = in_vain(layout, limits.columns, limits.label)
    return replace(layout, assumed=(*layout.assumed, *assumed), lacking=lacking)


def _assumed(source: str, layout: Layout, limits: Limits, cells: Cells, line: int | None) -> list[str]:
    """Return assumptions about columns that play no role; arguments and errors as for `settled`."""
    unknown = {at for at, role in enumerate(layout.roles) if role is None and layout.has_header}
    unknown = {at for at in unknown - layout.settled if not role_of(layout.names[at])}
    columns = [
        each for each in (_Column(layout, at) for at in sorted(unknown)) if each.may_name or each.may_value
    ]
    columns.sort(key=lambda each: not each.likely)
    looked_at = cells([each.position for each in columns]) if columns else ()
    for column, found in zip(columns, looked_at, strict=True):
        column.look_at(found)
    by_table = limits.by_table and not limits.only
    files = [each for each in columns if each.names_recordings(by_table=by_table)]
    values = [each for each in columns if each.has_values() and each not in files]
    problems = []
    for code, unclear in ((UNCLEAR_FILE, files), (UNCLEAR_VALUE, values)):
        titles = [each.name for each in unclear[:_SHOWN]]
        for first in unclear[:1]:
            message = _MESSAGES[code].format(
                names=" or ".join(
                    quoted(each.name) if each.name else f"{each.position + 1}, which has no name,"
                    for each in unclear[:_SHOWN]
                ),
                cells=first,
                what="has numbers in [0, 1]" if first.within == first.n else "is called like one",
                first=option((_ROLES[code], titles[0])) if titles[0] else "'filename' as its name",
                ignore=option(*(("", title) for title in titles if title))
                if titles[0]
                else "the table without it",
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
            cells=each,
            first=option(("value", each.name)),
            ignore=option(("", each.name)),
        )
        for each in columns
        if each.seems_values()
    ]
