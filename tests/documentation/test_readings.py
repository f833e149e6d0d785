"""The statements of docs/explanations/readings.md, checked on random tables against every level by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from documents import ROOT

from sedeval_soft import evaluate
from sedeval_soft.timeline.events import level_runs

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


def without_values(table: Table) -> Table:
    """The rows that are 1, as a table without values; every file is declared by its name."""
    ones = [i for i, value in enumerate(table["value"]) if value == 1]
    rows = [[*row[:4]] for row in zip(*table.values(), strict=True)]
    chosen = [rows[i] for i in ones] + [[file, None, None, None] for file in sorted(set(table["filename"]))]
    return dict(zip(table, map(list, zip(*chosen, strict=True)), strict=False))


def levels_of(*tables: Table) -> Iterator[tuple[float, float]]:
    """Yield each level at which something changes, and how far the one below it is."""
    ends = sorted({0.0, 1.0}.union(*(table["value"] for table in tables)))
    for low, high in zip(ends, ends[1:], strict=False):
        yield high, high - low


def at_levels(reference: Table, system: Table, names: list[str], **settings) -> tuple[np.ndarray, np.ndarray]:
    """Scores of both sides cut at each level, (n_levels, n_names), and how far levels are apart."""
    widths, found = [], []
    for level, width in levels_of(reference, system):
        scores = evaluate(cut(reference, level), cut(system, level), classes=CLASSES, **settings)
        widths.append(width)
        found.append([np.nan if scores[name] is None else scores[name] for name in names])
    return np.array(found, dtype=float), np.array(widths)


SEEDS = pytest.mark.parametrize("seed", range(2))
BASES = pytest.mark.parametrize("basis", ["segment", "event"])
PAGE = ROOT / "docs" / "explanations" / "readings.md"


def tables(seed):
    return random_table(2 * seed), random_table(2 * seed + 1)


def values(table):
    """The values as an array (n_files, n_classes, n_seconds)."""
    return np.array(table["value"]).reshape(-1, len(CLASSES), 12)


def soft(reference, system, basis="segment", **settings):
    return evaluate(reference, system, classes=CLASSES, only=[f"{basis}.soft"], **settings)


@SEEDS
@pytest.mark.parametrize("length", [1.0, 2.5, 0.4])
def test_3_cutting_and_pooling_by_the_maximum_can_be_exchanged(length, seed):
    reference, system = tables(seed)
    for level, _ in levels_of(reference, system):
        settings = {"segment_length": length, "only": ["segment.hard"], "classes": CLASSES}
        pooled = evaluate(reference, system, threshold=level, inclusive=True, **settings)
        sides = (without_values(cut(side, level)) for side in (reference, system))
        first = evaluate(*sides, durations={f"{file}.wav": 12.0 for file in range(3)}, **settings)
        for count in ("tp", "fp", "fn"):
            assert pooled[f"segment.hard.{count}.micro"] == first[f"segment.hard.{count}.micro"]


RATES = {"precision": (0, 1), "recall": (1, 0), "f1": (1, 1)}
"""Weights of the numbers of both sides."""


@SEEDS
@BASES
def test_4_soft_rates_are_weighted_means_of_hard_ones(basis, seed):
    reference, system = tables(seed)
    scores = soft(reference, system, basis)
    names = [f"{basis}.hard.{name}.micro" for name in ("n_ref", "n_sys", *RATES)]
    found, widths = at_levels(reference, system, names, only=[f"{basis}.hard"])
    for place, (rate, of_sides) in enumerate(RATES.items(), 2):
        weights, hard = widths * (found[:, :2] @ of_sides), found[:, place]
        there = weights > 0
        score = scores[f"{basis}.soft.{rate}.micro"]
        assert score == pytest.approx(np.average(hard[there], weights=weights[there]), abs=1e-9)
        assert hard[there].min() - 1e-12 <= score <= hard[there].max() + 1e-12


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


@SEEDS
@BASES
def test_8_optimal_f_of_a_class_is_at_least_hard_f(basis, seed):
    scores = evaluate(*tables(seed), classes=CLASSES, only=[basis])
    for average in (*(f"f1[{label}]" for label in CLASSES), "f1.macro"):
        assert scores[f"{basis}.optimal.{average}"] >= scores[f"{basis}.hard.{average}"] - 1e-12


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


Run = tuple[int, int]
"""The begin and the end of an event, in pieces."""


@SEEDS
def test_14_the_soft_number_of_events_is_all_lifetimes_and_all_rises(seed):
    table = random_table(seed)
    rises = np.maximum(0, np.diff(np.array(table["value"]).reshape(-1, 12), prepend=0)).sum()
    assert sum(dies - born for *_, born, dies in of_table(table)) == pytest.approx(rises)
    scores = evaluate(table, table, classes=CLASSES, only=["event.soft"])
    assert scores["event.soft.n_ref.micro"] == pytest.approx(rises, abs=1e-9)


def of_table(table: dict[str, list]) -> list[tuple[int, Run, float, float]]:
    """All lifetimes that the package finds, each with the number of its file and class, its born and dies."""
    each = np.pad(np.array(table["value"]).reshape(-1, 12), ((0, 0), (1, 1)))
    return [
        (k, (int(a) + 1, int(b) - 1), max(values[a], values[b]), values[s])
        for k, values in enumerate(each)
        for s, a, b in zip(*level_runs(values), strict=True)
        if values[s] > 0
    ]


def pair_sum(reference: dict[str, list], system: dict[str, list], collar: float) -> tuple[float, bool]:
    """The right side of Statement 15, for onsets alone, and whether nothing has a choice anywhere."""
    pairs = [
        ((where, run), (where, other), max(born, born_2), min(dies, dies_2))
        for where, run, born, dies in of_table(reference)
        for there, other, born_2, dies_2 in of_table(system)
        if where == there and abs(run[0] - other[0]) <= collar and max(born, born_2) < min(dies, dies_2)
    ]
    choice = any(
        (a[0] == b[0]) != (a[1] == b[1]) and max(a[2], b[2]) < min(a[3], b[3]) for a in pairs for b in pairs
    )
    return sum(high - low for *_, low, high in pairs), not choice


@SEEDS
@pytest.mark.parametrize("collar", [0.2, 1.0, 3.0])
def test_15_soft_hits_are_at_most_what_compatible_lifetimes_share(collar, seed):
    sides = random_table(2 * seed), random_table(2 * seed + 1)
    most, clear = pair_sum(*sides, collar)
    scores = evaluate(*sides, classes=CLASSES, only=["event.soft"], onset_collar=collar, offset=False)
    found = scores["event.soft.tp.micro"]
    assert found <= most + 1e-9
    # Onsets of one list are never as near to one another as a collar of 0.2 s allows.
    assert clear or collar > 0.2
    if clear:
        assert found == pytest.approx(most, abs=1e-9)
    elif collar == 3.0:
        assert found < most - 1e-3


@SEEDS
@pytest.mark.parametrize("done", [{"median_filter": 3.0}, {"min_gap": 2.5}, {"min_duration": 2.5}], ids=str)
def test_16_post_processing_and_cutting_can_be_exchanged(done, seed):
    reference, system = random_table(2 * seed), random_table(2 * seed + 1)
    names, changed = ("event.hard.n_sys.micro", "event.hard.tp.micro"), 0
    settings = {"classes": CLASSES, "only": ["event.hard"], "inclusive": True, "reference_threshold": 0.5}
    for level, _ in levels_of(system):
        before = evaluate(reference, system, threshold=level, **settings)
        after = evaluate(reference, system, threshold=level, **settings, **done)
        cut_first = evaluate(reference, cut(system, level), threshold=0.5, **settings, **done)
        assert [after[name] for name in names] == [cut_first[name] for name in names]
        changed += any(after[name] != before[name] for name in names)
    assert changed


ELSEWHERE = {
    "1": "measures/test_segment_counts.py::test_soft_counts_are_hard_ones_integrated_over_every_level",
    "2": "contract/laws.py::soft_equals_hard_on_binary_labels",
    "5": "measures/test_segment_counts.py::test_soft_counts_are_hard_ones_integrated_over_every_level",
    "10": "measures/test_cells.py::test_segments_of_one_file",
    "11": "timeline/test_events.py::test_the_runs_of_values_above_something",
    "12": "timeline/test_events.py::test_alive_at_a_threshold_are_its_merged_events",
    "13": "timeline/test_events.py::test_alive_at_a_threshold_are_its_merged_events",
}
"""Statements that another test holds, at every level or against an oracle."""


def test_every_statement_has_a_test():
    told = re.findall(r"^\*\*Statement (\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    tested = {match[1] for name in globals() if (match := re.match(r"test_(\d+)_", name))}
    assert {*told} == tested | {*ELSEWHERE} == {str(k) for k in range(1, 17)}
    for path, _, name in (each.partition("::") for each in ELSEWHERE.values()):
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")
