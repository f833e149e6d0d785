"""Curves over thresholds: each point is what an evaluation at that threshold says."""

import math

import numpy as np
import pytest
from tables import wide_rows

from sedeval_soft import evaluate, threshold_curves


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(3)
    return tuple(wide_rows(rng.integers(0, 9, (40, 2)) / 8, 0.5, files=2) for _ in range(2))


@pytest.mark.parametrize("basis", ["event", "intersection"])
def test_points_are_evaluations_at_their_threshold(sides, basis):
    curves = getattr(threshold_curves(*sides, only=["event", "intersection"]), basis)
    assert list(curves) == ["class0", "class1"]
    for label, curve in curves.items():
        for i, threshold in enumerate(curve.threshold.tolist()):
            at = evaluate(*sides, threshold=threshold, reference_threshold=0.5, only=[f"{basis}.hard"])
            assert curve.n_ref == at[f"{basis}.hard.n_ref[{label}]"]
            for name in ("tp", "n_sys", "precision", "recall", "f1", "error_rate"):
                value, expected = float(getattr(curve, name)[i]), at[f"{basis}.hard.{name}[{label}]"]
                assert math.isnan(value) if expected is None else value == expected, (name, threshold)


def test_area_under_the_psd_roc_is_psds(sides):
    asked = {"only": ["intersection"], "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 3000.0}
    curves = threshold_curves(*sides, **asked, psds_median_filters=[0.5, 1.5])
    scores = evaluate(*sides, **asked, psds_median_filters=[0.5, 1.5])
    for roc, name in ((curves.psd_roc, "psds"), (curves.pi_psd_roc, "pipsds")):
        widths = np.diff(np.append(roc.efpr, 3000.0))
        assert (widths * roc.etpr).sum() / 3000 == pytest.approx(scores[f"intersection.hard.{name}"])
        assert np.all(np.diff(roc.efpr) > 0)


def test_only_what_is_asked_for(sides):
    curves = threshold_curves(*sides, only=["event.optimal"])
    assert (len(curves.event), len(curves.intersection), curves.psd_roc) == (2, 0, None)
