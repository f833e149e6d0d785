"""Thresholds that are best for all classes together, against trying all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from four_segments import CLASSES, CUTS, FILES, VALUES, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.api import evaluate_rows
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.joint import joint_best, joint_scores
from sedeval_soft.settings import Settings

ASKED = {"classes": CLASSES, "measures": ("joint",), "segment_length": 1.0}
BASES = ("segment", "event", "intersection", "clip")


def micro_f(counts, beta):
    tp, n_ref, n_sys = (sum(of[k] for of in counts) for k in range(3))
    return (1 + beta**2) * tp / (beta**2 * n_ref + n_sys) if n_ref else None


@settings(max_examples=25, deadline=None)
@given(VALUES, VALUES, st.sampled_from(BASES), st.sampled_from((1.0, 2.0)), st.booleans())
def test_the_joint_optimum_is_that_of_all_combinations(reference, system, basis, beta, inclusive):
    sides, durations = (rows(reference), rows(system)), dict.fromkeys(FILES, 4.0)
    asked = Settings.of(**ASKED, only=(f"{basis}.optimal",), beta=beta, inclusive=inclusive)
    found = evaluate_rows(*sides, asked, durations)
    at = {}
    for cut in CUTS:
        cuts = dict.fromkeys(CLASSES, cut)
        chosen = Settings.of(classes=CLASSES, only=(f"{basis}.tuned",), thresholds=cuts)
        scores = evaluate_rows(*sides, chosen, durations)
        counts = ("tp", "n_ref", "n_sys")
        at[cut] = [tuple(scores[f"{basis}.tuned.{name}[{c}]"] for name in counts) for c in CLASSES]
    combined = [
        micro_f([at[cut][k] for k, cut in enumerate(cuts)], beta)
        for cuts in itertools.product(CUTS, repeat=len(CLASSES))
    ]
    joint, single = found[f"{basis}.optimal.joint_f"], found[f"{basis}.optimal.single_f"]
    if combined[0] is None:
        assert joint is None
        assert single is None
        return
    assert joint == pytest.approx(max(combined), abs=1e-12)
    assert single == pytest.approx(max(micro_f(at[cut], beta) for cut in CUTS), abs=1e-12)
    pooled = found[f"{basis}.optimal.{'f1' if beta == 1 else 'fbeta'}.micro"]
    assert joint >= max(single, pooled) - 1e-12


@settings(max_examples=25, deadline=None)
@given(VALUES, VALUES, st.sampled_from(BASES), st.booleans())
def test_the_thresholds_that_are_shown_reach_it(reference, system, basis, inclusive):
    """Read back from their text, and a class of which nothing is detected cut above all values."""
    sides, durations = (rows(reference), rows(system)), dict.fromkeys(FILES, 4.0)
    asked = Settings.of(**ASKED, only=(f"{basis}.optimal",), inclusive=inclusive)
    found = evaluate_rows(*sides, asked, durations)
    if found[f"{basis}.optimal.joint_f"] is None:
        return
    shown = {c: found[f"{basis}.optimal.joint_threshold[{c}]"] for c in CLASSES}
    single = found[f"{basis}.optimal.single_threshold"]
    own = {c: 2.0 if value is None else float(repr(value)) for c, value in shown.items()}
    for thresholds, name in ((own, "joint_f"), ({c: float(repr(single)) for c in CLASSES}, "single_f")):
        chosen = Settings.of(
            classes=CLASSES, only=(f"{basis}.tuned",), thresholds=thresholds, inclusive=inclusive
        )
        reached = evaluate_rows(*sides, chosen, durations)[f"{basis}.tuned.f1.micro"]
        assert reached == pytest.approx(found[f"{basis}.optimal.{name}"], abs=1e-12)


def test_a_class_that_costs_more_than_it_gains_is_not_detected():
    """By hand: b has one hit below three false alarms, which micro F is better without."""
    reference = long_rows([("x", 0.0, 4.0, "a", 1.0), ("x", 4.0, 5.0, "b", 1.0)])
    system = long_rows(
        [("x", 0.0, 4.0, "a", 1.0), ("x", 4.0, 5.0, "b", 0.2), ("x", 0.0, 3.0, "b", 0.9)], files=("x",)
    )
    scores = evaluate_rows(reference, system, Settings.of(only=("segment.optimal",), measures="joint"))
    assert scores["segment.optimal.joint_f"] == pytest.approx(2 * 4 / (5 + 4))
    assert scores["segment.optimal.joint_threshold[b]"] is None
    assert scores["segment.optimal.f1.micro"] == pytest.approx(2 * 5 / (5 + 8))
    assert np.isclose(scores["segment.optimal.single_f"], 2 * 4 / (5 + 4))


def drawn(seed, n_classes=3, n=7):
    """Scores and positives of some classes in two files, and their candidates."""
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(1, 12, (n_classes, n)) / 12, rng.random((n_classes, n)) < 0.35
    file = rng.integers(0, 2, n).astype(np.int32)
    classes = [Candidates.of_cells(*sides, file, 2) for sides in zip(scores, positive, strict=True)]
    pooled = Candidates.of_cells(scores.ravel(), positive.ravel(), np.tile(file, n_classes), 2)
    return scores, positive, file, classes, pooled


def f_of(scores, positive, copies, cuts, beta):
    """Micro F of what is at or above the cut of each class, where files are there several times."""
    detected = scores >= np.asarray(cuts)[:, None]
    return micro_f([[(of * copies).sum() for of in (positive & detected, positive, detected)]], beta)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_candidates_of_all_classes_against_all_combinations(seed, beta):
    scores, positive, file, classes, pooled = drawn(seed)
    weights = np.array([[1.0, 1.0], [0.0, 2.0], [3.0, 1.0]])
    at, best = joint_best(classes, weights, beta)
    told = joint_scores(classes, pooled, weights, beta, inclusive=True)
    for row, copies in enumerate(weights[:, file]):
        every = [[*of, 2.0] for of in scores]
        wanted = max(f_of(scores, positive, copies, cuts, beta) for cuts in itertools.product(*every))
        assert best[row] == pytest.approx(wanted, abs=1e-12)
        cuts = [2.0 if k < 0 else own.value[k] for own, k in zip(classes, at[row], strict=True)]
        assert f_of(scores, positive, copies, cuts, beta) == pytest.approx(wanted, abs=1e-12)
        single = max(f_of(scores, positive, copies, [cut] * 3, beta) for cut in scores.ravel())
        assert told["single_f"].overall[row] == pytest.approx(single, abs=1e-12)
        # What is told is at or above a threshold, and read back it selects the same.
        cut = told["single_threshold"].overall[row]
        assert f_of(scores, positive, copies, [cut] * 3, beta) == pytest.approx(single, abs=1e-12)
        cuts = [2.0 if np.isnan(cut) else cut for cut in told["joint_threshold"].classes[row]]
        assert f_of(scores, positive, copies, cuts, beta) == pytest.approx(wanted, abs=1e-12)
    assert told["joint_f"].overall.tolist() == best.tolist()
    assert at.min() >= -1


def test_one_positive_is_enough_and_none_is_not():
    """The first file has one positive, the second none; and there may be no class at all."""
    file, scores = np.array([0, 0, 1], dtype=np.int32), np.array([0.5, 0.25, 0.75])
    own = [Candidates.of_cells(scores, np.array([True, False, False]), file, 2)]
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    at, best = joint_best(own, weights, 1.0)
    assert at.tolist() == [[0], [-1], [0]]
    assert best[[0, 2]].tolist() == [1.0, 2 / 3]
    assert np.isnan(best[1])
    at, best = joint_best([], weights, 1.0)
    assert at.shape == (3, 0)
    assert best.shape == (3,)
    assert np.isnan(best).all()


def test_many_weights_are_the_same_in_parts(monkeypatch):
    classes, weights = drawn(1)[3], np.random.default_rng(0).integers(0, 3, (9, 2)).astype(float)
    together = joint_best(classes, weights, 1.0)
    monkeypatch.setattr("sedeval_soft.measures.joint._AT_ONCE", 30)
    for ours, theirs in zip(joint_best(classes, weights, 1.0), together, strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)
