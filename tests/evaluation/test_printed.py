"""What `print`, `repr` and notebooks show of results; a board as a mapping, a data frame and a document."""

from __future__ import annotations

import re
from io import StringIO

import pandas as pd
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from tables import columns_of

from sedeval_soft import EvaluationError, UnknownSystemError, compare, evaluate, mean_of_runs

FEW = {"replicates": 40}


@pytest.fixture(scope="module")
def board():
    return compare(REFERENCE, [OTHER, SYSTEM], **FEW)


def test_printed_scores_are_what_the_command_prints(board):
    assert f"{evaluate(REFERENCE, SYSTEM)}\n" == call(REFERENCE, SYSTEM).out
    assert f"{board}\n" == call(REFERENCE, OTHER, SYSTEM, "--replicates", "40").out
    assert f"{mean_of_runs(REFERENCE, [SYSTEM, OTHER])}\n" == call(REFERENCE, SYSTEM, OTHER, "--runs").out


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
    text = call(REFERENCE, OTHER, SYSTEM, "--replicates", "40", "--format", "csv").out
    read, made = pd.read_csv(StringIO(text), comment="#"), board.to_pandas()
    assert made["system"].tolist() == [SYSTEM, OTHER] and read["system"].tolist() == ["sys.tsv", "sys_b.tsv"]
    numbers = ["place", "value", "low", "high", "difference_value", "difference_p_adjusted", "worst_place"]
    pd.testing.assert_frame_equal(made[numbers], read[numbers], check_exact=True, check_dtype=False)
    assert made["difference_value"].isna().tolist() == [True, False]


# MLflow 3 takes as names of metrics: alphanumerics, underscores, dashes, periods, spaces, slashes, colons.
TAKEN = re.compile(r"[\w\-. /:]+", re.ASCII)


def test_metrics_are_the_defined_scores_by_names_that_trackers_take():
    reference = columns_of([("a", 0.0, 2.0, "dog (big)", 0.7), ("b", 0.0, 1.0, "scène", 1.0)])
    scores = evaluate(reference, reference, scenes={"home": ["a*"]})
    metrics = scores.metrics()
    assert all(TAKEN.fullmatch(name) for name in metrics)
    assert len(metrics) == sum(value is not None for value in scores.values())
    assert metrics["segment/soft/f1/macro"] == metrics["segment/soft/f1/dog _big_"] == 1.0
    assert metrics["segment/soft/tp/micro/home"] == scores["segment.soft.tp.micro@home"]
    assert scores.metrics(".")["segment.soft.f1.sc_ne"] == 1.0
