"""What runs elsewhere: the GitHub Action, the workflow in the documents, the pre-commit hook."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call
from documents import ROOT, blocks, make_command
from packaging.requirements import Requirement

from sedeval_soft.cli.main import group
from sedeval_soft.report.requirements import parse_requirement

PAGE = (ROOT / "docs" / "reference" / "ci.md").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
LOOK, INSTALL, SCORE = (step for step in STEPS if "run" in step)
(WORKFLOW,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if "jobs:" in block)
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
TABLE = "onset\toffset\tevent_label\n0\t1\tcar\n"
F1 = "segment.soft.f1.macro"


def options(command: str) -> set[str]:
    """Return the options of a command."""
    return {name for each in group.get_command(click.Context(group), command).params for name in each.opts}


def inputs_of(step: dict[str, Any]) -> dict[str, str]:
    """Return the inputs that a step has as variables, by variable."""
    return {name: of[11:-3] for name, of in step["env"].items() if of.startswith("${{ inputs.")}


def test_the_action_runs_no_expression_and_all_its_inputs_are_used_and_documented():
    run = [*STEPS, *(step for job in WORKFLOW["jobs"].values() for step in job["steps"])]
    assert not any("${{" in step.get("run", "") for step in run)
    used = {name for step in (LOOK, INSTALL, SCORE) for name in inputs_of(step).values()}
    listed = "".join(re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE))
    assert used == set(ACTION["inputs"]) <= {*re.findall(r"`(\w+)`", listed)}
    assert {*re.findall(r"(--[a-z][a-z-]*)", SCORE["run"])} <= options("evaluate")
    assert all(set(re.findall(r"\bSED_\w+", s["run"])) == set(s["env"]) for s in (LOOK, INSTALL, SCORE))
    assert ACTION["outputs"]["scores"]["value"] == "${{ steps.score.outputs.scores }}"
    # The tool is installed from the checkout of the action, where it was not kept.
    assert [step.get("id") for step in STEPS] == ["look", "cache", None, "score"]
    assert INSTALL["if"] == "steps.cache.outputs.cache-hit != 'true'"


def test_the_slim_install_goes_with_pyproject():
    """What it installs and how fast, tools/slim.sh tests."""
    lines = (ROOT / "requirements-slim.txt").read_text(encoding="utf-8").splitlines()
    pinned = {each.name: each for each in map(Requirement, filter(re.compile(r"\w").match, lines))}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {each.name: each.specifier for each in map(Requirement, project["dependencies"])}
    assert {*pinned} - {*asked} == {"markupsafe"}, "what jinja2 needs"
    versions = {name: str(each.specifier).removeprefix("==") for name, each in pinned.items()}
    assert [name for name in {*pinned} & {*asked} if not asked[name].contains(versions[name])] == []


@pytest.fixture
def runner(tmp_path):
    """Return a function that scores with some inputs as a runner of the action does.

    The function returns the process, the outputs of the step, and the summary of the job.
    """
    make_command(tmp_path / "runner" / "soft-sed-eval-slim" / "bin")
    defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
    files = [tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTION_PATH": str(ROOT), "SED_KIND": "slim",
        "RUNNER_TEMP": str(tmp_path / "runner"), **{path.name: str(path) for path in files},
    }  # fmt: skip

    def run(**inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
        variables = {name: (defaults | inputs)[given] for name, given in inputs_of(SCORE).items()}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCORE["run"]]
        how = {"capture_output": True, "text": True, "env": environment | variables}
        done = subprocess.run(shell, cwd=tmp_path, check=False, **how)
        told, summary = (path.read_text() if path.exists() else "" for path in files)
        return done, dict(line.split("=", 1) for line in told.splitlines()), summary

    return run


def test_the_action_fails_without_tables_and_compares_systems_in_another_form(runner, tmp_path):
    done, outputs, _ = runner(reference="missing.tsv", system="missing.tsv")
    assert done.returncode == 2 and "missing.tsv" in done.stderr and outputs == {}
    done, outputs, summary = runner(
        reference=REFERENCE, system=f"{SYSTEM}\n{OTHER}\n", format="junit", output="report.xml",
        require=f"{F1}>=0.5", args="--only=segment.soft",
    )  # fmt: skip
    assert (done.returncode, done.stdout, summary) == (0, "", "")
    assert (tmp_path / "report.xml").read_text().count("<testsuite ") == 2
    assert len(json.loads(Path(outputs["scores"]).read_text())["systems"]) == 2


def test_the_action_fails_where_a_requirement_is_missed(runner):
    done, outputs, summary = runner(
        reference=REFERENCE, system=SYSTEM, require=f"{F1}>=0.9\nsegment.soft.f1.micro>=0.9\n",
        args="--segment-length=0.5\n\n--only=segment.soft\n",
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout.count("\n") == done.stdout.count("::error ") == 1
    assert "Requirements: 1 of 2 not met" in summary
    assert json.loads(Path(outputs["scores"]).read_text())["settings"]["segment_length"] == 0.5


@pytest.mark.parametrize("name", ['"; touch pwned; "$(touch pwned)', "--help"])
def test_no_input_is_run(name, runner, tmp_path):
    (tmp_path / name).write_text(TABLE)
    done, outputs, summary = runner(reference=name, system=name, output=name + ".out", args="--only=segment")
    assert (done.returncode, set(outputs), summary) == (0, {"scores"}, ""), done.stderr
    assert (tmp_path / f"{name}.out").exists()
    for given in ("require", "args") if name != "--help" else ():
        assert runner(reference=name, system=name, **{given: name})[0].returncode == 2, given
    assert not (tmp_path / "pwned").exists()


def test_the_workflow_uses_what_the_action_takes():
    (job,) = WORKFLOW["jobs"].values()
    (step,) = (step for step in job["steps"] if step.get("uses", "").startswith("./"))
    given, inputs = step["with"], ACTION["inputs"]
    assert {name for name, of in inputs.items() if of.get("required")} <= set(given) <= set(inputs)
    assert all(map(parse_requirement, given["require"].splitlines()))
    assert {line.split("=")[0] for line in given["args"].splitlines()} <= options("evaluate")
    outputs = re.findall(rf"steps\.{step['id']}\.outputs\.(\w+)", str(WORKFLOW))
    assert outputs and set(outputs) == set(ACTION["outputs"])


def test_the_hook_validates_tables_and_is_the_one_that_is_documented(tmp_path):
    names = ("a.tsv", "b/c.csv", "d.rttm", "a.py")
    assert [name for name in names if re.search(HOOK["files"], name)] == [*names[:3]]
    bad, (_, command) = tmp_path / "bad.tsv", HOOK["entry"].split()
    bad.write_text(TABLE.replace("0\t1", "2\t1"))
    assert [call(command, SYSTEM, other).code for other in (OTHER, bad)] == [0, 1]
    (found,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if block.startswith("repos:"))
    (used,) = found["repos"][0]["hooks"]
    assert used["id"] == HOOK["id"] and re.compile(used["files"])
    assert {argument for argument in used["args"] if argument[:2] == "--"} <= options("validate")
