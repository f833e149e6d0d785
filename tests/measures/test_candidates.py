"""Candidate thresholds of weighted files: the best, joint and constrained ones, against looking at each."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures import thresholds
from sedeval_soft.measures.thresholds import (
    N_SYS,
    PAIRED,
    TP,
    Alive,
    Candidates,
    ThresholdCounts,
    f_merit,
)


def of_cells(scores, positive, file=None, n_files=1, *, every=False):
    return Candidates.of(ThresholdCounts.of_cells(scores, positive, file, n_files), every=every)


@pytest.mark.parametrize("at_once", [1 << 16, 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_weighted_cells_is_that_of_their_copies(monkeypatch, seed, at_once):
    """Many weights together or one after another."""
    monkeypatch.setattr(thresholds, "_AT_ONCE", at_once)
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 9, 60) / 8, rng.random(60) < 0.4
    file = rng.integers(0, 4, 60).astype(np.int32)
    weights = np.vstack([np.zeros(4), rng.integers(0, 3, (7, 4))]).astype(np.float64)
    found = of_cells(scores, positive, file, 4)
    ((place, tp, n_sys, n_ref),) = found.best(weights, [f_merit(1.0)])
    at = found.thresholds(weights, place, inclusive=False)
    for row, copies in enumerate(weights[:, file].astype(int)):
        y, p = np.repeat(positive, copies), np.repeat(scores, copies)
        f = {t: 2 * (y & (p > t)).sum() / max(y.sum() + (p > t).sum(), 1) for t in (1.0, *p, -1.0)}
        if not y.any():
            assert (place[row], n_sys[row], np.isnan(at[row])) == (-1, 0, True)
            continue
        low = max(t for t, value in f.items() if value == max(f.values()))
        high = min(v for v in p if v > low)
        assert at[row] == (low + high) / 2 if low >= 0 else at[row] in (high / 2, -1.0)
        counts = (y & (p > low)).sum(), (p > low).sum(), y.sum()
        assert (tp[row], n_sys[row], n_ref[row]) == counts


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_counts_of_events_are_those_alive_right_below(seed, apart):
    rng = np.random.default_rng(seed)

    def drawn(n):
        born = rng.integers(0, 8, n)
        file = rng.integers(0, 3, n).astype(np.int32)
        weight = rng.integers(-1, 3, n)
        return Alive(rng.integers(0, 2, n), file, born / 8, rng.integers(born + 1, 9) / 8, weight)

    lives = [(drawn(12), (TP, N_SYS)), (drawn(5), (N_SYS,)), (drawn(7), (PAIRED,))]
    tables = ThresholdCounts.of_lives(lives, np.array([[2, 1], [0, 0], [5, 1]]), 3, apart=apart)
    weights = rng.random((2, 3)) if apart else np.ones((1, 1))
    for label, table in enumerate(tables):
        found = Candidates.of(table, every=True)
        ends = {float(t) for of, _ in lives for t in (*of.born, *of.dies)[::1] if t > 0}
        assert {*found.value[1:]} <= ends
        *counts, n_ref = found.counts(weights)
        assert n_ref == pytest.approx(weights @ table.n_ref)
        for row, values in enumerate(counts):
            wanted = np.zeros_like(values.T)
            for of, rows in lives:
                here = (of.label == label) & (row in rows)
                for k, level in enumerate(found.value):
                    alive = here & (of.born < level) & (level <= of.dies)
                    amount = weights[:, of.file] if apart else np.ones((1, len(of.file)))
                    wanted[:, k] += (amount * alive * of.weight).sum(axis=1)
            assert values.T == pytest.approx(wanted)


def test_levels_of_files_without_weight_are_not_there():
    """Below the best score stand two of the first file, and above it one."""
    scores, file = np.array([0.1, 0.2, 0.6, 0.9]), np.array([0, 0, 1, 0], dtype=np.int32)
    found = of_cells(scores, np.array([False, False, True, False]), file, 2)
    at = np.ones(2, dtype=np.int64)
    told = found.thresholds(np.array([[0.0, 1.0], [1.0, 1.0]]), at, inclusive=False)
    assert told.tolist() == [0.3, 0.4]
    lives = Alive(
        np.zeros(2, dtype=np.int64), np.array([0, 1]), np.array([0.125, 0.25]), np.array([0.625, 0.75])
    )
    (table,) = ThresholdCounts.of_lives([(lives, (TP, N_SYS))], np.array([[1], [1]]), apart=True)
    events = Candidates.of(table, every=True)
    assert events.value.tolist() == [np.inf, 0.75, 0.625, 0.25, 0.125]
    weights = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    told = events.thresholds(weights, np.array([1, 1, 2]), inclusive=False)
    assert told.tolist() == [0.6875, 0.5, 0.375]


@pytest.mark.parametrize("seed", range(6))
def test_all_thresholds_of_a_plateau_are_as_good_and_its_ends_part_scores(seed):
    rng = np.random.default_rng(seed)
    p, y = rng.integers(0, 17, 30) / 16, rng.random(30) < 0.4
    low, high = ThresholdCounts.of_cells(p, y).plateau(f_merit(1.0), levels=False)

    def f_at(threshold):
        return 2 * (y & (p > threshold)).sum() / (y.sum() + (p > threshold).sum())

    best = max(f_at(t) for t in (-1.0, *p))
    assert all(f_at(t) == best for t in (low, (low + high) / 2, np.nextafter(high, -1)))
    assert low == max([-1.0, *(v for v in p if v < high)])


def test_a_plateau_of_events_goes_on_while_the_merit_stays():
    """Steps from 0, 1/4, 1/2 and 3/4 up, of 2, 2, 2, 1 hits in 6, 3, 3, 1 events: two are as good."""
    level, changes = np.array([0.25, 0.5, 0.75]), np.array([[0, 0, 1], [3, 0, 2]])
    none = np.zeros(3, dtype=np.int64)
    lives = [(Alive(none, none, np.zeros(3), level, row), (k,)) for k, row in enumerate(changes)]
    top = Alive(none[:1], none[:1], np.zeros(1), np.ones(1))
    (table,) = ThresholdCounts.of_lives([*lives, (top, (TP, N_SYS))], np.array([[3]]))
    assert table.best(f_merit(1.0), inclusive=False) == (0.625, 2, 3)
    assert table.plateau(f_merit(1.0), levels=True) == (0.25, 0.75)
    assert table.plateau(f_merit(1.0), levels=False) == (0.5, 0.75)
    # What is best where nothing is detected, or everything.
    assert table.plateau(lambda *counts: -counts[1], levels=True) == (1.0, 1.0)
    assert table.plateau(lambda *counts: counts[1], levels=True) == (0.0, 0.25)


@pytest.mark.parametrize(("inclusive", "told"), [(False, [1.0, -1.0]), (True, [2.0, 0.0])])
@pytest.mark.parametrize("n_files", [1, 2])
def test_thresholds_that_no_value_passes_and_that_all_do(n_files, inclusive, told):
    file = np.array([0, 1], dtype=np.int32) if n_files > 1 else None
    zero = of_cells(np.zeros(2), np.array([True, True]), file, n_files)
    weights = np.ones((2, n_files))
    assert zero.thresholds(weights, np.array([0, 1]), inclusive=inclusive).tolist() == told
