"""Intervals, several systems, runs, folds and scenes on the command line."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from called import call, written
from drawn_again import random_tables

from sedeval_soft.fields import METHODS

F1 = "segment.soft.f1.macro"
LITTLE = ("--replicates", "20", "-q")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """A reference, and systems from good to bad."""
    folder, reference = tmp_path_factory.mktemp("systems"), random_tables(31, n=90).reference
    found = {"ref": written(folder / "ref.tsv", reference)}
    rng = np.random.default_rng(0)
    for name, noise in (("good", 0.1), ("fair", 0.4), ("bad", 0.9)):
        value = np.clip(reference.value + rng.normal(0, noise, len(reference)), 0, 1).round(4)
        found[name] = written(folder / f"{name}.tsv", replace(reference, values=(value,)))
    return found


def ends(done):
    return {name: (score["low"], score["high"]) for name, score in done.scores.items()}


def test_a_method_need_not_be_named(paths):
    for line in (
        "ref good -q --replicates 20 --ci --format json",
        "--format json -q --replicates 20 --ci -- ref good",
        "evaluate --ci Bootstrap ref good --format json --replicates 20 -q",
    ):
        done = call(*(paths.get(word, word) for word in line.split()))
        assert done.document["settings"]["ci"] == "bootstrap", done.err


def test_each_method_gives_other_intervals_of_the_same_numbers(paths):
    once = (paths["ref"], paths["fair"], "--format", "json", "-q")
    base = (*once, *LITTLE)
    plain, found = call(*once), {method: call(*base, "--ci", method) for method in METHODS}
    values = [{n: s["value"] for n, s in done.scores.items()} for done in (plain, *found.values())]
    assert all(one == values[0] for one in values) and {*ends(plain).values()} == {(None, None)}
    assert len({ends(done)["segment.hard.f1.micro"] for done in found.values()}) == len(METHODS)
    assert ends(found["jackknife"])["segment.optimal.f1.micro"] == (None, None)
    assert call(*base, "--ci").out == found["bootstrap"].out
    wide = ends(found["bootstrap"])[F1]
    assert ends(call(*base, "--ci", "--seed", "1"))[F1] != wide
    narrow = ends(call(*base, "--ci", "--set", "confidence=0.5"))[F1]
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_of_more_than_optimal_readings_the_jackknife_leaves_these_out(paths):
    done = call(paths["ref"], paths["good"], "--ci", "jackknife", "--format", "json")
    assert done.code == 0 and "jackknife is not valid" in done.err
    assert ends(done)["segment.optimal.f1.macro"][0] is None is not ends(done)["segment.hard.f1.macro"][0]


def test_wanted_numbers_come_with_their_intervals(paths):
    asked = ("--score", F1, "--score", "segment.hard.n_ref.micro", "-q")
    plain = {name: call(paths["ref"], paths[name], *asked).out.splitlines() for name in ("good", "fair")}
    sure = [line.split("\t") for line in call(paths["ref"], paths["good"], *asked, "--ci").out.splitlines()]
    assert [line[0] for line in sure] == plain["good"]
    assert all(float(low) <= float(value) <= float(high) for value, low, high in sure)
    # Of several systems with their names before them.
    done = call(paths["ref"], paths["fair"], paths["good"], *asked, *LITTLE)
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in done.out.splitlines()}
    assert {path: numbers[::3] for path, numbers in lines.items()} == {paths[n].name: plain[n] for n in plain}
    assert {*map(len, lines.values())} == {6}


def test_a_system_has_one_name_in_every_output(paths):
    """The name of its file, its path where two are equal, or what --name says."""
    two = (paths["ref"], paths["good"], paths["bad"])
    for names, asked in ((("good.tsv", "bad.tsv"), ()), (("A", "B&"), ("--name", "A", "--name", "B&"))):
        for form in ("json", "csv", "markdown", "latex", "text", "github", "junit"):
            more = ("--require", f"{F1}>=0") if form == "junit" else ()
            out = call(*two, *asked, *more, "--format", form, *LITTLE).out
            shown = out.replace("\\", "").replace("&amp;", "&")
            assert [name in shown for name in names] == [True, True], form
    other = paths["ref"].parent / "other"
    other.mkdir(exist_ok=True)
    copy = other / "good.tsv"
    copy.write_bytes(paths["good"].read_bytes())
    lines = call(paths["ref"], paths["good"], copy, "--score", F1, *LITTLE).out.splitlines()
    assert {line.split("\t")[0] for line in lines} == {str(paths["good"]), str(copy)}
    done = call(*two, "--name", "A", "-q")
    assert done.code == 2 and "expected 2 different names, one for each SYSTEM; found A" in done.err
    mean = call(*two, "--runs", "--name", "A", "-q").out
    assert mean.startswith("A, mean of 2 runs against ref.tsv")


def test_systems_are_ranked(paths):
    done = call(paths["ref"], *(paths[n] for n in ("bad", "good", "fair")), "--format", "json", *LITTLE)
    board, order = done.document["board"], [paths[n].name for n in ("good", "fair", "bad")]
    assert [(entry["system"], entry["place"]) for entry in board["entries"]] == [
        *zip(order, (1, 2, 3), strict=True)
    ]
    assert (board["rank_by"], board["compared_to"], board["baseline"]) == (F1, "good.tsv", None)
    assert [system["name"] for system in done.document["systems"]] == order
    lower = ("--rank-by", "segment.soft.kl_divergence.micro", "--baseline", paths["bad"], *LITTLE)
    board = call(paths["ref"], paths["good"], paths["bad"], *lower, "--format", "json").document["board"]
    assert [entry["system"] for entry in board["entries"]] == order[::2]
    assert board["compared_to"] == board["baseline"] == "bad.tsv"
    # By its path above; here by its name.
    by_name = ("--baseline", paths["bad"].name, *LITTLE)
    board = call(paths["ref"], paths["good"], paths["bad"], *by_name, "--format", "json").document["board"]
    assert board["baseline"] == "bad.tsv"


def test_a_name_that_two_systems_have_is_no_baseline(paths, tmp_path):
    twin = tmp_path / "twin" / paths["bad"].name
    twin.parent.mkdir()
    twin.write_bytes(paths["bad"].read_bytes())
    done = call(paths["ref"], paths["bad"], twin, "--baseline", twin.name, *LITTLE)
    assert done.code == 2 and str(twin) in done.err


def test_runs_have_a_mean_and_its_interval(paths):
    runs = [paths[name] for name in ("good", "fair", "bad")]
    done = call(paths["ref"], *runs, "--runs", "--format", "json", "-q")
    assert done.code == 0 and done.document["board"] is None
    each = [call(paths["ref"], run, "--format", "json", "-q").scores[F1]["value"] for run in runs]
    # Student's t of two degrees of freedom has quantiles in closed form.
    student = 0.95 / math.sqrt(2 * 0.975 * 0.025)
    margin, mean = student * statistics.stdev(each) / math.sqrt(3), statistics.fmean(each)
    assert mean + margin > 1
    assert [done.scores[F1][name] for name in ("value", "low", "high")] == pytest.approx(
        (mean, mean - margin, 1.0), rel=1e-9
    )
    narrow = call(paths["ref"], *runs, "--runs", "--score", F1, "--set", "confidence=0.5").out.split()
    assert mean - margin < float(narrow[1]) < mean < float(narrow[2]) < mean + margin


def test_one_of_several_outputs_that_would_be_replaced_is_told_by_its_number(paths):
    path = paths["bad"]
    before, done = path.read_bytes(), call(paths["ref"], paths["good"], path, "-o", path)
    assert done.code == 2 and f"-o {path}: this is the system output 2 ({path})" in done.err
    assert path.read_bytes() == before


def test_a_tally_says_which_measures_it_lacks(paths, tmp_path):
    call(paths["ref"], paths["good"], "--only", "segment", "--save-tally", tmp_path / "a")
    name = "segment.soft.roc_auc.macro"
    assert call("merge", tmp_path / "a", "--score", name).err == f"{name} needs --measures curves\n"
