"""The benchmark script runs, and finds the same numbers for us and the other tools."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "benchmarks" / "run.py"


def started(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, check=True)


@pytest.mark.slow
@pytest.mark.skipif(
    not Path(sys.executable).with_name("soft-sed-eval").exists(),
    reason="the package is not installed beside this Python",
)
def test_a_quick_run_fills_every_row(tmp_path: Path) -> None:
    output = tmp_path / "benchmark.md"
    done = started(SCRIPT, "--quick", "--output", output)
    assert output.read_text(encoding="utf-8") == done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert header == ["case", "ours", "other", "ratio", "target", "met"]
    assert len(rows) == 83 and {len(row) for row in rows} == {6}
    assert all(row[3] != "-" or "not installed" in row[2] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        ("growth.py", "--quick", "--direction", "files", "--direction", "classes"),
        ("scale.py", "--rows", "10000", "--rows", "20000", "--shards", "40000", "--clips", "20"),
    ],
    ids=["growth", "scale"],
)
def test_growth_and_large_tables_are_measured(asked, tmp_path: Path) -> None:
    started(SCRIPT.with_name(asked[0]), *asked[1:], "--json", tmp_path / "found.json")
    assert len(json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))) >= 4
