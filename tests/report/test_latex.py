"""LaTeX: what its readers rely on, held against a small reader of `tabular`."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import board, render_board

from sedeval_soft.comparison.board import Board
from sedeval_soft.report.latex import escaped

SOFT = (("segment", "soft"),)


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of a tabular: the lines that end a row, cut at ampersands that are not escaped."""
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))] for line in lines]


def balanced(text: str) -> bool:
    """Return whether the braces of a text that are no characters open and close."""
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def drawn(found: Board) -> dict[str, list[str]]:
    """Return the cells of each column of a leaderboard, by its head."""
    _, head, *rows = rows_of(render_board(found, "latex"))
    return {name: [row[at] for row in rows] for at, name in enumerate(head)}


def test_a_leaderboard_has_f_and_what_ranks_with_the_best_in_bold_whichever_way_it_is_better():
    error_rate = "segment.soft.error_rate.micro"
    found = replace(board(families=SOFT), rank_by=error_rate)
    columns = drawn(found)
    assert [*drawn(board(families=SOFT))][-1:] == ["F1 macro"] and "ER micro" in columns
    for head, name, best in (("F1 macro", "segment.soft.f1.macro", max), ("ER micro", error_rate, min)):
        values = [scores[name] for scores in found.systems]
        bold = [cell.startswith(r"\textbf{") for cell in columns[head]]
        assert bold == [value == best(values) for value in values], head


@settings(max_examples=50)
@given(st.text(max_size=20))
@example("".join(map(chr, range(256))))
@example("\\\\[2em]")
def test_no_character_of_a_name_is_obeyed(name):
    text = escaped(name)
    assert "\n" not in text
    assert balanced(text)
    for command in re.findall(r"\\[a-zA-Z]+\d*\{\}", text):
        text = text.replace(command, "")
    for command in re.findall(r"\\.", text):
        assert command[1] in "#$%&_{}"
    plain = re.sub(r"\\.", "", text)
    assert not set(plain) & set('#$%&_~^\\<>|"')
    assert not re.search(r"(?<!\{)[\[\]*]|[\[\]*](?!\})", plain)
