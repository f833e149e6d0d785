"""Ignored classes by their definition: at each level, evaluate the detections that are not left out."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from laws import ALL, random_table, scored
from oracles import merged_events

from sedeval_soft import evaluate
from sedeval_soft.measures.registry import ScoreName, group_of

HALF, ABOVE = Fraction(1, 2), Fraction(3, 4)
"""The threshold, and the lowest value above it: values are quarters."""

rows = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.integers(0, 7), st.integers(1, 4), st.sampled_from("QR"), st.integers(1, 4)
    ),
    max_size=6,
)
unknown = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 7), st.integers(1, 5), st.just("UNK"), st.integers(1, 4)),
    max_size=3,
)
cases = st.tuples(rows, unknown, rows)


def table(rows):
    """Return rows (file, onset, length, label, quarters) as a table, which always has files a and b."""
    silent = [(file, 0, 1, "Q", 0) for file in "ab"]
    return [
        {"filename": file, "onset": on, "offset": on + n, "event_label": label, "soft_value": value / 4}
        for file, on, n, label, value in (*rows, *silent)
    ]


def cut(rows, level, *, merge):
    """Return the events (file, label, onset, offset) of rows whose value is at least a level."""
    chosen = [(f, on, on + n, label, value) for f, on, n, label, value in rows if Fraction(value, 4) >= level]
    events = merged_events(chosen) if merge else [row[:4] for row in chosen]
    return sorted((f, label, on, off) for f, on, off, label in events)


def compatible(event, detection):
    """Return whether onsets are within 1 s, and offsets within 1 s or half of the event's length."""
    length = event[3] - event[2]
    near = abs(event[2] - detection[2]) <= 1
    return near and abs(event[3] - detection[3]) <= max(1, HALF * length)


def overlapping(event, detection):
    """Return whether the intersection is at least half of the union."""
    both = min(event[3], detection[3]) - max(event[2], detection[2])
    return 2 * both >= max(event[3], detection[3]) - min(event[2], detection[2])


def covered(detection, events):
    """Return the seconds of a detection that events of its file cover."""
    return sum(
        any(f == detection[0] and on <= second < off for f, _, on, off in events)
        for second in range(detection[2], detection[3])
    )


def of_events(reference, ignored, system, rule=compatible):
    """Return the detections that event-based counts keep: these match their class, or no ignored event."""
    return [
        d for d in system
        if any(r[:2] == d[:2] and rule(r, d) for r in reference)
        or not (any(u[0] == d[0] and rule(u, d) for u in ignored) or 2 * covered(d, ignored) > d[3] - d[2])
    ]  # fmt: skip


def of_intersections(reference, ignored, system):
    """Return the detections that intersection-based counts keep."""
    return [
        d for d in system
        if covered(d, [r for r in reference if r[:2] == d[:2]]) or 2 * covered(d, ignored) <= d[3] - d[2]
    ]  # fmt: skip


LEFT = {
    ("event", "collar"): of_events,
    ("event", "iou"): partial(of_events, rule=overlapping),
    ("intersection", "collar"): of_intersections,
}
COLLARS = {"onset_collar": 1.0, "offset_collar": 1.0, "offset_collar_rate": 0.5}


def evaluated(reference, system, *, match_by="collar", **settings):
    """Evaluate rows of Q and R."""
    how = {"classes": ("Q", "R"), "match_by": match_by, **(COLLARS if match_by == "collar" else {})}
    return evaluate(table(reference), table(system), **how, **settings)


def ignoring(case, **settings):
    return evaluated([*case[0], *case[1]], case[2], ignore_class="UNK", **settings)


def counts(scores, family):
    of_classes = [f"{of}[{label}]" for label in "QR" for of in ("tp", "n_ref", "n_sys")]
    return [scores[f"{family}.{name}"] for name in ("deletions.micro", "insertions.micro", *of_classes)]


@pytest.mark.parametrize(("basis", "match_by"), LEFT)
@pytest.mark.parametrize("events", ["rows", "merge"])
@tried(max_examples=2)
@given(case=cases)
@example(case=([], [("a", 3, 1, "UNK", 3)], [("a", 4, 1, "Q", 4)]))
@example(case=([("a", 4, 2, "Q", 2)], [("a", 3, 3, "UNK", 3)], [("a", 4, 1, "Q", 4), ("a", 4, 1, "R", 4)]))
def test_all_readings_of_events_are_of_the_detections_that_are_left(case, basis, match_by, events):
    how, hard = {"only": basis, "match_by": match_by}, f"{basis}.hard"
    scores = ignoring(case, events=events, **how)

    def by_hand(level, threshold):
        reference, ignored, system = (
            cut(side, at, merge=events == "merge")
            for side, at in zip(case, (level, level, threshold), strict=True)
        )
        sides = reference, LEFT[basis, match_by](reference, ignored, system)
        plain = [[(f, on, off - on, label, 4) for f, label, on, off in side] for side in sides]
        return evaluated(*plain, events="rows", **how | {"only": hard})

    levels = [Fraction(k, 4) for k in range(1, 5)]
    at_levels = [counts(by_hand(level, level), hard) for level in levels]
    assert counts(scores, hard) == at_levels[levels.index(ABOVE)]
    assert counts(scores, f"{basis}.soft") == pytest.approx(np.mean(at_levels, axis=0))
    at_thresholds = [by_hand(ABOVE, threshold) for threshold in levels]
    for label in "QR":
        found = [of[f"{hard}.f1[{label}]"] for of in at_thresholds if of[f"{hard}.n_ref[{label}]"]]
        # Above all values nothing is detected, and F is 0.
        assert scores[f"{basis}.optimal.f1[{label}]"] == (max(0, *found) if found else None)


def test_a_lifetime_that_is_cut_in_two_is_paired():
    """By hand: one detection is left out from level 1/4 to 1/2, the other at none; up to 1/4 both match."""
    reference = [("a", 4, 1, "Q", 1), ("a", 4, 1, "Q", 1), ("a", 1, 7, "UNK", 2)]
    settings = {"ignore_class": "UNK", "offset_collar": 100.0, "events": "rows", "only": "event.soft"}
    scores = evaluate(table(reference), table([("a", 4, 1, "Q", 3), ("a", 4, 8, "Q", 4)]), **settings)
    names = "event.soft.n_ref[Q]", "event.soft.n_sys[Q]", "event.soft.recall[Q]"
    assert [scores[name] for name in names] == [0.5, 0.25 + 0.25 + 1, 1]


def value_at(rows, file, label, second):
    there = (v for f, on, n, name, v in rows if (f, name) == (file, label) and 0 <= second - on < n)
    return Fraction(max(there, default=0), 4)


# Detections are left out before thresholds are chosen. Durations leave a little time if all is ignored.


@pytest.mark.parametrize(("basis", "left_of"), [("event", of_events), ("intersection", of_intersections)])
@pytest.mark.slow
@tried(max_examples=20)
@given(case=cases)
def test_curves_thresholds_and_psds_are_of_the_detections_that_are_left(case, basis, left_of):
    reference, ignored, system = case
    settings = {
        "only": (f"{basis}.hard", f"{basis}.optimal"), "measures": "all", "satisfice": "fpr_per_hour<=500",
        "events": "rows", "max_efpr": 1000.0, "alpha_ct": 0.5, "alpha_st": 1.0,
    }  # fmt: skip
    scores = ignoring(case, durations=dict.fromkeys("ab", 12 + 1e-6), **settings)
    there = [cut(side, ABOVE, merge=False) for side in (reference, ignored)]
    left = [(f, on, n, c, v) for f, on, n, c, v in system if left_of(*there, [(f, c, on, on + n)])]
    known = {
        file: 12 - sum(value_at(ignored, file, "UNK", s) > HALF for s in range(12)) + 1e-6 for file in "ab"
    }
    by_hand = evaluated(reference, left, durations=known, **settings)
    assert all(scores[name] == value for name, value in by_hand.items() if name.startswith(basis))
    assert basis != "event" or scores.confusion == by_hand.confusion


# Segments and clips.

LENGTHS = {"a": 12.0, "b": 12.0}


def pooled(rows, label, length, pool):
    """Return the values of a class in all segments of both files."""
    seconds = [
        [value_at(rows, file, label, s) for s in range(k, min(k + length, 12))]
        for file in "ab"
        for k in range(0, 12, length)
    ]
    return [float(max(part) if pool == "max" else sum(part) / len(part)) for part in seconds]


@pytest.mark.parametrize(("length", "pool"), [(1, "max"), (2, "max"), (2, "mean"), (5, "mean")])
@tried(max_examples=5)
@given(case=cases)
def test_ignored_segments_are_left_out_and_soft_counts_are_of_the_levels_above(case, length, pool):
    """A segment counts at levels above its ignored value, so both sides lose that value."""
    how = {"only": "segment", "measures": ("divergence", "curves"), "segment_length": float(length)}
    scores = ignoring(case, pool=pool, durations=LENGTHS, **how)
    how["classes"] = ("Q", "R")
    sides = [np.array([pooled(side, label, length, pool) for label in "QR"]).T for side in (case[0], case[2])]
    ignored = np.array(pooled(case[1], "UNK", length, pool))
    known = ignored <= 0.5
    above = evaluate(*(np.maximum(side - ignored[:, None], 0) for side in sides), **how)
    rest = evaluate(*(side[known] for side in sides), **how) if known.any() else {}
    for name, value in scores.items():
        of, soft = ScoreName.parse(name), ".soft." in name
        if soft and not group_of(name) and of.measure != "kl_divergence":
            assert value == pytest.approx(above[name], abs=1e-12), name
        # Means over classes weight and choose classes by the soft reading, and the loss is a soft measure.
        elif known.any() and not (soft and (of.average or of.measure == "soft_f1_loss")):
            assert value == pytest.approx(rest[name], abs=1e-12), name


@tried(max_examples=8)
@given(case=cases)
def test_clips_have_the_values_of_all_other_time(case):
    scores = ignoring(case, only="clip", durations=LENGTHS)
    rest = {(f, s) for f in "ab" for s in range(12) if value_at(case[1], f, "UNK", s) <= HALF}
    by_hand = (
        [(f, s, 1, label, v) for f, on, n, label, v in side for s in range(on, on + n) if (f, s) in rest]
        for side in (case[0], case[2])
    )
    assert dict(scores) == dict(evaluated(*by_hand, only="clip", durations=LENGTHS))
    assert scores.length == len(rest)


def test_a_class_without_rows_changes_no_score_and_is_warned_of():
    sides = [random_table(seed) for seed in (1, 2)]
    found = scored(*sides, replace(ALL, ignore_class=("cat",)))
    assert found.scores == scored(*sides, ALL).scores
    assert any("'cat'" in text and "'car'" in text for text in found.warnings)
