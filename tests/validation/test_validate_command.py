"""`soft-sed-eval validate`: exit codes, forms of the report, and where it goes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
from click.testing import CliRunner
from make_bad_inputs import BAD, EVENTS, GOOD, HEAD, put

from sedeval_soft import Validation, validate
from sedeval_soft.cli import validate as command
from sedeval_soft.cli.main import group
from sedeval_soft.errors import EvaluationError
from sedeval_soft.report.render import validation_schema
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tools.validate_report import VALIDATION_FORMATS, render_validation

CLEAN = HEAD + GOOD
NOTED = EVENTS + "a\t0\t1\tcar\na\t1\t2\tcar\n"
WARNED = HEAD + GOOD + GOOD
WRONG = HEAD + GOOD + "a.wav\t3\t2\tcar\t0.5\n"


def call(*arguments):
    """Return exit code, standard output and error of a call."""
    done = CliRunner().invoke(group, ["validate", *map(str, arguments)])
    if isinstance(done.exception, EvaluationError):
        return 2, done.stdout, str(done.exception)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"clean": CLEAN, "noted": NOTED, "warned": WARNED, "wrong": WRONG}.items():
        Path(f"{name}.tsv").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "plain", "strict"), [("clean", 0, 0), ("noted", 0, 1), ("warned", 0, 1), ("wrong", 1, 1)]
)
@pytest.mark.parametrize("form", VALIDATION_FORMATS)
def test_exit_codes(name, plain, strict, form, here):
    assert call(f"{name}.tsv", "--format", form)[0] == plain
    assert call(f"{name}.tsv", "--format", form, "--strict")[0] == strict


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.tsv"], "cannot be read"),
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
    ],
)
def test_what_cannot_be_run_exits_with_2(arguments, words, here):
    code, out, err = call(*arguments)
    assert code == 2
    assert words in err
    assert out == ""
    assert Path("clean.tsv").read_text() == CLEAN


def test_messages_in_a_process_of_its_own(here):
    done = subprocess.run(
        [sys.executable, "-c", "from sedeval_soft.cli import main; main()", "validate", "missing.tsv"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "soft-sed-eval: missing.tsv: cannot be read: No such file or directory\n"


def test_text_is_as_compilers_write_it(here):
    _, out, _ = call("wrong.tsv")
    assert out.splitlines() == [
        (
            "wrong.tsv:3:3: error offset-before-onset: offset 2 is before onset 3; expected onset <= offset; "
            "correct the one that is wrong"
        ),
        "wrong.tsv: 1 error (long table with header, tab; rows: 1, files: 1, classes: 1)",
    ]
    assert call("clean.tsv")[1] == (
        "clean.tsv: no problems (long table with header, tab; rows: 1, files: 1, classes: 1)\n"
    )


def test_problems_that_are_not_told_are_counted(here):
    Path("many.tsv").write_text(HEAD + "a.wav\t2\t1\tcar\t1\n" * 30 + GOOD * 3)
    _, out, _ = call("many.tsv", "--max-problems", "5")
    lines = out.splitlines()
    assert len(lines) == 7
    assert lines[5] == "... and 27 more: 2 duplicate-row, 25 offset-before-onset"
    document = json.loads(call("many.tsv", "--max-problems", "5", "--format", "json")[1])
    assert (document["more"], document["counts"]) == (27, {"duplicate-row": 2, "offset-before-onset": 30})
    assert "27 more" not in call("many.tsv")[1]
    github = call("many.tsv", "--max-problems", "5", "--format", "github")[1].splitlines()
    assert github[-1] == "::notice title=more problems::2 duplicate-row, 25 offset-before-onset"


def test_settings_files_say_which_classes_there_can_be(here):
    Path("s.yaml").write_text("classes: [car, dog]\n")
    assert "class 'dog' of those in the settings" in call("clean.tsv", "--config", "s.yaml")[1]
    Path("s.yaml").write_text("threshold: 0.5\n")
    assert "no problems" in call("clean.tsv", "--config", "s.yaml")[1]
    Path("s.yaml").write_text("classes: 7\n")
    assert call("clean.tsv", "--config", "s.yaml")[0] == 2


def test_the_report_goes_to_a_file(here):
    code, out, _ = call("wrong.tsv", "--format", "json", "-o", "report.json")
    assert (code, out) == (1, "")
    assert json.loads(Path("report.json").read_text())["errors"] == 1


@pytest.mark.parametrize("name", BAD)
def test_json_follows_its_schema(name, tmp_path):
    document = json.loads(render_validation(validate(put(tmp_path, name)), "json"))
    jsonschema.validate(document, validation_schema())
    told = document["errors"] + document["warnings"] + document["notes"]
    assert told == sum(document["counts"].values()) == len(document["problems"]) + document["more"]


def test_the_schema_refuses_what_it_does_not_know(tmp_path):
    document = json.loads(render_validation(validate(put(tmp_path, "overlap")), "json"))
    jsonschema.Draft202012Validator.check_schema(validation_schema())
    for broken in (document | {"more": -1}, document | {"extra": 1}, {**document, "problems": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, validation_schema())


@pytest.mark.parametrize("name", BAD)
def test_sarif_has_what_its_standard_requires(name, tmp_path):
    found = validate(put(tmp_path, name))
    document = json.loads(render_validation(found, "sarif"))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "soft-sed-eval"
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert {rule["id"] for rule in rules} == {*found.counts}
    for rule in rules:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    assert len(run["results"]) == len(found.problems)
    for result, told in zip(run["results"], found.problems, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == told.code
        assert result["level"] == told.severity
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"].removeprefix("file://")) == told.source
        region = place.get("region", {})
        assert region.get("startLine") == told.line
        assert region.get("startColumn", 1) >= 1
        assert region.get("endColumn", 9) >= region.get("startColumn", 1)
        if told.column is not None:
            assert result["properties"] == {"field": told.column}


def test_columns_of_sarif_and_github_are_characters(here):
    Path("t.csv").write_text('filename,onset,offset,event_label\n"a, ""b""",12,x5,"car, red"\n')
    region = json.loads(call("t.csv", "--format", "sarif")[1])["runs"][0]["results"][0]["locations"][0]
    assert region["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 15, "endColumn": 17}
    assert call("t.csv", "--format", "github")[1].startswith(
        "::error file=t.csv,line=2,col=15,endColumn=16,title=not-a-number::offset 'x5' is not a number"
    )
    (found,) = json.loads(call("t.csv", "--format", "json")[1])["problems"]
    assert (found["column"], found["characters"]) == (3, [15, 17])


def test_annotations_are_escaped_as_github_asks_for():
    told = problem("unknown-class", "a,b:c%\r\nd.tsv", "50 % of\r\n::error::x", 3, 4)
    text = render_validation(Validation("x", (told,), {"unknown-class": 1}), "github")
    assert text == (
        "::warning file=a%2Cb%3Ac%25%0D%0Ad.tsv,line=3,title=unknown-class::"
        "50 %25 of\\r\\n::error::x; correct its name, or leave its rows out\n"
    )
    mends = Validation("x\x1b[1m", (told,), {"unknown-class": 1}, mends=("\x1b]0;x\x07",))
    for line in render_validation(mends, "text").splitlines():
        assert line.isprintable()


def test_a_path_is_no_command(here):
    for name in ("::error file=x::y", "##[command]", "x\n::error::y"):
        Path(name).write_text(WRONG)
        lines = call("--", name)[1].splitlines()
        assert len(lines) == 2
        assert not any(line.startswith(("::", "##")) for line in lines), lines
        (line,) = call("--format", "github", "--", name)[1].splitlines()
        escaped = name.replace(":", "%3A").replace("\n", "%0A")
        assert line.startswith(f"::error file={escaped},line=3,col=")


def test_levels_of_annotations(here):
    for name, level in (("noted", "notice"), ("warned", "warning"), ("wrong", "error")):
        assert call(f"{name}.tsv", "--format", "github")[1].startswith(f"::{level} file={name}.tsv,line=3,")


def test_command_and_library_have_the_same_formats():
    assert command.FORMATS == tuple(VALIDATION_FORMATS)


def test_several_tables_are_looked_at_one_by_one(here):
    for form in ("text", "github"):
        code, out, _ = call("clean.tsv", "wrong.tsv", "warned.tsv", "--format", form)
        assert code == 1
        assert out == "".join(
            call(f"{name}.tsv", "--format", form)[1] for name in ("clean", "wrong", "warned")
        )
    assert call("clean.tsv", "noted.tsv")[0] == 0
    assert call("clean.tsv", "noted.tsv", "--strict")[0] == 1
    assert call()[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [["--format", "json"], ["--format", "sarif"], ["--fix", "fixed.tsv"], ["-o", "wrong.tsv"]],
)
def test_what_is_of_one_table_is_refused_for_several(arguments, here):
    code, out, err = call("clean.tsv", "wrong.tsv", *arguments)
    assert (code, out) == (2, "")
    assert "SYSTEM" in err or "this is the system output 2 (wrong.tsv)" in err
    assert Path("wrong.tsv").read_text() == WRONG
    assert not Path("fixed.tsv").exists()


def test_rules_say_what_they_must():
    for code, rule in RULES.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9_]+)*", code), code
        assert rule.meaning[0].isupper() and rule.meaning.endswith("."), code
        assert rule.mend[0].islower() and not rule.mend.endswith("."), code


def test_validation_imports_nothing_heavy(here):
    code = (
        "import sys; from sedeval_soft.cli.main import group\n"
        "try: group.main(['validate', 'clean.tsv', '--reference', 'clean.tsv'], standalone_mode=False)\n"
        "except BaseException: pass\n"
        "print(*[m for m in ('pandas', 'scipy', 'rich', 'sed_eval') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "no problems" in done.stdout
    assert done.stderr.split() == []
