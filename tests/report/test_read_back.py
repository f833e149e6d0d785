"""JSON, YAML, csv and tsv: what is written reads back as it was, and the schema describes it."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields, replace

import jsonschema
import pandas as pd
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import build, revalued
from schemas import allowed, check

from sedeval_soft.measures.names import AVERAGES, OVERALL
from sedeval_soft.measures.registry import FAMILIES, score_names
from sedeval_soft.report import FORMATS, render, schema
from sedeval_soft.report.delimited import HEAD
from sedeval_soft.settings import Settings

HARD = (("segment", "hard"),)
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.strip())
AWKWARD = ("#1", "a # b", "a,b", "a;b", "a\tb", 'a"b', '"', "a\nb", " a ", "=1+1", "鳥の声", "1e5", "true")


def rows_of(text, delimiter):
    body, _, signature = text.rpartition("\n# ")
    assert signature.startswith("soft-sed-eval ")
    return list(csv.reader(io.StringIO(body + "\n", newline=""), delimiter=delimiter, strict=True))


def expected(scores):
    return [
        [scores.system, s.name, s.basis, s.reading, s.measure, s.average or "", s.class_name or "",
         s.group or "", *("" if number is None else repr(number) for number in (s.value, s.low, s.high))]
        for s in scores.scores.values()
    ]  # fmt: skip


@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.sampled_from(sorted(DELIMITERS)))
def test_delimited_text_reads_back(labels, form):
    scores = build(labels, HARD, silent=labels[:1], system=labels[0])
    head, *rows = rows_of(render([scores], form, raw_names=True), DELIMITERS[form])
    assert tuple(head) == HEAD
    assert rows == expected(scores)


@pytest.mark.parametrize("form", DELIMITERS)
def test_pandas_reads_delimited_text_without_its_signature(form):
    scores = build(AWKWARD, HARD, missed=AWKWARD[:2], system="a#b.tsv")
    text = io.StringIO(render([scores], form, raw_names=True), newline="")
    frame = pd.read_csv(text, comment="#", sep=DELIMITERS[form])
    assert list(frame.columns) == list(HEAD)
    assert frame["value"].dtype == float
    assert list(frame["name"]) == list(scores)
    assert set(frame["class"].dropna()) == set(AWKWARD)
    assert set(frame["system"]) == {"a#b.tsv"}
    values = [float("nan") if value is None else value for value in scores.values()]
    assert list(frame["value"]) == pytest.approx(values, rel=1e-15, nan_ok=True)


def test_each_signature_stands_once():
    first, second = build(families=HARD), build(families=HARD, system="b")
    assert render([first, second], "csv").count("\n# ") == 1
    text = render([first, replace(second, signature="soft-sed-eval other\nline")], "csv")
    assert text.endswith("\n# soft-sed-eval other\\nline\n")
    assert text.count("\n# ") == 2


@settings(max_examples=12)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True))
@example(["\x85", "a\x85b", "\u2028"])
@example(["yes", "1e5", "~"])
def test_yaml_and_json_are_one_document(labels):
    scores = build(labels, HARD, silent=labels[:1], system=labels[0])
    document = json.loads(render([scores], "json"))
    assert document == scores.to_dict()
    assert yaml.safe_load(render([scores], "yaml")) == document
    check(document)


@settings(max_examples=12)
@given(st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1))
def test_numbers_are_exact_in_all_that_machines_read(value):
    scores = revalued(build(("car",), HARD), lambda _, s: s.value if isinstance(s.value, int) else value)
    name = "segment.hard.f1[car]"
    for text in (json.loads(render([scores], "json")), yaml.safe_load(render([scores], "yaml"))):
        assert {s["name"]: s["value"] for s in text["systems"][0]["scores"]}[name] == value
    head, *rows = rows_of(render([scores], "csv"), ",")
    assert {row[1]: row[head.index("value")] for row in rows}[name] == repr(value)


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_that_is_no_text_is_shown_as_an_escape(form):
    """A file's name may hold bytes that are not UTF-8; Python keeps them as lone surrogates."""
    scores = build(system="sys\udcff.tsv")
    scores = replace(scores, inputs=tuple(replace(item, name="sys\udcff.tsv") for item in scores.inputs))
    text = render([scores], form)
    assert "udcff" in text.encode("utf-8").decode("utf-8")
    if form == "json":
        assert json.loads(text)["systems"][0]["name"] == r"sys\udcff.tsv"
    if form == "yaml":
        assert yaml.safe_load(text) == json.loads(render([scores], "json"))


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_ends_its_line_and_carries_the_signature_and_is_the_same_twice(form):
    scores = build(("car", "speech"))
    text = render([scores], form)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert text == render([scores], form)
    for part in (scores.version, "segment", "0" * 64, "f" * 64):
        assert part in text


def test_no_system_is_refused():
    for form in FORMATS:
        with pytest.raises(ValueError, match="no system"):
            render([], form)


@pytest.mark.parametrize(
    "scores",
    [
        build(),
        build(("car", "cutlery and dishes"), silent=("car",), missed=("cutlery and dishes",)),
        build(
            beta=2.0,
            compat="sed_eval",
            classes=("car", "speech"),
            pool="mean",
            only=("segment.soft", "segment.hard"),
        ),
        build((), ()),
    ],
)
def test_documents_are_valid(scores):
    check(json.loads(render([scores, replace(scores, system="b")], "json")))


def first(document, measure, reading="hard"):
    """Return the first score of a measure in a reading."""
    scores = document["systems"][0]["scores"]
    return next(s for s in scores if (s["measure"], s["reading"]) == (measure, reading))


BROKEN = {
    "other schema": lambda d: d.update(schema="soft-sed-eval/2"),
    "unknown key": lambda d: d.update(extra=1),
    "no warnings": lambda d: d.pop("warnings"),
    "no systems": lambda d: d.update(systems=[]),
    "version": lambda d: d.update(version="new"),
    "unknown setting": lambda d: d["settings"].update(tolerance=1),
    "setting missing": lambda d: d["settings"].pop("beta"),
    "hash": lambda d: d["inputs"][0].update(sha256="ABC"),
    "role": lambda d: d["inputs"][0].update(role="judge"),
    "negative rows": lambda d: d["inputs"][0].update(rows=-1),
    "class twice": lambda d: d["systems"][0].update(classes=["a", "a"]),
    "value as text": lambda d: first(d, "f1").update(value="0.5"),
    "value is a truth": lambda d: first(d, "f1").update(value=True),
    "no value": lambda d: first(d, "f1").pop("value"),
    "average and class": lambda d: first(d, "f1").update({"average": "micro", "class": "car"}),
    "neither": lambda d: first(d, "f1").update({"average": None, "class": None}),
    "name": lambda d: first(d, "f1").update(name="f1"),
    "basis": lambda d: first(d, "f1").update(basis="Frame 1"),
    "reading": lambda d: first(d, "f1").update(reading="crisp"),
    "average": lambda d: first(d, "f1").update(average="median"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_schema_refuses(broken):
    document = json.loads(render([build()], "json"))
    check(document)
    BROKEN[broken](document)
    assert not allowed(document)


def test_schema_follows_settings_and_registry():
    """A setting, a reading or an average that is added must be added to the schema too."""
    properties = schema()["properties"]
    names = {field.name for field in fields(Settings)}
    assert set(properties["settings"]["required"]) == set(properties["settings"]["properties"]) == names
    known = properties["systems"]["items"]["properties"]["scores"]["items"]["properties"]
    assert set(known["reading"]["enum"]) == {family.reading for family in FAMILIES}
    assert set(known["average"]["enum"]) == {*AVERAGES, OVERALL, None}
    assert all(re.match(known["basis"]["pattern"], family.basis) for family in FAMILIES)
    assert all(re.match(known["name"]["pattern"], name) for name in score_names())


def test_schema_is_a_schema_and_shipped_inside_the_package():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$schema"].endswith("2020-12/schema")
    objects = [schema(), schema()["properties"]["settings"], schema()["properties"]["inputs"]["items"]]
    assert all(part["additionalProperties"] is False for part in objects)
