"""What makes scores of sums, on sums small enough to see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sedeval_soft.measures.detection import DetectionCounts, confusion_scores
from sedeval_soft.measures.divergence import divergence_scores
from sedeval_soft.measures.names import ScoreName, ScoreNameError
from sedeval_soft.measures.ranking import CLASS_SUMS, ranking_scores

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
