"""Runs the command on hostile inputs in a process of its own, and measures what that took."""

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from called import PROGRAM, unmeasured

ROOT = Path(__file__).parents[2]
LAUNCHED = [sys.executable, "-I", "-S", ROOT / "benchmarks" / "launch.py"]

SECONDS, BYTES = 20.0, 1 << 30
"""What an attack may take of the machine, with loops that are compiled for the first time."""


@dataclass(frozen=True)
class Done:
    """How a run ended: its exit code, what it printed on either stream, seconds, and bytes of memory."""

    code: int
    text: str
    seconds: float
    memory: int

    def refused(self, *words: str, **bounds: float) -> None:
        """Assert that it was refused with some words, cheaply."""
        self.ended(2, *words, **bounds)

    def scored(self, *words: str, **bounds: float) -> None:
        """Assert that it did what it was asked for, with some words, cheaply."""
        self.ended(0, *words, **bounds)

    def ended(self, code: int, *words: str, memory: float = BYTES, seconds: float = SECONDS) -> None:
        """Assert its exit code, and that it was in time and room, with these words and no traceback.

        Of what is refused not too much is said.
        """
        assert self.code == code and (code == 0 or len(self.text) < 20_000), self
        assert self.seconds < seconds and self.memory < memory, self
        assert "Traceback" not in self.text and "defect" not in self.text, self.text[-2000:]
        assert [word for word in words if word not in self.text] == [], self.text[-2000:]


def attack(*arguments: str | Path, stdin: Path | None = None) -> Done:
    """Run `soft-sed-eval` with some arguments, from a small process that measures it alone."""
    with ExitStack() as open_, tempfile.NamedTemporaryFile() as output:
        source = open_.enter_context(stdin.open("rb")) if stdin else subprocess.DEVNULL
        done = subprocess.run(
            [*LAUNCHED, output.name, *PROGRAM, *map(str, arguments)],
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
