"""Shards that workers of a cluster cannot count, or whose names are no text; `test_one_way` has the rest."""

from __future__ import annotations

import os

import pytest
from parted import count_in_parts
from sharded_tables import sample

from sedeval_soft import EvaluationError, InputError, Settings, __version__, evaluate
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.report import render

pytestmark = [
    # Of dask's own ends of connections.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_a_broken_shard_is_told_with_its_line_of_the_first_table_first(cluster, tmp_path):
    sides = sample(tmp_path)
    number = len((tmp_path / "ref-2.tsv").read_text().splitlines()) + 1
    for name in ("ref-2.tsv", "sys-0.tsv"):
        with (tmp_path / name).open("a") as file:
            file.write("recording_1.wav\tx\t1\tcar\t0.5\n")
    with pytest.raises(InputError, match=rf"^{tmp_path}/ref-2\.tsv:{number}:2: onset 'x' "):
        count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address)


def test_names_that_are_no_text(cluster, tmp_path):
    sample(tmp_path)
    for k, odd in enumerate((b"a\xff", b"b\n<script>\t'\"", "d\u202e é".encode())):
        (tmp_path / f"sys-{k}.tsv").rename(tmp_path / os.fsdecode(b"own" + odd + b".tsv"))
    sides = (f"{tmp_path}/ref-*.tsv", f"{tmp_path}/own*.tsv")
    shard = count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address, n_parts=3)
    assert render([score_shard(shard, __version__)], "json") == render([evaluate(*sides)], "json")


def test_a_shard_that_ends_every_worker_is_named(cluster, tmp_path, monkeypatch):
    sides = sample(tmp_path)
    (tmp_path / "ref-1.tsv.end").write_text("99")
    # As many as there are: on a busy machine dask may not begin one anew that ended.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    with pytest.raises(EvaluationError, match=r"ref-1\.tsv: 2 workers ended, one after another"):
        count_in_parts(f"flaky://{sides[0]}", sides[1], Settings(), scheduler=cluster.scheduler_address)
