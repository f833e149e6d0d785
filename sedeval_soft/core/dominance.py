"""Sums over points below and to the left of others, many questions at once.

All are sorted by one coordinate and then halved again and again, as in merge sort: within each pair of
halves the points of the first add to the questions of the second that lie right of them (Bentley 1980).
n points and questions take log2(n) passes of a few array operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


def sums_below(
    points: tuple[Numbers, Numbers], weights: Sequence[Index], questions: tuple[Numbers, Numbers]
) -> list[Index]:
    """Return for each question the sum of each weight over points with y <= its y and x <= its x.

    points, questions: pairs (y, x) of arrays, (n,) and (m,). weights: arrays (n,). Sums may wrap around.
    Returns as many arrays (m,).
    """
    n, m = len(points[0]), len(questions[0])
    size = n + m
    is_question = np.arange(size) >= n
    # Points stand before questions of the same place.
    y, x = (np.concatenate(both) for both in zip(points, questions, strict=True))
    rank = np.empty(size, dtype=np.int64)
    rank[np.lexsort((is_question, y))] = np.arange(size)
    order = np.lexsort((is_question, x))
    rank = rank[order]
    columns = [np.concatenate((weight, np.zeros(m, dtype=np.int64)))[order] for weight in weights]
    asked = is_question[order]
    sums = [np.zeros(size, dtype=np.int64) for _ in weights]
    for bit in range(max(0, size - 1).bit_length() - 1, -1, -1):
        late = (rank >> bit) & 1 == 1
        start = (rank >> (bit + 1)) << (bit + 1)
        asking = np.flatnonzero(late & asked)
        for column, total in zip(columns, sums, strict=True):
            running = np.concatenate(([0], np.cumsum(np.where(late, 0, column))))
            total[rank[asking]] += running[asking] - running[start[asking]]
        # Early halves before late ones, each still in the order of x.
        early = np.concatenate(([0], np.cumsum(~late)))
        before = early[:-1] - early[start]
        inside = np.arange(size) - start
        place = np.where(late, start + (1 << bit) + inside - before, start + before)
        # The last block may be short of early ones only where it has no late ones.
        moved = np.empty(size, dtype=np.int64)
        moved[place] = np.arange(size)
        rank, asked = rank[moved], asked[moved]
        columns = [column[moved] for column in columns]
    back = np.empty(size, dtype=np.int64)
    back[np.lexsort((is_question, y))] = np.arange(size)
    return [total[back[n:]] for total in sums]
