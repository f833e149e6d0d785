"""Slow and obvious second computations, and strategies for their inputs.

The code is plain, and computes without the package and numpy. Times are small whole numbers of
microseconds, so that the code can look at every tick.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

TICK = 1e-6
END = 24
"""The last tick of generated rows."""

Edge = tuple[int, int]
TickRow = tuple[str, int, int, str, float]
"""File, onset and offset in ticks, label, value."""

FILES = ("a", "b")
LABELS = ("car", "dog", "talk")

LEVELS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.75, 1.0])
"""Few values, so that ties and values at thresholds are frequent."""


def tick_rows(values=LEVELS, max_size: int = 12) -> st.SearchStrategy[list[TickRow]]:
    """Draw rows that may overlap, touch, or have no duration."""
    time = st.integers(0, END)
    row = st.tuples(st.sampled_from(FILES), time, time, st.sampled_from(LABELS), values)
    return st.lists(row.map(lambda r: (r[0], *sorted(r[1:3]), r[3], r[4])), max_size=max_size)


def in_seconds(rows: Iterable[TickRow]) -> list[tuple[str, float, float, str, float]]:
    return [(file, onset * TICK, offset * TICK, label, value) for file, onset, offset, label, value in rows]


def value_at(rows: Iterable[TickRow], file: str, label: str, tick: int) -> float:
    """Return the largest value of the rows that cover a tick, 0 without any."""
    return max(
        (value for f, on, off, c, value in rows if f == file and c == label and on <= tick < off), default=0.0
    )


def segment_values(
    rows: Sequence[TickRow], file: str, label: str, segment: int, length: int, pool: str
) -> list[float | Fraction]:
    """Return the values of a file's segments, computed tick by tick.

    If the file ends within the last segment, `max` is over the whole segment, and `mean` over the part
    inside the file.
    """
    values: list[float | Fraction] = []
    for begin in range(0, length, segment):
        if pool == "max":
            values.append(max(value_at(rows, file, label, t) for t in range(begin, begin + segment)))
        else:
            inside = [value_at(rows, file, label, t) for t in range(begin, min(begin + segment, length))]
            values.append(sum(map(Fraction, inside)) / len(inside))
    return values


def merged_events(rows: Iterable[TickRow]) -> list[tuple[str, int, int, str]]:
    """Join touching and overlapping intervals of a file and class until nothing changes."""
    events = [(file, onset, offset, label) for file, onset, offset, label, _ in rows]

    def touch(a, b):
        return (a[0], a[3]) == (b[0], b[3]) and a[1] <= b[2] and b[1] <= a[2]

    while pair := next((pair for pair in combinations(events, 2) if touch(*pair)), None):
        for event in pair:
            events.remove(event)
        (file, *first, label), (_, *second, _) = pair
        events.append((file, min(*first, *second), max(*first, *second), label))
    return events


def first_free(edges: Iterable[Edge], n_left: int) -> list[int]:
    """Give each left vertex, in order, the first free right vertex."""
    known = set(edges)
    taken: set[int] = set()
    match = []
    for left in range(n_left):
        free = sorted(right for a, right in known if a == left and right not in taken)
        match.append(free[0] if free else -1)
        taken.update(free[:1])
    return match


def maximum_size(edges: Iterable[Edge], n_left: int, n_right: int) -> int:
    """Return the size of a maximum matching, by scipy."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    dense = np.zeros((n_left, n_right), dtype=np.int8)
    for left, right in edges:
        dense[left, right] = 1
    if not dense.size:
        return 0
    return int((maximum_bipartite_matching(csr_array(dense), perm_type="column") >= 0).sum())


def is_matching(match: Sequence[int], edges: Iterable[Edge]) -> bool:
    """Return whether edges join all partners, and no right vertex has two partners."""
    known = set(edges)
    pairs = [(left, right) for left, right in enumerate(match) if right >= 0]
    return all(pair in known for pair in pairs) and len({right for _, right in pairs}) == len(pairs)


def may_pair(a: Sequence[int], b: Sequence[int], rule: Any) -> bool:
    """Return whether two events, (file, class, onset, offset), are within collars, or overlap enough."""
    if hasattr(rule, "least"):
        extent = max(a[3], b[3]) - min(a[2], b[2])
        common = Fraction(min(a[3], b[3]) - max(a[2], b[2]), extent) if extent else 1
        return common >= Fraction(repr(rule.least))
    starts = rule.onset is None or abs(a[2] - b[2]) <= rule.onset
    tolerance = max(rule.offset or 0, round(rule.rate * (a[3] - a[2])))
    return starts and (rule.offset is None or abs(a[3] - b[3]) <= tolerance)


def all_pairs(ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]], rule: Any) -> list[Edge]:
    """Return the pairs of events of the same file that may match, of any classes."""
    every = product(enumerate(ours), enumerate(theirs))
    return [(i, j) for (i, a), (j, b) in every if a[0] == b[0] and may_pair(a, b, rule)]


def event_counts(
    ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]], rule: Any, n_files: int, n_classes: int
) -> dict[str, np.ndarray]:
    """Return TP, N_ref and N_sys by file and class, and S, D and I by file, from maximum matchings."""
    pairs, m = all_pairs(ours, theirs, rule), np.zeros(n_files, dtype=object)
    tp, n_ref, n_sys = np.zeros((3, n_files, n_classes), dtype=object)
    for at in np.ndindex(n_files, n_classes):
        own = [(i, j) for i, j in pairs if tuple(ours[i][:2]) == tuple(theirs[j][:2]) == at]
        tp[at] = maximum_size(own, len(ours), len(theirs))
        n_ref[at], n_sys[at] = (sum(tuple(row[:2]) == at for row in side) for side in (ours, theirs))
    for file in range(n_files):
        m[file] = maximum_size([(i, j) for i, j in pairs if ours[i][0] == file], len(ours), len(theirs))
    errors = m - tp.sum(axis=1), n_ref.sum(axis=1) - m, n_sys.sum(axis=1) - m
    names = "tp", "n_ref", "n_sys", "substitutions", "deletions", "insertions"
    return dict(zip(names, (tp, n_ref, n_sys, *errors), strict=True))


def hard_errors(y: Sequence[bool], p: Sequence[bool]) -> tuple[int, int, int, int]:
    """Return TP, S, D and I of one segment."""
    tp = sum(a and b for a, b in zip(y, p, strict=True))
    return tp, min(sum(y), sum(p)) - tp, max(0, sum(y) - sum(p)), max(0, sum(p) - sum(y))
