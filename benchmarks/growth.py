"""Measure how processor time and memory grow in each direction: files, classes, rows, levels, systems ...

    python benchmarks/growth.py [--direction NAME]... [--seconds 120] [--gigabytes 20] [--quick] [--json FILE]

Each size runs in a process of its own, on tables in memory. What is measured is one call of the library,
after one on the smallest size: the processor time of all its threads, and its peak of memory beyond what
there was before. A direction ends where a run takes longer than `--seconds`, or would take more than
`--gigabytes`. The power is the slope of a line through the logarithms of the three largest sizes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from run import machine, versions

Sides = tuple[pa.Table, Any]

_LEAST = 0.05
"""Seconds below which a time says nothing of growth."""


def table(file: Any, onset: Any, label: Any, value: Any) -> pa.Table:  # noqa: ANN401 - whatever numpy takes
    """Return a long table of rows that last a second; file and label: numbers."""
    names = {"filename": "f{:07d}.wav", "event_label": "c{:06d}"}
    columns: dict[str, Any] = {}
    for name, numbers in (("filename", file), ("event_label", label)):
        codes = np.asarray(numbers, dtype=np.int32)
        texts = [names[name].format(code) for code in range(int(codes.max()) + 1)]
        columns[name] = pa.DictionaryArray.from_arrays(codes, texts)
    onset = np.asarray(onset, dtype=np.float64)
    return pa.table(columns | {"onset": onset, "offset": onset + 1.0, "value": value})


def sides(file: Any, onset: Any, label: Any, levels: int = 10_000) -> Sides:  # noqa: ANN401
    """Return a reference and a system that have the same rows, with values of so many levels."""
    rng = np.random.default_rng(len(onset))
    reference, system = (rng.integers(1, levels + 1, len(onset)) / levels for _ in range(2))
    return table(file, onset, label, reference), table(file, onset, label, 0.5 * (reference + system))


def files(n: int) -> Sides:
    """Return n files of ten seconds of one class."""
    return sides(np.repeat(np.arange(n), 10), np.tile(np.arange(10.0), n), np.zeros(10 * n))


def classes(n: int) -> Sides:
    """Return ten seconds of each of n classes, in one of ten files."""
    return sides(np.repeat(np.arange(n) % 10, 10), np.tile(np.arange(10.0), n), np.repeat(np.arange(n), 10))


def rows(n: int) -> Sides:
    """Return n rows of 17 classes in every second of files of five minutes."""
    second = np.arange(n) // 17
    return sides(second // 300, second % 300, np.arange(n) % 17)


def events(n: int) -> Sides:
    """Return n events of one file and class, with a second between them."""
    return sides(np.zeros(n), 2.0 * np.arange(n), np.zeros(n))


def levels(n: int) -> Sides:
    """Return a million rows of 17 classes, whose values are n different ones."""
    second = np.arange(1_000_000) // 17
    return sides(second // 300, second % 300, np.arange(1_000_000) % 17, n)


def systems(n: int) -> Sides:
    """Return n systems of 17 classes in a minute of each of ten files."""
    reference, system = rows(10 * 60 * 17)
    rng, value = np.random.default_rng(n), system["value"].to_numpy()
    place = system.column_names.index("value")
    return reference, {
        f"system {k}": system.set_column(
            place, "value", [np.clip(value + 0.1 * rng.random(len(value)), 0, 1)]
        )
        for k in range(n)
    }


def replicates(n: int) -> Sides:  # noqa: ARG001 - the call has as many
    """Return 17 classes in a minute of each of 100 files."""
    return rows(100 * 60 * 17)


def evaluation(made: Sides, _: int) -> None:
    """Score one system, in all readings of segments and events."""
    from sedeval_soft import Limits, evaluate

    # Ten thousand classes are refused unless it is said that they are meant.
    evaluate(*made, limits=Limits(classes=10**6))


def comparison(made: Sides, _: int) -> None:
    """Rank all systems, with intervals and tests."""
    from sedeval_soft import compare

    compare(*made, replicates=200)


def intervals(made: Sides, n: int) -> None:
    """Score one system with intervals of n replicates."""
    from sedeval_soft import evaluate

    evaluate(*made, ci="bootstrap", replicates=n)


@dataclass(frozen=True, slots=True)
class Direction:
    """What grows: how an input of size n is made, what is called, and from which power of ten to which."""

    make: Callable[[int], Sides]
    run: Callable[[Sides, int], None]
    powers: tuple[int, int]


DIRECTIONS = {
    "files": Direction(files, evaluation, (2, 6)),
    "classes": Direction(classes, evaluation, (2, 5)),
    "rows": Direction(rows, evaluation, (2, 7)),
    "events of one file": Direction(events, evaluation, (2, 6)),
    "levels of a million rows": Direction(levels, evaluation, (2, 6)),
    "systems": Direction(systems, comparison, (1, 3)),
    "replicates": Direction(replicates, intervals, (2, 5)),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What one size took: processor seconds, and bytes beyond what there was before."""

    direction: str
    size: int
    seconds: float
    peak_bytes: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print Markdown."""
    options = parser().parse_args(arguments)
    if options.one:
        print(json.dumps(asdict(measured(options.direction[0], options.one))))
        return 0
    runs: list[Run] = []
    for name in options.direction or DIRECTIONS:
        low, high = DIRECTIONS[name].powers
        for power in range(low, (low + 1 if options.quick else high) + 1):
            run = started(name, 10**power, options)
            if run is None:
                break
            runs.append(run)
            if run.seconds > options.seconds:
                break
    print(document(runs), end="")
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n", encoding="utf-8")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    made.add_argument("--direction", action="append", choices=list(DIRECTIONS), help="only this (repeatable)")
    made.add_argument(
        "--seconds", type=float, default=120.0, help="processor time after which nothing larger runs"
    )
    made.add_argument("--gigabytes", type=float, default=20.0, help="memory that a run may have")
    made.add_argument(
        "--quick", action="store_true", help="the two smallest sizes: only to see that it works"
    )
    made.add_argument("--json", type=Path, help="write all numbers to this file")
    made.add_argument("--one", type=int, help=argparse.SUPPRESS)
    return made


def started(name: str, size: int, options: argparse.Namespace) -> Run | None:
    """Run one size in a process of its own; None if it needs more memory or time than it may."""
    command = [sys.executable, __file__, "--direction", name, "--one", str(size)]

    def limited() -> None:
        most = int(options.gigabytes * 1e9)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (int(6 * options.seconds), int(6 * options.seconds)))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limited)
    if done.returncode:
        print(f"{name}, {size:,}: ended with {done.returncode}\n{done.stderr[-500:]}", file=sys.stderr)
        return None
    run = Run(**json.loads(done.stdout))
    print(
        f"{name}, {size:,}: {run.seconds:.2f} s, {run.peak_bytes / 2**20:,.0f} MiB",
        file=sys.stderr,
        flush=True,
    )
    return run


def measured(name: str, size: int) -> Run:
    """Return what one size takes in this process."""
    direction = DIRECTIONS[name]
    smallest = 10 ** direction.powers[0]
    direction.run(direction.make(smallest), smallest)
    made = direction.make(size)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # The peak of memory begins anew.
    start = time.process_time()
    direction.run(made, size)
    return Run(name, size, time.process_time() - start, max(0, memory("VmHWM") - before))


def memory(name: str) -> int:
    """Return a size that the system has of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) * 1024


def document(runs: Sequence[Run]) -> str:
    """Return a table of time and one of memory, a row for each direction, with the powers of growth."""
    sizes = sorted({run.size for run in runs})
    heads = [f"10^{round(math.log10(size))}" for size in sizes]
    lines = []
    for what, value in (
        ("processor time", lambda run: f"{run.seconds:.3g} s"),
        ("memory", lambda run: f"{run.peak_bytes / 2**20:,.0f} MiB"),
    ):
        lines += [
            f"| {what} over the number of | {' | '.join(heads)} | power |",
            "|---|" + "--:|" * (len(sizes) + 1),
        ]
        for name in dict.fromkeys(run.direction for run in runs):
            of = {run.size: run for run in runs if run.direction == name}
            cells = [value(of[size]) if size in of else "" for size in sizes]
            lines.append(f"| {name} | {' | '.join(cells)} | {power(of, what)} |")
        lines.append("")
    return "\n".join([*lines, f"{machine()}, {os.cpu_count()} processors.", f"{versions()}.", ""])


def power(runs: Mapping[int, Run], what: str) -> str:
    """Return the slope of the logarithms of the three largest sizes, `-` where fewer than two take time."""
    chosen = [run for size, run in sorted(runs.items()) if run.seconds >= _LEAST][-3:]
    if len(chosen) < 2:
        return "-"
    values = [run.seconds if what == "processor time" else max(run.peak_bytes, 1) for run in chosen]
    return f"{np.polyfit(np.log([run.size for run in chosen]), np.log(values), 1)[0]:.2f}"


if __name__ == "__main__":
    sys.exit(main())
