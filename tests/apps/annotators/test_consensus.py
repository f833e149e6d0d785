"""Consensus events of annotators: clusters against a slow definition, laws, and what was planted."""

from fractions import Fraction
from itertools import combinations, product
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import TABLES, apart, rows_of, table

from sedeval_soft import annotate
from sedeval_soft.apps.annotators.consensus import consensus_of
from sedeval_soft.timeline.events import Events


def events_of(rows):
    """Return (file, class, onset, offset) in ticks as events."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    codes, times = columns[:2].astype(np.int32), columns[2:]
    return Events(*codes, *times, *(times / 1e6))


def iou(one, other):
    if one[:2] != other[:2]:
        return Fraction(0)
    common = min(one[3], other[3]) - max(one[2], other[2])
    return Fraction(max(common, 0), max(one[3], other[3]) - min(one[2], other[2]))


def slow_clusters(annotators, share):
    """Return clusters of (annotator, row) as the definition says, one merger after another, in fractions."""
    clusters = [[(who, row)] for who, rows in enumerate(annotators) for row in rows]
    while True:
        mergers = []
        for one, other in combinations(clusters, 2):
            if not {who for who, _ in one} & {who for who, _ in other}:
                pairs = [iou(a, b) for (_, a), (_, b) in product(one, other)]
                first = sorted(min(row for _, row in cluster) for cluster in (one, other))
                mergers.append((-sum(pairs) / len(pairs), first, one, other))
        mean, _, one, other = min(mergers, default=(1, None, None, None))
        if -mean < share:
            return clusters
        clusters = [each for each in clusters if each not in (one, other)] + [one + other]


ROW = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 20), st.integers(1, 12)).map(
    lambda row: (*row[:3], row[2] + row[3])
)
PEOPLE = st.lists(st.lists(ROW, max_size=7).map(apart), min_size=2, max_size=5)
SHARES = st.sampled_from([Fraction(1, 5), Fraction(3, 10), Fraction(1, 2), Fraction(3, 5), Fraction(1)])


@given(PEOPLE, SHARES)
@settings(max_examples=50)
def test_clusters_are_those_of_the_definition(people, share):
    labelled = np.ones((len(people), 2), dtype=bool)
    made = consensus_of([events_of(rows) for rows in people], labelled, iou=float(share))
    found = []
    for at, column in enumerate(made.members.T.tolist()):
        found.append([(who, people[who][place]) for who, place in enumerate(column) if place >= 0])
        rows = [row for _, row in found[-1]]
        assert {row[:2] for row in rows} == {(made.file[at], made.label[at])}
        assert made.confidence[at] == len(rows) / len(people)
        for axis, middle, spread in (
            (2, made.onset, made.onset_spread),
            (3, made.offset, made.offset_spread),
        ):
            times = [row[axis] for row in rows]
            distance = sum(abs(time - median(times)) for time in times) / len(times) / 1e6
            assert middle[at] == median(times) // 1
            assert spread[at] == pytest.approx(distance if len(rows) > 1 else np.nan, abs=1e-15, nan_ok=True)
    assert sorted(found) == sorted(map(sorted, slow_clusters(people, share)))


def test_confidence_is_a_share_of_those_who_labelled_the_file():
    people = [[(0, 0, 0, 10), (1, 0, 0, 10)], [(0, 0, 0, 10)], []]
    labelled, tables = np.array([[True, True], [True, False], [True, True]]), [*map(events_of, people)]
    # Where those who labelled weigh nothing they count alike.
    for weights, confidence in (
        (None, [2 / 3, 1 / 2]), ([0.5, 0.25, 0.25], [0.75, 2 / 3]), ([0.0, 1.0, 0.0], [1.0, 1 / 2]),
    ):  # fmt: skip
        given = () if weights is None else (np.array(weights),)
        assert consensus_of(tables, labelled, *given).confidence.tolist() == confidence


def test_annotators_rows_that_overlap_are_one_event():
    rows = [(0.0, 1.0, "a"), (0.5, 0.75, "a"), (1.0, 2.0, "a"), (2.0, 3.0, "b"), (3.0, 3.0, "b")]
    people = [table([("x", *row) for row in rows])] * 2
    # Touching rows are events each, and those without extent are none.
    expected = [("x", 0.0, 1.0, "a", 1.0), ("x", 1.0, 2.0, "a", 1.0), ("x", 2.0, 3.0, "b", 1.0)]
    assert rows_of(annotate(people, consensus=True).reference) == expected
    merged = annotate(people, consensus=True, events="merge", scores=["event.hard.f1.micro"])
    # The ceiling, too, is of events as they were counted.
    assert merged.ceiling[0].mean == 1.0
    assert rows_of(merged.reference) == [("x", 0.0, 2.0, "a", 1.0), expected[2]]


def test_the_reference_has_the_consensus_events():
    """By hand: three hear a dog, two of them a car, for which the IoU are 8 / 10, 8 / 12 and 10 / 10."""
    people = [
        table([("x", 0.0, 10.0, "dog"), ("x", 20.0, 22.0, "car")], "y"),
        table([("x", 2.0, 10.0, "dog"), ("x", 21.0, 23.0, "car"), ("y", 1.0, 2.0, "dog")]),
        table([("x", 0.0, 12.0, "dog")]),
    ]
    dog, car, other = [("x", 0.0, 10.0, "dog"), ("x", 20.5, 22.5, "car"), ("y", 1.0, 2.0, "dog")]
    # The cars' IoU is 1 / 3.
    cars = [("x", 20.0, 22.0, "car", 0.333333), ("x", 21.0, 23.0, "car", 0.333333)]
    for how, rows in (
        ({}, [(*dog, 1.0), (*car, 0.666667), (*other, 0.5)]),
        ({"method": "majority"}, [(*dog, 1.0), (*car, 1.0)]),
        ({"same_iou": 0.34}, [(*dog, 1.0), *cars, (*other, 0.5)]),
    ):
        made = annotate(people, missing="unlabelled", consensus=True, **how)
        assert rows_of(made.reference) == rows
    frame = made.events.to_pandas()
    assert frame["onset_spread"].fillna(-1).tolist() == [pytest.approx(2 / 3), -1, -1, -1]
    assert frame["annotators"].tolist()[3] == ["annotator 2"]


def test_competence_weighs_confidence():
    made = annotate(TABLES, consensus=True, method="competence")
    weight = {each.name: each.competence for each in made.annotators}
    for event in made.to_dict()["events"]:
        share = sum(weight[name] for name in event["annotators"]) / sum(weight.values())
        assert event["confidence"] == pytest.approx(share, abs=1e-12)


def test_the_ceiling_counts_who_labelled_a_file():
    """By hand: one of the two others who labelled y has the event, so the soft precision of it is 0.5."""
    hears = table([("y", 0.0, 1.0, "a")], "x")
    asked = {"scores": ["segment.soft.precision.micro", "segment.soft.f1.micro"], "missing": "unlabelled"}
    made = annotate([table([], "x"), hears, hears, table([], "y")], consensus=True, **asked)
    # Who labelled only x has no score there, as nobody hears anything in it.
    assert [each.annotators for each in made.ceiling] == [(None, 0.5, 0.5, None), (None, 2 / 3, 2 / 3, 0.0)]
    # The first and the last share no file.
    assert [pair.f1_micro for pair in made.pairs] == [None, None, None, 1.0, 0.0, 0.0]
