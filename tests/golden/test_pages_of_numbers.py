"""Pages of numbers are computed again: their tables, and the numbers in their text."""

from __future__ import annotations

import re

import pytest
from documents import script
from shared_data import shared

MADE = {name: script(name) for name in ("paper",)}
TEXT = {name: made.PAGE.read_text(encoding="utf-8") for name, made in MADE.items()}
BETWEEN = {
    name: TEXT[name][TEXT[name].index(made.BEGIN) + len(made.BEGIN) : TEXT[name].index(made.END)]
    for name, made in MADE.items()
}
"""What the scripts wrote."""


def cells(table):
    """Return the rows of a table, each by the names of its columns."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def soft():
    return MADE["paper"].reference(shared("maestro"))


# The paper

PARTS = re.split(r"^### ([\w ]+).*\n\n", BETWEEN["paper"], flags=re.MULTILINE)[1:]
PRINTED = {title: f"{table.strip()}\n" for title, table in zip(PARTS[::2], PARTS[1::2], strict=True)}


def test_what_needs_no_data_is_made_again():
    assert PRINTED["Table 1"] == MADE["paper"].table_1()
    assert PRINTED["Figure 1"] == MADE["paper"].figure_1()
    assert [row["paper"] for row in cells(PRINTED["Table 1"])] == ["the same"] * 3
    assert all(list(row.values())[3] == list(row.values())[5] for row in cells(PRINTED["Figure 1"]))


@pytest.mark.slow
def test_the_row_of_data_sampling_is_made_again(soft):
    made = MADE["paper"]
    sampled = made.over_folds(soft, made.folds_of(shared("maestro")))
    scores = made.runs_of(soft, lambda seed: sampled("data-sampling", seed, {}), made.RUNS)
    assert made.sampled("data-sampling", "", scores, made.TABLE_2["data-sampling"]) in PRINTED["Table 2"]


def test_without_data_labels_are_simulated_and_said_to_be(capsys, tmp_path):
    made = MADE["paper"]
    made.main([str(tmp_path)], 2)
    out = capsys.readouterr().out
    assert "SIMULATED" in out.splitlines()[0] and "Table 2" in out and "**23.2**" not in out
    assert made.PAGE.read_text(encoding="utf-8") == TEXT["paper"]
