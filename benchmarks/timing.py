"""Run two things in turn and keep their times; nothing here knows what they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LAUNCHER = Path(__file__).with_name("launch.py")


class CommandError(Exception):
    """A measured command failed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took. peak_bytes and processor_seconds are 0 for a call in this process."""

    seconds: float
    peak_bytes: int = 0
    processor_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    """What all runs of one pair took, in the order in which they ran."""

    ours: tuple[Cost, ...]
    other: tuple[Cost, ...]

    @property
    def seconds(self) -> tuple[float, float]:
        """Return the median time of ours and of the other."""
        return median(run.seconds for run in self.ours), median(run.seconds for run in self.other)

    @property
    def processor_seconds(self) -> tuple[float, float]:
        """Return the median processor time of ours and of the other."""
        ours, other = (median(run.processor_seconds for run in side) for side in (self.ours, self.other))
        return ours, other

    @property
    def peak_bytes(self) -> float:
        """Return the median peak memory of ours."""
        return median(run.peak_bytes for run in self.ours)

    @property
    def ratio(self) -> float:
        """Return our time over the other's: the median over pairs of runs next to each other.

        An other that is too slow to run each time ran once; each of our runs is compared with it.
        """
        others = self.other * len(self.ours) if len(self.other) == 1 else self.other
        pairs = zip(self.ours, others, strict=True)
        return median(ours.seconds / other.seconds for ours, other in pairs)


def in_turn(ours: Callable[[], Cost], other: Callable[[], Cost], runs: int, *, once: bool = False) -> Costs:
    """Run ours and the other alternately, after one run of ours (and of the other) that does not count.

    once: run the other a single time, in the middle of ours, and not before: it takes long, and
    its start is nothing beside it.
    """
    ours()
    if not once:
        other()
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for run in range(runs):
        costs[0].append(ours())
        if not once or run == runs // 2:
            costs[1].append(other())
    return Costs(tuple(costs[0]), tuple(costs[1]))


def call(function: Callable[[], object]) -> Callable[[], Cost]:
    """Return a function that runs `function` in this process and says what it took."""

    def run() -> Cost:
        start = time.perf_counter()
        function()
        return Cost(time.perf_counter() - start)

    return run


def process(command: Sequence[str | Path], output: Path | None = None) -> Callable[[], Cost]:
    """Return a function that runs a command as a process of its own and says what it took.

    output: where its standard output goes, by default nowhere. Raises CommandError if it fails.
    """
    launch = [sys.executable, "-I", "-S", LAUNCHER, output or os.devnull, *command]

    def run() -> Cost:
        done = subprocess.run([str(part) for part in launch], capture_output=True, text=True, check=False)
        if done.returncode:
            raise CommandError(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stderr}")
        found = json.loads(done.stdout)
        return Cost(found["seconds"], found["peak_bytes"], found["processor_seconds"])

    return run
