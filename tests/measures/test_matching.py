"""Matchings of graphs, by loops in Python and compiled, against every possible matching.

Matchings at all levels at once are compared with a new one at each level, and with sums in fractions.
"""

import itertools
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import event_counts, first_free, is_matching, maximum_size
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from sedeval_soft import Evaluator
from sedeval_soft.measures import event, level_matching, matching
from sedeval_soft.measures.event import count_soft_events
from sedeval_soft.measures.level_matching import matching_changes
from sedeval_soft.measures.matching import (
    Collars,
    Overlap,
    PairRule,
    TooManyPairsError,
    compiled_loop,
    first_free_matching,
    maximum_matching,
    nearest_matching,
)
from sedeval_soft.timeline import Activity, Timed
from sedeval_soft.timeline.events import EventLifetimes


@pytest.fixture(params=["Python", "numba", "both", "no numba"])
def way(request, monkeypatch):
    """Make loops run in Python, compiled, first in Python and then compiled, or without numba."""
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
    """The matching is maximum, whatever way the loops run and from whatever start."""
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(n) for n in rng.integers(1, 40, 2))
    edges = np.argwhere(rng.random((n_left, n_right)) < rng.choice([0.02, 0.05, 0.1, 0.3]))
    left, right = rng.permutation(edges).T
    order = rng.permutation(n_left) if start == "any" else np.arange(n_left)
    greedy = first_free_matching(order[left], right, n_left, n_right)[order]
    found = maximum_matching(left, right, n_left, n_right, start=greedy if start else None)
    known = list(map(tuple, edges.tolist()))
    assert is_matching(found.tolist(), known) and (found >= 0).sum() == maximum_size(known, n_left, n_right)
    # Without edges, the start is the result.
    assert maximum_matching(left[:0], right[:0], n_left, n_right, start=found).tolist() == found.tolist()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True), st.integers(0, 2**32))
def test_the_greedy_matching_takes_the_first_free(edges, seed):
    left, right = (
        np.array(edges, dtype=np.int64).reshape(-1, 2)[np.random.default_rng(seed).permutation(len(edges))].T
    )
    assert first_free_matching(left, right, 7, 7).tolist() == first_free(sorted(edges), 7)


@pytest.mark.parametrize("seed", range(4, 12))
def test_nearest_matchings_are_as_large_and_as_near_as_an_assignment(way, seed):
    """Compare with scipy's assignment, in which an unmatched event costs more than all distances.

    In small cases many events are equally far apart, and some are equal. In large cases the partner of an
    event does not depend on the order of events.
    """
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
    as_far = apart[row[hit], column[hit]].sum()
    assert (len(paired), apart[paired, partner[paired]].sum()) == (hit.sum(), as_far)
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


# Matchings at all levels at once.

N_GROUPS = 30


def lifetimes(rng: np.random.Generator, n: int, n_levels: int) -> EventLifetimes:
    """Return events of random groups at levels k / n_levels."""
    low, high = np.sort(rng.integers(0, n_levels, (2, n)), axis=0)
    time, group = np.arange(n), rng.integers(0, N_GROUPS, n).astype(np.int32)
    return EventLifetimes(group, group, time, time + 1, low / n_levels, (high + 1) / n_levels)


@pytest.mark.parametrize("compiled", [False, True], ids=["Python", "numba"])
@settings(max_examples=8)
@given(
    st.integers(0, 2**32 - 1), *(st.sampled_from([800, 300, 20]) for _ in range(2)),
    st.sampled_from([4, 9, 30]), st.sampled_from([0.1, 0.3, 0.9]), st.booleans(),
)  # fmt: skip
@example(1, 300, 300, 9, 0.3, True)  # reaches every line of the sweep
def test_any_graph_is_matched_at_every_level(compiled, seed, n_ref, n_sys, n_levels, dense, always):
    """Graphs have few or many pairs; many or few of these begin and end together at a level."""
    if compiled:
        pytest.importorskip("numba")
    rng = np.random.default_rng(seed)
    ours, theirs = (lifetimes(rng, n, n_levels) for n in (n_ref, n_sys))
    share = np.maximum(ours.born[:, None], theirs.born) < np.minimum(ours.dies[:, None], theirs.dies)
    may = share & (ours.file[:, None] == theirs.file) & (rng.random(share.shape) < dense)
    left, right = np.argwhere(may)[rng.permutation(may.sum())].astype(np.int32).T
    groups = ours.file.astype(np.int64), theirs.file.astype(np.int64)
    with pytest.MonkeyPatch.context() as patch:
        if always and not compiled:
            patch.setattr(level_matching, "_CROWDED", 0)
        found = matching_changes(ours, theirs, groups, left, right, compiled=compiled)
    for level in (np.arange(n_levels) + 0.5) / n_levels:
        there = ours.alive(level)[left] & theirs.alive(level)[right]
        graph = csr_array((np.ones(there.sum()), (left[there], right[there])), shape=share.shape)
        hit = maximum_bipartite_matching(graph, "column") >= 0
        below = found.level < level
        size = np.bincount(found.group[below], found.change[below], minlength=N_GROUPS)
        assert size.tolist() == np.bincount(groups[0][hit], minlength=N_GROUPS).tolist()


RULES = {
    "collars": Collars(3, 3, 0.5), "no tolerance": Collars(0, 0, 0.0), "onsets": Collars(4, None, 0.0),
    "offsets": Collars(None, 2, 0.3), "wide": Collars(30, 30, 1.0), "overlap": Overlap(0.4),
    "any overlap": Overlap(1e-9),
}  # fmt: skip


def values(rng: np.random.Generator, form: str) -> Activity:
    """Return values of three classes in two files, distinct or tied, with gaps, in steps of many lengths."""
    parts = []
    for file, label in itertools.product(range(2), range(3)):
        n, step = int(rng.integers(0, 14)), int(rng.integers(1, 4))
        value = rng.integers(1, 5, n) / 4 if form == "tied" else rng.random(n)
        kept = np.flatnonzero(rng.random(n) < 0.9)
        onset = kept * step + int(rng.integers(0, 5))
        codes = np.full((2, len(onset)), [[file], [label]], dtype=np.int32)
        parts.append(Activity(*codes, onset, onset + step, value[kept]))
    return Activity.joined(parts).sounding()


def rows(rng: np.random.Generator) -> EventLifetimes:
    """Return rows that overlap, touch, or have no extent; each is an event up to its value."""
    n = int(rng.integers(0, 25))
    file, label = np.sort(rng.integers(0, 2, n)).astype(np.int32), rng.integers(0, 3, n).astype(np.int32)
    onset, dies = rng.integers(0, 40, n), rng.integers(1, 6, n) / 5
    return EventLifetimes(file, label, onset, onset + rng.integers(0, 20, n), np.zeros(n), dies)


def exact(ours: EventLifetimes, theirs: EventLifetimes, rule: PairRule) -> dict[str, np.ndarray]:
    """Match events anew at each level, and return the integrals of the counts as fractions."""
    names = ("file", "label", "onset", "offset", "born", "dies")
    sides = [list(zip(*(getattr(side, n).tolist() for n in names), strict=True)) for side in (ours, theirs)]
    levels = sorted({0.0, *(each for side in sides for row in side for each in row[4:])})
    total: dict[str, np.ndarray] = {}
    for low, high in itertools.pairwise(levels):
        alive = ([row for row in side if row[4] <= low and high <= row[5]] for side in sides)
        for name, count in event_counts(*alive, rule, 2, 3).items():
            total[name] = total.get(name, 0) + count * (Fraction(high) - Fraction(low))
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", ["noise", "tied", "rows", "rows against noise", "perfect"])
def test_soft_counts_are_the_exact_integrals(rule, form, monkeypatch):
    """Each count is a float next to the exact sum, so 0 is 0, and a perfect system has no errors."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(event, "_AT_ONCE", (1, 10, 10**6)[len(rule) % 3])
    one = rows(rng) if form == "rows" else EventLifetimes.of(values(rng, form))
    other = rows(rng) if form.startswith("rows") else EventLifetimes.of(values(rng, form))
    sides = one, (one if form == "perfect" else other)
    got, wanted = count_soft_events(*sides, 2, 3, RULES[rule]), exact(*sides, RULES[rule])
    for name, sums in wanted.items():
        found = np.vectorize(Fraction, otypes=[object])(getattr(got, name))
        assert (abs(found - sums) <= sums * Fraction(2) ** -52).all(), name


def test_bytes_do_not_depend_on_numba(monkeypatch):
    """The limit for compiled loops is 0, so that numba runs them if it is there."""
    pytest.importorskip("numba")
    monkeypatch.setattr(level_matching, "_MUCH", 0)
    sides, counted = np.random.default_rng(0).random((2, 50, 4)), []
    for present in (True, False):
        compiled_loop.cache_clear()
        with monkeypatch.context() as patch:
            if not present:
                patch.setitem(sys.modules, "numba", None)
            assert (compiled_loop(level_matching._swap, _nrt=False) is not None) == present
            evaluator = Evaluator(segment_length=0.02, only=["event.soft", "event.optimal"])
            counted.append(evaluator.update(*sides, files="a.wav").to_bytes())
    compiled_loop.cache_clear()
    assert counted[0] == counted[1]
