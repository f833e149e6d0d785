"""Orders and blocks of many values against numpy's own sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sedeval_soft import sorting as blocks_module
from sedeval_soft.sorting import Blocks, distinct, heads, in_order, middle_ranks

coarse = st.sampled_from([0.0, 1e-300, 1e-20, 0.25, 0.5, 0.5 + 2**-53, 0.75, 1.0])
values = arrays(np.float64, st.integers(0, 60), elements=st.one_of(coarse, st.floats(0, 1)))


@given(values)
def test_the_order_is_a_stable_argsort(array):
    found, order = in_order(array)
    assert order.tolist() == np.argsort(array, kind="stable").tolist()
    assert found.tolist() == array[order].tolist()


@pytest.mark.parametrize("scale", [1.0, 1e-14, 1e-300])
def test_the_order_puts_right_what_its_bits_do_not_part(scale):
    """Values that agree in more leading bits than there is room for beside an index."""
    rng = np.random.default_rng(3)
    array = 0.5 + rng.integers(-3, 4, 5000) * 2.0**-53 if scale == 1.0 else rng.random(5000) * scale
    found, order = in_order(array)
    assert order.tolist() == np.argsort(array, kind="stable").tolist()
    assert found.tolist() == array[order].tolist()


@given(values)
def test_heads_and_ranks(array):
    from scipy.stats import rankdata

    ordered = np.sort(array)
    assert len(heads(ordered)) == len(np.unique(ordered))
    assert middle_ranks(ordered).tolist() == rankdata(ordered).tolist()


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("n", [0, 1, 1000, 100_000])
def test_distinct_is_unique(n, dtype):
    values = np.random.default_rng(n).integers(0, 50, (2, n)).astype(dtype)
    found = distinct(values)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, np.unique(values))


@pytest.fixture(params=[1, 4, 1 << 15], ids="block of {}".format)
def block_size(request, monkeypatch):
    monkeypatch.setattr(blocks_module, "_BLOCK", request.param)


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("levels", [1, 2, 5, 10**6])
def test_blocks_bring_arrays_into_one_order(seed, levels):
    rng = np.random.default_rng(seed)
    parts = [np.sort(rng.integers(0, levels, int(rng.integers(0, 50))) / levels) for _ in range(3)]
    blocks = Blocks.of(parts)
    whole = np.sort(np.concatenate(parts))
    found = [blocks.ordered(i)[0] for i in range(len(blocks))]
    assert np.concatenate(found).tolist() == whole.tolist()
    assert [len(values) for values in found] == blocks.size.tolist()
    full = [values for values in found if len(values)]
    assert all(a[-1] < b[0] for a, b in zip(full, full[1:], strict=False))


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("seed", range(6))
def test_blocks_place_what_belongs_to_their_values(seed):
    from scipy.stats import rankdata

    rng = np.random.default_rng(seed)
    parts = [np.sort(rng.integers(0, 6, int(rng.integers(0, 40))) / 6) for _ in range(3)]
    weights = [rng.integers(0, 9, len(part)) for part in parts]
    blocks = Blocks.of(parts)
    ranks: list[list[float]] = [[] for _ in parts]
    sums = sum(blocks.sums(k, weight) for k, weight in enumerate(weights))
    for i in range(len(blocks)):
        for of_part, own in zip(ranks, blocks.rank(i), strict=True):
            of_part.extend(own.tolist())
        own = [w[s] for w, s in zip(weights, blocks.slices(i), strict=True)]
        assert sums[i] == sum(int(w.sum()) for w in own)
        _, order = blocks.ordered(i)
        if order is not None:
            assert np.all(
                np.diff(np.concatenate([p[s] for p, s in zip(parts, blocks.slices(i), strict=True)])[order])
                >= 0
            )
    assert np.concatenate([np.array(r) for r in ranks]).tolist() == rankdata(np.concatenate(parts)).tolist()


def test_blocks_of_alike_arrays_are_of_even_size():
    """Levels come from all arrays at different places: from the same ones they would lie in heaps."""
    rng = np.random.default_rng(0)
    parts = [np.sort(rng.random(100_000)) for _ in range(17)]
    size = Blocks.of(parts).size
    assert len(size) == pytest.approx(1_700_000 / blocks_module._BLOCK, rel=0.1)
    assert size.max() < 2 * blocks_module._BLOCK


def test_a_value_that_fills_blocks_is_one_by_itself():
    part = np.concatenate((np.zeros(500_000), np.linspace(0.1, 1, 100_000)))
    blocks = Blocks.of([part, part])
    full = [i for i in range(len(blocks)) if blocks.size[i] > 500_000]
    assert len(full) == 1
    values, order = blocks.ordered(full[0])
    assert values[0] == values[-1] == 0
    assert order is None
