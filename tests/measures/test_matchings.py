"""Matchings of all small graphs, and of what a start or a network makes of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import is_matching, maximum_size

from sedeval_soft.measures import matching
from sedeval_soft.measures.matching import first_free_matching, maximum_flow, maximum_matching


def columns(edges):
    return (np.array([edge[k] for edge in edges], dtype=np.int64) for k in (0, 1))


def graphs(n_left, n_right):
    every = list(itertools.product(range(n_left), range(n_right)))
    return itertools.chain.from_iterable(itertools.combinations(every, k) for k in range(len(every) + 1))


def matchings(edges, n_left):
    """All matchings of a graph, as arrays."""
    for size in range(len(edges) + 1):
        for chosen in itertools.combinations(edges, size):
            if len({left for left, _ in chosen}) == len({right for _, right in chosen}) == size:
                found = np.full(n_left, -1, dtype=np.int64)
                for left, right in chosen:
                    found[left] = right
                yield found


@pytest.mark.parametrize("max_steps", [0, 1, 400])
@pytest.mark.parametrize(("n_left", "n_right"), [(2, 2), (2, 3), (3, 2)])
def test_every_small_graph_from_every_start(n_left, n_right, max_steps, monkeypatch):
    monkeypatch.setattr(matching, "_MAX_STEPS", max_steps)
    for edges in graphs(n_left, n_right):
        size = maximum_size(edges, n_left, n_right)
        for start in (None, *matchings(edges, n_left)):
            before = None if start is None else start.tolist()
            found = maximum_matching(*columns(edges), n_left, n_right, start=start)
            assert is_matching(found.tolist(), edges)
            assert (found >= 0).sum() == size
            assert found.dtype == np.int64 and len(found) == n_left
            assert before is None or start.tolist() == before


def test_a_matching_with_nothing_to_add_is_kept():
    """A start is a matching even where there are no edges; and vertices without any have no partner."""
    none = np.zeros(0, dtype=np.int64)
    assert maximum_matching(none, none, 2, 3).tolist() == [-1, -1]
    assert maximum_matching(none, none, 2, 3, start=np.array([-1, 2])).tolist() == [-1, 2]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("n", [2, 3, 9, 40])
@pytest.mark.parametrize("max_steps", [3, 400])
def test_one_long_path_is_turned_over(n, flipped, max_steps, monkeypatch):
    """Each on the left has its own partner and the one before it; the start leaves one at either end."""
    monkeypatch.setattr(matching, "_MAX_STEPS", max_steps)
    edges = [(k, k) for k in range(n)] + [(k, k - 1) for k in range(1, n)]
    start = np.arange(-1, n - 1)
    if flipped:
        edges = [(n - 1 - left, n - 1 - right) for left, right in edges]
        start = (n - 1 - start)[::-1]
        start[start > n - 1] = -1
    left, right = columns(edges)
    assert (start >= 0).sum() == n - 1
    found = maximum_matching(left, right, n, n, start=start)
    assert found.tolist() == list(range(n))


@pytest.mark.parametrize("seed", range(5))
def test_flows_are_matchings_of_copies(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, 4), rng.integers(1, 4, 3)
    edges = [edge for edge in itertools.product(range(4), range(3)) if rng.random() < 0.5]
    flow = maximum_flow(*columns(edges), *counts)
    copies = [[(k, i) for k, n in enumerate(side) for i in range(n)] for side in counts]
    known = set(edges)
    pairs = [
        (a, b) for a, (k, _) in enumerate(copies[0]) for b, (j, _) in enumerate(copies[1]) if (k, j) in known
    ]
    assert flow.sum() == maximum_size(pairs, len(copies[0]), len(copies[1]))
    assert (flow <= counts[0]).all() and (flow >= 0).all()
    assert flow.shape == (4,) and flow.dtype == np.int64


def greedy(edges, merits, n_left):
    taken, found = set(), []
    for left in range(n_left):
        free = sorted(
            (-m, right)
            for (a, right), m in zip(edges, merits, strict=True)
            if a == left and right not in taken
        )
        found.append(free[0][1] if free else -1)
        taken |= {right for _, right in free[:1]}
    return found


@pytest.mark.parametrize("seed", range(6))
def test_each_takes_what_has_most_merit_of_what_is_free(seed):
    rng = np.random.default_rng(seed)
    edges = [edge for edge in itertools.product(range(6), range(5)) if rng.random() < 0.6]
    edges = [edges[k] for k in rng.permutation(len(edges))]
    merits = rng.integers(0, 3, len(edges)) / 2
    left, right = columns(edges)
    found = first_free_matching(left, right, 6, 5, merit=merits)
    assert found.tolist() == greedy(edges, merits, 6)
    assert first_free_matching(left, right, 6, 5).tolist() == greedy(edges, 0 * merits, 6)
    assert found.dtype == np.int64
    none = np.zeros(0, dtype=np.int64)
    assert first_free_matching(none, none, 2, 0).tolist() == [-1, -1]
