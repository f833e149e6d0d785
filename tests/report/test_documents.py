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
from documents import schema
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import board, build, of_runs, render_board, with_folds, with_intervals, with_worst

from sedeval_soft import evaluate
from sedeval_soft.evaluation.details import Chance, Level
from sedeval_soft.measures.registry import AVERAGES, FAMILIES, OVERALL, score_names
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.delimited import HEAD
from sedeval_soft.report.escape import cell
from sedeval_soft.settings import CLASS_MEANS, GROUPS, Settings

HARD = (("segment", "hard"),)
VALIDATOR = jsonschema.Draft202012Validator(schema())
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.strip())
AWKWARD = ("#1", "a # b", "a,b", "a;b", "a\tb", 'a"b', '"', "a\nb", " a ", "=1+1", "鳥の声", "1e5", "true")
TABLE = {"onset": [0.0, 1.0], "offset": [1.0, 2.0], "event_label": ["car", "dog"]}


def rows_of(text, delimiter):
    """Return the rows of delimited text."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def expected(scores):
    return [
        [cell(scores.system), cell(s.name), s.basis, s.reading, s.measure, s.average or "",
         cell(s.class_name or ""), cell(s.group or ""),
         *("" if number is None else repr(number) for number in (s.value, s.low, s.high))]
        for s in scores.scores.values()
    ]  # fmt: skip


@settings(max_examples=10)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.sampled_from(sorted(DELIMITERS)))
def test_delimited_text_reads_back(labels, form):
    scores = with_folds(with_intervals(build(labels, HARD, silent=labels[:1], system=labels[0])))
    head, *rows = rows_of(render([scores], form), DELIMITERS[form])
    assert tuple(head) == HEAD
    assert rows == expected(scores)


def test_pandas_reads_delimited_text_without_options():
    scores = with_intervals(build(AWKWARD, HARD, missed=AWKWARD[:2], system="a#b.tsv"))
    made = scores.to_pandas()
    for form, delimiter in DELIMITERS.items():
        frame = pd.read_csv(io.StringIO(render([scores], form), newline=""), sep=delimiter)
        assert list(frame.columns) == [*HEAD] and list(frame["name"]) == [*map(cell, scores)]
        for end in ("value", "low", "high"):
            assert list(frame[end]) == pytest.approx(made[end].astype(float), rel=1e-15, nan_ok=True)
            assert [None if v is pd.NA else v for v in made[end]] == [
                getattr(s, end) for s in scores.scores.values()
            ]


@settings(max_examples=3)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True))
@example(["\x85", "a\x85b", "\u2028"])
@example(["yes", "1e5", "~"])
def test_yaml_and_json_are_one_document(labels):
    scores = build(labels, HARD, silent=labels[:1], system=labels[0])
    document = json.loads(render([scores], "json"))
    assert document == scores.to_dict()
    assert yaml.safe_load(render([scores], "yaml")) == document
    VALIDATOR.validate(document)


def test_a_name_that_is_no_text_is_shown_as_an_escape():
    """A file's name may hold bytes that are not UTF-8; Python keeps them as lone surrogates."""
    for form in FORMATS:
        assert "udcff" in render([build(("car",), HARD, system="sys\udcff.tsv")], form).encode().decode()


F1, F1_CAR = "segment.soft.f1.macro", "segment.soft.f1[car]"
DOCUMENTS = {
    "nothing": build((), ()),
    "runs": replace(of_runs(build(families=HARD), ("a", "b")), settings=Settings.of(confidence=0.9)),
    "everything": with_worst(with_folds(with_intervals(build(missed=("car",)), ci="bca", worst=2))),
    "parts": replace(
        evaluate(
            *(TABLE, TABLE),
            groups={"traffic *|, +1": ["car"]},
            scenes={"é": "*"},
            only="segment",
            reference_sweep=True,
        ),
        chance=Chance(
            3, 0, everything=False, levels={F1: Level(0.2, 0.1, 0.5), F1_CAR: Level(None, None, None)}
        ),
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_valid_and_have_all_scores(name):
    scores = DOCUMENTS[name]
    document = json.loads(render([scores, replace(scores, system="b")], "json"))
    VALIDATOR.validate(document)
    found = document["systems"][0]["scores"]
    assert [(s["name"], s["group"], s["value"], s["low"], s["high"]) for s in found] == [
        (s.name, s.group, s.value, s.low, s.high) for s in scores.scores.values()
    ]


BROKEN = {
    "other schema": lambda d: d.update(schema="soft-sed-eval/2"),
    "setting missing": lambda d: d["settings"].pop("beta"),
    "hash": lambda d: d["inputs"][0].update(sha256="ABC"),
    "value as text": lambda d: d["systems"][0]["scores"][0].update(value="0.5"),
    "average and class": lambda d: d["systems"][0]["scores"][0].update({"average": "micro", "class": "car"}),
    "part of a part": lambda d: d["systems"][0]["scores"][0].update(name="segment.soft.f1.macro@a@b"),
    "one run": lambda d: d["systems"][0].update(runs={"names": ["one"], "confidence": 0.95}),
    "p": lambda d: d["board"]["entries"][1]["difference"].update(p_exchange=1.5),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_schema_takes_a_whole_document_and_refuses_a_broken_one(name):
    document = json.loads(
        render_board(board(names=("a", "b"), families=(*HARD, ("segment", "soft"))), "json")
    )
    VALIDATOR.validate(document)
    BROKEN[name](document)
    assert not VALIDATOR.is_valid(document)


def test_schema_follows_settings_and_registry():
    """A setting, a reading or an average that is added must be added to the schema too."""
    jsonschema.Draft202012Validator.check_schema(schema())
    properties = schema()["properties"]
    names = {field.name for field in fields(Settings)}
    assert {*properties["settings"]["required"]} == {*properties["settings"]["properties"]} == names
    assert properties["settings"]["properties"]["measures"]["items"]["enum"] == [*GROUPS]
    known = properties["systems"]["items"]["properties"]["scores"]["items"]["properties"]
    assert {*known["reading"]["enum"]} == {family.reading for family in FAMILIES}
    assert {*known["average"]["enum"]} == {*AVERAGES, *CLASS_MEANS, OVERALL, None}
    assert all(re.match(known["basis"]["pattern"], family.basis) for family in FAMILIES)
    assert all(re.match(known["name"]["pattern"], name) for name in score_names(means=CLASS_MEANS))
