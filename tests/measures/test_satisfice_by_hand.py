"""Best thresholds under a constraint, of candidates and weighted files, against looking at each candidate."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.registry import score_names
from sedeval_soft.measures.satisfice import NAMES, satisficed_scores
from sedeval_soft.settings import Constraint

HOURS = np.array([0.5, 2.0])
LENGTH = np.array([1_800_000_000, 7_200_000_000])
"""The same in microseconds."""
WEIGHTS = np.array([[1.0, 1.0], [0.0, 1.0], [3.0, 1.0], [1.0, 0.0]])
FILE = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=np.int32)
SCORES = np.array([0.9, 0.6, 0.5, 0.1, 0.8, 0.7, 0.4, 0.3, 0.2])
POSITIVE = np.array([False, True, False, True, False, True, True, False, False])
SIGNS = {"precision": ">=", "recall": ">=", "fpr_per_hour": "<=", "error_rate": "<=", "deletion_rate": "<="}


def divided(top, bottom):
    return top / bottom if bottom else np.nan


def at_each(copies, hours, beta):
    """What each candidate reaches where files are there several times, from the highest down."""
    found = []
    for low in (2.0, *sorted(SCORES, reverse=True)):
        detected = SCORES >= low
        tp, n_sys, n_ref = ((of * copies).sum() for of in (POSITIVE & detected, detected, POSITIVE))
        found.append(
            {
                "f": divided((1 + beta**2) * tp, beta**2 * n_ref + n_sys),
                "precision": divided(tp, n_sys),
                "recall": divided(tp, n_ref),
                "fpr_per_hour": divided(n_sys - tp, hours),
                "error_rate": divided(n_ref + n_sys - 2 * tp, n_ref),
                "deletion_rate": divided(n_ref - tp, n_ref),
            }
        )
    return found


def wanted(reached, constraint):
    """What is told: the constrained measure, and F, precision and recall, NaN where nothing satisfies it."""
    at_least = SIGNS[constraint.measure] == ">="
    values = np.array([of[constraint.measure] for of in reached])
    holds = values >= constraint.number if at_least else values <= constraint.number
    if not holds.any():
        nearest = np.nanmax(values) if at_least else np.nanmin(values)
        return [nearest, np.nan, np.nan, np.nan]
    sign = -1 if constraint.best == "error_rate" else 1
    goal = [sign * of[constraint.best] if h else -np.inf for h, of in zip(holds, reached, strict=True)]
    best = reached[int(np.nanargmax(goal))]
    return [best[name] for name in (constraint.measure, "f", "precision", "recall")]


def candidates():
    return Candidates.of_cells(SCORES, POSITIVE, FILE, 2, with_nothing=True, every=True)


@pytest.mark.parametrize("best", ["f", "precision", "recall", "error_rate"])
@pytest.mark.parametrize(
    ("measure", "number"),
    [
        *(("precision", number) for number in (0.3, 0.5, 0.6, 0.99)),
        *(("recall", number) for number in (0.5, 0.7, 1.0)),
        *(("fpr_per_hour", number) for number in (0.0, 1.0, 2.4)),
        *(("error_rate", number) for number in (0.0, 0.6, 1.0, 1.4)),
        *(("deletion_rate", number) for number in (0.0, 0.5)),
    ],
)
@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_each_candidate_is_looked_at(best, measure, number, beta):
    constraint = Constraint.parse(f"{best} at {measure}{SIGNS[measure]}{number}")
    own = candidates()
    told = satisficed_scores([own, own], own, WEIGHTS, LENGTH, constraint, beta, inclusive=False)
    assert {*told} == {f"satisficed_{name}" for name in NAMES}
    for row, weights in enumerate(WEIGHTS):
        numbers = wanted(at_each(weights[FILE], weights @ HOURS, beta), constraint)
        for name, value in zip(("constraint", "f", "precision", "recall"), numbers, strict=True):
            of = told[f"satisficed_{name}"]
            assert of.overall[row] == pytest.approx(value, nan_ok=True), (row, name)
            assert of.classes[row].tolist() == pytest.approx([value, value], nan_ok=True)


def test_files_without_reference_are_told_nothing_and_no_class_has_no_column():
    own = Candidates.of_cells(SCORES, POSITIVE & (FILE == 1), FILE, 2, with_nothing=True, every=True)
    for constraint in (Constraint.parse("precision>=0.5"), Constraint.parse("fpr_per_hour<=0.1")):
        told = satisficed_scores([], own, WEIGHTS, LENGTH, constraint, 1.0, inclusive=False)
        for name in NAMES:
            assert told[f"satisficed_{name}"].classes.shape == (4, 0)
            assert np.isnan(told[f"satisficed_{name}"].overall[3])
        assert not np.isnan(told["satisficed_constraint"].overall[0])


def test_many_weights_are_the_same_in_parts(monkeypatch):
    constraint = Constraint.parse("recall at precision>=0.5")
    how = (LENGTH, constraint, 1.0)
    together = satisficed_scores([], candidates(), WEIGHTS, *how, inclusive=True)
    monkeypatch.setattr("sedeval_soft.measures.satisfice._AT_ONCE", 1)
    apart = satisficed_scores([], candidates(), WEIGHTS, *how, inclusive=True)
    for name, of in together.items():
        assert np.array_equal(of.overall, apart[name].overall, equal_nan=True), name


def test_scores_of_classes_are_named_once_without_classes():
    names = list(score_names())
    assert "segment.soft.f1[class]" in names
    assert sum("[" in name for name in names) == sum("[" in name for name in score_names(["a", "b"])) / 2
