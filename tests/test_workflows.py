"""The workflows that test and release, and the container, as far as they can be judged by reading."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from test_release import script

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
}


def steps_of(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_workflows_may_do_little_end_and_name_files_that_are_there():
    for name in ("ci", "release"):
        # YAML 1.1 reads `on` as a truth value.
        assert {"name", True, "permissions", "jobs"} <= set(WORKFLOWS[name])
        assert WORKFLOWS[name]["permissions"] == {"contents": "read"}
        assert all(job["timeout-minutes"] <= 90 for job in WORKFLOWS[name]["jobs"].values())
        for step in steps_of(WORKFLOWS[name]):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@[\w/.]+", step.get("uses", "a/b@v1"))
            # What an expression stands for would be run.
            assert "${{" not in step.get("run", "")
    for workflow in WORKFLOWS.values():
        for word in (word for step in steps_of(workflow) for word in shlex.split(step.get("run", ""))):
            assert not re.match(r"(release|tests|docs|benchmarks|\.ci)/", word) or (ROOT / word).exists(), (
                word
            )


def test_the_pythons_that_are_named_are_tested():
    jobs, project = WORKFLOWS["ci"]["jobs"], PROJECT["project"]
    tested = {*jobs["pythons"]["strategy"]["matrix"]["python"]}
    tested |= {
        of["python-version"] for s in jobs["all"]["steps"] if "python-version" in (of := s.get("with", {}))
    }
    named = {text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+$", text)}
    assert named and named <= tested
    lowest = min(tested, key=lambda text: int(text.split(".")[1]))
    assert project["requires-python"] == f">={lowest}"


def test_only_what_publishes_may_publish():
    found = WORKFLOWS["release"]
    assert found[True] == {"push": {"tags": ["v*"]}}
    jobs = found["jobs"]
    writing = [name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()]
    publish = jobs["publish"]
    assert (writing, publish["needs"], publish["environment"]["name"]) == (["publish"], "build", "pypi")
    assert not any("run" in step or "token" in str(step.get("with", "")) for step in publish["steps"])
    used = [step["uses"].split("@")[0] for step in publish["steps"]]
    assert used[-2:] == ["actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]
    first = next(step["run"] for step in steps_of(found) if "run" in step)
    assert first == 'python release/check_tag.py "$GITHUB_REF_NAME"'


def released(root: Path, heading: str, citation: str | None) -> Path:
    (root / "sedeval_soft").mkdir(exist_ok=True)
    (root / "sedeval_soft" / "__init__.py").write_text('"""."""\n\n__version__ = "1.2.3"\n')
    (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n- a\n\n## 0.0.9 - 2026-01-01\n")
    if citation is not None:
        (root / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
    return root


def test_a_tag_must_be_the_version_that_everything_names(tmp_path):
    problems = script("check_tag").problems
    root = released(tmp_path, "1.2.3 - 2026-11-22", None)
    assert problems("v1.2.3", root) == []
    for tag in ("1.2.3", "v1.2.4", "v1.2.30", "", "v1.2.3\n"):
        assert "the tag is" in problems(tag, root)[0]
    assert len(problems("v1.2.3", released(root, "1.2.3 - unreleased", "1.2.2"))) == 2
    assert problems("v1.2.3", released(root, "1.2.3 - 2026-11-22", '"1.2.3"')) == []
    assert len(problems("v1", tmp_path / "nothing")) == 2


def test_the_image_is_small_pinned_not_of_root_and_has_all_that_the_wheel_is_built_of():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and line[0] not in "# "]
    starts = [place for place, words in enumerate(lines) if words[0] == "FROM"]
    assert len(starts) == 2 and len({lines[place][1] for place in starts}) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", lines[starts[0]][1])
    (user,) = (words[1] for words in lines[starts[1] :] if words[0] == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert not any(words[0] == "RUN" for words in lines[starts[1] :])
    copies = (words[1:-1] for words in lines if words[0] == "COPY" and "--from" not in words[1])
    copied = {word for words in copies for word in words}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1] == "*" and {line[1:] for line in ignored if line.startswith("!")} == copied
    project, wheel = PROJECT["project"], PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", project["readme"], *project["license-files"]}
    assert needed | {*wheel["packages"], *wheel["shared-data"]} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_nothing_is_without_a_lowest_version():
    """`release/environments.sh lowest` takes what is named here."""
    for text in (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["test"]):
        assert any(part.operator in {">=", "==", "~="} for part in Requirement(text).specifier), text
