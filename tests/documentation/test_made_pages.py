"""Pages that are made from the code are up to date, and say all that there is."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest
import yaml
from documents import ROOT, examples, make_command, script
from launched import FIGURES
from shared_data import shared

import sedeval_soft
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import PRESETS
from sedeval_soft.tables.forms import FORMS
from sedeval_soft.tables.problem_codes import RULES

PACKAGE = Path(sedeval_soft.__file__).parent


@pytest.mark.parametrize(
    "name",
    [
        "commands",
        "settings",
        "codes",
        "dialects",
        "layers",
        "coverage",
        "scores",
        "annotators",
        "differences",
    ],
)
def test_page_is_up_to_date(name, tmp_path, monkeypatch):
    made = script(name)
    if hasattr(made, "COMMANDS"):
        make_command(tmp_path / "bin", *FIGURES)
        monkeypatch.setattr(made, "COMMANDS", tmp_path / "bin")
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, f"run python docs/make/{name}.py"


@pytest.mark.slow
def test_the_guide_to_desed_is_up_to_date(tmp_path, monkeypatch):
    shared("dcase2019_task4")
    made = script("annotators")
    make_command(tmp_path / "bin")
    monkeypatch.setattr(made, "COMMANDS", tmp_path / "bin")
    text = made.DESED.read_text(encoding="utf-8")
    assert text.count("    $ soft-sed-eval") > 8
    assert made.page(text) == text, "run python docs/make/annotators.py"


def test_every_command_has_an_example_and_every_setting_a_row_with_its_option():
    made = script("commands")
    sections = re.split(r"^##+ (?=soft-sed-eval)", made.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1:
    ]
    called = [part.split("\n")[0] for part in sections]
    assert called == [" ".join(("soft-sed-eval", *name)) for name in made.names()]
    for name, part in zip(called, sections, strict=True):
        assert any(f"{name} " in f"{example.command} " for example in examples(part)), name
    text = script("settings").PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (`--[\w-]+( \w+)?`)? ", text, re.MULTILINE)
    reading = ("columns", "label", "sample_rate", "from", "operating_points")
    assert [name for name, *_ in rows] == ["extends", *Settings.__dataclass_fields__, *reading]
    assert [name for name, option, _ in rows if not option] == ["extends", "groups", "scenes"]


CODED = {"Problem": 4, "problem": 0, "LayoutError": 1, "_refused": 3, "add_many": 0}
"""The place of the code among the arguments of a call, if it has no name."""


def codes_in_source() -> set[str]:
    """All codes that calls of the package name."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                place = CODED.get(getattr(node.func, "attr", getattr(node.func, "id", "")))
                given = node.args[place : place + 1] if place is not None else []
                given += [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                found |= {each.value for each in given if isinstance(each, ast.Constant)}
    return found


def test_no_code_of_the_source_is_missing():
    found = codes_in_source()
    assert len(found) > 30
    text = script("codes").PAGE.read_text(encoding="utf-8")
    documented = re.findall(r"^\| `([a-z0-9_-]+)` \| (error|warning|note) \|", text, re.MULTILINE)
    # A problem is "invalid" until it has its code.
    assert found - {"invalid"} <= {code for code, _ in documented}
    assert documented == [(code, rule.severity) for code, rule in RULES.items()]


def test_every_option_that_names_a_file_is_on_the_page_of_files():
    text = (ROOT / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")
    made = script("commands")
    found = set()
    for name in made.names():
        for option, metavar in re.findall(
            r"^  (?:-\w, )?(--[\w-]+) (\S+)", made.help_of(name, "--help-all"), re.MULTILINE
        ):
            if re.search(r"FILE\b|TSV|YAML|TABLE|SITE", metavar):
                found.add(option)
    assert len(found) > 10
    elsewhere = {"--train", "--labels", "--file"}  # a table as any other, or the name of a recording
    for option in found - elsewhere:
        assert f"`{option}" in text or f" {option.replace('--output', '-o')}`" in text, option
    assert f"[{len(FORMS)} forms]" in text
    assert f"{sum(form.written for form in FORMS)} of the forms" in text


def test_exit_codes_are_those_of_the_program():
    text = script("codes").PAGE.read_text(encoding="utf-8")
    told = (PACKAGE / "cli" / "main.py").read_text(encoding="utf-8").split('"""')[1]
    documented = set(re.findall(r"^\| (\d+) \|", text, re.MULTILINE))
    assert documented == {"0", "1", "2", "130", "143"} == set(re.findall(r"\b\d+\b", told))


def test_all_public_names_have_an_entry():
    text = (ROOT / "docs" / "reference" / "python" / "index.md").read_text(encoding="utf-8")
    entries = re.findall(r"^::: sedeval_soft\.(\w+)$", text, re.MULTILINE)
    assert {*entries, "__version__"} == {*sedeval_soft.__all__}
    for name in ("functional", "scikit_learn", "torch", "torchmetrics"):
        assert f"::: sedeval_soft.apps.training.{name}\n" in text


def test_the_drawing_is_up_to_date_and_names_what_is_there():
    made = script("layers")
    assert made.drawing() == made.PICTURE.read_text(encoding="utf-8"), "run python docs/make/layers.py"
    for _, module, told, _ in made.STAGES:
        found = import_module(f"sedeval_soft.{module}" if module else "sedeval_soft")
        if "." in module:
            assert all(hasattr(found, name) for name in told.split(", ")), told
    rooms = {room for layer in made.layers() for room in layer}
    for _, told in made.STEPS:
        assert {*told.split(":")[0].split(", ")} <= rooms, told


def test_the_citation_is_valid_and_of_this_version():
    schema = json.loads((ROOT / "tests" / "data" / "cff" / "schema-1.2.0.json").read_text(encoding="utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    checker = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in checker.iter_errors(cited)] == []
    assert [*checker.iter_errors({**cited, "authors": []})]
    assert str(cited["version"]) == sedeval_soft.__version__
    page = (ROOT / "docs" / "guides" / "which-score.md").read_text(encoding="utf-8")
    assert f"version = {{{sedeval_soft.__version__}}}" in page
    assert f"soft-sed-eval {sedeval_soft.__version__}, maestro-soft" in page
    assert "maestro-soft" in PRESETS
