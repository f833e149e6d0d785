"""Sizes, styles, letters, and that nothing from elsewhere counts."""

from __future__ import annotations

import os
import subprocess
import sys

import matplotlib as mpl
import pytest
from called import REFERENCE, SYSTEM
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from plotted import HOSTILE, shown, table

from sedeval_soft import plot
from sedeval_soft.apps.plots.layout import plain
from sedeval_soft.apps.plots.style import Look, drawn_as


@pytest.mark.parametrize(
    ("look", "size"),
    [({}, (3.5, None)), ({"width": "double"}, (7.16, None)), ({"width": 5, "height": 2.5}, (5, 2.5))],
)
def test_a_figure_is_as_wide_as_a_column(look, size):
    figure = plot("pr", REFERENCE, SYSTEM, **look)
    assert all(given in (inches, None) for given, inches in zip(size, figure.get_size_inches(), strict=True))


def test_what_matplotlib_was_told_elsewhere_neither_counts_nor_is_changed(tmp_path):
    paths = tmp_path / "a.svg", tmp_path / "b.svg"
    plot("pr", REFERENCE, SYSTEM, output=paths[0])
    other = {"font.size": 30, "text.parse_math": False, "lines.linewidth": 9, "svg.fonttype": "none"}
    with mpl.rc_context(other):
        before = dict(mpl.rcParams)
        plot("pr", REFERENCE, SYSTEM, output=paths[1])
        assert dict(mpl.rcParams) == before
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_bare_machine_draws_without_display_or_pyplot_and_tells_nothing(tmp_path):
    (tmp_path / "matplotlibrc").write_text("nonsense\nbackend: none such\nfont.size: 40\n")
    unset = ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"HOME": "/proc/nothing", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}
    code = (
        "import sys; import sedeval_soft\n"
        f"sedeval_soft.plot('matrix', {REFERENCE!r}, {SYSTEM!r}, output={str(tmp_path / 'a.png')!r})\n"
        "print('matplotlib.pyplot' in sys.modules, 'tkinter' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False False\n", "")


@given(st.text())
def test_no_name_is_a_formula_and_all_can_be_drawn(name):
    with drawn_as(Look()):
        drawn = plain(name)
    assert not is_math_text(drawn)
    assert drawn.replace(r"\$", "$").isprintable()


def test_hostile_names_are_all_in_the_figure_letter_by_letter():
    figure = plot("classes", table(HOSTILE), table(HOSTILE), width=7)
    found = shown(figure)
    literal = {"$x^2$", "a$b", r"a\$b", "<script>alert(1)</script>", "{}%s\\", "_^"}
    assert {*literal, r"\x1b[31mred", r"\u202eevil"} <= {*found}
    long = [text for text in found if text.startswith("WWW")]
    assert len(long) == len(set(long)) == 2
    assert len({tick.get_text() for tick in figure.axes[0].get_yticklabels()}) == len(HOSTILE) + 1
