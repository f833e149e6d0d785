"""Against sed_scores_eval through `evaluate`: best F, PSDS, median filters, piPSDS.

Scores are above 0: it also has a threshold below all scores, at which a file is one event, also where a
score is 0; here time with value 0 is silent, as time without any row.
"""

import itertools

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
    compared, stem = 0, f"{basis}.optimal"
    for seed, levels in CASES:
        case, same = made(seed, levels), True
        chosen = COLLARS[seed % 3] if basis == "event" else dict(list(CRITERIA[seed % 5].items())[:2])
        got = evaluated(case, only=(stem,), **chosen)
        theirs = peer.best(case, basis, **chosen)
        for label in LABELS:
            other = theirs[label]
            assert got[f"{stem}.f1[{label}]"] == pytest.approx(other["f1"], abs=1e-12)
            assert got[f"{stem}.n_ref[{label}]"] == other["n_ref"]
            threshold = got[f"{stem}.threshold[{label}]"]
            threshold = np.inf if threshold is None else threshold
            counted = other["tp"], other["fp"]
            if counts(got, stem, label) != counted:
                # Two thresholds with the same F, which their floats tell apart: ours is the highest.
                assert threshold > other["threshold"]
                same = False
                continue
            # Where nothing is detected theirs is 1, ours undefined.
            precision = pytest.approx(other["precision"], abs=1e-12) if any(counted) else None
            assert got[f"{stem}.recall[{label}]"] == pytest.approx(other["recall"], abs=1e-12)
            assert got[f"{stem}.precision[{label}]"] == precision
            for cut in (threshold, other["threshold"]):
                at = evaluated(case, only=(f"{basis}.hard",), threshold=min(max(cut, 0.0), 1.0), **chosen)
                assert counts(at, f"{basis}.hard", label) == counted
            compared += 0 < other["f1"]
        for average in ("macro", "micro") if same else ("macro",):
            assert got[f"{stem}.f1.{average}"] == pytest.approx(theirs[f"{average}_average"]["f1"], abs=1e-12)
    assert compared > len(CASES)


def check_psds(case: peer.Case, lengths: tuple[float, ...] = (), **chosen: float) -> float:
    """Compare PSDS, or piPSDS over median filters, of all classes and of each; return theirs."""
    name = "intersection.hard.pipsds" if lengths else "intersection.hard.psds"
    got = evaluated(case, only=("intersection.hard",), psds_median_filters=lengths, **chosen)
    theirs, by_class = peer.psds(case, lengths, **chosen)
    ours = {label: got[f"{name}[{label}]"] for label in LABELS}
    assert (got[name], ours) == (pytest.approx(theirs, abs=1e-12), pytest.approx(by_class, abs=1e-12))
    return theirs


@pytest.mark.parametrize("shares", CRITERIA, ids=str)
def test_psds(shares):
    values = [
        check_psds(made(*case), alpha_ct=alpha_ct, alpha_st=alpha_st, max_efpr=max_efpr, **shares)
        for case, (alpha_ct, alpha_st), max_efpr in itertools.product(CASES[::2], WEIGHTS, (100.0, 2000.0))
    ]
    # Frames never fit events exactly.
    assert sum(0 < value < 1 for value in values) > 10 or shares["dtc"] == 1.0


@pytest.mark.parametrize("steps", [1, 3, 5, 7, 15])
def test_median_filter(steps):
    """At odd multiples of the frame, where theirs changes at frames only; theirs has -inf beyond the ends."""
    changed = 0
    for seed, levels in CASES:
        case = made(seed, levels)
        _, system = case.sides()
        ours = postprocessed(system, Settings(median_filter=steps * FRAME))
        theirs = peer.median_filtered(case, steps * FRAME)
        values = np.stack(ours.values, axis=-1)
        assert np.array_equal(values, np.concatenate([theirs[name] for name in ours.files]))
        changed += (values != np.stack(system.values, axis=-1)).any()
    assert changed == (steps > 1) * len(CASES)


@pytest.mark.parametrize("shares", CRITERIA[:4], ids=str)
def test_pipsds(shares):
    """And PSDS of the filtered output: theirs is piPSDS over one filter."""
    values = []
    for number, (seed, levels) in enumerate(CASES[::3]):
        case = made(seed, levels)
        weights = dict(zip(("alpha_ct", "alpha_st"), WEIGHTS[number % len(WEIGHTS)], strict=True))
        values += [
            check_psds(case, tuple(FRAME * n for n in steps), **shares, **weights)
            for steps in ((1, 3, 5, 9), (3, 7), (5,))
        ]
        one = evaluated(case, only=("intersection.hard",), median_filter=5 * FRAME, **shares, **weights)
        assert one["intersection.hard.psds"] == pytest.approx(values[-1], abs=1e-12)
    assert sum(0 < value < 1 for value in values) > 10
