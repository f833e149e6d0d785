"""Pages of systems and boards show all scores and whole names.

The golden files in tests/data/report have each letter of a page; these tests have the rules behind it.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from samples import (
    FAMILIES,
    MAESTRO,
    UNICODE,
    board,
    build,
    render_board,
    revalued,
    with_all,
    with_intervals,
)

from sedeval_soft import evaluate
from sedeval_soft.errors import visible
from sedeval_soft.measures.registry import AVERAGES
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.board import p_value
from sedeval_soft.report.fitted import cells
from sedeval_soft.report.legend import short
from sedeval_soft.report.page import ends
from sedeval_soft.report.shown import with_averages
from sedeval_soft.report.table import escaped, exact, number

HARD = (("segment", "hard"),)
NAN = math.nan
NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip())


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


def test_how_numbers_are_written():
    assert [number(v) for v in (None, 3, 0.25, -1e-9, -0.0, -0.25, 12345.5)] == [
        *("-", "3", "0.250", "0.000", "0.000", "-0.250", "12345.500"),
    ]
    assert [exact(v) for v in (None, 3, 0.1, 1 / 3)] == ["-", "3", "0.1", "0.3333333333333333"]
    assert [short(v) for v in (1.0, 0.2, 1e-06)] == ["1", "0.2", "1e-06"]
    assert [ends(c) for c in (0.95, 0.6827)] == [("2.5 %", "97.5 %"), ("15.865 %", "84.135 %")]
    # No p-value looks like 0.
    assert [p_value(p) for p in (None, NAN, 1.0, 0.04999, 0.0001, 0.00009, 3.2e-200, 0.0)] == [
        *("-", "-", "1.0000", "0.0500", "0.0001", "9.0e-05", "3.2e-200", "< 1e-300"),
    ]
    for value, form in product((NAN, -math.inf), FORMATS):
        text = render([revalued(build(("car",), HARD), lambda _, value=value: value)], form, verbose=1)
        assert not re.search(r"\b(nan|inf(inity)?)\b", text, re.IGNORECASE), form


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
        assert line.startswith(visible(label)) and f"| {escaped(label)} |" in markdown
    assert len({cells(line) for line in block}) == 1
    assert (text + markdown).replace("\n", "").isprintable()


@pytest.mark.parametrize(("labels", "width"), [(MAESTRO, 80), (UNICODE, 120), (None, 80)])
def test_tables_fit_the_terminal(labels, width):
    how = {"color": True, "width": width}
    text = render_board(board(), **how) if labels is None else render([build(labels)], verbose=1, **how)
    drawn = [
        line for line in Text.from_ansi(text.partition("\n\n")[2]).plain.splitlines() if "  " in line.strip()
    ]
    assert max(map(cell_len, drawn)) <= width
    # Two of them look the same, and are shown so that they differ.
    shown = [{"caf\u00e9": r"caf\xe9", "cafe\u0301": r"cafe\u0301"}.get(name, name) for name in labels or ()]
    assert all(sum(name in line for line in drawn) >= len(FAMILIES) for name in shown)


@pytest.mark.parametrize("wanted", [("micro",), ("micro", "weighted"), AVERAGES])
def test_only_asked_averages_are_shown(wanted):
    whole = with_all(("car",))
    others = tuple(f".{average}" for average in AVERAGES if average not in wanted)
    assert [*with_averages(whole, wanted)] == [name for name in whole if not name.endswith(others)]


@pytest.mark.parametrize(("n_classes", "shown"), [(50, True), (51, False)])
def test_a_confusion_that_no_table_holds_is_left_to_json(n_classes, shown):
    y, p = np.random.default_rng(0).random((2, 5, n_classes))
    scores = evaluate(y, p, only=("segment.hard",), measures=("confusion",))
    assert ("Confusion of classes" in render([scores], verbose=1)) == shown
    assert len(scores.to_dict()["systems"][0]["confusion"][0]["pairs"]) == n_classes


def test_what_has_no_system_or_no_form_is_refused():
    for systems, made, form in (
        ([], None, "text"),
        ((), replace(board(), systems=()), "json"),
        ([build()], None, "html"),
    ):
        with pytest.raises(ValueError, match="no system|'html' is not one of text, json"):
            render(systems, form, board=made)
