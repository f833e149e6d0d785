"""Averages over classes, by hand: what counts with which weight, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.base import averaged, ratio, weighted

NAN = np.nan
VALUES = np.array([0.5, NAN, 1.0, 0.25])
N_REF = np.array([1.0, 3.0, 4.0, 0.0])
"""One class is undefined though it has a reference, and one has none."""


def macro(values, n_ref, undefined=None):
    return averaged(values, None, n_ref, undefined).macro


def test_what_is_undefined_counts_what_it_is_said_to():
    assert macro(VALUES, N_REF, 0.0) == (0.5 + 0.0 + 1.0) / 3
    assert weighted(VALUES, N_REF, 0.0) == (0.5 * 1 + 0.0 * 3 + 1.0 * 4) / 8
    assert macro(VALUES, N_REF, 0.25) == (0.5 + 0.25 + 1.0) / 3
    assert weighted(VALUES, N_REF, 0.25) == (0.5 * 1 + 0.25 * 3 + 1.0 * 4) / 8


def test_what_is_undefined_is_left_out_otherwise():
    assert macro(VALUES, N_REF) == (0.5 + 1.0) / 2
    assert weighted(VALUES, N_REF) == (0.5 * 1 + 1.0 * 4) / 5


@pytest.mark.parametrize("undefined", [None, 0.0])
def test_an_average_over_no_class_is_undefined(undefined):
    for average in (macro, weighted):
        assert np.isnan(average(VALUES, np.zeros(4), undefined))
        assert np.isnan(average(np.zeros(0), np.zeros(0), undefined))


def test_other_axes_are_kept():
    values, n_ref = np.stack([VALUES, VALUES[::-1]]), np.stack([N_REF, np.ones(4)])
    assert macro(values, n_ref).tolist() == [0.75, (0.25 + 1.0 + 0.5) / 3]
    assert weighted(values, n_ref, 0.0).tolist() == [4.5 / 8, 1.75 / 4]


def test_a_quotient_is_undefined_by_0_and_may_be_beyond_floats():
    assert ratio(np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 4.0])).tolist() == pytest.approx(
        [NAN, NAN, 0.75], nan_ok=True
    )
    assert ratio(np.array(1e300), np.array(1e-300)) == np.inf
    # Whole numbers are divided as fractions.
    assert ratio(np.array([3]), np.array([2])).tolist() == [1.5]
