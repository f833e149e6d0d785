"""Columns kept as entries: the numbers, the totals to the last bit, and the tallies of full ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft.measures.tally import SparseColumn, Tally, slim

CLASSES = tuple(f"c{k:03}" for k in range(40))


def column(rng: np.random.Generator, n_files: int, kind: str, share: float = 0.05):
    full = rng.random((n_files, len(CLASSES))) * 10.0 ** rng.integers(-9, 9, (n_files, len(CLASSES)))
    full = np.where(rng.random(full.shape) < share, full, 0.0)
    return np.ceil(full).astype(np.int64) if kind == "int64" else full


def tally(rng: np.random.Generator, files: list[str], classes: tuple[str, ...] = CLASSES) -> Tally:
    columns = {kind: column(rng, len(files), kind)[:, : len(classes)] for kind in ("int64", "float64")}
    return Tally(tuple(files), classes, columns, {"length": rng.integers(0, 9, len(files))}, recipe="r")


@pytest.mark.parametrize("kind", ["int64", "float64"])
@pytest.mark.parametrize("n_files", [0, 1, 7, 9, 130, 5000])
def test_totals_are_those_of_full_columns_to_the_last_bit(kind, n_files):
    full = column(np.random.default_rng(n_files), n_files, kind, 0.3)
    sparse = SparseColumn.of(full)
    assert sparse.sum().tobytes() == np.add.reduce(full, axis=0).tobytes()
    assert np.asarray(sparse).tobytes() == full.tobytes()
    assert sparse.dtype == full.dtype


def test_few_entries_are_kept_as_such_and_many_are_not():
    rng = np.random.default_rng(0)
    few = slim(column(rng, 500, "float64", 0.05))
    assert isinstance(few, SparseColumn)
    assert few.nbytes < 500 * len(CLASSES) * 8 / 2
    assert isinstance(slim(column(rng, 500, "float64", 0.6)), np.ndarray)
    # Of one class numpy adds the numbers pairwise: as entries their total would be another one.
    assert isinstance(slim(np.zeros((500, 1))), np.ndarray)


@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 60), max_size=4), slimmed=st.integers(0, 31))
def test_slim_tallies_add_up_to_the_same(seed, cuts, slimmed):
    rng = np.random.default_rng(seed)
    files = [f"{k:02}" for k in rng.permutation(60)]
    bounds = [0, *sorted(cuts), 60]
    parts = [
        tally(rng, sorted(files[a:b]), CLASSES if k % 2 else CLASSES[5:30])
        for k, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False))
    ]
    whole = Tally.merge(parts)
    other = Tally.merge([part.slim() if slimmed >> k & 1 else part for k, part in enumerate(parts)])
    index = rng.integers(0, 60, 12)
    names = tuple(f"{k:02}" for k in range(12))
    order = tuple(rng.permutation(whole.classes).tolist())
    for ours, theirs in (
        (other, whole),
        (other.take(index, names), whole.take(index, names)),
        (other.with_classes(order), whole.with_classes(order)),
    ):
        assert (ours.files, ours.classes) == (theirs.files, theirs.classes)
        for name in theirs.per_class:
            assert np.asarray(ours.per_class[name]).tobytes() == np.asarray(theirs.per_class[name]).tobytes()
            assert ours.total(name).tobytes() == theirs.total(name).tobytes()


def test_a_slim_tally_has_the_shapes_of_a_full_one():
    one = tally(np.random.default_rng(1), ["a", "b"])
    with pytest.raises(ValueError, match="column int64 has shape"):
        replace(one.slim(), files=("a",))
