"""Intervals, parts of the files and several systems on the command line: what is refused, and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sedeval_soft.api import mean_of_runs
from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM, OTHER = (str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))
F1 = "segment.soft.f1"


def run(*arguments: str):
    """Run the command; errors of the package are raised as they are."""
    done = CliRunner().invoke(group, arguments)
    if isinstance(done.exception, EvaluationError):
        raise done.exception
    return done


def said(*arguments: str) -> str:
    """Return what a call is refused with."""
    try:
        done = run(*arguments)
    except EvaluationError as error:
        return str(error)
    assert done.exit_code == 2, done.output
    return done.stderr


@pytest.mark.parametrize("systems", [(SYSTEM,), (SYSTEM, OTHER), (SYSTEM, OTHER, "--runs")])
def test_names_that_no_score_has_are_refused_before_anything_is_written(systems, tmp_path):
    output, tally = tmp_path / "scores.txt", tmp_path / "a.tally"
    saved = ("--save-tally", str(tally)) if len(systems) == 1 else ()
    asked = ("--require", f"{F1}.macro@zoo>0", "--require", f"{F1}[horn]>0")
    refused = said(REFERENCE, *systems, "--by", "{}.wav", *asked, *saved, "-o", str(output))
    assert f"no score is named '{F1}.macro@zoo'" in refused
    assert f"no score is named '{F1}[horn]'" in refused
    assert list(tmp_path.iterdir()) == []


def test_just_the_number_of_runs_has_its_interval():
    done = run(REFERENCE, SYSTEM, OTHER, "--runs", "--score", f"{F1}.macro")
    mean = mean_of_runs(REFERENCE, [SYSTEM, OTHER], only=("segment.soft",)).score(f"{F1}.macro")
    assert [float(text) for text in done.stdout.split()] == [mean.value, mean.low, mean.high]


def test_runs_have_intervals_of_a_confidence():
    wide, narrow = (
        run(
            REFERENCE, SYSTEM, OTHER, "--runs", "--score", f"{F1}.macro", "--confidence", share
        ).stdout.split()
        for share in ("0.95", "0.5")
    )
    assert wide[0] == narrow[0]
    assert float(wide[1]) < float(narrow[1]) < float(narrow[2]) < float(wide[2])


def test_a_tally_says_which_measures_it_lacks(tmp_path):
    tally = str(tmp_path / "a.tally")
    assert run(REFERENCE, SYSTEM, "--only", "segment", "--save-tally", tally).exit_code == 0
    name = "segment.soft.roc_auc.macro"
    assert said("merge", tally, "--score", name) == f"{name} needs --measures curves"
