"""Contract tests over the whole registry of measures, and a test that they can fail."""

from dataclasses import replace

import pytest
from laws import ALL, LABELS, LAWS, random_table, scored

from sedeval_soft import EvaluationError
from sedeval_soft.measures.registry import FAMILIES, score_names
from sedeval_soft.settings import CLASS_MEANS


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 5))])
def test_law(law, seed):
    law(scored, seed)


def test_every_registered_score_is_computed_and_no_other():
    every = replace(ALL, beta=2.0, psds_median_filters=(1.0,), thresholds={"car": 0.25})
    names = list(score_names(LABELS, means=CLASS_MEANS))
    scores = scored(random_table(0), random_table(1), every)
    assert sorted(scores) == sorted(names) and len({*names}) == len(names)
    assert {*every.measures, ""} - {"confusion"} == {family.group for family in FAMILIES}
    plain = scored(random_table(0), random_table(1), replace(ALL, psds=None))
    asked = (".fbeta", ".psds", ".pipsds", ".tuned.")
    assert {*scores} - {*plain} == {name for name in names if any(part in name for part in asked)}


def test_every_measure_says_what_it_is():
    for family in FAMILIES:
        for measure in family.measures:
            texts = (measure.summary, measure.formula, measure.undefined, measure.source, family.summary)
            assert all(text.strip() for text in texts), measure.name
            assert measure.averages or measure.has_classes
            assert measure.direction != "higher" or measure.high is not None or measure.name == "d_prime"
            assert measure.direction != "lower" or measure.low == (1 if measure.name == "coverage" else 0)


def test_a_score_that_there_is_not_is_answered_with_close_matches():
    with pytest.raises(EvaluationError, match=r"segment\.hard\.f1\.micro"):
        scored(random_table(0), random_table(1), ALL)["segment.hard.f1.mikro"]


# Broken evaluations, each with the law that must notice it.


def broken(change):
    """Return an evaluation whose values are changed; change: maps a score, the reference and the settings."""

    def evaluation(reference, system, settings):
        found = scored(reference, system, settings)
        changed = {n: s._replace(value=change(s, reference, settings)) for n, s in found.scores.items()}
        return replace(found, scores=changed)

    return evaluation


def depends_on_order(score, reference, _):
    return None if score.value is None else score.value + float(reference["onset"][0] or 0.0)


def depends_on_names(score, _, settings):
    return 0.125 if score.class_name == min(settings.classes) else score.value


def off_by_one(score, *_):
    return score.value * 0.999 if score.value and score.measure == "precision" else score.value


def nan_for_undefined(score, *_):
    return float("nan") if score.value is None else score.value


def product_norm(score, *_):
    return score.value and score.value ** (2 if score.reading == "soft" else 1)


MUTANTS = {
    "order_does_not_matter": depends_on_order,
    "labels_can_be_renamed": depends_on_names,
    "perfect_is_best": off_by_one,
    "empty_system_finds_nothing": nan_for_undefined,
    "empty_reference_is_undefined": nan_for_undefined,
    "values_are_in_range": lambda score, *_: score.value and score.value * 1.5,
    "soft_equals_hard_on_binary_labels": product_norm,
    "swapping_sides_swaps_precision_and_recall": off_by_one,
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_each_law_can_fail(law):
    with pytest.raises(AssertionError):
        law(broken(MUTANTS[law.__name__]), 0)
