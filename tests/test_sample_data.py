"""The sample tables are what their script writes, and show what their README says."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "sample_data"
TABLES = sorted(FOLDER.glob("*.tsv"))
DOUBTFUL = ("footsteps", "people talking")
LOST = "door opens"

Cell = tuple[str, str, str]


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def cells(name: str) -> dict[Cell, float]:
    """The values of a long table by file, onset and class."""
    rows = (row for row in read(name) if row["onset"])
    return {(row["filename"], row["onset"], row["event_label"]): float(row["soft_value"]) for row in rows}


def aligned(system: str) -> tuple[np.ndarray, np.ndarray]:
    """Reference and system values of all cells that either has; the others are zero in both."""
    reference, estimate = cells("ref.tsv"), cells(system)
    keys = sorted({*reference, *estimate})
    values = ([side.get(key, 0.0) for key in keys] for side in (reference, estimate))
    return tuple(np.array(side) for side in values)


def soft_f1(system: str) -> float:
    y, p = aligned(system)
    return float(2 * np.minimum(y, p).sum() / (y.sum() + p.sum()))


def hard_f1(system: str) -> float:
    y, p = (side > 0.5 for side in aligned(system))
    return float(2 * (y & p).sum() / (y.sum() + p.sum()))


def test_the_script_writes_these_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    assert TABLES
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in TABLES]
    for path in TABLES:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_tables_are_small_and_plain(path: Path) -> None:
    data = path.read_bytes()
    assert len(data) < 40_000
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert len({line.count(b"\t") for line in data.splitlines()}) == 1


def test_the_readings_rank_the_systems_differently() -> None:
    assert hard_f1("sys_b.tsv") > hard_f1("sys.tsv") + 0.01
    assert soft_f1("sys.tsv") > soft_f1("sys_b.tsv") + 0.1


def test_the_readme_quotes_the_ranking() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    quoted = dict(re.findall(r"^\| `(sys\w*\.tsv)` \| (0\.\d+ \| 0\.\d+) \|$", text, flags=re.MULTILINE))
    expected = {name: f"{hard_f1(name):.3f} | {soft_f1(name):.3f}" for name in ("sys.tsv", "sys_b.tsv")}
    assert quoted == expected


def test_doubtful_classes_lie_near_the_threshold() -> None:
    values = np.array([value for (_, _, label), value in cells("ref.tsv").items() if label in DOUBTFUL])
    assert len(values) > 100
    assert np.abs(values - 0.5).max() < 0.2
    assert 0.3 < (values > 0.5).mean() < 0.7
    assert (values == 0.5).any()


def test_a_class_is_never_found() -> None:
    assert any(label == LOST and value > 0.5 for (_, _, label), value in cells("ref.tsv").items())
    for system in ("sys.tsv", "sys_b.tsv"):
        assert all(label != LOST for _, _, label in cells(system))


def test_a_file_without_events_is_declared() -> None:
    for name in ("ref.tsv", "sys.tsv", "events.tsv"):
        (row,) = [row for row in read(name) if row["filename"] == "night.wav"]
        assert set(row.values()) == {"night.wav", ""}
    assert {row["filename"]: row["duration"] for row in read("durations.tsv")}["night.wav"] == "30.0"


def test_every_file_has_a_fold() -> None:
    files = {row["filename"] for row in read("durations.tsv")}
    folds = {row["filename"]: row["fold"] for row in read("folds.tsv")}
    assert set(folds) == files
    assert len(set(folds.values())) == 3


def test_long_and_wide_reference_agree() -> None:
    wide = {
        (row["filename"], row["onset"], label): float(value)
        for row in read("ref_wide.tsv")
        for label, value in row.items()
        if label not in {"filename", "onset", "offset"} and float(value) > 0
    }
    assert wide == cells("ref.tsv")


def test_events_are_the_reference_above_the_threshold() -> None:
    """Each event lies over a run of active seconds, to 0.3 s at either end, and each run has one."""
    events = [row for row in read("events.tsv") if row["onset"]]
    assert all(float(row["onset"]) < float(row["offset"]) for row in events)
    covered: set[Cell] = set()
    for row in events:
        first, last = round(float(row["onset"])), round(float(row["offset"]))
        assert abs(float(row["onset"]) - first) < 0.301
        assert abs(float(row["offset"]) - last) < 0.301
        covered |= {(row["filename"], f"{second}.0", row["event_label"]) for second in range(first, last)}
    assert covered == {key for key, value in cells("ref.tsv").items() if value > 0.5}
