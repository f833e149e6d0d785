"""Common cells of two activities and their runs, tick by tick and level by level."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import FILES, LABELS, in_seconds, tick_rows, value_at
from tables import long_rows

from sedeval_soft.timeline.events import activities
from sedeval_soft.timeline.lifetimes import lifetimes_of
from sedeval_soft.timeline.runs import Cells, Runs

ONE = LABELS[0]


def sides(ours, theirs):
    """Return the rows of both sides, all of one class, and their common cells."""
    rows = [[(file, on, off, ONE, value) for file, on, off, _, value in side] for side in (ours, theirs)]
    tables = [_table(side) for side in rows]
    (y,), (p,) = (list(activities(table)) for table in tables)
    return rows, tables, Cells.of(y, p)


def _table(rows):
    # A row without extent declares the class, one without values in each file the order of files.
    declared = [(file, 0, 0, ONE, 0.0) for file in FILES]
    return long_rows(in_seconds([*declared, *rows]))


@settings(max_examples=120)
@given(tick_rows(), tick_rows())
def test_cells_hold_the_values_of_both_sides(ours, theirs):
    (left, right), _, cells = sides(ours, theirs)
    n = len(cells.file)
    assert [len(column) for column in (cells.width, cells.place, cells.y, cells.p)] == [n] * 4
    assert (cells.place == np.cumsum(cells.width) - cells.width).all()
    walls = cells.width == 0
    assert walls[0] and walls[-1]
    assert not cells.y[walls].any() and not cells.p[walls].any()
    for code, file in enumerate(FILES):
        edges = sorted(
            {
                t
                for side in (left, right)
                for f, on, off, _, value in side
                if f == file and on < off and value > 0
                for t in (on, off)
            }
        )
        own = np.flatnonzero((cells.file == code) & ~walls)
        assert cells.width[own].tolist() == np.diff(edges).tolist()
        for cell, tick in zip(own, edges, strict=False):
            assert cells.y[cell] == value_at(left, file, ONE, tick)
            assert cells.p[cell] == value_at(right, file, ONE, tick)
    # A wall parts the cells of two files.
    inside = np.flatnonzero(~walls)
    assert all(
        walls[a:b].any() for a, b in zip(inside, inside[1:], strict=False) if cells.file[a] < cells.file[b]
    )


@settings(max_examples=120)
@given(tick_rows(), tick_rows())
def test_runs_are_the_lifetimes_of_the_activity(ours, theirs):
    """Also where a boundary of the other side cuts a cell in two."""
    _, tables, cells = sides(ours, theirs)
    for values, table in ((cells.y, tables[0]), (cells.p, tables[1])):
        runs = Runs.of(cells, values)
        events = lifetimes_of(table, merge=True)
        found = sorted(
            zip(
                cells.file[runs.first].tolist(),
                (cells.place[runs.last] - cells.place[runs.first]).tolist(),
                runs.length.tolist(),
                runs.born.tolist(),
                runs.dies.tolist(),
                strict=True,
            )
        )
        length = (events.offset - events.onset).tolist()
        wanted = sorted(
            zip(events.file.tolist(), length, length, events.born.tolist(), events.dies.tolist(), strict=True)
        )
        assert found == wanted


@settings(max_examples=120)
@given(tick_rows(), tick_rows(), st.booleans())
def test_the_run_around_a_cell(ours, theirs, above):
    _, _, cells = sides(ours, theirs)
    runs = Runs.of(cells, cells.y)
    levels = [0.0, *np.unique(cells.y[cells.y > 0])]
    asked = [
        (cell, level)
        for cell, value in enumerate(cells.y)
        for level in levels
        if (value > level if above else value >= level > 0)
    ]
    cell = np.array([c for c, _ in asked], dtype=np.int64)
    level = np.array([v for _, v in asked])
    found = runs.at(cell, level, above=above) if asked else np.zeros(0, dtype=np.int64)
    for (c, v), run in zip(asked, found, strict=True):
        assert runs.first[run] <= c < runs.last[run]
        low, high = runs.born[run], runs.dies[run]
        assert low <= v < high if above else low < v <= high


def test_empty_activities():
    _, _, cells = sides([], [])
    assert not cells.y.any() and not cells.p.any()
    assert len(Runs.of(cells, cells.y)) == 0
