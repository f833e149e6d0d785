"""Causes of wrong rows of tables: the line and the column of each, and its fix.

`Columns.wrong` finds the rows of any table; here the cells of these rows are inspected for the cause.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from sedeval_soft.arrays import Bools
from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, quoted
from sedeval_soft.tables.advice import ROWS, no_class
from sedeval_soft.tables.columns import (
    BLANKS,
    TEXTS,
    TIMES,
    as_duration,
    is_number,
    option,
    to_number,
)
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import TOGETHER, Columns, Texts
from sedeval_soft.tables.ticks import clock_seconds

_NO_LABEL = "the line left out if it is no event, or the class of all rows without one, as --label car"
_UNITS = {"s": "a number of seconds", "ms": "a number of milliseconds"}
_CLOCK = re.compile(r"(?:\d{1,12}:)?\d{1,12}:\d{1,12}(?:[.,]\d*)?", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:([,' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:\.\d*)?", re.ASCII)
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_WITH_UNIT = re.compile(r"([+-]?[\d.]+) *(s|sec|seconds|ms|%)", re.ASCII)
_OF_UNIT = {"ms": 1000, "%": 100}


@dataclass(slots=True)
class Findings:
    """The problems of a table that is read exactly.

    problems: the first ones of each code, by line; counts: the number of problems of each code.

    lines: of the rows that can be scored. misread: the rows with a problem, which may explain one another.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: Sequence[int] = ()
    misread: Columns | None = None

    def add(self, problem: Problem, most: int) -> None:
        """Count a problem, and store it if it is one of the first of its code."""
        self.counts[problem.code] += 1
        if self.counts[problem.code] <= most:
            self.problems.append(problem)

    def check(self) -> None:
        """Raise InputError with the first problems, if there are any."""
        if self.problems:
            raise InputError(self.problems[:MAX_PROBLEMS], more=self.counts.total() > MAX_PROBLEMS)


def find_wrong(
    columns: Columns,
    name: str,
    limits: Limits,
    found: Findings,
    most: int = MAX_PROBLEMS,
    *,
    whole: bool = False,
    copy: str | None = None,
) -> Bools:
    """Return which rows can be scored, (n,), and add the problems of the others to the findings.

    columns: exact, with the line of each row. name: of the table. most: problems of each code that are
    stored. whole: count the problems of all rows, not only of so many.

    copy: the command that writes a fixed copy; None if it is not a table of text, whose columns can be called
    otherwise.
    """
    columns = columns.labelled(limits.label)
    wrong = columns.wrong(limits)
    rows: Bools = np.logical_or.reduce([np.zeros(len(columns), dtype=bool), *wrong.values()])
    misread = columns.of_rows(rows)
    for row in np.flatnonzero(rows)[: None if whole else most + 1].tolist():
        for at in (at for at, cells in wrong.items() if cells[row]):
            position, code, message = (
                _wrong_times(columns, row, limits)
                if at == TOGETHER
                else (at, *_wrong_cell(columns, at, row, limits))
            )
            found.add(Problem(name, message, columns.lines[row], position + 1, code), most)
    found.problems.sort(key=lambda each: (each.line or 0, each.column or 0))
    found.misread, found.lines = misread, [*compress(columns.lines, ~(rows | columns.blank))]
    _mend(found, misread, limits, copy)
    return ~rows


def _text(columns: Columns, at: int, row: int) -> str:
    """Return a cell as it is in the table, empty in a column that plays no role."""
    column = columns.cells.get(at)
    return column.names[column.codes[row]] if isinstance(column, Texts) else ""


def _wrong_cell(columns: Columns, at: int, row: int, limits: Limits) -> tuple[str, str]:
    """Return the problem of a cell of a position: a code and a message."""
    layout, text = columns.layout, _text(columns, at, row)
    role, title, unit = layout.roles[at] or "", layout.names[at], layout.units.get(at, "s")
    if role in TEXTS and "\0" in text:
        return "nul-byte", f"{title} holds a NUL character; expected a name"
    if role in TEXTS:
        others = [option(("event_label", layout.names[i])) for i in layout.labels]
        other = f", or {(others or [_NO_LABEL])[0]}" * (role == "event_label")
        return "empty-name", f"{title} is empty; expected a name{other}"
    if unit == "date":
        from sedeval_soft.tables.date_times import SUCH_AS

        wrong = f"{title} {quoted(text)} is not a date and time of day"
        return "not-a-number", f"{wrong}; expected one such as {SUCH_AS}"
    return _wrong_number(title, role, text.strip(BLANKS), limits, unit)


def _wrong_times(columns: Columns, row: int, limits: Limits) -> tuple[int, str, str]:
    """Return the problem of the times of a row that is sound else: position, code and message."""
    layout = columns.layout
    begin, end = layout.roles.index("onset"), layout.position("offset")
    end = layout.roles.index("duration") if end is None else end
    onset, offset = (float(times[row]) for times in columns.times)
    begin_text, end_text = (_text(columns, at, row).strip()[:SHOWN] for at in (begin, end))
    if math.isnan(onset) or math.isnan(offset):
        from sedeval_soft.tables.date_times import NAMED

        file = columns.file.names[columns.file.codes[row]] if columns.file else ""
        message = (
            f"{layout.names[begin]} counts from when the recording began, which its name, "
            f"{quoted(file)}, does not say; expected a date and time in it such as {NAMED}, or seconds"
        )
        return begin, "not-a-number", message
    if onset < 0:
        message = f"{layout.names[begin]} {begin_text} is {-onset:.15g} s before the recording began"
        return begin, "negative-time", f"{message}; expected it within the recording"
    if offset < onset:
        message = f"offset {end_text} is before onset {begin_text}; expected onset <= offset"
        return end, "offset-before-onset", message
    wrong = f"{layout.names[end]} {end_text} {limits.too_long(offset)}"
    return end, "time-too-long", f"{wrong}; expected a time in the recording"


def _wrong_number(title: str, role: str, text: str, limits: Limits, unit: str) -> tuple[str, str]:
    """Return the problem of the text of a number: a code and a message."""
    time, number = role in {*TIMES, "file_offset"}, to_number(text)
    no_number, comma = math.isnan(number), "has a decimal comma, not a decimal point"
    too_long = "" if no_number else limits.too_long(number / 1000 if unit == "ms" else number)
    reasons = (
        (not text, "empty-number", "is empty"),
        (has_decimal_comma(text), "decimal-comma", comma),
        (text.lower().lstrip("+-") in {"nan", "inf", "infinity"}, "not-finite", "is not finite"),
        (no_number, "not-a-number", "is not a number"),
        (math.isinf(number), "time-too-long" if time else "value-out-of-range", "is too large"),
        (time and number < 0, "negative-time", "is negative"),
        (time, "time-too-long", too_long),
        (True, "value-out-of-range", "is outside [0, 1]"),
    )
    code, wrong = next((code, wrong) for applies, code, wrong in reasons if applies)
    expected = f"{_UNITS.get(unit, 'a number of samples')}, 0 or more" if time else "a number in [0, 1]"
    if (mend := _in_plain_digits(code, text, role)) and unit == "s":
        expected += f": write {mend}"
    given = quoted(text) if text and no_number else text[:SHOWN]
    return code, f"{' '.join(filter(None, (title, given, wrong)))}; expected {expected}"


def _in_plain_digits(code: str, text: str, role: str) -> str:
    """Return the number that a text seems to mean, empty if it is not a number."""
    time = role in {*TIMES, "file_offset"}
    if code == "decimal-comma":
        point = text.replace(",", ".")
        return point if time or 0 <= to_number(point) <= 1 else ""
    if code == "negative-time" and role == "onset":
        return "0 if it begins with the recording"
    clock, with_unit = _CLOCK.fullmatch(text), _WITH_UNIT.fullmatch(text)
    if code != "not-a-number":
        return ""
    if with_unit and is_number(with_unit[1]) and time != (with_unit[2] == "%"):
        return f"{float(with_unit[1]) / _OF_UNIT.get(with_unit[2], 1):.15g}"
    if clock and time:
        return f"{clock_seconds(text.replace(',', '.')):.15g}"
    return re.sub(r"[^\d.]", "", text) if _THOUSANDS.fullmatch(text) else ""


def _mend(found: Findings, misread: Columns, limits: Limits, copy: str | None) -> None:
    """Add to the first problem of each code the fix of all of its kind; arguments as for `find_wrong`."""
    layout = misread.layout
    valued = [at for at, role in enumerate(layout.roles) if role in {"soft_value", "class"}]
    values = np.concatenate([[0.0], *(misread.numbers[at] for at in valued)])
    mends = {"value-out-of-range": of_each_value(float(np.nanmin(values)), float(np.nanmax(values)))}
    if copy is not None:
        mends |= _mends_of_text(found, misread, copy, mends["value-out-of-range"])
    first = range(min(ROWS, len(misread)))
    rows = [[_text(misread, at, row) for at in range(len(layout.names))] for row in first]
    of_classes = {"not-a-number", "value-out-of-range"}
    for i, problem in enumerate(found.problems):
        at, mend = (problem.column or 0) - 1, mends.pop(problem.code, "")
        if problem.code in of_classes and at >= 0 and layout.roles[at] == "class":
            of_classes.remove(problem.code)
            mend = ", or ".join(filter(None, (no_class(layout, rows, limits, at), mend)))
        if mend:
            found.problems[i] = replace(problem, message=f"{problem.message}, or {mend}")


def _mends_of_text(found: Findings, misread: Columns, copy: str, of_values: str) -> dict[str, str]:
    """Return by code the fix of all of its kind in a table of text; of_values: the fix of its values."""
    layout, n_sound, mends = misread.layout, len(found.lines), {}
    if layout.has_header and "soft_value" in layout.roles:
        other = f"{option(('ignore', layout.names[layout.roles.index('soft_value')]))} to ignore them"
        mends["value-out-of-range"] = ", or ".join(filter(None, (of_values, other)))
    onset, offset = misread.times
    if not layout.has_header or 2 * np.count_nonzero(offset < onset) >= n_sound:
        mends["offset-before-onset"] = as_duration(layout)
    if not n_sound and (both := exchanged(misread)):
        names = " and ".join(quoted(layout.names[at]) for at in both)
        mends["not-a-number"] = f"{names} exchanged in the header, as all labels are numbers"
    columns = [misread.cells[at] for at in layout.number_positions()]
    texts = [text.strip(BLANKS) for each in columns if isinstance(each, Texts) for text in each.used()]
    points = copy and any(map(has_decimal_comma, texts))
    mends["decimal-comma"] = thousands_in(texts) or (f"{copy} writes points" if points else "")
    mends["repeated-header"] = copy and f"{copy} leaves such lines out"
    return mends


def exchanged(columns: Columns) -> tuple[int, ...]:
    """Return the positions of labels and of a column of numbers whose names are exchanged; none if not.

    All labels of several rows are numbers then, and all cells of that column are texts.
    """
    layout, label = columns.layout, columns.label
    if label is None or not layout.has_header or len(columns) < 2 or not all(map(is_number, label.used())):
        return ()
    cells = {at: columns.cells[at] for at in layout.number_positions()}
    texts = {at: column.used() for at, column in cells.items() if isinstance(column, Texts)}
    odd = [at for at, cell in texts.items() if all(cell) and not any(map(is_number, cell))]
    return (layout.roles.index("event_label"), *odd) if len(odd) == 1 else ()


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number but for a comma in place of its point."""
    return "," in text and is_number(text.replace(",", "."))


def thousands_in(texts: Iterable[str]) -> str:
    """Return replacements for commas of numbers, or points beside commas, that may divide thousands.

    Empty if they do not: one number that could not be read so decides for all.
    """
    numbers = [text for text in texts if is_number(text.replace(",", "."))]
    commas, points = ([text for text in numbers if sign in text] for sign in ",.")
    for alike, sign in ((commas, "comma"), (points if commas else [], "point")):
        if alike and all(map(_PERHAPS_THOUSANDS.fullmatch, alike)):
            plain = re.sub("[.,]", "", alike[0])
            return f"{plain} in place of {alike[0]} if its {sign} divides thousands"
    return ""


def of_each_value(low: float, high: float) -> str:
    """Return the operation that brings numbers from low to high into [0, 1], as far as it can be inferred."""
    if low < 0:
        return "1/(1+exp(-x)) for each x if they are logits"
    return "x/100 for each x if they are percent" if 1 < high <= 100 else ""
