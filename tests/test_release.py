"""Parts of a release, and code that services run: man page, completions, workflows, action, hook."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from called import OTHER, REFERENCE, SYSTEM, call
from documents import ROOT, blocks, make_command, make_workplace, script
from packaging.requirements import Requirement

from sedeval_soft.cli.main import SHORT_HELPS, group
from sedeval_soft.report import parse_requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_man_page_is_up_to_date_and_has_all_commands():
    made = script("../tools/make_man")
    page = made.PAGE.read_text(encoding="utf-8")
    assert made.page() == page, "run python tools/make_man.py"
    assert all(f".SS soft\\-sed\\-eval {name}" in page for name in SHORT_HELPS if name != "evaluate")


@pytest.mark.parametrize(
    ("shell", "completions", "press_tab"),
    [
        ("bash", "bash-completion/completions/soft-sed-eval",
         """source "$1"; COMP_WORDS=(soft-sed-eval expl); COMP_CWORD=1
         _soft_sed_eval_completion soft-sed-eval 2>/dev/null; echo "${COMPREPLY[@]}" """),
        # These print the completions that zsh would show.
        ("zsh", "zsh/site-functions/_soft-sed-eval",
         """words=(soft-sed-eval expl); CURRENT=2; compdef() { : }
         _describe() { print -r -- ${(P)3} }; _path_files() { : }; source "$1" """),
        ("fish", "fish/vendor_completions.d/soft-sed-eval.fish",
         """source $argv[-1]; complete -C "soft-sed-eval expl" """),
    ],
)  # fmt: skip
def test_completion_files_complete(shell, completions, press_tab, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command = [shell, "-c", press_tab, shell, str(ROOT / "tools" / "share" / completions)]
    environment = make_workplace(tmp_path) | {"HOME": str(tmp_path)}
    assert subprocess.check_output(command, env=environment, text=True).startswith("explain")


def test_dependencies_are_listed_with_their_licences():
    text = script("../tools/make_licences").PAGE.read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.MULTILINE))
    of = PROJECT["project"]
    asked = sum(of["optional-dependencies"].values(), of["dependencies"])
    needed = {each.name for each in map(Requirement, asked)} - {of["name"]}
    assert needed <= set(listed), "run python tools/make_licences.py"
    assert all(licence.strip() not in {"", "see the package"} for licence in listed.values())


# Rules of workflows and the container that reading can check.

WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
}


def test_workflows_may_do_little_and_end():
    assert [each["permissions"] for each in WORKFLOWS.values()] == [{"contents": "read"}] * len(WORKFLOWS)
    jobs = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
    assert jobs and all(job["timeout-minutes"] <= 90 for job in jobs)
    # The shell would run the value of an expression.
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
"""A tag, the texts of the files of a release, and the number of problems."""


@pytest.mark.parametrize(("tag", "changed", "cited", "linked", "n_problems"), TAGGED.values(), ids=TAGGED)
def test_a_tag_must_be_the_version_that_everything_names(tag, changed, cited, linked, n_problems, tmp_path):
    (tmp_path / "sedeval_soft").mkdir()
    for path, text in {
        "sedeval_soft/__init__.py": '"""."""\n\n__version__ = "1.2.3"\n', "CITATION.cff": cited,
        "CHANGELOG.md": f"# Changelog\n\n{changed}", "pyproject.toml": linked,
    }.items():  # fmt: skip
        (tmp_path / path).write_text(text)
    found = script("../tools/check_tag").problems(tag, tmp_path)
    assert len(found) == n_problems, found


def test_the_image_is_pinned_and_not_of_root():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (base,) = {*re.findall(r"^FROM (\S+)", text, re.MULTILINE)}
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base)
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)


# The GitHub Action, the workflow in the documents, the pre-commit hook.

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
    """Return the inputs that a step gets in variables of its environment, by variable."""
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
    # The tool is installed from the checkout of the action, unless it is in the cache.
    assert [step.get("id") for step in STEPS] == ["look", "cache", None, "score"]
    assert INSTALL["if"] == "steps.cache.outputs.cache-hit != 'true'"


def test_the_slim_install_goes_with_pyproject():
    """tools/slim.sh tests the packages that it installs, and the time."""
    lines = re.findall(r"^\w.*", (ROOT / "requirements-slim.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pinned = {each.name: str(each.specifier).removeprefix("==") for each in map(Requirement, lines)}
    asked = {each.name: each.specifier for each in map(Requirement, PROJECT["project"]["dependencies"])}
    assert {*pinned} - {*asked} == {"markupsafe"}, "what jinja2 needs"
    assert [name for name in {*pinned} & {*asked} if not asked[name].contains(pinned[name])] == []


@pytest.fixture
def runner(tmp_path):
    """Return a function that scores with some inputs, like a runner of the action.

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
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCORE["run"]],
            cwd=tmp_path, env=environment | variables, check=False, capture_output=True, text=True,
        )  # fmt: skip
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
    (tmp_path / "bad.tsv").write_text(TABLE.replace("0\t1", "2\t1"))
    _, command = HOOK["entry"].split()
    assert [call(command, SYSTEM, other).code for other in (OTHER, tmp_path / "bad.tsv")] == [0, 1]
    (found,) = (yaml.safe_load(block) for block in blocks(PAGE, "yaml") if block.startswith("repos:"))
    (used,) = found["repos"][0]["hooks"]
    assert used["id"] == HOOK["id"] and re.compile(used["files"])
    assert {argument for argument in used["args"] if argument[:2] == "--"} <= options("validate")
