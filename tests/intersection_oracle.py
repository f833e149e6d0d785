"""A second computation of intersection-based counts and PSDS: slow, obvious, in whole ticks and fractions.

After Bilen et al. 2020, "A framework for the robust evaluation of sound event detection", as psds_eval
0.5.3 and sed_scores_eval 0.0.4 compute it. The code is plain, and uses neither the package nor numpy.

The two tools agree on these rules, which this module follows:

- A detection that fails the detection tolerance criterion (DTC) is a false positive. If it is also a
  cross-trigger, it counts in both; it may be a cross-trigger of several classes.
- True positives are reference events. A detection that passes the DTC counts nowhere if it helps no
  reference event over the ground truth criterion (GTC): TP + FP is not the number of detections.
- Cross-trigger rates are averaged over the other classes; the deviation over classes divides by their
  number; eTPR is cut at 0 point by point, and not made monotone again.
- Each class's staircase starts at (0, 0), is the running maximum, keeps its value up to the next point
  (a step at x counts from x on) and after its last one. PSDS is the area below this step function up to
  max_efpr: a step at max_efpr adds nothing.

The tools differ in these points, for which this module has its own rules:

- Criteria are compared exactly, with the decimal numbers as they are written. psds_eval compares sums of
  float quotients; sed_scores_eval rounds to microseconds, like a slack of half a tick except at ties.
- Time that several events of a class cover counts once: copies of a detection cover no more, as in psds_eval.
- A criterion of 0 and a class without reference are refused. Every detection counts.
- With one class, no other class triggers: eFPR is the rate of false positives.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

Event = tuple[str, str, int, int]
"""File, class, onset and offset in ticks."""

Curve = list[tuple[Fraction, Fraction]]
"""Steps (eFPR, TPR), by eFPR; each value lasts until the next step."""

SECONDS = {"second": 1, "minute": 60, "hour": 3600}


@dataclass(frozen=True)
class Counts:
    """Counts at one threshold: TP and FP by class, cross-triggers by (class, other class)."""

    tp: dict[str, int]
    fp: dict[str, int]
    ct: dict[tuple[str, str], int]


def shared_ticks(event: Event, others: Iterable[Event], label: str, *, once: bool = True) -> int:
    """Return the ticks of an event that others of a label cover; once: ticks that two cover count once."""
    _, _, covered, offset = event
    if not once:
        return sum(max(0, min(offset, o[3]) - max(covered, o[2])) for o in others if o[1] == label)
    total = 0
    for o in sorted((o for o in others if o[1] == label), key=lambda o: o[2]):
        total += max(0, min(offset, o[3]) - max(covered, o[2]))
        covered = max(covered, o[3])
    return total


def enough(ticks: int, event: Event, share: float, slack: float) -> bool:
    """Return whether ticks, plus the slack, are at least this share of the event's length."""
    assert share > 0, "the tools disagree on what a criterion of 0 means"
    return ticks + Fraction(str(slack)) >= Fraction(str(share)) * (event[3] - event[2])


def count(
    detections: Sequence[Event],
    references: Sequence[Event],
    classes: Sequence[str],
    *,
    dtc: float,
    gtc: float,
    cttc: float,
    slack: float = 0,
    once: bool = True,
) -> Counts:
    """Count one threshold's detections against the reference events.

    slack: in ticks. If times were rounded to whole ticks, a slack of half a tick keeps the ties of the
    original times. once: whether time that several events of a class cover counts once.
    """
    counts = Counts(
        tp=dict.fromkeys(classes, 0),
        fp=dict.fromkeys(classes, 0),
        ct={(c, other): 0 for c in classes for other in classes if other != c},
    )
    for file in sorted({event[0] for event in [*detections, *references]}):
        known = [r for r in references if r[0] == file]
        passed = []
        for d in detections:
            if d[0] != file:
                continue
            if enough(shared_ticks(d, known, d[1], once=once), d, dtc, slack):
                passed.append(d)
                continue
            counts.fp[d[1]] += 1
            for other in classes:
                if other != d[1] and enough(shared_ticks(d, known, other, once=once), d, cttc, slack):
                    counts.ct[d[1], other] += 1
        for r in known:
            counts.tp[r[1]] += enough(shared_ticks(r, passed, r[1], once=once), r, gtc, slack)
    return counts


def f_measure(tp: int, fp: int, n_ref: int) -> Fraction:
    """Return F1, 0 without any TP (psds_eval: NaN, and left out of its macro average)."""
    return Fraction(2 * tp, tp + fp + n_ref)


def staircases(
    points: Iterable[Counts],
    references: Sequence[Event],
    classes: Sequence[str],
    duration: int,
    *,
    alpha_ct: float = 0.0,
    unit: str = "hour",
    ticks_per_second: int = 1_000_000,
) -> dict[str, Curve]:
    """Return each class's true positive ratio over its effective false positive rate.

    duration: of all files together, in ticks.
    """
    points = list(points)
    of = {c: [r for r in references if r[1] == c] for c in classes}
    assert all(of.values()), "each class needs a reference event"
    n_ref = {c: len(events) for c, events in of.items()}
    t_ref = {c: sum(r[3] - r[2] for r in events) for c, events in of.items()}
    per_unit = SECONDS[unit] * ticks_per_second
    curves: dict[str, Curve] = {}
    for c in classes:
        steps = [(Fraction(0), Fraction(0))]
        others = [other for other in classes if other != c]
        for point in points:
            rates = [Fraction(point.ct[c, other], t_ref[other]) for other in others]
            mean_rate = sum(rates, Fraction(0)) / max(1, len(others))
            rate = Fraction(point.fp[c], duration) + Fraction(str(alpha_ct)) * mean_rate
            steps.append((rate * per_unit, Fraction(point.tp[c], n_ref[c])))
        curves[c] = []
        for x, y in sorted(steps, key=lambda step: (step[0], -step[1])):
            if not curves[c] or y > curves[c][-1][1]:
                curves[c].append((x, y))
    return curves


def height(curve: Curve, x: Fraction) -> Fraction:
    """Return the value of a staircase at x."""
    return [y for at, y in curve if at <= x][-1]


def psd_roc(curves: Mapping[str, Curve], alpha_st: float = 0.0) -> list[tuple[Fraction, float]]:
    """Return the effective true positive ratio over the effective false positive rates of all classes."""
    roc = []
    for x in sorted({x for curve in curves.values() for x, _ in curve}):
        heights = [height(curve, x) for curve in curves.values()]
        mean = sum(heights, Fraction(0)) / len(heights)
        variance = sum((y - mean) ** 2 for y in heights) / len(heights)
        roc.append((x, max(0.0, float(mean) - alpha_st * sqrt(variance))))
    return roc


def area(curve: Sequence[tuple[Fraction, Fraction | float]], max_efpr: float) -> float:
    """Return the area under a staircase up to max_efpr, divided by max_efpr: PSDS or one class's share."""
    limit = Fraction(str(max_efpr))
    inside = [(x, y) for x, y in curve if x < limit]
    ends = [x for x, _ in inside[1:]] + [limit]
    return sum(float((end - x) / limit) * float(y) for (x, y), end in zip(inside, ends, strict=True))


def psds(curves: Mapping[str, Curve], *, alpha_st: float = 0.0, max_efpr: float = 100.0) -> float:
    """Return the polyphonic sound detection score."""
    return area(psd_roc(curves, alpha_st), max_efpr)
