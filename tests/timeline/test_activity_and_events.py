"""Pieces of constant value and the events of one threshold, against a look at every tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import END, FILES, TICK, in_seconds, merged_events, tick_rows, value_at
from tables import long_rows, wide_rows

from sedeval_soft.timeline.events import Activity, active_rows, activities, events_of


def check_form(activity):
    """Sorted by file, class and onset, with extent, without overlap."""
    assert (activity.onset < activity.offset).all()
    key = list(zip(activity.file, activity.label, activity.onset, strict=True))
    assert key == sorted(key)
    same = (np.diff(activity.file) == 0) & (np.diff(activity.label) == 0)
    assert (activity.onset[1:] >= activity.offset[:-1])[same].all()


def sample(activity, file, label, tick):
    here = (activity.file == file) & (activity.label == label)
    here &= (activity.onset <= tick) & (tick < activity.offset)
    return float(activity.value[here].sum())


@given(tick_rows())
def test_the_activity_of_a_long_table(rows):
    table = long_rows(in_seconds(rows), files=FILES)
    activity = Activity.of_table(table)
    check_form(activity)
    for file, name in enumerate(table.files):
        for code, label in enumerate(table.classes):
            values = [sample(activity, file, code, tick) for tick in range(END + 1)]
            assert values == [value_at(rows, name, label, tick) for tick in range(END + 1)]


def test_rows_without_values_count_one():
    activity = Activity.of_table(long_rows([("a", 0, 2, "car"), ("a", 1, 3, "car")]))
    assert sorted(set(activity.value)) == [1.0]
    assert (activity.onset.min(), activity.offset.max()) == (0, 3_000_000)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.3, 1.0])] * 2), min_size=1, max_size=12))
def test_the_activities_of_a_wide_table_are_its_columns(values):
    for label, activity in enumerate(activities(wide_rows(np.array(values), length=1e-6))):
        check_form(activity)
        assert (activity.value > 0).all()
        assert [sample(activity, 0, label, tick) for tick in range(len(values))] == [v[label] for v in values]


def test_of_time_steps_that_overlap_the_largest_value_counts():
    """As frames with a hop shorter than their window."""
    table = wide_rows(np.array([[0.2], [0.9], [0.4]]), length=1.0)
    activity = Activity.of_table(replace(table, offset=table.offset + 1.0))
    check_form(activity)
    times = (500_000, 1_500_000, 2_500_000, 3_500_000, 4_500_000)
    assert [sample(activity, 0, 0, tick) for tick in times] == [0.2, 0.9, 0.9, 0.4, 0.0]


def facts(events, table):
    columns = events.file, events.onset.tolist(), events.offset.tolist(), events.label
    return [(table.files[f], on, off, table.classes[c]) for f, on, off, c in zip(*columns, strict=True)]


@given(tick_rows(), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_active_rows_are_events_in_their_order_and_merged_where_they_touch(rows, threshold, inclusive):
    table = long_rows(in_seconds(rows), files=FILES)
    active = [row for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    events = events_of(table, threshold, inclusive, merge=False)
    assert facts(events, table) == [row[:4] for row in active]
    assert events.onset_seconds.tolist() == [row[1] * TICK for row in active]
    assert events.offset_seconds.tolist() == [row[2] * TICK for row in active]

    events = events_of(table, threshold, inclusive, merge=True)
    # Without extent there is nothing to merge.
    assert sorted(facts(events, table)) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    columns = events.file, events.label, events.onset, events.offset
    assert list(zip(*columns, strict=True)) == sorted(zip(*columns, strict=True))
    by_time = events.in_order(by_class=False)
    columns = by_time.file, by_time.onset, by_time.offset
    assert list(zip(*columns, strict=True)) == sorted(zip(*columns, strict=True))
    assert np.array_equal(events.onset_seconds, events.onset * TICK)
    assert events.offset_seconds == pytest.approx(events.offset * TICK, rel=1e-15)


def test_columns_of_a_wide_table():
    table = wide_rows(np.array([[0.9, 0.2], [0.8, 0.7], [0.5, 0.6]]))
    assert facts(active_rows(table, 0.5, False), table) == [
        ("file0", 0, 1_000_000, "class0"),
        ("file0", 1_000_000, 2_000_000, "class0"),
        ("file0", 1_000_000, 2_000_000, "class1"),
        ("file0", 2_000_000, 3_000_000, "class1"),
    ]
    assert facts(events_of(table, 0.5, True, merge=True), table) == [
        ("file0", 0, 3_000_000, "class0"),
        ("file0", 1_000_000, 3_000_000, "class1"),
    ]
