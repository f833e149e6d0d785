"""Run a command and watch the memory of it and of all that it begins."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from launch import ENVIRONMENT
from timing import CommandError

_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY = 0.02
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a run took: seconds, seconds of processors, and the largest memory of all its processes together.

    Memory is what processes have for themselves: pages of files that the system keeps are nobody's.
    """

    seconds: float
    processor_seconds: float
    peak_bytes: int


def watched(command: Sequence[str | Path], output: Path | None = None) -> Watched:
    """Run a command to its end; raises CommandError if it fails."""
    with Path(output or os.devnull).open("wb") as file:
        before = os.times()
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=file, stderr=subprocess.PIPE, env=ENVIRONMENT
        )
        peak = 0
        done = threading.Event()

        def look() -> None:
            nonlocal peak
            while not done.wait(_EVERY):
                peak = max(peak, _memory(process.pid))

        looking = threading.Thread(target=look)
        looking.start()
        _, errors = process.communicate()
        seconds = time.perf_counter() - start
        done.set()
        looking.join()
        after = os.times()
    if process.returncode:
        raise CommandError(
            f"{' '.join(map(str, command))}\nexit code {process.returncode}\n{errors.decode()}"
        )
    worked = after.children_user + after.children_system - before.children_user - before.children_system
    return Watched(seconds, worked, peak)


def _memory(process: int) -> int:
    """Return the bytes that a process and all that it began have for themselves."""
    try:
        fields = Path(f"/proc/{process}/statm").read_text().split()
        begun = [
            int(child)
            for task in Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE + sum(map(_memory, begun))
