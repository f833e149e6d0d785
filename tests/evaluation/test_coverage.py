"""Simulations with a known truth: intervals hold it as often as they say.

How often they hold best macro F of few files is measured by `docs/make/coverage.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from documents import script

from sedeval_soft.evaluation.intervals import MEASURED, MEASURED_WITH, bca, jackknife, percentile

SIMULATIONS, FILES, REPLICATES = 500, 60, 1000
QUALITY = (4.0, 2.0)
INSERTED = 0.3
TRUTH = 2 * (2 / 3) / (1 + 2 / 3 + INSERTED)
"""Of a beta(4, 2) quality that does not depend on the size of a file, the mean is 2/3."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def one_system():
    """TP and N_ref + N_sys of files that differ in size and in difficulty."""
    rng = np.random.default_rng(2023)
    size = 3 + rng.negative_binomial(2, 0.1, (SIMULATIONS, FILES))
    tp = rng.binomial(size, rng.beta(*QUALITY, size.shape)).astype(float)
    both = size + tp + rng.poisson(INSERTED * size)
    weights = rng.multinomial(FILES, np.full(FILES, 1 / FILES), REPLICATES).astype(float)
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
    for kind, shares in MEASURED.items():
        expected, (found,) = shares[MEASURED_WITH.index(20)], again[kind]
        error = np.sqrt(expected * (1 - expected) / simulations)
        assert abs(found - expected) < 4 * error, kind
