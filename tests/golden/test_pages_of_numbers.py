"""Pages of numbers say what is computed: their tables, made again, and what their text says of them."""

from __future__ import annotations

import re

import pytest
from called import call
from documents import ROOT, script
from shared_data import shared

from sedeval_soft.tables import read_rows

MADE = {name: script(name) for name in ("maestro", "paper", "thresholds")}
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


# MAESTRO Real

DRAWN, COPIES, PSDS = (f"{table}\n" for table in BETWEEN["maestro"].strip().split("\n\n"))


@pytest.fixture(scope="module")
def soft():
    return MADE["maestro"].reference(shared("maestro"))


@pytest.fixture(scope="module")
def hard():
    return read_rows(shared("maestro/gt_dev.csv"))


def test_the_reference_is_perfect_exactly_and_the_hard_labels_only_at_a_half():
    assert len(cells(DRAWN)) == 9 and len(cells(COPIES)) == 18
    for row in cells(COPIES):
        system, _, reading, *columns = row
        perfect = [row[name] == ("0" if name.startswith("ER") else "1") for name in columns]
        assert {*perfect} == {row[system] == "reference" or row[reading] != "soft"}


@pytest.mark.slow
def test_draws(soft):
    assert MADE["maestro"].drawn_table(soft) == DRAWN


def test_hard_labels_and_reference(soft, hard):
    assert MADE["maestro"].copies_table(soft, hard) == COPIES


@pytest.mark.slow
def test_psds(soft, hard):
    """Of two draws, whose means round to 0 as those of all ten do."""
    assert MADE["maestro"].psds_table(soft, hard, 2) == PSDS


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


# Thresholds


@pytest.mark.slow
def test_the_tables_on_thresholds():
    made, text = MADE["thresholds"], TEXT["thresholds"]
    assert made.page(text, made.tables(*made.scored(shared("maestro")))) == text


def test_the_example_of_thresholds(tmp_path, monkeypatch):
    for side in ("ref", "sys"):
        head, *rows = (ROOT / "sample_data" / f"{side}.tsv").read_text(encoding="utf-8").splitlines()
        for name, files in (("dev", ("cafe", "metro", "night")), ("test", ("park", "street"))):
            lines = [head, *(row for row in rows if row.startswith(files)), ""]
            (tmp_path / f"{name}_{side}.tsv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"^    soft-sed-eval (.*)$", TEXT["thresholds"], re.MULTILINE)
    assert call(*first.split()).code == 0
    for form, made in (
        ("yaml\n(.*?)", (tmp_path / "thresholds.yaml").read_text),
        ("text\n( +F1 macro .*?)", None),
    ):
        printed = re.search(rf"```{form}```", TEXT["thresholds"], re.DOTALL)[1].rstrip()
        whole = made(encoding="utf-8") if made else call(*second.split()).out
        assert printed in "\n".join(line.rstrip() for line in whole.splitlines())
