"""Outputs for programs: pandas reads them without options, JSON is JSON whatever is asked for."""

from __future__ import annotations

import io
import json
import re

import jsonschema
import pandas as pd
import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call
from documents import schema

from sedeval_soft import evaluate

F1, RECALL = "segment.soft.f1.macro", "event.hard.recall[car]"
NAMES = ("--score", RECALL, "--score", F1)
SEPARATORS = {"csv": ",", "tsv": "\t"}
FEW = ("--replicates", "20", "--quiet")


def table(form: str, *arguments: object) -> pd.DataFrame:
    """Return what pandas makes of an output without any option but what divides fields."""
    done = call(*arguments, "--format", form)
    assert done.code == 0 and all(line.startswith("signature: ") for line in done.err.splitlines())
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


@pytest.mark.parametrize("form", SEPARATORS)
def test_pandas_reads_a_leaderboard(form):
    frame = table(form, REFERENCE, SYSTEM, OTHER, "--only", "segment.soft", *FEW)
    assert list(frame["system"]) == ["sys.tsv", "sys_b.tsv"]
    kinds = {"rank": "i", "value": "f", "difference_value": "f", "stability": "f"}
    assert {name: frame[name].dtype.kind for name in kinds} == kinds
    assert set(frame["letters"]) == {"a"}


@pytest.mark.parametrize("form", SEPARATORS)
def test_the_signature_is_once_beside_the_rows(form, tmp_path):
    signature = evaluate(REFERENCE, SYSTEM)
    done = call(REFERENCE, SYSTEM, "--format", form)
    assert done.err == f"signature: {signature.short_signature}\n" and "soft-sed-eval" not in done.out
    assert call(REFERENCE, SYSTEM, "--format", form, "-q").err == ""
    for asked in ((), ("--per-file",), NAMES, ("--by-class",)):
        path = tmp_path / f"scores {len(asked)}"
        assert call(REFERENCE, SYSTEM, *asked, "--format", form, "-o", path).err == ""
        (line,) = path.with_name(f"{path.name}.signature").read_text().splitlines()
        assert line.startswith("soft-sed-eval ") and "system:sha256=" in line


@pytest.mark.parametrize("form", SEPARATORS)
def test_chosen_scores_are_a_table(form):
    frame = table(form, REFERENCE, SYSTEM, *NAMES)
    assert list(frame.columns) == ["system", RECALL, F1]
    assert frame[F1].tolist() == [evaluate(REFERENCE, SYSTEM)[F1]]
    with_ends = table(form, REFERENCE, SYSTEM, "--score", F1, "--ci", *FEW)
    assert list(with_ends.columns) == ["system", F1, f"{F1}.low", f"{F1}.high"]
    frame = table(form, REFERENCE, SYSTEM, OTHER, *NAMES, *FEW)
    assert list(frame["system"]) == ["sys.tsv", "sys_b.tsv"] and frame[F1].dtype.kind == "f"


EVERY = ("--score", "event.hard.f1[*]", "--score", "segment.soft.f1.macro", "--by-class")


@pytest.mark.parametrize("form", [*SEPARATORS, "text", "markdown", "latex"])
def test_a_table_by_class_has_all_classes_then_macro_then_micro(form):
    """Of one system a column a score, of several a column a system below each score."""
    scores = {name: evaluate(REFERENCE, name) for name in (SYSTEM, OTHER)}
    labels = list(scores[SYSTEM].classes)
    done = call(REFERENCE, SYSTEM, *EVERY, "--format", form, "-q")
    assert done.code == 0
    rows = [re.split(r"\s*[|&\t,]\s*|\s{2,}", line.strip("| \\")) for line in done.out.splitlines()]
    found = {row[0]: row[1:] for row in rows if row[0] in (*labels, "macro", "micro")}
    assert list(found) == [*labels, "macro", "micro"]
    for place, stem in enumerate(("event.hard.f1", "segment.soft.f1")):
        for row, cells in found.items():
            value = scores[SYSTEM][f"{stem}.{row}" if row in ("macro", "micro") else f"{stem}[{row}]"]
            assert cells[place] == (repr(value) if form in SEPARATORS else f"{value:.3f}")
    two = call(REFERENCE, SYSTEM, OTHER, *EVERY, "--format", form, *FEW).out
    car = next(line for line in two.splitlines() if re.match(r"(\| )?car\b", line))
    values = [of[name] for name in ("event.hard.f1[car]", "segment.soft.f1[car]") for of in scores.values()]
    texts = [repr(value) if form in SEPARATORS else f"{value:.3f}" for value in values]
    assert [car.find(text) >= 0 for text in texts] == [True] * 4


def test_a_star_is_every_class():
    names = [
        score["name"]
        for score in call(REFERENCE, SYSTEM, *EVERY[:2], "--format", "json", "-q").document["systems"][0][
            "scores"
        ]
    ]
    assert names == [f"event.hard.f1[{label}]" for label in evaluate(REFERENCE, SYSTEM).classes]
    assert call(REFERENCE, SYSTEM, *EVERY[:2]).out.startswith("Scores by class\n")
    done = call(REFERENCE, SYSTEM, "--require", "event.hard.f1[*]>=0.5")
    assert done.code == 2 and "no score is named 'event.hard.f1[*]'" in done.err


def test_latex_is_a_table_with_caption_label_and_rules():
    text = call(REFERENCE, SYSTEM, *EVERY, "--ci", *FEW, "--format", "latex").out
    for part in (
        r"\begin{table}",
        r"\caption{Scores by class of ",
        r"\label{tab:scores}",
        r"\toprule",
        r"\end{table}",
    ):
        assert text.count(part) == 1
    assert "with 95 \\% intervals (bootstrap percentiles)" in text
    assert re.search(
        r"^car & 1\.000\$_\{\[1\.000, 1\.000\]\}\$ & 0\.935\$_\{\[0\.\d{3}, 0\.\d{3}\]\}\$ ", text, re.M
    )


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
        head = "event hard R car" if form == "markdown" else "R car"
        assert done.code == 0 and any(head in row and "F1 macro" in row for row in rows)
        assert sum("tsv" in row for row in rows) == len(systems)
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
