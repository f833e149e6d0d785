"""Tables that are counted in parts: the bytes of a plain run, in less memory, and nothing left behind."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
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
    rows = [
        f"r{file:03}.wav\t{step}.0\t{step + 1}.0\t{label}\t{rng.randrange(11) / 10}\n"
        for file in range(n_files)
        for step in range(200)
        for label in LABELS
    ]
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
    return subprocess.Popen(
        [sys.executable, *program, "ref.tsv", "sys.tsv", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary"), "WHAT": what},
        **given,
    )


def called(folder: Path, program: list[str], *options: str, **given: object) -> tuple[int, str, str]:
    """Return exit code and output of a run, which must leave no temporary files."""
    process = started(folder, program, *options, **given)
    out, err = process.communicate(timeout=300)
    assert list((folder / "temporary").iterdir()) == []
    return process.returncode, out, err


PLAIN, PARTED = ["-m", "sedeval_soft"], ["in_parts.py"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--memory-limit", "800M"), ("--jobs", "2")])
def test_the_same_bytes_in_several_processes(options, folder):
    asked = ("--format", "json", "--ci", "bootstrap", "--replicates", "20", "--worst", "3")
    assert called(folder, PARTED, *asked, *options) == called(folder, PLAIN, *asked)


THRESHOLDS = [
    f"--only={part}"
    for part in ("segment", "clip.optimal", "event.hard", "event.optimal", "intersection.optimal")
]


@pytest.mark.slow
def test_far_less_memory_than_the_tables_take(folder):
    """A cap of what the process itself may ask the system for, which a plain run does not get by with."""
    for seed, name in enumerate(("ref.tsv", "sys.tsv")):
        table(folder / name, seed, 1200, shuffled=False)
    size = sum((folder / name).stat().st_size for name in ("ref.tsv", "sys.tsv"))
    cap = 400 * MIB

    def capped() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))

    plain = called(folder, PLAIN, *BOUNDED, "--format", "json")
    assert plain[0] == 0
    refused = called(folder, PLAIN, *BOUNDED, "--format", "json", preexec_fn=capped)
    assert refused[0] != 0, f"{size / MIB} MiB of tables fit into {cap / MIB} MiB: the cap shows nothing"
    limited = called(folder, PLAIN, *BOUNDED, "--format", "json", "--memory-limit", "220M", preexec_fn=capped)
    assert limited == plain
    code, _, said = called(folder, PLAIN, *THRESHOLDS, "--memory-limit", "220M", preexec_fn=capped)
    assert (code, "--only segment.hard" in said) == (2, True), said


def living(group: int) -> list[Path]:
    """Return the processes of a group that run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, own = stat.read_text().rsplit(")", 1)[1].split()[:3]
            found += [stat] if int(own) == group and state != "Z" else []
    return found


def soon(condition: Callable[[], bool]) -> bool:
    """Return whether something is so within ten seconds."""
    return any(condition() or time.sleep(0.05) for _ in range(200))


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
    assert jobs == 1 or soon(lambda: len(living(process.pid)) > 2)
    assert list((folder / "temporary").iterdir())
    # Ctrl-C goes to all processes of a terminal.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=30)
    assert soon(lambda: not living(process.pid))
    if word:
        assert (process.returncode, out) == (128 + number, "")
        assert err.replace("counting\n", "") == f"soft-sed-eval: {word}\n"
        assert list((folder / "temporary").iterdir()) == []


def test_a_worker_that_is_killed_is_told(folder):
    code, out, err = called(folder, PARTED, "--jobs", "2", what="die")
    assert (code, out) == (2, "")
    assert "a worker process ended early" in err
    assert "Traceback" not in err


def test_a_full_disk_is_told(folder, monkeypatch):
    for name in {*os.environ} - {*unmeasured()}:
        monkeypatch.delenv(name)  # what measures coverage writes files, too

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    code, out, err = called(folder, PARTED, "--jobs", "2", preexec_fn=full)
    assert (code, out) == (2, "")
    assert "cannot be written: File too large; temporary files take about as much room as the input" in err
    assert len(err.splitlines()) == 1
