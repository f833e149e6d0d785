"""Annotators' boundaries, outliers and events in common: what was planted is found, in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from opinions import confused, units_of
from test_dawid_skene import tables_of
from test_systems import LENGTHS, people

from sedeval_soft import annotate, evaluate
from sedeval_soft.apps.annotators.consensus import bias_and_jitter
from sedeval_soft.apps.annotators.references import value_of

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
        begin = np.concatenate((onset + bias + rng.normal(0, jitter, n), false))
        end = np.concatenate((offset - bias + rng.normal(0, jitter, n), false + 0.3))
        some = np.concatenate((heard, np.ones(len(false), dtype=bool)))
        tables.append(
            {
                "filename": ["a.wav"] * int(some.sum()),
                "onset": begin[some].round(4),
                "offset": end[some].round(4),
                "event_label": ["dog"] * int(some.sum()),
            }
        )
    return tables


def test_biases_and_jitters_that_were_simulated_are_found():
    """2,000 events of which each annotator misses a fifth: biases and jitters within 20 ms."""
    biases, jitters = np.array([-0.2, 0.0, 0.05, 0.3]), np.array([0.05, 0.1, 0.2, 0.15])
    found = annotate(drawn(biases, jitters), consensus=True).boundaries
    relative = biases - biases.mean()
    assert [each.onset_bias for each in found] == pytest.approx(relative.tolist(), abs=0.02)
    assert [each.offset_bias for each in found] == pytest.approx((-relative).tolist(), abs=0.02)
    for each, jitter in zip(found, jitters, strict=True):
        assert each.onset_jitter == pytest.approx(jitter, abs=0.02)
        assert each.offset_jitter == pytest.approx(jitter, abs=0.02)


def test_differences_of_two_annotators_say_one_bias_and_no_jitter():
    (left, right) = annotate(drawn([0.0, 0.1], [0.0, 0.0], misses=0.0), consensus=True).boundaries
    assert (left.onset_bias, right.onset_bias) == pytest.approx((-0.05, 0.05), abs=1e-4)
    assert left.onset_jitter is None
    assert right.offset_jitter is None


def test_jitters_by_hand():
    """Differences of +-1, +-1 and 0: variances of pairs v12 = v13 = 1 / 1.28155^2 and v23 = 0."""
    zero, swings = np.zeros(20), np.tile([-1.0, 1.0], 10)
    bias, jitter = bias_and_jitter(np.array([swings, zero, zero]))
    assert bias == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert jitter == pytest.approx([1 / 1.2815515655, 0.0, 0.0], abs=1e-6)
    few, undefined = bias_and_jitter(np.array([swings, zero, zero])[:, :9])
    assert np.isnan(few).all()
    assert np.isnan(undefined).all()


def test_an_outlier_is_told_and_alike_annotators_are_not():
    alike = people(5, seed=3)
    assert not any("agrees much less" in each for each in annotate(alike, durations=LENGTHS).warnings)
    other = {**alike[0], "event_label": [{"a": "b", "b": "a"}.get(each) for each in alike[0]["event_label"]]}
    told = [
        each
        for each in annotate([*alike[1:], other], durations=LENGTHS).warnings
        if "agrees much less" in each
    ]
    assert len(told) == 1
    assert told[0].startswith("annotator 5")


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
