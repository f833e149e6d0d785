"""Evaluators that are added, pickled and handed over as bytes."""

from __future__ import annotations

import functools
import operator
import pickle

import pytest

from sedeval_soft import EvaluationError, Evaluator, InputError, Limits
from sedeval_soft.report import render


def counted(file: str, **given) -> Evaluator:
    table = {"filename": [file], "onset": [0.0], "offset": [2.0], "event_label": ["car"], "value": [0.75]}
    return Evaluator(**given).update(table, table)


def test_added_ones_stay_as_they_are():
    one, other = counted("a"), counted("b")
    both = one + other
    assert (len(one.compute().files), len(other.compute().files), len(both.compute().files)) == (1, 1, 2)
    # What reduces may take the same result twice, and in any order.
    assert render([(other + one).compute()], "json") == render([both.compute()], "json")
    many = [counted(file) for file in "abcdefg"]
    assert len(functools.reduce(operator.add, many).compute().files) == 7


def test_what_cannot_be_added():
    with pytest.raises(EvaluationError, match="was counted before"):
        counted("a") + counted("a")
    with pytest.raises(EvaluationError, match="segment_length is 1.0 and 2.0"):
        counted("a") + counted("b", segment_length=2.0)
    with pytest.raises(TypeError):
        counted("a") + 1
    with pytest.raises(TypeError):
        1 + counted("a")


def pickled(evaluator: Evaluator) -> Evaluator:
    return pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - our own


@pytest.mark.parametrize("hand_over", [pickled, lambda evaluator: Evaluator.of_bytes(evaluator.to_bytes())])
def test_handed_over(hand_over):
    one = counted("a", segment_length=0.5, name="x")
    other = hand_over(one)
    assert render([other.compute()], "json") == render([one.compute()], "json")
    assert len((other + counted("b", segment_length=0.5)).compute().files) == 2


def test_bytes_are_those_of_a_file(tmp_path):
    one = counted("a")
    one.save(tmp_path / "a.tally")
    assert (tmp_path / "a.tally").read_bytes() == one.to_bytes()
    assert len(Evaluator.load(tmp_path / "a.tally").compute().files) == 1


@pytest.mark.parametrize("data", [b"", b"PK", b"{}", pickle.dumps({})])
def test_bytes_of_strangers(data):
    with pytest.raises(InputError, match="^bytes: .*; expected a tally file"):
        Evaluator.of_bytes(data)


def test_what_are_no_bytes():
    with pytest.raises(EvaluationError, match="the bytes of a tally"):
        Evaluator.of_bytes("text")
    with pytest.raises(InputError, match="has 2 files; expected 1 or fewer"):
        Evaluator.of_bytes((counted("a") + counted("b")).to_bytes(), limits=Limits(files=1))
