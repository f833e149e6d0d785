"""Counts at every threshold, their curves, and best thresholds, also under a constraint, by trying them all.

The tables have four segments of three classes in two files; the tests try a threshold between all their
values.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft import evaluate, threshold_curves
from sedeval_soft.api import evaluate_rows
from sedeval_soft.measures.thresholds import (
    N_SYS,
    TP,
    Alive,
    Candidates,
    ThresholdCounts,
    error_merit,
    f_merit,
)
from sedeval_soft.settings import Constraint, Settings

# Counts of lifetimes of events, and of cells.


def best_of(table, merit, **how):
    """Return the range of levels that is best, and TP and N_sys there; each file counts once."""
    own, once = Candidates.of(table, **how), np.ones((1, len(table.n_ref)))
    tp, n_sys, _, _, low, high = own.best(once, [merit], inclusive=False).reshape(-1).tolist()
    return low, high, tp, n_sys


def test_the_range_of_a_best_threshold_goes_on_while_counts_stay():
    """From levels 0, 1/4, 1/2 and 3/4 up, there are 2, 2, 2, 1 hits in 6, 3, 3, 1 events: two are equal."""
    level, changes = np.array([0.25, 0.5, 0.75]), np.array([[0, 0, 1], [3, 0, 2]])
    none = np.zeros(3, dtype=np.int64)
    found = [(Alive(none, none, np.zeros(3), level, row), (k,)) for k, row in enumerate(changes)]
    top = Alive(none[:1], none[:1], np.zeros(1), np.ones(1))
    (table,) = ThresholdCounts.of_lives([*found, (top, (TP, N_SYS))], np.array([[3]]))
    assert best_of(table, f_merit(1.0)) == (0.25, 0.75, 2, 3)
    # The best level can be the one that detects nothing, or everything.
    assert best_of(table, lambda *counts: -counts[1]) == (1.0, math.inf, 0, 0)
    assert best_of(table, lambda *counts: counts[1], every=True) == (0.0, 0.25, 2, 6)


@pytest.mark.parametrize("largest", [3, 2**24 + 1, 2**40 + 1])
def test_files_may_count_more_often_than_float32_can_tell(largest):
    """Compare hits and detections of files at 40 levels with sums of whole numbers."""
    rng = np.random.default_rng(largest)
    level, file = np.sort(rng.integers(1, 41, 300)) / 40, rng.integers(5, size=300).astype(np.int32)
    changes, merit = np.array([rng.integers(2, size=300), np.ones(300, dtype=np.int64)]), f_merit(1.0)
    weights = rng.integers(max(0, largest - 3), largest + 1, (7, 5))
    own = Candidates.of(ThresholdCounts(level, file, changes, np.full(5, 40)))
    found = own.best(weights.astype(np.float64), [merit], inclusive=False)[0]
    for files, (tp, n_sys, n_ref, _, _, high) in zip(weights, np.transpose(found), strict=True):
        every = {
            each: (changes * files[file])[:, level >= each].sum(axis=1).tolist() for each in np.unique(level)
        }
        assert [tp, n_sys] == every[high]
        assert merit(tp, n_sys, n_ref) == max(merit(*counts, n_ref) for counts in every.values())


SCORES = st.sampled_from([-0.0, 0.0, 5e-324, 0.25, 0.5, math.nextafter(0.5, 1), 1.0])


@given(st.lists(st.tuples(SCORES, st.booleans()), max_size=12), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_best_level_of_cells_is_one_with_a_hit(cells, beta):
    """Compare with the best of all levels, some of which have no hit."""
    system, positive = np.array([[*cell] for cell in cells]).reshape(-1, 2).T
    table = ThresholdCounts.of_cells(system, positive > 0, np.zeros(len(system), dtype=np.int32), 1)
    for merit in (f_merit(beta), error_merit):
        assert best_of(table, merit) == best_of(table, merit, every=True)


# Best thresholds of tables, compared with given thresholds.

CLASSES, FILES = ("a", "b", "c"), ("x", "y")
CUTS = (0.1, 0.3, 0.5, 0.7, 0.9, "never")
"""Thresholds between the values: everything above 0 passes the first, and nothing the last."""
BASES = st.sampled_from(("segment", "event", "intersection", "clip"))
DURATIONS = dict.fromkeys(FILES, 4.0)


def table_of(values):
    """Return four segments of 1 s of each class in two files; a silent file stays."""
    cells = itertools.product(FILES, range(4), CLASSES)
    made = [(file, k, k + 1.0, label, v) for (file, k, label), v in zip(cells, values, strict=True) if v]
    return long_rows(made, files=FILES)


TABLES = st.lists(st.sampled_from((0.0, 0.2, 0.4, 0.6, 0.8, 1.0)), min_size=24, max_size=24).map(table_of)


def scored(sides, basis, **chosen):
    """Return optimal scores of a basis, or tuned ones at given thresholds, by the rest of their names."""
    stem = f"{basis}.{'tuned' if 'thresholds' in chosen else 'optimal'}"
    scores = evaluate_rows(*sides, Settings.of(classes=CLASSES, only=(stem,), **chosen), DURATIONS)
    return {name.removeprefix(f"{stem}."): value for name, value in scores.items()}, scores.warnings


def at_thresholds(sides, basis, cuts, **chosen):
    """Return tuned scores at a threshold for each class, or one for all."""
    return scored(
        sides, basis, thresholds=cuts if isinstance(cuts, dict) else dict.fromkeys(CLASSES, cuts), **chosen
    )[0]


def read_back(threshold):
    """Return a threshold as read from its text, and "never" if it is undefined."""
    return "never" if threshold is None else float(repr(threshold))


def f_of(counts, beta):
    """Return F from TP, N_ref and N_sys of one class, or of several together."""
    tp, n_ref, n_sys = map(sum, zip(*counts, strict=True))
    return (1 + beta**2) * tp / (beta**2 * n_ref + n_sys) if n_ref else None


@settings(max_examples=6)
@given(TABLES, TABLES, BASES, st.sampled_from((1.0, 2.0)), st.booleans())
def test_best_thresholds_of_classes_and_of_all_are_those_of_all_combinations(
    reference, system, basis, beta, inclusive
):
    """Thresholds that are read back from text reach the best F; one above all values detects nothing."""
    sides, how = (reference, system), {"beta": beta, "inclusive": inclusive}
    f1 = "f1" if beta == 1 else "fbeta"
    found, _ = scored(sides, basis, measures=("joint",), segment_length=1.0, **how)
    swept = [at_thresholds(sides, basis, cut) for cut in CUTS]
    at = [[tuple(of[f"{name}[{c}]"] for name in ("tp", "n_ref", "n_sys")) for c in CLASSES] for of in swept]
    combined = [f_of(counts, beta) for counts in itertools.product(*zip(*at, strict=True))]
    if combined[0] is None:
        assert found["joint_f"] is found["single_f"] is None
        return
    best = max(combined), max(f_of(counts, beta) for counts in at)
    assert (found["joint_f"], found["single_f"]) == pytest.approx(best, abs=1e-12)
    shown = {c: read_back(found[f"joint_threshold[{c}]"]) for c in CLASSES}
    for cuts, name in ((shown, "joint_f"), (read_back(found["single_threshold"]), "single_f")):
        reached = at_thresholds(sides, basis, cuts, **how)[f"{f1}.micro"]
        assert reached == pytest.approx(found[name], abs=1e-12)
    check_classes(found, swept, at, f1, beta)


def check_classes(found, swept, at, f1, beta):
    """Check the best F and the best error rate of each class; of thresholds that tie, the highest is best."""
    cuts, errors = [math.inf if cut == "never" else cut for cut in CUTS], 0.0
    for k, c in enumerate(CLASSES):
        values, rates = [f_of([of[k]], beta) for of in at], [of[f"error_rate[{c}]"] for of in swept]
        for name, at_name, merits, best in (
            (f1, "threshold", values, max), ("best_error_rate", "best_error_rate_threshold", rates, min),
        ):  # fmt: skip
            if values[0] is None or f"{name}[{c}]" not in found:
                assert found.get(f"{name}[{c}]") is None
                continue
            assert found[f"{name}[{c}]"] == pytest.approx(best(merits), abs=1e-12)
            beyond = math.inf if (shown := found[f"{at_name}[{c}]"]) is None else shown
            as_good = {of[k] for of, merit, cut in zip(at, merits, cuts, strict=True)
                       if merit == best(merits) and cut >= beyond}  # fmt: skip
            counts = tuple(found[f"{count}[{c}]"] for count in ("tp", "n_ref", "n_sys"))
            assert len(as_good) < 2 and (name != f1 or as_good <= {counts})
        errors += (found.get(f"best_error_rate[{c}]") or 0.0) * at[0][k][1]
    if "best_error_rate.micro" in found:
        pooled = errors / sum(n_ref for _, n_ref, _ in at[0])
        assert found["best_error_rate.micro"] == pytest.approx(pooled, abs=1e-12)


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
    """Return a measure of a constraint from tuned scores, of a class or of all together."""
    if measure == "substitution_rate" and (basis == "intersection" or suffix != ".micro"):
        return 0.0  # a class alone has no substitutions; intersections have none at all
    if measure == "fpr_per_hour":
        return scores[f"fp{suffix}"] / (sum(DURATIONS.values()) / 3600)
    return scores[{"f": "f1" if beta == 1 else "fbeta"}.get(measure, measure) + suffix]


ONE, ANOTHER = (table_of([0.0] * k + [value] + [0.0] * (23 - k)) for k, value in ((0, 1.0), (3, 0.2)))


@settings(max_examples=16)
@given(TABLES, TABLES, BASES, CONSTRAINTS, st.sampled_from((1.0, 2.0)), st.booleans())
# With the fewest errors, every detection is a false alarm.
@example(ONE, ANOTHER, "segment", "error_rate at precision>=0.0", 1.0, False)
def test_the_best_under_a_constraint_is_that_of_all_thresholds(
    reference, system, basis, text, beta, inclusive
):
    sides, constraint = (reference, system), Constraint.parse(text)
    how = {"beta": beta, "inclusive": inclusive}
    found, warnings = scored(sides, basis, satisfice=text, **how)
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
        limits, merits = (
            [value_of(scores, name, of, basis, beta) for scores in swept]
            for name in (constraint.measure, constraint.best)
        )
        feasible = [best for limit, best in zip(limits, merits, strict=True)
                    if limit is not None and holds(limit)]  # fmt: skip
        if not feasible:
            nearest = (max if at_least else min)((v for v in limits if v is not None), default=None)
            assert own == dict.fromkeys(names) | {
                "threshold": own["threshold"], "constraint": pytest.approx(nearest, abs=1e-12)
            }  # fmt: skip
            (warning,) = (text for text in warnings if text.startswith(f"{basis}: no threshold reaches"))
            assert (suffix[1:-1] or "all classes") in warning
            continue
        best = (min if lower else max)((value for value in feasible if value is not None), default=None)
        # The shown threshold reaches the best value.
        at = at_thresholds(sides, basis, read_back(own["threshold"]), **how)
        assert (at[f"precision{of}"], at[f"recall{of}"]) == (own["precision"], own["recall"])
        assert (at[f"error_rate{of}"] if lower else own[constraint.best]) == pytest.approx(best, abs=1e-12)
        assert holds(own["constraint"])


# Curves over thresholds: each point equals an evaluation at its threshold.


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(3)
    return tuple(wide_rows(rng.integers(0, 9, (40, 2)) / 8, 0.5, files=2) for _ in range(2))


@pytest.mark.parametrize("basis", ["event", "intersection"])
def test_points_are_evaluations_at_their_threshold(sides, basis):
    curves = getattr(threshold_curves(*sides, only=["event", "intersection"]), basis)
    assert list(curves) == ["class0", "class1"]
    for label, curve in curves.items():
        for i, threshold in enumerate(curve.threshold.tolist()):
            at = evaluate(*sides, threshold=threshold, reference_threshold=0.5, only=[f"{basis}.hard"])
            assert curve.n_ref == at[f"{basis}.hard.n_ref[{label}]"]
            for name in ("tp", "n_sys", "precision", "recall", "f1", "error_rate"):
                value, expected = float(getattr(curve, name)[i]), at[f"{basis}.hard.{name}[{label}]"]
                assert math.isnan(value) if expected is None else value == expected, (name, threshold)


def test_area_under_the_psd_roc_is_psds(sides):
    asked = {"only": ["intersection"], "alpha_ct": 0.5, "alpha_st": 1.0, "max_efpr": 3000.0}
    curves = threshold_curves(*sides, **asked, psds_median_filters=[0.5, 1.5])
    scores = evaluate(*sides, **asked, psds_median_filters=[0.5, 1.5])
    for roc, name in ((curves.psd_roc, "psds"), (curves.pi_psd_roc, "pipsds")):
        widths = np.diff(np.append(roc.efpr, 3000.0))
        assert (widths * roc.etpr).sum() / 3000 == pytest.approx(scores[f"intersection.hard.{name}"])
        assert np.all(np.diff(roc.efpr) > 0)


def test_only_what_is_asked_for(sides):
    curves = threshold_curves(*sides, only=["event.optimal"])
    assert (len(curves.event), len(curves.intersection), curves.psd_roc) == (2, 0, None)
