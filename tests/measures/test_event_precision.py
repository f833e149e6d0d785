"""Average precision of events, as detectors of objects are scored, against a loop."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from measure_oracles import agree, precisions
from oracles import FILES, LABELS, in_seconds, merged_events, tick_rows
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.settings import Settings

EVENTS = {"only": "event.hard", "measures": "curves"}
NAMES = ("average_precision", "average_precision_voc", "average_precision_coco101")


def events_above(rows, threshold, *, merge):
    """Rows above a threshold; touching ones of a class as one, with the highest value in it."""
    active = [row for row in rows if row[4] > threshold and row[2] > row[1]]
    if not merge:
        return active

    def highest(file, onset, offset, label):
        return max(v for f, a, b, c, v in active if (f, c) == (file, label) and onset <= a and b <= offset)

    return [(*event, highest(*event)) for event in merged_events(active)]


def iou(a, b):
    common = max(0, min(a[2], b[2]) - max(a[1], b[1]))
    return Fraction(common, (a[2] - a[1]) + (b[2] - b[1]) - common)


def curve(reference, system, least):
    """What is found, truly and falsely, down to each distinct value; first nothing. One class."""
    free = sorted(reference, key=lambda event: event[:3])
    found = [(Fraction(0), Fraction(0))]
    tp = fp = 0
    ordered = sorted(system, key=lambda event: (-event[4], event[:3]))
    for k, detection in enumerate(ordered):
        near = [event for event in free if event[0] == detection[0] and iou(event, detection) >= least]
        if near:
            free.remove(max(near, key=lambda event: iou(event, detection)))  # the first of the best
        tp, fp = (tp + 1, fp) if near else (tp, fp + 1)
        if k + 1 == len(ordered) or ordered[k + 1][4] != detection[4]:
            found.append((Fraction(tp), Fraction(fp)))
    return found


def check(reference, system, chosen):
    """Compare every average precision of events with the loop's."""
    known = Settings.of(**chosen)
    merge = known.events != "rows"
    # A system's row is a detection whatever its value, which ranks it; one of 0 is found at no threshold.
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
    """Rows on few ticks, so that IoUs and values are often equal."""
    return tick_rows(values, max_size=14).map(lambda rows: [row for row in rows if row[2] > row[1]])


def crowd(rng, n):
    """Many detections of few values that contend for the same event."""
    onsets, lengths = rng.integers(0, 40, n).tolist(), rng.integers(1, 12, n).tolist()
    names = rng.choice(FILES, n).tolist(), rng.choice(LABELS, n).tolist()
    rows = zip(*names, onsets, lengths, (rng.integers(1, 17, n) / 16).tolist(), strict=True)
    return [(file, on, on + length, label, value) for file, label, on, length, value in rows]


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
    how = {"events": form, "iou": iou, "threshold": threshold}
    check(reference, system, {**EVENTS, **how, "classes": LABELS})
