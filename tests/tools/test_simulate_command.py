"""`soft-sed-eval simulate`: what is written where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from called import call

from sedeval_soft import evaluate, simulate
from sedeval_soft.cli import tables as command
from sedeval_soft.tables import read_rows
from sedeval_soft.tools import simulate as simulation

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE = str(SAMPLES / "ref.tsv")


def test_kinds_are_those_of_the_library():
    assert command.KINDS == simulation.KINDS


@pytest.mark.parametrize("name", ["sys.tsv", "sys.parquet", "sys.jsonl", "sys.csv.gz"])
def test_any_written_form_holds_the_system(tmp_path, name):
    target = tmp_path / name
    done = call("simulate", "beta-noise", REFERENCE, "--r", "0.5", "--seed", "4", "-o", target)
    assert done.code == 0
    assert "seed 4" in done.err
    rows, made = read_rows(target), simulate("beta-noise", REFERENCE, r=0.5, seed=4)
    ours, theirs = (evaluate(REFERENCE, each) for each in (rows, made))
    assert [*ours.values()] == [*theirs.values()]


def test_without_a_file_the_table_is_printed():
    done = call("simulate", "constant", REFERENCE, "--classes", "car", "--segment-length", "20", "-q")
    assert done.err == ""
    assert done.out.startswith(
        "filename\tonset\toffset\tevent_label\tsoft_value\ncafe.wav\t0\t20\tcar\t0.5\n"
    )


def test_all_arguments_reach_the_library(tmp_path):
    target = tmp_path / "sys.tsv"
    options = ("--drop", "0.3", "--merge", "0.2", "--jitter", "1", "--smoothing", "3", "--noise", "0.1")
    assert call("simulate", "perturb", REFERENCE, *options, "--pool", "mean", "-o", target).code == 0
    values = {"drop": 0.3, "merge": 0.2, "jitter": 1.0, "smoothing": 3.0, "noise": 0.1, "pool": "mean"}
    made = simulate("perturb", REFERENCE, **values)
    found = read_rows(target)
    assert np.array_equal(found.value, made.value)
    assert np.array_equal(found.onset, made.onset)


@pytest.mark.parametrize(
    "arguments",
    [
        ("betas", REFERENCE, "-o", REFERENCE),
        ("betas", REFERENCE, "--train", "-", "--labels", "-"),
        ("betas", "no.tsv"),
        ("betas", REFERENCE, "-o", "sys.unknown"),
        ("betas", REFERENCE, "-o", "no/such/folder/sys.tsv"),
        ("louder", REFERENCE),
        ("beta-noise", REFERENCE),
        ("data-sampling", REFERENCE, "--train", str(SAMPLES / "durations.tsv")),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = Path(REFERENCE).read_bytes()
    assert call("simulate", *arguments).code == 2
    assert Path(REFERENCE).read_bytes() == before
    assert not [*tmp_path.iterdir()]


def test_training_data_without_the_classes_is_refused(tmp_path):
    train = tmp_path / "train.tsv"
    train.write_text("filename\tonset\toffset\tevent_label\nx.wav\t0\t1\tbarking\n")
    done = call("simulate", "betas", REFERENCE, "--train", train)
    assert done.code == 2
    assert "none of the reference's classes" in done.err
