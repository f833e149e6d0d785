"""The intersection oracle itself, on cases small enough for paper. No outside tool is needed here."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from intersection_oracle import area, count, events_at, f_measure, psd_roc, psds, staircases

DEFAULT = {"dtc": 0.5, "gtc": 0.5, "cttc": 0.3}
CLASSES = ("a", "b", "c")
REFERENCES = [("f", "a", 0, 10), ("f", "b", 20, 30), ("f", "c", 40, 50)]


def test_cross_trigger_is_a_false_positive_too():
    """The example in psds_eval's README: detection 4 is a false positive and class 3's cross-trigger."""
    found = count(
        [("f", "a", 0, 9), ("f", "a", 12, 15), ("f", "b", 20, 30), ("f", "c", 4, 8)],
        REFERENCES,
        CLASSES,
        **DEFAULT,
    )
    assert found.tp == {"a": 1, "b": 1, "c": 0}
    assert found.fp == {"a": 1, "b": 0, "c": 1}
    assert {pair for pair, n in found.ct.items() if n} == {("c", "a")}


def test_one_detection_triggers_several_classes():
    found = count([("f", "c", 0, 30)], REFERENCES, CLASSES, **DEFAULT)
    assert found.fp["c"] == 1
    assert (found.ct["c", "a"], found.ct["c", "b"]) == (1, 1)


def test_neither_true_nor_false():
    """Within its reference event, and too short for it."""
    found = count([("f", "a", 0, 4)], REFERENCES, CLASSES, **DEFAULT)
    assert not any([*found.tp.values(), *found.fp.values(), *found.ct.values()])


def test_several_share_one():
    """Two detections find one event together, one detection two events; other files do not help."""
    parts = [("f", "a", 0, 3), ("f", "a", 4, 7), ("g", "a", 0, 10)]
    assert count(parts, REFERENCES, CLASSES, **DEFAULT).tp["a"] == 1
    assert count(parts, REFERENCES, CLASSES, **DEFAULT).fp["a"] == 1
    both = [*REFERENCES, ("f", "a", 12, 16)]
    assert count([("f", "a", 0, 16)], both, CLASSES, **DEFAULT).tp["a"] == 2


@pytest.mark.parametrize(("offset", "passes"), [(100, True), (101, False)])
def test_ties_are_exact(offset, passes):
    """0.55 x 100 is 55.00000000000001 in floats."""
    criteria = {"dtc": 0.55, "gtc": 0.5, "cttc": 0.3}
    found = count([("f", "a", 0, offset)], [("f", "a", 0, 55)], ("a",), **criteria)
    assert found.tp["a"] == passes
    assert found.fp["a"] != passes


@pytest.mark.parametrize(("slack", "triggers"), [(0, 0), (0.2, 0), (0.3, 1)])
def test_slack(slack, triggers):
    """30 ticks of 101 are 0.3 of a tick short of 0.3."""
    events = [("f", "a", 0, 101)], [("f", "b", 0, 30), ("f", "a", 200, 300)]
    assert count(*events, "ab", **DEFAULT, slack=slack).ct["a", "b"] == triggers


def test_gtc_ignores_what_fails_dtc():
    found = count([("f", "a", 0, 10), ("f", "a", 10, 100)], [("f", "a", 0, 40)], ("a",), **DEFAULT)
    assert (found.tp["a"], found.fp["a"]) == (0, 1)


def curve_of(*points):
    """The staircases of two classes with two reference events each, over an hour, one tick a second."""
    references = [(f, c, 0, length) for f in "xy" for c, length in (("a", 10), ("b", 20))]
    empty = count([], references, "ab", **DEFAULT)
    counts = [
        type(empty)(
            tp=dict(zip("ab", tp, strict=True)),
            fp=dict(zip("ab", fp, strict=True)),
            ct={("a", "b"): ct, ("b", "a"): 0},
        )
        for tp, fp, ct in points
    ]
    return lambda alpha_ct: staircases(counts, references, "ab", 3600, alpha_ct=alpha_ct, ticks_per_second=1)


def test_psds_by_hand():
    """Class a: 1 of 2 at 2 false alarms an hour, 2 of 2 at 6; class b: 1 of 2 at 4, worse after it."""
    of = curve_of(((1, 1), (2, 4), 0), ((2, 0), (6, 9), 0))
    curves = of(0.0)
    assert curves == {"a": [(0, 0), (2, Fraction(1, 2)), (6, 1)], "b": [(0, 0), (4, Fraction(1, 2))]}
    assert psd_roc(curves) == [(0, 0), (2, 0.25), (4, 0.5), (6, 0.75)]
    assert psds(curves, max_efpr=10) == pytest.approx((2 * 0.25 + 2 * 0.5 + 4 * 0.75) / 10)
    # At 2 and at 6 the deviation is a half of the difference: 0.25; at 4 there is none.
    assert psds(curves, alpha_st=1, max_efpr=10) == pytest.approx((2 * 0 + 2 * 0.5 + 4 * 0.5) / 10)
    # Cut at 0, not below: twice the deviation.
    assert psds(curves, alpha_st=2, max_efpr=10) == pytest.approx((2 * 0 + 2 * 0.5 + 4 * 0.25) / 10)
    # What begins at the limit adds nothing; before the first step there is nothing.
    assert psds(curves, max_efpr=6) == pytest.approx((2 * 0.25 + 2 * 0.5) / 6)
    assert psds(curves, max_efpr=1) == 0
    assert area(curves["a"], 10) == pytest.approx((4 * 0.5 + 4) / 10)


def test_cross_triggers_move_a_class_right():
    """One trigger of a on b, which lasts 40 s: 90 an hour, and there is one other class."""
    curves = curve_of(((1, 1), (2, 4), 1))(0.5)
    assert curves["a"] == [(0, 0), (2 + 45, Fraction(1, 2))]
    assert curves["b"] == [(0, 0), (4, Fraction(1, 2))]


def test_found_without_false_alarm():
    """A point at 0 lifts the beginning of the curve."""
    curves = curve_of(((1, 2), (0, 0), 0))(0.0)
    assert curves == {"a": [(0, Fraction(1, 2))], "b": [(0, 1)]}
    assert psds(curves, alpha_st=1) == pytest.approx(0.75 - sqrt(0.0625))


def test_f_measure():
    assert f_measure(0, 0, 3) == 0
    assert f_measure(2, 1, 3) == Fraction(2, 3)


def test_events_at_a_level():
    edges, values = (0, 2, 4, 6, 8), (0.5, 0.7, 0.2, 0.5)
    assert events_at("f", "a", edges, values, 0.5) == [("f", "a", 0, 4), ("f", "a", 6, 8)]
    assert events_at("f", "a", edges, values, 0.2) == [("f", "a", 0, 8)]
    assert events_at("f", "a", edges, values, 0.71) == []
