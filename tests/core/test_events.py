"""Events at one threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import FILES, TICK, in_seconds, merged_events, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft.timeline.events import active_rows, events_of


def facts(events, table):
    return [
        (table.files[file], onset, offset, table.classes[label])
        for file, onset, offset, label in zip(
            events.file, events.onset.tolist(), events.offset.tolist(), events.label, strict=True
        )
    ]


@given(tick_rows(), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_rows_above_the_threshold_are_events_in_their_order(rows, threshold, inclusive):
    table = long_rows(in_seconds(rows), files=FILES)
    events = events_of(table, threshold, inclusive, merge=False)
    expected = [row[:4] for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    assert facts(events, table) == expected
    assert np.array_equal(events.onset_seconds, [row[1] * TICK for row in expected])
    assert np.array_equal(events.offset_seconds, [row[2] * TICK for row in expected])


@given(tick_rows(), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_touching_rows_merge(rows, threshold, inclusive):
    table = long_rows(in_seconds(rows), files=FILES)
    events = events_of(table, threshold, inclusive, merge=True)
    active = [row for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    kept = [row for row in active if row[1] < row[2]]  # without extent there is nothing to merge
    assert sorted(facts(events, table)) == sorted(merged_events(kept))
    by_code = [(table.files.index(e[0]), table.classes.index(e[3]), e[1], e[2]) for e in facts(events, table)]
    assert by_code == sorted(by_code)
    by_time = [(table.files.index(e[0]), e[1], e[2]) for e in facts(events.by_time(), table)]
    assert by_time == sorted(by_time)
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
