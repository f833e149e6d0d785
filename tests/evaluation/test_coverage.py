"""Simulations with a known truth: intervals hold it as often as they say, p-values are uniform.

How often they hold best macro F of few files is measured by `docs/make/coverage.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from documents import script
from tables import wide_rows

from sedeval_soft import compare
from sedeval_soft.evaluation.intervals import MEASURED, MEASURED_WITH, bca, jackknife, percentile

SIMULATIONS, FILES, REPLICATES = 500, 60, 1000
INSERTED = 0.3
TRUTH = 2 * (2 / 3) / (1 + 2 / 3 + INSERTED)
"""Of a beta(4, 2) quality that does not depend on the size of a file, the mean is 2/3."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def one_system():
    """TP and N_ref + N_sys of files that differ in size and in difficulty."""
    rng = np.random.default_rng(2023)
    size = 3 + rng.negative_binomial(2, 0.1, (SIMULATIONS, FILES))
    tp = rng.binomial(size, rng.beta(4.0, 2.0, size.shape)).astype(float)
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


def test_shares_that_are_documented_are_measured_again():
    simulations = 150
    again = script("coverage").measured(simulations, (20,))
    for kind, shares in MEASURED.items():
        expected, (found,) = shares[MEASURED_WITH.index(20)], again[kind]
        assert abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / simulations), kind


# --- whole evaluations ----------------------------------------------------------------------------

N_FILES, SHAPE = 50, (8, 2)
"""Files in each data set, and segments and classes in each file."""
VALUES, CHANCES = np.array([0.25, 0.5, 0.75, 1.0]), np.array([0.3, 0.2, 0.3, 0.2])
"""What segments that are not silent hold."""
QUALITY, ACTIVITY = np.array([0.3, 0.6, 0.9]), np.array([0.4, 0.9])
"""How likely a system repeats the reference, and how likely a segment is not silent: of files."""


def simulated(rng, systems=1):
    """Return a reference and systems, tables of files that differ in how hard they are and how much sounds.

    A system repeats a segment of the reference, or says what another such segment could have held.
    """
    size = (N_FILES, *SHAPE)
    quality, activity = (rng.choice(of, (N_FILES, 1, 1)) for of in (QUALITY, ACTIVITY))

    def draw():
        return rng.choice(VALUES, size, p=CHANCES) * (rng.random(size) < activity)

    reference = draw()
    sides = [reference, *(np.where(rng.random(size) < quality, reference, draw()) for _ in range(systems))]
    return [wide_rows(side.reshape(-1, SHAPE[1]), files=N_FILES) for side in sides]


@pytest.mark.parametrize("name", ["segment.soft.f1.micro", "segment.hard.f1.macro"])
def test_p_values_of_systems_alike_are_uniform(name):
    rng = np.random.default_rng(2025)
    simulations, differences = 140, []
    asked = {"rank_by": name, "only": (name.rpartition(".f1")[0],), "replicates": 199}
    for seed in range(simulations):
        reference, one, other = simulated(rng, 2)
        board = compare(reference, {"one": one, "other": other}, seed=seed, **asked)
        differences.append(board.entries[1].difference)
    for of in ("p_exchange", "p_bootstrap"):
        p = np.sort([getattr(difference, of) for difference in differences])
        steps = np.arange(simulations + 1) / simulations
        # 1.36 / sqrt(n) is the distance that one in twenty true uniform samples exceeds.
        assert max((p - steps[:-1]).max(), (steps[1:] - p).max()) < 1.36 / np.sqrt(simulations), of
        assert 0.02 <= (p <= 0.05).mean() <= 0.085, of
