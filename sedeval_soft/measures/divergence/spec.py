"""What the divergences are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures.measure import Family, Measure

_NONE = "there are no segments"

KL_DIVERGENCE = Measure(
    "kl_divergence", "mean Bernoulli divergence of the system from the reference, in nats (--entropy-unit)",
    "mean of y ln(y/p) + (1-y) ln((1-y)/(1-p)), p clipped to [eps, 1 - eps] (--epsilon)", 0.0, None, "lower",
    _NONE, "Kullback & Leibler 1951; convention of Harju & Mesaros 2023",
)  # fmt: skip

PROPER: tuple[Measure, ...] = (
    Measure(
        "cross_entropy", "mean log loss per cell, in nats (--entropy-unit)",
        "mean of -y ln p - (1-y) ln(1-p), p clipped to [eps, 1 - eps]", 0.0, None, "lower", _NONE,
        "Good 1952; as scikit-learn's log_loss",
    ),
    Measure(
        "brier", "mean squared error of the values", "mean of (y - p)^2", 0.0, 1.0, "lower", _NONE,
        "Brier 1950",
    ),
)  # fmt: skip

MEASURES: tuple[Measure, ...] = (
    Measure(
        "kl_divergence_reverse", "mean Bernoulli divergence of the reference from the system, in nats",
        "mean of p ln(p/y) + (1-p) ln((1-p)/(1-y)), y clipped to [eps, 1 - eps]", 0.0, None, "lower", _NONE,
        "Kullback & Leibler 1951",
    ),
    Measure(
        "jensen_shannon", "mean Bernoulli divergence of both from their mean m = (y + p) / 2, in nats",
        "mean of (KL(y, m) + KL(p, m)) / 2", 0.0, 1.0, "lower", _NONE, "Lin 1991",
    ),
    Measure(
        "mean_absolute_error", "mean absolute (Manhattan) distance of the values", "mean of |y - p|",
        0.0, 1.0, "lower", _NONE, "Willmott & Matsuura 2005",
    ),
    Measure(
        "soft_f1_loss", "1 - F of the product T-norm, as in training; not 0 for a copied soft reference",
        "1 - 2 TP / (2 TP + FP + FN + eps), TP = sum y p, FP = sum (1-y) p, FN = sum y (1-p)", 0.0, 1.0,
        "lower", "never", "Pastor-Pellicer et al. 2013",
    ),
    Measure(
        "wasserstein", "distance between the distributions of both sides' values, wherever they lie",
        "mean of |y(k) - p(k)|, each side's values sorted", 0.0, 1.0, "lower", _NONE, "Vallender 1974",
    ),
    Measure(
        "pearson", "linear correlation of the values", "cov(y, p) / (std(y) std(p))", -1.0, 1.0, "higher",
        "either side is constant", "Pearson 1895",
    ),
    Measure(
        "spearman", "correlation of the ranks of the values, ties at their mean rank",
        "pearson of the ranks", -1.0, 1.0, "higher", "either side is constant", "Spearman 1904",
    ),
)  # fmt: skip

GROUP = "divergence"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis that has a value for every cell: segments or clips."""
    return (
        Family(basis, "soft", "the system's values against the reference's", (KL_DIVERGENCE,)),
        Family(basis, "hard", "proper scores of the cut reference", PROPER, GROUP),
        Family(basis, "soft", "the system's values against the reference's", (*PROPER, *MEASURES), GROUP),
    )
