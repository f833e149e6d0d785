"""Generated pages are up to date and complete; the README claims only speeds that were measured."""

import json
import re
import sys
from importlib import import_module
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml
from documents import ROOT, examples, make_command, script
from shared_data import shared

import sedeval_soft
from sedeval_soft.tables.forms import FORMS


@pytest.mark.parametrize(
    "name",
    ["commands", "settings", "codes", "dialects", "layers", "coverage", "scores", "differences"],
)
def test_page_is_up_to_date(name):
    made = script(name)
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, f"run python docs/make/{name}.py"


@pytest.mark.slow
@pytest.mark.parametrize("guide", ["PAGE", "DESED"])
def test_guides_to_annotators_and_to_desed_are_up_to_date(guide, tmp_path, monkeypatch):
    if guide == "DESED":
        shared("dcase2019_task4")
    made = script("annotators")
    make_command(tmp_path / "bin")
    monkeypatch.setattr(made, "COMMANDS", tmp_path / "bin")
    text = getattr(made, guide).read_text(encoding="utf-8")
    assert text.count("    $ soft-sed-eval") > 4
    assert made.page(text) == text, "run python docs/make/annotators.py"


def test_every_command_has_an_example():
    made = script("commands")
    sections = re.split(r"^##+ (?=soft-sed-eval)", made.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1:
    ]
    called = [part.split("\n")[0] for part in sections]
    assert called == [" ".join(("soft-sed-eval", *name)) for name in made.names()]
    for name, part in zip(called, sections, strict=True):
        assert any(f"{name} " in f"{example.command} " for example in examples(part)), name


def test_the_numbers_of_forms_are_told():
    text = (ROOT / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")
    assert f"[{len(FORMS)} forms]" in text
    assert f"{sum(form.written for form in FORMS)} of the forms" in text


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


# The README shows the output of the program, and claims only speeds that were measured.

README = (ROOT / "README.md").read_text(encoding="utf-8")


def letters(text: str) -> str:
    """Return a text without blanks, colours and lines, which depend on how it is drawn."""
    return re.sub(r"\x1b\[[0-9;]*m|[\s\u2500]", "", text)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_the_picture_is_what_the_program_prints():
    made = script("terminal")
    printed, text = made.printed(), made.PICTURE.read_text(encoding="utf-8")
    assert len(printed.splitlines()) > 12 and "\x1b[1m" in printed
    tree = ET.fromstring(text)  # noqa: S314 - our own picture
    shown = "".join(each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    called = "soft-sed-eval " + " ".join(made.ARGUMENTS)
    assert letters(shown) == letters(f"soft-sed-eval$ {called}{printed}"), "run python docs/make/terminal.py"
    # The picture fetches nothing.
    assert "docs/screenshots/terminal.svg)" in README
    assert {*re.findall(r"https?://[^\"' )]+", text)} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|@font-face|url\((?!#)|href", text)


def test_speed_is_claimed_where_it_is_measured():
    speed = script("speed")
    measured = speed.rows(speed.PAGE.read_text(encoding="utf-8"))
    assert len(measured) > 15
    assert all(row.startswith(f"| {case} |") for case, row in measured.items())
    # The table also has rows of cases that are not fast enough.
    assert any("**no**" in row for row in measured.values())
    claims = r"\bfast(er|est)?\b(?! enough)|\d+(\.\d+)?x\b|\d+ ms\b|times (as|faster)|\bMB\b"
    # The README gives one range and a link to the measurements: most ratios to a peer are within it.
    claim = "[10 to 1,000 times faster](docs/performance.md)"
    assert claim in README and not re.search(claims, README.replace(claim, ""))
    ratios = [float(ratio) for row in measured.values() for ratio in re.findall(r"([\d.]+)x faster", row)]
    assert len(ratios) > 8 and sum(10 <= ratio < 2000 for ratio in ratios) > 0.6 * len(ratios)
