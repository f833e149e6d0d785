"""Thresholds that are best for all classes together, against trying all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from four_segments import CLASSES, CUTS, FILES, VALUES, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows
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
