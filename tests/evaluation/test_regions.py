"""`regions`, `region_edges` and `after_shots`: what lies outside counts nowhere, and lengths shrink with it.

The second answer looks at every tenth of a second, counts in fractions, and tries all assignments.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import intersection_oracle as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft import evaluate

LABELS = ("car", "dog")
END = 30
"""Tenths of a second that a file has."""

Row = tuple[str, int, int, str, float]
"""File, onset, offset in tenths of a second, class, value."""

Spans = dict[str, list[tuple[int, int]]]
"""Regions by file, in tenths of a second."""


class Case(NamedTuple):
    """Two tables and regions of their files."""

    reference: list[Row]
    system: list[Row]
    regions: Spans


def case(seed: int) -> Case:
    """Return a random case: values of quarters, regions that overlap, touch, and reach over the end."""
    rng = random.Random(seed)  # noqa: S311

    def rows(n: int) -> list[Row]:
        found = []
        for _ in range(n):
            onset = rng.randrange(END - 1)
            offset = min(END, onset + rng.randrange(1, 9))
            value = rng.choice((0.25, 0.5, 0.75, 1.0))
            found.append((rng.choice("ab"), onset, offset, rng.choice(LABELS), value))
        return found

    def spans() -> list[tuple[int, int]]:
        found = []
        for _ in range(rng.randrange(1, 4)):
            begin = rng.randrange(END - 1)
            found.append((begin, begin + rng.randrange(1, 16)))
        return found

    return Case(rows(7), rows(9), {file: spans() for file in "ab"})


def seconds(rows: list[Row]) -> dict[str, list]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    times = [[tick / 10 for tick in column] for column in columns[1:3]]
    names = ("filename", "onset", "offset", "event_label", "value")
    return dict(zip(names, (columns[0], *times, *columns[3:]), strict=True))


def in_seconds(regions: Spans) -> dict[str, list[list[float]]]:
    return {name: [[a / 10, b / 10] for a, b in spans] for name, spans in regions.items()}


def inside(regions: Spans, file: str) -> list[bool]:
    return [any(a <= tick < b for a, b in regions.get(file, [])) for tick in range(END)]


def track(rows: list[Row], file: str, label: str) -> list[float]:
    """The value of every tick."""
    own = [row for row in rows if row[0] == file and row[3] == label]
    return [max((row[4] for row in own if row[1] <= tick < row[2]), default=0.0) for tick in range(END)]


def runs(active: list[bool]) -> list[tuple[int, int]]:
    edges = [tick for tick, (a, b) in enumerate(pairwise([False, *active, False])) if a != b]
    return list(zip(edges[::2], edges[1::2], strict=True))


def events(rows: list[Row], case: Case, level: float, edges: str, form: str) -> list[oracle.Event]:
    """The events at a level: those of rows or of touching rows, cut to regions or chosen by their onset."""
    found = []
    for file, label in ((file, label) for file in "ab" for label in LABELS):
        counts = inside(case.regions, file)
        if form == "merge":
            spans = runs([value >= level for value in track(rows, file, label)])
        else:
            spans = [
                (row[1], row[2]) for row in rows if (row[0], row[3]) == (file, label) and row[4] >= level
            ]
        for onset, offset in spans:
            if edges == "onset":
                found += [(file, label, onset, offset)] * counts[onset]
                continue
            pieces = runs([counts[tick] and onset <= tick < offset for tick in range(END)])
            found += [(file, label, a, b) for a, b in pieces]
    return found


def matched(reference: list[oracle.Event], system: list[oracle.Event]) -> int:
    """The most pairs, of all assignments that there are."""
    near = []
    for file, label, onset, offset in reference:
        late = max(Fraction(2), Fraction(offset - onset, 2))
        near.append(
            {
                k
                for k, other in enumerate(system)
                if other[:2] == (file, label)
                and abs(onset - other[2]) <= 2
                and abs(offset - other[3]) <= late
            }
        )

    def most(at: int, free: frozenset[int]) -> int:
        if at == len(near):
            return 0
        return max([most(at + 1, free), *(1 + most(at + 1, free - {k}) for k in near[at] & free)])

    near = [each for each in near if each]
    return most(0, frozenset(range(len(system))))


def of_class(found: list[oracle.Event], label: str) -> list[oracle.Event]:
    return [event for event in found if event[1] == label]


Counts = tuple[Fraction, Fraction, Fraction]
"""TP, N_ref and N_sys."""


def levels(*tables: list[Row]) -> list[float]:
    return sorted({row[4] for rows in tables for row in rows})


def event_counts(case: Case, label: str, ours: float, theirs: float, edges: str, form: str) -> Counts:
    sides = [
        of_class(events(rows, case, level, edges, form), label)
        for rows, level in ((case.reference, ours), (case.system, theirs))
    ]
    return tuple(map(Fraction, (matched(*sides), *map(len, sides))))


def intersection_counts(case: Case, label: str, ours: float, theirs: float, edges: str, form: str) -> Counts:
    reference, system = (
        events(rows, case, level, edges, form)
        for rows, level in ((case.reference, ours), (case.system, theirs))
    )
    found = oracle.count(system, reference, LABELS, dtc=0.5, gtc=0.5, cttc=0.3)
    # Of what is not a false positive all that is no true one counts nothing.
    tp = Fraction(found.tp[label])
    return tp, Fraction(len(of_class(reference, label))), tp + found.fp[label]


def cells(rows: list[Row], case: Case, label: str, step: int, pool: str) -> list[Fraction]:
    """The values of all evaluated segments, each looked at where it lies in a region."""
    values = []
    for file in "ab":
        of_file, counts = track(rows, file, label), inside(case.regions, file)
        for begin in range(0, END, step):
            own = [Fraction(of_file[t]) for t in range(begin, min(begin + step, END)) if counts[t]]
            if own:
                values.append(max(own) if pool == "max" else sum(own) / len(own))
    return values


def cell_counts(y: list[Fraction], p: list[Fraction], ours: float, theirs: float) -> Counts:
    pairs = [(a >= ours, b >= theirs) for a, b in zip(y, p, strict=True)]
    return tuple(Fraction(sum(each)) for each in zip(*((a and b, a, b) for a, b in pairs), strict=True))


def f1(counts: Counts) -> Fraction | None:
    tp, n_ref, n_sys = counts
    return 2 * tp / (n_ref + n_sys) if n_ref + n_sys else None


def best(counts: list[Counts]) -> Fraction | None:
    return max(f1(each) or Fraction(0) for each in counts)


def integral(of_level, marks: list[float]) -> Counts:
    """The integral of counts over levels, which change at marks only."""
    total = (Fraction(0),) * 3
    for low, high in pairwise([0.0, *marks]):
        width = Fraction(high) - Fraction(low)
        total = tuple(a + width * b for a, b in zip(total, of_level(high), strict=True))
    return total


def expected(case: Case, step: int, pool: str, edges: str, form: str) -> dict[str, Fraction | None]:
    """Scores by name."""
    scores: dict[str, Fraction | None] = {}
    above, marks = 0.6, levels(case.reference, case.system)  # values are quarters: > 0.5 is >= 0.75
    for label in LABELS:
        y, p = (cells(rows, case, label, step, pool) for rows in (case.reference, case.system))
        hard = cell_counts(y, p, above, above) if pool == "max" else _over(y, p)
        scores[f"segment.hard.f1[{label}]"] = f1(hard)
        negatives = len(y) - hard[1]
        if hard[1]:
            scores[f"segment.hard.specificity[{label}]"] = (
                (negatives - (hard[2] - hard[0])) / negatives if negatives else None
            )
        soft = sum(map(min, y, p)), sum(y), sum(p)
        scores[f"segment.soft.f1[{label}]"] = f1(soft)
        positive = [Fraction(a > Fraction(1, 2)) for a in y]
        cuts = [cell_counts(positive, p, 1, cut) for cut in sorted({*p, Fraction(0)})]
        scores[f"segment.optimal.f1[{label}]"] = best([(Fraction(0), sum(positive), Fraction(0)), *cuts])
        for basis, count in (("event", event_counts), ("intersection", intersection_counts)):
            how = edges, form
            scores[f"{basis}.hard.f1[{label}]"] = f1(count(case, label, above, above, *how))
            swept = [count(case, label, above, cut, *how) for cut in (*levels(case.system), 2.0)]
            scores[f"{basis}.optimal.f1[{label}]"] = best(swept)
            soft = integral(lambda a, c=count, h=how, of=label: c(case, of, a, a, *h), marks)
            scores[f"{basis}.soft.f1[{label}]"] = f1(soft)
        clips = [
            [
                max((v for v, c in zip(track(rows, f, label), inside(case.regions, f), strict=True) if c))
                for f in "ab"
            ]
            for rows in (case.reference, case.system)
        ]
        scores[f"clip.hard.f1[{label}]"] = f1(cell_counts(*clips, above, above))
        scores[f"clip.soft.f1[{label}]"] = f1(
            (sum(map(min, *map(_exact, clips))), *map(sum, map(_exact, clips)))
        )
    return scores


def _exact(values: list[float]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def _over(y: list[Fraction], p: list[Fraction]) -> Counts:
    half = Fraction(1, 2)
    return cell_counts([Fraction(a > half) for a in y], [Fraction(b > half) for b in p], 1, 1)


def psds_of(case: Case, edges: str, form: str) -> float | None:
    """PSDS over all thresholds, whose hours are those of the regions."""
    reference = events(case.reference, case, 0.6, edges, form)
    if {event[1] for event in reference} != {*LABELS}:
        return None
    points = [
        oracle.count(
            events(case.system, case, cut, edges, form), reference, LABELS, dtc=0.5, gtc=0.5, cttc=0.3
        )
        for cut in levels(case.system)
    ]
    ticks = sum(sum(inside(case.regions, file)) for file in "ab")
    curves = oracle.staircases(points, reference, LABELS, ticks, ticks_per_second=10)
    return oracle.psds(curves, max_efpr=2000.0)


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**30),
    step=st.sampled_from([5, 7, 10]),
    pool=st.sampled_from(["max", "mean"]),
    edges=st.sampled_from(["cut", "onset"]),
    form=st.sampled_from(["merge", "rows"]),
    given_durations=st.booleans(),
)
def test_scores_are_those_of_what_lies_inside(seed, step, pool, edges, form, given_durations):
    drawn = case(seed)
    if not given_durations:
        # Regions say how far files go; here the second answer ends with the file.
        clipped = {name: [(a, min(b, END)) for a, b in spans] for name, spans in drawn.regions.items()}
        drawn = drawn._replace(regions=clipped)
    scores = evaluate(
        seconds(drawn.reference), seconds(drawn.system), classes=LABELS, segment_length=step / 10, pool=pool,
        only=("segment", "event", "intersection", "clip"), events=form, max_efpr=2000.0,
        regions=in_seconds(drawn.regions), region_edges=edges,
        durations=dict.fromkeys("ab", END / 10) if given_durations else None,
    )  # fmt: skip
    values = {name: score.value for name, score in scores.scores.items()}
    for name, value in expected(drawn, step, pool, edges, form).items():
        if ".optimal." in name and values[name.replace("optimal.f1", "hard.recall")] is None:
            continue
        ours = values[name]
        same = ours is None if value is None else ours == pytest.approx(float(value), abs=1e-12)
        assert same, (name, ours, value)
    wanted = psds_of(drawn, edges, form)
    if wanted is not None:
        assert values["intersection.hard.psds"] == pytest.approx(wanted, abs=1e-12)
