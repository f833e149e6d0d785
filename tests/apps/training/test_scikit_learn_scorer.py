"""Scorers that scikit-learn calls."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsRegressor

from sedeval_soft import EvaluationError, SettingsError, evaluate
from sedeval_soft.apps.training.scikit_learn import scorer

X = np.random.default_rng(0).normal(size=(120, 5))
SOFT = 1 / (1 + np.exp(-3 * X[:, :3]))
DIVERGENCE = "segment.soft.kl_divergence.micro"


def test_a_scorer_says_what_the_evaluator_says_of_clipped_predictions():
    line, neighbours = LinearRegression().fit(X, SOFT), KNeighborsRegressor(3).fit(X, SOFT)
    clipped = evaluate(SOFT, np.clip(line.predict(X), 0, 1))
    assert line.predict(X).min() < 0 and scorer()(line, X, SOFT) == clipped["segment.soft.f1.macro"]
    told = evaluate(SOFT, neighbours.predict(X), segment_length=0.2)
    # If lower is better, the score gets a minus sign: for scikit-learn, more is better.
    for name, sign in (("segment.optimal.f1[1]", 1), ("event.soft.f1.micro", 1), (DIVERGENCE, -1)):
        assert scorer(name, segment_length=0.2)(neighbours, X, SOFT) == sign * told[name]


@pytest.mark.parametrize("wrapped", [lambda model: model, MultiOutputClassifier])
def test_probabilities_of_the_active_label_are_scored(wrapped):
    labels, name = (SOFT > 0.5).astype(int), "segment.soft.average_precision.macro"
    labels[:, 2] = 0  # a class without examples has one column
    model = wrapped(RandomForestClassifier(10, random_state=0)).fit(X, labels)
    columns = [p[:, -1] if p.shape[1] == 2 else np.zeros(len(p)) for p in model.predict_proba(X)]
    told = evaluate(labels, np.stack(columns, axis=-1), measures=["curves"])[name]
    assert scorer(name)(model, X, labels) == told


def test_one_array_of_probabilities_is_taken_as_it_is():
    class Known(BaseEstimator):
        def predict_proba(self, x):
            return 1 / (1 + np.exp(-3 * x[:, :3]))

    assert scorer()(Known(), X, SOFT) == pytest.approx(1.0)


def test_scikit_learn_takes_it():
    model = KNeighborsRegressor()
    assert (cross_val_score(model, X, SOFT, scoring=scorer(), cv=3) > 0.5).all()
    search = GridSearchCV(model, {"n_neighbors": [1, 3, 50]}, scoring=scorer(DIVERGENCE), cv=2)
    assert search.fit(X, SOFT).best_params_["n_neighbors"] == 3


def test_undefined_is_nan_and_unknown_scores_are_refused_at_once():
    model = KNeighborsRegressor().fit(X, SOFT)
    assert np.isnan(scorer("segment.hard.recall.micro")(model, X, np.zeros_like(SOFT)))
    for error, words, asked in (
        (EvaluationError, "did you mean", {"score": "segment.soft.f2.macro"}),
        (SettingsError, "segment_length", {"segment_lenght": 1.0}),
    ):
        with pytest.raises(error, match=words):
            scorer(**asked)
