"""Tables of text line by line: to say what is wrong where, or to read what pyarrow would not.

It runs only when the table could not be parsed at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sedeval_soft.errors import MAX_PROBLEMS, SHOWN, InputError, Problem, quoted
from sedeval_soft.tables.assemble import ROUNDING, Columns
from sedeval_soft.tables.columns import BLANKS, COLUMNS, NUMBER, Layout, is_number
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import DELIMITERS, MOST_COLUMNS, Sniffed, misdivided, records
from sedeval_soft.tables.unclear_columns import word_as_number

_NAMES = ("filename", "event_label")


@dataclass(slots=True)
class Scan:
    """What a pass over the lines found.

    problems: the first ones of each code; counts: how many there are of each. lines: where the rows are that
    can be scored; files, labels, numbers: what is in them; declared: files without rows. facts: how many
    lines with a problem are of some kind; named: the names of files and of classes on these, with the first
    line of each.
    """

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    named: dict[str, dict[str, int]] = field(default_factory=lambda: {role: {} for role in _NAMES})
    lines: list[int] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)

    def rows(self, source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows that can be scored."""
        columns = Columns.of_rows(sniffed.layout, self.files, self.labels, self.numbers, self.declared)
        return columns.rows(sniffed.origin(source), limits)


def read_carefully(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table line by line; raises InputError with the first problems found."""
    scanned = scan(source, sniffed, MAX_PROBLEMS, limits)
    if scanned.problems:
        raise InputError(scanned.problems[:MAX_PROBLEMS], more=scanned.counts.total() > MAX_PROBLEMS)
    rows = scanned.rows(source, sniffed, limits)
    if rows is None:
        raise InputError(Problem(source.name, "holds something that cannot be scored"))
    return rows


def scan(
    source: Source, sniffed: Sniffed, most: int, limits: Limits = LIMITS, *, whole: bool = False
) -> Scan:
    """Look at every line: keep the first `most` problems of each code, and all rows without one.

    whole: do not stop at more than `most` problems, to count them all.
    """
    scanned = Scan()
    layout = sniffed.layout
    file, label = layout.position("filename"), layout.position("event_label")
    columns = max(MOST_COLUMNS, len(layout.names))
    for line, fields in records(source, sniffed.delimiter, sniffed.skip, columns):
        if isinstance(fields, Problem):
            problems = [fields]
        elif name := declares(layout, fields, sniffed.delimiter):
            scanned.declared.append(name)
            continue
        else:
            problems, numbers = _read_row(source.name, sniffed, line, fields, limits)
            if not problems:
                scanned.lines.append(line)
                scanned.numbers.append(numbers)
                scanned.files += [] if file is None else [fields[file].strip()]
                scanned.labels += [] if label is None else [fields[label].strip()]
                continue
            if whole and len(fields) == len(layout.names):
                _remember(layout, line, fields, scanned)
        for problem in problems:
            scanned.counts[problem.code] += 1
            if scanned.counts[problem.code] <= most:
                scanned.problems.append(problem)
        if scanned.counts.total() > most and not whole:
            break
    return scanned


def declares(layout: Layout, fields: Sequence[str], delimiter: str) -> str:
    """Return the file that a line of its name and nothing else declares; empty where it does not."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return ""
    alone = len(fields) == 1 and at == 0 and not misdivided(fields[0], delimiter, layout)
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] is not None)
    if (len(fields) == len(layout.names) or alone) and not any(text.strip() for text in others):
        return fields[at].strip()
    return ""


def _remember(layout: Layout, line: int, fields: Sequence[str], scanned: Scan) -> None:
    """Count what the lines with a problem have in common: it may explain all of them."""
    facts = scanned.facts
    facts["lines"] += 1
    text = {role: fields[i].strip(BLANKS) for i, role in enumerate(layout.roles) if role is not None}
    for role in _NAMES:
        if text.get(role):
            scanned.named[role].setdefault(fields[layout.roles.index(role)].strip(), line)
    times = [text["onset"], text["offset"]]
    if all(map(NUMBER.fullmatch, times)):
        facts["backwards"] += float(times[1]) < float(times[0])
    label, value = text.get("event_label", ""), text.get("soft_value", "0")
    facts["swapped"] += bool(NUMBER.fullmatch(label)) and not NUMBER.fullmatch(value)
    values = layout.class_positions() if layout.wide else [layout.position("soft_value")]
    for at in values:
        if at is not None and is_number(fields[at]):
            number = float(fields[at])
            facts["below"] += number < -ROUNDING
            facts["above"] += number > 1 + ROUNDING
            facts["beyond percent"] += number > 100
            facts["values"] += 1


def _read_row(
    name: str, sniffed: Sniffed, line: int, fields: Sequence[str], limits: Limits
) -> tuple[list[Problem], list[float]]:
    """Return what is wrong with a line, and its numbers."""
    layout = sniffed.layout
    if len(fields) != len(layout.names):
        return [_other_length(name, sniffed, line, fields)], []
    problems: list[Problem] = []
    numbers: list[float] = []
    for column, (role, title, text) in enumerate(zip(layout.roles, layout.names, fields, strict=True), 1):
        if role in _NAMES:
            if not text.strip():
                message = f"{title} is empty; expected a name"
                problems.append(Problem(name, message, line, column, "empty-name"))
        elif role is not None:
            stripped = text.strip(BLANKS)
            stripped = word_as_number(stripped) if role == "soft_value" else stripped
            number = float(stripped) if NUMBER.fullmatch(stripped) else math.nan
            numbers.append(number)
            wrong = _wrong_number(title, role, stripped, number, limits)
            if wrong is not None:
                problems.append(Problem(name, wrong[1], line, column, wrong[0]))
    onset, offset = layout.roles.index("onset"), layout.roles.index("offset")
    if not problems and float(fields[offset]) < float(fields[onset]):
        end, begin = (fields[at].strip()[:SHOWN] for at in (offset, onset))
        message = f"offset {end} is before onset {begin}; expected onset <= offset"
        problems.append(Problem(name, message, line, offset + 1, "offset-before-onset"))
    return problems, numbers


def _wrong_number(title: str, role: str, text: str, number: float, limits: Limits) -> tuple[str, str] | None:
    """Return the code of what is wrong with a field of a number, and words; None where nothing is."""
    time = role in {"onset", "offset"}
    expected = "a number of seconds, 0 or more" if time else "a number in [0, 1]"
    shown = text[:SHOWN]
    if not text:
        code, wrong, shown = "empty-number", "is empty", ""
    elif math.isnan(number):
        shown = quoted(text)
        if NUMBER.fullmatch(text.replace(",", ".")):
            code, wrong = "decimal-comma", "has a decimal comma, not a decimal point"
        elif text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
            code, wrong = "not-finite", "is not finite"
        else:
            code, wrong = "not-a-number", "is not a number"
            expected += f", or {COLUMNS} ignore={title} where that is no class" if role == "class" else ""
    elif math.isinf(number):
        code, wrong = "time-too-long" if time else "value-out-of-range", "is too large"
    elif time and number < 0:
        code, wrong = "negative-time", "is negative"
    elif time and number > limits.duration:
        code, wrong = "time-too-long", limits.too_long()
    elif not time and not -ROUNDING <= number <= 1 + ROUNDING:
        percent = " (percent? divide by 100)" if 1 < number <= 100 else ""
        code, wrong = "value-out-of-range", f"is outside [0, 1]{percent}"
    else:
        return None
    return code, f"{' '.join(filter(None, (title, shown, wrong)))}; expected {expected}"


def _other_length(name: str, sniffed: Sniffed, line: int, fields: Sequence[str]) -> Problem:
    """Return the problem of a line that has more or fewer fields than the table."""
    layout = sniffed.layout
    expected = f"{len(layout.names)} fields ({', '.join(layout.names[:8])})"
    text = sniffed.delimiter.join(fields)
    other = misdivided(text, sniffed.delimiter, layout)
    if other:
        divided = f"is divided by {DELIMITERS[other]}, not by {DELIMITERS[sniffed.delimiter]}"
        message = f"{divided}: {quoted(text)}; expected {expected}"
        return Problem(name, message, line, code="mixed-delimiters")
    numbers = layout.number_positions()
    if sniffed.delimiter == "," and len(fields) == len(layout.roles) + len(numbers):
        # Each number would be two fields.
        begins = [i + sum(at < i for at in numbers) for i in numbers]
        if all(is_number(fields[at]) and fields[at + 1].strip(BLANKS).isdigit() for at in begins):
            column = numbers[0] + 1
            shown = quoted(",".join(fields[column - 1 : column + 1]))
            message = f"{shown} has a decimal comma, not a decimal point; expected {expected}"
            mend = "write decimal points, or divide fields by tabs or semicolons"
            return Problem(name, message, line, column, "decimal-comma", mend=mend)
    message = f"has {len(fields)} fields: {quoted(' | '.join(fields))}; expected {expected}"
    return Problem(name, message, line, code="field-count")
