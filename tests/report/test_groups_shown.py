"""Groups of classes, scenes and chosen averages in every form of the results."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import yaml
from samples import registered, tables
from schemas import allowed, check

from sedeval_soft import evaluate
from sedeval_soft.measures.names import AVERAGES
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.render import with_averages

TABLE = {
    "filename": ["street_1", "street_1", "park"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
GROUP, SCENE = "traffic *|, =1", "street\u00e9"
PARTS = {"groups": {GROUP: ["car"]}, "scenes": {SCENE: "street_*"}}


@pytest.fixture(scope="module")
def scores():
    return evaluate(TABLE, TABLE, **PARTS)


def table_of(scores, title):
    """Return the one table of a title."""
    (found,) = (table for table in tables(scores) if table.title == title)
    return found


def rows_of(text, delimiter):
    """Return the rows of delimited text, without the signature."""
    rows = text[: text.index("\n# ") + 1]
    return list(csv.DictReader(io.StringIO(rows), delimiter=delimiter))


def test_each_part_has_a_summary_and_scenes_have_classes(scores):
    titles = [table.title for table in tables(scores)]
    assert titles[0] == "Summary"
    after = titles[titles.index(f"Summary, group {GROUP}") :]
    assert after[1] == f"Summary, scene {SCENE}"
    assert f"Classes, event-based, soft reading, scene {SCENE}" in after
    assert [title for title in titles if title.endswith(f"group {GROUP}")] == after[:1]
    assert all(f"scene {SCENE}" in title for title in after[1:])
    assert not any("@" in title for title in titles)


def test_tables_of_the_whole_stay_as_they_are(scores):
    alone = tables(evaluate(TABLE, TABLE))
    assert tables(scores)[: len(alone)] == alone


def test_summaries_hold_the_scores_of_their_part(scores):
    summary = table_of(scores, f"Summary, group {GROUP}")
    assert [heading for heading, _ in summary.groups] == ["", "micro", "macro"]
    soft = next(row for row in summary.rows if row[:2] == ("segment", "soft"))
    f1 = [cell for name, cell in zip(summary.head, soft, strict=True) if name == "F1"]
    assert f1 == [f"{scores[f'segment.soft.f1.{average}@{GROUP}']:.4f}" for average in ("micro", "macro")]
    classes = table_of(scores, f"Classes, segment-based, soft reading, scene {SCENE}")
    size = classes.head.index("N_ref")
    assert [(row[0], row[size]) for row in classes.rows] == [("car", "0.50"), ("dog", "0.75")]


def test_what_is_in_no_summary_is_shown_where_there_is_nothing_else():
    ranked = evaluate(TABLE, TABLE, only="ranking", **PARTS)
    table = table_of(ranked, f"Other averages, group {GROUP}")
    assert "one_error" in table.head or "1-err" in table.head


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "latex"])
def test_every_form_but_a_summary_names_every_part(form, scores):
    text = render([scores], form)
    shown = text.replace("\\", "") if form == "markdown" else text
    assert GROUP in shown
    assert SCENE in shown


def test_documents_with_parts_are_valid_and_name_them(scores):
    document = json.loads(render([scores], "json"))
    check(document)
    assert yaml.safe_load(render([scores], "yaml")) == document
    found = document["systems"][0]["scores"]
    assert {score["name"]: score["group"] for score in found} == {
        name: score.group for name, score in scores.scores.items()
    }
    assert document["settings"]["groups"] == {GROUP: ["car"]}
    for name in ("segment.soft.f1.macro@", "segment.soft.f1.macro@a@b", "segment.soft.f1@a]"):
        found[0]["name"] = name
        assert not allowed(document)


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_rows_have_a_column_of_groups(form, delimiter, scores):
    rows = rows_of(render([scores], form), delimiter)
    assert {row["name"]: row["group"] for row in rows} == {
        name: score.group or "" for name, score in scores.scores.items()
    }
    assert "group" in rows_of(render([evaluate(TABLE, TABLE)], form), delimiter)[0]


@pytest.mark.parametrize("wanted", [("micro",), ("macro",), ("weighted",), ("micro", "weighted"), AVERAGES])
def test_only_asked_averages_are_in_every_form(wanted, scores):
    kept = {
        name: score.value
        for name, score in scores.scores.items()
        if score.average is None or score.average in wanted
    }
    assert {score.average for score in scores.scores.values()} == {None, *AVERAGES}
    document = json.loads(render([scores], "json", averages=wanted))
    check(document)
    assert {score["name"]: score["value"] for score in document["systems"][0]["scores"]} == kept
    assert yaml.safe_load(render([scores], "yaml", averages=wanted)) == document
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        rows = rows_of(render([scores], form, averages=wanted), delimiter)
        assert [row["name"] for row in rows] == list(kept)
    for form, options in (("text", {}), ("markdown", {}), ("text", {"color": True, "width": 100})):
        tabular = render([scores], form, averages=wanted, **options).rpartition("soft-sed-eval")[0]
        assert {average for average in AVERAGES if re.search(rf"\b{average}\b", tabular)} == set(wanted)


@pytest.mark.parametrize("wanted", AVERAGES)
def test_a_part_shows_whatever_average_is_asked_for(wanted, scores):
    found = table_of(with_averages(scores, [wanted]), f"Summary, group {GROUP}")
    assert [heading for heading, _ in found.groups] == ["", wanted]


def test_scores_over_all_classes_and_of_classes_stay():
    whole = registered(("car",))
    few = with_averages(whole, ["macro"])
    gone = set(whole) - set(few)
    assert gone == {name for name in whole if name.endswith((".micro", ".weighted"))}
    assert "intersection.hard.psds" in few
    assert list(few) == [name for name in whole if name in few]


def test_other_averages_are_refused(scores):
    with pytest.raises(ValueError, match=r"'mean' is not one of micro, macro, weighted"):
        render([scores], averages=["mean"])
