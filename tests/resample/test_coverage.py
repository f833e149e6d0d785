"""Simulations with a known truth: intervals hold it as often as they say, and p-values are uniform.

How often they hold best macro F of few files is measured by `docs/make/coverage.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from documents import script

from sedeval_soft.comparison.ranks import p_bootstrap, p_exchange
from sedeval_soft.resample.coverage import MEASURED
from sedeval_soft.resample.intervals import bca, jackknife, percentile

SIMULATIONS, FILES, REPLICATES = 500, 60, 1000
QUALITY = (4.0, 2.0)
INSERTED = 0.3
TRUTH = 2 * (2 / 3) / (1 + 2 / 3 + INSERTED)
"""Of a beta(4, 2) quality that does not depend on the size of a file, the mean is 2/3."""

pytestmark = pytest.mark.slow


def files(rng, systems=1):
    """Return tp and n_ref + n_sys, (systems, simulations, files): files differ in size and in difficulty."""
    size = 3 + rng.negative_binomial(2, 0.1, (SIMULATIONS, FILES))
    quality = rng.beta(*QUALITY, size.shape)
    shape = (systems, *size.shape)
    tp = rng.binomial(size, quality, shape)
    return tp.astype(float), (size + tp + rng.poisson(INSERTED * size, shape)).astype(float)


def resampled(rng):
    """Return how often each file is drawn, (replicates, files)."""
    return rng.multinomial(FILES, np.full(FILES, 1 / FILES), REPLICATES).astype(float)


@pytest.fixture(scope="module")
def one_system():
    rng = np.random.default_rng(2023)
    (tp,), (both,) = files(rng)
    weights = resampled(rng)
    replicates = 2 * (weights @ tp.T) / (weights @ both.T)
    whole = tp.sum(axis=1), both.sum(axis=1)
    left_out = 2 * (whole[0] - tp.T) / (whole[1] - both.T)
    return replicates, 2 * whole[0] / whole[1], left_out


METHODS = {
    "percentile": lambda replicates, _estimate, _left_out, c: percentile(replicates, c),
    "bca": bca,
    "expanded": lambda *given: bca(*given, expanded=True),
    "jackknife": lambda _, estimate, left_out, c: jackknife(estimate, left_out, c),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("confidence", "least", "most"), [(0.95, 0.92, 0.97), (0.8, 0.76, 0.84)])
def test_intervals_hold_the_truth_as_often_as_they_say(method, confidence, least, most, one_system):
    low, high = METHODS[method](*one_system, confidence)
    assert low.shape == (SIMULATIONS,)
    assert least <= ((low <= TRUTH) & (TRUTH <= high)).mean() <= most
    # On either side about as often.
    below, above = (high < TRUTH).mean(), (low > TRUTH).mean()
    assert abs(below - above) < 0.4 * (1 - confidence) + 0.02


@pytest.mark.parametrize("n_files", [5, 8, 15])
def test_expanded_intervals_hold_a_mean_of_few_files_where_others_are_too_narrow(n_files):
    """Of normal numbers Student's t is exact."""
    rng = np.random.default_rng(n_files)
    drawn = rng.normal(0, 1, (2000, n_files))
    weights = rng.multinomial(n_files, np.full(n_files, 1 / n_files), REPLICATES).astype(float)
    replicates = weights @ drawn.T / n_files
    left_out = (drawn.sum(axis=1) - drawn.T) / (n_files - 1)
    held = {}
    for name, how in METHODS.items():
        low, high = how(replicates, drawn.mean(axis=1), left_out, 0.95)
        held[name] = ((low <= 0) & (0 <= high)).mean()
    # Replicates of five files do not reach far enough out for more.
    assert (0.91 if n_files == 5 else 0.93) <= held["expanded"] <= 0.97, held
    assert held["percentile"] < {5: 0.86, 8: 0.90, 15: 0.93}[n_files]
    assert held["bca"] < held["expanded"]


def test_shares_that_are_documented_are_measured_again():
    simulations = 150
    again = script("coverage").measured(simulations, (20,))
    for method, kinds in MEASURED.items():
        for kind, by_files in kinds.items():
            expected, found = by_files[20], again[method][kind][20]
            error = np.sqrt(expected * (1 - expected) / simulations)
            assert abs(found - expected) < 4 * error, (method, kind)


def differences(rng):
    """Return bootstrap and exchange differences of two systems alike, and the observed ones."""
    tp, both = files(rng, systems=2)
    f1 = 2 * tp.sum(axis=-1) / both.sum(axis=-1)
    weights = resampled(rng)
    drawn = [2 * (weights @ t.T) / (weights @ b.T) for t, b in zip(tp, both, strict=True)]
    signs = rng.choice([-1.0, 1.0], (REPLICATES, FILES))
    halves = [(x.sum(axis=(0, 2)) / 2, signs @ ((x[0] - x[1]) / 2).T) for x in (tp, both)]
    swapped = [
        2 * (halves[0][0] + side * halves[0][1]) / (halves[1][0] + side * halves[1][1]) for side in (1, -1)
    ]
    return drawn[0] - drawn[1], swapped[0] - swapped[1], f1[0] - f1[1]


@pytest.mark.parametrize("test", [p_bootstrap, p_exchange])
def test_p_values_are_uniform_where_there_is_no_difference(test):
    by_bootstrap, by_exchange, observed = differences(np.random.default_rng(1989))
    p = np.sort(test(by_bootstrap if test is p_bootstrap else by_exchange, observed))
    # 1.36 / sqrt(500) is the distance that one in twenty true uniform samples exceeds.
    steps = np.arange(SIMULATIONS + 1) / SIMULATIONS
    assert max((p - steps[:-1]).max(), (steps[1:] - p).max()) < 1.36 / np.sqrt(SIMULATIONS)
    assert 0.025 <= (p <= 0.05).mean() <= 0.08


@pytest.mark.parametrize("test", [p_bootstrap, p_exchange])
def test_p_values_are_small_where_there_is_a_difference(test):
    by_bootstrap, by_exchange, observed = differences(np.random.default_rng(1993))
    by_bootstrap, observed = by_bootstrap + 0.06, observed + 0.06
    p = test(by_bootstrap if test is p_bootstrap else by_exchange, observed)
    assert (p <= 0.05).mean() > 0.8
