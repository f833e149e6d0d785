"""`--format github`, `junit` and `codabench`: where what goes, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft.cli.options import FORMATS, SERVICE_FORMATS
from sedeval_soft.cli.present import SUMMARY
from sedeval_soft.report import FORMATS as RENDERED

F1 = "segment.soft.f1.macro"
ONLY = ("--only", "segment.soft")
MISSED = ("--require", f"{F1}>=0.9")
MET = ("--require", f"{F1}>=0.1")


@pytest.fixture(autouse=True)
def _no_summary(monkeypatch):
    monkeypatch.delenv(SUMMARY, raising=False)


@pytest.fixture
def summary(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    monkeypatch.setenv(SUMMARY, str(path))
    return path


def test_forms_are_those_that_are_rendered():
    assert FORMATS == RENDERED
    assert not {*FORMATS} & {*SERVICE_FORMATS}


def test_the_summary_goes_behind_what_others_wrote(summary):
    summary.write_text("before\n")
    done = call(REFERENCE, SYSTEM, *ONLY, "--format", "github", *MISSED, *MET)
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        f"::error title={SYSTEM}%3A requirement not met::{F1}>=0.9: it is 0.7796463710969066\n"
    )
    text = summary.read_text()
    assert text.startswith("before\n## ")
    assert "Requirements: 1 of 2 not met" in text
    assert call(REFERENCE, SYSTEM, *ONLY, "--format", "github").code == 0
    assert summary.read_text().startswith(text)
    assert summary.read_text().count("### Summary") == 2


@pytest.mark.parametrize("to", [(), ("-o", "-"), ("-o", "/dev/stdout")])
def test_standard_output_has_the_summary_without_that_file_or_by_name(to, summary, monkeypatch):
    if not to:
        monkeypatch.delenv(SUMMARY)
    done = call(REFERENCE, SYSTEM, *ONLY, "--format", "github", *MISSED, *to)
    assert done.code == 1
    command, rest = done.out.split("\n", 1)
    assert command.startswith("::error ") and rest.startswith("## ")
    assert not summary.exists()


def test_the_summary_goes_to_the_output_that_is_named(tmp_path, summary):
    done = call(REFERENCE, SYSTEM, *ONLY, "--format", "github", *MISSED, "-o", tmp_path / "out.md")
    assert done.out.startswith("::error ")
    assert done.out.count("\n") == 1
    assert "### Summary" in (tmp_path / "out.md").read_text()
    assert not summary.exists()


def test_a_summary_that_cannot_be_written_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv(SUMMARY, str(tmp_path / "missing" / "summary.md"))
    done = call(REFERENCE, SYSTEM, *ONLY, "--format", "github")
    assert (done.code, done.out) == (2, "")
    assert "cannot be written" in done.err


def test_warnings_are_annotations(tmp_path):
    system = tmp_path / "sys.tsv"
    lines = Path(SYSTEM).read_text().splitlines(keepends=True)
    system.write_text("".join(line for line in lines if not line.startswith("cafe")))
    call_of = (REFERENCE, system, *ONLY, "--format", "github")
    done = call(*call_of)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("::warning title=soft-sed-eval::")
    assert "::" not in call(*call_of, "--quiet").out
    assert "**warning**" in call(*call_of, "--quiet").out


@pytest.mark.parametrize("form", ["github", "junit", "codabench", "text"])
def test_a_requirement_that_is_not_met_is_exit_code_1_and_the_report_is_written(form, tmp_path):
    target = tmp_path / "report"
    done = call(REFERENCE, SYSTEM, *ONLY, "--format", form, *MISSED, "-o", target)
    assert done.code == 1
    assert target.stat().st_size > 0
    assert call(REFERENCE, SYSTEM, *ONLY, "--format", form, *MET, "-o", target).code == 0


def test_junit_has_each_requirement_of_each_system():
    more = (*MET, "--require", f"{F1}>=0.7")
    done = call(REFERENCE, SYSTEM, OTHER, *ONLY, "--quiet", "--format", "junit", *more)
    root = ET.fromstring(done.out.encode())  # noqa: S314 - our own
    assert done.code == 1
    assert (root.get("tests"), root.get("failures")) == ("4", "1")
    assert {suite.get("name"): suite.get("failures") for suite in root} == {str(SYSTEM): "0", str(OTHER): "1"}


def test_codabench_is_json_or_lines_by_the_name_of_the_output(tmp_path):
    scores = ("--score", F1, "--score", "segment.soft.f1.micro")
    arguments = (REFERENCE, SYSTEM, "--format", "codabench", *scores)
    printed = json.loads(call(*arguments).out)
    assert list(printed) == ["segment_soft_f1_macro", "segment_soft_f1_micro"]
    for name in ("scores.json", "scores.txt"):
        done = call(*arguments, "-o", tmp_path / name)
        assert (done.code, done.out, done.err) == (0, "", "")
    assert json.loads((tmp_path / "scores.json").read_text()) == printed
    text = (tmp_path / "scores.txt").read_text()
    assert yaml.safe_load(text) == printed
    assert text.splitlines()[0].startswith("segment_soft_f1_macro: 0.77")


def test_codabench_says_what_is_undefined():
    name = "segment.soft.precision[door opens]"
    done = call(REFERENCE, SYSTEM, "--format", "codabench", "--score", name, "--score", F1)
    assert (done.code, list(json.loads(done.out))) == (0, ["segment_soft_f1_macro"])
    assert f"undefined, so left out: {name}" in done.err


@pytest.mark.parametrize("form", ["github", "latex", "junit"])
def test_several_systems_in_the_other_forms(form):
    done = call(REFERENCE, SYSTEM, OTHER, *ONLY, "--quiet", "--format", form, "--average", "macro")
    assert done.code == 0
    assert "sys_b.tsv" in done.out.replace("\\", "")
    assert form == "github" or "micro" not in done.out
