"""Against sed_scores_eval through `evaluate`: best F, PSDS, median filters, piPSDS.

Scores are above 0: it also has a threshold below all scores, at which a file is one event, also where a
score is 0; here time with value 0 is silent, as time without any row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer
from peer_intersection import CRITERIA, FRAME, LABELS, WEIGHTS

from sedeval_soft import Settings, evaluate
from sedeval_soft.timeline.postprocess import postprocessed

COLLARS = (
    {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2},
    {"onset_collar": 0.5, "offset_collar": 0.5, "offset_collar_rate": 0.0},
    {"onset_collar": 1.0, "offset_collar": 0.1, "offset_collar_rate": 0.5},
)

CASES = [(seed, (3, 10, None)[seed % 3]) for seed in range(30)]


def made(seed: int, levels: int | None) -> peer.Case:
    case = peer.made(seed, levels)
    return peer.Case({name: 0.05 + 0.9 * values for name, values in case.scores.items()}, case.truth)


def evaluated(case: peer.Case, **settings):
    return evaluate(*case.sides(), durations=case.durations(), **settings)


def counts(scores, stem: str, label: str) -> tuple[int, int]:
    return scores[f"{stem}.tp[{label}]"], scores[f"{stem}.fp[{label}]"]


@pytest.mark.parametrize("basis", ["event", "intersection"])
def test_best_f(basis):
    """F, precision, recall and averages; and thresholds that select the same events."""
    compared = 0
    for seed, levels in CASES:
        case = made(seed, levels)
        chosen = COLLARS[seed % 3] if basis == "event" else dict(list(CRITERIA[seed % 5].items())[:2])
        got = evaluated(case, only=(f"{basis}.optimal",), **chosen)
        theirs = peer.best(case, basis, **chosen)
        stem, same = f"{basis}.optimal", True
        for label in LABELS:
            other = theirs[label]
            assert got[f"{stem}.f1[{label}]"] == pytest.approx(other["f1"], abs=1e-12)
            assert got[f"{stem}.n_ref[{label}]"] == other["n_ref"]
            threshold = got[f"{stem}.threshold[{label}]"]
            threshold = np.inf if threshold is None else threshold
            if counts(got, stem, label) != (other["tp"], other["fp"]):
                # Two thresholds with the same F, which their floats tell apart: ours is the highest.
                assert threshold > other["threshold"]
                same = False
                continue
            assert got[f"{stem}.recall[{label}]"] == pytest.approx(other["recall"], abs=1e-12)
            if other["tp"] + other["fp"]:
                # Where nothing is detected theirs is 1, ours undefined.
                assert got[f"{stem}.precision[{label}]"] == pytest.approx(other["precision"], abs=1e-12)
            else:
                assert got[f"{stem}.precision[{label}]"] is None
            at = [
                evaluated(case, only=(f"{basis}.hard",), threshold=min(max(cut, 0.0), 1.0), **chosen)
                for cut in (threshold, other["threshold"])
            ]
            assert counts(at[0], f"{basis}.hard", label) == counts(at[1], f"{basis}.hard", label)
            assert counts(at[0], f"{basis}.hard", label) == (other["tp"], other["fp"])
            compared += 0 < other["f1"]
        assert got[f"{stem}.f1.macro"] == pytest.approx(theirs["macro_average"]["f1"], abs=1e-12)
        if same:
            assert got[f"{stem}.f1.micro"] == pytest.approx(theirs["micro_average"]["f1"], abs=1e-12)
    assert compared > len(CASES)


@pytest.mark.parametrize("shares", CRITERIA, ids=str)
def test_psds(shares):
    between = 0
    for seed, levels in CASES[::2]:
        case = made(seed, levels)
        for alpha_ct, alpha_st in WEIGHTS:
            for max_efpr in (100.0, 2000.0):
                weights = {"alpha_ct": alpha_ct, "alpha_st": alpha_st, "max_efpr": max_efpr}
                got = evaluated(case, only=("intersection.hard",), **shares, **weights)
                theirs = peer.psds(case, **shares, **weights)
                assert got["intersection.hard.psds"] == pytest.approx(theirs["psds"], abs=1e-12)
                for label in LABELS:
                    own = theirs["by_class"][label]
                    assert got[f"intersection.hard.psds[{label}]"] == pytest.approx(own, abs=1e-12)
                between += 0 < theirs["psds"] < 1
    # Frames never fit events exactly.
    assert between > 10 or shares["dtc"] == 1.0


@pytest.mark.parametrize("steps", [1, 3, 5, 7, 15])
def test_median_filter(steps):
    """At odd multiples of the frame, where theirs changes at frames only; theirs has -inf beyond the ends."""
    changed = 0
    for seed, levels in CASES:
        case = made(seed, levels)
        _, system = case.sides()
        ours = postprocessed(system, Settings(median_filter=steps * FRAME))
        theirs = peer.median_filtered(case, steps * FRAME)
        assert len(ours) == len(system)
        values = np.stack(ours.values, axis=-1)
        assert (values == np.concatenate([theirs[name] for name in ours.files])).all()
        changed += (values != np.stack(system.values, axis=-1)).any()
    assert changed == (steps > 1) * len(CASES)


@pytest.mark.parametrize("shares", CRITERIA[:4], ids=str)
def test_pipsds(shares):
    """And PSDS of the filtered output: theirs is piPSDS over one filter."""
    between = 0
    for number, (seed, levels) in enumerate(CASES[::3]):
        case = made(seed, levels)
        weights = dict(zip(("alpha_ct", "alpha_st"), WEIGHTS[number % len(WEIGHTS)], strict=True))
        for steps in ((1, 3, 5, 9), (3, 7), (5,)):
            lengths = tuple(FRAME * n for n in steps)
            chosen = Settings(only=("intersection.hard",), psds_median_filters=lengths, **shares, **weights)
            got = evaluate(*case.sides(), settings=chosen, durations=case.durations())
            theirs = peer.psds(case, lengths, **shares, **weights)
            assert got["intersection.hard.pipsds"] == pytest.approx(theirs["psds"], abs=1e-12)
            for label in LABELS:
                own = theirs["by_class"][label]
                assert got[f"intersection.hard.pipsds[{label}]"] == pytest.approx(own, abs=1e-12)
            between += 0 < theirs["psds"] < 1
            if len(steps) == 1:
                only = replace(chosen, psds_median_filters=(), median_filter=lengths[0])
                one = evaluate(*case.sides(), settings=only, durations=case.durations())
                assert one["intersection.hard.psds"] == pytest.approx(theirs["psds"], abs=1e-12)
    assert between > 10
