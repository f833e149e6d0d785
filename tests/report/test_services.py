"""Outputs that services take: JUnit XML, scores of Codabench, annotations and summaries of GitHub's."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import build, revalued

from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.report.services import (
    LONGEST,
    Verdict,
    codabench,
    job_summary,
    junit,
    key_of,
)

SOFT = (("segment", "soft"),)
F1 = "segment.soft.f1.macro"
MISSED = Verdict("sys.tsv", f"{F1}>=0.9", 0.5, met=False)


def named(label: str) -> Scores:
    """Return scores of one class in one reading."""
    return build((label,), SOFT, system=label)


@settings(max_examples=10)
@given(st.text(st.characters(), min_size=1, max_size=8))
@example("".join(map(chr, range(160))))
@example("\ufffe\uffff\ud800\udfff]]><!--&amp;")
def test_junit_is_xml_whatever_names_hold(name):
    verdict = Verdict(name, f"segment.soft.f1[{name}]>=1", None, met=False)
    root = ET.fromstring(junit([replace(named(name), warnings=(name,))], [verdict]).encode())  # noqa: S314 - our own
    if name.isprintable():
        assert (root[0].get("name"), next(root.iter("testcase")).get("name")) == (name, verdict.requirement)


@pytest.mark.parametrize("value", [0.1 + 0.2, 1.5e-12, 0.0, 7, 1e22])
def test_codabench_reads_the_same_numbers_and_undefined_ones_are_left_out(value):
    nothing = float("inf") if value else None
    scores = revalued(build(families=SOFT), lambda s: nothing if s.name == F1 else value)
    (text, undefined), (as_json, _) = (codabench(scores, lines=lines) for lines in (True, False))
    assert undefined == [F1]
    assert yaml.safe_load(text) == json.loads(as_json)
    assert {float(number) for _, number in (line.split(":") for line in text.splitlines())} == {value}
    assert {*json.loads(as_json).values()} == {value} and key_of(F1) not in json.loads(as_json)
    assert codabench(scores, [F1], lines=True) == ("", [F1])


def test_keys_of_codabench_differ_or_are_refused():
    labels = ("鳥", "犬", "a:b", "a/b", "x" * 50, "x" * 51, "\ud800")
    keys = [key_of(f"segment.soft.f1[{label}]") for label in labels]
    assert len({*keys}) == len(labels)
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", key) and len(key) <= LONGEST for key in keys)
    assert key_of("intersection.optimal.substitution_rate.micro")[:20] == "intersection_optimal"
    scores = build(("a b", "a_b"), SOFT)
    with pytest.raises(SettingsError, match="segment_soft_f1_a_b"):
        codabench(scores, ["segment.soft.f1[a b]", "segment.soft.f1[a_b]"])
    assert codabench(scores, ["segment.soft.f1[a b]"] * 2)


@pytest.mark.parametrize(("most", "n_tables"), [(4000, 2), (300, 0)])
def test_a_summary_has_no_more_bytes_than_it_may(most, n_tables, monkeypatch):
    monkeypatch.setattr("sedeval_soft.report.services.MOST_BYTES", most)
    text = job_summary([build(tuple(f"鳥{i}" for i in range(20)))], None, [MISSED])
    assert len(text.encode()) <= most and text.endswith("\n")
    assert text.count("\n| --- |") == n_tables, text


@settings(max_examples=6)
@given(st.text(min_size=1, max_size=10))
@example("::error::x")
@example("\n::error::x")
@example("##[error]x")
@example("<script>|`")
def test_no_line_of_a_summary_is_a_command(name):
    verdict = Verdict(name, f"segment.soft.f1[{name}]>=1", None, met=False)
    scores = replace(named(name), warnings=(name,), signature=f"soft-sed-eval {name}")
    for wanted in ((), (f"segment.soft.f1[{name}]",)):
        text = job_summary([scores], None, [verdict], wanted)
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
        assert "##[" not in text
        assert not re.search(r"(?<!\\)<script", text)
