"""Where rows count: after ends, in segments they hardly reach, as means. Against oracles in fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import sedeval_soft
from sedeval_soft.timeline.grid import Grid

Row = tuple[str, Fraction, Fraction, str, Fraction]

FILES, LABELS = ("a", "b", "c"), ("car", "dog")
HALF = Fraction(1, 2)


def random_side(rng: random.Random, files: tuple[str, ...], labels: tuple[str, ...]) -> list[Row]:
    """Up to eight rows of tenths of seconds, whose values are eighths."""
    rows = []
    for _ in range(rng.randint(1, 8)):
        onset, length = Fraction(rng.randint(0, 60), 10), Fraction(rng.randint(1, 25), 10)
        value = Fraction(rng.randint(1, 8), 8)
        rows.append((rng.choice(files), onset, onset + length, rng.choice(labels), value))
    return rows


def as_table(rows: list[Row], declared: tuple[str, ...] = ()) -> dict[str, list]:
    every = [*rows, *((name, None, None, None, None) for name in declared)]
    names = ("filename", "onset", "offset", "event_label", "value")
    cells = ([float(cell) if isinstance(cell, Fraction) else cell for cell in row] for row in every)
    return dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))


def cells(
    rows: list[Row], name: str, label: str, step: Fraction, n: int, pool: str, end: Fraction | None
) -> list[Fraction]:
    """The values of n segments of a file; end: where its recording ends, if a duration says so."""
    own = [row for row in rows if (row[0], row[3]) == (name, label)]
    values = []
    for k in range(n):
        begin, until = k * step, (k + 1) * step
        inside = [row for row in own if row[1] < until and row[2] > begin]
        if pool == "max":
            values.append(max((row[4] for row in inside), default=Fraction(0)))
            continue
        until = until if end is None else min(until, end)
        cuts = sorted({begin, until, *(t for row in inside for t in row[1:3] if begin < t < until)})
        total = Fraction(0)
        for left, right in zip(cuts, cuts[1:], strict=False):
            covering = [row[4] for row in inside if row[1] <= left and row[2] >= right]
            total += max(covering, default=Fraction(0)) * (right - left)
        values.append(total / (until - begin))
    return values


def expected(
    ours: list[Row], theirs: list[Row], durations: dict[str, Fraction] | None, step: Fraction, pool: str
) -> dict[str, Fraction | None]:
    """Counts and scores of every class and of all together, cell by cell."""
    files = {*durations, *FILES} if durations is not None else {*FILES, *(row[0] for row in theirs)}
    known = {row[3] for row in ours}
    scores: dict[str, Fraction | None] = {}
    total = dict.fromkeys(("tp", "fp", "fn", "tn", "silent", "y", "p", "both"), Fraction(0))
    for label in sorted({row[3] for row in (*ours, *(row for row in theirs if row[0] in files))}):
        own = dict.fromkeys(total, Fraction(0))
        for name in files:
            end = None if durations is None else durations.get(name)
            last = max((row[2] for row in ours if row[0] == name), default=Fraction(0))
            reach = max((row[2] for row in theirs if row[0] == name), default=Fraction(0))
            n_known = math.ceil((last if end is None else end) / step)
            n = n_known if end is not None else max(n_known, math.ceil(reach / step))
            for k, (y, p) in enumerate(
                zip(*(cells(rows, name, label, step, n, pool, end) for rows in (ours, theirs)), strict=True)
            ):
                own["y"], own["p"], own["both"] = own["y"] + y, own["p"] + p, own["both"] + min(y, p)
                own["tp"] += y > HALF and p > HALF
                own["fp"] += y <= HALF < p
                own["fn"] += p <= HALF < y
                # Nothing that a system adds makes silence to be right about.
                own["silent"] += y <= HALF and k < n_known and label in known
                own["tn"] += max(y, p) <= HALF and k < n_known and label in known
        scores |= values_of(own, f"[{label}]")
        total = {what: total[what] + own[what] for what in total}
    return scores | values_of(total, ".micro")


def values_of(n: dict[str, Fraction], average: str) -> dict[str, Fraction | None]:
    def share(part: Fraction, whole: Fraction) -> Fraction | None:
        return part / whole if whole else None

    # Of a reference that is active throughout false alarms elsewhere make no specificity.
    recall, silence = share(n["tp"], n["tp"] + n["fn"]), share(n["tn"], n["silent"] and n["tn"] + n["fp"])
    hard = {
        **{what: n[what] for what in ("tp", "fp", "fn", "tn")},
        "accuracy": share(n["tp"] + n["tn"], n["tp"] + n["fp"] + n["fn"] + n["tn"]),
        "specificity": silence,
        "balanced_accuracy": None if recall is None or silence is None else (recall + silence) / 2,
        "npv": share(n["tn"], n["tn"] + n["fn"]),
    }
    soft = {"n_ref": n["y"], "n_sys": n["p"], "tp": n["both"], "f1": share(2 * n["both"], n["y"] + n["p"])}
    return {f"segment.hard.{name}{average}": value for name, value in hard.items()} | {
        f"segment.soft.{name}{average}": value for name, value in soft.items()
    }


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("lengths", ["unknown", "given"])
def test_every_false_alarm_counts_and_means_are_of_whole_segments(pool, lengths):
    """By an oracle in fractions; a reference of three files, two of which may be declared without events."""
    rng = random.Random(f"{pool} {lengths}")  # noqa: S311
    for _ in range(12):
        step = rng.choice([Fraction(1), HALF, Fraction(3, 10), Fraction(5, 2)])
        ours = random_side(rng, FILES[: rng.randint(1, 3)], LABELS)
        theirs = random_side(rng, (*FILES, "x"), (*LABELS, "cat"))
        durations = None
        if lengths == "given":
            last = {name: max((row[2] for row in ours if row[0] == name), default=0) for name in FILES}
            durations = {name: last[name] + Fraction(rng.randint(1, 30), 10) for name in FILES}
        seconds = None if durations is None else {name: float(end) for name, end in durations.items()}
        scores = sedeval_soft.evaluate(
            as_table(ours, FILES), as_table(theirs), durations=seconds,
            segment_length=float(step), pool=pool, only=("segment.hard", "segment.soft"),
        )  # fmt: skip
        for name, value in expected(ours, theirs, durations, step, pool).items():
            found = scores[name]
            assert (found is None) == (value is None), name
            assert found is None or found == pytest.approx(float(value), abs=1e-9), name


@pytest.mark.parametrize("step", [Fraction(1, 3), Fraction(1024, 44100), Fraction(1, 7), Fraction(1)])
def test_a_row_with_a_length_is_in_one_segment_at_the_least(step):
    """Rows of 1 to 4 ms, by an oracle in fractions: an end within its rounding of an edge is on that edge.

    Times have three decimals, of which one unit is the rounding where the length of a segment has more. Edges
    are whole microseconds.
    """
    rng, unit = random.Random(str(step)), Fraction(1, 1000)  # noqa: S311
    slack = 0 if step == 1 else unit
    onsets = [max(0, round(rng.randint(0, 60) * step / unit) + rng.randint(-5, 5)) for _ in range(2000)]
    rows = [(onset, onset + rng.randint(1, 4)) for onset in onsets]
    first, last = Grid.over(np.array([10**8]), step * 10**6).cells(
        np.zeros(len(rows), dtype=np.int32), *(1000 * np.array(ends) for ends in zip(*rows, strict=True))
    )
    n_short = 0
    for (begin, end), found in zip(rows, zip(first.tolist(), last.tolist(), strict=True), strict=True):
        onset, offset = begin * unit, end * unit
        nearest = [round(time / step) for time in (onset, offset)]
        on = [abs(time - k * step) <= slack for time, k in zip((onset, offset), nearest, strict=True)]
        wanted = (nearest[0] if on[0] else onset // step, nearest[1] if on[1] else math.ceil(offset / step))
        if wanted[1] <= wanted[0]:
            n_short += 1
            edge = round(wanted[0] * step * 10**6) / Fraction(10**6)
            before, after = min(edge, offset) - onset, offset - max(edge, onset)
            k = wanted[0] - (before > after)
            wanted = (k, k + 1)
        assert found == wanted
    assert n_short > 10 or step == 1


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize(
    ("length", "onset", "offset"), [("1/3", 0.333, 0.334), ("1024/44100", 0.139, 0.14), ("1/3", 0.0, 0.001)]
)
def test_an_event_of_a_millisecond_is_in_a_segment_and_its_copy_is_right(length, onset, offset, pool):
    table = as_table([("a", onset, offset, "car", 1.0)])
    for durations in (None, {"a": offset}, {"a": 5.0}):
        scores = sedeval_soft.evaluate(table, table, segment_length=length, pool=pool, durations=durations)
        assert 0 < scores["segment.soft.n_ref[car]"] <= 1
        assert scores["segment.soft.f1.macro"] == scores["segment.soft.recall[car]"] == 1.0


def silent_and_loud() -> tuple[dict[str, list], dict[str, list]]:
    """Return a reference that declares b.wav as a file without events, and a system that is loud there."""
    ours = as_table([("a.wav", 2.0, 4.0, "car", 1.0)], ("b.wav",))
    del ours["value"]
    return ours, as_table(
        [("a.wav", 0.0, 2.0, "car", 0.1), ("a.wav", 2.0, 4.0, "car", 0.6), ("b.wav", 0.0, 10.0, "car", 0.9)]
    )


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
