"""What runs elsewhere: the GitHub Action, the workflow in the documents, the pre-commit hook."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from called import call
from documents import blocks
from launched import program

from sedeval_soft.cli.main import SHORT_HELPS, group
from sedeval_soft.cli.present import parse_requirement

ROOT = Path(__file__).parents[1]
DATA = ROOT / "sample_data"
PAGE = (ROOT / "docs" / "reference" / "ci.md").read_text(encoding="utf-8")
F1 = "segment.soft.f1.macro"


def action() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def steps() -> list[dict[str, Any]]:
    return action()["runs"]["steps"]


def options(command: str) -> set[str]:
    """Return the options of a command."""
    return {
        name
        for parameter in group.get_command(click.Context(group), command).params
        for name in parameter.opts
        if name[:2] == "--"
    }


def workflow() -> dict[str, Any]:
    (found,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if "jobs:" in block)
    return found


def test_the_action_is_one():
    found = action()
    assert {"name", "description", "inputs", "outputs", "runs"} <= set(found)
    assert found["runs"]["using"] == "composite"
    assert all({"shell", "run"} <= set(step) for step in steps())
    for given in found["inputs"].values():
        assert given["description"]
        assert given.get("required") is True or isinstance(given["default"], str)
    used = {name for step in steps() for v in step.get("env", {}).values() for name in _names(v, "inputs")}
    assert used == set(found["inputs"])
    documented = re.findall(
        r"`(\w+)`", "".join(re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE))
    )
    assert set(found["inputs"]) <= set(documented)


def _names(expression: str, of: str) -> list[str]:
    return re.findall(rf"\$\{{\{{ {of}\.(\w+) \}}\}}", expression)


def test_no_expression_stands_in_a_script():
    for step in steps():
        assert "${{" not in step["run"]
        for value in step.get("env", {}).values():
            assert re.fullmatch(r"\$\{\{ inputs\.\w+ \}\}", value)
    for job in workflow()["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job["steps"])


def test_scripts_name_variables_and_options_that_there_are():
    score = steps()[1]
    found = set(re.findall(r"(--[a-z][a-z-]*)", score["run"]))
    assert found <= options("evaluate")
    assert {"--format", "--output", "--require"} <= found
    assert set(re.findall(r"\bSED_\w+", score["run"])) == set(score["env"])
    output = action()["outputs"]["scores"]["value"]
    assert output == f"${{{{ steps.{score['id']}.outputs.scores }}}}"


def test_the_tool_is_installed_from_the_checkout_of_the_action():
    assert 'pip install --quiet "$GITHUB_ACTION_PATH"' in steps()[0]["run"]


@pytest.fixture
def runner(tmp_path):
    """Return a function that runs the action's second step with some inputs, as a runner does."""
    programs = tmp_path / "runner" / "soft-sed-eval" / "bin"
    programs.mkdir(parents=True)
    command = programs / "soft-sed-eval"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(program())} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    score = steps()[1]
    defaults = {name: given.get("default", "") for name, given in action()["inputs"].items()}

    def run(**inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
        given = defaults | inputs
        variables = {name: given[_names(value, "inputs")[0]] for name, value in score["env"].items()}
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(tmp_path / "runner"),
            **{name: str(path) for name, path in files.items()},
            **variables,
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", score["run"]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
            text=True,
        )
        told = files["GITHUB_OUTPUT"].read_text() if files["GITHUB_OUTPUT"].exists() else ""
        summary = files["GITHUB_STEP_SUMMARY"].read_text() if files["GITHUB_STEP_SUMMARY"].exists() else ""
        return done, dict(line.split("=", 1) for line in told.splitlines()), summary

    return run


def test_the_action_scores(runner):
    done, outputs, summary = runner(
        reference=str(DATA / "ref.tsv"),
        system=str(DATA / "sys.tsv"),
        require=f"{F1}>=0.9\nsegment.soft.f1.micro>=0.9\n",
        args="--segment-length=0.5\n\n--only=segment.soft\n",
    )
    assert done.returncode == 1
    assert done.stdout.count("\n") == done.stdout.count("::error ") == 1
    assert "Requirements: 1 of 2 not met" in summary
    document = json.loads(Path(outputs["scores"]).read_text())
    assert document["settings"]["segment_length"] == 0.5
    assert F1 in {score["name"] for score in document["systems"][0]["scores"]}


def test_the_action_compares_systems_and_writes_a_file(runner, tmp_path):
    done, outputs, summary = runner(
        reference=str(DATA / "ref.tsv"),
        system=f"{DATA / 'sys.tsv'}\n{DATA / 'sys_b.tsv'}\n",
        format="junit",
        output="report.xml",
        args="--only=segment.soft",
    )
    assert (done.returncode, done.stdout, summary) == (0, "", "")
    assert (tmp_path / "report.xml").read_text().count("<testsuite ") == 2
    assert len(json.loads(Path(outputs["scores"]).read_text())["systems"]) == 2


def test_the_action_fails_where_there_is_nothing_to_score(runner):
    done, outputs, _ = runner(reference="missing.tsv", system="missing.tsv")
    assert done.returncode == 2
    assert "missing.tsv" in done.stderr
    assert outputs == {}


@pytest.mark.parametrize(
    "name", ["$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "--help", "a b", "*"]
)
def test_no_input_is_run(name, runner, tmp_path):
    (tmp_path / name).write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    done, outputs, summary = runner(reference=name, system=name, output=name + ".out", args="--only=segment")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{name}.out").exists()
    assert not (tmp_path / "pwned").exists()
    assert set(outputs) == {"scores"}
    assert summary == ""
    hostile = dict.fromkeys(("require", "args", "format"), name)
    for given in hostile:
        if name not in {"--help", "*"}:
            assert runner(reference=name, system=name, **{given: name})[0].returncode == 2, given
            assert not (tmp_path / "pwned").exists()


def test_the_workflow_uses_what_the_action_takes():
    found = workflow()
    assert True in found, "`on`, which YAML 1.1 reads as a truth value"
    (job,) = found["jobs"].values()
    (own,) = (step for step in job["steps"] if step.get("uses", "").startswith("soft-sed-eval/"))
    given = own["with"]
    inputs = action()["inputs"]
    assert set(given) <= set(inputs)
    assert {name for name, of in inputs.items() if of.get("required")} <= set(given)
    for line in given["require"].splitlines():
        parse_requirement(line)
    for line in given["args"].splitlines():
        assert line.split("=")[0] in options("evaluate")
    outputs = re.findall(rf"steps\.{own['id']}\.outputs\.(\w+)", str(found))
    assert outputs
    assert set(outputs) == set(action()["outputs"])


def hook() -> dict[str, Any]:
    (found,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return found


def test_the_hook_validates_tables(tmp_path):
    found = hook()
    assert {"id", "name", "entry", "language", "types", "files"} <= set(found)
    assert found["language"] == "python"
    program, command = found["entry"].split()
    assert f'{program} = "' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert command in SHORT_HELPS
    assert all(re.search(found["files"], name) for name in ("a.tsv", "b/c.csv", "d.rttm"))
    assert not re.search(found["files"], "a.py")
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    bad.write_text("onset\toffset\tevent_label\n2\t1\tcar\n")
    assert call(command, good, good).code == 0
    done = call(command, good, bad)
    assert done.code == 1
    assert "bad.tsv:2:2: error offset-before-onset" in done.out


def test_the_documented_hook_is_this_one():
    (found,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if block.startswith("repos:"))
    (used,) = found["repos"][0]["hooks"]
    assert used["id"] == hook()["id"]
    re.compile(used["files"])
    assert {argument for argument in used["args"] if argument[:2] == "--"} <= options("validate")
