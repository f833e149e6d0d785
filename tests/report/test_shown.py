"""Text, terminal and Markdown: all scores are shown, nothing is cut, and nothing in a name is obeyed."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from samples import FAMILIES, MAESTRO, UNICODE, build, registered, revalued, tables, without

from sedeval_soft import evaluate
from sedeval_soft.errors import visible
from sedeval_soft.measures.registry import score_names
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.markdown import escaped
from sedeval_soft.report.table import Table, exact, number, short
from sedeval_soft.report.text import cells, plain_table, split, terminal_table

HARD = (("segment", "hard"),)
NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip())


def colourless(text):
    """Return what a terminal shows, line by line."""
    return [Text.from_ansi(line).plain for line in text.splitlines()]


def test_sample_scores_have_names_that_the_registry_has():
    labels = ("car",)
    assert set(build(labels, beta=2.0)) <= set(score_names(labels))


@pytest.mark.parametrize("shown", ["text", "markdown", "terminal 60", "terminal 80", "terminal 200"])
def test_every_score_is_shown(shown):
    scores = registered(MAESTRO[:3])
    form, _, width = shown.partition(" ")
    text = render([scores], color=True, width=int(width)) if width else render([scores], form)
    found = re.findall(r"\b1\d{5}\b", text)
    assert set(found) == {str(value) for value in scores.values()}
    assert len(scores) > 300


def test_tables_have_columns_for_what_there_is_and_no_rows_of_nothing():
    scores = without(build(), lambda s: s.average is not None or s.measure in {"n_ref", "f1"})
    text = render([scores])
    assert "Summary" not in text
    assert "F1" not in text
    assert "left out of macro" not in text
    lonely = without(build(), lambda s: not (s.reading == "soft" and s.average == "macro"))
    assert all(table.rows and all(any(row[table.names :]) for row in table.rows) for table in tables(lonely))
    none = without(build(), lambda _: True)
    assert render([none]).count("\n\n") == 1
    assert render([none], "csv").count("\n") == 2


def test_systems_are_told_apart_by_name():
    text = render([build(), build(system="other\x1b.tsv")])
    assert "System: sys.tsv\n" in text
    assert "System: other\\x1b.tsv\n" in text
    assert "System: " not in render([build()])


def test_the_dash_is_explained_where_there_is_one():
    assert "is undefined" not in render([build()])
    assert "is undefined" not in render([build(("-", "car"))])
    for form in ("text", "markdown"):
        assert "is undefined" in render([build(missed=("car",))], form)
    assert "\n- is" not in render([build(missed=("car",))], "markdown"), "a list item"


def test_classes_without_reference_are_named():
    text = render([build(MAESTRO, silent=MAESTRO[1:3])])
    assert "left out of macro averages: car, people talking." in text


def test_warnings_are_not_in_text_but_everywhere_else_that_has_a_place():
    warning = build().warnings[0]
    assert warning not in render([build()])
    for form in ("json", "yaml", "markdown"):
        assert "no rows for file" in render([build()], form)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
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


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_read_back_from_text(cut):
    scores = revalued(
        build(("car",), (("segment", "optimal"),)), lambda _, s: cut if s.measure == "threshold" else 0
    )
    line = next(line for line in render([scores]).splitlines() if line.startswith("car "))
    assert float(line.split()[-1]) == cut


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


@settings(max_examples=30)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.integers(20, 200))
def test_a_terminal_shows_names_whole(labels, width):
    lines = colourless(render([build(labels, HARD)], color=True, width=width))
    names = {visible(label) for label in labels}
    shown = [line.removeprefix(" ") for line in lines]
    assert all(any(line.startswith(name) for line in shown) for name in names)
    assert "…" in "".join(labels) or "…" not in "".join(lines)


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("labels", [MAESTRO, UNICODE, ("x",)])
def test_tables_fit_the_terminal(labels, width):
    text = render([build(labels)], color=True, width=width)
    drawn = [line for line in colourless(text)[6:-2] if line.startswith(" ")]
    assert max(map(cell_len, drawn)) <= width
    assert all(sum(name in line for line in drawn) >= len(FAMILIES) for name in labels)


def test_a_table_is_not_torn_into_many():
    table = render([build(("x" * 75,), HARD)], color=True, width=80)
    assert table.count("x" * 75) == 2


def test_markup_of_rich_is_not_obeyed_and_colours_can_be_off(monkeypatch):
    scores = build(("[red]x[/red]", "[link=http://a]b[/link]", "[/]", ":smile:"), HARD, missed=("[/]",))
    shown = "\n".join(colourless(render([scores], color=True, width=80)))
    assert all(name in shown for name in scores.classes)
    assert "\x1b[" not in render([scores])
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", render([scores], color=True, width=80))


def test_plain_table_gives_a_heading_room():
    table = Table("T", ("n", "a", "b"), (("x", "1", "2"),), headings=("weighted", "m"))
    assert plain_table(table) == "T\n   weighted  m\nn         a  b\nx         1  2\n"


def test_splitting_keeps_columns_and_groups():
    head = ("n", *"abcdef")
    table = Table("T", head, (("x", *"123456"),), headings=(*"ggghhh",))
    assert split(table, [1] * 7, 80) == [table]
    first, second = split(table, [1] * 7, 12)
    assert (first.head, first.groups) == (("n", "a", "b", "c"), (("", 1), ("g", 3)))
    assert (second.head, second.groups) == (("n", "d", "e", "f"), (("", 1), ("h", 3)))
    assert [part.head[1:] for part in split(table, [1] * 7, 7)] == [("a", "b"), ("c",), ("d", "e"), ("f",)]
    assert len(split(table, [1] * 7, 0)) == 6


def test_markdown_escapes_what_markdown_and_html_obey():
    labels = ("a|b", "<b>x</b>", "[x](y)", "![i](u)", "`c`", "*e*", "_e_", "~~s~~", "&lt;", "# h", "\\|")
    markdown = render([build(labels, HARD)], "markdown")
    table = markdown.split("### Classes, segment-based, hard reading\n\n")[1].split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(labels)
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table]
    assert len(set(bars)) == 1
    assert "<" not in re.sub(r"\\<", "", markdown)
    assert not re.search(r"(?<!\\)&", markdown)


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "tsv"])
def test_simple_forms_need_no_other_package(form):
    code = (
        f"import sys; sys.path.insert(0, {sys.path[0]!r}); sys.path[:0] = {sys.path!r}\n"
        "from samples import build; from sedeval_soft.report import render\n"
        f"render([build()], {form!r})\n"
        "print(*{'rich', 'yaml', 'msgspec', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "\n"


def test_a_confusion_that_no_table_holds_is_left_to_json():
    rng = np.random.default_rng(0)
    for n_classes in (50, 51):
        y, p = rng.random((2, 20, n_classes))
        scores = evaluate(y, p, only=("segment.hard",), measures=("confusion",))
        shown = render([scores])
        assert ("Confusion of classes" in shown) == (n_classes == 50)
        assert ("The confusion of 51 classes is in JSON" in shown) == (n_classes == 51)
        assert len(scores.to_dict()["systems"][0]["confusion"][0]["pairs"]) == n_classes


def test_a_heading_wider_than_its_first_column_counts_where_a_table_is_split():
    headings = tuple(f"a long heading {i // 2}" for i in range(6))
    table = Table("T", ("n", *"abcdef"), (("x", *"123456"),), headings=headings)
    drawn = colourless(terminal_table(table, 60))
    assert max(map(cell_len, drawn)) <= 60
    assert sum("a long heading" in line for line in drawn) == 2
    assert len(colourless(terminal_table(table, None))) < len(drawn)
