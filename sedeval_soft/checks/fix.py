"""Correct a copy of a table, with fixes that cannot change the meaning of a value.

Percentages are not divided by 100, and logits are not made probabilities: only the author knows whether a 1
is one percent or certainty. Lines without a fix keep everything but their line ends.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from sedeval_soft.checks.names import known_spellings
from sedeval_soft.checks.placed_tables import Log, read_source
from sedeval_soft.errors import InputError, quoted
from sedeval_soft.names import apart
from sedeval_soft.tables.columns import BLANKS, Layout, is_number
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import misquoted, numbered, split
from sedeval_soft.tables.rows import declares, has_decimal_comma, thousands_in
from sedeval_soft.tables.source import (
    Source,
    compression_of,
    decompress,
    marked_text,
    open_source,
    read_bytes,
    spelled,
)
from sedeval_soft.tables.text import sniff

_LISTED = 10

Rows = Mapping[int, list[str]]
"""The fields of lines, by number."""

Edits = Iterator[tuple[int, int, str, str]]
"""Line number, position of the field, new text, and description of the fix."""


def mended(
    path: str | os.PathLike[str], classes: Sequence[str], stdin: BinaryIO | None, limits: Limits
) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of a corrected copy and the fixes; no text if the file is not a readable table.

    classes: the possible classes. Raises InputError if the table cannot be opened or is not text.
    """
    source, done = _open(path, stdin, limits)
    layout: Layout | None = None
    with suppress(InputError):
        layout = sniff(source, limits)
    if layout is None:
        return None, ("no copy was written: this cannot be read as a table",)
    lines = dict(numbered(source))
    texts = {number: text for number, text in lines.items() if isinstance(text, str)}
    if len(texts) < len(lines):
        first = next(number for number in lines if number not in texts)
        return None, (f"no copy was written: line {first} is not UTF-8 text",)
    done += ["line ends made LF"] if source.data.find(b"\r") >= 0 else []
    delimiter, n_columns = layout.delimiter, len(layout.names)
    # Lines with inseparable fields get none.
    whole = {n: text for n, text in texts.items() if text.strip() and misquoted(text, delimiter) is None}
    fields = {number: split(text, delimiter) for number, text in whole.items()}
    below = {n: row for n, row in fields.items() if n > layout.skip and len(row) == n_columns}
    rows = {n: row for n, row in below.items() if not declares(layout, row)}
    numbers = layout.number_positions()
    doubt = thousands_in([row[at].strip(BLANKS) for row in rows.values() for at in numbers])
    done += [f"commas were left: write points, or {doubt}"] if doubt else []
    mends: Counter[str] = Counter()
    changed = set()
    # Each fix begins with the result of the fixes before it.
    for number, at, text, mend in chain(
        _each(fields, None, lambda text: text.strip(BLANKS), "blanks around a field removed"),
        _each(rows, () if doubt else numbers, _with_point, "decimal comma made a point"),
        _with_known_classes(rows, layout, classes),
    ):
        fields[number][at] = text
        changed.add(number)
        mends[mend] += 1
    done += [f"{mend} ({number})" for mend, number in mends.items()]
    again = _repeated(rows, {*numbers}, layout)
    if again:
        listed = ", ".join(map(str, [*again][:_LISTED])) + (" ..." if len(again) > _LISTED else "")
        what = "line" if len(again) == 1 else "lines"
        done.append(f"duplicate rows left out ({len(again)}: {what} {listed})")
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    for number, text in texts.items():
        if number in changed and number not in again:
            writer.writerow(fields[number])
        elif number not in again:
            out.write(f"{text}\n")
    # It is tried before it is proposed.
    before, after = Log(1), Log(1)
    read_source(source, before, limits)
    read_source(Source(source.name, out.getvalue().encode(), str), after, limits)
    if after.count("error") > before.count("error"):
        return None, ("no copy was written: mended, the table would have more errors",)
    return out.getvalue(), tuple(done)


def _open(path: str | os.PathLike[str], stdin: BinaryIO | None, limits: Limits) -> tuple[Source, list[str]]:
    """Return a text to fix, and the fixes that reading it took: UTF-16, for example, is decoded."""
    try:
        source = open_source(path, stdin, limits)
    except InputError as error:
        if error.problems[0].code != "utf-16" or stdin is not None:
            raise
        name = os.fspath(path)
        data = read_bytes(name, None, limits)
        data = decompress(spelled(name), data, limits) if compression_of(data) else data
        encoding, text = marked_text(spelled(name), data)
        return Source(spelled(name), text.encode(), str), [f"{encoding} written as UTF-8"]
    with suppress(OSError, ValueError), Path(source.name).open("rb") as file:
        return source, ["byte order mark removed"] if file.read(3) == b"\xef\xbb\xbf" else []
    return source, []  # standard input


def _each(rows: Rows, columns: Sequence[int] | None, change: Callable[[str], str], mend: str) -> Edits:
    """Change fields of some or all columns; yield a fix for each field that changes."""
    for number, row in rows.items():
        for at in range(len(row)) if columns is None else columns:
            if (text := change(row[at])) != row[at]:
                yield number, at, text, mend


def _with_point(text: str) -> str:
    return text.replace(",", ".") if has_decimal_comma(text) else text


def _with_known_classes(rows: Rows, layout: Layout, known: Sequence[str]) -> Edits:
    """Write classes as the known classes do, if case and blanks alone differ and one known class matches."""
    label, names = layout.position("event_label"), layout.names
    if label is not None:
        places = [(number, label, row[label]) for number, row in rows.items()]
    else:
        places = [(layout.skip, at, names[at]) for at, role in enumerate(layout.roles) if role == "class"]
    spelt = known_spellings({name for _, _, name in places}, known)
    if label is None and len({spelt.get(name, name) for _, _, name in places}) < len(places):
        return  # two columns would be one class
    for number, at, name in places:
        if name in spelt:
            before, after = apart(name, spelt[name], quoted)
            yield number, at, spelt[name], f"class {before} written {after}"


def _repeated(rows: Rows, numbers: set[int], layout: Layout) -> dict[int, None]:
    """Return the lines that repeat an earlier line or the header; numbers: positions of numeric fields."""
    seen: set[tuple[str | float, ...]] = {layout.names} if layout.has_header else set()
    again: dict[int, None] = {}
    for number, row in rows.items():
        key = tuple(float(x) if at in numbers and is_number(x) else x for at, x in enumerate(row))
        if key in seen:
            again[number] = None
        seen.add(key)
    return again
