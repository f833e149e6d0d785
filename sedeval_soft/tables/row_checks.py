"""What is wrong with the rows of a table, one by one: with each line, column, and what would mend it.

`scan` goes through lines that cannot be read at once, and reads those that nothing is wrong with.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, counted, quoted
from sedeval_soft.tables.columns import (
    BESIDE,
    BLANKS,
    TEXTS,
    TIMES,
    WORDS,
    Layout,
    as_duration,
    by_cells,
    is_number,
    option,
    to_number,
)
from sedeval_soft.tables.date_times import NAMED, SUCH_AS, ticks_of
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import BESIDE_CLASSES, DELIMITERS, Record, records, split
from sedeval_soft.tables.rows import Columns, Named, below, range_of
from sedeval_soft.tables.source import Source

_NAMES = ("filename", "event_label")
_UNITS = {"s": "a number of seconds", "ms": "a number of milliseconds"}
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:[.,]\d*)?)", re.ASCII)
_THOUSANDS = re.compile(r"\d{1,3}(?:([,' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:\.\d*)?", re.ASCII)
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_WITH_UNIT = re.compile(r"([+-]?[\d.]+) *(s|sec|seconds|ms|%)", re.ASCII)
_OF_UNIT = {"ms": 1000, "%": 100}


@dataclass(slots=True)
class Scan:
    """What a pass over the lines found.

    problems: the first ones of each code; counts: how many there are of each. lines: where the rows are that
    can be scored; cells, numbers: their fields, and those that are numbers; declared: files without rows.
    misread: the lines with a problem and a field for each column, which may explain one another. low, high:
    the least and the largest value of rows with a problem; sound: how many have none.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: list[int] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)
    misread: list[tuple[int, list[str]]] = field(default_factory=list)
    low: float = 0
    high: float = 1
    sound: int = 0

    def enter(self, line: int, fields: list[str], numbers: list[float]) -> None:
        """Take in a row that nothing is wrong with."""
        self.sound += 1
        self.lines.append(line)
        self.numbers.append(numbers)
        self.cells.append(fields)

    def enter_misread(self, layout: Layout, line: int, fields: list[str], numbers: list[float]) -> None:
        """Take in a row that something is wrong with."""
        self.misread.append((line, fields))
        roles = (layout.roles[i] for i in layout.positions())
        pairs = zip(roles, numbers, strict=True)
        values = [number for role, number in pairs if role in {"soft_value", "class"}]
        self.low, self.high = min([self.low, *values]), max([self.high, *values])

    def add(self, later: Scan) -> None:
        """Add what a pass over later lines found, but not their rows."""
        self.problems += later.problems
        self.misread += later.misread
        self.counts += later.counts
        self.sound += later.sound
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)

    def mend(self, layout: Layout, copy: str | None) -> None:
        """Say in the first problem of each kind what mends all of its kind.

        copy: the command that writes a mended copy; None where it is no table of text, whose columns can be
        called otherwise.
        """
        backwards = self.counts["offset-before-onset"]
        mends = {"value-out-of-range": of_each_value(self.low, self.high)}
        if copy is not None:
            if layout.has_header and "soft_value" in layout.roles:
                other = f"{option(('ignore', layout.names[layout.roles.index('soft_value')]))} to ignore them"
                mends["value-out-of-range"] = ", or ".join(filter(None, (*mends.values(), other)))
            if not layout.has_header or 2 * backwards >= self.sound:
                alone = not self.sound and 1 < backwards == self.counts.total()
                swapped = copy and alone and not layout.units
                mends["offset-before-onset"] = f"{copy} swaps the two" if swapped else as_duration(layout)
            texts = [row[i].strip(BLANKS) for _, row in self.misread for i in layout.number_positions()]
            mends["repeated-header"] = copy and f"{copy} leaves such lines out"
            mends["decimal-comma"] = thousands_in(texts)
            if copy and not mends["decimal-comma"] and any(map(has_decimal_comma, texts)):
                mends["decimal-comma"] = f"{copy} writes points"
        for i, problem in enumerate(self.problems):
            if mend := mends.pop(problem.code, ""):
                self.problems[i] = replace(problem, message=f"{problem.message}, or {mend}")

    def check(self) -> None:
        """Raise InputError with the first problems, if there are any."""
        if self.problems:
            raise InputError(self.problems[:MAX_PROBLEMS], more=self.counts.total() > MAX_PROBLEMS)

    def rows(self, layout: Layout, origin: Origin, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows that can be scored."""
        each_row = np.arange(len(self.cells), dtype=np.int32)
        names = {
            role: Named.of([fields[at] for fields in self.cells], each_row)
            for at, role in enumerate(layout.roles)
            if role in TEXTS
        }
        positions = layout.positions()
        table = np.array(self.numbers, dtype=np.float64).reshape(len(self.cells), len(positions)).T
        numbers = dict(zip(positions, np.ascontiguousarray(table), strict=True))
        return Columns(layout, names, numbers, self.declared).rows(origin, limits)


def scan(
    source: Source,
    layout: Layout,
    most: int,
    limits: Limits = LIMITS,
    lines: Iterable[Record] | None = None,
    *,
    whole: bool = False,
) -> Scan:
    """Look at every line: store the first `most` problems of each code, and all rows without one.

    lines: their fields, where it is no table of text. whole: do not stop at more than `most` problems, to
    count them all.
    """
    scanned = Scan()
    columns = max(LIMITS.classes + BESIDE_CLASSES, len(layout.names))
    of_text = records(source, layout.delimiter, layout.skip, columns, layout.past)
    for line, fields in of_text if lines is None else lines:
        if isinstance(fields, Problem):
            problems = [fields]
        elif (name := declares(layout, fields)) or _says_nothing(layout, fields):
            scanned.declared += filter(None, [name])
            continue
        elif len(fields) != len(layout.names):
            problems = [_other_length(source.name, layout, line, fields)]
        else:
            problems, numbers = check_row(source.name, layout, line, fields, limits)
            if problems and layout.has_header and layout.names == tuple(map(str.strip, fields)):
                message = "is the header again; expected a row: leave out this line"
                problems = [Problem(source.name, message, line, code="repeated-header")]
            elif problems:
                scanned.enter_misread(layout, line, fields, numbers)
            else:
                scanned.enter(line, fields, numbers)
        for problem in problems:
            scanned.counts[problem.code] += 1
            if scanned.counts[problem.code] <= most:
                scanned.problems.append(problem)
        if scanned.counts.total() > most and not whole:
            break
    return scanned


def has_decimal_comma(text: str) -> bool:
    """Return whether a text is a number but for a comma in place of its point."""
    return "," in text and is_number(text.replace(",", "."))


def thousands_in(texts: Iterable[str]) -> str:
    """Return what to write where commas of numbers, or points beside commas, may divide thousands.

    Empty where they do not: one number that could not be read so tells it of all.
    """
    numbers = [text for text in texts if is_number(text.replace(",", "."))]
    commas, points = ([text for text in numbers if sign in text] for sign in ",.")
    for alike, sign in ((commas, "comma"), (points if commas else [], "point")):
        if alike and all(map(_PERHAPS_THOUSANDS.fullmatch, alike)):
            plain = re.sub("[.,]", "", alike[0])
            return f"{plain} in place of {alike[0]} if its {sign} divides thousands"
    return ""


def rows_of_records(
    source: Source,
    layout: Layout,
    records: Sequence[Record],
    origin: Origin,
    limits: Limits,
    declared: Sequence[str],
) -> EventTable | None:
    """Return the rows of records that another form has; raises InputError with what is wrong with any.

    declared: recordings that are there whether they have rows or not.
    """
    cells = [fields for _, fields in records if isinstance(fields, list)]
    n_fields, positions = len(layout.names), layout.number_positions()
    if not layout.units and len(cells) == len(records) and all(len(fields) == n_fields for fields in cells):
        numbers = [[to_number(fields[i]) for i in positions] for fields in cells]
        if not np.isnan(np.array(numbers, dtype=np.float64)).any():
            rows = Scan(cells=cells, numbers=numbers, declared=[*declared]).rows(layout, origin, limits)
            if rows is not None:
                return rows
    scanned = scan(source, layout, MAX_PROBLEMS, limits, records)
    scanned.mend(layout, None)
    scanned.problems = [replace(each, code="invalid") for each in scanned.problems]
    scanned.check()
    scanned.declared += declared
    return scanned.rows(layout, origin, limits)


def of_each_value(low: float, high: float) -> str:
    """Return what makes numbers from low to high values in [0, 1], as far as it can be told."""
    if low < 0:
        return "1/(1+exp(-x)) for each x if they are logits"
    return "x/100 for each x if they are percent" if 1 < high <= 100 else ""


def declares(layout: Layout, fields: Sequence[str]) -> str:
    """Return the file that a line of its name and nothing else declares; empty where it does not."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    alone = len(fields) == 1 and at == 0 and not misdivided(fields[0], layout)
    past = {None, *BESIDE} if layout.timed else {None, "soft_value"}
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] not in past)
    whole = (len(fields) == len(layout.names) or alone) and not any(text.strip() for text in others)
    whole = whole or _says_nothing(layout, fields)
    folder = layout.position("folder")
    place = fields[folder] if folder is not None and folder < len(fields) else ""
    return below(place.strip(), fields[at].strip()) if whole else ""


def _says_nothing(layout: Layout, fields: Sequence[str]) -> bool:
    """Return whether the label of a line says that its recording has no event."""
    at = layout.position("event_label")
    return at is not None and len(fields) == len(layout.names) and layout.says_nothing(fields[at])


def check_row(
    name: str, layout: Layout, line: int, fields: Sequence[str], limits: Limits
) -> tuple[list[Problem], list[float]]:
    """Return what is wrong with a row, and its numbers: times in their units, dates as ticks, and values."""
    problems: list[Problem] = []
    numbers: list[float] = []
    for column, (role, title, text) in enumerate(zip(layout.roles, layout.names, fields, strict=True), 1):
        wrong = None
        if role in _NAMES and not text.strip():
            others = [option(("event_label", layout.names[i])) for i in layout.labels]
            other = f", or {(others or ['the line left out if it is no event'])[0]}" * (role == "event_label")
            wrong = "empty-name", f"{title} is empty; expected a name{other}"
        elif role in _NAMES and "\0" in text:
            wrong = "nul-byte", f"{title} holds a NUL character; expected a name"
        elif layout.units.get(column - 1) == "date":
            numbers.append(float(ticks_of([text])[0]))
            if math.isnan(numbers[-1]):
                message = (
                    f"{title} {quoted(text)} is not a date and time of day; expected one such as {SUCH_AS}"
                )
                wrong = "not-a-number", message
        elif role is not None and role not in TEXTS:
            stripped = text.strip(BLANKS)
            if role == "soft_value":
                stripped = WORDS.get(stripped.upper(), stripped)
            numbers.append(to_number(stripped))
            unit = layout.units.get(column - 1, "s")
            wrong = _wrong_number(title, role, stripped, numbers[-1], limits, unit)
            wrong = _of_no_class(layout, fields, title, wrong) if role == "class" and wrong else wrong
        if wrong is not None:
            problems.append(Problem(name, wrong[1], line, column, wrong[0]))
    if not problems and layout.timed:
        wrong_times = _wrong_times(layout, fields, numbers, limits)
        problems += [Problem(name, text, line, at + 1, code) for at, code, text in wrong_times]
    return problems, numbers


def _of_no_class(
    layout: Layout, fields: Sequence[str], title: str, wrong: tuple[str, str]
) -> tuple[str, str]:
    """Return what is wrong with a cell of a class, and what else than a class its column could be."""
    if wrong[0] not in {"not-a-number", "value-out-of-range"}:
        return wrong
    cells = [fields[i] for i, role in enumerate(layout.roles) if role == "class"]
    # An index that pandas wrote has no name.
    named_ones = slice(int(not layout.names[0]), None)
    columns = layout.names[named_ones], fields[named_ones], layout.roles[named_ones]
    named = "" if any(map(is_number, cells)) else by_cells(*columns)
    return wrong[0], f"{wrong[1]}, or {named or option(('', title))} where that is no class"


def _wrong_times(
    layout: Layout, fields: Sequence[str], numbers: Sequence[float], limits: Limits
) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with the times of a row that is sound else: position, code and message."""
    at = {layout.roles[i] or "": i for i in layout.positions()}
    names = {
        role: Named.of([fields[i]], np.zeros(1, dtype=np.int32))
        for i, role in enumerate(layout.roles)
        if role in {"filename", "folder"}
    }
    columns = Columns(
        layout, names, {i: np.array([number]) for i, number in zip(layout.positions(), numbers, strict=True)}
    )
    onset, offset = (float(times[0]) for times in columns.times)
    end = at.get("offset", at.get("duration", 0))
    begin_text, end_text = (fields[i].strip()[:SHOWN] for i in (at["onset"], end))
    if math.isnan(onset) or math.isnan(offset):
        file = columns.file.names[0] if columns.file else ""
        message = (
            f"{layout.names[at['onset']]} counts from when the recording began, which its name, "
            f"{quoted(file)}, does not say; expected a date and time in it such as {NAMED}, or seconds"
        )
        yield at["onset"], "not-a-number", message
    elif onset < 0:
        message = f"{layout.names[at['onset']]} {begin_text} is {-onset:.15g} s before the recording began"
        yield at["onset"], "negative-time", f"{message}; expected it within the recording"
    elif offset < onset:
        message = f"offset {end_text} is before onset {begin_text}; expected onset <= offset"
        yield end, "offset-before-onset", message
    elif offset > limits.duration:
        wrong = f"{layout.names[end]} {end_text} {limits.too_long(offset)}"
        message = f"{wrong}; expected a time in the recording"
        yield end, "time-too-long", message


def _wrong_number(
    title: str, role: str, text: str, number: float, limits: Limits, unit: str = "s"
) -> tuple[str, str] | None:
    time = role in {*TIMES, "file_offset"}
    low, high = range_of(role, limits, unit)
    if low <= number <= high:
        return None
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
    expected = f"{_UNITS[unit]}, 0 or more" if time else "a number in [0, 1]"
    if (mend := _in_plain_digits(code, text, time=time)) and unit == "s":
        expected += f": write {mend}"
    given = quoted(text) if text and no_number else text[:SHOWN]
    return code, f"{' '.join(filter(None, (title, given, wrong)))}; expected {expected}"


def _in_plain_digits(code: str, text: str, *, time: bool) -> str:
    """Return the number that a text seems to say, empty where it is none."""
    if code == "decimal-comma":
        return text.replace(",", ".")
    if code == "negative-time":
        return "0 if it begins with the recording"
    clock, with_unit = _CLOCK.fullmatch(text), _WITH_UNIT.fullmatch(text)
    if code != "not-a-number":
        return ""
    if with_unit and is_number(with_unit[1]) and time != (with_unit[2] == "%"):
        return f"{float(with_unit[1]) / _OF_UNIT.get(with_unit[2], 1):.15g}"
    if clock and time:
        hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in clock.groups())
        return f"{hours * 3600 + minutes * 60 + seconds:.15g}"
    return re.sub(r"[^\d.]", "", text) if _THOUSANDS.fullmatch(text) else ""


def _other_length(name: str, layout: Layout, line: int, fields: Sequence[str]) -> Problem:
    delimiter = layout.delimiter
    expected = f"expected {counted(len(layout.names), 'field')} ({', '.join(layout.names[:8])})"
    text = delimiter.join(fields)
    other = misdivided(text, layout)
    if other:
        wrong = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[delimiter]}: {quoted(text)}"
        mend = _line_as(delimiter.join(split(text, other)))
        return Problem(name, f"{wrong}; {expected}{mend}", line, code="mixed-delimiters")
    numbers = layout.number_positions()
    if delimiter == "," and len(fields) == len(layout.roles) + len(numbers):
        # Each number would be two fields.
        pairs = [fields[at : at + 2] for at in (i + sum(at < i for at in numbers) for i in numbers)]
        if all(is_number(whole) and part.strip(BLANKS).isdigit() for whole, part in pairs):
            column = numbers[0] + 1
            given = quoted(",".join(fields[column - 1 : column + 1]))
            points = [*fields]
            for i in numbers:
                points[i : i + 2] = [".".join(points[i : i + 2])]
            wrong = f"{given} has a decimal comma, not a decimal point"
            message = f"{wrong}; {expected}{_line_as(delimiter.join(points))}"
            mend = "write decimal points, or divide fields by tabs or semicolons"
            return Problem(name, message, line, column, "decimal-comma", mend=mend)
    rest = fields[len(layout.names) :]
    mend = "" if not rest or any(text.strip() for text in rest) else _line_as(text[: -len(rest)])
    message = f"has {counted(len(fields), 'field')}: {quoted(' | '.join(fields))}; {expected}{mend}"
    return Problem(name, message, line, code="field-count")


def _line_as(text: str) -> str:
    """Return how a line is to be written, as it follows what was expected; empty for a long one."""
    return f": write the line as {quoted(text)}" if len(text) <= SHOWN else ""


def misdivided(text: str, layout: Layout) -> str:
    """Return the delimiter by which a text would be a row of a table of another one; empty where none does.

    Read by the table's own delimiter it could be the name of a file.
    """
    times = [i for i in layout.number_positions() if layout.roles[i] in TIMES]
    for other in DELIMITERS:
        fields = [] if other == layout.delimiter else split(text, other)
        if len(fields) == len(layout.names) and all(is_number(fields[i]) for i in times):
            return other
    return ""
