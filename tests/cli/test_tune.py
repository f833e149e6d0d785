"""`soft-sed-eval tune`, and what takes its thresholds, as users of the command line have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from called import REFERENCE, SYSTEM, call

from sedeval_soft.cli.tables import tune

F1 = "segment.tuned.f1.macro"
FOLDS = "filename\tfold\ncafe.wav\t1\nnight.wav\t1\npark.wav\t2\nmetro.wav\t2\nstreet.wav\t3\n"


def run(*arguments, code=0):
    """Run the command, and return what it prints, or what is wrong."""
    done = call(*arguments)
    assert done.code == code, done.err
    return done.out if code == 0 else done.err


@pytest.fixture
def thresholds(tmp_path):
    path = tmp_path / "thresholds.yaml"
    assert run("tune", REFERENCE, SYSTEM, "-o", str(path)) == ""
    return path


@pytest.fixture
def folds(tmp_path):
    path = tmp_path / "folds.tsv"
    path.write_text(FOLDS, encoding="utf-8")
    return str(path)


def test_a_file_has_what_standard_output_has(thresholds):
    text = run("tune", REFERENCE, SYSTEM)
    assert thresholds.read_text(encoding="utf-8") == text == run("tune", REFERENCE, SYSTEM, "-o", "-")
    found = yaml.safe_load(text)
    assert list(found) == ["thresholds", "objective", "beta", "inclusive", "classes", "signature"]
    assert found["objective"] == "segment.f1"
    assert found["classes"]["footsteps"] == {"n_ref": 124, "score": 0.848, "as_good": [0.43, 0.44]}


@pytest.mark.parametrize(
    ("basis", "options"),
    [("segment", ()), ("event", ("--inclusive",)), ("clip", ("--min-gap", "1.5", "--beta", "2"))],
)
def test_thresholds_of_the_same_data_reach_the_optimal_reading(basis, options, tmp_path):
    path = str(tmp_path / "t.yaml")
    run("tune", REFERENCE, SYSTEM, "--objective", f"{basis}.f1", "-o", path, *options)
    names = [f"{basis}.{reading}.f1.macro" for reading in ("tuned", "optimal")]
    scores = [run(REFERENCE, SYSTEM, "--thresholds", path, "--score", name, *options) for name in names]
    assert scores[0] == scores[1]


def test_a_file_of_classes_alone_and_one_in_the_settings_do(thresholds, tmp_path):
    found = yaml.safe_load(thresholds.read_text(encoding="utf-8"))["thresholds"]
    flat, config = tmp_path / "flat.yaml", tmp_path / "config.yaml"
    flat.write_text(yaml.safe_dump(found), encoding="utf-8")
    config.write_text(yaml.safe_dump({"thresholds": found}), encoding="utf-8")
    expected = run(REFERENCE, SYSTEM, "--thresholds", str(thresholds), "--score", F1)
    assert run(REFERENCE, SYSTEM, "--thresholds", str(flat), "--score", F1) == expected
    assert run(REFERENCE, SYSTEM, "--config", str(config), "--score", F1) == expected


MOVING = {
    "--threshold": "0.3",
    "--reference-threshold": "0.3",
    "--inclusive": "",
    "--beta": "2",
    "--classes": "car",
    "--durations": "durations.tsv",
    "--preset": "dcase2024-task4-desed",
    "--config": "settings.yaml",
    "--segment-length": "0.3",
    "--pool": "mean --segment-length 2.5",
    "--onset-collar": "1",
    "--offset-collar": "2",
    "--offset-collar-rate": "0.9",
    "--no-onset": "",
    "--no-offset": "",
    "--events": "rows",
    "--median-filter": "3",
    "--min-gap": "2",
    "--min-duration": "2",
    "--dtc": "0.7",
    "--gtc": "0.7",
    "--psds": "dcase-psds1",
    "--objective": "segment.error_rate",
}
"""Each option that says what thresholds are best, with something that makes others best."""


def test_every_option_that_is_not_of_files_is_known_to_move_thresholds():
    options = {option for each in tune.params for option in each.opts if option[:2] == "--"}
    assert options == {*MOVING, "--output", "--quiet", "--columns", "--limit", "--memory-limit"}


@pytest.mark.parametrize("option", MOVING)
def test_every_option_moves_thresholds(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("settings.yaml").write_text("threshold: 0.2\n", encoding="utf-8")
    Path("durations.tsv").write_text("filename\tduration\ncafe.wav\t20\n", encoding="utf-8")

    def found(*options):
        made = yaml.safe_load(run("tune", REFERENCE, SYSTEM, "-q", "--objective", *options))
        return made["thresholds"], made["classes"]

    given = [option, *MOVING[option].split()]
    bases = ("segment.f1", "event.f1", "intersection.f1")
    assert any(found(basis, *given) != found(basis, *given[2:]) for basis in bases)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("car: [\n", ":2:1: is not YAML"),
        ("- 0.5\n", "holds list; expected thresholds"),
        ("", "expected thresholds, one `class: number` a line"),
        ("car: 3\n", "thresholds of 'car' must be -1 to 2, not 3"),
        ("car: high\n", "thresholds of 'car' must be a finite number"),
        ("car: true\n", "thresholds of 'car' must be a finite number"),
        ("car: 0.5\ncar: 0.6\n", ":2:1: setting 'car' is given a second time"),
        ("1: 0.5\n", "thresholds must have class names, in quotes if need be, not 1"),
        ("thresholds:\n", "thresholds must map class names to numbers"),
        ("thresholds: prior\n", "expected `--thresholds prior`"),
        ("inclusive: true\nthresholds: {car: 0.5}\n", "found for active at or above thresholds"),
    ],
)
def test_files_that_hold_no_thresholds_are_refused(text, words, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    said = run(REFERENCE, SYSTEM, "--thresholds", str(path), "--score", F1, code=2)
    assert said.startswith(str(path))
    assert words in said


def test_classes_that_are_not_evaluated_are_a_warning(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text("cars: 0.4\n", encoding="utf-8")
    done = call(REFERENCE, SYSTEM, "--thresholds", path, "--score", F1)
    assert done.code == 0
    said = "thresholds is set for 'cars', which is no evaluated class; did you mean 'car'?"
    assert f"warning: {said}" in done.err


def test_folds_are_tuned_over_by_themselves(folds):
    name = "event.tuned.f1.macro"
    with_folds = run(REFERENCE, SYSTEM, "--folds", folds, "--score", name)
    found = json.loads(run(REFERENCE, SYSTEM, "--folds", folds, "--format", "json"))
    assert found["settings"]["cross_tune"] == "folds"
    values = {score["name"]: score["value"] for score in found["systems"][0]["scores"]}
    assert repr(values[name]) == with_folds.strip()
    given = json.loads(run(REFERENCE, SYSTEM, "--folds", folds, "--thresholds", "prior", "--format", "json"))
    assert (given["settings"]["cross_tune"], given["settings"]["thresholds"]) == (None, "prior")
    # Where no tuned score is asked for, none is computed.
    only = run(REFERENCE, SYSTEM, "--folds", folds, "--score", "segment.hard.f1.macro", "--format", "json")
    assert ".tuned." not in only


def test_merged_tallies_are_tuned_over_folds(folds, tmp_path):
    paths = []
    lines = {path: Path(path).read_text(encoding="utf-8").splitlines() for path in (REFERENCE, SYSTEM)}
    for part in (("cafe", "night", "park"), ("metro", "street")):
        tables = []
        for path, (head, *rows) in lines.items():
            table = tmp_path / f"{part[0]}-{Path(path).name}"
            own = [head, *(row for row in rows if row.startswith(part)), ""]
            table.write_text("\n".join(own), encoding="utf-8")
            tables.append(str(table))
        paths.append(str(tmp_path / f"{part[0]}.tally"))
        run(*tables, "--folds", folds, "--save-tally", paths[-1], "--quiet")
    for name in (F1, "event.tuned.error_rate.micro", "segment.tuned.f1.micro@2"):
        whole = run(REFERENCE, SYSTEM, "--folds", folds, "--score", name)
        assert run("merge", *paths, "--folds", folds, "--score", name) == whole
    assert "cross_tune=folds: there are no folds" in run("merge", *paths, "--score", F1, code=2)


@pytest.mark.parametrize("rule", ["midpoint", "prior", "file"])
def test_threshold_takes_what_thresholds_does(rule, thresholds):
    given = str(thresholds) if rule == "file" else rule
    asked = (REFERENCE, SYSTEM, "--format", "json", "--only", "segment")
    assert run(*asked, "--threshold", given) == run(*asked, "--thresholds", given)
    hard = json.loads(run(*asked, "--threshold", given))["settings"]["threshold"]
    assert hard == 0.5


def test_a_constraint_is_shown_with_what_it_leaves():
    text = run(REFERENCE, SYSTEM, "--satisfice", "precision>=0.9", "--only", "segment")
    assert "satisfice  best thresholds where precision >= 0.9: highest F" in text
    assert "Classes, segment-based, optimal reading, best under the constraint" in text
    found = json.loads(run(REFERENCE, SYSTEM, "--satisfice", "precision>=0.9", "--format", "json"))
    said = "segment: no threshold reaches precision>=0.9; the nearest: door opens"
    assert any(warning.startswith(said) for warning in found["warnings"])
    asked = ("--satisfice", "precision>=0.9", "--score", "segment.optimal.satisficed_recall[car]")
    assert float(run(REFERENCE, SYSTEM, *asked)) == 1.0
