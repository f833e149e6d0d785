"""The page on MAESTRO Real says what is computed: its tables, made again, and the figures of its text."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from documents import script
from shared_data import shared

from sedeval_soft.tables import read_rows


@pytest.fixture(scope="module")
def made():
    return script("maestro")


@pytest.fixture(scope="module")
def text(made):
    return made.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(made, text):
    """The page's three tables."""
    between = text[text.index(made.BEGIN) + len(made.BEGIN) : text.index(made.END)]
    return [f"{table}\n" for table in between.strip().split("\n\n")]


@pytest.fixture(scope="module")
def soft(made):
    return made.reference(shared("maestro"))


@pytest.fixture(scope="module")
def hard():
    return read_rows(shared("maestro/gt_dev.csv"))


def cells(table):
    """Return a table's cells by system, basis, reading and column."""
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {(*row[:3], name): cell for row in rows for name, cell in zip(head[3:], row[3:], strict=True)}


def test_the_page_has_all_its_numbers(made, printed):
    """Without the data: nine readings of eight scores for each system, and nothing undefined."""
    drawn, copies, psds = printed
    assert len(cells(drawn)) == 9 * 8
    assert all(re.fullmatch(r"\d+\.\d{4} ± \d+\.\d{4}", cell) for cell in cells(drawn).values())
    assert len(cells(copies)) == 2 * 9 * 8
    assert all(re.fullmatch(r"0|1|\d\.\d{4}", cell) for cell in cells(copies).values())
    assert psds.count("\n") == 5


def test_the_reference_is_perfect_exactly_and_the_hard_labels_only_at_a_half(printed):
    for (system, _, reading, column), cell in cells(printed[1]).items():
        perfect = cell == ("0" if column.startswith("ER") else "1")
        assert perfect == (system == "reference" or reading != "soft")


@pytest.mark.slow
def test_draws(made, printed, soft):
    assert made.drawn_table(soft) == printed[0]


def test_hard_labels_and_reference(made, printed, soft, hard):
    assert made.copies_table(soft, hard) == printed[1]


@pytest.mark.slow
def test_psds(made, printed, soft, hard):
    """Of two draws, which give exactly 0 as all ten do."""
    assert made.psds_table(soft, hard, 2) == printed[2]


def test_rounding_the_reference_gives_the_hard_labels(made, soft, hard):
    rounded = replace(soft, values=tuple(np.where(column > 0.5, 1.0, 0.0) for column in soft.values))
    assert dict(made.scored(soft, rounded)) == dict(made.scored(soft, hard))


def test_tables_are_put_between_the_marks(made, text):
    assert made.page(text, "\nother\n") != text
    between = text[text.index(made.BEGIN) + len(made.BEGIN) : text.index(made.END)]
    assert made.page(made.page(text, "other\n"), between) == text


def test_figures_of_the_text(made, text, soft, hard):
    values = np.stack(soft.values, axis=-1)
    low, total = values[values <= 0.5].sum(), values.sum()
    assert f"49 files, {len(soft)} s, 11 classes" in text
    assert f"{100 * low / total:.0f} % of the reference ({low:.0f}\n  of {total:.0f} class seconds" in text
    scores = made.scored(soft, made.drawn(soft, 0))
    assert "about 9800 for the reference's 900" in text
    assert scores["event.hard.n_ref.micro"] == 900
    assert round(scores["event.hard.n_sys.micro"], -2) == 9800
    assert "on events and intersections are below 0.1" in text
    for basis, reading in made.FAMILIES[3:]:
        assert all(scores[f"{basis}.{reading}.f1.{form}"] < 0.1 for form in ("micro", "macro"))
    # Several classes are best detected always.
    best = [scores[f"segment.optimal.threshold[{label}]"] for label in soft.classes]
    assert sum(threshold == -1 for threshold in best) >= 3
    copies = made.scored(soft, hard)
    assert f"get micro F1 {copies['event.soft.f1.micro']:.2f}" in text
    assert f"boundaries, {copies['intersection.soft.f1.micro']:.2f}." in text
    for macro in ("0.11 hard", "0.26\n  soft"):
        number, reading = macro.split()
        assert macro in text
        assert scores[f"segment.{reading}.f1.macro"] == pytest.approx(float(number), abs=0.006)
