"""Bias and spread of onsets and offsets of matched events, by hand."""

from __future__ import annotations

from statistics import fmean, pstdev

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft import evaluate

ENDS = ("onset", "offset")


def boundaries(scores, form: str) -> list[float | None]:
    return [scores[f"event.hard.{end}_{name}{form}"] for end in ENDS for name in ("bias", "spread")]


def test_by_hand():
    """Onsets 0.1 s late and 0.1 s early: no bias, spread 0.1. Offsets 0.2 s and 0 s late: bias 0.1."""
    reference = long_rows([("f", 1.0, 2.0, "a"), ("f", 11.0, 12.0, "a"), ("f", 21.0, 22.0, "a")])
    system = long_rows([("f", 1.1, 2.2, "a"), ("f", 10.9, 12.0, "a"), ("f", 31.0, 32.0, "a")])
    scores = evaluate(reference, system, only="event.hard")
    assert scores["event.hard.tp.micro"] == 2
    assert boundaries(scores, ".micro") == pytest.approx([0.0, 0.1, 0.1, 0.1], abs=1e-12)
    assert boundaries(scores, "[a]") == boundaries(scores, ".micro")


def test_late_is_above_0():
    reference = long_rows([("f", 1.0, 2.0, "a")])
    for late in (0.15, -0.15):
        scores = evaluate(reference, long_rows([("f", 1.0 + late, 2.0 + late, "a")]), only="event.hard")
        assert boundaries(scores, ".micro") == pytest.approx([late, 0.0, late, 0.0], abs=1e-12)


def test_a_perfect_system_is_off_by_exactly_nothing():
    rows = long_rows([("f", k / 7, k / 7 + 0.1, "a") for k in range(50)])
    scores = evaluate(rows, rows, only="event.hard")
    assert boundaries(scores, ".micro") == [0.0, 0.0, 0.0, 0.0]


def test_undefined_without_a_match():
    reference = long_rows([("f", 1.0, 2.0, "a"), ("f", 1.0, 2.0, "b")])
    system = long_rows([("f", 5.0, 6.0, "a"), ("f", 1.0, 2.0, "b")])
    scores = evaluate(reference, system, only="event.hard")
    assert boundaries(scores, "[a]") == [None] * 4
    assert boundaries(scores, "[b]") == boundaries(scores, ".micro") == [0.0] * 4
    scores = evaluate(reference, system, only="event.hard", classes=["a"])
    assert boundaries(scores, ".micro") == [None] * 4


def test_what_is_not_looked_at_is_measured_all_the_same():
    """Onset only: the offset may be anywhere, and is told."""
    reference, system = long_rows([("f", 1.0, 2.0, "a")]), long_rows([("f", 1.1, 7.0, "a")])
    scores = evaluate(reference, system, only="event.hard", offset=False)
    assert boundaries(scores, "[a]") == pytest.approx([0.1, 0.0, 5.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("matching", ["optimal", "greedy"])
@pytest.mark.parametrize("compat", [None, "sed_eval"])
def test_random_deviations(matching, compat):
    """Over files and classes, with misses and false alarms between; each event has one to match only."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        reference, system = [], []
        off: dict[str, list[tuple[float, float]]] = {"a": [], "b": [], "c": []}
        for k in range(int(rng.integers(1, 40))):
            file, label = f"file{rng.integers(3)}", str(rng.choice(["a", "b", "c"]))
            onset, length = 10.0 * k, float(rng.integers(1, 5))
            reference.append((file, onset, onset + length, label))
            fate = rng.integers(4)
            late = [round(float(x), 3) for x in rng.uniform(-0.19, 0.19, 2)]
            if fate == 0:
                late[0] += 1.0
            if fate == 1:
                continue
            system.append((file, max(0.0, onset + late[0]), onset + length + late[1], label))
            if fate > 1:
                off[label].append((max(late[0], -onset), late[1]))
        reference.extend(("file0", 1000.0, 1001.0, label) for label in off)
        tables = [long_rows([side[i] for i in rng.permutation(len(side))]) for side in (reference, system)]
        settings = {"only": "event.hard", "matching": matching, "compat": compat, "classes": list(off)}
        scores = evaluate(*tables, **settings)
        everything = [pair for pairs in off.values() for pair in pairs]
        for form, pairs in ((".micro", everything), *((f"[{label}]", off[label]) for label in off)):
            assert scores[f"event.hard.tp{form}"] == len(pairs)
            wanted = [f(end) for end in zip(*pairs, strict=True) for f in (fmean, pstdev)] or [None] * 4
            assert boundaries(scores, form) == (pytest.approx(wanted, abs=1e-9) if pairs else wanted)


def test_the_order_of_rows_does_not_matter():
    """Where several could be matched, the pairs are the same whatever the order of the table."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        sides = [
            [
                ("f", float(on := rng.integers(0, 20) / 10), float(on + rng.integers(1, 10) / 10), "a")
                for _ in range(8)
            ]
            for _ in range(2)
        ]
        found = []
        for _ in range(4):
            tables = [long_rows([side[i] for i in rng.permutation(8)]) for side in sides]
            found.append(boundaries(evaluate(*tables, only="event.hard"), ".micro"))
        assert found == [found[0]] * 4
