"""Columns that play no role, but may be those that name the recordings or have the values.

A table whose column of file names goes by a name that nobody knows would be read as one recording, one whose
values do as a table without any: both give numbers that look sound. So what such columns hold is looked at,
and where it could be either, the user is asked. Which names are beyond doubt is listed here.

Columns of text are looked at from the begin of a table until each is settled, which the first rows do nearly
always; however a table is read afterwards, what is decided is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pv

from sedeval_soft.core.intake import COLUMNS, Limits, intake_of
from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.assemble import ROUNDING
from sedeval_soft.tables.columns import Layout, normal, role_of
from sedeval_soft.tables.filenames import without_extension
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import quotes_are_plain, records

FILE, VALUE, RAVEN = "unclear-file-column", "unclear-value-column", "raven-table"
"""Codes of what only the user can settle."""

_RECORDINGS = re.compile(
    r"file|clip|wav|audio|record|video|youtube|\byt|track|soundscape|segment|stem|sample"
)
"""What is in the names of columns that name recordings, whatever else there is in the table."""

_OF_RECORDINGS = re.compile(
    r"duration|length|offset|onset|start|begin|end|time|rate|freq|size|score|fold|type|channel"
)
"""What columns of numbers about recordings are called, which do not name them."""

_NO_VALUES = re.compile(
    r"id|ids|idx|index|no|nr|num|number|count|n|rank|order|key|row|"
    r"fold|split|part|subset|group|run|seed|view|selection|channel|track|"
    r"mixture|overlap|overlapping|polyphony|polyphonic|foreground|background|"
    r"freq|frequency|hz|khz|low|high|bandwidth|pitch|snr|db|gain|energy|"
    r"duration|length|dur|time|date|year|month|day|hour|minute|second|seconds|sec|delta|"
    r"lat|latitude|lon|longitude|azimuth|elevation|distance|x|y|z|unnamed"
)
"""Words in the names of columns that have other numbers than values, also where these are in [0, 1]."""

_WORDS = {"PRESENT": "1", "NOT_PRESENT": "0", "TRUE": "1", "FALSE": "0"}
"""What stands for a value of 1 or 0."""

_FLAGS = frozenset({"yes", "no", "y", "n", "t", "f"})
"""What columns of texts hold that answer a question."""

_BLOCK = 1 << 22
_LINES = 20_000
_SHOWN = 3
_TEXT = pa.large_string()


def words_as_numbers(texts: Any) -> Any:  # noqa: ANN401 - pyarrow is untyped
    """Return texts as numbers, those that stand for 1 or 0 as these, blank ones as null.

    Raises pyarrow.ArrowInvalid where one is no number.
    """
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(texts.cast(_TEXT))
    upper = pc.utf8_upper(trimmed)
    for word, number in _WORDS.items():
        trimmed = pc.if_else(pc.equal(upper, word), number, trimmed)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, _TEXT), trimmed).cast(pa.float64())


def word_as_number(text: str) -> str:
    """Return 1 or 0 as text where a text stands for it, the text itself where it is no such word."""
    return _WORDS.get(text.upper(), text)


def only_the_user_knows(error: InputError) -> bool:
    """Return whether an input was refused as only the user can say what it is: no other form is tried."""
    return any(problem.code in {FILE, VALUE, RAVEN} for problem in error.problems)


@dataclass(slots=True)
class Evidence:
    """What the cells of a column have been so far.

    as_file, as_value: what it may be by its name. likely: its name is one of a column that names recordings.
    texts: the first that differ. textual: one is no number. beyond: a number is outside [0, 1]. numbers:
    there are any. uneven: one is not 1, so that it matters whether they are values.
    """

    name: str
    position: int
    as_file: bool
    as_value: bool
    likely: bool
    texts: list[str] = field(default_factory=list)
    textual: bool = False
    beyond: bool = False
    numbers: bool = False
    uneven: bool = False

    @property
    def open(self) -> bool:
        """Whether more cells could tell that it must be asked about.

        A column of numbers does not name recordings, unless its name says so: the first cells tell that.
        """
        could_be_values = self.as_value and not (self.textual or self.beyond)
        could_be_files = self.as_file and (self.textual or self.likely or not self.numbers)
        enough = (self.textual or self.likely) and len(self.texts) > _SHOWN
        return could_be_values or (could_be_files and not enough)

    def add(self, cells: Any) -> None:  # noqa: ANN401
        """Look at more cells: an array of texts, of numbers, or of truth values; null is blank."""
        if pa.types.is_boolean(cells.type):
            cells = cells.cast(pa.float64())
        if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
            cells = self._of_texts(cells)
        if cells is None:
            return
        found = cells.cast(pa.float64()).drop_null().to_numpy(zero_copy_only=False)
        self._of_numbers(found[~np.isnan(found)])

    def _of_texts(self, cells: Any) -> Any:  # noqa: ANN401
        """Return texts as numbers, None where they are not."""
        import pyarrow.compute as pc

        texts = pc.utf8_trim_whitespace(cells.drop_null().cast(_TEXT))
        texts = pc.unique(texts)
        texts = texts.filter(pc.not_equal(texts, ""))
        try:
            return words_as_numbers(texts)
        except pa.ArrowInvalid:
            self.textual = True
        self._enter(texts[: len(self.texts) + _SHOWN + 1].to_pylist())
        return None

    def _of_numbers(self, numbers: npt.NDArray[np.float64]) -> None:
        if not len(numbers):
            return
        self.numbers = True
        self.beyond |= bool(numbers.min() < -ROUNDING or numbers.max() > 1 + ROUNDING)
        self.uneven |= bool(np.any(numbers != 1))
        other = numbers[numbers != numbers[0]][:1]
        self._enter([f"{number:.15g}" for number in (*numbers[:1].tolist(), *other.tolist())])

    def _enter(self, texts: Sequence[str]) -> None:
        self.texts = list(dict.fromkeys([*self.texts, *texts]))[: _SHOWN + 1]

    def may_be_files(self, *, by_table: bool) -> bool:
        """Return whether it may name the recordings; by_table: these are named after the table otherwise."""
        if not self.as_file or len(self.texts) < 2 or {text.casefold() for text in self.texts} <= _FLAGS:
            return False
        if by_table:
            named = all(without_extension(text) != text for text in self.texts)
            return self.textual and (self.likely or named)
        return self.textual or self.likely

    def may_be_values(self) -> bool:
        """Return whether it may have the values."""
        return self.as_value and self.numbers and self.uneven and not (self.textual or self.beyond)


def unclear(layout: Layout) -> list[Evidence]:
    """Return the columns that must be looked at, by their names: none in most tables."""
    if layout.wide or not layout.has_header:
        return []
    nameless = layout.position("filename") is None
    valueless = layout.position("soft_value") is None
    found = []
    for i, (name, role) in enumerate(zip(layout.names, layout.roles, strict=True)):
        if role is not None or i in layout.settled or role_of(name):
            continue
        key = normal(name)
        words = re.split(r"[^a-z]+", key)
        numeric = bool(_OF_RECORDINGS.search(key))
        likely = bool(_RECORDINGS.search(key)) and not numeric
        as_value = valueless and bool(name) and not any(map(_NO_VALUES.fullmatch, words))
        if (nameless and name) or as_value:
            found.append(Evidence(name, i, nameless and bool(name), as_value, likely))
    return found


def check(
    source: str, layout: Layout, found: Sequence[Evidence], limits: Limits, line: int | None = None
) -> None:
    """Refuse a table with a column that may name the recordings, or have the values; raises InputError."""
    intake = intake_of(limits)
    by_table = intake.by_table and not intake.only
    files = [each for each in found if each.may_be_files(by_table=by_table)]
    values = [each for each in found if each.may_be_values() and each not in files]
    problems = [_of_files(source, files, line)] if files else []
    problems += [_of_values(source, values, line)] if values else []
    if problems:
        raise InputError(problems)
    check_named(source, layout, limits, line)


def check_named(source: str, layout: Layout, limits: Limits, line: int | None = None) -> None:
    """Refuse a table without file names where the user says what the column of these is called."""
    intake = intake_of(limits)
    names = intake.columns.of_role("filename")
    if names and layout.has_header and layout.position("filename") is None and not intake.by_table:
        said = " or ".join(map(quoted, names))
        message = f"has no column {said}, as {COLUMNS} has it, and none that is known to name the recordings"
        raise InputError(Problem(source, message, line, code="missing-column"))


def _of_files(source: str, found: Sequence[Evidence], line: int | None) -> Problem:
    names, them = _joined(found)
    texts = _listed([quoted(text) for text in found[0].texts])
    message = (
        f"no column is known to name the recordings, but {names} has several texts ({texts}): all rows "
        f"would be of one recording; expected {COLUMNS} filename={found[0].name} if it names them, or {them} "
        "if not"
    )
    return Problem(source, message, line, found[0].position + 1, FILE)


def _of_values(source: str, found: Sequence[Evidence], line: int | None) -> Problem:
    names, them = _joined(found)
    texts = _listed(found[0].texts)
    message = (
        f"there is no column of values, but {names} has numbers in [0, 1] ({texts}), which would be read "
        f"past; expected {COLUMNS} value={found[0].name} if it has the values, or {them} if not"
    )
    return Problem(source, message, line, found[0].position + 1, VALUE)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (" ..." if len(texts) > _SHOWN else "")


def _joined(found: Sequence[Evidence]) -> tuple[str, str]:
    names = " or ".join(quoted(each.name) for each in found[:_SHOWN])
    them = ",".join(f"ignore={each.name}" for each in found[:_SHOWN])
    return f"column {names}", f"{COLUMNS} {them}"


def check_text_columns(source: Source, delimiter: str, layout: Layout, skip: int, limits: Limits) -> None:
    """Look at what columns of a table of text hold that play no role; raises InputError as `check` does."""
    found = unclear(layout)
    if found:
        _look(source, delimiter, layout, skip, found)
    check(source.name, layout, found, limits, skip or None)


def _look(source: Source, delimiter: str, layout: Layout, skip: int, found: Sequence[Evidence]) -> None:
    if quotes_are_plain(source.data, delimiter):
        try:
            look(found, _blocks(source, delimiter, layout, skip, found))
        except (pa.ArrowException, OSError):
            pass  # a line is not as others are: what can be read of it is read line by line
        else:
            return
    again = [Evidence(e.name, e.position, e.as_file, e.as_value, e.likely) for e in found]
    look(again, _lines(source, delimiter, layout, skip, again))
    for each, seen in zip(found, again, strict=True):
        each.texts, each.textual, each.beyond = seen.texts, seen.textual, seen.beyond
        each.numbers, each.uneven = seen.numbers, seen.uneven


def look(found: Sequence[Evidence], batches: Iterable[Sequence[Any]]) -> None:
    """Look at batches of cells, an array for each column, for as long as anything is open."""
    for arrays in batches:
        for each, cells in zip(found, arrays, strict=True):
            if each.open:
                each.add(cells)
        if not any(each.open for each in found):
            return


def _blocks(
    source: Source, delimiter: str, layout: Layout, skip: int, found: Sequence[Evidence]
) -> Iterator[list[Any]]:
    """Yield the columns of blocks of lines, as pyarrow parses them."""
    names = [str(each.position) for each in found]
    with pv.open_csv(
        pa.BufferReader(pa.py_buffer(source.data)),
        read_options=pv.ReadOptions(
            column_names=[str(i) for i in range(len(layout.names))],
            skip_rows=skip,
            block_size=_BLOCK,
            use_threads=False,
        ),
        parse_options=pv.ParseOptions(delimiter=delimiter),
        convert_options=pv.ConvertOptions(
            column_types=dict.fromkeys(names, _TEXT),
            include_columns=names,
            null_values=[""],
            strings_can_be_null=True,
        ),
    ) as reader:
        for batch in reader:
            yield [batch.column(i) for i in range(len(names))]


def _lines(
    source: Source, delimiter: str, layout: Layout, skip: int, found: Sequence[Evidence]
) -> Iterator[list[Any]]:
    """Yield the columns of some lines at a time, of those that have as many fields as the table."""
    rows = (
        [fields[each.position] for each in found]
        for _, fields in records(source, delimiter, skip)
        if isinstance(fields, list) and len(fields) == len(layout.names)
    )
    while batch := list(islice(rows, _LINES)):
        yield [pa.array(cells, _TEXT) for cells in zip(*batch, strict=True)]
