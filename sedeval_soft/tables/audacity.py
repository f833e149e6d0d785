"""Audacity label tracks: lines of start, end and label with tabs, and lines of frequencies behind them.

A label at a point has the same start and end. A line that begins with a backslash holds the frequencies of
the label before it. Quotes are characters like others.
"""

from __future__ import annotations

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import InputError, Problem, counted, quoted
from sedeval_soft.tables.annotations import Events, number
from sedeval_soft.tables.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED, EventTable
from sedeval_soft.tables.fit import as_long, check_text, shown
from sedeval_soft.tables.rttm import seconds
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text_lines import decode
from sedeval_soft.tables.ticks import to_ticks

_HEAD = 1 << 16


def reads(source: Source) -> bool:
    """Return whether there are frequencies behind a label: what else a track holds is a table like others."""
    if source.data.find(b"\n\\\t") < 0:
        return False
    first = source.data[:_HEAD].split(b"\n", 1)[0].decode("utf-8", "replace").split("\t")
    return len(first) >= 2 and is_number(first[0]) and is_number(first[1])


def read(source: Source, limits: Limits) -> EventTable | None:
    """Read the labels; frequencies are read past."""
    if not source.data[:].strip():
        return None
    found = Events(source, limits)
    spectral = 0
    for line, content in enumerate(decode(source).split("\n"), 1):
        text = content.rstrip("\r")
        if not text.strip():
            continue
        fields = text.split("\t", 2)
        if fields[0] == "\\":
            spectral += 1
            if len(fields) != 3 or not (found.times or found.problems):
                found.wrong(line, "is no line of frequencies behind a label; expected \\, low, high")
            continue
        if len(fields) < 3:
            found.wrong(line, f"has {len(fields)} fields; expected start, end and label, tabs between")
            continue
        bad = next((i for i in (0, 1) if not is_number(fields[i])), None)
        if bad is not None:
            found.wrong(line, f"{quoted(fields[bad])} is not a number of seconds", bad + 1)
            continue
        found.add(line, UNNAMED, fields[2].strip(), (number(fields[0]), number(fields[1])))
    past = f"{counted(spectral, 'line')} of frequencies {'was' if spectral == 1 else 'were'} read past"
    notes = [past] if spectral else []
    return found.rows("Audacity label track", notes)


def write(rows: EventTable) -> bytes:
    """Return a line for each row, as Audacity exports them."""
    rows, source = as_long(rows), rows.origin.name
    check_text(source, rows.classes, "audacity", "\r\n\t")
    for name in rows.classes:
        if name.startswith('"'):
            why = f"the name {shown(name)} begins with a quote, which readers of tables take away"
            raise InputError(Problem(source, why, code="cannot-hold"))
    times = zip(to_ticks(rows.onset).tolist(), to_ticks(rows.offset).tolist(), strict=True)
    return "".join(
        f"{seconds(begin)}\t{seconds(end)}\t{rows.classes[label]}\n"
        for label, (begin, end) in zip(rows.row_label.tolist(), times, strict=True)
    ).encode()
