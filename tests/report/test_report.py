"""Presentations: what they show, that they read back, and that nothing in a name is obeyed."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import allowed, check
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.errors import visible
from sedeval_soft.report import FORMATS, list_scores, render, schema, scores_table
from sedeval_soft.report.table import Table
from sedeval_soft.report.text import cells, plain_table

ROOT = Path(__file__).parents[2]
NASTY = ("<b>x</b>", "=1+1", "a|b", "[red]x[/red]", "\x1b[31mred", "a\nb", "鳥の声", "café", "a" * 70, "`*_")


def scored(labels=("car", "people talking", "never there"), **chosen):
    reference = long_rows([("a", i, i + 1.5, label) for i, label in enumerate(labels[:-1])], name="ref.tsv")
    system = long_rows([("a", i, i + 1.4, label) for i, label in enumerate(labels)], name="sys.tsv")
    return evaluate(reference, system, **chosen)


@pytest.fixture(scope="module")
def scores():
    return scored()


def test_json_validates_against_the_shipped_schema(scores):
    jsonschema.Draft202012Validator.check_schema(schema())
    check(json.loads(render([scores], "json")))
    check(json.loads(render([scored(compat="sed_eval", beta=2.0, only=("event",))], "json")))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(schema="other"),
        lambda d: d.update(extra=1),
        lambda d: d["systems"][0]["scores"][0].update(value="high"),
        lambda d: d["systems"][0]["scores"][0].update(average=None),
        lambda d: d["systems"][0]["scores"][0].pop("class"),
        lambda d: d["inputs"][0].update(sha256="x"),
        lambda d: d["settings"].update(pool="median"),
    ],
)
def test_schema_refuses_other_documents(scores, change):
    document = json.loads(render([scores], "json"))
    change(document)
    assert not allowed(document)


def test_json_and_yaml_say_the_same_and_never_nan(scores):
    text = render([scores], "json")
    assert not re.search(r"\b(NaN|Infinity)\b", text)
    assert yaml.safe_load(render([scores], "yaml")) == json.loads(text)
    assert json.loads(text) == scores.to_dict()


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_output_reads_back(scores, form, delimiter):
    lines = render([scores], form)
    body, last = lines.rsplit("# ", 1)
    assert last.strip() == scores.signature
    rows = list(csv.DictReader(io.StringIO(body), delimiter=delimiter))
    values = {row["name"]: float(row["value"]) if row["value"] else None for row in rows}
    assert values == dict(scores)


def test_pandas_reads_csv_and_to_pandas_agrees(scores):
    import pandas as pd

    frame = pd.read_csv(io.StringIO(render([scores], "csv")), comment="#")
    mine = scores.to_pandas()
    assert list(frame["name"]) == list(mine["name"])
    assert frame["value"].isna().tolist() == mine["value"].isna().tolist()


def test_undefined_is_a_dash_and_explained(scores):
    text = render([scores])
    assert "- is undefined" in text
    assert "never there" in text
    assert re.search(r"left out of macro averages.*never there", text)


@pytest.mark.parametrize("form", FORMATS)
def test_every_output_carries_the_signature(scores, form):
    text = render([scores], form)
    assert "segment" in text
    assert "sha256" in text


def test_unknown_form_is_refused(scores):
    with pytest.raises(ValueError, match="not one of"):
        render([scores], "xml")


@pytest.mark.parametrize("count", [1, 2, 60])
def test_columns_line_up_whatever_the_names(count):
    labels = tuple(f"{name}{i}" for i, name in enumerate((NASTY[6], "x", "birds singing") * count))
    text = render([scored(labels)])
    block = text.split("Classes, segment-based, hard reading\n")[1].split("\n\n")[0].splitlines()
    assert len(block) == len(labels) + 1
    assert len({cells(line) for line in block}) == 1


def test_nothing_in_a_name_is_obeyed():
    shown = scored(NASTY, only=("segment.hard",))
    for text in (render([shown]), render([shown], "markdown")):
        assert "\x1b" not in text
        assert "\\x1b[31mred" in text.replace("\\[", "[").replace("\\\\", "\\")
    coloured = render([shown], color=True, width=80)
    assert "[red]x[/red]" in coloured
    assert "\x1b[31mred" not in coloured
    markdown = render([shown], "markdown")
    assert "<b>" not in markdown
    assert all(line.count(" | ") == markdown.splitlines()[8].count(" | ") or "|" not in line
               for line in markdown.splitlines()[8:10])  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.text(min_size=1, max_size=12).filter(lambda t: t.strip()), min_size=2, max_size=4, unique=True
    )
)
def test_any_class_names_can_be_shown(labels):
    labels = tuple(label for label in labels if not any("\ud800" <= c <= "\udfff" for c in label))
    if len(labels) < 2:
        return
    shown = scored(labels, only=("segment.hard",))
    for form in FORMATS:
        text = render([shown], form)
        assert text.endswith("\n")
    text = render([shown])
    assert all(visible(label).strip() in text for label in labels)


def test_plain_table():
    table = Table("T", ("name", "n"), (("a", "1"), ("鳥", "10")), headings=("g",))
    assert plain_table(table) == "T\n      g\nname   n\na      1\n鳥    10\n"


def test_listing_and_table_of_scores():
    assert list_scores().count("\n") == len(set(list_scores().splitlines()))
    assert scores_table().startswith("| score |")
