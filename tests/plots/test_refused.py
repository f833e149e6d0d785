"""What cannot be drawn is told in one message, and no file is touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from called import call
from plotted import OTHER, REFERENCE, SAMPLES, SYSTEM, table

from sedeval_soft import EvaluationError, SettingsError, plot
from sedeval_soft.cli.plot import plot as command
from sedeval_soft.plots.data import ORDERS, PARTS, Wish
from sedeval_soft.plots.registry import KINDS, OPTIONS

REFUSED = {
    "pie": "Invalid value for 'KIND'",
    "pr --file cafe.wav": "--file is of timeline; pr has no use for it",
    "roc --score segment.hard.f1": "--score is of matrix, classes, sweep",
    "pr --worst 3": "--worst is of the kind worst",
    "pr --ci": "pr shows no intervals; expected matrix or classes",
    "matrix --replicates 9": "there are no intervals",
    "roc --only event": "roc shows one of segment.hard, segment.soft, clip.hard, clip.soft; --only",
    "sweep --only segment.soft": "sweep is of hard and optimal readings",
    "sweep --score segment.soft.f1.macro": "sweep has averages of hard and optimal readings",
    "sweep --score segment.hard.tp.micro": "is not swept",
    "sweep --score nonsense": "is not a score name",
    "worst --only segment.optimal": "worst is of hard and soft readings",
    "worst --only event --of segments": "--of segments is of segment-based scores",
    "matrix --only clip": "matrix shows segment, event, intersection; --only names none of them",
    "matrix --score f1": "a matrix has a measure of all bases",
    "matrix --score error_rate.micro": "a matrix has a measure of all bases",
    "matrix --score f1.macro --score f1.micro": "matrix shows one score",
    "classes --score segment.hard.f1.macro": "expected BASIS.READING.MEASURE",
    "classes --score segment.tuned.f1": "tuned readings need",
    "classes --only ranking": "classes shows no F of what --only names",
    "pr --class cars": "class 'cars' is not among those that are evaluated; did you mean 'car'?",
    "pr --class car --class car": "named twice",
    "confusion --sort score": "a confusion has no score",
    "timeline": "timeline shows one of 5 files; expected --file",
    "timeline --file cafe.wa": "did you mean 'cafe.wav'",
    "timeline --file cafe.wav --start 99": "expected seconds of the file",
    "timeline --file cafe.wav --start nan": "start must be a finite number",
    "timeline --file cafe.wav --start 9 --end 9": "expected seconds after --start",
    "pr --width wide": "is not a number",
    "pr --height 0": "height must be 1 to 100 inches",
    "pr --name a --name b": "Expected a --name for each SYSTEM, 1; found 2",
    "pr --width 1 --height 1": "pr has no room in 1 x 1 inches; expected more --width or --height",
    "matrix --width 100 --height 100 --dpi 2400": "expected fewer --dpi",
    "pr --format png": "--format png: -o",
}


@pytest.mark.parametrize("line", REFUSED)
def test_calls_that_cannot_be_drawn_are_refused(line, tmp_path):
    path = tmp_path / "figure.pdf"
    path.write_text("as it was")
    kind, *rest = line.split(" ")
    done = call("plot", kind, REFERENCE, SYSTEM, "-o", path, *rest)
    assert done.code == 2
    assert REFUSED[line] in done.err
    assert done.out == ""
    assert path.read_text() == "as it was"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("figure.jpg", "expected one of .pdf, .png, .svg"),
        (".pdf", "expected one of"),
        ("", "names no file"),
        ("missing/figure.pdf", "there is no folder"),
        ("folder.pdf", "it is a folder"),
        ("-", "expected --format, pdf, png, svg"),
    ],
)
def test_outputs_that_cannot_be_written_are_refused(output, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder.pdf").mkdir()
    done = call("plot", "matrix", REFERENCE, SYSTEM, "-o", output, "--only", "segment")
    assert done.code == 2
    assert said in done.err
    assert [path.name for path in Path().iterdir()] == ["folder.pdf"]


def test_inputs_are_not_replaced(tmp_path):
    path = tmp_path / "sys.svg"
    path.write_text(Path(SYSTEM).read_text())
    done = call("plot", "pr", REFERENCE, path, "-o", path)
    assert done.code == 2
    assert "this is the system output (" in done.err
    for several in ([SYSTEM, path], [path, SYSTEM]):
        done = call("plot", "pr", REFERENCE, *several, "-o", path)
        assert done.code == 2
        assert f"this is the system output {several.index(path) + 1} (" in done.err
    assert path.read_text() == Path(SYSTEM).read_text()


def test_a_figure_goes_to_standard_output_in_the_form_that_is_asked_for():
    command = [sys.executable, "-m", "sedeval_soft", "plot", "matrix", REFERENCE, SYSTEM]
    done = subprocess.run([*command, "-o", "-", "--format", "png", "-q"], capture_output=True, check=True)
    assert done.stdout.startswith(b"\x89PNG")
    assert done.stdout.endswith(b"IEND\xaeB`\x82")
    assert done.stderr == b""


def test_systems_are_told_apart(tmp_path):
    path = tmp_path / "a.png"
    assert "is given twice" in call("plot", "pr", REFERENCE, SYSTEM, SYSTEM, "-o", path).err
    same = call("plot", "pr", REFERENCE, SYSTEM, OTHER, "-o", path, "--name", "x", "--name", "x")
    assert "two systems are called 'x'" in same.err
    assert "Only one of" in call("plot", "pr", "-", "-", "-o", path).err
    (tmp_path / "sys.tsv").write_text(Path(OTHER).read_text())
    figure = plot("pr", REFERENCE, SYSTEM, tmp_path / "sys.tsv")
    (legend,) = figure.subfigs[0].legends
    assert len(legend.get_texts()) == 2


def test_warnings_are_told(tmp_path):
    system = table(("car",))
    path = tmp_path / "strange.tsv"
    lines = ["\t".join(map(str, row)) for row in zip(*system.values(), strict=True)]
    path.write_text("\n".join(["\t".join(system), *lines]) + "\n")
    done = call("plot", "matrix", REFERENCE, path, "-o", tmp_path / "a.png")
    assert done.code == 0
    assert done.err.startswith("warning: ")
    assert call("plot", "matrix", REFERENCE, path, "-o", tmp_path / "a.png", "--quiet").err == ""


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("prr", REFERENCE, SYSTEM), {}, "did you mean 'pr'"),
        (("pr", REFERENCE), {}, "one or more systems"),
        (("pr", REFERENCE, SYSTEM), {"names": ["a", "b"]}, "a name for each of 1 systems"),
        (("pr", REFERENCE, SYSTEM), {"names": [""]}, "must not be empty"),
        (("pr", REFERENCE, SYSTEM), {"names": 5}, "names must be a list of texts, not 5"),
        (("classes", REFERENCE, SYSTEM), {"scores": [None]}, "scores must be a list of texts"),
        (([], REFERENCE, SYSTEM), {}, "there is no kind of figure"),
        (("pr", REFERENCE, SYSTEM), {"clas": "car"}, "unknown setting 'clas'; did you mean 'classes'"),
        (("pr", REFERENCE, SYSTEM), {"wish": Wish(), "class_names": ["car"]}, "cannot be given beside it"),
        (("pr", REFERENCE, SYSTEM), {"wish": "car"}, "must be an object of Wish"),
        (("timeline", REFERENCE, SYSTEM), {"file": "cafe.wav", "start": "3"}, "start must be"),
        (("classes", REFERENCE, SYSTEM), {"sort": "random"}, "sort must be one of"),
    ],
)
def test_calls_of_the_library_are_refused(arguments, given, said):
    with pytest.raises(SettingsError, match=said):
        plot(*arguments, **given)


def test_operating_points_have_event_based_curves():
    events = str(SAMPLES / "events.tsv")
    figure = plot("psd-roc", events, {0.3: events, 0.6: events})
    assert figure.axes
    with pytest.raises(EvaluationError):
        plot("roc", events, {0.3: events, 0.6: events})


def test_lists_of_kinds_and_options_agree():
    assert list(OPTIONS) == list(Wish.__slots__)
    assert {name for kind in KINDS.values() for name in kind.options} == {*OPTIONS}
    parameters = {parameter.name: parameter for parameter in command.params}
    for name, option in OPTIONS.items():
        assert parameters[name].opts == [option]
    assert tuple(parameters["sort"].type.choices) == ORDERS
    assert tuple(parameters["of"].type.choices) == PARTS


def test_help_names_every_kind():
    text = call("plot", "--help").out
    for name, kind in KINDS.items():
        assert f"  {name:12}  {kind.summary}\n" in text
    assert max(map(len, text.splitlines())) <= 100


def test_figures_higher_than_a_wall_are_refused():
    many = tuple(f"class {k:04}" for k in range(800))
    with pytest.raises(SettingsError, match=r"would be \d+ inches high; expected fewer classes"):
        plot("classes", table(many, 1), table(many, 1), max_classes=800)
