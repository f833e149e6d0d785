"""Pieces of constant value, events of one threshold and of all, against a look at every tick and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import FILES, TICK, in_seconds, merged_events, tick_rows
from tables import long_rows

from sedeval_soft.timeline.events import (
    events_of,
    level_runs,
    lifetimes_of,
)


def columns(rows, *names):
    return list(zip(*(getattr(rows, name).tolist() for name in names), strict=True))


def facts(events, table):
    names = "file", "onset", "offset", "label"
    return [(table.files[f], on, off, table.classes[c]) for f, on, off, c in columns(events, *names)]


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
    for ordered, names in (
        (events, "file label onset offset"),
        (events.in_order(by_class=False), "file onset offset"),
    ):
        assert columns(ordered, *names.split()) == sorted(columns(ordered, *names.split()))
    assert np.array_equal(events.onset_seconds, events.onset * TICK)
    assert events.offset_seconds == pytest.approx(events.offset * TICK, rel=1e-15)


@settings(max_examples=60)
@given(tick_rows(max_size=16), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.75, 1.0]), st.booleans())
def test_alive_at_a_threshold_are_its_merged_events(rows, threshold, inclusive):
    if inclusive and threshold == 0.0:
        return  # everything would be active, all the time
    table = long_rows(in_seconds(rows), files=FILES)
    whole = lifetimes_of(table, merge=True)
    events = facts(whole.take(whole.alive(threshold, inclusive)), table)
    active = [row for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    assert sorted(events) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    assert (whole.born < whole.dies).all() and {*whole.dies.tolist()} <= {row[4] for row in rows}


@given(st.lists(st.integers(0, 5), max_size=60))
@example([*range(1, 100), 1, 50, 2])  # Many jumps: a pyramid of minima takes over.
@example([*range(99, 0, -1), 1, 50, 2])
def test_the_runs_of_values_above_something(values):
    values = [0, *values, 0]
    runs = [of.tolist() for of in level_runs(np.array(values, dtype=np.float64))]
    wanted = []
    for place, value in enumerate(values):
        left = max((k for k in range(place) if values[k] <= value), default=place)
        if values[left] < value:
            wanted.append((place, left, min(k for k in range(place, len(values)) if values[k] < value)))
    assert [*zip(*runs, strict=True)] == wanted
