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
MISSED, MET = (("--require", f"{F1}>={number}") for number in (0.9, 0.1))
GITHUB = (REFERENCE, SYSTEM, *ONLY, "--format", "github")


@pytest.fixture(autouse=True)
def summary(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    monkeypatch.setenv(SUMMARY, str(path))
    return path


def test_the_summary_goes_behind_what_others_wrote(summary, monkeypatch, tmp_path):
    summary.write_text("before\n")
    done = call(*GITHUB, *MISSED, *MET)
    command = (
        f"::error title={Path(SYSTEM).name}%3A requirement not met::{F1}>=0.9: it is 0.7796463710969066\n"
    )
    assert (done.code, done.out, done.err) == (1, command, "")
    text = summary.read_text()
    assert text.startswith("before\n## ") and "Requirements: 1 of 2 not met" in text
    assert call(*GITHUB).code == 0
    assert summary.read_text().startswith(text) and summary.read_text().count("### Summary") == 2
    monkeypatch.setenv(SUMMARY, str(tmp_path / "missing" / "summary.md"))
    done = call(*GITHUB)
    assert (done.code, done.out) == (2, "") and "cannot be written" in done.err


@pytest.mark.parametrize("to", [(), ("-o", "-"), ("-o", "/dev/stdout"), ("-o", "out.md")])
def test_standard_output_has_the_summary_without_that_file_or_by_name(to, summary, monkeypatch):
    monkeypatch.chdir(summary.parent)
    if not to:
        monkeypatch.delenv(SUMMARY)
    done = call(*GITHUB, *MISSED, *to)
    command, rest = done.out.split("\n", 1)
    assert done.code == 1 and command.startswith("::error ") and not summary.exists()
    assert (Path("out.md").read_text() if "out.md" in to else rest).startswith("## ")
    assert rest == "" or "out.md" not in to


def test_warnings_are_annotations(tmp_path):
    system = tmp_path / "sys.tsv"
    lines = Path(SYSTEM).read_text().splitlines(keepends=True)
    system.write_text("".join(line for line in lines if not line.startswith("cafe")))
    asked = (REFERENCE, system, *ONLY, "--format", "github", "-o", tmp_path / "out")
    done = call(*asked)
    assert (done.code, done.err) == (0, "") and done.out.startswith("::warning title=soft-sed-eval::")
    assert call(*asked, "--quiet").out == ""
    assert "**warning**" in (tmp_path / "out").read_text()


@pytest.mark.parametrize("form", ["junit", "codabench", "text"])
def test_a_requirement_that_is_not_met_is_exit_code_1_and_the_report_is_written(form, tmp_path):
    assert FORMATS == RENDERED and not {*FORMATS} & {*SERVICE_FORMATS}
    asked = (REFERENCE, SYSTEM, *ONLY, "--format", form, "-o", tmp_path / form)
    assert (call(*asked, *MISSED).code, call(*asked, *MET).code) == (1, 0)
    assert (tmp_path / form).stat().st_size > 0


def test_junit_has_each_requirement_of_each_system():
    more = (*MET, "--require", f"{F1}>=0.7", "--score", F1)
    done = call(REFERENCE, SYSTEM, OTHER, *ONLY, "--quiet", "--format", "junit", *more)
    root = ET.fromstring(done.out.encode())  # noqa: S314 - our own
    assert (done.code, root.get("tests"), root.get("failures")) == (1, "4", "1")
    assert {suite.get("name"): suite.get("failures") for suite in root} == {"sys.tsv": "0", "sys_b.tsv": "1"}
    assert f'<property name="scores.{F1}" value="0.77' in done.out


def test_codabench_is_json_or_lines_by_the_name_of_the_output_and_says_what_is_undefined(tmp_path):
    scores = ("--score", F1, "--score", "segment.soft.f1.micro")
    arguments = (REFERENCE, SYSTEM, "--format", "codabench", *scores)
    printed = json.loads(call(*arguments).out)
    assert list(printed) == ["segment_soft_f1_macro", "segment_soft_f1_micro"]
    for name, read in (("scores.json", json.loads), ("scores.txt", yaml.safe_load)):
        assert call(*arguments, "-o", tmp_path / name).code == 0
        assert read((tmp_path / name).read_text()) == printed
    assert (tmp_path / "scores.txt").read_text().startswith("segment_soft_f1_macro: 0.77")
    undefined = "segment.soft.precision[door opens]"
    done = call(*arguments, "--score", undefined)
    assert (done.code, json.loads(done.out)) == (0, printed)
    assert f"undefined, so left out: {undefined}" in done.err
