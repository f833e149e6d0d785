"""Events matched by their intersection over union: ties, refusals and sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft import Settings, SettingsError, evaluate
from sedeval_soft.measures.matching import intersection_over_union


def test_an_overlap_that_is_a_decimal_is_met_and_no_more():
    """Of two events that have a tenths of b in common, for all a and b: at a/b, not at the float above."""
    for whole in range(1, 60):
        part = np.arange(1, whole + 1)
        ends = whole * 100_000 + 700_000
        overlaps = intersection_over_union(
            np.full(whole, 700_000), np.full(whole, ends), ends - part * 100_000, np.full(whole, ends)
        )
        assert overlaps.tolist() == [k / whole for k in part.tolist()]


@pytest.mark.parametrize("shift", [0.0, 0.1, 1234.5])
@pytest.mark.parametrize(("onset", "least"), [(0.7, 0.3), (0.4, 0.6), (0.9, 0.1), (0.3, 0.7)])
def test_counts_and_average_precision_match_by_the_same_rule(onset, least, shift):
    """At a tie both find the event, and just above neither does."""
    sides = [("f", shift, 1 + shift, "a", 1.0)], [("f", onset + shift, 1 + shift, "a", 0.9)]
    for iou, found in ((least, 1), (math.nextafter(least, 1), 0)):
        scores = evaluate(*map(long_rows, sides), match_by="iou", iou=iou, only="event", measures="curves")
        assert scores["event.hard.average_precision[a]"] == scores["event.hard.tp.micro"] == found


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"onset": False}, "onset"),
        ({"offset": False, "onset_collar": 0.1}, "onset_collar, offset"),
        ({"offset_collar_rate": 0.2}, "offset_collar_rate"),
        ({"compat": "sed_eval"}, "match_by=collar"),
        ({"iou": 0}, "iou"),
        ({"match_by": "overlap"}, "match_by"),
    ],
)
def test_what_contradicts_it_is_refused(more, named):
    with pytest.raises(SettingsError, match=named):
        Settings(**{"match_by": "iou"} | more)
