"""Runs the command on hostile inputs in a separate process, and measures its time and memory."""

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
"""Most time and memory of one attack, including the first compilation of loops."""


@dataclass(frozen=True)
class Done:
    """The exit code of a run, the text of both streams, the seconds, and the bytes of memory."""

    code: int
    text: str
    seconds: float
    memory: int

    def refused(self, *words: str, **bounds: float) -> None:
        """Assert that the command refused the input cheaply, and printed these words."""
        self.ended(2, *words, **bounds)

    def scored(self, *words: str, **bounds: float) -> None:
        """Assert that the command succeeded cheaply, and printed these words."""
        self.ended(0, *words, **bounds)

    def ended(self, code: int, *words: str, memory: float = BYTES, seconds: float = SECONDS) -> None:
        """Assert the exit code, the bounds of time and memory, and these words without a traceback.

        The message of a refusal must be short.
        """
        assert self.code == code and (code == 0 or len(self.text) < 20_000), self
        assert self.seconds < seconds and self.memory < memory, self
        assert "Traceback" not in self.text and "defect" not in self.text, self.text[-2000:]
        assert [word for word in words if word not in self.text] == [], self.text[-2000:]


def attack(*arguments: str | Path, stdin: Path | None = None) -> Done:
    """Run `soft-sed-eval` with some arguments from a small process that measures only this run."""
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
    # Other processes add to the elapsed time, parallel threads to the processor time: take the smaller one.
    seconds = min(cost["seconds"], cost["processor_seconds"])
    return Done(done.returncode, text, seconds, cost["peak_bytes"])
