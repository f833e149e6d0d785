"""Execution of parts: one after another, or by processes of this machine.

`sedeval_soft.apps.cluster` yields the workers of a cluster; nothing else differs between them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.memory import given_limit, memory_limited, reuse_freed, room
from sedeval_soft.tables.source import bytes_as_text, is_pattern, is_url
from sedeval_soft.threads import become_worker

_PROCESS = 160 << 20
"""Bytes of a process before any work, and of its memory beside the counts."""


_IN_MEMORY = 5
"""Bytes of memory for each byte of text in a table that is read at once."""

_LARGE = 1 << 25
"""Bytes of both tables from which the start of several processes pays."""


def is_large(reference: str, system: str, jobs: int) -> bool:
    """Return whether tables in files are large enough to be counted in parts; jobs: processes."""
    size = 0
    for name in (reference, system):
        if is_url(name) or is_pattern(name):
            from sedeval_soft.tables.joined_tables import shards_of

            size += sum(bytes_as_text(file.name, file.size) for file in shards_of(name))
        else:
            # Inputs that are not files count nothing.
            with contextlib.suppress(OSError, ValueError):
                size += bytes_as_text(name, Path(name).stat().st_size)
    if size < _LARGE and given_limit() is None:
        return False
    return _IN_MEMORY * size > room() or (jobs > 1 and size >= _LARGE)


@dataclass(frozen=True)
class Execute:
    """Workers: this process, on one item after another, unless `processes` or an app replace it.

    map: returns a function's result for each item, in order; raises the error of the first that fails. jobs:
    the number of simultaneous workers. memory: bytes for each. elsewhere: whether they work on other
    machines.
    """

    map: Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]] = lambda of, items: [*map(of, items)]
    jobs: int = 1
    memory: int = field(default_factory=room)
    elsewhere: bool = False

    def path(self, name: str) -> str:
        """Return the path of a file for workers: absolute for workers that are started elsewhere."""
        if not self.elsewhere or is_url(name):
            return name
        if name == "-":
            raise SettingsError("workers elsewhere cannot read standard input; expected files or URLs")
        return os.path.abspath(name)  # noqa: PTH100 - as it is typed else


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Execute]:
    """Yield up to `jobs` processes, as memory allows; they share the available memory."""
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
    """Make a process end with its parent, work in one thread and use at most so much memory."""
    # Ctrl-C is heard by the process that waits, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_worker()
    reuse_freed()
    memory_limited(memory).__enter__()
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end with the process that began it, however that ends."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
