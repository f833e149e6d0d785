"""Best thresholds of rows of whole seconds, against fractions: each number from 0 on is tried.

Events on whole seconds match where onset and offset are the same: collars are shorter than a second.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft import Settings
from sedeval_soft.api.evaluation import evaluate_rows

SECONDS, LABELS, FILES = 6, ("car", "dog"), ("a", "b")
VALUES = ("0", "0.05", "0.3", "0.31", "0.6", "1")

Values = dict[tuple[str, str], list[str]]


def values_of(drawn: list[str]) -> Values:
    """The value of each second, by file and class."""
    keys = itertools.product(FILES, LABELS)
    return {key: drawn[k * SECONDS : (k + 1) * SECONDS] for k, key in enumerate(keys)}


SIDES = st.lists(st.sampled_from(VALUES), min_size=24, max_size=24).map(values_of)


def table(values: Values, labels=LABELS):
    rows = [
        (file, k, k + 1, label, float(value))
        for (file, label), column in values.items() if label in labels
        for k, value in enumerate(column)
    ]  # fmt: skip
    return long_rows(rows, files=FILES)


def things(values: Values, label: str, basis: str, at: Fraction, inclusive: bool) -> set[tuple]:
    """The active seconds of a class, or its events: runs of active seconds."""
    found = set()
    for file in FILES:
        above = [Fraction(v) > 0 and (Fraction(v) >= at if inclusive else Fraction(v) > at)
                 for v in values[file, label]]  # fmt: skip
        if basis == "segment":
            found |= {(file, k) for k, on in enumerate(above) if on}
            continue
        edges = [
            k for k, (one, other) in enumerate(itertools.pairwise([False, *above, False])) if one != other
        ]
        found |= {(file, *pair) for pair in zip(edges[::2], edges[1::2], strict=True)}
    return found


def best(reference: Values, system: Values, label: str, basis: str, inclusive: bool):
    """The best F, TP and N_sys, and the range of thresholds that have both; None for no upper end."""
    ours = things(reference, label, basis, Fraction(1, 2), inclusive)
    levels = sorted({Fraction(v) for file in FILES for v in system[file, label]} | {Fraction(0)})
    # Between two neighbouring levels, and above all, any threshold does for all.
    tried = [(low + high) / 2 for low, high in itertools.pairwise(levels)] + [levels[-1] + 1]
    counts = []
    for at in tried:
        theirs = things(system, label, basis, at, inclusive)
        counts.append((len(ours & theirs), len(theirs)))
    f = [Fraction(2 * tp, max(len(ours) + n_sys, 1)) for tp, n_sys in counts]
    top = max(k for k in range(len(f)) if f[k] == max(f))
    bottom = top
    while bottom and counts[bottom - 1] == counts[top]:
        bottom -= 1
    high = levels[top + 1] if top + 1 < len(levels) else None
    return len(ours), f[top], counts[top], levels[bottom], high


QUIET = values_of(["0"] * 24)
HALVES = values_of(["0.6", "0", "0", "0", "0", "0.6"] * 4)


@pytest.mark.parametrize("basis", ["segment", "event"])
@settings(max_examples=25, deadline=None)
@given(SIDES, SIDES, st.booleans())
@example(HALVES, QUIET, False)
@example(values_of(["0.6"] * 24), values_of(["0", "0.3"] * 12), True)
def test_the_best_threshold_is_that_of_all_and_the_shortest_of_those_that_count_the_same(
    basis, reference, system, inclusive
):
    how = Settings(only=(f"{basis}.optimal",), inclusive=inclusive, offset_collar_rate=0.0, classes=LABELS)
    found = evaluate_rows(table(reference), table(system), how, dict.fromkeys(FILES, float(SECONDS)))
    scores = {name.removeprefix(f"{basis}.optimal."): value for name, value in found.items()}
    pooled = []
    for label in LABELS:
        n_ref, f, counts, low, high = best(reference, system, label, basis, inclusive)
        pooled.append((n_ref, *counts))
        assert (scores[f"tp[{label}]"], scores[f"n_sys[{label}]"]) == counts
        if n_ref:
            assert scores[f"f1[{label}]"] == pytest.approx(float(f), abs=1e-15)
        threshold = scores[f"threshold[{label}]"]
        if high is None:
            assert threshold is None
            continue
        written = Fraction(repr(threshold))
        assert low < written < high
        # No number of fewer decimals lies in the range, and none of as many is nearer to its middle.
        digits = len(repr(threshold).partition(".")[2])
        inside = {k: [Fraction(n, 10**k) for n in range(10**k + 1) if low < Fraction(n, 10**k) < high]
                  for k in range(1, digits + 1)}  # fmt: skip
        assert not any(inside[k] for k in range(1, digits))
        middle = (low + high) / 2
        # Half the sum of floats may be off by a rounding where two are as near.
        assert abs(written - middle) <= min(abs(each - middle) for each in inside[digits])
    n_ref, tp, n_sys = (sum(each) for each in zip(*pooled, strict=True))
    if n_ref:
        assert scores["f1.micro"] == pytest.approx(2 * tp / (n_ref + n_sys), abs=1e-15)


@pytest.mark.parametrize("basis", ["segment", "event"])
@settings(max_examples=8, deadline=None)
@given(SIDES, SIDES, st.integers(7, 30))
def test_the_best_of_a_class_does_not_depend_on_rows_of_others(basis, reference, system, later):
    """Another class of the system may even go on after the end of what has a length."""
    how = Settings(only=(f"{basis}.optimal",), classes=LABELS)
    alone = evaluate_rows(table(reference), table(system, ("car",)), how)
    rows = table({**system, ("a", "dog"): ["0"] * later + ["0.6"]})
    together = evaluate_rows(table(reference), rows, how)
    for name in ("f1", "tp", "n_sys", "threshold"):
        key = f"{basis}.optimal.{name}[car]"
        assert alone[key] == together[key]


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
