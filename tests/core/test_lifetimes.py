"""Events of all thresholds together, against the events of each threshold by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import FILES, LABELS, in_seconds, merged_events, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft.timeline import lifetimes
from sedeval_soft.timeline.events import Activity, Events
from sedeval_soft.timeline.lifetimes import EventLifetimes, previous_smaller, separate
from sedeval_soft.timeline.lifetimes import lifetimes_of as lifetimes_of_table


def lifetimes_of(rows):
    return EventLifetimes.of(Activity.of_table(long_rows(in_seconds(rows), files=FILES)))


def alive(found, rows, threshold, inclusive):
    table = long_rows(in_seconds(rows), files=FILES)
    here = found.take(found.alive(threshold, inclusive))
    columns = (here.file, here.onset.tolist(), here.offset.tolist(), here.label)
    return [(table.files[f], on, off, table.classes[c]) for f, on, off, c in zip(*columns, strict=True)]


@settings(max_examples=200)
@given(tick_rows(max_size=16), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.75, 1.0]), st.booleans())
def test_alive_at_a_threshold_are_its_merged_events(rows, threshold, inclusive):
    if inclusive and threshold == 0.0:
        return  # everything would be active, all the time
    found = lifetimes_of(rows)
    kept = [
        row for row in rows if (row[4] >= threshold if inclusive else row[4] > threshold) and row[1] < row[2]
    ]
    assert sorted(alive(found, rows, threshold, inclusive)) == sorted(merged_events(kept))


@given(tick_rows(max_size=16))
def test_at_most_one_lifetime_per_piece_sorted(rows):
    table = long_rows(in_seconds(rows), files=FILES)
    activity, found = Activity.of_table(table), lifetimes_of(rows)
    assert len(found) <= len(activity.onset)
    assert (found.born < found.dies).all()
    assert (found.onset < found.offset).all()
    assert set(found.dies.tolist()) <= set(activity.value.tolist())
    assert len(LABELS) >= len(set(found.label.tolist()))


@settings(max_examples=200)
@given(st.lists(st.integers(0, 5), max_size=60), st.booleans(), st.sampled_from([0, 1, 24]))
def test_previous_smaller(values, or_equal, jumps):
    """`jumps`: after how many rounds the pyramid of minima takes over."""
    values = [0, *values]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifetimes, "_JUMPS", jumps)
        got = previous_smaller(np.array(values, dtype=np.float64), or_equal=or_equal).tolist()
    for place, value in enumerate(values):
        if value == 0:
            continue  # a wall: nothing is smaller, and nobody asks
        smaller = [k for k in range(place) if (values[k] <= value if or_equal else values[k] < value)]
        assert got[place] == smaller[-1]


def is_separate(*rows):
    return separate(lifetimes_of_table(long_rows(list(rows)), merge=False))


def test_events_of_one_class_in_one_file_are_apart_or_not():
    assert is_separate(("a", 0.0, 1.0, "car", 1.0), ("a", 1.5, 2.0, "car", 1.0))
    assert not is_separate(("a", 0.0, 1.0, "car", 1.0), ("a", 1.0, 2.0, "car", 1.0))
    assert not is_separate(("a", 0.0, 1.0, "car", 1.0), ("a", 0.5, 2.0, "car", 0.5))
    # Those of other classes and files may be anywhere, in any order.
    assert is_separate(("a", 0.0, 1.0, "car", 1.0), ("a", 0.5, 2.0, "dog", 1.0))
    assert is_separate(("a", 0.0, 1.0, "car", 1.0), ("b", 0.5, 2.0, "car", 1.0))
    assert is_separate(("b", 0.0, 1.0, "car", 1.0), ("a", 5.0, 6.0, "dog", 1.0), ("b", 2.0, 3.0, "car", 1.0))
    assert not is_separate(
        ("b", 2.0, 9.0, "car", 1.0), ("a", 5.0, 6.0, "dog", 1.0), ("b", 1.0, 3.0, "car", 1.0)
    )


def test_each_cell_of_a_wide_table_is_an_event_up_to_its_value():
    found = lifetimes_of_table(wide_rows(np.array([[0.25, 1.0], [0.5, 0.0]]), 2.0), merge=False)
    columns = (found.file, found.label, found.onset, found.offset, found.born, found.dies)
    told = sorted(zip(*(column.tolist() for column in columns), strict=True))
    assert told == [
        (0, 0, 0, 2_000_000, 0.0, 0.25),
        (0, 0, 2_000_000, 4_000_000, 0.0, 0.5),
        (0, 1, 0, 2_000_000, 0.0, 1.0),
    ]


def events_of(*rows):
    file, label, onset, offset = (np.array([row[k] for row in rows]) for k in range(4))
    codes = file.astype(np.int32), label.astype(np.int32)
    return Events(*codes, onset, offset, onset * 1e-6, offset * 1e-6)


def test_hard_events_live_from_0_to_1_sorted_by_file():
    found = EventLifetimes.from_events(events_of((1, 0, 5, 9), (0, 1, 7, 8), (1, 1, 0, 2)))
    assert found.file.tolist() == [0, 1, 1]
    assert found.label.tolist() == [1, 0, 1]
    assert (found.onset.tolist(), found.offset.tolist()) == ([7, 5, 0], [8, 9, 2])
    assert (found.born.tolist(), found.dies.tolist()) == ([0.0] * 3, [1.0] * 3)
    assert found.nested is False
    assert len(found) == 3
    again = found.events()
    assert (again.onset.tolist(), again.offset.tolist()) == ([7, 5, 0], [8, 9, 2])
    assert again.file.tolist() == [0, 1, 1] and again.label.tolist() == [1, 0, 1]


def test_levels_at_which_an_event_is_alive():
    """From 1/4, not included, to 3/4, included; above thresholds from 1/4 to 3/4, not included."""
    one = EventLifetimes.from_events(events_of((0, 0, 0, 1), (0, 0, 2, 3)))
    found = replace(one, born=np.array([0.25, 0.5]), dies=np.array([0.75, 1.0]))
    assert [found.alive(t).tolist() for t in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        [False, False], [True, False], [True, True], [False, True], [False, False],
    ]  # fmt: skip
    assert [found.alive(t, True).tolist() for t in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        [False, False], [False, False], [True, False], [True, True], [False, True],
    ]  # fmt: skip
    assert found.alive(np.array([0.25, 0.25])).tolist() == [True, False]
    assert found.alive(np.array([0.75, 0.5]), inclusive=True).tolist() == [True, False]


@pytest.mark.parametrize("nested", [False, True])
def test_some_lifetimes_are_nested_as_all_are(nested):
    one = replace(EventLifetimes.from_events(events_of((0, 0, 0, 1), (0, 0, 2, 3))), nested=nested)
    for index in (np.array([1]), np.array([False, True]), slice(1, 2)):
        part = one.take(index)
        assert part.nested is nested
        assert (part.onset.tolist(), part.offset.tolist()) == ([2], [3])


def test_pieces_of_a_run_by_hand():
    """Values 1/4, 3/4, 1/2, 1/2 that touch, and 1/4 by itself: four events over all levels."""
    values = [(0, 2, 0.25), (2, 3, 0.75), (3, 5, 0.5), (5, 6, 0.5), (8, 9, 0.25)]
    rows = [("a", on, off, "car", value) for on, off, value in values]
    activity = Activity.of_table(long_rows(in_seconds(rows)))
    found, first, last = EventLifetimes.with_pieces(activity.sounding())
    told = sorted(
        zip(
            found.onset.tolist(), found.offset.tolist(), found.born.tolist(), found.dies.tolist(), strict=True
        )
    )
    assert told == [(0, 6, 0.0, 0.25), (2, 3, 0.5, 0.75), (2, 6, 0.25, 0.5), (8, 9, 0.0, 0.25)]
    assert found.nested is True
    pieces = activity.sounding()
    assert pieces.onset[first].tolist() == found.onset.tolist()
    assert pieces.offset[last].tolist() == found.offset.tolist()


@pytest.mark.parametrize("merge", [True, False])
def test_a_wide_table_has_the_lifetimes_of_all_its_classes(merge):
    wide = wide_rows(np.array([[0.25, 1.0], [0.5, 0.0], [0.5, 0.75]]), 1.0)
    found = lifetimes_of_table(wide, merge)
    assert found.nested is merge
    columns = (found.label, found.onset, found.offset, found.born, found.dies)
    told = sorted(zip(*(column.tolist() for column in columns), strict=True))
    s = 1_000_000
    assert told == (
        [
            (0, 0, 3 * s, 0.0, 0.25), (0, s, 3 * s, 0.25, 0.5),
            (1, 0, s, 0.0, 1.0), (1, 2 * s, 3 * s, 0.0, 0.75),
        ]
        if merge
        else [
            (0, 0, s, 0.0, 0.25), (0, s, 2 * s, 0.0, 0.5), (0, 2 * s, 3 * s, 0.0, 0.5),
            (1, 0, s, 0.0, 1.0), (1, 2 * s, 3 * s, 0.0, 0.75),
        ]
    )  # fmt: skip
    nothing = lifetimes_of_table(wide_rows(np.zeros((2, 0)), 1.0), merge)
    assert len(nothing) == 0


def test_rows_are_sorted_by_all_that_tells_them_apart():
    """By file, class, onset, offset, birth and death, whatever the order of the table."""
    rows = [
        ("b", 0, 1, "car", 0.5), ("a", 2, 3, "car", 0.5), ("a", 0, 2, "car", 0.25),
        ("a", 0, 1, "dog", 0.5), ("a", 0, 2, "car", 0.125), ("a", 0, 1, "car", 0.75), ("a", 0, 1, "car", 0.0),
    ]  # fmt: skip
    table = long_rows(in_seconds([("a", 0, 0, "car", 0.0), ("a", 0, 0, "dog", 0.0), *rows]))
    found = lifetimes_of_table(table, merge=False)
    columns = (found.file, found.label, found.onset, found.offset, found.born, found.dies)
    told = list(zip(*(column.tolist() for column in columns), strict=True))
    assert told == [
        (0, 0, 0, 1, 0.0, 0.75), (0, 0, 0, 2, 0.0, 0.125), (0, 0, 0, 2, 0.0, 0.25), (0, 0, 2, 3, 0.0, 0.5),
        (0, 1, 0, 1, 0.0, 0.5), (1, 0, 0, 1, 0.0, 0.5),
    ]  # fmt: skip
    assert found.nested is False
    without = lifetimes_of_table(replace(table, values=()), merge=False)
    assert {*without.dies.tolist()} == {1.0} and {*without.born.tolist()} == {0.0}
    assert len(without) == len(table)
    born = replace(table, born=np.full(len(table), 0.25))
    told = lifetimes_of_table(born, merge=False)
    assert (told.born.tolist(), told.dies.tolist()) == ([0.25] * 4, [0.75, 0.5, 0.5, 0.5])
