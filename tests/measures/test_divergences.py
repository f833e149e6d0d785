"""Divergences and distances of the values, against slow oracles and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from measure_oracles import DIVERGENCES
from small_cells import CASES, agree, scored

from sedeval_soft import evaluate, functional

DIVERGENCE_OF = {"measures": "divergence", "only": ("segment", "clip")}
# Logarithms are taken of differences from 1, and a divergence is a difference of them.


def test_entropies_are_correlated_where_annotators_disagree():
    """By hand: H is 1 bit at 1/2, h at 1/4 and 3/4, 0 at 0 and 1; which side of 1/2 does not matter."""
    h = 2 - 0.75 * math.log2(3)
    got = of_one_class([0.0, 0.5, 0.25, 1.0], [1.0, 0.5, 0.75, 0.0])
    assert got["entropy_correlation"] == pytest.approx(1.0, abs=1e-15)
    got = of_one_class([0.0, 0.25, 0.5], [0.5, 0.75, 0.0])
    mean = (1 + h) / 3
    spread = mean**2 + (h - mean) ** 2 + (1 - mean) ** 2
    common = -2 * mean * (1 - mean) + (h - mean) ** 2
    assert got["entropy_correlation"] == pytest.approx(common / spread, abs=1e-15)
    for constant in ([0.2, 0.8, 0.2], [0.0, 1.0, 0.0]):
        assert of_one_class(constant, [0.1, 0.5, 0.9])["entropy_correlation"] is None


def of_one_class(y, p, average="micro", **settings):
    sides = np.array([y], dtype=float).T, np.array([p], dtype=float).T
    scores = evaluate(*sides, segment_length=1.0, **DIVERGENCE_OF, **settings)
    return {score.measure: score.value for score in scores.scores.values() if score.basis == "segment"
            and score.reading == "soft" and score.average == average}  # fmt: skip


def test_one_cell_by_hand():
    """y = 1/2, p = 1/4, whose mean is 3/8."""
    got = of_one_class([0.5], [0.25])
    log = math.log
    # 1/2 ln 2 + 1/2 ln (2/3)
    assert got["kl_divergence"] == pytest.approx(0.5 * log(4 / 3), abs=1e-12)
    # 1/4 ln (1/2) + 3/4 ln (3/2)
    assert got["kl_divergence_reverse"] == pytest.approx(0.75 * log(1.5) - 0.25 * log(2), abs=1e-12)
    assert got["cross_entropy"] == pytest.approx(log(2) + 0.5 * log(4 / 3), abs=1e-12)
    # KL(1/2, 3/8) = 1/2 ln (4/3) + 1/2 ln (4/5);  KL(1/4, 3/8) = 1/4 ln (2/3) + 3/4 ln (6/5)
    parts = 0.5 * log(16 / 15), 0.25 * log(2 / 3) + 0.75 * log(6 / 5)
    assert got["jensen_shannon"] == pytest.approx(sum(parts) / 2, abs=1e-12)
    assert got["brier"] == 0.0625
    assert got["mean_absolute_error"] == got["wasserstein"] == 0.25
    # TP 1/8, FP 1/8, FN 3/8
    assert got["soft_f1_loss"] == pytest.approx(1 - 0.25 / (0.75 + 1e-7), abs=1e-12)
    assert got["pearson"] is None and got["spearman"] is None
    bits = of_one_class([0.5], [0.25], entropy_unit="bits")
    for name in ("kl_divergence", "kl_divergence_reverse", "cross_entropy", "jensen_shannon"):
        assert bits[name] == pytest.approx(got[name] / log(2), abs=1e-12), name
    assert bits["brier"] == got["brier"]


def test_the_smallest_epsilon_leaves_numbers():
    """1 - epsilon is below 1 still: ln 2^53 where both are."""
    got = of_one_class([1.0, 0.0], [0.0, 1.0], epsilon=2.0**-53)
    for name in ("kl_divergence", "kl_divergence_reverse", "cross_entropy"):
        assert got[name] == pytest.approx(53 * math.log(2), abs=1e-12), name


def test_what_could_not_be_more_wrong():
    """Certain of the contrary: the divergence is what clipping leaves of it, ln 10^7 (about 23.25 bits)."""
    got = of_one_class([1.0, 0.0], [0.0, 1.0])
    assert got["jensen_shannon"] == pytest.approx(math.log(2), abs=1e-15)
    for name in ("kl_divergence", "kl_divergence_reverse", "cross_entropy"):
        assert got[name] == pytest.approx(7 * math.log(10), rel=1e-15), name
    assert got["brier"] == got["mean_absolute_error"] == 1.0
    assert got["wasserstein"] == 0.0  # the values are the same, at other times
    assert got["pearson"] == pytest.approx(-1.0, abs=1e-15) == got["spearman"]
    assert got["soft_f1_loss"] == 1.0
    bits = of_one_class([1.0, 0.0], [0.0, 1.0], entropy_unit="bits", epsilon=2.0**-10)
    assert bits["jensen_shannon"] == pytest.approx(1.0, abs=1e-15)
    assert bits["kl_divergence"] == pytest.approx(10.0, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-7, 1e-12, 2.0**-53, 0.01])
@pytest.mark.parametrize("reading", ["soft", "hard"])
def test_a_value_of_1_costs_what_one_of_0_does(reading, epsilon):
    """Of 1 - 1e-7 a float keeps but nine digits of the 1e-7; what is right costs -ln(1 - epsilon)."""
    entropies = ("kl_divergence", "cross_entropy") if reading == "soft" else ("cross_entropy",)
    for y, p, cost in ((0, 1, -math.log(epsilon)), (1, 0, -math.log(epsilon)), (1, 1, -math.log1p(-epsilon))):
        # One more class has something in every segment, so that rankings have all of them.
        sides = [np.array([[value, 1.0]]) for value in (y, p)]
        scores = evaluate(*sides, only=("segment", "ranking"), measures=("divergence",), epsilon=epsilon)
        for name in entropies:
            assert scores[f"segment.{reading}.{name}[0]"] == pytest.approx(cost, rel=1e-14), (name, y, p)
        whole = cost - math.log1p(-epsilon)
        assert scores[f"ranking.{reading}.cross_entropy"] == pytest.approx(whole, rel=1e-14)
        array = functional.kl_divergence(sides[0], sides[1], eps=epsilon, average=None)
        assert array[0] == pytest.approx(cost, rel=1e-14)


def test_a_copied_soft_reference():
    """No distance, but a loss of F: of values of 1/2, TP = FP = FN = 1/4 each."""
    got = of_one_class([0.5, 0.5, 0.0], [0.5, 0.5, 0.0])
    for name in ("brier", "mean_absolute_error", "wasserstein", "jensen_shannon"):
        assert got[name] == 0.0, name
    assert got["soft_f1_loss"] == pytest.approx(0.5, abs=1e-6)
    assert got["pearson"] == pytest.approx(1.0, abs=1e-15)


def test_nothing_at_all_is_a_loss_of_everything():
    """Without segments the loss is 1, as its smallest term stands below; everything else is undefined."""
    got, mean = of_one_class([], []), of_one_class([], [], "macro")
    assert got["soft_f1_loss"] == 1.0
    for name in DIVERGENCES:
        assert name == "soft_f1_loss" or got[name] is None, name
        assert mean[name] is None, name


def test_ranks_of_ties_by_hand():
    """Ranks 1 2 3 4 against 1 2.5 2.5 4: covariance 4.5, variances 5 and 4.5."""
    got = of_one_class([0.1, 0.2, 0.3, 0.9], [0.0, 0.5, 0.5, 0.6])
    assert got["spearman"] == pytest.approx(4.5 / math.sqrt(5 * 4.5), abs=1e-12)


def test_a_constant_side_has_no_correlation():
    """A constant whose mean rounds: 0.1 added many times and divided is not 0.1."""
    y = np.random.default_rng(0).random(10)
    for constant in (0.1, 0.3, 1 / 3, 0.7):
        for sides in ((y, np.full(10, constant)), (np.full(10, constant), y)):
            got = of_one_class(*sides)
            assert got["pearson"] is None and got["spearman"] is None, constant


def test_correlation_of_values_that_hardly_differ():
    """Around 0.9, in steps of 2^-30: the deviations are what counts, not the squares of the values."""
    step = np.array([0, 3, 1, 2, 5, 4]) * 2.0**-30
    got = of_one_class(0.875 + step, 0.875 + step[::-1])
    steps = [0, 3, 1, 2, 5, 4]
    centred = [s - 2.5 for s in steps]
    wanted = sum(a * b for a, b in zip(centred, centred[::-1], strict=True)) / sum(a * a for a in centred)
    assert got["pearson"] == pytest.approx(wanted, abs=1e-6)
    assert got["spearman"] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("norm", ["minimum", "product", "lukasiewicz"])
@pytest.mark.parametrize("case", ["tied 0", "fine 0", "one cell", "no reference", "a perfect system"])
def test_counts_of_a_norm(case, norm):
    """TP = sum T(y, p); what is left of both sides, in order of value, is S, D and I."""
    reference, system = CASES[case]
    scores = scored(reference, system, {"only": "segment.soft", "t_norm": norm})
    norms = {
        "minimum": min,
        "product": lambda a, b: a * b,
        "lukasiewicz": lambda a, b: max(0.0, a + b - 1),
    }
    tp = [
        math.fsum(norms[norm](a, b) for a, b in zip(y, p, strict=True))
        for y, p in zip(reference.T.tolist(), system.T.tolist(), strict=True)
    ]
    matched = missed = invented = 0.0
    for y, p in zip(reference.tolist(), system.tolist(), strict=True):
        for a, b in zip(sorted(y, reverse=True), sorted(p, reverse=True), strict=True):
            matched, missed, invented = (
                matched + min(a, b), missed + max(0.0, a - b), invented + max(0.0, b - a),
            )  # fmt: skip
    n_ref, n_sys = float(reference.sum()), float(system.sum())
    wanted: dict[str, float | None] = {f"tp[class{k}]": value for k, value in enumerate(tp)}
    wanted |= {"tp.micro": math.fsum(tp), "n_ref.micro": n_ref, "n_sys.micro": n_sys}
    wanted |= {"substitutions.micro": matched - math.fsum(tp), "deletions.micro": missed}
    wanted |= {"insertions.micro": invented, "f1.micro": 2 * math.fsum(tp) / (n_ref + n_sys)}
    errors = matched - math.fsum(tp) + missed + invented
    wanted["error_rate.micro"] = errors / n_ref if n_ref else None
    agree(scores, "segment.soft", wanted)
