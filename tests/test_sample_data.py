"""The sample tables are what their script writes, and show what their README says."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from sedeval_soft import evaluate

FOLDER = Path(__file__).parent.parent / "sample_data"
DOUBTFUL = ("footsteps", "people talking")
LOST = "door opens"


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def cells(name: str) -> dict[tuple[str, str, str], float]:
    """The values of a long table by file, onset and class."""
    rows = (row for row in read(name) if row["onset"])
    return {(row["filename"], row["onset"], row["event_label"]): float(row["soft_value"]) for row in rows}


def test_the_script_writes_these_bytes(tmp_path):
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(written) > 5
    assert written == {path.name: path.read_bytes() for path in FOLDER.glob("*.tsv")}


def test_the_readme_quotes_the_ranking_which_the_readings_do_not_share():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    quoted = dict(re.findall(r"^\| `(sys\w*\.tsv)` \| (0\.\d+ \| 0\.\d+) \|$", text, flags=re.MULTILINE))
    names = [f"segment.{reading}.f1.micro" for reading in ("hard", "soft")]
    scores = {name: evaluate(FOLDER / "ref.tsv", FOLDER / name) for name in ("sys.tsv", "sys_b.tsv")}
    assert quoted == {name: " | ".join(f"{of[each]:.3f}" for each in names) for name, of in scores.items()}
    (hard, soft), (hard_b, soft_b) = ([of[each] for each in names] for of in scores.values())
    assert hard_b > hard + 0.01 and soft > soft_b + 0.1


def test_classes_are_doubtful_or_never_detected():
    reference = cells("ref.tsv")
    values = np.array([value for (_, _, label), value in reference.items() if label in DOUBTFUL])
    assert np.abs(values - 0.5).max() < 0.2 and 0.3 < (values > 0.5).mean() < 0.7 and (values == 0.5).any()
    assert any(label == LOST and value > 0.5 for (_, _, label), value in reference.items())
    assert LOST not in {label for name in ("sys.tsv", "sys_b.tsv") for _, _, label in cells(name)}


def test_a_file_without_events_is_declared_and_every_file_has_a_fold():
    for name in ("ref.tsv", "sys.tsv", "events.tsv"):
        (row,) = [row for row in read(name) if row["filename"] == "night.wav"]
        assert set(row.values()) == {"night.wav", ""}
    durations = {row["filename"]: row["duration"] for row in read("durations.tsv")}
    folds = {row["filename"]: row["fold"] for row in read("folds.tsv")}
    assert durations["night.wav"] == "30.0" and folds.keys() == durations.keys()
    assert len({*folds.values()}) == 3


def test_long_and_wide_reference_agree():
    wide = {
        (row["filename"], row["onset"], label): float(value)
        for row in read("ref_wide.tsv")
        for label, value in row.items()
        if label not in {"filename", "onset", "offset"} and float(value) > 0
    }
    assert wide == cells("ref.tsv")


def test_events_are_the_reference_above_the_threshold():
    """Each event lies over a run of active seconds, to 0.3 s at either end, and each run has one."""
    covered = set()
    for row in read("events.tsv"):
        if row["onset"]:
            ends = [float(row[name]) for name in ("onset", "offset")]
            first, last = map(round, ends)
            assert ends[0] < ends[1] and max(abs(ends[0] - first), abs(ends[1] - last)) < 0.301
            covered |= {(row["filename"], f"{second}.0", row["event_label"]) for second in range(first, last)}
    assert covered == {key for key, value in cells("ref.tsv").items() if value > 0.5}
