"""`soft-sed-eval presets`."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import call

from sedeval_soft.settings_files import PRESETS, load_preset, load_settings, schema_text

SHIPPED = Path(__file__).parents[2] / "sedeval_soft" / "presets"


def test_all_are_listed_a_line_each():
    done = call("presets")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == {*PRESETS}
    for line in lines:
        assert len(line) <= 115
        assert line.endswith(".") and not line.split("  ", 1)[1].strip().startswith("#")


@pytest.mark.parametrize("name", PRESETS)
def test_shown_as_it_stands_with_its_source(name, tmp_path):
    done = call("presets", "show", name)
    assert done.code == 0
    assert done.out == (SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")
    assert "https://" in done.out
    path = tmp_path / "mine.yaml"
    path.write_text(done.out, encoding="utf-8")
    assert load_settings(str(path)) == load_preset(name)


def test_what_is_no_preset_is_answered_with_the_closest():
    done = call("presets", "show", "dcase2017-task33")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("there is no preset 'dcase2017-task33'")
    assert "did you mean 'dcase2017-task3'?" in done.err
    assert call("presets", "shew").code == call("presets", "show").code == 2


def test_the_schema_is_printed():
    assert call("presets", "schema").out == schema_text()
