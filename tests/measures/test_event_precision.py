"""Average precision of events, as detectors of objects are scored: by hand, and against a loop."""

from __future__ import annotations

import numpy as np
import pytest
from event_precision_oracle import expected_precisions
from hypothesis import given
from hypothesis import strategies as st
from oracles import FILES, LABELS, in_seconds, tick_rows
from small_cells import agree
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.settings import Settings

EVENTS = {"only": "event.hard", "measures": "curves"}


def of_dogs(reference, system, **chosen):
    """Score (file, onset, offset[, value]) of one class."""
    sides = [
        long_rows([(file, on, off, "dog", *value) for file, on, off, *value in side], files=FILES)
        for side in (reference, system)
    ]
    scores = evaluate(*sides, events="rows", **EVENTS, **chosen)
    return {
        score.measure: score.value
        for score in scores.scores.values()
        if score.class_name == "dog" and score.measure.startswith("average_precision")
    }


def test_a_false_alarm_between_two_hits():
    """Precision 1, 1/2, 2/3 at recalls 1/2, 1/2, 1. The last hit has an IoU of 9/10."""
    got = of_dogs([("a", 0, 10), ("a", 20, 30)], [("a", 0, 10, 0.9), ("a", 50, 60, 0.8), ("a", 21, 30, 0.7)])
    assert got["average_precision"] == pytest.approx(1 / 2 + 1 / 3, abs=1e-12)
    assert got["average_precision_voc"] == pytest.approx(1 / 2 + 1 / 3, abs=1e-12)
    # Recalls 0 .. .50 have 1, .51 .. 1 have 2/3.
    at_50 = (51 + 50 * 2 / 3) / 101
    assert got["average_precision_coco101"] == pytest.approx(at_50, abs=1e-12)
    # So it is at the IoUs .5 .. .9; at .95 only the first is a hit, and recalls above .5 have nothing.
    assert got["average_precision_coco"] == pytest.approx((9 * at_50 + 51 / 101) / 10, abs=1e-12)


def test_the_second_detection_of_an_event_is_a_false_alarm():
    """At IoUs to .8 the higher takes it; above, only the lower is near enough: precision 1/2."""
    got = of_dogs([("a", 0, 10)], [("a", 0, 8, 0.9), ("a", 0, 10, 0.8)])
    assert got["average_precision"] == 1.0
    assert got["average_precision_coco"] == pytest.approx((7 + 3 / 2) / 10, abs=1e-12)
    assert (
        of_dogs([("a", 0, 10)], [("a", 0, 8, 0.9), ("a", 0, 10, 0.8)], iou=0.85)["average_precision"] == 0.5
    )


def test_an_iou_that_is_met_exactly_is_enough():
    for tenths in range(1, 11):
        got = of_dogs([("a", 0, 10)], [("a", 0, tenths, 0.9)], iou=tenths / 10)
        assert got["average_precision"] == 1.0, tenths
        if tenths < 10:
            above = of_dogs([("a", 0, 10)], [("a", 0, tenths, 0.9)], iou=tenths / 10 + 1e-6)
            assert above["average_precision"] == 0.0, tenths
    # 11/20 .. 19/20 are among COCO's ten.
    for k in range(10, 21):
        got = of_dogs([("a", 0, 20)], [("a", 0, k, 0.9)])["average_precision_coco"]
        assert got == pytest.approx(min(10, k - 9) / 10, abs=1e-12), k


def test_the_nearest_event_is_taken_not_the_first():
    """(4, 14) shares 6/14 with the first and 9/11 with the second; (0, 10) then finds the first free."""
    got = of_dogs([("a", 0, 10), ("a", 5, 15)], [("a", 4, 14, 0.9), ("a", 0, 10, 0.8)])
    assert got["average_precision"] == 1.0


def test_what_was_taken_is_not_given_back():
    """(2, 12) shares 8/12 with both and takes the earlier; (0, 10) shares 6/14 with what is left.

    The other way round both would be found: the best match is not looked for.
    """
    got = of_dogs([("a", 0, 10), ("a", 4, 14)], [("a", 2, 12, 0.9), ("a", 0, 10, 0.8)])
    assert got["average_precision"] == 0.5
    assert of_dogs([("a", 0, 10), ("a", 4, 14)], [("a", 2, 12, 0.8), ("a", 0, 10, 0.9)])[
        "average_precision"
    ] == 1.0  # fmt: skip


def test_rows_below_the_threshold_are_detections_too():
    """What ranks is the value; the counts of the same reading go by the threshold."""
    reference = long_rows([("a", 0, 10, "dog")])
    system = long_rows([("a", 0, 10, "dog", 0.1)])
    scores = evaluate(reference, system, events="rows", **EVENTS)
    assert scores["event.hard.average_precision[dog]"] == 1.0
    assert scores["event.hard.tp.micro"] == 0


def test_a_row_of_value_0_is_no_detection():
    """It is found at no threshold: one of two is, before a false alarm."""
    reference = [("a", 0, 10), ("a", 20, 30)]
    got = of_dogs(reference, [("a", 0, 10, 0.9), ("a", 50, 60, 0.5), ("a", 20, 30, 0.0)])
    assert got["average_precision"] == 0.5


def test_merged_events_have_their_highest_value():
    """.6 and .9 touch and are one event; below the threshold there is none: .9 then .7."""
    reference = long_rows([("a", 0, 20, "dog"), ("a", 40, 50, "dog")])
    system = long_rows(
        [("a", 0, 10, "dog", 0.6), ("a", 10, 20, "dog", 0.9), ("a", 30, 40, "dog", 0.7),
         ("a", 40, 50, "dog", 0.2)]
    )  # fmt: skip
    scores = evaluate(reference, system, **EVENTS)
    # A hit, then a false alarm, and one event never found.
    assert scores["event.hard.average_precision[dog]"] == 0.5
    assert scores["event.hard.average_precision_coco101[dog]"] == pytest.approx(51 / 101, abs=1e-12)
    # Had it the value of its first row, the false alarm would stand before it: 1/2 x 1/2.
    assert scores["event.hard.average_precision_voc[dog]"] == 0.5


@pytest.mark.parametrize("form", ["merge", "rows"])
def test_no_detection_has_the_value_0(form):
    """A row of value 0 is silence, at the lowest threshold too."""
    reference = long_rows([("a", 0, 10, "dog"), ("a", 20, 30, "dog")])
    system = long_rows([("a", 0, 10, "dog", 0.6), ("a", 20, 30, "dog", 0.0)])
    scores = evaluate(reference, system, events=form, reference_threshold=0.0, threshold=0.0, **EVENTS)
    assert scores["event.hard.tp.micro"] == 1
    assert scores["event.hard.average_precision[dog]"] == 0.5


@pytest.mark.parametrize("chosen", [{"matching": "greedy"}, {"compat": "sed_eval"}], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_rows_is_nothing_to_it(seed, chosen):
    """Nor where matching within collars goes by that order."""
    rng = np.random.default_rng(seed)
    onset, length = (rng.integers(low, high, (2, 25)) for low, high in ((0, 12), (1, 9)))
    sides = [
        [("a", on, on + long, "dog", float(v)) for on, long, v in zip(ons, longs, values, strict=True)]
        for ons, longs, values in zip(
            onset.tolist(), length.tolist(), rng.integers(1, 9, (2, 25)) / 8, strict=True
        )
    ]
    wanted = of_dogs(*map(sorted, sides), iou=0.3)
    assert of_dogs(*sides, iou=0.3, **chosen) == wanted


def test_averages_leave_out_what_the_reference_lacks():
    reference = long_rows([("a", 0, 10, "dog"), ("a", 20, 30, "car"), ("b", 0, 10, "car")], files=FILES)
    system = long_rows([("a", 0, 10, "dog", 0.9), ("a", 20, 30, "talk", 0.9)], files=FILES)
    scores = evaluate(reference, system, events="rows", **EVENTS)
    assert scores["event.hard.average_precision[talk]"] is None
    assert scores["event.hard.average_precision[car]"] == 0.0
    assert scores["event.hard.average_precision.macro"] == 0.5
    assert scores["event.hard.average_precision.weighted"] == pytest.approx(1 / 3, abs=1e-12)
    nothing = evaluate(long_rows([], files=FILES), system, **EVENTS)
    assert nothing["event.hard.average_precision.macro"] is None


def tables(values):
    """Rows with some extent, on few ticks, so that IoUs and values are often equal."""
    return tick_rows(values, max_size=14).map(lambda rows: [row for row in rows if row[2] > row[1]])


@given(
    tables(st.sampled_from([0.25, 0.75, 1.0])),
    tables(st.sampled_from([0.125, 0.25, 0.5, 0.625, 0.75, 1.0])),
    st.sampled_from(["rows", "merge"]),
    st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.75, 1.0]),
    st.sampled_from([0.5, 0.6]),
)
def test_detections_one_after_another(reference, system, form, iou, threshold):
    chosen = {**EVENTS, "events": form, "iou": iou, "threshold": threshold, "classes": LABELS}
    sides = [long_rows(in_seconds(rows), files=FILES) for rows in (reference, system)]
    wanted = expected_precisions(reference, system, LABELS, Settings.of(**chosen))
    agree(evaluate(*sides, **chosen), "event.hard", wanted)


@pytest.mark.parametrize("form", ["rows", "merge"])
@pytest.mark.parametrize("seed", range(4))
def test_many_detections_of_few_values(seed, form):
    """Crowds, in which many detections contend for the same event."""
    rng = np.random.default_rng(seed)

    def crowd(n):
        onset, length = rng.integers(0, 40, n), rng.integers(1, 12, n)
        rows = zip(onset.tolist(), length.tolist(), (rng.integers(1, 17, n) / 16).tolist(), strict=True)
        return [
            (str(rng.choice(FILES)), on, on + long, str(rng.choice(LABELS)), value)
            for on, long, value in rows
        ]

    reference, system = crowd(60), crowd(90)
    chosen = {**EVENTS, "events": form, "classes": LABELS}
    sides = [long_rows(in_seconds(rows), files=FILES) for rows in (reference, system)]
    wanted = expected_precisions(reference, system, LABELS, Settings.of(**chosen))
    agree(evaluate(*sides, **chosen), "event.hard", wanted)
