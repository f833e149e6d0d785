"""Rates of soft labels are compared as the decimals and shares that they are, not as sums of floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft import evaluate, sorting
from sedeval_soft.measures.curve_scores import Units

NAMES = (
    *("average_precision", "average_precision_voc11", "average_precision_voc", "average_precision_coco101"),
    *("roc_auc", "partial_auc", "equal_error_rate", "fnr_at_fpr", "fpr_at_fnr"),
)
"""What a slow answer in fractions is known of."""


def in_fractions(y, p, max_fpr, max_fnr):
    """The soft reading of curves, of labels and limits that are fractions, exactly."""
    n_ref, n_silent = sum(y), sum(1 - v for v in y)
    if not n_ref:
        return dict.fromkeys(NAMES)
    points = [(Fraction(0), Fraction(0), 0)]
    for level in sorted({*p}, reverse=True):
        own = [v for v, score in zip(y, p, strict=True) if score >= level]
        points.append((sum(own), sum(1 - v for v in own), len(own)))
    precision = [(tp, tp / n) for tp, _, n in points[1:]]
    before = [Fraction(0), *(tp for tp, _ in precision)]

    def reaching(tp):
        return max((value for at, value in precision if at >= tp), default=Fraction(0))

    found = {
        "average_precision": sum((tp - b) * v for (tp, v), b in zip(precision, before, strict=False)) / n_ref,
        "average_precision_voc": sum(
            (tp - b) * reaching(tp) for (tp, _), b in zip(precision, before, strict=False)
        ) / n_ref,
        "average_precision_voc11": sum(reaching(Fraction(k, 10) * n_ref) for k in range(11)) / 11,
        "average_precision_coco101": sum(reaching(Fraction(k, 100) * n_ref) for k in range(101)) / 101,
    }  # fmt: skip
    if not n_silent:
        return found | dict.fromkeys(NAMES[4:])
    roc = [(fp / n_silent, tp / n_ref) for tp, fp, _ in points]

    def area(until):
        total = Fraction(0)
        for (x, y0), (end, y1) in zip(roc, roc[1:], strict=False):
            stop = min(end, until)
            if stop > x:
                at_stop = y0 + (y1 - y0) * (stop - x) / (end - x)
                total += (stop - x) * (y0 + at_stop) / 2
        return total

    crossing = next(i for i, (fpr, tpr) in enumerate(roc) if fpr >= 1 - tpr)
    (x, y0), (end, y1) = roc[crossing - 1], roc[crossing]
    low, high = x - 1 + y0, end - 1 + y1
    return found | {
        "roc_auc": area(Fraction(1)),
        "partial_auc": area(max_fpr) / max_fpr,
        "equal_error_rate": x - low / (high - low) * (end - x),
        "fnr_at_fpr": min(1 - tpr for fpr, tpr in roc if fpr <= max_fpr),
        "fpr_at_fnr": min(fpr for fpr, tpr in roc if 1 - tpr <= max_fnr),
    }


def measured(y, p, max_fpr=0.1, max_fnr=0.1, files=1, **settings):
    """The soft reading of curves of segments, of one class or, per column, of several."""
    sides = [np.asarray(values, dtype=np.float64) for values in (y, p)]
    sides = [values if values.ndim == 2 else values[:, None] for values in sides]
    return evaluate(
        *sides, only=("segment",), measures=("curves",), max_fpr=max_fpr, max_fnr=max_fnr, **settings
    )


def agrees(found, wanted, form):
    for name, value in wanted.items():
        got = found[f"segment.soft.{name}{form}"]
        if value is None:
            assert got is None, name
        else:
            assert math.isclose(got, value, rel_tol=1e-12, abs_tol=1e-13), (name, got, float(value))


@pytest.mark.parametrize(
    ("y", "limits", "name", "wanted"),
    [
        # 0.3 of 0.6 are found by the first score: recalls 0 to 0.5 have 0.3, the rest 0.4 / 2 or 0.6 / 3.
        ([0.3, 0.1, 0.2], {}, "average_precision_voc11", (6 * 0.3 + 5 * 0.2) / 11),
        # 0.3 of 1.0 are false alarms, at the first of three scores: 0.7 of 2.0 are hit there.
        ([0.7, 0.5, 0.8], {"max_fpr": 0.3}, "fnr_at_fpr", 0.65),
        # 1.4 of 2.0 are hit by the third score, with 1.6 of 2.0 false alarms.
        ([0.2, 0.5, 0.7, 0.6], {"max_fnr": 0.3}, "fpr_at_fnr", 0.8),
        # A third and two thirds are shares of three annotators.
        ([1 / 3, 2 / 3, 2 / 3, 1 / 3], {"max_fnr": 0.5}, "fpr_at_fnr", 0.5),
    ],
)
def test_by_hand(y, limits, name, wanted):
    found = measured(y, [0.9, 0.8, 0.7, 0.6][: len(y)], **limits)
    assert found[f"segment.soft.{name}.micro"] == pytest.approx(wanted, abs=1e-12)


@st.composite
def cells(draw):
    """Labels that are decimals or shares of annotators; scores that tie or do not; rates that are reached."""
    n = draw(st.integers(1, 14))
    whole = draw(st.sampled_from([10, 100, 1000, 10**4, 10**6, 10**9, 3, 7, 12, 60]))
    tenths = st.integers(0, min(whole, 10)).map(lambda k: k * whole // min(whole, 10))
    parts = st.integers(0, whole)
    y = draw(st.lists(st.one_of(parts, tenths), min_size=n, max_size=n))
    p = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 1000]))), min_size=n, max_size=n))
    y = [Fraction(k, whole) for k in y]
    # Rates that some threshold reaches, or one that may be.
    order, limits = sorted(range(n), key=lambda i: -p[i]), []
    for weight in ([1 - v for v in y], y):
        sums = np.cumsum([weight[i] for i in order]).tolist()
        reached = [s / sums[-1] for s in sums if 0 < s < sums[-1]]
        limits.append(draw(st.sampled_from([*reached, *(Fraction(k, 20) for k in (1, 2, 6, 10))])))
    return y, [Fraction(k, 1000) for k in p], limits[0], 1 - limits[1]


@settings(max_examples=80)
@given(cells())
def test_decimals_and_shares_are_compared_exactly(drawn):
    y, p, max_fpr, max_fnr = drawn
    floats = [[float(v) for v in side] for side in (y, p)]
    found = measured(*floats, max_fpr=float(max_fpr), max_fnr=float(max_fnr))
    agrees(found, in_fractions(y, p, max_fpr, max_fnr), "[0]")


@given(cells(), cells(), st.sampled_from([1, 2, 5]))
def test_of_classes_together_and_in_blocks_as_well(one, other, size):
    """The pooled cells of two classes whose labels have different units."""
    n = min(len(one[0]), len(other[0]))
    (y, p, max_fpr, _), (y2, p2, _, max_fnr) = one, other
    sides = [np.array([a[:n], b[:n]], dtype=float).T for a, b in ((y, y2), (p, p2))]
    before, sorting._BLOCK = sorting._BLOCK, size
    try:
        found = measured(*sides, max_fpr=float(max_fpr), max_fnr=float(max_fnr))
    finally:
        sorting._BLOCK = before
    agrees(found, in_fractions([*y[:n], *y2[:n]], [*p[:n], *p2[:n]], max_fpr, max_fnr), ".micro")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_labels_without_units_have_slack(seed, kind):
    """Labels of single precision, or that are no decimals by very little, are told from no others."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        y, p = rng.integers(0, 11, 12), rng.permutation(12)
        exact = [Fraction(int(k), 10) for k in y]
        order = np.argsort(-p)
        limits = []
        for weight in (exact, [1 - v for v in exact]):
            sums = np.cumsum([weight[i] for i in order])
            fine = [s / sums[-1] for s in sums if sums[-1] and 0 < s < sums[-1]]
            limits.append(fine[int(rng.integers(len(fine)))] if fine else Fraction(1, 2))
        max_fpr, max_fnr = limits[1], 1 - limits[0]
        labels = (y / 10).astype(kind).astype(np.float64)
        if kind is np.float64:
            # So near a decimal that no rate is another one, and so far that it is none.
            labels = labels * (1 - rng.integers(1, 5, 12) * 1e-13)
        found = measured(labels, p / 12, max_fpr=float(max_fpr), max_fnr=float(max_fnr))
        wanted = in_fractions(exact, p.tolist(), max_fpr, max_fnr)
        for name in ("average_precision_voc11", "fnr_at_fpr", "fpr_at_fnr", "partial_auc"):
            if wanted[name] is not None:
                assert found[f"segment.soft.{name}[0]"] == pytest.approx(float(wanted[name]), abs=1e-6)


def test_units():
    def of(*labels):
        return Units.of(np.array(labels, dtype=np.float64))

    assert of() == of(0, 1) == Units(1, 0.0)
    assert of(0.5, 0.25).whole == 4
    assert of(0.3, 0.1, 0.2, 0.7).whole == 10
    assert of(0.125, 0.3333).whole == 10**4
    assert of(1 / 3, 0.25).whole == 12
    assert of(0.123456789).whole == 10**9
    assert of(0.1234567891) == Units(0, 1e-9)
    assert of(float(np.float32(0.3)), 0.5) == Units(0, 2.0**-22)
    # Thirds that were cut off are decimals.
    assert of(0.333, 0.667).whole == 1000
    assert Units.common([Units(10), Units(12)], 100) == Units(60)
    assert Units.common([Units(10), Units(0, 1e-9)], 100) == Units(0, 1e-9)
    # Beyond 2^53 whole numbers are no floats any more.
    assert Units.common([Units(10**9)], 9_007_199).whole == 10**9
    assert Units.common([Units(10**9)], 9_007_200) == Units(0, 1e-9)
    assert Units(1000).counted(np.array([0.3, 0.001, 1.0])).tolist() == [300, 1, 1000]
