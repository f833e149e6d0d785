"""What holds of every kind of figure; what cannot be drawn is told in one message, and no file is touched."""

from __future__ import annotations

import re
import shlex
import zlib
from pathlib import Path

import numpy as np
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from documents import ROOT, script
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox
from PIL import Image
from plotted import HOSTILE, NEEDED, NOTHING, shown, table, texts

from sedeval_soft import EvaluationError, SettingsError, plot
from sedeval_soft.apps.plots.data import CHOICES, Wish
from sedeval_soft.apps.plots.registry import KINDS, OPTIONS, RESAMPLED, SUFFIXES
from sedeval_soft.apps.plots.run import FigureKeywords
from sedeval_soft.apps.plots.style import Look
from sedeval_soft.cli.plot import plot as command
from sedeval_soft.fields import Keywords

BEGINS = {"pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml "}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "suffix"), [(kind, SUFFIXES[k % 3]) for k, kind in enumerate(KINDS)])
def test_is_written_in_a_form_and_shows_several_systems_or_refuses_them(kind, suffix, tmp_path):
    path = tmp_path / f"figure.{suffix}"
    needed = [text for name, value in NEEDED.get(kind, {}).items() for text in (f"--{name}", value)]
    done = call("plot", kind, REFERENCE, SYSTEM, OTHER, "-o", path, "--dpi", "60", "--quiet", *needed)
    if KINDS[kind].single:
        assert (done.code, done.err) == (2, f"{kind} shows one system; found 2\n")
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
    figure = plot(kind, reference, system, file=reference["filename"][0] if kind == "timeline" else None)
    assert not any(is_math_text(text) for text in texts(figure))
    for text in shown(figure):
        assert text.replace("\n", "").isprintable(), text
    if case != "hostile":
        return
    # Nothing is cut off, and nothing lies over something else.
    width, height = figure.get_size_inches()
    drawn = figure.get_tightbbox()
    assert drawn.x0 > -0.02 and drawn.y0 > -0.02, drawn
    assert drawn.x1 < width + 0.02 and drawn.y1 < height + 0.02, drawn
    parts = [axes.get_tightbbox() for axes in figure.findobj(Axes) if axes.get_visible()]
    parts += [legend.get_window_extent() for legend in figure.findobj(Legend)]
    for k, one in enumerate(parts):
        for other in parts[k + 1 :]:
            both = Bbox.intersection(one, other)
            assert both is None or min(both.width, both.height) < 1.5, (one, other)


PLACES = ("cafe", "metro", "night", "park", "street")


def test_sensitivity_shows_durations_and_classes_at_once():
    texts = shown(plot("sensitivity", REFERENCE, SYSTEM))
    factors = [text for text in texts if text.startswith(("recall, by ", "precision, by "))]
    assert sorted(factors) == ["precision, by duration", "recall, by classes at once", "recall, by duration"]
    assert factors[-1] == "precision, by duration"


def test_the_same_call_gives_the_same_bytes_with_the_signature_of_its_numbers(tmp_path, monkeypatch):
    data = {}
    for suffix in SUFFIXES:
        path = tmp_path / f"figure.{suffix}"
        for k in range(2):
            monkeypatch.setattr("time.time", lambda k=k: 1e9 + 1e6 * k)
            call("plot", "pr", REFERENCE, SYSTEM, "-o", path, "--segment-length", "2", "--quiet")
            assert data.setdefault(suffix, path.read_bytes()) == path.read_bytes()
    pdf = data["pdf"]
    assert b"/Type3" not in pdf and b"/CIDFontType2" in pdf and b"CreationDate" not in pdf
    assert b"<dc:date>" not in data["svg"]
    with Image.open(tmp_path / "figure.png") as image:
        assert "segment_length=2.0" in image.info["Description"]
        assert "reference:sha256=" in image.info["Description"]
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    assert b"soft-sed-eval" in pdf or any(b"soft-sed-eval" in zlib.decompress(s) for s in streams)


def test_progress_is_told_of_where_files_are_resampled():
    for kind in (*RESAMPLED, "pr"):
        told, resampled = [], {"ci": "bootstrap", "replicates": 20} if kind in RESAMPLED else {}
        plot(kind, REFERENCE, SYSTEM, progress=lambda *done, told=told: told.append(done), **resampled)
        assert (told[-1:] == [(20, 20)]) == (kind in RESAMPLED)


REFUSED = {
    "pie": "Invalid value for 'KIND'",
    "pr --file cafe.wav": "--file works with timeline; not with pr",
    "pr --ci": "pr shows no intervals; expected matrix or classes",
    "matrix --replicates 9": "--replicates has no effect in this call: it needs --ci",
    "roc --only event": "roc shows one of segment.hard, segment.soft, clip.hard, clip.soft; --only",
    "matrix --score f1": "a matrix needs a measure between 0 and 1",
    "classes --score segment.hard.f1.macro": "classes needs BASIS.READING.MEASURE",
    "classes --score segment.tuned.f1": "tuned readings need",
    "pr --class cars": "class 'cars' is not among those that are evaluated; did you mean 'car'?",
    "confusion --sort score": "a confusion has no score",
    "timeline": "timeline draws one of 5 files; --file names it: ",
    "timeline --file cafe.wa": "did you mean 'cafe.wav'",
    "timeline --file cafe.wav --start 99": "expected seconds of the file",
    "pr --name a --name b": "expected 1 name, one for each system; found 2",
    "pr --width 1 --height 1": "pr has no room in 1 x 1 inches; expected more --width or --height",
    "matrix --width 100 --height 100 --dpi 2400": "expected fewer --dpi",
    "pr -o figure.jpg": "expected one of .pdf, .png, .svg",
    "pr -o -": "expected one of .pdf, .png, .svg",
    "pr OTHER --name x --name x": "two systems are called 'x'",
    "pr - -": "are both standard input; expected one of them",
}


@pytest.mark.parametrize("line", REFUSED)
def test_calls_that_cannot_be_drawn_are_refused(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("figure.pdf").write_text("as it was")
    paths = {"SYSTEM": SYSTEM, "OTHER": OTHER}
    kind, *rest = [paths.get(word, word) for word in shlex.split(line)]
    output = () if "-o" in rest else ("-o", "figure.pdf")
    done = call("plot", kind, REFERENCE, SYSTEM, *output, *rest)
    assert (done.code, done.out) == (2, "") and REFUSED[line] in done.err
    assert Path("figure.pdf").read_text() == "as it was"
    assert sorted(path.name for path in Path().iterdir()) == ["figure.pdf"]


def test_inputs_are_not_replaced_and_systems_of_one_name_are_told_apart(tmp_path):
    path = tmp_path / "sys.svg"
    path.write_text(Path(OTHER).read_text())
    for systems, number in (([path], ""), ([SYSTEM, path], " 2"), ([path, SYSTEM], " 1")):
        done = call("plot", "pr", REFERENCE, *systems, "-o", path)
        assert done.code == 2 and f"this is the system output{number} (" in done.err
    assert path.read_text() == Path(OTHER).read_text()
    (legend,) = plot("pr", REFERENCE, SYSTEM, path).legends
    assert len({text.get_text() for text in legend.get_texts()}) == 2


def test_warnings_and_the_draft_of_a_caption_are_on_standard_error(tmp_path):
    path = tmp_path / "strange.tsv"
    path.write_text("filename\tonset\toffset\tevent_label\nx.wav\t0\t1\tcar\n")
    for options in ((), ("--quiet",)):
        done = call("plot", "matrix", REFERENCE, path, "-o", tmp_path / "a.png", *options)
        assert done.code == 0 and done.err.startswith("warning: ") == (not options) == bool(done.err)
        assert ("\ncaption: All bases and readings. System: strange; 6 files." in done.err) == (not options)


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("prr", REFERENCE, SYSTEM), {}, "did you mean 'pr'"),
        (("pr", REFERENCE), {}, "one or more systems"),
        (("pr", REFERENCE, SYSTEM), {"names": 5}, "names must be a list of texts, not 5"),
        (("classes", REFERENCE, SYSTEM), {"scores": [None]}, "scores must be a list of texts"),
        (("pr", REFERENCE, SYSTEM), {"clas": "car"}, "unknown setting 'clas'; did you mean 'classes'"),
        (("timeline", REFERENCE, SYSTEM), {"file": "cafe.wav", "start": "3"}, "start must be"),
        (("classes", REFERENCE, SYSTEM), {"sort": "random"}, "sort must be one of"),
    ],
)
def test_calls_of_the_library_are_refused(arguments, given, said):
    with pytest.raises(SettingsError, match=said):
        plot(*arguments, **given)


def test_operating_points_have_event_based_curves():
    events = str(SAMPLES / "events.tsv")
    assert plot("psd-roc", events, {0.3: events, 0.6: events}).axes
    with pytest.raises(EvaluationError):
        plot("roc", events, {0.3: events, 0.6: events})


def test_lists_of_kinds_and_options_agree():
    assert list(OPTIONS) == list(Wish.__slots__)
    drawn = {*Wish.__slots__, *Look.__slots__}
    assert FigureKeywords.__annotations__.keys() == drawn | Keywords.__annotations__.keys()
    assert {name for kind in KINDS.values() for name in kind.options} == {*OPTIONS}
    parameters = {parameter.name: parameter for parameter in command.params}
    assert {name: parameters[name].opts for name in OPTIONS} == {name: [OPTIONS[name]] for name in OPTIONS}
    assert tuple(parameters["sort"].type.choices) == CHOICES["sort"]
    text = call("plot", "--help").out
    for name, kind in KINDS.items():
        assert f"  {name:12}  {kind.summary}\n" in text
    assert max(map(len, text.splitlines())) <= 100


def test_figures_higher_than_a_wall_are_refused():
    many = tuple(f"class {k:04}" for k in range(800))
    with pytest.raises(SettingsError, match=r"would be \d+ inches high; expected fewer classes"):
        plot("classes", table(many, 1), table(many, 1), max_classes=800)


def test_the_page_on_figures_has_each_kind_and_small_pictures_that_its_commands_draw(tmp_path):
    text = (ROOT / "docs" / "reference" / "plots.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ soft-sed-eval plot (\S+) .* -o \S+\.(\w+)$", text, re.MULTILINE)
    assert {kind for kind, _ in commands} == {*KINDS}
    assert {suffix for _, suffix in commands} == {*SUFFIXES}
    assert {*re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)))} == {*KINDS}
    made, pictures = script("plots"), ROOT / "docs" / "pictures"
    assert len(made.commands()) >= 10
    for name in made.commands():
        assert (pictures / f"{name}.png").stat().st_size < 60_000, name
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    for path in pictures.iterdir():
        assert f"pictures/{path.name})" in pages, path
    made.draw("matrix", made.commands()["matrix"], tmp_path)
    with Image.open(tmp_path / "matrix.png") as drawn, Image.open(pictures / "matrix.png") as kept:
        assert drawn.size == kept.size
        new, old = (
            np.asarray(of.convert("L").resize((60, 40), Image.Resampling.BOX), float) for of in (drawn, kept)
        )
    # Other versions of matplotlib and its fonts set letters a little differently.
    assert np.abs(new - old).mean() < 8
