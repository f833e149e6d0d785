"""`soft-sed-eval tune`, and what takes its thresholds, as users of the command line have them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft.cli.tables import tune

F1 = "segment.tuned.f1.macro"


def run(*arguments, code=0):
    """Run the command, and return what it prints, or what is wrong."""
    done = call(*arguments)
    assert done.code == code, done.err
    return done.out if code == 0 else done.err


@pytest.fixture(scope="module")
def thresholds(tmp_path_factory):
    path = tmp_path_factory.mktemp("tuned") / "thresholds.yaml"
    assert run("tune", REFERENCE, SYSTEM, "-o", str(path)) == ""
    return path


@pytest.fixture
def folds(tmp_path):
    path, names = tmp_path / "folds.tsv", {"cafe": 1, "night": 1, "park": 2, "metro": 2, "street": 3}
    rows = "".join(f"{name}.wav\t{fold}\n" for name, fold in names.items())
    path.write_text(f"filename\tfold\n{rows}", encoding="utf-8")
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
    [
        ("segment", ()),
        (
            "event",
            (
                "--set",
                "inclusive=true",
            ),
        ),
        ("clip", ("--set", "min_gap=1.5", "--set", "beta=2")),
    ],
)
def test_thresholds_of_the_same_data_reach_the_optimal_reading(basis, options, tmp_path):
    whole, flat, config = (tmp_path / f"{name}.yaml" for name in ("whole", "flat", "config"))
    run("tune", REFERENCE, SYSTEM, "--objective", f"{basis}.f1", "-o", whole, *options)
    # A file of classes alone, and one in the settings, do as well.
    found = yaml.safe_load(whole.read_text(encoding="utf-8"))["thresholds"]
    flat.write_text(yaml.safe_dump(found), encoding="utf-8")
    config.write_text(yaml.safe_dump({"thresholds": found}), encoding="utf-8")
    tuned, optimal = ((f"--score={basis}.{reading}.f1.macro",) for reading in ("tuned", "optimal"))
    best = run(REFERENCE, SYSTEM, *optimal, *options)
    for way in (("--thresholds", whole), ("--thresholds", flat), ("--config", config)):
        assert run(REFERENCE, SYSTEM, *way, *tuned, *options) == best


MOVING = (
    *(
        "--threshold 0.3",
        "--reference-threshold 0.3",
        "--set inclusive=true",
        "--set beta=2",
        "--classes car",
    ),
    *("--durations durations.tsv", "--preset dcase2024-task4-maestro", "--config settings.yaml"),
    *(
        "--segment-length 0.3",
        "--set pool=mean --segment-length 2.5",
        "--onset-collar 1",
        "--offset-collar 2",
    ),
    *("--set match_by=iou", "--set iou=0.2 --set match_by=iou"),
    *(
        "--offset-collar-rate 0.9",
        "--set onset=false",
        "--set offset=false",
        "--set events=rows",
        "--median-filter 3",
    ),
    *("--set min_gap=2", "--set min_duration=2", "--set dtc=0.7", "--set gtc=0.7", "--psds dcase-psds1"),
    *("--objective segment.error_rate", "--files list.txt", "--set ignore_class=car"),
    *("--regions regions.tsv", "--set region_edges=onset --regions regions.tsv", "--set after_shots=9"),
)
"""Each option that says what thresholds are best, with something that makes others best."""


def test_every_option_that_is_not_of_files_moves_thresholds(tmp_path, monkeypatch):
    options = {option for each in tune.params for option in each.opts if option[:2] == "--"}
    files = {
        "--output",
        "--quiet",
        "--columns",
        "--label",
        "--sample-rate",
        "--map",
        "--map-to",
        "--from",
        "--limit",
        "--memory-limit",
        "--help-settings",
    }
    assert options == {*(line.split()[0] for line in MOVING), *files, "--help-all"}
    monkeypatch.chdir(tmp_path)
    Path("settings.yaml").write_text("threshold: 0.2\n", encoding="utf-8")
    Path("durations.tsv").write_text("filename\tduration\ncafe.wav\t20\n", encoding="utf-8")
    Path("list.txt").write_text("cafe.wav\nstreet.wav\n", encoding="utf-8")
    Path("regions.tsv").write_text("cafe.wav\t3.5\t21.5\nstreet.wav\t0\t44.5\n", encoding="utf-8")
    found = {}

    def tuned(*options):
        if options not in found:
            asked = options[1:] if "--objective" in options else ("--objective", *options)
            done = call("tune", REFERENCE, SYSTEM, "-q", *asked)
            if done.code:
                # Refused, as it moves nothing of this basis.
                assert "has no effect in this call" in done.err
                return tuned(options[0], *options[3:])
            made = yaml.safe_load(done.out)
            found[options] = made["thresholds"], made["classes"]
        return found[options]

    for line in MOVING:
        given = line.split()
        bases = ("segment.f1", "event.f1", "intersection.f1")
        assert any(tuned(basis, *given) != tuned(basis, *given[2:]) for basis in bases), line


NO_THRESHOLDS = {
    "car: [\n": ":2:1: is not YAML",
    "": "expected thresholds, one `class: number` on each line",
    "car: 3\n": "thresholds of 'car' must be 0 to 2, or never, not 3",
    "car: -1\n": "thresholds of 'car' must be 0 to 2, or never, not -1",
    "car: 0.5\ncar: 0.6\n": ":2:1: setting 'car' is given twice",
    "thresholds: prior\n": "expected `--thresholds prior`",
    "inclusive: true\nthresholds: {car: 0.5}\n": "found for active at or above thresholds",
}


def test_files_that_hold_no_thresholds_are_refused(tmp_path):
    path = tmp_path / "t.yaml"
    for text, words in NO_THRESHOLDS.items():
        path.write_text(text, encoding="utf-8")
        said = run(REFERENCE, SYSTEM, "--thresholds", str(path), "--score", F1, code=2)
        assert said.startswith(str(path)) and words in said


def test_classes_that_are_not_evaluated_are_a_warning(tmp_path):
    (tmp_path / "t.yaml").write_text("cars: 0.4\n", encoding="utf-8")
    done = call(REFERENCE, SYSTEM, "--thresholds", tmp_path / "t.yaml", "--score", F1)
    said = "thresholds is set for 'cars', which is not an evaluated class; did you mean 'car'?"
    assert done.code == 0 and f"warning: {said}" in done.err


def test_tuned_scores_that_are_not_what_they_seem_are_a_warning(thresholds, tmp_path):
    def said(*arguments):
        return [line for line in call(*arguments).err.splitlines() if "was tuned" in line]

    (same,) = said(REFERENCE, SYSTEM, "--thresholds", thresholds)
    assert same.startswith(f"warning: {thresholds} was tuned on these very tables: tuned scores are as opt")
    assert said(REFERENCE, OTHER, "--thresholds", thresholds) == []
    (other,) = said(
        REFERENCE, OTHER, "--thresholds", thresholds, "--segment-length", "0.5", "--set", "pool=mean"
    )
    assert other.endswith("was tuned with other settings: segment_length 1.0, not 0.5; pool max, not mean")
    # Collars have no influence on thresholds of segments, and have one on those of events.
    assert said(REFERENCE, OTHER, "--thresholds", thresholds, "--onset-collar", "1") == []
    events = tmp_path / "events.yaml"
    run("tune", REFERENCE, SYSTEM, "--objective", "event.f1", "-o", events)
    (collar,) = said(REFERENCE, OTHER, "--thresholds", events, "--onset-collar", "1")
    assert collar.endswith("settings: onset_collar 0.2, not 1.0")
    document = call(REFERENCE, SYSTEM, "--thresholds", thresholds, "--format", "json").document
    assert any("was tuned on these very tables" in text for text in document["warnings"])


def test_classes_show_tuned_scores(thresholds):
    text = run(REFERENCE, OTHER, "--thresholds", thresholds, "--only", "segment", "--by-class")
    assert "soft   tuned     n" in text


def test_folds_are_tuned_over_by_themselves(folds):
    name, asked = "event.tuned.f1.macro", (REFERENCE, SYSTEM, "--folds", folds, "--format", "json")
    found = call(*asked)
    assert found.document["settings"]["cross_tune"] == "folds"
    assert run(*asked[:-2], "--score", name) == f"{found.scores[name]['value']!r}\n"
    given = call(*asked, "--thresholds", "prior").document["settings"]
    assert (given["cross_tune"], given["thresholds"]) == (None, "prior")
    # Where no tuned score is asked for, none is computed.
    assert ".tuned." not in run(*asked, "--score", "segment.hard.f1.macro")


def test_merged_tallies_are_tuned_over_folds(folds, tmp_path):
    tallies = []
    for part in (("cafe", "night", "park"), ("metro", "street")):
        tables = []
        for path in map(Path, (REFERENCE, SYSTEM)):
            head, *rows = path.read_text(encoding="utf-8").splitlines()
            tables.append(tmp_path / f"{part[0]}-{path.name}")
            tables[-1].write_text("\n".join([head, *(row for row in rows if row.startswith(part)), ""]))
        tallies.append(tmp_path / f"{part[0]}.tally")
        run(*tables, "--folds", folds, "--save-tally", tallies[-1], "--quiet")
    for name in (F1, "event.tuned.error_rate.micro", "segment.tuned.f1.micro@2"):
        asked = ("--folds", folds, "--score", name)
        assert run("merge", *tallies, *asked) == run(REFERENCE, SYSTEM, *asked)
    assert "cross_tune=folds: there are no folds" in run("merge", *tallies, "--score", F1, code=2)


def test_a_constraint_is_shown_with_what_it_leaves():
    asked = (REFERENCE, SYSTEM, "--set", "satisfice=precision>=0.9", "--only", "segment")
    text = run(*asked, "-v")
    assert "satisfice  best thresholds where precision >= 0.9: highest F" in text
    assert "Classes, segment-based, optimal reading, best under the constraint" in text
    said = "segment: no threshold reaches precision>=0.9; the nearest: door opens"
    assert any(warning.startswith(said) for warning in call(*asked, "--format", "json").document["warnings"])
    assert float(run(*asked, "--score", "segment.optimal.satisficed_recall[car]")) == 1.0
