"""Agreement, competence and references of several annotators."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.tools.annotate import Opinions, alpha, competence_of, majority, mean, soft_f


def opinions_of(seed, shape=(3, 2, 12), *, binary=False, missing=0.3):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 0.5, 0.75, 1.0], shape)
    return Opinions(values, rng.random((shape[0], shape[2])) >= missing)


def test_alpha_of_the_example_of_its_author():
    """Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C: four observers, interval."""
    rows = ("123321412...", "12332241 25.3", ".3332342251.", "123324412 51.")
    data = np.array([[0 if c == "." else int(c) for c in row.replace(" ", "")] for row in rows], dtype=float)
    assert alpha(data, data > 0) == pytest.approx(0.849, abs=5e-4)


def test_alpha_does_not_change_with_an_offset():
    opinions = opinions_of(1, (4, 1, 50))
    found = alpha(opinions.values[:, 0], opinions.labelled)
    assert alpha(opinions.values[:, 0] + 1e6, opinions.labelled) == pytest.approx(found, abs=1e-6)


def test_undefined_alphas():
    nothing = np.zeros((2, 3)), np.zeros((2, 3), dtype=bool)
    assert math.isnan(alpha(*nothing))
    assert math.isnan(alpha(np.full((2, 3), 0.3), np.ones((2, 3), dtype=bool)))
    assert alpha(np.tile([0.0, 1.0, 0.4], (2, 1)), np.ones((2, 3), dtype=bool)) == 1.0


@given(st.integers(0, 2**32))
def test_soft_f_of_a_pair_has_no_order(seed):
    opinions = opinions_of(seed)
    there, back = soft_f(opinions, 0, 1), soft_f(opinions, 1, 0)
    assert there == back or all(math.isnan(x) == math.isnan(y) for x, y in zip(there, back, strict=True))
    own = soft_f(opinions, 2, 2)
    assert own[0] in {1.0} or math.isnan(own[0])


@given(st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_means_are_those_of_who_labelled(seed, weight):
    opinions = opinions_of(seed)
    for w in (None, np.array(weight)):
        found = mean(opinions, w)
        for k in range(2):
            for i in range(12):
                who = np.flatnonzero(opinions.labelled[:, i])
                own = np.ones(len(who)) if w is None or not w[who].sum() > 0 else w[who]
                values = opinions.values[who, k, i]
                expected = (values * (own / own.sum())).sum() if len(who) else 0.0
                assert found[k, i] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32))
def test_a_majority_is_more_than_half(seed):
    opinions = opinions_of(seed, (4, 2, 12))
    found = majority(opinions, 0.5)
    for k in range(2):
        for i in range(12):
            votes = [opinions.values[j, k, i] > 0.5 for j in range(4) if opinions.labelled[j, i]]
            assert found[k, i] == float(votes.count(True) > votes.count(False))


def crowd(competence, says_yes, prevalence, n_segments, seed, missing=0.0):
    """Return the opinions that the model of competences would give."""
    rng = np.random.default_rng(seed)
    n, classes = len(competence), len(prevalence)
    there = rng.random((classes, n_segments)) < np.array(prevalence)[:, None]
    shape = (n, classes, n_segments)
    knows = rng.random(shape) < np.array(competence)[:, None, None]
    guess = rng.random(shape) < np.array(says_yes)[:, None, None]
    said = np.where(knows, there, guess).astype(float)
    return Opinions(said, rng.random((n, n_segments)) >= missing), there


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_competences_that_were_simulated_are_found(seed, missing):
    competence, says_yes = [0.95, 0.8, 0.6, 0.4, 0.15], [0.5, 0.2, 0.7, 0.4, 0.3]
    prevalence = [0.1, 0.3, 0.5, 0.05]
    opinions, _ = crowd(competence, says_yes, prevalence, 6000, seed, missing)
    found = competence_of(opinions, 0.5)
    assert np.abs(found.competence - competence).max() < 0.04
    assert np.abs(found.prevalence - prevalence).max() < 0.02
    # Who always knows never guesses: the more one knows, the less is seen of the guesses.
    assert np.abs(found.says_yes - says_yes)[1:].max() < 0.06


def test_weights_of_competence_make_a_better_reference():
    competence = [0.95, 0.9, 0.1, 0.1, 0.1]
    opinions, there = crowd(competence, [0.5] * 5, [0.3, 0.3], 4000, 0)
    weight = competence_of(opinions, 0.5).competence
    plain, weighted = (np.abs(mean(opinions, w) - there).mean() for w in (None, weight))
    assert weighted < 0.6 * plain


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_no_step_lowers_the_likelihood(seed, n):
    opinions = opinions_of(seed, (n, 2, 30), binary=True)
    found = competence_of(opinions, 0.5)
    # What is added to each count moves the highest point of the likelihood a little.
    assert np.all(np.diff(found.likelihood) > -0.05)
    for of in (found.competence, found.says_yes, found.prevalence):
        assert np.all((of > 0) & (of < 1))


def test_many_annotators_are_counted_as_few_are():
    opinions, _ = crowd([0.7] * 45, [0.5] * 45, [0.3], 300, 1)
    found = competence_of(opinions, 0.5)
    assert np.abs(found.competence - 0.7).mean() < 0.05


def test_annotators_who_labelled_nothing_and_no_segments_at_all():
    opinions, _ = crowd([0.9, 0.9, 0.9], [0.5] * 3, [0.3], 50, 0)
    silent = Opinions(opinions.values, opinions.labelled & np.array([[True], [True], [False]]))
    assert competence_of(silent, 0.5).competence[2] == 0.8
    nothing = Opinions(np.zeros((2, 3, 0)), np.zeros((2, 0), dtype=bool))
    assert np.all(competence_of(nothing, 0.5).competence == 0.8)
    assert mean(nothing).shape == (3, 0)
