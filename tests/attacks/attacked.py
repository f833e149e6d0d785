"""Runs the command on hostile inputs in a process of its own, and measures what that took."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from called import unmeasured

ROOT = Path(__file__).parents[2]
LAUNCHER = ROOT / "benchmarks" / "launch.py"

SECONDS, BYTES = 20.0, 1 << 30
"""What an attack may take of the machine, with loops that are compiled for the first time."""


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
    """Run `soft-sed-eval` with some arguments, from a small process that measures it alone."""
    with ExitStack() as open_, tempfile.NamedTemporaryFile() as output:
        source = open_.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
        command = [sys.executable, "-m", "sedeval_soft", *map(str, arguments)]
        done = subprocess.run(
            [sys.executable, "-I", "-S", LAUNCHER, output.name, *command],
            stdin=source,
            capture_output=True,
            check=False,
            env={**unmeasured(), "PYTHONPATH": str(ROOT)},
        )
        text = (output.read() + done.stderr).decode("utf-8", "replace")
    cost = json.loads(done.stdout)
    # What others do on the machine counts in one of them, and what two threads do at once in the other.
    seconds = min(cost["seconds"], cost["processor_seconds"])
    return Done(done.returncode, text, seconds, cost["peak_bytes"])
