"""Events of all thresholds together, against the events of each threshold by itself and plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import FILES, LABELS, in_seconds, merged_events, tick_rows, value_at
from tables import long_rows, wide_rows

from sedeval_soft.measures.soft_intersections import Cells, Runs
from sedeval_soft.timeline.events import (
    Activity,
    EventLifetimes,
    Events,
    activities,
    lifetimes_of,
    previous_smaller,
    separate,
)
from sedeval_soft.timeline.ranges import Pyramid, range_maximum, running_maximum

S = 1_000_000


def columns(lifetimes, *names):
    names = names or ("file", "label", "onset", "offset", "born", "dies")
    return list(zip(*(getattr(lifetimes, name).tolist() for name in names), strict=True))


@settings(max_examples=150)
@given(tick_rows(max_size=16), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.75, 1.0]), st.booleans())
def test_alive_at_a_threshold_are_its_merged_events(rows, threshold, inclusive):
    if inclusive and threshold == 0.0:
        return  # everything would be active, all the time
    table = long_rows(in_seconds(rows), files=FILES)
    activity = Activity.of_table(table)
    whole = EventLifetimes.of(activity)
    here = columns(whole.take(whole.alive(threshold, inclusive)), "file", "onset", "offset", "label")
    events = [(table.files[f], on, off, table.classes[c]) for f, on, off, c in here]
    active = (
        [row for row in rows if row[4] >= threshold] if inclusive else [r for r in rows if r[4] > threshold]
    )
    assert sorted(events) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    # At most one for each piece.
    assert len(whole) <= len(activity.onset)
    assert (whole.born < whole.dies).all()
    assert set(whole.dies.tolist()) <= set(activity.value.tolist())


@given(st.lists(st.integers(0, 5), max_size=60), st.booleans())
@example([*range(1, 100), 1, 50, 2], False)  # Many jumps: a pyramid of minima takes over.
@example([*range(1, 100), 1, 50, 2], True)
def test_the_nearest_smaller_value_before_each(values, or_equal):
    values = [0, *values]
    before = previous_smaller(np.array(values, dtype=np.float64), or_equal=or_equal).tolist()
    for place, value in enumerate(values):
        if value > 0:  # else it is a wall: nothing is smaller, and nobody asks
            smaller = [k for k in range(place) if values[k] < value or (or_equal and values[k] == value)]
            assert before[place] == smaller[-1]


@pytest.mark.parametrize(
    ("apart", "rows"),
    [
        (True, [("a", 0.0, 1.0, "car"), ("a", 1.5, 2.0, "car")]),
        (False, [("a", 0.0, 1.0, "car"), ("a", 1.0, 2.0, "car")]),
        (False, [("a", 0.0, 1.0, "car"), ("a", 0.5, 2.0, "car")]),
        # Those of other classes and files may be anywhere, in any order.
        (True, [("a", 0.0, 1.0, "car"), ("a", 0.5, 2.0, "dog")]),
        (True, [("b", 0.0, 1.0, "car"), ("a", 5.0, 6.0, "dog"), ("b", 2.0, 3.0, "car")]),
        (False, [("b", 2.0, 9.0, "car"), ("a", 5.0, 6.0, "dog"), ("b", 1.0, 3.0, "car")]),
    ],
)
def test_events_of_one_class_in_one_file_are_apart_or_not(apart, rows):
    assert separate(lifetimes_of(long_rows(rows), merge=False)) is apart


def hard(*rows):
    file, label, onset, offset = (np.array([row[k] for row in rows]) for k in range(4))
    codes = file.astype(np.int32), label.astype(np.int32)
    return EventLifetimes.from_events(Events(*codes, onset, offset, onset * 1e-6, offset * 1e-6))


def test_hard_events_live_from_0_to_1_sorted_by_file():
    lifetimes = hard((1, 0, 5, 9), (0, 1, 7, 8), (1, 1, 0, 2))
    assert columns(lifetimes) == [(0, 1, 7, 8, 0.0, 1.0), (1, 0, 5, 9, 0.0, 1.0), (1, 1, 0, 2, 0.0, 1.0)]
    assert (lifetimes.nested, len(lifetimes)) == (False, 3)
    names = "file", "label", "onset", "offset"
    assert columns(lifetimes.events(), *names) == columns(lifetimes, *names)
    for nested in (False, True):
        for index in (np.array([1]), np.array([False, True, False]), slice(1, 2)):
            part = replace(lifetimes, nested=nested).take(index)
            assert (part.nested, columns(part, "onset", "offset")) == (nested, [(5, 9)])


def test_levels_at_which_an_event_is_alive():
    """From 1/4, not included, to 3/4, included; above thresholds from 1/4 to 3/4, not included."""
    both = replace(hard((0, 0, 0, 1), (0, 0, 2, 3)), born=np.array([0.25, 0.5]), dies=np.array([0.75, 1.0]))
    assert [both.alive(t).tolist() for t in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        [False, False], [True, False], [True, True], [False, True], [False, False],
    ]  # fmt: skip
    assert [both.alive(t, True).tolist() for t in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        [False, False], [False, False], [True, False], [True, True], [False, True],
    ]  # fmt: skip
    assert both.alive(np.array([0.75, 0.5]), inclusive=True).tolist() == [True, False]


def test_pieces_of_a_run_by_hand():
    """Values 1/4, 3/4, 1/2, 1/2 that touch, and 1/4 by itself: four events over all levels."""
    values = [(0, 2, 0.25), (2, 3, 0.75), (3, 5, 0.5), (5, 6, 0.5), (8, 9, 0.25)]
    pieces = Activity.of_table(long_rows(in_seconds([("a", on, off, "car", v) for on, off, v in values])))
    lifetimes = EventLifetimes.of(pieces)
    assert sorted(columns(lifetimes, "onset", "offset", "born", "dies")) == [
        (0, 6, 0.0, 0.25), (2, 3, 0.5, 0.75), (2, 6, 0.25, 0.5), (8, 9, 0.0, 0.25),
    ]  # fmt: skip
    assert lifetimes.nested is True


def test_a_wide_table_has_the_lifetimes_of_all_its_classes():
    wide = wide_rows(np.array([[0.25, 1.0], [0.5, 0.0], [0.5, 0.75]]), 1.0)
    merged, rows = (lifetimes_of(wide, merge) for merge in (True, False))
    assert (merged.nested, rows.nested) == (True, False)
    of_second = [(1, 0, S, 0.0, 1.0), (1, 2 * S, 3 * S, 0.0, 0.75)]
    names = "label", "onset", "offset", "born", "dies"
    assert sorted(columns(merged, *names)) == [
        (0, 0, 3 * S, 0.0, 0.25), (0, S, 3 * S, 0.25, 0.5), *of_second,
    ]  # fmt: skip
    # Without merging each cell is an event up to its value.
    assert sorted(columns(rows, *names)) == [
        (0, 0, S, 0.0, 0.25), (0, S, 2 * S, 0.0, 0.5), (0, 2 * S, 3 * S, 0.0, 0.5), *of_second,
    ]  # fmt: skip
    for merge in (True, False):
        assert len(lifetimes_of(wide_rows(np.zeros((2, 0)), 1.0), merge)) == 0


def test_rows_are_sorted_by_all_that_tells_them_apart():
    """By file, class, onset, offset, birth and death, whatever the order of the table."""
    rows = [
        ("b", 0, 1, "car", 0.5), ("a", 2, 3, "car", 0.5), ("a", 0, 2, "car", 0.25),
        ("a", 0, 1, "dog", 0.5), ("a", 0, 2, "car", 0.125), ("a", 0, 1, "car", 0.75), ("a", 0, 1, "car", 0.0),
    ]  # fmt: skip
    table = long_rows(in_seconds([("a", 0, 0, "car", 0.0), ("a", 0, 0, "dog", 0.0), *rows]))
    assert columns(lifetimes_of(table, merge=False)) == [
        (0, 0, 0, 1, 0.0, 0.75), (0, 0, 0, 2, 0.0, 0.125), (0, 0, 0, 2, 0.0, 0.25), (0, 0, 2, 3, 0.0, 0.5),
        (0, 1, 0, 1, 0.0, 0.5), (1, 0, 0, 1, 0.0, 0.5),
    ]  # fmt: skip
    without = lifetimes_of(replace(table, values=()), merge=False)
    assert columns(without, "born", "dies") == [(0.0, 1.0)] * len(table)
    points = lifetimes_of(replace(table, born=np.full(len(table), 0.25)), merge=False)
    assert columns(points, "born", "dies") == [(0.25, 0.75), (0.25, 0.5), (0.25, 0.5), (0.25, 0.5)]


# Two activities on their common cells.

ONE = LABELS[0]


def sides(ours, theirs):
    """Return the rows of both sides, all of one class, and their common cells."""
    rows = [[(file, on, off, ONE, value) for file, on, off, _, value in side] for side in (ours, theirs)]
    # A row without extent declares the class, one without values in each file the order of files.
    declared = [(file, 0, 0, ONE, 0.0) for file in FILES]
    tables = [long_rows(in_seconds([*declared, *side])) for side in rows]
    (y,), (p,) = (list(activities(table)) for table in tables)
    return rows, tables, Cells.of(y, p)


@settings(max_examples=80)
@given(tick_rows(), tick_rows())
@example([], [])
def test_cells_hold_the_values_of_both_sides(ours, theirs):
    (left, right), _, cells = sides(ours, theirs)
    n = len(cells.file)
    assert [len(column) for column in (cells.width, cells.place, cells.y, cells.p)] == [n] * 4
    assert (cells.place == np.cumsum(cells.width) - cells.width).all()
    walls = cells.width == 0
    assert walls[0] and walls[-1]
    assert not cells.y[walls].any() and not cells.p[walls].any()
    for code, file in enumerate(FILES):
        lasting = [r for side in (left, right) for r in side if r[0] == file and r[1] < r[2] and r[4] > 0]
        edges = sorted({time for row in lasting for time in row[1:3]})
        cells_of_file = np.flatnonzero((cells.file == code) & ~walls)
        assert cells.width[cells_of_file].tolist() == np.diff(edges).tolist()
        for cell, tick in zip(cells_of_file, edges, strict=False):
            assert cells.y[cell] == value_at(left, file, ONE, tick)
            assert cells.p[cell] == value_at(right, file, ONE, tick)
    # A wall parts the cells of two files.
    inside = np.flatnonzero(~walls)
    pairs = zip(inside, inside[1:], strict=False)
    assert all(walls[a:b].any() for a, b in pairs if cells.file[a] < cells.file[b])


@settings(max_examples=80)
@given(tick_rows(), tick_rows(), st.booleans())
@example([], [], True)
def test_runs_are_the_lifetimes_of_the_activity(ours, theirs, above):
    """Also where a boundary of the other side cuts a cell in two; and the run around each cell is found."""
    _, tables, cells = sides(ours, theirs)
    for values, table in ((cells.y, tables[0]), (cells.p, tables[1])):
        runs = Runs.of(cells, values)
        events = lifetimes_of(table, merge=True)
        length = cells.place[runs.last] - cells.place[runs.first]
        assert length.tolist() == runs.length.tolist()
        got = zip(cells.file[runs.first].tolist(), length.tolist(), runs.born, runs.dies, strict=True)
        wanted = zip(
            events.file.tolist(), (events.offset - events.onset), events.born, events.dies, strict=True
        )
        assert sorted(got) == sorted(wanted)
        levels = [0.0, *np.unique(values[values > 0])]
        places = [
            (cell, level)
            for cell, value in enumerate(values)
            for level in levels
            if (value > level if above else value >= level > 0)
        ]
        if places:
            cell, level = (np.array(column) for column in zip(*places, strict=True))
            run = runs.at(cell, level, above=above)
            assert ((runs.first[run] <= cell) & (cell < runs.last[run])).all()
            low, high = runs.born[run], runs.dies[run]
            assert ((low <= level) & (level < high) if above else (low < level) & (level <= high)).all()


# Ranges.

VALUES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=50)


@given(VALUES, st.booleans(), st.booleans())
def test_the_pyramid_finds_small_values_and_minima_of_ranges(values, or_equal, tied):
    """From every place for every wanted value for which there is one; wanted values between and at values."""
    pyramid = Pyramid(np.array(values))
    answers = []
    for place in range(len(values)):
        for wanted in {*values, 0.5, 3.5, 9.0} if tied else {values[place]}:
            small = [i for i in range(place) if values[i] < wanted or (or_equal and values[i] == wanted)]
            if small:
                answers.append((place, wanted, small[-1]))
    places = np.array([place for place, _, _ in answers], dtype=np.int64)
    wanted = np.array([value for _, value, _ in answers])
    got = pyramid.before(places, wanted, or_equal=or_equal)
    assert got.tolist() == [answer for _, _, answer in answers]
    # What was asked is not written to.
    assert places.tolist() == [place for place, _, _ in answers]
    ranges = [(a, b) for a in range(len(values) + 1) for b in range(a, len(values) + 1)]
    first, last = np.array(ranges, dtype=np.int64).T
    assert pyramid.minimum(first, last).tolist() == [min(values[a:b], default=np.inf) for a, b in ranges]


@given(
    st.integers(1, 70),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70), st.floats(0, 1)), max_size=30),
    st.sampled_from([0.0, -1.0]),
)
def test_maxima_of_ranges(size, ranges, empty):
    ranges = [(*sorted((min(a, size), min(b, size))), value) for a, b, value in ranges]
    expected = [max([v for a, b, v in ranges if a <= cell < b], default=empty) for cell in range(size)]
    first, last = (np.array([item[k] for item in ranges], dtype=np.int64) for k in (0, 1))
    value = np.array([item[2] for item in ranges], dtype=np.float64)
    assert range_maximum(size, first, last, value, empty).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**62)), max_size=40))
def test_running_maxima(items):
    items.sort(key=lambda item: item[0])
    group, value = (np.array([item[k] for item in items], dtype=np.int64) for k in (0, 1))
    expected = [max(v for g, v in items[: i + 1] if g == items[i][0]) for i in range(len(items))]
    assert running_maximum(value, group).tolist() == expected
