"""`soft-sed-eval presets`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launched import program

from sedeval_soft.settings_files import PRESETS, load_preset, load_settings
from sedeval_soft.settings_schema import schema_text

SHIPPED = Path(__file__).parents[2] / "sedeval_soft" / "presets"


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*program(), "presets", *arguments], capture_output=True, check=False, text=True)


def test_all_are_listed_a_line_each():
    done = call()
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {*PRESETS}
    for line in lines:
        assert len(line) <= 115
        assert line.endswith(".") and not line.split("  ", 1)[1].strip().startswith("#")


@pytest.mark.parametrize("name", PRESETS)
def test_shown_as_it_stands_with_its_source(name, tmp_path):
    done = call("show", name)
    assert done.returncode == 0
    assert done.stdout == (SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")
    assert "https://" in done.stdout
    path = tmp_path / "mine.yaml"
    path.write_text(done.stdout, encoding="utf-8")
    assert load_settings(str(path)) == load_preset(name)


def test_what_is_no_preset_is_answered_with_the_closest():
    done = call("show", "dcase2017-task33")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("soft-sed-eval: there is no preset 'dcase2017-task33'")
    assert "did you mean 'dcase2017-task3'?" in done.stderr
    assert call("shew").returncode == call("show").returncode == 2


def test_the_schema_is_printed():
    assert call("schema").stdout == schema_text()
