"""What runs elsewhere: the GitHub Action, the workflow in the documents, the pre-commit hook."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call
from documents import ROOT, blocks, make_command

from sedeval_soft.cli.main import group
from sedeval_soft.cli.present import parse_requirement

PAGE = (ROOT / "docs" / "reference" / "ci.md").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCORE = STEPS[1]
(WORKFLOW,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if "jobs:" in block)
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
TABLE = "onset\toffset\tevent_label\n0\t1\tcar\n"


def options(command: str) -> set[str]:
    """Return the options of a command."""
    return {name for each in group.get_command(click.Context(group), command).params for name in each.opts}


def input_of(expression: str) -> str:
    return re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", expression)[1]


def test_the_action_is_one_and_runs_no_expression():
    assert {"name", "description", "inputs", "outputs", "runs"} <= set(ACTION)
    assert ACTION["runs"]["using"] == "composite" and all({"shell", "run"} <= set(step) for step in STEPS)
    for given in ACTION["inputs"].values():
        assert given["description"] and (given.get("required") is True or isinstance(given["default"], str))
    used = {input_of(value) for step in STEPS for value in step.get("env", {}).values()}
    listed = "".join(re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE))
    assert used == set(ACTION["inputs"]) <= {*re.findall(r"`(\w+)`", listed)}
    jobs = WORKFLOW["jobs"].values()
    assert not any(
        "${{" in step.get("run", "") for step in (*STEPS, *(s for job in jobs for s in job["steps"]))
    )
    found = set(re.findall(r"(--[a-z][a-z-]*)", SCORE["run"]))
    assert {"--format", "--output", "--require"} <= found <= options("evaluate")
    assert set(re.findall(r"\bSED_\w+", SCORE["run"])) == set(SCORE["env"])
    assert ACTION["outputs"]["scores"]["value"] == f"${{{{ steps.{SCORE['id']}.outputs.scores }}}}"
    # The tool is installed from the checkout of the action.
    assert 'pip install --quiet "$GITHUB_ACTION_PATH"' in STEPS[0]["run"]


@pytest.fixture
def runner(tmp_path):
    """Return a function that runs the action's second step with some inputs, as a runner does."""
    make_command(tmp_path / "runner" / "soft-sed-eval" / "bin")
    defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
    files = [tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(tmp_path / "runner")}
    environment |= {path.name: str(path) for path in files}

    def run(**inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
        variables = {name: (defaults | inputs)[input_of(value)] for name, value in SCORE["env"].items()}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCORE["run"]]
        how = {"capture_output": True, "text": True}
        done = subprocess.run(shell, cwd=tmp_path, env=environment | variables, check=False, **how)
        told, summary = (path.read_text() if path.exists() else "" for path in files)
        return done, dict(line.split("=", 1) for line in told.splitlines()), summary

    return run


def test_the_action_scores_compares_and_fails_where_there_is_nothing_to_score(runner, tmp_path):
    done, outputs, _ = runner(reference="missing.tsv", system="missing.tsv")
    assert done.returncode == 2 and "missing.tsv" in done.stderr and outputs == {}
    sides = {"reference": REFERENCE, "system": f"{SYSTEM}\n{OTHER}\n"}
    done, outputs, summary = runner(**sides, format="junit", output="report.xml", args="--only=segment.soft")
    assert (done.returncode, done.stdout, summary) == (0, "", "")
    assert (tmp_path / "report.xml").read_text().count("<testsuite ") == 2
    assert len(json.loads(Path(outputs["scores"]).read_text())["systems"]) == 2
    f1 = "segment.soft.f1.macro"
    done, outputs, summary = runner(
        reference=REFERENCE, system=SYSTEM, require=f"{f1}>=0.9\nsegment.soft.f1.micro>=0.9\n",
        args="--segment-length=0.5\n\n--only=segment.soft\n",
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout.count("\n") == done.stdout.count("::error ") == 1
    assert "Requirements: 1 of 2 not met" in summary
    document = json.loads(Path(outputs["scores"]).read_text())
    assert document["settings"]["segment_length"] == 0.5
    assert f1 in {score["name"] for score in document["systems"][0]["scores"]}


@pytest.mark.parametrize("name", ["$(touch pwned)", '"; touch pwned; "', "--help", "*"])
def test_no_input_is_run(name, runner, tmp_path):
    (tmp_path / name).write_text(TABLE)
    done, outputs, summary = runner(reference=name, system=name, output=name + ".out", args="--only=segment")
    assert (done.returncode, set(outputs), summary) == (0, {"scores"}, ""), done.stderr
    assert (tmp_path / f"{name}.out").exists()
    for given in ("require", "args") if name not in {"--help", "*"} else ():
        assert runner(reference=name, system=name, **{given: name})[0].returncode == 2, given
    assert not (tmp_path / "pwned").exists()


def test_the_workflow_uses_what_the_action_takes():
    assert True in WORKFLOW, "`on`, which YAML 1.1 reads as a truth value"
    (job,) = WORKFLOW["jobs"].values()
    (step,) = (step for step in job["steps"] if step.get("uses", "").startswith("./"))
    given, inputs = step["with"], ACTION["inputs"]
    assert {name for name, of in inputs.items() if of.get("required")} <= set(given) <= set(inputs)
    for line in given["require"].splitlines():
        parse_requirement(line)
    assert {line.split("=")[0] for line in given["args"].splitlines()} <= options("evaluate")
    outputs = re.findall(rf"steps\.{step['id']}\.outputs\.(\w+)", str(WORKFLOW))
    assert outputs and set(outputs) == set(ACTION["outputs"])


def test_the_hook_validates_tables_and_is_the_one_that_is_documented(tmp_path):
    assert {"id", "name", "entry", "language", "types", "files"} <= set(HOOK) and HOOK["language"] == "python"
    program, command = HOOK["entry"].split()
    assert f'{program} = "' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = ("a.tsv", "b/c.csv", "d.rttm", "a.py")
    assert [name for name in names if re.search(HOOK["files"], name)] == [*names[:3]]
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text(TABLE)
    bad.write_text(TABLE.replace("0\t1", "2\t1"))
    assert call(command, good, good).code == 0
    done = call(command, good, bad)
    assert done.code == 1 and "bad.tsv:2:2: error offset-before-onset" in done.out
    (found,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if block.startswith("repos:"))
    (used,) = found["repos"][0]["hooks"]
    assert used["id"] == HOOK["id"] and re.compile(used["files"])
    assert {argument for argument in used["args"] if argument[:2] == "--"} <= options("validate")
