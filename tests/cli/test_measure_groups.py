"""Further measures on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from launched import program

from sedeval_soft import evaluate

ROOT = Path(__file__).parents[2]
REFERENCE, SYSTEM, EVENTS = (
    str(ROOT / "sample_data" / name) for name in ("ref.tsv", "sys.tsv", "events.tsv")
)


def run(*args):
    return subprocess.run([*program(), *args], capture_output=True, check=False, text=True)


@pytest.mark.parametrize(
    "name",
    [
        "segment.soft.roc_auc.macro",
        "segment.hard.average_precision[car]",
        "event.hard.average_precision_coco.macro",
        "clip.soft.brier.micro",
        "clip.optimal.f1.macro",
        "ranking.hard.coverage",
        "segment.soft.expected_calibration_error.weighted",
    ],
)
def test_a_score_computes_its_group_by_itself(name):
    done = run(REFERENCE, SYSTEM, "--score", name, "--quiet")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == evaluate(REFERENCE, SYSTEM, only="all", measures="all")[name]


def test_a_requirement_adds_its_group_to_the_tables():
    done = run(REFERENCE, SYSTEM, "--require", "segment.hard.roc_auc.macro>=0.99", "--quiet")
    assert done.returncode == 1
    assert "Receiver operating characteristic" in done.stdout
    assert "Calibration" not in done.stdout


def test_a_requirement_adds_its_basis_to_the_default_ones():
    done = run(REFERENCE, SYSTEM, "--require", "clip.soft.brier.micro<=1", "--quiet")
    assert done.returncode == 0, done.stderr
    for row in ("segment  hard", "event    soft", "clip     soft"):
        assert f"\n{row}" in done.stdout
    done = run(REFERENCE, SYSTEM, "--require", "clip.soft.brier.micro<=1", "--only", "event")
    assert done.returncode == 2
    assert "left out by --only event" in done.stderr


def test_operating_points_have_no_values_to_diverge():
    done = run(REFERENCE, "--operating-point", f"0.5={SYSTEM}", "--measures", "divergence")
    assert done.returncode == 2
    assert "operating points have no values for measures=divergence" in done.stderr


def test_a_group_that_is_left_out_is_said_to_be():
    done = run(REFERENCE, SYSTEM, "--score", "segment.soft.brier.micro", "--measures", "curves")
    assert done.returncode == 2
    assert "segment.soft.brier.micro is left out by --measures curves" in done.stderr


def test_tables_and_json_have_every_group():
    done = run(REFERENCE, SYSTEM, "--measures", "all", "--only", "all", "--quiet")
    for title in (
        "Average precision", "Receiver operating characteristic", "Divergences, losses and correlations",
        "Calibration", "Ranking of the classes within segments", "Confusion of classes, event-based",
    ):  # fmt: skip
        assert f"\n{title}" in done.stdout
    assert "Other averages" not in done.stdout
    assert "other measures" not in done.stdout
    matrices = json.loads(run(REFERENCE, SYSTEM, "--measures", "confusion", "--format", "json").stdout)
    assert [m["basis"] for m in matrices["systems"][0]["confusion"]] == ["segment", "event"]


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_curves_are_written_beside_the_results(tmp_path, suffix):
    path = tmp_path / f"c.{suffix}"
    done = run(REFERENCE, SYSTEM, "--curves", str(path), "--score", "segment.hard.f1.micro", "--quiet")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(0.7963, abs=1e-4)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--curves", "c.csv"], "ends with .tsv or .parquet"),
        (["--curves", "none/c.tsv"], "there is no folder"),
        (["--curves", "x.tsv", "-o", "x.tsv"], "-o writes this file"),
        (["--curves", "x.tsv", "-o", "./x.tsv"], "-o writes this file"),
        (["--curves", SYSTEM], f"--curves {SYSTEM}: this is the system output ("),
        (["--curves", "x.tsv", "--only", "ranking"], "nothing that is evaluated has curves"),
        (["--curves", "x.tsv", "--score", "event.hard.f1.micro"], "event.optimal"),
        (["--check", "sed_eval", "--only", "clip", "-o", "x.txt"], "--check is of hard"),
        (["--measures", "curve"], "--measures must be one of curves, divergence"),
        (["--bins", "0"], "--bins must be a whole number"),
        (["--bins", "1.5"], "not a valid integer"),
        (["--max-fpr", "0"], "--max-fpr must be above 0, at most 1"),
        (["--iou", "1.1"], "--iou must be above 0, at most 1"),
        (["--epsilon", "0.2"], "--epsilon must be above 1e-16, at most 0.1"),
        (["--epsilon", "1e-300"], "--epsilon must be above 1e-16, at most 0.1"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(tmp_path, monkeypatch, options, expected):
    monkeypatch.chdir(tmp_path)
    before = Path(SYSTEM).read_bytes()
    done = run(REFERENCE, SYSTEM, *options)
    assert done.returncode == 2
    assert expected in done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") <= 4
    assert list(tmp_path.iterdir()) == []
    assert Path(SYSTEM).read_bytes() == before


def test_operating_points_have_curves_but_no_average_precision(tmp_path):
    path = tmp_path / "c.tsv"
    points = ["--operating-point", f"0.2={EVENTS}", "--operating-point", f"0.6={EVENTS}"]
    asked = ["--score", "event.optimal.f1[car]", "--max-efpr", "1000", "--score", "intersection.hard.psds"]
    done = run(EVENTS, *points, *asked, "--only", "event", "--curves", str(path))
    assert (done.returncode, done.stdout) == (0, "1.0\n1.0\n"), done.stderr
    table = pd.read_csv(path, sep="\t")
    assert set(table.reading) == {"optimal", "psd_roc"}
    assert table[table["class"] == "car"].f1.max() == 1.0
    refused = run(EVENTS, *points, "--score", "event.hard.average_precision.macro")
    assert refused.returncode == 2
    assert "event.hard.average_precision.macro needs values" in refused.stderr
