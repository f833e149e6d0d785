"""Values of whole files: by hand, and as the largest of the segments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.recordings import clip_values

ROWS = [
    ("a", 0.0, 1.0, "car", 0.3),
    ("a", 5.0, 6.0, "car", 0.7),
    ("a", 2.0, 2.0, "dog", 0.9),  # without extent
    ("b", 9.0, 10.0, "dog", 0.8),  # begins before the end, ends after it
    ("b", 9.5, 10.0, "car", 0.6),  # begins at the end
]


def test_clips_take_the_largest_value_that_lies_in_the_file():
    rows = long_rows(ROWS, files=("a", "b", "c"))
    values = clip_values(rows, to_ticks(np.array([6.0, 9.5, 0.0])))
    assert dict(zip(rows.classes, values.tolist(), strict=True)) == {
        "car": [0.7, 0.0, 0.0],
        "dog": [0.0, 0.8, 0.0],
    }


def test_rows_without_values_are_active():
    rows = replace(long_rows(ROWS, files=("a", "b")), values=())
    assert clip_values(rows, to_ticks(np.array([6.0, 9.5]))).max() == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_clips_are_the_largest_segments_long_and_wide(seed):
    rng = np.random.default_rng(seed)
    n, files = 60, ("a", "b", "c")
    onset = rng.integers(0, 30, n).astype(float)
    wide = EventTable.wide(
        files=files,
        classes=("x", "y"),
        file=rng.integers(0, 3, n).astype(np.int32),
        onset=onset,
        offset=onset + rng.integers(0, 4, n),
        values=(rng.random(n), rng.random(n)),
        origin=long_rows([], files=files).origin,
    )
    length = to_ticks(np.array([20.0, 33.0, 12.0]))
    grid = Grid.over(length, 1_000_000)
    wanted = np.maximum.reduceat(pool_rows(wide, grid, "max"), grid.start[:-1], axis=1)
    assert clip_values(wide, length).tolist() == wanted.tolist()
    long = long_rows(
        [
            (files[wide.file[i]], onset[i], wide.offset[i], label, float(column[i]))
            for label, column in zip(wide.classes, wide.values, strict=True)
            for i in range(n)
        ],
        files=files,
    )
    at = [files.index(name) for name in long.files]
    rows = [wide.classes.index(label) for label in long.classes]
    assert clip_values(long, length[at]).tolist() == wanted[rows][:, at].tolist()
