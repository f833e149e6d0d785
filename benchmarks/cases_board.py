"""Cases of a board of submissions: how much of it is done again when one of them changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import inputs
import numpy as np
import pyarrow as pa
import pyarrow.csv
from case import COMMAND, QUICK, Bench, Command, Result, processes, within

_SUBMISSIONS, _FEW = 50, 3


def board(bench: Bench) -> Iterator[Result]:
    """Bring a board up to date of which one submission changed, against scoring that one with a report."""
    count = _FEW if bench.size is QUICK else _SUBMISSIONS
    rows = bench.size.small_rows
    tables = inputs.wide_tables(bench.folder, rows, file_seconds=60)
    made, site = bench.folder / "submissions", bench.folder / "site"
    try:
        _submit(tables.system, made, count)
        changing = made / "team00.tsv"
        asked = f"board '{made}' --reference '{tables.reference}' -o '{site}'"
        # A blank line is another submission, of the same scores.
        changed = f"echo >>'{changing}' && exec '{COMMAND}' {asked} 2>&1"
        ours: Command = ["bash", "-c", changed]
        report = bench.folder / "report.html"
        floor: Command = [COMMAND, "report", tables.reference, tables.system, "-o", report]
        costs = processes(bench, ours, floor, f"{count} ranked, 0 invalid; {count - 1} unchanged")
        yield within(f"board of {count} x {rows:,} rows, one changed", costs, "one with a report", 2.0)
    finally:
        for folder in (made, site, Path(f"{site}.cache")):
            shutil.rmtree(folder, ignore_errors=True)


def _submit(system: Path, folder: Path, count: int) -> None:
    """Write tables with more and more noise."""
    folder.mkdir()
    table = pyarrow.csv.read_csv(system, parse_options=pyarrow.csv.ParseOptions(delimiter="\t"))
    for number in range(count):
        rng = np.random.default_rng(number)
        noisy = {}
        for name in inputs.CLASSES:
            values = table[name].to_numpy()
            noise = 0.4 * number / count * rng.normal(size=len(values))
            noisy[name] = np.clip(values + noise, 0, 1).round(4)
        columns = {name: noisy.get(name, table[name]) for name in table.column_names}
        with (folder / f"team{number:02}.tsv").open("wb") as file:
            options = pyarrow.csv.WriteOptions(delimiter="\t", quoting_style="none")
            pyarrow.csv.write_csv(pa.table(columns), file, options)
