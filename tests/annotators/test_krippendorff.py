"""Krippendorff's alpha is that of the krippendorff package."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.tools.annotate import Opinions, alpha, alphas


def opinions_of(seed, shape, *, binary=False, missing=0.3):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0], shape)
    return Opinions(values, rng.random((shape[0], shape[2])) >= missing)


def reliability(opinions, k):
    """Return a class as the krippendorff package takes it: NaN where missing."""
    return np.where(opinions.labelled, opinions.values[:, k], np.nan)


@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
def test_alpha_is_that_of_the_krippendorff_package(seed, n, binary):
    opinions = opinions_of(seed, (n, 1, 15), binary=binary)
    data = reliability(opinions, 0)
    paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    found = alpha(opinions.values[:, 0], opinions.labelled)
    if not paired.size or len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert math.isnan(found)
        return
    levels = ["interval", "nominal"] if binary else ["interval"]
    for level in levels:
        expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
        assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 2**32))
def test_alphas_are_of_classes_and_of_all_together(seed):
    opinions = opinions_of(seed, (3, 2, 40), missing=0.1)
    nominal, interval = alphas(opinions, 0.5)
    cut = Opinions((opinions.values > 0.5).astype(float), opinions.labelled)
    for of, found, level in ((cut, nominal, "nominal"), (opinions, interval, "interval")):
        data = [reliability(of, k) for k in range(2)]
        for each, value in zip([*data, np.concatenate(data, axis=1)], found, strict=True):
            expected = krippendorff.alpha(reliability_data=each, level_of_measurement=level)
            assert value == pytest.approx(expected, abs=1e-9)
