"""Groups, scenes and averages as users of the command line have them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError
from sedeval_soft.report import render
from sedeval_soft.settings_files import load_settings

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM = str(SAMPLES / "ref.tsv"), str(SAMPLES / "sys.tsv")
PARTS = """\
groups:
  traffic: [car]
  people: [people talking, footsteps, children voices]
scenes: {street: "s*", out: ["park.*", "street.*"]}
"""
F1 = "segment.soft.f1"


def run(*arguments):
    """Run the command; errors of the package are raised as they are."""
    done = CliRunner().invoke(group, [REFERENCE, SYSTEM, *arguments])
    if isinstance(done.exception, EvaluationError):
        raise done.exception
    return done


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "parts.yaml"
    path.write_text(PARTS, encoding="utf-8")
    return str(path)


def asked():
    """Return the settings of the file as keywords."""
    people = ["people talking", "footsteps", "children voices"]
    return {
        "groups": {"traffic": ["car"], "people": people},
        "scenes": {"street": "s*", "out": ["park.*", "street.*"]},
    }


def test_a_settings_file_has_groups_and_scenes(config):
    assert load_settings(config) == asked()
    scores = evaluate(REFERENCE, SYSTEM, **asked())
    assert run("--config", config, "--format", "json").stdout == render([scores], "json")


@pytest.mark.parametrize(
    "name", [f"{F1}.macro@people", f"{F1}[car]@street", "event.hard.recall.weighted@out", f"{F1}.macro"]
)
def test_scores_of_parts_are_printed_and_required_by_name(name, config):
    scores = evaluate(REFERENCE, SYSTEM, **asked())
    done = run("--config", config, "--score", name)
    assert (done.exit_code, done.stdout) == (0, f"{scores[name]!r}\n")
    assert run("--config", config, "-q", "--require", f"{name}>=0.01").exit_code == 0
    failed = run("--config", config, "-q", "--require", f"{name}>=2")
    assert failed.exit_code == 1
    assert f"requirement not met: {name}>=2.0" in failed.stderr


@pytest.mark.parametrize("option", ["--score", "--require"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{F1}.macro@trafic", "no group or scene is named 'trafic'; did you mean 'traffic'"),
        (f"{F1}[car]@streets", "did you mean 'street'"),
        (f"{F1}.macro@zzz", "known: traffic, people, street, out"),
        (f"{F1}[car]@traffic", r"averages only; of the class there is segment\.soft\.f1\[car\]$"),
        (f"{F1}.macro@a@b", "is not a score name"),
        ("intersection.hard.psds@people", "needs --psds"),
        ("segment.soft.f2.macro@people", "did you mean"),
    ],
)
def test_names_of_no_group_are_refused(option, name, words, config):
    value = name if option == "--score" else f"{name}>=0"
    with pytest.raises(SettingsError, match=words):
        run("--config", config, option, value)


def test_no_group_is_known_without_a_settings_file():
    with pytest.raises(SettingsError, match=r"'traffic', and no settings file \(--config\) has groups or sc"):
        run("--score", f"{F1}.macro@traffic")


def test_psds_of_a_group_is_printed(config):
    done = run("--config", config, "--psds", "dcase-psds1", "--score", "intersection.hard.psds@people")
    alone = evaluate(
        REFERENCE, SYSTEM, classes=asked()["groups"]["people"], only="intersection.hard", psds="dcase-psds1"
    )
    assert done.stdout == f"{alone['intersection.hard.psds']!r}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: [car]", r"broken\.yaml:1: groups must map"),
        ("groups: {a@b: [car]}", r"broken\.yaml:1: groups cannot have the name 'a@b'"),
        ("groups: {a: [car]}\nscenes: {a: '*'}", r"broken\.yaml:1: groups and scenes both have 'a'"),
        ("groups: {2024: [car]}", "in quotes if need be, not 2024"),
        ("groups: {a: [cra]}", "'cra' is not an evaluated class; did you mean 'car'"),
        ("scenes: {a: 'S*'}", r"scene 'a': no file matches 'S\*', of 5 files"),
    ],
)
def test_settings_files_with_wrong_parts_are_refused(text, words, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match=words):
        run("--config", str(path))


def test_names_that_differ_in_a_hyphen_are_two(tmp_path):
    path = tmp_path / "names.yaml"
    path.write_text("groups: {a-b: [car], a_b: [footsteps]}", encoding="utf-8")
    assert load_settings(str(path))["groups"] == {"a-b": ["car"], "a_b": ["footsteps"]}
    for twice in ("groups: {a: [car], a: [footsteps]}", "min-gap: 1\nmin_gap: 1"):
        path.write_text(twice, encoding="utf-8")
        with pytest.raises(EvaluationError, match="a second time"):
            load_settings(str(path))


def test_averages_are_chosen_and_scores_are_not(config):
    done = run("--average", "macro", "--format", "csv", "--config", config)
    averages = {row["average"] for row in csv.DictReader(done.stdout.splitlines()) if row["name"]}
    assert averages & {"micro", "macro", "weighted"} == {"macro"}
    document = json.loads(run("--average", "micro", "--average", "weighted", "--format", "json").stdout)
    kinds = {score["average"] for score in document["systems"][0]["scores"]}
    assert kinds == {None, "micro", "weighted"}
    scores = evaluate(REFERENCE, SYSTEM)
    assert run("--average", "macro", "--score", f"{F1}.micro").stdout == f"{scores[f'{F1}.micro']!r}\n"
    assert run("--average", "macro", "--require", f"{F1}.micro>=0.1").exit_code == 0
    assert run("--average", "mean").exit_code == 2
