"""`--jobs`: addresses and scheduler files; what cannot be is one message and exit code 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from called import call
from sharded_tables import sample

pytest.importorskip("distributed", reason="needs dask and distributed: pip install --group distributed")


SIDES = ("ref-*.tsv", "sys-*.tsv")


def begun(*options: str, **given) -> subprocess.Popen:
    """Begin the command, whose output is read when it ends."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", "sedeval_soft", *options], **pipes, **given)


def called(folder: Path, *options: str, **more: str) -> tuple[int, str, str]:
    process = begun(*options, cwd=folder, env={**os.environ, **more})
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_until(happened) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def waiting(folder: Path) -> tuple[list[str], Path]:
    """Return both sides, of which one shard makes its reader wait, and where its readers are written down."""
    sample(folder)
    (folder / "ref-1.tsv.wait").touch()
    return [f"flaky://{folder}/{role}-*.tsv" for role in ("ref", "sys")], folder / "ref-1.tsv.opened"


class Scheduler:
    """A scheduler in a process of its own, as a job of a cluster begins it, and its workers."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen] = []
        options = ("--port", "0", "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-show")
        self.began("dask_scheduler", *options)
        wait_until(lambda: self.file.exists() and self.file.stat().st_size)

    def began(self, program: str, *options: str, **more: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", f"--scheduler-file={self.file}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Python finds modules where it is begun.
            cwd=self.file.parent,
            env={**os.environ, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False", **more},
        )
        self.processes.append(process)
        return process

    def worker(self, **more: str) -> subprocess.Popen:
        options = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard")
        return self.began("dask_worker", *options, **more)


@pytest.fixture
def scheduler(installed, tmp_path):
    (tmp_path / "cluster").mkdir()
    made = Scheduler(tmp_path / "cluster")
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def test_a_file_of_a_scheduler_and_a_worker_that_is_killed(scheduler, tmp_path):
    """As jobs of SLURM do it: without anything that begins a worker anew."""
    sides, opened = waiting(tmp_path)
    for _ in range(2):
        scheduler.worker()
    process = begun(*sides, "--format=json", f"--jobs={scheduler.file}")
    wait_until(lambda: opened.exists() and opened.read_text().endswith("\n"))
    pid = int(opened.read_text().split()[0])
    assert pid in [worker.pid for worker in scheduler.processes[1:]]
    os.kill(pid, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in err) == (0, False), err
    (tmp_path / "ref-1.tsv.wait").unlink()
    assert out == called(tmp_path, *sides, "--format=json")[1]
    assert len(opened.read_text().split()) == 3


@pytest.mark.parametrize("lost", [True, False])
def test_a_scheduler_that_is_lost_and_ctrl_c(lost, scheduler, tmp_path):
    sides, opened = waiting(tmp_path)
    scheduler.worker()
    process = begun(*sides, f"--jobs={scheduler.file}")
    wait_until(opened.exists)
    (scheduler.processes[0] if lost else process).send_signal(signal.SIGKILL if lost else signal.SIGINT)
    out, err = process.communicate(timeout=120)
    (tmp_path / "ref-1.tsv.wait").unlink()
    assert (process.returncode, out, err.count("\n")) == (2 if lost else 130, "", 1)
    said = f"--jobs {scheduler.file}: the connection to the scheduler was lost" if lost else "interrupted\n"
    assert err.startswith(f"soft-sed-eval: {said}")


def test_a_scheduler_without_workers(scheduler, tmp_path):
    sample(tmp_path)
    found = called(tmp_path, *SIDES, f"--jobs={scheduler.file}", DASK_SOFT_SED_EVAL__WAIT="1")
    words = f"soft-sed-eval: --jobs {scheduler.file}: there has been no worker for 1 s;"
    assert (*found[:2], found[2][: len(words)]) == (2, "", words)


def test_a_worker_of_another_version(scheduler, tmp_path):
    sample(tmp_path)
    other = tmp_path / "other" / "sedeval_soft"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("__version__ = '0.0.1'\n")
    scheduler.worker(PYTHONPATH=str(other.parent))
    code, out, err = called(tmp_path, *SIDES, f"--jobs={scheduler.file}", DASK_SOFT_SED_EVAL__WAIT="60")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"--jobs {scheduler.file}: versions differ on tcp://127.0.0.1:" in err
    assert "soft-sed-eval 0.0.1, here " in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("foo://127.0.0.1:9", "cannot be reached: unknown address scheme 'foo'"),
        ("list.json", "is not a scheduler file; expected tcp://HOST:PORT"),
        ("local", "is not a number of processes such as 4, all, or a scheduler"),
        ("\n<script>", "is not a number of processes such as 4, all, or a scheduler"),
    ],
)
def test_other_things_than_schedulers_are_refused(given, words, tmp_path, monkeypatch):
    sample(tmp_path)
    (tmp_path / "list.json").write_text("[1]")
    monkeypatch.chdir(tmp_path)
    done = call(*SIDES, f"--jobs={given}")
    assert (done.code, done.out) == (2, "") and words in done.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["ref-*.tsv", "--jobs=x.json"], "--jobs needs the package dask: "),
        (
            ["s3://bucket/ref.tsv"],
            "s3://bucket/ref.tsv: is a URL that cannot be read without another package",
        ),
    ],
)
def test_a_package_that_is_missing_is_named(given, told, tmp_path):
    sample(tmp_path)
    lacking = "import sys\nfor name in ('dask', 'distributed', 'fsspec'):\n    sys.modules[name] = None\n"
    (tmp_path / "sitecustomize.py").write_text(lacking)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    code, out, err = called(tmp_path, "sys-0.tsv", *given, PYTHONPATH=path)
    assert (code, out, err.count("\n")) == (2, "", 1) and told in err
