"""Intervals, several systems, runs, groups and scenes on the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft import evaluate, mean_of_runs
from sedeval_soft.report import render

F1 = "segment.soft.f1.macro"
LITTLE = ("--replicates", "20", "-q")
JSON = ("--format", "json", "-q")


TWO = (REFERENCE, SYSTEM, OTHER)


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("$R $S -q --replicates 20 --ci --format json", {"ci": "bootstrap", "seed": 0}),
        ("--format json -q --replicates 20 --seed 1 --ci -- $R $S", {"ci": "bootstrap", "seed": 1}),
        ("evaluate --ci Bootstrap $R $S --format json --replicates 20 -q", {"ci": "bootstrap"}),
        ("$R $S -q --ci bca --set confidence=0.5 --format json", {"ci": "bca", "confidence": 0.5}),
    ],
)
def test_a_method_need_not_be_named(line, settings):
    words = line.replace("$R", REFERENCE).replace("$S", SYSTEM).split()
    chosen = call(*words).document["settings"]
    assert settings.items() <= chosen.items()


@pytest.mark.parametrize("systems", [[SYSTEM], [SYSTEM, OTHER]])
def test_wanted_numbers_come_with_their_intervals_below_their_names(systems):
    size = "segment.hard.n_ref.micro"
    done = call(REFERENCE, *systems, "--score", F1, "--score", size, "--ci", *LITTLE)
    head, *lines = (line.split("\t") for line in done.out.splitlines())
    assert head == ["system", *(f"{name}{end}" for name in (F1, size) for end in ("", ".low", ".high"))]
    for system, (name, *numbers) in zip(systems, lines, strict=True):
        value, low, high = map(float, numbers[:3])
        assert name == Path(system).name and low <= value == evaluate(REFERENCE, system)[F1] <= high


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex", "text", "github", "junit"])
def test_a_system_has_one_name_in_every_output(form):
    """The name of its file, or the name that --name gives."""
    two = (*TWO, "--require", f"{F1}>=0", "--format", form, *LITTLE, "--only", "segment.soft")
    for names, asked in ((("sys.tsv", "sys_b.tsv"), ()), (("A", "B&"), ("--name", "A", "--name", "B&"))):
        shown = call(*two, *asked).out.replace("\\", "").replace("&amp;", "&")
        assert [name in shown for name in names] == [True, True]


def test_files_of_one_name_are_called_by_their_paths(tmp_path):
    twin = shutil.copy(OTHER, tmp_path / "sys.tsv")
    two = (REFERENCE, SYSTEM, twin, *LITTLE)
    lines = call(*two, "--score", F1).out.splitlines()[1:]
    assert {line.split("\t")[0] for line in lines} == {SYSTEM, str(twin)}
    assert str(twin) in call(*two, "--baseline", "sys.tsv").err


@pytest.mark.parametrize("baseline", [None, OTHER, "sys_b.tsv"])
def test_systems_are_ranked_and_compared_to_the_best_or_a_baseline(baseline):
    asked = ("--baseline", baseline) if baseline else ()
    done = call(REFERENCE, OTHER, SYSTEM, *asked, *JSON, *LITTLE)
    board, systems = done.document["board"], [system["name"] for system in done.document["systems"]]
    assert [entry["system"] for entry in board["entries"]] == systems == ["sys.tsv", "sys_b.tsv"]
    compared = ("sys_b.tsv", "sys_b.tsv") if baseline else ("sys.tsv", None)
    assert (board["rank_by"], board["compared_to"], board["baseline"]) == (F1, *compared)


def test_runs_have_a_mean_and_its_interval():
    mean = mean_of_runs(REFERENCE, [SYSTEM, OTHER]).score(F1)
    line = call(*TWO, "--runs", "-q", "--score", F1).out.splitlines()[1]
    assert [*map(float, line.split("\t")[1:])] == [mean.value, mean.low, mean.high]
    assert call(*TWO, "--runs", "-q", "--name", "A").out.startswith("A, ")


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
    assert {score["average"] for score in done.scores.values()} == {None, "micro", "weighted"}
