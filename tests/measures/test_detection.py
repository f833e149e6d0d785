"""Precision, recall, F and error rate of counts, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.detection import (
    MEASURES,
    PER_CLASS,
    PER_FILE,
    DetectionCounts,
    count_scores,
    detection_scores,
    f_beta,
)  # fmt: skip

TP, N_REF, N_SYS = [3, 0, 0], [4, 6, 0], [5, 0, 2]
"""Of three classes: one that is found, one that never is, and one that the reference does not have."""
SUBSTITUTIONS, DELETIONS, INSERTIONS = 1, 6, 3
COUNTS = DetectionCounts(
    *(np.array(column) for column in (TP, N_REF, N_SYS, SUBSTITUTIONS, DELETIONS, INSERTIONS))
)
NAN = np.nan


def told(of):
    """The values of classes, and the averages, as lists and numbers; None where there is no such value."""
    values = (of.classes, of.micro, of.macro, of.weighted, of.overall)
    return [None if value is None else np.asarray(value, dtype=np.float64).tolist() for value in values]


def is_told(score, classes, micro, macro, weighted):
    for got, wanted in zip(told(score), (classes, micro, macro, weighted, None), strict=True):
        assert (got is None) == (wanted is None)
        if wanted is not None:
            assert got == pytest.approx(wanted, nan_ok=True)


def test_every_measure_by_hand():
    scores = detection_scores(COUNTS)
    is_told(scores["precision"], [3 / 5, NAN, 0.0], 3 / 7, 3 / 5 / 2, 3 / 5 * 4 / 10)
    is_told(scores["recall"], [3 / 4, 0.0, NAN], 3 / 10, 3 / 4 / 2, 3 / 10)
    is_told(scores["f1"], [6 / 9, 0.0, 0.0], 6 / 17, 6 / 9 / 2, 6 / 9 * 4 / 10)
    is_told(scores["error_rate"], [3 / 4, 1.0, NAN], 10 / 10, 7 / 8, (3 + 6) / 10)
    is_told(scores["substitution_rate"], None, 1 / 10, None, None)
    is_told(scores["deletion_rate"], [1 / 4, 1.0, NAN], 6 / 10, 5 / 8, 7 / 10)
    is_told(scores["insertion_rate"], [2 / 4, 0.0, NAN], 3 / 10, 1 / 4, 2 / 10)


def test_f_of_another_beta_beside_f1():
    scores = detection_scores(COUNTS, beta=2.0)
    is_told(scores["fbeta"], [15 / 21, 0.0, 0.0], 15 / 47, 15 / 21 / 2, 15 / 21 * 4 / 10)
    is_told(scores["f1"], [6 / 9, 0.0, 0.0], 6 / 17, 6 / 9 / 2, 6 / 9 * 4 / 10)
    assert "fbeta" not in detection_scores(COUNTS)
    assert {*scores} == {measure.name for measure in MEASURES}
    assert f_beta(np.array(3.0), np.array(4.0), np.array(5.0), 0.5) == pytest.approx(3.75 / 6.0)
    assert np.isnan(f_beta(np.array(0.0), np.array(0.0), np.array(0.0)))


def test_counts_are_scores_with_their_sums():
    scores = count_scores(COUNTS)
    for name, column in (
        ("tp", TP),
        ("n_ref", N_REF),
        ("n_sys", N_SYS),
        ("fp", [2, 0, 2]),
        ("fn", [1, 6, 0]),
    ):
        is_told(scores[name], column, sum(column), None, None)
    for name, number in zip(PER_FILE, (SUBSTITUTIONS, DELETIONS, INSERTIONS), strict=True):
        is_told(scores[name], None, number, None, None)
    assert {*scores} == {*PER_CLASS, *PER_FILE, "fp", "fn"}


def test_no_share_of_the_reference_is_above_1_by_rounding():
    beyond = np.nextafter(1.0, 2.0)
    counts = DetectionCounts(
        *(np.array(column) for column in ([0.0], [1.0], [1.0], beyond, beyond, 2.0)),
    )
    scores = detection_scores(counts)
    assert scores["substitution_rate"].micro == 1.0
    assert scores["deletion_rate"].micro == 1.0
    assert scores["insertion_rate"].micro == 2.0


def test_replicates_stand_before_classes():
    one = DetectionCounts(*(getattr(COUNTS, name) for name in (*PER_CLASS, *PER_FILE)))
    two = DetectionCounts(
        *(np.stack([getattr(one, n), 2 * getattr(one, n)]) for n in (*PER_CLASS, *PER_FILE))
    )
    for name, score in detection_scores(two).items():
        for got, wanted in zip(told(score), told(detection_scores(one)[name]), strict=True):
            if wanted is not None:
                factor = 2 if name in {*PER_CLASS, *PER_FILE, "fp", "fn"} else 1
                assert got == pytest.approx(np.stack([wanted, np.multiply(wanted, factor)]), nan_ok=True)


def test_files_are_summed():
    files = DetectionCounts(*(np.stack([getattr(COUNTS, n)] * 3) for n in (*PER_CLASS, *PER_FILE)))
    for name in (*PER_CLASS, *PER_FILE):
        assert getattr(files.total(), name).tolist() == (3 * getattr(COUNTS, name)).tolist()
