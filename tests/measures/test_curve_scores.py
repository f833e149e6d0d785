"""Average precision and what is read from the ROC, against slow oracles and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sedeval_soft import evaluate

CURVES_OF = {"measures": "curves", "only": ("segment", "clip")}


def of_one_class(y, p, **settings):
    """The values of one class by measure, soft reading."""
    sides = np.array([y], dtype=float).T, np.array([p], dtype=float).T
    scores = evaluate(*sides, segment_length=1.0, **CURVES_OF, **settings)
    return {score.measure: score.value for score in scores.scores.values() if score.basis == "segment"
            and score.reading == "soft" and score.average == "micro"}  # fmt: skip


def test_a_hard_class_by_hand():
    """Thresholds .9, .8, .7, .1: TP 1, 1, 2, 2 of 2; FP 0, 1, 2, 3 of 3.

    Precision 1, 1/2, 1/2, 2/5. ROC (0, 0) (0, 1/2) (1/3, 1/2) (2/3, 1) (1, 1).
    """
    got = of_one_class([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.1], max_fpr=0.5, max_fnr=0.5)
    # 1/2 x 1 + 1/2 x 1/2
    assert got["average_precision"] == pytest.approx(0.75, abs=1e-12)
    assert got["average_precision_voc"] == pytest.approx(0.75, abs=1e-12)
    # Recalls 0, .1 .. .5 have 1, recalls .6 .. 1 have 1/2.
    assert got["average_precision_voc11"] == pytest.approx((6 + 5 / 2) / 11, abs=1e-12)
    assert got["average_precision_coco101"] == pytest.approx((51 + 50 / 2) / 101, abs=1e-12)
    # The positive of .9 is above all 3 negatives, that of .7 above one and level with one: 4.5 of 6 pairs.
    assert got["roc_auc"] == pytest.approx(0.75, abs=1e-12)
    # 1/3 x 1/2 to an FPR of 1/3, then to 1/2 a height of 1/2 to 3/4: 1/6 x 5/8. In all 13/48, of 1/2.
    assert got["partial_auc"] == pytest.approx(13 / 24, abs=1e-12)
    # Chance has 1/8: (1 + (13/48 - 6/48) / (24/48 - 6/48)) / 2 = (1 + 7/18) / 2
    assert got["partial_auc_mcclish"] == pytest.approx(25 / 36, abs=1e-12)
    # The normal distribution has three quarters of its mass below 0.674489750196...
    assert got["d_prime"] == pytest.approx(math.sqrt(2) * 0.6744897501960817, abs=1e-12)
    # From (1/3, 1/2) to (2/3, 0) FNR falls as 1 - 3/2 FPR: they meet where 5/2 FPR = 1.
    assert got["equal_error_rate"] == pytest.approx(0.4, abs=1e-12)
    # FPR 1/3 has FNR 1/2, FPR 2/3 is too much; FNR 1/2 is had without any false alarm.
    assert got["fnr_at_fpr"] == 0.5
    assert got["fpr_at_fnr"] == 0.0
    assert of_one_class([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.1], max_fnr=0.25)["fpr_at_fnr"] == 2 / 3


def test_a_soft_class_by_hand():
    """TP 3/4 then 5/4; FP 1/4 then 3/4: precision 3/4, 5/8; recall 3/5, 1; FPR 1/3, 1."""
    got = of_one_class([0.75, 0.5], [0.9, 0.2])
    assert got["average_precision"] == pytest.approx(0.6 * 0.75 + 0.4 * 0.625, abs=1e-12)
    # Recalls 0 .. .6 have 3/4, .7 .. 1 have 5/8.
    assert got["average_precision_voc11"] == pytest.approx((7 * 0.75 + 4 * 0.625) / 11, abs=1e-12)
    # 1/3 x 3/10 + 2/3 x 4/5
    assert got["roc_auc"] == pytest.approx(19 / 30, abs=1e-12)
    # The second line: FNR = 2/5 - 3/5 (FPR - 1/3) = 3/5 - 3/5 FPR
    assert got["equal_error_rate"] == pytest.approx(0.375, abs=1e-12)


def test_a_recall_that_is_met_exactly_counts():
    """Ten positives, the first k above k negatives each once: recall .3 is 3 of 10, whatever 3/10 rounds to.

    Precision at the k-th positive, with k - 1 negatives before it, is k / (2 k - 1).
    """
    y = [1, 0] * 10
    got = of_one_class(y, [1 - k / 32 for k in range(20)])
    precision = [k / (2 * k - 1) for k in range(1, 11)]
    wanted = (precision[0] + sum(precision)) / 11
    assert got["average_precision_voc11"] == pytest.approx(wanted, abs=1e-12)
    steps = [precision[max(0, math.ceil(k / 10) - 1)] for k in range(101)]
    assert got["average_precision_coco101"] == pytest.approx(sum(steps) / 101, abs=1e-12)


def test_averages_of_d_prime_are_made_of_averages_of_auc():
    """A class that is told apart without error has no d'; its AUC of 1 counts all the same."""
    reference = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=float).T
    system = np.array([[0.9, 0.8, 0.2, 0.1], [0.9, 0.8, 0.2, 0.1]]).T
    scores = evaluate(reference, system, segment_length=1.0, **CURVES_OF)
    assert scores["segment.hard.d_prime[0]"] is None
    # AUC 1 and 3/4: the second class loses one of four pairs. The quantile is that of 7/8.
    assert scores["segment.hard.roc_auc.macro"] == 0.875
    assert scores["segment.hard.d_prime.macro"] == pytest.approx(math.sqrt(2) * 1.1503493803760079, abs=1e-12)


@pytest.mark.parametrize("hundredths", [3, 5, 6, 37, 90])
@pytest.mark.parametrize("certain", [1, 2, 3, 5, 8])
def test_cells_without_doubt_raise_no_false_alarms(hundredths, certain):
    """The one doubtful cell, on top, has all that is negative: FPR is 1 from there on, not more."""
    y, p = [hundredths / 100] + [1.0] * certain, [0.9 - k / 16 for k in range(certain + 1)]
    got = of_one_class(y, p, max_fpr=1.0, max_fnr=1.0)
    assert got["fnr_at_fpr"] == got["fpr_at_fnr"] == 0.0
    # What is positive of that cell is level with what is negative of it, the rest below.
    area = y[0] / 2 / (y[0] + certain)
    for name in ("roc_auc", "partial_auc", "partial_auc_mcclish"):
        assert got[name] == pytest.approx(area, abs=1e-12), name
