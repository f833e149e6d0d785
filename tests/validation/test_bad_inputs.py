"""Every bad input is found out: its code, its line and its column; and scoring it ends as it should."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner
from make_bad_inputs import BAD, DURATIONS, REFERENCE, WIDE_REFERENCE, put, write

from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.problem_codes import RULES


def called(*arguments):
    """Return the exit code and what is printed; anything but an error of the package is raised."""
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    if isinstance(done.exception, EvaluationError):
        return 2, f"{done.exception}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("reference.tsv").write_text(REFERENCE)
    Path("wide_reference.tsv").write_text(WIDE_REFERENCE)
    Path("durations.tsv").write_text(DURATIONS)
    return Path()


@pytest.mark.parametrize("name", BAD)
def test_it_is_found_where_it_is(name, place):
    case = BAD[name]
    path = put(place, name)
    code, out = called("validate", path, "--format", "json", *case.options)
    document = json.loads(out)
    found = [p for p in document["problems"] if p["code"] == case.code]
    assert found, document["problems"]
    first = found[0]
    expected = str(path / case.inside) if case.inside else str(path)
    assert (first["file"], first["line"], first["column"]) == (expected, case.line, case.column), found
    assert first["text"] and first["mend"]
    severities = {problem["severity"] for problem in document["problems"]}
    assert code == (1 if "error" in severities else 0)
    assert ("error" in severities) == (not case.scored), document["problems"]


@pytest.mark.parametrize("name", BAD)
def test_scoring_refuses_what_is_an_error_and_nothing_else(name, place):
    case = BAD[name]
    path = put(place, name)
    options = dict(zip(case.options[::2], case.options[1::2], strict=True))
    reference = options.get("--reference", "reference.tsv")
    if "--reference" not in options and case.scored and not {"--durations"} & {*options}:
        reference = path  # held against itself: nothing else can be wrong
    durations = ["--durations", options["--durations"]] if "--durations" in options else []
    code, out = called(reference, path, *durations, "--only", "segment.hard")
    assert code == (0 if case.scored else 2), out
    if not case.scored:
        inside = str(path / case.inside) if case.inside else str(path)
        assert inside in out or str(path) in out


@pytest.mark.parametrize("form", ["text", "sarif", "github"])
@pytest.mark.parametrize("name", BAD)
def test_no_form_lets_a_name_out_raw(form, name, place):
    _, out = called("validate", put(place, name), "--format", form, *BAD[name].options)
    for line in out.splitlines():
        assert line.isprintable(), line
    if form == "github":
        starts = ("::error ", "::warning ", "::notice ")
        assert all(line.startswith(starts) and line.count("::") == 2 + line.count("error file=x::") * 2
                   for line in out.splitlines())  # fmt: skip


def test_the_folder_is_not_empty(tmp_path):
    paths = write(tmp_path)
    assert len(paths) == len(BAD) >= 80
    assert all(path.exists() for path in paths.values())


def test_the_script_writes_the_folder(tmp_path):
    script = Path(__file__).with_name("make_bad_inputs.py")
    subprocess.run([sys.executable, script, tmp_path / "bad"], check=True)
    listed = json.loads((tmp_path / "bad" / "expected.json").read_text())
    assert len(listed) == len(BAD)
    assert all((tmp_path / "bad" / each["file"]).exists() for each in listed)


def test_every_code_occurs(tmp_path):
    """Limits need larger inputs than these: what they say has a code all the same."""
    limits = set()
    for limit in fields(Limits):
        with pytest.raises(InputError) as caught:
            Limits().check("t.tsv", limit.name, float("inf"), "of something")
        limits.add(caught.value.problems[0].code)
    found = {case.code for case in BAD.values()} | limits
    # A folder of operating points has no scores of segments, by which all others are tried here.
    assert {*RULES} - found == {"unreadable-file", "cannot-hold", "operating-points"}
    assert found <= {*RULES}
    code, out = called("validate", tmp_path / "missing.tsv")
    assert code == 2
    assert "cannot be read" in out


def test_no_traceback_in_a_process_of_its_own(tmp_path):
    for name in ("nul_in_label", "onset_of_1e12", "utf_16", "gzip_of_nonsense"):
        done = subprocess.run(
            [sys.executable, "-m", "sedeval_soft", "validate", put(tmp_path, name)],
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert BAD[name].code in done.stdout
