"""Systems where there are several annotators: intervals, how many are enough, scores against each."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from called import call
from opinions import confused, units_of
from test_continuous import table
from test_dawid_skene import tables_of

from sedeval_soft import annotate, evaluate
from sedeval_soft.apps.annotators.consensus import bias_and_jitter
from sedeval_soft.apps.annotators.references import value_of
from sedeval_soft.apps.annotators.systems import effects_of, sets_of

SAMPLES = Path(__file__).parents[3] / "sample_data"
SCORE = "segment.soft.f1.micro"
FILES = ("x", "y", "z")
LENGTHS = dict.fromkeys(FILES, 15.0)


def people(n, seed=0, files=FILES):
    """Return tables of annotators who hear the same events, most of the time, about when they are."""
    rng = np.random.default_rng(seed)
    events = [(name, int(k), 4, "ab"[k % 2]) for name in files for k in rng.choice(48, 5, replace=False)]
    return [
        table(
            [
                (name, max(begin + int(rng.integers(-2, 3)), 0), length, label)
                for name, begin, length, label in events
                if rng.random() < 0.8
            ],
            declared=files,
        )
        for _ in range(n)
    ]


def test_scores_are_those_of_evaluations():
    crowd, (system,) = people(3), people(1, seed=5)
    result = annotate(crowd, systems={"s": system}, scores=[SCORE], durations=LENGTHS).systems[0].scores[0]
    how = {"durations": LENGTHS, "classes": ("a", "b")}
    whole, *pairs = (annotate(some, **how).reference for some in (crowd, *combinations(crowd, 2)))
    assert result.value == evaluate(whole, system, **how)[SCORE]
    alone = [evaluate(each, system, **how)[SCORE] for each in crowd]
    assert result.against == pytest.approx(alone, abs=1e-12)
    assert (result.mean, result.deviation) == pytest.approx(
        (np.mean(alone), np.std(alone, ddof=1)), abs=1e-12
    )
    of_pairs = np.array([evaluate(pair, system, **how)[SCORE] for pair in pairs])
    # The jackknife over annotators: each pair leaves one out.
    error = np.sqrt(2 / 3 * np.sum((of_pairs - of_pairs.mean()) ** 2))
    assert result.by_annotators == pytest.approx(error, abs=1e-9)
    assert [point.annotators for point in result.over] == [1, 2, 3]
    values = [point.value for point in result.over]
    assert values == pytest.approx([result.mean, of_pairs.mean(), result.value], abs=1e-12)
    assert result.low < result.value < result.high
    assert (result.over[2].low, result.over[2].high) == (result.low, result.high)


def test_place_is_that_among_the_annotators():
    """Who says what the first annotator says agrees with the others as well as that one does."""
    crowd = people(4)
    scored = annotate(crowd, systems=[crowd[0], table([], declared=FILES)], scores=[SCORE], durations=LENGTHS)
    each = np.array([
        [evaluate(a, b, durations=LENGTHS)[SCORE] if a is not b else np.nan for a in crowd] for b in crowd
    ])  # fmt: skip
    # A copy of one annotator is compared with each of the others in what both say of the rest.
    ours = each[0]
    better = 0
    for other in range(1, 4):
        common = [k for k in range(4) if k != other]
        mine = np.mean([1.0 if k == 0 else ours[k] for k in common])
        better += np.mean([each[other][k] for k in common]) > mine
    assert scored.systems[0].scores[0].place == 1 + better
    # Silence agrees with nobody.
    assert scored.systems[1].scores[0].place == 5
    assert scored.systems[1].scores[0].value == 0.0


def test_equal_annotators_leave_nothing_to_chance_but_files():
    crowd = [people(1)[0]] * 4
    result = annotate(crowd, systems=people(2, seed=3), scores=[SCORE], durations=LENGTHS)
    for system in result.systems:
        score = system.scores[0]
        assert score.by_annotators == score.deviation == 0.0 < score.by_files
        assert [point.value for point in score.over] == pytest.approx([score.value] * 4, abs=1e-12)
    assert result.rankings[0].enough == 1
    assert {share.share for share in result.rankings[0].over} == {1.0}


@pytest.mark.parametrize("consensus", [False, True])
def test_the_order_of_annotators_does_not_matter(consensus):
    crowd = dict(zip("abcd", people(4), strict=True))
    how = {"systems": people(1, seed=9), "durations": LENGTHS, "consensus": consensus}
    one, other = (annotate(dict(each), **how).systems[0] for each in (crowd.items(), reversed(crowd.items())))
    assert [each._replace(against=each.against[::-1]) for each in one.scores] == [*other.scores]


@pytest.mark.parametrize(("n", "size"), [(3, 2), (5, 2), (6, 5), (9, 4)])
def test_effects_of_annotators_are_those_of_leaving_one_out(n, size):
    """The mean over all sets without an annotator, minus the mean over all sets, where scores are sums."""
    worth, members = np.random.default_rng(n).normal(size=n), sets_of(n, size, 0)
    values = members @ worth + 0.5
    mean, without = effects_of(values[None], members)
    every = np.array([*combinations(range(n), size)])
    sums = worth[every].sum(axis=1) + 0.5
    assert mean[0] == pytest.approx(values.mean())
    expected = [sums[(every != k).all(axis=1)].mean() - sums.mean() for k in range(n)]
    assert without[0] == pytest.approx(expected, abs=1e-9)


def test_the_command_prints_it():
    tables = [SAMPLES / name for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")]
    assert call("annotate", *tables, "--system", tables[1]).code == 0
    document = call("annotate", *tables, "--system", tables[1], "--format", "json").document
    assert document["systems"][0]["scores"][0]["place"] == 1 and document["rankings"] == []


@pytest.mark.parametrize("method", ["mean", "majority"])
def test_systems_are_scored_against_consensus_events(method):
    *crowd, system = people(4, seed=2)
    scores = ["event.soft.f1.micro", "segment.soft.f1.micro"]
    how = {"durations": LENGTHS, "classes": ("a", "b"), "consensus": True, "method": method}
    made = annotate(crowd, systems=[system], scores=scores, **how)
    references = [made.reference, *(annotate(pair, **how).reference for pair in combinations(crowd, 2))]
    # What only touches stays two events, as in the ceiling.
    asked = {"durations": LENGTHS, "classes": ("a", "b"), "events": "rows"}
    for found, name in zip(made.systems[0].scores, scores, strict=True):
        whole, *of_pairs = (evaluate(each, system, **asked)[name] for each in references)
        assert found.value == whole and 0 <= found.low <= found.value <= found.high <= 1 and 0 < whole < 1
        assert found.over[1].value == pytest.approx(np.mean(of_pairs), abs=1e-12)


EVENT_F = "event.soft.f1.micro"


def drawn(biases, jitters, seed=0, n=2000, misses=0.2):
    """Return tables of annotators of the same events, early or late and unsteady as told."""
    rng = np.random.default_rng(seed)
    onset = 5.0 * np.arange(n) + 1
    offset = onset + rng.uniform(1.5, 3, n)
    tables = []
    for bias, jitter in zip(biases, jitters, strict=True):
        heard = rng.random(n) > misses
        false = 5.0 * np.arange(n)[rng.random(n) < 0.1] + 4.6
        begin, end = (times + rng.normal(0, jitter, n) for times in (onset + bias, offset - bias))
        times = np.concatenate(([begin[heard], end[heard]], [false, false + 0.3]), axis=1).round(4)
        names = {"filename": "a.wav", "event_label": "dog"}
        tables.append(
            {name: [text] * times.shape[1] for name, text in names.items()}
            | dict(zip(("onset", "offset"), times, strict=True))
        )
    return tables


def test_biases_and_jitters_that_were_simulated_are_found():
    """2,000 events of which each annotator misses a fifth: biases and jitters within 20 ms."""
    biases, jitters = np.array([-0.2, 0.0, 0.05, 0.3]), np.array([0.05, 0.1, 0.2, 0.15])
    found = annotate(drawn(biases, jitters), consensus=True).boundaries
    relative = biases - biases.mean()
    expected = {
        "onset_bias": relative,
        "offset_bias": -relative,
        "onset_jitter": jitters,
        "offset_jitter": jitters,
    }
    for name, values in expected.items():
        assert [getattr(each, name) for each in found] == pytest.approx(values.tolist(), abs=0.02)


def test_differences_of_two_annotators_say_one_bias_and_no_jitter():
    (left, right) = annotate(drawn([0.0, 0.1], [0.0, 0.0], misses=0.0), consensus=True).boundaries
    assert (left.onset_bias, right.onset_bias) == pytest.approx((-0.05, 0.05), abs=1e-4)
    assert left.onset_jitter is None
    assert right.offset_jitter is None


def test_jitters_by_hand():
    """Differences of +-1, +-1 and 0: variances of pairs v12 = v13 = 1 / 1.28155^2 and v23 = 0."""
    differences = np.array([np.tile([-1.0, 1.0], 10), np.zeros(20), np.zeros(20)])
    bias, jitter = bias_and_jitter(differences)
    assert bias == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert jitter == pytest.approx([1 / 1.2815515655, 0.0, 0.0], abs=1e-6)
    assert np.isnan(bias_and_jitter(differences[:, :9])).all()


def test_an_outlier_is_told_and_alike_annotators_are_not():
    alike = people(5, seed=3)
    other = {**alike[0], "event_label": [{"a": "b", "b": "a"}.get(each) for each in alike[0]["event_label"]]}
    for crowd, outliers in ((alike, []), ([*alike[1:], other], ["annotator 5"])):
        told = [text for text in annotate(crowd, durations=LENGTHS).warnings if "agrees much less" in text]
        assert [text[: len("annotator 5")] for text in told] == outliers


def test_event_f_of_a_pair_is_the_mean_of_both_evaluations():
    crowd = people(3, seed=7)
    pairs = annotate(crowd, durations=LENGTHS).pairs
    how = {"durations": LENGTHS, "classes": ("a", "b"), "only": ("event.soft",)}
    for (a, b), pair in zip(((0, 1), (0, 2), (1, 2)), pairs, strict=True):
        both = [evaluate(crowd[x], crowd[y], **how)[EVENT_F] for x, y in ((a, b), (b, a))]
        assert pair.event_f1_micro == sum(both) / 2
    assert annotate([crowd[0], crowd[0]], durations=LENGTHS).pairs[0].event_f1_micro == 1.0


def test_annotators_without_consensus_have_boundaries_that_are_unknown():
    alone = [{"filename": ["x"], "onset": [k], "offset": [k + 1], "event_label": ["a"]} for k in (0, 2, 4)]
    made = annotate(alone, method="majority", consensus=True)
    assert len(made.events) == 0
    assert [each[1:] for each in made.boundaries] == [(0, None, None, None, None)] * 3


def test_dawid_skene_of_consensus_events_is_that_of_the_same_answers():
    """Annotators who draw the same boundaries: each event that one has is an item."""
    values, labelled, _ = confused(4, 2, 60, 5, 0.2)
    made = annotate(tables_of(values, labelled), method="dawid-skene", consensus=True, missing="unlabelled")
    heard = (values > 0) & labelled[:, None]
    units = units_of(values, labelled)
    some = heard.any(axis=0).reshape(-1)
    items = replace(
        units, values=units.values[:, some], given=units.given[:, some], label=units.label[some],
        weight=units.weight[some],
    )  # fmt: skip
    expected = value_of(items, "dawid-skene", 0.5)
    assert sorted(made.events.events.confidence) == pytest.approx(sorted(expected), abs=1e-9)
