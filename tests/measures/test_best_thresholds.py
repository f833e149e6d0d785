"""Counts at every threshold and the best thresholds, joint and under a constraint, against trying all.

Tried are four segments of three classes in two files, at thresholds between all their values.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures import thresholds
from sedeval_soft.measures.thresholds import (
    EVERYTHING,
    N_SYS,
    NOTHING,
    PAIRED,
    TP,
    Alive,
    Candidates,
    ThresholdCounts,
    error_merit,
    f_merit,
)
from sedeval_soft.settings import Constraint, Settings

# Counts of lifetimes of events, and of cells.


def drawn(rng, n, labels=3, files=2):
    born, file = rng.integers(0, 8, n), rng.integers(0, files, n).astype(np.int32)
    dies = rng.integers(born + 1, 9) / 8
    return Alive(rng.integers(0, labels, n), file, born / 8, dies, rng.integers(-1, 3, n))


def lives(seed):
    rng = np.random.default_rng(seed)
    return [(drawn(rng, 14), (TP, N_SYS)), (drawn(rng, 9), (N_SYS,)), (drawn(rng, 7), (PAIRED,))]


N_REF = np.array([[2, 0, 1], [3, 0, 4]])
"""Of two files and three classes; the second class has no reference."""


def cells(seed):
    """The scores of three classes, which are positive, and whose they are; and their counts."""
    rng = np.random.default_rng(seed)
    system, file = rng.integers(0, 9, (3, 25)) / 8, rng.integers(0, 2, 25).astype(np.int32)
    positive = rng.random((3, 25)) < [[0.3], [0.0], [0.6]]
    tables = [ThresholdCounts.of_cells(*row) for row in zip(system, positive, strict=True)]
    return system, positive, file, tables


def amounts(seed, row, label, level, weights=None):
    """The sum of what is alive at a level, of one class: that of all, or of files by weights."""
    total = 0.0
    for of, rows in lives(seed):
        alive = (of.label == label) & (of.born < level) & (level <= of.dies) & (row in rows)
        total = total + ((1 if weights is None else weights[:, of.file]) * alive * of.weight).sum(axis=-1)
    return total


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_counts_of_events_are_what_lives_at_a_threshold(seed, apart):
    """A threshold cuts above itself, and a candidate right below; of files by weights, too."""
    for label, table in enumerate(ThresholdCounts.of_lives(lives(seed), N_REF, 3, apart=apart)):
        assert table.n_ref.tolist() == (N_REF[:, label].tolist() if apart else [N_REF[:, label].sum()])
        threshold, counts = table.steps()
        assert threshold[0] == 0.0
        assert apart or (np.diff(threshold) > 0).all()
        last = np.append(np.diff(threshold) > 0, True)
        for row in (TP, N_SYS, PAIRED):
            wanted = [amounts(seed, row, label, np.nextafter(t, 2)) for t in threshold[last]]
            assert counts[row, last].tolist() == wanted
        found = Candidates.of(table, every=True)
        weights = np.random.default_rng(seed).random((2, 2)) if apart else np.ones((1, 1))
        *rows, n_ref = found.counts(weights)
        assert n_ref == pytest.approx(weights @ table.n_ref)
        for row, values in enumerate(rows):
            wanted = [amounts(seed, row, label, level, weights if apart else None) for level in found.value]
            assert values.reshape(len(wanted), -1) == pytest.approx(np.reshape(wanted, (len(wanted), -1)))


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("beta", [None, 0.5, 1.0, 3.0])
def test_the_best_threshold_is_the_highest_of_the_best(beta, inclusive):
    merit = error_merit if beta is None else f_merit(beta)
    positive = [(Alive(*of[:4], np.abs(of.weight)), rows) for seed in range(6) for of, rows in lives(seed)]
    groups = [positive[k : k + 2] for k in range(0, len(positive), 3)]
    tables = [table for group in groups for table in ThresholdCounts.of_lives(group, N_REF)]
    for table in (*tables, *(table for seed in range(6) for table in cells(seed)[-1])):
        threshold, *at_best = table.best(merit, inclusive=inclusive)
        if not table.n_ref[0]:
            assert (threshold, *at_best) == (NOTHING, 0, 0)
            continue
        low, counts = table.steps()
        merits = merit(counts[TP], counts[N_SYS], table.n_ref[0]).tolist()
        best = max(k for k, m in enumerate(merits) if m == max(merits))
        assert at_best == counts[:2, best].tolist()
        if best == len(low) - 1:
            assert threshold == (2.0 if inclusive else 1.0)
        elif low[best + 1] == 0:
            assert threshold == (0.0 if inclusive else EVERYTHING)
        else:
            # Silence is 0: below the lowest score lies that, and below 0 only everything.
            assert threshold == (max(low[best], 0.0) + low[best + 1]) / 2


@pytest.mark.parametrize("seed", range(4))
def test_parts_that_are_merged_are_the_whole(seed):
    system, positive, file, wholes = cells(seed)
    inside = [file == f for f in (0, 1)]
    pairs = zip(system, positive, strict=True)
    parts = [[ThresholdCounts.of_cells(p[i], y[i]) for i in inside] for p, y in pairs]
    split = [[(Alive(*(c[a.file == f] for c in a)), rows) for a, rows in lives(seed)] for f in (0, 1)]
    of_files = [ThresholdCounts.of_lives(part, N_REF[[f]], 3) for f, part in enumerate(split)]
    wholes += ThresholdCounts.of_lives(lives(seed), N_REF, 3)
    for of_parts, whole in zip([*parts, *zip(*of_files, strict=True)], wholes, strict=True):
        merged = ThresholdCounts.merge(of_parts)
        for name in ("level", "changes", "n_ref", "lowest"):
            assert np.array_equal(getattr(merged, name), getattr(whole, name)), name
        assert ThresholdCounts.merge([whole]) is whole


def of_cells(scores, positive, file, n_files):
    return Candidates.of(ThresholdCounts.of_cells(scores, positive, file, n_files), every=False)


@pytest.mark.parametrize("at_once", [1 << 16, 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_weighted_cells_is_that_of_their_copies(monkeypatch, seed, at_once):
    """Many weights together or one after another."""
    monkeypatch.setattr(thresholds, "_AT_ONCE", at_once)
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 9, 60) / 8, rng.random(60) < 0.4
    file = rng.integers(0, 4, 60).astype(np.int32)
    weights = np.vstack([np.zeros(4), rng.integers(0, 3, (7, 4))]).astype(np.float64)
    found = of_cells(scores, positive, file, 4)
    ((place, tp, n_sys, n_ref),) = found.best(weights, [f_merit(1.0)])
    at = found.thresholds(weights, place, inclusive=False)
    for row, copies in enumerate(weights[:, file].astype(int)):
        y, p = np.repeat(positive, copies), np.repeat(scores, copies)
        if not y.any():
            assert (place[row], n_sys[row], np.isnan(at[row])) == (-1, 0, True)
            continue
        f = {t: 2 * (y & (p > t)).sum() / max(y.sum() + (p > t).sum(), 1) for t in (1.0, *p, -1.0)}
        low = max(t for t, value in f.items() if value == max(f.values()))
        high = min(v for v in p if v > low)
        assert at[row] == (low + high) / 2 if low >= 0 else at[row] in (high / 2, -1.0)
        assert (tp[row], n_sys[row], n_ref[row]) == ((y & (p > low)).sum(), (p > low).sum(), y.sum())


def test_a_plateau_of_events_goes_on_while_the_merit_stays():
    """Steps from 0, 1/4, 1/2 and 3/4 up, of 2, 2, 2, 1 hits in 6, 3, 3, 1 events: two are as good."""
    level, changes = np.array([0.25, 0.5, 0.75]), np.array([[0, 0, 1], [3, 0, 2]])
    none = np.zeros(3, dtype=np.int64)
    found = [(Alive(none, none, np.zeros(3), level, row), (k,)) for k, row in enumerate(changes)]
    top = Alive(none[:1], none[:1], np.zeros(1), np.ones(1))
    (table,) = ThresholdCounts.of_lives([*found, (top, (TP, N_SYS))], np.array([[3]]))
    assert table.best(f_merit(1.0), inclusive=False) == (0.625, 2, 3)
    assert table.plateau(f_merit(1.0), levels=True) == (0.25, 0.75)
    assert table.plateau(f_merit(1.0), levels=False) == (0.5, 0.75)
    # What is best where nothing is detected, or everything.
    assert table.plateau(lambda *counts: -counts[1], levels=True) == (1.0, 1.0)
    assert table.plateau(lambda *counts: counts[1], levels=True) == (0.0, 0.25)


# Best thresholds of tables, against given ones.

CLASSES, FILES = ("a", "b", "c"), ("x", "y")
CUTS = (-1.0, 0.1, 0.3, 0.5, 0.7, 0.9, 2.0)
"""Thresholds between the values; the first lets everything pass, silence too, the last nothing."""
BASES = st.sampled_from(("segment", "event", "intersection", "clip"))
DURATIONS = dict.fromkeys(FILES, 4.0)


def table_of(values):
    """Four segments of 1 s of each class in each of two files; a file without sound is still one."""
    cells = itertools.product(FILES, range(4), CLASSES)
    made = [(file, k, k + 1.0, label, v) for (file, k, label), v in zip(cells, values, strict=True) if v]
    return long_rows(made, files=FILES)


TABLES = st.lists(st.sampled_from((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)), min_size=24, max_size=24).map(table_of)


def at_thresholds(sides, basis, cuts, **chosen):
    """The tuned reading, by what comes behind the name of it, at a threshold for each class."""
    cuts = cuts if isinstance(cuts, dict) else dict.fromkeys(CLASSES, cuts)
    asked = Settings.of(classes=CLASSES, only=(f"{basis}.tuned",), thresholds=cuts, **chosen)
    scores = evaluate_rows(*sides, asked, DURATIONS)
    return {name.removeprefix(f"{basis}.tuned."): value for name, value in scores.items()}


def at_optimum(sides, basis, **chosen):
    asked = Settings.of(classes=CLASSES, only=(f"{basis}.optimal",), **chosen)
    scores = evaluate_rows(*sides, asked, DURATIONS)
    return {name.removeprefix(f"{basis}.optimal."): value for name, value in scores.items()}, scores.warnings


def micro_f(counts, beta):
    tp, n_ref, n_sys = map(sum, zip(*counts, strict=True))
    return (1 + beta**2) * tp / (beta**2 * n_ref + n_sys) if n_ref else None


@settings(max_examples=20, deadline=None)
@given(TABLES, TABLES, BASES, st.sampled_from((1.0, 2.0)), st.booleans())
def test_the_joint_optimum_is_that_of_all_combinations_and_its_thresholds_reach_it(
    reference, system, basis, beta, inclusive
):
    """Read back from their text, and a class of which nothing is detected cut above all values."""
    sides, how = (reference, system), {"beta": beta, "inclusive": inclusive}
    found, _ = at_optimum(sides, basis, measures=("joint",), segment_length=1.0, **how)
    at = []
    for cut in CUTS:
        scores = at_thresholds(sides, basis, cut)
        at.append([tuple(scores[f"{name}[{c}]"] for name in ("tp", "n_ref", "n_sys")) for c in CLASSES])
    combined = [micro_f(counts, beta) for counts in itertools.product(*zip(*at, strict=True))]
    if combined[0] is None:
        assert found["joint_f"] is None
        assert found["single_f"] is None
        return
    f1 = "f1" if beta == 1 else "fbeta"
    assert found["joint_f"] == pytest.approx(max(combined), abs=1e-12)
    assert found["single_f"] == pytest.approx(max(micro_f(counts, beta) for counts in at), abs=1e-12)
    assert found["joint_f"] >= max(found["single_f"], found[f"{f1}.micro"]) - 1e-12
    shown = {c: found[f"joint_threshold[{c}]"] for c in CLASSES}
    joint = {c: 2.0 if value is None else float(repr(value)) for c, value in shown.items()}
    for cuts, name in ((joint, "joint_f"), (float(repr(found["single_threshold"])), "single_f")):
        reached = at_thresholds(sides, basis, cuts, **how)[f"{f1}.micro"]
        assert reached == pytest.approx(found[name], abs=1e-12)


# Under a constraint.

SHARES = (0.0, 0.4, 0.5, 2 / 3, 0.9, 1.0)
LIMITS = {
    "precision>=": SHARES,
    "recall>=": SHARES,
    "fpr_per_hour<=": (0.0, 450.0, 900.0, 1800.0),
    "error_rate<=": (0.0, 0.5, 1.0, 1.5),
    **{f"{name}_rate<=": (0.0, 0.25, 0.5) for name in ("substitution", "deletion", "insertion")},
}
CONSTRAINTS = st.sampled_from(
    [
        f"{best} at {sign}{number}"
        for best in ("f", "precision", "recall", "error_rate")
        for sign, numbers in LIMITS.items()
        for number in numbers
    ]
)


def value_of(scores, measure, suffix, basis, beta):
    """What constraints name, of a class or of all together, from the tuned reading."""
    if measure == "substitution_rate" and (basis == "intersection" or suffix != ".micro"):
        return 0.0  # a class alone has no substitutions; intersections have none at all
    if measure == "fpr_per_hour":
        return scores[f"fp{suffix}"] / (sum(DURATIONS.values()) / 3600)
    return scores[{"f": "f1" if beta == 1 else "fbeta"}.get(measure, measure) + suffix]


@given(TABLES, TABLES, BASES, CONSTRAINTS, st.sampled_from((1.0, 2.0)), st.booleans())
def test_the_best_under_a_constraint_is_that_of_all_thresholds(
    reference, system, basis, text, beta, inclusive
):
    sides, constraint = (reference, system), Constraint.parse(text)
    how = {"beta": beta, "inclusive": inclusive}
    found, warnings = at_optimum(sides, basis, satisfice=text, **how)
    swept = [at_thresholds(sides, basis, cut, **how) for cut in CUTS]
    at_least, lower = constraint.sign == ">=", constraint.best == "error_rate"

    def holds(value):
        return value >= constraint.number if at_least else value <= constraint.number

    for suffix, of in (*((f"[{c}]", f"[{c}]") for c in CLASSES), ("", ".micro")):
        names = ("threshold", "constraint", "f", "precision", "recall")
        own = {name: found[f"satisficed_{name}{suffix}"] for name in names}
        if not swept[0][f"n_ref{of}"]:
            assert set(own.values()) == {None}
            continue
        tried = [
            [value_of(scores, name, of, basis, beta) for name in (constraint.measure, constraint.best)]
            for scores in swept
        ]
        tried = [(limited, best) for limited, best in tried if limited is not None]
        feasible = [best for limited, best in tried if holds(limited)]
        if not feasible:
            nearest = (max if at_least else min)(limited for limited, _ in tried) if tried else None
            assert (own["f"], own["precision"], own["recall"]) == (None, None, None)
            assert own["constraint"] == pytest.approx(nearest, abs=1e-12)
            (warning,) = (text for text in warnings if text.startswith(f"{basis}: no threshold reaches"))
            assert (suffix[1:-1] or "all classes") in warning
            continue
        assert holds(own["constraint"])
        best = (min if lower else max)((value for value in feasible if value is not None), default=None)
        # The threshold that is shown reaches it.
        at = at_thresholds(sides, basis, float(repr(own["threshold"])), **how)
        assert (at[f"precision{of}"], at[f"recall{of}"]) == (own["precision"], own["recall"])
        assert (at[f"error_rate{of}"] if lower else own[constraint.best]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("precision", "such as 'precision>=0.9'"),
        ("error_rate>=0.9", "deletion_rate, insertion_rate at most a"),
        ("precision>=1.1", "a number in [0, 1]"),
        ("fpr_per_hour<=1e999", "at most a finite one"),
        ("mcc at recall>=0.5", "with the best f, precision, recall, error_rate"),
        (0.5, "such as 'precision>=0.9'"),
    ],
)
def test_what_is_no_constraint_is_refused(text, words):
    with pytest.raises(SettingsError) as caught:
        Settings(satisfice=text)
    assert words in str(caught.value)
    with pytest.raises(SettingsError, match="only leaves them out"):
        Settings.of(satisfice="precision>=0.5", only=("segment.hard",))
