"""Ignored classes against their definition, in fractions, by trying everything; and their laws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from laws import ALL, random_table, scored

from sedeval_soft import EvaluationError, SettingsError, evaluate

HALF = Fraction(1, 2)
COLLARS = {"onset_collar": 1.0, "offset_collar": 1.0, "offset_collar_rate": 0.5}

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
    """Return rows (file, onset, length, label, quarters) as a table; it has files a and b in any case."""
    silent = [(file, 0, 1, "Q", 0) for file in "ab"]
    return [
        {"filename": file, "onset": on, "offset": on + n, "event_label": label, "soft_value": value / 4}
        for file, on, n, label, value in (*rows, *silent)
    ]


def cut(rows, level, *, merge):
    """Return the events (file, label, onset, offset) of rows with at least a value."""
    chosen = sorted((f, label, on, on + n) for f, on, n, label, value in rows if Fraction(value, 4) >= level)
    if not merge:
        return chosen
    merged = []
    for f, label, on, off in chosen:
        if merged and merged[-1][:2] == (f, label) and on <= merged[-1][3]:
            merged[-1] = (f, label, merged[-1][2], max(off, merged[-1][3]))
        else:
            merged.append((f, label, on, off))
    return merged


def compatible(event, detection):
    """Return whether ends are within 1 s, offsets within half of the event's length if that is longer."""
    length = event[3] - event[2]
    near = abs(event[2] - detection[2]) <= 1
    return near and abs(event[3] - detection[3]) <= max(1, HALF * length)


def overlapping(event, detection):
    """Return whether what both cover is at least half of what either does."""
    both = min(event[3], detection[3]) - max(event[2], detection[2])
    return 2 * both >= max(event[3], detection[3]) - min(event[2], detection[2])


def covered(detection, events):
    """Return the seconds of a detection that events of its file cover."""
    return sum(
        any(f == detection[0] and on <= second < off for f, _, on, off in events)
        for second in range(detection[2], detection[3])
    )


def remaining(reference, ignored, system, rule=compatible):
    """Return the detections that are not left out of events."""
    return [
        d
        for d in system
        if any(r[:2] == d[:2] and rule(r, d) for r in reference)
        or not (any(u[0] == d[0] and rule(u, d) for u in ignored) or 2 * covered(d, ignored) > d[3] - d[2])
    ]


def intersecting(reference, ignored, system):
    """Return the detections that are not left out of intersections."""
    return [
        d
        for d in system
        if covered(d, [r for r in reference if r[:2] == d[:2]]) or 2 * covered(d, ignored) <= d[3] - d[2]
    ]


def largest(edges, left):
    """Return the size of the largest matching, by trying everything."""
    if not left:
        return 0
    first, *others = left
    best = largest(edges, others)
    for mate in edges[first]:
        free = {event: [other for other in mates if other != mate] for event, mates in edges.items()}
        best = max(best, 1 + largest(free, others))
    return best


def matched(reference, system, rule, *, by_class):
    """Return how many pairs of either a class or any are matched."""
    n = 2 if by_class else 1
    edges = {
        i: [j for j, d in enumerate(system) if r[:n] == d[:n] and rule(r, d)] for i, r in enumerate(reference)
    }
    return largest(edges, [*edges])


def count_event(reference, ignored, system, rule=compatible):
    """Return TP, N_ref, N_sys of Q and R, and S, D, I."""
    system = remaining(reference, ignored, system, rule)
    of_classes = []
    for label in "QR":
        ours, theirs = ([e for e in side if e[1] == label] for side in (reference, system))
        of_classes += [matched(ours, theirs, rule, by_class=True), len(ours), len(theirs)]
    both = matched(reference, system, rule, by_class=False)
    tp = of_classes[0] + of_classes[3]
    return [*of_classes, both - tp, len(reference) - both, len(system) - both]


def count_intersection(reference, ignored, system):
    """Return TP, N_ref, N_sys of Q and R with DTC and GTC of a half, and S, D, I."""
    system = intersecting(reference, ignored, system)
    of_classes = []
    for label in "QR":
        ours, theirs = ([e for e in side if e[1] == label] for side in (reference, system))
        passed = [d for d in theirs if 2 * covered(d, ours) >= d[3] - d[2]]
        tp = sum(2 * covered(r, passed) >= r[3] - r[2] for r in ours)
        of_classes += [tp, len(ours), tp + len(theirs) - len(passed)]
    missed, false = (
        sum(of_classes[k] - of_classes[k - d] for k in at) for at, d in (((1, 4), 1), ((2, 5), 2))
    )
    return [*of_classes, 0, missed, false]


COUNTS = {
    ("event", "collar"): count_event,
    ("event", "iou"): partial(count_event, rule=overlapping),
    ("intersection", "collar"): count_intersection,
}


def integrated(case, count, *, merge):
    """Return what is counted at all levels, each level's definition on its own."""
    reference, ignored, system = case
    totals = [Fraction(0)] * 9
    for low, high in pairwise(Fraction(k, 4) for k in range(5)):
        counts = count(*(cut(side, high, merge=merge) for side in (reference, ignored, system)))
        totals = [total + (high - low) * n for total, n in zip(totals, counts, strict=True)]
    return totals


def scores_of(counts):
    """Return precision and recall of Q and R, and the error rate, of counts; None where undefined."""
    tp, n_ref, n_sys, tp2, n_ref2, n_sys2, *errors = counts

    def ratio(part, whole):
        return float(Fraction(part) / whole) if whole else None

    return [
        ratio(tp, n_sys), ratio(tp, n_ref), ratio(tp2, n_sys2), ratio(tp2, n_ref2),
        ratio(sum(errors), n_ref + n_ref2),
    ]  # fmt: skip


def ours(scores, family):
    names = [f"{family}.{measure}[{label}]" for label in "QR" for measure in ("precision", "recall")]
    return [scores[name] for name in (*names, f"{family}.error_rate.micro")]


def evaluated(case, **settings):
    reference, ignored, system = case
    collars = COLLARS if settings.get("match_by") != "iou" else {}
    chosen = {"classes": ("Q", "R"), "ignore_class": "UNK", **collars, **settings}
    return evaluate(table([*reference, *ignored]), table(system), **chosen)


@pytest.mark.parametrize(("basis", "match_by"), COUNTS)
@pytest.mark.parametrize("events", ["rows", "merge"])
@tried(max_examples=5)
@given(case=cases)
@example(case=([], [("a", 3, 1, "UNK", 3)], [("a", 4, 1, "Q", 4)]))
@example(case=([("a", 4, 2, "Q", 2)], [("a", 3, 3, "UNK", 3)], [("a", 4, 1, "Q", 4), ("a", 4, 1, "R", 4)]))
def test_all_readings_of_events_are_as_defined(case, basis, match_by, events):
    merge, count = events == "merge", COUNTS[basis, match_by]
    scores = evaluated(case, only=(basis,), events=events, match_by=match_by)
    hard = scores_of(count(*(cut(side, Fraction(3, 4), merge=merge) for side in case)))
    assert ours(scores, f"{basis}.hard") == pytest.approx(hard)
    assert ours(scores, f"{basis}.soft") == pytest.approx(scores_of(integrated(case, count, merge=merge)))
    reference, ignored = (cut(side, Fraction(3, 4), merge=merge) for side in case[:2])
    for label, at in (("Q", 0), ("R", 3)):
        best = []
        for level in range(1, 6):
            tp, n_ref, n_sys = count(reference, ignored, cut(case[2], Fraction(level, 4), merge=merge))[
                at : at + 3
            ]
            best.append(2 * tp / (n_ref + n_sys) if n_ref else None)
        found = scores[f"{basis}.optimal.f1[{label}]"]
        assert found == pytest.approx(max(best) if best[0] is not None else None)


def test_a_lifetime_that_is_cut_in_two_is_paired():
    """By hand: one detection is left out at levels 1/4 to 1/2, the other nowhere; at 1/4 both are matched."""
    case = [("a", 4, 1, "Q", 1)] * 2, [("a", 1, 7, "UNK", 2)], [("a", 4, 1, "Q", 3), ("a", 4, 8, "Q", 4)]
    table_of = [table([*case[0], *case[1]]), table(case[2])]
    settings = {"ignore_class": "UNK", "offset_collar": 100.0, "events": "rows", "only": "event.soft"}
    scores = evaluate(*table_of, **settings)
    found = [scores[f"event.soft.{name}[Q]"] for name in ("n_ref", "n_sys", "recall")]
    assert found == [0.5, 0.25 + 0.25 + 1, 1]


# Segments and clips.

LENGTHS = {"a": 12.0, "b": 12.0}
EPSILON = 1e-7


def value_at(rows, file, label, second):
    there = (
        Fraction(v, 4) for f, on, n, name, v in rows if (f, name) == (file, label) and 0 <= second - on < n
    )
    return max(there, default=Fraction(0))


def pooled(rows, label, length, pool):
    """Return the values of a class in all segments of both files."""
    seconds = [
        [value_at(rows, file, label, s) for s in range(k, min(k + length, 12))]
        for file in "ab"
        for k in range(0, 12, length)
    ]
    return [max(part) if pool == "max" else sum(part) / len(part) for part in seconds]


def count_segments(segments):
    """Return TP, N_ref and N_sys of Q and R, and S, D, I; segments: reference and system, each Q and R."""
    totals = [0] * 9
    for y, p in segments:
        tp = [a and b for a, b in zip(y, p, strict=True)]
        counts = [tp[0], y[0], p[0], tp[1], y[1], p[1]]
        counts += [min(sum(y), sum(p)) - sum(tp), max(sum(y) - sum(p), 0), max(sum(p) - sum(y), 0)]
        totals = [total + n for total, n in zip(totals, counts, strict=True)]
    return totals


def divergence(y, p):
    p = min(max(float(p), EPSILON), 1 - EPSILON)
    return sum(float(a) * math.log(float(a) / b) for a, b in ((y, p), (1 - y, 1 - p)) if a)


@pytest.mark.parametrize(("length", "pool"), [(1, "max"), (2, "max"), (2, "mean"), (5, "mean")])
@tried(max_examples=8)
@given(case=cases)
def test_all_readings_of_segments_are_as_defined(case, length, pool):
    reference, ignored, system = case
    segments = {"segment_length": float(length), "pool": pool, "durations": LENGTHS}
    scores = evaluated(case, only=("segment",), measures=("divergence", "curves"), **segments)
    value = [pooled(side, label, length, pool) for side in (reference, system) for label in "QR"]
    values = list(zip(*value, pooled(ignored, "UNK", length, pool), strict=True))
    sides = [((q, r), (q2, r2), u) for q, r, q2, r2, u in values]
    known = [side for side in sides if side[2] <= HALF]
    hard = count_segments([[[v > HALF for v in of] for of in side[:2]] for side in known])
    assert ours(scores, "segment.hard") == pytest.approx(scores_of(hard))
    levels = sorted({Fraction(0), *(v for *both, u in sides for v in (*both[0], *both[1], u))})
    totals = [Fraction(0)] * 9
    for low, high in pairwise(levels):
        for *both, u in sides:
            counts = count_segments([[[v >= high > u for v in of] for of in both]])
            totals = [total + (high - low) * n for total, n in zip(totals, counts, strict=True)]
    assert ours(scores, "segment.soft") == pytest.approx(scores_of(totals))
    expected = pytest.approx(sum(divergence(y[0], p[0]) for y, p, _ in known) / len(known)) if known else None
    assert scores["segment.soft.kl_divergence[Q]"] == expected
    pairs = [(float(p[0]), y[0] > HALF) for y, p, _ in known]
    best = []
    for threshold in {0.0, *(p for p, _ in pairs)}:
        tp = sum(y and p > threshold for p, y in pairs)
        best.append(2 * tp / max(1, sum(y for _, y in pairs) + sum(p > threshold for p, _ in pairs)))
    if any(y for _, y in pairs):
        assert scores["segment.optimal.f1[Q]"] == pytest.approx(max(best))
        silent = [p for p, y in pairs if not y]
        wins = [(p > q) + (p == q) / 2 for p, y in pairs if y for q in silent]
        area = sum(wins) / len(wins) if wins else None
        assert scores["segment.hard.roc_auc[Q]"] == pytest.approx(area)


@tried(max_examples=12)
@given(case=cases)
def test_clips_have_the_values_of_all_other_time(case):
    reference, ignored, system = case
    scores = evaluated(case, only=("clip",), durations=LENGTHS)
    values = []
    for file in "ab":
        rest = [s for s in range(12) if value_at(ignored, file, "UNK", s) <= HALF]
        values.append([
            tuple(max((value_at(side, file, label, s) for s in rest), default=Fraction(0)) for label in "QR")
            for side in (reference, system)
        ])  # fmt: skip
    hard = count_segments([[[v > HALF for v in of] for of in both] for both in values])
    assert ours(scores, "clip.hard") == pytest.approx(scores_of(hard))
    totals = [Fraction(0)] * 9
    for low, high in pairwise(Fraction(k, 4) for k in range(5)):
        counts = count_segments([[[v >= high for v in of] for of in both] for both in values])
        totals = [total + (high - low) * n for total, n in zip(totals, counts, strict=True)]
    assert ours(scores, "clip.soft") == pytest.approx(scores_of(totals))
    gone = sum(value_at(ignored, file, "UNK", s) > HALF for file in "ab" for s in range(12))
    assert scores.length == 24 - gone


# What is made of events at all thresholds is that of the detections that remain.


MORE = dict.fromkeys("ab", 12 + 1e-6)
"""Lengths of which some is left where all of the rest is ignored: there is no PSDS of no time."""


def rows_left(case, level, remain):
    """Return the rows of a system that remain, each an event, against what is there at a level."""
    reference, ignored, system = case
    sides = [cut(side, level, merge=False) for side in (reference, ignored)]
    return [row for row in system if remain(*sides, [(row[0], row[3], row[1], row[1] + row[2])])]


def known_lengths(ignored):
    return {
        file: 12 - sum(value_at(ignored, file, "UNK", s) > HALF for s in range(12)) + 1e-6 for file in "ab"
    }


@pytest.mark.parametrize(("basis", "remain"), [("event", remaining), ("intersection", intersecting)])
@pytest.mark.slow
@tried(max_examples=60)
@given(case=cases)
def test_curves_thresholds_and_psds_are_of_the_detections_that_remain(case, basis, remain):
    reference, ignored, _ = case
    settings = {
        "only": (f"{basis}.hard", f"{basis}.optimal"), "measures": "all", "satisfice": "fpr_per_hour<=500",
        "events": "rows", "max_efpr": 1000.0, "alpha_ct": 0.5, "alpha_st": 1.0,
    }  # fmt: skip
    scores = evaluated(case, durations=MORE, **settings)
    left = rows_left(case, Fraction(3, 4), remain)
    by_hand = evaluate(
        table(reference),
        table(left),
        classes=("Q", "R"),
        durations=known_lengths(ignored),
        **COLLARS,
        **settings,
    )
    own, theirs = (
        {name: score.value for name, score in each.scores.items() if name.startswith(basis)}
        for each in (scores, by_hand)
    )
    assert own == theirs
    if basis == "event":
        assert scores.confusion == by_hand.confusion


# Laws.


def test_a_class_without_rows_changes_no_score_and_is_warned_of():
    sides = [random_table(seed) for seed in (1, 2)]
    plain, ignoring = (scored(*sides, each) for each in (ALL, replace(ALL, ignore_class=("cat",))))
    assert plain.scores == ignoring.scores
    assert "ignore_class 'cat' is not a class of the reference; did you mean 'car'?" in ignoring.warnings
    with pytest.raises(EvaluationError, match="ignore_class 'cat' is not"):
        scored(*sides, replace(ALL, ignore_class=("cat",), strict=True))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"classes": ("car", "dog")}, "classes and ignore_class both have 'car'"),
        ({"compat": "sed_eval"}, "ignore_class cannot go with compat=sed_eval"),
        ({"reference_sweep": True}, "ignore_class cannot go with reference_sweep"),
        ({"ignore_class": ""}, "ignore_class must be"),
        ({"ignore_class": ("car", "car")}, "ignore_class has 'car' twice"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, words):
    with pytest.raises(SettingsError, match=words):
        evaluate(random_table(1), random_table(2), **{"ignore_class": "car", **settings})
