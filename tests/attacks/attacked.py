"""Runs the command on hostile inputs in a process of its own, and measures what that took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

SECONDS, BYTES = 5.0, 1 << 30
"""What an attack may take of the machine before it is refused."""


@dataclass(frozen=True)
class Done:
    """How a run ended: its exit code, what it printed on either stream, seconds, and bytes of memory."""

    code: int
    text: str
    seconds: float
    memory: int

    def refused(self, *words: str) -> None:
        """Assert that it ended in time and room, with a message that has some words, and no traceback."""
        assert self.code == 2, self
        assert "Traceback" not in self.text and "defect" not in self.text, self.text[-2000:]
        for word in words:
            assert word in self.text, self.text[-2000:]
        assert len(self.text) < 20_000
        self.was_cheap()

    def was_cheap(self) -> None:
        """Assert that it ended in time and room."""
        assert self.seconds < SECONDS, self
        assert self.memory < BYTES, self


def attack(*arguments: str | Path, stdin: Path | None = None) -> Done:
    """Run `soft-sed-eval` with some arguments."""
    source = stdin.open("rb") if stdin else subprocess.DEVNULL
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "sedeval_soft", *map(str, arguments)],
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout
    text = process.stdout.read().decode("utf-8", "replace")
    # Of this process alone, as the sum over all children has the greatest of any.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if stdin:
        source.close()
    # What others do on the machine counts in one of them, and what two threads do at once in the other.
    seconds = min(time.monotonic() - began, usage.ru_utime + usage.ru_stime)
    return Done(process.returncode, text, seconds, usage.ru_maxrss * 1024)
