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
from typing import Self, TypeVar

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.threads import become_worker

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Some processes; with one job, this process itself. `with` ends them, at once if something is raised."""

    def __init__(self, jobs: int) -> None:
        """Choose how many; they are begun with the first pieces of work."""
        self._others = {*multiprocessing.active_children()}
        self._pool: ProcessPoolExecutor | None = None
        self._most = 2 * jobs
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
            for process in multiprocessing.active_children():
                if process not in self._others:
                    process.kill()
        pool.shutdown(cancel_futures=kind is not None)

    def each(self, function: Callable[[T], R], pieces: Iterable[T]) -> list[R]:
        """Return the function's result for each piece, in order.

        What a piece raises is raised here. Raises EvaluationError where a process ended before its piece did.
        """
        if self._pool is None:
            return [function(piece) for piece in pieces]
        try:
            return self._each(self._pool, function, pieces)
        except BrokenProcessPool as error:
            raise EvaluationError(
                "a worker process ended before its work did: it was killed, or there was no memory for it; "
                "expected fewer --jobs, or a smaller --memory-limit"
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
            done, running = wait(running, return_when=FIRST_COMPLETED)
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
