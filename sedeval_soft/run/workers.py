"""Pieces of work in processes of their own, which end with this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Self, TypeVar

from sedeval_soft.core.threads import become_worker
from sedeval_soft.errors import EvaluationError

T = TypeVar("T")
R = TypeVar("R")

_GUARD = 'in a script, what asks for jobs must be below `if __name__ == "__main__":`'
"""Processes begin by reading the script again."""


class Workers:
    """Some processes; with one job, this process itself. `with` ends them, at once if something is raised."""

    def __init__(self, jobs: int) -> None:
        """Choose how many; they are begun with the first pieces of work."""
        self._pool: ProcessPoolExecutor | None = None
        self._most = 2 * jobs
        self._running: set[Future[Any]] = set()
        self._any_done = False
        if jobs > 1:
            self._pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        """End all processes. Who ends this one at once would not give back what the pool shares with them."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if kind is not None:
            # Its own, and nobody else's: evaluations may run in several threads.
            for process in [*(pool._processes or {}).values()]:
                process.kill()
        pool.shutdown(cancel_futures=kind is not None)

    def settle(self) -> None:
        """Wait for what is still at work on pieces beside one that raised."""
        wait(self._running)

    def each(self, function: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
        """Return the function's result for each piece, in order.

        What a piece raises is raised here. Raises EvaluationError where a process ended before its piece did.
        """
        if self._pool is None:
            return [function(piece) for piece in pieces]
        try:
            return self._each(self._pool, function, pieces)
        except BrokenProcessPool as error:
            guard = "" if self._any_done else f"; {_GUARD}"
            raise EvaluationError(
                "a worker process ended before its work did: it was killed, or there was no memory for it; "
                f"expected fewer --jobs, or a smaller --memory-limit{guard}"
            ) from error

    def _each(self, pool: ProcessPoolExecutor, function: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
        """Give out only what can be begun soon: who asked may go on with something else when a piece raises.

        A pool whose processes are killed complains on standard error of work that had been cancelled.
        """
        futures: list[Future[R]] = []
        running: set[Future[R]] = set()
        left = iter(pieces)
        while True:
            with undisturbed():
                new = [pool.submit(function, piece) for piece in islice(left, self._most - len(running))]
            futures += new
            running.update(new)
            if not running:
                return [future.result() for future in futures]
            self._running = running
            done, running = wait(running, return_when=FIRST_COMPLETED)
            self._any_done |= any(not isinstance(of.exception(), BrokenProcessPool) for of in done)
            for future in done:
                future.result()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Keep Ctrl-C from processes that are begun here: this one hears it, and ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Make a process one that ends with its parent, and that works in one thread."""
    become_worker()
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
