"""Segment-based counts against a look at every cell and every level."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import END, FILES, LABELS, hard_errors, in_seconds, segment_values, tick_rows
from tables import long_rows

from sedeval_soft.measures import segment as segment_
from sedeval_soft.measures.divergence import count_divergence, divergence_scores, silent
from sedeval_soft.measures.segment import (
    Runs,
    count_hard,
    count_hard_runs,
    count_soft,
    runs_on_grid,
    sum_files,
)
from sedeval_soft.measures.threshold_counts import EVERYTHING, NOTHING, best_thresholds, threshold_between
from sedeval_soft.timeline.events import active_rows
from sedeval_soft.timeline.grid import Grid

EPS = 1e-7


PER_CLASS = ("tp", "n_ref", "n_sys")
ERRORS = ("substitutions", "deletions", "insertions")

VALUE = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]) | st.floats(0, 1, allow_subnormal=False)


@st.composite
def tables(draw, value=VALUE):
    """Two tables (n_classes, n_segments), and the first segment of each file; files may be empty."""
    n_classes, sizes = draw(st.integers(1, 10)), draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    n = sum(sizes)
    flat = draw(st.lists(value, min_size=2 * n * n_classes, max_size=2 * n * n_classes))
    both = np.array(flat, dtype=np.float64).reshape(2, n_classes, n)
    return both[0], both[1], np.cumsum([0, *sizes])


def expected_hard(reference, system, start):
    """Counts of each file, cell by cell."""
    files = []
    for begin, end in itertools.pairwise(start):
        cells = [(reference[:, k].tolist(), system[:, k].tolist()) for k in range(begin, end)]
        errors = [hard_errors(y, p) for y, p in cells]
        files.append(
            {
                "tp": [sum(y[c] and p[c] for y, p in cells) for c in range(len(reference))],
                "n_ref": [sum(y[c] for y, _ in cells) for c in range(len(reference))],
                "n_sys": [sum(p[c] for _, p in cells) for c in range(len(reference))],
                **{name: sum(error[k] for error in errors) for k, name in enumerate(ERRORS, 1)},
            }
        )
    return files


@given(tables(value=st.booleans()))
def test_hard_counts(case):
    reference, system, start = case
    reference, system = reference.astype(bool), system.astype(bool)
    counts = count_hard(reference, system, start)
    for file, expected in enumerate(expected_hard(reference, system, start)):
        for name, value in expected.items():
            column = getattr(counts, name)
            assert column.dtype == np.int64
            assert column[file].tolist() == value


@settings(max_examples=60)
@given(tables(), st.sampled_from([1, 3, 8192]))
def test_soft_counts_are_hard_ones_integrated_over_every_level(case, block):
    """Between two neighbouring values no cut changes: the integral is a finite sum, here of fractions."""
    reference, system, start = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_, "_BLOCK", block)
        counts = count_soft(reference, system, start)
    levels = sorted({0.0, *reference.ravel().tolist(), *system.ravel().tolist()})
    total: dict[tuple[str, int], object] = {}
    for low, high in itertools.pairwise(levels):
        width = Fraction(high) - Fraction(low)
        for file, hard in enumerate(expected_hard(reference >= high, system >= high, start)):
            for name, value in hard.items():
                values = np.array(value, dtype=object) * width
                total[name, file] = total.get((name, file), 0) + values
    for (name, file), value in total.items():
        got = getattr(counts, name)[file]
        assert np.atleast_1d(got) == pytest.approx(np.atleast_1d(value).astype(float), rel=1e-13, abs=1e-14)
    for name in ERRORS:
        assert (getattr(counts, name) >= 0).all()


@given(tables())
def test_a_perfect_system_makes_no_soft_errors_at_all(case):
    reference, _, start = case
    counts = count_soft(reference, reference, start)
    assert not any(getattr(counts, name).any() for name in ERRORS)
    assert np.array_equal(counts.tp, counts.n_ref)


@settings(max_examples=150)
@given(
    tick_rows(values=st.sampled_from([0.2, 0.5, 0.8])),
    tick_rows(values=st.sampled_from([0.2, 0.5, 0.8])),
    st.tuples(st.integers(0, END + 3), st.integers(0, END + 3)),
    st.integers(1, 7),
)
def test_hard_counts_from_runs_are_those_of_cells(reference, system, lengths, segment):
    """Runs may cross into the next file, be cut off by a file's end, touch, and overlap."""
    grid = Grid.over(np.array(lengths), segment)
    base = [(file, 0.0, 0.0, label, 0.0) for file in FILES for label in LABELS]  # all codes in one order
    sides = [long_rows(base + in_seconds(rows)) for rows in (reference, system)]
    runs = [runs_on_grid(active_rows(side, 0.4, False), grid) for side in sides]
    counts = count_hard_runs(*runs, grid.start, len(LABELS))
    cells = []
    for rows in (reference, system):
        values = [
            [
                v
                for f, n in zip(FILES, lengths, strict=True)
                for v in segment_values(rows, f, c, segment, n, "max")
            ]
            for c in LABELS
        ]
        cells.append(np.array(values).reshape(len(LABELS), -1) > 0.4)
    for file, expected in enumerate(expected_hard(*cells, grid.start.tolist())):
        for name, value in expected.items():
            assert getattr(counts, name)[file].tolist() == value


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_sums_of_files(sizes, seed):
    start = np.cumsum([0, *sizes])
    values = np.random.default_rng(seed).integers(0, 9, (2, int(start[-1])))
    expected = [[int(row[a:b].sum()) for a, b in itertools.pairwise(start)] for row in values]
    assert sum_files(values, start).tolist() == expected


TIED = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=14)


@settings(max_examples=200)
@given(TIED, st.sampled_from([0.5, 1.0, 2.0]), st.booleans())
def test_best_threshold_is_the_best_of_all(segments, beta, inclusive):
    """Every way to cut is tried; among the best it is the one that detects least."""
    positive, score = [hit for hit, _ in segments], [level / 6 for _, level in segments]
    (threshold,) = best_thresholds(np.array([score]), np.array([positive]), beta, inclusive).tolist()
    if not any(positive):
        assert threshold == NOTHING
        return
    square = Fraction(beta) ** 2
    best: tuple[Fraction, int] = (Fraction(-1), 0)
    for lowest in sorted(set(score), reverse=True):
        found = [s >= lowest for s in score]
        tp = sum(a and b for a, b in zip(found, positive, strict=True))
        f = (1 + square) * tp / (square * sum(positive) + sum(found))
        best = max(best, (f, -sum(found)))
    read = float(repr(threshold))
    found = [s >= read if inclusive else s > read for s in score]
    tp = sum(a and b for a, b in zip(found, positive, strict=True))
    assert ((1 + square) * tp / (square * sum(positive) + sum(found)), -sum(found)) == best
    lowest = min(s for s, hit in zip(score, found, strict=True) if hit)
    below = max((s for s, hit in zip(score, found, strict=True) if not hit), default=None)
    if inclusive:
        assert read <= lowest
        assert below is None or below < read
    else:
        assert read < lowest
        assert below is None or below <= read
    assert EVERYTHING <= read <= 1.0


NEIGHBOURS = st.floats(0, 1).flatmap(
    lambda a: st.tuples(
        st.just(a),
        st.sampled_from([np.nextafter(a, 2), np.nextafter(np.nextafter(a, 2), 2), a + 1e-9, a + 0.25])
        | st.floats(0, 1),
    )
)


@settings(max_examples=300)
@given(NEIGHBOURS, st.booleans())
def test_threshold_parts_neighbours_however_close(pair, inclusive):
    below, lowest = sorted(float(value) for value in pair)
    if below == lowest:
        return
    read = float(repr(float(threshold_between(below, lowest, inclusive))))
    assert (below < read <= lowest) if inclusive else (below <= read < lowest)


@pytest.mark.parametrize("lowest", [0.0, 5e-324, 1e-300, 1e-9, 0.3, 1.0])
@pytest.mark.parametrize("inclusive", [False, True])
def test_threshold_below_everything(lowest, inclusive):
    """Where all is detected there is nothing below: the threshold is under the lowest score all the same."""
    threshold = threshold_between(None, lowest, inclusive)
    assert (threshold <= lowest) if inclusive else (threshold < lowest)
    assert threshold >= EVERYTHING


def kl(y: float, p: float) -> float:
    p = min(max(p, EPS), 1 - EPS)
    return (y * math.log(y / p) if y else 0.0) + ((1 - y) * math.log((1 - y) / (1 - p)) if y < 1 else 0.0)


@given(tables())
def test_divergence_is_the_mean_over_all_cells(case):
    reference, system, start = case
    counts = count_divergence(reference, system, start, ("kl_divergence",), EPS)
    n = int(start[-1])
    total, n_ref = counts["kl_divergence"].sum(axis=0), reference.sum(axis=1)
    scores = divergence_scores(
        {"kl_divergence": total}, counts["sounding"].sum(axis=0), np.array(n), n_ref, n_ref, EPS, "nats"
    )["kl_divergence"]
    for file, (begin, end) in enumerate(itertools.pairwise(start)):
        for label in range(len(reference)):
            pairs = list(
                zip(reference[label, begin:end].tolist(), system[label, begin:end].tolist(), strict=True)
            )
            loud = [pair for pair in pairs if pair != (0.0, 0.0)]
            assert counts["sounding"][file, label] == len(loud)
            assert counts["kl_divergence"][file, label] == pytest.approx(
                sum(kl(*pair) for pair in loud), rel=1e-9, abs=1e-8
            )
    if not n:
        assert math.isnan(scores.micro)
        return
    cells = [kl(y, p) for y, p in zip(reference.ravel().tolist(), system.ravel().tolist(), strict=True)]
    assert float(scores.micro) == pytest.approx(sum(cells) / len(cells), rel=1e-9, abs=1e-8)
    assert (scores.classes >= 0).all()


def test_silence_costs_what_the_clipping_costs():
    nothing = silent("kl_divergence", EPS)
    assert kl(0.0, 0.0) == pytest.approx(nothing, rel=1e-9)
    assert math.isclose(nothing, 1e-7, rel_tol=1e-6)


def test_runs_are_joined_by_hand():
    """Of class 0 two overlap, one touches, one is within, one apart; one without segments joins nothing."""
    label, first, last = np.array(
        [
            (0, 2, 5), (1, 0, 9), (0, 4, 6), (0, 6, 7), (0, 2, 3), (0, 9, 11), (0, 8, 8),
            (1, 12, 12), (1, 9, 8),
        ]
    ).T  # fmt: skip
    runs = Runs.of(label, first, last)
    assert (runs.label.tolist(), runs.first.tolist(), runs.last.tolist()) == (
        [0, 0, 1],
        [2, 9, 0],
        [7, 11, 9],
    )
    for kept in (label == 2, last <= first):
        none = Runs.of(label[kept], first[kept], last[kept])
        assert (none.label.tolist(), none.first.tolist(), none.last.tolist()) == ([], [], [])
    # A long one before a short one of the same class: what lies within both is joined.
    long = Runs.of(np.zeros(3, dtype=np.int64), np.array([0, 2, 5]), np.array([9, 3, 6]))
    assert (long.first.tolist(), long.last.tolist()) == ([0], [9])


def test_counts_of_runs_by_hand():
    """Files of 3, 0 and 4 segments; class 0 on both sides, class 1 on the other side of the file's end."""
    start = np.array([0, 3, 3, 7])
    reference = Runs(np.array([0, 1]), np.array([1, 5]), np.array([5, 7]))
    system = Runs(np.array([0, 0, 1]), np.array([0, 4, 2]), np.array([2, 6, 4]))
    counts = count_hard_runs(reference, system, start, 3)
    # Reference: 0 in 1 to 4, 1 in 5 and 6. System: 0 in 0, 1, 4, 5, and 1 in 2, 3.
    assert counts.tp.tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert counts.n_ref.tolist() == [[2, 0, 0], [0, 0, 0], [2, 2, 0]]
    assert counts.n_sys.tolist() == [[2, 1, 0], [0, 0, 0], [2, 1, 0]]
    # 0: I; 1: TP; 2: S | 3: S; 4: TP; 5: S; 6: D.
    assert counts.substitutions.tolist() == [1, 0, 2]
    assert counts.deletions.tolist() == [0, 0, 1]
    assert counts.insertions.tolist() == [1, 0, 0]
    columns = [getattr(counts, name) for name in (*PER_CLASS, *ERRORS)]
    assert {column.dtype for column in columns} == {np.dtype(np.int64)}
