"""The guide of errors shows the lines that the command prints on the real data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from called import call
from shared_data import shared

GUIDE = Path(__file__).parents[2] / "docs" / "explanations" / "errors.md"
BLOCKS = re.findall(
    r"^    \$ soft-sed-eval (.*)\n((?:(?:    .*)?\n)*)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    for name, target in (
        ("truth.csv", "dcase2019_task4/dcase2019t4_gt.csv"),
        ("baseline.csv", "dcase2019_task4/baseline_0.5.csv"),
        ("maestro.csv", "maestro/soft_gt_dev.csv"),
    ):
        (folder / name).symlink_to(shared(target))
    made = call("simulate", "data-sampling", folder / "maestro.csv", "-o", folder / "sampled.tsv", "--quiet")
    assert made.code == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("words", "shown"), BLOCKS)
def test_guide_shows_what_is_printed(words, shown, folder, monkeypatch):
    monkeypatch.chdir(folder)
    lines = [line.removeprefix("    ").rstrip() for line in shown.strip("\n").split("\n")]
    assert [line.rstrip() for line in call(*words.split()).out.strip("\n").split("\n")] == lines


def test_there_are_two():
    assert len(BLOCKS) == 2
