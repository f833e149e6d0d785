"""A slow, obvious second answer for the average precision of events: detections one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from measure_oracles import PRECISIONS, Point
from oracles import TickRow, merged_events

from sedeval_soft.settings import Settings

COCO = tuple(Fraction(k, 20) for k in range(10, 20))
"""IoUs of 0.5, 0.55 .. 0.95, exactly."""

Detection = tuple[str, int, int, str, float]


def events_above(rows: Iterable[TickRow], threshold: float, *, merge: bool) -> list[Detection]:
    """Rows above a threshold; touching ones of a class as one, with the highest value in it."""
    active = [row for row in rows if row[4] > threshold and row[2] > row[1]]
    if not merge:
        return active
    return [
        (
            file,
            onset,
            offset,
            label,
            max(v for f, a, b, c, v in active if (f, c) == (file, label) and onset <= a and b <= offset),
        )
        for file, onset, offset, label in merged_events(active)
    ]


def iou(a: Detection, b: Detection) -> Fraction:
    common = max(0, min(a[2], b[2]) - max(a[1], b[1]))
    return Fraction(common, (a[2] - a[1]) + (b[2] - b[1]) - common)


def curve(reference: Sequence[Detection], system: Sequence[Detection], least: Fraction) -> list[Point]:
    """What is found, truly and falsely, down to each distinct value; first nothing. One class."""
    free = sorted(reference, key=lambda event: event[:3])
    found = [(Fraction(0), Fraction(0))]
    tp = fp = 0
    ordered = sorted(system, key=lambda event: (-event[4], event[:3]))
    for k, detection in enumerate(ordered):
        near = [event for event in free if event[0] == detection[0] and iou(event, detection) >= least]
        if near:
            free.remove(max(near, key=lambda event: iou(event, detection)))  # the first of the best
            tp += 1
        else:
            fp += 1
        if k + 1 == len(ordered) or ordered[k + 1][4] != detection[4]:
            found.append((Fraction(tp), Fraction(fp)))
    return found


def expected_precisions(
    reference: Iterable[TickRow], system: Iterable[TickRow], labels: Sequence[str], settings: Settings
) -> dict[str, float | None]:
    """The value of every average precision of events, named as scores are after their reading."""
    merge = settings.events != "rows"
    # A system's row is a detection whatever its value: that is what ranks it.
    sides = (
        events_above(reference, settings.reference_cut, merge=merge),
        events_above(system, settings.threshold if merge else -1.0, merge=merge),
    )
    made: dict[str, float | None] = {}
    kept: dict[str, list[tuple[float, int]]] = {}
    for label in labels:
        true, said = ([event for event in side if event[3] == label] for side in sides)
        for name, value in _of_class(true, said, settings).items():
            made[f"{name}[{label}]"] = value
            kept.setdefault(name, [])
            if value is not None:
                kept[name].append((value, len(true)))
    for name, values in kept.items():
        made[f"{name}.macro"] = sum(v for v, _ in values) / len(values) if values else None
        made[f"{name}.weighted"] = (
            sum(v * n for v, n in values) / sum(n for _, n in values) if values else None
        )
    return made


def _of_class(
    reference: Sequence[Detection], system: Sequence[Detection], settings: Settings
) -> dict[str, float | None]:
    names = ("average_precision", "average_precision_voc", "average_precision_coco101")
    if not reference:
        return dict.fromkeys((*names, "average_precision_coco"))
    found, n_ref = curve(reference, system, Fraction(str(settings.iou))), Fraction(len(reference))
    made: dict[str, float | None] = {name: PRECISIONS[name](found, n_ref) for name in names}
    at_each = [PRECISIONS[names[2]](curve(reference, system, t), n_ref) for t in COCO]
    made["average_precision_coco"] = sum(at_each) / len(at_each)
    return made
