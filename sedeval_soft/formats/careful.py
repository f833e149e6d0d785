"""The careful pass: line by line, to say what is wrong where, or to read what pyarrow would not.

It runs only when the fast path gave up. Lines are counted from 1 as an editor shows them, columns
in fields from 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from sedeval_soft.core.errors import MAX_PROBLEMS, InputError, Problem
from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.assemble import ROUNDING, Columns, Named
from sedeval_soft.formats.columns import BLANKS, NUMBER, Layout
from sedeval_soft.formats.lines import MOST_COLUMNS
from sedeval_soft.formats.records import decode, records
from sedeval_soft.formats.sniff import Sniffed
from sedeval_soft.formats.source import Source
from sedeval_soft.formats.table import origin_of

_SHOWN = 40
_NAMES = ("filename", "event_label")


@dataclass(slots=True)
class _Found:
    """What was read so far, and what was wrong with it."""

    limits: Limits = LIMITS
    problems: list[Problem] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    numbers: list[list[float]] = field(default_factory=list)


def read_carefully(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> Rows:
    """Read a table line by line; raises InputError with the first problems found."""
    found = _Found(limits)
    layout = sniffed.layout
    most = max(MOST_COLUMNS, len(layout.names))
    for line, fields in records(source.name, decode(source), sniffed.delimiter, sniffed.skip, most):
        if isinstance(fields, Problem):
            found.problems.append(fields)
        else:
            found.problems.extend(_row(source.name, layout, line, fields, found))
        if len(found.problems) > MAX_PROBLEMS:
            raise InputError(found.problems[:MAX_PROBLEMS], more=True)
    if found.problems:
        raise InputError(found.problems)
    rows = _columns(layout, found).rows(origin_of(source, sniffed), limits)
    if rows is None:
        raise InputError(Problem(source.name, "holds something that cannot be scored"))
    return rows


def _columns(layout: Layout, found: _Found) -> Columns:
    positions = [i for i, role in enumerate(layout.roles) if role not in {None, "filename", "event_label"}]
    table = np.array(found.numbers, dtype=np.float64).reshape(-1, len(positions)).T
    numbers = dict(zip(positions, np.ascontiguousarray(table), strict=True))
    value = layout.position("soft_value")
    return Columns(
        _named(found.files) if layout.position("filename") is not None else None,
        _named(found.labels) if layout.position("event_label") is not None else None,
        numbers[layout.roles.index("onset")],
        numbers[layout.roles.index("offset")],
        None if value is None or layout.wide else numbers[value],
        tuple((layout.names[i], numbers[i]) for i in layout.class_positions()),
        found.declared,
    )


def _named(texts: list[str]) -> Named:
    names = {name: code for code, name in enumerate(dict.fromkeys(texts))}
    return Named(tuple(names), np.array([names[text] for text in texts], dtype=np.int32))


def _row(name: str, layout: Layout, line: int, fields: list[str], found: _Found) -> list[Problem]:
    """Read one line; return what is wrong with it, else enter it."""
    if _declares(layout, fields, found):
        return []
    if len(fields) != len(layout.names):
        expected = f"{len(layout.names)} fields ({', '.join(layout.names[:8])})"
        message = f"has {len(fields)} fields: {_quote(' | '.join(fields))}; expected {expected}"
        return [Problem(name, message, line)]
    problems: list[Problem] = []
    numbers: list[float] = []
    for i, (role, text) in enumerate(zip(layout.roles, fields, strict=True)):
        if role in _NAMES:
            if not text.strip():
                problems.append(Problem(name, f"{layout.names[i]} is empty; expected a name", line, i + 1))
        elif role is not None:
            number, wrong = _number(layout.names[i], role, text, found.limits)
            numbers.append(number)
            if wrong:
                problems.append(Problem(name, wrong, line, i + 1))
    if problems:
        return problems
    onset_at, offset_at = layout.roles.index("onset"), layout.roles.index("offset")
    if float(fields[offset_at]) < float(fields[onset_at]):
        message = f"offset {fields[offset_at].strip()} is before onset {fields[onset_at].strip()}"
        return [Problem(name, f"{message}; expected onset <= offset", line, offset_at + 1)]
    found.numbers.append(numbers)
    _enter_names(layout, fields, found)
    return []


def _enter_names(layout: Layout, fields: list[str], found: _Found) -> None:
    for role, texts in zip(_NAMES, (found.files, found.labels), strict=True):
        at = layout.position(role)
        if at is not None:
            texts.append(fields[at].strip())


def _declares(layout: Layout, fields: list[str], found: _Found) -> bool:
    """Enter a line of a file name and nothing else, which declares a file without events."""
    at = layout.position("filename")
    if at is None or at >= len(fields) or not fields[at].strip():
        return False
    whole = len(fields) == len(layout.names) or (len(fields) == 1 and at == 0)
    others = (text for i, text in enumerate(fields) if i != at and layout.roles[i] is not None)
    if not whole or any(text.strip() for text in others):
        return False
    found.declared.append(fields[at].strip())
    return True


def _number(name: str, role: str, text: str, limits: Limits) -> tuple[float, str]:
    """Return a field as a number, and what is wrong with it if anything is."""
    stripped = text.strip(BLANKS)
    limit = "a number of seconds, 0 or more" if role in {"onset", "offset"} else "a number in [0, 1]"
    if not NUMBER.fullmatch(stripped):
        return math.nan, f"{name} {_no_number(stripped)}; expected {limit}"
    number = float(stripped)
    wrong = ""
    if math.isinf(number):
        wrong = "is too large"
    elif role in {"onset", "offset"}:
        wrong = "is negative" if number < 0 else limits.too_long() * (number > limits.duration)
    elif not -ROUNDING <= number <= 1 + ROUNDING:
        wrong = "is outside [0, 1]" + (" (percent? divide by 100)" if 1 < number <= 100 else "")
    return number, f"{name} {stripped[:_SHOWN]} {wrong}; expected {limit}" if wrong else ""


def _no_number(text: str) -> str:
    """Return what a field is that is not a number."""
    if not text:
        return "is empty"
    if NUMBER.fullmatch(text.replace(",", ".")):
        return f"{_quote(text)} has a decimal comma, not a decimal point"
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        return f"{_quote(text)} is not finite"
    return f"{_quote(text)} is not a number"


def _quote(text: str) -> str:
    """Return a text in quotes, control characters escaped, the end of a long one left out."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
