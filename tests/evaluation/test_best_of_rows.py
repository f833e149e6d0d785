"""Best thresholds of rows of whole seconds, against fractions: each number from 0 on is tried.

Events on whole seconds match where onset and offset are the same: collars are shorter than a second.
"""

from __future__ import annotations

import pytest
from tables import long_rows

from sedeval_soft import Settings
from sedeval_soft.api.evaluation import evaluate_rows


def test_a_class_without_values_above_0_is_never_detected():
    """F of the class is 0, not that of all segments: 2 * 3 / (3 + 11) = 0.43 where another class goes on."""
    reference = long_rows([("a", 0, 3, "car", 1.0), ("a", 4, 5, "dog", 1.0)])
    system = long_rows([("a", 0, 3, "car", 0.0), ("a", 10, 11, "x", 0.7), ("a", 4, 5, "dog", 0.4)])
    found = evaluate_rows(reference, system, Settings(measures=("joint",)))
    for basis in ("segment", "event"):
        scores = {name: found[f"{basis}.optimal.{name}[car]"] for name in ("f1", "n_sys", "threshold")}
        assert scores == {"f1": 0.0, "n_sys": 0, "threshold": None}
        assert found[f"{basis}.optimal.threshold[dog]"] == 0.2
        assert found[f"{basis}.optimal.joint_threshold[car]"] is None
    # One hit, one false alarm of x, three misses: x has no reference, and so no threshold that detects it.
    assert found["segment.optimal.f1.micro"] == pytest.approx(2 / 5, abs=1e-15)
