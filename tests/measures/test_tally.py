"""Tallies add lawfully: any split of the files, merged in any order, is the same to the last byte.

Also where columns are kept as the few entries that they have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.measures.tally import SparseColumn, Tally, slim
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.recordings import align

FILES = tuple("abcdef")


def tally(reference, system, files, chosen=Settings()):  # noqa: B008
    sides = (long_rows([row for row in side if row[0] in files], files=files) for side in (reference, system))
    return tally_pair(align(*sides, chosen), chosen)


def bytes_of(tally):
    groups = (tally.per_class, tally.per_file, tally.samples)
    columns = [{n: (a.dtype.str, a.shape, np.asarray(a).tobytes()) for n, a in g.items()} for g in groups]
    return [tally.files, tally.classes, tally.recipe, *columns]


def made(*files, **chosen):
    rows = [(file, 0.0, 1.0, "car", 0.7) for file in files]
    return tally(rows, rows, files, Settings(**chosen))


def test_the_empty_tally_changes_nothing():
    one = made("a", "b")
    assert bytes_of(one + Tally()) == bytes_of(Tally() + one) == bytes_of(one)
    assert bytes_of(Tally.merge([])) == bytes_of(Tally() + Tally()) == bytes_of(Tally())


def test_a_file_twice_and_other_settings_are_refused():
    with pytest.raises(EvaluationError, match="'b' was tallied twice"):
        made("a", "b") + made("b", "c")
    with pytest.raises(EvaluationError, match=r"onset_collar=0\.2.*onset_collar=0\.3"):
        made("a") + made("c", onset_collar=0.3)


@pytest.mark.parametrize(
    "change",
    [
        {"files": ("b", "a")},
        {"files": ("a", "a")},
        {"files": ("a",)},
        {"classes": ("car", "dog")},
        {"samples": {"segment.system": np.zeros((1, 5))}},
    ],
)
def test_a_tally_checks_its_own_shape(change):
    for one in (made("a", "b"), made("a", "b").slim()):
        with pytest.raises(ValueError, match=r"tally|shape"):
            replace(one, **change)


def test_classes_that_a_part_lacks_count_zero():
    a = tally([("a", 0.0, 2.0, "car", 0.7)], [], ("a",))
    b = tally([("b", 0.0, 3.0, "ant", 0.7)], [], ("b",))
    both = b + a
    assert both.classes == ("ant", "car")
    assert both.per_class["segment.hard.n_ref"].tolist() == [[0, 2], [3, 0]]
    assert both.samples["segment.reference"].tolist() == [[0.0] * 2 + [0.7] * 3, [0.7] * 2 + [0.0] * 3]


CLASSES = tuple(f"c{k:03}" for k in range(40))


def column(rng: np.random.Generator, n_files: int, kind: str, share: float = 0.05):
    shape = n_files, len(CLASSES)
    full = rng.random(shape) * 10.0 ** rng.integers(-9, 9, shape)
    full = np.where(rng.random(shape) < share, full, 0.0)
    return np.ceil(full).astype(np.int64) if kind == "int64" else full


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
    parts = []
    for k, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False)):
        classes = CLASSES if k % 2 else CLASSES[5:30]
        columns = {kind: column(rng, b - a, kind)[:, : len(classes)] for kind in ("int64", "float64")}
        lengths = {"length": rng.integers(0, 9, b - a)}
        parts.append(Tally(tuple(sorted(files[a:b])), classes, columns, lengths, recipe="r"))
    whole = Tally.merge(parts)
    other = Tally.merge([part.slim() if slimmed >> k & 1 else part for k, part in enumerate(parts)])
    index, names = rng.integers(0, 60, 12), tuple(f"{k:02}" for k in range(12))
    order = tuple(rng.permutation(whole.classes).tolist())
    for ours, theirs in (
        (other, whole),
        (other.take(index, names), whole.take(index, names)),
        (other.with_classes(order), whole.with_classes(order)),
    ):
        assert bytes_of(ours) == bytes_of(theirs)
        for name in theirs.per_class:
            assert ours.total(name).tobytes() == theirs.total(name).tobytes()
