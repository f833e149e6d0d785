"""Events matched by their intersection over union: against fractions and all assignments, one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tables import long_rows, wide_rows

from sedeval_soft import Scores, Settings, SettingsError, evaluate
from sedeval_soft.measures.pairs import intersection_over_union

Row = tuple[str, int, int, str, int]
"""File, onset and offset in tenths of a second, label, level of `LEVELS`."""


def overlap(a: Row, b: Row) -> Fraction:
    """The ticks that both have over those that either has; 1 of two that are the same and have none."""
    ours, theirs = set(range(*a[1:3])), set(range(*b[1:3]))
    if not ours | theirs:
        return Fraction(int(a[1] == b[1]))
    return Fraction(len(ours & theirs), len(ours | theirs))


def hits(reference, system, iou: float, **more) -> Scores:
    return evaluate(long_rows(reference), long_rows(system), match_by="iou", iou=iou, only="event", **more)


def test_an_overlap_that_is_a_decimal_is_met_and_no_more():
    """Of two events that have a tenths of b in common, for all a and b: at a/b, not at the float above."""
    for whole in range(1, 60):
        part = np.arange(1, whole + 1)
        ends = whole * 100_000 + 700_000
        overlaps = intersection_over_union(
            np.full(whole, 700_000), np.full(whole, ends), ends - part * 100_000, np.full(whole, ends)
        )
        assert overlaps.tolist() == [k / whole for k in part.tolist()]
        assert all(got == float(f"{k / whole!r}") for got, k in zip(overlaps, part.tolist(), strict=True))
    for onset, least in ((0.7, 0.3), (0.4, 0.6), (0.9, 0.1), (0.3, 0.7)):
        for shift in (0.0, 0.1, 1234.5):
            sides = [("f", shift, 1 + shift, "a")], [("f", onset + shift, 1 + shift, "a")]
            assert hits(*sides, least)["event.hard.tp.micro"] == 1
            assert hits(*sides, math.nextafter(least, 1))["event.hard.tp.micro"] == 0


def test_average_precision_matches_by_the_same_rule():
    """At a tie both find the event, and just above neither does."""
    sides = [("f", 0.0, 1.0, "a", 1.0)], [("f", 0.7, 1.0, "a", 0.9)]
    for iou, found in ((0.3, 1), (math.nextafter(0.3, 1), 0)):
        scores = hits(*sides, iou, measures="curves")
        assert scores["event.hard.average_precision[a]"] == scores["event.hard.recall[a]"] == found


def test_deviations_are_those_of_matched_events_however_far_off():
    scores = hits([("f", 0, 10, "a")], [("f", 3, 11, "a")], 0.5)
    assert scores["event.hard.onset_bias.micro"] == 3
    assert scores["event.hard.offset_bias.micro"] == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"onset": False}, "match_by=iou knows no collars; expected onset as by default"),
        ({"offset": False, "onset_collar": 0.1}, "expected onset_collar, offset as by default"),
        ({"offset_collar_rate": 0.2}, "expected offset_collar_rate as by default"),
        ({"compat": "sed_eval"}, "compat=sed_eval knows collars only; expected match_by=collar"),
        ({"iou": 0}, "iou must be above 0, at most 1, not 0"),
        ({"match_by": "overlap"}, "match_by must be one of collar, iou, not 'overlap'"),
    ],
)
def test_what_contradicts_it_is_refused(more, said):
    with pytest.raises(SettingsError) as refused:
        Settings(**{"match_by": "iou"} | more)
    assert str(refused.value).startswith(said) or said in str(refused.value)


@pytest.mark.parametrize("iou", [1e-9, 0.9])
@pytest.mark.parametrize("only", ["event.hard", "event.optimal"])
def test_hundreds_of_long_events_at_one_time(only, iou):
    """All of 300 overlap all others: the exact overlap of each pair is looked at."""
    rng = np.random.default_rng(5)
    onset, offset = np.round(rng.uniform(0, 1, 300), 6), np.round(rng.uniform(9, 10, 300), 6)
    rows = [("f", on, off, "a", 0.9) for on, off in zip(onset.tolist(), offset.tolist(), strict=True)]
    scores = evaluate(
        long_rows(rows), long_rows(rows[::-1]), match_by="iou", iou=iou, only=only, events="rows"
    )
    assert scores[f"{only}.f1.micro"] == 1


def test_smooth_values_of_both_sides_are_matched_at_all_levels():
    """Thousands of lifetimes nested in one another on either side: each shares levels with few."""
    time = np.arange(8000)
    sides = [wide_rows(np.exp(-(((time - middle) / 1500) ** 2))[:, None], 0.01) for middle in (4000, 4100)]
    scores = evaluate(*sides, match_by="iou", only="event.soft")
    assert scores["event.soft.f1.micro"] > 0.99
