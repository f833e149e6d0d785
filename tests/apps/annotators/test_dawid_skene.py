"""Dawid and Skene's model: what was simulated is estimated, in any order; and where it is not determined.

It is held against crowd-kit in tests/parity/test_crowd_kit.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import confused, units_of

from sedeval_soft import annotate
from sedeval_soft.apps.annotators.models import Patterns, dawid_skene
from sedeval_soft.apps.annotators.references import value_of


def estimated(units, n_classes):
    return dawid_skene(Patterns.of(units, 0.5), n_classes)


def tables_of(values, labelled, seconds=1.0):
    """Return tables of what annotators say of segments of one file each."""
    tables = []
    for said, where in zip(values, labelled, strict=True):
        k, i = np.nonzero((said > 0) & where)
        tables.append(
            {
                "filename": [f"{n}.wav" for n in np.flatnonzero(where)] + [f"{n}.wav" for n in i],
                "onset": [None] * where.sum() + [0.0] * len(i),
                "offset": [None] * where.sum() + [seconds] * len(i),
                "event_label": [None] * where.sum() + [f"class {each}" for each in k],
            }
        )
    return tables


@pytest.mark.parametrize(("seed", "missing"), [(0, 0.0), (2, 0.3)])
def test_sensitivities_that_were_simulated_are_estimated(seed, missing):
    values, labelled, (there, sensitivity, specificity) = confused(6, 3, 6000, seed, missing)
    units = units_of(values, labelled)
    estimate = estimated(units, 3)
    assert np.abs(estimate.sensitivity - sensitivity).max() < 0.07
    assert np.abs(estimate.specificity - specificity).max() < 0.04
    assert np.abs(estimate.prevalence - there.mean(axis=1)).max() < 0.03
    # A probability of the class is right as often as it says, and what it says is nearer than the mean's.
    made = value_of(units, "dawid-skene", 0.5)
    plain = value_of(units, "mean", 0.5)
    truth = there.reshape(-1)
    assert np.mean((made - truth) ** 2) < 0.75 * np.mean((plain - truth) ** 2)
    assert made[made > 0.9].mean() == pytest.approx(truth[made > 0.9].mean(), abs=0.02)
    # Over all classes: of what is there, and of what is not, in the segments that one labelled.
    micro = estimate.micro()
    for j in range(6):
        seen = labelled[j]
        hits, rejections = values[j][:, seen][there[:, seen]], 1 - values[j][:, seen][~there[:, seen]]
        assert micro[0][j] == pytest.approx(hits.mean(), abs=0.05)
        assert micro[1][j] == pytest.approx(rejections.mean(), abs=0.03)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 5), st.permutations(range(5)))
def test_likelihood_never_falls_and_annotators_have_no_order(seed, n, order):
    values, labelled, _ = confused(5, 2, 40, seed, 0.3)
    values, labelled = values[:n], labelled[:n]
    order = [each for each in order if each < n]
    estimate = estimated(units_of(values, labelled), 2)
    assert np.all(np.diff(estimate.likelihood) > -1e-9)
    other = estimated(units_of(values[order], labelled[order]), 2)
    assert sorted(other.posterior) == pytest.approx(sorted(estimate.posterior), abs=1e-6)
    if n >= 3:
        assert other.sensitivity == pytest.approx(estimate.sensitivity[order], abs=1e-5, nan_ok=True)


def test_what_nobody_hears_is_no_event():
    """Of deaf annotators each hears half: that all miss it is probable, and still no event."""
    rng = np.random.default_rng(0)
    there = rng.random(4000) < 0.5
    units = units_of((there & (rng.random((3, 1, 4000)) < 0.5)).astype(float), np.ones((3, 4000), dtype=bool))
    patterns, made = Patterns.of(units, 0.5), value_of(units, "dawid-skene", 0.5)
    posterior, silent = dawid_skene(patterns, 1).posterior[patterns.pattern], ~units.values.any(axis=0)
    assert posterior[silent].min() > 0.05
    assert made == pytest.approx(np.where(silent, 0.0, posterior))


def test_what_is_not_determined_is_undefined_and_said():
    values, labelled, _ = confused(4, 2, 60, 3)
    tables = tables_of(values, labelled)
    two = annotate(tables[:2], method="dawid-skene")
    assert all(each.sensitivity is None is each.specificity for each in two.annotators)
    assert two.confusions[0].sensitivity == (None, None)
    assert two.warnings
    assert all(0 <= value <= 1 for value in two.reference.value)

    # The fourth labelled what only one other did.
    labelled[1:3, 30:] = labelled[3, :30] = False
    made = annotate(tables_of(values, labelled), method="dawid-skene", missing="unlabelled")
    assert [each.sensitivity is None for each in made.annotators] == [False, False, False, True]
    assert made.warnings

    # A class of which no value is a label.
    soft = tables_of(values, np.ones_like(labelled))
    for table in soft:
        table["event_label"] = [*table["event_label"], "faint"]
        table["soft_value"] = [None if x is None else 1.0 for x in table["onset"]] + [0.2]
        for column, cell in (("filename", "0.wav"), ("onset", 0.0), ("offset", 1.0)):
            table[column] = [*table[column], cell]
    made = annotate(soft, method="dawid-skene")
    faint = next(each for each in made.confusions if each.class_name == "faint")
    assert faint.sensitivity == (None,) * 4
    assert faint.specificity == pytest.approx((1.0,) * 4)
    assert any("'faint'" in warning for warning in made.warnings)
    assert "faint" not in {made.reference.classes[each] for each in made.reference.label}
