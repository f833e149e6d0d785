"""The case of the report: what the page costs beyond the scores, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator

import inputs
from case import COMMAND, QUICK, Bench, Result, megabytes, processes, seconds

_ROWS, _FILE_SECONDS, _CLASSES = 11_369, 232, 11
"""The seconds of MAESTRO's development set, and of one of its 49 files, about, and its classes."""

_SECONDS, _BYTES = 3.0, 8e6
"""What a page of MAESTRO may take beyond the evaluation, and how large it may be."""


def report(bench: Bench) -> Iterator[Result]:
    """Score a table as large as MAESTRO with a page and without."""
    rows = bench.size.small_rows if bench.size is QUICK else _ROWS
    tables = inputs.wide_tables(bench.folder, rows, _FILE_SECONDS)
    chosen = inputs.CLASSES[:_CLASSES]
    plain = [COMMAND, tables.reference, tables.system, "--classes", ",".join(chosen), "--by-class"]
    page = bench.folder / "report.html"
    ours = [COMMAND, "report", tables.reference, tables.system, "--classes", ",".join(chosen), "-o", page]
    # A page is written: nothing is printed.
    costs = processes(bench, ours, plain, "")
    beyond = costs.seconds[0] - costs.seconds[1]
    case = f"report, {rows:,} rows wide, {len(chosen)} classes"
    yield Result(f"{case}: beyond the evaluation", seconds(beyond), f"{_SECONDS:g} s", beyond / _SECONDS, 1.0)
    size = page.stat().st_size
    yield Result(f"{case}: size of the page", megabytes(size), megabytes(_BYTES), size / _BYTES, 1.0)
