"""Best thresholds under a constraint, against trying all of them by given thresholds."""

from __future__ import annotations

import pytest
from four_segments import CLASSES, CUTS, FILES, VALUES, rows
from hypothesis import given
from hypothesis import strategies as st
from tables import long_rows

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.errors import SettingsError
from sedeval_soft.settings import Constraint, Settings

BASES = ("segment", "event", "intersection", "clip")
LENGTH = 4.0
HOURS = len(FILES) * LENGTH / 3600
NUMBERS = {
    "precision": (0.0, 0.4, 0.5, 2 / 3, 0.9, 1.0),
    "recall": (0.0, 0.4, 0.5, 2 / 3, 0.9, 1.0),
    "fpr_per_hour": (0.0, 450.0, 900.0, 1800.0),
    "error_rate": (0.0, 0.5, 1.0, 1.5),
    "substitution_rate": (0.0, 0.25, 0.5),
    "deletion_rate": (0.0, 0.25, 0.5),
    "insertion_rate": (0.0, 0.25, 0.5),
}
CONSTRAINTS = st.sampled_from(
    [
        f"{best} at {name}{'>=' if name in ('precision', 'recall') else '<='}{number}"
        for best in ("f", "precision", "recall", "error_rate")
        for name, numbers in NUMBERS.items()
        for number in numbers
    ]
)
DURATIONS = dict.fromkeys(FILES, LENGTH)


def tried(sides, basis, beta, *, inclusive, single):
    """All numbers of a class (or of all, `single`) at each cut, as the tuned reading has them."""
    found = []
    for cut in CUTS:
        chosen = Settings.of(
            classes=CLASSES,
            only=(f"{basis}.tuned",),
            beta=beta,
            inclusive=inclusive,
            thresholds=dict.fromkeys(CLASSES, cut),
        )
        scores = evaluate_rows(*sides, chosen, DURATIONS)

        def of(measure, scores=scores):
            name = f"{basis}.tuned.{measure}"
            # A class alone has no substitutions; intersections have none at all.
            if measure == "substitution_rate" and (basis == "intersection" or not single):
                return 0.0 if single else [0.0] * len(CLASSES)
            return scores[f"{name}.micro"] if single else [scores[f"{name}[{c}]"] for c in CLASSES]

        names = ("precision", "recall", "error_rate", "substitution_rate", "deletion_rate", "insertion_rate")
        values = {name: of(name) for name in names}
        values["f"] = of("f1" if beta == 1 else "fbeta")
        false = of("fp")
        values["fpr_per_hour"] = false / HOURS if single else [fp / HOURS for fp in false]
        values["n_ref"] = of("n_ref")
        found.append(values)
    if single:
        return [found]
    return [[{name: of[name][c] for name in of} for of in found] for c in range(len(CLASSES))]


def best_of(cuts, constraint):
    """The best value and what comes nearest to the constraint, by looking at each cut."""
    lower = constraint.best == "error_rate"
    holds = [
        of
        for of in cuts
        if of[constraint.measure] is not None
        and (
            of[constraint.measure] >= constraint.number
            if constraint.sign == ">="
            else of[constraint.measure] <= constraint.number
        )
    ]
    values = [of[constraint.best] for of in holds if of[constraint.best] is not None]
    best = (min if lower else max)(values) if values else None
    known = [of[constraint.measure] for of in cuts if of[constraint.measure] is not None]
    nearest = (max if constraint.sign == ">=" else min)(known) if known else None
    return bool(holds), best, nearest


@given(VALUES, VALUES, st.sampled_from(BASES), CONSTRAINTS, st.sampled_from((1.0, 2.0)), st.booleans())
def test_the_best_under_a_constraint_is_that_of_all_thresholds(
    reference, system, basis, text, beta, inclusive
):
    sides, constraint = (rows(reference), rows(system)), Constraint.parse(text)
    chosen = Settings.of(
        classes=CLASSES,
        only=(f"{basis}.optimal",),
        beta=beta,
        inclusive=inclusive,
        satisfice=text,
    )
    found = evaluate_rows(*sides, chosen, DURATIONS)
    stem = f"{basis}.optimal.satisficed_"
    shown = {
        "f": "f", "precision": "precision", "recall": "recall", "error_rate": None,
    }[constraint.best]  # fmt: skip
    how = {"inclusive": inclusive}
    cases = [
        *zip([f"[{c}]" for c in CLASSES], tried(sides, basis, beta, single=False, **how), strict=True),
        ("", *tried(sides, basis, beta, single=True, **how)),
    ]
    for suffix, cuts in cases:
        own = {
            name: found[f"{stem}{name}{suffix}"]
            for name in ("threshold", "constraint", "f", "precision", "recall")
        }
        if not cuts[0]["n_ref"]:
            assert set(own.values()) == {None}
            continue
        feasible, best, nearest = best_of(cuts, constraint)
        if not feasible:
            assert (own["f"], own["precision"], own["recall"]) == (None, None, None)
            assert own["constraint"] == pytest.approx(nearest, abs=1e-12)
            said = [text for text in found.warnings if text.startswith(f"{basis}: no threshold reaches")]
            assert len(said) == 1
            assert (suffix[1:-1] or "all classes") in said[0]
            continue
        value = own["constraint"]
        assert value >= constraint.number if constraint.sign == ">=" else value <= constraint.number
        if shown is not None:
            assert own[shown] == pytest.approx(best, abs=1e-12)
        # The threshold that is shown reaches it.
        cut = float(repr(own["threshold"]))
        again = Settings.of(
            **{"classes": CLASSES, "only": (f"{basis}.tuned",), "beta": beta, **how},
            thresholds=dict.fromkeys(CLASSES, cut),
        )
        at = evaluate_rows(*sides, again, DURATIONS)
        place = suffix or ".micro"
        assert at[f"{basis}.tuned.precision{place}"] == own["precision"]
        assert at[f"{basis}.tuned.recall{place}"] == own["recall"]
        if constraint.best == "error_rate":
            assert at[f"{basis}.tuned.error_rate{place}"] == pytest.approx(best, abs=1e-12)


def test_by_hand():
    """Of scores 0.9 (right), 0.8 (wrong), 0.7 (right), 0.6 (wrong), 0.5 (right) in a file of 6 s."""
    reference = long_rows([("x", k, k + 1.0, "a", 1.0) for k in (0.0, 2.0, 4.0)])
    values = ((0.0, 0.9), (1.0, 0.8), (2.0, 0.7), (3.0, 0.6), (4.0, 0.5))
    system = long_rows([("x", k, k + 1.0, "a", v) for k, v in values])
    for text, wanted in (
        ("precision>=0.6", (0.25, 0.6, 3 / 5, 1.0)),
        ("precision>=0.61", (0.65, 2 / 3, 2 / 3, 2 / 3)),
        ("precision>=0.7", (0.85, 1.0, 1.0, 1 / 3)),
        ("precision at recall>=0.5", (0.65, 2 / 3, 2 / 3, 2 / 3)),
        ("fpr_per_hour<=600", (0.65, 600.0, 2 / 3, 2 / 3)),
        ("recall at fpr_per_hour<=599", (0.85, 0.0, 1.0, 1 / 3)),
        ("insertion_rate<=0.34", (0.65, 1 / 3, 2 / 3, 2 / 3)),
    ):
        scores = evaluate_rows(
            reference, system, Settings.of(only="segment.optimal", satisfice=text), {"x": 6.0}
        )
        names = ("threshold", "constraint", "precision", "recall")
        found = tuple(scores[f"segment.optimal.satisficed_{name}[a]"] for name in names)
        assert found == pytest.approx(wanted), text
        assert not scores.warnings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("precision", "such as 'precision>=0.9'"),
        ("precision<=0.9", "expected precision>=NUMBER"),
        ("error_rate>=0.9", "expected error_rate<=NUMBER"),
        ("precision>=1.1", "must be a number in [0, 1]"),
        ("recall>=nan", "such as 'precision>=0.9'"),
        ("fpr_per_hour<=1e999", "must be a finite number"),
        ("f1>=0.5", "must be a constraint"),
        ("accuracy>=0.5", "must be on one of precision, recall, fpr_per_hour"),
        ("mcc at recall>=0.5", "what is best must be one of f, precision, recall, error_rate"),
        (0.5, "such as 'precision>=0.9'"),
    ],
)
def test_what_is_no_constraint_is_refused(text, said):
    with pytest.raises(SettingsError) as caught:
        Settings(satisfice=text)
    assert said in str(caught.value)


def test_a_constraint_is_of_optimal_readings():
    with pytest.raises(SettingsError, match="only leaves them out"):
        Settings.of(satisfice="precision>=0.5", only=("segment.hard",))


def test_a_precision_of_0_is_one_where_a_hit_costs_too_much():
    """By hand: the hit comes with two false alarms, one may be; detecting nothing has no precision."""
    reference = long_rows([("x", 0.0, 1.0, "a", 1.0)])
    system = long_rows([("x", 0.0, 1.0, "a", 0.2), ("x", 1.0, 2.0, "a", 0.9), ("x", 2.0, 3.0, "a", 0.5)])
    chosen = Settings.of(only="segment.optimal", satisfice="precision at fpr_per_hour<=900")
    scores = evaluate_rows(reference, system, chosen, {"x": 4.0})
    names = ("constraint", "precision", "recall")
    found = [scores[f"segment.optimal.satisficed_{name}[a]"] for name in names]
    assert found == [900.0, 0.0, 0.0]
