"""The best threshold found in bins of levels, a few levels at a time: that of all levels at once."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sedeval_soft.measures import descent
from sedeval_soft.measures.descent import Stretch, descend
from sedeval_soft.measures.peak import Peak
from sedeval_soft.measures.threshold_counts import (
    N_SYS,
    TP,
    Alive,
    ThresholdCounts,
    best_thresholds,
    error_merit,
    f_merit,
)
from sedeval_soft.run.levels import Held

HUGE = 10**9


def run(level, tp, fp):
    """A run of levels: what changes at each, the same levels summed."""
    level, at = np.unique(np.asarray(level, dtype=np.float64), return_inverse=True)
    change = np.zeros((2, len(level)), dtype=np.int64)
    np.add.at(change[0], at, tp)
    np.add.at(change[1], at, fp)
    return Held(level, change)


class Watched(Held):
    """Levels of which it is told how many were taken at a time."""

    taken: ClassVar[list[int]] = []

    def changes(self, begin, end):
        self.taken.append(end - begin)
        return super().changes(begin, end)


values = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0), st.floats(0.4, 0.41))
batch_of_cells = st.lists(st.tuples(values, st.booleans()), max_size=40)


@settings(max_examples=150)
@given(
    batches=st.lists(batch_of_cells, min_size=1, max_size=7),
    most=st.sampled_from([1, 2, 3, 8, HUGE]),
    edges=st.sampled_from([1, 2, 5, 8, 64]),
    beta=st.sampled_from([1.0, 0.1, 0.7, 30.0, 1e3]),
    inclusive=st.booleans(),
)
def test_of_cells(batches, most, edges, beta, inclusive):
    pairs = [pair for batch in batches for pair in batch]
    scores, hits = (
        (np.array(column)[None] for column in zip(*pairs, strict=True)) if pairs else [np.zeros((1, 0))] * 2
    )
    wanted = best_thresholds(scores.astype(float), hits.astype(bool), beta, inclusive)
    runs = [run([p for p, _ in b], [h for _, h in b], [not h for _, h in b]) for b in batches]
    peak = Peak.of_f(int(hits.sum()), beta)
    descended(runs, peak, most, edges)
    assert peak.threshold(runs, inclusive=inclusive) == wanted[0]


lifetimes = st.lists(
    st.tuples(values, values, st.integers(-1, 1)).filter(lambda life: life[0] < life[1]), max_size=30
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    batches=st.lists(lifetimes, min_size=1, max_size=7),
    missed=st.integers(0, 3),
    most=st.sampled_from([1, 2, 3, 8, HUGE]),
    edges=st.sampled_from([1, 2, 5, 8, 64]),
    beta=st.sampled_from([1.0, 0.1, 0.7, 30.0]),
    inclusive=st.booleans(),
)
def test_of_events(batches, missed, most, edges, beta, inclusive):
    """Events are born and die: counts grow and shrink from level to level."""
    lives = [life for batch in batches for life in batch]
    hit = [(born, dies) for born, dies, kind in lives if kind > 0]
    every = [(born, dies) for born, dies, _ in lives]
    n_ref = len(hit) + missed
    lives = [(changes(hit), (TP,)), (changes(every), (N_SYS,))]
    table = ThresholdCounts.of_lives(lives, np.array([[n_ref]]))
    runs = []
    for batch in batches:
        ends = [(at, sign * (k > 0), sign * (k <= 0)) for b, d, k in batch for at, sign in ((b, -1), (d, 1))]
        ends = [end for end in ends if end[0] > 0]
        runs.append(run(*([end[k] for end in ends] for k in range(3))))
    best = Peak.of_f(n_ref, beta)
    descended(runs, best, most, edges)
    assert best.threshold(runs, inclusive=inclusive) == table.best(f_merit(beta), inclusive=inclusive)[0][0]
    fewest = Peak.of_errors(n_ref)
    descended(runs, fewest, most, edges)
    thresholds, tp, n_sys = table.best(error_merit, inclusive=inclusive)
    assert fewest.threshold(runs, inclusive=inclusive) == thresholds[0]
    if n_ref:
        assert fewest.counts.tolist() == [tp[0], n_sys[0] - tp[0]]


def changes(lives):
    born, dies = (np.array([life[k] for life in lives], dtype=np.float64) for k in (0, 1))
    none = np.zeros(len(lives), dtype=np.int64)
    return Alive(none, none, born, dies)


def descended(runs, peak, most, edges):
    before = descent.EDGES
    descent.EDGES = edges
    try:
        if peak.n_ref:
            descend(Stretch.whole(runs, 2), peak, most)
    finally:
        descent.EDGES = before


def test_few_levels_are_held_at_a_time_and_few_are_looked_at_twice():
    rng = np.random.default_rng(1)
    Watched.taken = []
    runs = []
    for _ in range(5):
        scores = rng.random(40_000)
        hits = rng.random(40_000) < scores**8
        runs.append(Watched(*run(scores, hits, ~hits)))
    n = sum(map(len, runs))
    peak = Peak.of_f(sum(int(of.change[0].sum()) for of in runs), 1.0)
    descended(runs, peak, 2000, 1000)
    # The first look takes each run as a whole; after that only bins that can hold the optimum are taken.
    again = Watched.taken[5:]
    assert sum(again) < n / 10
    assert max(again) <= 2000
    wanted = Peak.of_f(peak.n_ref, 1.0)
    descended(runs, wanted, HUGE, 100)
    assert (peak.value, peak.level) == (wanted.value, wanted.level)


@pytest.mark.parametrize("most", [1, HUGE])
def test_ties_go_to_the_highest_threshold(most):
    runs = [run([0.9, 0.6, 0.3], [1, 0, 1], [0, 2, 0])]
    peak = Peak.of_f(2, 1.0)
    descended(runs, peak, most, 1)
    assert peak.level == 0.9 and peak.threshold(runs, inclusive=False) == 0.75


def test_a_level_is_looked_for_in_all_of_a_run():
    """Levels of 1/8 in one run and 3/8 in the other lie below the best, 1/2."""
    taken = []

    class Asked(Held):
        def levels(self, begin, end):
            taken.append((begin, end))
            return super().levels(begin, end)

    runs = [Asked(*run([0.125, 0.5], [0, 2], [9, 0])), Asked(*run([0.375, 0.75], [0, 0], [9, 0]))]
    peak = Peak.of_f(2, 1.0)
    descended(runs, peak, HUGE, 1)
    taken.clear()
    assert peak.level == 0.5
    assert peak.threshold(runs, inclusive=False) == 0.4375
    assert taken == [(0, 2), (0, 2)]


def test_what_a_peak_begins_with():
    """Nothing is detected: F is 0, and FN + FP is N_ref."""
    for peak, slack in ((Peak.of_f(3, 1.0), 1e-12), (Peak.of_errors(3), 0.0)):
        assert (peak.n_ref, peak.value, peak.floor, peak.level, peak.slack) == (3, 0, 0, None, slack)
        assert peak.counts.tolist() == [0, 0]
        assert peak.counts.dtype == np.int64
        assert peak.threshold([], inclusive=False) == 1.0
        assert peak.threshold([], inclusive=True) == 2.0
        peak.reached(np.zeros((2, 0), dtype=np.int64))
        peak.see(np.zeros(0), np.zeros((2, 0), dtype=np.int64))
        assert (peak.value, peak.floor, peak.level) == (0, 0, None)
    assert Peak.of_f(0, 1.0).threshold([], inclusive=False) == float("inf")


def test_where_a_peak_may_be():
    """Of 4: two found and one false alarm so far; F of 2 TP / (4 + TP + FP), errors as TP - FP."""
    counts, none = np.array([[2, 2, 2], [1, 1, 1]]), np.zeros(3, dtype=np.int64)
    high = np.array([0, 1, 9])
    errors, f = Peak.of_errors(4), Peak.of_f(4, 1.0)
    # Bounds of the errors are 1, 2 and 4 - 1, since there are but four.
    for floor, wanted in ((1, [True, True, True]), (2, [False, True, True]), (3, [False, False, True])):
        errors.floor = floor
        assert errors.may(counts, high, none).tolist() == wanted
    errors.floor, errors.value = 1, 1
    # As much as is known is not enough, unless it may be above: value is what was found higher up.
    assert errors.may(counts, high, none).tolist() == [False, True, True]
    errors.value = 0
    # False alarms may shrink, but not below none.
    assert errors.may(counts, none, np.array([0, 1, 5])).tolist() == [True, True, True]
    errors.floor = 2
    assert errors.may(counts, none, np.array([0, 1, 5])).tolist() == [False, True, True]
    errors.floor = 3
    assert errors.may(counts, none, np.array([0, 1, 5])).tolist() == [False, False, False]
    # 4/7, 6/8 and 8/9 of F, with room for rounding.
    f.floor = 6 / 8 * (1 + 1e-13)
    assert f.may(counts, high, none).tolist() == [False, True, True]
    f.floor = 6 / 8 * (1 + 1e-11)
    assert f.may(counts, high, none).tolist() == [False, False, True]


def test_what_is_reached_somewhere_is_the_floor_and_no_level():
    peak = Peak.of_errors(9)
    peak.reached(np.array([[1, 5, 2], [0, 1, 9]]))
    assert (peak.floor, peak.value, peak.level) == (4, 0, None)
    peak.reached(np.array([[1], [0]]))
    assert peak.floor == 4
    peak.see(np.array([0.75, 0.5, 0.25]), np.array([[1, 3, 4], [0, 1, 2]]))
    assert (peak.value, peak.floor, peak.level, peak.counts.tolist()) == (2, 4, 0.5, [3, 1])
    peak.see(np.array([0.125]), np.array([[7], [1]]))
    assert (peak.value, peak.floor, peak.level, peak.counts.tolist()) == (6, 6, 0.125, [7, 1])


def test_a_best_level_of_0_has_a_threshold_below_it():
    peak = Peak.of_errors(2)
    peak.see(np.array([0.0]), np.array([[2], [0]]))
    assert peak.threshold([run([0.0], [2], [0])], inclusive=True) == 0.0
    assert peak.threshold([run([0.0], [2], [0])], inclusive=False) == -1.0
