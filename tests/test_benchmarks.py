"""The benchmark script runs, and finds that we and the peers compute the same numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "benchmarks" / "run.py"


def started(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(
    not Path(sys.executable).with_name("soft-sed-eval").exists(),
    reason="the package is not installed beside this Python",
)
def test_a_quick_run_fills_every_row(tmp_path: Path) -> None:
    output = tmp_path / "benchmark.md"
    done = started(SCRIPT, "--quick", "--output", output)
    assert done.returncode == 0, done.stderr
    assert output.read_text(encoding="utf-8") == done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert header == ["case", "ours", "other", "ratio", "target", "met"]
    assert len(rows) == 83 and {len(row) for row in rows} == {6}
    assert all(row[3] != "-" or "not installed" in row[2] for row in rows)


def test_a_ratio_that_is_worse_than_before_or_misses_its_target_is_told(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import run
    from case import Result

    results = [
        Result("floor", "2 s", "1 s", ratio=2.0, target=3.0),
        Result("peer", "1 s", "50 s", ratio=50.0, at_least=True),
        Result("none", "-", "not installed"),
    ]
    assert run.kept(results) == {"floor": 2.0, "peer": 0.02}
    for before, worse in (((1.6, 0.016), []), ((1.4, 0.01), ["floor", "peer"])):
        told = run.slower(results, dict(zip(("floor", "peer"), before, strict=True)))
        assert [text.split(":")[0] for text in told] == worse


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
    done = started(SCRIPT.with_name(asked[0]), *asked[1:], "--json", tmp_path / "found.json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))) >= 4
