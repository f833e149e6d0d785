"""Outputs for programs: pandas reads them without options, JSON is JSON whatever is asked for."""

from __future__ import annotations

import io
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
def test_pandas_reads_a_leaderboard(form):
    frame = table(form, REFERENCE, SYSTEM, OTHER, "--only", "segment.soft", *FEW)
    kinds = {"rank": "i", "value": "f", "difference_value": "f", "stability": "f"}
    assert {name: frame[name].dtype.kind for name in kinds} == kinds
    assert list(frame["system"]) == ["sys.tsv", "sys_b.tsv"] and set(frame["letters"]) == {"a"}


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
    names = [*call(REFERENCE, SYSTEM, *EVERY[:2], "--format", "json", "-q").scores]
    assert names == [f"event.hard.f1[{label}]" for label in evaluate(REFERENCE, SYSTEM).classes]
    assert call(REFERENCE, SYSTEM, *EVERY[:2]).out.startswith("Scores by class\n")
    assert call(REFERENCE, SYSTEM, "--require", "event.hard.f1[*]>=0.5").code == 2


def test_latex_is_a_table_with_caption_label_and_rules():
    text = call(REFERENCE, SYSTEM, *EVERY, "--ci", *FEW, "--format", "latex").out
    for part in (r"\begin{table}", r"\caption{Scores by class of ", r"\label{tab:scores}", r"\toprule"):
        assert text.count(part) == 1
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
