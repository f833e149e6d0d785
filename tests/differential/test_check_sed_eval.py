"""`check --with sed_eval` says why numbers differ: known causes, one by one, make up every difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft import Settings, evaluate
from sedeval_soft.interop import sed_eval as causes
from sedeval_soft.timeline.recordings import align

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

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
CHOICES = {
    "segment_length": st.sampled_from([0.1, 0.3, 1.0]),
    "collar": st.sampled_from([0.1, 0.2, 0.25, 1.0]),
    "offset_collar_rate": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    "matching": st.sampled_from(["optimal", "greedy"]),
    "sides": st.sampled_from([(True, True), (True, False), (False, True)]),
}


def compared(reference, system, durations=None, **chosen):
    """Return every score that both have, ours beside theirs."""
    if "sides" in chosen:
        chosen["onset_collar"] = chosen["offset_collar"] = chosen.pop("collar")
        chosen["onset"], chosen["offset"] = chosen.pop("sides")
        chosen["classes"] = LABELS
    made = Settings(**chosen)
    ours = evaluate(reference, system, settings=made, durations=durations)
    return causes.check_sed_eval(align(reference, system, made, durations), made, ours)


def changed_by(rows, cause):
    return {row.name for row in rows if cause in row.causes}


def sides_of_rows(*sides):
    return [long_rows(side, files=FILES) for side in sides]


@settings(max_examples=40)
@given(reference=event_lists(ODD_TIMES), system=event_lists(ODD_TIMES), **CHOICES)
def test_known_causes_make_up_every_difference(reference, system, **chosen):
    rows = compared(*sides_of_rows(reference, system), **chosen)
    assert [row for row in rows if not row.explained] == []


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_means_of_segments_are_a_cause(seed):
    rng = np.random.default_rng(seed)
    sides = (wide_rows(rng.random((40, 2)), 0.25, name=name) for name in ("ref", "sys"))
    rows = compared(*sides, pool="mean", only=("segment.hard",))
    assert [row for row in rows if not row.explained] == []
    assert "segment.hard.f1.micro" in changed_by(rows, causes.POOLED)


@pytest.mark.parametrize(
    ("reference", "system", "name", "values", "cause"),
    [
        # floor(0.3 / 0.1) is 2 in floats: one more segment is active in the reference than in the system.
        ([("a", 0.3, 0.6, "car")], [("a", 0.4, 0.6, "car")],
         "segment.hard.recall.micro", (2 / 3, 0.5), causes.EDGES),
        # 1.1 - 0.9 is 0.20000000000000007.
        ([("a", 0.9, 2.0, "car")], [("a", 1.1, 2.0, "car")],
         "event.hard.f1.micro", (1.0, 0.0), causes.COLLARS),
        # The first reference event takes the system event that the second needs, and could have the other.
        ([("a", 0.25, 1.0, "car"), ("a", 0.3125, 2.0, "dog")],
         [("a", 0.25, 1.25, "bird"), ("a", 0.28125, 1.0, "talk")],
         "event.hard.substitution_rate.micro", (1.0, 0.5), causes.LEFTOVERS),
        ([("a", 0, 1, "car"), ("a", 2, 3, "dog")], [("a", 0, 1, "car")],
         "segment.hard.f1.macro", (0.5, 1.0), causes.UNDEFINED),
        # A class that is only in the system has an error rate of 4.5e15 there.
        ([("a", 0, 1, "car"), ("a", 2, 3, "dog")],
         [("a", 0, 1, "car"), ("a", 2, 3, "dog"), ("a", 4, 5, "bird")],
         "segment.hard.error_rate.macro", (0.0, 4.5e15 / 3), causes.ABSENT),
    ],
)  # fmt: skip
def test_one_rule_that_matters_and_nothing_else(reference, system, name, values, cause):
    length = 0.1 if cause == causes.EDGES else 1.0
    rows = {row.name: row for row in compared(long_rows(reference), long_rows(system), segment_length=length)}
    assert (rows[name].ours, rows[name].theirs) == (values[0], pytest.approx(values[1], rel=0.01))
    assert [*rows[name].causes] == [cause]


def test_the_comparison_can_fail():
    rows, made = long_rows([("a", 0, 1, "car")]), Settings(only=("event",))
    other = evaluate(rows, long_rows([("a", 3, 4, "car")]), settings=made)
    values = {row.name: row for row in causes.check_sed_eval(align(rows, rows, made), made, other)}
    assert (values["event.hard.f1.micro"].ours, values["event.hard.f1.micro"].theirs) == (0.0, 1.0)
    assert not values["event.hard.f1.micro"].agrees


def test_touching_rows_are_mentioned():
    rows = [("a", k, k + 1, "car", 0.9) for k in range(3)]
    sides, made = (long_rows(rows), long_rows([("a", 0, 3, "car", 0.9)])), Settings(only=("segment.hard",))
    ours = evaluate(*sides, settings=made)
    text = causes.second_opinion(align(*sides, made), None, made, ours)
    assert "reference: 3 active rows, of which those that touch are one event, were given as 1." in text
    assert "system: " not in text
