"""Matchings, candidate pairs, best thresholds and soft counts, against slow and obvious answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from sedeval_soft.measures import matching
from sedeval_soft.measures.detection import f_beta
from sedeval_soft.measures.divergence import kl_divergence
from sedeval_soft.measures.event import pairs
from sedeval_soft.measures.event.pairs import Collars, candidate_pairs
from sedeval_soft.measures.matching import first_free_matching, maximum_matching
from sedeval_soft.measures.segment.count import count_hard, count_soft
from sedeval_soft.measures.threshold_counts import best_thresholds, threshold_between
from sedeval_soft.timeline.events import Events

EPS = 1e-7


GRAPHS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), unique=True, max_size=30)
)


def ends(edges):
    return tuple(np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))


def is_matching(match, edges):
    taken = [right for right in match if right >= 0]
    return len(set(taken)) == len(taken) and all((left, r) in edges for left, r in enumerate(match) if r >= 0)


@given(GRAPHS, st.sampled_from([0, 1, 2, 400]), st.booleans())
def test_maximum_matching_is_as_large_as_scipys(edges, steps, with_start):
    left, right = ends(edges)
    before = matching._MAX_STEPS
    matching._MAX_STEPS = steps  # few steps: the path by way of scipy
    try:
        start = first_free_matching(left, right, 9, 9) if with_start else None
        match = maximum_matching(left, right, 9, 9, start=start)
    finally:
        matching._MAX_STEPS = before
    graph = csr_array((np.ones(len(edges), dtype=np.int8), (left, right)), shape=(9, 9))
    assert is_matching(match.tolist(), set(edges))
    assert (match >= 0).sum() == (maximum_bipartite_matching(graph, perm_type="column") >= 0).sum()
    if with_start:
        assert (match[start >= 0] >= 0).all()


def test_long_alternating_paths():
    """A path of 4000 vertices whose greedy matching misses one pair: it must be flipped from end to end."""
    n = 2000
    left = np.concatenate((np.arange(n), np.arange(1, n)))
    right = np.concatenate((np.arange(n), np.arange(n - 1)))
    start = np.full(n, -1)
    start[1:] = np.arange(n - 1)
    assert (maximum_matching(left, right, n, n, start=start) >= 0).all()
    assert (maximum_matching(left, right, n, n) >= 0).all()


@given(GRAPHS)
def test_first_free_matching_is_the_naive_loop(edges):
    left, right = ends(edges)
    taken, wanted = set(), []
    for vertex in range(9):
        free = [end for begin, end in sorted(edges) if begin == vertex and end not in taken]
        wanted.append(free[0] if free else -1)
        taken.update(free[:1])
    assert first_free_matching(left, right, 9, 9).tolist() == wanted


def make_events(rows):
    columns = [np.array([row[i] for row in rows], dtype=np.int64) for i in range(4)]
    file, label, onset, offset = columns
    return Events(file.astype(np.int32), label.astype(np.int32), onset, offset, onset / 1e6, offset / 1e6)


TIMED = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 40), st.integers(0, 40)).map(
        lambda row: (row[0], row[1], *sorted(row[2:]))
    ),
    max_size=12,
)


@given(
    TIMED,
    TIMED,
    st.sampled_from([None, 0, 3, 10**13]),
    st.sampled_from([None, 0, 4]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([1, 7, 10**6]),
)
def test_candidate_pairs_are_all_pairs_within_the_collars(ours, theirs, onset, offset, rate, at_once):
    if onset is None and offset is None:
        return
    reference, system = make_events(ours), make_events(theirs)
    before = pairs._AT_ONCE
    pairs._AT_ONCE = at_once
    try:
        groups = reference.file.astype(np.int64), system.file.astype(np.int64)
        left, right = candidate_pairs(reference, system, *groups, Collars(onset, offset, rate))
    finally:
        pairs._AT_ONCE = before
    wanted = [
        (i, j)
        for i, a in enumerate(ours)
        for j, b in enumerate(theirs)
        if a[0] == b[0]
        and (onset is None or abs(a[2] - b[2]) <= onset)
        and (offset is None or abs(a[3] - b[3]) <= max(offset, round(rate * (a[3] - a[2]))))
    ]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == wanted


SEGMENTS = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=12)


@given(SEGMENTS, st.booleans(), st.sampled_from([0.5, 1.0, 2.0]))
def test_best_threshold_beats_all_others_and_is_the_highest(segments, inclusive, beta):
    positive = np.array([[p for p, _ in segments]])
    scores = np.array([[s / 6 for _, s in segments]])
    threshold = float(best_thresholds(scores, positive, beta, inclusive)[0])
    if not positive.any():
        assert np.isinf(threshold)
        return

    def f(t):
        found = scores >= t if inclusive else scores > t
        return float(f_beta((found & positive).sum(), positive.sum(), found.sum(), beta))

    tried = [-1.0, *((np.arange(7) + 0.5) / 6), 2.0]
    assert f(threshold) == max(f(t) for t in tried)
    assert all(
        f(t) < f(threshold)
        for t in tried
        if t > threshold and not _selects_alike(scores, t, threshold, inclusive)
    )
    assert f(float(repr(threshold))) == f(threshold)


def _selects_alike(scores, a, b, inclusive):
    return np.array_equal(scores >= a, scores >= b) if inclusive else np.array_equal(scores > a, scores > b)


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_printed_threshold_parts_the_same_scores(a, b, inclusive):
    below, lowest = sorted((a, b))
    if below == lowest:
        return
    read = float(repr(threshold_between(below, lowest, inclusive)))
    if inclusive:
        assert below < read <= lowest
    else:
        assert below <= read < lowest


def test_thresholds_are_middles():
    assert threshold_between(0.4, 0.5) == 0.45
    assert threshold_between(0.1, 0.9) == 0.5
    assert threshold_between(None, 0.0) == -1.0
    assert threshold_between(None, 0.0, inclusive=True) == 0.0
    assert threshold_between(None, 0.5) == 0.25


VALUES = st.lists(
    st.tuples(*[st.integers(0, 5)] * 3, *[st.integers(0, 5)] * 3), min_size=1, max_size=6
)  # three classes, reference and system, in fifths


@given(VALUES)
def test_soft_counts_are_hard_ones_integrated_over_all_levels(cells):
    table = np.array(cells).T / 5
    reference, system = table[:3], table[3:]
    start = np.array([0, len(cells) // 2, len(cells)])
    soft = count_soft(reference, system, start)
    levels = [(k + 0.5) / 5 for k in range(5)]
    hard = [count_hard(reference >= level, system >= level, start) for level in levels]
    for name in ("tp", "n_ref", "n_sys", "substitutions", "deletions", "insertions"):
        wanted = sum(getattr(counts, name) for counts in hard) / 5
        assert getattr(soft, name) == pytest.approx(wanted, abs=1e-12)


@given(st.floats(0, 1), st.floats(0, 1))
def test_kl_divergence_is_the_formula(y, p):
    clipped = min(max(p, EPS), 1 - EPS)
    wanted = (y * np.log(y / clipped) if y > 0 else 0) + (
        (1 - y) * np.log((1 - y) / (1 - clipped)) if y < 1 else 0
    )
    got = kl_divergence(np.array([y]), np.array([p]), EPS)[0]
    assert got == pytest.approx(wanted, abs=1e-9)
    assert got >= -1e-15
