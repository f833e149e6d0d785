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


OPTIONS = {
    "seed": ("--seed", "3"),
    "replicates": ("--replicates", "9"),
    "confidence": ("--confidence", "0.9"),
    "fixed": ("--fixed-thresholds",),
}


@pytest.mark.parametrize("asked", OPTIONS)
def test_options_of_intervals_are_refused_where_there_are_none(asked, tmp_path):
    refused = said(REFERENCE, SYSTEM, *OPTIONS[asked])
    assert refused.startswith(f"{OPTIONS[asked][0]}: there are no intervals")
    assert refused.endswith("expected --ci, too")
    tally = str(tmp_path / "a.tally")
    assert run(REFERENCE, SYSTEM, "--only", "segment.soft", "--save-tally", tally).exit_code == 0
    assert said("merge", tally, *OPTIONS[asked]) == refused
    # Of several systems differences are resampled whatever --ci says.
    few = ("--replicates", "50") if asked != "replicates" else ()
    several = (REFERENCE, SYSTEM, OTHER, "--only", "segment.soft")
    assert run(*several, *OPTIONS[asked], *few).exit_code == 0
    if asked != "confidence":
        assert OPTIONS[asked][0] in said(*several, "--runs", *OPTIONS[asked])


def test_runs_have_intervals_of_a_confidence():
    wide, narrow = (
        run(
            REFERENCE, SYSTEM, OTHER, "--runs", "--score", f"{F1}.macro", "--confidence", share
        ).stdout.split()
        for share in ("0.95", "0.5")
    )
    assert wide[0] == narrow[0]
    assert float(wide[1]) < float(narrow[1]) < float(narrow[2]) < float(wide[2])


@pytest.mark.parametrize("path", ["-", "/dev/stdout", ""])
def test_tallies_need_a_file(path, tmp_path):
    for call in ((REFERENCE, SYSTEM), ("merge", "none.tally")):
        assert said(*call, "--save-tally", path).startswith("--save-tally")
    assert not Path("-").exists()


def test_merged_results_and_tallies_need_two_files(tmp_path):
    tally, both = str(tmp_path / "a.tally"), str(tmp_path / "both")
    assert run(REFERENCE, SYSTEM, "--only", "segment.soft", "--save-tally", tally).exit_code == 0
    refused = said("merge", tally, "--save-tally", both, "-o", both)
    assert refused == f"--save-tally {both}: -o writes this file; expected another one"
    assert not Path(both).exists()


def test_a_tally_says_which_measures_it_lacks(tmp_path):
    tally = str(tmp_path / "a.tally")
    assert run(REFERENCE, SYSTEM, "--only", "segment", "--save-tally", tally).exit_code == 0
    name = "segment.soft.roc_auc.macro"
    assert said("merge", tally, "--score", name) == f"{name} needs --measures curves"


@pytest.mark.parametrize(
    "call",
    [
        (OTHER,),
        (OTHER, "--runs"),
        (OTHER, "--runs", "--format", "json"),
        ("--format", "csv"),
        ("--score", f"{F1}.macro"),
        ("--only", "segment.optimal"),
        ("--only", "ranking"),
    ],
)
def test_what_costs_most_is_refused_where_nothing_shows_it(call):
    assert "--worst" in said(REFERENCE, SYSTEM, *call, "--worst", "3")


def test_a_baseline_that_is_no_system_is_refused_before_anything_is_read():
    refused = said("none.tsv", "a.tsv", "b.tsv", "--baseline", "c.tsv")
    assert "--baseline c.tsv is no SYSTEM; expected one of a.tsv, b.tsv" in refused
