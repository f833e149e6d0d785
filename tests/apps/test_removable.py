"""Any app can be taken out by deleting its folder: the evaluator does not need it.

The tests of an app are in the folder of its name beside this file, and no other test imports it.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import sedeval_soft

PACKAGE = Path(sedeval_soft.__file__).parent
TESTS = Path(__file__).parents[1]
SAMPLES = TESTS.parent / "sample_data"
APPS = sorted(path.name for path in (PACKAGE / "apps").iterdir() if (path / "__init__.py").is_file())

COMMANDS = """
import json
import click
from sedeval_soft.cli.main import SHORT_HELPS, group
from sedeval_soft.errors import missing_package

said = {}
for name in SHORT_HELPS:
    try:
        with click.Context(group) as context:
            command = group.get_command(context, name)
            command.get_help(click.Context(command, parent=context, info_name=name))
    except ModuleNotFoundError as error:
        said[name] = missing_package(error)
print(json.dumps(said))
"""

CALLED = """
import sys
from sedeval_soft.cli.main import group, main

group.main = lambda **_: __import__("sedeval_soft.apps.{app}")
main()
"""
"""A command that imports the app when it is called."""


def without(app, folder):
    """Copy the package without an app; return the environment in which Python finds the copy."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "sedeval_soft", ignore=ignored)
    shutil.rmtree(folder / "sedeval_soft" / "apps" / app)
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def ran(environment, *arguments):
    command = [sys.executable, *arguments]
    # Python looks into the folder in which it begins, too: this one has no package.
    return subprocess.run(command, env=environment, cwd=SAMPLES, capture_output=True, text=True, check=False)


def test_there_are_apps():
    assert APPS


@pytest.mark.parametrize("app", APPS)
def test_the_evaluator_works_without(app, tmp_path):
    job = ("-m", "sedeval_soft", "ref.tsv", "sys.tsv")
    environment = without(app, tmp_path)
    where = ran(environment, "-c", "import sedeval_soft; print(sedeval_soft.__file__)").stdout
    assert where.startswith(str(tmp_path))
    whole, rest = ran(dict(os.environ), *job), ran(environment, *job)
    assert (rest.returncode, rest.stdout, rest.stderr) == (0, whole.stdout, whole.stderr)
    # A command that needs it says so, when it is called at the latest; no other misses it.
    listed = ran(environment, "-c", COMMANDS)
    assert listed.returncode == 0, listed.stderr
    expected = f"this needs the app {app}, which this installation of sedeval_soft does not have"
    assert {*json.loads(listed.stdout).values()} <= {expected}
    called = f"from sedeval_soft.cli.main import _explain\ntry:\n    import sedeval_soft.apps.{app}\n"
    refused = ran(
        environment, "-c", f"{called}except Exception as error:\n    raise SystemExit(_explain(error))"
    )
    assert (refused.returncode, refused.stderr) == (2, f"soft-sed-eval: {expected}\n")


@cache
def imported(path):
    """Return the modules that a module imports; one of tests, when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if path.is_relative_to(TESTS) else [*ast.walk(tree)]
    named = {
        f"{node.module}.{each.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    return named | {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}


@pytest.mark.parametrize("app", APPS)
def test_no_room_and_no_other_test_imports_it(app):
    """A test may import it where it is used, and be skipped without it; a module of tests may not."""
    # The package names what is public, and a command may import the app that it is of.
    allowed = PACKAGE / "__init__.py", PACKAGE / "cli", PACKAGE / "apps" / app, TESTS / "apps" / app
    found = [
        str(path)
        for path in (*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py"))
        if any(f"{module}.".startswith(f"sedeval_soft.apps.{app}.") for module in imported(path))
        and not any(map(path.is_relative_to, allowed))
    ]
    assert found == []
