"""Every form is documented, found, and reads what it writes; what it cannot hold is said beforehand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn import PLAIN, TRICKY, WRITTEN, facts, fresh, tables, through
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows
from test_corrupted_tables import SEEDS

from sedeval_soft.errors import InputError
from sedeval_soft.tables.fit import fit, fold, unfold
from sedeval_soft.tables.forms import (
    FORMS,
    TEXT_EXTENSIONS,
    form_at_once,
    form_by_extension,
    form_instead,
    form_of,
)
from sedeval_soft.tables.source import Source

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "forms.md"


def documented():
    """Return the lines of the table of forms: extensions, and what is not held."""
    lines = re.findall(r"^\| `([\w-]+)`: [^|]* \|([^|]*)\|[^|]*\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    return {
        name: (tuple(re.findall(r"`(\.\w+)`", extensions)), lost.strip()) for name, extensions, lost in lines
    }


def not_held(form):
    """Return in words what a form says that it cannot hold."""
    words = {
        "values": "values",
        "long": "rows",
        "recordings": "several recordings, names of recordings",
        "silent": "recordings without rows",
        "blanks": "blanks in names",
        "gaps": "gaps",
        "classes": "classes without rows",
        "nothing": "a table of nothing",
        "fine": "times finer than a microsecond",
    }
    lacks = {words[word] for word in form.lacks - {"wide"}}
    return lacks | ({"extensions of audio files"} if form.folder else set())


def test_every_form_is_documented():
    table = documented()
    assert list(table) == [form.name for form in FORMS]
    for form in FORMS:
        extensions, lost = table[form.name]
        assert extensions == form.extensions, form.name
        if not form.written:
            assert lost == "(read only)"
        else:
            assert set(lost.split(", ")) == set(", ".join(not_held(form)).split(", ")), form.name


def test_no_two_forms_have_a_name_or_an_extension_in_common():
    names = [form.name for form in FORMS]
    extensions = [end for form in FORMS for end in form.extensions if end not in TEXT_EXTENSIONS]
    assert (len({*names}), len({*extensions})) == (len(names), len(extensions))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed[0])
def test_what_a_form_holds_is_recognised_by_that_form_alone(seed):
    name, data = seed
    source = Source("x", data, lambda: "")
    found = [form.name for form in FORMS if form.reads(source)]
    if name == "answers":  # which are JSON lines, too, and are asked before these
        assert found.pop() == "jsonl"
    text = {"long", "csv", "wide", "wide-csv", "sed-eval", "audacity", "weak", "seld"}
    assert found == [name] or (name in text and found == [])
    if found:
        assert form_instead(source) == found[0]
        assert form_at_once(source) == ("" if name in {"audacity", "few-shot", "seld"} else found[0])


def test_extensions_say_what_is_written():
    for form in WRITTEN:
        for extension in {*form.extensions} - TEXT_EXTENSIONS:
            assert form_by_extension(f"x{extension}", wide=False) is form
            assert form_by_extension(f"x{extension.upper()}.gz", wide=True) is form
    assert [form_by_extension(f"x{e}", wide=w).name for e in (".tsv", ".csv") for w in (False, True)] == [
        *("long", "wide", "csv", "wide-csv")
    ]
    for name in ("x.txt", "x", "folder/", "x.zip", ".tsv"):
        assert form_by_extension(name, wide=False) is None


# What is lost where a form cannot hold all, by examples worked out by hand.


def test_steps_are_between_all_boundaries_and_take_the_largest_value():
    car = [("f", 0.0, 2.0, "car", 0.5), ("f", 1.0, 3.0, "car", 0.25)]
    dog = [("f", 1.0, 2.0, "dog", 1.0), ("f", 5.0, 6.0, "dog", 0.75), ("f", 6.0, 6.0, "dog", 0.75)]
    rows = long_rows(car + dog)
    wide, losses = fold(rows)
    cells = [(0.0, 1.0, 0.5, 0.0), (1.0, 2.0, 0.5, 1.0), (2.0, 3.0, 0.25, 0.0), (5.0, 6.0, 0.0, 0.75)]
    assert facts(wide)[1] == [("f", b, e, (("car", car), ("dog", dog))) for b, e, car, dog in cells]
    assert losses == [
        "1 row without length",
        "1 overlap of rows of one class, which takes the largest value",
        "2 rows that are cut where others begin or end",
        "3 cells of classes without row, which become values of 0",
    ]
    whole, _ = fold(rows, gaps=False)
    assert whole.onset.tolist() == [0.0, 1.0, 2.0, 3.0, 5.0]
    assert whole.values[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.75]


def test_frames_that_miss_one_another_by_a_digit_are_made_to_touch():
    rows = wide_rows(np.array([[0.25], [0.5], [0.0], [1.0]]), 0.1)
    assert fit(rows, form_of("score-dir")).losses == ()
    rows = replace(rows, onset=np.array([0.0, 0.1, 0.2, 0.3]))
    assert rows.onset[3] != rows.offset[2]
    made = fit(rows, form_of("score-dir"))
    assert made.losses == ("1 row with times finer than a microsecond, which are rounded",)
    assert made.rows.offset.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert fit(rows, form_of("wide")).losses == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_step_has_the_largest_value_of_the_rows_that_cover_it(seed):
    """Held against a loop over rows and steps."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, (2, 20, 9, 2), (50, 4)).T.tolist()
    events = [*zip(*codes, rng.random(50).tolist(), strict=True)]
    rows = long_rows([(f"f{f}", float(on), float(on + n), "ab"[c], value) for f, on, n, c, value in events])
    whole, losses = fold(rows)
    steps = zip(whole.file.tolist(), whole.onset.tolist(), whole.offset.tolist(), strict=True)
    for k, (file, onset, offset) in enumerate(steps):
        for label, values in zip(whole.classes, whole.values, strict=True):
            covering = [
                value
                for f, on, n, c, value in events
                if f"f{f}" == whole.files[file] and "ab"[c] == label and on <= onset and offset <= on + n
            ]
            assert values[k] == max(covering, default=0.0)
    assert f"{sum(n == 0 for _, _, n, _, _ in events)} rows without length" in losses


FEWER = "values of 2 rows: those above 0 become events, and 1 row of value 0 is left out"
BLANKS = "blanks in names of 1 class, which become _: 'car horn'"
CUT = "extensions of audio files in the names of 1 recording"


@pytest.mark.parametrize(
    ("form", "losses"),
    [
        ("long", ()),
        (
            "rttm",
            ("1 recording without rows: 'quiet'", "blanks in names of 1 class, which become _: 'car horn'"),
        ),
        ("sed-eval", (FEWER,)),
        ("audacity", (FEWER, CUT)),
        ("maestro", (CUT,)),
    ],
)
def test_what_is_lost_is_counted(form, losses):
    rows = [("a.wav", 0.0, 1.2345, "car horn", 0.5), ("a.wav", 1.0, 2.0, "car horn", 0.0)]
    assert fit(long_rows(rows, ["quiet"]), form_of(form), apart=form_of(form).apart).losses == losses


def test_names_that_would_become_one_are_refused():
    rows = long_rows([("f", 0.0, 1.0, "car horn"), ("f", 0.0, 1.0, "car_horn")])
    with pytest.raises(InputError, match="differ in blanks only"):
        fit(rows, form_of("rttm"))


# There and back.


NAMES = [form.name for form in WRITTEN]


few = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
more = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def check(rows, form):
    """What is read is what was to be written; and what there was, where nothing is said to be lost."""
    with fresh() as folder:
        made, read, losses = through(rows, form, Path(folder))
    assert facts(read) == facts(made)
    if not losses:
        assert facts(unfold(read)) == facts(unfold(rows))


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables())
def test_a_form_reads_what_it_writes(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert not (rows.files and rows.classes), error  # noqa: PT017
        assert {problem.code for problem in error.problems} == {"cannot-hold"}  # noqa: PT017


def sounds(rows):
    """Whether there is anything in a table but silence."""
    found = unfold(rows)
    return bool(len(found)) and (found.value is None or bool(np.any(found.value > 0)))


@more
@given(tables(), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_there_and_back(rows, form, there):
    """From one form to another and back a table stays what it was, unless something is said to be lost."""
    first = rows
    with fresh() as name:
        folder = Path(name)
        try:
            _, first, _ = through(rows, form, folder)
            _, other, lost = through(first, there, folder / "there")
            _, back, more = through(other, form, folder / "back")
        except InputError as error:
            assert not sounds(first), error  # noqa: PT017
            return
    if not (lost or more):
        assert facts(unfold(back)) == facts(unfold(first))


def test_a_byte_order_mark_is_not_written_where_readers_take_it_away():
    rows = long_rows([("\ufeffa", 0.0, 1.0, "car")])
    check(rows, "long")
    with fresh() as folder, pytest.raises(InputError, match="byte order mark"):
        through(rows, "sed-eval", Path(folder))


@pytest.mark.parametrize("form", ["audacity", "sed-eval"])
def test_a_class_called_as_a_value_is_refused_where_there_is_no_header(form):
    check(long_rows([("", 0.0, 1.0, "2")]), form)
    check(long_rows([("", 0.0, 1.0, "0.5")]), "long")
    with fresh() as folder, pytest.raises(InputError, match=r"the name '0\.5' would be read as a value"):
        through(long_rows([("", 0.0, 1.0, "0.5")]), form, Path(folder))


@pytest.mark.parametrize("form", NAMES)
@few
@given(tables((*PLAIN, *TRICKY), exact=False))
def test_names_that_look_like_something_else_are_kept_or_refused(form, rows):
    try:
        check(rows, form)
    except InputError as error:
        assert {problem.code for problem in error.problems} <= {"cannot-hold", "unsafe-name"}  # noqa: PT017
