"""Outputs for programs: pandas reads them without options, JSON is JSON whatever is asked for."""

from __future__ import annotations

import io
import json

import jsonschema
import pandas as pd
import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call
from documents import schema

F1, RECALL = "segment.soft.f1.macro", "event.hard.recall[car]"
NAMES = ("--score", RECALL, "--score", F1)
SEPARATORS = {"csv": ",", "tsv": "\t"}
FEW = ("--replicates", "20", "--quiet")


def table(form: str, *arguments: object) -> pd.DataFrame:
    """Return what pandas makes of an output without any option but what divides fields."""
    done = call(*arguments, "--format", form)
    assert (done.code, done.err) == (0, "")
    return pd.read_csv(io.StringIO(done.out), sep=SEPARATORS[form])


@pytest.mark.parametrize("form", SEPARATORS)
def test_pandas_reads_all_scores(form):
    frame = table(form, REFERENCE, SYSTEM, "--only", "segment", "--ci", *FEW)
    scores = call(REFERENCE, SYSTEM, "--only", "segment", "--ci", *FEW, "--format", "json").scores
    assert list(frame["name"]) == list(scores)
    assert {str(frame[name].dtype) for name in ("value", "low", "high")} == {"float64"}
    assert [None if pd.isna(value) else value for value in frame["value"]] == [
        score["value"] for score in scores.values()
    ]
    (signature,) = frame["signature"].unique()
    assert signature.startswith("soft-sed-eval ") and len(signature) < 200


@pytest.mark.parametrize("form", SEPARATORS)
def test_pandas_reads_a_leaderboard(form):
    frame = table(form, REFERENCE, SYSTEM, OTHER, "--only", "segment.soft", *FEW)
    assert list(frame["system"]) == [SYSTEM, OTHER]
    kinds = {"rank": "i", "tied": "b", "value": "f", "difference_value": "f", "stability": "f"}
    assert {name: frame[name].dtype.kind for name in kinds} == kinds
    assert frame["signature"].notna().all()


@pytest.mark.parametrize("form", SEPARATORS)
def test_chosen_scores_are_a_table(form):
    frame = table(form, REFERENCE, SYSTEM, *NAMES)
    assert list(frame.columns) == ["system", "name", "value", "signature"]
    assert list(frame["name"]) == [RECALL, F1] and frame["value"].dtype.kind == "f"
    assert list(table(form, REFERENCE, SYSTEM, *NAMES, "--ci", *FEW).columns[2:5]) == ["value", "low", "high"]
    frame = table(form, REFERENCE, SYSTEM, OTHER, *NAMES, *FEW)
    assert list(frame["system"]) == [SYSTEM, SYSTEM, OTHER, OTHER]


@pytest.mark.parametrize("arguments", [(SYSTEM,), (SYSTEM, OTHER), (SYSTEM, OTHER, "--runs")])
def test_chosen_scores_are_a_document_of_these_alone(arguments):
    more = FEW if len(arguments) == 2 else ("--quiet",)
    done = call(REFERENCE, *arguments, *NAMES, *more, "--format", "json")
    jsonschema.Draft202012Validator(schema()).validate(done.document)
    for system in done.document["systems"]:
        assert [score["name"] for score in system["scores"]] == [RECALL, F1]
    assert yaml.safe_load(call(REFERENCE, *arguments, *NAMES, *more, "--format", "yaml").out) == done.document
    plain = call(REFERENCE, *arguments, *NAMES, *more).out
    for system in done.document["systems"]:
        assert all(repr(score["value"]) in plain for score in system["scores"])


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_chosen_scores_are_a_small_table_for_people(form):
    for systems in ((SYSTEM,), (SYSTEM, OTHER)):
        done = call(REFERENCE, *systems, *NAMES, *FEW[2:], "--format", form)
        rows = [line for line in done.out.splitlines() if line.startswith("| ") or " & " in line]
        assert done.code == 0 and sum(F1 in row for row in rows) == len(systems)
        assert sum("event.hard.recall" in row for row in rows) == len(systems)
        assert "precision" not in done.out


def test_junit_needs_a_requirement_and_has_no_other_tests():
    done = call(REFERENCE, "no such table", "--format", "junit", "--score", F1)
    assert (done.code, done.out) == (2, "") and "expected --require" in done.err
    done = call(REFERENCE, SYSTEM, "--format", "junit", "--score", F1, "--require", f"{F1}>=0.5")
    assert done.code == 0 and done.out.count("<testcase") == 1
    assert f'<property name="scores.{F1}" value="0.77' in done.out


def test_curves_are_read_without_options(tmp_path):
    assert call("plot", "pr", REFERENCE, SYSTEM, "-o", tmp_path / "c.tsv", "-q").code == 0
    frame = pd.read_csv(tmp_path / "c.tsv", sep="\t")
    assert frame["threshold"].dtype.kind == "f" and frame["basis"].notna().all()


def test_the_document_of_a_result_is_json_for_every_way_to_ask():
    for arguments in ((), NAMES, ("--average", "macro"), ("--score", F1, "--require", f"{F1}>=2")):
        done = call(REFERENCE, SYSTEM, *arguments, "--format", "json")
        assert json.loads(done.out)["schema"] == "soft-sed-eval/1"
