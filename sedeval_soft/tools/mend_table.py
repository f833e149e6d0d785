"""A corrected copy of a table: only mends that cannot change what was meant.

Percentages are not divided by 100, and logits not made probabilities: whether a 1 is one percent or certainty
is for its author to say. Lines without a mend stay as they are, but for their ends.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.errors import InputError, SettingsError
from sedeval_soft.names import folded
from sedeval_soft.tables.columns import BLANKS, is_number
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.paths import is_folder
from sedeval_soft.tables.source import Source, open_source, spelled
from sedeval_soft.tables.text import Sniffed, sniff
from sedeval_soft.tables.text_lines import declares, misquoted, numbered
from sedeval_soft.tools.validate_checks import shown
from sedeval_soft.tools.validate_tables import Expected

_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_MARKS = {b"\xff\xfe", b"\xfe\xff"}
_LISTED = 10


@dataclass(slots=True)
class _Line:
    """A line of a table: its number and text, and its fields where these can be told apart."""

    number: int
    text: str
    fields: list[str] | None = None
    changed: bool = False


@dataclass(slots=True)
class _Copy:
    """The lines of a copy in the making, and how often each mend was made."""

    sniffed: Sniffed
    lines: list[_Line]
    done: Counter[str] = field(default_factory=Counter)

    def rows(self) -> Iterator[tuple[_Line, list[str]]]:
        """Yield the lines that have a field for each column, and these."""
        layout = self.sniffed.layout
        for line in self.lines:
            fields = line.fields
            whole = fields is not None and len(fields) == len(layout.names)
            if (
                fields
                and whole
                and line.number > self.sniffed.skip
                and not declares(layout, fields, self.sniffed.delimiter)
            ):
                yield line, fields

    def put(self, line: _Line, at: int, text: str, mend: str) -> None:
        """Replace a field, and count the mend."""
        if line.fields is not None:
            line.fields[at] = text
            line.changed = True
            self.done[mend] += 1


def refuse_folder(path: str | os.PathLike[str]) -> None:
    """Raise SettingsError for a folder: a copy is of one table."""
    if os.fspath(path) not in {"", "-"} and is_folder(path):
        raise SettingsError(f"--fix is of one table; {os.fspath(path)} is a folder")


def opened(
    path: str | os.PathLike[str], stdin: BinaryIO | None = None, limits: Limits = LIMITS
) -> tuple[Source, tuple[str, ...]]:
    """Return a text that is to be mended, and what was done to read it: UTF-16 with its mark is text, too.

    Raises InputError where it cannot be opened, or is no text.
    """
    try:
        return open_source(path, stdin, limits), ()
    except InputError as error:
        if error.problems[0].code != "utf-16" or stdin is not None:
            raise
        try:
            data = Path(path).read_bytes()
            text = data.decode("utf-16")
        except (OSError, UnicodeDecodeError):
            raise error from None
        if data[:2] not in _MARKS:  # it is compressed
            raise
    return Source(spelled(os.fspath(path)), text.encode(), str), ("UTF-16 written as UTF-8",)


def mended(source: Source, expected: Expected, limits: Limits = LIMITS) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of a corrected copy, and what was done; no text where it cannot be read as a table."""
    try:
        sniffed = sniff(source, limits)
    except InputError:
        sniffed = None
    if sniffed is None:
        return None, ("no copy was written: this cannot be read as a table",)
    lines: list[_Line] = []
    for number, text in numbered(source):
        if isinstance(text, bytes):
            return None, (f"no copy was written: line {number} is not UTF-8 text",)
        lines.append(_Line(number, text, _fields(text, sniffed.delimiter)))
    copy = _Copy(sniffed, lines)
    mends = [*_of_bytes(source)]
    _strip(copy)
    _decimal_points(copy)
    _swap_times(copy)
    _spell_classes(copy, expected)
    mends += (f"{mend} ({number})" for mend, number in copy.done.items())
    mends += _drop_duplicates(copy)
    text = "".join(_written(line, sniffed.delimiter) + "\n" for line in copy.lines)
    return text, tuple(mends)


def _fields(text: str, delimiter: str) -> list[str] | None:
    if not text.strip() or ('"' in text and misquoted(text, delimiter) is not None):
        return None
    return next(csv.reader([text], delimiter=delimiter))


def _written(line: _Line, delimiter: str) -> str:
    if not line.changed or line.fields is None:
        return line.text
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(line.fields)
    return out.getvalue()


def _of_bytes(source: Source) -> Iterator[str]:
    try:
        with Path(source.name).open("rb") as file:
            begins = file.read(3)
    except (OSError, ValueError):
        begins = b""
    if begins == b"\xef\xbb\xbf":
        yield "byte order mark removed"
    if source.data.find(b"\r") >= 0:
        yield "line ends made LF"


def _strip(copy: _Copy) -> None:
    for line in copy.lines:
        for at, text in enumerate(line.fields or ()):
            if text != text.strip(BLANKS):
                copy.put(line, at, text.strip(BLANKS), "blanks around a field removed")


def _decimal_points(copy: _Copy) -> None:
    """Write points for commas, unless all of these could divide thousands."""
    if copy.sniffed.delimiter == ",":
        return
    numbers = copy.sniffed.layout.number_positions()
    found = [
        (line, at, fields[at])
        for line, fields in copy.rows()
        for at in numbers
        if _COMMA.fullmatch(fields[at])
    ]
    if all(_THOUSANDS.fullmatch(text) for _, _, text in found):
        return
    for line, at, text in found:
        copy.put(line, at, text.replace(",", "."), "decimal comma made a point")


def _swap_times(copy: _Copy) -> None:
    """Swap onset and offset where no row of several has them in order."""
    roles = copy.sniffed.layout.roles
    onset, offset = roles.index("onset"), roles.index("offset")
    rows = list(copy.rows())
    backwards = [
        is_number(fields[onset])
        and is_number(fields[offset])
        and float(fields[offset]) < float(fields[onset])
        for _, fields in rows
    ]
    if len(rows) < 2 or not all(backwards):
        return
    for line, fields in rows:
        fields[onset], fields[offset] = fields[offset], fields[onset]
        line.changed = True
        copy.done["onset and offset of a row swapped"] += 1


def _spell_classes(copy: _Copy, expected: Expected) -> None:
    """Write classes as they are known where they differ in case and blanks only, and from one known name."""
    reference = expected.reference
    known: Sequence[str] = expected.classes or (reference.classes if reference is not None else ())
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)

    def right(name: str) -> str:
        found = by_look.get(folded(name), [])
        return found[0] if len(found) == 1 and name not in known else name

    layout = copy.sniffed.layout
    label = layout.position("event_label")
    if label is not None:
        for line, fields in copy.rows():
            if right(fields[label]) != fields[label]:
                mend = f"class {shown(fields[label])} written {shown(right(fields[label]))}"
                copy.put(line, label, right(fields[label]), mend)
        return
    header = next((line for line in copy.lines if line.number == copy.sniffed.skip), None)
    names = [right(layout.names[at]) for at in layout.class_positions()]
    if header is None or len({*names}) < len(names):
        return
    for at, name in zip(layout.class_positions(), names, strict=True):
        if name != layout.names[at]:
            copy.put(header, at, name, f"class {shown(layout.names[at])} written {shown(name)}")


def _drop_duplicates(copy: _Copy) -> Iterator[str]:
    """Leave out rows that stand there already, in all of their fields."""
    numbers = {*copy.sniffed.layout.number_positions()}
    seen: set[tuple[str | float, ...]] = set()
    dropped: set[int] = set()
    for line, fields in copy.rows():
        key = tuple(
            float(text) if at in numbers and is_number(text) else text for at, text in enumerate(fields)
        )
        if key in seen:
            dropped.add(line.number)
        seen.add(key)
    if dropped:
        copy.lines = [line for line in copy.lines if line.number not in dropped]
        listed = ", ".join(map(str, sorted(dropped)[:_LISTED])) + (" ..." if len(dropped) > _LISTED else "")
        yield f"duplicate rows left out ({len(dropped)}: {'line' if len(dropped) == 1 else 'lines'} {listed})"
