"""The benchmark script runs, and finds that we and the peers compute the same numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "run.py"
COMMAND = Path(sys.executable).with_name("soft-sed-eval")


@pytest.mark.slow
@pytest.mark.skipif(not COMMAND.exists(), reason="the package is not installed beside this Python")
def test_a_quick_run_fills_every_row(tmp_path: Path) -> None:
    output = tmp_path / "benchmark.md"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--output", output], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert output.read_text(encoding="utf-8") == done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert header == ["case", "ours", "other", "ratio", "target", "met"]
    assert len(rows) == 43
    for row in rows:
        assert len(row) == len(header)
        assert row[3] != "-" or "not installed" in row[2]


def test_an_unknown_case_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--case", "all"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "start-up" in done.stderr
