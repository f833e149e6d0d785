"""The intersection oracle against sed_scores_eval: every threshold's counts, PSDS, best F, on random cases.

Also that the cases are worth it: something of everything is in them.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter

import numpy as np
import pytest
from intersection_oracle import area, count, events_at, f_measure, psd_roc, psds, staircases

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

import peer_intersection as peer
from peer_intersection import CRITERIA, LABELS, TICKS, WEIGHTS

CASES = [(seed, (3, 10, None)[seed % 3], CRITERIA[seed % len(CRITERIA)]) for seed in range(50)]


def ticks(seconds: np.ndarray) -> list[int]:
    return [round(float(value) * TICKS) for value in seconds]


def counts_by_level(case, criteria):
    """The oracle's counts at every score of any class, from the highest."""
    levels = sorted({float(v) for values in case.scores.values() for v in values.ravel()}, reverse=True)
    return {
        level: count(
            [
                event
                for name, values in case.scores.items()
                for label, column in zip(LABELS, values.T, strict=True)
                for event in events_at(name, label, ticks(case.edges(name)), column, level)
            ],
            case.events(),
            LABELS,
            **criteria,
        )
        for level in levels
    }


@pytest.mark.parametrize(("seed", "levels", "criteria"), CASES)
def test_counts_psds_and_best_f(seed, levels, criteria):
    case = peer.made(seed, levels)
    found = counts_by_level(case, criteria)
    stats = peer.statistics(case, **criteria)
    _same_counts(found, stats)
    _same_psds(case, found, criteria)
    _same_best_f(case, found, criteria)


def _same_counts(found, stats):
    """Their rows hold from their score up to the next higher one."""
    for label, theirs in stats.items():
        assert theirs["scores"][-1] == math.inf
        for level, mine in found.items():
            row = bisect.bisect_left(theirs["scores"], level)
            assert mine.tp[label] == theirs["tp"][row]
            assert mine.fp[label] == theirs["fp"][row]
            for other, values in theirs["ct"].items():
                assert mine.ct[label, other] == values[row]


def _same_psds(case, found, criteria):
    total = sum(ticks(np.array(list(case.durations().values()))))
    for alpha_ct, alpha_st in WEIGHTS:
        curves = staircases(found.values(), case.events(), LABELS, total, alpha_ct=alpha_ct)
        for max_efpr in (100.0, 2000.0):
            theirs = peer.psds(case, **criteria, alpha_ct=alpha_ct, alpha_st=alpha_st, max_efpr=max_efpr)
            mine = psds(curves, alpha_st=alpha_st, max_efpr=max_efpr)
            assert mine == pytest.approx(theirs["psds"], abs=1e-12)
            for label in LABELS:
                assert area(curves[label], max_efpr) == pytest.approx(theirs["by_class"][label], abs=1e-12)
                steps = {round(float(x), 6): float(y) for x, y in curves[label] if x <= max_efpr}
                # Where two rates differ in the last bit only, they have two steps; the later is the higher.
                roc = theirs["rocs"][label]
                known = dict(zip((round(x, 6) for x in roc["efpr"]), roc["tpr"], strict=True))
                assert steps == pytest.approx(known, rel=1e-12)
        assert max(y for _, y in psd_roc(curves, alpha_st)) <= 1


def _same_best_f(case, found, criteria):
    theirs = peer.best(case, "intersection", dtc=criteria["dtc"], gtc=criteria["gtc"])
    n_ref = Counter(event[1] for event in case.events())
    for label in LABELS:
        f = {level: f_measure(c.tp[label], c.fp[label], n_ref[label]) for level, c in found.items()}
        best = max(f.values())
        assert float(best) == pytest.approx(theirs[label]["f1"], abs=1e-12)
        threshold = theirs[label]["threshold"]
        if best == 0:
            assert threshold == math.inf
            continue
        # Where their floats tell two equal F apart, theirs may be the lower threshold, never the higher.
        assert threshold < max(level for level, value in f.items() if value == best)
        assert f[min(level for level in f if level > threshold)] == best
    macro = sum(theirs[label]["f1"] for label in LABELS) / len(LABELS)
    assert macro == pytest.approx(theirs["macro_average"]["f1"], abs=1e-12)


def test_the_cases_have_something_of_everything():
    seen = Counter()
    for seed, levels, criteria in CASES:
        case = peer.made(seed, levels)
        for label, theirs in peer.statistics(case, **criteria).items():
            seen["tp"] += max(theirs["tp"]) > 0
            seen["fp"] += max(theirs["fp"]) > 0
            seen["ct"] += any(max(values) > 0 for values in theirs["ct"].values())
            seen["recall falls as the threshold does"] += any(np.diff(theirs["tp"][:-1]) > 0)
            seen["found without false alarm"] += any(
                tp and not fp for tp, fp in zip(theirs["tp"], theirs["fp"], strict=True)
            )
            column = np.concatenate([v[:, LABELS.index(label)] for v in case.scores.values()])
            distinct = len(np.unique(column)) == len(column)
            seen["tied" if not distinct else "distinct"] += 1
        score = peer.psds(case, **criteria, alpha_ct=0.5, alpha_st=1.0, max_efpr=100.0)
        seen["psds"] += 0 < score["psds"] < 1
    wanted = ("tp", "fp", "ct", "tied", "distinct", "psds")
    wanted += ("recall falls as the threshold does", "found without false alarm")
    assert all(seen[name] >= 10 for name in wanted), seen
