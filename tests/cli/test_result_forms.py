"""Forms of results: tables, documents for programs, forms of services, and `--per-file`."""

import io
import re
from xml.etree import ElementTree as ET

import jsonschema
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call, written
from documents import schema
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.cli.output import SUMMARY
from sedeval_soft.report import FORMATS

F1, RECALL = "segment.soft.f1.macro", "event.hard.recall[car]"
NAMES = ("--score", RECALL, "--score", F1)
FEW = ("--replicates", "20", "--quiet")
SCORES = {path: evaluate(REFERENCE, path) for path in (SYSTEM, OTHER)}


@pytest.mark.parametrize(
    ("form", "asked"), [("csv", ()), ("tsv", ("--per-file",)), ("csv", NAMES), ("tsv", ("--by-class",))]
)
def test_the_signature_is_once_beside_the_rows(form, asked, tmp_path):
    # Only the scores that `--score` names are computed.
    only = "only=event.hard,segment.soft" if asked == NAMES else ""
    asked = (REFERENCE, SYSTEM, *asked, "--format", form)
    done = call(*asked)
    assert re.fullmatch(f"signature: soft-sed-eval .*{only}.*ref .*\n", done.err)
    assert "soft-sed-eval" not in done.out
    assert call(*asked, "-q").err == "" == call(*asked, "-o", tmp_path / "scores").err
    assert re.fullmatch("soft-sed-eval .*system:sha256=.*\n", (tmp_path / "scores.signature").read_text())


@pytest.mark.parametrize("form", ["csv", "text", "markdown", "latex"])
def test_a_table_by_class_has_all_classes_then_macro_then_micro(form):
    """One system: a column for each score. Several: a column for each system below each score."""
    labels, stems = [*SCORES[SYSTEM].classes, "macro", "micro"], ("event.hard.f1", "segment.soft.f1")
    for systems, more in (((SYSTEM,), ("-q",)), ((SYSTEM, OTHER), FEW)):
        asked = ("--score", "event.hard.f1[*]", "--score", F1, "--by-class", "--format", form, *more)
        # Remove the intervals, which tables of several systems have.
        plain = re.sub(r"\$_\{.*?\}\$|\\?\[[0-9., ]+\\?\]", "", call(REFERENCE, *systems, *asked).out)
        rows = [re.split(r"\s*[|&\t,]\s*|\s{2,}", line.strip("| \\")) for line in plain.splitlines()]
        found = {row[0]: row[1 :: 3 if form == "csv" and more is FEW else 1] for row in rows}
        assert [name for name in found if name in labels] == labels
        for row in labels:
            end = f".{row}" if row in ("macro", "micro") else f"[{row}]"
            values = [SCORES[system][f"{stem}{end}"] for stem in stems for system in systems]
            assert found[row] == [repr(v) if form == "csv" else f"{v:.3f}" for v in values], row


# Services.

ONLY = ("--only", "segment.soft")
MISSED, MET = (("--require", f"{F1}>={number}") for number in (0.9, 0.1))
GITHUB = (REFERENCE, SYSTEM, *ONLY, "--format", "github")


def test_the_summary_goes_behind_what_others_wrote_or_to_standard_output(monkeypatch, tmp_path):
    """A repeated requirement counts once."""
    monkeypatch.setenv(SUMMARY, str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    asked = (*GITHUB, *MISSED, *MISSED, *MET)
    done = call(*asked)
    assert (done.code, done.err) == (1, "")
    assert re.fullmatch(rf"::error title=sys\.tsv%3A .*::{F1}>=0\.9: .*0\.7796463710969066\n", done.out)
    before, text = (tmp_path / "summary.md").read_text().removesuffix("\n").split("\n", 1)
    assert before == "before" and text.startswith("## ") and "Requirements: 1 of 2 not met" in text
    monkeypatch.setenv(SUMMARY, str(tmp_path / "missing" / "summary.md"))
    lost = call(*GITHUB)
    assert (lost.code, lost.out) == (2, "") and "missing" in lost.err
    # Output to standard output by name, or without the file of summaries.
    assert call(*asked, "-o", "-").out == call(*asked, "-o", "/dev/stdout").out == done.out + text
    beside = call(*asked, "-o", tmp_path / "out.md").out
    assert (beside, (tmp_path / "out.md").read_text()) == (done.out, text)
    monkeypatch.delenv(SUMMARY)
    assert call(*asked).out == done.out + text


def test_warnings_are_annotations(tmp_path):
    (tmp_path / "sys.tsv").write_text("filename\tonset\toffset\tevent_label\npark.wav\t0\t1\tcar\n")
    asked = (REFERENCE, tmp_path / "sys.tsv", *ONLY, "--format", "github", "-o", tmp_path / "out")
    assert call(*asked).out.startswith("::warning title=soft-sed-eval::")
    assert call(*asked, "--quiet").out == "" and "**warning**" in (tmp_path / "out").read_text()


def test_junit_has_each_requirement_of_each_system():
    more = (*MET, "--require", f"{F1}>=0.7", "--score", F1)
    done = call(REFERENCE, SYSTEM, OTHER, *ONLY, *FEW, "--format", "junit", *more)
    root = ET.fromstring(done.out.encode())  # noqa: S314 - our own
    assert (done.code, root.get("tests"), root.get("failures")) == (1, "4", "1")
    assert {suite.get("name"): suite.get("failures") for suite in root} == {"sys.tsv": "0", "sys_b.tsv": "1"}
    assert f'<property name="scores.{F1}" value="0.77' in done.out and done.out.count('"scores.') == 2


# One row for each file.


@pytest.mark.parametrize("names", [(), (F1, "event.hard.error_rate.micro", "segment.hard.recall[car]")])
def test_rows_of_files_are_those_of_the_data_frame_and_of_a_tally(names, tmp_path):
    frame, tally = SCORES[SYSTEM].per_file(*names), tmp_path / "1.tally"
    frame.insert(0, "system", "sys.tsv")
    asked = ("--per-file", *(f"--score={name}" for name in names), "--format")
    csv = call(REFERENCE, SYSTEM, *asked, "csv", "--save-tally", tally).out
    for text, separator in ((csv, ","), (call("merge", tally, *asked, "tsv").out, "\t")):
        found = pd.read_csv(io.StringIO(text), sep=separator)
        pd.testing.assert_frame_equal(found, frame, check_exact=True, check_dtype=False)
    document = call(REFERENCE, SYSTEM, *asked, "json").document
    jsonschema.Draft202012Validator(schema("soft-sed-eval-files-1")).validate(document)
    assert document["files"] == frame.astype(object).where(frame.notna(), None).to_dict("records")


@pytest.mark.parametrize("form", FORMATS)
def test_each_form_has_a_row_for_each_file_of_each_system(form):
    # Without durations, a warning about unknown lengths would also name the files.
    asked = ("--per-file", "--only", "segment", "--format", form, "--quiet")
    done = call(REFERENCE, SYSTEM, OTHER, "--durations", SAMPLES / "durations.tsv", *asked)
    # A warning names a file in quotes.
    rows = {file: done.out.count(file) - done.out.count(f"'{file}'") for file in SCORES[SYSTEM].files}
    assert (done.code, done.err, rows) == (0, "", dict.fromkeys(rows, 2))


@pytest.mark.parametrize("length", [8, 30, 120])
def test_a_screen_has_the_worst_files_in_forty_lines_of_eighty_cells(tmp_path, length):
    """The system's values decrease over 40 files; a long name is cut unless most of it fits."""
    names = [f"{'a street' * length}"[: length - 7] + f"{k:03d}.wav" for k in range(40)]
    rows = [(name, 0.0, 2.0, "car", 1 - k / 40) for k, name in enumerate(names)]
    sides = {"ref.tsv": [(*row[:4], 1.0) for row in rows], "sys.tsv": rows}
    asked = (*(written(tmp_path / name, long_rows(side)) for name, side in sides.items()), "--per-file")
    shown = call(*asked).out.splitlines()
    assert len(shown) <= 40 and max(map(len, shown)) <= 80
    found = [line.partition(".wav")[0][-3:] for line in shown if ".wav" in line]
    assert found == [f"{k:03d}" for k in range(39, 9, -1)]
    assert any("10 more" in line and "-v" in line for line in shown)
    assert length > 32 or all(any(line.startswith(name) for line in shown) for name in names[-30:])
    assert call(*asked, "-v").out.count(".wav") == 40


def test_the_score_that_is_named_first_says_which_files_are_the_worst():
    asked = ("--score", "segment.hard.error_rate.micro", "--score", "event.soft.f1.micro")
    lines = call(REFERENCE, SYSTEM, "--per-file", *asked).out.splitlines()
    assert [line.split()[0] for line in lines if ".wav" in line] == [
        "metro.wav",
        "cafe.wav",
        "street.wav",
        "park.wav",
        "night.wav",
    ]
