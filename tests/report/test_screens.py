"""The screen that a person sees first: as it was, within its lines and cells, and whatever the data.

Run as a program it writes the golden files anew, where ../shared is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen_is_as_it_was(name):
    if name == "hard" and not DCASE.exists():
        pytest.skip("needs ../shared/data/dcase2019_task4, which is not part of a checkout")
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert SCREENS[name]() == text, "if this is wanted: python tests/report/test_screens.py"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_screens_fit(path):
    width = int(path.stem.partition("-")[2]) if path.stem.startswith("width") else WIDTH
    lines = re.sub("\x1b\\[[0-9;]*m", "", path.read_text(encoding="utf-8")).splitlines()
    assert len(lines) <= LINES
    assert max(map(cells, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


MADE = (build, with_intervals, with_folds, with_worst, with_sections, of_runs)
NAMES = st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=0, max_size=30, unique=True)


@settings(max_examples=60, deadline=None)
@given(NAMES, st.sampled_from(MADE[1:]), st.integers(60, 200), st.booleans())
def test_whatever_there_is_fits(names, made, width, color):
    text = render([made(build(tuple(names)))], width=width, color=color)
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).splitlines()
    # Notes with names of up to 40 letters take some lines more.
    assert len(lines) <= LINES + 4
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
    # The reference is binarised if it has values; one point alone has one reading.
    valued = evaluate(EVENTS.assign(value=1.0), POINTS, threshold=threshold)
    assert f"for {table}, the reference active above" in render([valued], words=True)
    assert "soft" not in re.sub("soft-sed-eval", "", of_tables(EVENTS, {0.6: EVENTS}))


def test_classes_that_are_not_detected_are_named_with_the_reason():
    head = ["filename", "onset", "offset", "event_label", "value"]
    ours = [("a", 0, 2, "low", 1), ("a", 3, 5, "none", 1), ("a", 6, 8, "zero", 1), ("a", 8, 9, "faint", 0.4)]
    theirs = [
        ("a", 0, 2, "low", 0.4),
        ("a", 6, 8, "zero", 0),
        ("a", 8, 9, "faint", 0.9),
        ("a", 9, 9.5, "more", 1),
    ]
    tables = (pd.DataFrame(ours, columns=head), pd.DataFrame(theirs, columns=head))
    left_out = "left out of macro averages"
    for chosen, lines in (
        ({}, ["! low: no value above 0.5", "! none, zero: not in the output",
              "faint: no reference value above 0.5; left out of hard and optimal",
              f"more: not in the reference; {left_out}",
              "macro averages: hard and optimal over 3 classes, soft over 4 classes"]),
        ({"inclusive": True, "pool": "mean", "threshold": 1},
         ["! low: no mean value of at least 1"]),
        ({"threshold": 1},
         ["faint, low, none, zero: no reference value above 1; left out of hard and optimal"]),
        ({"only": "segment.soft"}, [f"more: not in the reference; {left_out}",
                                    "macro averages: soft over 4 classes"]),
        # Where nothing is compared uncut, a value below the threshold is not told from none.
        ({"only": "event.hard"}, ["! low, none, zero: no value above 0.5"]),
        ({"min_duration": 3, "only": "segment"},
         ["! low, none, zero: not in the processed output"]),
        ({"classes": "low", "only": "segment"}, ["low: no value above 0.5"]),
    ):  # fmt: skip
        text = render([evaluate(*tables, **chosen)], by_class=True)
        assert set(lines) <= {*text.splitlines()}, text
        assert "left out" in text or "faint" not in text
    scores = evaluate(*tables)
    assert scores.macro_classes == scores.to_dict()["systems"][0]["macro_classes"]
    assert scores.macro_classes == {
        f"{basis}.{reading}": 4 if reading == "soft" else 3
        for basis in ("segment", "event") for reading in ("hard", "optimal", "soft")
    }  # fmt: skip
    many = pd.DataFrame([("a", k, k + 1, f"class {k}", 1) for k in range(30)], columns=head)
    text = of_tables(many, many[:0])
    assert "(segment, soft): class 0 .000 (1 segment, not in the output), class 1" in " ".join(text.split())
    assert re.search(r"^! class .* and \d\d more: not in the output$", text, re.MULTILINE)


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
           12.345: "12.35", 99.996: "100.0", None: "-", 12345.6: "12346", 0: ".000"}  # fmt: skip
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


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, screen in SCREENS.items():
        if name != "hard" or DCASE.exists():
            (FOLDER / f"{name}.txt").write_text(screen(), encoding="utf-8")


def test_class_that_lowers_the_optimal_micro_average_is_named():
    """The class "often" is always right; "rare" is best where it is taken for always active.

    Hard: TP 50 of 52 + 50, F 100/102. Optimal: of "rare" F is 2 * 2 / (2 + 100) below 0.2, so TP 52 of
    52 + 150, F 104/202.
    """
    reference = [("a", k, k + 1, "often", 1.0) for k in range(50)] + [("a", 3, 5, "rare", 1.0)]
    system = [("a", 0, 50, "often", 0.9), ("a", 0, 100, "rare", 0.2)]
    head = ["filename", "onset", "offset", "event_label", "value"]
    tables = [pd.DataFrame(rows, columns=head) for rows in (reference, system)]
    text = " ".join(of_tables(*tables, only=("segment",)).split())
    note = (
        "! segment: optimal micro F1 .515 is below hard .980: rare has 98 false alarms at its best threshold"
    )
    assert f"{note} (F1 .039), 0 in the hard reading" in text
    assert "is below hard" not in of_sample()


def test_small_values_that_make_soft_f_low_are_named():
    """In each of ten seconds "a" is right with 1; "b", silent in nine, has 0.3 in them, and 1 in its own.

    Of "b" soft TP is 1 of 1 and 1 + 9 * 0.3: P 1/3.7, F 2/4.7. Of "a" 1: the mean of P is .635.
    """
    head = ["filename", "onset", "offset", "event_label", "value"]
    right = [("f", 0, 10, "a", 0.9), ("f", 9, 10, "b", 1.0)]
    system = pd.DataFrame([*right, ("f", 0, 9, "b", 0.3)], columns=head)
    reference = pd.DataFrame(right, columns=head)
    assert "many small values" not in of_tables(reference, system, only=("segment",))
    text = " ".join(of_tables(reference, system, only=("segment",), classes=("b",)).split())
    said = "segment: many small values of the system add up to false alarms in the soft reading"
    assert f"{said} (P .270, F1 .426); a threshold removes them (optimal F1 1.000)" in text


@pytest.mark.parametrize("n_classes", [6, 17, 60])
@pytest.mark.parametrize("n_systems", [1, 3, 10])
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
