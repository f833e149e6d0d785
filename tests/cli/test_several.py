"""Intervals, several systems, runs, groups and scenes on the command line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import yaml
from called import REFERENCE, SYSTEM, call, written
from drawn_again import random_tables

from sedeval_soft import evaluate, mean_of_runs
from sedeval_soft.report import render

F1 = "segment.soft.f1.macro"
LITTLE = ("--replicates", "20", "-q")
JSON = ("--format", "json", "-q")


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


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("ref good -q --replicates 20 --ci --format json", {"ci": "bootstrap", "seed": 0}),
        ("--format json -q --replicates 20 --seed 1 --ci -- ref good", {"ci": "bootstrap", "seed": 1}),
        ("evaluate --ci Bootstrap ref good --format json --replicates 20 -q", {"ci": "bootstrap"}),
        ("ref good -q --ci bca --set confidence=0.5 --format json", {"ci": "bca", "confidence": 0.5}),
    ],
)
def test_a_method_need_not_be_named(line, settings, paths):
    chosen = call(*(paths.get(word, word) for word in line.split())).document["settings"]
    assert settings.items() <= chosen.items()


def test_wanted_numbers_come_with_their_intervals_below_their_names(paths):
    size = "segment.hard.n_ref.micro"
    for systems in (["good"], ["good", "fair"]):
        done = call(paths["ref"], *map(paths.get, systems), "--score", F1, "--score", size, "--ci", *LITTLE)
        head, *lines = (line.split("\t") for line in done.out.splitlines())
        assert head == ["system", *(f"{name}{end}" for name in (F1, size) for end in ("", ".low", ".high"))]
        assert [line[0] for line in lines] == [paths[name].name for name in systems]
        for name, line in zip(systems, lines, strict=True):
            value, low, high = map(float, line[1:4])
            assert low <= value == evaluate(paths["ref"], paths[name])[F1] <= high


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex", "text", "github", "junit"])
def test_a_system_has_one_name_in_every_output(form, paths):
    """The name of its file, or the name that --name gives."""
    two = (paths["ref"], paths["good"], paths["bad"], "--require", f"{F1}>=0", "--format", form)
    two += (*LITTLE, "--only", "segment.soft")
    for names, asked in ((("good.tsv", "bad.tsv"), ()), (("A", "B&"), ("--name", "A", "--name", "B&"))):
        shown = call(*two, *asked).out.replace("\\", "").replace("&amp;", "&")
        assert [name in shown for name in names] == [True, True]


def test_files_of_one_name_are_called_by_their_paths(paths, tmp_path):
    twin = written(tmp_path / "good.tsv", random_tables(31, n=90).reference)
    two = (paths["ref"], paths["good"], twin, *LITTLE)
    lines = call(*two, "--score", F1).out.splitlines()[1:]
    assert {line.split("\t")[0] for line in lines} == {str(paths["good"]), str(twin)}
    done = call(*two, "--baseline", twin.name)
    assert done.code == 2 and str(twin) in done.err


@pytest.mark.parametrize("baseline", [None, "bad", "bad.tsv"])
def test_systems_are_ranked_and_compared_to_the_best_or_a_baseline(baseline, paths):
    asked = ("--baseline", paths.get(baseline, baseline)) if baseline else ()
    done = call(paths["ref"], *map(paths.get, ("bad", "good", "fair")), *asked, *JSON, *LITTLE)
    board, order = done.document["board"], ["good.tsv", "fair.tsv", "bad.tsv"]
    assert [entry["system"] for entry in board["entries"]] == order
    assert [system["name"] for system in done.document["systems"]] == order
    compared = ("bad.tsv", "bad.tsv") if baseline else ("good.tsv", None)
    assert (board["rank_by"], board["compared_to"], board["baseline"]) == (F1, *compared)


def test_runs_have_a_mean_and_its_interval(paths):
    runs = [paths[name] for name in ("good", "fair", "bad")]
    mean = mean_of_runs(paths["ref"], runs).score(F1)
    asked = (paths["ref"], *runs, "--runs", "-q")
    line = call(*asked, "--score", F1).out.splitlines()[1]
    assert [*map(float, line.split("\t")[1:])] == [mean.value, mean.low, mean.high]
    assert call(*asked, "--name", "A").out.startswith("A, ")


# Groups of classes, scenes, and averages.

PEOPLE = ["people talking", "footsteps", "children voices"]
PARTS = {
    "groups": {"traffic": ["car"], "people": PEOPLE},
    "scenes": {"street": "s*", "out": ["park.*", "street.*"]},
}


@pytest.fixture
def run(tmp_path):
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(PARTS, sort_keys=False), encoding="utf-8")
    return lambda *options: call(REFERENCE, SYSTEM, "--config", tmp_path / "parts.yaml", *options, "--quiet")


def test_scores_of_parts_are_printed_and_required_by_name(run):
    scores = evaluate(REFERENCE, SYSTEM, name="sys.tsv", **PARTS)
    assert run("--format", "json").out == render([scores], "json")
    names = [f"{F1}@people", "segment.soft.f1[car]@street", "event.hard.recall.weighted@out", F1]
    assert [run("--score", name).out for name in names] == [f"{scores[name]!r}\n" for name in names]
    assert [run("--require", f"{names[0]}>={least}").code for least in (0.01, 2)] == [0, 1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{F1}@trafic", f"'{F1}@traffic'"),
        ("segment.soft.f1[car]@traffic", "'segment.soft.f1[car]'"),
        (f"{F1}@a@b", f"{F1}@a@b"),
        ("intersection.hard.psds@people", "--psds"),
    ],
)
def test_names_of_no_group_are_refused(name, words, run):
    for asked in (("--score", name), ("--require", f"{name}>=0")):
        done = run(*asked)
        assert done.code == 2 and words in done.err


def test_averages_are_chosen_where_no_score_is(run):
    done = run("--average", "micro", "--average", "weighted", "--format", "json", "--require", f"{F1}>=0.1")
    assert (done.code, {score["average"] for score in done.scores.values()}) == (
        0,
        {None, "micro", "weighted"},
    )


@pytest.mark.parametrize(
    "name", ["segment.soft.roc_auc.macro", "event.hard.average_precision_coco.macro", "clip.soft.brier.micro"]
)
def test_a_score_computes_its_group_by_itself(name):
    found = call(REFERENCE, SYSTEM, "--score", name)
    assert float(found.out) == evaluate(REFERENCE, SYSTEM, only="all", measures="all")[name]
