"""Examples in the documents run and print the documented output; links and names in them exist."""

import doctest
import json
import re

import numpy as np
import pytest
from called import call
from documents import ROOT, blocks, examples, make_workplace, run_all, schema, script

import sedeval_soft
from sedeval_soft import evaluate, memory
from sedeval_soft.cli.main import SHORT_HELPS
from sedeval_soft.report import render
from sedeval_soft.settings import Settings
from sedeval_soft.tables import Limits
from sedeval_soft.tables.limits import NAMES, size_of

TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
SESSIONS = {name: found for name, text in TEXTS.items() if (found := [*examples(text)])}
PYTHON = {name: found for name, text in TEXTS.items() if (found := blocks(text, "python"))}


@pytest.mark.slow
def test_readme_examples_run(tmp_path):
    commands = re.findall(r"^    ((?:soft-sed-eval|cat) .*)$", TEXTS["README.md"], re.MULTILINE)
    assert len(commands) >= 5
    make_workplace(tmp_path)
    assert [said for code, said in run_all(commands, tmp_path) if code] == []


SLOW = {"docs/reference/commands.md", "docs/reference/plots.md", "docs/explanations/uncertainty.md"}
"""Documents whose commands take many seconds in all."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in SESSIONS]
)
def test_commands_print_what_documents_show(name, tmp_path, monkeypatch):
    if name == "docs/guides/large-tables.md":
        pytest.importorskip("dask", reason="needs dask: pip install --group distributed")
    make_workplace(tmp_path)
    # A new program uses this much memory; the tests use more.
    monkeypatch.setattr(memory, "taken", lambda: 30 << 20)
    done = run_all([example.command for example in SESSIONS[name]], tmp_path)
    for example, (code, printed) in zip(SESSIONS[name], done, strict=True):
        refused = any(line.startswith("soft-sed-eval: ") for line in example.output)
        assert code == (2 if refused else 0), (example.command, printed)
        assert example.shows(printed), f"{example.command} prints\n{printed}"


def test_there_are_commands_to_check():
    """Many documents have sessions, and all blocks are in languages that the tests know."""
    assert {"README.md", "docs/explanations/uncertainty.md"} <= {*SESSIONS} and len(SESSIONS) > 20
    assert {"README.md", "docs/index.md"} <= {*PYTHON} and len(PYTHON) > 15
    for name, text in TEXTS.items():
        # Code for PyTorch, JAX, dask or other tools is in `py` blocks, which the tests with these tools run.
        known = {"sh", "console", "python", "yaml", "text", "bibtex"}
        known |= {"py"} if name.endswith(("/training.md", "/large-tables.md", "/other-tools.md")) else set()
        assert {*re.findall(r"^```(\S+)", text, re.MULTILINE)} <= known, name


def test_sessions_are_compared_line_by_line():
    (example,) = examples("```console\n$ a \\\n> b\none\n...\ntwo\n```\n")
    right = ("one\ntwo\n", "one\nmore\nstill more\ntwo\n")
    wrong = ("one\nmore\ntwo\nafter\n", "one\ntwo.\n", "before\none\ntwo\n")
    assert [text for text in (*right, *wrong) if example.shows(text)] == [*right]


@pytest.mark.parametrize("name", PYTHON)
def test_python_of_documents_runs(name, tmp_path, monkeypatch):
    make_workplace(tmp_path)
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    for code in PYTHON[name]:
        if not code.startswith(">>>"):
            exec(compile(code, name, "exec"), known)  # noqa: S102 - our own document
            continue
        parsed = doctest.DocTestParser().get_doctest(code, known, name, name, 0)
        result = doctest.DocTestRunner().run(parsed, clear_globs=False)
        known.update(parsed.globs)
        assert result.attempted > 0 == result.failed


def test_uses_in_the_help_of_the_package_run(tmp_path, monkeypatch):
    make_workplace(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(sedeval_soft)
    assert result.attempted > 10 and result.failed == 0


def test_options_that_documents_name_exist():
    helps = "".join(call(*name.split(), "--help-all").out for name in ("", *SHORT_HELPS))
    told = {option for text in TEXTS.values() for option in re.findall(r"`[^`]*?(--[a-z][a-z-]+)", text)}
    # These belong to pip, docker and benchmarks/run.py.
    assert {option for option in told if option not in helps} == {"--no-deps", "--group", "--rm", "--against"}


def test_documented_output_is_that_of_the_schema():
    text = TEXTS["docs/reference/scores.md"].split("## Contents of the output")[1].split("\n## ")[0]
    of = schema()["properties"]
    first = " ".join(re.findall(r"^\|([^|]*)\|", text, re.MULTILINE))
    documented, named = ({*re.findall(r"`(\w+)`", part)} for part in (first, text))
    assert documented <= {*of, *of["systems"]["items"]["properties"]} <= named
    table = {"onset": [0.0], "offset": [1.0], "event_label": ["a"]}
    columns = render([evaluate(table, table)], "csv").split("\n")[0].split(",")
    assert re.findall(r"`(\w+)`", text.split("with the columns")[1])[: len(columns)] == columns


def test_the_table_of_limits_is_complete():
    told = dict(re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", TEXTS["docs/reference/limits.md"], re.MULTILINE))
    found, helps = {name: size_of(number) for name, number in told.items()}, call("--help-all").out
    assert found == {name: getattr(Limits(), name) for name in NAMES if name in helps}


def test_changelog_names_this_version_and_default_settings_are_documented():
    assert f"## {sedeval_soft.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    text = (ROOT / "configs" / "default.yaml").read_text(encoding="utf-8")
    assert {*Settings().to_dict()} <= {*re.findall(r"^(\w+): ", text, re.MULTILINE)}


TUTORIAL = ROOT / "docs" / "tutorial"


def test_the_tutorial_is_what_its_script_makes():
    for name, made in script("tutorial").MADE.items():
        assert (TUTORIAL / name).read_text(encoding="utf-8") == made(), "run python docs/make/tutorial.py"


@pytest.mark.parametrize(("place", "name", "threshold"), [(1, "sys", 0.5), (2, "sys_b", 0.2)])
def test_the_page_of_thresholds_holds_what_the_evaluator_reads(place, name, threshold):
    page = (TUTORIAL / "explorer.html").read_text(encoding="utf-8")
    case = json.loads(re.search(r"^const cases = (.*);$", page, re.MULTILINE)[1])[place]
    sides = [
        np.concatenate([np.array(file[role], dtype=float).T for file in case["files"]])
        for role in ("reference", "system")
    ]
    settings = {"threshold": threshold, "only": ["segment.hard", "segment.soft"], "classes": case["classes"]}
    of_page = evaluate(*sides, **settings)
    of_tables = evaluate(*(ROOT / f"sample_data/{side}.tsv" for side in ("ref", name)), **settings)
    for score in ("hard.f1.micro", "hard.f1.macro", "soft.f1.micro", "soft.f1.macro", "soft.recall.micro"):
        assert of_page[f"segment.{score}"] == pytest.approx(of_tables[f"segment.{score}"], abs=1e-12)
