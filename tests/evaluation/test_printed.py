"""What `print`, `repr` and notebooks show of results; a board as a mapping, a data frame and a document."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from io import StringIO

import pandas as pd
import pytest
from called import OTHER, REFERENCE, SYSTEM, call

from sedeval_soft import EvaluationError, UnknownSystemError, compare, evaluate, mean_of_runs

FEW = {"replicates": 40}


class Words(HTMLParser):
    """The text of a page, and the elements in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.elements = "", []
        self.feed(page)

    def handle_starttag(self, tag, _):
        self.elements.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def board():
    return compare(REFERENCE, [OTHER, SYSTEM], **FEW)


def test_printed_scores_are_what_the_command_prints(board):
    assert f"{evaluate(REFERENCE, SYSTEM)}\n" == call(REFERENCE, SYSTEM).out
    assert f"{board}\n" == call(REFERENCE, OTHER, SYSTEM, "--replicates", "40").out
    assert f"{mean_of_runs(REFERENCE, [SYSTEM, OTHER])}\n" == call(REFERENCE, SYSTEM, OTHER, "--runs").out


def test_notebooks_show_tables(board):
    name = "<script>alert(1)</script> & \x1b[31m"
    hostile = compare(REFERENCE, {name: SYSTEM, "b": OTHER}, **FEW)
    for result in (evaluate(REFERENCE, SYSTEM, name=name), board, hostile):
        page = Words(result._repr_html_())
        assert {*page.elements} == {"table", "caption", "tr", "th", "td", "p"}
        assert "0.780" in page.text and "soft-sed-eval " in page.text
        assert "\x1b" not in page.text
    rows = Words(board._repr_html_()).text
    assert rows.index("sys.tsv") < rows.index("sys_b.tsv")
    assert "segment" in Words(evaluate(REFERENCE, SYSTEM)._repr_html_()).text


def test_repr_is_one_short_line(board):
    assert repr(board) == f"<Board of 2 systems by segment.soft.f1.macro: {SYSTEM!r}, {OTHER!r}>"
    many = compare(REFERENCE, {f"system {k}": SYSTEM for k in range(9)}, only=["segment"], **FEW)
    assert repr(many).endswith(": 'system 0', 'system 1', 'system 2' and 6 more>")


def test_a_board_is_a_mapping_of_systems_by_place(board):
    assert [*board] == [entry.system for entry in board.entries] == [SYSTEM, OTHER]
    assert len(board) == 2
    assert SYSTEM in board
    assert "nobody" not in board
    assert [scores.system for scores in board.values()] == [*board]
    assert board[OTHER]["segment.soft.f1.macro"] == evaluate(REFERENCE, OTHER)["segment.soft.f1.macro"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sys_b.tsv", f"no system is named 'sys_b.tsv'; did you mean {OTHER!r}?"),
        (OTHER.upper(), "did you mean"),
        ("baseline", f"no system is named 'baseline'; the systems are {SYSTEM!r}, {OTHER!r}"),
        (0, "no system is named 0; the systems are"),
    ],
)
def test_an_unknown_system_is_told_what_there_is(board, name, said):
    with pytest.raises(UnknownSystemError) as raised:
        board[name]
    assert said in str(raised.value)
    assert isinstance(raised.value, KeyError)
    assert isinstance(raised.value, EvaluationError)


def test_the_data_frame_of_a_board_is_its_csv(board):
    read = pd.read_csv(
        StringIO(call(REFERENCE, OTHER, SYSTEM, "--replicates", "40", "--format", "csv").out), comment="#"
    )
    made = board.to_pandas()
    assert made["system"].tolist() == [SYSTEM, OTHER] and read["system"].tolist() == ["sys.tsv", "sys_b.tsv"]
    for column in (
        "place",
        "value",
        "low",
        "high",
        "difference_value",
        "difference_p_adjusted",
        "worst_place",
    ):
        assert made[column].isna().tolist() == read[column].isna().tolist()
        assert made[column].dropna().tolist() == read[column].dropna().tolist()
    assert made["difference_value"].isna().tolist() == [True, False]


def test_the_document_of_a_board_is_its_json():
    board = compare(REFERENCE, {"sys_b.tsv": OTHER, "sys.tsv": SYSTEM}, **FEW)
    printed = call(REFERENCE, OTHER, SYSTEM, "--replicates", "40", "--format", "json").document
    assert json.loads(json.dumps(board.to_dict())) == printed
