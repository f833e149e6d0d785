"""The guide of errors shows the lines that the command prints on the real data."""

import re
from pathlib import Path

import pytest
from called import call
from documents import ROOT
from shared_data import shared


@pytest.mark.slow
def test_guide_shows_what_is_printed(tmp_path, monkeypatch):
    text = (ROOT / "docs" / "explanations" / "errors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^    \$ soft-sed-eval (.*)\n((?:(?:    .*)?\n)*)", text, re.MULTILINE)
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    for name, target in (
        ("truth.csv", "dcase2019_task4/dcase2019t4_gt.csv"),
        ("baseline.csv", "dcase2019_task4/baseline_0.5.csv"),
        ("maestro.csv", "maestro/soft_gt_dev.csv"),
    ):
        Path(name).symlink_to(shared(target))
    assert call("simulate", "data-sampling", "maestro.csv", "-o", "sampled.tsv", "--quiet").code == 0
    for words, shown in blocks:
        lines = [line.removeprefix("    ").rstrip() for line in shown.strip("\n").split("\n")]
        assert [line.rstrip() for line in call(*words.split()).out.strip("\n").split("\n")] == lines
