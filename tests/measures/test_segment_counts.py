"""Segment-based counts, compared with a loop over every cell and every level."""

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
from sedeval_soft.timeline import Grid
from sedeval_soft.timeline.events import active_rows

ERRORS = ("substitutions", "deletions", "insertions")

VALUE = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]) | st.floats(0, 1, allow_subnormal=False)


@st.composite
def tables(draw, value=VALUE):
    """Draw two tables (n_classes, n_segments), and the first segment of each file; files may be empty."""
    n_classes, sizes = draw(st.integers(1, 10)), draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    n = sum(sizes)
    flat = draw(st.lists(value, min_size=2 * n * n_classes, max_size=2 * n * n_classes))
    both = np.array(flat, dtype=np.float64).reshape(2, n_classes, n)
    return both[0], both[1], np.cumsum([0, *sizes])


def expected_hard(reference, system, start):
    """Return the counts of all files, cell by cell."""
    cells = [
        [(reference[:, k].tolist(), system[:, k].tolist()) for k in range(begin, end)]
        for begin, end in itertools.pairwise(start)
    ]
    classes = range(len(reference))
    return {
        "tp": [[sum(y[c] and p[c] for y, p in of) for c in classes] for of in cells],
        "n_ref": [[sum(y[c] for y, _ in of) for c in classes] for of in cells],
        "n_sys": [[sum(p[c] for _, p in of) for c in classes] for of in cells],
        **{name: [sum(hard_errors(y, p)[k] for y, p in of) for of in cells]
           for k, name in enumerate(ERRORS, 1)},
    }  # fmt: skip


@settings(max_examples=20)
@given(tables() | tables(value=st.sampled_from([0.0, 1.0])), st.sampled_from([1, 3, 8192]))
def test_hard_counts_are_those_of_cells_and_soft_ones_their_integrals(case, block):
    """Counts are constant between neighbouring values, so the integral is a finite sum, here of fractions."""
    reference, system, start = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_, "_BLOCK", block)
        counts = count_soft(reference, system, start)
    levels = sorted({0.0, *reference.ravel().tolist(), *system.ravel().tolist()})
    total: dict[str, object] = {}
    for low, high in itertools.pairwise(levels):
        sides = reference >= high, system >= high
        found = count_hard(*sides, start)
        for name, value in expected_hard(*sides, start).items():
            assert getattr(found, name).dtype == np.int64 and getattr(found, name).tolist() == value
            part = np.array(value, dtype=object) * (Fraction(high) - Fraction(low))
            total[name] = total.get(name, 0) + part
    for name, value in total.items():
        assert getattr(counts, name) == pytest.approx(value.astype(float), rel=1e-13, abs=1e-14)
    assert all((getattr(counts, name) >= 0).all() for name in ERRORS)


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
    files = list(zip(FILES, lengths, strict=True))
    cells = [
        [[v > 0.4 for f, n in files for v in segment_values(rows, f, c, segment, n, "max")] for c in LABELS]
        for rows in (reference, system)
    ]
    for name, value in expected_hard(*map(np.array, cells), grid.start.tolist()).items():
        assert getattr(counts, name).tolist() == value


@pytest.mark.parametrize("n_segments", [1, 3, 17, 1024])
def test_classes_are_added_one_after_another_however_many_there_are(n_segments):
    values = np.random.default_rng(n_segments).random((40, n_segments))
    one_by_one = [sum(column, 0.0) for column in values.T.tolist()]
    with_silence = np.concatenate((values, np.zeros((9, n_segments))))
    for each in (values, np.asfortranarray(values), with_silence):
        assert segment_.sum_classes(each).tolist() == one_by_one
