"""Documents for programs and services: JSON, YAML, csv, tsv, JUnit XML, Codabench, GitHub summaries."""

import csv
import io
import json
import re
from dataclasses import fields, replace
from xml.etree import ElementTree as ET

import jsonschema
import pandas as pd
import pytest
import yaml
from documents import schema
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import board, build, of_runs, render_board, revalued, with_folds, with_intervals, with_worst

from sedeval_soft import evaluate
from sedeval_soft.errors import SettingsError, visible
from sedeval_soft.evaluation import Chance, Level
from sedeval_soft.measures.registry import AVERAGES, FAMILIES, OVERALL, score_names
from sedeval_soft.report import FORMATS, Verdict, codabench, job_summary, junit, render
from sedeval_soft.report.delimited import HEAD
from sedeval_soft.report.escape import cell
from sedeval_soft.report.services import LONGEST, key_of
from sedeval_soft.settings import CLASS_MEANS, GROUPS, Settings

HARD, SOFT = (("segment", "hard"),), (("segment", "soft"),)
F1, F1_CAR = "segment.soft.f1.macro", "segment.soft.f1[car]"
VALIDATOR = jsonschema.Draft202012Validator(schema())
DELIMITERS = {"csv": ",", "tsv": "\t"}
NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.strip())
AWKWARD = ("#1", "a # b", "a,b", "a;b", "a\tb", 'a"b', '"', "a\nb", " a ", "=1+1", "鳥の声", "1e5", "true")
TABLE = {"onset": [0.0, 1.0], "offset": [1.0, 2.0], "event_label": ["car", "dog"]}


@settings(max_examples=10)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.sampled_from(sorted(DELIMITERS)))
def test_delimited_text_reads_back(labels, form):
    scores = with_folds(with_intervals(build(labels, HARD, silent=labels[:1], system=labels[0])))
    text = io.StringIO(render([scores], form), newline="")
    head, *rows = csv.reader(text, delimiter=DELIMITERS[form], strict=True)
    assert (tuple(head), rows) == (HEAD, [
        [cell(scores.system), cell(s.name), s.basis, s.reading, s.measure, s.average or "",
         cell(s.class_name or ""), cell(s.group or ""),
         *("" if number is None else repr(number) for number in (s.value, s.low, s.high))]
        for s in scores.scores.values()
    ])  # fmt: skip


@pytest.mark.parametrize("form", DELIMITERS)
def test_pandas_reads_delimited_text_without_options(form):
    scores = with_intervals(build(AWKWARD, HARD, missed=AWKWARD[:2], system="a#b.tsv"))
    made = scores.to_pandas()
    frame = pd.read_csv(io.StringIO(render([scores], form), newline=""), sep=DELIMITERS[form])
    assert list(frame.columns) == [*HEAD] and list(frame["name"]) == [*map(cell, scores)]
    for end in ("value", "low", "high"):
        assert list(frame[end]) == pytest.approx(made[end].astype(float), rel=1e-15, nan_ok=True)
        assert [None if v is pd.NA else v for v in made[end]] == [
            getattr(score, end) for score in scores.scores.values()
        ]


@settings(max_examples=3)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True))
@example(["\x85", "a\x85b", "\u2028"])
@example(["yes", "1e5", "~"])
def test_yaml_and_json_are_one_document(labels):
    scores = build(labels, HARD, silent=labels[:1], system=labels[0])
    document = json.loads(render([scores], "json"))
    assert document == scores.to_dict() == yaml.safe_load(render([scores], "yaml"))
    VALIDATOR.validate(document)


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_that_is_no_text_is_shown_as_an_escape(form):
    """The name of a file may have bytes that are not UTF-8; Python keeps them as lone surrogates."""
    assert "udcff" in render([build(("car",), HARD, system="sys\udcff.tsv")], form).encode().decode()


PARTS = {"groups": {"traffic *|, +1": ["car"]}, "scenes": {"é": "*"}}
DOCUMENTS = {
    "nothing": build((), ()),
    "runs": replace(of_runs(build(families=HARD), ("a", "b")), settings=Settings.of(confidence=0.9)),
    "everything": with_worst(with_folds(with_intervals(build(missed=("car",)), ci="bca", worst=2))),
    "parts": replace(
        evaluate(TABLE, TABLE, **PARTS, only="segment", reference_sweep=True),
        chance=Chance(
            *(3, 0),
            everything=False,
            levels={F1: Level(0.2, 0.1, 0.5), F1_CAR: Level(None, None, None)},
        ),
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_valid_and_have_all_scores(name):
    scores = DOCUMENTS[name]
    document = json.loads(render([scores, replace(scores, system="b")], "json"))
    VALIDATOR.validate(document)
    assert [
        (s["name"], s["group"], s["value"], s["low"], s["high"]) for s in document["systems"][0]["scores"]
    ] == [(s.name, s.group, s.value, s.low, s.high) for s in scores.scores.values()]


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
    document = json.loads(render_board(board(names=("a", "b"), families=(*HARD, *SOFT)), "json"))
    VALIDATOR.validate(document)
    BROKEN[name](document)
    assert not VALIDATOR.is_valid(document)


def test_schema_follows_settings_and_registry():
    """The schema must list each setting, reading and average."""
    jsonschema.Draft202012Validator.check_schema(schema())
    properties = schema()["properties"]
    of_settings = properties["settings"]["properties"]
    assert {*properties["settings"]["required"]} == {*of_settings} == {each.name for each in fields(Settings)}
    assert of_settings["measures"]["items"]["enum"] == [*GROUPS]
    known = properties["systems"]["items"]["properties"]["scores"]["items"]["properties"]
    assert {*known["reading"]["enum"]} == {family.reading for family in FAMILIES}
    assert {*known["average"]["enum"]} == {*AVERAGES, *CLASS_MEANS, OVERALL, None}
    assert all(re.match(known["basis"]["pattern"], family.basis) for family in FAMILIES)
    assert all(re.match(known["name"]["pattern"], name) for name in score_names(means=CLASS_MEANS))


# Documents for services.


@settings(max_examples=10)
@given(st.text(st.characters(), min_size=1, max_size=8))
@example("".join(map(chr, range(160))))
@example("\ufffe\uffff\ud800\udfff]]><!--&amp;")
def test_junit_is_xml_whatever_names_hold(name):
    verdict = Verdict(name, f"segment.soft.f1[{name}]>=1", None, met=False)
    text = junit([replace(build((name,), SOFT, system=name), warnings=(name,))], [verdict])
    root = ET.fromstring(text.encode())  # noqa: S314 - our own
    names = root[0].get("name"), next(root.iter("testcase")).get("name")
    assert names == (visible(name), visible(verdict.requirement))


@pytest.mark.parametrize("value", [0.1 + 0.2, 1.5e-12, 0.0, 7, 1e22])
def test_codabench_reads_the_same_numbers_and_undefined_ones_are_left_out(value):
    nothing = float("inf") if value else None
    scores = revalued(build(families=SOFT), lambda s: nothing if s.name == F1 else value)
    (text, undefined), (as_json, _) = (codabench(scores, lines=lines) for lines in (True, False))
    numbers = json.loads(as_json)
    assert yaml.safe_load(text) == numbers and {*numbers.values()} == {value}
    assert {float(line.split(":")[1]) for line in text.splitlines()} == {value}
    assert undefined == [F1] and key_of(F1) not in numbers
    assert codabench(scores, [F1], lines=True) == ("", [F1])


def test_keys_of_codabench_differ_or_are_refused():
    labels = ("鳥", "犬", "a:b", "a/b", "x" * 50, "x" * 51, "\ud800")
    keys = [key_of(f"segment.soft.f1[{label}]") for label in labels]
    assert len({*keys}) == len(labels)
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", key) and len(key) <= LONGEST for key in keys)
    assert key_of("intersection.optimal.substitution_rate.micro")[:20] == "intersection_optimal"
    scores = build(("a b", "a_b"), SOFT)
    assert codabench(scores, ["segment.soft.f1[a b]"] * 2)
    with pytest.raises(SettingsError, match="segment_soft_f1_a_b"):
        codabench(scores, ["segment.soft.f1[a b]", "segment.soft.f1[a_b]"])


@pytest.mark.parametrize(("most", "n_tables"), [(4000, 2), (300, 0)])
def test_a_summary_has_no_more_bytes_than_it_may(most, n_tables, monkeypatch):
    monkeypatch.setattr("sedeval_soft.report.services.MOST_BYTES", most)
    missed = Verdict("sys.tsv", f"{F1}>=0.9", 0.5, met=False)
    text = job_summary([build(tuple(f"鳥{i}" for i in range(20)))], None, [missed])
    assert len(text.encode()) <= most and text.endswith("\n")
    assert text.count("\n| --- |") == n_tables, text
