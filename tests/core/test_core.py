"""The nouns, against slow and obvious answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.filenames import match_names
from sedeval_soft.tables.ticks import tick, to_ticks
from sedeval_soft.timeline.events import events_of
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.ranges import running_maximum
from sedeval_soft.timeline.recordings import align

FILES, LABELS = ("a", "b"), ("car", "dog")
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(FILES),
        st.integers(0, 30),
        st.integers(0, 12),
        st.sampled_from(LABELS),
        st.integers(0, 4),
    ),
    max_size=10,
).map(lambda rows: [(f, on / 10, (on + n) / 10, label, v / 4) for f, on, n, label, v in rows])


def at(rows, file, label, time):
    """Return the value of a class at a time, by looking at every row."""
    return max([v for f, on, off, c, v in rows if f == file and c == label and on <= time < off], default=0.0)


def coded(rows):
    """Build rows with all files and classes, in a fixed order."""
    return align(
        long_rows(rows), long_rows([]), Settings(classes=LABELS), dict.fromkeys(FILES, 5.0)
    ).reference


@given(st.floats(0, 1e6))
def test_ticks_are_the_nearest_microsecond(seconds):
    got = to_ticks(np.array([seconds]))[0]
    assert abs(got - seconds * 1e6) <= 0.5 + 1e-3
    assert got == tick(seconds)


def test_a_third_of_a_second_on_the_grid_stays_on_the_grid():
    grid = Grid.over(np.array([1_000_000]), tick(0.1))
    times = np.arange(10) / 10
    first, last = grid.cells(np.zeros(10, dtype=np.int32), to_ticks(times), to_ticks(times + 0.1))
    assert list(first) == list(range(10))
    assert list(last - first) == [1] * 10


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=20))
def test_running_maximum(pairs):
    pairs.sort(key=lambda pair: pair[0])
    group, value = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    wanted = [max(v for g, v in pairs[: i + 1] if g == pairs[i][0]) for i in range(len(pairs))]
    assert list(running_maximum(value, group)) == wanted


@given(EVENTS, st.sampled_from([0.1, 0.3, 1.0]), st.sampled_from(["max", "mean"]))
def test_segments_pool_what_overlaps_them(rows, length, pool):
    grid = Grid.over(np.array([5_000_000, 5_000_000]), tick(length))
    got = pool_rows(coded(rows), grid, pool)
    for f, file in enumerate(FILES):
        for c, label in enumerate(LABELS):
            for k in range(int(grid.n_segments[f])):
                begin, end = round(k * length * 10), min(round((k + 1) * length * 10), 50)
                steps = [at(rows, file, label, (n + 0.5) / 10) for n in range(begin, end)]
                wanted = max(steps) if pool == "max" else sum(steps) / len(steps)
                assert got[c, grid.start[f] + k] == pytest.approx(wanted, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from(["max", "mean"]))
def test_wide_and_long_tables_of_the_same_facts_pool_alike(seed, frame, pool):
    values = np.random.default_rng(seed).integers(0, 5, (12, 3)) / 4
    wide = wide_rows(values, frame, files=2)
    rows = [
        (wide.files[f], on, off, wide.classes[c], wide.values[c][i])
        for i, (f, on, off) in enumerate(zip(wide.file, wide.onset, wide.offset, strict=True))
        for c in range(3)
    ]
    long = long_rows(rows)
    grid = Grid.over(np.array([tick(6 * frame)] * 2), tick(0.5))
    assert np.array_equal(pool_rows(wide, grid, pool), pool_rows(long, grid, pool))
    for merge in (True, False):
        a, b = (events_of(side, 0.5, False, merge) for side in (wide, long))
        assert sorted(zip(a.file, a.label, a.onset, a.offset, strict=True)) == sorted(
            zip(b.file, b.label, b.onset, b.offset, strict=True)
        )


@given(EVENTS, st.sampled_from([0.0, 0.25, 0.6]), st.booleans())
def test_merged_events_are_the_runs_of_active_time(rows, threshold, inclusive):
    got = events_of(coded(rows), threshold, inclusive, merge=True)
    for f, file in enumerate(FILES):
        for c, label in enumerate(LABELS):
            active = [(v >= threshold if inclusive else v > threshold) for *_, v in rows]
            kept = [
                r
                for r, on in zip(rows, active, strict=True)
                if on and r[0] == file and r[3] == label and r[2] > r[1]
            ]
            wanted = []
            for _, on, off, _, _ in sorted(kept, key=lambda r: (r[1], r[2])):
                if wanted and on <= wanted[-1][1]:
                    wanted[-1][1] = max(wanted[-1][1], off)
                else:
                    wanted.append([on, off])
            mine = (got.file == f) & (got.label == c)
            found = sorted(zip(got.onset_seconds[mine], got.offset_seconds[mine], strict=True))
            assert [list(pair) for pair in found] == sorted(wanted)
            assert list(got.onset[mine]) == list(to_ticks(got.onset_seconds[mine]))


def test_active_is_above_the_threshold_unless_inclusive():
    rows = coded([("a", 0.0, 1.0, "car", 0.5)])
    assert len(events_of(rows, 0.5, inclusive=False, merge=True)) == 0
    assert len(events_of(rows, 0.5, inclusive=True, merge=True)) == 1


@pytest.mark.parametrize(
    ("reference", "other", "expected", "ambiguous"),
    [
        (["a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ()),
        (["a.wav"], ["a"], {"a": "a.wav"}, ()),
        (["scene/a.wav"], ["a"], {"a": "scene/a.wav"}, ()),
        (["a"], ["x\\a.FLAC"], {"x\\a.FLAC": "a"}, ()),
        (["x/a.wav", "y/a.wav"], ["a.wav"], {"a.wav": "a.wav"}, ("a.wav",)),
        (
            ["a.wav"],
            ["x/a.wav", "y/a.wav"],
            {"x/a.wav": "x/a.wav", "y/a.wav": "y/a.wav"},
            ("x/a.wav", "y/a.wav"),
        ),
        (["a.wav"], ["a.wav", "x/a.wav"], {"a.wav": "a.wav", "x/a.wav": "x/a.wav"}, ("x/a.wav",)),
        (["a.b.1"], ["a.b"], {"a.b": "a.b"}, ()),
        (["Y_1.000_2.000.wav"], ["Y_1.000_2.000"], {"Y_1.000_2.000": "Y_1.000_2.000.wav"}, ()),
        (["x/a.wav", "a.wav"], ["a"], {"a": "a.wav"}, ()),
    ],
)
def test_file_names_match_only_when_unambiguous(reference, other, expected, ambiguous):
    match = match_names(reference, other)
    assert match.canonical == expected
    assert match.ambiguous == ambiguous


def test_missing_extra_and_unlisted_files():
    reference = long_rows([("a", 0, 1, "car"), ("b", 0, 2, "car")])
    system = long_rows([("a", 0, 1, "car"), ("c", 0, 3, "car")])
    pair = align(reference, system, Settings())
    assert pair.files == ("a", "b", "c")
    assert list(pair.length) == [1, 2, 0]
    assert list(pair.reach) == [1, 2, 3]
    assert any(
        "no rows for 1 reference file ('b')" in warning for warning in pair.findings.warnings(Settings())
    )
    assert any("1 system file ('c')" in warning for warning in pair.findings.warnings(Settings()))
    listed = align(reference, system, Settings(), {"a": 10.0, "b": 10.0, "d": 7.0})
    assert listed.files == ("a", "b", "d")
    assert list(listed.length) == [10, 10, 7]
    assert any("left out" in warning for warning in listed.findings.warnings(Settings()))
    with pytest.raises(EvaluationError, match="strict makes"):
        pair.findings.warnings(Settings(strict=True))


def test_declared_files_are_no_reason_to_warn():
    reference = long_rows([("a", 0, 1, "car")], files=["quiet"])
    system = long_rows([("a", 0, 1, "car")], files=["quiet"])
    pair = align(reference, system, Settings(strict=True))
    assert (pair.files, pair.findings.warnings(Settings(strict=True))) == (("a", "quiet"), ())


def test_a_table_without_names_takes_the_name_of_the_only_file():
    named, unnamed = long_rows([("a", 0, 1, "car")]), long_rows([("", 0, 1, "car")])
    assert align(named, unnamed, Settings()).files == ("a",)
    assert align(unnamed, named, Settings()).files == ("a",)
    assert align(unnamed, unnamed, Settings()).files == ("",)
    two = long_rows([("a", 0, 1, "car"), ("b", 0, 1, "car")])
    with pytest.raises(InputError, match="2 files"):
        align(two, unnamed, Settings())


def test_times_beyond_a_lifetime_are_refused():
    rows = long_rows([("a", 0, 1e12, "car")])
    with pytest.raises(InputError, match="31 years"):
        align(rows, rows, Settings())


def test_length_counts_rows_of_left_out_classes():
    rows = long_rows([("a", 0, 1, "car"), ("a", 0, 9, "dog")])
    pair = align(rows, rows, Settings(classes=("car",)))
    assert list(pair.length) == [9]
    assert len(pair.reference) == 1
