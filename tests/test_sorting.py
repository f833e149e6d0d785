"""Sorting of many values, compared to numpy's, and pieces of work on all processors."""

import threading

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sedeval_soft import arrays as threads
from sedeval_soft.arrays import for_each, heads, in_order

coarse = st.sampled_from([0.0, 1e-300, 1e-20, 0.25, 0.5, 0.5 + 2**-53, 0.75, 1.0])
values = arrays(np.float64, st.integers(0, 60), elements=st.one_of(coarse, st.floats(0, 1)))
MANY = np.random.default_rng(3).random(5000)


@given(values)
@example(0.5 + np.random.default_rng(3).integers(-3, 4, 5000) * 2.0**-53)
@example(MANY * 1e-14)
@example(MANY * 1e-300)
def test_the_order_is_a_stable_argsort(array):
    """Some of the values agree in more leading bits than fit into a word with an index."""
    ordered, order = in_order(array)
    assert order.tolist() == np.argsort(array, kind="stable").tolist()
    assert ordered.tolist() == array[order].tolist()
    assert ordered[heads(ordered)].tolist() == np.unique(array).tolist()


def test_pieces_are_in_order_and_share_processors_with_their_own_pieces(monkeypatch):
    monkeypatch.setattr(threads, "_WORTH", 1)
    monkeypatch.setattr(threads, "processors", lambda: 2)
    assert for_each(lambda i: i * i, range(50), 50) == [i * i for i in range(50)]
    assert for_each(lambda i: i, [], 1) == []
    with pytest.raises(ZeroDivisionError):
        for_each(lambda i: 1 // i, range(-1, 2), 3)

    def outer(_):
        return threading.get_ident(), for_each(lambda _: threading.get_ident(), range(4), 4)

    for here, inner in for_each(outer, range(8), 8):
        assert here != threading.get_ident() and inner == [here] * 4
