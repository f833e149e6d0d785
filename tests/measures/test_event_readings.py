"""The optimal and soft readings of events, against the hard reading at one level after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.settings import Settings

COUNTS = ("tp", "n_ref", "n_sys", "substitutions", "deletions", "insertions")
LABELS = ("car", "dog")


def random_rows(rng: np.random.Generator, levels: int):
    rows = []
    for _ in range(int(rng.integers(0, 9))):
        onset = int(rng.integers(0, 30))
        offset = onset + int(rng.integers(0, 12))
        value = int(rng.integers(0, levels + 1)) / levels
        rows.append((str(rng.choice(["a", "b"])), onset / 10, offset / 10, str(rng.choice(LABELS)), value))
    return long_rows(rows, files=["a", "b"])


@pytest.mark.parametrize("events", ["rows", "merge"])
@pytest.mark.parametrize("seed", range(20))
def test_readings_are_the_hard_one_at_every_level(seed, events):
    """Overlapping and touching rows, gaps, ties, rows of no extent; with and without offsets."""
    rng = np.random.default_rng(seed)
    levels = int(rng.integers(1, 5))
    sides = random_rows(rng, levels), random_rows(rng, levels)
    chosen = Settings(
        classes=LABELS, events=events, onset_collar=0.3, offset=bool(seed % 2), only=("event.hard",)
    )
    cuts = [(step + 0.5) / levels for step in range(levels)]
    got = evaluate_rows(*sides, replace(chosen, only=("event.soft", "event.optimal")))
    hard = [evaluate_rows(*sides, replace(chosen, threshold=cut)) for cut in cuts]
    for name in COUNTS:
        wanted = sum(scores[f"event.hard.{name}.micro"] for scores in hard) / levels
        assert got[f"event.soft.{name}.micro"] == pytest.approx(wanted, abs=1e-9)
    swept = [evaluate_rows(*sides, replace(chosen, threshold=cut, reference_threshold=0.5)) for cut in cuts]
    for label in LABELS:
        if got[f"event.optimal.n_ref[{label}]"]:
            best = max(scores[f"event.hard.f1[{label}]"] for scores in swept)
            assert got[f"event.optimal.f1[{label}]"] == pytest.approx(best, abs=1e-12)
            threshold = got[f"event.optimal.threshold[{label}]"]
            at = evaluate_rows(*sides, replace(chosen, threshold=threshold, reference_threshold=0.5))
            assert at[f"event.hard.f1[{label}]"] == pytest.approx(best, abs=1e-12)
