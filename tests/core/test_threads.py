"""Pieces on all processors: in order, and not on more threads than there are processors."""

from __future__ import annotations

import threading

import pytest

from sedeval_soft import threads
from sedeval_soft.threads import for_each


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr(threads, "_WORTH", 1)
    monkeypatch.setattr(threads, "processors", lambda: 2)


def test_results_are_in_order():
    assert for_each(lambda i: i * i, range(50), 50) == [i * i for i in range(50)]
    assert for_each(lambda i: i, [], 1) == []


def test_pieces_of_a_piece_stay_on_its_thread():
    def outer(i):
        here = threading.get_ident()
        return here, for_each(lambda _: threading.get_ident(), range(4), 4)

    for here, inner in for_each(outer, range(8), 8):
        assert here != threading.get_ident()
        assert inner == [here] * 4


def test_a_single_piece_leaves_the_processors_to_its_own_pieces():
    (inner,) = for_each(lambda _: for_each(lambda _: threading.get_ident(), range(4), 4), range(1), 1)
    assert threading.get_ident() not in inner


def test_what_a_piece_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        for_each(lambda i: 1 // i, range(-1, 2), 3)
