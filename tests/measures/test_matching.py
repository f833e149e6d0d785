"""Matchings of graphs, by loops in Python and compiled, against every matching there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import first_free, is_matching, maximum_size

from sedeval_soft.measures import matching
from sedeval_soft.measures.matching import (
    TooManyPairsError,
    first_free_matching,
    maximum_matching,
    nearest_matching,
)
from sedeval_soft.timeline.events import Timed


@pytest.fixture(params=["Python", "numba", "both", "no numba"])
def way(request, monkeypatch):
    """How the loops run: in Python, compiled, begun in Python and then compiled, or without numba."""
    if request.param in {"numba", "both"}:
        pytest.importorskip("numba")
    steps = {"Python": 10**9, "numba": 0, "both": 3, "no numba": 0}[request.param]
    monkeypatch.setattr(matching, "_MUCH", steps)
    monkeypatch.setattr(matching, "_STEPS", type("Never", (list,), {"__setitem__": lambda *_: None})([0]))
    if request.param == "no numba":
        monkeypatch.setattr(matching, "compiled_loop", lambda _: None)
    return request.param


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("start", [None, "first", "any"])
def test_maximum_matching_of_larger_graphs(way, seed, start):
    """It is maximum whatever way it takes and wherever it starts."""
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(n) for n in rng.integers(1, 40, 2))
    edges = np.argwhere(rng.random((n_left, n_right)) < rng.choice([0.02, 0.05, 0.1, 0.3]))
    left, right = rng.permutation(edges).T
    begin = None
    if start is not None:
        order = rng.permutation(n_left) if start == "any" else np.arange(n_left)
        begin = first_free_matching(order[left], right, n_left, n_right)[order]
    found = maximum_matching(left, right, n_left, n_right, start=begin)
    known = list(map(tuple, edges.tolist()))
    # A start is a matching even without edges.
    none = np.zeros(0, dtype=np.int64)
    assert maximum_matching(none, none, n_left, n_right, start=found).tolist() == found.tolist()
    assert is_matching(found.tolist(), known)
    assert (found >= 0).sum() == maximum_size(known, n_left, n_right)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True), st.integers(0, 2**32))
def test_the_greedy_matching_takes_the_first_free(edges, seed):
    left, right = (
        np.array(edges, dtype=np.int64).reshape(-1, 2)[np.random.default_rng(seed).permutation(len(edges))].T
    )
    assert first_free_matching(left, right, 7, 7).tolist() == first_free(sorted(edges), 7)


@pytest.mark.parametrize("seed", range(4, 12))
def test_nearest_matchings_are_as_large_and_as_near_as_an_assignment(way, seed):
    """Against scipy's assignment, where to be without a partner costs more than all distances.

    Of few events many are equally far apart, and some alike. Which partner an event has does not depend on
    the order of events either, but for those that are alike.
    """
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(seed)
    few = seed < 8
    sides = [
        Timed(
            *np.zeros((2, k), dtype=np.int32), *np.sort(rng.integers(0, 9 if few else 2000, (2, k)), axis=0)
        )
        for k in (rng.integers(0, 7, 2) if few else rng.integers(20, 60, 2))
    ]
    ours, theirs = (side.take(np.lexsort((side.offset, side.onset))) for side in sides)
    may = np.abs(ours.onset[:, None] - theirs.onset) < rng.choice([2, 5, 9] if few else [30, 100, 400])
    may &= rng.random(may.shape) < (0.8 if few else 1.0)
    apart = np.abs(ours.onset[:, None] - theirs.onset) + np.abs(ours.offset[:, None] - theirs.offset)
    row, column = linear_sum_assignment(np.where(may, apart, 10**7))
    hit = may[row, column]
    partner = nearest_matching(*np.nonzero(may), ours, theirs)
    paired = np.flatnonzero(partner >= 0)
    assert is_matching(partner.tolist(), map(tuple, np.argwhere(may).tolist()))
    assert len(paired) == hit.sum()
    assert apart[paired, partner[paired]].sum() == apart[row[hit], column[hit]].sum()
    if not few:
        mine, others = (rng.permutation(len(side)) for side in (ours, theirs))
        left, right = np.nonzero(may[mine][:, others])
        again = nearest_matching(left, right, ours.take(mine), theirs.take(others))
        assert np.append(others, -1)[again].tolist() == partner[mine].tolist()


def test_a_matching_that_takes_too_many_steps_is_refused(way, monkeypatch):
    side = Timed(*np.zeros((2, 9), dtype=np.int32), np.arange(9) * 0, np.arange(9) * 0)
    pairs = np.divmod(np.arange(81), 9)
    assert sorted(nearest_matching(*pairs, side, side).tolist()) == [*range(9)]
    monkeypatch.setattr(matching, "_MOST_STEPS", 2)
    with pytest.raises(TooManyPairsError):
        nearest_matching(*pairs, side, side)
