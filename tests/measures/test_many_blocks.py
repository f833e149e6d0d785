"""Scores of many blocks of cells are those of one: blocks are how they are computed, not what."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sedeval_soft import evaluate, sorting

RNG = np.random.default_rng(0)
SHAPE = (150, 3)
FORMS = {
    "fine": RNG.random(SHAPE),
    # Sums of eighths are exact: of others, rounding decides whether a recall is reached.
    "coarse": RNG.integers(0, 9, SHAPE) / 8,
    "mostly silent": np.where(RNG.random(SHAPE) < 0.8, 0.0, RNG.random(SHAPE)),
    "constant": np.full(SHAPE, 0.25),
    "one class silent": RNG.random(SHAPE) * [1, 0, 1],
    "sure": RNG.integers(0, 2, SHAPE).astype(float),
}


@pytest.mark.parametrize("system", FORMS)
@pytest.mark.parametrize("reference", FORMS)
@pytest.mark.parametrize("size", [2, 16])
def test_small_blocks(monkeypatch, reference, system, size):
    y, p = FORMS[reference], FORMS[system][::-1]
    asked = {"only": ("segment", "clip"), "measures": ("curves", "divergence", "calibration")}
    whole = evaluate(y, p, **asked)
    monkeypatch.setattr(sorting, "_BLOCK", size)
    cut = evaluate(y, p, **asked)
    assert list(cut) == list(whole)
    for name, value in whole.items():
        other = cut.scores[name].value
        if value is None or other is None:
            assert value is other, name
        else:
            assert math.isclose(value, other, rel_tol=1e-11, abs_tol=1e-12), name


def test_many_cells_against_scikit_learn():
    """More cells than a block has, each class by itself and all together."""
    metrics = pytest.importorskip("sklearn.metrics")
    from scipy.stats import pearsonr, spearmanr, wasserstein_distance

    rng = np.random.default_rng(5)
    p = np.round(rng.random((90_000, 2)), 4)
    soft = np.where(
        rng.random(p.shape) < 0.6, 0.0, np.round(np.clip(p + rng.normal(0, 0.3, p.shape), 0, 1), 2)
    )
    scores = evaluate(soft, p, only=("segment",), measures=("curves", "divergence"))
    y = soft > 0.5
    for suffix, a, b, c in (
        ("[0]", y[:, 0], p[:, 0], soft[:, 0]),
        (".micro", y.ravel(), p.ravel(), soft.ravel()),
    ):
        fpr, tpr, _ = metrics.roc_curve(a, b)
        wanted = {
            "hard.average_precision": metrics.average_precision_score(a, b),
            "hard.roc_auc": metrics.roc_auc_score(a, b),
            "hard.partial_auc_mcclish": metrics.roc_auc_score(a, b, max_fpr=0.1),
            "hard.fnr_at_fpr": 1 - tpr[np.searchsorted(fpr, 0.1, side="right") - 1],
            "soft.pearson": pearsonr(c, b).statistic,
            "soft.spearman": spearmanr(c, b).statistic,
            "soft.wasserstein": wasserstein_distance(c, b),
        }
        weights = np.concatenate((c, 1 - c))
        twice = np.repeat([1, 0], len(c)), np.concatenate((b, b))
        wanted["soft.average_precision"] = metrics.average_precision_score(*twice, sample_weight=weights)
        wanted["soft.roc_auc"] = metrics.roc_auc_score(*twice, sample_weight=weights)
        for name, value in wanted.items():
            tolerance = 2e-4 if name == "hard.fnr_at_fpr" else 1e-11
            assert scores[f"segment.{name}{suffix}"] == pytest.approx(value, abs=tolerance), (name, suffix)
