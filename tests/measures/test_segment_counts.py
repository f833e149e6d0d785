"""Segment-based counts against a look at every cell and every level."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import END, FILES, LABELS, hard_errors, in_seconds, segment_values, tick_rows
from tables import long_rows

from sedeval_soft.measures import segment as segment_
from sedeval_soft.measures.segment import count_hard, count_hard_runs, count_soft, runs_on_grid
from sedeval_soft.timeline.events import active_rows
from sedeval_soft.timeline.grid import Grid

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


@settings(max_examples=20)
@given(tables() | tables(value=st.sampled_from([0.0, 1.0])), st.sampled_from([1, 3, 8192]))
def test_hard_counts_are_those_of_cells_and_soft_ones_their_integrals(case, block):
    """Between two neighbouring values no cut changes: the integral is a finite sum, here of fractions."""
    reference, system, start = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_, "_BLOCK", block)
        counts = count_soft(reference, system, start)
    levels = sorted({0.0, *reference.ravel().tolist(), *system.ravel().tolist()})
    total: dict[tuple[str, int], object] = {}
    for low, high in itertools.pairwise(levels):
        width = Fraction(high) - Fraction(low)
        sides = reference >= high, system >= high
        found = count_hard(*sides, start)
        for file, hard in enumerate(expected_hard(*sides, start)):
            for name, value in hard.items():
                assert getattr(found, name).dtype == np.int64 and getattr(found, name)[file].tolist() == value
                values = np.array(value, dtype=object) * width
                total[name, file] = total.get((name, file), 0) + values
    for (name, file), value in total.items():
        got = getattr(counts, name)[file]
        assert np.atleast_1d(got) == pytest.approx(np.atleast_1d(value).astype(float), rel=1e-13, abs=1e-14)
    for name in ERRORS:
        assert (getattr(counts, name) >= 0).all()


@settings(max_examples=25)
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
        files = list(zip(FILES, lengths, strict=True))
        values = [
            [v for f, n in files for v in segment_values(rows, f, c, segment, n, "max")] for c in LABELS
        ]
        cells.append(np.array(values).reshape(len(LABELS), -1) > 0.4)
    for file, expected in enumerate(expected_hard(*cells, grid.start.tolist())):
        for name, value in expected.items():
            assert getattr(counts, name)[file].tolist() == value


@pytest.mark.parametrize("n_segments", [1, 3, 17, 1024])
def test_classes_are_added_one_after_another_however_many_there_are(n_segments):
    values = np.random.default_rng(n_segments).random((40, n_segments))
    one_by_one = [sum(column, 0.0) for column in values.T.tolist()]
    assert segment_.sum_classes(values).tolist() == one_by_one
    assert segment_.sum_classes(np.asfortranarray(values)).tolist() == one_by_one
    silent = np.concatenate((values, np.zeros((9, n_segments))))
    assert segment_.sum_classes(silent).tolist() == one_by_one
