"""Curves and diagrams that are made of counted cells, on cases small enough to see."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.calibration import Reliability, equal_width
from sedeval_soft.measures.curve_scores import Curve, Ordered, Points

SCORES = np.array([0.9, 0.2, 0.6, 0.2])
ACTIVE = np.array([True, False, True, True])


def test_a_diagram_shows_the_means_of_the_bins_that_have_cells():
    cells = Ordered.of(SCORES, np.array([1.0, 0.0, 0.5, 0.25]))
    found = Reliability.of(equal_width(cells, 4))
    # [0, .25) holds .2 .2, [.25, .5) nothing, [.5, .75) .6, [.75, 1] .9
    assert found.size.tolist() == [2, 1, 1]
    assert found.score.tolist() == [0.2, 0.6, 0.9]
    assert found.reference.tolist() == [0.125, 0.5, 1.0]


def test_a_curve_goes_from_detecting_all_to_detecting_nothing():
    curve = Curve.of_points(Points.of(Ordered.of(SCORES, ACTIVE)))
    assert curve.threshold.tolist() == [-1.0, 0.2, 0.6, 0.9]
    assert curve.tp.tolist() == [3, 2, 1, 0]
    assert curve.n_sys.tolist() == [4, 2, 1, 0]
    assert curve.fp is not None and curve.fp.tolist() == [1, 0, 0, 0]
    assert curve.n_ref == 3 and isinstance(curve.n_ref, int)
    assert {curve.tp.dtype, curve.n_sys.dtype, curve.fp.dtype} == {np.dtype(np.int64)}
    assert curve.precision.tolist()[:3] == [0.75, 1.0, 1.0] and np.isnan(curve.precision[3])
    assert curve.recall == pytest.approx([1.0, 2 / 3, 1 / 3, 0.0])
    assert curve.f1 == pytest.approx([6 / 7, 4 / 5, 2 / 4, 0.0])
    assert curve.error_rate == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1.0])
    assert curve.false_positive_rate.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert curve.false_negative_rate == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])


def test_a_curve_of_a_soft_reference_counts_weights():
    curve = Curve.of_points(Points.of(Ordered.of(np.array([0.5, 0.25]), np.array([0.75, 0.5]))))
    assert curve.threshold.tolist() == [-1.0, 0.25, 0.5]
    assert curve.tp.tolist() == [1.25, 0.75, 0.0]
    assert curve.fp is not None and curve.fp.tolist() == [0.75, 0.25, 0.0]
    assert curve.n_ref == 1.25 and isinstance(curve.n_ref, float)


def test_axes_of_det_are_normal_quantiles():
    """False positive rates 1, 1/2, 0; misses 0, 1/2, 1: only one half has a quantile, 0."""
    curve = Curve(
        np.array([-1.0, 0.2, 0.5]), np.array([2, 1, 0]), np.array([4, 2, 0]), 2, np.array([2, 1, 0])
    )
    for axis in curve.det:
        assert np.isnan(axis).tolist() == [True, False, True]
        assert axis[1] == 0.0
    # Of events there are no true negatives.
    events = Curve(curve.threshold, curve.tp, curve.n_sys, 2)
    assert np.isnan(events.false_positive_rate).all() and len(events.false_positive_rate) == 3
    assert np.isnan(events.det[0]).all()
    assert events.det[1][1] == 0.0
    # One in forty is missed: 1.96 standard deviations below the mean.
    rare = Curve(np.array([0.5]), np.array([39]), np.array([39]), 40, np.array([0]))
    assert rare.det[1][0] == pytest.approx(-1.959964, abs=1e-6)
