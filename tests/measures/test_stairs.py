"""The staircase of a class seen in stretches of levels: that of all levels at once."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.psds import Rates, Staircases
from sedeval_soft.measures.stairs import Climb


def test_nothing_is_found_at_first():
    climb = Climb.of(7, Rates.of(3600.0, 0.0, 0.0))
    found = climb.found
    assert (found.label.tolist(), found.efpr.tolist(), found.tp.tolist(), found.n_ref.tolist()) == (
        [],
        [],
        [],
        [7],
    )
    assert {found.label.dtype, found.tp.dtype, found.n_ref.dtype} == {np.dtype(np.int64)}
    assert found.efpr.dtype == np.float64


def test_every_bin_is_looked_at():
    climb = Climb.of(3, Rates.of(3600.0, 0.0, 0.0))
    counts = np.zeros((2, 4), dtype=np.int64)
    assert climb.may(counts, np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)).tolist() == [True] * 4
    climb.reached(counts)
    assert len(climb.found.tp) == 0


def test_stairs_by_hand():
    """Per hour: 2 found with 0 false, 2 with 1, 3 with 1, 3 with 4, 5 with 9."""
    climb = Climb.of(6, Rates.of(3600.0, 0.0, 0.0))
    counts = np.array([[2, 2, 3, 3, 5], [0, 1, 1, 4, 9]])
    climb.see(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), counts)
    assert climb.found.label.tolist() == [0, 0, 0]
    assert climb.found.tp.tolist() == [2, 3, 5]
    assert climb.found.efpr.tolist() == [0.0, 1.0, 9.0]
    assert climb.found.n_ref.tolist() == [6]


@pytest.mark.parametrize("alpha_ct", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_stretches_joined_are_all_levels(seed, alpha_ct):
    rng = np.random.default_rng(seed)
    rates = Rates.of(100.0, alpha_ct, 7.0 if alpha_ct else 0.0)
    n = 30
    rows = 3 if alpha_ct else 2
    counts = np.cumsum(rng.integers(-1, 3, (rows, n)).clip(0), axis=1)
    # Events merge as the level falls: counts shrink at times, too.
    counts[0] = np.maximum(counts[0] - rng.integers(0, 3, n), 0)
    level = np.linspace(1.0, 0.1, n)
    climb = Climb.of(40, rates)
    for begin, end in ((0, 1), (1, 9), (9, 9), (9, 22), (22, n)):
        climb.see(level[begin:end], counts[:, begin:end])
    n_ref = np.array([40], dtype=np.int64)
    whole = Staircases.under(np.zeros(n, dtype=np.int64), rates.efpr(counts), counts[0], n_ref)
    assert climb.found.tp.tolist() == whole.tp.tolist()
    assert climb.found.efpr.tolist() == whole.efpr.tolist()
    assert climb.found.label.tolist() == whole.label.tolist()
    assert climb.rates is rates
    # Each step finds more than the last one, at no fewer false positives.
    best, steps = 0, []
    for efpr, tp in sorted(zip(rates.efpr(counts).tolist(), counts[0].tolist(), strict=True)):
        if tp > best:
            best = tp
            steps.append((efpr, tp))
    assert list(zip(whole.efpr.tolist(), whole.tp.tolist(), strict=True)) == steps
