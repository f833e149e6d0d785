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

from sedeval_soft.errors import InputError
from sedeval_soft.tables.columns import BLANKS, is_number
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source, open_source, spelled
from sedeval_soft.tables.text import Sniffed, declares, misquoted, numbered, sniff
from sedeval_soft.tools.validate_checks import known_spellings, shown

_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_MARKS = {b"\xff\xfe", b"\xfe\xff"}
_LISTED = 10


def mended(
    path: str | os.PathLike[str], classes: Sequence[str], stdin: BinaryIO | None, limits: Limits
) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of a corrected copy, and what was done; no text where it cannot be read as a table.

    classes: those that there can be. Raises InputError where the table cannot be opened, or is no text.
    """
    source, mends = _open(path, stdin, limits)
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
    try:
        with Path(source.name).open("rb") as file:
            mends += ["byte order mark removed"] if file.read(3) == b"\xef\xbb\xbf" else []
    except (OSError, ValueError):
        pass  # standard input
    mends += ["line ends made LF"] if source.data.find(b"\r") >= 0 else []
    copy = _Copy(sniffed, lines)
    copy.strip()
    copy.write_decimal_points()
    copy.swap_times()
    copy.spell_classes(classes)
    mends += [f"{mend} ({number})" for mend, number in copy.mends.items()]
    again = copy.duplicates()
    if again:
        listed = ", ".join(map(str, again[:_LISTED])) + (" ..." if len(again) > _LISTED else "")
        what = "line" if len(again) == 1 else "lines"
        mends.append(f"duplicate rows left out ({len(again)}: {what} {listed})")
    left_out = {*again}
    text = "".join(f"{line.written(sniffed.delimiter)}\n" for line in lines if line.number not in left_out)
    return text, tuple(mends)


def _open(path: str | os.PathLike[str], stdin: BinaryIO | None, limits: Limits) -> tuple[Source, list[str]]:
    """Return a text that is to be mended, and what was done to read it: UTF-16 with its mark is text, too."""
    try:
        return open_source(path, stdin, limits), []
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
    return Source(spelled(os.fspath(path)), text.encode(), str), ["UTF-16 written as UTF-8"]


def _fields(text: str, delimiter: str) -> list[str]:
    """Return the fields of a line, none where they cannot be told apart."""
    if not text.strip() or misquoted(text, delimiter) is not None:
        return []
    return next(csv.reader([text], delimiter=delimiter))


@dataclass(slots=True)
class _Line:
    """A line of a table: its number and text, and its fields where these can be told apart."""

    number: int
    text: str
    fields: list[str]
    changed: bool = False

    def written(self, delimiter: str) -> str:
        """Return the line as it stands in the copy."""
        if not self.changed:
            return self.text
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="").writerow(self.fields)
        return out.getvalue()


@dataclass(slots=True)
class _Copy:
    """The lines of a copy in the making, and how often each mend was made."""

    sniffed: Sniffed
    lines: list[_Line]
    mends: Counter[str] = field(default_factory=Counter)

    def rows(self) -> Iterator[_Line]:
        """Yield the lines below the header that have a field for each column."""
        layout, delimiter = self.sniffed.layout, self.sniffed.delimiter
        for line in self.lines:
            whole = line.fields and len(line.fields) == len(layout.names)
            if whole and line.number > self.sniffed.skip and not declares(layout, line.fields, delimiter):
                yield line

    def put(self, line: _Line, at: int, text: str, mend: str) -> None:
        """Replace a field, and count the mend."""
        line.fields[at] = text
        line.changed = True
        self.mends[mend] += 1

    def strip(self) -> None:
        """Remove blanks around fields."""
        for line in self.lines:
            for at, text in enumerate(line.fields):
                if text != text.strip(BLANKS):
                    self.put(line, at, text.strip(BLANKS), "blanks around a field removed")

    def write_decimal_points(self) -> None:
        """Write points for commas, unless all of these could divide thousands."""
        columns = self.sniffed.layout.number_positions() if self.sniffed.delimiter != "," else ()
        places = [(row, at) for row in self.rows() for at in columns if _COMMA.fullmatch(row.fields[at])]
        if not all(_THOUSANDS.fullmatch(row.fields[at]) for row, at in places):
            for row, at in places:
                self.put(row, at, row.fields[at].replace(",", "."), "decimal comma made a point")

    def swap_times(self) -> None:
        """Swap onset and offset where no row of several has them in order."""
        onset, offset = map(self.sniffed.layout.roles.index, ("onset", "offset"))
        rows = list(self.rows())
        backwards = (
            is_number(row.fields[onset])
            and is_number(row.fields[offset])
            and float(row.fields[offset]) < float(row.fields[onset])
            for row in rows
        )
        if len(rows) >= 2 and all(backwards):
            for row in rows:
                end, begin = row.fields[onset], row.fields[offset]
                row.fields[offset] = end
                self.put(row, onset, begin, "onset and offset of a row swapped")

    def spell_classes(self, known: Sequence[str]) -> None:
        """Write classes as they are known where they differ in case and blanks, from one known name alone."""
        layout = self.sniffed.layout
        label = layout.position("event_label")
        if label is not None:
            fields = [(row, label, row.fields[label]) for row in self.rows()]
        else:
            header = [line for line in self.lines if line.number == self.sniffed.skip and line.fields]
            columns = layout.class_positions()
            fields = [(line, at, layout.names[at]) for line in header for at in columns]
        spelt = known_spellings({name for _, _, name in fields}, known)
        if label is None and len({spelt.get(name, name) for _, _, name in fields}) < len(fields):
            return  # two columns would be one class
        for line, at, name in fields:
            if name in spelt:
                self.put(line, at, spelt[name], f"class {shown(name)} written {shown(spelt[name])}")

    def duplicates(self) -> list[int]:
        """Return the numbers of the lines that stand there already, in all of their fields."""
        numbers = {*self.sniffed.layout.number_positions()}
        seen: set[tuple[str | float, ...]] = set()
        again: list[int] = []
        for row in self.rows():
            key = tuple(
                float(text) if at in numbers and is_number(text) else text
                for at, text in enumerate(row.fields)
            )
            if key in seen:
                again.append(row.number)
            seen.add(key)
        return again
