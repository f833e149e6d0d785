"""Measure how time and memory grow with the rows of both sides, against what only reads them.

    python benchmarks/scale.py [--rows N]... [--only segment] [--shards N]... [--clips N] [--quick]
                               [--folder DIR] [--json FILE] [--plot FILE]

Each size is measured once, in turn with its floors: `wc -l`, and pyarrow.csv reading both tables to the end.
Memory is the largest sum over all processes of what they have for themselves. Inputs are made in a temporary
folder, or in DIR: fifty bytes a row and side.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import large
import numpy as np
from case import COMMAND
from inputs import reading
from run import machine, versions
from watch import Watched, watched

ROWS = (10_000, 100_000, 1_000_000, 5_000_000, 20_000_000, 50_000_000)
QUICK = (10_000, 100_000)
LIMIT = "2GB"
SHARDS, SHARD_LIMIT = 10, "4GB"
CLIPS_LIMIT = "8GB"
SCORE = "segment.soft.f1.micro"
_SHARDS = "shards of Parquet"


@dataclass(frozen=True, slots=True)
class Run:
    """A run. rows: of the reference and of the system. jobs: processes, 0 of what is no run of ours."""

    what: str
    rows: tuple[int, int]
    jobs: int
    limit: str
    seconds: float
    processor_seconds: float
    peak_bytes: int

    @classmethod
    def of(cls, what: str, rows: tuple[int, int], jobs: int, limit: str, found: Watched) -> Run:
        """Return a run from what was watched."""
        return cls(what, rows, jobs, limit, found.seconds, found.processor_seconds, found.peak_bytes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print Markdown, and write what was asked for."""
    options = parser().parse_args(arguments)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="soft-sed-eval-", dir=options.folder) as name:
        folder = Path(name)
        for n_rows in options.rows or (QUICK if options.quick else ROWS):
            runs += _tables(folder, n_rows, options.only)
        for n_rows in options.shards:
            runs += _shards(folder, n_rows)
        if options.clips:
            runs += _clips(folder, options.clips)
    print(document(runs), end="")
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n", encoding="utf-8")
    if options.plot:
        plot(runs, options.plot)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    made.add_argument("--rows", type=int, action="append", help="rows of each side (repeatable)")
    made.add_argument("--only", action="append", help="what is evaluated (default: segment)")
    made.add_argument(
        "--shards", type=int, action="append", default=[], help="rows in shards of Parquet, too (repeatable)"
    )
    made.add_argument("--clips", type=int, default=0, help="clips of 10 s and 456 classes, too")
    made.add_argument("--quick", action="store_true", help="small inputs: only to see that it works")
    made.add_argument("--folder", type=Path, help="where inputs are made")
    made.add_argument("--json", type=Path, help="write all numbers to this file")
    made.add_argument("--plot", type=Path, help="draw time and memory over rows into this file")
    return made


def _tables(folder: Path, n_rows: int, only: Sequence[str] | None) -> list[Run]:
    """Measure two tables of text."""
    made = large.tables(folder, n_rows)
    paths = [made.reference, made.system]
    rows = n_rows, n_rows
    options = [f"--only={part}" for part in only or ["segment"]]
    runs = []
    for jobs in (1, 2):
        command = [COMMAND, *paths, *options, "--jobs", str(jobs), "--memory-limit", LIMIT, "--score", SCORE]
        runs.append(_told(Run.of("tables", rows, jobs, LIMIT, watched(command))))
    runs.append(_told(Run.of("wc -l", rows, 0, "", watched(["wc", "-l", *paths]))))
    runs.append(_told(Run.of("pyarrow.csv reads both", rows, 0, "", watched(reading(*paths)))))
    for path in paths:
        path.unlink()
    return runs


def _shards(folder: Path, n_rows: int) -> list[Run]:
    """Measure shards of Parquet."""
    names = large.shards(folder, n_rows, SHARDS)
    command = [COMMAND, *names, "--only=segment", "--jobs=2", "--memory-limit", SHARD_LIMIT, "--score", SCORE]
    runs = [_told(Run.of(_SHARDS, (n_rows, n_rows), 2, SHARD_LIMIT, watched(command)))]
    for path in folder.iterdir():
        path.unlink()
    return runs


def _clips(folder: Path, n_clips: int) -> list[Run]:
    """Measure many short clips of many classes."""
    made = large.clips(folder, n_clips)
    runs = []
    for only in (["segment"], ["event"], ["segment", "event", "intersection"]):
        options = [f"--only={part}" for part in only]
        if len(only) > 1:
            options += ["--psds", "dcase-psds1"]
        command = [COMMAND, made.reference, made.system, *options, "--jobs=2", "--memory-limit", CLIPS_LIMIT]
        what = f"{n_clips:,} clips, {', '.join(only)}{' and PSDS' if len(only) > 1 else ''}"
        runs.append(_told(Run.of(what, made.n_rows, 2, CLIPS_LIMIT, watched([*command, "--quiet"]))))
    return runs


def _told(run: Run) -> Run:
    said = f"{run.what}, {run.rows[0]:,} + {run.rows[1]:,} rows, {run.jobs} jobs: {run.seconds:.2f} s"
    print(f"{said}, {run.peak_bytes / 2**20:.0f} MiB", file=sys.stderr, flush=True)
    return run


def document(runs: Sequence[Run]) -> str:
    """Return a table of all runs, and how time grows with rows."""
    lines = [
        "| what | rows of reference and system | jobs | limit | time | time of all processors | memory |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for run in runs:
        both, took = f"{run.rows[0]:,} + {run.rows[1]:,}", f"{run.seconds:.2f} s"
        worked, memory = f"{run.processor_seconds:.2f} s", f"{run.peak_bytes / 2**20:,.0f} MiB"
        cells = (run.what, both, str(run.jobs or ""), run.limit, took, worked, memory)
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for what, jobs in (("tables", 1), ("tables", 2), (_SHARDS, 2)):
        own = [run for run in runs if run.what == what and run.jobs == jobs]
        slope = growth(own)
        if slope is not None:
            start = min(own, key=lambda run: run.rows).seconds
            said = f"{what}, {jobs} jobs: from 1,000,000 rows time grows with the power {slope:.2f}"
            beyond = growth(own, start)
            lines.append(said + (f"; beyond {start:.2f} s, {beyond:.2f}." if beyond is not None else "."))
    return "\n".join([*lines, "", f"{machine()}.", f"{versions()}.", ""])


def growth(runs: Sequence[Run], start: float = 0.0) -> float | None:
    """Return the slope of log time over log rows, from a million; None for fewer than two.

    start: seconds that every run takes, however few its rows.
    """
    kept = [run for run in runs if run.rows[0] >= 1_000_000 and run.seconds > start]
    if len(kept) < 2:
        return None
    rows, times = [float(run.rows[0]) for run in kept], [run.seconds - start for run in kept]
    return float(np.polyfit(np.log(rows), np.log(times), 1)[0])


def plot(runs: Sequence[Run], path: Path) -> None:
    """Draw time and memory over rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    series = {
        "1 job": [run for run in runs if run.what == "tables" and run.jobs == 1],
        "2 jobs": [run for run in runs if run.what == "tables" and run.jobs == 2],
        "pyarrow.csv reads both": [run for run in runs if run.what.startswith("pyarrow")],
        "wc -l": [run for run in runs if run.what == "wc -l"],
    }
    for (name, own), marker in zip(series.items(), "os^v", strict=True):
        rows = [run.rows[0] for run in own]
        axes[0].loglog(rows, [run.seconds for run in own], marker=marker, label=name)
        if name != "wc -l":
            axes[1].loglog(rows, [run.peak_bytes / 2**20 for run in own], marker=marker, label=name)
    axes[0].set(xlabel="rows of each side", ylabel="seconds", title="Time")
    axes[1].set(xlabel="rows of each side", ylabel="MiB", title=f"Memory, limit {LIMIT}")
    for axis in axes:
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
