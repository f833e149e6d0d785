"""Scores as scikit-learn and Hugging Face call their metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsRegressor

from sedeval_soft import EvaluationError, SettingsError, evaluate
from sedeval_soft.apps.training.scikit_learn import SoundEventMetric, scorer, trainer_metrics

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


RECORDINGS = [SOFT[:30], SOFT[30:70], SOFT[70:]]
OUTPUTS = [np.clip(each + 0.2 * RNG.normal(size=each.shape), 0, 1) for each in RECORDINGS]


class TestHuggingFace:
    def told(self, names, **settings):
        scores = evaluate(np.concatenate(RECORDINGS), np.concatenate(OUTPUTS), **settings)
        return {name: pytest.approx(scores[name], abs=1e-12) for name in names}

    def test_all_ways_of_adding_say_the_same(self):
        names = ("segment.soft.f1.macro", "segment.hard.error_rate.micro", "segment.soft.f1[2]")
        metric, told = SoundEventMetric(names), self.told(names)
        # It begins anew after each computation and each failure.
        with pytest.raises(EvaluationError):
            metric.compute(predictions=OUTPUTS, references=[RECORDINGS[0], RECORDINGS[1][:3], RECORDINGS[2]])
        assert metric.compute(predictions=OUTPUTS, references=RECORDINGS) == told
        metric.add_batch(predictions=OUTPUTS[:1], references=RECORDINGS[:1])
        metric.add_batch(predictions=OUTPUTS[1:], references=RECORDINGS[1:])
        assert metric.compute() == told
        for output, recording in zip(OUTPUTS, RECORDINGS, strict=True):
            metric.add(prediction=output.tolist(), reference=recording.tolist())
        assert metric.compute() == told

    def test_scores_of_other_groups_and_settings(self):
        names = ("segment.soft.spearman.macro", "segment.hard.f1.macro")
        metric = SoundEventMetric(names, threshold=0.3)
        found = metric.compute(predictions=OUTPUTS, references=RECORDINGS)
        assert found == self.told(names, threshold=0.3, measures=["divergence"])

    def test_recordings_are_files(self):
        """Events end with their recording, as they would not in one long array."""
        metric = SoundEventMetric(["event.hard.n_ref.micro"])
        ones = [np.ones((4, 1)), np.ones((4, 1))]
        assert metric.compute(predictions=ones, references=ones) == {"event.hard.n_ref.micro": 2}

    @pytest.mark.parametrize(
        ("call", "said"),
        [
            (lambda: SoundEventMetric("segment.soft.f1.macro"), "a list of names"),
            (lambda: SoundEventMetric([]), "a list of names"),
            (lambda: SoundEventMetric().compute(predictions=OUTPUTS), "or neither"),
            (
                lambda: SoundEventMetric().compute(predictions=OUTPUTS, references=[]),
                "expected the same number",
            ),
            (lambda: SoundEventMetric().compute(), "nothing has been counted"),
            (lambda: trainer_metrics()(Evaluated(SOFT, SOFT)), "expected one shape"),
        ],
    )
    def test_wrong_calls_are_refused(self, call, said):
        with pytest.raises(EvaluationError, match=said):
            call()


@dataclass
class Evaluated:
    """As an EvalPrediction of transformers."""

    predictions: Any
    label_ids: Any


def test_metrics_of_a_trainer_leave_padding_out():
    length = max(map(len, RECORDINGS))
    logits, labels = np.zeros((3, length, 3)), np.full((3, length, 3), -100.0)
    for i, (output, recording) in enumerate(zip(OUTPUTS, RECORDINGS, strict=True)):
        clipped = np.clip(output, 1e-12, 1 - 1e-12)
        logits[i, : len(output)] = np.log(clipped / (1 - clipped))
        labels[i, : len(output)] = recording
    names = ("segment.soft.f1.micro", "segment.soft.error_rate.micro")
    told = SoundEventMetric(names).compute(predictions=OUTPUTS, references=RECORDINGS)
    for predictions in (logits, (logits, "hidden states")):
        found = trainer_metrics(names)(Evaluated(predictions, labels))
        assert found == {name: pytest.approx(value, abs=1e-9) for name, value in told.items()}
    probabilities = 1 / (1 + np.exp(-logits))
    found = trainer_metrics(names, from_logits=False)(Evaluated(probabilities, labels))
    assert found == {name: pytest.approx(value, abs=1e-9) for name, value in told.items()}
    # Large logits do not overflow.
    logits = np.array([[[-1e30, 1e30]]])
    found = trainer_metrics(["segment.soft.f1.micro"])(Evaluated(logits, np.array([[[0.0, 1.0]]])))
    assert found == {"segment.soft.f1.micro": 1.0}
