"""`soft-sed-eval validate`: exit codes, forms of the report, and where it goes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from called import call as called
from make_bad_inputs import EVENTS, GOOD, HEAD

from sedeval_soft import Validation, validate
from sedeval_soft.cli import tables as command
from sedeval_soft.report import schema
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tools.validate import VALIDATION_FORMATS, render_validation

CLEAN = HEAD + GOOD
TABLES = {
    "clean": CLEAN,
    "noted": EVENTS + "a\t0\t1\tcar\na\t1\t2\tcar\n",
    "warned": HEAD + GOOD + GOOD,
    "wrong": HEAD + GOOD + "a.wav\t3\t2\tcar\t0.5\n",
}


def call(*arguments):
    return called("validate", *arguments)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TABLES.items():
        Path(f"{name}.tsv").write_text(text)


@pytest.mark.parametrize(
    ("name", "plain", "strict"), [("clean", 0, 0), ("noted", 0, 1), ("warned", 0, 1), ("wrong", 1, 1)]
)
def test_exit_codes_of_all_forms(name, plain, strict):
    assert command.REPORTS == tuple(VALIDATION_FORMATS)
    for form in VALIDATION_FORMATS:
        assert call(f"{name}.tsv", "--format", form).code == plain
        assert call(f"{name}.tsv", "--format", form, "--strict").code == strict
    level = {"noted": "notice", "warned": "warning", "wrong": "error"}.get(name)
    annotations = call(f"{name}.tsv", "--format", "github").out
    assert annotations.startswith(f"::{level} file={name}.tsv,line=3,") if level else annotations == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.tsv"], "cannot be read: No such file or directory"),
        (["clean.tsv", "--reference", "missing.tsv"], "cannot be read"),
        (["clean.tsv", "--reference", "wrong.tsv"], "wrong.tsv:3:3"),
        (["clean.tsv", "--durations", "missing.tsv"], "cannot be read"),
        (["clean.tsv", "--config", "missing.yaml"], "cannot be read"),
        (["clean.tsv", "--preset", "dcase1999"], "dcase2019-task4"),
        (["clean.tsv", "--preset", "dcase2019-task4", "--config", "x.yaml"], "both set classes"),
        (["clean.tsv", "--max-problems", "0"], "0 is not in the range"),
        (["clean.tsv", "--format", "xml"], "sarif"),
        (["-", "--reference", "-"], "standard input"),
        (["clean.tsv", "-o", "clean.tsv"], "this is the system output ("),
        (["clean.tsv", "--fix", "clean.tsv"], "this is the system output ("),
        (["clean.tsv", "--fix", "./clean.tsv"], "this is the system output ("),
        (["clean.tsv", "--reference", "noted.tsv", "--fix", "noted.tsv"], "this is the reference"),
        (["clean.tsv", "--fix", "-"], "standard output"),
        (["clean.tsv", "--fix", "new.tsv", "-o", "new.tsv"], "one file"),
        ([".", "--fix", "new.tsv"], "is a folder"),
        ([], "Missing argument"),
        (["clean.tsv", "wrong.tsv", "--format", "json"], "SYSTEM"),
        (["clean.tsv", "wrong.tsv", "--format", "sarif"], "SYSTEM"),
        (["clean.tsv", "wrong.tsv", "--fix", "new.tsv"], "SYSTEM"),
        (["clean.tsv", "wrong.tsv", "-o", "wrong.tsv"], "this is the system output 2 (wrong.tsv)"),
    ],
)
def test_what_cannot_be_run_exits_with_2(arguments, words):
    done = call(*arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert {path.stem: path.read_text() for path in Path().iterdir()} == TABLES


def test_text_is_as_compilers_write_it():
    assert call("wrong.tsv").out.splitlines() == [
        (
            "wrong.tsv:3:3: error offset-before-onset: offset 2 is before onset 3; expected onset <= offset; "
            "correct the one that is wrong"
        ),
        "wrong.tsv: 1 error (long table with header, tab; rows: 1, files: 1, classes: 1)",
    ]
    clean = "clean.tsv: no problems (long table with header, tab; rows: 1, files: 1, classes: 1)\n"
    assert call("clean.tsv").out == clean


def test_problems_that_are_not_told_are_counted():
    Path("many.tsv").write_text(HEAD + "a.wav\t2\t1\tcar\t1\n" * 30 + GOOD * 3)
    lines = call("many.tsv", "--max-problems", "5").out.splitlines()
    assert len(lines) == 7
    assert lines[5] == "... and 27 more: 2 duplicate-row, 25 offset-before-onset"
    document = call("many.tsv", "--max-problems", "5", "--format", "json").document
    assert (document["more"], document["counts"]) == (27, {"duplicate-row": 2, "offset-before-onset": 30})
    assert "27 more" not in call("many.tsv").out
    github = call("many.tsv", "--max-problems", "5", "--format", "github").out.splitlines()
    assert github[-1] == "::notice title=more problems::2 duplicate-row, 25 offset-before-onset"


def test_settings_files_say_which_classes_there_can_be():
    Path("s.yaml").write_text("classes: [car, dog]\n")
    assert "class 'dog' of those in the settings" in call("clean.tsv", "--config", "s.yaml").out
    Path("s.yaml").write_text("threshold: 0.5\n")
    assert "no problems" in call("clean.tsv", "--config", "s.yaml").out
    Path("s.yaml").write_text("classes: 7\n")
    assert call("clean.tsv", "--config", "s.yaml").code == 2


def test_the_report_goes_to_a_file():
    done = call("wrong.tsv", "--format", "json", "-o", "report.json")
    assert (done.code, done.out) == (1, "")
    assert json.loads(Path("report.json").read_text())["errors"] == 1


def test_the_schema_refuses_what_it_does_not_know():
    document = json.loads(render_validation(validate("warned.tsv"), "json"))
    jsonschema.Draft202012Validator.check_schema(schema("soft-sed-eval-validation/1"))
    for broken in (document | {"more": -1}, document | {"extra": 1}, {**document, "problems": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema("soft-sed-eval-validation/1"))


def test_columns_of_sarif_and_github_are_characters():
    Path("t.csv").write_text('filename,onset,offset,event_label\n"a, ""b""",12,x5,"car, red"\n')
    (result,) = call("t.csv", "--format", "sarif").document["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 15, "endColumn": 17}
    assert call("t.csv", "--format", "github").out.startswith(
        "::error file=t.csv,line=2,col=15,endColumn=16,title=not-a-number::offset 'x5' is not a number"
    )
    (told,) = call("t.csv", "--format", "json").document["problems"]
    assert (told["column"], told["characters"]) == (3, [15, 17])


def test_annotations_are_escaped_as_github_asks_for():
    told = problem("unknown-class", "a,b:c%\r\nd.tsv", "50 % of\r\n::error::x", 3, 4)
    text = render_validation(Validation("x", (told,), {"unknown-class": 1}), "github")
    assert text == (
        "::warning file=a%2Cb%3Ac%25%0D%0Ad.tsv,line=3,title=unknown-class::"
        "50 %25 of\\r\\n::error::x; correct its name, or leave its rows out\n"
    )
    mends = Validation("x\x1b[1m", (told,), {"unknown-class": 1}, mends=("\x1b]0;x\x07",))
    assert all(line.isprintable() for line in render_validation(mends, "text").splitlines())


@pytest.mark.parametrize("name", ["::error file=x::y", "##[command]", "x\n::error::y"])
def test_a_path_is_no_command(name):
    Path(name).write_text(TABLES["wrong"])
    lines = call("--", name).out.splitlines()
    assert len(lines) == 2
    assert not any(line.startswith(("::", "##")) for line in lines), lines
    (line,) = call("--format", "github", "--", name).out.splitlines()
    escaped = name.replace(":", "%3A").replace("\n", "%0A")
    assert line.startswith(f"::error file={escaped},line=3,col=")


def test_several_tables_are_looked_at_one_by_one():
    for form in ("text", "github"):
        done = call("clean.tsv", "wrong.tsv", "warned.tsv", "--format", form)
        alone = [call(f"{name}.tsv", "--format", form).out for name in ("clean", "wrong", "warned")]
        assert (done.code, done.out) == (1, "".join(alone))
    assert call("clean.tsv", "noted.tsv").code == 0
    assert call("clean.tsv", "noted.tsv", "--strict").code == 1


def test_rules_say_what_they_must():
    for code, rule in RULES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9_]+)*", code), code
        assert rule.meaning[0].isupper() and rule.meaning.endswith("."), code
        assert rule.mend[0].islower() and not rule.mend.endswith("."), code


def test_validation_imports_nothing_heavy():
    code = (
        "import sys; from sedeval_soft.cli.main import group\n"
        "try: group.main(['validate', 'clean.tsv', '--reference', 'clean.tsv'], standalone_mode=False)\n"
        "except BaseException: pass\n"
        "print(*[m for m in ('pandas', 'scipy', 'rich', 'sed_eval') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "no problems" in done.stdout
    assert done.stderr.split() == []
