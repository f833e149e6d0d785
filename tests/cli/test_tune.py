"""`soft-sed-eval tune`, and scores at its thresholds, on the command line."""

from functools import cache

import pandas as pd
import pytest
import yaml
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from drawn import lay_out

from sedeval_soft import Evaluator
from sedeval_soft.cli.tables import tune

F1 = "segment.tuned.f1.macro"


def run(*arguments):
    """Run a command, which must succeed, and return its output."""
    done = call(*arguments)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture(scope="module")
def thresholds(tmp_path_factory):
    path = tmp_path_factory.mktemp("tuned") / "thresholds.yaml"
    assert run("tune", REFERENCE, SYSTEM, "-o", path) == ""
    return path


FOLDS = ("--folds", SAMPLES / "folds.tsv")


@pytest.mark.parametrize(
    ("basis", "options"),
    [("segment", ""), ("event", "--set inclusive=true"), ("clip", "--set min_gap=1.5 --set beta=2")],
)
def test_thresholds_of_the_same_data_reach_the_optimal_reading(basis, options, tmp_path):
    tuned = run("tune", REFERENCE, SYSTEM, "--objective", f"{basis}.f1", *options.split())
    found = yaml.safe_load(tuned)["thresholds"]
    # A file of classes only, and a file named in the settings, work too.
    classes, nested = yaml.safe_dump(found), yaml.safe_dump({"thresholds": found})
    lay_out(tmp_path, {"whole": tuned, "flat": classes, "config": nested})
    best = run(REFERENCE, SYSTEM, f"--score={basis}.optimal.f1.macro", *options.split())
    for option, name in (("--thresholds", "whole"), ("--thresholds", "flat"), ("--config", "config")):
        how = option, tmp_path / name, f"--score={basis}.tuned.f1.macro"
        assert run(REFERENCE, SYSTEM, *how, *options.split()) == best


MOVING = {
    "segment.f1": (
        "--threshold 0.3", "--reference-threshold 0.3", "--set inclusive=true", "--set beta=2",
        "--classes car", "--preset dcase2024-task4-maestro", "--config settings.yaml",
        "--segment-length 0.3", "--set pool=mean --segment-length 2.5", "--median-filter 3",
        "--set min_gap=2", "--set min_duration=2", "--files list.txt", "--set ignore_class=car",
        "--regions regions.tsv", "--durations durations.tsv",
    ),
    "event.f1": (
        "--onset-collar 1", "--offset-collar 2", "--offset-collar-rate 0.9", "--set match_by=iou",
        "--set iou=0.2 --set match_by=iou", "--set onset=false", "--set offset=false",
        "--set events=rows", "--set region_edges=onset --regions regions.tsv", "--set after_shots=9",
    ),
    "intersection.f1": ("--set dtc=0.7", "--set gtc=0.7", "--psds dcase-psds1"),
    "": ("--objective segment.error_rate",),
}  # fmt: skip
"""By objective: each option that affects the best thresholds, with a value that changes them."""

FILES = {
    *("output", "quiet", "columns", "label", "sample-rate", "map", "map-to", "from", "limit", "memory-limit"),
    "help-settings",
}


def test_every_option_that_is_not_of_files_moves_thresholds(tmp_path, monkeypatch):
    options = {option for each in tune.params for option in each.opts if option[:2] == "--"}
    lines = [(basis, line.split()) for basis, some in MOVING.items() for line in some]
    assert options == {*(line[0] for _, line in lines), *(f"--{name}" for name in FILES), "--help-all"}
    monkeypatch.chdir(lay_out(tmp_path, {
        "settings.yaml": "threshold: 0.2\n",
        "durations.tsv": "filename\tduration\ncafe.wav\t20\n",
        "list.txt": "cafe.wav\nstreet.wav\n",
        "regions.tsv": "cafe.wav\t3.5\t21.5\nstreet.wav\t0\t44.5\n",
    }))  # fmt: skip

    @cache
    def found(basis, *given):
        objective = ["--objective", basis] if basis else []
        made = yaml.safe_load(run("tune", REFERENCE, SYSTEM, "-q", *objective, *given))
        return made["thresholds"], made["classes"]

    for basis, line in lines:
        assert found(basis, *line) != found(basis, *line[2:]), line


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("car: [\n", 2, ":2:1: "),
        ("", 2, "class: number"),
        ("car: 3\n", 2, "'car'"),
        ("car: -1\n", 2, "'car'"),
        ("car: 0.5\ncar: 0.6\n", 2, ":2:1: "),
        ("thresholds: prior\n", 2, "--thresholds prior"),
        ("inclusive: true\nthresholds: {car: 0.5}\n", 2, "at or above"),
        ("cars: 0.4\n", 0, "'cars'"),
    ],
)
def test_files_that_hold_no_thresholds_are_refused_and_unknown_classes_a_warning(text, code, named, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    done = call(REFERENCE, SYSTEM, "--thresholds", path, "--score", F1)
    assert done.code == code and named in done.err
    assert done.err.startswith(str(path) if code else "warning: ")


def test_tuned_scores_that_are_not_what_they_seem_are_a_warning(thresholds, tmp_path):
    events = tmp_path / "events.yaml"
    run("tune", REFERENCE, SYSTEM, "--objective", "event.f1", "-o", events)
    for system, path, options, words in (
        (SYSTEM, thresholds, "", "these very tables"),
        (OTHER, thresholds, "", None),
        (OTHER, thresholds, "--segment-length 0.5 --set pool=mean", "1.0, not 0.5; pool max, not mean"),
        # Collars affect thresholds of events only.
        (OTHER, thresholds, "--onset-collar 1", None),
        (OTHER, events, "--onset-collar 1", "onset_collar 0.2, not 1.0"),
    ):
        done = call(REFERENCE, system, "--thresholds", path, *options.split())
        warned = [line for line in done.err.splitlines() if "was tuned" in line]
        assert [words in text for text in warned] == [True] * (words is not None), (options, warned)


def test_folds_are_tuned_over_by_themselves():
    asked = (REFERENCE, SYSTEM, *FOLDS)
    found, given = (call(*asked, "--format", "json", *more) for more in ((), ("--thresholds", "prior")))
    chosen = [done.document["settings"] for done in (found, given)]
    assert [(each["cross_tune"], each["thresholds"]) for each in chosen] == [("folds", None), (None, "prior")]
    name = "event.tuned.f1.macro"
    assert run(*asked, "--score", name) == f"{found.scores[name]['value']!r}\n"
    # No tuned score is computed unless it is asked for.
    assert ".tuned." not in run(*asked, "--score", "segment.hard.f1.macro", "--format", "json")


def test_merged_tallies_are_tuned_over_folds(tmp_path):
    tallies = [tmp_path / "0.tally", tmp_path / "1.tally"]
    for tally, files in zip(tallies, ("cafe|night|park", "metro|street"), strict=True):
        tables = (pd.read_csv(path, sep="\t") for path in (REFERENCE, SYSTEM))
        parts = (table[table["filename"].str.match(files)] for table in tables)
        Evaluator(cross_tune="folds").update(*parts).save(tally)
    asked = (*FOLDS, "--score", F1, "--score", "segment.tuned.f1.micro@fold2")
    assert run("merge", *tallies, *asked) == run(REFERENCE, SYSTEM, *asked)
    assert "cross_tune=folds" in call("merge", *tallies, "--score", F1).err
