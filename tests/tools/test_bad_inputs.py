"""Every bad input is told, with code, line and column, in all forms; scoring it ends as it should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
from called import call
from make_bad_inputs import BAD, DURATIONS, GOOD, HEAD, REFERENCE, WIDE_REFERENCE, put

from sedeval_soft import validate
from sedeval_soft.errors import InputError
from sedeval_soft.report import schema
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.limits import NAMES, Limits
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tools.validate import render_validation

SCHEMA = jsonschema.Draft202012Validator(schema("soft-sed-eval-validation/1"))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("reference.tsv").write_text(REFERENCE)
    Path("wide_reference.tsv").write_text(WIDE_REFERENCE)
    Path("durations.tsv").write_text(DURATIONS)
    return Path()


@pytest.mark.parametrize("name", BAD)
def test_it_is_told_where_it_is(name, place):
    case = BAD[name]
    path = put(place, name)
    done = call("validate", path, "--format", "json", *case.options)
    first = next(p for p in done.document["problems"] if p["code"] == case.code)
    expected = str(path / case.inside) if case.inside else str(path)
    assert (first["file"], first["line"], first["column"]) == (expected, case.line, case.column)
    assert first["text"] and first["mend"]
    severities = {problem["severity"] for problem in done.document["problems"]}
    assert done.code == (1 if "error" in severities else 0)
    assert ("error" in severities) == (not case.scored), done.document["problems"]


@pytest.mark.parametrize("name", BAD)
def test_scoring_refuses_what_is_an_error_and_nothing_else(name, place):
    case = BAD[name]
    path = put(place, name)
    options = dict(zip(case.options[::2], case.options[1::2], strict=True))
    reference = options.get("--reference", "reference.tsv")
    if "--reference" not in options and case.scored and "--durations" not in options:
        reference = path  # held against itself: nothing else can be wrong
    durations = ["--durations", options["--durations"]] if "--durations" in options else []
    done = call(reference, path, *durations, "--only", "segment.hard")
    assert done.code == (0 if case.scored else 2), done.err
    # Without a reference it is not known that there are many recordings.
    if not case.scored and case.code != "missing-filename-column":
        assert (str(path / case.inside) if case.inside else str(path)) in done.err or str(path) in done.err
        with pytest.raises(InputError) as caught:
            read_rows(path)
        told = {(p.source, p.line, p.column, p.message, p.code) for p in validate(path).problems}
        for problem in caught.value.problems:
            assert (problem.source, problem.line, problem.column, problem.message, problem.code) in told
            assert RULES[problem.code].severity == problem.severity == "error"


@pytest.mark.parametrize("name", BAD)
def test_every_form_follows_its_rules_and_lets_no_name_out_raw(name, tmp_path):
    validation = validate(put(tmp_path, name))
    document = json.loads(render_validation(validation, "json"))
    SCHEMA.validate(document)
    told = document["errors"] + document["warnings"] + document["notes"]
    assert told == sum(document["counts"].values()) == len(document["problems"]) + document["more"]
    texts = {form: render_validation(validation, form) for form in ("text", "sarif", "github")}
    assert all(line.isprintable() for text in texts.values() for line in text.splitlines())
    for line in texts["github"].splitlines():
        assert line.startswith(("::error ", "::warning ", "::notice "))
        assert line.count("::") == 2 + line.count("error file=x::") * 2
    check_sarif(json.loads(texts["sarif"]), validation)


def check_sarif(document, validation):
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    assert run["tool"]["driver"]["name"] == "soft-sed-eval"
    rules = run["tool"]["driver"]["rules"]
    assert sorted(rule["id"] for rule in rules) == sorted(validation.counts)
    for rule in rules:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    for result, problem in zip(run["results"], validation.problems, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == problem.code
        assert result["level"] == problem.severity and result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"].removeprefix("file://")) == problem.source
        region = place.get("region", {})
        assert region.get("startLine") == problem.line
        assert 1 <= region.get("startColumn", 1) <= region.get("endColumn", 9)
        if problem.column is not None:
            assert result["properties"] == {"field": problem.column}


@pytest.mark.parametrize("name", [name for name, case in BAD.items() if isinstance(case.data, bytes)])
def test_a_copy_is_never_worse(name, place):
    path, known = put(place, name), place / "known.tsv"
    known.write_text(f"{HEAD}{GOOD}a.wav\t3\t4\tstreet_dog\t1\n")
    before, after = validate(path, known), validate(path, known, fix="out.tsv")
    if not Path("out.tsv").exists():
        assert after.mends[0].startswith("no copy was written")
        assert after.counts == before.counts
        return
    for severity in ("error", "warning"):
        assert after.count(severity) <= before.count(severity)
    # A second look mends nothing more.
    assert validate("out.tsv", known, fix="again.tsv").mends == ()
    assert Path("again.tsv").read_bytes() == Path("out.tsv").read_bytes()


def test_the_script_writes_the_folder(tmp_path):
    script = Path(__file__).with_name("make_bad_inputs.py")
    subprocess.run([sys.executable, script, tmp_path / "bad"], check=True)
    listed = json.loads((tmp_path / "bad" / "expected.json").read_text())
    assert len(listed) == len(BAD) >= 80
    assert all((tmp_path / "bad" / each["file"]).exists() for each in listed)


def test_every_code_occurs():
    """Limits need larger inputs than these: what they say has a code all the same."""
    limits = set()
    for name in NAMES:
        with pytest.raises(InputError) as caught:
            Limits().check("t.tsv", name, float("inf"), "of something")
        limits.add(caught.value.problems[0].code)
    codes = {case.code for case in BAD.values()} | limits
    # A folder of operating points has no scores of segments, by which all others are tried here.
    assert {*RULES} - codes == {"unreadable-file", "cannot-hold", "operating-points"}
    assert codes <= {*RULES}


def test_no_traceback_in_a_process_of_its_own(tmp_path):
    for name in ("nul_in_label", "gzip_of_nonsense"):
        command = [sys.executable, "-m", "sedeval_soft", "validate", put(tmp_path, name)]
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert BAD[name].code in done.stdout
