"""The workflows that test and release, and the container, as far as they can be judged by reading."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from test_release import script

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))


def runs(found: dict[str, Any]) -> list[str]:
    """The commands of all jobs."""
    return [step["run"] for job in found["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("name", ["ci", "release"])
def test_workflows_may_do_little_and_end(name):
    found = workflow(name)
    # YAML 1.1 reads `on` as a truth value.
    assert {"name", True, "permissions", "jobs"} <= set(found)
    assert found["permissions"] == {"contents": "read"}
    for job in found["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[\w/.]+", step.get("uses", "a/b@v1"))
            # What an expression stands for would be run.
            assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_files_that_workflows_name_are_there(path):
    for command in runs(yaml.safe_load(path.read_text(encoding="utf-8"))):
        for word in shlex.split(command):
            if re.match(r"(release|tests|docs|benchmarks|\.ci)/", word):
                assert (ROOT / word).exists(), word


def test_the_pythons_that_are_named_are_tested():
    found = workflow("ci")["jobs"]
    tested = {*found["pythons"]["strategy"]["matrix"]["python"]}
    tested |= {
        step["with"]["python-version"]
        for step in found["all"]["steps"]
        if "python-version" in step.get("with", {})
    }
    named = {
        text.rpartition(" ")[2]
        for text in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", text)
    }
    assert named
    assert named <= tested
    lowest = min(tested, key=lambda text: int(text.split(".")[1]))
    assert PROJECT["project"]["requires-python"] == f">={lowest}"


def test_only_what_publishes_may_publish():
    found = workflow("release")
    assert found[True] == {"push": {"tags": ["v*"]}}
    allowed = {name: job.get("permissions", {}) for name, job in found["jobs"].items()}
    assert [name for name, of in allowed.items() if "write" in of.values()] == ["publish"]
    publish = found["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["environment"]["name"] == "pypi"
    assert not any("run" in step for step in publish["steps"])
    used = [step["uses"].split("@")[0] for step in publish["steps"]]
    assert used[-2:] == ["actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]
    assert not any("token" in str(step.get("with", "")) for step in publish["steps"])
    first = runs(found)[0]
    assert first == 'python release/check_tag.py "$GITHUB_REF_NAME"'


def released(root: Path, version: str, heading: str, citation: str | None) -> Path:
    (root / "sedeval_soft").mkdir(exist_ok=True)
    (root / "sedeval_soft" / "__init__.py").write_text(f'"""."""\n\n__version__ = "{version}"\n')
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n- a\n\n## 0.0.9 - 2026-01-01\n")
    if citation is not None:
        (root / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
    return root


def test_a_tag_must_be_the_version_that_everything_names(tmp_path):
    problems = script("check_tag").problems
    root = released(tmp_path, "1.2.3", "1.2.3 - 2026-11-22", None)
    assert problems("v1.2.3", root) == []
    for tag in ("1.2.3", "v1.2.4", "v1.2.30", "", "v1.2.3\n"):
        assert "the tag is" in problems(tag, root)[0]
    released(root, "1.2.3", "1.2.3 - unreleased", "1.2.2")
    assert len(problems("v1.2.3", root)) == 2
    released(root, "1.2.3", "1.2.3 - 2026-11-22", '"1.2.3"')
    assert problems("v1.2.3", root) == []
    assert len(problems("v1", tmp_path / "nothing")) == 2


def docker() -> list[list[str]]:
    """The instructions of the Dockerfile, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and line[0] not in "# "]


def test_the_image_is_small_pinned_and_not_of_root():
    bases = [words[1] for words in docker() if words[0] == "FROM"]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base) for base in bases)
    assert len(set(bases)) == 1
    last = docker()[len(docker()) - docker()[::-1].index(next(w for w in docker()[::-1] if w[0] == "FROM")) :]
    (user,) = (words[1] for words in last if words[0] == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert not any(words[0] == "RUN" for words in last)


def test_the_image_has_all_that_the_wheel_is_built_of():
    copied = {
        word for words in docker() if words[0] == "COPY" and "--from" not in words[1] for word in words[1:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    project, wheel = PROJECT["project"], PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml",
        project["readme"],
        *project["license-files"],
        *wheel["packages"],
        *wheel["shared-data"],
    }
    assert needed == copied
    assert all((ROOT / name).exists() for name in copied)


def test_nothing_is_without_a_lowest_version():
    """`release/environments.sh lowest` takes what is named here."""
    for text in (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["test"]):
        assert any(part.operator in {">=", "==", "~="} for part in Requirement(text).specifier), text
