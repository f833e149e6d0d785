"""Whole evaluations of simulated data: intervals hold the true scores, p-values are uniform."""

from __future__ import annotations

import numpy as np
import pytest
from tables import wide_rows

from sedeval_soft import compare, evaluate

pytestmark = pytest.mark.slow

SIMULATIONS, N_FILES, SHAPE = 500, 50, (8, 2)
"""Data sets, files in each, and segments and classes in each file."""

VALUES, CHANCES = np.array([0.25, 0.5, 0.75, 1.0]), np.array([0.3, 0.2, 0.3, 0.2])
"""What segments that are not silent hold."""

QUALITY, ACTIVITY = np.array([0.3, 0.6, 0.9]), np.array([0.4, 0.9])
"""How likely a system repeats the reference, and how likely a segment is not silent: of files."""

FAMILIES = ("segment.hard", "segment.soft")


def simulated(rng, systems=1):
    """Return a reference and systems, tables of files that differ in how hard they are and how much sounds.

    A system repeats a segment of the reference, or says what another such segment could have held.
    """
    size = (N_FILES, *SHAPE)
    quality, activity = (rng.choice(of, (N_FILES, 1, 1)) for of in (QUALITY, ACTIVITY))

    def draw():
        return rng.choice(VALUES, size, p=CHANCES) * (rng.random(size) < activity)

    reference = draw()
    found = [np.where(rng.random(size) < quality, reference, draw()) for _ in range(systems)]
    return [wide_rows(side.reshape(-1, SHAPE[1]), files=N_FILES) for side in (reference, *found)]


def true_f(reading):
    """Return 2 E[TP] / (E[N_ref] + E[N_sys]), by enumeration of all that a segment can hold."""
    held = VALUES if reading == "soft" else (VALUES > 0.5).astype(float)
    mean = CHANCES @ held
    common = CHANCES @ np.minimum(held[:, None], held) @ CHANCES
    # The two factors are independent; of an unrelated segment both must sound.
    tp = np.mean([q * a * mean + (1 - q) * a * a * common for q in QUALITY for a in ACTIVITY])
    return tp / (np.mean(ACTIVITY) * mean)


@pytest.fixture(scope="module")
def intervals():
    rng = np.random.default_rng(2024)
    found = {family: [] for family in FAMILIES}
    for seed in range(SIMULATIONS):
        scores = evaluate(
            *simulated(rng),
            only=FAMILIES,
            ci="bootstrap",
            replicates=250,
            seed=seed,
            classes=("class0", "class1"),
        )
        for family in FAMILIES:
            score = scores.score(f"{family}.f1.micro")
            found[family].append((score.low, score.value, score.high))
    return {family: np.array(rows) for family, rows in found.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_hold_the_truth_as_often_as_they_say(family, intervals):
    low, value, high = intervals[family].T
    truth = true_f(family.partition(".")[2])
    # The truth is what scores scatter about: a wrong one would not be noticed by wide intervals.
    assert abs(value.mean() - truth) < 4 * value.std() / np.sqrt(SIMULATIONS)
    assert 0.92 <= ((low <= truth) & (truth <= high)).mean() <= 0.97
    assert (high - low).mean() < 6 * value.std()


@pytest.mark.parametrize("name", ["segment.soft.f1.micro", "segment.hard.f1.macro"])
def test_p_values_of_systems_alike_are_uniform(name):
    rng = np.random.default_rng(2025)
    simulations = 140
    found = []
    for seed in range(simulations):
        reference, one, other = simulated(rng, 2)
        only = (".".join(name.split(".")[:2]),)
        board = compare(
            reference, {"one": one, "other": other}, rank_by=name, only=only, replicates=199, seed=seed
        )
        found.append(board.entries[1].difference)
    for of in ("p_exchange", "p_bootstrap"):
        p = np.sort([getattr(difference, of) for difference in found])
        steps = np.arange(simulations + 1) / simulations
        # 1.36 / sqrt(n) is the distance that one in twenty true uniform samples exceeds.
        assert max((p - steps[:-1]).max(), (steps[1:] - p).max()) < 1.36 / np.sqrt(simulations), of
        assert 0.02 <= (p <= 0.05).mean() <= 0.085, of
