"""Pieces of constant value against a look at every tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import END, FILES, in_seconds, tick_rows, value_at
from tables import long_rows, wide_rows

from sedeval_soft.timeline.events import Activity, activities


def check_form(activity):
    """Sorted by file, class and onset, with extent, without overlap."""
    assert (activity.onset < activity.offset).all()
    key = list(zip(activity.file, activity.label, activity.onset, strict=True))
    assert key == sorted(key)
    same = (np.diff(activity.file) == 0) & (np.diff(activity.label) == 0)
    assert (activity.onset[1:] >= activity.offset[:-1])[same].all()


def sample(activity, file, label, tick):
    here = (
        (activity.file == file)
        & (activity.label == label)
        & (activity.onset <= tick)
        & (tick < activity.offset)
    )
    return float(activity.value[here].sum())


@given(tick_rows())
def test_of_long_table(rows):
    table = long_rows(in_seconds(rows), files=FILES)
    activity = Activity.of_table(table)
    check_form(activity)
    for file, name in enumerate(table.files):
        for code, label in enumerate(table.classes):
            for tick in range(END + 1):
                assert sample(activity, file, code, tick) == value_at(rows, name, label, tick)


def test_rows_without_values_count_one():
    activity = Activity.of_table(long_rows([("a", 0, 2, "car"), ("a", 1, 3, "car")]))
    assert sorted(set(activity.value)) == [1.0]
    assert (activity.onset.min(), activity.offset.max()) == (0, 3_000_000)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.3, 1.0])] * 2), min_size=1, max_size=12))
def test_of_column_is_the_column(values):
    table = wide_rows(np.array(values), length=1e-6)
    for label, activity in enumerate(activities(table)):
        check_form(activity)
        assert (activity.value > 0).all()
        got = [sample(activity, 0, label, tick) for tick in range(len(values))]
        assert got == [row[label] for row in values]


def test_of_column_settles_overlaps():
    """Time steps that overlap, as frames with a hop shorter than their window: the largest value counts."""
    table = wide_rows(np.array([[0.2], [0.9], [0.4]]), length=1.0)
    overlapping = replace(table, offset=table.offset + 1.0)
    activity = Activity.of_table(overlapping)
    check_form(activity)
    got = [sample(activity, 0, 0, tick) for tick in (500_000, 1_500_000, 2_500_000, 3_500_000, 4_500_000)]
    assert got == pytest.approx([0.2, 0.9, 0.9, 0.4, 0.0], abs=0)
