"""Tests of every kind of figure; if a figure cannot be drawn, one message reports it and no file changes."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import matplotlib as mpl
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from documents import ROOT
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image
from plotted import HOSTILE, NOTHING, shown, table, texts

from sedeval_soft import EvaluationError, SettingsError, plot
from sedeval_soft.apps.plots.registry import KINDS, OPTIONS, SUFFIXES
from sedeval_soft.apps.plots.run import ORDERS
from sedeval_soft.cli.plot import plot as command

CASES = {
    "hostile": (table(HOSTILE), table(HOSTILE, 5, shift=1)),
    "hard": (table(("a", "b"), hard=True), table(("a", "b"), shift=1)),
    "no system": (table(("a", "b")), {**NOTHING, "filename": ["file0$.wav"]}),
    "no reference": ({**NOTHING, "filename": ["file0$.wav"]}, table(("a", "b"))),
    "nothing": (NOTHING, NOTHING),
    "several": (table(("a", "b")), table(("a", "b"), shift=1), table(("b", "c"), shift=2)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "case"),
    [(kind, case) for kind, case in product(KINDS, CASES) if case != "several" or not KINDS[kind].single],
)
def test_strange_tables_are_drawn(kind, case):
    """Warnings are errors here: a missing glyph, equal limits of an axis, the mean of nothing."""
    reference, *systems = CASES[case]
    figure = plot(kind, reference, *systems, file=reference["filename"][0] if kind == "timeline" else None)
    assert not any(is_math_text(text) for text in texts(figure))
    assert all(text.get_size() >= 6.5 for text in figure.findobj(Text) if text.get_text())
    together = " ".join(shown(figure))
    assert together.replace("\n", "").isprintable()
    assert case != "several" or "system 2" in together
    if case == "hostile":
        # Nothing is cut off, and no two parts overlap.
        drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert -0.02 < drawn.x0 < drawn.x1 < width + 0.02 and -0.02 < drawn.y0 < drawn.y1 < height + 0.02
        parts = [axes.get_tightbbox() for axes in figure.findobj(Axes) if axes.get_visible()]
        parts += [legend.get_window_extent() for legend in figure.findobj(Legend)]
        for one, other in combinations(parts, 2):
            both = Bbox.intersection(one, other)
            assert both is None or min(both.width, both.height) < 1.5, (one, other)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].single])
def test_a_figure_of_one_system_has_no_more(kind):
    with pytest.raises(SettingsError, match="one system"):
        plot(kind, *CASES["several"])


def test_the_same_call_gives_the_same_bytes_whatever_the_time_and_matplotlib_was_told(tmp_path, monkeypatch):
    other = {"font.size": 30, "text.parse_math": False, "axes.facecolor": "red", "svg.fonttype": "none"}
    data = {}
    for (time, told), suffix in product(((1e9, {}), (1.001e9, other)), SUFFIXES):
        path = tmp_path / f"figure.{suffix}"
        monkeypatch.setattr("time.time", lambda time=time: time)
        with mpl.rc_context(told):
            before = dict(mpl.rcParams)
            plot("pr", REFERENCE, SYSTEM, output=path, only="segment.hard", segment_length=2.0)
            assert dict(mpl.rcParams) == before
        assert data.setdefault(suffix, path.read_bytes()) == path.read_bytes()
    pdf = data["pdf"]
    assert b"/Type3" not in pdf and b"/CIDFontType2" in pdf and b"CreationDate" not in pdf
    assert b"<dc:date>" not in data["svg"] and b"soft-sed-eval" in pdf
    with Image.open(tmp_path / "figure.png") as image:
        told = image.info["Description"]
    assert "segment_length=2.0" in told and "reference:sha256=" in told


REFUSED = {
    "pie": "KIND",
    "pr --file cafe.wav": "--file",
    "classes --score event.hard.f1@onset_collar=1": "--score",
    "pr --ci": "intervals",
    "matrix --replicates 9": "--replicates",
    "roc --only event": "--only",
    "matrix --score f1": "--score",
    "classes --score segment.hard.f1.macro": "--score",
    "classes --score segment.tuned.f1": "tuned",
    "pr --class cars": "did you mean 'car'?",
    "confusion --sort score": "--sort",
    "timeline": "--file",
    "timeline --file cafe.wa": "did you mean 'cafe.wav'",
    "timeline --file cafe.wav --start 99": "--start",
    "pr --name a --name b": "expected 1",
    "pr OTHER --name x --name x": "'x'",
    "pr --width 1 --height 1": "--width",
    "matrix --width 100 --height 100 --dpi 2400": "--dpi",
    "pr -o figure.jpg": ".pdf, .png, .svg",
    "pr -o -": ".pdf, .png, .svg",
    "pr - -": "standard input",
}


@pytest.mark.parametrize("line", REFUSED)
def test_calls_that_cannot_be_drawn_are_refused(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("figure.pdf").write_text("as it was")
    kind, *rest = (OTHER if word == "OTHER" else word for word in shlex.split(line))
    output = () if "-o" in rest else ("-o", "figure.pdf")
    done = call("plot", kind, REFERENCE, SYSTEM, *output, *rest)
    assert (done.code, done.out) == (2, "") and REFUSED[line] in done.err
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"figure.pdf": "as it was"}


def test_inputs_are_not_replaced_and_systems_of_one_name_are_told_apart(tmp_path):
    path = Path(shutil.copy(OTHER, tmp_path / "sys.svg"))
    for systems in ([path], [SYSTEM, path], [path, SYSTEM]):
        assert call("plot", "pr", REFERENCE, *systems, "-o", path).code == 2
    assert path.read_text() == Path(OTHER).read_text()
    (legend,) = plot("pr", REFERENCE, SYSTEM, path).legends
    assert len({text.get_text() for text in legend.get_texts()}) == 2


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_warnings_and_the_draft_of_a_caption_are_on_standard_error(tmp_path, options):
    path = tmp_path / "strange.tsv"
    path.write_text("filename\tonset\toffset\tevent_label\nx.wav\t0\t1\tcar\n")
    done = call("plot", "matrix", REFERENCE, path, "-o", tmp_path / "a.png", *options)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("warning: ") == ("\ncaption: " in done.err) == bool(done.err) == (not options)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("prr", {}, "did you mean 'pr'"),
        ("pr", {"names": 5}, "names"),
        ("classes", {"scores": [None]}, "scores"),
        ("pr", {"clas": "car"}, "did you mean 'classes'"),
        ("timeline", {"file": "cafe.wav", "start": "3"}, "start"),
        ("classes", {"sort": "random"}, "sort"),
        ("pr", {"width": "triple"}, "width"),
        ("pr", {"width": float("nan")}, "width"),
        ("pr", {"dpi": 99.5}, "dpi"),
        ("classes", {"class_names": "car", "height": 101}, "height"),
    ],
)
def test_calls_of_the_library_are_refused(kind, given, said):
    with pytest.raises(SettingsError, match=said):
        plot(kind, REFERENCE, SYSTEM, **given)
    with pytest.raises(SettingsError, match="one or more systems"):
        plot("pr", REFERENCE)


def test_operating_points_have_event_based_curves():
    events = str(SAMPLES / "events.tsv")
    assert plot("psd-roc", events, {0.3: events, 0.6: events}).axes
    with pytest.raises(EvaluationError):
        plot("roc", events, {0.3: events, 0.6: events})


def test_the_command_and_the_page_on_figures_have_each_kind_and_option():
    assert {name for kind in KINDS.values() for name in kind.options} == {*OPTIONS}
    parameters = {parameter.name: parameter for parameter in command.params}
    assert {name: parameters[name].opts for name in OPTIONS} == {name: [OPTIONS[name]] for name in OPTIONS}
    assert tuple(parameters["sort"].type.choices) == ORDERS
    text = (ROOT / "docs" / "reference" / "plots.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\$ soft-sed-eval plot (\S+) ", text, re.MULTILINE)} == {*KINDS}


# Sizes, styles and letters; settings from elsewhere have no effect.


def test_a_figure_is_as_wide_as_two_columns_or_as_it_is_said():
    double = plot("classes", REFERENCE, SYSTEM, width="double").get_size_inches()
    said = plot("classes", REFERENCE, SYSTEM, width=5, height=2.5).get_size_inches()
    assert (double[0], *said) == (7.16, 5, 2.5)


@pytest.mark.slow
def test_a_bare_machine_draws_without_display_or_pyplot_and_tells_nothing(tmp_path):
    (tmp_path / "matplotlibrc").write_text("nonsense\nbackend: none such\nfont.size: 40\n")
    unset = ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "DISPLAY")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in unset},
        "HOME": "/proc/nothing",
        "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
    }
    code = (
        "import sys; import sedeval_soft\n"
        f"sedeval_soft.plot('matrix', {REFERENCE!r}, {SYSTEM!r}, output={str(tmp_path / 'a.png')!r})\n"
        "print('matplotlib.pyplot' in sys.modules, 'tkinter' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "False False\n", "")


def test_hostile_names_are_all_in_the_figure_letter_by_letter():
    (axes,) = plot("classes", table(HOSTILE), table(HOSTILE), width=7).axes
    found = {tick.get_text().replace(r"\$", "$") for tick in axes.get_yticklabels()}
    literal = {"$x^2$", "a$b", r"a\$b", "<script>alert(1)</script>", "{}%s\\", "_^"}
    assert {*literal, r"\x1b[31mred", r"\u202eevil"} <= found and len(found) == len(HOSTILE) + 1
    assert sum(text.startswith("WWW") for text in found) == 2
