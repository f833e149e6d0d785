"""The statements of docs/explanations/readings.md, checked on random tables against every level by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from documents import ROOT

from sedeval_soft import evaluate

CLASSES = ("car", "dog", "rain")
Table = dict[str, list]


def random_table(seed: int) -> Table:
    """A long table of touching seconds, with few different values: there are ties, and silence."""
    cells = [(file, label, second) for file in range(3) for label in CLASSES for second in range(12)]
    value = np.random.default_rng(seed).integers(0, 9, len(cells)) / 8
    return {
        "filename": [f"{file}.wav" for file, _, _ in cells],
        "onset": [second for *_, second in cells],
        "offset": [second + 1 for *_, second in cells],
        "event_label": [label for _, label, _ in cells],
        "value": value.tolist(),
    }


def cut(table: Table, level: float) -> Table:
    """The table with values of 1 where they are at least the level, else 0."""
    return {**table, "value": [float(value >= level) for value in table["value"]]}


def levels_of(*tables: Table) -> Iterator[tuple[float, float]]:
    """Yield each level at which something changes, and how far the one below it is."""
    ends = sorted({0.0, 1.0}.union(*(table["value"] for table in tables)))
    for low, high in zip(ends, ends[1:], strict=False):
        yield high, high - low


SEEDS = pytest.mark.parametrize("seed", range(2))
PAGE = ROOT / "docs" / "explanations" / "readings.md"


def tables(seed):
    return random_table(2 * seed), random_table(2 * seed + 1)


def values(table):
    """The values as an array (n_files, n_classes, n_seconds)."""
    return np.array(table["value"]).reshape(-1, len(CLASSES), 12)


def soft(reference, system, **settings):
    return evaluate(reference, system, classes=CLASSES, only=["segment.soft"], **settings)


def test_4_is_not_the_plain_mean_in_the_third_case_of_the_paper():
    y, p = np.array([(0.4, 0.5), (0.4, 0.5), (0.5, 0.4), (0.7, 0.4)]).T[:, :, None]
    scores = evaluate(y, p, only=["segment"], inclusive=True)
    assert scores["segment.hard.f1.micro"] == 0
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    told = float(re.search(r"Soft F is (0\.\d+), the weighted mean", text)[1])
    assert scores["segment.soft.f1.micro"] == pytest.approx(told, abs=5e-4)
    for level, hard in ((0.4, 1.0), (0.45, 0.0), (0.5, 0.0), (0.7, 0.0)):
        at = evaluate(y, p, only=["segment.hard"], inclusive=True, threshold=level)
        assert at["segment.hard.f1.micro"] == hard
    assert "0.4 / 0.7 = 0.571" in text


@SEEDS
def test_6_f_and_error_rate_of_a_class_are_distances(seed):
    reference, system = tables(seed)
    y, p = values(reference), values(system)
    scores = soft(reference, system)
    for i, label in enumerate(CLASSES):
        distance = np.abs(y - p)[:, i].sum()
        f1, rate = (scores[f"segment.soft.{of}[{label}]"] for of in ("f1", "error_rate"))
        assert 1 - f1 == pytest.approx(distance / (y + p)[:, i].sum(), abs=1e-9)
        assert rate == pytest.approx(distance / y[:, i].sum(), abs=1e-9)
    assert soft(reference, reference)["segment.soft.f1.micro"] == pytest.approx(1, abs=1e-12)
    assert scores["segment.soft.f1.micro"] < 1


@SEEDS
def test_7_the_product_cuts_both_sides_independently(seed):
    reference, system = tables(seed)
    total = sum(
        width * other_width * (values(cut(reference, level)) * values(cut(system, other))).sum()
        for level, width in levels_of(reference)
        for other, other_width in levels_of(system)
    )
    scores = soft(reference, system, t_norm="product")
    assert scores["segment.soft.tp.micro"] == pytest.approx(total, abs=1e-9)
    for norm in ("product", "lukasiewicz"):
        assert soft(reference, reference, t_norm=norm)["segment.soft.f1.micro"] < 1


def test_8_micro_optimal_f_can_be_lower():
    """The page's example, by hand."""
    reference, system = np.zeros((2, 14, 2))
    reference[:4, 0] = system[:4, 0] = 1.0
    reference[4, 1], system[4:, 1] = 1.0, 0.3
    scores = evaluate(reference, system, only=["segment"])
    assert scores["segment.hard.f1.micro"] == pytest.approx(8 / 9, abs=1e-15)
    assert scores["segment.optimal.f1[1]"] == pytest.approx(2 / 11, abs=1e-15)
    assert scores["segment.optimal.f1.micro"] == pytest.approx(10 / 19, abs=1e-15)
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert "micro F is 8/9 hard and 10/19 optimal" in text


@SEEDS
def test_9_the_optimal_reading_does_not_depend_on_the_scale(seed):
    reference, system = tables(seed)
    bent = {**system, "value": [value**3 for value in system["value"]]}
    before, after = (evaluate(reference, each, classes=CLASSES, only=["segment"]) for each in (system, bent))
    for average in ("micro", "macro"):
        name = f"segment.optimal.f1.{average}"
        assert after[name] == pytest.approx(before[name], abs=1e-12)
        assert abs(after[f"segment.soft.f1.{average}"] - before[f"segment.soft.f1.{average}"]) > 1e-3


SEGMENTS = (
    "measures/test_segment_counts.py::test_hard_counts_are_those_of_cells_and_soft_ones_their_integrals"
)
EVENTS = "measures/test_matching.py::test_soft_counts_are_the_exact_integrals"
BEST = "measures/test_best_thresholds.py::test_best_thresholds_of_classes_and_of_all_are_those_of_all"
LIFETIMES = "timeline/test_events.py::test_alive_at_a_threshold_are_its_merged_events"
ELSEWHERE = {
    "1": SEGMENTS,
    "2": "contract/laws.py::soft_equals_hard_on_binary_labels",
    "3": "timeline/test_grids.py::test_values_of_segments",
    "4": EVENTS,
    "5": SEGMENTS,
    "8": BEST,
    "10": "measures/test_cells.py::test_segments_of_one_file",
    "11": "timeline/test_events.py::test_the_runs_of_values_above_something",
    "12": LIFETIMES,
    "13": LIFETIMES,
    "14": EVENTS,
    "15": EVENTS,
    "16": "timeline/test_events.py::test_it_commutes_with_thresholds",
}
"""Statements that another test holds, at every level or against an oracle."""


def test_every_statement_has_a_test():
    told = re.findall(r"^\*\*Statement (\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    tested = {match[1] for name in globals() if (match := re.match(r"test_(\d+)_", name))}
    assert {*told} == tested | {*ELSEWHERE} == {str(k) for k in range(1, 17)}
    for path, _, name in (each.partition("::") for each in ELSEWHERE.values()):
        assert f"def {name}" in (ROOT / "tests" / path).read_text(encoding="utf-8")
