"""Calibration errors and the parts of the Brier score, against slow oracles and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from measure_oracles import CALIBRATION, expected
from small_cells import CASES, agree, chosen, scored

from sedeval_soft import evaluate

CALIBRATION_OF = {"measures": ("calibration", "divergence"), "only": ("segment", "clip")}


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 15, 100, 1000])
@pytest.mark.parametrize("case", ["tied 0", "fine 0", "one cell", "a class with one value"])
def test_numbers_of_bins(case, bins):
    """More bins than cells too."""
    reference, system = CASES[case]
    scores = scored(reference, system, CALIBRATION_OF | {"bins": bins})
    wanted = expected(CALIBRATION, reference, system, "soft", chosen({"bins": bins}, reference.shape[1]))
    agree(scores, "segment.soft", wanted)


def of_one_class(y, p, **settings):
    sides = np.array([y], dtype=float).T, np.array([p], dtype=float).T
    scores = evaluate(*sides, segment_length=1.0, **CALIBRATION_OF, **settings)
    return {score.measure: score.value for score in scores.scores.values() if score.basis == "segment"
            and score.reading == "soft" and score.average == "micro"}  # fmt: skip


def test_two_bins_by_hand():
    """The bins hold .1 .1 (mean y 1/2, p .1) and .9 1 (mean y 1/2, p .95)."""
    got = of_one_class([1, 0, 1, 0], [0.1, 0.1, 0.9, 1.0], bins=2)
    assert got["expected_calibration_error"] == pytest.approx((0.4 + 0.45) / 2, abs=1e-12)
    assert got["maximum_calibration_error"] == pytest.approx(0.45, abs=1e-12)
    assert got["brier_reliability"] == pytest.approx((0.4**2 + 0.45**2) / 2, abs=1e-12)
    assert got["brier_resolution"] == pytest.approx(0.0, abs=1e-12)
    assert got["brier_uncertainty"] == pytest.approx(0.25, abs=1e-12)
    # The second bin: variance of p .05^2, covariance -.5 x .05.
    assert got["brier_within_bins"] == pytest.approx((0.0025 + 2 * 0.025) / 2, abs=1e-12)
    # .18125 - 0 + .25 + .02625 = (.9^2 + .1^2 + .1^2 + 1) / 4
    assert got["brier"] == pytest.approx(0.4575, abs=1e-12)


def test_bins_of_equal_mass_by_hand():
    """Four bins of one cell each; the two cells of .1 stay together, so one bin is empty.

    1/2 |1/2 - .1| + 1/4 |1 - .9| + 1/4 |0 - 1|
    """
    got = of_one_class([1, 0, 1, 0], [0.1, 0.1, 0.9, 1.0], bins=4)
    assert got["adaptive_calibration_error"] == pytest.approx(0.475, abs=1e-12)
    # In another order it is the same: bins are of values, not of rows.
    again = of_one_class([0, 1, 0, 1], [1.0, 0.9, 0.1, 0.1], bins=4)
    assert again["adaptive_calibration_error"] == pytest.approx(0.475, abs=1e-12)


def test_resolution_by_hand():
    """Bins that know the reference: means of y 0 and 1 around 1/2."""
    got = of_one_class([0, 0, 1, 1], [0.0, 0.25, 0.75, 1.0], bins=2)
    assert got["brier_resolution"] == 0.25
    # mean p 1/8 and 7/8
    assert got["brier_reliability"] == 1 / 64
    assert got["expected_calibration_error"] == 0.125


def test_a_value_at_the_edge_of_a_bin_belongs_above_it():
    """0.29 is 29/100, though 0.29 x 100 rounds to less than 29: it shares a bin with 0.295.

    Together |1/2 - .2925|, apart the mean of .29 and .705.
    """
    got = of_one_class([0, 1], [0.29, 0.295], bins=100)
    assert got["expected_calibration_error"] == pytest.approx(0.2075, abs=1e-12)


def test_every_edge_of_many_bins():
    """Each value k/B is alone in its bin, with the last, 1, beside (B - 1)/B."""
    for bins in (7, 10, 15, 49, 100):
        p = [k / bins for k in range(bins + 1)]
        y = [1.0 - v for v in p]
        apart = [abs(a - b) for a, b in zip(y[:-2], p[:-2], strict=True)]
        last = abs(y[-2] - p[-2] + y[-1] - p[-1])
        got = of_one_class(y, p, bins=bins)["expected_calibration_error"]
        assert got == pytest.approx((sum(apart) + last) / (bins + 1), abs=1e-12), bins


def test_a_calibrated_system_has_no_error():
    """In each bin as many are active as the values say."""
    got = of_one_class([0, 0, 0, 1, 0, 1, 1, 1], [0.25] * 4 + [0.75] * 4, bins=2)
    for name in ("expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error"):
        assert got[name] == 0.0
    assert got["brier_reliability"] == 0.0
