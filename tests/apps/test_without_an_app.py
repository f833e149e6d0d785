"""The main job and other commands work without any one app: nothing but its own command imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from launched import unmeasured

import sedeval_soft

APPS = sorted(
    path.parent.name for path in (Path(sedeval_soft.__file__).parent / "apps").glob("*/__init__.py")
)
SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM = (str(SAMPLES / f"{name}.tsv") for name in ("ref", "sys"))
CALLS = ([REFERENCE, SYSTEM], ["validate", SYSTEM, "--reference", REFERENCE], ["presets"], ["explain", "f1"])


def test_there_are_apps():
    assert len(APPS) >= 5


@pytest.mark.parametrize("app", APPS)
def test_the_rest_works_without(app):
    code = f"""
import sys
sys.modules["sedeval_soft.apps.{app}"] = None
from sedeval_soft.cli.main import group
for arguments in {CALLS!r}:
    try:
        group.main(arguments, prog_name="x", standalone_mode=False)
    except SystemExit as ended:
        assert not ended.code, ended.code
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=unmeasured(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\nsegment  soft " in done.stdout and "dcase2019-task4" in done.stdout
