"""Groups of classes and of measures, scenes and averages as users of the command line have them."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import pytest
import yaml
from called import REFERENCE, SYSTEM, call

from sedeval_soft import evaluate
from sedeval_soft.report import render
from sedeval_soft.settings_files import load_settings

PEOPLE = ["people talking", "footsteps", "children voices"]
PARTS: dict[str, Any] = {
    "groups": {"traffic": ["car"], "people": PEOPLE},
    "scenes": {"street": "s*", "out": ["park.*", "street.*"]},
}
F1 = "segment.soft.f1"


def run(*arguments):
    """Score the samples without warnings."""
    return call(REFERENCE, SYSTEM, *arguments, "--quiet")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text(yaml.safe_dump(PARTS, sort_keys=False), encoding="utf-8")
    return str(path)


def test_scores_of_parts_are_printed_and_required_by_name(config):
    assert load_settings(config) == PARTS
    scores = evaluate(REFERENCE, SYSTEM, name="sys.tsv", **PARTS)
    assert run("--config", config, "--format", "json").out == render([scores], "json")
    for name in (f"{F1}.macro@people", f"{F1}[car]@street", "event.hard.recall.weighted@out", f"{F1}.macro"):
        assert run("--config", config, "--score", name).out == f"{scores[name]!r}\n"
    asked = f"{F1}.macro@people"
    assert run("--config", config, "--require", f"{asked}>=0.01").code == 0
    failed = run("--config", config, "--require", f"{asked}>=2")
    assert failed.code == 1 and f"requirement not met: {asked}>=2.0" in failed.err
    asked = "intersection.hard.psds"
    alone = evaluate(REFERENCE, SYSTEM, classes=PEOPLE, only="intersection.hard", psds="dcase-psds1")
    done = run("--config", config, "--psds", "dcase-psds1", "--score", f"{asked}@people")
    assert done.out == f"{alone[asked]!r}\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{F1}.macro@trafic", f"named '{F1}.macro@trafic'; did you mean '{F1}.macro@traffic'"),
        (f"{F1}[car]@traffic", r"did you mean 'segment\.soft\.f1\[car\]'"),
        (f"{F1}.macro@a@b", "is not the name of a score"),
        ("intersection.hard.psds@people", "needs --psds"),
    ],
)
def test_names_of_no_group_are_refused(name, words, config):
    for asked in (("--score", name), ("--require", f"{name}>=0")):
        done = run("--config", config, *asked)
        assert done.code == 2 and re.search(words, done.err)


def test_averages_are_chosen_where_no_score_is(config):
    rows = csv.DictReader(run("--average", "macro", "--format", "csv", "--config", config).out.splitlines())
    assert {row["average"] for row in rows if row["name"]} & {"micro", "macro", "weighted"} == {"macro"}
    document = json.loads(run("--average", "micro", "--average", "weighted", "--format", "json").out)
    assert {score["average"] for score in document["systems"][0]["scores"]} == {None, "micro", "weighted"}
    assert run("--average", "macro", "--score", f"{F1}.micro").code == 2
    assert run("--average", "macro", "--require", f"{F1}.micro>=0.1").code == 0
    assert run("--average", "mean").code == 2


@pytest.mark.parametrize(
    "name", ["segment.soft.roc_auc.macro", "event.hard.average_precision_coco.macro", "clip.soft.brier.micro"]
)
def test_a_score_computes_its_group_by_itself(name):
    assert float(run("--score", name).out) == evaluate(REFERENCE, SYSTEM, only="all", measures="all")[name]
