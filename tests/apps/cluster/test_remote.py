"""Files elsewhere: the rows and the scores of the same files here, and reads that fail."""

from __future__ import annotations

import gzip
import re

import pytest
from parted import count_in_parts
from sharded_tables import SAMPLES, sample, shards

from sedeval_soft import Evaluator, InputError, Limits, Settings, evaluate
from sedeval_soft.report import render
from sedeval_soft.tables import read_rows

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install --group distributed")


@pytest.fixture
def elsewhere():
    """The sample's tables in shards, in `memory://`."""
    files = fsspec.filesystem("memory")
    for name, text in shards("/data/").items():
        files.pipe(name, text.encode())
    yield files
    files.rm("/data", recursive=True)


def anywhere(scores) -> str:
    """Return a result without the places of its inputs."""
    text = render([scores], "json")
    for item in scores.inputs:
        text = text.replace(item.name, item.role)
    return text


def test_shards_elsewhere_are_those_here(elsewhere, tmp_path):
    sides = "memory://data/ref-*.tsv", "memory://data/sys-?.tsv"
    here, there = evaluate(*sample(tmp_path)), evaluate(*sides)
    assert anywhere(here) == anywhere(there) and tuple(item.name for item in there.inputs) == sides
    assert dict(Evaluator().update(*sides).compute()) == dict(here)
    parts = count_in_parts(*sides, Settings())
    assert len(parts.tally.files) == len(here.files)


def test_one_file_elsewhere(elsewhere):
    data, rows = (SAMPLES / "ref.tsv").read_bytes(), read_rows(SAMPLES / "ref.tsv")
    for name, packed in (("ref.tsv", data), ("ref.tsv.gz", gzip.compress(data))):
        elsewhere.pipe(f"/data/{name}", packed)
        found = read_rows(f"memory://data/{name}")
        assert found.onset.tolist() == rows.onset.tolist()
        assert (found.origin.form, found.origin.name) == (rows.origin.form, f"memory://data/{name}")
    assert read_rows("memory://data/ref.tsv").origin.sha256 == rows.origin.sha256
    parts = count_in_parts("memory://data/ref.tsv.gz", SAMPLES / "sys.tsv", Settings())
    assert parts.tally.files == tuple(sorted(rows.files))


def test_tables_of_durations_may_be_elsewhere_too(elsewhere):
    elsewhere.pipe("/data/durations.tsv", (SAMPLES / "durations.tsv").read_bytes())
    sides = (SAMPLES / "ref.tsv", SAMPLES / "sys.tsv")
    found = evaluate(*sides, durations="memory://data/durations.tsv")
    assert dict(found) == dict(evaluate(*sides, durations=SAMPLES / "durations.tsv"))


@pytest.mark.parametrize(
    ("fault", "words"), [("fail", "the connection was reset"), ("short", r"\d+ of \d+ bytes came")]
)
def test_reads_that_fail_are_refused(fault, words, installed, tmp_path):
    ours, theirs = sample(tmp_path)
    assert anywhere(evaluate(f"flaky://{ours}", f"flaky://{theirs}")) == anywhere(evaluate(ours, theirs))
    (tmp_path / f"sys-1.tsv.{fault}").write_text("9")
    with pytest.raises(InputError, match=rf"^flaky://{tmp_path}/sys-1\.tsv: cannot be read: {words}$"):
        evaluate(ours, f"flaky://{theirs}")


def test_a_file_that_is_not_there_is_named(installed, tmp_path):
    for name in ("memory://data/none.tsv", f"flaky://{tmp_path}/none.tsv"):
        for read in (read_rows, lambda each: count_in_parts(each, each, Settings())):
            with pytest.raises(InputError, match=rf"^{name}: cannot be read: "):
                read(name)


def test_limits_hold_elsewhere_and_patterns_must_fit(elsewhere):
    for name, limits, words in (
        ("memory://data/ref-0.tsv", Limits(size=100), "has \\d+ bytes; expected 100 or"),
        ("memory://data/ref-*.tsv", Limits(members=2), "has more than 2 files"),
        ("memory://data/none*.tsv", Limits(), "fits no file"),
        ("foo://x/*.tsv", Limits(), "cannot be read: Protocol not known"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(name)}: {words}"):
            read_rows(name, limits=limits)
