"""Counts at every threshold, against counting at each; the best thresholds; the law of parts."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.threshold_counts import (
    EVERYTHING,
    N_SYS,
    NOTHING,
    TP,
    Alive,
    ThresholdCounts,
    error_merit,
    f_merit,
)

N_REF = np.array([[2, 0, 1], [3, 0, 4]])
"""Of two files and three classes; the second class has no reference."""


def drawn_lives(rng, n):
    born = rng.integers(0, 8, n)
    dies = rng.integers(born + 1, 9) / 8
    file = rng.integers(0, 2, n).astype(np.int32)
    return Alive(rng.integers(0, 3, n), file, born / 8, dies, rng.integers(0, 3, n))


def lives(seed):
    rng = np.random.default_rng(seed)
    return [(drawn_lives(rng, 14), (TP, N_SYS)), (drawn_lives(rng, 9), (N_SYS,))]


def cells(seed):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, 9, (3, 25)) / 8,
        rng.random((3, 25)) < [[0.3], [0.0], [0.6]],
        rng.integers(0, 2, 25),
    )


def count_at(own, row, label, threshold):
    alive = [
        (a, (a.label == label) & (a.born <= threshold) & (threshold < a.dies))
        for a, rows in own
        if row in rows
    ]
    return sum(int(a.weight[there].sum()) for a, there in alive)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_steps_of_events_are_what_lives_at_a_threshold(seed, apart):
    own = lives(seed)
    table = ThresholdCounts.of_lives(own, N_REF, apart=apart)
    assert table.n_ref.tolist() == (N_REF if apart else N_REF.sum(axis=0)).tolist()
    for label in range(3):
        threshold, counts = table.steps(label)
        assert threshold[0] == 0.0
        assert apart or (np.diff(threshold) > 0).all()
        last = np.append(np.diff(threshold) > 0, True)
        for row in (TP, N_SYS):
            wanted = [count_at(own, row, label, t) for t in threshold[last]]
            assert counts[row, last].tolist() == wanted


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_steps_of_cells_are_the_scores_above_a_threshold(seed, apart):
    system, positive, file = cells(seed)
    table = ThresholdCounts.of_cells(system, positive, *((file.astype(np.int32), 2) if apart else ()))
    assert table.n_ref.sum(axis=0).tolist() == (positive.sum(axis=1).tolist() if apart else positive.sum())
    for label in range(3):
        threshold, counts = table.steps(label)
        assert threshold[0] == EVERYTHING
        last = np.append(np.diff(threshold) > 0, True)
        detected = system[label] > threshold[last][:, None]
        assert counts[N_SYS, last].tolist() == detected.sum(axis=1).tolist()
        assert counts[TP, last].tolist() == (detected & positive[label]).sum(axis=1).tolist()


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("beta", [None, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_threshold_is_the_highest_of_the_best(seed, beta, inclusive):
    system, positive, _ = cells(seed)
    tables = ThresholdCounts.of_cells(system, positive), ThresholdCounts.of_lives(lives(seed), N_REF)
    merit = error_merit if beta is None else f_merit(beta)
    for table in tables:
        found = table.best(merit, inclusive=inclusive)
        for label, (threshold, tp, n_sys) in enumerate(zip(*(of.tolist() for of in found), strict=True)):
            n_ref = int(table.n_ref[label])
            if not n_ref:
                assert (threshold, tp, n_sys) == (NOTHING, 0, 0)
                continue
            low, counts = table.steps(label)
            merits = merit(counts[:1].T, counts[1:2].T, np.array([[n_ref]]))[:, 0].tolist()
            best = max(k for k, m in enumerate(merits) if m == max(merits))
            assert [tp, n_sys] == counts[:2, best].tolist()
            if best == len(low) - 1:
                assert threshold == (2.0 if inclusive else 1.0)
                continue
            # Silence is 0: below the lowest score lies that, and below 0 only everything.
            below = 0.0 if low[best] == EVERYTHING and low[best + 1] > 0 else low[best]
            middle = (below + low[best + 1]) / 2
            assert threshold == (
                0.0 if inclusive and low[best + 1] == 0 else EVERYTHING if low[best + 1] == 0 else middle
            )


@pytest.mark.parametrize("seed", range(4))
def test_parts_that_are_merged_are_the_whole(seed):
    system, positive, file = cells(seed)
    whole = ThresholdCounts.of_cells(system, positive)
    # The second part has other classes in another order.
    parts = [
        ThresholdCounts.of_cells(system[:, file == 0], positive[:, file == 0]),
        ThresholdCounts.of_cells(system[::-1, file == 1], positive[::-1, file == 1]),
    ]
    merged = ThresholdCounts.merge(parts, [np.arange(3), np.arange(3)[::-1]], 3)
    own = lives(seed)
    split = [[(Alive(*(c[a.file == f] for c in a)), rows) for a, rows in own] for f in (0, 1)]
    of_files = [ThresholdCounts.of_lives(part, N_REF[[f]]) for f, part in enumerate(split)]
    pairs = [
        (merged, whole),
        (ThresholdCounts.merge(of_files, [np.arange(3)] * 2, 3), ThresholdCounts.of_lives(own, N_REF)),
    ]
    for ours, theirs in pairs:
        for name in ("bounds", "level", "changes", "n_ref", "lowest"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert ThresholdCounts.merge([whole], [np.arange(3)], 3) is whole
    assert ThresholdCounts.merge([], [], 2).bounds.tolist() == [0, 0, 0]


def test_without_classes_or_levels_nothing_is_best():
    for shape in ((0, 3), (2, 0)):
        table = ThresholdCounts.of_cells(np.zeros(shape), np.zeros(shape, dtype=bool))
        threshold, tp, n_sys = table.best(f_merit(1.0), inclusive=False)
        assert threshold.tolist() == [NOTHING] * shape[0]
        assert tp.tolist() == n_sys.tolist() == [0] * shape[0]
    # Events that are never found: the class has a reference, and nothing detected is best.
    table = ThresholdCounts.of_lives([], np.array([[1]]))
    assert table.best(f_merit(1.0), inclusive=True)[0].tolist() == [2.0]
