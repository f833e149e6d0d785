"""Events of all thresholds together, against the events of each threshold by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import FILES, LABELS, in_seconds, merged_events, tick_rows
from tables import long_rows

from sedeval_soft.core import lifetimes
from sedeval_soft.core.activity import Activity
from sedeval_soft.core.lifetimes import EventLifetimes, previous_smaller


def lifetimes_of(rows):
    return EventLifetimes.of(Activity.of_long(long_rows(in_seconds(rows), files=FILES)))


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
    activity, found = Activity.of_long(table), lifetimes_of(rows)
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
