"""Event-based counts against a loop over all pairs, deviations, and average precision against a loop."""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measure_oracles import agree, precisions
from oracles import (
    FILES,
    LABELS,
    all_pairs,
    event_counts,
    first_free,
    in_seconds,
    is_matching,
    merged_events,
    tick_rows,
)
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.measures import matching
from sedeval_soft.measures.event import count_events, match_events
from sedeval_soft.measures.matching import (
    Collars,
    Overlap,
    PairCandidates,
    TooManyPairsError,
    intersection_over_union,
    level_pairs,
    naming,
)
from sedeval_soft.memory import RoomError, memory_limited
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import Events
from sedeval_soft.timeline.events import EventLifetimes

N_FILES, N_CLASSES = 2, 3


# Events.


def event_rows(latest, max_size):
    time = st.integers(0, latest)
    row = st.tuples(st.integers(0, N_FILES - 1), st.integers(0, N_CLASSES - 1), time, time)
    return st.lists(row.map(lambda r: (*r[:2], *sorted(r[2:]))), max_size=max_size)


EVENTS = event_rows(30, 14) | event_rows(4, 40)
"""A few events, or many of which many differ only in class."""


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


def candidate_pairs(ours, theirs, collars, find=PairCandidates.pairs):
    groups = (side.file.astype(np.int64) * N_CLASSES + side.label for side in (ours, theirs))
    return find(PairCandidates.of(ours, theirs, tuple(groups), collars))


@given(EVENTS, EVENTS, collars(), st.sampled_from(["optimal", "greedy"]), st.sampled_from([1, 2, 5, 10**6]))
@settings(max_examples=40)
def test_candidates_and_counts(ours, theirs, collars, way, at_once):
    """TP is the size of a maximum matching within classes, or of the greedy matching; S = M - TP.

    In both cases M is the size of a maximum matching regardless of class, so S is never negative.
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
    """Each of a thousand files lasts 31 years, the longest accepted time."""
    side = events([(file, 0, 10**15 - 5, 10**15) for file in range(1000)])
    for rule in (Collars(3, 10**12, 1.0), Overlap(1e-300), Overlap(0.5), Overlap(1.0)):
        left, right = candidate_pairs(side, side, rule)
        assert left.tolist() == right.tolist() == list(range(1000))
    whole = events([(file, 0, 0, 10**15) for file in range(1000)])
    for least, many in ((1e-300, 1000), (5e-15, 1000), (5.1e-15, 0)):
        assert len(candidate_pairs(whole, side, Overlap(least))[0]) == many


def test_an_overlap_that_is_a_decimal_is_met_and_no_more():
    """If two events share a parts of b, their overlap is exactly the float a/b."""
    for whole in range(1, 60):
        part, begin, ends = np.arange(1, whole + 1), np.full(whole, 700_000), np.full(whole, whole * 100_000)
        overlaps = intersection_over_union(begin, begin + ends, begin + ends - part * 100_000, begin + ends)
        assert overlaps.tolist() == [k / whole for k in part.tolist()]


@pytest.mark.parametrize("shift", [0.0, 0.1, 1234.5])
@pytest.mark.parametrize(("onset", "least"), [(0.7, 0.3), (0.4, 0.6), (0.9, 0.1), (0.3, 0.7)])
def test_counts_and_average_precision_match_by_the_same_rule(onset, least, shift):
    """At an IoU equal to the overlap both find the event; just above, neither does."""
    sides = [("f", shift, 1 + shift, "a", 1.0)], [("f", onset + shift, 1 + shift, "a", 0.9)]
    for iou, found in ((least, 1), (math.nextafter(least, 1), 0)):
        scores = evaluate(*map(long_rows, sides), match_by="iou", iou=iou, only="event", measures="curves")
        assert scores["event.hard.average_precision[a]"] == scores["event.hard.tp.micro"] == found


# Lifetimes of events over levels.


def alike(n, files):
    """Return n lifetimes in each of some files; all in a file can pair."""
    file, time = np.repeat(np.arange(files, dtype=np.int32), n), np.zeros(n * files, dtype=np.int64)
    return EventLifetimes(file, 0 * file, time, time + 1, np.zeros(n * files), np.ones(n * files))


@pytest.mark.parametrize("of_lifetimes", [False, True])
@pytest.mark.parametrize(("limit", "times"), [("MOST_PAIRS", 1), ("_LOOKED_AT", 0.25)])
@pytest.mark.parametrize("at_once", [4, 10**6])
def test_more_pairs_than_can_be_matched_are_refused(limit, times, at_once, of_lifetimes, monkeypatch):
    """Three and four events that all pair give twelve pairs; other files do not add to them."""
    ours, theirs = alike(3, 9), alike(4, 9)
    find = partial(level_pairs, ours, theirs) if of_lifetimes else PairCandidates.pairs
    for name, value in {
        "PAIRS_OF_ONE": 0, "_AT_ONCE": at_once, "_LOOKED_AT": times, "MOST_PAIRS": int(12 / times),
    }.items():  # fmt: skip
        monkeypatch.setattr(matching, name, value)
    assert len(candidate_pairs(ours, theirs, Collars(1, 1, 0.0), find)[0]) == 9 * 12
    if of_lifetimes:
        with memory_limited(1), pytest.raises(RoomError):
            candidate_pairs(ours, theirs, Collars(1, 1, 0.0), find)
    monkeypatch.setattr(matching, "MOST_PAIRS", int(11 / times))
    with (
        pytest.raises(TooManyPairsError, match="f0, class dog") as refused,
        naming([f"f{k}" for k in range(9)], ["dog"]),
    ):
        candidate_pairs(ours, theirs, Collars(1, 1, 0.0), find)
    assert refused.value.most == 11


# Bias and spread of the onsets and offsets of matched events.

A, B, FAR = ("f", 1.0, 2.0, "a"), ("f", 1.0, 2.0, "b"), ("f", 5.0, 6.0, "a")
COPY = [("f", 0.3, 2.0, "a"), ("f", 0.5, 2.0, "a")]


# Three events in two files are found, one is missed, and one is a false alarm.
SAID = [("g", 3.5, 4.0, "a"), ("g", 0.9, 2.0, "a"), ("f", 5.1, 6.05, "a"), ("f", 1.15, 1.85, "a")]
TRUE = [A, FAR, ("f", 8.0, 9.0, "a"), ("g", 1.0, 2.0, "a")]
LATE = [f(late) for late in ([0.15, 0.1, -0.1], [-0.15, 0.05, 0.0]) for f in (np.mean, np.std)]


@pytest.mark.parametrize(
    ("reference", "system", "form", "how", "wanted"),
    [
        # Undefined without a match.
        *(([A, B], [FAR, B], *of) for of in (("[a]", {}, None), ("[b]", {}, 0.0), (".micro", {}, 0.0))),
        ([A, B], [FAR, B], ".micro", {"classes": ["a"]}, None),
        # An exact copy has no bias, whatever comes before it. By overlap, a detection 3 s late may match.
        (COPY[1:], COPY, ".micro", {"events": "rows"}, 0.0),
        ([("f", 0, 10, "a")], [("f", 3, 11, "a")], ".micro", {"match_by": "iou"}, [3.0, 0.0, 1.0, 0.0]),
        *((TRUE, SAID, ".micro", how, LATE)
          for how in ({}, {"matching": "greedy"}, {"compat": "sed_eval"})),
    ],
)  # fmt: skip
def test_boundaries_are_of_the_nearest_partner(reference, system, form, how, wanted):
    scores = evaluate(long_rows(reference), long_rows(system), only="event.hard", **how)
    ends = itertools.product(("onset", "offset"), ("bias", "spread"))
    found = [scores[f"event.hard.{end}_{name}{form}"] for end, name in ends]
    wanted = wanted if isinstance(wanted, list) else [wanted] * 4
    assert found == (wanted if wanted[0] is None else pytest.approx(wanted, abs=1e-9))


# Average precision of events, as for detectors of objects, against a loop.

NAMES = ("average_precision", "average_precision_voc", "average_precision_coco101")


def events_above(rows, threshold, *, merge):
    """Return rows above a threshold; merge joins touching rows of a class, with their highest value."""
    active = [row for row in rows if row[4] > threshold and row[2] > row[1]]
    if not merge:
        return active

    def highest(file, onset, offset, label):
        return max(v for f, a, b, c, v in active if (f, c) == (file, label) and onset <= a and b <= offset)

    return [(*event, highest(*event)) for event in merged_events(active)]


def iou(a, b):
    return Fraction(max(0, min(a[2], b[2]) - max(a[1], b[1])), max(a[2], b[2]) - min(a[1], b[1]))


def curve(reference, system, least):
    """Return (TP, FP) of one class down to each distinct value, from (0, 0) on."""
    free = sorted(reference, key=lambda event: event[:3])
    found = [(Fraction(0), Fraction(0))]
    tp = fp = 0
    ordered = sorted(system, key=lambda event: (-event[4], event[:3]))
    for k, detection in enumerate(ordered):
        near = [event for event in free if event[0] == detection[0] and iou(event, detection) >= least]
        if near:
            free.remove(max(near, key=lambda event: iou(event, detection)))  # the first of the best
        tp, fp = tp + bool(near), fp + (not near)
        if k + 1 == len(ordered) or ordered[k + 1][4] != detection[4]:
            found.append((Fraction(tp), Fraction(fp)))
    return found


def check(reference, system, chosen):
    """Compare every average precision of events with the loop's."""
    known = Settings.of(**chosen)
    merge = known.events != "rows"
    # Each row of the system with a value above 0 is a detection, which its value ranks.
    cuts = known.reference_cut, known.threshold if merge else 0.0
    sides = [
        events_above(rows, cut, merge=merge) for rows, cut in zip((reference, system), cuts, strict=True)
    ]
    wanted = {}
    for label in LABELS:
        true, said = ([event for event in side if event[3] == label] for side in sides)
        at = [
            precisions(curve(true, said, least), Fraction(len(true))) if true else dict.fromkeys(NAMES)
            for least in (Fraction(str(known.iou)), *(Fraction(k, 20) for k in range(10, 20)))
        ]
        coco = sum(of["average_precision_coco101"] for of in at[1:]) / 10 if true else None
        wanted |= {f"{name}[{label}]": at[0][name] for name in NAMES} | {
            f"average_precision_coco[{label}]": coco
        }
    for name in (*NAMES, "average_precision_coco"):
        values = [v for label in LABELS if (v := wanted[f"{name}[{label}]"]) is not None]
        wanted[f"{name}.macro"] = sum(values) / len(values) if values else None
    given = [long_rows(in_seconds(rows), files=FILES) for rows in (reference, system)]
    agree(evaluate(*given, **chosen), "event.hard", wanted)


def with_extent(values):
    """Draw rows on few ticks, so that IoUs and values are often equal."""
    return tick_rows(values, max_size=14).map(lambda rows: [row for row in rows if row[2] > row[1]])


def crowd(rng, n):
    """Return many detections of few values, so that several match the same event."""
    onset, value = rng.integers(0, 40, n), rng.integers(1, 17, n) / 16
    columns = rng.choice(FILES, n), onset, onset + rng.integers(1, 12, n), rng.choice(LABELS, n), value
    return list(zip(*(column.tolist() for column in columns), strict=True))


CROWDS = [[crowd(np.random.default_rng((seed, n)), n) for n in (40, 60)] for seed in range(3)]


@settings(max_examples=10)
@given(
    with_extent(st.sampled_from([0.25, 0.75, 1.0])),
    with_extent(st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.625, 0.75, 1.0])),
    st.sampled_from(["rows", "merge"]),
    st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.75, 1.0]),
    st.sampled_from([0.5, 0.6]),
)
@example(*CROWDS[0], "rows", 0.5, 0.5)
@example(*CROWDS[1], "merge", 0.5, 0.5)
@example(*CROWDS[2], "rows", 0.3, 0.5)
def test_detections_one_after_another(reference, system, form, iou, threshold):
    check(reference, system, {
        "only": "event.hard", "measures": "curves", "classes": LABELS,
        "events": form, "iou": iou, "threshold": threshold,
    })  # fmt: skip
