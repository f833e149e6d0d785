"""Measures of cells and rankings against scikit-learn and scipy, called as in their documentation.

They get each cell of a soft reference twice: as a positive of weight y, and as a negative of weight 1 - y.
"""

import numpy as np
import pytest
from measure_oracles import agree
from scipy import stats
from scipy.optimize import brentq
from sklearn import metrics
from sklearn.calibration import calibration_curve

from sedeval_soft import evaluate

EPS = 1e-7


def both(p, axis=-1):
    """Return probabilities of silence and activity, each clipped separately: 1 - EPS loses digits."""
    return np.clip(np.stack([1 - p, p], axis=axis), EPS, 1 - EPS)


ALL = {"measures": "all", "only": ("segment", "ranking"), "segment_length": 1.0, "max_fpr": 0.15}


def case(seed, *, soft):
    """Return reference and system (n, 5); every class is active somewhere and silent somewhere.

    The system has a column of each kind: tied, all different, separable, constant, mostly 0.
    """
    rng, n = np.random.default_rng(seed), 60
    reference = (rng.random((n, 5)) < [0.5, 0.1, 0.3, 0.4, 0.2]).astype(float)
    reference[0], reference[1] = 1.0, 0.0
    if soft:
        reference = np.where(rng.random(reference.shape) < 0.3, reference, rng.random(reference.shape))
    return reference, np.stack(
        [
            rng.integers(0, 9, n) / 8,
            rng.random(n),
            0.5 * (reference[:, 2] > 0.5) + 0.4 * rng.random(n),
            np.full(n, 0.3),
            np.where(rng.random(n) < 0.7, 0.0, rng.integers(1, 5, n) / 4),
        ],
        axis=1,
    )


def columns(reference, system):
    """Yield the cells of each class with its suffix in names, then all cells together."""
    yield from ((f"[{k}]", reference[:, k], system[:, k]) for k in range(reference.shape[1]))
    yield ".micro", reference.ravel(), system.ravel()


def weighted(y, p, reading):
    """Return labels, scores and weights as scikit-learn takes them."""
    soft = np.repeat([1, 0], len(y)), np.tile(p, 2), np.concatenate((y, 1 - y))
    return (y, p, None) if reading == "hard" else soft


def equal_error(fpr, tpr):
    return brentq(lambda x: 1 - x - np.interp(x, fpr, tpr), 0, 1, xtol=1e-15, rtol=1e-15)


SEEDS = pytest.mark.parametrize("seed", range(4))
READINGS = pytest.mark.parametrize("reading", ["hard", "soft"])


@SEEDS
@READINGS
def test_curves(seed, reading):
    """scikit-learn computes areas; partial areas and rates at a limit come from points of its curve."""
    reference, system = case(seed, soft=reading == "soft")
    scores = evaluate(reference, system, **ALL, max_fnr=0.4)
    for suffix, y, p in columns(reference, system):
        label, score, weight = weighted(y, p, reading)
        fpr, tpr, _ = metrics.roc_curve(label, score, sample_weight=weight, drop_intermediate=False)
        inside = fpr <= 0.15
        height = np.append(tpr[inside], np.interp(0.15, fpr, tpr))
        wanted = {
            "average_precision": metrics.average_precision_score(label, score, sample_weight=weight),
            "roc_auc": metrics.roc_auc_score(label, score, sample_weight=weight),
            "partial_auc_mcclish": metrics.roc_auc_score(label, score, sample_weight=weight, max_fpr=0.15),
            "equal_error_rate": equal_error(fpr, tpr),
            "partial_auc": metrics.auc(np.append(fpr[inside], 0.15), height) / 0.15,
            "fnr_at_fpr": (1 - tpr[inside]).min(),
            "fpr_at_fnr": fpr[1 - tpr <= 0.4].min(),
        }
        agree(scores, f"segment.{reading}", {f"{name}{suffix}": value for name, value in wanted.items()})
    for average in ("micro", "macro", "weighted") if reading == "hard" else ():
        for name in ("average_precision", "roc_auc"):
            wanted = getattr(metrics, f"{name}_score")(reference, system, average=average)
            agree(scores, "segment.hard", {f"{name}.{average}": wanted})


@SEEDS
@READINGS
def test_proper_scores(seed, reading):
    reference, system = case(seed, soft=reading == "soft")
    scores = evaluate(reference, system, **ALL)
    for suffix, y, p in columns(reference, system):
        label, score, weight = weighted(y, p, reading)
        entropy = metrics.log_loss(label, both(score), sample_weight=weight)
        # Against a soft reference scikit-learn's Brier score is larger by the mean of y (1 - y).
        spread = metrics.brier_score_loss(label, score, sample_weight=weight) - np.mean(y * (1 - y))
        assert spread == pytest.approx(metrics.mean_squared_error(y, p), rel=1e-12)
        for each in {reading, "soft"}:
            wanted = {f"cross_entropy{suffix}": entropy, f"brier{suffix}": spread}
            agree(scores, f"segment.{each}", wanted)
        agree(scores, "segment.soft", {f"mean_absolute_error{suffix}": metrics.mean_absolute_error(y, p)})


@SEEDS
def test_divergences_and_correlations(seed):
    reference, system = case(seed, soft=True)
    scores = evaluate(reference, system, **ALL)
    for suffix, y, p in columns(reference, system):
        sides, middle = ([np.stack([v, 1 - v]) for v in vs] for vs in ((y, p), ((y + p) / 2,)))
        halves = [np.mean(stats.entropy(side, middle[0])) for side in sides]
        kl, reverse = (
            np.mean(stats.entropy(np.stack([1 - a, a]), both(b, axis=0))) for a, b in ((y, p), (p, y))
        )
        constant = suffix == "[3]"
        wanted = {
            "jensen_shannon": sum(halves) / 2, "kl_divergence": kl, "kl_divergence_reverse": reverse,
            "wasserstein": stats.wasserstein_distance(y, p),
            "pearson": None if constant else stats.pearsonr(y, p).statistic,
            "spearman": None if constant else stats.spearmanr(y, p).statistic,
        }  # fmt: skip
        agree(scores, "segment.soft", {f"{name}{suffix}": value for name, value in wanted.items()})


@SEEDS
def test_ranking(seed):
    reference, system = case(seed, soft=False)
    scores = evaluate(reference, system, **ALL)
    kept = reference.any(axis=1)
    y, p = reference[kept], system[kept]
    assert 0 < kept.sum() < len(kept)
    entropies = [metrics.log_loss(a, both(b), labels=[0, 1]) * 5 for a, b in zip(y, p, strict=True)]
    agree(scores, "ranking.hard", {
        "coverage": metrics.coverage_error(y, p),
        "ranking_loss": metrics.label_ranking_loss(y, p),
        "label_ranking_average_precision": metrics.label_ranking_average_precision_score(y, p),
        "hamming_loss": metrics.hamming_loss(y, p > 0.5),
        "subset_accuracy": metrics.accuracy_score(y, p > 0.5),
        "cross_entropy": sum(entropies) / len(y),
    })  # fmt: skip


@SEEDS
def test_precision_recall_and_f(seed):
    """We leave a class without reference out of means, but count its false alarms in micro averages."""
    reference, system = case(seed, soft=False)
    reference[:, 1] = 0.0
    system[:, 3] = 0.25  # never detected: its precision counts 0
    scores = evaluate(reference, system, **ALL)
    detected = system > 0.5
    for average in ("micro", "macro", "weighted"):
        classes = range(5) if average == "micro" else (0, 2, 3, 4)
        found = metrics.precision_recall_fscore_support(
            reference, detected, labels=list(classes), average=average, zero_division=0
        )
        names = (f"{name}.{average}" for name in ("precision", "recall", "f1"))
        agree(scores, "segment.hard", dict(zip(names, found, strict=False)))
    for k, of_class in enumerate(metrics.multilabel_confusion_matrix(reference, detected)):
        (tn, fp), (fn, tp) = of_class.tolist()
        sides = reference[:, k], detected[:, k]
        wanted = {f"tn[{k}]": tn, f"fp[{k}]": fp, f"fn[{k}]": fn, f"tp[{k}]": tp,
                  f"accuracy[{k}]": metrics.accuracy_score(*sides)}  # fmt: skip
        if k != 1:
            wanted |= {f"balanced_accuracy[{k}]": metrics.balanced_accuracy_score(*sides),
                       f"mcc[{k}]": metrics.matthews_corrcoef(*sides)}  # fmt: skip
        agree(scores, "segment.hard", wanted)
    pooled = metrics.matthews_corrcoef(reference.ravel(), detected.ravel())
    agree(scores, "segment.hard", {"mcc.micro": pooled})


@SEEDS
@pytest.mark.parametrize("bins", [5, 15])
def test_reliability_diagram(seed, bins):
    """No value is at an edge of a bin: scikit-learn's bins contain their upper edges, ours do not."""
    rng = np.random.default_rng(seed)
    y, p = (rng.random(200) < 0.4).astype(float), rng.random(200)
    scores = evaluate(y[:, None], p[:, None], **ALL, bins=bins)
    true, predicted = calibration_curve(y, p, n_bins=bins)
    size = np.bincount((p * bins).astype(int), minlength=bins)
    assert size.all()
    gap = np.abs(true - predicted)
    agree(scores, "segment.hard", {
        "expected_calibration_error.micro": (gap * size).sum() / 200,
        "maximum_calibration_error.micro": gap.max(),
        "brier_reliability.micro": (gap**2 * size).sum() / 200,
    })  # fmt: skip
