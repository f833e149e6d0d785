"""Means over runs say what they are of: nothing of a single run is shown as if it were theirs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import fmean, stdev

import jsonschema
import pytest

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.api.comparison import compare, mean_of_runs
from sedeval_soft.report import render, schema

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, ONE, OTHER = (str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))
FILES = ("cafe.wav", "metro.wav", "night.wav", "park.wav", "street.wav")
FOLDS = {file: "ab"[i % 2] for i, file in enumerate(FILES)}
F1 = "segment.soft.f1.macro"
SAID = {"only": ("segment.soft",), "folds": FOLDS}


@pytest.fixture(scope="module")
def mean():
    return mean_of_runs(REFERENCE, [ONE, OTHER], confidence=0.9, **SAID)


def test_folds_of_runs_are_folds_of_means(mean):
    runs = [evaluate(REFERENCE, system, **SAID) for system in (ONE, OTHER)]
    spread = next(spread for spread in mean.folds.spreads if spread.name == F1)
    expected = [fmean(run[f"{F1}@{fold}"] for run in runs) for fold in "ab"]
    assert spread.values == pytest.approx(expected, abs=1e-12)
    assert (spread.mean, spread.deviation) == pytest.approx((fmean(expected), stdev(expected)), abs=1e-12)


def test_what_costs_most_in_one_run_is_not_what_costs_most_in_all():
    with pytest.raises(SettingsError, match="worst is of one system's output"):
        mean_of_runs(REFERENCE, [ONE, OTHER], worst=3, **SAID)


def test_every_form_says_that_scores_are_means_of_runs(mean):
    document = json.loads(render([mean], "json"))
    assert document["systems"][0]["runs"] == {"names": [ONE, OTHER], "confidence": 0.9}
    jsonschema.validate(document, schema())
    line = r"^runs +2, means over trainings; 90 % intervals by the jackknife"
    assert re.search(line, render([mean], "text"), re.MULTILINE)
    plain = json.loads(render([evaluate(REFERENCE, ONE, only=("segment.soft",))], "json"))
    assert plain["systems"][0]["runs"] is None


def test_signatures_tell_all_that_shaped_several_systems(mean):
    hashes = [item.sha256 for item in mean.inputs if item.role == "system"]
    assert len(hashes) == 2
    assert mean.signature.endswith(
        f' system:sha256={hashes[0]} folds:"folds" system:sha256={hashes[1]} | runs=2 confidence=0.9'
    )
    board = compare(
        REFERENCE, [OTHER, ONE], rank_by=F1, baseline=OTHER, only=("segment.soft",), replicates=20
    )
    signature = json.loads(render(board.systems, "json", board=board))["signature"]
    # In the order in which they were given, which decides between equal ones: not in that of their ranks.
    assert re.findall(r" system:sha256=(\w+)", signature) == hashes[::-1]
    assert signature.endswith(f' | rank_by="{F1}" baseline={json.dumps(OTHER)}')
    assert {scores.signature for scores in board.systems} == {signature}
