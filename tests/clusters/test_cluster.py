"""Shards counted by the workers of a cluster: the bytes of a plain run, whatever happens to the workers."""

from __future__ import annotations

import os

import pytest
from parted import count_in_parts
from sharded_tables import sample

from sedeval_soft import EvaluationError, InputError, __version__
from sedeval_soft.api.sources import sides_of
from sedeval_soft.evaluation.shard import shard_of_rows
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.report import render
from sedeval_soft.settings import Settings

distributed = pytest.importorskip(
    "distributed", reason="needs dask and distributed: pip install --group distributed"
)
pytestmark = [
    # Of dask's own ends of connections.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EVERYTHING = Settings(only=("all",), measures=("all",), max_efpr=100.0)


def plain(reference: str, system: str, made: Settings, lengths=None):
    return shard_of_rows(*sides_of(reference, system, made), made, lengths)


def same(ours, theirs) -> bool:
    """Whether two shards are the same, and print the same."""
    shown = [render([score_shard(shard, __version__)], "json") for shard in (ours, theirs)]
    return shown[0] == shown[1] and pack_shard(ours, "1") == pack_shard(theirs, "1")


def flaky(pattern: str) -> str:
    return f"flaky://{pattern}"


@pytest.mark.parametrize("form", ["tsv", "parquet"])
@pytest.mark.parametrize("n_parts", [1, None])
def test_a_cluster_gives_the_same_bytes(form, n_parts, cluster, tmp_path):
    sides = sample(tmp_path, form)
    made = EVERYTHING if n_parts is None else Settings()
    lengths = None if n_parts is None else {"recording_1.wav": 500.0, "nowhere.wav": 3.0}
    shard = count_in_parts(*sides, made, lengths, scheduler=cluster.scheduler_address, n_parts=n_parts)
    assert same(shard, plain(*sides, made, lengths))


def test_a_broken_shard_is_told_with_its_line_of_the_first_table_first(cluster, tmp_path):
    sides = sample(tmp_path)
    for name in ("ref-2.tsv", "sys-0.tsv"):
        with (tmp_path / name).open("a") as file:
            file.write("recording_1.wav\tx\t1\tcar\t0.5\n")
    number = len((tmp_path / "ref-2.tsv").read_text().splitlines())
    with pytest.raises(InputError) as told:
        count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address)
    assert str(told.value) == (
        f"{tmp_path}/ref-2.tsv:{number}:2: onset 'x' is not a number; expected a number of seconds, 0 or more"
    )


def test_names_that_are_no_text(cluster, tmp_path):
    for role in ("ref", "sys"):
        (tmp_path / role).mkdir()
    sample(tmp_path)
    for k, odd in enumerate((b"a\xff", b"b\n<script>", b"c\t'\"", "d\u202e é".encode())):
        (tmp_path / f"sys-{k}.tsv").rename(tmp_path / "sys" / os.fsdecode(odd + b".tsv"))
    sides = (f"{tmp_path}/ref-*.tsv", f"{tmp_path}/sys/*.tsv")
    found = count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address, n_parts=3)
    assert same(found, plain(*sides, Settings()))


def test_a_shard_that_ends_every_worker_is_named(cluster, tmp_path, monkeypatch):
    sides = sample(tmp_path)
    (tmp_path / "ref-1.tsv.end").write_text("99")
    # As many as there are: on a busy machine dask may not begin one anew that ended.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    with pytest.raises(EvaluationError, match=r"ref-1\.tsv: 2 workers ended, one after another"):
        count_in_parts(flaky(sides[0]), sides[1], Settings(), scheduler=cluster.scheduler_address)
