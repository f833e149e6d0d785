"""Orders and blocks of many values against numpy's own sorting, and pieces of work on all processors."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from sedeval_soft import sorting, threads
from sedeval_soft.sorting import Blocks, distinct, heads, in_order
from sedeval_soft.threads import for_each

coarse = st.sampled_from([0.0, 1e-300, 1e-20, 0.25, 0.5, 0.5 + 2**-53, 0.75, 1.0])
values = arrays(np.float64, st.integers(0, 60), elements=st.one_of(coarse, st.floats(0, 1)))
MANY = np.random.default_rng(3).random(5000)


@given(values)
@example(0.5 + np.random.default_rng(3).integers(-3, 4, 5000) * 2.0**-53)
@example(MANY * 1e-14)
@example(MANY * 1e-300)
def test_the_order_is_a_stable_argsort(array):
    """Also of many values that agree in more leading bits than there is room for beside an index."""
    ordered, order = in_order(array)
    assert order.tolist() == np.argsort(array, kind="stable").tolist()
    assert ordered.tolist() == array[order].tolist()
    assert ordered[heads(ordered)].tolist() == np.unique(array).tolist()


@pytest.mark.parametrize("n", [0, 1, 1000, 100_000])
def test_distinct_is_unique(n):
    array = np.random.default_rng(n).integers(0, 50, (2, n)).astype("int32")
    np.testing.assert_array_equal(distinct(array), np.unique(array), strict=True)


@pytest.mark.parametrize("block_size", [1, 4, 1 << 15])
@pytest.mark.parametrize("levels", [1, 2, 5, 10**6])
def test_blocks_bring_arrays_into_one_order_and_place_what_belongs_to_values(block_size, levels, monkeypatch):
    monkeypatch.setattr(sorting, "_BLOCK", block_size)
    rng = np.random.default_rng(levels)
    parts = [np.sort(rng.integers(0, levels, int(rng.integers(0, 50))) / levels) for _ in range(3)]
    weights = [rng.integers(0, 9, len(part)) for part in parts]
    blocks = Blocks.of(parts)
    ordered = [blocks.joined(i) for i in range(len(blocks))]
    assert np.concatenate(ordered).tolist() == np.sort(np.concatenate(parts)).tolist()
    assert [len(v) for v in ordered] == np.diff(blocks.before).tolist()
    full = [v for v in ordered if len(v)]
    assert all(a[-1] < b[0] for a, b in zip(full, full[1:], strict=False))
    for i, of_block in enumerate(ordered):
        unlike = len(np.unique(of_block))
        assert blocks.levels[i] == (of_block[0] if unlike == 1 else None)
        assert blocks.distinct[i] == (unlike == len(of_block) and unlike != 1)

    sums = sum(blocks.sums(k, weight) for k, weight in enumerate(weights))
    for i in range(len(blocks)):
        slices = blocks.slices(i)
        assert sums[i] == sum(int(w[s].sum()) for w, s in zip(weights, slices, strict=True))
        pairs = [pair for part, weight, s in zip(parts, weights, slices, strict=True)
                 for pair in zip(part[s].tolist(), weight[s].tolist(), strict=True)]  # fmt: skip
        # What belongs to equal values may be in any order.
        assert sorted(zip(ordered[i].tolist(), blocks.joined(i, weights).tolist(), strict=True)) == sorted(
            pairs
        )
    for rank, value in enumerate(np.concatenate(ordered)):
        i = int(np.searchsorted(blocks.before, rank, side="right")) - 1
        assert np.max(blocks.between(rank, rank + 1)) == value
        assert np.min(blocks.between(rank, int(blocks.before[i + 1]))) == value
    for some in (parts, [max(parts, key=len)]):
        places = [rng.permutation(len(part)) for part in some]
        ranks = np.split(2 * rankdata(np.concatenate(some)), np.cumsum([len(part) for part in some])[:-1])
        for of_part, expected, place in zip(Blocks.of(some).ranks_at(places), ranks, places, strict=True):
            assert of_part.tolist() == expected[place].tolist()


def test_blocks_of_alike_arrays_are_of_even_size():
    """Levels come from all arrays at different places: from the same ones they would lie in heaps."""
    rng = np.random.default_rng(0)
    size = np.diff(Blocks.of([np.sort(rng.random(100_000)) for _ in range(17)]).before)
    assert len(size) == pytest.approx(1_700_000 / sorting._BLOCK, rel=0.1)
    assert size.max() < 2 * sorting._BLOCK
    # A value that fills blocks is one by itself.
    part = np.concatenate((np.zeros(500_000), np.linspace(0.1, 1, 100_000)))
    blocks = Blocks.of([part, part])
    (full,) = np.flatnonzero(np.diff(blocks.before) > 500_000)
    assert (blocks.levels[full], blocks.orders[full]) == (0.0, None)
    assert blocks.between(0, 500_000) == 0.0


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
        assert here != threading.get_ident()
        assert inner == [here] * 4
    # Of four processors two pieces have two each.
    monkeypatch.setattr(threads, "processors", lambda: 4)

    def meeting(_):
        both = threading.Barrier(2, timeout=60)
        return for_each(lambda _: both.wait(), range(2), 2)

    assert [sorted(inner) for inner in for_each(meeting, range(2), 2)] == [[0, 1]] * 2
