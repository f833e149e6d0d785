"""Confusion adds up to the counts of the hard reading, whatever the settings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft import evaluate

FILES, LABELS = ("a", "b"), ("car", "dog", "talk")


def steps(seed, values):
    rng = np.random.default_rng(seed)
    return long_rows(
        [
            (file, k, k + 1, label, float(rng.choice(values)))
            for file, label, k in itertools.product(FILES, LABELS, range(6))
            if rng.random() < 0.7
        ],
        files=FILES,
    )


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("events", ["merge", "rows"])
@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("matching", ["optimal", "greedy"])
def test_events_and_cells_are_those_of_the_hard_reading(threshold, inclusive, events, pool, matching):
    scores = evaluate(
        steps(0, [0.0, 0.25, 0.5, 1.0]),
        steps(1, [0.0, 0.25, 0.5, 1.0]),
        threshold=threshold, inclusive=inclusive, events=events, pool=pool, matching=matching,
        measures="confusion", only=("segment.hard", "clip.hard", "event.hard"),
    )  # fmt: skip
    assert [table.basis for table in scores.confusion] == ["segment", "clip", "event"]
    for table in scores.confusion:
        pairs = np.array(table.pairs)
        for k, label in enumerate(table.classes):
            n_ref, n_sys, tp = (
                scores[f"{table.basis}.hard.{name}[{label}]"] for name in ("n_ref", "n_sys", "tp")
            )
            if table.basis == "event":
                assert pairs[k].sum() + table.missed[k] == n_ref
                assert pairs[:, k].sum() + table.inserted[k] == n_sys
                assert pairs[k, k] == tp if matching == "optimal" else pairs[k, k] >= tp
            else:
                assert pairs[k, k] == tp
                assert pairs[k, k] + table.missed[k] <= n_ref
                assert pairs[k, k] + table.inserted[k] <= n_sys
