"""How parts are worked on: one after another, or by processes of this machine.

`sedeval_soft.apps.cluster` yields the workers of a cluster; nothing else differs between them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.memory import memory_limited, reuse_freed, room
from sedeval_soft.tables.source import is_url
from sedeval_soft.threads import become_worker

_PROCESS = 160 << 20
"""Bytes of a process that has done nothing yet, and of what it needs beside what it counts."""


def _in_turn(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    return [function(item) for item in items]


@dataclass(frozen=True)
class Execute:
    """Who works: this process, on one item after another, unless `processes` or an app say otherwise.

    map: returns a function's result for each item, in order; raises what the first that fails raises. jobs:
    how many work at a time. memory: bytes that each may take. elsewhere: whether they work on other machines.
    """

    map: Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]] = _in_turn
    jobs: int = 1
    memory: int = field(default_factory=room)
    elsewhere: bool = False

    def path(self, name: str) -> str:
        """Return the path of a file for those who work: from the root for those that are begun elsewhere."""
        if not self.elsewhere or is_url(name):
            return name
        if name == "-":
            raise SettingsError("workers elsewhere cannot read standard input; expected files or URLs")
        return os.path.abspath(name)  # noqa: PTH100 - as it is typed else


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Execute]:
    """Yield so many processes, as far as memory lets them be begun; they share what there is of it."""
    jobs = max(1, min(jobs, room() // _PROCESS))
    if jobs == 1:
        yield Execute()
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    memory = room() // jobs
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, spawn, _begin_process, (memory,))
    try:
        yield Execute(partial(_by_pool, pool), jobs, memory)
    except BaseException:
        # Its own, and nobody else's: evaluations may run in several threads.
        for process in [*(pool._processes or {}).values()]:
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _by_pool(pool: Any, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:  # noqa: ANN401
    from concurrent.futures.process import BrokenProcessPool

    try:
        return [*pool.map(function, items)]
    except BrokenProcessPool as error:
        raise EvaluationError(
            "a worker process ended early: it was killed, or memory ran out; "
            "expected fewer --jobs, or a smaller --memory-limit; in a script, what asks for jobs must be "
            'below `if __name__ == "__main__":`'
        ) from error


def _begin_process(memory: int) -> None:
    """Make a process one that ends with its parent, works in one thread and takes so much memory."""
    # Ctrl-C is heard by the process that waits, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_worker()
    reuse_freed()
    memory_limited(memory).__enter__()
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when the one does that began it, however that ends."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
