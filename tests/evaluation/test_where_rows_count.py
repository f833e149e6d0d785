"""Rows count after the ends of recordings, and in segments that they hardly reach."""

from __future__ import annotations

import pytest
from tables import columns_of

import sedeval_soft

FILES, LABELS = ("a", "b", "c"), ("car", "dog")


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize(
    ("length", "onset", "offset"), [("1/3", 0.333, 0.334), ("1024/44100", 0.139, 0.14), ("1/3", 0.0, 0.001)]
)
def test_an_event_of_a_millisecond_is_in_a_segment_and_its_copy_is_right(length, onset, offset, pool):
    table = columns_of([("a", onset, offset, "car", 1.0)])
    for durations in (None, {"a": offset}, {"a": 5.0}):
        scores = sedeval_soft.evaluate(table, table, segment_length=length, pool=pool, durations=durations)
        assert 0 < scores["segment.soft.n_ref[car]"] <= 1
        assert scores["segment.soft.f1.macro"] == scores["segment.soft.recall[car]"] == 1.0


@pytest.mark.parametrize(("onset", "offset", "n"), [(0.333, 0.334, 1), (0.666, 0.667, 1)])
def test_an_event_at_an_edge_is_in_the_segment_that_contains_most_of_it(onset, offset, n):
    """Both ends are within their rounding of an edge of thirds of seconds."""
    events = [columns_of([("a", *ends, "car", 1.0)]) for ends in ((onset, offset), (n / 3, (n + 1) / 3))]
    scores = sedeval_soft.evaluate(*events, segment_length="1/3", durations={"a": 5.0})
    assert scores["segment.hard.f1.micro"] == 1.0


def silent_and_loud():
    """Return a reference that declares b.wav as a file without events, and a system that is loud there."""
    ours = columns_of([("a.wav", 2.0, 4.0, "car", 1.0)], ("b.wav",))
    loud = [("a.wav", 0.0, 2.0, 0.1), ("a.wav", 2.0, 4.0, 0.6), ("b.wav", 0.0, 10.0, 0.9)]
    return ours, columns_of([(file, on, off, "car", value) for file, on, off, value in loud])


def test_false_alarms_in_a_file_of_unknown_length_are_false_and_scores_over_cells_say_what_they_lack():
    """By hand: 2 of 4 s are active and found, and ten are false: (2 + 2) / (2 + 2 + 10)."""
    sides = silent_and_loud()
    scores = sedeval_soft.evaluate(*sides, measures=("curves", "calibration"))
    assert scores["segment.hard.accuracy.micro"] == pytest.approx(4 / 14)
    assert scores["segment.hard.roc_auc.macro"] == 1.0
    (line,) = [text for text in scores.warnings if "no known length" in text]
    assert all(text in line for text in ("'b.wav'", "segment.soft.kl_divergence", "ROC", "calibration"))
    with pytest.raises(sedeval_soft.EvaluationError, match="no known length"):
        sedeval_soft.evaluate(*sides, strict=True)
    counts = sedeval_soft.evaluate(*sides, strict=True, only=("segment.hard", "event", "clip"))
    assert counts["segment.hard.fp.micro"] == 10


def test_a_file_that_only_the_system_has_is_no_clip_of_the_reference():
    ours, theirs = silent_and_loud()
    ours = {name: column[:1] for name, column in ours.items()}
    scores = sedeval_soft.evaluate(ours, theirs, only="clip")
    # One clip is right, and one is a false alarm.
    assert scores["clip.hard.accuracy.micro"] == 0.5
    assert any("no clip in the reference" in text and "clip.soft.kl_" in text for text in scores.warnings)
