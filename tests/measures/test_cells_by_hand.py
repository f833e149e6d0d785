"""Measures of cells on cases small enough for paper: curves, divergences, calibration, rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from sedeval_soft import evaluate, functional
from sedeval_soft.measures.calibration import Reliability, equal_width
from sedeval_soft.measures.curve_scores import Curve, Ordered, Points

NAN, LN2 = math.nan, math.log(2)


def near(value):
    return pytest.approx(value, abs=1e-12)


def of_one_class(y, p, **settings):
    """The values of one class by measure, soft reading."""
    sides = np.array([y], dtype=float).T, np.array([p], dtype=float).T
    asked = {"measures": ("curves", "calibration", "divergence"), "only": "segment.soft", **settings}
    scores = evaluate(*sides, segment_length=1.0, **asked)
    return {score.measure: score.value for score in scores.scores.values() if score.average == "micro"}


HAND = {
    # Thresholds .9, .8, .7, .1: TP 1, 1, 2, 2 of 2; FP 0, 1, 2, 3 of 3.
    # Precision 1, 1/2, 1/2, 2/5. ROC (0, 0) (0, 1/2) (1/3, 1/2) (2/3, 1) (1, 1).
    "a hard class": ([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.1], {"max_fpr": 0.5, "max_fnr": 0.5}, {
        "average_precision": near(1 / 2 * 1 + 1 / 2 * 1 / 2),
        "average_precision_voc": near(0.75),
        # Recalls 0, .1 .. .5 have 1, recalls .6 .. 1 have 1/2.
        "average_precision_voc11": near((6 + 5 / 2) / 11),
        "average_precision_coco101": near((51 + 50 / 2) / 101),
        # The positive of .9 is above all 3 negatives, that of .7 above one and level with one: 4.5 of 6.
        "roc_auc": near(0.75),
        # 1/3 x 1/2 to an FPR of 1/3, then to 1/2 a height of 1/2 to 3/4: 1/6 x 5/8. In all 13/48, of 1/2.
        "partial_auc": near(13 / 24),
        # Chance has 1/8: (1 + (13/48 - 6/48) / (24/48 - 6/48)) / 2 = (1 + 7/18) / 2
        "partial_auc_mcclish": near(25 / 36),
        # The normal distribution has three quarters of its mass below 0.674489750196...
        "d_prime": near(math.sqrt(2) * 0.6744897501960817),
        # From (1/3, 1/2) to (2/3, 0) FNR falls as 1 - 3/2 FPR: they meet where 5/2 FPR = 1.
        "equal_error_rate": near(0.4),
        # FPR 1/3 has FNR 1/2, FPR 2/3 is too much; FNR 1/2 is had without any false alarm.
        "fnr_at_fpr": 0.5,
        "fpr_at_fnr": 0.0,
    }),
    # The bins hold .1 .1 (mean y 1/2, p .1) and .9 1 (mean y 1/2, p .95).
    "two bins": ([1, 0, 1, 0], [0.1, 0.1, 0.9, 1.0], {"bins": 2}, {
        "expected_calibration_error": near((0.4 + 0.45) / 2),
        "maximum_calibration_error": near(0.45),
        "brier_reliability": near((0.4**2 + 0.45**2) / 2),
        "brier_resolution": near(0.0),
        "brier_uncertainty": near(0.25),
        # The second bin: variance of p .05^2, covariance -.5 x .05.
        "brier_within_bins": near((0.0025 + 2 * 0.025) / 2),
        # .18125 - 0 + .25 + .02625 = (.9^2 + .1^2 + .1^2 + 1) / 4
        "brier": near(0.4575),
    }),
    # Four bins of equal mass, in any order of rows; the two cells of .1 stay together, so one bin is empty.
    "equal mass": ([0, 1, 0, 1], [1.0, 0.9, 0.1, 0.1], {"bins": 4}, {
        "adaptive_calibration_error": near(1 / 2 * (1 / 2 - 0.1) + 1 / 4 * (1 - 0.9) + 1 / 4 * 1),
    }),
    # The mean of both is 3/8.
    "one cell": ([0.5], [0.25], {}, {
        "kl_divergence": near(0.5 * LN2 + 0.5 * math.log(2 / 3)),
        "kl_divergence_reverse": near(0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)),
        "cross_entropy": near(LN2 + 0.5 * math.log(4 / 3)),
        # KL(1/2, 3/8) = 1/2 ln (4/3) + 1/2 ln (4/5);  KL(1/4, 3/8) = 1/4 ln (2/3) + 3/4 ln (6/5)
        "jensen_shannon": near((0.5 * math.log(16 / 15) + 0.25 * math.log(2 / 3)
                                + 0.75 * math.log(6 / 5)) / 2),
        "brier": 0.0625, "mean_absolute_error": 0.25, "wasserstein": 0.25,
        # TP 1/8, FP 1/8, FN 3/8
        "soft_f1_loss": near(1 - 0.25 / (0.75 + 1e-7)),
        "pearson": None, "spearman": None,
    }),
    # Where annotators disagree; which side of 1/2 does not matter, and .2 and .8 are a constant.
    "entropies": ([0.0, 0.5, 0.25, 1.0], [1.0, 0.5, 0.75, 0.0], {}, {
        "entropy_correlation": pytest.approx(1.0, abs=1e-15),
    }),
    "a constant entropy": ([0.2, 0.8, 0.2], [0.1, 0.5, 0.9], {}, {"entropy_correlation": None}),
}  # fmt: skip


@pytest.mark.parametrize("case", HAND)
def test_one_class(case):
    y, p, settings, wanted = HAND[case]
    got = of_one_class(y, p, **settings)
    assert {name: got[name] for name in wanted} == wanted


def test_every_edge_of_many_bins():
    """Each value k/B is alone in its bin, with the last, 1, beside (B - 1)/B."""
    for bins in (7, 10, 15, 49, 100):
        p = [k / bins for k in range(bins + 1)]
        gaps = [1 - 2 * v for v in p]
        whole = sum(map(abs, gaps[:-2])) + abs(gaps[-2] + gaps[-1])
        got = of_one_class([1 - v for v in p], p, bins=bins)["expected_calibration_error"]
        assert got == near(whole / (bins + 1)), bins


@pytest.mark.parametrize("epsilon", [1e-7, 1e-12, 2.0**-53, 0.01])
@pytest.mark.parametrize("reading", ["soft", "hard"])
def test_a_value_of_1_costs_what_one_of_0_does(reading, epsilon):
    """Of 1 - 1e-7 a float keeps but nine digits of the 1e-7; what is right costs -ln(1 - epsilon)."""
    entropies = ("kl_divergence", "cross_entropy") if reading == "soft" else ("cross_entropy",)
    for y, p, cost in ((0, 1, -math.log(epsilon)), (1, 0, -math.log(epsilon)), (1, 1, -math.log1p(-epsilon))):
        # One more class has something in every segment, so that rankings have all of them.
        sides = [np.array([[value, 1.0]]) for value in (y, p)]
        scores = evaluate(*sides, only=("segment", "ranking"), measures=("divergence",), epsilon=epsilon)
        for name in entropies:
            assert scores[f"segment.{reading}.{name}[0]"] == pytest.approx(cost, rel=1e-14), (name, y, p)
        whole = cost - math.log1p(-epsilon)
        assert scores[f"ranking.{reading}.cross_entropy"] == pytest.approx(whole, rel=1e-14)
        array = functional.kl_divergence(sides[0], sides[1], eps=epsilon, average=None)
        assert array[0] == pytest.approx(cost, rel=1e-14)


def test_a_constant_side_has_no_correlation():
    """A constant whose mean rounds: 0.1 added many times and divided is not 0.1."""
    y = np.random.default_rng(0).random(10)
    for constant in (0.1, 0.3, 1 / 3, 0.7):
        for sides in ((y, np.full(10, constant)), (np.full(10, constant), y)):
            got = of_one_class(*sides)
            assert got["pearson"] is None and got["spearman"] is None, constant


def test_correlation_of_values_that_hardly_differ():
    """Around 0.9, in steps of 2^-30: the deviations are what counts, not the squares of the values."""
    steps = np.array([0, 3, 1, 2, 5, 4])
    got = of_one_class(0.875 + steps * 2.0**-30, 0.875 + steps[::-1] * 2.0**-30)
    centred = steps - 2.5
    wanted = (centred * centred[::-1]).sum() / (centred**2).sum()
    assert got["pearson"] == pytest.approx(wanted, abs=1e-6)
    assert got["spearman"] == near(wanted)


# Curves and diagrams that are drawn.

SCORES = np.array([0.9, 0.2, 0.6, 0.2])


def test_a_diagram_shows_the_means_of_the_bins_that_have_cells():
    """[0, .25) holds .2 .2, [.25, .5) nothing, [.5, .75) .6, [.75, 1] .9"""
    found = Reliability.of(equal_width(Ordered.of(SCORES, np.array([1.0, 0.0, 0.5, 0.25])), 4))
    assert found.size.tolist() == [2, 1, 1]
    assert found.score.tolist() == [0.2, 0.6, 0.9]
    assert found.reference.tolist() == [0.125, 0.5, 1.0]


def test_a_curve_goes_from_detecting_all_to_detecting_nothing():
    curve = Curve.of_points(Points.of(Ordered.of(SCORES, np.array([True, False, True, True]))))
    assert curve.n_ref == 3 and isinstance(curve.n_ref, int)
    assert {curve.tp.dtype, curve.n_sys.dtype, curve.fp.dtype} == {np.dtype(np.int64)}
    for name, wanted in {
        "threshold": [-1.0, 0.2, 0.6, 0.9], "tp": [3, 2, 1, 0], "n_sys": [4, 2, 1, 0], "fp": [1, 0, 0, 0],
        "precision": [0.75, 1.0, 1.0, NAN], "recall": [1.0, 2 / 3, 1 / 3, 0.0],
        "f1": [6 / 7, 4 / 5, 2 / 4, 0.0], "error_rate": [1 / 3, 1 / 3, 2 / 3, 1.0],
        "false_positive_rate": [1.0, 0.0, 0.0, 0.0], "false_negative_rate": [0.0, 1 / 3, 2 / 3, 1.0],
    }.items():  # fmt: skip
        assert getattr(curve, name) == pytest.approx(wanted, nan_ok=True), name
    soft = Curve.of_points(Points.of(Ordered.of(np.array([0.5, 0.25]), np.array([0.75, 0.5]))))
    assert soft.threshold.tolist() == [-1.0, 0.25, 0.5]
    assert (soft.tp.tolist(), soft.fp.tolist()) == ([1.25, 0.75, 0.0], [0.75, 0.25, 0.0])
    assert soft.n_ref == 1.25 and isinstance(soft.n_ref, float)


def test_axes_of_det_are_normal_quantiles():
    """False positive rates 1, 1/2, 0; misses 0, 1/2, 1: only one half has a quantile, 0."""
    columns = np.array([-1.0, 0.2, 0.5]), np.array([2, 1, 0]), np.array([4, 2, 0]), 2
    for axis in Curve(*columns, np.array([2, 1, 0])).det:
        assert axis.tolist() == pytest.approx([NAN, 0.0, NAN], abs=0, nan_ok=True)
    # Of events there are no true negatives.
    events = Curve(*columns)
    assert np.isnan(events.false_positive_rate).all() and len(events.false_positive_rate) == 3
    assert np.isnan(events.det[0]).all() and events.det[1][1] == 0.0
    rare = Curve(np.array([0.5]), np.array([39]), np.array([39]), 40, np.array([0]))
    assert rare.det[1][0] == pytest.approx(norm.ppf(1 / 40), abs=1e-6)


# Rankings. Films that are action and comedy; drama and fantasy they are not.

GENRES = ("Action", "Comedy", "Drama", "Fantasy")
A = [0.9238, 0.1234, 0.5801, 0.0025]
FILM = [1.0, 1.0, 0.0, 0.0]
RANKED = {
    # Comedy (.1234) stands below drama (.5801): one of four pairs, of six pairs of genres at all.
    "one genre out of order": ([FILM], [A], "hard", {
        "one_error": 0.0, "coverage": 3.0, "ranking_loss_all_pairs": near(1 / 6), "ranking_loss": 0.25,
        "label_ranking_average_precision": near((1 / 1 + 2 / 3) / 2),
        # -log2 of .9238, .1234, 1 - .5801, 1 - .0025: 0.1143 + 3.0186 + 1.2519 + 0.0036
        "cross_entropy": pytest.approx(4.3884, abs=5e-5),
        # The two highest are action and drama.
        "exact_match_prefix": 0.0, "label_wise_precision[Action]": 1.0, "label_wise_precision[Comedy]": 0.0,
        "label_wise_precision[Drama]": None,  # of a genre without reference
        "label_wise_precision.macro": 0.5, "label_wise_precision_minimum": 0.0,
        # Comedy is missed and drama invented.
        "hamming_loss": 0.5, "subset_accuracy": 0.0,
    }),
    # Ranks 3, 1, 2: at any level the first class, of rank 3, is active.
    "a soft segment": ([[0.75, 0.5, 0.0]], [[0.2, 0.9, 0.5]], "soft", {
        "one_error": 0.5, "coverage": 3.0,
        # Out of order: 3/4 above 1/2 by 3/4 x 1/2, above 0 by 3/4 x 1. All pairs: also 1/2 x 1/4, 1/2 x 1.
        "ranking_loss": near(1.125 / 1.75), "ranking_loss_all_pairs": near(1.125 / 3),
        "label_ranking_average_precision": near((3 / 4 * 5 / 4 / 3 + 1 / 2 * 1 / 2) / (5 / 4)),
        "hamming_loss": near((0.55 + 0.4 + 0.5) / 3),
        "cross_entropy": near((-0.75 * math.log(0.2) - 0.25 * math.log(0.8) - 0.5 * math.log(0.9)
                               - 0.5 * math.log(0.1) - math.log(0.5)) / LN2),
    }),
}  # fmt: skip


@pytest.mark.parametrize("case", RANKED)
def test_rankings(case):
    y, p, reading, wanted = RANKED[case]
    classes = GENRES[: len(y[0])]
    scores = evaluate(np.array(y), np.array(p), classes=classes, only="ranking", entropy_unit="bits")
    assert {name: scores[f"ranking.{reading}.{name}"] for name in wanted} == wanted
