"""Exchanged arguments: scores of a system as the reference, and events of the reference as the system."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft import EvaluationError, evaluate

EVENTS = [{"filename": "a", "onset": 0.0, "offset": 3.0, "event_label": "car"}]


def steps(length, values):
    """Return rows of time steps of one class."""
    return [
        {
            "filename": "a",
            "onset": k * length,
            "offset": (k + 1) * length,
            "event_label": "car",
            "value": value,
        }
        for k, value in enumerate(values)
    ]


SCORES = np.random.default_rng(0).random(100).round(4).tolist()


def said(reference, system, **settings):
    return [text for text in evaluate(reference, system, **settings).warnings if "are exchanged" in text]


def test_frames_as_the_reference_of_events_are_noticed():
    (line,) = said(steps(0.064, SCORES), EVENTS)
    assert line.endswith("give the reference first")
    with pytest.raises(EvaluationError, match="are exchanged"):
        evaluate(steps(0.064, SCORES), EVENTS, strict=True)


@pytest.mark.parametrize(
    ("reference", "system"),
    [
        (EVENTS, steps(0.064, SCORES)),
        # Both have values, and nobody can tell.
        (steps(0.064, SCORES), steps(0.064, SCORES)),
        # Annotators answer in seconds, or with few values.
        (steps(1.0, SCORES), EVENTS),
        (steps(0.2, [k % 6 / 5 for k in range(100)]), EVENTS),
    ],
)
def test_what_may_be_a_reference_is_not_doubted(reference, system):
    assert not said(reference, system)
