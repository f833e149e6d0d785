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

from sedeval_soft import SettingsError, plot
from sedeval_soft.apps.plots.layout import plain
from sedeval_soft.apps.plots.style import Look, drawn_as


@pytest.mark.parametrize(
    ("look", "size", "points"),
    [
        ({}, (3.5, None), 8),
        ({"width": "double"}, (7.16, None), 8),
        ({"width": 5, "height": 2.5}, (5, 2.5), 8),
        ({"style": "talk"}, (8, None), 16),
        ({"style": "poster"}, (12, None), 26),
    ],
)
def test_a_figure_is_as_wide_as_a_column_with_letters_of_its_style(look, size, points):
    figure = plot("pr", REFERENCE, SYSTEM, **look)
    assert all(given in (inches, None) for given, inches in zip(size, figure.get_size_inches(), strict=True))
    assert figure.axes[0].xaxis.label.get_size() == points
    assert min(text.get_size() for text in figure.findobj(mpl.text.Text) if text.get_text()) >= 5.5


def test_a_style_of_matplotlib_by_name_or_file(tmp_path):
    assert plot("matrix", REFERENCE, SYSTEM, style="dark_background").get_facecolor() == (0, 0, 0, 1)
    path = tmp_path / "ours.mplstyle"
    path.write_text("font.size: 5\naxes.labelsize: 12\nbackend: TkAgg\ntext.usetex: True\n")
    label = plot("pr", REFERENCE, SYSTEM, style=str(path)).axes[0].xaxis.label
    assert label.get_size() == 12 and not label.get_usetex(), "a name could give LaTeX orders"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"font.size: huge\n", "cannot be read"),
        (b"root:x:0:0:root:/root:/bin/bash\n", "line 1 is 'root:x:0:0:root"),
        (b"\nfont.sise: 8\n", "line 2 .* did you mean 'font.size'"),
        (b"\xff\xfe\0", "cannot be read"),
    ],
)
def test_a_file_that_is_no_style_is_refused(content, said, tmp_path):
    path = tmp_path / "a.mplstyle"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=said):
        plot("pr", REFERENCE, SYSTEM, style=str(path))


@pytest.mark.parametrize(
    ("look", "said"),
    [
        ({"style": "papr"}, "did you mean 'paper'"),
        ({"style": "http://localhost/x.mplstyle"}, "neither a style nor a file"),
        ({"width": "triple"}, "one of single, double"),
        ({"width": float("nan")}, "in inches must be 1 to 100"),
        ({"dpi": 99.5}, "30 to 2400"),
        ({"title": 3}, "a name"),
    ],
)
def test_looks_that_cannot_be_are_refused(look, said):
    with pytest.raises(SettingsError, match=said):
        plot("pr", REFERENCE, SYSTEM, **look)


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
    assert {*literal, r"\u4eba\u58f0", r"\x1b[31mred", r"\u202eevil"} <= {*found}
    long = [text for text in found if text.startswith("WWW")]
    assert len(long) == len(set(long)) == 2
    assert len({tick.get_text() for tick in figure.axes[0].get_yticklabels()}) == len(HOSTILE) + 1


def test_letters_of_a_font_that_a_style_names_are_not_escaped(tmp_path):
    style, letter = tmp_path / "a.mplstyle", "\u0416"
    # Comes with matplotlib, and has no Cyrillic.
    for fonts, drawn in (("cmss10", r"\u0416"), ("cmss10, DejaVu Sans", letter)):
        style.write_text(f"font.family: {fonts}\n")
        assert drawn in shown(plot("classes", table((letter,)), table((letter,)), style=str(style)))
