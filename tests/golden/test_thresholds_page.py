"""The page on thresholds says what is computed: its table and its example, made again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from documents import script
from shared_data import shared

from sedeval_soft.cli.main import group

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made():
    return script("thresholds")


@pytest.fixture(scope="module")
def text(made):
    return made.PAGE.read_text(encoding="utf-8")


def values(made, text):
    """The macro F of the noisy reference that the page's table prints, by basis and reading."""
    between = text[text.index(made.BEGIN) + len(made.BEGIN) : text.index(made.END)]
    between = between[between.index("| noisy reference") :]
    rows = [line.strip("| ").split(" | ") for line in between.strip().splitlines()[2:]]
    return {(row[0], row[1]): [float(cell) for cell in row[2:]] for row in rows}


@pytest.mark.slow
def test_the_tables(made, text):
    assert made.page(text, made.tables(*made.scored(shared("maestro")))) == text


def test_what_is_said_of_data_sampling(made, text):
    """Without the data. Harju & Mesaros 2023, Table 2: with best thresholds 25.0/17.8 micro/macro F."""
    rows = re.findall(r"^\| segment \| (\w+) \| ([\d.]+) ± [\d.]+ \| ([\d.]+) ±", text, re.MULTILINE)
    found = {reading: (float(macro), float(micro)) for reading, macro, micro in rows}
    assert found["hard"] == pytest.approx((0.11, 0.31), abs=0.005)
    assert found["tuned"] == pytest.approx((0.17, 0.24), abs=0.005)
    assert found["optimal"] == pytest.approx((0.18, 0.24), abs=0.005)
    assert found["optimal"] == pytest.approx((0.178, 0.250), abs=0.01)
    for line in (
        "a hard macro F of 0.11 and, given the best thresholds, one of 0.18",
        "from 0.31 to 0.24 (0.25 in",
    ):
        assert line in text


def test_what_is_said_of_the_table(made, text):
    """Without the data."""
    found = values(made, text)
    assert len(found) == len(made.BASES) * len(made.READINGS)
    hard, tuned, optimal = (found["segment", reading] for reading in made.READINGS)
    assert "macro F of segments by 0.03 for" in text
    assert optimal[0] - hard[0] == pytest.approx(0.03, abs=0.0005)
    assert "of this, 0.006 are left" in text
    assert tuned[0] - hard[0] == pytest.approx(0.006, abs=0.0005)
    hard, tuned, optimal = (found["event", reading] for reading in made.READINGS)
    assert 1.9 < optimal[0] / hard[0] < 2
    assert (tuned[0] - hard[0]) / (optimal[0] - hard[0]) < 1 / 3
    assert [i for i in range(1, 6) if tuned[i] < hard[i]] == [4]
    for own in found.values():
        assert len(own) == 6


def test_the_example(text, tmp_path, monkeypatch):
    for side in ("ref", "sys"):
        head, *rows = (ROOT / "sample_data" / f"{side}.tsv").read_text(encoding="utf-8").splitlines()
        for name, files in (("dev", ("cafe", "metro", "night")), ("test", ("park", "street"))):
            own = [head, *(row for row in rows if row.startswith(files)), ""]
            (tmp_path / f"{name}_{side}.tsv").write_text("\n".join(own), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"^    soft-sed-eval (.*)$", text, re.MULTILINE)
    assert CliRunner().invoke(group, first.split()).exit_code == 0
    printed = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert printed
    assert (tmp_path / "thresholds.yaml").read_text(encoding="utf-8").startswith(printed[1])
    printed = re.search(r"```\n(Summary\n.*?)```", text, re.DOTALL)
    assert printed
    shown = [line.rstrip() for line in CliRunner().invoke(group, second.split()).stdout.splitlines()]
    assert printed[1].strip() in "\n".join(shown)
