"""Pages of systems and boards: all scores are shown, nothing is cut, and what a reader must know is said.

What a page looks like to the letter is in tests/data/report; here are the rules behind it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

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
    registered,
    render_board,
    revalued,
    tables,
    with_folds,
    with_intervals,
)

from sedeval_soft import evaluate
from sedeval_soft.errors import visible
from sedeval_soft.measures.registry import AVERAGES
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.board import board_page, p_value
from sedeval_soft.report.page import ends
from sedeval_soft.report.render import with_averages
from sedeval_soft.report.table import cells, escaped, exact, number, short

HARD = (("segment", "hard"),)
SEGMENTS = (("segment", "hard"), ("segment", "optimal"))
NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip())
TABLE = {
    "filename": ["street_1", "street_1", "park"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
GROUP, SCENE = "traffic *|, =1", "street\u00e9"


@pytest.fixture(scope="module")
def parts():
    return evaluate(TABLE, TABLE, groups={GROUP: ["car"]}, scenes={SCENE: "street_*"})


def colourless(text):
    """Return what a terminal shows, line by line."""
    return [Text.from_ansi(line).plain for line in text.splitlines()]


def table_of(found, title):
    """Return the one table of a system or a board whose title begins so."""
    all_tables = tables(found) if hasattr(found, "settings") else board_page(found).tables
    (table,) = (table for table in all_tables if table.title.startswith(title))
    return table


@pytest.mark.parametrize("shown", ["text", "markdown", "terminal 60"])
def test_every_score_is_shown(shown):
    scores = registered(MAESTRO[:3])
    form, _, width = shown.partition(" ")
    text = render([scores], color=True, width=int(width)) if width else render([scores], form)
    assert {*re.findall(r"\b1\d{5}\b", text)} == {str(value) for value in scores.values()}
    assert len(scores) > 300


def test_every_end_of_an_interval_is_shown():
    scores = with_intervals(registered(("car",)))
    text = render([scores])
    values = {end for score in scores.scores.values() if score.low for end in (score.low, score.high)}
    assert len(values) > 200
    assert all(f"{end:.4f}" in text or f"{end:.2f}" in text for end in values)


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
@pytest.mark.parametrize("form", FORMATS)
def test_no_nan_and_no_infinity_gets_out(form, value):
    text = render([revalued(build(), lambda *_: value)], form)
    assert not re.search(r"\b(nan|inf(inity)?)\b", text, re.IGNORECASE)


def test_numbers():
    assert [number(v) for v in (None, 3, 0.25, -1e-9, -0.0, -0.25, 12345.5)] == [
        *("-", "3", "0.2500", "0.0000", "0.0000", "-0.2500", "12345.5000"),
    ]
    assert [exact(v) for v in (None, 3, 0.1, 1 / 3)] == ["-", "3", "0.1", "0.3333333333333333"]
    assert [short(v) for v in (1.0, 0.2, 1e-06)] == ["1", "0.2", "1e-06"]


@settings(max_examples=25)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_read_back_from_text(cut):
    scores = revalued(
        build(("car",), (("segment", "optimal"),)), lambda _, s: cut if s.measure == "threshold" else 0
    )
    line = next(line for line in render([scores]).splitlines() if line.startswith("car "))
    assert float(line.split()[-1]) == cut


@settings(max_examples=25)
@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_name_is_shown_whole_and_lines_up(labels):
    scores = build(labels, HARD)
    names = [visible(label) for label in labels]
    block = render([scores]).split("Classes, segment-based, hard reading\n")[1].split("\n\n")[0].splitlines()
    assert [line.startswith(name) for name, line in zip(names, block[1:], strict=True)] == [True] * len(names)
    assert len({cells(line) for line in block}) == 1
    markdown = render([scores], "markdown")
    assert all(f"| {escaped(label)} |" in markdown for label in labels)
    for text in (render([scores]), markdown):
        assert all(char.isprintable() or char == "\n" for char in text)


@settings(max_examples=10)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.integers(20, 200))
def test_a_terminal_shows_names_whole(labels, width):
    lines = colourless(render([build(labels, HARD)], color=True, width=width))
    shown = [line.removeprefix(" ") for line in lines]
    assert all(any(line.startswith(visible(label)) for line in shown) for label in labels)
    assert "…" in "".join(labels) or "…" not in "".join(lines)


@pytest.mark.parametrize(("labels", "width"), [(MAESTRO, 80), (UNICODE, 120), (None, 80)])
def test_tables_fit_the_terminal(labels, width):
    of_board = render_board(board(), color=True, width=width)
    text = of_board if labels is None else render([build(labels)], color=True, width=width)
    drawn = [line for line in colourless(text)[6:-2] if line.startswith(" ")]
    assert max(map(cell_len, drawn)) <= width
    assert all(sum(name in line for line in drawn) >= len(FAMILIES) for name in labels or ())


def test_markdown_escapes_what_markdown_and_html_obey():
    labels = ("a|b", "<b>x</b>", "[x](y)", "![i](u)", "`c`", "*e*", "_e_", "~~s~~", "&lt;", "# h", "\\|")
    markdown = render([build(labels, HARD)], "markdown")
    table = markdown.split("### Classes, segment-based, hard reading\n\n")[1].split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(labels)
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}) == 1
    assert "<" not in re.sub(r"\\<", "", markdown)
    assert not re.search(r"(?<!\\)&", markdown)


def test_simple_forms_need_no_other_package():
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from samples import build; from sedeval_soft.report import render\n"
        "[render([build()], form) for form in ('text', 'markdown', 'csv', 'tsv')]\n"
        "print(*{'rich', 'yaml', 'msgspec', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "\n"


def test_a_confusion_that_no_table_holds_is_left_to_json():
    rng = np.random.default_rng(0)
    for n_classes in (50, 51):
        y, p = rng.random((2, 20, n_classes))
        scores = evaluate(y, p, only=("segment.hard",), measures=("confusion",))
        text = render([scores])
        assert ("Confusion of classes" in text) == (n_classes == 50)
        assert ("The confusion of 51 classes is in JSON" in text) == (n_classes == 51)
        assert len(scores.to_dict()["systems"][0]["confusion"][0]["pairs"]) == n_classes


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, ("2.5 %", "97.5 %")), (0.9, ("5 %", "95 %")), (0.99, ("0.5 %", "99.5 %")),
        (0.6827, ("15.865 %", "84.135 %")), (0.9999, ("0.005 %", "99.995 %")),
    ],
)  # fmt: skip
def test_ends_have_exact_short_names(confidence, expected):
    assert ends(confidence) == expected


def test_folds_have_the_spread_of_all_averages_where_there_are_no_main_ones():
    scores = with_folds(build(families=SEGMENTS))
    rare = tuple(s for s in scores.folds.spreads if ".accuracy." in s.name)
    rows = table_of(replace(scores, folds=replace(scores.folds, spreads=rare)), "Folds").rows
    assert [row[2:4] for row in rows[:3]] == [("acc", "micro"), ("acc", "macro"), ("acc", "weighted")]


@pytest.mark.parametrize("wanted", [("micro",), ("micro", "weighted"), AVERAGES])
def test_only_asked_averages_are_shown(wanted, parts):
    text = render([with_averages(parts, wanted)]).rpartition("soft-sed-eval")[0]
    assert {average for average in AVERAGES if re.search(rf"\b{average}\b", text)} == {*wanted}
    group = table_of(with_averages(parts, wanted), f"Summary, group {GROUP}")
    shown = [average for average in wanted if average != "weighted" or not {"micro", "macro"} <= {*wanted}]
    assert [heading for heading, _ in group.groups] == ["", *shown]
    whole = registered(("car",))
    assert {*whole} - {*with_averages(whole, wanted)} == {
        name for name in whole if name.endswith(tuple(f".{a}" for a in AVERAGES if a not in wanted) or ("?",))
    }


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        *((1.0, "1.0000"), (0.04999, "0.0500"), (1 / 1001, "0.0010"), (0.0001, "0.0001")),
        *((0.00009, "9.0e-05"), (1 / 1_000_001, "1.0e-06"), (3.2e-200, "3.2e-200"), (0.0, "< 1e-300")),
        *((None, "-"), (float("nan"), "-")),
    ],
)
def test_p_values_are_never_zero(p, shown):
    assert p_value(p) == shown


def test_what_cannot_be_shown_is_refused():
    for form in FORMATS:
        with pytest.raises(ValueError, match="no system"):
            render([], form)
    for call in (lambda *a, **b: render([build()], *a, **b), lambda *a, **b: render_board(board(), *a, **b)):
        with pytest.raises(ValueError, match="'html' is not one of text, json"):
            call("html")
    with pytest.raises(ValueError, match="no system"):
        render_board(replace(board(), systems=()))
