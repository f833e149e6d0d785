"""Segments of any length in all files, and their values, against fractions and a loop over ticks."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import END, FILES, LEVELS, in_seconds, segment_values, tick_rows
from tables import long_rows, wide_rows

from sedeval_soft import EvaluationError, Settings, evaluate
from sedeval_soft.api import evaluate_rows
from sedeval_soft.memory import memory_limited, taken
from sedeval_soft.settings import exactly, short_fraction
from sedeval_soft.timeline import Grid, pool_rows
from sedeval_soft.timeline.grid import Edges

LENGTHS = st.tuples(st.integers(0, END + 3), st.integers(0, END + 3))


def test_grids_that_are_too_large_are_refused():
    with pytest.raises(EvaluationError, match=r"[Aa]re the times in seconds\?"):
        Grid.over(np.array([10**15]), 1000).check_size(17)
    with pytest.raises(EvaluationError, match="than can be counted"):
        Grid.over(np.full(10_000, 10**15), 1)
    # Values in order, and means, take more memory.
    grid = Grid.over(np.array([10**7]), 1)
    with memory_limited(taken() + 17 * 10**7 * 40):
        grid.check_size(17)
        for how in ({"in_order": True}, {"means": True}):
            with pytest.raises(EvaluationError, match="are left of --memory-limit"):
                grid.check_size(17, **how)


@pytest.mark.parametrize("pool", ["max", "mean"])
@given(tick_rows(), LENGTHS, st.integers(1, 7), st.booleans())
@example([("a", 6, 9, "car", 0.5)], (5, 0), 4, False)  # in the last segment, but beyond the file's end
@example([("a", 0, 2, "car", 0.5), ("a", 2, 3, "car", 1.0)], (2, 0), 3, False)  # and after a full segment
def test_values_of_segments(pool, rows, lengths, segment, binary):
    """Values of binary rows are exact, even means."""
    if binary:
        rows = [(*row[:4], 1.0) for row in rows]
    table = long_rows(in_seconds(rows) or [("a", 0.0, 0.0, "car", 0.0)], files=FILES)
    by_name = dict(zip(FILES, lengths, strict=True))
    grid = Grid.over(np.array([by_name[name] for name in table.files]), segment)
    pooled = pool_rows(table, grid, pool)
    assert pooled.shape == (len(table.classes), grid.size)
    for code, label in enumerate(table.classes):
        for file, name in enumerate(table.files):
            values = segment_values(rows, name, label, segment, int(grid.length[file]), pool)
            expected = [float(Fraction(value)) for value in values]
            got = pooled[code, grid.start[file] : grid.start[file + 1]].tolist()
            if pool == "max" or binary:
                assert got == expected
            else:
                assert got == pytest.approx(expected, rel=1e-14, abs=0)


@st.composite
def wide_tables(draw):
    """Draw time steps in any order that fit segments, share them, cross them, overlap, or leave gaps."""
    n = draw(st.integers(1, 10))
    values = np.array(draw(st.lists(st.tuples(LEVELS, LEVELS), min_size=n, max_size=n)))
    table = wide_rows(values, length=draw(st.integers(1, 5)) / 10, files=draw(st.integers(1, 2)))
    table = table.take(np.array(draw(st.permutations(range(n)))))
    longer = draw(st.sampled_from([1.0, 1.0, 3.0, 0.5]))
    return replace(table, offset=table.onset + longer * (table.offset - table.onset))


@settings(max_examples=10)
@given(wide_tables(), wide_tables(), st.sampled_from(["max", "mean"]), st.sampled_from(["merge", "rows"]))
def test_a_wide_table_is_the_long_one_unfolded(reference, system, pool, events):
    """Scores of segments, clips and events are equal, at one level and over all."""
    long = [
        long_rows([
            (side.files[file], onset, offset, label, value)
            for label, column in zip(side.classes, side.values, strict=True)
            for file, onset, offset, value in zip(side.file, side.onset, side.offset, column, strict=True)
        ], files=side.files)
        for side in (reference, system)
    ]  # fmt: skip
    asked = Settings(
        only=("segment", "clip", "event.hard", "event.soft", "event.optimal"), classes=("class0", "class1"),
        segment_length=0.3, pool=pool, events=events, threshold=0.3,
    )  # fmt: skip
    ours, theirs = (evaluate_rows(*sides, asked) for sides in ((reference, system), long))
    wanted = {name: v if v is None else pytest.approx(v, rel=1e-12, abs=1e-12) for name, v in theirs.items()}
    assert dict(ours) == wanted


def test_segments_that_are_dropped_one_after_another_are_gone():
    """By hand: file a has 10 segments, b has 5; first 1, 2 and 10 go, then, by new numbers, 0, 5 and 6."""
    grid = Grid.over(np.array([10, 5]), 1).without(np.array([10, 1]), np.array([11, 3]))
    grid = grid.without(np.array([5, 0]), np.array([7, 1]))
    files, begin, _ = grid.spans(np.arange(grid.size))
    assert (files.tolist(), begin.tolist()) == ([0] * 5 + [1] * 4, [3, 4, 5, 6, 9, 1, 2, 3, 4])
    assert [each.tolist() for each in grid.runs()] == [[0, 0, 1], [3, 9, 1], [7, 10, 5]]
    assert grid.n_segments.tolist() == grid.n_evaluated.tolist() == [5, 4]


# Grids of segments of any length, and rounded times.

STEPS = [Fraction(text) for text in ("1/3", "256/11025", "0.02", "0.1")]
WRITTEN = [(np.float64, None), (np.float32, None), *((np.float64, d) for d in (3, 4, 5, 6)), (np.float32, 3)]


def times(step, index, kind, decimals):
    exact = np.array([float(step * int(k)) for k in index])
    return (exact if decimals is None else np.round(exact, decimals)).astype(kind)


def wide(step, values, kind, decimals, name="a.wav"):
    edges = times(step, range(len(values) + 1), kind, decimals)
    columns = {f"c{k}": column for k, column in enumerate(values.T)}
    return pd.DataFrame({"filename": name, "onset": edges[:-1], "offset": edges[1:], **columns})


def long(step, values, kind, decimals):
    return wide(step, values, kind, decimals).melt(
        ["filename", "onset", "offset"], var_name="event_label", value_name="soft_value"
    )


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("step", STEPS, ids=str)
@settings(max_examples=3)
@given(st.integers(2, 200), st.integers(0, 2**32), st.sampled_from(WRITTEN), st.sampled_from([wide, long]))
def test_rows_on_a_grid_are_its_segments(pool, step, n, seed, written, form):
    rng = np.random.default_rng(seed)
    y, p = np.vstack([[[0.9, 0.9]], rng.random((n, 2)).round(2)]), rng.random((n + 1, 2)).round(2)
    asked = Settings(segment_length=float(step), pool=pool, only=("segment", "ranking"), classes=("c0", "c1"))
    scores = evaluate(form(step, y, *written), form(step, p, *written), settings=asked)
    assert scores.warnings == () and dict(scores) == dict(evaluate(y, p, settings=asked))


@given(
    st.sampled_from([*STEPS, Fraction(1, 128), Fraction(29, 1250)]),
    st.integers(0, 3 * 10**9),
    st.integers(0, 10**9),
)
@settings(max_examples=50)
def test_edges_against_fractions(step, tick, far):
    edges = Edges(step * 10**6)
    ticks = np.array([tick, round(step * 10**6 * (far % 10**6))])
    found = (each.tolist() for each in (ticks, edges.slack(ticks), edges.before(ticks), edges.after(ticks)))
    for at, room, first, last in zip(*found, strict=True):
        exact = Fraction(at) / edges.step
        nearest = round(exact)
        most = max(edges.step / 20, Fraction(1, 2))
        if abs(exact - nearest) * edges.step <= min(Fraction(room), most):
            assert first == last == nearest
        else:
            assert (first, last) == (floor(exact), ceil(exact))
    index = np.array([far, 10**12 + far])
    assert edges.at(index).tolist() == [round(edges.step * int(k)) for k in index]


@pytest.mark.parametrize(
    ("onset", "offset", "n"),
    [(0.3, 0.4, 1), (0.3, 0.4003, 2), (0.3004, 0.4, 1), (0.2996, 0.4, 2), (0.3, 0.4001, 2)],
)
def test_an_event_that_reaches_into_a_segment_is_active_there(onset, offset, n):
    """Times with more decimals than the grid are not rounded to it."""
    rows = {"filename": ["a"], "onset": [onset], "offset": [offset], "event_label": ["dog"]}
    assert evaluate(rows, rows, segment_length=0.1)["segment.hard.n_ref.micro"] == n


@pytest.mark.parametrize("text", ["1/3", "256/11025", "0.02322", "1.0", "0.3"])
def test_lengths_of_segments_are_what_they_stand_for(text):
    value = float(Fraction(text))
    given = (text, value) if "/" in text else (value, np.float32(value), value + 1e-16)
    assert {Settings(segment_length=each).segment_length for each in given} == {value}
    assert (short_fraction(value), exactly(value)) == (text, Fraction(text))


# Time steps that nearly fit the segments.


@pytest.mark.parametrize(
    ("step", "length", "offset"),
    [
        *(("0.3333", 1 / 3, 0), ("0.33", 1 / 3, 0), ("0.023", 1024 / 44100, 0), ("1024/44100", 0.02322, 0)),
        *(("1/50", 0.02, 0.001), ("1", 1.0, 0.005)),
    ],
)
def test_a_grid_that_is_nearly_the_segments_is_told(step, length, offset):
    # 1024/44100 differs from its five decimals by only 2e-6, which shows after many steps.
    n = 5000 if step == "1024/44100" else 900
    table = wide(Fraction(step), np.random.default_rng(0).random((n, 1)).round(2), np.float64, 6)
    table[["onset", "offset"]] = (table[["onset", "offset"]] + offset).round(6)
    scores = evaluate(table, table, segment_length=length, only=("segment.soft",))
    assert any("nearly on the edges" in warning for warning in scores.warnings)
    with pytest.raises(EvaluationError, match="nearly on the edges"):
        evaluate(table, table, segment_length=length, only=("segment.soft",), strict=True)
    assert not evaluate(table, table, segment_length=length, only=("event.soft",)).warnings


@pytest.mark.parametrize("length", [1.0, 0.02, 1024 / 44100])
def test_events_anywhere_and_frames_of_other_lengths_are_no_grid(length):
    rng, tables = np.random.default_rng(1), []
    for decimals in (1, 3, 6):
        onset = (rng.random(1000) * 100).round(decimals)
        offset = (onset + rng.random(1000) * 3).round(decimals)
        tables.append(pd.DataFrame({"filename": "a", "onset": onset, "offset": offset, "event_label": "dog"}))
    tables += [
        wide(Fraction(step), rng.random((300, 1)), np.float64, None) for step in ("0.064", "0.96", "0.016")
    ]
    warned = [evaluate(of, of, segment_length=length, only="segment.hard").warnings for of in tables]
    assert "nearly on the edges" not in str(warned)


# Single and half precision


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_values_are_compared_as_their_own_type_would(kind, tmp_path):
    values = np.array([[0.6], [0.6], [0.61], [0.3], [0.59], [0.6], [0.1]], dtype=kind)
    frame = wide(Fraction(1), values.astype(np.float64), np.float64, None).assign(c0=values[:, 0])
    ones = wide(Fraction(1), np.ones((7, 1)), np.float64, None)
    sides = [(np.ones((7, 1)), values), (ones, frame), (ones, long(Fraction(1), values, np.float64, None))]
    if kind is np.float32:
        frame.to_parquet(tmp_path / "a.parquet")
        sides.append((ones, tmp_path / "a.parquet"))
    for pair in sides:
        for cut, inclusive, n in ((0.6, False, 1), (0.6, True, 4), (kind(0.6), False, 1)):
            found = evaluate(*pair, threshold=cut, inclusive=inclusive, only="segment.hard")
            assert found["segment.hard.n_sys.micro"] == n


# Means


def test_means_do_not_go_by_how_time_is_cut():
    """Ties stay ties, so ranks of a long and a wide table are equal."""
    values = np.random.default_rng(3).choice([0.0, 0.1, 0.2, 0.3, 0.7], (2, 300, 3))
    sides = [[form(Fraction(1, 10), of, np.float64, None) for of in values] for form in (wide, long)]
    # Rows of silence that cross others do not cut them, and touching rows may be joined.
    onset = np.arange(50) * 0.55
    silence = pd.DataFrame({"filename": "a.wav", "onset": onset, "offset": onset + 0.37, "event_label": "c0",
                            "soft_value": 0.0})  # fmt: skip
    sides.append([pd.concat([side, silence]).sample(frac=1, random_state=0) for side in sides[1]])
    asked = {"segment_length": 1.0, "pool": "mean", "measures": "all", "only": ("segment", "ranking")}
    first, *others = (dict(evaluate(*of, **asked)) for of in sides)
    assert others == [first, first]
