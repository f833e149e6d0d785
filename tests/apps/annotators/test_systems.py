"""Systems with several annotators: intervals, how many annotators are enough, scores against each."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from opinions import confused, table, tables_of, units_of

from sedeval_soft import annotate, evaluate
from sedeval_soft.apps.annotators.consensus import bias_and_jitter
from sedeval_soft.apps.annotators.references import value_of
from sedeval_soft.apps.annotators.systems import effects_of, sets_of

SCORE = "segment.soft.f1.micro"
FILES = ("x", "y", "z")
LENGTHS = dict.fromkeys(FILES, 15.0)


def people(n, seed=0):
    """Return tables of annotators who mostly hear the same events, at about the same times."""
    rng, crowd = np.random.default_rng(seed), []
    events = [(name, int(k), "ab"[k % 2]) for name in FILES for k in rng.choice(48, 5, replace=False)]
    for _ in range(n):
        begins = [(name, max(k + int(rng.integers(-2, 3)), 0) / 4, label) for name, k, label in events]
        rows = [(name, on, on + 1.0, label) for name, on, label in begins if rng.random() < 0.8]
        crowd.append(table(rows, FILES))
    return crowd


@pytest.mark.parametrize(
    "how",
    [{}, {"consensus": True}, {"consensus": True, "method": "majority"}],
    ids=("mean", "events", "majority"),
)
def test_scores_are_those_of_evaluations(how):
    crowd, (system,) = people(3), people(1, seed=5)
    scores, asked = ["event.soft.f1.micro", SCORE], {"durations": LENGTHS, "classes": ("a", "b")}
    made = annotate(crowd, systems={"s": system}, scores=scores, **asked, **how).systems[0].scores
    references = [annotate(some, **asked, **how).reference for some in (crowd, *combinations(crowd, 2))]
    # Touching events stay two events, as in the `ceiling`.
    asked |= {"only": ("event.soft", "segment.soft"), "events": "rows" if how else "auto"}
    found = [[evaluate(each, system, **asked)[name] for name in scores] for each in (*references, *crowd)]
    for result, (whole, *values) in zip(made, zip(*found, strict=True), strict=True):
        pairs, alone = np.array(values[:3]), values[3:]
        assert result.value == whole and 0 <= result.low < whole < result.high <= 1
        assert [point.annotators for point in result.over] == [1, 2, 3]
        assert result.over[1].value == pytest.approx(pairs.mean(), abs=1e-12)
        assert result.over[2][2:] == (whole, result.low, result.high)
        # Jackknife over annotators: each pair leaves one out.
        error = np.sqrt(2 / 3 * np.sum((pairs - pairs.mean()) ** 2))
        assert "method" in how or result.by_annotators == pytest.approx(error, abs=1e-9)
    # Only for segments: an annotator's reference joins touching events, which the table keeps apart.
    numbers, mean = (*result.against, result.mean, result.over[0].value, result.deviation), np.mean(alone)
    assert numbers == pytest.approx((*alone, mean, mean, np.std(alone, ddof=1)), abs=1e-12)


def test_place_is_that_among_the_annotators():
    """A copy of one annotator and each other annotator are compared by their agreement with the rest."""
    crowd = people(4)
    scored = annotate(crowd, systems=[crowd[0], table([], FILES)], scores=[SCORE], durations=LENGTHS)
    f, better, (own, *others) = {}, 0, [each.name for each in scored.annotators]
    for pair in annotate(crowd, durations=LENGTHS).pairs:
        f[pair.annotators] = f[pair.annotators[::-1]] = pair.f1_micro
    for other in others:
        rest = [name for name in others if name != other]
        mine = np.mean([1.0, *(f[own, name] for name in rest)])
        better += np.mean([f[other, name] for name in (own, *rest)]) > mine
    # A silent system agrees with nobody.
    places = [(each.scores[0].place, each.scores[0].value == 0.0) for each in scored.systems]
    assert places == [(1 + better, False), (5, True)]


def test_equal_annotators_leave_nothing_to_chance_but_files():
    how = {"systems": people(2, seed=3), "scores": [SCORE], "durations": LENGTHS}
    result = annotate([people(1)[0]] * 4, **how)
    for (score,) in (system.scores for system in result.systems):
        assert score.by_annotators == score.deviation == 0.0 < score.by_files
        assert [point.value for point in score.over] == pytest.approx([score.value] * 4, abs=1e-12)
    (ranking,) = result.rankings
    assert (ranking.enough, {share.share for share in ranking.over}) == (1, {1.0})


@pytest.mark.parametrize(("n", "size"), [(3, 2), (5, 2), (6, 5), (9, 4)])
def test_effects_of_annotators_are_those_of_leaving_one_out(n, size):
    """If scores are sums: the mean over all sets without an annotator, minus the mean over all sets."""
    worth, members = np.random.default_rng(n).normal(size=n), sets_of(n, size, 0)
    values, every = members @ worth + 0.5, np.array([*combinations(range(n), size)])
    mean, without = effects_of(values[None], members)
    sums = worth[every].sum(axis=1) + 0.5
    expected = [sums[(every != k).all(axis=1)].mean() - sums.mean() for k in range(n)]
    assert (mean[0], *without[0]) == pytest.approx((values.mean(), *expected), abs=1e-9)


def test_boundaries_of_consensus_events_have_biases_and_jitters():
    """The second annotator begins each event 0.3 s late; the third ends them 0.6 s or 1 s early, in turn."""
    crowd = [
        table([("x", 5.0 * k + late, 5.0 * k + 4 - early[k % 2], "a") for k in range(12)])
        for late, early in ((0.0, (0.0, 0.0)), (0.3, (0.0, 0.0)), (0.0, (1.0, 0.6)))
    ]
    found = np.array([each[2:] for each in annotate(crowd, consensus=True).boundaries])
    jitter, third = 0.2 / 1.2815515655, 0.8 / 3
    expected = [[-0.1, 0, third, 0], [0.2, 0, third, 0], [-0.1, 0, -2 * third, jitter]]
    assert found == pytest.approx(np.array(expected), abs=1e-6)


def test_biases_and_jitters_that_are_not_determined():
    """Differences of two annotators determine one bias and no jitter; fewer than ten determine nothing."""
    assert np.isnan(bias_and_jitter(np.zeros((3, 9)))).all()
    bias, jitter = bias_and_jitter(np.array([np.full(10, 0.1), np.zeros(10)]))
    assert bias == pytest.approx([0.05, -0.05]) and np.isnan(jitter).all()
    alone = [table([("x", float(k), k + 1.0, "a")]) for k in (0, 2, 4)]
    made = annotate(alone, method="majority", consensus=True)
    assert (len(made.events), [each[1:] for each in made.boundaries]) == (0, [(0, *[None] * 4)] * 3)


def test_an_outlier_is_named_and_alike_annotators_are_not():
    alike = people(5, seed=3)
    other = {**alike[0], "event_label": [{"a": "b", "b": "a"}.get(each) for each in alike[0]["event_label"]]}
    for crowd, outliers in ((alike, []), ([*alike[1:], other], ["annotator 5"])):
        told = [text for text in annotate(crowd, durations=LENGTHS).warnings if "agrees much less" in text]
        assert [text[: len("annotator 5")] for text in told] == outliers


def test_dawid_skene_of_consensus_events_is_that_of_the_same_answers():
    """All annotators draw the same boundaries, so each event is an item of the model."""
    values, labelled, _ = confused(4, 2, 30, 5, 0.2)
    made = annotate(tables_of(values, labelled), method="dawid-skene", consensus=True, missing="unlabelled")
    units = units_of(values, labelled)
    some = ((values > 0) & labelled[:, None]).any(axis=0).reshape(-1)
    columns = {name: getattr(units, name)[..., some] for name in ("values", "given", "label", "weight")}
    expected = value_of(replace(units, **columns), "dawid-skene", 0.5)
    assert sorted(made.events.events.confidence) == pytest.approx(sorted(expected), abs=1e-9)
