"""Ignored classes against their definition, in fractions, by trying everything; and their laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from sedeval_soft import Evaluator, SettingsError, evaluate

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


def covered(detection, events):
    """Return the seconds of a detection that events of its file cover."""
    return sum(
        any(f == detection[0] and on <= second < off for f, _, on, off in events)
        for second in range(detection[2], detection[3])
    )


def remaining(reference, ignored, system):
    """Return the detections that are not left out of events."""
    return [
        d
        for d in system
        if any(r[:2] == d[:2] and compatible(r, d) for r in reference)
        or not (
            any(u[0] == d[0] and compatible(u, d) for u in ignored) or 2 * covered(d, ignored) > d[3] - d[2]
        )
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


def matched(reference, system, *, by_class):
    """Return how many pairs of either a class or any are matched."""
    n = 2 if by_class else 1
    edges = {
        i: [j for j, d in enumerate(system) if r[:n] == d[:n] and compatible(r, d)]
        for i, r in enumerate(reference)
    }
    return largest(edges, [*edges])


def count_event(reference, ignored, system):
    """Return TP, N_ref, N_sys of Q and R, and S, D, I."""
    system = remaining(reference, ignored, system)
    of_classes = []
    for label in "QR":
        ours, theirs = ([e for e in side if e[1] == label] for side in (reference, system))
        of_classes += [matched(ours, theirs, by_class=True), len(ours), len(theirs)]
    both = matched(reference, system, by_class=False)
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


COUNTS = {"event": count_event, "intersection": count_intersection}


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
    return evaluate(
        table([*reference, *ignored]),
        table(system),
        classes=("Q", "R"),
        ignore_class="UNK",
        **COLLARS,
        **settings,
    )


@pytest.mark.parametrize("basis", COUNTS)
@pytest.mark.parametrize("events", ["rows", "merge"])
@tried(max_examples=60)
@given(case=cases)
def test_all_readings_of_events_are_as_defined(case, basis, events):
    merge, count = events == "merge", COUNTS[basis]
    scores = evaluated(case, only=(basis,), events=events)
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
