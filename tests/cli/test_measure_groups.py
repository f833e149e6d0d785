"""Further measures on the command line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from called import call

from sedeval_soft import evaluate

ROOT = Path(__file__).parents[2]
REFERENCE, SYSTEM, EVENTS = (
    str(ROOT / "sample_data" / name) for name in ("ref.tsv", "sys.tsv", "events.tsv")
)


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
    done = call(REFERENCE, SYSTEM, "--score", name, "--quiet")
    assert done.code == 0, done.err
    assert float(done.out) == evaluate(REFERENCE, SYSTEM, only="all", measures="all")[name]


def test_a_requirement_adds_its_group_to_the_tables():
    done = call(REFERENCE, SYSTEM, "--require", "segment.hard.roc_auc.macro>=0.99", "--quiet")
    assert done.code == 1
    assert "Receiver operating characteristic" in done.out
    assert "Calibration" not in done.out


def test_a_requirement_adds_its_basis_to_the_default_ones():
    done = call(REFERENCE, SYSTEM, "--require", "clip.soft.brier.micro<=1", "--quiet")
    assert done.code == 0, done.err
    for row in ("segment  hard", "event    soft", "clip     soft"):
        assert f"\n{row}" in done.out
    done = call(REFERENCE, SYSTEM, "--require", "clip.soft.brier.micro<=1", "--only", "event")
    assert done.code == 2
    assert "left out by --only event" in done.err


def test_tables_and_json_have_every_group():
    done = call(REFERENCE, SYSTEM, "--measures", "all", "--only", "all", "--quiet")
    for title in (
        "Average precision", "Receiver operating characteristic", "Divergences, losses and correlations",
        "Calibration", "Ranking of the classes within segments", "Confusion of classes, event-based",
    ):  # fmt: skip
        assert f"\n{title}" in done.out
    assert "Other averages" not in done.out
    assert "other measures" not in done.out
    matrices = call(REFERENCE, SYSTEM, "--measures", "confusion", "--format", "json").document
    assert [m["basis"] for m in matrices["systems"][0]["confusion"]] == ["segment", "event"]


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_curves_are_written_beside_the_results(tmp_path, suffix):
    path = tmp_path / f"c.{suffix}"
    done = call(REFERENCE, SYSTEM, "--curves", str(path), "--score", "segment.hard.f1.micro", "--quiet")
    assert done.code == 0, done.err
    assert float(done.out) == pytest.approx(0.7963, abs=1e-4)
    assert path.stat().st_size > 1000


def test_operating_points_have_curves_but_no_average_precision(tmp_path):
    path = tmp_path / "c.tsv"
    points = ["--operating-point", f"0.2={EVENTS}", "--operating-point", f"0.6={EVENTS}"]
    asked = ["--score", "event.optimal.f1[car]", "--max-efpr", "1000", "--score", "intersection.hard.psds"]
    done = call(EVENTS, *points, *asked, "--only", "event", "--curves", str(path))
    assert (done.code, done.out) == (0, "1.0\n1.0\n"), done.err
    table = pd.read_csv(path, sep="\t")
    assert set(table.reading) == {"optimal", "psd_roc"}
    assert table[table["class"] == "car"].f1.max() == 1.0
    refused = call(EVENTS, *points, "--score", "event.hard.average_precision.macro")
    assert refused.code == 2
    assert "event.hard.average_precision.macro needs values" in refused.err
