"""The screen that a person sees first: as it was, within its lines and cells, and whatever the data.

`PYTHONPATH=tests:tests/report python tests/report/test_screens.py` writes all golden files of reports anew.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
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

from sedeval_soft import build_site, compare, evaluate
from sedeval_soft.report import render
from sedeval_soft.report.fitted import cells, interval, number, shortened

FOLDER = Path(__file__).parents[1] / "data" / "screens"
DCASE = SHARED / "dcase2019_task4"
HARD = (DCASE / "dcase2019t4_gt.csv", DCASE / "baseline_0.5.csv")
LINES, WIDTH = 40, 80


def classes_of(n: int, length: int = 6) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a reference of n classes and a system that is right of fewer and fewer of their ten seconds."""
    names = [f"class {k:0{length}}" for k in range(n)]
    rows = [(f"f{k % 3}", 20 * k, 20 * k + 10, name, 0.9) for k, name in enumerate(names)]
    right = [(file, on, on + 10 * (1 - k / n), name, 0.8) for k, (file, on, _, name, _) in enumerate(rows)]
    head = ["filename", "onset", "offset", "event_label", "value"]
    return pd.DataFrame(rows, columns=head), pd.DataFrame(right, columns=head)


def of_tables(*tables: pd.DataFrame, width: int = WIDTH, color: bool = False, **chosen: object) -> str:
    return render([evaluate(*tables, **chosen)], width=width, color=color)


def of_sample(*options: str) -> str:
    done = call(REFERENCE, SYSTEM, "-q", *options)
    assert done.code == 0, done.err
    return done.out


HEAD = ["filename", "onset", "offset", "event_label", "value"]


def of_rows(*sides: list[tuple[object, ...]], **chosen: object) -> str:
    return of_tables(*(pd.DataFrame(rows, columns=HEAD) for rows in sides), **chosen)


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
}


def of_notes(**chosen: object) -> str:
    tables = (pd.DataFrame(rows, columns=HEAD) for rows in MISSED)
    return render([evaluate(*tables, **chosen)], by_class=True)


OFTEN = [("a", 0, 50, "often", 1.0)]
RARE = [*OFTEN, ("a", 3, 5, "rare", 1.0)], [*OFTEN, ("a", 0, 100, "rare", 0.2)]
"""Optimal F of "rare" is 4/102 below 0.2, where micro F is 104/202; in the hard reading it is 100/102."""

RIGHT = [("f", 0, 10, "a", 0.9), ("f", 9, 10, "b", 1.0)]
SMALL = RIGHT, [*RIGHT, ("f", 0, 9, "b", 0.3)]
"""Of "b" soft TP is 1 of 1 and 1 + 9 * 0.3: P 1/3.7, F 2/4.7."""


EVENTS = pd.DataFrame({"filename": ["a"] * 2, "onset": [0.0, 5], "offset": [1.0, 6], "event_label": "car"})
POINTS = {0.2: EVENTS, 0.6: EVENTS[:1]}
NOTHING = pd.DataFrame(columns=["filename", "onset", "offset", "event_label"])
SCREENS: dict[str, Callable[[], str]] = {
    "sample": of_sample,
    "intervals": lambda: of_sample("--ci", "--replicates", "100"),
    "preset": lambda: of_sample("--preset", "dcase2019-task4"),
    "chance": lambda: call("chance", REFERENCE, SYSTEM, "--only", "segment", "-q").out,
    "folds": lambda: of_sample("--folds", SAMPLES / "folds.tsv", "--only", "segment"),
    "words": lambda: of_sample("--ci", "--replicates", "100", "--words"),
    "points": lambda: render([evaluate(EVENTS, POINTS)]),
    "scenes": lambda: of_sample("--by", SAMPLES / "folds.tsv"),
    "psds": lambda: of_sample("--psds", "dcase-psds1"),
    "everything": lambda: of_sample(
        "--only", "all", "--measures", "all", "--worst", "3", "--set", "reference_sweep=true"
    ),
    "one-class": lambda: of_sample("--classes", "car"),
    "runs": lambda: call(REFERENCE, SYSTEM, OTHER, "--runs", "-q").out,
    "systems": lambda: call(REFERENCE, SYSTEM, OTHER, "--replicates", "100", "-q").out,
    "fifty-classes": lambda: of_tables(*classes_of(50)),
    "no-class": lambda: of_tables(NOTHING, NOTHING),
    "long-names": lambda: of_tables(*classes_of(4, 90)),
    "width-60": lambda: of_tables(*classes_of(4), width=60),
    "width-100": lambda: of_tables(*classes_of(4, 30), width=100),
    "width-140": lambda: of_tables(*classes_of(4, 30), width=140),
    "color": lambda: of_tables(*classes_of(4), color=True),
    "hard": lambda: call(*HARD, "-q").out,
    "board-baseline": lambda: str_of(made(12, baseline="system 11")),
    "board-lower": lambda: str_of(made(rank_by="segment.hard.error_rate.micro")),
    "board-untied": lambda: str_of(made(4, n_files=3, worse=0.1)),
    **{f"notes-{name}": partial(of_notes, **chosen) for name, chosen in NOTES.items()},
    "note-optimal": lambda: of_rows(*RARE, only="segment"),
    "note-small-values": lambda: of_rows(*SMALL, only="segment", classes="b"),
    "note-none": lambda: of_rows(*SMALL, only="segment"),
    "note-many": lambda: of_rows([("a", k, k + 1, f"class {k}", 1) for k in range(30)], []),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_it_was(name):
    if name == "hard" and not DCASE.exists():
        pytest.skip("needs ../shared/data/dcase2019_task4, which is not part of a checkout")
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert SCREENS[name]() == text, "if this is wanted, write the golden files anew"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_screens_fit(path):
    width = int(path.stem.partition("-")[2]) if path.stem.startswith("width") else WIDTH
    lines = re.sub("\x1b\\[[0-9;]*m", "", path.read_text(encoding="utf-8")).splitlines()
    assert len(lines) <= LINES
    assert max(map(cells, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


MADE = (build, with_intervals, with_folds, with_worst, with_sections, of_runs)
NAMES = st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=0, max_size=30, unique=True)


@settings(max_examples=20)
@given(NAMES, st.sampled_from(MADE[1:]), st.integers(60, 200), st.booleans())
def test_whatever_there_is_fits(names, made, width, color):
    text = render([made(build(tuple(names)))], width=width, color=color)
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).splitlines()
    # Notes with names of up to 40 letters take some lines more, and below 80 columns as many as they need.
    assert len(lines) <= LINES + 4 or width < WIDTH
    assert max(map(cells, lines)) <= width


def test_all_classes_are_shown_if_they_are_asked_for():
    tables = classes_of(50)
    few, every = (render([evaluate(*tables)], by_class=each) for each in (False, True))
    assert re.findall(r"class 0000\d\d", few) == ["class 000045", "class 000046", "class 000047"]
    assert [f"class {k:06}" in every for k in range(50)] == [True] * 50
    assert every.index("class 000049") < every.index("class 000044") < every.index("class 000001")


def test_numbers_are_those_of_the_scores():
    """Every number of the averages is that of JSON, with three decimals."""
    scores, text = evaluate(REFERENCE, SYSTEM), of_sample()
    row = text.splitlines()[6].split()
    assert row[:3] == ["hard", ">", "0.5"]
    expected = [f"segment.hard.{m}.macro" for m in ("f1", "precision", "recall")]
    expected += [f"segment.hard.{m}.micro" for m in ("f1", "precision", "recall", "error_rate")]
    assert row[3:] == [f"{scores[name]:.3f}".removeprefix("0") for name in expected]


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_without_values_show_hard_scores_only(form):
    plain, valued = EVENTS, EVENTS.assign(value=0.5)
    assert "soft" not in re.sub("soft-sed-eval", "", render([evaluate(plain, plain)], form))
    asked = evaluate(plain, plain, only=("segment.hard", "segment.soft"))
    for scores in (evaluate(plain, valued), evaluate(valued, plain), asked):
        assert "soft" in re.sub("soft-sed-eval", "", render([scores], form))


@pytest.mark.parametrize(("threshold", "table"), [(0.1, 0.2), (0.5, 0.2), (0.6, 0.6), (0.99, 0.6)])
def test_operating_points_show_which_table_is_hard(threshold, table):
    """The hard reading of the screen is what its table scores alone."""
    scores = evaluate(EVENTS, POINTS, threshold=threshold)
    assert f"event  hard, table {table} " in render([scores])
    assert scores["event.hard.f1.micro"] == evaluate(EVENTS, POINTS[table])["event.hard.f1.micro"]
    assert "soft" not in re.sub("soft-sed-eval", "", of_tables(EVENTS, {0.6: EVENTS}))


def test_macro_averages_are_over_the_classes_that_the_reading_has():
    scores = evaluate(*(pd.DataFrame(rows, columns=HEAD) for rows in MISSED))
    assert scores.macro_classes == scores.to_dict()["systems"][0]["macro_classes"]
    assert scores.macro_classes == {
        f"{basis}.{reading}": 4 if reading == "soft" else 3
        for basis in ("segment", "event") for reading in ("hard", "optimal", "soft")
    }  # fmt: skip


def test_one_score_is_named_first_and_its_row_precedes_all_others():
    """The score that ranks, else F1 of segments in the reading that fits the reference."""
    scores = evaluate(REFERENCE, SYSTEM)
    plain = pd.read_csv(REFERENCE, sep="\t").drop(columns="soft_value")
    hard = evaluate(plain, SYSTEM)
    for shown, name, row in (
        (scores, "segment.soft.f1.macro", "segment  soft "),
        (evaluate(REFERENCE, SYSTEM, rank_by="event.soft.f1.micro"), "event.soft.f1.micro", "event    soft "),
        (evaluate(REFERENCE, SYSTEM, only="event"), "event.soft.f1.macro", "event  soft "),
        (hard, "segment.hard.f1.macro", "segment  hard > 0.5 "),
    ):
        lines = str(shown).splitlines()
        assert lines[2].split()[:2] == [name, f"{shown[name]:.3f}".removeprefix("0")]
        assert lines[5].startswith(row)
    of_hard = str(hard).splitlines()
    assert [line[9:14].strip() for line in of_hard[5:8]] == ["hard", "optim", "soft†"]
    assert any(line.startswith("† the reference has no values") for line in of_hard)


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
    assert np.char.count(of_tables(*classes_of(3), color=True), "\x1b") > 10
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in of_tables(*classes_of(3), color=True)


@pytest.mark.parametrize(("n_systems", "n_classes"), [(1, 6), (1, 60), (3, 17), (10, 60)])
def test_what_is_shown_does_not_depend_on_the_width_but_for_what_a_line_names(n_systems, n_classes):
    """Scores, intervals and p-values at 80 columns are those at 120, but for the columns that are named."""
    reference, system = classes_of(n_classes)
    chosen = {"only": ("segment", "event"), "replicates": 20}
    if n_systems == 1:
        board, systems = None, [evaluate(reference, system, ci="bootstrap", **chosen)]
    else:
        worse = {f"system {k}": system.assign(value=system["value"] - k / 40) for k in range(n_systems)}
        board = compare(reference, worse, **chosen)
        systems = board.systems
    for by_class in (False, True):
        shown = {}
        for width in (80, 120):
            text = render(systems, board=board, width=width, by_class=by_class)
            assert max(map(cells, text.splitlines())) <= width
            named = " ".join(re.findall(r"^no room here for [^:]*", text, re.MULTILINE))
            shown[width] = {*re.findall(r"(?<![\w.])[-+]?\d*\.\d+", text)}, named
            labels = re.findall(r"^class \d+", text, re.MULTILINE)
            assert len(labels) == (n_classes if by_class else 0 if n_systems == 1 else min(6, n_classes))
        (narrow, left), (wide, _) = shown[80], shown[120]
        assert narrow <= wide
        assert narrow == wide or left


# Of several systems.

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


def str_of(board, **how):
    return re.sub(r"\x1b\[[0-9;]*m", "", render(board.systems, board=board, **how))


SHAPES = [
    {"n_systems": 9, "n_classes": 12},
    {"n_systems": 12, "n_classes": 50, "name": LONG, "replicates": 20},
    {"n_classes": 1},
    {"n_files": 1},
    {"name": HOSTILE, "classes": ["\x1b[2J", "鳥の声" * 20, "a\u0301" * 50]},
    {"only": ["all"], "psds": "dcase-psds1", "n_systems": 2, "n_files": 3, "replicates": 2},
    {"only": ["segment", "event", "clip", "intersection", "ranking"], "n_systems": 8, "replicates": 20},
    {"n_systems": 12, "baseline": "system 11"},
]


@pytest.mark.parametrize(
    "shape",
    [pytest.param(of, marks=[pytest.mark.slow] * ("only" in of or "name" in of)) for of in SHAPES],
    ids=str,
)
def test_a_board_of_any_width_is_short(shape):
    board = made(**shape)
    for width, color in ((60, True), (80, False), (140, False)):
        shown = str_of(board, width=width, color=color).splitlines()
        # Nothing is left out: eight systems in five bases take the most, and letters some columns.
        assert len(shown) <= (43 if width > 60 else 47)
        assert sum(line.startswith("no room here") for line in shown) <= 1
        assert max(map(cells, shown)) <= width
        assert all(line.isprintable() for line in shown)
    whole = str_of(board).splitlines()
    # The score that ranks, of each system that is shown, and all of its digits.
    assert board.rank_by in whole[2]
    for entry in board.entries[:8] if board.baseline is None else (board.entries[0], board.entries[-1]):
        value = f"{entry.value:.3f}".removeprefix("0")
        assert any(re.match(rf" *{entry.place}  .* {value}\b", line) for line in whole), entry


def test_classes_in_which_systems_differ_most_come_first_and_letters_are_those_of_the_board():
    rng = np.random.default_rng(0)
    reference = rng.random((6, 20, 3))
    systems = {"a": reference, "b": reference * [1.0, 0.0, 0.8]}
    board = compare(reference, systems, classes=["x", "y", "z"], only=["segment"], replicates=50)
    lines = str_of(board).splitlines()
    at = lines.index(next(line for line in lines if line.startswith("F1 by class")))
    assert [line[0] for line in lines[at + 1 : at + 4]] == ["y", "z", "x"]
    assert lines[at + 1].split() == ["y", "1.000", ".000"]
    board = made(4, worse=0.1)
    ranking = [line.split() for line in str_of(board).splitlines()[6:10]]
    assert [(row[0], row[-1]) for row in ranking] == [(str(e.place), e.letters) for e in board.entries]
    assert str_of(board, width=80, color=True) == render(board.systems, board=board, width=80)


def test_what_was_not_tested_ties_with_nobody(tmp_path):
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for path in (SYSTEM, OTHER):
        shutil.copy(path, submissions)
    how = {"reports": False, "ties": "none", "only": ["segment.soft"]}
    board = build_site(submissions, REFERENCE, tmp_path / "site", **how).board
    assert not re.search(r"(?m) (a|b|ab)$", str_of(board))
    # A site keeps no scores of classes, and neither screen needs them.
    assert "by class" not in str(board) + str(board["sys_b"])


if __name__ == "__main__":
    from test_golden import FOLDER as PAGES
    from test_golden import OUTPUTS

    for page, output in OUTPUTS.items():
        (PAGES / page).write_text(output(), encoding="utf-8", newline="")
    for name, screen in SCREENS.items():
        if name != "hard" or DCASE.exists():
            (FOLDER / f"{name}.txt").write_text(screen(), encoding="utf-8")
