"""What the page about many machines shows, run: with stand-ins for SLURM and Spark."""

from __future__ import annotations

import json
import os
import sys
import types
from collections import namedtuple
from pathlib import Path

import pandas as pd
import pytest
from documents import blocks, examples, make_workplace, run

from sedeval_soft import convert, evaluate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
URLS, _, JOB, ARRAY, MERGE = blocks(PAGE, "sh")
DASK, SPARK = blocks(PAGE, "py")
(TALLIES,) = blocks(PAGE, "python")

SRUN = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
"""What `srun` does where there is one machine."""


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder in which the page's sessions have been run."""
    environment = make_workplace(tmp_path)
    (tmp_path / ".bin" / "srun").write_text(SRUN)
    (tmp_path / ".bin" / "srun").chmod(0o755)
    programs = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    environment |= {"PATH": os.pathsep.join([str(tmp_path / ".bin"), programs])}
    for example in examples(PAGE):
        assert run(example.command, tmp_path, environment)[0] == 0, example.command
    monkeypatch.chdir(tmp_path)
    return environment


def scores_in(path: Path) -> dict[str, float]:
    """The numbers of a result, whatever its inputs were called."""
    return {score["name"]: score["value"] for score in json.loads(path.read_text())["systems"][0]["scores"]}


def whole(**settings: object) -> dict[str, float]:
    return dict(evaluate("ref.tsv", "sys.tsv", **settings))


def test_an_array_of_jobs_and_the_merge(workplace, tmp_path):
    for task in range(5):
        code, printed = run(ARRAY, tmp_path, workplace | {"SLURM_ARRAY_TASK_ID": str(task)})
        assert (code, printed) == (0, "")
    assert run(MERGE, tmp_path, workplace)[0] == 0
    assert scores_in(tmp_path / "scores.json") == whole()


def test_urls(workplace, tmp_path):
    pytest.importorskip("fsspec", reason="needs fsspec: pip install --group distributed")
    command = URLS
    for url, role in (("s3://archive/ref/*.parquet", "ref"), ("gs://runs/17/*.parquet", "sys")):
        command = command.replace(url, f"file://{tmp_path}/{role}/*.tsv")
    code, printed = run(command.rstrip("\n") + " --score segment.soft.f1.macro", tmp_path, workplace)
    assert (code, printed) == (0, f"{whole()['segment.soft.f1.macro']!r}\n")


def test_one_job_with_a_scheduler_and_its_workers(workplace, tmp_path):
    pytest.importorskip("distributed", reason="needs dask and distributed: pip install --group distributed")
    code, printed = run(JOB, tmp_path, workplace | {"SLURM_JOB_ID": "7"})
    assert code in (0, 143), printed
    assert scores_in(tmp_path / "scores.json") == whole()


@pytest.mark.filterwarnings("ignore")
def test_dask_code(workplace):
    pytest.importorskip("distributed", reason="needs dask and distributed: pip install --group distributed")
    names: dict[str, object] = {"__name__": "page"}
    try:
        exec(DASK, names)  # noqa: S102 - our own document
    finally:
        if "client" in names:
            names["client"].cluster.close()
            names["client"].close()
    for name in ("scores", "same", "again"):
        assert dict(names[name]) == whole(segment_length=0.5)


class Frame:
    """A data frame of Spark's, as far as the page uses one: partitions, which come in pieces."""

    def __init__(self, partitions: list[pd.DataFrame]) -> None:
        self.partitions = partitions

    def withColumn(self, name: str, value: str) -> Frame:  # noqa: N802 - Spark's
        return Frame([part.assign(**{name: value}) for part in self.partitions])

    def unionByName(self, other: Frame) -> Frame:  # noqa: N802
        return Frame([*self.partitions, *(part[self.partitions[0].columns] for part in other.partitions)])

    def repartition(self, number: int, column: str) -> Frame:
        rows = pd.concat(self.partitions)
        of = pd.util.hash_array(rows[column].to_numpy(dtype=object)) % number
        # Partitions without rows are there, too.
        return Frame([rows[of == k] for k in range(number)])

    def mapInPandas(self, function, schema: str) -> Frame:  # noqa: N802
        assert schema == "tally binary"
        made = []
        for part in self.partitions:
            pieces = (part.iloc[at : at + 50] for at in range(0, len(part), 50))
            made += list(function(pieces))
        return Frame(made)

    def toLocalIterator(self):  # noqa: N802
        for part in self.partitions:
            row = namedtuple("Row", part.columns)
            yield from (row(*values) for values in part.itertuples(index=False))


class Spark:
    class read:  # noqa: N801 - Spark's
        @staticmethod
        def parquet(path: str) -> Frame:
            table = pd.read_parquet(path)
            return Frame([table.iloc[k::3] for k in range(3)])


def test_spark_code(workplace, monkeypatch):
    for side in ("ref", "sys"):
        convert(f"{side}.tsv", f"parts/{side}.parquet", to="parquet")
    functions = types.SimpleNamespace(lit=lambda value: value)
    sql = types.ModuleType("pyspark.sql")
    sql.functions = functions
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    names: dict[str, object] = {"spark": Spark()}
    for code in (TALLIES, SPARK):
        exec(code, names)  # noqa: S102 - our own document
    assert dict(names["scores"]) == whole(segment_length=0.5)
    # A partition may have one side only, or nothing.
    assert list(names["count"](iter([]))) == []
    for side in ("reference", "system"):
        rows = pd.read_parquet(f"parts/{side[:3]}.parquet").assign(side=side)
        (tally,) = names["count"](iter([rows]))
        assert names["Evaluator"].of_bytes(tally["tally"][0]).compute().files
