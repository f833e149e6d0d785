"""Correct a copy of a table, with fixes that cannot change the meaning of a value.

Percentages are not divided by 100, and logits are not made probabilities: only the author knows whether a 1
is one percent or certainty. Lines without a fix keep everything but their line ends.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import BinaryIO

from sedeval_soft.checks.names import known_spellings
from sedeval_soft.errors import InputError, counted, quoted
from sedeval_soft.names import apart
from sedeval_soft.tables.columns import BLANKS, Layout
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import decode, misquoted, numbered, split
from sedeval_soft.tables.rows import declares, has_decimal_comma, thousands_in
from sedeval_soft.tables.source import open_source
from sedeval_soft.tables.text import sniff

_LISTED = 10


def mended(
    path: str | os.PathLike[str], classes: Sequence[str], stdin: BinaryIO | None, limits: Limits
) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of a corrected copy and the fixes; no text if the file is not a readable table.

    classes: the possible classes. Raises InputError if the table cannot be opened or is not text.
    """
    source, layout = open_source(path, stdin, limits), None
    with suppress(InputError):
        decode(source)
        layout = sniff(source, limits)
    lines = {number: line for number, line in numbered(source) if isinstance(line, str)}
    if layout is None:
        return None, ("no copy was written: this cannot be read as a table of UTF-8 text",)
    # Lines with inseparable fields get none.
    fields = {
        number: [field.strip(BLANKS) for field in split(line, layout.delimiter)]
        for number, line in lines.items()
        if misquoted(line, layout.delimiter) is None
    }
    rows = {
        number: row
        for number, row in fields.items()
        if number > layout.skip and len(row) == len(layout.names) and not declares(layout, row)
    }
    numbers = layout.number_positions()
    doubt = thousands_in([row[at] for row in rows.values() for at in numbers])
    edits = [
        (number, at, row[at].replace(",", "."), "decimal comma made a point")
        for number, row in rows.items()
        for at in numbers
        if has_decimal_comma(row[at]) and not doubt
    ]
    edits += _known_classes(fields, rows, layout, classes)
    for number, at, text, _ in edits:
        fields[number][at] = text
    changed, mends = {number for number, *_ in edits}, Counter(mend for *_, mend in edits)
    done = [f"commas were left: write points, or {doubt}"] * bool(doubt)
    done += [f"{mend} ({number})" for mend, number in mends.items()]
    first = {tuple(fields[layout.skip]): 0} if layout.has_header else {}
    again = [number for number, row in rows.items() if first.setdefault(tuple(row), number) != number]
    listed = ", ".join(map(str, again[:_LISTED])) + " ..." * (len(again) > _LISTED)
    done += [f"{counted(len(again), 'duplicate row')} left out (lines {listed})"] * bool(again)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=layout.delimiter, lineterminator="\n")
    for number in sorted({*lines} - {*again}):
        if number in changed:
            writer.writerow(fields[number])
        else:
            out.write(f"{lines[number]}\n")
    return out.getvalue(), tuple(done)


def _known_classes(
    fields: Mapping[int, list[str]], rows: Iterable[int], layout: Layout, known: Sequence[str]
) -> list[tuple[int, int, str, str]]:
    """Return the places of classes from which one known class differs in case and blanks alone, and that."""
    label = layout.position("event_label")
    header = [(layout.skip, at) for at, role in enumerate(layout.roles) if role == "class"]
    places = header if label is None else [(number, label) for number in rows]
    spelt = known_spellings({fields[number][at] for number, at in places}, known)
    if label is None and len({spelt.get(name, name) for name in layout.names}) < len(layout.names):
        return []  # two columns would be one class
    mends = {name: "class {} written {}".format(*apart(name, known, quoted)) for name, known in spelt.items()}
    return [
        (number, at, spelt[name], mends[name])
        for number, at in places
        if (name := fields[number][at]) in spelt
    ]
