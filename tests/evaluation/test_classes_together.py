"""Many classes with few values are counted together: each has the scores that it has alone."""

from __future__ import annotations

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.settings import Settings

FILES, LENGTHS = ("x", "y"), {"x": 30.0, "y": 20.0}
CLASSES = tuple(f"c{k:02}" for k in range(12))
ASKED = {"only": ("segment", "clip", "event"), "measures": ("curves", "calibration", "divergence")}


def table_of(seed: int):
    """Twelve classes in two files; some have values without a common unit, some only tiny ones."""
    rng, rows = np.random.default_rng(seed), []
    for k, label in enumerate(CLASSES):
        for second in rng.choice(50, int(rng.integers(1, 5)), replace=False).tolist():
            file, onset = ("x", second) if second < 30 else ("y", second - 30)
            value = float(rng.integers(1, 11)) / 10
            if k % 10 == 8:
                value = float(rng.random())
            if k % 10 == 9 and seed % 2:
                value *= 1e-170
            rows.append((file, float(onset), onset + 1.0, label, value))
    return long_rows(rows, files=FILES)


@pytest.mark.parametrize("seed", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_a_class_has_the_scores_that_it_has_alone(seed):
    sides = table_of(2 * seed), table_of(2 * seed + 1)
    together = evaluate_rows(*sides, Settings.of(classes=CLASSES, **ASKED), LENGTHS)
    for label in CLASSES:
        alone = evaluate_rows(*sides, Settings.of(classes=(label,), **ASKED), LENGTHS)
        names = [name for name in alone if name.endswith(f"[{label}]")]
        assert len(names) > 80
        assert {n: together[n] for n in names} == pytest.approx({n: alone[n] for n in names}, abs=1e-12)
