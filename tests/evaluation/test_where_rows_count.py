"""Where rows count: after ends, in segments they hardly reach, as means. Against oracles in fractions."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from oracles import segment_values
from tables import columns_of

import sedeval_soft

FILES, LABELS = ("a", "b", "c"), ("car", "dog")


def random_side(rng, files, labels):
    """Up to eight rows of tenths of seconds, whose values are eighths."""
    rows = []
    for _ in range(rng.randint(1, 8)):
        onset, length, value = rng.randint(0, 60), rng.randint(1, 25), rng.randint(1, 8) / 8
        rows.append((rng.choice(files), onset, onset + length, rng.choice(labels), value))
    return rows


def as_table(rows, declared=()):
    """Return rows of tenths of seconds as a table."""
    return columns_of([(f, on / 10, off / 10, label, value) for f, on, off, label, value in rows], declared)


def expected(ours, theirs, durations, step, pool):
    """Return counts and scores of every class and of all together, cell by cell; durations: of all files."""
    files = durations or {*FILES, *(row[0] for row in theirs)}
    known = {row[3] for row in ours}
    scores, total = {}, Counter()
    for label in known | {row[3] for row in theirs if row[0] in files}:
        own = Counter()
        for name in files:
            last, reach = (
                max((row[2] for row in side if row[0] == name), default=0) for side in (ours, theirs)
            )
            n_known = math.ceil((durations[name] if durations else last) / step)
            length = durations[name] if durations else step * max(n_known, math.ceil(reach / step))
            sides = (segment_values(side, name, label, step, length, pool) for side in (ours, theirs))
            for k, (y, p) in enumerate(zip(*sides, strict=True)):
                # Nothing that a system adds makes silence to be right about.
                silent = y <= 0.5 and k < n_known and label in known
                own.update(
                    tp=y > 0.5 < p, fp=y <= 0.5 < p, fn=p <= 0.5 < y, silent=silent, tn=silent and p <= 0.5,
                    y=y, p=p, both=min(y, p),
                )  # fmt: skip
        scores |= values_of(own, f"[{label}]")
        total.update(own)
    return scores | values_of(total, ".micro")


def values_of(n, average):
    def share(part, whole):
        return float(part / whole) if whole else None

    # Of a reference that is active throughout false alarms elsewhere make no specificity.
    recall, silence = share(n["tp"], n["tp"] + n["fn"]), share(n["tn"], n["silent"] and n["tn"] + n["fp"])
    hard = {
        **{count: n[count] for count in ("tp", "fp", "fn", "tn")},
        "accuracy": share(n["tp"] + n["tn"], n["tp"] + n["fp"] + n["fn"] + n["tn"]),
        "specificity": silence,
        "balanced_accuracy": None if recall is None or silence is None else (recall + silence) / 2,
        # No system could be right about silence if the reference is active in every segment.
        "npv": share(n["tn"], n["tn"] + n["fp"] and n["tn"] + n["fn"]),
    }
    soft = {"n_ref": n["y"], "n_sys": n["p"], "tp": n["both"], "f1": share(2 * n["both"], n["y"] + n["p"])}
    return {f"segment.hard.{name}{average}": value for name, value in hard.items()} | {
        f"segment.soft.{name}{average}": value for name, value in soft.items()
    }


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("lengths", ["unknown", "given"])
def test_every_false_alarm_counts_and_means_are_of_whole_segments(pool, lengths):
    """Segment by segment; a reference of three files, two of which may be declared without events."""
    rng = random.Random(f"{pool} {lengths}")  # noqa: S311
    for _ in range(12):
        step = rng.choice([10, 5, 3, 25])
        ours = random_side(rng, FILES[: rng.randint(1, 3)], LABELS)
        theirs = random_side(rng, (*FILES, "x"), (*LABELS, "cat"))
        last = {name: max((row[2] for row in ours if row[0] == name), default=0) for name in FILES}
        durations = {name: end + rng.randint(1, 30) for name, end in last.items()}
        if lengths == "unknown":
            durations = None
        scores = sedeval_soft.evaluate(
            as_table(ours, FILES), as_table(theirs), segment_length=step / 10, pool=pool,
            durations=durations and {name: end / 10 for name, end in durations.items()},
            only=("segment.hard", "segment.soft"),
        )  # fmt: skip
        wanted = expected(ours, theirs, durations, step, pool)
        assert {name: scores[name] for name in wanted} == pytest.approx(
            {name: value and float(value) for name, value in wanted.items()}, abs=1e-9
        )


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
