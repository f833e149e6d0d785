"""Event-based counts against all pairs one by one; soft and optimal readings against the hard one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import all_pairs, event_counts, first_free, is_matching
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.measures import matching
from sedeval_soft.measures.event import count_events, match_events
from sedeval_soft.measures.matching import (
    Collars,
    Overlap,
    PairCandidates,
    TooManyPairsError,
    level_pairs,
    naming,
)
from sedeval_soft.memory import RoomError, memory_limited
from sedeval_soft.timeline.events import EventLifetimes, Events

N_FILES, N_CLASSES = 2, 3


# Events.


def event_rows(latest, max_size):
    time = st.integers(0, latest)
    row = st.tuples(st.integers(0, N_FILES - 1), st.integers(0, N_CLASSES - 1), time, time)
    return st.lists(row.map(lambda r: (*r[:2], *sorted(r[2:]))), max_size=max_size)


EVENTS = event_rows(30, 14) | event_rows(4, 40)
"""Some, and many of which many are alike but for their class."""


@st.composite
def collars(draw):
    if draw(st.integers(0, 2)) == 0:
        return Overlap(draw(st.sampled_from([1e-300, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])))
    onset = draw(st.none() | st.sampled_from([0, 1, 3, 8, 10**12]))
    offset = draw(
        st.sampled_from([0, 1, 3, 10**12]) if onset is None else st.none() | st.sampled_from([0, 2, 5])
    )
    return Collars(onset, offset, draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])))


def events(rows):
    file, label, onset, offset = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(4))
    return Events(file.astype(np.int32), label.astype(np.int32), onset, offset, onset * 1e-6, offset * 1e-6)


def group_of(side, by_class=True):
    return side.file.astype(np.int64) * N_CLASSES + side.label if by_class else side.file.astype(np.int64)


def candidate_pairs(ours, theirs, collars):
    return PairCandidates.of(ours, theirs, (group_of(ours), group_of(theirs)), collars).pairs()


def pairs_of_lifetimes(ours, theirs, collars):
    groups = group_of(ours), group_of(theirs)
    return level_pairs(ours, theirs, PairCandidates.of(ours, theirs, groups, collars))


@given(EVENTS, EVENTS, collars(), st.sampled_from(["optimal", "greedy"]), st.sampled_from([1, 2, 5, 10**6]))
@settings(max_examples=60)
def test_candidates_and_counts(ours, theirs, collars, way, at_once):
    """TP is the size of a maximum matching within classes, or of the one that the loop finds; S = M - TP.

    M is the size of a maximum matching regardless of class in either case, so that S never becomes negative.
    """
    reference, system = events(ours), events(theirs)
    hits = [(i, j) for i, j in all_pairs(ours, theirs, collars) if ours[i][1] == theirs[j][1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_AT_ONCE", at_once)
        left, right = candidate_pairs(reference, system, collars)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == hits
    matched = match_events(reference, system, N_CLASSES, collars, way)
    counts = count_events(reference, system, N_FILES, N_CLASSES, collars, matched)
    assert is_matching(matched.tolist(), hits)
    wanted = event_counts(ours, theirs, collars, N_FILES, N_CLASSES)
    if way == "greedy":
        assert matched.tolist() == first_free(hits, len(ours))
        tp = np.zeros_like(wanted["tp"])
        for row, partner in zip(ours, matched, strict=True):
            tp[row[:2]] += partner >= 0
        wanted |= {"tp": tp, "substitutions": wanted["substitutions"] + (wanted["tp"] - tp).sum(axis=1)}
    assert {name: getattr(counts, name).tolist() for name in wanted} == {
        name: value.tolist() for name, value in wanted.items()
    }


def test_times_of_years_and_many_groups_do_not_overflow():
    """A thousand files that each end after 31 years, the longest that is accepted."""
    side = events([(file, 0, 10**15 - 5, 10**15) for file in range(1000)])
    for rule in (Collars(3, 10**12, 1.0), Overlap(1e-300), Overlap(0.5), Overlap(1.0)):
        left, right = candidate_pairs(side, side, rule)
        assert left.tolist() == right.tolist() == list(range(1000))
    whole = events([(file, 0, 0, 10**15) for file in range(1000)])
    for least, many in ((1e-300, 1000), (5e-15, 1000), (5.1e-15, 0)):
        assert len(candidate_pairs(whole, side, Overlap(least))[0]) == many


# Lifetimes of events over levels.


def alike(n):
    """Lifetimes of one file that all pair with one another."""
    code, time = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    return EventLifetimes(code, code, time, time + 1, np.zeros(n), np.ones(n))


@pytest.mark.parametrize("find", [candidate_pairs, pairs_of_lifetimes])
@pytest.mark.parametrize(("limit", "times"), [("MOST_PAIRS", 1), ("_LOOKED_AT", 0.25)])
@pytest.mark.parametrize("at_once", [4, 10**6])
def test_more_pairs_than_can_be_matched_are_refused(limit, times, at_once, find, monkeypatch):
    """Three and four that all pair are twelve, however many other files there are."""
    ours, theirs = alike(3), alike(4)
    ours, theirs = (
        replace(
            side.take(np.tile(np.arange(len(side)), 9)),
            file=np.repeat(np.arange(9, dtype=np.int32), len(side)),
        )
        for side in (ours, theirs)
    )
    monkeypatch.setattr(matching, "PAIRS_OF_ONE", 0)
    monkeypatch.setattr(matching, "_AT_ONCE", at_once)
    monkeypatch.setattr(matching, "MOST_PAIRS", 12 if times == 1 else 48)
    monkeypatch.setattr(matching, "_LOOKED_AT", times)
    assert len(find(ours, theirs, Collars(1, 1, 0.0))[0]) == 9 * 12
    monkeypatch.setattr(matching, "MOST_PAIRS", 11 if times == 1 else 44)
    with (
        pytest.raises(
            TooManyPairsError, match=r"files2, class dog: .*more than 11 pairs.*--only segment"
        ) as refused,
        naming([f"files{k}" for k in range(9)], ["dog"]),
    ):
        find(ours.take(np.arange(6, 9)), theirs.take(np.arange(8, 12)), Collars(1, 1, 0.0))
    assert refused.value.most == 11


def test_pairs_that_do_not_fit_into_memory_are_refused():
    with memory_limited(1), pytest.raises(RoomError, match="events: to match them would take"):
        pairs_of_lifetimes(alike(3), alike(4), Collars(1, 1, 0.0))


# Bias and spread of the onsets and offsets of matched events.


def boundaries(reference, system, form=".micro", **chosen) -> list[float | None]:
    scores = evaluate(long_rows(reference), long_rows(system), only="event.hard", **chosen)
    ends = itertools.product(("onset", "offset"), ("bias", "spread"))
    return [scores[f"event.hard.{end}_{name}{form}"] for end, name in ends]


def test_boundaries_are_undefined_without_a_match():
    reference = [("f", 1.0, 2.0, "a"), ("f", 1.0, 2.0, "b")]
    system = [("f", 5.0, 6.0, "a"), ("f", 1.0, 2.0, "b")]
    assert boundaries(reference, system, "[a]") == [None] * 4
    assert boundaries(reference, system, "[b]") == boundaries(reference, system) == [0.0] * 4
    assert boundaries(reference, system, classes=["a"]) == [None] * 4


def test_boundaries_are_of_the_nearest_partner_however_far_off_it_is():
    """An exact copy has no bias whatever comes before it; half of the union is 3 s late."""
    copy = [("f", 0.3, 2.0, "a"), ("f", 0.5, 2.0, "a")]
    assert boundaries(copy[1:], copy, events="rows") == [0.0] * 4
    assert boundaries([("f", 0, 10, "a")], [("f", 3, 11, "a")], match_by="iou") == [3.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("how", [{}, {"matching": "greedy"}, {"compat": "sed_eval"}], ids=str)
def test_boundaries_of_random_deviations(how):
    """Over files, with misses and false alarms between; each event has one to match only."""
    rng = np.random.default_rng(0)
    onset, late = 10.0 * np.arange(40) + 1, np.round(rng.uniform(-0.19, 0.19, (2, 40)), 3)
    fate = np.arange(40) % 4  # found, missed, a false alarm, found
    rows = [(f"file{k % 3}", on, on + 2, "a") for k, on in enumerate(onset)]
    begin, end = onset + late[0] + 3 * (fate == 2), onset + 2 + late[1]
    said = [(*row[:1], begin[k], end[k], "a") for k, row in enumerate(rows) if fate[k] != 1]
    off = late[:, fate % 3 == 0]
    wanted = [f(end) for end in off for f in (np.mean, np.std)]
    sides = [[side[i] for i in rng.permutation(len(side))] for side in (rows, said)]
    assert boundaries(*sides, **how) == pytest.approx(wanted, abs=1e-9)
