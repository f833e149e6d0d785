"""Means over repeated trainings: what is said of them, in every form of the results."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest
from schemas import allowed, check

from sedeval_soft import SettingsError, evaluate, mean_of_runs
from sedeval_soft.report import render

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE = SAMPLES / "ref.tsv"
RUNS = {"first": SAMPLES / "sys.tsv", "second": SAMPLES / "sys_b.tsv"}
FOLDS = {"cafe.wav": "a", "metro.wav": "a", "night.wav": "b", "park.wav": "b", "street.wav": "b"}
F1 = "segment.soft.f1.macro"
SOFT = {"only": ("segment.soft",)}


@pytest.fixture(scope="module")
def runs():
    return mean_of_runs(REFERENCE, RUNS, **SOFT)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_header_says_what_the_intervals_are_of(form, runs):
    text = render([runs], form)
    assert "2, means over trainings; 95 % intervals by the jackknife over runs" in text
    assert "resampl" not in text
    assert "replicates" not in text
    assert "means over trainings" not in render([evaluate(REFERENCE, RUNS["first"], **SOFT)], form)


def test_header_has_the_confidence_that_was_asked_for():
    text = render([mean_of_runs(REFERENCE, RUNS, confidence=0.9, **SOFT)])
    assert "; 90 % intervals by the jackknife over runs" in text
    assert "  95 %" in text
    assert "97.5 %" not in text


def test_documents_name_the_runs(runs):
    document = json.loads(render([runs], "json"))
    check(document)
    assert document["systems"][0]["runs"]["names"] == ["first", "second"]
    assert document["systems"][0]["runs"]["confidence"] == 0.95
    single = json.loads(render([evaluate(REFERENCE, RUNS["first"], **SOFT)], "json"))
    assert single["systems"][0]["runs"] is None
    assert single["settings"]["confidence"] is None


@pytest.mark.parametrize("wrong", [[], ["one"], ["one", "one"], ["one", 2]])
def test_schema_refuses_other_runs(wrong, runs):
    document = json.loads(render([runs], "json"))
    document["systems"][0]["runs"]["names"] = wrong
    assert not allowed(document)
    del document["systems"][0]["runs"]
    assert not allowed(document)


def test_the_signature_has_what_makes_intervals_of_runs_repeatable(runs):
    assert runs.signature.endswith(" | runs=2 confidence=0.95")
    assert runs.signature.count("system:sha256=") == 2


def test_the_spread_over_folds_is_that_of_the_means():
    runs = mean_of_runs(REFERENCE, RUNS, folds=FOLDS, **SOFT)
    (spread,) = (spread for spread in runs.folds.spreads if spread.name == F1)
    single = [evaluate(REFERENCE, system, folds=FOLDS, **SOFT) for system in RUNS.values()]
    values = [fmean(scores[f"{F1}@{fold}"] for scores in single) for fold in "ab"]
    assert spread.values == pytest.approx(values, rel=1e-12)
    assert (spread.mean, spread.deviation) == pytest.approx((fmean(values), stdev(values)), rel=1e-12)
    assert (runs.folds.names, runs.folds.files) == (("a", "b"), (2, 3))
    assert {spread.name for spread in runs.folds.spreads} == {s.name for s in single[0].folds.spreads}


def test_what_costs_most_is_refused_of_means():
    with pytest.raises(SettingsError, match="worst is of one system's output"):
        mean_of_runs(REFERENCE, RUNS, worst=2)
