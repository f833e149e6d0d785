"""What holds of every kind of figure."""

from __future__ import annotations

import re
import zlib

import pytest
from called import call
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox
from plotted import HOSTILE, NEEDED, NOTHING, OTHER, REFERENCE, SYSTEM, shown, table, texts

from sedeval_soft import plot
from sedeval_soft.plots.registry import KINDS, RESAMPLED, SUFFIXES

BEGINS = {"pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml "}


def options(kind):
    return [text for name, value in NEEDED.get(kind, {}).items() for text in (f"--{name}", value)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "suffix"), [(kind, SUFFIXES[k % 3]) for k, kind in enumerate(KINDS)])
def test_is_written_in_a_form_and_shows_several_systems_or_refuses_them(kind, suffix, tmp_path):
    path = tmp_path / f"figure.{suffix}"
    done = call("plot", kind, REFERENCE, SYSTEM, OTHER, "-o", path, "--dpi", "60", "--quiet", *options(kind))
    if not KINDS[kind].several:
        assert (done.code, done.err) == (2, f"{kind} is a figure of one system; found 2\n")
        assert not path.exists()
        return
    assert (done.code, done.out, done.err) == (0, "", "")
    assert path.read_bytes().startswith(BEGINS[suffix])
    assert [*tmp_path.iterdir()] == [path]
    if suffix == "svg":
        assert "sys_b" in " ".join(shown(plot(kind, REFERENCE, SYSTEM, OTHER, **NEEDED.get(kind, {}))))


CASES = {
    "hostile": (table(HOSTILE), table(HOSTILE, 5, shift=1)),
    "hard": (table(("a", "b"), hard=True), table(("a", "b"), shift=1)),
    "no system": (table(("a", "b")), {**NOTHING, "filename": ["file0$.wav"]}),
    "no reference": ({**NOTHING, "filename": ["file0$.wav"]}, table(("a", "b"))),
    "nothing": (NOTHING, NOTHING),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_strange_tables_are_drawn(kind, case):
    """Warnings are errors here: of letters that no font has, of limits that are one, of means of nothing."""
    reference, system = CASES[case]
    needed = {"file": reference["filename"][0]} if kind == "timeline" else {}
    figure = plot(kind, reference, system, **needed)
    assert not any(is_math_text(text) for text in texts(figure))
    for text in shown(figure):
        assert text.replace("\n", "").isprintable(), text
    if case == "hostile":
        check_place(figure)


def check_place(figure):
    """Nothing is cut off, and nothing lies over something else."""
    width, height = figure.get_size_inches()
    drawn = figure.get_tightbbox()
    assert drawn.x0 > -0.02 and drawn.y0 > -0.02, drawn
    assert drawn.x1 < width + 0.02 and drawn.y1 < height + 0.02, drawn
    parts = [axes.get_tightbbox() for axes in figure.findobj(Axes) if axes.get_visible()]
    parts += [legend.get_window_extent() for legend in figure.findobj(Legend)]
    parts += [text.get_window_extent() for sub in figure.subfigs for text in sub.texts]
    for k, one in enumerate(parts):
        for other in parts[k + 1 :]:
            both = Bbox.intersection(one, other)
            assert both is None or min(both.width, both.height) < 1.5, (one, other)


def test_the_same_call_gives_the_same_bytes_with_the_signature_of_its_numbers(tmp_path, monkeypatch):
    import time

    from PIL import Image

    data = {}
    for suffix in SUFFIXES:
        path = tmp_path / f"figure.{suffix}"
        for k in range(2):
            monkeypatch.setattr(time, "time", lambda k=k: 1e9 + 1e6 * k)
            call("plot", "pr", REFERENCE, SYSTEM, "-o", path, "--segment-length", "2", "--quiet")
            assert data.setdefault(suffix, path.read_bytes()) == path.read_bytes()
    pdf = data["pdf"]
    assert b"/FontType3" not in pdf and b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf
    assert b"CreationDate" not in pdf
    assert not re.search(rb"<dc:date>", data["svg"])
    with Image.open(tmp_path / "figure.png") as image:
        assert "segment_length=2.0" in image.info["Description"]
        assert "reference:sha256=" in image.info["Description"]
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    assert b"soft-sed-eval" in pdf or any(b"soft-sed-eval" in zlib.decompress(s) for s in streams)


@pytest.mark.parametrize("kind", [*RESAMPLED, "pr"])
def test_progress_is_told_of_where_files_are_resampled(kind):
    told = []
    resampled = {"ci": "bootstrap", "replicates": 20} if kind in RESAMPLED else {}
    plot(kind, REFERENCE, SYSTEM, progress=lambda *done: told.append(done), **resampled)
    assert (told[-1:] == [(20, 20)]) == (kind in RESAMPLED)
