"""The tuned reading equals the hard reading of a system that is binarised at the same thresholds.

A best threshold is the shortest decimal near the middle of all thresholds with the same counts.
"""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from drawn_again import FILES, LABELS, Tables, random_tables
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sedeval_soft import evaluate
from sedeval_soft.api import evaluate_rows
from sedeval_soft.evaluation import count_rows
from sedeval_soft.evaluation.optimal import tune
from sedeval_soft.measures.thresholds import threshold_between
from sedeval_soft.settings import OBJECTIVES, Settings

ALL = Settings(
    classes=LABELS, only=("segment", "clip", "event", "intersection"), onset_collar=1.0, offset_collar=1.0
)
GAPS = (0.125, 0.375, 0.625, 0.875)
"""Thresholds between all values, which are quarters."""


def informed(seed):
    """Return a reference, and a system that is the reference with noise."""
    reference, rng = random_tables(seed, n=80).reference, np.random.default_rng(seed)
    noise = rng.integers(-3, 4, len(reference)) / 4 * (rng.random(len(reference)) < 0.5)
    return Tables(reference, replace(reference, values=(np.clip(reference.value + noise, 0, 1),)))


def muted(rows, label, but=None):
    """Return rows with a class made silent in all files but one."""
    silent = (rows.label == rows.classes.index(label)) & ([rows.files[code] != but for code in rows.file])
    return replace(rows, values=(np.where(silent, 0.0, rows.value),))


def cut(rows, thresholds, *, inclusive=False):
    """Return rows of 1 if a value is active and 0 if not; thresholds: by file and class."""
    pairs = zip(rows.file, rows.label, strict=True)
    own = np.array([thresholds[rows.files[file]][rows.classes[label]] for file, label in pairs])
    return replace(rows, values=((rows.value >= own if inclusive else rows.value > own).astype(np.float64),))


VARIANTS = {
    "plain": ALL,
    "inclusive": replace(ALL, inclusive=True),
    "weight of recall": replace(ALL, beta=2.0),
    "rows are events": replace(ALL, events="rows"),
    "post-processed": replace(ALL, median_filter=3.0, min_gap=1.5, min_duration=1.5),
    "post-processed by class": replace(ALL, min_gap={"car": 2.5}, min_duration={"dog": 2.5}),
    "coarse segments, reference cut lower": replace(ALL, segment_length=2.0, reference_threshold=0.3),
    "groups and scenes": replace(
        ALL, groups={"moving": ("car", "dog"), "one": ("rain",)}, scenes={"first": ("a", "b"), "last": ("e",)}
    ),
}
FOLDS = dict(zip(FILES, "12231", strict=True))
GIVEN = {"car": 0.5, "dog": 0.25, "rain": 0.75}
"""Thresholds that are values of the tables, so that "above" and "at or above" differ."""


def same_as_cut(found, cut_by_hand):
    """Require that all tuned scores but thresholds equal the hard scores of a binarised system."""
    tuned = [name for name in found if ".tuned." in name and ".threshold[" not in name]
    assert len(tuned) > 160
    assert [found[name] for name in tuned] == [cut_by_hand[n.replace(".tuned.", ".hard.")] for n in tuned]


def tuning(reference, system, objective, settings):
    settings = replace(settings, objective=objective, only=(f"{objective.partition('.')[0]}.optimal",))
    return tune(count_rows(reference, system, settings).tally, settings)


@pytest.mark.parametrize("variant", VARIANTS)
def test_given_thresholds_cut_each_class(variant):
    tables, settings = informed(0), VARIANTS[variant]
    found = evaluate_rows(tables.reference, tables.system, replace(settings, thresholds=GIVEN))
    system = cut(tables.system, dict.fromkeys(FILES, GIVEN), inclusive=settings.inclusive)
    same_as_cut(found, evaluate_rows(tables.reference, system, settings))
    assert {label: found[f"event.tuned.threshold[{label}]"] for label in LABELS} == GIVEN


@pytest.mark.parametrize(
    ("objective", "folds", "lacking"),
    [
        *((objective, FOLDS, False) for objective in OBJECTIVES[::3]),
        # A class that the other folds lack has the threshold of the settings.
        ("event.f1", {file: str(file == "a") for file in FILES}, True),
    ],
)
def test_thresholds_are_those_of_the_other_folds(objective, folds, lacking):
    tables, thresholds = informed(6), {}
    if lacking:
        tables = replace(tables, reference=muted(tables.reference, "car", but="a"))
    settings = replace(ALL, threshold=0.3, reference_threshold=0.5, objective=objective)
    for own in FILES:
        others = tables.drawn([folds[file] != folds[own] for file in FILES])
        best = tuning(others.reference, others.system, objective, settings)["thresholds"]
        thresholds[own] = dict.fromkeys(LABELS, settings.threshold) | best
    assert not lacking or thresholds["a"]["car"] == 0.3
    system, at_half = cut(tables.system, thresholds), replace(settings, threshold=0.5)
    by_hand = evaluate(tables.reference, system, settings=at_half, folds=folds)
    same_as_cut(evaluate(tables.reference, tables.system, settings=settings, folds=folds), by_hand)


@pytest.mark.parametrize(("variant", "objective"), [*zip(VARIANTS, OBJECTIVES, strict=True)])
def test_no_threshold_is_better_and_those_that_are_said_to_be_are_as_good(variant, objective):
    tables, settings = informed(9), VARIANTS[variant]
    basis, _, measure = objective.partition(".")
    measure = "fbeta" if measure == "f1" and settings.beta != 1 else measure
    found, tried = tuning(tables.reference, tables.system, objective, settings), set()
    for (label, of), gap in itertools.product(found["classes"].items(), GAPS):
        (low, high), threshold = of["as_good"], found["thresholds"][label]
        assert high == 1.0 if threshold == "never" else low < threshold < high
        at = replace(settings, only=(basis,), thresholds={label: gap}, groups={}, scenes={})
        own = evaluate_rows(tables.reference, tables.system, at)[f"{basis}.tuned.{measure}[{label}]"]
        better = (own - of["score"]) * (-1 if measure == "error_rate" else 1)
        # It is the highest of the best thresholds.
        assert better < 1e-12 and (gap < high or better < -1e-12)
        assert abs(better) < 1e-12 or not low <= gap < high
        tried.add(low <= gap < high)
    assert tried == {True, False}


@pytest.mark.parametrize("inclusive", [False, True])
def test_rules(inclusive):
    tables = informed(13)

    def found(thresholds):
        settings = replace(ALL, only="segment", inclusive=inclusive, thresholds=thresholds)
        return evaluate_rows(tables.reference, tables.system, settings)

    # Every class is silent somewhere, so its middle is half of its highest value.
    rows = zip(tables.system.label, tables.system.value, strict=True)
    most = {tables.system.classes[k]: value for k, value in sorted(rows)}
    assert dict(found("midpoint")) == dict(found({label: value / 2 for label, value in most.items()}))
    prior, at_gaps = found("prior"), [found(dict.fromkeys(LABELS, gap)) for gap in GAPS]
    for label in LABELS:
        # The prior detects as many as the reference has, or more if values tie.
        above = [each[f"segment.tuned.n_sys[{label}]"] for each in at_gaps]
        enough = [count for count in above if count >= prior[f"segment.tuned.n_ref[{label}]"]]
        assert prior[f"segment.tuned.n_sys[{label}]"] == min(enough, default=above[0])


def test_silent_classes():
    tables = informed(14)
    silent, unheard = muted(tables.system, "car"), muted(tables.reference, "dog")
    for rule in ("midpoint", "prior"):
        found = evaluate_rows(unheard, silent, replace(ALL, thresholds=rule, classes=(*LABELS, "owl")))
        assert found["event.tuned.tp[car]"] == found["segment.tuned.n_sys[owl]"] == 0
    # The reference is silent: the prior detects nothing, and no threshold is the best.
    assert found["segment.tuned.n_sys[dog]"] == 0
    best = tuning(unheard, tables.system, "segment.f1", ALL)
    assert best["classes"]["dog"] == {"n_ref": 0, "score": None, "as_good": [None, None]}
    assert sorted(best["thresholds"]) == ["car", "rain"]


# --- thresholds in the middle ---------------------------------------------------------------------

SCORES = st.one_of(st.floats(0.0, 1.0), st.integers(0, 10**6).map(lambda k: k / 10**6), st.just(5e-324))


@given(SCORES, SCORES, st.booleans())
@example(0.1, 0.4, False)  # 0.2 and 0.3 are equally near: a half is rounded to the even digit
@example(0.3, 0.6, False)
@example(0.5, float(np.nextafter(0.5, 0.0)), False)
@example(0.5, float(np.nextafter(0.5, 0.0)), True)
def test_a_threshold_is_the_shortest_decimal_nearest_to_the_middle(one, other, inclusive):
    """By fractions: take the fewest decimals with a number strictly between, and the nearest of these."""
    assume(one != other)
    low, high = sorted((one, other))
    threshold, middle = threshold_between(low, high, inclusive), (low + high) / 2
    if not low < middle < high:
        assert threshold == (high if inclusive else low)
        return
    powers = (10**digits for digits in range(1, 1075))
    # Python rounds fractions to the nearest number, and halves to the even one.
    nearest = (Fraction(round(Fraction(middle) * power), power) for power in powers)
    assert threshold == next(float(number) for number in nearest if low < float(number) < high)
