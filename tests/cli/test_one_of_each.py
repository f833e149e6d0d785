"""What is printed of one row, one file and one class: words in the singular."""

from __future__ import annotations

import re

import pytest
from called import call

_SEVERAL = "files|classes|rows|recordings|segments|scores|events|submissions|tables|shards|columns|problems"
PLURAL = re.compile(rf"(?<![\w.,])1 (?:\w+ )?(?:{_SEVERAL})\b")

ROW = "filename\tonset\toffset\tevent_label\tvalue\na.wav\t0\t1\tcar\t0.8\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ref.tsv").write_text(ROW)
    (tmp_path / "sys.tsv").write_text(ROW.replace("0.8", "0.7"))
    (tmp_path / "durations.tsv").write_text("filename\tduration\na.wav\t0.5\n")
    (tmp_path / "late.tsv").write_text(ROW.replace("\t1\t", "\t1e6\t"))
    (tmp_path / "hard.tsv").write_text(ROW.replace("0.8", "1"))
    (tmp_path / "best.yaml").write_text("car: 0.5\n")
    boards = tmp_path / "submissions"
    boards.mkdir()
    (boards / "one.tsv").write_text(ROW)
    return tmp_path


CALLS = {
    "ref.tsv sys.tsv": "ref.tsv: 1 row, 1 file, 1 class;",
    "ref.tsv sys.tsv --durations durations.tsv": "segments after the end are not evaluated",
    "ref.tsv sys.tsv --thresholds best.yaml": "at given thresholds of 1 class\n",
    "ref.tsv sys.tsv --cross-tune 2": "there is 1 file; expected one or more",
    "ref.tsv late.tsv --segment-length 1e-6": "class (the longest file has",
    "validate submissions/": "folder of 1 table,",
    "validate hard.tsv": "the only value is 0 or 1;",
    "simulate constant ref.tsv -o made.tsv": "1 row, 1 file\n",
    "convert ref.tsv made.txt --to sed-eval": "loses values of 1 row: those above 0",
    "annotate ref.tsv sys.tsv": "1 file, 1 segment of 1 s, 1 class\n",
    "board submissions --reference ref.tsv -o site": "1 submission: 1 ranked, 0 invalid; 0 as before\n",
    "diff a.json b.json --score segment.soft.f1.macro": "ref.tsv against sys.tsv: 1 of 1 score differs\n",
}
"""Calls, and what each must print: else nothing would be looked at."""


@pytest.mark.parametrize(("line", "expected"), CALLS.items(), ids=CALLS)
def test_one_thing_is_not_spoken_of_as_several(line, expected, folder, monkeypatch):
    monkeypatch.chdir(folder)
    if line.startswith("diff"):
        for name, system in (("a", "ref.tsv"), ("b", "sys.tsv")):
            call("ref.tsv", system, "--format", "json", "-o", f"{name}.json", "-q")
    done = call(*line.split())
    said = done.out + done.err
    assert expected in said
    assert not PLURAL.findall(said)
