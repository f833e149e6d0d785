"""Interrupted, terminated, killed, out of room, unread: the old output or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from called import REFERENCE, SYSTEM, call
from launched import unmeasured

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
OLD = "as it was\n"

SLOWLY = """
import os, sys, time
from sedeval_soft.cli import main

def sync(descriptor):
    # The file lies half on the disk, and somebody grows impatient.
    print("writing", file=sys.stderr, flush=True)
    for _ in range(600):
        # Python looks for signals between steps: one that comes just before a long one waits for its end.
        time.sleep(0.1)

os.fsync = sync
main()
"""


def begun(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a program, and return when it says that it is writing."""
    command, pipe = [sys.executable, "-c", code, *arguments], subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=ENVIRONMENT)
    assert process.stderr and process.stderr.readline() == b"writing\n"
    return process


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
@pytest.mark.parametrize("option", ["-o", "--save-tally"])
def test_a_signal_leaves_the_old_output_and_nothing_else(number, code, said, option, tmp_path):
    target = tmp_path / "out"
    target.write_text(OLD)
    process = begun(SLOWLY, REFERENCE, SYSTEM, option, str(target))
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(number)
    out, error = process.communicate(timeout=30)
    assert (process.returncode, out, error.decode()) == (code, b"", f"soft-sed-eval: {said}\n")
    assert (target.read_text(), [*tmp_path.iterdir()]) == (OLD, [target])


def test_a_second_signal_does_not_break_into_the_clearing_up(tmp_path):
    process = begun(SLOWLY, REFERENCE, SYSTEM, "-o", str(tmp_path / "out"))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM) * 5:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode in {130, 143}
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from sedeval_soft.cli import main; main()
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ([REFERENCE, SYSTEM, "-o"], "scores.json"),
        ([REFERENCE, SYSTEM, "--score", "segment.soft.f1.micro", "--save-tally"], "a.tally"),
    ],
)
def test_a_full_disk_leaves_the_old_output_and_nothing_else(command, name, tmp_path):
    target = tmp_path / name
    target.write_text(OLD)
    env = {**unmeasured(), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = [sys.executable, "-c", LIMITED, *command, str(target)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 2 and f"{target}: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (target.read_text(), [*tmp_path.iterdir()]) == (OLD, [target])


@pytest.fixture
def many_classes(tmp_path):
    """Return a table whose scores do not fit into a pipe."""
    table = tmp_path / "many.tsv"
    rows = "".join(f"{i}\t{i + 1}\tclass {i:04d}\n" for i in range(2000))
    table.write_text(f"onset\toffset\tevent_label\n{rows}")
    return str(table)


BIG = "$E $M $M --only segment.hard --format json"


@pytest.mark.parametrize(
    "command",
    [
        *(f"{what} | {reader} > /dev/null" for reader in ("head -1", "true")
          for what in (BIG, "$E tune $R $S", "$E explain", "$E --help")),
        f"{{ read -r line < pipe; }} & {BIG} -o pipe",
        f"exec 7> >(true); sleep 0.2; {BIG} -o /dev/fd/7",
    ],
)  # fmt: skip
def test_a_reader_who_leaves_is_not_told(command, many_classes, tmp_path):
    # The reader has gone, or nearly, when the results come.
    os.mkfifo(tmp_path / "pipe")
    more = {"E": f"{sys.executable} -m sedeval_soft", "M": many_classes, "R": REFERENCE, "S": SYSTEM}
    how = {"capture_output": True, "text": True, "env": {**ENVIRONMENT, **more}}
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=tmp_path, check=False, **how)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_killed_process_left_is_no_table(tmp_path):
    (tmp_path / "a.tsv").write_text("0\t1\tcar\n")
    for suffix in ("part", "tsv"):
        (tmp_path / f".soft-sed-eval-1-00ff.{suffix}").write_text("half of someth")
    assert call(tmp_path, tmp_path, "--score", "segment.hard.f1.micro").out == "1.0\n"
