"""Systems where there are several annotators: intervals, how many are enough, scores against each."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from called import call
from test_continuous import table

from sedeval_soft import EvaluationError, annotate, evaluate
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

    def against(tables):
        reference = annotate(tables, durations=LENGTHS, classes=("a", "b")).reference
        return evaluate(reference, system, **how)[SCORE]

    assert result.value == against(crowd)
    assert result.against == pytest.approx(
        [evaluate(each, system, **how)[SCORE] for each in crowd], abs=1e-12
    )
    assert result.mean == pytest.approx(np.mean(result.against), abs=1e-12)
    assert result.deviation == pytest.approx(np.std(result.against, ddof=1), abs=1e-12)
    assert [point.annotators for point in result.over] == [1, 2, 3]
    pairs = [against(pair) for pair in combinations(crowd, 2)]
    assert result.over[1].value == pytest.approx(np.mean(pairs), abs=1e-12)
    assert result.over[0].value == pytest.approx(result.mean, abs=1e-12)
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
        assert score.by_annotators == 0.0 < score.by_files
        assert [point.value for point in score.over] == pytest.approx([score.value] * 4, abs=1e-12)
        assert score.deviation == 0.0
    assert result.rankings[0].enough == 1
    assert {share.share for share in result.rankings[0].over} == {1.0}


def test_the_order_of_annotators_does_not_matter():
    names, crowd, system = "abcd", people(4), people(1, seed=9)[0]
    one = annotate(dict(zip(names, crowd, strict=True)), systems={"s": system}, durations=LENGTHS)
    other = annotate(
        dict(zip(names[::-1], crowd[::-1], strict=True)), systems={"s": system}, durations=LENGTHS
    )
    for a, b in zip(one.systems[0].scores, other.systems[0].scores, strict=True):
        assert a._replace(against=a.against[::-1]) == b


@pytest.mark.parametrize(("n", "size"), [(3, 2), (5, 2), (6, 5), (9, 4)])
def test_effects_of_annotators_are_those_of_leaving_one_out(n, size):
    """The mean over all sets without an annotator, minus the mean over all sets, where scores are sums."""
    rng = np.random.default_rng(n)
    worth, members = rng.normal(size=n), sets_of(n, size, 0)
    values = members @ worth + 0.5
    mean, without = effects_of(values[None], members)
    assert mean[0] == pytest.approx(values.mean())
    if size < n - 1 or n <= 6:
        every = np.array([list(each) for each in combinations(range(n), size)])
        sums = worth[every].sum(axis=1) + 0.5
        expected = [sums[(every != k).all(axis=1)].mean() - sums.mean() for k in range(n)]
        assert without[0] == pytest.approx(expected, abs=1e-9)


def test_the_command_prints_it():
    tables = [SAMPLES / name for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")]
    done = call("annotate", *tables, "--system", tables[1])
    assert done.code == 0
    document = call("annotate", *tables, "--system", tables[1], "--format", "json").document
    assert document["systems"][0]["scores"][0]["place"] == 1
    assert document["rankings"] == []
    assert call("annotate", *tables, "--system", tables[1], "--system", tables[1]).code == 2


@pytest.mark.parametrize("score", ["segment.optimal.f1.micro", "segment.hard.tp.micro"])
def test_scores_that_cannot_be_resampled_are_refused(score):
    with pytest.raises(EvaluationError, match=score):
        annotate(people(3), systems=people(1), scores=[score])


@pytest.mark.parametrize("method", ["mean", "majority"])
def test_systems_are_scored_against_consensus_events(method):
    *crowd, system = people(4, seed=2)
    scores = ["event.soft.f1.micro", "segment.soft.f1.micro"]
    how = {"durations": LENGTHS, "classes": ("a", "b")}
    named = dict(zip("xyz", crowd, strict=True))
    made, again = (
        annotate(each, systems=[system], scores=scores, consensus=True, method=method, **how)
        for each in (named, dict(reversed(named.items())))
    )
    pairs = [
        annotate(pair, consensus=True, method=method, **how).reference for pair in combinations(crowd, 2)
    ]
    for k, name in enumerate(scores):
        found = made.systems[0].scores[k]
        # What only touches stays two events, as in the ceiling.
        assert found.value == evaluate(made.reference, system, events="rows", **how)[name]
        assert found.low <= found.value <= found.high
        backwards = again.systems[0].scores[k].over
        assert [each.value for each in found.over] == [each.value for each in backwards]
        assert 0 < found.value < 1
        of_pairs = [evaluate(each, system, events="rows", **how)[name] for each in pairs]
        assert found.over[1].value == pytest.approx(np.mean(of_pairs), abs=1e-12)
