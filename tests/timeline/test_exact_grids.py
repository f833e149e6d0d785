"""Grids of any length of segment, and times that are rounded on the way, against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft import EvaluationError, Settings, evaluate
from sedeval_soft.settings import exactly, short_fraction
from sedeval_soft.timeline.grid import Edges

STEPS = [Fraction(text) for text in ("1/3", "256/11025", "0.02", "0.1")]
WRITTEN = [(np.float64, None), (np.float32, None), *((np.float64, d) for d in (3, 4, 5, 6)), (np.float32, 3)]


def times(step, index, kind, decimals):
    exact = np.array([float(step * int(k)) for k in index])
    return (exact if decimals is None else np.round(exact, decimals)).astype(kind)


def wide(step, values, kind, decimals, name="a.wav"):
    edges = times(step, range(len(values) + 1), kind, decimals)
    frame = {"filename": name, "onset": edges[:-1], "offset": edges[1:]}
    return pd.DataFrame(frame | {f"c{k}": column for k, column in enumerate(values.T)})


def long(step, values, kind, decimals):
    table = wide(step, values, kind, decimals)
    return table.melt(["filename", "onset", "offset"], var_name="event_label", value_name="soft_value")


def counted(values, other):
    """F, error rate and soft F of all cells, in whole numbers: hundredths."""
    y, p = values > 0.5, other > 0.5
    errors = np.maximum(y.sum(axis=1), p.sum(axis=1)) - (y & p).sum(axis=1)
    ours, theirs = (np.rint(100 * side).astype(int) for side in (values, other))
    return {
        "segment.hard.f1.micro": 2 * (y & p).sum() / (y.sum() + p.sum()),
        "segment.hard.error_rate.micro": errors.sum() / y.sum(),
        "segment.soft.f1.micro": 2 * np.minimum(ours, theirs).sum() / (ours.sum() + theirs.sum()),
    }


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("step", STEPS, ids=str)
@settings(max_examples=3)
@given(st.integers(2, 200), st.integers(0, 2**32), st.sampled_from(WRITTEN), st.sampled_from([wide, long]))
def test_rows_on_a_grid_are_its_segments(pool, step, n, seed, written, form):
    rng = np.random.default_rng(seed)
    y, p = np.vstack([[[0.9, 0.9]], rng.random((n, 2)).round(2)]), rng.random((n + 1, 2)).round(2)
    asked = {"segment_length": float(step), "pool": pool, "only": ("segment", "ranking")}
    classes = {"classes": ("c0", "c1")}
    scores = evaluate(form(step, y, *written), form(step, p, *written), **asked, **classes)
    assert scores.warnings == () and dict(scores) == dict(evaluate(y, p, **asked, **classes))
    assert {name: scores[name] for name in counted(y, p)} == pytest.approx(counted(y, p), abs=1e-12)


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


# A grid that is nearly that of the segments


@pytest.mark.parametrize(
    ("step", "length", "offset"),
    [
        *(("0.3333", 1 / 3, 0), ("0.33", 1 / 3, 0), ("0.023", 1024 / 44100, 0), ("1024/44100", 0.02322, 0)),
        *(("1/50", 0.02, 0.001), ("1", 1.0, 0.005)),
    ],
)
def test_a_grid_that_is_nearly_the_segments_is_told(step, length, offset):
    # The difference of 1024/44100 and its five decimals is 2e-6: it takes long to show.
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
    warnings = [evaluate(of, of, segment_length=length, only="segment.hard").warnings for of in tables]
    assert not any("nearly on the edges" in text for texts in warnings for text in texts)


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
    """Ties stay ties: the ranks of a long and a wide table are the same."""
    values = np.random.default_rng(3).choice([0.0, 0.1, 0.2, 0.3, 0.7], (2, 300, 3))
    sides = [[form(Fraction(1, 10), of, np.float64, None) for of in values] for form in (wide, long)]
    # Rows of silence across others cut nothing, and rows that touch may be one.
    silence = pd.DataFrame({"filename": "a.wav", "onset": np.arange(50) * 0.55, "event_label": "c0"})
    silence = silence.assign(offset=silence.onset + 0.37, soft_value=0.0)
    sides.append([pd.concat([side, silence]).sample(frac=1, random_state=0) for side in sides[1]])
    asked = {"segment_length": 1.0, "pool": "mean", "measures": "all", "only": ("segment", "ranking")}
    first, *others = (dict(evaluate(*of, **asked)) for of in sides)
    assert others == [first, first]
