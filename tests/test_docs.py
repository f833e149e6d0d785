"""The documents say what is so."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sedeval_soft.core.settings import Settings
from sedeval_soft.formats.columns import ALIASES

ROOT = Path(__file__).parents[1]


def test_the_table_of_scores_is_complete():
    spec = importlib.util.spec_from_file_location("make_scores", ROOT / "docs" / "make_scores.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, "run python docs/make_scores.py"


def test_readme_begins_with_two_commands_of_one_line():
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    first, second = blocks[:2]
    assert first.count("\n") == second.count("\n") == 1
    assert "soft-sed-eval sample_data/ref.tsv sample_data/sys.tsv" in first
    assert "pytest" in second


def test_readme_examples_run():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    soft-sed-eval (.*)$", text, re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        line = f"'{sys.executable}' -m sedeval_soft {command}".replace(" ref.tsv", " sample_data/ref.tsv")
        line = line.replace(" sys.tsv", " sample_data/sys.tsv").replace("-o scores.json", "-o /dev/null")
        line = re.sub(r"=(low|high)\.tsv", "=sample_data/events.tsv", line)
        done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, check=False, text=True)
        assert done.returncode == 0, (command, done.stderr)


def test_readme_library_example_runs(monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(ROOT / "sample_data")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own document


@pytest.mark.parametrize(
    "name", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_options_and_files_that_documents_name_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    known = subprocess.run(
        [sys.executable, "-m", "sedeval_soft", "--help"], capture_output=True, check=True, text=True
    ).stdout
    for option in set(re.findall(r"`[^`]*?(--[a-z][a-z-]+)", text)) - {"--group"}:
        assert option in known, option
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / name).parent / target).exists(), target


def test_documented_aliases_are_read():
    for line in (ROOT / "docs" / "tables.md").read_text(encoding="utf-8").splitlines():
        match = re.match(r"\| `(\w+)` \| ([a-z_, ]+?)(?: \.\.\.)? \|", line)
        if match and match[1] in ALIASES:
            assert set(match[2].split(", ")) <= set(ALIASES[match[1]])


def test_changelog_names_this_version():
    import sedeval_soft

    assert f"## {sedeval_soft.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_default_settings_are_documented():
    text = (ROOT / "configs" / "default.yaml").read_text(encoding="utf-8")
    for name in Settings().to_dict():
        assert re.search(rf"^{name}: ", text, re.MULTILINE), name
