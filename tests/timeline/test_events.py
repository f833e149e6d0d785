"""Pieces of constant value, events of one threshold and of all, against a look at every tick and loops.

And post-processing: whatever the threshold, it is what would be done to the events at that threshold.
"""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import FILES, TICK, in_seconds, merged_events, tick_rows
from scipy.signal import medfilt
from tables import long_rows, wide_rows

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import events_of, level_runs, lifetimes_of
from sedeval_soft.timeline.postprocess import TimeGrid, postprocessed
from sedeval_soft.timeline.recordings import merges


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
    seconds = events.onset_seconds.tolist(), events.offset_seconds.tolist()
    assert seconds == tuple([row[k] * TICK for row in active] for k in (1, 2))

    events = events_of(table, threshold, inclusive, merge=True)
    # Without extent there is nothing to merge.
    assert sorted(facts(events, table)) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    by_time = events.in_order(by_class=False)
    for found in (
        columns(events, "file", "label", "onset", "offset"),
        columns(by_time, "file", "onset", "offset"),
    ):
        assert found == sorted(found)
    for end in ("onset", "offset"):
        assert getattr(events, f"{end}_seconds") == pytest.approx(getattr(events, end) * TICK, rel=1e-15)


@settings(max_examples=60)
@given(tick_rows(max_size=16), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.75, 1.0]), st.booleans())
def test_alive_at_a_threshold_are_its_merged_events(rows, threshold, inclusive):
    inclusive &= threshold > 0.0  # or everything would be active, all the time
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


# Post-processing.

LEVELS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def by_hand(values: np.ndarray, threshold: float, gap: int, duration: int) -> list[tuple[int, int]]:
    """Return runs of frames above a threshold, joined over gaps shorter than `gap`, without short ones."""
    edges = np.diff((np.append(np.append(0, values), 0) > threshold).astype(int))
    joined: list[list[int]] = []
    for onset, offset in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        if joined and onset - joined[-1][1] < gap:
            joined[-1][1] = offset
        else:
            joined.append([onset, offset])
    return [(a, b) for a, b in joined if b - a >= duration]


@settings(max_examples=20)
@given(
    st.lists(st.lists(LEVELS, min_size=2, max_size=2), min_size=2, max_size=40),
    st.integers(0, 4),
    st.integers(0, 5),
    st.sampled_from([1, 2.9, 3, 5]),
    st.booleans(),
)
def test_it_commutes_with_thresholds(values, gap, duration, seconds, long):
    array = np.array(values[: len(values) // 2 * 2])
    tracks, rows = array.reshape(2, -1, 2), wide_rows(array, files=2)
    if long:
        cells = itertools.product(range(2), range(2), range(len(array) // 2))
        rows = long_rows([(f"file{f}", s, s + 1, f"class{c}", tracks[f, s, c]) for f, c, s in cells])
    spec, window = Settings(median_filter=float(seconds), min_gap=gap, min_duration=duration), round(seconds)
    processed = postprocessed(rows, spec)
    lifetimes = lifetimes_of(processed, merge=True)
    for threshold, file, label in itertools.product((0.0, 0.25, 0.3, 0.5, 0.75), range(2), range(2)):
        padded = medfilt(np.pad(tracks[file, :, label], window), window)[window:-window]
        wanted = by_hand(padded, threshold, gap, duration)
        at_once = events_of(processed, threshold, inclusive=False, merge=merges(processed, spec))
        for events in (at_once, lifetimes.take(lifetimes.alive(threshold))):
            mine = np.flatnonzero((events.file == file) & (events.label == label))
            ends = np.stack([events.onset, events.offset])[:, mine].T // 10**6
            assert sorted(map(tuple, ends.tolist())) == wanted


@pytest.mark.parametrize(
    ("changed", "left", "n_warnings"),
    [
        *(({"min_duration": {"a": 2.0}}, ["b"], 0), ({"median_filter": {"b": 3.0}}, ["a"], 0)),
        ({"min_gap": {"cat": 1.0}}, ["a", "b"], 1),
    ],
    ids=str,
)  # fmt: skip
def test_classes_may_differ_and_one_that_is_unknown_is_warned_of(changed, left, n_warnings):
    rows = long_rows([("f", 0, 1, "a", 0.9), ("f", 0, 1, "b", 0.9)])
    scores = evaluate(rows, rows, **changed)
    assert [label for label in "ab" if scores[f"event.hard.n_sys[{label}]"]] == left
    assert len(scores.warnings) == n_warnings and all("'cat'" in text for text in scores.warnings)


def test_a_table_without_values_is_processed_too():
    rows = long_rows([("f", 0, 1, "a"), ("f", 1.1, 2, "a"), ("f", 5, 5.1, "a")])
    scores = evaluate(rows, rows, min_gap=0.2, min_duration=0.5)
    assert (scores["event.hard.n_sys.micro"], scores["event.hard.n_ref.micro"]) == (1, 3)
    assert [item.events for item in scores.inputs] == ["rows", "merge"]


@pytest.mark.parametrize(
    ("hop", "step"), [(0.02, 20_000), (0.0625, 62_500), (512 / 44100, 1e6 * 512 / 44100), (1 / 3, 1e6 / 3)]
)
def test_the_time_step_is_found(hop, step):
    edges = np.rint(np.arange(100_000) * hop * 1e6).astype(np.int64)
    assert TimeGrid.of(edges[:-1], edges[1:]).step("t") == pytest.approx(step, rel=1e-9)


def test_times_without_a_step_are_refused():
    rows = long_rows([("f", 0, 0.1234567, "a", 0.9), ("f", 0.5, 0.7654321, "a", 0.8)])
    with pytest.raises(EvaluationError, match="fixed time step"):
        evaluate(rows, rows, median_filter=0.5)
    # The shortest row is 10 ms, and within four times that there is no time but 0.
    onset, offset = np.array([0, 48_780, 97_561]), np.array([2_000_000, 58_780, 107_561])
    with pytest.raises(EvaluationError, match="fixed time step"):
        TimeGrid.of(onset, offset).step("t")
