"""Pieces of work in processes of their own, which end with this one."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
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
            with _undisturbed():
                futures = [self._pool.submit(function, piece) for piece in pieces]
            for done in as_completed(futures):
                done.result()
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise EvaluationError(
                "a worker process ended before its work did: it was killed, or there was no memory for it; "
                "expected fewer --jobs, or a smaller --memory-limit"
            ) from error


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
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
