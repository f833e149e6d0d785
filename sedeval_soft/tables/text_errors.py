"""The careful pass: line by line, to say what is wrong where, or to read what pyarrow would not.

It runs only when the fast path gave up. Lines are counted from 1 as an editor shows them, columns
in fields from 1.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from sedeval_soft.core.intake import COLUMNS, LIMITS, Limits
from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, quoted
from sedeval_soft.tables.assemble import ROUNDING, Columns
from sedeval_soft.tables.columns import BLANKS, NUMBER, Layout, is_number
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.sniff import Sniffed, misdivided
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import DELIMITERS, MOST_COLUMNS, records
from sedeval_soft.tables.unclear_columns import word_as_number

_NAMES = ("filename", "event_label")


@dataclass(slots=True)
class Found:
    """What a pass over the lines found.

    problems: the first ones of each code; counts: how many there are of each. lines: where the rows are that
    can be scored. facts: how many lines with a problem are of some kind; named: the names of files and of
    classes on these, with the first line of each.
    """

    limits: Limits = LIMITS
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    named: dict[str, dict[str, int]] = field(default_factory=lambda: {role: {} for role in _NAMES})
    lines: list[int] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)

    def add(self, problems: list[Problem], most: int) -> None:
        """Count problems, and keep the first `most` of each code."""
        for problem in problems:
            self.counts[problem.code] += 1
            if self.counts[problem.code] <= most:
                self.problems.append(problem)


def read_carefully(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table line by line; raises InputError with the first problems found."""
    found = scan(source, sniffed, MAX_PROBLEMS, limits)
    if found.problems:
        raise InputError(found.problems[:MAX_PROBLEMS], more=found.counts.total() > MAX_PROBLEMS)
    rows = rows_found(source, sniffed, found, limits)
    if rows is None:
        raise InputError(Problem(source.name, "holds something that cannot be scored"))
    return rows


def scan(
    source: Source, sniffed: Sniffed, most: int, limits: Limits = LIMITS, *, whole: bool = False
) -> Found:
    """Look at every line: keep the first `most` problems of each code, and all rows without one.

    whole: do not stop at more than `most` problems, to count them all.
    """
    found = Found(limits)
    layout = sniffed.layout
    columns = max(MOST_COLUMNS, len(layout.names))
    for line, fields in records(source, sniffed.delimiter, sniffed.skip, columns):
        problems = (
            [fields] if isinstance(fields, Problem) else _row(source.name, sniffed, line, fields, found)
        )
        if not problems:
            continue
        found.add(problems, most)
        if whole and not isinstance(fields, Problem):
            _remember(layout, line, fields, found)
        if found.counts.total() > most and not whole:
            break
    return found


def rows_found(source: Source, sniffed: Sniffed, found: Found, limits: Limits = LIMITS) -> EventTable | None:
    """Return the rows that a pass found to be sound."""
    columns = Columns.of_rows(sniffed.layout, found.files, found.labels, found.numbers, found.declared)
    return columns.rows(sniffed.origin(source), limits)


def _remember(layout: Layout, line: int, fields: list[str], found: Found) -> None:
    """Count what the lines with a problem have in common: it may explain all of them."""
    if len(fields) != len(layout.names):
        return
    found.facts["lines"] += 1
    text = {role: fields[i].strip(BLANKS) for i, role in enumerate(layout.roles) if role is not None}
    for role in _NAMES:
        if text.get(role):
            found.named[role].setdefault(fields[layout.roles.index(role)].strip(), line)
    times = [text["onset"], text["offset"]]
    if all(map(NUMBER.fullmatch, times)):
        found.facts["backwards"] += float(times[1]) < float(times[0])
    label, value = text.get("event_label", ""), text.get("soft_value", "0")
    found.facts["swapped"] += bool(NUMBER.fullmatch(label)) and not NUMBER.fullmatch(value)
    places = layout.class_positions() if layout.wide else [layout.position("soft_value")]
    for place in places:
        if place is not None and NUMBER.fullmatch(fields[place].strip(BLANKS)):
            number = float(fields[place])
            found.facts["below"] += number < -ROUNDING
            found.facts["above"] += number > 1 + ROUNDING
            found.facts["beyond percent"] += number > 100
            found.facts["values"] += 1


def _row(name: str, sniffed: Sniffed, line: int, fields: list[str], found: Found) -> list[Problem]:
    """Read one line; return what is wrong with it, else enter it."""
    layout = sniffed.layout
    declared = declares(layout, fields, sniffed.delimiter)
    if declared:
        found.declared.append(declared)
        return []
    if len(fields) != len(layout.names):
        return [_other_length(name, sniffed, line, fields)]
    problems: list[Problem] = []
    numbers: list[float] = []
    for i, (role, text) in enumerate(zip(layout.roles, fields, strict=True)):
        if role in _NAMES:
            if not text.strip():
                message = f"{layout.names[i]} is empty; expected a name"
                problems.append(Problem(name, message, line, i + 1, "empty-name"))
        elif role is not None:
            number, code, wrong = _number(layout.names[i], role, text, found.limits)
            numbers.append(number)
            if wrong:
                problems.append(Problem(name, wrong, line, i + 1, code))
    if problems:
        return problems
    onset_at, offset_at = layout.roles.index("onset"), layout.roles.index("offset")
    if float(fields[offset_at]) < float(fields[onset_at]):
        message = f"offset {_short(fields[offset_at])} is before onset {_short(fields[onset_at])}"
        expected = "expected onset <= offset"
        return [Problem(name, f"{message}; {expected}", line, offset_at + 1, "offset-before-onset")]
    found.numbers.append(numbers)
    found.lines.append(line)
    _enter_names(layout, fields, found)
    return []


def _other_length(name: str, sniffed: Sniffed, line: int, fields: list[str]) -> Problem:
    """Return the problem of a line that has more or fewer fields than the table."""
    names = sniffed.layout.names
    expected = f"{len(names)} fields ({', '.join(names[:8])})"
    text = sniffed.delimiter.join(fields)
    other = misdivided(text, sniffed.delimiter, sniffed.layout)
    if other:
        divided = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[sniffed.delimiter]}"
        message = f"{divided}: {quoted(text)}; expected {expected}"
        return Problem(name, message, line, code="mixed-delimiters")
    if sniffed.delimiter == "," and (at := _decimal_commas(sniffed.layout, fields)):
        message = f"{quoted(','.join(fields[at - 1 : at + 1]))} has a decimal comma, not a decimal point"
        mend = "write decimal points, or divide fields by tabs or semicolons"
        return Problem(name, f"{message}; expected {expected}", line, at, "decimal-comma", mend=mend)
    message = f"has {len(fields)} fields: {quoted(' | '.join(fields))}; expected {expected}"
    return Problem(name, message, line, code="field-count")


def _decimal_commas(layout: Layout, fields: list[str]) -> int | None:
    """Return the first column (from 1) with a decimal comma if all columns of numbers have one."""
    numbers = layout.number_positions()
    if len(fields) != len(layout.roles) + len(numbers):
        return None
    at = 0
    for i in range(len(layout.roles)):
        if i in numbers and not (is_number(fields[at]) and fields[at + 1].strip(BLANKS).isdigit()):
            return None
        at += 2 if i in numbers else 1
    return numbers[0] + 1


def _enter_names(layout: Layout, fields: list[str], found: Found) -> None:
    for role, texts in zip(_NAMES, (found.files, found.labels), strict=True):
        at = layout.position(role)
        if at is not None:
            texts.append(fields[at].strip())


def declares(layout: Layout, fields: list[str], delimiter: str) -> str:
    """Return the file that a line of its name and nothing else declares; empty where it does not."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    lone = len(fields) == 1 and at == 0 and not misdivided(fields[0], delimiter, layout)
    whole = len(fields) == len(layout.names) or lone
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] is not None)
    if not whole or any(text.strip() for text in others):
        return ""
    return fields[at].strip()


def _number(name: str, role: str, text: str, limits: Limits) -> tuple[float, str, str]:
    """Return a field as a number, and the code and text of what is wrong with it if anything is."""
    stripped = word_as_number(text.strip(BLANKS)) if role == "soft_value" else text.strip(BLANKS)
    time = role in {"onset", "offset"}
    limit = "a number of seconds, 0 or more" if time else "a number in [0, 1]"
    if not NUMBER.fullmatch(stripped):
        code, wrong = _no_number(stripped)
        aside = role == "class" and code == "not-a-number"
        limit += f", or {COLUMNS} ignore={name} where that is no class" if aside else ""
        return math.nan, code, f"{name} {wrong}; expected {limit}"
    number = float(stripped)
    code = wrong = ""
    if math.isinf(number):
        code, wrong = "time-too-long" if time else "value-out-of-range", "is too large"
    elif time and number < 0:
        code, wrong = "negative-time", "is negative"
    elif time and number > limits.duration:
        code, wrong = "time-too-long", limits.too_long()
    elif not time and not -ROUNDING <= number <= 1 + ROUNDING:
        code = "value-out-of-range"
        wrong = "is outside [0, 1]" + (" (percent? divide by 100)" if 1 < number <= 100 else "")
    return number, code, f"{name} {stripped[:SHOWN]} {wrong}; expected {limit}" if wrong else ""


def _no_number(text: str) -> tuple[str, str]:
    """Return what a field is that is not a number: a code, and words."""
    if not text:
        return "empty-number", "is empty"
    if NUMBER.fullmatch(text.replace(",", ".")):
        return "decimal-comma", f"{quoted(text)} has a decimal comma, not a decimal point"
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        return "not-finite", f"{quoted(text)} is not finite"
    return "not-a-number", f"{quoted(text)} is not a number"


def _short(number: str) -> str:
    """Return a number as it is written, the end of a long one left out."""
    return number.strip()[:SHOWN]
