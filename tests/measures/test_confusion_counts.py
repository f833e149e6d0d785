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


@pytest.mark.parametrize("threshold", [0.25, 0.5])
@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("events", ["merge", "rows"])
@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("matching", ["optimal", "greedy"])
def test_events_and_cells_are_those_of_the_hard_reading(threshold, inclusive, events, pool, matching):
    if inclusive and not threshold:
        return  # silence would be active: refused
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


@pytest.mark.parametrize("seed", range(4))
def test_of_events_the_table_goes_neither_by_the_order_of_rows_nor_by_the_matching(seed):
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        onset = (rng.integers(0, 30, 40) / 10).tolist()
        labels = rng.choice(LABELS, 40).tolist()
        sides.append([("a", on, on + 1, label) for on, label in zip(onset, labels, strict=True)])
    asked = {"only": ("event.hard",), "measures": "confusion", "classes": LABELS}
    wanted = evaluate(*(long_rows(sorted(side)) for side in sides), **asked).confusion
    assert sum(map(sum, wanted[0].pairs)) > sum(wanted[0].pairs[k][k] for k in range(3)) > 0
    for chosen in ({}, {"matching": "greedy"}, {"compat": "sed_eval"}):
        assert evaluate(*map(long_rows, sides), **asked, **chosen).confusion == wanted, chosen
