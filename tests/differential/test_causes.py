"""`--check sed_eval` says why numbers differ: known causes, one after another, make up every difference."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from tables import long_rows, wide_rows
from test_sed_eval import CHOICES, FILES, LABELS, ODD_TIMES, event_lists

from sedeval_soft import Settings, evaluate
from sedeval_soft.api import read_lengths, sides_of
from sedeval_soft.interop import sed_eval as causes
from sedeval_soft.interop.second_opinion import Comparison, Part, comparison_text
from sedeval_soft.timeline.recordings import align

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")


def compared(reference, system, durations=None, **chosen):
    made = Settings(**chosen)
    ours = evaluate(reference, system, settings=made, durations=durations)
    return causes.check_sed_eval(align(reference, system, made, durations), made, ours)


def changed_by(rows, cause):
    return {row.name for row in rows for part in row.parts if part.cause == cause and part.changes}


@settings(max_examples=60)
@given(reference=event_lists(ODD_TIMES), system=event_lists(ODD_TIMES), **CHOICES)
def test_known_causes_make_up_every_difference(reference, system, **chosen):
    collar, (onset, offset) = chosen.pop("collar"), chosen.pop("sides")
    rows = compared(
        *(long_rows(side, files=FILES) for side in (reference, system)),
        onset_collar=collar,
        offset_collar=collar,
        onset=onset,
        offset=offset,
        classes=LABELS,
        **chosen,
    )
    assert [row for row in rows if not row.explained] == []
    for row in rows:
        steps = [row.ours, *(part.after for part in row.parts)]
        assert [part.before for part in row.parts] == steps[:-1]


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_means_of_segments_are_a_cause(seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    sides = (wide_rows(rng.random((40, 2)), 0.25, name=name) for name in ("ref", "sys"))
    rows = compared(*sides, pool="mean", only=("segment.hard",))
    assert [row for row in rows if not row.explained] == []
    assert "segment.hard.f1.micro" in changed_by(rows, causes.POOLED)


# Each by hand: one rule that matters, and nothing else.
def test_float_edges():
    # floor(0.3 / 0.1) is 2 in floats: one more segment is active in the reference than in the system.
    reference, system = [("a", 0.3, 0.6, "car")], [("a", 0.4, 0.6, "car")]
    rows = {row.name: row for row in compared(long_rows(reference), long_rows(system), segment_length=0.1)}
    row = rows["segment.hard.recall.micro"]
    assert (row.ours, row.theirs) == (2 / 3, 0.5)
    assert [part.cause for part in row.parts if part.changes] == [causes.EDGES]


def test_float_collars():
    reference, system = [("a", 0.9, 2.0, "car")], [("a", 1.1, 2.0, "car")]
    rows = {row.name: row for row in compared(long_rows(reference), long_rows(system), only=("event.hard",))}
    row = rows["event.hard.f1.micro"]
    assert (row.ours, row.theirs) == (1.0, 0.0)
    assert [part.cause for part in row.parts if part.changes] == [causes.COLLARS]


def test_substitutions_of_leftovers():
    # The first reference event takes the system event that the second needs, and could have had the other.
    reference = [("a", 0.25, 1.0, "car"), ("a", 0.3125, 2.0, "dog")]
    system = [("a", 0.25, 1.25, "bird"), ("a", 0.28125, 1.0, "talk")]
    rows = {row.name: row for row in compared(long_rows(reference), long_rows(system), only=("event.hard",))}
    row = rows["event.hard.substitution_rate.micro"]
    assert (row.ours, row.theirs) == (1.0, 0.5)
    assert [part.cause for part in row.parts if part.changes] == [causes.LEFTOVERS]


def test_a_class_that_is_never_detected():
    reference = [("a", 0, 1, "car"), ("a", 2, 3, "dog")]
    rows = {row.name: row for row in compared(long_rows(reference), long_rows([("a", 0, 1, "car")]))}
    row = rows["segment.hard.f1.macro"]
    assert (row.ours, row.theirs) == (0.5, 1.0)
    assert [part.cause for part in row.parts if part.changes] == [causes.UNDEFINED]
    # A class that is only in the system has an error rate of 4.5e15 there.
    more = [("a", 0, 1, "car"), ("a", 2, 3, "dog"), ("a", 4, 5, "bird")]
    rows = {row.name: row for row in compared(long_rows(reference), long_rows(more))}
    row = rows["segment.hard.error_rate.macro"]
    assert row.ours == 0.0
    assert row.theirs == pytest.approx(4.5e15 / 3, rel=0.01)
    assert [part.cause for part in row.parts if part.changes] == [causes.ABSENT]


def test_with_compat_there_is_nothing_to_explain():
    reference, system = [("a", 0.9, 2.0, "car")], [("a", 1.1, 2.0, "car")]
    rows = compared(long_rows(reference), long_rows(system), compat="sed_eval")
    assert all(row.agrees and row.explained and not row.parts for row in rows)


def test_what_is_unexplained_is_said():
    off = Comparison("x", 1.0, 0.5, (Part("a rule", 1.0, 0.75),))
    assert not off.explained
    text = comparison_text("peer", [off], {"a rule": "what it is"})
    assert "a rule +2.50e-01; unexplained +2.50e-01" in text
    assert "known causes make up all of 0, to 1e-9" in text


def test_touching_rows_are_mentioned():
    rows = [("a", 0, 1, "car", 0.9), ("a", 1, 2, "car", 0.9)]
    sides, made = (long_rows(rows), long_rows([("a", 0, 2, "car", 0.9)])), Settings(only=("segment.hard",))
    ours = evaluate(*sides, settings=made)
    text = causes.second_opinion(align(*sides, made), None, made, ours)
    assert "reference: 2 active rows, of which those that touch are one event, were given as 1." in text
    assert "system: " not in text


@pytest.mark.slow
@pytest.mark.parametrize("length", [1.0, 0.1, 0.3])
@pytest.mark.parametrize("point", ["0.1", "0.5", "0.9"])
def test_dcase_2019(point, length):
    folder = shared("dcase2019_task4")
    names = ("dcase2019t4_gt", f"baseline_{point}", "dcase2019t4_meta")
    paths = [folder / f"{name}.csv" for name in names]
    chosen = {"segment_length": length, "offset_collar_rate": 0.2, "only": ("segment.hard", "event.hard")}
    sides = sides_of(*paths[:2], Settings(**chosen))
    rows = compared(*sides, read_lengths(paths[2]), **chosen)
    assert len(rows) > 200
    for row in rows:
        assert row.explained, row
        if row.difference is not None:
            parts = [p.before - p.after for p in row.parts if p.before is not None and p.after is not None]
            assert sum(parts) == pytest.approx(row.difference, abs=1e-9)
    assert bool(changed_by(rows, causes.EDGES)) == (length != 1.0)
