"""What is lost where a form cannot hold all, by examples worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn import facts
from tables import long_rows, wide_rows

from sedeval_soft.errors import InputError
from sedeval_soft.tables.fit import fit, fold, unfold
from sedeval_soft.tables.forms import form_of


def test_steps_are_between_all_boundaries_and_take_the_largest_value():
    car = [("f", 0.0, 2.0, "car", 0.5), ("f", 1.0, 3.0, "car", 0.25)]
    dog = [("f", 1.0, 2.0, "dog", 1.0), ("f", 5.0, 6.0, "dog", 0.75), ("f", 6.0, 6.0, "dog", 0.75)]
    rows = long_rows(car + dog)
    wide, losses = fold(rows)
    cells = [(0.0, 1.0, 0.5, 0.0), (1.0, 2.0, 0.5, 1.0), (2.0, 3.0, 0.25, 0.0), (5.0, 6.0, 0.0, 0.75)]
    assert facts(wide)[1] == [("f", b, e, (("car", car), ("dog", dog))) for b, e, car, dog in cells]
    assert losses == [
        "1 row without length",
        "1 overlap of rows of one class, which takes the largest value",
        "2 rows that are cut where others begin or end",
        "3 cells of classes without row, which become values of 0",
    ]
    whole, _ = fold(rows, gaps=False)
    assert whole.onset.tolist() == [0.0, 1.0, 2.0, 3.0, 5.0]
    assert whole.values[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.75]


def test_frames_made_long_and_wide_again_are_what_they_were():
    rows = wide_rows(np.array([[0.25, 0.0], [0.5, 1.0], [0.0, 0.75], [1.0, 0.1]]), 0.1, files=2)
    long = unfold(rows)
    assert len(long) == 8
    back, losses = fold(long)
    assert losses == []
    assert facts(back) == facts(rows)


def test_frames_that_miss_one_another_by_a_digit_are_made_to_touch():
    rows = wide_rows(np.array([[0.25], [0.5], [0.0], [1.0]]), 0.1)
    assert fit(rows, form_of("score-dir")).losses == ()
    rows = replace(rows, onset=np.array([0.0, 0.1, 0.2, 0.3]))
    assert rows.onset[3] != rows.offset[2]
    made = fit(rows, form_of("score-dir"))
    assert made.losses == ("1 row with times finer than a microsecond, which are rounded",)
    assert made.rows.offset.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert fit(rows, form_of("wide")).losses == ()


def test_steps_in_other_pieces_give_the_same():
    """However few cells are looked at in one go."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, (2, 20, 5, 2), (50, 4)).T.tolist()
    events = zip(*codes, rng.random(50).tolist(), strict=True)
    rows = long_rows([(f"f{f}", float(on), float(on + n), "ab"[c], value) for f, on, n, c, value in events])
    whole = fold(rows)
    pieces = fold(rows, at_once=3)
    assert facts(pieces[0]) == facts(whole[0])
    assert pieces[1] == whole[1]


FEWER = "values of 2 rows: those above 0 become events, and 1 row of value 0 is left out"
BLANKS = "blanks in names of 1 class, which become _: 'car horn'"
CUT = "extensions of audio files in the names of 1 recording"


@pytest.mark.parametrize(
    ("form", "losses"),
    [
        ("long", ()),
        (
            "rttm",
            ("1 recording without rows: 'quiet'", "blanks in names of 1 class, which become _: 'car horn'"),
        ),
        ("sed-eval", (FEWER,)),
        ("elan", (FEWER, "1 row with times finer than 0.001 s, which are rounded", CUT)),
        ("jams", ()),
        ("maestro", (CUT,)),
    ],
)
def test_what_is_lost_is_counted(form, losses):
    rows = [("a.wav", 0.0, 1.2345, "car horn", 0.5), ("a.wav", 1.0, 2.0, "car horn", 0.0)]
    assert fit(long_rows(rows, ["quiet"]), form_of(form), apart=form_of(form).apart).losses == losses


def test_names_that_would_become_one_are_refused():
    rows = long_rows([("f", 0.0, 1.0, "car horn"), ("f", 0.0, 1.0, "car_horn")])
    with pytest.raises(InputError, match="differ in blanks only"):
        fit(rows, form_of("rttm"))
