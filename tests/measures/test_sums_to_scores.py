"""What makes scores of sums, on sums small enough to see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sedeval_soft.measures.curve_scores import (
    RATES,
    Gains,
    Ordered,
    Points,
    Roc,
    d_prime,
    precision_scores,
    sums_of,
)
from sedeval_soft.measures.detection import DetectionCounts
from sedeval_soft.measures.divergence import divergence_scores
from sedeval_soft.measures.event.measures import DEVIATIONS, deviation_scores
from sedeval_soft.measures.names import ScoreName, ScoreNameError, spell
from sedeval_soft.measures.ranking import CLASS_SUMS, ranking_scores
from sedeval_soft.measures.segment.measures import confusion_scores

SUMS = {
    "weight": 4.0, "one_error": 1.0, "coverage": 10.0, "ranking_loss": 2.0, "misordered": 6.0,
    "label_ranking_average_precision": 5.0, "cross_entropy": 8.0, "distance": 3.0,
}  # fmt: skip


@pytest.mark.parametrize(("unit", "per_nat"), [("nats", 1.0), ("bits", 1 / math.log(2))])
def test_rankings_are_means_of_segments(unit, per_nat):
    """Of 3 classes, which make 3 pairs; a share of 5/4 is rounding, and 10/4 a number of classes."""
    found = ranking_scores({name: np.array(of) for name, of in SUMS.items()}, {}, 3, unit)
    assert {name: float(of.overall) for name, of in found.items()} == {
        "one_error": 0.25, "coverage": 2.5, "ranking_loss": 0.5, "ranking_loss_all_pairs": 0.5,
        "label_ranking_average_precision": 1.0, "cross_entropy": 2.0 * per_nat, "hamming_loss": 0.25,
    }  # fmt: skip
    assert all(of.classes is None and of.micro is None and of.macro is None for of in found.values())


def test_one_class_has_no_pairs():
    found = ranking_scores({name: np.array(of) for name, of in SUMS.items()}, {}, 1, "nats")
    assert np.isnan(found["ranking_loss_all_pairs"].overall)
    assert found["hamming_loss"].overall == 0.75


def prefix_scores(*columns):
    """Scores of a cut reference of which only the sums of classes matter."""
    sums = {name: np.array(1.0) for name in (*SUMS, "exact_match_prefix", "subset_accuracy")}
    return ranking_scores(sums, dict(zip(CLASS_SUMS, map(np.array, columns), strict=True)), 3, "nats")


def test_precisions_of_prefixes():
    """2 of 4, never in a prefix, and without a reference; then rounding, and no reference at all."""
    scores = prefix_scores([4.0, 0.0, 3.0], [2.0, 0.0, 1.0], [2, 1, 0])
    own = scores["label_wise_precision"]
    assert own.classes[:2].tolist() == [0.5, 0.0] and np.isnan(own.classes[2])
    assert (own.macro, own.weighted) == (0.25, pytest.approx(1 / 3))
    assert own.micro is None
    assert scores["label_wise_precision_minimum"].overall == 0.0
    over = prefix_scores([1.0], [1.0 + 1e-15], [1])
    assert over["label_wise_precision"].classes.tolist() == [1.0]
    for n in (0, 2):
        none = prefix_scores(np.ones(n), np.zeros(n), np.zeros(n))
        assert np.isnan(none["label_wise_precision_minimum"].overall)
        assert np.isnan(none["label_wise_precision"].macro)


def test_bias_and_spread():
    """Two of a class 1 and 3 s late, one of another 2 s early, and none of a third."""
    onset, squares = np.array([4.0, -2.0, 0.0]), np.array([10.0, 4.0, 0.0])
    found = deviation_scores(
        dict(zip(DEVIATIONS, (onset, squares, -onset, squares), strict=True)), np.array([2, 1, 0])
    )
    assert list(found) == ["onset_bias", "onset_spread", "offset_bias", "offset_spread"]
    assert found["onset_bias"].classes[:2].tolist() == [2.0, -2.0]
    assert found["onset_spread"].classes[:2].tolist() == [1.0, 0.0]
    assert found["offset_bias"].classes[:2].tolist() == [-2.0, 2.0]
    assert found["onset_bias"].micro == pytest.approx(2 / 3)
    assert found["onset_spread"].micro == pytest.approx(math.sqrt(14 / 3 - 4 / 9))
    assert found["onset_bias"].macro is None
    assert all(np.isnan(of.classes[2]) for of in found.values())


def test_true_negatives():
    """Ten segments: 2 of 3 found with 4 detected, and 1 of 1 with 1."""
    zero = np.zeros(())
    counts = DetectionCounts(np.array([2, 1]), np.array([3, 1]), np.array([4, 1]), zero, zero, zero)
    found = confusion_scores(counts, np.array(10))
    assert found["tn"].classes.tolist() == [5, 9]
    assert found["tn"].micro == 14
    assert found["sensitivity"].classes == pytest.approx([2 / 3, 1.0])
    assert found["specificity"].classes == pytest.approx([5 / 7, 1.0])
    assert found["accuracy"].classes == pytest.approx([0.7, 1.0])
    assert found["balanced_accuracy"].classes == pytest.approx([(2 / 3 + 5 / 7) / 2, 1.0])
    assert found["npv"].classes == pytest.approx([5 / 6, 1.0])
    assert found["npv"].micro == pytest.approx(14 / 15)
    assert found["accuracy"].weighted == pytest.approx((3 * 0.7 + 1) / 4)
    none = DetectionCounts(*(np.zeros((2, 0), dtype=np.int64) for _ in range(3)), zero, zero, zero)
    micro = confusion_scores(none, np.array([10, 10]))["tn"].micro
    assert micro.tolist() == [0, 0] and micro.dtype == np.int64


def test_divergences_are_means_of_all_cells():
    """Three cells of a class, of which one is silent on both sides: it adds what clipping leaves."""
    eps, silent = 0.01, -math.log(0.99)
    sizes = np.array([1, 0]), np.array([1, 1])
    totals = {
        "kl_divergence": np.array([1.0, 0.0]),
        "brier": np.array([0.5, 0.0]),
        "jensen_shannon": np.array([-1e-17, 0.25]),
    }
    found = divergence_scores(totals, np.array([2, 0]), np.array(3), *sizes, eps, "nats")
    assert found["kl_divergence"].classes == pytest.approx([(1 + silent) / 3, silent])
    assert found["kl_divergence"].micro == pytest.approx((1 + 4 * silent) / 6)
    assert found["kl_divergence"].macro == pytest.approx((1 + silent) / 3)
    assert found["brier"].classes == pytest.approx([0.5 / 3, 0.0])
    assert found["jensen_shannon"].classes.tolist() == [0.0, pytest.approx(0.25 / 3)]
    bits = divergence_scores(totals, np.array([2, 0]), np.array(3), *sizes, eps, "bits")
    assert bits["kl_divergence"].classes == pytest.approx(found["kl_divergence"].classes / math.log(2))
    assert bits["brier"].classes.tolist() == found["brier"].classes.tolist()


def test_a_loss_is_1_without_hits_and_never_below_0():
    def loss(product, n_ref, n_sys):
        columns = [np.array(column) for column in (product, n_ref, n_sys)]
        totals, none = {"product": columns[0]}, np.zeros(len(product))
        return divergence_scores(totals, none, np.array(1), *columns[1:], 1e-7, "nats")["soft_f1_loss"]

    scores = loss([0.0, 1.0, 1.5], [1.0, 1.0, 1.5], [0.0, 2.0, 1.5 - 1e-16])
    assert scores.classes == pytest.approx([1.0, 1 - 2 / (3 + 1e-7), 0.0], abs=1e-7)
    assert scores.micro == pytest.approx(1 - 5 / (7 + 1e-7))
    over = loss([1.0], [1.0], [0.9])
    assert (over.classes.tolist(), over.micro) == ([0.0], 0.0)


def fields(gains):
    return [getattr(gains, name).tolist() for name in ("tp", "before", "fp", "passed", "n_sys")] + [gains.end]


def test_gains_by_hand():
    """From the highest: a positive, a negative, then a positive and a negative of one score."""
    cells = Ordered(np.array([0.2, 0.2, 0.5, 0.9]), np.array([True, False, False, True]))
    assert fields(Gains.of(cells)) == [[1, 2], [0, 1], [0, 2], [0, 1], [1, 4], 2]
    apart = Ordered(np.array([0.1, 0.2, 0.5, 0.9]), cells.reference)
    assert fields(Gains.of(apart)) == [[1, 2], [0, 1], [0, 2], [0, 2], [1, 4], 2]
    soft = Ordered(np.array([0.2, 0.5, 0.9]), np.array([0.25, 0.0, 0.5]))
    assert fields(Gains.of(soft)) == [[0.5, 0.75], [0.0, 0.5], [0.5, 2.25], [0.0, 1.5], [1, 3], 2.25]
    none = Ordered(np.zeros(0), np.zeros(0, dtype=bool))
    assert fields(Gains.of(none)) == [[], [], [], [], [], 0]
    silent = Ordered(np.array([0.2, 0.5]), np.zeros(2))
    assert fields(Gains.of(silent)) == [[], [], [], [], [], 2.0]


def test_cells_of_one_score_gain_at_once():
    assert fields(Gains.at_once(2.0, 3.0, 5)) == [[2.0], [0.0], [3.0], [0.0], [5], 3.0]
    assert fields(Gains.at_once(0.0, 3.0, 3)) == [[], [], [], [], [], 3.0]
    assert Gains.at_once(0.0, 3.0, 3).n_sys.dtype == np.int64
    same = Ordered(np.full(5, 0.5), np.array([True, False, True, False, False]))
    assert fields(Gains.of(same)) == fields(Gains.at_once(2.0, 3.0, 5))


def test_sums_of_points_by_hand():
    """One of one found, then two of three: precisions 1 and 2/3; below the ROC (0 to 2) lies 1 + 1/2."""
    gains = Gains.of(Ordered(np.array([0.2, 0.2, 0.5, 0.9]), np.array([True, False, False, True])))
    found = sums_of(gains)
    assert (found.steps, found.pairs) == (1.5, 1.0 + 1.5)
    assert (found.tp.tolist(), found.precision.tolist()) == ([1, 2], [1.0, 0.5])
    # With 3 of 4 found before: 4 of 5, then 5 of 8.
    later = sums_of(gains, 3, 4)
    assert later.steps == pytest.approx(4 / 5 + 5 / 8)
    assert later.pairs == 4.0 + 4.5
    assert (later.tp.tolist(), later.precision.tolist()) == ([4, 5], [0.8, 0.625])
    nothing = sums_of(Gains.at_once(0.0, 3.0, 3), 2, 5)
    assert (nothing.steps, nothing.pairs, len(nothing.tp), len(nothing.precision)) == (0.0, 6.0, 0, 0)


def test_average_precisions_by_hand():
    """Precision 1 up to recall 1/4 and 1/2 up to 1/2; the rest is not found."""
    gains = Gains.of(Ordered(np.array([0.2, 0.2, 0.5, 0.9]), np.array([True, False, False, True])))
    found = precision_scores([sums_of(gains)], 4)
    assert found["average_precision"] == pytest.approx(1.5 / 4)
    assert found["average_precision_voc"] == pytest.approx(1.5 / 4)
    # Recalls 0, .1, .2 at 1 and .3, .4, .5 at 1/2; 0 to .25 are 26 of 101, to .5 25 more.
    assert found["average_precision_voc11"] == pytest.approx((3 + 1.5) / 11)
    assert found["average_precision_coco101"] == pytest.approx((26 + 12.5) / 101)
    for n_ref in (0, 0.0, math.nan):
        assert all(math.isnan(value) for value in precision_scores([sums_of(gains)], n_ref).values())


def roc_of(scores, active):
    points = Points.of(Ordered.of(np.array(scores), np.array(active)))
    tp, fp = (np.append(0, of) for of in (points.tp, points.fp))
    pairs = float((np.diff(fp) * (tp[1:] + tp[:-1])).sum()) / 2
    return Roc(tp[[0, -1]], fp[[0, -1]], np.array([pairs]), lambda _: (tp, fp))


def test_a_roc_by_hand():
    """Points (0, 1/2), (1/2, 1/2), (1/2, 1), (1, 1)."""
    found = roc_of([0.9, 0.7, 0.5, 0.3], [True, False, True, False]).scores(0.5, 0.25)
    assert list(found) == list(RATES)
    assert found["roc_auc"] == 0.75
    assert found["partial_auc"] == pytest.approx(0.5)
    assert found["partial_auc_mcclish"] == pytest.approx(0.5 * (1 + (0.25 - 0.125) / (0.5 - 0.125)))
    assert found["equal_error_rate"] == pytest.approx(0.5)
    assert found["fnr_at_fpr"] == 0.0
    assert found["fpr_at_fnr"] == 0.5
    assert found["d_prime"] == pytest.approx(math.sqrt(2) * 0.6744897501960817)
    less = roc_of([0.9, 0.7, 0.5, 0.3], [True, False, True, False]).scores(0.25, 0.5)
    assert less["partial_auc"] == pytest.approx(0.5)
    assert less["fnr_at_fpr"] == 0.5
    assert less["fpr_at_fnr"] == 0.0
    every = roc_of([0.9, 0.7, 0.5, 0.3], [True, False, True, False]).scores(1.0, 0.0)
    assert every["partial_auc"] == 0.75 and every["fnr_at_fpr"] == 0.0 and every["fpr_at_fnr"] == 0.5


@pytest.mark.parametrize("active", [[True, True], [False, False]])
def test_a_roc_needs_both(active):
    assert all(math.isnan(value) for value in roc_of([0.9, 0.5], active).scores(0.5, 0.5).values())


def test_d_prime_of_a_perfect_area_is_infinite_and_so_undefined():
    assert d_prime(0.5) == 0.0
    assert math.isnan(d_prime(1.0)) and math.isnan(d_prime(0.0))


@pytest.mark.parametrize(
    "text",
    ["", "f1", "a.b", "a..c.micro", "a.b.c.mean", "a.b.c.d.e", "a.b[c", "a.b.c[d", "a.b.c[d]e", "a.b.c@"],
)
def test_what_is_no_name_is_told_the_forms(text):
    with pytest.raises(ScoreNameError) as refused:
        ScoreName.parse(text)
    assert str(refused.value) == (
        f"{text!r} is not a score name; expected basis.reading.measure.average (average: micro, "
        "macro, weighted) or basis.reading.measure[class], such as segment.soft.f1.macro, and @name behind "
        "it for a group of classes or a scene"
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.b.c.macro", ("a", "b", "c", "macro", None, None)),
        ("a.b.c", ("a", "b", "c", "overall", None, None)),
        ("a.b.c[x.[y]@z]", ("a", "b", "c", None, "x.[y]@z", None)),
        ("a.b.c[]", ("a", "b", "c", None, "", None)),
        ("a.b.c.micro@g", ("a", "b", "c", "micro", None, "g")),
        ("a.b.c@g", ("a", "b", "c", "overall", None, "g")),
        ("a.b.c[x]@g", ("a", "b", "c", None, "x", "g")),
    ],
)
def test_names_parse_back(text, parts):
    found = ScoreName.parse(text)
    names = ("basis", "reading", "measure", "average", "class_name", "group")
    assert tuple(getattr(found, name) for name in names) == parts
    assert str(found) == spell(*parts) == text
