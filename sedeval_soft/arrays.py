"""Types of arrays, their values in order, pieces of work on all processors, and ranges of places."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.memory import check_room

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

Index = npt.NDArray[np.int64]
"""Numbers of things, or of places."""

Codes = npt.NDArray[np.int32]
"""Numbers of files or classes, of as many rows as there are."""

Number = TypeVar("Number", bound=np.number[Any])

_BITS = 62

_BLOCK = 1 << 15
"""Values worked on at a time: arrays as long as all of them are made as few as can be."""


def in_order(values: Floats) -> tuple[Floats, Index]:
    """Return values in ascending order, and the place that each had, (n,) each; equal ones stay as they are.

    values: (n,) in [0, 1].

    numpy sorts plain 64-bit integers several times faster than it sorts indices by their values. So a value,
    as many of its leading bits as fit, and its index are packed into one integer. A final pass sorts values
    that differ only in the bits that did not fit: by then they are nearly in order.
    """
    n = len(values)
    index_bits = max(n - 1, 0).bit_length()
    # A product by a power of two is exact, and cutting it off keeps the order: only ties are added.
    keys = np.empty(n, dtype=np.int64)
    for begin in range(0, n, _BLOCK):
        block = keys[begin : begin + _BLOCK]
        np.multiply(values[begin : begin + _BLOCK], 2.0 ** (_BITS - index_bits), out=block, casting="unsafe")
        block <<= index_bits
        block |= np.arange(begin, begin + len(block))
    keys.sort()
    keys &= (1 << index_bits) - 1
    # Without a check of each index, which takes as long again.
    ordered = values.take(keys, mode="clip")
    blocks = [slice(begin, begin + _BLOCK) for begin in range(0, n - 1, _BLOCK)]
    if any(np.any(ordered[1:][block] < ordered[:-1][block]) for block in blocks):
        again = np.argsort(ordered, kind="stable")
        return ordered[again], keys[again]
    return ordered, keys


def order_of(*keys: npt.NDArray[np.integer[Any]]) -> Index:
    """Return the result of `numpy.lexsort`, (n,); keys: (n,) each, not negative, the last one counts most.

    As many keys as fit are packed into one; others are compared only for ties of that one.
    """
    *others, last = keys
    if not others and np.all(last[1:] >= last[:-1]):
        return np.arange(len(last))
    packed, size = last.astype(np.int64), int(last.max(initial=0)) + 1
    while others and (scale := size * (int(others[-1].max(initial=0)) + 1)) < 1 << _BITS:
        packed *= scale // size
        packed += others.pop()
        size = scale
    bits = max(len(last) - 1, 0).bit_length()
    if size <= 1 << (_BITS - bits):
        # Plain integers are sorted several times faster than indices by them.
        places = (packed << bits) + np.arange(len(last))
        places.sort()
        order = places & ((1 << bits) - 1)
    else:
        order = np.argsort(packed, kind="stable")
    if others:
        ordered = packed[order]
        same = np.append(False, ordered[1:] == ordered[:-1])
        tied = np.flatnonzero(same | np.append(same[1:], False))[: len(order)]
        some = order[tied]
        order[tied] = some[np.lexsort((*(key[some] for key in others), ordered[tied]))]
    return order


def heads(*columns: npt.NDArray[np.number[Any]]) -> Index:
    """Return the begins of groups of equal rows, (n_groups,); columns: (n,) each, their rows in order."""
    new = np.ones(len(columns[0]), dtype=bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=new[1:])
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the different values in order; values: any shape, none of them NaN.

    `numpy.unique` imports `numpy.ma`, which takes longer than a small evaluation, and puts whole numbers into
    a table, which takes many times as long as sorting them.
    """
    ordered = np.sort(values, axis=None)
    return ordered[heads(ordered)]


# Independent pieces of array work, on all processors if they are large enough.
#
# numpy lets go of the interpreter while it works on large arrays, so threads are enough. Each piece is
# computed as it would be alone: results do not depend on how many processors there are.

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


# Ranges of cells unfolded, and maxima over them, without a loop over rows.
#
# Places are numbered from 0; a range is its first place and one past its last.

STRETCH = 1 << 15
"""Rows that are worked on at a time, about: few enough for the processor's cache."""

_SPARSE = 4
"""Cells per member of ranges from which on it is faster to unfold the ranges."""

# Memory that a pair of events takes: who they are, their levels, what they share, and their order.
_BYTES_PER_PAIR = 220


def stretches(n: int) -> Iterator[slice]:
    """Yield slices of `STRETCH` places each that cover n places in order."""
    return (slice(begin, begin + STRETCH) for begin in range(0, n, STRETCH))


def expand(first: Index, last: Index) -> tuple[Index, Index]:
    """Unfold ranges: return for each of their members the number of its range, and the member."""
    count = last - first
    owner = np.repeat(np.arange(len(first)), count)
    member = np.arange(len(owner))
    member += np.repeat(last - np.cumsum(count), count)
    return owner, member


def numbered(group: Index, time: Index) -> tuple[Index, Index, Index]:
    """Number the distinct times of each group in order: return the number of each, and groups and times.

    group, time: (n,), not negative. The number is (n,), its group and time (n_distinct,).
    """
    scale = int(time.max(initial=0)) + 1
    if int(group.max(initial=0)) < (1 << 62) // scale:
        # One sort of one key takes half as long as two.
        key = group.astype(np.int64) * scale + time
        order = order_of(key)
        first = heads(key[order])
    else:
        order = np.lexsort((time, group))
        first = heads(group[order], time[order])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return number, group[order[first]], time[order[first]]


class TooManyOverlapsError(EvaluationError):
    """More pairs of events overlap than can be looked at."""


def check_pairs(first: Index, last: Index, most: float = math.inf) -> None:
    """Refuse ranges that unfold to more pairs of events than fit into memory.

    first, last: of the events that overlap each event. n events at one time make n * n pairs. most: the
    number beyond which pairs are refused in any case. Raises TooManyOverlapsError for these, else RoomError.
    """
    pairs = float(np.maximum(last - first, 0).sum(dtype=np.float64))
    if pairs > most:
        raise TooManyOverlapsError(
            f"{pairs:.3g} pairs of events overlap, or are near: looking at all would take too long; expected "
            f"{most:.3g} or fewer. Are rows repeated, or are there very many events at one time? "
            "--only segment needs none"
        )
    check_room(
        pairs * _BYTES_PER_PAIR,
        f"to look at {pairs:.3g} pairs of events that overlap",
        "Are rows repeated, or are there very many events at one time?",
    )


def covered(size: int, first: Index, last: Index) -> Floats:
    """Return 1.0 for each of `size` cells that some range covers, else 0.0."""
    if _SPARSE * int((last - first).sum()) <= size:
        cells = np.zeros(size)
        cells[expand(first, last)[1]] = 1.0
        return cells
    change = np.zeros(size + 1, dtype=np.int64)
    np.add.at(change, first, 1)
    np.subtract.at(change, last, 1)
    return (np.cumsum(change[:-1]) > 0).astype(np.float64)


def range_maximum(size: int, first: Index, last: Index, value: Floats, empty: float = 0.0) -> Floats:
    """Return for each of `size` cells the maximum over the ranges that cover it.

    first, last: (n,) each range's first cell and one past its last; ranges without cells are skipped. value:
    (n,). Returns (size,), `empty` for cells that no range covers.

    A range is covered by two overlapping blocks whose length is a power of two. All blocks of one length are
    entered at once, and passed on to blocks of half the length: n ranges over m cells take O(n + m
    log(longest)), however much they overlap.
    """
    length = last - first
    if not length.all():
        some = length > 0
        first, length, value = first[some], length[some], value[some]
    cells = np.full(size, empty)
    if int(length.max(initial=1)) == 1:
        np.maximum.at(cells, first, value)
        return cells
    level = np.frexp(length.astype(np.float64))[1] - 1  # floor(log2), exact below 2**53
    order = np.argsort(-level, kind="stable")
    highest = int(level.max())
    bounds = np.searchsorted(-level[order], np.arange(-highest, 2))
    for k, begin, end in zip(range(highest, -1, -1), bounds[:-1], bounds[1:], strict=True):
        blocks = order[begin:end]
        np.maximum.at(cells, first[blocks], value[blocks])
        if k:
            np.maximum.at(cells, first[blocks] + length[blocks] - (1 << k), value[blocks])
            half = 1 << (k - 1)
            lower = cells.copy()
            np.maximum(lower[half:], cells[:-half], out=lower[half:])
            cells = lower
    return cells


def running_maximum(value: Index, group: Index) -> Index:
    """Return the running maximum of non-negative integers within groups, shape (n,).

    group: (n,) in ascending order. If one accumulation over `group * scale + value` would overflow, ranks
    replace the values.
    """
    dense = np.concatenate(([0], np.cumsum(np.diff(group) != 0))) if len(group) else group
    scale = int(value.max(initial=0)) + 1
    if scale < (1 << 62) // (len(value) + 1):
        base = dense * scale
        return np.maximum.accumulate(base + value) - base
    order = np.argsort(value, kind="stable")
    rank = np.empty_like(value)
    rank[order] = np.arange(len(value))
    highest = np.maximum.accumulate(dense * len(value) + rank) - dense * len(value)
    return value[order[highest]]


class Pyramid:
    """Minima of blocks of 1, 2, 4, ... values: the nearest small value is found whatever the values.

    Searches take two passes over log2(n) levels: up to a left neighbour that contains a small enough value,
    then down to the rightmost such value in it. Near answers are found low, so that most take few steps.
    """

    __slots__ = ("levels",)

    def __init__(self, values: Array) -> None:
        """Build over values, (n,)."""
        self.levels = [values]
        while len(self.levels[-1]) > 1:
            level = self.levels[-1]
            even = np.minimum(level[: len(level) // 2 * 2 : 2], level[1::2])
            self.levels.append(np.append(even, level[-1]) if len(level) % 2 else even)

    def before(self, places: Index, wanted: Floats, *, or_equal: bool) -> Index:
        """Return the nearest place before each with a value smaller than (or equal to) a wanted one, (n,).

        places, wanted: (n,). There must be such a place.
        """
        smaller = np.less_equal if or_equal else np.less
        node = places.copy()
        top = np.full(len(places), -1, dtype=np.int64)
        climbing = np.arange(len(places))
        for height, level in enumerate(self.levels):
            here = node[climbing]
            neighbour = np.maximum(here - 1, 0)
            hit = (here % 2 == 1) & smaller(level[neighbour], wanted[climbing])
            top[climbing[hit]] = height
            node[climbing[hit]] = neighbour[hit]
            climbing = climbing[~hit]
            node[climbing] //= 2
        for height in range(int(top.max(initial=0)), 0, -1):
            going = np.flatnonzero(top >= height)
            child = 2 * node[going] + 1
            below = self.levels[height - 1]
            inside = np.minimum(child, len(below) - 1)
            right = (child < len(below)) & smaller(below[inside], wanted[going])
            node[going] = np.where(right, child, child - 1)
        return node
