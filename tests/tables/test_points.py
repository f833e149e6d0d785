"""Operating points: a system known at some thresholds only."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft import InputError, SettingsError, evaluate

REFERENCE = {"filename": ["a", "a"], "onset": [0.0, 5.0], "offset": [2.0, 8.0], "event_label": ["x", "x"]}
LOOSE = {
    "filename": ["a", "a", "a"],
    "onset": [0.0, 5.0, 9.0],
    "offset": [2.0, 8.0, 9.5],
    "event_label": ["x"] * 3,
}
TIGHT = {"filename": ["a"], "onset": [0.0], "offset": [2.0], "event_label": ["x"]}
ONLY = ("event", "intersection")


def test_each_list_stands_up_to_the_next_threshold():
    points = {0.6: TIGHT, 0.2: LOOSE}
    for threshold, n_sys in ((0.0, 3), (0.2, 3), (0.59, 3), (0.6, 1), (0.99, 1)):
        scores = evaluate(REFERENCE, points, threshold=threshold, reference_threshold=0.5, only=ONLY)
        assert scores["event.hard.n_sys.micro"] == n_sys
    # 0.6 of the levels have the loose list with 2 of 3 right, 0.4 the tight one with 1 of 1.
    scores = evaluate(REFERENCE, points, only=ONLY)
    assert scores["event.soft.tp.micro"] == pytest.approx(0.6 * 2 + 0.4 * 1)
    assert scores["event.soft.n_sys.micro"] == pytest.approx(0.6 * 3 + 0.4 * 1)
    assert scores["intersection.soft.tp.micro"] == pytest.approx(0.6 * 2 + 0.4 * 1)
    # Best F: 4/5 of the loose list, 2/3 of the tight one.
    assert scores["event.optimal.f1[x]"] == pytest.approx(4 / 5)
    assert 0.2 <= scores["event.optimal.threshold[x]"] < 0.6
    assert scores.inputs[1].form == "operating points at 0.2, 0.6"
    assert scores.inputs[1].events == "rows"


def test_by_default_they_have_scores_of_events_only():
    assert {name.partition(".")[0] for name in evaluate(REFERENCE, {0.5: TIGHT})} == {"event"}


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ({0.5: TIGHT, 1.5: TIGHT}, "expected a threshold in \\[0, 1\\]"),
        ({0.5: TIGHT, -0.1: TIGHT}, "expected a threshold in \\[0, 1\\]"),
        ({float("nan"): TIGHT}, "expected a threshold in \\[0, 1\\]"),
        ({0.5: TIGHT | {"value": [0.5]}}, "expected a list of events"),
        ({0.5: np.zeros((3, 1))}, "expected a list of events"),
    ],
    ids=["above 1", "below 0", "no number", "with values", "array"],
)
def test_what_is_no_operating_point_is_refused(points, expected):
    with pytest.raises(InputError, match=expected):
        evaluate(REFERENCE, points)


@pytest.mark.parametrize(
    "settings",
    [{"events": "merge"}, {"min_gap": 1.0}, {"only": ["segment"]}, {"psds_median_filters": [1.0]}],
    ids=str,
)
def test_settings_that_lists_cannot_follow_are_refused(settings):
    with pytest.raises(SettingsError, match="operating points"):
        evaluate(REFERENCE, {0.5: TIGHT}, **settings)


@pytest.mark.parametrize("inclusive", [False, True])
def test_a_list_holds_at_its_own_threshold(inclusive):
    points = {0.2: LOOSE, 1.0: TIGHT}
    for threshold, n_sys in ((0.2, 3), (0.99, 3), (1.0, 1)):
        asked = {"threshold": threshold, "reference_threshold": 0.5, "inclusive": inclusive}
        assert evaluate(REFERENCE, points, only=["event.hard"], **asked)["event.hard.n_sys.micro"] == n_sys
    # The list at 1 takes part in what is computed over all thresholds: it finds one of two events.
    scores = evaluate(REFERENCE, points, max_efpr=100, only=["intersection.hard"])
    assert scores["intersection.hard.psds"] == 0.5


def test_thresholds_may_be_of_numpy():
    points = {np.float32(0.5): TIGHT}
    assert evaluate(REFERENCE, points, only=["event.hard"])["event.hard.n_sys.micro"] == 1


@pytest.mark.parametrize("measures", [(), ("curves",), ("all",)])
def test_curves_are_over_the_points(measures):
    scores = evaluate(REFERENCE, {0.6: TIGHT, 0.2: LOOSE}, measures=measures)
    curve = scores.curves.event["x"]
    assert list(curve.n_sys) == [3, 1, 0]
    assert curve.f1.max() == scores["event.optimal.f1[x]"]
