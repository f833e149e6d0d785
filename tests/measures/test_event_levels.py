"""Events at every level at once, against each level by itself."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import FILES, in_seconds, maximum_size, merged_events, tick_rows
from tables import long_rows

from sedeval_soft.evaluation.optimal import events_when
from sedeval_soft.measures import matching
from sedeval_soft.measures.event import Collars, count_soft_events
from sedeval_soft.measures.matching import LevelEdges, match_levels
from sedeval_soft.measures.thresholds import NOTHING, ThresholdCounts, f_merit
from sedeval_soft.timeline.events import Activity, EventLifetimes, Events

CLASSES = ("car", "dog")
ROWS = tick_rows(max_size=14).map(lambda rows: [(*row[:3], CLASSES[row[3] == "dog"], row[4]) for row in rows])
COLLARS = st.sampled_from(
    [
        Collars(2, 2, 0.0),
        Collars(1, 3, 0.5),
        Collars(4, None, 0.0),
        Collars(None, 3, 0.5),
        Collars(30, 30, 1.0),
    ]
)
BASE = [(file, 0, 0, label, 0.0) for file in FILES for label in CLASSES]
"""Rows that change nothing, but bring all names in one order."""


def lifetimes(rows):
    return EventLifetimes.of(Activity.of_table(long_rows(in_seconds(BASE + rows))))


def cut(rows, level):
    return merged_events([row for row in rows if row[4] >= level and row[1] < row[2]])


def hits(ours, theirs, collars, by_class):
    def near(a, b):
        if a[0] != b[0] or (by_class and a[3] != b[3]):
            return False
        if collars.onset is not None and abs(a[1] - b[1]) > collars.onset:
            return False
        share = round(collars.rate * (a[2] - a[1]))
        return collars.offset is None or abs(a[2] - b[2]) <= max(collars.offset, share)

    return [(i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs) if near(a, b)]


def matched(ours, theirs, collars, keep, by_class):
    chosen = [edge for edge in hits(ours, theirs, collars, by_class) if keep(ours[edge[0]])]
    return maximum_size(chosen, len(ours), len(theirs))


@settings(max_examples=60)
@given(ROWS, ROWS, COLLARS, st.sampled_from([1, 2, 64]))
def test_soft_counts_are_hard_ones_integrated_over_every_level(reference, system, collars, copies):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_COPIES_PER_EDGE", copies)
        counts = count_soft_events(lifetimes(reference), lifetimes(system), len(FILES), len(CLASSES), collars)
    tp, n_ref, n_sys = ({key: Fraction(0) for key in itertools.product(FILES, CLASSES)} for _ in range(3))
    m = dict.fromkeys(FILES, Fraction(0))
    steps = sorted({0.0, *(row[4] for row in [*reference, *system])})
    for low, high in itertools.pairwise(steps):
        width = Fraction(high) - Fraction(low)
        ours, theirs = cut(reference, high), cut(system, high)
        for file in FILES:
            m[file] += width * matched(ours, theirs, collars, lambda e, f=file: e[0] == f, by_class=False)
            for label in CLASSES:
                key = (file, label)
                tp[key] += width * matched(
                    ours, theirs, collars, lambda e, k=key: (e[0], e[3]) == k, by_class=True
                )
                n_ref[key] += width * sum((e[0], e[3]) == key for e in ours)
                n_sys[key] += width * sum((e[0], e[3]) == key for e in theirs)
    for f, file in enumerate(FILES):
        all_tp, all_ref, all_sys = (
            sum(side[file, label] for label in CLASSES) for side in (tp, n_ref, n_sys)
        )
        errors = (m[file] - all_tp, all_ref - m[file], all_sys - m[file])
        got = (counts.substitutions[f], counts.deletions[f], counts.insertions[f])
        assert got == pytest.approx([float(error) for error in errors], abs=1e-12)
        for c, label in enumerate(CLASSES):
            for column, expected in ((counts.tp, tp), (counts.n_ref, n_ref), (counts.n_sys, n_sys)):
                assert column[f, c] == pytest.approx(float(expected[file, label]), abs=1e-12)


@settings(max_examples=60)
@given(ROWS, ROWS, COLLARS, st.booleans())
def test_best_event_thresholds_are_the_best_of_all(reference, system, collars, inclusive):
    ours = cut(reference, 0.5)
    columns = [np.array([e[k] for e in ours], dtype=np.int64) for k in (1, 2)]
    codes = [
        np.array([names.index(e[k]) for e in ours], dtype=np.int32) for k, names in ((0, FILES), (3, CLASSES))
    ]
    events = Events(codes[0], codes[1], *columns, columns[0] * 1e-6, columns[1] * 1e-6)
    lives = events_when(events, lifetimes(system), len(FILES), len(CLASSES), collars)
    found = ThresholdCounts.of_lives(*lives)
    thresholds = [of.best(f_merit(1.0), inclusive=inclusive)[0] for of in found]
    for label, threshold in zip(CLASSES, thresholds, strict=True):
        n_ref = sum(e[3] == label for e in ours)
        if not n_ref:
            assert threshold == NOTHING
            continue

        def f_at(level, label=label, n_ref=n_ref):
            theirs = cut(system, level)
            tp = matched(ours, theirs, collars, lambda e: e[3] == label, by_class=True)
            return Fraction(2 * tp, n_ref + sum(e[3] == label for e in theirs))

        # A level cuts at >=; of equally good cuts the highest is wanted. Nothing at all has F 0.
        tried = sorted({row[4] for row in system if row[3] == label and row[4] > 0 and row[1] < row[2]})
        values = [(f_at(level), level) for level in tried]
        best = max(values, default=(Fraction(0), 0.0))
        if best[0] == 0:
            assert threshold == (2.0 if inclusive else 1.0)  # no value passes it
            continue
        read = float(repr(threshold))
        lowest = min(level for level in tried if (level >= read if inclusive else level > read))
        # The same events, though a value that a higher one covers may lie between the two levels.
        got, expected = ([e for e in cut(system, level) if e[3] == label] for level in (lowest, best[1]))
        assert sorted(got) == sorted(expected)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 4, 64]))
def test_match_levels_is_maximum_at_every_level(seed, copies):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    left, right = np.divmod(rng.choice(144, n, replace=False), 12)
    ends = np.sort(rng.integers(0, 9, (2, n)), axis=0) / 8
    kept = ends[0] < ends[1]
    edges = LevelEdges(left[kept], right[kept], ends[0][kept], ends[1][kept])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_COPIES_PER_EDGE", copies)
        found = match_levels(edges)
    for level in (np.arange(8) + 0.5) / 8:
        here = (edges.low < level) & (level <= edges.high)
        pairs = list(zip(edges.left[here].tolist(), edges.right[here].tolist(), strict=True))
        there = (found.low < level) & (level <= found.high)
        assert there.sum() == maximum_size(pairs, 12, 12)
        assert len(set(found.left[there].tolist())) == there.sum()
