"""What a release is made of: version, man page, completions, licences, workflows, container."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from types import ModuleType
from typing import Any

import click
import documents
import pytest
from documents import ROOT
from packaging.requirements import Requirement

import sedeval_soft
from sedeval_soft.cli.main import SHORT_HELPS, group

SHARE = ROOT / "release" / "share"


def script(name: str) -> ModuleType:
    """A script of release/, loaded but not run."""
    return documents.script(f"../release/{name}")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_man_page_is_up_to_date_and_has_all_commands_and_options():
    made = script("make_man")
    page = made.PAGE.read_text(encoding="utf-8")
    assert made.page() == page, "run python release/make_man.py"
    assert f'soft\\-sed\\-eval {sedeval_soft.__version__}"' in page.split("\n")[1]
    text = page.replace("\\-", "-")
    for name in SHORT_HELPS:
        assert name == "evaluate" or f".SS soft-sed-eval {name}" in text
        options = (o for each in group.get_command(click.Context(group), name).params for o in each.opts)
        assert all(f"\\fB{option}\\fR" in text for option in options if option[:2] == "--"), name


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_the_man_page_has_no_mistakes_of_form():
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", script("make_man").PAGE]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stderr == ""


COMPLETE = {
    "bash": "bash-completion/completions/soft-sed-eval",
    "zsh": "zsh/site-functions/_soft-sed-eval",
    "fish": "fish/vendor_completions.d/soft-sed-eval.fish",
}
PRESS_TAB = {
    "bash": """source "$1"; COMP_WORDS=(soft-sed-eval expl); COMP_CWORD=1
        _soft_sed_eval_completion soft-sed-eval 2>/dev/null; echo "${COMPREPLY[@]}" """,
    # What an editor of lines would show is printed here.
    "zsh": """words=(soft-sed-eval expl); CURRENT=2; compdef() { : }
        _describe() { print -r -- ${(P)3} }; _path_files() { : }; source "$1" """,
    "fish": """source $argv[-1]; complete -C "soft-sed-eval expl" """,
}


@pytest.mark.parametrize("shell", COMPLETE)
def test_completion_files_complete(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    environment = documents.make_workplace(tmp_path) | {"HOME": str(tmp_path)}
    command = [shell, "-c", PRESS_TAB[shell], shell, str(SHARE / COMPLETE[shell])]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.startswith("explain")


def test_files_of_shells_are_shipped():
    shared = project()["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"release/share": "share"}
    assert {path.relative_to(SHARE).as_posix() for path in SHARE.rglob("*") if path.is_file()} == {
        "man/man1/soft-sed-eval.1",
        *COMPLETE.values(),
    }


def test_the_version_is_one():
    assert "version" in project()["project"]["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", sedeval_soft.__version__)


def test_licences_of_all_dependencies_are_listed():
    made = script("make_licences")
    text = made.PAGE.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.MULTILINE))
    of = project()["project"]
    texts = [*of["dependencies"], *(text for extra in of["optional-dependencies"].values() for text in extra)]
    needed = {Requirement(text).name for text in texts} - {of["name"]}
    assert needed <= set(listed), "run python release/make_licences.py"
    assert text.startswith(made.HEAD)
    assert all(licence.strip() not in {"", "see the package"} for licence in listed.values())
