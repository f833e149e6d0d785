"""Counts of events as step functions of the threshold, against counting at each threshold."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.segment.optimal import NOTHING
from sedeval_soft.measures.steps import (
    Changes,
    Counted,
    Steps,
    _by_class,
    best_error_rate_thresholds,
    best_f_thresholds,
    curves,
    stacked,
)

N_REF = np.array([[2, 0, 1], [3, 0, 4]])
"""Of two files and three classes; the second class has no reference."""


def drawn_changes(rng, n):
    born = rng.integers(0, 8, n)
    dies = rng.integers(born + 1, 9) / 8
    return Changes(rng.integers(0, 3, n), rng.integers(0, 2, n).astype(np.int32), born / 8, dies)


def counted(seed):
    rng = np.random.default_rng(seed)
    hits, misses = drawn_changes(rng, 14), drawn_changes(rng, 9)
    return Counted([(hits, 1)], [(misses, rng.integers(0, 3, 9))], N_REF, beside=True)


def at(columns, label, threshold):
    """What counts of a class at a threshold."""
    alive = ((c.label == label) & (c.born <= threshold) & (threshold < c.dies) for c, _ in columns)
    return int(sum((of * weight).sum() for of, (_, weight) in zip(alive, columns, strict=True)))


@pytest.mark.parametrize("seed", range(5))
def test_steps_are_the_counts_between_them(seed):
    own = counted(seed)
    steps = Steps.of(own)
    assert steps.n_ref.tolist() == N_REF.sum(axis=0).tolist()
    assert steps.bounds.tolist() == [0, *np.cumsum(np.bincount(steps.label, minlength=3)).tolist()]
    for label, low, tp, n_sys in zip(steps.label, steps.low, steps.tp, steps.n_sys, strict=True):
        for threshold in (low, low + 1 / 16):
            assert tp == at(own.tp, label, threshold)
            assert n_sys == at(own.n_sys, label, threshold)
    for label, curve in enumerate(curves(steps)):
        mine = steps.label == label
        assert steps.low[mine][0] == 0.0
        assert (np.diff(steps.low[mine]) > 0).all()
        assert curve.threshold.tolist() == steps.low[mine].tolist()
        assert curve.tp.tolist() == steps.tp[mine].tolist()
        assert curve.n_ref == steps.n_ref[label]


@pytest.mark.parametrize("beta", [None, 0.5, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_the_highest_of_the_best(seed, beta):
    own = counted(seed)
    steps = Steps.of(own)
    found = best_f_thresholds(steps) if beta is None else best_f_thresholds(steps, beta)
    square = (beta or 1.0) ** 2
    fewest, places = best_error_rate_thresholds(steps)
    for label, n_ref in enumerate(steps.n_ref.tolist()):
        if not n_ref:
            assert found[label] == fewest[label] == NOTHING
            continue
        between = [k / 16 for k in range(1, 17)]
        counts = [(at(own.tp, label, t), at(own.n_sys, label, t)) for t in between]
        f = [(1 + square) * tp / (square * n_ref + n_sys) for tp, n_sys in counts]
        here = at(own.tp, label, found[label]), at(own.n_sys, label, found[label])
        assert (1 + square) * here[0] / (square * n_ref + here[1]) == max(f)
        assert all(value < max(f) for value, t in zip(f, between, strict=True) if t > found[label] + 1 / 8)
        errors = [n_ref + n_sys - 2 * tp for tp, n_sys in counts]
        there = at(own.tp, label, fewest[label]), at(own.n_sys, label, fewest[label])
        assert n_ref + there[1] - 2 * there[0] == min(errors)
        assert steps.label[places[label]] == label
        assert steps.low[places[label]] <= fewest[label]
    assert (best_f_thresholds(steps, inclusive=True) > 0).all()


def test_where_nothing_is_best_no_value_passes():
    wrong = Changes(np.array([0]), np.array([0], dtype=np.int32), np.array([0.0]), np.array([0.5]))
    steps = Steps.of(Counted([], [(wrong, 1)], np.array([[1]])))
    assert steps.n_sys.tolist() == [1, 0]
    assert best_error_rate_thresholds(steps)[0].tolist() == [1.0]
    assert best_error_rate_thresholds(steps, inclusive=True)[0].tolist() == [2.0]
    assert steps.error_rate().tolist() == [2.0, 1.0]
    assert steps.f().tolist() == [0.0, 0.0]


def test_without_classes_there_are_no_steps():
    label, low, counts = stacked(0, [[], []])
    assert (label.shape, low.shape, counts.shape) == ((0,), (0,), (2, 0))


@pytest.mark.parametrize("weight", [2, np.array([5, 6, 7, 8])], ids=["one for all", "each its own"])
def test_classes_that_do_not_fit_16_bits_are_told_apart(weight):
    """65,536 and 0 have the same last 16 bits."""
    n_classes = 2**16 + 1
    label = np.array([2**16, 0, 3, 0])
    of = _by_class(Changes(label, 0 * label, np.arange(4) / 8, np.arange(1, 5) / 8), weight, n_classes)
    for c, own in ((0, [1, 3]), (3, [2]), (2**16, [0]), (1, [])):
        born, dies, weights = of(c)
        assert born.tolist() == [k / 8 for k in own]
        assert dies.tolist() == [(k + 1) / 8 for k in own]
        assert weights == 2 if isinstance(weight, int) else weights.tolist() == [5 + k for k in own]
