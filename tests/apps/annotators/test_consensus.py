"""Consensus events of annotators: clusters against a slow definition, laws, and what was planted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st
from opinions import apart

from sedeval_soft import annotate, evaluate
from sedeval_soft.apps.annotators.consensus import consensus_of
from sedeval_soft.tables import read_rows
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
@settings(max_examples=100)
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
    # Touching rows are events each, and those without extent are none.
    rows = rows_of(annotate([table, table], consensus=True).reference)
    assert rows == [("x", 0.0, 1.0, "a", 1.0), ("x", 1.0, 2.0, "a", 1.0), ("x", 2.0, 3.0, "b", 1.0)]
    merged = annotate([table, table], consensus=True, events="merge", scores=["event.hard.f1.micro"])
    # The ceiling, too, is of events as they were counted.
    assert merged.ceiling[0].mean == 1.0
    assert rows_of(merged.reference) == [("x", 0.0, 2.0, "a", 1.0), ("x", 2.0, 3.0, "b", 1.0)]


# The function and the command.

SAMPLES = Path(__file__).parents[3] / "sample_data"
TABLES = [str(SAMPLES / name) for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")]


def events(*rows):
    """Return rows of (file, onset, offset, class), None for the times and class of a file without events."""
    names = ("filename", "onset", "offset", "event_label")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def rows_of(table):
    """Return file, onset, offset, class and value of a table."""
    values = table.values[0].tolist()
    of = zip(table.file, table.onset.tolist(), table.offset.tolist(), table.label, values, strict=True)
    return [(table.files[f], on, off, table.classes[k], value) for f, on, off, k, value in of]


def test_the_reference_has_the_consensus_events():
    """By hand: three hear a dog, two of them a car, for which the IoU are 8 / 10, 8 / 12 and 10 / 10."""
    people = [
        events(("x", 0.0, 10.0, "dog"), ("x", 20.0, 22.0, "car"), ("y", None, None, None)),
        events(("x", 2.0, 10.0, "dog"), ("x", 21.0, 23.0, "car"), ("y", 1.0, 2.0, "dog")),
        events(("x", 0.0, 12.0, "dog")),
    ]
    third = 1 / 3
    expected = [
        ("x", 0.0, 10.0, "dog", 1.0),
        ("x", 20.5, 22.5, "car", 2 * third),
        ("y", 1.0, 2.0, "dog", 0.5),
    ]
    # The cars' IoU is 1 / 3.
    cars = [("x", 20.0, 22.0, "car", third), ("x", 21.0, 23.0, "car", third)]
    for how, rows in (
        ({}, expected),
        ({"method": "majority"}, [(*row[:4], 1.0) for row in expected[:2]]),
        ({"same_iou": 0.34}, [expected[0], *cars, expected[2]]),
    ):
        made = annotate(people, missing="unlabelled", consensus=True, **how)
        assert rows_of(made.reference) == rows
    frame = annotate(people, missing="unlabelled", consensus=True).events.to_pandas()
    assert frame["onset_spread"].fillna(-1).tolist() == [pytest.approx(2 * third), 0.5, -1]
    assert frame["annotators"].tolist()[2] == ["annotator 2"]


def test_competence_weighs_confidence():
    made = annotate(TABLES, consensus=True, method="competence")
    weight = {each.name: each.competence for each in made.annotators}
    for event in made.to_dict()["events"]:
        share = sum(weight[name] for name in event["annotators"]) / sum(weight.values())
        assert event["confidence"] == pytest.approx(share, abs=1e-12)


def test_the_ceiling_is_each_against_the_consensus_of_the_others():
    how = {"durations": dict.fromkeys(read_rows(TABLES[0]).files, 60.0)}
    name = "event.hard.f1.micro"
    (found,) = annotate(TABLES, scores=[name], consensus=True, **how).ceiling
    for path, value in zip(TABLES, found.annotators, strict=True):
        reference = annotate([each for each in TABLES if each != path], consensus=True, **how).reference
        assert value == pytest.approx(evaluate(reference, path, only=["event.hard"], **how)[name])


def test_the_ceiling_counts_who_labelled_a_file():
    """By hand: one of the two others who labelled y has the event, so the soft precision of it is 0.5."""
    people = [
        events(("x", None, None, None)),
        events(("x", None, None, None), ("y", 0.0, 1.0, "a")),
        events(("x", None, None, None), ("y", 0.0, 1.0, "a")),
        events(("y", None, None, None)),
    ]
    asked = {"scores": ["segment.soft.precision.micro"], "missing": "unlabelled"}
    made = annotate(people, consensus=True, **asked)
    assert made.ceiling[0].annotators == (None, 0.5, 0.5, None)


def test_the_command_writes_consensus_events(tmp_path):
    target = tmp_path / "ref.tsv"
    asked = ["annotate", *TABLES, "--events", "consensus", "--same-iou", "0.5"]
    document = call(*asked, "-o", target, "--format", "json").document
    made = annotate(TABLES, consensus=True, same_iou=0.5)
    assert document == json.loads(json.dumps(made.to_dict(), allow_nan=False))
    written, expected = (rows_of(rows) for rows in (read_rows(target), made.reference))
    assert written == [(*row[:4], pytest.approx(row[4], abs=1e-6)) for row in expected]
    counts = np.bincount([len(each["annotators"]) for each in document["events"]])
    lines = [line.split()[:2] for line in call(*asked).out.splitlines()]
    assert all([str(n), str(count)] in lines for n, count in enumerate(counts[1:], start=1))
