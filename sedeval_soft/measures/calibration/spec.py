"""What the measures of calibration are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures.measure import Family, Measure

_NONE = "there are no segments"
_MURPHY = "Murphy 1973"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "expected_calibration_error", "mean distance of values from frequencies, in --bins equal bins",
        "sum over bins of n_k / n |mean y - mean p|", 0.0, 1.0, "lower", _NONE,
        "Naeini, Cooper & Hauskrecht 2015",
    ),
    Measure(
        "maximum_calibration_error", "largest distance of values from frequencies, in bins of equal width",
        "max over bins of |mean y - mean p|", 0.0, 1.0, "lower", _NONE, "Naeini, Cooper & Hauskrecht 2015",
    ),
    Measure(
        "adaptive_calibration_error", "expected calibration error in --bins bins of equal mass",
        "sum over bins of n_k / n |mean y - mean p|", 0.0, 1.0, "lower", _NONE, "Nixon et al. 2019",
    ),
    Measure(
        "brier_reliability", "part of the Brier score that calibration would mend, in bins of equal width",
        "sum over bins of n_k / n (mean y - mean p)^2", 0.0, 1.0, "lower", _NONE, _MURPHY,
    ),
    Measure(
        "brier_resolution", "part that the system's bins explain of the reference's variance",
        "sum over bins of n_k / n (mean y - mean y of all)^2", 0.0, 0.25, "none", _NONE, _MURPHY,
    ),
    Measure(
        "brier_uncertainty", "variance of the reference",
        "mean of (y - mean y)^2", 0.0, 0.25, "none", _NONE, _MURPHY,
    ),
    Measure(
        "brier_within_bins", "what the bins hide: brier = reliability - resolution + uncertainty + this",
        "sum over bins of n_k / n (variance of p - 2 covariance of y and p)", None, None, "none", _NONE,
        "Stephenson, Coelho & Jolliffe 2008",
    ),
)  # fmt: skip

GROUP = "calibration"


def families(basis: str) -> tuple[Family, ...]:
    """Return the families of a basis that has a value for every cell: segments or clips."""
    return (
        Family(basis, "hard", "the system's values as probabilities of the cut reference", MEASURES, GROUP),
        Family(basis, "soft", "the system's values as predictions of the reference's", MEASURES, GROUP),
    )
