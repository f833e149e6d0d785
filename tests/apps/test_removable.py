"""Any app can be removed by deleting its folder: the evaluator does not need it.

The tests of an app are in the folder of its name beside this file; no other test imports the app.
"""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from called import REFERENCE, SYSTEM, call

import sedeval_soft

PACKAGE = Path(sedeval_soft.__file__).parent
TESTS = Path(__file__).parents[1]
APPS = sorted(path.name for path in (PACKAGE / "apps").iterdir() if (path / "__init__.py").is_file())

SCRIPT = """
import contextlib, importlib, io, json, sys
import click
import sedeval_soft
from sedeval_soft.cli.main import SHORT_HELPS, _explain, group, main
from sedeval_soft.errors import missing_package

app, *job = sys.argv[1:]
said = set()
for name in SHORT_HELPS:
    try:
        with click.Context(group) as context:
            command = group.get_command(context, name)
            command.get_help(click.Context(command, parent=context, info_name=name))
    except ModuleNotFoundError as error:
        said.add(missing_package(error))
with contextlib.redirect_stderr(io.StringIO()) as told:
    try:
        importlib.import_module(f"sedeval_soft.apps.{app}")
    except Exception as error:
        code = _explain(error)
print(json.dumps([sedeval_soft.__file__, [*said], code, told.getvalue()]), flush=True)
sys.argv = ["soft-sed-eval", *job]
main()
"""
"""Prints the path of the package, and the messages of its commands and of importing the app; runs a job."""


def without(app, folder):
    """Link the package into a folder without an app; return the environment in which Python finds it."""
    apps = folder / "sedeval_soft" / "apps"
    apps.mkdir(parents=True)
    for path in (*PACKAGE.iterdir(), *(PACKAGE / "apps").iterdir()):
        if path.name not in {"apps", app}:
            (folder / "sedeval_soft" / path.relative_to(PACKAGE)).symlink_to(path)
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def whole():
    return call(REFERENCE, SYSTEM)


@pytest.mark.parametrize("app", APPS)
def test_the_evaluator_works_without(app, tmp_path, whole):
    command = [sys.executable, "-c", SCRIPT, app, REFERENCE, SYSTEM]
    # Python also searches its working directory, and this one does not contain the package.
    how = {"env": without(app, tmp_path), "cwd": tmp_path / "sedeval_soft", "text": True}
    rest = subprocess.run(command, capture_output=True, check=False, **how)
    first, _, out = rest.stdout.partition("\n")
    assert (rest.returncode, out, rest.stderr) == (0, whole.out, whole.err)
    where, said, code, told = json.loads(first)
    assert where.startswith(str(tmp_path))
    # A command that needs the app reports this, at the latest when it runs; no other command misses it.
    expected = f"this needs the app {app}, which this installation of sedeval_soft does not have"
    assert {*said} <= {expected}
    assert (code, told) == (2, f"soft-sed-eval: {expected}\n")


@cache
def imported(path):
    """Return the modules that a module imports; of a module of tests, only its imports at the top."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text if "apps" in text else "")
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
    """A test may import an app and be skipped without it; a module of tests may not import it at its top."""
    # The package exports public names, and a command may import its own app.
    allowed = PACKAGE / "__init__.py", PACKAGE / "cli", PACKAGE / "apps" / app, TESTS / "apps" / app
    found = [
        str(path)
        for path in (*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py"))
        if any(f"{module}.".startswith(f"sedeval_soft.apps.{app}.") for module in imported(path))
        and not any(map(path.is_relative_to, allowed))
    ]
    assert found == []
