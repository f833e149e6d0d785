"""Simulations with a known truth, which intervals hold as often as they say.

How often they hold best macro F of few files is measured by `docs/make/coverage.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from documents import script

from sedeval_soft.resample.coverage import MEASURED
from sedeval_soft.resample.intervals import bca, jackknife, percentile

REPLICATES = 1000

pytestmark = pytest.mark.slow


METHODS = {
    "percentile": lambda replicates, _estimate, _left_out, c: percentile(replicates, c),
    "bca": bca,
    "expanded": lambda *given: bca(*given, expanded=True),
    "jackknife": lambda _, estimate, left_out, c: jackknife(estimate, left_out, c),
}


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
