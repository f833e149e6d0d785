"""The page on the paper says what is computed, and what it says of its tables is so."""

from __future__ import annotations

import re

import pytest
from documents import script
from shared_data import shared


@pytest.fixture(scope="module")
def made():
    return script("paper")


@pytest.fixture(scope="module")
def printed(made):
    """The page's tables by the first word of their titles."""
    text = made.PAGE.read_text(encoding="utf-8")
    between = text[text.index(made.BEGIN) + len(made.BEGIN) : text.index(made.END)]
    parts = re.split(r"^### (.*)\n\n", between, flags=re.MULTILINE)[1:]
    return {
        title.partition(":")[0]: table.strip() + "\n"
        for title, table in zip(parts[::2], parts[1::2], strict=True)
    }


def cells(table):
    """Return the rows of a table, each by the names of its columns."""
    head, _, *rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def mean(cell):
    return float(cell.split()[0])


def test_what_needs_no_data_is_made_again(made, printed):
    assert printed["Table 1"] == made.table_1()
    assert printed["Figure 1"] == made.figure_1()
    assert [row["paper"] for row in cells(printed["Table 1"])] == ["the same"] * 3
    assert all(list(row.values())[3] == list(row.values())[5] for row in cells(printed["Figure 1"]))


def test_figure_3_is_as_the_text_says(printed):
    *betas, constant = cells(printed["Figure 3"])
    assert len({row["hard micro F"] for row in betas}) == len({row["hard macro F"] for row in betas}) == 1
    assert mean(constant["hard micro F"]) > mean(betas[0]["hard micro F"])
    divergence = [mean(row["KLD"]) for row in (*betas, constant)]
    assert divergence == sorted(divergence, reverse=True)
    for column in ("soft micro F", "soft macro F"):
        soft = [mean(row[column]) for row in (*betas, constant)]
        assert soft == sorted(soft)
    flat = [mean(row["optimal macro F"]) for row in (*betas, constant)]
    assert max(flat) - min(flat) <= 0.3 + 1e-9


def test_table_2_is_as_the_text_says(made, printed):
    rows = {(row["system"].strip("*"), row["fit"]): row for row in cells(printed["Table 2"])}
    columns = [f"{reading} {average}" for reading, average in made.COLUMNS]
    for system, paper in made.TABLE_2.items():
        theirs = rows.get((system, "paper"))
        assert theirs is None or [float(theirs[name].strip("*")) for name in columns] == list(paper)
    sampling = rows["data-sampling", ""]
    assert all(sampling[name].endswith("(in)") for name in columns)
    betas = rows["betas", "likelihood, 1e-9"]
    off = {
        name: abs(mean(betas[name]) - value)
        for name, value in zip(columns, made.TABLE_2["betas"], strict=True)
    }
    assert max(value for name, value in off.items() if name != "optimal micro") <= 0.3 + 1e-9
    moments = rows["betas", "moments"]
    worse = [name for name in columns if not name.startswith("optimal")]
    assert all(
        mean(moments[n]) > v for n, v in zip(columns, made.TABLE_2["betas"], strict=True) if n in worse
    )
    shuffled = rows["shuffled-betas", "likelihood, 1e-9"]
    inside = [name for name in columns if shuffled[name].endswith("(in)")]
    assert {"hard micro", "hard macro", "soft micro"} <= {*inside}
    assert "soft macro" not in inside
    macro = [
        abs(mean(row["optimal macro"]) - made.TABLE_2[system][3])
        for (system, fit), row in rows.items()
        if fit != "paper"
    ]
    assert max(macro) <= 0.2 + 1e-9


def test_single_permutations_are_as_the_text_says(printed):
    rows = cells(printed["Shuffled betas"])
    share = {
        row["values held"]: mean(row["lower than the paper's"]) for row in rows if row["F"] == "soft macro"
    }
    assert share["1e-09"] < 1 < share["1e-12"]


@pytest.mark.slow
def test_the_row_of_data_sampling_is_made_again(made, printed):
    folder = shared("maestro")
    soft = made.reference(folder)
    own = made.over_folds(soft, made.folds_of(folder))
    scores = made.runs_of(soft, lambda seed: own("data-sampling", seed, {}), made.RUNS)
    assert made.sampled("data-sampling", "", scores, made.TABLE_2["data-sampling"]) in printed["Table 2"]


def test_without_data_labels_are_simulated_and_said_to_be(made, capsys, tmp_path):
    before = made.PAGE.read_bytes()
    made.main([str(tmp_path)], 2)
    out = capsys.readouterr().out
    assert "SIMULATED" in out.splitlines()[0]
    assert "Table 2" in out
    assert "**23.2**" not in out
    assert made.PAGE.read_bytes() == before
