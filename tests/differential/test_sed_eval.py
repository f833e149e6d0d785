"""Against the sed_eval package itself, on random event lists.

With `compat="sed_eval"` every score is theirs, NaN (undefined) where theirs is. Without it the counts are
theirs wherever floats and ticks agree, and the scores differ in the ways that the tests name.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import Settings, evaluate
from sedeval_soft.interop.sed_eval import check_sed_eval
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.timeline.recordings import align

FILES = ("a", "b")
LABELS = ("car", "dog", "talk")


def event_lists(times):
    event = st.tuples(st.sampled_from(FILES), times, times, st.sampled_from(LABELS)).map(
        lambda row: (row[0], *sorted(row[1:3]), row[3])
    )
    return st.lists(event, max_size=12)


ODD_TIMES = st.one_of(
    st.integers(0, 60).map(lambda n: n / 10),
    st.floats(0, 6, allow_subnormal=False),
    st.integers(0, 6).map(float),
)
WHOLE_TIMES = st.integers(0, 12).map(float)
EXACT_TIMES = st.integers(0, 400).map(lambda n: n / 64)  # exact as floats and as microseconds

PADDED = {
    *("sensitivity", "specificity", "accuracy", "balanced_accuracy"),
    *("error_rate", "substitution_rate", "deletion_rate", "insertion_rate"),
}


def measure_of(name):
    return ScoreName.parse(name).measure


CHOICES = {
    "segment_length": st.sampled_from([0.1, 0.3, 1.0]),
    "collar": st.sampled_from([0.1, 0.2, 0.25, 1.0]),
    "offset_collar_rate": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    "matching": st.sampled_from(["optimal", "greedy"]),
    "sides": st.sampled_from([(True, True), (True, False), (False, True)]),
}


def compare(reference, system, durations=None, **chosen):
    """Return every score that both have as (name, ours, theirs)."""
    collar, (onset, offset) = chosen.pop("collar", 0.2), chosen.pop("sides", (True, True))
    made = Settings(
        onset_collar=collar, offset_collar=collar, onset=onset, offset=offset, classes=LABELS, **chosen
    )
    sides = long_rows(reference, files=FILES), long_rows(system, files=FILES)
    ours = evaluate(*sides, settings=made, durations=durations)
    return check_sed_eval(align(*sides, made, durations), made, ours)


def last_offsets(*sides):
    """Return where sed_eval has files end: with the last offset of either side."""
    return {
        name: max([row[2] for rows in sides for row in rows if row[0] == name], default=0.0) for name in FILES
    }


@settings(max_examples=150)
@given(reference=event_lists(ODD_TIMES), system=event_lists(ODD_TIMES), given_length=st.booleans(), **CHOICES)
def test_compat_gives_every_score_of_sed_eval(reference, system, given_length, **chosen):
    durations = {"a": 4.55, "b": 3.0} if given_length else None
    for row in compare(reference, system, durations, compat="sed_eval", **chosen):
        if row.ours is None or row.theirs is None:
            assert row.ours is row.theirs, row
        else:
            assert math.isclose(row.ours, row.theirs, rel_tol=1e-12, abs_tol=1e-15), row


@settings(max_examples=100)
@given(reference=event_lists(WHOLE_TIMES), system=event_lists(WHOLE_TIMES))
def test_segments_of_whole_seconds_are_those_of_sed_eval(reference, system):
    """On whole seconds the event rolls agree: so do all counts, and all scores that both define."""
    for row in compare(reference, system, last_offsets(reference, system), only=("segment.hard",)):
        if ".macro" in row.name:
            continue  # theirs averages over all classes, ours over those with a reference
        if row.ours is not None and row.theirs is not None:
            if row.theirs > 1e9:
                continue  # their rates of a class without reference: 2.2e-16 in the denominator
            assert math.isclose(row.ours, row.theirs, rel_tol=1e-9, abs_tol=1e-12), row
        elif row.ours is None:
            # Undefined for us alone: they add 2.2e-16 to these denominators.
            assert row.theirs is None or measure_of(row.name) in PADDED, row
        else:
            # Undefined for them alone: F where precision or recall is, 0 for us.
            assert measure_of(row.name) == "f1", row
            assert row.ours == 0.0, row


@settings(max_examples=100)
@given(reference=event_lists(EXACT_TIMES), system=event_lists(EXACT_TIMES), **CHOICES)
def test_event_counts_are_those_of_sed_eval_where_floats_are_exact(reference, system, **chosen):
    chosen |= {"collar": 0.25, "segment_length": 1.0, "only": ("event",)}
    for row in compare(reference, system, **chosen):
        if measure_of(row.name) in {"n_ref", "n_sys", "recall"} and not row.name.endswith(".macro"):
            assert row.agrees, row


@settings(max_examples=100)
@given(reference=event_lists(EXACT_TIMES), system=event_lists(EXACT_TIMES))
def test_our_substitutions_are_the_most_that_any_matching_leaves(reference, system):
    """S = M - TP is at least what sed_eval's greedy pass over its leftovers finds, and ER at most theirs."""
    ours, theirs = (
        evaluate(
            long_rows(reference, files=FILES),
            long_rows(system, files=FILES),
            only=("event",),
            compat=compat,
        )
        for compat in (None, "sed_eval")
    )
    assert ours["event.hard.tp.micro"] == theirs["event.hard.tp.micro"]
    assert ours["event.hard.substitutions.micro"] >= theirs["event.hard.substitutions.micro"]
    assert ours["event.hard.deletions.micro"] <= theirs["event.hard.deletions.micro"]
    assert ours["event.hard.insertions.micro"] <= theirs["event.hard.insertions.micro"]


def test_known_disagreement_of_collars_in_floats():
    """0.9 s against 1.1 s at 0.2 s: 1.1 - 0.9 is 0.20000000000000007 in floats, a miss for sed_eval."""
    reference, system = long_rows([("a", 0.9, 3.0, "car")]), long_rows([("a", 1.1, 3.0, "car")])
    assert evaluate(reference, system, only=("event",))["event.hard.tp.micro"] == 1
    assert evaluate(reference, system, only=("event",), compat="sed_eval")["event.hard.tp.micro"] == 0


def test_known_disagreement_of_segment_edges_in_floats():
    """0.3 / 0.1 is 2.9999999999999996 in floats: sed_eval's event begins a segment early."""
    rows = long_rows([("a", 0.3, 0.6, "car")])
    exact = evaluate(rows, rows, segment_length=0.1, only=("segment",))
    floats = evaluate(rows, rows, segment_length=0.1, only=("segment",), compat="sed_eval")
    assert exact["segment.hard.n_ref.micro"] == 3
    assert floats["segment.hard.n_ref.micro"] == 4


def test_check_is_not_blind():
    """The comparison can fail: other events give other scores."""
    made = Settings(only=("event",))
    pair = align(long_rows([("a", 0, 1, "car")]), long_rows([("a", 0, 1, "car")]), made)
    other = evaluate(long_rows([("a", 0, 1, "car")]), long_rows([("a", 3, 4, "car")]), settings=made)
    rows = check_sed_eval(pair, made, other)
    assert not all(row.agrees for row in rows)
    assert np.isclose(next(row.difference for row in rows if row.name == "event.hard.f1.micro"), -1.0)
