"""Laws that tie measures of values to one another and to what must not matter to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedeval_soft import evaluate

ONLY = ("segment", "clip", "ranking")

PRECISIONS = (
    "average_precision",
    "average_precision_voc11",
    "average_precision_voc",
    "average_precision_coco101",
)
RATES = (
    "roc_auc",
    "partial_auc",
    "partial_auc_mcclish",
    "d_prime",
    "equal_error_rate",
    "fnr_at_fpr",
    "fpr_at_fnr",
)
CALIBRATION = (
    "expected_calibration_error", "maximum_calibration_error", "adaptive_calibration_error",
    "brier_reliability", "brier_resolution", "brier_uncertainty", "brier_within_bins",
)  # fmt: skip
SYMMETRIC = (
    "jensen_shannon", "brier", "mean_absolute_error", "wasserstein", "pearson", "spearman", "soft_f1_loss",
)  # fmt: skip
ORDER = ("one_error", "coverage", "ranking_loss", "ranking_loss_all_pairs", "label_ranking_average_precision")
"""Of the ranking basis: what looks at the order of classes only."""
THRESHOLD_FREE = {*PRECISIONS, *RATES, *CALIBRATION, *ORDER, "brier", "cross_entropy"}

EIGHTHS = st.integers(0, 8).map(lambda k: k / 8)
LEVELS = st.integers(0, 64).map(lambda k: k / 64)
FINE = st.floats(0, 1, allow_subnormal=False) | LEVELS
BINARY = st.sampled_from([0.0, 1.0])


@st.composite
def pairs(draw, y=FINE, p=FINE):
    """Reference and system, (n_segments, n_classes)."""
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    size = shape[0] * shape[1]
    sides = (draw(st.lists(values, min_size=size, max_size=size)) for values in (y, p))
    reference, system = (np.array(side).reshape(shape) for side in sides)
    return reference, system


def scored(reference, system, measures="all", only=ONLY, **chosen):
    return evaluate(reference, system, measures=measures, only=only, segment_length=1.0, **chosen)


def by_suffix(scores, measure, reading="soft", basis="segment"):
    """The values of a measure by average and class."""
    stem = f"{basis}.{reading}.{measure}"
    return {n.removeprefix(stem): v for n, v in scores.items() if n.startswith((f"{stem}.", f"{stem}["))}


def close(got, wanted, tolerance=1e-12):
    if got is None or wanted is None:
        return got is wanted
    return abs(got - wanted) <= tolerance


@given(pairs(y=BINARY, p=BINARY), pairs(y=BINARY))
def test_soft_is_hard_on_labels_of_0_and_1(binary, of_reference):
    """Of both sides for all measures; of the reference alone for those that never cut the system."""
    for sides, whole in ((binary, True), (of_reference, False)):
        scores = scored(*sides)
        compared = 0
        for name, value in scores.items():
            hard = name.replace(".soft.", ".hard.")
            measure = name.split(".")[2].partition("[")[0]
            if ".soft." not in name or hard not in scores.scores:
                continue
            if whole or measure in THRESHOLD_FREE:
                assert value == scores[hard], name
                compared += 1
        assert compared > 50


TABLE = np.array([0.0, 1e-9, 0.0625, 0.4999999, 0.5, 0.71, 0.9, 1 - 2.0**-52, 1.0])
"""Increasing, as uneven as can be."""


@given(pairs(p=EIGHTHS))
def test_only_the_order_of_values_matters_to_curves_and_rankings(sides):
    reference, system = sides
    changed = TABLE[(8 * system).astype(int)]
    before, after = scored(reference, system), scored(reference, changed)
    measures = {*PRECISIONS, *RATES, "spearman", *ORDER, "exact_match_prefix", "label_wise_precision"}
    compared = 0
    for name, value in before.items():
        measure = name.split(".")[2].partition("[")[0]
        if measure in measures or measure == "label_wise_precision_minimum":
            assert value == after[name], name
            compared += 1
    assert compared > 50


@given(pairs())
def test_no_divergence_is_negative_or_without_bound(sides):
    """Jensen-Shannon is at most ln 2, a bit; those that clip at most -ln eps."""
    scores = scored(*sides, measures="divergence", only=("segment",))
    bits = scored(*sides, measures="divergence", only=("segment",), entropy_unit="bits")
    clipped = -math.log(1e-7)
    for name, most in (
        ("kl_divergence", clipped), ("kl_divergence_reverse", clipped),
        ("jensen_shannon", math.log(2)), ("brier", 1.0), ("mean_absolute_error", 1.0),
    ):  # fmt: skip
        for suffix, value in by_suffix(scores, name).items():
            assert value is None or 0 <= value <= most * (1 + 1e-12), name + suffix
            if name in {"kl_divergence", "kl_divergence_reverse", "jensen_shannon"}:
                other = bits[f"segment.soft.{name}{suffix}"]
                assert close(other, None if value is None else value / math.log(2), 1e-11)
    for suffix, value in by_suffix(bits, "jensen_shannon").items():
        assert value is None or value <= 1.0, suffix


@given(pairs())
def test_divergences_swap_with_their_sides(sides):
    there = scored(*sides, measures="divergence", only=("segment",))
    back = scored(*sides[::-1], measures="divergence", only=("segment",))
    classes = [f"[{k}]" for k in range(sides[0].shape[1])]
    for suffix in (*classes, ".micro"):
        for name, other in (
            ("kl_divergence", "kl_divergence_reverse"), *((n, n) for n in SYMMETRIC),
        ):  # fmt: skip
            pair = there[f"segment.soft.{name}{suffix}"], back[f"segment.soft.{other}{suffix}"]
            assert close(*pair, 1e-11), (name, suffix, pair)


def entropy(y):
    return sum(-v * math.log(v) for v in (y, 1 - y) if v > 0)


@given(pairs())
def test_cross_entropy_is_divergence_and_entropy(sides):
    reference, system = sides
    scores = scored(reference, system, measures="divergence", only=("segment",))
    own = np.vectorize(entropy)(reference)
    for suffix, part in ((".micro", own), *((f"[{k}]", own[:, k]) for k in range(own.shape[1]))):
        whole = scores[f"segment.soft.kl_divergence{suffix}"] + part.mean()
        assert close(scores[f"segment.soft.cross_entropy{suffix}"], whole, 1e-11), suffix


@given(pairs())
def test_the_mean_distance_of_values_is_no_less_than_that_of_their_distributions(sides):
    scores = scored(*sides, measures="divergence", only=("segment",))
    for suffix, value in by_suffix(scores, "wasserstein").items():
        assert value is None or value <= scores[f"segment.soft.mean_absolute_error{suffix}"] + 1e-12, suffix


@given(pairs(), st.sampled_from([1, 2, 7, 15, 64]))
def test_parts_of_the_brier_score_sum_to_it(sides, bins):
    scores = scored(*sides, bins=bins)
    for basis in ("segment", "clip"):
        for reading in ("hard", "soft"):
            parts = [by_suffix(scores, f"brier_{part}", reading, basis)
                     for part in ("reliability", "resolution", "uncertainty", "within_bins")]  # fmt: skip
            for suffix, value in by_suffix(scores, "brier", reading, basis).items():
                own = [part[suffix] for part in parts]
                if value is None:
                    assert set(own) == {None}
                else:
                    whole = own[0] - own[1] + own[2] + own[3]
                    assert close(value, whole, 1e-11), (basis, reading, suffix)


@given(pairs(), st.sampled_from([1, 2, 7, 15, 64]))
def test_calibration_errors_are_in_order(sides, bins):
    """The mean is at most the largest; its square at most the reliability, that at most the mean (Jensen)."""
    scores = scored(*sides, measures="calibration", only=("segment",), bins=bins)
    for reading in ("hard", "soft"):
        for suffix in (".micro", "[0]"):
            mean, most, reliability = (
                scores[f"segment.{reading}.{name}{suffix}"]
                for name in ("expected_calibration_error", "maximum_calibration_error", "brier_reliability")
            )
            assert mean <= most + 1e-12 and most <= 1.0
            assert mean**2 <= reliability + 1e-12 and reliability <= mean + 1e-12


@given(pairs())
def test_bounds_of_average_precision(sides):
    """At most 1, interpolated never less than by steps, and never less than with every positive last.

    A positive weight w found among all n at once has precision at least N_ref / n once all is detected: each
    interpolated precision is at least that.
    """
    reference, _ = sides
    scores = scored(*sides, measures="curves", only=("segment",))
    for reading, y in (("hard", (reference > 0.5).astype(float)), ("soft", reference)):
        for suffix, part in ((".micro", y.ravel()), *((f"[{k}]", y[:, k]) for k in range(y.shape[1]))):
            steps, eleven, every, hundred = (scores[f"segment.{reading}.{n}{suffix}"] for n in PRECISIONS)
            if not part.sum() > 0:
                assert {steps, eleven, every, hundred} == {None}
                continue
            # The square of a tiny weight may be no number.
            assert (steps > 0 or part.sum() < 1e-150) and steps <= every + 1e-12 and every <= 1.0
            for value in (eleven, every, hundred):
                assert part.mean() - 1e-12 <= value <= 1.0


@given(pairs())
def test_bounds_of_rates(sides):
    """Ranks are better than chance or worse, but no rate leaves [0, 1], nor an area its part."""
    scores = scored(*sides, measures="curves", only=("segment",))
    for reading in ("hard", "soft"):
        for suffix in (".micro", ".macro", ".weighted", "[0]"):
            got = {name: scores[f"segment.{reading}.{name}{suffix}"] for name in RATES}
            area = got["roc_auc"]
            if area is None:
                assert set(got.values()) == {None}
                continue
            assert all(0 <= got[name] <= 1 for name in RATES if name != "d_prime")
            # The part is below the whole: what is gained later is at least as high.
            assert got["partial_auc"] <= area + 1e-12
            if got["d_prime"] is None:
                assert area in {0.0, 1.0}
            else:
                assert math.copysign(1, got["d_prime"]) == math.copysign(1, area - 0.5) or area == 0.5


@given(pairs(y=FINE | BINARY))
def test_limits_of_1_are_no_limits(sides):
    """Everything may be detected, or nothing: no rate is above 1, however sums round."""
    scores = scored(*sides, measures="curves", only=("segment",), max_fpr=1.0, max_fnr=1.0)
    for reading in ("hard", "soft"):
        for suffix, area in by_suffix(scores, "roc_auc", reading).items():
            names = ("fnr_at_fpr", "fpr_at_fnr", "partial_auc", "partial_auc_mcclish")
            free, also_free, *parts = (scores[f"segment.{reading}.{name}{suffix}"] for name in names)
            if area is None:
                assert {free, also_free, *parts} == {None}, suffix
            else:
                assert free == also_free == 0.0, suffix
                assert all(close(part, area) for part in parts), suffix


@given(pairs(y=EIGHTHS, p=LEVELS))
def test_reversed_scores_reverse_the_roc(sides):
    reference, system = sides
    there, back = (scored(reference, p, measures="curves", only=("segment",)) for p in (system, 1 - system))
    for reading in ("hard", "soft"):
        for name, wanted in (("roc_auc", lambda v: 1 - v), ("equal_error_rate", lambda v: 1 - v),
                             ("d_prime", lambda v: -v)):  # fmt: skip
            for suffix, value in by_suffix(there, name, reading).items():
                other = by_suffix(back, name, reading)[suffix]
                assert close(other, None if value is None else wanted(value), 1e-11), (name, suffix)


@given(pairs(y=EIGHTHS, p=LEVELS))
def test_the_area_is_how_often_active_is_above_silent(sides):
    """Ties count half; a pair counts by the product of its weights."""
    reference, system = sides
    y, p = reference.ravel(), system.ravel()
    got = scored(reference, system, measures="curves", only=("segment",))["segment.soft.roc_auc.micro"]
    weight = np.outer(y, 1 - y)
    above = (p[:, None] > p[None, :]) + (p[:, None] == p[None, :]) / 2
    assert close(got, (weight * above).sum() / weight.sum() if weight.sum() > 0 else None)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 2.0**-60])
def test_a_norm_of_all_and_a_value_is_the_value(value):
    """T(y, 1) = y to the bit: all of it is found, and rounding makes no counts below 0."""
    whole, part = np.ones((3, 2)), np.full((3, 2), value)
    for norm in ("lukasiewicz", "product", "minimum"):
        scores = scored(part, whole, measures=(), only=("segment.soft",), t_norm=norm)
        assert scores["segment.soft.recall.micro"] == 1.0, norm
        assert scores["segment.soft.fn.micro"] == 0.0, norm
        assert scores["segment.soft.substitutions.micro"] >= 0.0, norm


@given(pairs())
def test_norms_are_in_order(sides):
    """Lukasiewicz <= product <= minimum in what is found; F of a copy is 1 for the minimum only."""
    reference, system = sides
    norms = ("lukasiewicz", "product", "minimum")
    found, copied = (
        [scored(reference, p, measures=(), only=("segment.soft", "clip.soft"), t_norm=norm) for norm in norms]
        for p in (system, reference)
    )
    for basis in ("segment", "clip"):
        for name in ("tp", "precision", "recall", "f1"):
            for suffix, low in by_suffix(found[0], name, basis=basis).items():
                middle, high = (scores[f"{basis}.soft.{name}{suffix}"] for scores in found[1:])
                if low is None:
                    assert middle is high is None
                else:
                    assert low <= middle + 1e-12 and middle <= high + 1e-12, (name, suffix)
        for suffix, value in by_suffix(copied[2], "f1", basis=basis).items():
            assert value in {1.0, None}, suffix
    # Values so near 0 or 1 that F rounds to 1 are neither.
    partial, whole = ((reference > 1e-3) & (reference < 1 - 1e-3)).any(), np.isin(reference, (0, 1)).all()
    for scores in copied[:2]:
        value = scores["segment.soft.f1.micro"]
        assert not partial or value < 1.0
        assert not whole or value in {1.0, None}


@given(pairs(y=EIGHTHS), st.integers(0, 2**32 - 1))
def test_the_order_of_segments_does_not_matter(sides, seed):
    """Sums of the system's values may round another way; those of the reference decide what is reached."""
    order = np.random.default_rng(seed).permutation(len(sides[0]))
    plain, mixed = scored(*sides), scored(*(side[order] for side in sides))
    for name, value in plain.items():
        if measure_free(name):
            assert close(value, mixed[name], 1e-9), (name, value, mixed[name])


def measure_free(name):
    """Whether a score follows its cells without jumps: a correlation of nearly equal values may jump."""
    return not any(part in name for part in ("pearson", "entropy_corr", "d_prime", ".threshold", "optimal"))


@pytest.mark.parametrize("seed", range(3))
def test_a_calibrated_system_of_many_cells_is_found_calibrated(seed):
    """References drawn with the probabilities that the system says."""
    rng = np.random.default_rng(seed)
    p = rng.random((40_000, 1))
    y = (rng.random(p.shape) < p).astype(float)
    scores = scored(y, p, measures="calibration", only=("segment",))
    assert scores["segment.hard.expected_calibration_error.micro"] < 0.02
    assert scores["segment.hard.brier_reliability.micro"] < 1e-3
