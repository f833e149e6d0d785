"""Remote files and workers give the scores of local files; errors name the file that failed."""

import gzip
import re

import pytest
from called import SAMPLES
from parted import count_in_parts
from sharded_tables import sample, shards

from sedeval_soft import EvaluationError, Evaluator, InputError, Limits, Settings, evaluate
from sedeval_soft.report import render
from sedeval_soft.tables import read_rows

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install --group distributed")


@pytest.fixture
def elsewhere():
    """Write shards of the sample's tables to `memory://`."""
    files = fsspec.filesystem("memory")
    files.pipe({name: text.encode() for name, text in shards("/data/").items()})
    yield files
    files.rm("/data", recursive=True)


def anywhere(scores) -> str:
    """Return a result without the names of its inputs."""
    text = render([scores], "json")
    for item in scores.inputs:
        text = text.replace(item.name, item.role)
    return text


def test_shards_elsewhere_are_those_here(elsewhere, tmp_path):
    sides = "memory://data/ref-*.tsv", "memory://data/sys-?.tsv"
    elsewhere.pipe("/data/durations.tsv", (SAMPLES / "durations.tsv").read_bytes())
    here = evaluate(*sample(tmp_path), durations=SAMPLES / "durations.tsv")
    there = evaluate(*sides, durations="memory://data/durations.tsv")
    assert anywhere(here) == anywhere(there) and tuple(item.name for item in there.inputs) == sides
    assert dict(Evaluator().update(*sides).compute()) == dict(evaluate(*sides))
    assert len(count_in_parts(*sides, Settings()).tally.files) == len(here.files)


def test_one_file_elsewhere(elsewhere):
    data, rows = (SAMPLES / "ref.tsv").read_bytes(), read_rows(SAMPLES / "ref.tsv")
    elsewhere.pipe({"/data/ref.tsv": data, "/data/ref.tsv.gz": gzip.compress(data)})
    for name in ("memory://data/ref.tsv", "memory://data/ref.tsv.gz"):
        found = read_rows(name)
        told = found.onset.tolist(), found.origin.form, found.origin.name
        assert told == (rows.onset.tolist(), rows.origin.form, name)
    assert read_rows("memory://data/ref.tsv").origin.sha256 == rows.origin.sha256
    parts = count_in_parts("memory://data/ref.tsv.gz", SAMPLES / "sys.tsv", Settings())
    assert parts.tally.files == tuple(sorted(rows.files))


@pytest.mark.parametrize(
    ("fault", "words"), [("fail", "the connection was reset"), ("short", r"\d+ of \d+ bytes came")]
)
def test_reads_that_fail_are_refused(fault, words, installed, tmp_path):
    ours, theirs = sample(tmp_path)
    assert anywhere(evaluate(f"flaky://{ours}", f"flaky://{theirs}")) == anywhere(evaluate(ours, theirs))
    (tmp_path / f"sys-1.tsv.{fault}").write_text("9")
    with pytest.raises(InputError, match=rf"^flaky://{tmp_path}/sys-1\.tsv: cannot be read: {words}$"):
        evaluate(ours, f"flaky://{theirs}")


def test_limits_hold_elsewhere_and_patterns_must_fit(elsewhere):
    for name, limits, words in (
        ("memory://data/ref-0.tsv", Limits(size=100), "has \\d+ bytes; expected 100 or"),
        ("memory://data/ref-*.tsv", Limits(members=2), "has more than 2 files"),
        ("memory://data/none*.tsv", Limits(), "fits no file"),
        ("memory://data/none.tsv", Limits(), "cannot be read: "),
        ("foo://x/*.tsv", Limits(), "cannot be read: Protocol not known"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(name)}: {words}"):
            read_rows(name, limits=limits)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_bucket_is_read(monkeypatch):
    pytest.importorskip("s3fs", reason="needs s3fs: pip install --group distributed")
    server = pytest.importorskip("moto.server", reason="needs moto: pip install --group distributed")
    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    how = {"key": "nobody", "secret": "nothing", "endpoint_url": f"http://{host}:{port}"}
    monkeypatch.setitem(fsspec.config.conf, "s3", how)
    files = fsspec.filesystem("s3")
    files.mkdir("archive")
    files.pipe({name: text.encode() for name, text in shards("archive/").items()})
    found = evaluate("s3://archive/ref-*.tsv", "s3://archive/sys-*.tsv")
    assert dict(found) == dict(evaluate(SAMPLES / "ref.tsv", SAMPLES / "sys.tsv"))
    for name in ("s3://archive/none.tsv", "s3://nobucket/none.tsv"):
        with pytest.raises(InputError, match=rf"^{name}: cannot be read"):
            evaluate(name, name)
    running.stop()


# Workers.

QUIET = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
"""Warnings about dask's own connections are ignored."""


@QUIET
def test_a_broken_shard_is_told_with_its_line_of_the_first_table_first(cluster, tmp_path):
    sides = sample(tmp_path)
    number = len((tmp_path / "ref-2.tsv").read_text().splitlines()) + 1
    for name in ("ref-2.tsv", "sys-0.tsv"):
        with (tmp_path / name).open("a") as file:
            file.write("recording_1.wav\tx\t1\tcar\t0.5\n")
    with pytest.raises(InputError, match=rf"^{tmp_path}/ref-2\.tsv:{number}:2: onset 'x' "):
        count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address)


@QUIET
def test_a_shard_that_ends_every_worker_is_named(cluster, tmp_path, monkeypatch):
    sides = sample(tmp_path)
    (tmp_path / "ref-1.tsv.end").write_text("99")
    # Two failures, as many as there are workers: a busy machine may not restart a worker that ended.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    with pytest.raises(EvaluationError, match=r"ref-1\.tsv: 2 workers ended, one after another"):
        count_in_parts(f"flaky://{sides[0]}", sides[1], Settings(), scheduler=cluster.scheduler_address)
