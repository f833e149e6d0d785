"""Work in processes: what one piece raises ends the rest of them, and the processes go on with other work."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.run.workers import Workers


def marked(path: Path | None) -> int:
    if path is None:
        raise EvaluationError("nothing to mark")
    time.sleep(0.05)
    path.touch()
    return len(path.name)


def test_what_is_left_of_work_that_failed_is_not_done(tmp_path):
    pieces = [None, *(tmp_path / f"{k:03}" for k in range(100))]
    with Workers(2) as workers:
        with pytest.raises(EvaluationError, match="nothing to mark"):
            workers.each(marked, pieces)
        assert workers.each(marked, [tmp_path / "x", tmp_path / "yy"]) == [1, 2]
    assert len(list(tmp_path.iterdir())) < 60


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a clock that interrupts")
def test_what_is_interrupted_says_nothing(monkeypatch):
    """Python's pool complains in a thread of its own of work that was cancelled when its processes end."""
    kill = BaseProcess.kill

    def slowly(process: BaseProcess) -> None:
        kill(process)
        time.sleep(0.1)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    said = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    monkeypatch.setattr(BaseProcess, "kill", slowly)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with contextlib.suppress(KeyboardInterrupt), Workers(2) as workers:
            assert workers.each(len, ["a"]) == [1]
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            workers.each(time.sleep, [20.0] * 20)
            raise AssertionError("nothing was interrupted")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert said == []


def test_one_job_is_this_process():
    with Workers(1) as workers:
        assert workers.each(len, ["a", "bc"]) == [1, 2]


def test_what_fails_ends_its_own_processes_and_nobody_elses(tmp_path):
    """Evaluations may run in several threads, beside processes of the user's."""
    failing = Workers(2)
    with Workers(2) as others:
        assert others.each(len, ["a"]) == [1]
        with contextlib.suppress(EvaluationError), failing:
            failing.each(marked, [None])
        assert others.each(marked, [tmp_path / "x"]) == [1]


def test_who_waits_for_the_rest_finds_it_done(tmp_path):
    with Workers(2) as workers:
        with pytest.raises(EvaluationError, match="nothing to mark"):
            workers.each(marked, [None, *(tmp_path / f"{k}" for k in range(3))])
        workers.settle()
        assert len(list(tmp_path.iterdir())) == 3


SCRIPT = """
from sedeval_soft.run.workers import Workers
with Workers(2) as workers:
    workers.each(len, ["a", "b"])
"""


def test_a_script_that_begins_itself_anew_is_told(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert 'must be below `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


def test_a_process_that_is_killed_later_is_not_the_scripts_fault():
    with Workers(2) as workers:
        assert workers.each(len, ["a"]) == [1]
        with pytest.raises(EvaluationError, match="it was killed") as caught:
            workers.each(os._exit, [1])
    assert "__main__" not in str(caught.value)
