"""`--jobs`: addresses and scheduler files; every failure gives one message and an exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from called import PROGRAM, call
from sharded_tables import sample

pytest.importorskip("distributed", reason="needs dask and distributed: pip install --group distributed")


def begun(*options: str, **more: str) -> subprocess.Popen:
    """Start the command; more: variables of its environment."""
    return subprocess.Popen(
        [*PROGRAM, *options], env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    """Wait for a command; return its exit code, output and messages."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_until(happened) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def waiting(folder: Path) -> tuple[list[str], Path]:
    """Return both sides, one shard of which makes its reader wait, and the file that lists its readers."""
    sample(folder)
    (folder / "ref-1.tsv.wait").touch()
    return [f"flaky://{folder}/{role}-*.tsv" for role in ("ref", "sys")], folder / "ref-1.tsv.opened"


@pytest.fixture
def job(installed, tmp_path):
    """Start programs of dask, a scheduler first, each in its own process like jobs of a cluster."""
    folder, processes = tmp_path / "cluster", []
    folder.mkdir()
    file = folder / "scheduler.json"

    def begin(name: str = "worker", **more: str) -> list[subprocess.Popen]:
        """Start a program; return all processes, the scheduler first."""
        options = {
            "scheduler": "--port 0 --dashboard-address 127.0.0.1:0 --no-show",
            "worker": "--no-nanny --nthreads 1 --no-dashboard",
        }[name].split()
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", f"--scheduler-file={file}", *options]
        environment = {**os.environ, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False", **more}
        # Python finds modules in its working directory.
        processes.append(subprocess.Popen(
            [*command, "--host", "127.0.0.1"], cwd=folder, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ))  # fmt: skip
        return processes

    begin("scheduler")
    wait_until(lambda: file.exists() and file.stat().st_size)
    yield f"--jobs={file}", begin
    for process in processes:
        process.kill()
        process.wait()


def test_a_file_of_a_scheduler_and_a_worker_that_is_killed(job, tmp_path):
    """As for jobs of SLURM, nothing restarts a worker."""
    (sides, opened), (jobs, begin) = waiting(tmp_path), job
    begin()
    workers = begin()[1:]
    process = begun(*sides, "--format=json", jobs)
    wait_until(lambda: opened.exists() and opened.read_text().endswith("\n"))
    (first,) = (worker for worker in workers if worker.pid == int(opened.read_text().split()[0]))
    first.kill()
    found = ended(process)
    (tmp_path / "ref-1.tsv.wait").unlink()
    assert found[:2] == ended(begun(*sides, "--format=json"))[:2] and "Traceback" not in found[2], found[2]
    assert len(opened.read_text().split()) == 3


@pytest.mark.parametrize("lost", [True, False])
def test_a_scheduler_that_is_lost_and_ctrl_c(lost, job, tmp_path):
    (sides, opened), (jobs, begin) = waiting(tmp_path), job
    processes, process = begin(), begun(*sides, jobs)
    wait_until(opened.exists)
    (processes[0] if lost else process).send_signal(signal.SIGKILL if lost else signal.SIGINT)
    code, out, err = ended(process)
    (tmp_path / "ref-1.tsv.wait").unlink()
    assert (code, out, err.count("\n"), "was lost" in err) == (2 if lost else 130, "", 1, lost)


@pytest.mark.parametrize(
    ("wait", "words"), [("1", "no worker for 1 s"), ("60", "soft-sed-eval 0.0.1, here ")]
)
def test_no_worker_and_one_of_another_version(wait, words, job, tmp_path):
    jobs, begin = job
    (tmp_path / "sedeval_soft").mkdir()
    (tmp_path / "sedeval_soft" / "__init__.py").write_text("__version__ = '0.0.1'\n")
    if wait == "60":
        begin(PYTHONPATH=str(tmp_path))
    code, out, err = ended(begun(*sample(tmp_path), jobs, DASK_SOFT_SED_EVAL__WAIT=wait))
    assert (code, out, err.count("\n")) == (2, "", 1) and words in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--jobs=foo://127.0.0.1:9"], "'foo'"),
        (["--jobs=list.json"], "is not a scheduler file"),
        (["--jobs=local"], "is not a number of processes"),
        (["--jobs=\n<script>"], "is not a number of processes"),
    ],
)
def test_other_things_than_schedulers_are_refused(given, words, tmp_path, monkeypatch):
    (tmp_path / "list.json").write_text("[1]")
    monkeypatch.chdir(tmp_path)
    done = call(*sample(tmp_path), *given)
    assert (done.code, done.out) == (2, "") and words in done.err


@pytest.mark.parametrize(
    ("given", "words"),
    [(["ref-*.tsv", "--jobs=x.json"], "package dask"), (["s3://bucket/ref.tsv"], "s3://bucket/ref.tsv: ")],
)
def test_a_package_that_is_missing_is_named(given, words, tmp_path, monkeypatch):
    sample(tmp_path)
    for name in ("dask", "distributed", "fsspec"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)
    done = call("sys-0.tsv", *given)
    assert (done.code, done.out) == (2, "") and words in done.err and "pip install" in done.err
