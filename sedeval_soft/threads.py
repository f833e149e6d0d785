"""Independent pieces of array work, on all processors if they are large enough.

numpy lets go of the interpreter while it works on large arrays, so threads are enough. Each piece is
computed as it would be alone: results do not depend on how many processors there are.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_WORTH = 1 << 20
"""Numbers to work on from which threads pay."""

_RUNS = 16
"""Runs of pieces that each thread is given: to hand over each piece by itself takes several times as long."""


def for_each(function: Callable[[T], R], pieces: Iterable[T], size: int) -> list[R]:
    """Return the function's result for each piece, in order; size: how many numbers there are in all.

    A piece in work beside others has its share of the processors for pieces of its own.
    """
    pieces = list(pieces)
    usable = getattr(_here, "processors", None) or processors()
    workers = min(usable, len(pieces))
    if size < _WORTH or workers <= 1:
        return list(map(function, pieces))
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    def work(run: list[T]) -> list[R]:
        return list(map(function, run))

    length = -(-len(pieces) // (workers * _RUNS))
    runs = [pieces[begin : begin + length] for begin in range(0, len(pieces), length)]
    # Settings of this context, such as the limit of memory, also apply in the threads.
    context = copy_context()
    pool = ThreadPoolExecutor(workers, initializer=become_worker, initargs=(usable // workers,))
    try:
        done = pool.map(lambda run: context.copy().run(work, run), runs)
        return list(chain.from_iterable(done))
    finally:
        # Ctrl-C does not wait for pieces in work.
        pool.shutdown(wait=False, cancel_futures=True)


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield items; a thread makes each while the caller works on the one before it."""
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    context = copy_context()

    def following() -> list[T]:
        return list(islice(items, 1))

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(context.run, following)
        while some := coming.result():
            coming = pool.submit(context.run, following)
            yield from some


_here = threading.local()


def become_worker(share: int = 1) -> None:
    """Let this thread work on so many pieces at a time: other threads are busy."""
    _here.processors = share


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
