"""Agreement, competence and references of several annotators, against definitions and other packages."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.tools.annotate import alpha, alphas, competence_of, mean, reference_of, soft_f


def opinions_of(seed, shape=(3, 2, 12), *, binary=False, missing=0.3):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0], shape)
    return values, rng.random((shape[0], shape[2])) >= missing


def test_alpha_of_the_example_of_its_author():
    """Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: four observers, interval."""
    rows = ("123321412...", "12332241 25.3", ".3332342251.", "123324412 51.")
    data = np.array([[0 if c == "." else int(c) for c in row.replace(" ", "")] for row in rows], dtype=float)
    assert alpha(data, data > 0) == pytest.approx(0.849, abs=5e-4)
    assert alpha(data + 1e6, data > 0) == pytest.approx(alpha(data, data > 0), abs=1e-6)


def test_undefined_alphas():
    assert alpha(np.zeros((2, 3)), np.zeros((2, 3), dtype=bool)) is None
    assert alpha(np.full((2, 3), 0.3), np.ones((2, 3), dtype=bool)) is None
    assert alpha(np.tile([0.0, 1.0, 0.4], (2, 1)), np.ones((2, 3), dtype=bool)) == 1.0


@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
@settings(max_examples=40)
def test_alphas_are_those_of_the_krippendorff_package(seed, n, binary):
    values, labelled = opinions_of(seed, (n, 2, 15), binary=binary)
    classes = [np.where(labelled, values[:, k], np.nan) for k in range(2)]
    together = np.concatenate(classes, axis=1)
    for data, value in zip([together, *classes], alphas(values, labelled), strict=True):
        paired = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
        if not paired.size or len(np.unique(paired[~np.isnan(paired)])) < 2:
            assert value is None
            continue
        for level in ["interval", "nominal"] if binary else ["interval"]:
            expected = krippendorff.alpha(reliability_data=paired, level_of_measurement=level)
            assert value == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_soft_f_of_a_pair_has_no_order(seed):
    values, labelled = opinions_of(seed)
    both = labelled[0] & labelled[1]
    assert soft_f(values[[0, 1]], both) == soft_f(values[[1, 0]], both)
    assert soft_f(values[[2, 2]], labelled[2])[0] in {1.0, None}


@given(st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=4, max_size=4))
@settings(max_examples=30)
def test_means_and_majorities_are_those_of_who_labelled(seed, weight):
    said, labelled = opinions_of(seed, (4, 2, 12))
    plain, weighted = mean(said, labelled), mean(said, labelled, np.array(weight))
    most = reference_of(said, labelled, "majority", 0.5)
    for i in range(12):
        who = np.flatnonzero(labelled[:, i])
        weights = np.array(weight)[who] if np.array(weight)[who].sum() > 0 else np.ones(len(who))
        for k in range(2):
            values = said[who, k, i]
            if len(who):
                assert plain[k, i] == pytest.approx(values.mean(), abs=1e-12)
                assert weighted[k, i] == pytest.approx((values * (weights / weights.sum())).sum(), abs=1e-12)
            else:
                assert plain[k, i] == weighted[k, i] == 0.0
            assert most[k, i] == float((values > 0.5).sum() > (values <= 0.5).sum())


def crowd(competence, says_yes, prevalence, n_segments, seed, missing=0.0):
    """Return the opinions that the model of competences would give."""
    rng = np.random.default_rng(seed)
    n, classes = len(competence), len(prevalence)
    there = rng.random((classes, n_segments)) < np.array(prevalence)[:, None]
    shape = (n, classes, n_segments)
    knows = rng.random(shape) < np.array(competence)[:, None, None]
    guess = rng.random(shape) < np.array(says_yes)[:, None, None]
    values = np.where(knows, there, guess).astype(float)
    return (values, rng.random((n, n_segments)) >= missing), there


@pytest.mark.parametrize(("seed", "missing"), [(0, 0.0), (1, 0.0), (0, 0.4), (2, 0.4)])
def test_competences_that_were_simulated_are_estimated(seed, missing):
    competence, says_yes = [0.95, 0.8, 0.6, 0.4, 0.15], [0.5, 0.2, 0.7, 0.4, 0.3]
    prevalence = [0.1, 0.3, 0.5, 0.05]
    opinions, _ = crowd(competence, says_yes, prevalence, 6000, seed, missing)
    estimate = competence_of(*opinions, 0.5)
    assert np.abs(estimate.competence - competence).max() < 0.04
    assert np.abs(estimate.prevalence - prevalence).max() < 0.02
    # Who always knows never guesses: the more one knows, the less is seen of the guesses.
    assert np.abs(estimate.says_yes - says_yes)[1:].max() < 0.06


def test_weights_of_competence_make_a_better_reference():
    opinions, there = crowd([0.95, 0.9, 0.1, 0.1, 0.1], [0.5] * 5, [0.3, 0.3], 4000, 0)
    weight = competence_of(*opinions, 0.5).competence
    plain, weighted = (np.abs(mean(*opinions, w) - there).mean() for w in (None, weight))
    assert weighted < 0.6 * plain


@settings(max_examples=6)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_no_step_lowers_the_likelihood(seed, n):
    estimate = competence_of(*opinions_of(seed, (n, 2, 30), binary=True), 0.5)
    # What is added to each count moves the highest point of the likelihood a little.
    assert np.all(np.diff(estimate.likelihood) > -0.05)
    for probability in (estimate.competence, estimate.says_yes, estimate.prevalence):
        assert np.all((probability > 0) & (probability < 1))


def test_many_annotators_are_counted_as_few_are():
    opinions, _ = crowd([0.7] * 45, [0.5] * 45, [0.3], 300, 1)
    assert np.abs(competence_of(*opinions, 0.5).competence - 0.7).mean() < 0.05


def test_annotators_who_labelled_nothing_and_no_segments_at_all():
    opinions, _ = crowd([0.9, 0.9, 0.9], [0.5] * 3, [0.3], 50, 0)
    values, labelled = opinions
    silent = labelled & np.array([[True], [True], [False]])
    assert competence_of(values, silent, 0.5).competence[2] == 0.8
    nothing = np.zeros((2, 3, 0)), np.zeros((2, 0), dtype=bool)
    assert np.all(competence_of(*nothing, 0.5).competence == 0.8)
    assert mean(*nothing).shape == (3, 0)
