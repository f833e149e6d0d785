"""All measures of values of cells, compared with slow oracles, scikit-learn and scipy, and by laws."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_oracles import (
    agree,
    calibration,
    curves,
    cut,
    divergences,
    expected,
    expected_ranking,
    labels_of,
    proper,
)
from tables import wide_rows

from sedeval_soft import arrays, evaluate
from sedeval_soft.measures import curve_scores
from sedeval_soft.measures.curve_scores import Curve, Surface
from sedeval_soft.settings import Settings

EVERYTHING = {"measures": ("curves", "calibration", "divergence"), "only": ("segment", "clip", "ranking")}
# Divergences are differences of logarithms of differences from 1, and so less exact.
ORACLES = (
    *((oracle, reading, 1e-12) for oracle in (curves, calibration) for reading in ("hard", "soft")),
    *((divergences, "soft", 1e-11), (proper, "hard", 1e-11)),
)


def tied(seed, shape=(12, 3)):
    """Return values in eighths, so that many are equal, with a third of them 0."""
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(0, 9, (2, *shape)) / 8 * (rng.random((2, *shape)) < 2 / 3))


def fine(seed, shape=(15, 3)):
    """Return values that all differ, and whose sums round."""
    return tuple(np.random.default_rng(seed).random((2, *shape)))


Y, P = tied(99)
MIDDLE = np.arange(3) == 1
CASES = (
    {f"tied {seed}": tied(seed, (9, 3)) for seed in range(2)}
    | {f"fine {seed}": fine(seed, (9, 3)) for seed in range(2)}
    | {
        "many classes": tied(0, (4, 8)),
        "mostly silent": tuple(np.where(side < 0.8, 0.0, side) for side in fine(2, (12, 2))),
        "a class without reference": (np.where(MIDDLE, 0.0, Y), P),
        "a class always active": (np.where(MIDDLE, 1.0, Y), P),
        "a class with one value": (Y, np.where(MIDDLE, 0.625, P)),
        "no reference": (0 * Y, P),
        "active throughout": (np.ones_like(Y), P),
        "empty system": (Y, 0 * P),
        "system always at 1": (Y, np.ones_like(P)),
        "a perfect system": (Y, Y),
        "binary": ((Y > 0.25).astype(float), (P > 0.25).astype(float)),
        "one segment": (Y[:1], P[:1]),
        "one class": (Y[:, :1], P[:, :1]),
        "one cell": (np.array([[0.75]]), np.array([[0.5]])),
        "no segments": (Y[:0], P[:0]),
        "edges of bins": (1 - np.arange(50)[:, None] / 49, np.arange(50)[:, None] / 49),
    }
)
OTHER_SETTINGS = {
    "threshold": 0.25, "reference_threshold": 0.375, "inclusive": True, "max_fpr": 0.3, "max_fnr": 0.25,
    "bins": 4, "entropy_unit": "bits", "epsilon": 1e-3,
}  # fmt: skip


def scored(reference, system, files=1, **chosen):
    """Evaluate two tables, split evenly over some files."""
    asked = {"segment_length": 1.0, "classes": labels_of(reference), **EVERYTHING, **chosen}
    sides = reference, system
    return evaluate(*(sides if files == 1 else (wide_rows(side, files=files) for side in sides)), **asked)


def check(scores, basis, sides, known):
    """Compare all measures of cells, and rankings of segments, with the oracles."""
    for oracle, reading, tolerance in ORACLES:
        agree(scores, f"{basis}.{reading}", expected(oracle, *sides, reading, known), tolerance)
    for reading in ("hard", "soft") if basis == "segment" else ():
        agree(scores, f"ranking.{reading}", expected_ranking(*sides, reading, known))


@pytest.mark.parametrize(
    ("case", "chosen", "block"),
    [
        *((case, {}, 2) for case in CASES),
        *((case, OTHER_SETTINGS, 1 << 15) for case in ("tied 1", "fine 1", "one class")),
        # Some have more bins than cells, and values on edges of bins: in floats 49 times 1/49 is below 1.
        *(
            (case, {"bins": bins}, 2)
            for case, bins in (("fine 0", 1), ("fine 0", 200), ("edges of bins", 49))
        ),
    ],
)
def test_segments_of_one_file(case, chosen, block, monkeypatch):
    """The size of blocks of cells does not matter."""
    monkeypatch.setattr(arrays, "_BLOCK", block)
    check(scored(*CASES[case], **chosen), "segment", CASES[case], Settings.of(**chosen))


@pytest.mark.parametrize(
    ("made", "files", "n_classes"), [(tied, 3, 3), (fine, 5, 3), (tied, 3, 1), (fine, 5, 6)]
)
def test_segments_and_clips_of_several_files(made, files, n_classes):
    """A clip is a cell with the highest value of its file. Each segment of any file has a ranking."""
    sides, size = made(files, (10, n_classes)), -(-10 // files)
    clips = [np.array([side[k : k + size].max(axis=0) for k in range(0, 10, size)]) for side in sides]
    scores = scored(*sides, files)
    check(scores, "segment", sides, Settings())
    check(scores, "clip", clips, Settings())


NORMS = {
    "minimum": np.minimum, "product": np.multiply, "lukasiewicz": lambda a, b: np.maximum(0.0, a + b - 1),
}  # fmt: skip


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "case", ["tied 0", "fine 0", "one cell", "no reference", "a perfect system", 0.1, 0.3, 2.0**-60]
)
def test_counts_of_a_norm(case, norm):
    """TP = sum T(y, p); sorted by value, the rest of both sides gives S, D and I.

    T(y, 1) = y to the last bit: rounding makes no misses.
    """
    reference, system = CASES[case] if case in CASES else (np.full((3, 2), case), np.ones((3, 2)))
    scores = scored(reference, system, only="segment.soft", t_norm=norm)
    tp = [math.fsum(column) for column in NORMS[norm](reference, system).T]
    n_ref, n_sys = float(reference.sum()), float(system.sum())
    left = np.sort(reference, axis=1) - np.sort(system, axis=1)
    deletions, insertions = left.clip(min=0).sum(), -left.clip(max=0).sum()
    substitutions = n_ref - deletions - math.fsum(tp)
    wanted = {f"tp[class{k}]": value for k, value in enumerate(tp)} | {
        "tp.micro": math.fsum(tp), "n_ref.micro": n_ref, "n_sys.micro": n_sys,
        "substitutions.micro": substitutions, "deletions.micro": deletions, "insertions.micro": insertions,
        "f1.micro": 2 * math.fsum(tp) / (n_ref + n_sys),
        "error_rate.micro": (substitutions + deletions + insertions) / n_ref if n_ref else None,
    }  # fmt: skip
    agree(scores, "segment.soft", wanted)
    assert scores["segment.soft.substitutions.micro"] >= 0.0
    assert case in CASES or [scores[f"segment.soft.{name}.micro"] for name in ("recall", "fn")] == [1.0, 0.0]


# Rates of soft labels are compared as exact decimals and shares, not as sums of floats.


@st.composite
def cells(draw, units=(10, 100, 1000, 3, 7, 12, 60)):
    """Draw labels that are decimals or shares of annotators, scores with or without ties, and rates to reach.

    There are few, coarse values: two rates are equal, or differ by more than their slack, 1e-7 of a total.
    """
    n = draw(st.integers(1, 7))
    whole = draw(st.sampled_from(units))
    tenths = st.integers(0, min(whole, 10)).map(lambda k: k * whole // min(whole, 10))
    y = draw(st.lists(st.integers(0, whole) | tenths, min_size=n, max_size=n))
    p = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 1000]))), min_size=n, max_size=n))
    y = [Fraction(k, whole) for k in y]
    # Rates that some threshold reaches exactly, or common ones that it may reach.
    order, limits = sorted(range(n), key=lambda i: -p[i]), []
    for weight in ([1 - v for v in y], y):
        sums = np.cumsum([weight[i] for i in order]).tolist()
        reached = [s / sums[-1] for s in sums if 0 < s < sums[-1]]
        limits.append(draw(st.sampled_from([*reached, *(Fraction(k, 20) for k in (1, 2, 6, 10))])))
    return y, [Fraction(k, 1000) for k in p], float(limits[0]), float(1 - limits[1])


ROUNDED = {
    "exact": (lambda y: y, 1e-12),
    # These labels have no common unit; their rates are near those of decimals.
    "single precision": (lambda y: y.astype(np.float32).astype(np.float64), 1e-5),
    # But 1 stays 1: labels just below 1 would define a false alarm rate that is undefined otherwise.
    "near a decimal": (lambda y: np.where(y < 1, y * (1 - 3e-13), y), 1e-5),
}
"""Changes of labels, and the tolerance of curves after each."""


DRAWN = st.sampled_from([*ROUNDED]).flatmap(
    lambda form: st.tuples(st.just(form), *[cells() if form == "exact" else cells(units=(10,))] * 2)
)
OF_RATES = ("average_precision_voc11", "fnr_at_fpr", "fpr_at_fnr", "partial_auc")
"""Curve scores that depend on a comparison of rates."""


@settings(max_examples=25)
@given(DRAWN, st.sampled_from([1, 2, 1 << 15]))
def test_decimals_and_shares_are_compared_exactly(drawn, size):
    """Compare curve scores without irrational values with the oracle in fractions, for blocks of any size.

    The cells belong to one class, or to two classes whose labels have different units.
    """
    form, one, other = drawn
    rounded, tolerance = ROUNDED[form]
    n = min(len(one[0]), len(other[0]))
    for (ys, ps), of, limits in (
        (([one[0]], [one[1]]), "[0]", one[2:]),
        (([one[0][:n], other[0][:n]], [one[1][:n], other[1][:n]]), ".micro", (one[2], other[3])),
    ):
        chosen = dict(zip(("max_fpr", "max_fnr"), limits, strict=True))
        y, p = (np.array(side, dtype=float).T for side in (ys, ps))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrays, "_BLOCK", size)
            scores = evaluate(rounded(y), p, only="segment", measures="curves", **chosen)
        pooled = ([v for column in side for v in column] for side in (ys, ps))
        for name, value in curves(*pooled, Settings.of(**chosen)).items():
            got = scores[f"segment.soft.{name}{of}"]
            if name in OF_RATES or (form == "exact" and name not in {"partial_auc_mcclish", "d_prime"}):
                close = {"rel": tolerance, "abs": tolerance / 10}
                assert got == (None if value is None else pytest.approx(value, **close)), (name, got, value)


# Counts at all pairs of a reference and a system threshold, each counted by itself.


@pytest.mark.parametrize(("inclusive", "at_once"), [(False, 7), (True, 1 << 16)])
def test_a_surface_counts_at_two_cuts(inclusive, at_once, monkeypatch):
    """Values are thresholds, floats next to them, 0 and 1; one class is silent."""
    monkeypatch.setattr(curve_scores, "_AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    values = rng.integers(0, 101, (2, 3, 60)) / 100
    values = np.where(rng.random(values.shape) < 0.25, np.nextafter(values, rng.choice([0.0, 1.0])), values)
    values[0, 2] = 0.0
    found, steps = Surface.of(*values, 2.0, inclusive=inclusive), np.arange(1, 100) / 100
    assert found.thresholds.tolist() == steps.tolist()
    ours, theirs = (np.stack([cut(side, t, inclusive) for t in steps], axis=1).astype(int) for side in values)
    tp, n_ref, n_sys = ours @ theirs.transpose(0, 2, 1), ours.sum(axis=2), theirs.sum(axis=2)
    sizes = 4 * n_ref[:, :, None] + n_sys[:, None, :]
    with np.errstate(invalid="ignore"):
        f, micro = 5 * tp / sizes, 5 * tp.sum(axis=0) / sizes.sum(axis=0)
    for name, value in {
        "tp": tp, "n_ref": n_ref, "n_sys": n_sys, "f": f, "micro_f": micro,
        "macro_f": f[:2, :60].mean(axis=0),  # at these thresholds both other classes have a reference
    }.items():  # fmt: skip
        np.testing.assert_allclose(getattr(found, name)[: len(value)], value, rtol=0, atol=1e-12)


# Cases of rounding that are small enough to compute by hand.


def test_correlations_of_a_constant_and_of_values_that_hardly_differ():
    """The mean of many 0.1 in floats is not 0.1; near 0.9, squares would hide small deviations."""
    y, steps = np.random.default_rng(0).random(10), np.array([0, 3, 1, 2, 5, 4])
    near = 0.875 + steps * 2.0**-30
    for ours, theirs, wanted in (
        *((y, np.full(10, constant), None) for constant in (0.1, 0.3, 1 / 3, 0.7)),
        (np.full(10, 0.1), y, None),
        (near, near[::-1], np.dot(steps - 2.5, steps[::-1] - 2.5) / 17.5),
    ):
        scores = evaluate(ours[:, None], theirs[:, None], measures="divergence", only="segment.soft")
        for name in ("pearson", "spearman"):
            got = scores[f"segment.soft.{name}.micro"]
            assert got is None if wanted is None else got == pytest.approx(wanted, abs=1e-6)


# Curves and diagrams that are drawn.

HALF = NormalDist().inv_cdf(1 / 3)


def test_a_curve_goes_from_detecting_all_to_detecting_nothing():
    """Axes of DET are normal quantiles, which 0 and 1 do not have."""
    curve = Curve.of_cells(np.array([0.9, 0.2, 0.6, 0.2]), np.array([True, False, True, True]))
    for name, wanted in {
        "threshold": [0.0, 0.2, 0.6, 0.9], "tp": [3, 2, 1, 0], "n_sys": [4, 2, 1, 0], "fp": [1, 0, 0, 0],
        "precision": [0.75, 1.0, 1.0, math.nan], "recall": [1.0, 2 / 3, 1 / 3, 0.0],
        "f1": [6 / 7, 4 / 5, 2 / 4, 0.0], "error_rate": [1 / 3, 1 / 3, 2 / 3, 1.0],
        "false_positive_rate": [1.0, 0.0, 0.0, 0.0], "false_negative_rate": [0.0, 1 / 3, 2 / 3, 1.0],
    }.items():  # fmt: skip
        assert getattr(curve, name) == pytest.approx(wanted, nan_ok=True), name
    assert curve.n_ref == 3 and curve.tp.dtype == curve.n_sys.dtype == curve.fp.dtype == np.int64
    assert curve.det[1] == pytest.approx([math.nan, HALF, -HALF, math.nan], abs=1e-6, nan_ok=True)
    soft = Curve.of_cells(np.array([0.5, 0.25]), np.array([0.75, 0.5]))
    columns = [each.tolist() for each in (soft.threshold, soft.tp, soft.fp)]
    assert (soft.n_ref, *columns) == (1.25, [0.0, 0.25, 0.5], [1.25, 0.75, 0.0], [0.75, 0.25, 0.0])
    # Cells of value 0 are positive at no threshold, but the curve has its last point.
    silent = Curve.of_cells(np.array([0.5, 0.0]), np.array([True, True]))
    assert silent.threshold == pytest.approx([math.nan, 0.0, 0.5], nan_ok=True)
    assert silent.recall.tolist() == [1.0, 0.5, 0.0]
    # Events have no true negatives.
    events = Curve(*(np.array(column) for column in ([0.0, 0.5], [2, 1], [4, 2])), 2)
    assert np.isnan(events.false_positive_rate).tolist() == np.isnan(events.det[0]).tolist() == [True] * 2
