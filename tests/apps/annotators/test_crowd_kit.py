"""Dawid and Skene's model beside crowd-kit's, from the same start, after as many steps."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from opinions import confused, units_of

from sedeval_soft.apps.annotators.models import Patterns, dawid_skene

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    classification = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")


@pytest.mark.parametrize(
    ("n_annotators", "n_segments", "missing", "repeated"),
    [
        (4, 200, 0.0, False),
        (3, 100, 0.3, False),
        (6, 150, 0.5, True),
        (2, 80, 0.0, False),
        (5, 60, 0.0, True),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_dawid_skene_of_crowd_kit(n_annotators, n_segments, missing, repeated):
    values, labelled, _ = confused(n_annotators, 2, n_segments, n_annotators, missing)
    times = (
        np.random.default_rng(0).integers(1, 4, n_segments) if repeated else np.ones(n_segments, dtype=int)
    )
    units = units_of(values, labelled, np.tile(times, 2).astype(float))
    patterns = Patterns.of(units, 0.5)
    estimate = dawid_skene(patterns, 2)
    posterior = estimate.posterior[patterns.pattern].reshape(2, n_segments)
    copy = np.arange(times.sum())
    segment = np.repeat(np.arange(n_segments), times)
    for k in range(2):
        who, task = np.nonzero(labelled[:, segment])
        said = values[who, k, segment[task]].astype(int)
        labels = pd.DataFrame({"task": copy[task], "worker": who, "label": said})
        model = classification.DawidSkene(n_iter=len(estimate.likelihood), tol=-np.inf).fit(labels)
        theirs = model.probas_[1].reindex(copy).to_numpy()
        some = labelled.any(axis=0)[segment]
        assert posterior[k][segment][some] == pytest.approx(theirs[some], abs=1e-6)
        assert estimate.prevalence[k] == pytest.approx(model.priors_[1], abs=1e-6)
        if n_annotators > 2:
            for j in range(n_annotators):
                assert estimate.sensitivity[j, k] == pytest.approx(model.errors_.loc[(j, 1), 1], abs=1e-6)
                assert estimate.specificity[j, k] == pytest.approx(model.errors_.loc[(j, 0), 0], abs=1e-6)
