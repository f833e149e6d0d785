"""The lowest error rate of a class over all thresholds: against the hard reading at one after another."""

from __future__ import annotations

from dataclasses import replace

import intersection_cases as cases
import numpy as np
import pytest
from intersection_cases import LABELS
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.settings import Settings

TWO = LABELS[:2]
SECOND = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("basis", ["event", "intersection"])
def test_a_loop_over_thresholds(basis, inclusive):
    """Best of each class, of ties the highest threshold; micro pools the errors at those."""
    seen = {"present": 0, "nothing is best": 0, "something is best": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        forms = str(rng.choice(cases.FORMS)), str(rng.choice(["frames", "rows"]))
        ours, theirs = (cases.side(rng, form, "auto", 2, SECOND) for form in forms)
        chosen = Settings(
            classes=TWO,
            only=(f"{basis}.optimal",),
            inclusive=inclusive,
            reference_threshold=0.4,
            onset_collar=1.0,
        )
        best = evaluate_rows(ours.table, theirs.table, chosen)
        # Between two values nothing changes; beyond all of them nothing is detected.
        levels = [*theirs.levels(), 2.0]
        cuts = [(low + high) / 2 for low, high in zip(levels, levels[1:], strict=False)]
        at_cut = {
            cut: evaluate_rows(
                ours.table, theirs.table, replace(chosen, threshold=cut, only=(f"{basis}.hard",))
            )
            for cut in cuts
        }
        errors, n_ref, rates = 0, 0, []
        for label in TWO:
            rate = best[f"{basis}.optimal.best_error_rate[{label}]"]
            threshold = best[f"{basis}.optimal.best_error_rate_threshold[{label}]"]
            swept = {cut: scores[f"{basis}.hard.error_rate[{label}]"] for cut, scores in at_cut.items()}
            if not (present := best[f"{basis}.optimal.n_ref[{label}]"]):
                assert rate is None and threshold is None and set(swept.values()) == {None}
                continue
            lowest = min(swept.values())
            assert rate == pytest.approx(lowest, abs=1e-12)
            chosen_by_it = replace(chosen, threshold=threshold, only=(f"{basis}.hard",))
            itself = evaluate_rows(ours.table, theirs.table, chosen_by_it)
            assert itself[f"{basis}.hard.error_rate[{label}]"] == pytest.approx(lowest, abs=1e-12)
            highest = max(cut for cut, value in swept.items() if value == lowest)
            above = [value for cut, value in swept.items() if threshold <= cut <= highest]
            assert set(above) <= {lowest}
            errors, n_ref, rates = errors + round(lowest * present), n_ref + present, [*rates, lowest]
            seen["present"] += 1
            nothing = itself[f"{basis}.hard.n_sys[{label}]"] == 0
            seen["nothing is best" if nothing else "something is best"] += 1
        if rates:
            assert best[f"{basis}.optimal.best_error_rate.micro"] == pytest.approx(errors / n_ref, abs=1e-12)
            assert best[f"{basis}.optimal.best_error_rate.macro"] == pytest.approx(np.mean(rates), abs=1e-12)
    assert min(seen.values()) >= 4, seen


def test_by_hand():
    """Two events. At 0.8 one is found: 1/2. At 0.5 a false alarm joins: 1. At 0.2 the other is found: 1/2."""
    reference = long_rows([("f", 0.0, 1.0, "a"), ("f", 10.0, 11.0, "a")])
    system = [("f", 0.0, 1.0, "a", 0.8), ("f", 20.0, 21.0, "a", 0.5), ("f", 10.0, 11.0, "a", 0.2)]
    for basis in ("event", "intersection"):
        scores = evaluate(reference, long_rows(system), only=f"{basis}.optimal")
        assert scores[f"{basis}.optimal.best_error_rate[a]"] == 0.5
        # Of two that are as good the higher: between 0.5 and 0.8.
        assert 0.5 <= scores[f"{basis}.optimal.best_error_rate_threshold[a]"] < 0.8
        # F is best with everything: 2 x 2 / (2 + 3).
        assert scores[f"{basis}.optimal.f1[a]"] == 0.8
        assert scores[f"{basis}.optimal.threshold[a]"] < 0.2
        worse = [*system, *(("f", at, at + 1, "a", 0.9) for at in (30.0, 40.0))]
        scores = evaluate(reference, long_rows(worse), only=f"{basis}.optimal")
        assert scores[f"{basis}.optimal.best_error_rate[a]"] == 1.0
        # Nothing detected: everything missed, but no false alarm.
        assert scores[f"{basis}.optimal.best_error_rate_threshold[a]"] == 1.0
