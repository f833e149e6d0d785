"""The screen that a person sees first: as it was, within its lines and cells, and whatever the data.

`PYTHONPATH=tests:tests/report python tests/report/test_screens.py` writes all golden files of reports anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import build, of_runs, with_folds, with_intervals, with_sections, with_worst
from shared_data import FOLDER as SHARED

from sedeval_soft import compare, evaluate
from sedeval_soft.comparison.board import Board
from sedeval_soft.report import render
from sedeval_soft.report.fitted import cells, interval, number, shortened

FOLDER = Path(__file__).parents[1] / "data" / "screens"
DCASE = SHARED / "dcase2019_task4"
HARD = (DCASE / "dcase2019t4_gt.csv", DCASE / "baseline_0.5.csv")
LINES, WIDTH = 40, 80
HEAD = ["filename", "onset", "offset", "event_label", "value"]
Rows = list[tuple[object, ...]]


def classes_of(n: int, length: int = 6) -> tuple[Rows, Rows]:
    """Return a reference of n classes and a system that is right of fewer and fewer of their ten seconds."""
    names = [f"class {k:0{length}}" for k in range(n)]
    rows = [(f"f{k % 3}", 20 * k, 20 * k + 10, name, 0.9) for k, name in enumerate(names)]
    return rows, [
        (file, on, on + 10 * (1 - k / n), name, 0.8) for k, (file, on, _, name, _) in enumerate(rows)
    ]


def of_rows(
    *sides: Rows, by_class: bool = False, width: int = WIDTH, color: bool = False, **chosen: object
) -> str:
    tables = (pd.DataFrame(rows, columns=HEAD) for rows in sides)
    return render([evaluate(*tables, **chosen)], width=width, color=color, by_class=by_class)


def called(*arguments: object) -> str:
    return call(*arguments, "-q").out


MISSED = (
    [("a", 0, 2, "low", 1), ("a", 3, 5, "none", 1), ("a", 6, 8, "zero", 1), ("a", 8, 9, "faint", 0.4)],
    [("a", 0, 2, "low", 0.4), ("a", 6, 8, "zero", 0), ("a", 8, 9, "faint", 0.9), ("a", 9, 9.5, "more", 1)],
)
"""Classes that are not detected, or not in the reference, each for another reason."""

NOTES: dict[str, dict[str, object]] = {
    "plain": {},
    "mean": {"inclusive": True, "pool": "mean", "threshold": 1},
    "high": {"threshold": 1},
    "soft": {"only": "segment.soft"},
    "events": {"only": "event.hard"},
    "processed": {"min_duration": 3, "only": "segment"},
    "one": {"classes": "low", "only": "segment"},
    "cut": {"reference_threshold": 0.3, "rank_by": "event.soft.f1.micro"},
}

OFTEN = [("a", 0, 50, "often", 1.0)]
RARE = [*OFTEN, ("a", 3, 5, "rare", 1.0)], [*OFTEN, ("a", 0, 100, "rare", 0.2)]
"""Optimal F of "rare" is 4/102 below 0.2, where micro F is 104/202; in the hard reading it is 100/102."""

RIGHT = [("f", 0, 10, "a", 0.9), ("f", 9, 10, "b", 1.0)]
SMALL = RIGHT, [*RIGHT, ("f", 0, 9, "b", 0.3)]
"""Of "b" soft TP is 1 of 1 and 1 + 9 * 0.3: P 1/3.7, F 2/4.7."""

EVENTS = pd.DataFrame([("a", 0.0, 1.0, "car"), ("a", 5.0, 6.0, "car")], columns=HEAD[:4])
POINTS = {0.2: EVENTS, 0.6: EVENTS[:1]}


def board(
    n_systems: int = 3, n_classes: int = 3, n_files: int = 12, worse: float = 0.03, **chosen: object
) -> Board:
    """Compare systems, each worse than the one before by so much noise."""
    rng = np.random.default_rng(5)
    reference = rng.random((n_files, 20, n_classes)) ** 3
    noise = {f"system {k}": rng.normal(0, worse * (k + 1), reference.shape) for k in range(n_systems)}
    systems = {name: np.clip(reference + each, 0, 1) for name, each in noise.items()}
    classes = [f"class {k}" for k in range(n_classes)]
    return compare(
        reference, systems, **{"classes": classes, "replicates": 100, "only": ["segment"], **chosen}
    )


def of_board(made: Board, **how: object) -> str:
    return render(made.systems, board=made, **how)


def untested() -> Board:
    """Return a board as a site has it where its systems are not tested against each other."""
    made = board(2, n_files=4)
    of = replace(made.entries[1].difference, p_bootstrap=None, p_exchange=None, p_adjusted=None)
    return replace(made, entries=(made.entries[0], replace(made.entries[1], difference=of)))


SCREENS: dict[str, Callable[[], str]] = {
    "sample": lambda: called(REFERENCE, SYSTEM),
    "intervals": lambda: called(REFERENCE, SYSTEM, "--ci", "--replicates", "100"),
    "preset": lambda: called(REFERENCE, SYSTEM, "--preset", "dcase2019-task4"),
    "chance": lambda: called("chance", REFERENCE, SYSTEM, "--only", "segment", "--draws", "5"),
    "folds": lambda: called(REFERENCE, SYSTEM, "--folds", SAMPLES / "folds.tsv", "--only", "segment"),
    "words": lambda: called(REFERENCE, SYSTEM, "--ci", "--replicates", "100", "--words"),
    "points": lambda: render([evaluate(EVENTS, POINTS)]),
    "scenes": lambda: called(REFERENCE, SYSTEM, "--by", SAMPLES / "folds.tsv"),
    "psds": lambda: called(REFERENCE, SYSTEM, "--psds", "dcase-psds1"),
    "everything": lambda: called(
        *(REFERENCE, SYSTEM, "--only", "all", "--measures", "all", "--worst", "3"),
        *("--set", "reference_sweep=true"),
    ),
    "one-class": lambda: called(REFERENCE, SYSTEM, "--classes", "car"),
    "runs": lambda: called(REFERENCE, SYSTEM, OTHER, "--runs"),
    "systems": lambda: called(REFERENCE, SYSTEM, OTHER, "--replicates", "100"),
    "fifty-classes": lambda: of_rows(*classes_of(50)),
    "no-class": lambda: render([evaluate(EVENTS[:0], EVENTS[:0])]),
    "long-names": lambda: of_rows(*classes_of(4, 90)),
    "width-60": lambda: of_rows(*classes_of(4), width=60),
    "width-100": lambda: of_rows(*classes_of(4, 30), width=100),
    "width-140": lambda: of_rows(*classes_of(4, 30), width=140),
    "color": lambda: of_rows(*classes_of(4), color=True),
    "hard": lambda: called(*HARD),
    "board-baseline": lambda: of_board(board(12, baseline="system 11")),
    "board-lower": lambda: of_board(board(rank_by="segment.hard.error_rate.micro")),
    "board-untied": lambda: of_board(board(4, n_files=3, worse=0.1)),
    "board-untested": lambda: of_board(untested()),
    **{f"notes-{name}": partial(of_rows, *MISSED, by_class=True, **chosen) for name, chosen in NOTES.items()},
    "note-optimal": lambda: of_rows(*RARE, only="segment"),
    "note-small-values": lambda: of_rows(*SMALL, only="segment", classes="b"),
    "note-none": lambda: of_rows(*SMALL, only="segment"),
    "note-many": lambda: of_rows([("a", k, k + 1, f"class {k}", 1) for k in range(30)], []),
}


def lines_of(text: str, width: int) -> list[str]:
    """Return the lines of a screen without colours, all of which fit the terminal."""
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).splitlines()
    assert max(map(cells, lines)) <= width
    return lines


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_it_was(name):
    if name == "hard" and not DCASE.exists():
        pytest.skip("needs ../shared/data/dcase2019_task4, which is not part of a checkout")
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    lines = lines_of(text, int(name.partition("-")[2]) if name.startswith("width") else WIDTH)
    assert len(lines) <= LINES and all(line == line.rstrip() for line in lines)
    assert SCREENS[name]() == text, "if this is wanted, write the golden files anew"


MADE = (build, with_intervals, with_folds, with_worst, with_sections, of_runs)
NAMES = st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=0, max_size=30, unique=True)


@settings(max_examples=10)
@given(NAMES, st.sampled_from(MADE[1:]), st.integers(60, 200), st.booleans())
def test_whatever_there_is_fits(names, made, width, color):
    lines = lines_of(render([made(build(tuple(names)))], width=width, color=color), width)
    # Notes with names of up to 40 letters take some lines more, and below 80 columns as many as they need.
    assert len(lines) <= LINES + 4 or width < WIDTH


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_without_values_show_hard_scores_only(form):
    plain, valued = EVENTS, EVENTS.assign(value=0.5)
    assert "soft" not in re.sub("soft-sed-eval", "", render([evaluate(plain, plain)], form))
    asked = evaluate(plain, plain, only=("segment.hard", "segment.soft"))
    for scores in (evaluate(plain, valued), evaluate(valued, plain), asked):
        assert "soft" in re.sub("soft-sed-eval", "", render([scores], form))


NUMBERS = {0.7331: ".733", 1.0: "1.000", 0.9996: "1.000", -0.0004: ".000", -0.25: "-.250", 3.4732: "3.473",
           12.345: "12.35", 99.996: "100.0", None: "-", 12345.6: "12346", 0: ".000",
           9.9994: "9.999", 9.9996: "10.00", 999.96: "1000"}  # fmt: skip
INTERVALS = {(0.6912, 0.7708): "[.69,.77]", (-0.5, 1.0): "[-.50,1.00]", (None, 1.0): ""}


def test_a_number_takes_five_letters():
    assert {value: number(value) for value in NUMBERS} == NUMBERS
    assert {ends: interval(*ends) for ends in INTERVALS} == INTERVALS


@given(st.text(max_size=50), st.integers(3, 60))
def test_a_name_is_shortened_in_the_middle(text, room):
    short = shortened(text, room)
    assert cells(short) <= room
    if cells(text) <= room:
        assert short == text
    else:
        head, _, tail = short.partition("…")
        assert text.startswith(head) and text.endswith(tail)


def test_no_color_is_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in of_rows(*classes_of(3), color=True)


@pytest.mark.parametrize(("n_systems", "n_classes"), [(1, 17), (3, 9)])
def test_a_narrow_screen_names_the_columns_that_only_a_wide_one_has(n_systems, n_classes):
    """Scores, intervals and p-values at 80 columns are those at 140, but for the columns that are named."""
    made = board(
        n_systems + 1, n_classes, n_files=4, replicates=20, only=["segment", "event"], ci="bootstrap"
    )
    for by_class in (False, True):
        shown = {}
        for width in (60, 80, 140):
            how = {"width": width, "by_class": by_class}
            text = (
                render(made.systems[:1], **how)
                if n_systems == 1
                else of_board(made, color=width == 60, **how)
            )
            lines = lines_of(text, width)
            labels = [line for line in lines if re.match(r"class \d", line)]
            assert len(labels) == (n_classes if by_class else 0 if n_systems == 1 else 6)
            assert len(lines) <= 47 or by_class
            named = " ".join(line for line in lines if line.startswith("no room here for "))
            shown[width] = {*re.findall(r"(?<![\w.])[-+]?\d*\.\d+", "\n".join(lines))}, named
        (narrow, left), (wide, _) = shown[80], shown[140]
        assert narrow <= wide
        assert narrow == wide or left


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        {"n_systems": 12, "n_classes": 50, "replicates": 20},
        {"classes": ["\x1b[2J", "鳥の声" * 20, "a\u0301" * 50]},
        {"only": ["segment", "event", "clip", "intersection", "ranking"], "n_systems": 8, "replicates": 20},
    ],
    ids=str,
)
def test_a_board_of_any_width_is_short(shape):
    made = board(**shape)
    for width, most in ((60, 47), (80, 43), (140, 43)):
        lines = lines_of(of_board(made, width=width), width)
        assert len(lines) <= most
        assert all(line.isprintable() for line in lines)


if __name__ == "__main__":
    from test_golden import FOLDER as PAGES
    from test_golden import OUTPUTS

    for page, output in OUTPUTS.items():
        (PAGES / page).write_text(output(), encoding="utf-8", newline="")
    for name, screen in SCREENS.items():
        if name != "hard" or DCASE.exists():
            (FOLDER / f"{name}.txt").write_text(screen(), encoding="utf-8")
