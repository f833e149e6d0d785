"""The candidate thresholds of a class, on cases small enough to see."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.candidates import Candidates, f_merit
from sedeval_soft.measures.steps import Changes

SCORES = np.array([0.2, 0.6, 0.9])
POSITIVE = np.array([False, True, True])
FILE = np.array([0, 1, 1], dtype=np.int32)
ONE = np.zeros(3, dtype=np.int32)


@pytest.mark.parametrize(("inclusive", "beyond"), [(False, 1.0), (True, 2.0)])
@pytest.mark.parametrize("n_files", [1, 2])
def test_detecting_nothing_has_a_threshold_that_no_value_passes(n_files, inclusive, beyond):
    file = FILE if n_files == 2 else ONE
    found = Candidates.of_cells(SCORES, POSITIVE, file, n_files, with_nothing=True)
    weights = np.ones((1, n_files))
    (threshold,) = found.thresholds(weights, np.array([0]), inclusive=inclusive)
    assert threshold == beyond
    assert found.tp.weighted(weights).tolist() == [[0.0, 1.0, 2.0]]
    assert found.n_sys.weighted(weights).tolist() == [[0.0, 1.0, 2.0]]


@pytest.mark.parametrize("n_files", [1, 2])
def test_every_score_may_be_a_candidate(n_files):
    found = Candidates.of_cells(SCORES, POSITIVE, FILE if n_files == 2 else ONE, n_files, every=True)
    weights = np.ones((1, n_files))
    assert found.value.tolist() == [0.9, 0.6, 0.2]
    assert found.tp.weighted(weights).tolist() == [[1.0, 2.0, 2.0]]
    assert found.n_sys.weighted(weights).tolist() == [[1.0, 2.0, 3.0]]
    assert (weights @ found.n_ref).tolist() == [2.0]


def test_without_a_reference_nothing_is_best_and_nothing_is_told():
    found = Candidates.of_cells(SCORES, POSITIVE, FILE, 2, every=True)
    (best,) = found.best(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]), [f_merit(1.0)])
    assert best.at.tolist() == [-1, 1, 1]
    assert best.tp.tolist() == [0.0, 2.0, 4.0]
    assert best.n_sys.tolist() == [0.0, 2.0, 4.0]
    assert best.n_ref.tolist() == [0.0, 2.0, 4.0]
    thresholds = found.thresholds(np.array([[1.0, 0.0], [0.0, 1.0]]), best.at[:2], inclusive=False)
    assert np.isnan(thresholds[0])
    # The file without weight has the only score below.
    assert thresholds[1] == 0.3
    assert found.thresholds(np.ones((1, 2)), np.array([1]), inclusive=False).tolist() == [0.4]


def test_many_weights_are_the_same_as_one_after_another(monkeypatch):
    rng = np.random.default_rng(5)
    scores, positive = rng.integers(0, 9, 60) / 8, rng.random(60) < 0.4
    file = rng.integers(0, 4, 60).astype(np.int32)
    found = Candidates.of_cells(scores, positive, file, 4)
    weights = rng.integers(0, 3, (7, 4)).astype(np.float64)
    (together,) = found.best(weights, [f_merit(1.0)])
    monkeypatch.setattr("sedeval_soft.measures.candidates._AT_ONCE", 1)
    (apart,) = found.best(weights, [f_merit(1.0)])
    for ours, theirs in zip(together, apart, strict=True):
        assert ours.tolist() == theirs.tolist()
    for row, at in zip(weights, together.at.tolist(), strict=True):
        chosen = np.repeat(np.arange(60), row[file].astype(int))
        y, p = positive[chosen], scores[chosen]
        f = [2 * (y & (p >= v)).sum() / max(y.sum() + (p >= v).sum(), 1) for v in found.value]
        assert at == (int(np.argmax(f)) if y.any() else -1)


def test_counts_are_the_same_in_a_small_table_and_in_a_list(monkeypatch):
    rng = np.random.default_rng(6)
    scores, positive = rng.random(40), rng.random(40) < 0.5
    file = rng.integers(0, 3, 40).astype(np.int32)
    weights = rng.random((2, 3))
    table = Candidates.of_cells(scores, positive, file, 3)
    monkeypatch.setattr("sedeval_soft.measures.candidates._LARGEST", 0)
    listed = Candidates.of_cells(scores, positive, file, 3)
    assert table.tp.table is not None
    assert listed.tp.table is None
    for one, other in ((table.tp, listed.tp), (table.n_sys, listed.n_sys)):
        assert other.weighted(weights) == pytest.approx(one.weighted(weights))
    by_hand = [((scores >= v) * weights[0, file]).sum() for v in table.value]
    assert table.n_sys.weighted(weights)[0] == pytest.approx(by_hand)


def drawn_changes(rng, n):
    born = rng.integers(0, 8, n)
    dies = rng.integers(born + 1, 9) / 8
    label, file = rng.integers(0, 2, n), rng.integers(0, 3, n).astype(np.int32)
    return Changes(label, file, born / 8, dies)


@pytest.mark.parametrize("label", [0, 1, None])
@pytest.mark.parametrize("seed", range(4))
def test_counts_of_events_are_those_alive_at_a_threshold(seed, label):
    rng = np.random.default_rng(seed)
    columns = [
        [(drawn_changes(rng, 12), rng.integers(-1, 3, 12)), (drawn_changes(rng, 5), 1)],
        [(drawn_changes(rng, 20), 2)],
        [(drawn_changes(rng, 7), 1)],
    ]
    found = Candidates.of_changes(columns, label, np.array([2, 0, 5]))
    weights = rng.random((2, 3))
    assert found.stepwise
    assert found.value.tolist() == sorted({*found.value.tolist()}, reverse=True)
    assert found.value[-1] == 0.0
    assert (weights @ found.n_ref) == pytest.approx(weights @ [2, 0, 5])
    assert found.paired is not None
    for column, counted in zip(columns, (found.tp, found.n_sys, found.paired), strict=True):
        wanted = np.zeros((2, len(found.value)))
        for changes, weight in column:
            own = np.ones(len(changes.label), dtype=bool) if label is None else changes.label == label
            for k, low in enumerate(found.value):
                alive = own & (changes.born <= low) & (low < changes.dies)
                wanted[:, k] += (weights[:, changes.file] * alive * weight).sum(axis=1)
        assert counted.weighted(weights) == pytest.approx(wanted)
    # Between two steps nothing changes, so every birth and death is the lowest threshold of one.
    ends = [
        v
        for column in columns
        for changes, _ in column
        for v in (changes.born, changes.dies)
        for v in v[np.ones(len(v), dtype=bool) if label is None else changes.label == label]
    ]
    assert {*found.value.tolist()} == {0.0, *map(float, ends)}


def test_without_a_third_column_nothing_is_paired():
    changes = drawn_changes(np.random.default_rng(0), 3)
    assert Candidates.of_changes([[(changes, 1)], [(changes, 1)]], None, np.array([1, 1, 1])).paired is None


def test_steps_of_all_files_as_one():
    found = Candidates.of_steps(np.array([0.0, 0.25, 0.5]), np.array([[3, 2, 0], [9, 4, 1], [5, 3, 1]]), 4)
    assert found.stepwise
    assert found.value.tolist() == [0.5, 0.25, 0.0]
    assert found.tp.weighted(np.ones((1, 1))).tolist() == [[0.0, 2.0, 3.0]]
    assert found.n_sys.weighted(np.array([[2.0]])).tolist() == [[2.0, 8.0, 18.0]]
    assert found.paired is not None
    assert found.paired.weighted(np.ones((1, 1))).tolist() == [[1.0, 3.0, 5.0]]
    assert found.n_ref.tolist() == [4.0]
    # A step reaches to the next one, the highest as far as there are thresholds.
    at = found.thresholds(np.ones((3, 1)), np.array([0, 1, -1]), inclusive=False)
    assert at[:2].tolist() == [1.0, 0.375]
    assert np.isnan(at[2])
    assert found.thresholds(np.ones((1, 1)), np.array([0]), inclusive=True).tolist() == [2.0]


def f_at(y, p, threshold):
    detected = p > threshold
    return 2 * (y & detected).sum() / (y.sum() + detected.sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_files", [1, 3])
def test_all_thresholds_of_a_plateau_are_as_good_and_its_ends_part_scores(seed, n_files):
    rng = np.random.default_rng(seed)
    p, y = rng.integers(0, 17, 30) / 16, rng.random(30) < 0.4
    file = rng.integers(0, n_files, 30).astype(np.int32)
    found, weights = Candidates.of_cells(p, y, file, n_files), np.ones((1, n_files))
    ((at,), *_) = found.best(weights, [f_merit(1.0)])[0]
    low, high = found.plateau(weights, int(at), f_merit(1.0))
    best = f_at(y, p, np.nextafter(found.value[at], -1))
    assert best == max(f_at(y, p, t) for t in (-1.0, *p))
    for t in (low, (low + high) / 2, np.nextafter(high, -1)):
        assert f_at(y, p, t) == best
    assert high == found.value[at]
    assert low == max([-1.0, *(v for v in p if v < high)])


def test_a_plateau_of_steps_goes_on_while_the_merit_stays():
    # Steps from 0, 1/4, 1/2 and 3/4 up: the two in the middle are as good.
    found = Candidates.of_steps(np.array([0.0, 0.25, 0.5, 0.75]), np.array([[2, 2, 2, 1], [6, 3, 3, 1]]), 3)
    weights = np.ones((1, 1))
    (best,) = found.best(weights, [f_merit(1.0)])
    assert best.at.tolist() == [1]
    assert found.plateau(weights, 1, f_merit(1.0)) == (0.25, 0.75)
    assert found.plateau(weights, 0, f_merit(1.0)) == (0.75, 1.0)
    assert found.plateau(weights, 3, f_merit(1.0)) == (0.0, 0.25)
    level = Candidates.of_steps(np.array([0.0, 0.5]), np.array([[1, 1], [1, 1]]), 1)
    assert level.plateau(weights, 0, f_merit(1.0)) == (0.0, 1.0)


def test_neighbours_in_files_without_weight_are_not_there():
    """Below the best score stand two of the first file, and above it one."""
    scores, file = np.array([0.1, 0.2, 0.6, 0.9]), np.array([0, 0, 1, 0], dtype=np.int32)
    found = Candidates.of_cells(scores, np.array([False, False, True, False]), file, 2)
    at = np.zeros(2, dtype=np.int64)
    thresholds = found.thresholds(np.array([[0.0, 1.0], [1.0, 1.0]]), at, inclusive=False)
    assert thresholds.tolist() == [0.3, 0.4]
    assert found.plateau(np.array([[0.0, 1.0]]), 0, f_merit(1.0)) == (-1.0, 0.6)
    assert found.plateau(np.array([[1.0, 1.0]]), 0, f_merit(1.0)) == (0.2, 0.6)


@pytest.mark.parametrize("seed", range(3))
def test_amounts_are_the_same_in_a_small_table_and_in_a_list(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    columns = [[(drawn_changes(rng, 12), rng.integers(1, 4, 12))], [(drawn_changes(rng, 9), 2)]]
    weights, n_ref = rng.random((3, 3)), np.array([1, 2, 3])
    table = Candidates.of_changes(columns, None, n_ref)
    monkeypatch.setattr("sedeval_soft.measures.candidates._LARGEST", 0)
    listed = Candidates.of_changes(columns, None, n_ref)
    assert listed.tp.table is None
    for one, other in ((table.tp, listed.tp), (table.n_sys, listed.n_sys)):
        assert other.weighted(weights) == pytest.approx(one.weighted(weights))


@pytest.mark.parametrize("n_files", [1, 2])
def test_what_is_paired_whatever_its_class_is_counted_beside(n_files):
    pairs = np.array([0.95, 0.6, 0.2]), np.array([0, 0, n_files - 1], dtype=np.int32)
    file = FILE if n_files == 2 else ONE
    found = Candidates.of_cells(SCORES, POSITIVE, file, n_files, every=True, pairs=pairs)
    assert found.value.tolist() == [0.9, 0.6, 0.2]
    assert found.paired is not None
    assert found.paired.weighted(np.ones((1, n_files))).tolist() == [[1.0, 2.0, 3.0]]
    assert Candidates.of_cells(SCORES, POSITIVE, file, n_files).paired is None


def test_levels_of_files_without_weight_are_not_there_either():
    """Of the first file something is born at 1/8 and dies at 5/8, of the second at 2/8 and 6/8."""
    file = np.array([0, 1], dtype=np.int32)
    lives = Changes(np.zeros(2, dtype=np.int64), file, np.array([0.125, 0.25]), np.array([0.625, 0.75]))
    found = Candidates.of_changes([[(lives, 1)], [(lives, 1)]], None, np.array([1, 1]))
    assert found.value.tolist() == [0.75, 0.625, 0.25, 0.125, 0.0]
    # Once for each of the two columns.
    assert found.levels.value.tolist() == [0.0, 0.125, 0.125, 0.25, 0.25, 0.625, 0.625, 0.75, 0.75]
    assert found.levels.file.tolist() == [-1, 0, 0, 1, 1, 0, 0, 1, 1]
    # The step from 1/4 reaches to 5/8, or to 6/8 without the first file; from 1/8 to 1/4, or to 5/8.
    weights = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    lowest = found.thresholds(weights, np.array([2, 2, 3]), inclusive=False)
    assert lowest.tolist() == [0.4375, 0.5, 0.375]
    assert found.plateau(weights[:1], 2, f_merit(1.0)) == (0.25, 0.625)
    assert found.plateau(weights[1:2], 2, f_merit(1.0)) == (0.25, 0.75)


def test_f_is_what_is_highest():
    """5 TP / (4 N_ref + N_sys) with beta 2, and 0 where there is no reference."""
    tp, n_sys = np.array([[3.0, 1.0]]), np.array([[4.0, 1.0]])
    assert f_merit(2.0)(tp, n_sys, np.array([[5.0]])).tolist() == [[15 / 24, 5 / 21]]
    assert f_merit(1.0)(0 * tp, 0 * n_sys, np.array([[0.0]])).tolist() == [[0.0, 0.0]]
