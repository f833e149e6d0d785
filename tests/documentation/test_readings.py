"""Every statement of docs/explanations/readings.md has a test, here or in another file."""

import re

import numpy as np
import pytest
from documents import ROOT

from sedeval_soft import evaluate

PAGE = ROOT / "docs" / "explanations" / "readings.md"
WORDS = " ".join(PAGE.read_text(encoding="utf-8").split())


def test_4_is_not_the_plain_mean_in_the_third_case_of_the_paper():
    y, p = np.array([(0.4, 0.5), (0.4, 0.5), (0.5, 0.4), (0.7, 0.4)]).T[:, :, None]
    scores = evaluate(y, p, only=["segment"], inclusive=True)
    assert scores["segment.hard.f1.micro"] == 0
    told = float(re.search(r"Soft F is (0\.\d+), the weighted mean", WORDS)[1])
    assert scores["segment.soft.f1.micro"] == pytest.approx(told, abs=5e-4)
    for level, hard in ((0.4, 1.0), (0.45, 0.0), (0.5, 0.0), (0.7, 0.0)):
        at = evaluate(y, p, only=["segment.hard"], inclusive=True, threshold=level)
        assert at["segment.hard.f1.micro"] == hard
    assert "0.4 / 0.7 = 0.571" in WORDS


def test_8_micro_optimal_f_can_be_lower():
    """The page's example, by hand."""
    reference, system = np.zeros((2, 14, 2))
    reference[:4, 0] = system[:4, 0] = 1.0
    reference[4, 1], system[4:, 1] = 1.0, 0.3
    scores = evaluate(reference, system, only=["segment"])
    told = {"hard.f1.micro": 8 / 9, "optimal.f1[1]": 2 / 11, "optimal.f1.micro": 10 / 19}
    assert {name: scores[f"segment.{name}"] for name in told} == pytest.approx(told, abs=1e-15)
    assert "micro F is 8/9 hard and 10/19 optimal" in WORDS


def test_9_the_optimal_reading_does_not_depend_on_the_scale():
    reference, system = np.random.default_rng(0).integers(0, 9, (2, 36, 3)) / 8
    before, after = (evaluate(reference, side, only=["segment"]) for side in (system, system**3))
    for average in ("micro", "macro"):
        optimal, soft = (f"segment.{reading}.f1.{average}" for reading in ("optimal", "soft"))
        assert after[optimal] == pytest.approx(before[optimal], abs=1e-12)
        assert abs(after[soft] - before[soft]) > 1e-3


SEGMENTS = (
    "measures/test_segment_counts.py::test_hard_counts_are_those_of_cells_and_soft_ones_their_integrals"
)
NORMS = "measures/test_cells.py::test_counts_of_a_norm"
EVENTS = "measures/test_matching.py::test_soft_counts_are_the_exact_integrals"
LIFETIMES = "timeline/test_events.py::test_alive_at_a_threshold_are_its_merged_events"
ELSEWHERE = {
    "1": SEGMENTS,
    "2": "contract/laws.py::soft_equals_hard_on_binary_labels",
    "3": "timeline/test_grids.py::test_values_of_segments",
    "4": EVENTS,
    "5": SEGMENTS,
    "6": NORMS,
    "7": NORMS,
    "8": "measures/test_best_thresholds.py::test_best_thresholds_of_classes_and_of_all_are_those_of_all",
    "10": "measures/test_cells.py::test_segments_of_one_file",
    "11": "timeline/test_events.py::test_the_runs_of_values_above_something",
    "12": LIFETIMES,
    "13": LIFETIMES,
    "14": EVENTS,
    "15": EVENTS,
    "16": "timeline/test_events.py::test_it_commutes_with_thresholds",
}
"""Statements that another test checks, at every level or against an oracle."""


def test_every_statement_has_a_test():
    told = re.findall(r"^\*\*Statement (\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    tested = {match[1] for name in globals() if (match := re.match(r"test_(\d+)_", name))}
    assert {*told} == tested | {*ELSEWHERE} == {str(k) for k in range(1, 17)}
    for path, _, name in (each.partition("::") for each in ELSEWHERE.values()):
        assert f"def {name}" in (ROOT / "tests" / path).read_text(encoding="utf-8")
