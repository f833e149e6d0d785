"""Moments of audio for queries (DCASE 2026 task 6, QVHighlights): JSON lines, an object for each query.

`relevant_windows` of a reference are lists of onset and offset, `pred_relevant_windows` of a system also have
a score. The recording (`vid`) is the file, and the number of the query (`qid`) the class. So a query without
any window is a class without rows.
"""

from __future__ import annotations

from typing import Any

import msgspec

from sedeval_soft.errors import Problem
from sedeval_soft.tables.annotation_document import (
    HEAD,
    NO_JSON,
    Document,
    check_document,
    objects,
    one_line_of,
)
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source

_WIDTHS = {"pred_relevant_windows": 3, "relevant_windows": 2}
"""The fields of windows, and the numbers of a window."""


def reads_moments(source: Source, limits: Limits) -> bool:  # noqa: ARG001
    """Return whether the first line is a query with its number, its recording, and windows."""
    try:
        first = msgspec.json.decode(source.data[:HEAD].lstrip().split(b"\n", 1)[0], type=dict[str, Any])
    except NO_JSON:
        return False
    return {"qid", "vid"} <= first.keys() and not first.keys().isdisjoint(_WIDTHS)


def read_moments(source: Source, limits: Limits) -> EventTable | None:
    """Read a query a line; raises InputError with the lines that are none."""
    check_document(source)
    document, lines = Document(source, limits, "JSON lines of moments"), dict[str, int]()
    for line, item in objects(source):
        if isinstance(item, Problem):
            document.records.append((line, item, ""))
            continue
        vid, qid = (
            one_line_of(str(item[name])) if isinstance(item.get(name), str | int) else ""
            for name in ("vid", "qid")
        )
        field = next((name for name in _WIDTHS if name in item), "relevant_windows")
        windows, width = item.get(field), _WIDTHS[field]
        if not vid or not qid:
            document.wrong(line, "names no recording or no query; expected vid and qid")
        elif lines.setdefault(qid, line) != line:
            document.wrong(line, f"query {qid} is in line {lines[qid]}, too; expected each once")
        elif not isinstance(windows, list) or not all(_is_window(each, width) for each in windows):
            document.wrong(line, f"expected {field}, a list of lists of {width} numbers")
        else:
            document.recordings[vid] = None
            for onset, offset, *score in windows:
                value = repr(score[0]) if width > 2 else ""
                document.add(line, [vid, repr(onset), repr(offset), qid, value])
    return document.rows()


def _is_window(given: Any, width: int) -> bool:  # noqa: ANN401 - any value of JSON
    """Return whether a value is a list of so many numbers, or more."""
    numbers = isinstance(given, list) and all(type(each) in (int, float) for each in given)
    return numbers and len(given) >= width
