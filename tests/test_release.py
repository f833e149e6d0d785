"""What a release is made of: version, man page, completions, licences, workflows, container."""

import re
import shutil
import subprocess
import tomllib
from typing import Any

import pytest
import yaml
from documents import ROOT, make_workplace, script
from packaging.requirements import Requirement

from sedeval_soft.cli.main import SHORT_HELPS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SHARE = ROOT / "tools" / "share"


def test_the_man_page_is_up_to_date_and_has_all_commands():
    made = script("../tools/make_man")
    page = made.PAGE.read_text(encoding="utf-8")
    assert made.page() == page, "run python tools/make_man.py"
    assert all(f".SS soft\\-sed\\-eval {name}" in page for name in SHORT_HELPS if name != "evaluate")


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
    environment = make_workplace(tmp_path) | {"HOME": str(tmp_path)}
    command = [shell, "-c", PRESS_TAB[shell], shell, str(SHARE / COMPLETE[shell])]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.startswith("explain")


def test_dependencies_are_listed_with_their_licences():
    text = script("../tools/make_licences").PAGE.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.MULTILINE))
    of = PROJECT["project"]
    texts = sum(of["optional-dependencies"].values(), of["dependencies"])
    needed = {Requirement(text).name for text in texts} - {of["name"]}
    assert needed <= set(listed), "run python tools/make_licences.py"
    assert all(licence.strip() not in {"", "see the package"} for licence in listed.values())


# Workflows and the container, as far as they can be judged by reading.

WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
}


def test_workflows_may_do_little_and_end():
    assert [each["permissions"] for each in WORKFLOWS.values()] == [{"contents": "read"}] * len(WORKFLOWS)
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    assert jobs and all(job["timeout-minutes"] <= 90 for job in jobs)
    # What an expression stands for would be run.
    assert not any("${{" in step.get("run", "") for job in jobs for step in job["steps"])


def test_only_what_publishes_may_publish():
    jobs = WORKFLOWS["release"]["jobs"]
    assert WORKFLOWS["release"][True] == {"push": {"tags": ["v*"]}}
    assert [name for name in jobs if "write" in jobs[name].get("permissions", {}).values()] == ["publish"]
    assert (jobs["publish"]["needs"], jobs["publish"]["environment"]["name"]) == ("build", "pypi")
    assert not any("run" in step or "token" in str(step.get("with", "")) for step in jobs["publish"]["steps"])


CHANGED = "## 1.2.3 - 2026-11-22\n"
CITED = 'version: "1.2.3"\n'
LINKED = '[project.urls]\nRepository = "https://a.org"\n'
TAGGED = {
    "right": ("v1.2.3", CHANGED, CITED, LINKED, 0), "no address": ("v1.2.3", CHANGED, CITED, "", 1),
    "another repository": ("v1.2.3", CHANGED, f"{CITED}repository-code: https://b.org\n", LINKED, 1),
    "no v": ("1.2.3", CHANGED, CITED, LINKED, 1), "another version": ("v1.2.30", CHANGED, CITED, LINKED, 1),
    "a line more": ("v1.2.3\n", CHANGED, CITED, LINKED, 1),
    "not released": ("v1.2.3", "## 1.2.3 - unreleased\n", CITED, LINKED, 1),
    "cited otherwise": ("v1.2.3", CHANGED, "version: 1.2.2\n", LINKED, 1),
}  # fmt: skip
"""A tag, what the files of a release say, and how many problems that is."""


@pytest.mark.parametrize("name", TAGGED)
def test_a_tag_must_be_the_version_that_everything_names(name, tmp_path):
    tag, changed, cited, linked, n_problems = TAGGED[name]
    (tmp_path / "sedeval_soft").mkdir()
    texts = {
        "sedeval_soft/__init__.py": '"""."""\n\n__version__ = "1.2.3"\n', "CITATION.cff": cited,
        "CHANGELOG.md": f"# Changelog\n\n{changed}", "pyproject.toml": linked,
    }  # fmt: skip
    for path, text in texts.items():
        (tmp_path / path).write_text(text)
    found = script("../tools/check_tag").problems(tag, tmp_path)
    assert len(found) == n_problems, found


def test_the_image_is_pinned_and_not_of_root():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    bases = {*re.findall(r"^FROM (\S+)", text, re.MULTILINE)}
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", *bases)
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)
