"""Names in figures are shown as they are, never obeyed, and never wider than their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from plotted import HOSTILE, shown, table

from sedeval_soft import plot
from sedeval_soft.plots.figure import plain
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
