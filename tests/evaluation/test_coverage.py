"""Simulations with a known truth: intervals hold it as often as they say, p-values are uniform.

How often they hold best macro F of few files is measured by `docs/make/coverage.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from documents import script

from sedeval_soft.evaluation.intervals import MEASURED, MEASURED_WITH

pytestmark = pytest.mark.slow


def test_shares_that_are_documented_are_measured_again():
    simulations = 150
    again = script("coverage").measured(simulations, (20,))
    for kind, shares in MEASURED.items():
        expected, (found,) = shares[MEASURED_WITH.index(20)], again[kind]
        assert abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / simulations), kind


# --- whole evaluations ----------------------------------------------------------------------------
