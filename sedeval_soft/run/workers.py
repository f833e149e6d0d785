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
from typing import TypeVar

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.threads import become_worker

T = TypeVar("T")
R = TypeVar("R")


def in_processes(function: Callable[[T], R], pieces: Iterable[T], jobs: int) -> list[R]:
    """Return the function's result for each piece, in order; in this process if there is one job.

    What a piece raises is raised here, and the others are given up. Raises EvaluationError where a process
    ended before its piece did.
    """
    pieces = list(pieces)
    jobs = min(jobs, len(pieces))
    if jobs <= 1:
        return [function(piece) for piece in pieces]
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin)
    others = {*multiprocessing.active_children()}
    try:
        with _undisturbed():
            futures = [pool.submit(function, piece) for piece in pieces]
        for done in as_completed(futures):
            done.result()
        found = [future.result() for future in futures]
        pool.shutdown()
    except BaseException as error:
        for process in multiprocessing.active_children():
            if process not in others:
                process.kill()
        pool.shutdown(cancel_futures=True)
        # Who ends the process at once does not give back what the pool shares with other processes.
        del pool
        if isinstance(error, BrokenProcessPool):
            raise EvaluationError(
                "a worker process ended before its work did: it was killed, or there was no memory for it; "
                "expected fewer --jobs, or a smaller --memory-limit"
            ) from error
        raise
    return found


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
