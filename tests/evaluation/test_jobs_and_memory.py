"""Tables that are counted in parts: the bytes of a plain run, in less memory, and nothing left behind."""

import os
import random
import resource
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from called import unmeasured

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
LABELS = [f"class {k}" for k in range(6)]
HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
BOUNDED = [f"--only={part}" for part in ("segment.hard", "segment.soft", "event.hard")]

IN_PARTS = """
import os, signal, sys
from sedeval_soft.cli import main
from sedeval_soft.evaluation import partition, shard

shard._LARGE, shard._IN_MEMORY = 1, 1 << 40
count, WHAT = partition.count_part, os.environ.get("WHAT")

def slowly(settings, part, **how):
    sys.stderr.write("counting\\n")
    if WHAT == "wait":
        import time
        for _ in range(600):
            time.sleep(0.1)
    if WHAT == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return count(settings, part, **how)

if WHAT:
    slowly.__module__ = "__main__"
    partition.count_part = slowly
if __name__ == "__main__":
    main()
"""
"""The command, to which tables of any size are large."""


def table(path: Path, seed: int, n_files: int, *, shuffled: bool = True) -> None:
    rng = random.Random(seed)  # noqa: S311
    cells = product(range(n_files), range(200), LABELS)
    rows = [f"r{f:03}.wav\t{k}.0\t{k + 1}.0\t{label}\t{rng.randrange(11) / 10}\n" for f, k, label in cells]
    if shuffled:
        rng.shuffle(rows)
    path.write_text(HEAD + "".join(rows))


@pytest.fixture
def folder(tmp_path):
    """Two tables, their rows in no order, and a place for temporary files."""
    for seed, name in enumerate(("ref.tsv", "sys.tsv")):
        table(tmp_path / name, seed, 4)
    (tmp_path / "temporary").mkdir()
    (tmp_path / "in_parts.py").write_text(IN_PARTS)
    return tmp_path


def started(folder: Path, program: list[str], *options: str, what: str = "", **given: object):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary"), "WHAT": what}
    given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder, "env": env}
    return subprocess.Popen([sys.executable, *program, "ref.tsv", "sys.tsv", *options], **given)


def called(folder: Path, program: list[str], *options: str, **given: object) -> tuple[int, str, str]:
    """Return exit code and output of a run, which must leave no temporary files."""
    process = started(folder, program, *options, **given)
    out, err = process.communicate(timeout=300)
    assert list((folder / "temporary").iterdir()) == []
    return process.returncode, out, err


PLAIN, PARTED = ["-m", "sedeval_soft"], ["in_parts.py"]


def capped(most: int, kind: int = resource.RLIMIT_DATA) -> dict:
    """Return how a program is started that may not take more."""
    return {"preexec_fn": lambda: resource.setrlimit(kind, (most, most))}


@pytest.mark.slow
def test_far_less_memory_than_the_tables_take(folder):
    """A cap of what the process itself may ask the system for, which a plain run does not get by with."""
    for seed, name in enumerate(("ref.tsv", "sys.tsv")):
        table(folder / name, seed, 1200, shuffled=False)
    asked, limit, cap = (*BOUNDED, "--format", "json"), ("--memory-limit", "220M"), capped(400 * MIB)
    plain, refused = called(folder, PLAIN, *asked), called(folder, PLAIN, *asked, **cap)
    assert (plain[0], refused[0] == 0) == (0, False), "the cap shows nothing"
    assert called(folder, PLAIN, *asked, *limit, **cap) == plain


@pytest.mark.parametrize(
    ("jobs", "number", "word"),
    [
        (1, signal.SIGTERM, "terminated"),
        pytest.param(2, signal.SIGINT, "interrupted", marks=pytest.mark.slow),
        # A process that is killed cannot clear up, or say anything.
        pytest.param(2, signal.SIGKILL, None, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_stopped_leaves_nothing(number, jobs, word, folder):
    limit = ("--memory-limit", "800M") if jobs == 1 else ()
    process = started(folder, PARTED, f"--jobs={jobs}", *limit, what="wait", start_new_session=True)
    assert "counting" in process.stderr.readline()
    assert list((folder / "temporary").iterdir())
    # Ctrl-C goes to all processes of a terminal.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    # Output ends when the last of the processes does, each of which can write.
    out, err = process.communicate(timeout=30)
    if word:
        assert (process.returncode, out) == (128 + number, "")
        assert err.replace("counting\n", "") == f"soft-sed-eval: {word}\n"
        assert list((folder / "temporary").iterdir()) == []


def test_a_worker_that_is_killed_is_an_error(folder):
    code, out, err = called(folder, PARTED, "--jobs", "2", what="die")
    assert (code, out, "a worker process ended early" in err, "Traceback" in err) == (2, "", True, False)


def test_a_full_disk_is_an_error(folder, monkeypatch):
    for name in {*os.environ} - {*unmeasured()}:
        monkeypatch.delenv(name)  # what measures coverage writes files, too
    code, out, err = called(folder, PARTED, "--jobs", "2", **capped(10_000, resource.RLIMIT_FSIZE))
    assert (code, out, "File too large" in err, len(err.splitlines())) == (2, "", True, 1)
