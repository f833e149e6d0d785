"""Every form is documented, recognised, and reads its own files; losses are counted."""

import re
import tempfile
from pathlib import Path

import pytest
from drawn import FORMS, PLAIN, TRICKY, WRITTEN, facts, found, tables, through, unfolded
from hypothesis import HealthCheck, given, settings
from tables import long_rows

from sedeval_soft import InputError, convert
from sedeval_soft.tables import read_rows

HERE = Path(__file__).parent
FILES = {
    "documents/long.TextGrid": "textgrid",
    "documents/short.TextGrid": "textgrid",
    "documents/elan.eaf": "eaf",
    "documents/label-studio.json": "label-studio",
    "documents/label-studio-min.json": "label-studio",
    "documents/one-line.jams": "jams",
    "documents/annotation-set.json": "soundevent",
    "documents/prediction-set.json": "soundevent",
    "dialects/dcase-weak.tsv": "weak",
    "dialects/few-shot-classes.csv": "few-shot",
    **{f"samples/{path.name}": path.name.split(".")[0].split("-")[0]
       for path in sorted((HERE / "samples").iterdir())},
}  # fmt: skip
"""Files whose content reveals their form."""


def test_every_form_is_documented_under_its_own_name_and_extensions():
    page = (HERE.parents[1] / "docs" / "reference" / "forms.md").read_text()
    lines = re.findall(r"^\| `([\w-]+)`: [^|]* \|([^|]*)\|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    table = [(name, tuple(re.findall(r"`(\.\w+)`", ends)), "read only" in lost) for name, ends, lost in lines]
    assert table == [(form.name, form.extensions, not form.written) for form in FORMS]
    ends = [end for form in FORMS for end in form.extensions if not form.of_text or form.module != "text"]
    own = [end for end in ends if end not in {".txt", ".csv"}]
    assert (len({*table}), len({*own})) == (len(table), len(own))


@pytest.mark.parametrize("file", FILES)
def test_content_is_recognised_by_its_form_alone(file, tmp_path):
    """The name of the file does not matter, and at most two other forms can read it."""
    path, name = tmp_path / "x", FILES[file]
    path.write_bytes((HERE / file).read_bytes())
    read = found(path, name)[:4]
    assert read[0] in ("long", "wide") and (name == "audacity" or found(path)[:4] == read)
    others = {form.name: found(path, form.name)[:4] for form in FORMS if form.module != "text"}
    # `found` returns lists of problems for a refused file.
    taken = {other for other, facts in others.items() if other != name and isinstance(facts[0], str)}
    if name not in ("audacity", "weak"):
        assert all(others[other] == read or (name, other) == ("answers", "jsonl") for other in taken)
        assert len(taken) <= 2


# Losses in forms that cannot represent everything, worked out by hand.


def made(rows, target, form=None):
    """Write rows in a form, and read them; return their facts, and the numbers of the losses."""
    done = convert(rows, target, to=form)
    return facts(read_rows(target, form=form or "")), [int(text.split()[0]) for text in done.losses]


def test_steps_are_between_all_boundaries_and_take_the_largest_value(tmp_path):
    rows = [("f", 0.0, 2.0, "car", 0.5), ("f", 1.0, 3.0, "car", 0.25)]
    rows += [("f", 1.0, 2.0, "dog", 1.0), ("f", 5.0, 6.0, "dog", 0.75), ("f", 6.0, 6.0, "dog", 0.75)]
    cells = [(0.0, 1.0, 0.5, 0.0), (1.0, 2.0, 0.5, 1.0), (2.0, 3.0, 0.25, 0.0), (5.0, 6.0, 0.0, 0.75)]
    steps = [("f", b, e, (("car", car), ("dog", dog))) for b, e, car, dog in cells]
    # A row without duration, an overlap, two rows that are cut, three cells without a row.
    assert made(long_rows(rows), tmp_path / "x.tsv", "wide") == (
        ("wide", steps, ["f"], ["car", "dog"]), [1, 1, 2, 3]
    )  # fmt: skip
    whole, _ = made(long_rows(rows), tmp_path / "x", "score-dir")
    steps.insert(3, ("f", 3.0, 5.0, (("car", 0.0), ("dog", 0.0))))
    assert whole[1] == steps


def test_frames_that_miss_one_another_by_a_digit_are_made_to_touch(tmp_path):
    frames = {"filename": ["f"] * 4, "onset": [0.0, 0.1, 0.2, 0.3], "offset": [0.1, 0.2, 3 * 0.1, 0.4],
              "car": [0.25, 0.5, 0.0, 1.0]}  # fmt: skip
    for target, form, third, lost in (("x", "score-dir", 0.3, [1]), ("x.tsv", "wide", 3 * 0.1, [])):
        (_, rows, *_), losses = made(frames, tmp_path / target, form)
        assert (losses, [row[2] for row in rows]) == (lost, [0.1, 0.2, third, 0.4])
    late = {"filename": ["f"], "onset": [1.0], "offset": [2.0], "car": [0.5]}
    (_, rows, *_), _ = made(late, tmp_path / "late", "score-dir")
    assert [row[1:] for row in rows] == [(0.0, 1.0, (("car", 0.0),)), (1.0, 2.0, (("car", 0.5),))]


# Values that become events; blanks in names; extensions of audio files; recordings without rows.
LOSSES = {
    "long": [],
    "rttm": ["1 recording ", "blanks "],
    "sed-eval": ["values "],
    "audacity": ["values ", "extensions "],
    "maestro": ["extensions "],
}


@pytest.mark.parametrize("form", LOSSES)
def test_losses_are_counted_by_kind(form, tmp_path):
    rows = [("a.wav", 0.0, 1.2345, "car horn", 0.5), ("a.wav", 1.0, 2.0, "car horn", 0.0)]
    target = f"{tmp_path}/x{'/' * (form in {'audacity', 'maestro'})}"
    losses = convert(long_rows(rows, ["quiet"]), target, to=form).losses
    assert all(text.startswith(begin) for text, begin in zip(losses, LOSSES[form], strict=True)), losses


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ("rttm", [("f", 0.0, 1.0, "car horn"), ("f", 0.0, 1.0, "car_horn")]),  # differ only in blanks
        ("sed-eval", [("\ufeffa", 0.0, 1.0, "car")]),  # a byte order mark, which readers remove
        ("audacity", [("", 0.0, 1.0, "0.5")]),  # a label like a value, without a header
        ("sed-eval", [("", 0.0, 1.0, "0.5")]),
    ],
)
def test_names_that_a_form_would_change_are_refused(form, rows, tmp_path):
    with pytest.raises(InputError) as caught:
        convert(long_rows(rows), tmp_path / "x", to=form)
    assert caught.value.problems[0].code == "cannot-hold"
    assert not (tmp_path / "x").exists()
    check(long_rows(rows), "long")


# Round trips.


def check(rows, form):
    """Check that the rows read are the rows written, and also the original rows if no loss is reported."""
    with tempfile.TemporaryDirectory(prefix="forms-") as folder:
        fitted, read, losses = through(rows, form, Path(folder))
    assert facts(read) == facts(fitted)
    if not losses:
        assert unfolded(facts(read)) == unfolded(facts(rows))


@pytest.mark.parametrize("names", [PLAIN, (*PLAIN, *TRICKY)], ids=["plain", "tricky"])
@pytest.mark.parametrize("form", [form.name for form in WRITTEN])
def test_a_form_reads_what_it_writes_or_refuses_it(form, names):
    """Plain names are refused only if the table has no files or no classes."""

    @settings(max_examples=8, suppress_health_check=list(HealthCheck))
    @given(tables(names, exact=names is PLAIN))
    def written(rows):
        try:
            check(rows, form)
        except InputError as error:
            assert names is not PLAIN or not (rows.files and rows.classes), error  # noqa: PT017
            assert {p.code for p in error.problems} <= {"cannot-hold", "unsafe-name"}  # noqa: PT017

    written()
