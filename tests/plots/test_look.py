"""Sizes, styles, and that nothing from elsewhere counts."""

from __future__ import annotations

import os
import subprocess
import sys

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb
from plotted import REFERENCE, SYSTEM

from sedeval_soft import SettingsError, plot
from sedeval_soft.plots.style import COLOURS, FALSE_ALARM, HIT, MISS, Look


def size(**look):
    return tuple(plot("pr", REFERENCE, SYSTEM, **look).get_size_inches())


def test_a_figure_is_as_wide_as_a_column():
    assert size()[0] == 3.5
    assert size(width="double")[0] == 7.16
    assert size(width=5)[0] == 5
    assert size(height=2.5) == (3.5, 2.5)
    assert plot("timeline", REFERENCE, SYSTEM, file="cafe.wav").get_size_inches()[0] == 7.16


def test_letters_of_a_paper_have_eight_points_and_none_is_too_small_to_be_read():
    figure = plot("classes", REFERENCE, SYSTEM)
    (axes,) = figure.axes
    assert axes.xaxis.label.get_size() == 8
    for kind in ("pr", "classes", "confusion", "timeline", "matrix", "worst"):
        figure = plot(kind, REFERENCE, SYSTEM, **({"file": "cafe.wav"} if kind == "timeline" else {}))
        sizes = [text.get_size() for text in figure.findobj(mpl.text.Text) if text.get_text()]
        assert min(sizes) >= 5.5, kind


@pytest.mark.parametrize(("style", "points", "width"), [("talk", 16, 8), ("poster", 26, 12)])
def test_talks_and_posters_are_larger(style, points, width):
    figure = plot("pr", REFERENCE, SYSTEM, style=style)
    assert figure.axes[0].xaxis.label.get_size() == points
    assert figure.get_size_inches()[0] == width
    assert figure.axes[0].get_lines()[-1].get_linewidth() > 3


def test_a_style_of_matplotlib_by_name_or_file(tmp_path):
    assert plot("matrix", REFERENCE, SYSTEM, style="dark_background").get_facecolor() == (0, 0, 0, 1)
    path = tmp_path / "ours.mplstyle"
    path.write_text("font.size: 5\naxes.labelsize: 12\nbackend: TkAgg\ntext.usetex: True\n")
    figure = plot("pr", REFERENCE, SYSTEM, style=str(path))
    assert figure.axes[0].xaxis.label.get_size() == 12
    assert not figure.axes[0].xaxis.label.get_usetex(), "a name could give LaTeX orders"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("this is no style\n", "cannot be read"),
        ("font.size: huge\n", "cannot be read"),
        ("root:x:0:0:root:/root:/bin/bash\n", "line 1 is 'root:x:0:0:root"),
        ("\nfont.sise: 8\n", "line 2 .* did you mean 'font.size'"),
        (b"\xff\xfe\0", "cannot be read"),
    ],
)
def test_a_file_that_is_no_style_is_refused(content, said, tmp_path):
    path = tmp_path / "a.mplstyle"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingsError, match=said):
        plot("pr", REFERENCE, SYSTEM, style=str(path))


@pytest.mark.parametrize(
    ("look", "said"),
    [
        ({"style": "papr"}, "did you mean 'paper'"),
        ({"style": "http://localhost/x.mplstyle"}, "neither a style nor a file"),
        ({"width": "triple"}, "single or double"),
        ({"width": 0}, "1 to 100 inches"),
        ({"width": float("nan")}, "1 to 100 inches"),
        ({"height": 1e9}, "1 to 100 inches"),
        ({"height": True}, "1 to 100 inches"),
        ({"dpi": 1}, "30 to 2400"),
        ({"dpi": 99.5}, "30 to 2400"),
        ({"title": 3}, "a text"),
        ({"style": ""}, "a style"),
    ],
)
def test_looks_that_cannot_be_are_refused(look, said):
    with pytest.raises(SettingsError, match=said):
        Look(**look) if "style" not in look or not look["style"] else plot("pr", REFERENCE, SYSTEM, **look)


def test_what_matplotlib_was_told_elsewhere_neither_counts_nor_is_changed(tmp_path):
    paths = tmp_path / "a.svg", tmp_path / "b.svg"
    plot("pr", REFERENCE, SYSTEM, output=paths[0])
    with mpl.rc_context(
        {"font.size": 30, "text.parse_math": False, "lines.linewidth": 9, "svg.fonttype": "none"}
    ):
        before = dict(mpl.rcParams)
        plot("pr", REFERENCE, SYSTEM, output=paths[1])
        assert dict(mpl.rcParams) == before
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_no_display_and_no_pyplot_are_needed(tmp_path):
    code = (
        "import os, sys; os.environ.pop('DISPLAY', None); os.environ['MPLBACKEND'] = 'TkAgg'\n"
        "import sedeval_soft\n"
        f"sedeval_soft.plot('pr', {REFERENCE!r}, {SYSTEM!r}, output={str(tmp_path / 'a.png')!r})\n"
        "print('matplotlib.pyplot' in sys.modules, 'tkinter' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "False False\n"


def test_a_home_that_cannot_be_written_and_a_strange_matplotlibrc_are_not_told(tmp_path):
    (tmp_path / "matplotlibrc").write_text("nonsense\nbackend: none such\nfont.size: 40\n")
    environment = {**os.environ, "HOME": "/proc/nothing", "MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}
    environment.pop("MPLCONFIGDIR", None)
    environment.pop("XDG_CONFIG_HOME", None)
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sedeval_soft", "plot", "matrix", REFERENCE, SYSTEM),
            "-o",
            tmp_path / "a.png",
        ],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    assert (done.stdout, done.stderr) == ("", "")


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_stand_out_from_paper_and_verdicts_from_one_another_in_grey():
    for colour in (*COLOURS, HIT, MISS, FALSE_ALARM):
        assert 1.05 / (luminance(colour) + 0.05) > 1.8, colour
    grey = sorted(map(luminance, (HIT, MISS)))
    assert (grey[1] + 0.05) / (grey[0] + 0.05) > 1.3
