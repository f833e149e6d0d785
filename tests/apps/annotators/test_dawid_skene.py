"""Dawid and Skene's model: what was simulated is estimated, in any order; and where it is not determined.

Its estimates are compared with those of crowd-kit, if that is installed.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import confused, tables_of, units_of

from sedeval_soft import annotate
from sedeval_soft.apps.annotators.models import Patterns, dawid_skene
from sedeval_soft.apps.annotators.references import value_of


def estimated(units, n_classes):
    return dawid_skene(Patterns.of(units, 0.5), n_classes)


def test_sensitivities_that_were_simulated_are_estimated():
    values, labelled, (there, *rates) = confused(6, 3, 6000, 2, 0.3)
    units, truth = units_of(values, labelled), there.reshape(-1)
    estimate = estimated(units, 3)
    assert estimate.sensitivity == pytest.approx(rates[0], abs=0.07)
    assert estimate.specificity == pytest.approx(rates[1], abs=0.04)
    assert estimate.prevalence == pytest.approx(there.mean(axis=1), abs=0.03)
    # A probability of the class is right as often as it says, and what it says is nearer than the mean's.
    made, plain = (value_of(units, method, 0.5) for method in ("dawid-skene", "mean"))
    assert np.mean((made - truth) ** 2) < 0.75 * np.mean((plain - truth) ** 2)
    assert made[made > 0.9].mean() == pytest.approx(truth[made > 0.9].mean(), abs=0.02)
    # Over all classes: of what is there, and of what is not, in the segments that one labelled.
    for said, seen, *micro in zip(values, labelled, *estimate.micro(), strict=True):
        hits, rejections = said[:, seen][there[:, seen]], 1 - said[:, seen][~there[:, seen]]
        assert micro == pytest.approx([hits.mean(), rejections.mean()], abs=0.04)


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_likelihood_never_falls(seed, n):
    values, labelled, _ = confused(n, 2, 40, seed, 0.3)
    assert np.all(np.diff(estimated(units_of(values, labelled), 2).likelihood) > -1e-9)


def test_what_nobody_hears_is_no_event():
    """Of deaf annotators each hears half: that all miss it is probable, and still no event."""
    rng = np.random.default_rng(0)
    there = rng.random(4000) < 0.5
    units = units_of((there & (rng.random((3, 1, 4000)) < 0.5)).astype(float), np.ones((3, 4000), dtype=bool))
    patterns, made = Patterns.of(units, 0.5), value_of(units, "dawid-skene", 0.5)
    posterior, silent = dawid_skene(patterns, 1).posterior[patterns.pattern], ~units.values.any(axis=0)
    assert posterior[silent].min() > 0.05
    assert made == pytest.approx(np.where(silent, 0.0, posterior))


def test_values_that_are_not_determined_are_undefined_and_said():
    values, labelled, _ = confused(4, 2, 60, 3)
    two = annotate(tables_of(values, labelled)[:2], method="dawid-skene")
    assert all(0 <= value <= 1 for value in two.reference.value)
    # The fourth labelled what only one other did.
    labelled[1:3, 30:] = labelled[3, :30] = False
    made = annotate(tables_of(values, labelled), method="dawid-skene", missing="unlabelled")
    for found, undefined in ((two, [True, True]), (made, [False, False, False, True])):
        assert [each.sensitivity is None for each in found.annotators] == undefined and found.warnings


@pytest.mark.parametrize(
    ("n_annotators", "n_segments", "missing", "most"),
    [(4, 200, 0.0, 1), (6, 150, 0.5, 3), (2, 80, 0.0, 1)],
)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_dawid_skene_of_crowd_kit(n_annotators, n_segments, missing, most):
    """From the same start, after as many steps; most: how often a segment may be repeated."""
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")
    values, labelled, _ = confused(n_annotators, 2, n_segments, n_annotators, missing)
    times = np.random.default_rng(0).integers(1, most + 1, n_segments)
    patterns = Patterns.of(units_of(values, labelled, np.tile(times, 2).astype(float)), 0.5)
    estimate, segment = dawid_skene(patterns, 2), np.repeat(np.arange(n_segments), times)
    posterior = estimate.posterior[patterns.pattern].reshape(2, n_segments)[:, segment]
    who, task = np.nonzero(labelled[:, segment])
    some = labelled.any(axis=0)[segment]
    for k in range(2):
        said = values[who, k, segment[task]].astype(int)
        labels = pd.DataFrame({"task": task, "worker": who, "label": said})
        model = aggregation.DawidSkene(n_iter=len(estimate.likelihood), tol=-np.inf).fit(labels)
        theirs = model.probas_[1].reindex(np.arange(len(segment))).to_numpy()
        assert posterior[k][some] == pytest.approx(theirs[some], abs=1e-6)
        assert estimate.prevalence[k] == pytest.approx(model.priors_[1], abs=1e-6)
        for j in range(n_annotators if n_annotators > 2 else 0):
            found = estimate.sensitivity[j, k], estimate.specificity[j, k]
            expected = [model.errors_.loc[(j, label), label] for label in (1, 0)]
            assert found == pytest.approx(expected, abs=1e-6)
