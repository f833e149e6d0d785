"""What the ranking measures are called and what they mean."""

from __future__ import annotations

from sedeval_soft.measures.measure import Direction, Family, Measure
from sedeval_soft.measures.names import OVERALL

_NONE = "no segment has an active reference class"
_ZHANG = "Zhang & Zhou 2014"
_PREFIX = "the N_ref highest of a segment"


def _overall(
    name: str, summary: str, formula: str, high: float | None, source: str, *,
    direction: Direction = "lower", low: float = 0.0, undefined: str = _NONE,
) -> Measure:  # fmt: skip
    return Measure(name, summary, formula, low, high, direction, undefined, source, (OVERALL,), False)


SHARED: tuple[Measure, ...] = (
    _overall(
        "one_error", "how often the class with the highest value is not active",
        "mean over segments of 1 - y of the highest p, ties at their mean", 1.0, "Schapire & Singer 2000",
    ),
    _overall(
        "coverage", "how far down the ranks the last active class is; the first is 1",
        "mean over segments of the largest rank of an active class, ties at their last", None,
        "Schapire & Singer 2000; as scikit-learn's coverage_error", low=1.0,
    ),
    _overall(
        "ranking_loss", "share of pairs of an active and a silent class that are out of order",
        "mean over segments of pairs with p_active <= p_silent / pairs", 1.0,
        "Schapire & Singer 2000; as scikit-learn",
    ),
    _overall(
        "ranking_loss_all_pairs", "pairs out of order as a share of all pairs of classes",
        "mean over segments of pairs with p_active <= p_silent / (C (C - 1) / 2)", 1.0,
        "Schapire & Singer 2000, over all pairs", undefined=f"{_NONE}, or there is one class",
    ),
    _overall(
        "label_ranking_average_precision", "mean share of active classes among those ranked as high",
        "mean over segments and active classes of active ranked as high / ranked as high", 1.0,
        "Tsoumakas, Katakis & Vlahavas 2010; as scikit-learn", direction="higher",
    ),
    _overall(
        "cross_entropy", "log loss of a segment, summed over the classes, in nats (--entropy-unit)",
        "mean over segments of sum over classes of -y ln p - (1-y) ln(1-p)", None, "Good 1952",
    ),
    _overall(
        "hamming_loss", "share of classes that are wrong", "mean over segments and classes of |y - p|", 1.0,
        _ZHANG,
    ),
)  # fmt: skip

HARD: tuple[Measure, ...] = (
    _overall(
        "exact_match_prefix", "share of segments whose active classes have the highest values",
        "mean over segments of [every active p > every silent p]", 1.0, _ZHANG, direction="higher",
    ),
    _overall(
        "subset_accuracy", "share of segments with every class right", "mean over segments of [y = p]", 1.0,
        _ZHANG, direction="higher",
    ),
    Measure(
        "label_wise_precision", f"how often a class is active where it is among {_PREFIX}",
        "segments with the class active and among the N_ref highest / segments with it among them", 0.0, 1.0,
        "higher", "the class has no reference; 0 if it is never among them", _ZHANG, ("macro", "weighted"),
    ),
    _overall(
        "label_wise_precision_minimum", "the lowest label_wise_precision of any class",
        "min over classes of label_wise_precision", 1.0, _ZHANG, direction="higher",
    ),
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (
    Family("ranking", "hard", "classes of a segment in order of value, the reference cut", (*SHARED, *HARD)),
    Family("ranking", "soft", "a class active by y and silent by 1 - y; segments by their highest y", SHARED),
)
