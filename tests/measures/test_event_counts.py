"""Event-based counts against all pairs, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import first_free, is_matching, maximum_size

from sedeval_soft.measures import event, matching
from sedeval_soft.measures.event import Collars, candidate_pairs, count_events, match_events
from sedeval_soft.measures.matching import first_free_matching, maximum_matching
from sedeval_soft.timeline.events import Events

N_FILES, N_CLASSES = 2, 3

EVENTS = st.lists(
    st.tuples(
        st.integers(0, N_FILES - 1), st.integers(0, N_CLASSES - 1), st.integers(0, 30), st.integers(0, 30)
    ).map(lambda r: (*r[:2], *sorted(r[2:]))),
    max_size=14,
)


@st.composite
def collars(draw):
    onset = draw(st.none() | st.sampled_from([0, 1, 3, 8, 10**12]))
    offset = draw(
        st.sampled_from([0, 1, 3, 10**12]) if onset is None else st.none() | st.sampled_from([0, 2, 5])
    )
    return Collars(onset, offset, draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])))


def events(rows):
    file, label, onset, offset = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(4))
    return Events(file.astype(np.int32), label.astype(np.int32), onset, offset, onset * 1e-6, offset * 1e-6)


def hit(a, b, collars):
    if collars.onset is not None and abs(a[2] - b[2]) > collars.onset:
        return False
    return collars.offset is None or abs(a[3] - b[3]) <= max(
        collars.offset, round(collars.rate * (a[3] - a[2]))
    )


def all_pairs(ours, theirs, collars, same):
    return [
        (i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs) if same(a, b) and hit(a, b, collars)
    ]


def same_file(a, b):
    return a[0] == b[0]


def same_class(a, b):
    return a[:2] == b[:2]


@settings(max_examples=80)
@given(EVENTS, EVENTS, collars(), st.sampled_from([1, 2, 5, 10**6]))
def test_candidates_are_all_pairs_within_the_collars(ours, theirs, collars, at_once):
    reference, system = events(ours), events(theirs)
    groups = [side.file.astype(np.int64) * N_CLASSES + side.label for side in (reference, system)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event, "_AT_ONCE", at_once)
        left, right = candidate_pairs(reference, system, *groups, collars)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == all_pairs(
        ours, theirs, collars, same_class
    )


@settings(max_examples=80)
@given(EVENTS, EVENTS, collars())
def test_counts_of_maximum_matching(ours, theirs, collars):
    """TP is the size of a maximum matching within classes, M of one regardless of class; S = M - TP."""
    reference, system = events(ours), events(theirs)
    matched = match_events(reference, system, N_CLASSES, collars).tolist()
    hits = all_pairs(ours, theirs, collars, same_class)
    assert is_matching(matched, hits)
    counts = count_events(reference, system, N_FILES, N_CLASSES, collars)
    regardless = all_pairs(ours, theirs, collars, same_file)
    for file in range(N_FILES):
        here = [edge for edge in regardless if ours[edge[0]][0] == file]
        m = maximum_size(here, len(ours), len(theirs))
        n_ref, n_sys = (sum(row[0] == file for row in rows) for rows in (ours, theirs))
        tp = 0
        for label in range(N_CLASSES):
            group = [edge for edge in hits if ours[edge[0]][:2] == (file, label)]
            expected = maximum_size(group, len(ours), len(theirs))
            assert counts.tp[file, label] == expected
            assert counts.n_ref[file, label] == sum(row[:2] == (file, label) for row in ours)
            assert counts.n_sys[file, label] == sum(row[:2] == (file, label) for row in theirs)
            tp += expected
        assert (counts.substitutions[file], counts.deletions[file], counts.insertions[file]) == (
            *(m - tp, n_ref - m, n_sys - m),
        )


@settings(max_examples=80)
@given(EVENTS, EVENTS, collars())
def test_counts_of_greedy_matching(ours, theirs, collars):
    """TP is what the loop finds; M stays the maximum, so that S never becomes negative."""
    reference, system = events(ours), events(theirs)
    matched = match_events(reference, system, N_CLASSES, collars, "greedy").tolist()
    assert matched == first_free(all_pairs(ours, theirs, collars, same_class), len(ours))
    counts = count_events(reference, system, N_FILES, N_CLASSES, collars, "greedy")
    m = maximum_size(all_pairs(ours, theirs, collars, same_file), len(ours), len(theirs))
    assert counts.tp.sum() == sum(partner >= 0 for partner in matched)
    assert counts.substitutions.sum() == m - counts.tp.sum()
    assert (counts.substitutions >= 0).all()
    assert counts.deletions.sum() == len(ours) - m
    assert counts.insertions.sum() == len(theirs) - m


@settings(max_examples=80)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 3, 10, 400]),
    st.sampled_from([None, "greedy", "random"]),
)
def test_maximum_matching_of_larger_graphs(seed, max_steps, start):
    """It is maximum whatever way it takes (`max_steps`: when scipy takes over) and wherever it starts."""
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(n) for n in rng.integers(1, 40, 2))
    density = float(rng.choice([0.02, 0.05, 0.1, 0.3]))
    left, right = np.nonzero(rng.random((n_left, n_right)) < density)
    shuffle = rng.permutation(len(left))
    left, right = left[shuffle], right[shuffle]
    edges = list(zip(left.tolist(), right.tolist(), strict=True))
    begin = None
    if start is not None:
        order = rng.permutation(n_left) if start == "random" else np.arange(n_left)
        begin = first_free_matching(order[left], right, n_left, n_right)[order]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_MAX_STEPS", max_steps)
        found = maximum_matching(left, right, n_left, n_right, start=begin)
    assert is_matching(found.tolist(), edges)
    assert (found >= 0).sum() == maximum_size(edges, n_left, n_right)


def test_times_of_years_and_many_groups_do_not_overflow():
    """A thousand files that each end after 31 years, the longest that is accepted."""
    rows = [(file, 0, 10**15 - 5, 10**15) for file in range(1000)]
    n = len(rows)
    file = np.arange(n, dtype=np.int32)
    side = events(rows)
    left, right = candidate_pairs(
        side, side, file.astype(np.int64), file.astype(np.int64), Collars(3, 10**12, 1.0)
    )
    assert left.tolist() == right.tolist() == list(range(n))


FEW_TIMES = st.lists(
    st.tuples(
        st.integers(0, N_FILES - 1), st.integers(0, N_CLASSES - 1), st.integers(0, 4), st.integers(0, 4)
    ).map(lambda r: (*r[:2], *sorted(r[2:]))),
    max_size=40,
)
"""Events of which many are alike but for their class."""


@settings(max_examples=80, deadline=None)
@given(FEW_TIMES, FEW_TIMES, collars())
def test_flows_between_kinds_pair_as_many_as_events_do(ours, theirs, collars):
    reference, system = events(ours), events(theirs)
    counts = []
    for few in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(event, "_FEW_PAIRS", few)
            counts.append(count_events(reference, system, N_FILES, N_CLASSES, collars))
    for name in ("substitutions", "deletions", "insertions"):
        assert np.array_equal(*(getattr(side, name) for side in counts))
    m = len(all_pairs(ours, theirs, collars, same_file)) and maximum_size(
        all_pairs(ours, theirs, collars, same_file), len(ours), len(theirs)
    )
    assert counts[0].tp.sum() + counts[0].substitutions.sum() == m
