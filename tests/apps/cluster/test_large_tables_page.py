"""The page about many machines, run with a stand-in for SLURM, and with Spark itself."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT, blocks, examples, make_workplace

from sedeval_soft import convert, evaluate

PAGE = (ROOT / "docs" / "guides" / "large-tables.md").read_text(encoding="utf-8")
URLS, _, JOB, ARRAY, MERGE = blocks(PAGE, "sh")
DASK, SPARK = blocks(PAGE, "py")
(TALLIES,) = blocks(PAGE, "python")


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test if a package is missing, before its workplace is made."""
    return pytest.mark.skipif(
        importlib.util.find_spec(name) is None,
        reason=f"needs {name}: pip install --group distributed --group spark",
    )


SRUN = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
"""Does the work of `srun` on one machine."""


def run(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit code of a command, and its output on both streams."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Run the page's sessions in a folder; return the environment of its commands."""
    environment = make_workplace(tmp_path)
    srun = tmp_path / ".bin" / "srun"
    srun.write_text(SRUN)
    srun.chmod(0o755)
    environment["PATH"] = f"{srun.parent}:{Path(sys.executable).parent}:{environment['PATH']}"
    for example in examples(PAGE):
        assert run(example.command, tmp_path, environment)[0] == 0, example.command
    monkeypatch.chdir(tmp_path)
    return environment


def scores_in(path: Path) -> dict[str, float]:
    """Return the scores of a result, whatever the names of its inputs."""
    return {score["name"]: score["value"] for score in json.loads(path.read_text())["systems"][0]["scores"]}


def whole(**settings: object) -> dict[str, float]:
    return dict(evaluate("ref.tsv", "sys.tsv", **settings))


def test_an_array_of_jobs_and_the_merge(workplace, tmp_path):
    for task in range(5):
        assert run(ARRAY, tmp_path, workplace | {"SLURM_ARRAY_TASK_ID": str(task)}) == (0, "")
    assert run(MERGE, tmp_path, workplace)[0] == 0
    assert scores_in(tmp_path / "scores.json") == whole()


@needs("fsspec")
def test_urls(workplace, tmp_path):
    command = URLS.replace("s3://archive/ref/*.parquet", f"file://{tmp_path}/ref/*.tsv")
    command = command.replace("gs://runs/17/*.parquet", f"file://{tmp_path}/sys/*.tsv").rstrip("\n")
    printed = run(f"{command} --score segment.soft.f1.macro", tmp_path, workplace)
    assert printed == (0, f"{whole()['segment.soft.f1.macro']!r}\n")


@needs("distributed")
def test_one_job_with_a_scheduler_and_its_workers(workplace, tmp_path):
    code, printed = run(JOB, tmp_path, workplace | {"SLURM_JOB_ID": "7"})
    assert code in (0, 143), printed
    assert scores_in(tmp_path / "scores.json") == whole()


@needs("distributed")
@pytest.mark.filterwarnings("ignore")
def test_dask_code(workplace):
    names: dict[str, object] = {"__name__": "page"}
    try:
        exec(DASK, names)  # noqa: S102 - our own document
    finally:
        if "client" in names:
            names["client"].cluster.close()
            names["client"].close()
    assert [dict(names[name]) for name in ("scores", "same", "again")] == [whole(segment_length=0.5)] * 3


SPARK_SESSION = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
"""


@needs("pyspark")
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a Java 17")
def test_spark_code(workplace, tmp_path):
    """The reference has recordings that the system lacks, as a bucket may have rows of only one side."""
    rows = Path("sys.tsv").read_text().splitlines(keepends=True)
    Path("sys.tsv").write_text("".join(row for row in rows if not row.startswith("cafe")))
    for side in ("ref", "sys"):
        convert(f"{side}.tsv", f"parts/{side}.parquet", to="parquet")
    written = "import json\njson.dump(dict(scores), open('scores.json', 'w'))\n"
    command = [sys.executable, "-c", SPARK_SESSION + TALLIES + SPARK + written]
    subprocess.run(command, cwd=tmp_path, env=workplace | {"PYSPARK_PYTHON": sys.executable}, check=True)
    assert json.loads((tmp_path / "scores.json").read_text()) == whole(segment_length=0.5)
