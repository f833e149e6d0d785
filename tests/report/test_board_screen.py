"""The screen of several systems: its size whatever is compared, places, ties, and what is never left out."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from called import OTHER, REFERENCE, SYSTEM

from sedeval_soft import build_site, compare
from sedeval_soft.report import render
from sedeval_soft.report.fitted import cells

LONG = "submissions/of the year/a team with a name that is longer than any line of a screen is wide_system_"
HOSTILE = "a\x1b[31m\n\u202eb<pre>"


def made(n_systems=3, n_classes=3, n_files=12, name="system ", classes=None, worse=0.03, **chosen):
    """Compare systems, each worse than the one before by so much noise."""
    rng = np.random.default_rng(5)
    reference = rng.random((n_files, 20, n_classes)) ** 3
    systems = {
        f"{name}{k}": np.clip(reference + rng.normal(0, worse * (k + 1), reference.shape), 0, 1)
        for k in range(n_systems)
    }
    classes = classes or [f"class {k}" for k in range(n_classes)]
    return compare(reference, systems, classes=classes, **{"replicates": 100, "only": ["segment"], **chosen})


def lines_of(board, **how):
    text = render(board.systems, board=board, **how)
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


SHAPES = [
    {"n_systems": 2},
    {"n_systems": 9, "n_classes": 12},
    {"n_systems": 30, "n_classes": 50, "name": LONG},
    {"n_classes": 1},
    {"n_files": 1},
    {"name": HOSTILE, "classes": ["\x1b[2J", "鳥の声" * 20, "a\u0301" * 50]},
    {"only": ["all"], "psds": "dcase-psds1", "n_systems": 2, "n_files": 3, "replicates": 2},
    {"only": ["segment", "event", "clip", "intersection", "ranking"], "n_systems": 8, "replicates": 20},
    {"n_systems": 12, "baseline": "system 11"},
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=map(str, range(len(SHAPES))))
def test_a_board_of_any_width_is_short(shape):
    board = made(**shape)
    for width, color in product((60, 80, 100, 140), (False, True)):
        shown = lines_of(board, width=width, color=color)
        # Nothing is left out: eight systems in five bases take the most, and letters some columns.
        assert len(shown) <= (43 if width > 60 else 47)
        assert sum(line.startswith("no room here") for line in shown) <= 1
        assert max(map(cells, shown)) <= width
        assert all(line.isprintable() for line in shown)
    whole = lines_of(board)
    # The score that ranks, of each system that is shown, and all of its digits.
    assert board.rank_by in whole[2]
    for entry in board.entries[:8] if board.baseline is None else (board.entries[0], board.entries[-1]):
        value = f"{entry.value:.3f}".removeprefix("0")
        assert any(re.match(rf" *{entry.place}  .* {value}\b", line) for line in whole), entry


def test_systems_are_by_place_and_those_that_share_a_letter_do_not_differ():
    board = made(4, worse=0.1)
    heads, ranking = lines_of(board)[4:6], [line.split() for line in lines_of(board)[6:10]]
    assert [head.split()[-2:] for head in heads] == [["not", "significantly"], ["(95", "%)"]]
    assert [row[0] for row in ranking] == ["1", "2", "3", "4"]
    assert [entry.letters for entry in board.entries] == [row[-1] for row in ranking] == ["a", "b", "c", "d"]
    few = made(4, n_files=3, worse=0.1)
    assert [line.split()[-1] for line in lines_of(few)[6:10]] == ["a"] * 4


def test_of_many_systems_the_first_stand_there_and_how_many_more():
    lines = lines_of(made(30))
    assert "   and 22 more: -v" in lines
    assert "30 systems against" in lines[0]
    nine = lines_of(made(9))
    assert any(line.startswith("9  system 8") for line in nine)


def test_the_baseline_stands_there_in_any_case():
    lines = lines_of(made(12, baseline="system 11"))
    last = next(line for line in lines if "system 11" in line)
    assert last.startswith("12  ")
    assert "vs 12" in lines[5]
    head = next(line for line in lines if line.startswith("macro F1"))
    assert head.split()[-2:] == ["7", "12"]


def test_classes_in_which_systems_differ_most_come_first():
    rng = np.random.default_rng(0)
    reference = rng.random((6, 20, 3))
    other = reference.copy()
    other[:, :, 1] = 0.0
    other[:, :, 2] *= 0.8
    board = compare(
        reference, {"a": reference, "b": other}, classes=["x", "y", "z"], only=["segment"], replicates=50
    )
    lines = lines_of(board)
    at = lines.index(next(line for line in lines if line.startswith("F1 by class")))
    assert [line[0] for line in lines[at + 1 : at + 4]] == ["y", "z", "x"]
    assert lines[at + 1].split() == ["y", "1.000", ".000"]


def test_all_classes_are_shown_where_they_are_asked_for():
    board = made(3, 50)
    assert sum(line.startswith("class ") for line in lines_of(board)) < 12
    assert sum(line.startswith("class ") for line in lines_of(board, by_class=True)) == 50


def test_the_score_that_ranks_is_marked_and_its_measure_stands_first():
    board = made(rank_by="segment.hard.error_rate.micro")
    lines = lines_of(board)
    assert lines[2] == "ranked by segment.hard.error_rate.micro; lower is better"
    at = next(k for k, line in enumerate(lines) if line.startswith("micro ER"))
    assert lines[at + 1].startswith("segment  hard > 0.5 < ")
    assert [line for line in lines if " < " in line] == [lines[at + 1]]


def test_without_colour_the_same_words_are_there():
    board = made()
    plain = render(board.systems, board=board, width=80)
    assert "\x1b" not in plain
    assert lines_of(board, width=80, color=True) == plain.splitlines()


def test_what_was_not_tested_ties_with_nobody(tmp_path):
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for path in (SYSTEM, OTHER):
        (submissions / Path(path).name).write_text(Path(path).read_text(encoding="utf-8"), encoding="utf-8")
    how = {"reports": False, "ties": "none", "only": ["segment.soft"]}
    board = build_site(submissions, REFERENCE, tmp_path / "site", **how).board
    lines = lines_of(board)
    assert "significantly" not in "".join(lines)
    assert any(line.startswith("vs 1: difference to place 1; it was not tested") for line in lines)
    # A site keeps no scores of classes: neither screen is in want of them.
    assert "by class" not in str(board) + str(board["sys_b"])
