"""Reference and system are aligned as by a plain computation, and pieces of constant value become events.

Events at one threshold and at all are compared with loops over every tick. Post-processing commutes with
thresholds: it gives the result of processing the events at each threshold.
"""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import FILES, TICK, in_seconds, merged_events, tick_rows
from scipy.signal import medfilt
from tables import long_rows, wide_rows

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.errors import InputError
from sedeval_soft.settings import Settings
from sedeval_soft.tables import UNNAMED
from sedeval_soft.timeline import align, events_of, merges
from sedeval_soft.timeline.events import level_runs, lifetimes_of
from sedeval_soft.timeline.postprocess import TimeGrid, postprocessed


def columns(rows, *names):
    return list(zip(*(getattr(rows, name).tolist() for name in names), strict=True))


def facts(events, table):
    found = columns(events, "file", "onset", "offset", "label")
    return [(table.files[f], on, off, table.classes[c]) for f, on, off, c in found]


@given(tick_rows(), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_active_rows_are_events_in_their_order_and_merged_where_they_touch(rows, threshold, inclusive):
    table = long_rows(in_seconds(rows), files=FILES)
    active = [row for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    events = events_of(table, threshold, inclusive, merge=False)
    assert facts(events, table) == [row[:4] for row in active]
    seconds = events.onset_seconds.tolist(), events.offset_seconds.tolist()
    assert seconds == tuple([row[k] * TICK for row in active] for k in (1, 2))

    events = events_of(table, threshold, inclusive, merge=True)
    # Rows without extent are not merged.
    assert sorted(facts(events, table)) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    for found in (
        columns(events, "file", "label", "onset", "offset"),
        columns(events.in_order(by_class=False), "file", "onset", "offset"),
    ):
        assert found == sorted(found)
    for end in ("onset", "offset"):
        assert getattr(events, f"{end}_seconds") == pytest.approx(getattr(events, end) * TICK, rel=1e-15)


@settings(max_examples=60)
@given(tick_rows(max_size=16), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.75, 1.0]), st.booleans())
def test_alive_at_a_threshold_are_its_merged_events(rows, threshold, inclusive):
    inclusive &= threshold > 0.0  # otherwise all time would be active
    table = long_rows(in_seconds(rows), files=FILES)
    whole = lifetimes_of(table, merge=True)
    events = facts(whole.take(whole.alive(threshold, inclusive)), table)
    active = [row for row in rows if row[4] > threshold or (inclusive and row[4] == threshold)]
    assert sorted(events) == sorted(merged_events([row for row in active if row[1] < row[2]]))
    assert (whole.born < whole.dies).all() and {*whole.dies.tolist()} <= {row[4] for row in rows}


@given(st.lists(st.integers(0, 5), max_size=60))
@example([*range(1, 100), 1, 50, 2])  # Many jumps: the code uses a pyramid of minima.
@example([*range(99, 0, -1), 1, 50, 2])
def test_the_runs_of_values_above_something(values):
    values = [0, *values, 0]
    runs, wanted = level_runs(np.array(values, dtype=np.float64)), []
    for place, value in enumerate(values):
        left = max((k for k in range(place) if values[k] <= value), default=place)
        if values[left] < value:
            wanted.append((place, left, min(k for k in range(place, len(values)) if values[k] < value)))
    assert [*zip(*(of.tolist() for of in runs), strict=True)] == wanted


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
    # The shortest row is 10 ms, and 0 is the only time in the first 40 ms.
    onset, offset = np.array([0, 48_780, 97_561]), np.array([2_000_000, 58_780, 107_561])
    with pytest.raises(EvaluationError, match="fixed time step"):
        TimeGrid.of(onset, offset).step("t")


# Reference and system are aligned, and findings become warnings.

NAMES = ("a.wav", "b.wav", "c.wav", "d.wav")
LABELS = ("ant", "bee", "cat", "dog")

ROWS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(0, 9), st.sampled_from(LABELS)).map(
        lambda r: (r[0], float(min(r[1:3])), float(max(r[1:3])), r[3])
    ),
    max_size=8,
)


@given(
    ROWS,
    ROWS,
    st.none() | st.dictionaries(st.sampled_from(NAMES), st.integers(0, 20)),
    st.none() | st.permutations(LABELS).map(lambda names: tuple(names[:3])),
    st.booleans(),
)
@example([("b.wav", 0.0, 1.0, "ant")], [("b.wav", 0.0, 1.0, "ant")], {"a.wav": 2, "b.wav": 1}, None, False)
def test_align(reference, system, durations, classes, bare):
    """`bare`: the system's names lack their extension."""
    theirs = [(row[0].removesuffix(".wav") if bare else row[0], *row[1:]) for row in system]
    pair = align(long_rows(reference), long_rows(theirs), Settings(classes=classes), durations)

    in_reference, in_system = ({row[0] for row in rows} for rows in (reference, system))
    known = in_reference | set(durations or {})
    # A file that only the system names gets no extension from another table.
    named = {name: name.removesuffix(".wav") if bare and name not in known else name for name in in_system}
    files = known | (set(named.values()) if durations is None else set())
    assert pair.files == tuple(sorted(files))
    labels = {row[3] for row in [*reference, *system]}
    assert pair.classes == (tuple(sorted(labels)) if classes is None else classes)
    theirs = [(named[row[0]], *row[1:]) for row in system]
    for rows, side in ((reference, pair.reference), (theirs, pair.system)):
        assert facts(side, side) == [row for row in rows if row[0] in files and row[3] in pair.classes]
        assert (side.files, side.classes) == (pair.files, pair.classes)

    # The reference alone gives the length of a recording; the system may reach further.
    lasting = [row for row in theirs if row[2] > row[1]]
    for name, length, reach in zip(pair.files, pair.length, pair.reach, strict=True):
        last = max((row[2] for row in reference if row[0] == name), default=0.0)
        furthest = max([last, *(row[2] for row in lasting if row[0] == name)])
        given = (durations or {}).get(name)
        assert (length, reach) == ((last, furthest) if given is None else (given, given))
    ends = dict(zip(pair.files, pair.length.tolist(), strict=True))
    # A file that is declared without events has no known end.
    assumed = {name for name in ends.keys() & in_reference - {*(durations or ())} if ends[name] > 0}
    late = [row[2] - ends[row[0]] for row in theirs if row[0] in assumed and row[2] > ends[row[0]]]
    rows = pair.findings.tables["system"]
    assert rows.counts.get("after-reference", 0) == len(late)
    assert rows.excess.get("after-reference", 0) == pytest.approx(max(late, default=0))

    found, listed = pair.findings, durations is not None
    dropped, unlisted = {*named.values()} - files, in_reference - set(durations) if listed else set()
    extra = set() if listed else {*named.values()} - in_reference
    assert (found.missing, found.extra) == (in_reference - in_system, extra)
    assert (found.dropped, found.unlisted) == (dropped, unlisted)
    warnings = "\n".join(found.warnings(Settings()))
    told = {
        "counted as misses": in_reference - in_system,
        "counted as false alarms (a row": extra,
        "neither in the reference nor in the durations": listed and in_system - files,
        " no duration; ": unlisted,
    }
    assert {text: text in warnings for text in told} == {text: bool(files) for text, files in told.items()}


ONE = long_rows([("a.wav", 0.0, 1.0, "car")])
WITH_SILENCE = long_rows([("a.wav", 0.0, 1.0, "car")], files=["a.wav", "b.wav"])
TWO = long_rows([("a.wav", 0.0, 1.0, "car"), ("b.wav", 0.0, 9.0, "dog")])
NOTHING = long_rows([], files=["a.wav"])
UNKNOWN = long_rows([(UNNAMED, 0.0, 1.0, "car")])


@pytest.mark.parametrize(
    ("reference", "system", "durations", "classes", "named"),
    [
        # A file without events is neither a missing nor an extra file.
        *((WITH_SILENCE, ONE, None, None, None), (ONE, WITH_SILENCE, None, None, None)),
        (WITH_SILENCE, WITH_SILENCE, None, None, None),
        (ONE, TWO, None, ("car",), "1 system file"),
        (long_rows([("b.wav", 0.0, 1.0, "car")]), ONE, None, None, "1 reference file"),
        (ONE, long_rows([("a.wav", 0.0, 1.0, "cars")]), None, None, "'car'"),
        (ONE, ONE, {"b.wav": 3.0}, None, "'a.wav'"),
        (
            ONE,
            long_rows([("x/a.wav", 0, 1, "car"), ("y/a.wav", 0, 1, "car")]),
            None,
            None,
            "more than one file",
        ),
        (UNKNOWN, long_rows([]), None, None, "without a name"),
        # If tables have no classes, a named class is missing.
        (NOTHING, NOTHING, None, ("Cat",), "'Cat'"),
        # A named class that no table has is an error; a class that is left out is not.
        *(
            (TWO, TWO, None, classes, named)
            for classes, named in ((("dog",), None), (("car", "cat"), "'cat'"))
        ),
        # A table of one unnamed file and a single duration belong together.
        (UNKNOWN, UNKNOWN, {"a.wav": 5.0}, None, None),
    ],
)
def test_strict_makes_warnings_errors_but_not_of_what_was_asked_for(
    reference, system, durations, classes, named
):
    plain, strict = (Settings(classes=classes, strict=strict) for strict in (False, True))
    found = align(reference, system, plain, durations).findings
    assert (named or "") in "\n".join(found.warnings(plain))
    with pytest.raises(EvaluationError, match=named) if named else nullcontext():
        found.warnings(strict)


def test_recordings_last_as_long_as_the_reference_says_in_all_classes():
    pair = align(TWO, TWO, Settings(classes=("car",)))
    assert (pair.length.tolist(), len(pair.reference)) == ([1.0, 9.0], 1)
    # Names of durations match as names of systems do.
    pair = align(ONE, ONE, Settings(), {"audio/a.flac": 7.0})
    assert (pair.files, pair.length.tolist()) == (("a.wav",), [7.0])
    far = long_rows([("a", 0, 1e12, "car")])
    with pytest.raises(InputError, match="31 years"):
        align(far, far, Settings())


def test_a_table_without_names_takes_the_name_of_the_only_file():
    for sides, name in (((ONE, UNKNOWN), "a.wav"), ((UNKNOWN, ONE), "a.wav"), ((UNKNOWN, UNKNOWN), UNNAMED)):
        assert align(*sides, Settings()).files == (name,)
    with pytest.raises(InputError, match="2 files"):
        align(TWO, UNKNOWN, Settings())


def test_wide_tables_get_silent_columns_and_lose_files():
    system = wide_rows(np.array([[0.1], [0.2], [0.3], [0.4]]), files=2)
    pair = align(long_rows([("file1", 0.0, 1.0, "class9")]), system, Settings(), {"file1": 2.0})
    values = [column.tolist() for column in pair.system.values]
    assert (pair.classes, pair.files) == (("class0", "class9"), ("file1",))
    assert (pair.system.onset.tolist(), values) == ([0.0, 1.0], [[0.3, 0.4], [0.0, 0.0]])
