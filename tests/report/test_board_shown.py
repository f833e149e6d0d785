"""A board in every form: who is where, by how much, and how sure that is."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pandas as pd
import pytest
import yaml
from resampled import RANK_BY, board, with_folds, with_worst
from rich.cells import cell_len
from rich.text import Text
from samples import build, without
from schemas import allowed, check

from sedeval_soft.comparison.board import Agreement, Difference, board_document
from sedeval_soft.report import FORMATS, render, render_board
from sedeval_soft.report.board import board_page, p_value

ODD = ("a|b", "=1,+1\x1b[31m", "<b>x</b>", "鳥の声")


def table_of(found, title):
    """Return the one table whose title begins so."""
    (table,) = (table for table in board_page(found).tables if table.title.startswith(title))
    return table


def cells_of(table, system):
    """Return the row of a system as {(heading, column): cell}."""
    row = next(row for row in table.rows if system in row[: table.names])
    return dict(zip(zip([*[""] * table.names, *table.headings], table.head, strict=True), row, strict=True))


def test_notes_say_where_parts_and_worst_of_systems_are():
    parts = "Scores of groups, scenes and folds are in JSON and YAML."
    worst = "What costs most in each system is in JSON and YAML."
    plain = board()
    assert not {parts, worst} & {*board_page(plain).notes}
    first, *others = plain.systems
    folded = with_folds(first)
    found = replace(plain, systems=(folded, *others))
    assert parts in board_page(found).notes
    assert f"{RANK_BY}@fold1" in render_board(found, "json")
    assert worst in board_page(replace(plain, systems=(*others, with_worst(first)))).notes


def test_leaderboard_has_all_that_an_entry_says():
    found = board()
    table = table_of(found, f"Leaderboard by {RANK_BY}")
    assert [row[:2] for row in table.rows] == [
        *(("1", "alpha.tsv"), ("2=", "beta.tsv"), ("2=", "gamma.tsv"), ("4", "baseline.tsv")),
    ]
    entry = found.entries[1]
    assert cells_of(table, "beta.tsv") == {
        ("", "rank"): "2=",
        ("", "system"): "beta.tsv",
        ("score", "value"): f"{entry.value:.4f}",
        ("score", "2.5 %"): f"{entry.low:.4f}",
        ("score", "97.5 %"): f"{entry.high:.4f}",
        ("difference", "value"): "-0.0100",
        ("difference", "2.5 %"): "-0.0300",
        ("difference", "97.5 %"): "+0.0100",
        ("p", "bootstrap"): "0.0415",
        ("p", "exchange"): "0.0212",
        ("p", "Holm"): "0.1245",
        ("place", "stable"): "81.2 %",
        ("place", "range"): "1-3",
    }
    first = cells_of(table, "alpha.tsv")
    assert {cell for (heading, _), cell in first.items() if heading in {"difference", "p"}} == {""}


def test_ranks_of_many_systems_line_up():
    table = table_of(board([f"s{i}" for i in range(11)]), "Leaderboard")
    assert [row[0] for row in table.rows[:4]] == [" 1", " 2=", " 2=", " 4"]
    assert table.rows[10][0] == "11"


def test_what_is_not_known_is_not_made_up():
    found = board()
    entry = replace(found.entries[3], value=None, low=None, high=None, stability=None, best_place=None)
    entry = replace(entry, worst_place=None, difference=Difference(None, None, None, None, None, None))
    found = replace(found, entries=(*found.entries[:3], entry))
    row = table_of(found, "Leaderboard").rows[3]
    assert row[2:] == ("-", "", "", "-", "", "", "-", "-", "-", "", "")
    assert "- is undefined" in render_board(found)


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        *((1.0, "1.0000"), (0.04999, "0.0500"), (1 / 1001, "0.0010"), (0.0001, "0.0001")),
        *((0.00009, "9.0e-05"), (1 / 1_000_001, "1.0e-06"), (3.2e-200, "3.2e-200"), (0.0, "< 1e-300")),
        *((None, "-"), (float("nan"), "-")),
    ],
)
def test_p_values_are_never_zero(p, shown):
    assert p_value(p) == shown


def test_header_says_what_is_ranked_and_how_it_was_resampled():
    lines = dict(board_page(board()).lines)
    assert lines["ranked by"] == f"{RANK_BY}; higher is better"
    assert lines["against"] == "alpha.tsv, the first of the ranking"
    assert lines["resampled"] == "1000 replicates of 5 files, seed 0; 95 % confidence"
    assert lines["intervals"] == "bootstrap percentiles"
    assert lines["reference"].startswith("ref.tsv: ")
    other = board(baseline="gamma.tsv", replicates=1, ci="bca", fixed_thresholds=True)
    lines = dict(board_page(replace(other, rank_by="segment.hard.error_rate.micro")).lines)
    assert lines["ranked by"].endswith("; lower is better")
    assert lines["against"] == "gamma.tsv, the baseline"
    assert lines["resampled"].startswith("1 replicate of")
    assert lines["intervals"] == "BCa, thresholds fixed"
    systems = [text for role, text in board_page(board()).lines if role == "system"]
    assert [text.partition(":")[0] for text in systems] == [s.system for s in board().systems]
    many = board_page(board([f"s{i}" for i in range(11)])).lines
    assert "system" not in dict(many)
    assert dict(many)["systems"].startswith("11;")


def test_systems_stand_side_by_side_in_main_scores():
    found = board()
    table = table_of(found, "Systems side by side: macro F1, micro ER, micro KLD")
    assert [row[0] for row in table.rows] == [scores.system for scores in found.systems]
    row = cells_of(table, "gamma.tsv")
    scores = found.systems[2]
    assert row["segment soft", "F1"] == f"{scores['segment.soft.f1.macro']:.4f}"
    assert row["segment soft", "ER"] == f"{scores['segment.soft.error_rate.micro']:.4f}"
    assert row["segment soft", "KLD"] == f"{scores['segment.soft.kl_divergence.micro']:.4f}"
    assert row["event optimal", "F1"] == f"{scores['event.optimal.f1.macro']:.4f}"
    assert ("event soft", "KLD") not in row
    assert "Systems side by side: micro F1, micro ER" in render_board(found, averages=["micro"])
    bare = replace(found, systems=tuple(without(scores, lambda _: True) for scores in found.systems))
    assert "side by side" not in render_board(bare)


def test_agreement_is_a_matrix_of_numbered_scores():
    table = table_of(board(), "How alike")
    assert table.head == ("", "score", "1", "2", "3")
    assert table.rows[0] == ("1", RANK_BY, "1.000", "0.667", "-")
    none = replace(board(), agreement=Agreement((), ()))
    assert "tau" not in render_board(none)


def test_mcnemar_names_the_classes_that_differ_and_no_others():
    found = board()
    table = table_of(found, "Classes in which a system and alpha.tsv differ: McNemar")
    assert {row[0] for row in table.rows} == {"gamma.tsv", "baseline.tsv"}
    assert table.rows[0] == ("baseline.tsv", "class 1", "13", "43", "1.0e-07", "4.0e-07")
    said = "\n".join(board_page(found).notes)
    assert "treats segments as independent, which flatters small differences" in said
    assert "4 of 6 pairs of a class and a system have a Holm-adjusted p below 0.05; JSON has all." in said
    at = tuple(replace(item, p_adjusted=0.05) for item in found.discordances)
    edge = replace(found, discordances=at)
    assert not any("McNemar" in table.title for table in board_page(edge).tables)
    assert "0 of 6" in "\n".join(board_page(edge).notes)
    assert "McNemar" not in render_board(replace(found, discordances=()))


def test_mcnemar_is_capped_and_says_so():
    found = board(n_classes=17)
    assert len(table_of(found, "Classes in which").rows) == 20
    assert "34 of 51 pairs" in render_board(found)
    assert ", 14 more than are shown; JSON has all." in render_board(found)
    assert len(json.loads(render_board(found, "json"))["board"]["discordances"]) == 51


def test_notes_explain_what_is_there():
    said = "\n".join(board_page(board()).notes)
    assert "= marks a rank that is shared: at 95 % confidence these systems cannot" in said
    assert "minus that of alpha.tsv, better above 0;" in said
    assert "adjusted for 3 comparisons. No p of these can be below 0.0010, 1 in replicates + 1." in said
    two = board(("a", "b"))
    assert "= marks" not in render_board(two)
    assert "1 comparison." in render_board(two)
    lower = replace(board(), rank_by="segment.hard.error_rate.micro")
    assert "better below 0" in render_board(lower)


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_carries_all_signatures_or_hashes_and_is_the_same_twice(form):
    found = board()
    text = render_board(found, form)
    assert text == render_board(found, form)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    for i in range(4):
        assert f"{i:064x}" in text
    if form in {"text", "csv", "tsv"}:
        assert all(text.count(scores.signature) == 1 for scores in found.systems)


@pytest.mark.parametrize("form", ["text", "markdown", "json", "yaml"])
def test_odd_names_are_shown_and_not_obeyed(form):
    found = replace(board(ODD, baseline=ODD[1]), rank_by="odd\x1b<i>|")
    text = render_board(found, form)
    assert "\x1b" not in text
    if form == "markdown":
        assert "<" not in re.sub(r"\\<", "", text)
        rows = text.split("### Leaderboard")[1].split("\n\n")[1].splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
        assert "| a\\|b |" in text
    if form == "text":
        assert "against    =1,+1\\x1b[31m, the baseline\n" in text


def test_a_terminal_shows_names_whole_and_tables_fit():
    for width in (80, 120, 200):
        text = render_board(board(), color=True, width=width)
        lines = [Text.from_ansi(line).plain for line in text.splitlines()]
        drawn = [line for line in lines if line.startswith(" ")]
        assert max(map(cell_len, drawn)) <= width
        assert sum("baseline.tsv" in line for line in drawn) >= 4


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_rows_read_back(form, delimiter):
    found = board(ODD)
    text = render_board(found, form, raw_names=True)
    rows = list(csv.DictReader(io.StringIO(text[: text.index("\n# ") + 1]), delimiter=delimiter))
    assert [row["system"] for row in rows] == list(ODD) or form == "tsv"
    for row, entry in zip(rows, found.entries, strict=True):
        assert (row["rank"], row["tied"], row["place"]) == (
            *(str(entry.rank), str(entry.tied).lower(), str(entry.place)),
        )
        assert (row["rank_by"], row["compared_to"]) == (RANK_BY, ODD[0])
        for end in ("value", "low", "high"):
            assert float(row[end]) == getattr(entry, end)
        for part in ("value", "low", "high", "p_bootstrap", "p_exchange", "p_adjusted"):
            shown = row[f"difference_{part}"]
            assert (float(shown) if shown else None) == getattr(entry.difference, part, None)
        for part in ("stability", "best_place", "worst_place"):
            assert float(row[part]) == getattr(entry, part)
    frame = pd.read_csv(io.StringIO(text), comment="#", sep=delimiter)
    assert frame["tied"].tolist() == [False, True, True, False]


def test_document_is_valid_and_has_the_whole_board():
    found = board(baseline="gamma.tsv")
    document = json.loads(render_board(found, "json"))
    check(document)
    assert document == board_document(found)
    assert yaml.safe_load(render_board(found, "yaml")) == document
    plain = json.loads(render(found.systems, "json"))
    assert plain["board"] is None
    assert document | {"board": None} == plain
    shown = document["board"]
    assert (shown["rank_by"], shown["compared_to"], shown["baseline"]) == (RANK_BY, "gamma.tsv", "gamma.tsv")
    assert (shown["confidence"], shown["replicates"], shown["seed"]) == (0.95, 1000, 0)
    assert [entry["system"] for entry in shown["entries"]] == [scores.system for scores in found.systems]
    assert shown["entries"][2]["difference"] is None
    assert shown["entries"][3]["difference"]["p_adjusted"] == found.entries[3].difference.p_adjusted
    assert shown["discordances"][0] == {
        "system": "alpha.tsv",
        "class": "class 0",
        "only_system": 12,
        "only_other": 40,
        "p": 1.0,
        "p_adjusted": 1,
    }
    assert shown["agreement"]["tau"][0] == [1.0, 0.6667, None]


BROKEN = {
    "key": lambda b: b.update(extra=1),
    "rank": lambda b: b["entries"][0].update(rank=0),
    "tied": lambda b: b["entries"][0].update(tied=1),
    "no entries": lambda b: b.update(entries=[]),
    "p": lambda b: b["entries"][1]["difference"].update(p_exchange=1.5),
    "difference": lambda b: b["entries"][1].pop("difference"),
    "tau": lambda b: b["agreement"]["tau"][0].append(2),
    "count": lambda b: b["discordances"][0].update(only_other=-1),
    "confidence": lambda b: b.update(confidence=1),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_schema_refuses(broken):
    document = json.loads(render_board(board(), "json"))
    check(document)
    BROKEN[broken](document["board"])
    assert not allowed(document)


def test_only_asked_averages_are_in_documents():
    document = json.loads(render_board(board(), "json", averages=["micro"]))
    check(document)
    assert {s["average"] for system in document["systems"] for s in system["scores"]} == {"micro", None}


def test_others_are_refused():
    with pytest.raises(ValueError, match="no system"):
        render_board(replace(board(), systems=()))
    with pytest.raises(ValueError, match="'html' is not one of text, json"):
        render_board(board(), "html")
    with pytest.raises(ValueError, match="'mean' is not one of"):
        render_board(board(), averages=["mean"])
    with pytest.raises(ValueError, match="'html' is not one of text, json"):
        render([build()], "html")
