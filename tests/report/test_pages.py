"""Pages and screens show whole names and all scores, and fit the terminal, for any data.

The golden files fix the letters of a few; these tests check the rules for all.
"""

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import (
    FAMILIES,
    LINES,
    MAESTRO,
    UNICODE,
    WIDTH,
    board,
    build,
    compared,
    lines_of,
    of_runs,
    render_board,
    revalued,
    with_all,
    with_folds,
    with_intervals,
    with_sections,
    with_worst,
)
from tables import columns_of

from sedeval_soft import evaluate
from sedeval_soft.errors import visible
from sedeval_soft.report import FORMATS, fitted, render, table
from sedeval_soft.report.board import p_value
from sedeval_soft.report.legend import short
from sedeval_soft.report.page import ends

HARD = (("segment", "hard"),)
NAN = math.nan
NAMES = st.text(min_size=1, max_size=40).filter(str.strip)


@pytest.mark.parametrize(
    "how", [{"form": "text"}, {"form": "markdown"}, {"color": True, "width": 60}], ids=str
)
def test_every_score_and_every_end_of_an_interval_is_shown(how):
    scores = with_intervals(with_all(MAESTRO[:2]))
    text = render([scores], verbose=2, **how)
    assert {*re.findall(r"\b1\d{5}\b(?!\.)", text)} == {str(value) for value in scores.values()}
    values = {end for score in scores.scores.values() if score.low for end in (score.low, score.high)}
    assert len(scores) > 300 and len(values) > 300
    assert all(f"{end:.3f}" in text or f"{end:.2f}" in text for end in values)


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        (table.number, {None: "-", 3: "3", 0.25: "0.250", -1e-9: "0.000", -0.0: "0.000", -0.25: "-0.250",
                        12345.5: "12345.500"}),
        (table.exact, {None: "-", 3: "3", 0.1: "0.1", 1 / 3: "0.3333333333333333"}),
        (short, {1.0: "1", 0.2: "0.2", 1e-06: "1e-06"}),
        (ends, {0.95: ("2.5 %", "97.5 %"), 0.6827: ("15.865 %", "84.135 %")}),
        # No p-value is written as 0.
        (p_value, {None: "-", NAN: "-", 1.0: "1.0000", 0.04999: "0.0500", 0.0001: "0.0001",
                   0.00009: "9.0e-05", 3.2e-200: "3.2e-200", 0.0: "< 1e-300"}),
        # A screen gives a number five characters.
        (fitted.number, {0.7331: ".733", 1.0: "1.000", 0.9996: "1.000", -0.0004: ".000", -0.25: "-.250",
                         3.4732: "3.473", 12.345: "12.35", 99.996: "100.0", None: "-", 12345.6: "12346",
                         0: ".000", 9.9994: "9.999", 9.9996: "10.00", 999.96: "1000"}),
        (lambda both: fitted.interval(*both),
         {(0.6912, 0.7708): "[.69,.77]", (-0.5, 1.0): "[-.50,1.00]", (None, 1.0): ""}),
    ],
)  # fmt: skip
def test_how_numbers_are_written(written, texts):
    assert {value: written(value) for value in texts} == texts


@pytest.mark.parametrize(("value", "form"), [*product((NAN, -math.inf), FORMATS)])
def test_what_is_no_number_is_written_in_no_form(value, form):
    text = render([revalued(build(("car",), HARD), lambda _: value)], form, verbose=1)
    assert not re.search(r"\b(nan|inf(inity)?)\b", text, re.IGNORECASE)


@settings(max_examples=10)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_read_back_from_text(cut):
    scores = revalued(
        build(("car",), (("segment", "optimal"),)), lambda s: cut if s.measure == "threshold" else 0
    )
    line = next(line for line in render([scores], verbose=1).splitlines() if line.startswith("car "))
    assert float(line.split()[-1]) == cut


@settings(max_examples=10)
@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_name_is_shown_whole_and_lines_up(labels):
    scores = build(labels, HARD)
    text, markdown = render([scores], verbose=1), render([scores], "markdown")
    block = text.split("Classes, segment-based, hard reading\n")[1].split("\n\n")[0].splitlines()
    for label, line in zip(labels, block[1:], strict=True):
        assert line.startswith(visible(label)) and f"| {table.escaped(label)} |" in markdown
    assert len({fitted.cells(line) for line in block}) == 1
    assert (text + markdown).replace("\n", "").isprintable()


@pytest.mark.parametrize(("labels", "width"), [(MAESTRO, 80), (UNICODE, 120), (None, 80)])
def test_tables_fit_the_terminal(labels, width):
    how = {"color": True, "width": width}
    text = render_board(board(), **how) if labels is None else render([build(labels)], verbose=1, **how)
    drawn = [line for line in lines_of(text.partition("\n\n")[2], width) if "  " in line.strip()]
    # Two names look the same; their escapes differ.
    shown = [{"caf\u00e9": r"caf\xe9", "cafe\u0301": r"cafe\u0301"}.get(name, name) for name in labels or ()]
    assert all(sum(name in line for line in drawn) >= len(FAMILIES) for name in shown)


@pytest.mark.parametrize(("n_classes", "shown"), [(50, True), (51, False)])
def test_a_confusion_that_no_table_holds_is_left_to_json(n_classes, shown):
    y, p = np.random.default_rng(0).random((2, 5, n_classes))
    scores = evaluate(y, p, only=("segment.hard",), measures=("confusion",))
    assert ("Confusion of classes" in render([scores], verbose=1)) == shown
    assert len(scores.to_dict()["systems"][0]["confusion"][0]["pairs"]) == n_classes


@pytest.mark.parametrize(
    ("systems", "made", "form", "said"),
    [
        ([], None, "text", "no system"),
        ((), replace(board(), systems=()), "json", "no system"),
        ([build()], None, "html", "'html' is not one of text, json"),
    ],
)
def test_what_has_no_system_or_no_form_is_refused(systems, made, form, said):
    with pytest.raises(ValueError, match=said):
        render(systems, form, board=made)


# Screens without `-v`.


@settings(max_examples=10)
@given(
    st.lists(NAMES, max_size=30, unique=True),
    st.sampled_from((with_intervals, with_folds, with_worst, with_sections, of_runs)),
    st.integers(60, 200),
    st.booleans(),
)
def test_whatever_there_is_fits(names, made, width, color):
    lines = lines_of(render([made(build(tuple(names)))], width=width, color=color), width)
    # Notes with long names need a few more lines, and below 80 columns any number.
    assert len(lines) <= LINES + 4 or width < WIDTH


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_without_values_show_hard_scores_only(form):
    plain, valued = columns_of([("a", 0.0, 1.0, "car")]), columns_of([("a", 0.0, 1.0, "car", 0.5)])
    made = [
        *(evaluate(*sides) for sides in ((plain, plain), (plain, valued), (valued, plain))),
        evaluate(plain, plain, only=("segment.hard", "segment.soft")),
    ]
    texts = [render([scores], form).replace("soft-sed-eval", "") for scores in made]
    assert ["soft" in text for text in texts] == [False, True, True, True]


@given(st.text(max_size=50), st.integers(3, 60))
def test_a_name_is_shortened_in_the_middle(text, room):
    short = fitted.shortened(text, room)
    head, _, tail = short.partition("…")
    assert fitted.cells(short) <= room and text.startswith(head) and text.endswith(tail)
    assert short == text or fitted.cells(text) > room


def test_no_color_is_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render([build()], color=True)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize(("n_systems", "n_classes"), [(1, 17), (3, 9)])
def test_a_narrow_screen_names_the_columns_that_only_a_wide_one_has(n_systems, n_classes, by_class):
    """80 columns show the same numbers as 140, except for the columns that the screen names as left out."""
    made = compared(
        *(n_systems + 1, n_classes),
        n_files=4,
        replicates=20,
        only=["segment", "event"],
        ci="bootstrap",
    )
    of = {"systems": made.systems, "board": made} if n_systems > 1 else {"systems": made.systems[:1]}
    lines = {width: lines_of(render(**of, width=width, by_class=by_class), width) for width in (60, 80, 140)}
    for shown in lines.values():
        n_labels = sum(line.startswith("class ") for line in shown)
        assert n_labels == (n_classes if by_class else 0 if n_systems == 1 else 6)
        assert by_class or len(shown) <= 47
    narrow, wide = ({*re.findall(r"(?<![\w.])[-+]?\d*\.\d+", "\n".join(lines[k]))} for k in (80, 140))
    assert narrow <= wide
    assert narrow == wide or any(line.startswith("no room here for ") for line in lines[80])


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        {"n_systems": 12, "n_classes": 50, "replicates": 20},
        {"classes": ["\x1b[2J", "鳥の声" * 20, "a\u0301" * 50]},
        {"only": ["segment", "event", "clip", "intersection", "ranking"], "n_systems": 8, "replicates": 20},
    ],
    ids=str,
)
def test_a_board_of_any_width_is_short(shape):
    made = compared(**shape)
    for width, most in ((60, 47), (80, 43), (140, 43)):
        lines = lines_of(render_board(made, width=width), width)
        assert len(lines) <= most and all(line.isprintable() for line in lines)
