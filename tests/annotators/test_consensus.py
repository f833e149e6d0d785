"""Consensus events of annotators: clusters against a slow definition, laws, and what was planted."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft.annotators.consensus import annotated_events, consensus_of
from sedeval_soft.api.sources import limits_from, to_rows
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Events


def events_of(rows):
    """Return (file, class, onset, offset) in ticks as events."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    codes, times = columns[:2].astype(np.int32), columns[2:]
    return Events(*codes, *times, *(times / 1e6))


def apart(rows):
    """Return rows that overlap as one, as annotators' events are; slowly."""
    joined = []
    for row in sorted(rows):
        if joined and row[:2] == joined[-1][:2] and row[2] < joined[-1][3]:
            joined[-1] = (*joined[-1][:3], max(row[3], joined[-1][3]))
        else:
            joined.append(tuple(row))
    return joined


def iou(one, other):
    if one[:2] != other[:2]:
        return Fraction(0)
    common = min(one[3], other[3]) - max(one[2], other[2])
    return Fraction(max(common, 0), max(one[3], other[3]) - min(one[2], other[2]))


def slow_clusters(annotators, share):
    """Return clusters of (annotator, row) as the definition says, one merger after another, in fractions."""
    clusters = [[(who, row)] for who, rows in enumerate(annotators) for row in rows]

    def first(cluster):
        return min(row for _, row in cluster)

    while True:
        best = None
        for i, one in enumerate(clusters):
            for other in clusters[:i]:
                if {who for who, _ in one} & {who for who, _ in other}:
                    continue
                pairs = [iou(a, b) for _, a in one for _, b in other]
                mean = sum(pairs) / len(pairs)
                key = (-mean, *sorted([first(one), first(other)]))
                if mean >= share and (best is None or key < best[0]):
                    best = key, one, other
        if best is None:
            return clusters
        clusters = [each for each in clusters if each not in best[1:]] + [best[1] + best[2]]


def as_sets(consensus, annotators):
    """Return consensus events as the set of their members."""
    return {
        frozenset((who, annotators[who][at]) for who, at in enumerate(column) if at >= 0)
        for column in consensus.members.T.tolist()
    }


ROW = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 20), st.integers(1, 12)).map(
    lambda row: (*row[:3], row[2] + row[3])
)
PEOPLE = st.lists(st.lists(ROW, max_size=7).map(apart), min_size=2, max_size=5)
SHARES = st.sampled_from([Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(3, 5), Fraction(1)])


@given(PEOPLE, SHARES)
@settings(max_examples=300)
def test_clusters_are_those_of_the_definition(people, share):
    labelled = np.ones((len(people), 2), dtype=bool)
    made = consensus_of([events_of(rows) for rows in people], labelled, iou=float(share))
    slow = slow_clusters(people, share)
    assert as_sets(made, people) == {frozenset(cluster) for cluster in slow}
    assert len(made) == len(slow)
    for at, column in enumerate(made.members.T.tolist()):
        rows = [people[who][place] for who, place in enumerate(column) if place >= 0]
        assert {row[:2] for row in rows} == {(made.file[at], made.label[at])}
        for axis, middle, spread in (
            (2, made.onset, made.onset_spread),
            (3, made.offset, made.offset_spread),
        ):
            times = [row[axis] for row in rows]
            assert middle[at] == median(times) // 1
            if len(rows) == 1:
                assert np.isnan(spread[at])
            else:
                distance = sum(abs(time - median(times)) for time in times) / len(times) / 1e6
                assert spread[at] == pytest.approx(distance, abs=1e-15)
        assert made.confidence[at] == len(rows) / len(people)


def columns_of(consensus, *, members=True):
    """Return all columns but members, and for these the order of annotators does not count."""
    names = [each.name for each in fields(consensus) if members or each.name != "members"]
    return [getattr(consensus, name) for name in names]


@given(PEOPLE, st.lists(st.floats(0, 1), min_size=5, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_annotators_does_not_matter(people, weights, random):
    weight, labelled = np.array(weights[: len(people)]), np.ones((len(people), 2), dtype=bool)
    order = random.sample(range(len(people)), len(people))
    tables = [events_of(rows) for rows in people]
    made = consensus_of(tables, labelled, weight)
    again = consensus_of([tables[i] for i in order], labelled, weight[order])
    for one, other in zip(columns_of(made, members=False), columns_of(again, members=False), strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    assert np.array_equal(made.members[order], again.members)


@given(PEOPLE)
def test_the_order_of_files_does_not_matter(people):
    labelled = np.ones((len(people), 2), dtype=bool)
    turned = [[(1 - row[0], *row[1:]) for row in rows] for rows in people]
    made, other = (consensus_of([events_of(r) for r in each], labelled) for each in (people, turned))
    back = {frozenset((who, (1 - r[0], *r[1:])) for who, r in cluster) for cluster in as_sets(other, turned)}
    assert as_sets(made, people) == back


@given(st.lists(ROW, max_size=9).map(apart), st.integers(1, 5))
def test_identical_annotators_give_their_table(rows, n):
    made = consensus_of([events_of(rows)] * n, np.ones((n, 2), dtype=bool))
    assert np.all(made.confidence == 1.0)
    assert sorted(zip(made.file, made.label, made.onset, made.offset, strict=True)) == rows
    assert np.all(made.onset_spread == 0.0) if n > 1 else np.all(np.isnan(made.onset_spread))


def test_confidence_is_a_share_of_those_who_labelled_the_file():
    people = [[(0, 0, 0, 10), (1, 0, 0, 10)], [(0, 0, 0, 10)], []]
    labelled = np.array([[True, True], [True, False], [True, True]])
    tables = [events_of(rows) for rows in people]
    assert consensus_of(tables, labelled).confidence.tolist() == [2 / 3, 1 / 2]
    weighted = consensus_of(tables, labelled, np.array([0.5, 0.25, 0.25]))
    assert weighted.confidence.tolist() == [0.75, 2 / 3]
    # Where those who labelled weigh nothing they count alike.
    assert consensus_of(tables, labelled, np.array([0.0, 1.0, 0.0])).confidence.tolist() == [1.0, 1 / 2]


def test_annotators_rows_that_overlap_are_one_event():
    table = {
        "filename": ["x"] * 5,
        "onset": [0.0, 0.5, 1.0, 2.0, 3.0],
        "offset": [1.0, 0.75, 2.0, 3.0, 3.0],
        "event_label": ["a", "a", "a", "b", "b"],
    }
    rows = to_rows(table, "annotator", Settings(), limits_from(None))
    events = annotated_events(rows, Settings())
    # Touching rows are events each, and those without extent are none.
    assert events.onset.tolist() == [0, 1_000_000, 2_000_000]
    assert events.offset.tolist() == [1_000_000, 2_000_000, 3_000_000]
    merged = annotated_events(rows, Settings.of(events="merge"))
    assert merged.onset.tolist() == [0, 2_000_000]


def test_nothing_gives_nothing():
    made = consensus_of([events_of([])] * 3, np.ones((3, 0), dtype=bool))
    assert len(made) == 0
    assert made.members.shape == (3, 0)


@pytest.mark.slow
@given(st.lists(st.lists(ROW, max_size=25).map(apart), min_size=3, max_size=8), SHARES)
@settings(max_examples=300, deadline=None)
def test_clusters_of_many_annotators_are_those_of_the_definition(people, share):
    made = consensus_of(
        [events_of(r) for r in people], np.ones((len(people), 2), dtype=bool), iou=float(share)
    )
    assert as_sets(made, people) == {frozenset(cluster) for cluster in slow_clusters(people, share)}
