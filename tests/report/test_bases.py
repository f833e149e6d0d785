"""Bases, measures and averages that the presentations were not told of are shown in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
import yaml
from rich.cells import cell_len
from rich.text import Text
from samples import ALL_FAMILIES, DEVIATIONS, READINGS, build, score, tables, with_all_bases, without
from schemas import check

from sedeval_soft.measures.registry import FAMILIES
from sedeval_soft.report import render
from sedeval_soft.report.header import families

DEVIATING = "Classes, event-based, hard reading, deviations in seconds"


def table_of(scores, title):
    """Return a table as {(names ...): {(heading, column): cell}}."""
    (table,) = (table for table in tables(scores) if table.title == title)
    columns = list(zip(table.headings or [""] * 99, table.head[table.names :], strict=False))
    return {row[: table.names]: dict(zip(columns, row[table.names :], strict=True)) for row in table.rows}


def block(text, title):
    """Return the lines of plain text below a title."""
    return text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()


def test_summary_has_each_basis_in_each_reading():
    summary = table_of(with_all_bases(), "Summary")
    assert tuple(summary) == ALL_FAMILIES
    row = summary["intersection", "soft"]
    assert re.fullmatch(r"0\.\d{4}", row["micro", "F1"])


def test_psds_has_its_table():
    assert table_of(with_all_bases(), "Polyphonic sound detection score") == {
        ("intersection", "hard"): {("", "PSDS"): "0.6000"},
        ("intersection", "soft"): {("", "PSDS"): "0.6100"},
    }


@pytest.mark.parametrize("reading", READINGS)
def test_each_basis_has_its_table_of_classes(reading):
    scores = with_all_bases()
    classes = table_of(scores, f"Classes, intersection-based, {reading} reading")
    assert tuple(classes) == (("car",), ("speech",))
    assert classes["car",]["", "N_ref"] not in {"", "-"}
    assert classes["speech",].get(("", "PSDS")) == {"hard": "0.5100", "soft": "0.5200"}.get(reading)


def test_deviations_may_be_negative_and_undefined():
    scores = with_all_bases()
    rows = table_of(scores, DEVIATING)
    assert rows["car",] == {("", name): f"{value:.4f}" for name, value in DEVIATIONS.items()}
    assert set(rows["speech",].values()) == {"-"}
    assert "- is undefined" in render([scores])
    assert "deviations" not in render([without(scores, lambda s: s.measure in DEVIATIONS)])


def test_averages_of_deviations_are_shown_if_there_are_any():
    scores = build(families=(("event", "hard"),))
    extra = score("event", "hard", "onset_bias", "macro", -0.125, of_class=False)
    scores = replace(scores, scores={**scores.scores, extra.name: extra})
    rows = table_of(scores, "Averages of deviations in seconds")
    assert rows == {("event", "hard", "macro"): {("", "onset_bias"): "-0.1250"}}


def test_what_the_layout_does_not_know_stands_in_tables_of_others():
    extra = (
        score("phrase", "soft", "roc_gap", "macro", 0.777701, of_class=False),
        score("phrase", "soft", "roc_gap", "car", 0.777702, of_class=True),
        score("segment", "hard", "f1", "micro-joint", 0.777713, of_class=False),
        score("segment", "hard", "reach", "speech", 0.777704, of_class=True),
    )
    scores = build(families=(("segment", "hard"),))
    scores = replace(scores, scores={**scores.scores, **{s.name: s for s in extra}})
    assert table_of(scores, "Other averages") == {
        ("segment", "hard", "micro-joint"): {("", "F1"): "0.7777", ("", "roc_gap"): ""},
        ("phrase", "soft", "macro"): {("", "F1"): "", ("", "roc_gap"): "0.7777"},
    }
    others = "Classes, {}, other measures".format
    assert table_of(scores, others("phrase-based, soft reading")) == {("car",): {("", "roc_gap"): "0.7777"}}
    assert table_of(scores, others("segment-based, hard reading")) == {("speech",): {("", "reach"): "0.7777"}}
    assert render([scores]).count("0.7777") == 4


def test_families_come_in_the_order_of_the_registry_and_then_others():
    scores = with_all_bases()
    found = families(replace(scores, scores=dict(reversed(scores.scores.items()))))
    known = list(dict.fromkeys((family.basis, family.reading) for family in FAMILIES))
    assert found == [*(f for f in known if f in found), *(f for f in found if f not in known)]
    assert {*found} == {*ALL_FAMILIES}


def test_text_and_markdown_show_them():
    scores = with_all_bases()
    lines = block(render([scores]), "Summary")
    assert [line.split()[:2] for line in lines[2:]] == [list(family) for family in ALL_FAMILIES]
    psds = block(render([scores]), "Polyphonic sound detection score")
    assert psds[-2].split() == ["intersection", "hard", "0.6000"]
    assert block(render([scores]), DEVIATING)[1].split() == [
        "car",
        *(f"{v:.4f}" for v in DEVIATIONS.values()),
    ]
    markdown = render([scores], "markdown")
    assert re.search(r"^\| intersection \| hard \| 0\.6000 \|$", markdown, re.MULTILINE)
    assert re.search(r"^\| car \| -0\.0251 \| 0\.1102 \| 0\.3003 \| 1\.2504 \|$", markdown, re.MULTILINE)


def test_csv_json_and_yaml_have_them():
    scores = with_all_bases()
    rows = csv.DictReader(io.StringIO(render([scores], "csv").rpartition("# ")[0]))
    values = {row["name"]: row["value"] for row in rows}
    assert values == {name: "" if value is None else repr(value) for name, value in scores.items()}
    assert values["intersection.hard.psds"] == "0.6"
    assert values["event.hard.onset_bias[car]"] == "-0.0251"
    assert values["event.hard.onset_bias[speech]"] == ""
    document = json.loads(render([scores], "json"))
    check(document)
    found = {s["name"]: s["value"] for s in document["systems"][0]["scores"]}
    assert found == dict(scores)
    assert yaml.safe_load(render([scores], "yaml")) == document


def test_the_summary_is_whole_rows_in_a_terminal_of_80():
    scores = with_all_bases(("a class with quite a long name", "speech"), beta=2.0)
    text = render([scores], color=True, width=80)
    lines = [Text.from_ansi(line).plain for line in text.splitlines()]
    starts = [i for i, line in enumerate(lines) if line == " Summary"]
    assert len(starts) == 2, "one part for micro, one for macro"
    for start, average in zip(starts, ("micro", "macro"), strict=True):
        part = lines[start : lines.index("", start)]
        assert max(map(cell_len, part)) <= 80
        assert part[1].split() == [average]
        assert [tuple(line.split()[:2]) for line in part[4:]] == list(ALL_FAMILIES)
        assert all(len(line.split()) >= 2 + 5 for line in part[4:]), "P, R, F1, F2, ER in one row"
