"""Scores as scikit-learn calls them."""

from __future__ import annotations

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

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
SOFT = 1 / (1 + np.exp(-3 * X[:, :3]))
HARD = (SOFT > 0.5).astype(int)


class TestScikitLearn:
    def test_a_scorer_says_what_the_evaluator_says_of_clipped_predictions(self):
        model = LinearRegression().fit(X, SOFT)
        assert model.predict(X).min() < 0
        clipped = np.clip(model.predict(X), 0, 1)
        assert scorer()(model, X, SOFT) == evaluate(SOFT, clipped)["segment.soft.f1.macro"]
        model = KNeighborsRegressor(3).fit(X, SOFT)
        told = evaluate(SOFT, np.clip(model.predict(X), 0, 1), segment_length=0.2)
        for name in ("segment.soft.f1.macro", "segment.optimal.f1[1]", "event.soft.f1.micro"):
            assert scorer(name, segment_length=0.2)(model, X, SOFT) == told[name]
        name = "segment.soft.kl_divergence.micro"
        assert scorer(name)(model, X, SOFT) == -told[name]

    @pytest.mark.parametrize(
        "model",
        [
            RandomForestClassifier(10, random_state=0),
            MultiOutputClassifier(RandomForestClassifier(10, random_state=0)),
        ],
    )
    def test_probabilities_of_the_active_label_are_scored(self, model):
        labels = HARD.copy()
        labels[:, 2] = 0  # a class that is never seen has one column
        model.fit(X, labels)
        system = np.stack(
            [p[:, -1] if p.shape[1] == 2 else np.zeros(len(p)) for p in model.predict_proba(X)], axis=-1
        )
        name = "segment.soft.average_precision.macro"
        told = evaluate(labels, system, measures=["curves"])[name]
        assert scorer(name)(model, X, labels) == told

    def test_one_array_of_probabilities_is_taken_as_it_is(self):
        class Known(BaseEstimator):
            def predict_proba(self, x):
                return 1 / (1 + np.exp(-3 * x[:, :3]))

        assert scorer()(Known(), X, SOFT) == pytest.approx(1.0)

    def test_scikit_learn_takes_it(self):
        found = cross_val_score(KNeighborsRegressor(), X, SOFT, scoring=scorer(), cv=3)
        assert found.shape == (3,) and (found > 0.5).all()
        name = "segment.soft.kl_divergence.micro"
        search = GridSearchCV(
            KNeighborsRegressor(), {"n_neighbors": [1, 3, 50]}, scoring=scorer(name), cv=2
        ).fit(X, SOFT)
        assert search.best_params_["n_neighbors"] == 3

    def test_undefined_is_nan_and_unknown_scores_are_refused_at_once(self):
        model = KNeighborsRegressor().fit(X, SOFT)
        assert np.isnan(scorer("segment.hard.recall.micro")(model, X, np.zeros_like(SOFT)))
        with pytest.raises(EvaluationError, match="did you mean"):
            scorer("segment.soft.f2.macro")
        with pytest.raises(SettingsError, match="segment_length"):
            scorer(segment_lenght=1.0)
