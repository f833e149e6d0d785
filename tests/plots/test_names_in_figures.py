"""Names in figures are shown as they are, never obeyed, and never wider than their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from plotted import HOSTILE, shown, table

from sedeval_soft import plot
from sedeval_soft.plots.data import joined
from sedeval_soft.plots.figure import ELLIPSIS, all_shortened, plain, shortened, text_width, wrapped
from sedeval_soft.plots.style import Look, drawn_as


@pytest.fixture(autouse=True)
def paper():
    with drawn_as(Look()):
        yield


def as_drawn(text):
    """Return the letters that matplotlib draws of a text."""
    return text.replace(r"\$", "$") if not is_math_text(text) else None


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        *(
            (name, name)
            for name in ("car", "$x^2$", "a$b", r"a\$b", "_^{}%s\\", "<b>", "\u00e9t\u00e9", "a, b")
        ),
        *(("\x1b[31m", r"\x1b[31m"), ("a\nb", r"a\nb"), ("\u202eevil", r"\u202eevil"), ("\u4eba", r"\u4eba")),
    ],
)
def test_a_name_is_drawn_letter_by_letter(name, seen):
    assert as_drawn(plain(name)) == seen


@given(st.text())
def test_no_name_is_a_formula_and_all_can_be_drawn(name):
    with drawn_as(Look()):
        drawn = as_drawn(plain(name))
    assert drawn is not None
    assert drawn.isprintable()


@pytest.mark.parametrize("name", ["people talking", "WWW", "iii", "a$b", "\u00e9t\u00e9 1.5 %"])
def test_width_is_that_of_what_is_drawn(name):
    drawn = as_drawn(plain(name))
    found, _, _ = text_to_path.get_text_width_height_descent(drawn, FontProperties(size=7), ismath=False)
    assert text_width(plain(name), 7) == pytest.approx(found, abs=0.02)


@given(st.text(max_size=400), st.floats(20, 200))
def test_what_is_shortened_fits(name, points):
    with drawn_as(Look()):
        cut = shortened(name, points)
        assert text_width(cut) <= points or len(cut) <= 21  # a letter of each end, and each may be an escape
        assert cut == plain(name) or ELLIPSIS in cut


def test_names_that_look_alike_when_cut_are_numbered():
    names = ["W" * 300, "W" * 301, "short", "short"]
    cut = all_shortened(names, 60)
    assert cut[0] != cut[1]
    assert [text.rsplit(" ")[-1] for text in cut[:2]] == ["(1)", "(2)"]
    assert cut[2:] == ["short", "short"]
    assert all(text_width(text) <= 60 for text in cut)


def test_an_endless_name_takes_no_time_and_no_place():
    assert text_width(shortened("x$" * 500_000, 50)) <= 50


def test_lines_are_broken_between_words():
    lines = wrapped("No reference: " + ", ".join(f"class {k}" for k in range(40)), 200)
    assert len(lines) > 3
    assert all(text_width(line) <= 200 for line in lines)
    assert joined([str(k) for k in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"


def test_letters_of_a_font_that_a_style_names_are_not_escaped(tmp_path):
    style = tmp_path / "a.mplstyle"
    style.write_text("font.family: cmss10\n")  # comes with matplotlib, and has no Cyrillic
    letter = "\u0416"
    with drawn_as(Look(style=str(style))):
        assert plain(letter) == r"\u0416"
    style.write_text("font.family: cmss10, DejaVu Sans\n")
    with drawn_as(Look(style=str(style))):
        assert plain(letter) == letter
    figure = plot("classes", table((letter,)), table((letter,)), style=str(style))
    assert letter in shown(figure)


def test_hostile_names_are_all_in_the_figure():
    figure = plot("classes", table(HOSTILE), table(HOSTILE), width=7)
    found = shown(figure)
    for name in (
        "$x^2$",
        "a$b",
        r"a\$b",
        "<script>alert(1)</script>",
        r"\u4eba\u58f0",
        r"\x1b[31mred",
        "{}%s\\",
    ):
        assert name in found
    long = [text for text in found if text.startswith("WWW")]
    assert len(long) == len(set(long)) == 2
    assert len(np.unique([tick.get_text() for tick in figure.axes[0].get_yticklabels()])) == len(HOSTILE) + 1
