"""Counts at every threshold, against counting at each; the best thresholds; the law of parts."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures.thresholds import (
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


def lives(seed):
    rng = np.random.default_rng(seed)

    def drawn(n):
        born = rng.integers(0, 8, n)
        dies = rng.integers(born + 1, 9) / 8
        file = rng.integers(0, 2, n).astype(np.int32)
        return Alive(rng.integers(0, 3, n), file, born / 8, dies, rng.integers(0, 3, n))

    return [(drawn(14), (TP, N_SYS)), (drawn(9), (N_SYS,))]


def cells(seed):
    """The scores of three classes, which are positive, and whose they are; and their counts."""
    rng = np.random.default_rng(seed)
    system, file = rng.integers(0, 9, (3, 25)) / 8, rng.integers(0, 2, 25).astype(np.int32)
    positive = rng.random((3, 25)) < [[0.3], [0.0], [0.6]]
    return (
        system,
        positive,
        file,
        [ThresholdCounts.of_cells(*row) for row in zip(system, positive, strict=True)],
    )


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_steps_of_events_are_what_lives_at_a_threshold(seed, apart):
    for label, table in enumerate(ThresholdCounts.of_lives(lives(seed), N_REF, apart=apart)):
        assert table.n_ref.tolist() == (N_REF[:, label].tolist() if apart else [N_REF[:, label].sum()])
        threshold, counts = table.steps()
        assert threshold[0] == 0.0
        assert apart or (np.diff(threshold) > 0).all()
        last = np.append(np.diff(threshold) > 0, True)
        for row in (TP, N_SYS):
            wanted = 0
            for a, rows in lives(seed):
                alive = (
                    (a.born <= threshold[last, None]) & (threshold[last, None] < a.dies) & (a.label == label)
                )
                wanted = wanted + (alive * a.weight).sum(axis=1) * (row in rows)
            assert counts[row, last].tolist() == wanted.tolist()


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_steps_of_cells_are_the_scores_above_a_threshold(seed, apart):
    system, positive, file, _ = cells(seed)
    for p, y in zip(system, positive, strict=True):
        table = ThresholdCounts.of_cells(p, y, *((file, 2) if apart else ()))
        assert table.n_ref.tolist() == ([y[file == f].sum() for f in (0, 1)] if apart else [y.sum()])
        threshold, counts = table.steps()
        assert threshold[0] == EVERYTHING
        last = np.append(np.diff(threshold) > 0, True)
        detected = p > threshold[last][:, None]
        assert counts[N_SYS, last].tolist() == detected.sum(axis=1).tolist()
        assert counts[TP, last].tolist() == (detected & y).sum(axis=1).tolist()


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("beta", [None, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_threshold_is_the_highest_of_the_best(seed, beta, inclusive):
    merit = error_merit if beta is None else f_merit(beta)
    for table in (*cells(seed)[-1], *ThresholdCounts.of_lives(lives(seed), N_REF)):
        threshold, *at_best = table.best(merit, inclusive=inclusive)
        if not table.n_ref[0]:
            assert (threshold, *at_best) == (NOTHING, 0, 0)
            continue
        low, counts = table.steps()
        merits = merit(counts[TP], counts[N_SYS], table.n_ref[0]).tolist()
        best = max(k for k, m in enumerate(merits) if m == max(merits))
        assert at_best == counts[:2, best].tolist()
        if best == len(low) - 1:
            assert threshold == (2.0 if inclusive else 1.0)
        elif low[best + 1] == 0:
            assert threshold == (0.0 if inclusive else EVERYTHING)
        else:
            # Silence is 0: below the lowest score lies that, and below 0 only everything.
            assert threshold == (max(low[best], 0.0) + low[best + 1]) / 2


@pytest.mark.parametrize("seed", range(4))
def test_parts_that_are_merged_are_the_whole(seed):
    system, positive, file, wholes = cells(seed)
    inside = [file == f for f in (0, 1)]
    parts = [
        [ThresholdCounts.of_cells(p[i], y[i]) for i in inside] for p, y in zip(system, positive, strict=True)
    ]
    split = [[(Alive(*(c[a.file == f] for c in a)), rows) for a, rows in lives(seed)] for f in (0, 1)]
    of_files = [ThresholdCounts.of_lives(part, N_REF[[f]]) for f, part in enumerate(split)]
    wholes += ThresholdCounts.of_lives(lives(seed), N_REF)
    for of_parts, whole in zip([*parts, *zip(*of_files, strict=True)], wholes, strict=True):
        merged = ThresholdCounts.merge(of_parts)
        for name in ("level", "changes", "n_ref", "lowest"):
            assert np.array_equal(getattr(merged, name), getattr(whole, name)), name
        assert ThresholdCounts.merge([whole]) is whole


def test_without_classes_or_levels_nothing_is_best():
    table = ThresholdCounts.of_cells(np.zeros(0), np.zeros(0, dtype=bool))
    assert table.best(f_merit(1.0), inclusive=False) == (NOTHING, 0, 0)
    assert ThresholdCounts.of_lives(lives(0), np.zeros((2, 0), dtype=np.int64)) == []
    # Events that are never found: the class has a reference, and nothing detected is best.
    (table,) = ThresholdCounts.of_lives([], np.array([[1]]))
    assert table.best(f_merit(1.0), inclusive=True) == (2.0, 0, 0)
