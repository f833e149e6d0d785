"""Candidate pairs of lifetimes found chain by chain, against all pairs one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures import event
from sedeval_soft.measures.event import Collars, candidate_pairs, level_edges
from sedeval_soft.measures.matching import LevelEdges, TooManyPairsError
from sedeval_soft.timeline.events import EventLifetimes

COLLARS = [
    Collars(0, 0, 0.0),
    Collars(1, 2, 0.5),
    Collars(2, None, 0.0),
    Collars(None, 1, 0.5),
    Collars(30, 1, 0.0),
    Collars(1, 30, 0.0),
]


def drawn(rng, n):
    """Lifetimes of few onsets, so that chains are long; those of one onset are drawn as they come."""
    onset = rng.integers(0, 4, n)
    born = rng.integers(0, 8, n)
    return EventLifetimes(
        rng.integers(0, 2, n).astype(np.int32),
        rng.integers(0, 2, n).astype(np.int32),
        onset,
        onset + rng.integers(0, 6, n),
        born / 8,
        rng.integers(born + 1, 9) / 8,
    )


def nested(rng, n):
    """Lifetimes as an activity has them: those of one onset follow one another, longer ones below."""
    parts = []
    for file in range(2):
        for label in range(2):
            for onset in range(3):
                ends = np.unique(rng.integers(0, 17, n // 6))
                k = len(ends) - 1
                column = np.full(k, file, dtype=np.int32), np.full(k, label, dtype=np.int32)
                length = np.sort(rng.integers(1, 9, k))[::-1]
                parts.append(
                    (*column, np.full(k, 4 * onset), 4 * onset + length, ends[:-1] / 16, ends[1:] / 16)
                )
    return EventLifetimes(*(np.concatenate(column) for column in zip(*parts, strict=True)), nested=True)


def group_of(side, by_class):
    return side.file.astype(np.int64) * 2 + side.label if by_class else side.file.astype(np.int64)


def one_by_one(ours, theirs, collars, by_class):
    found = []
    for i in range(len(ours)):
        for j in range(len(theirs)):
            same = ours.file[i] == theirs.file[j] and (not by_class or ours.label[i] == theirs.label[j])
            length = int(ours.offset[i] - ours.onset[i])
            starts = collars.onset is None or abs(ours.onset[i] - theirs.onset[j]) <= collars.onset
            ends = collars.offset is None or abs(ours.offset[i] - theirs.offset[j]) <= max(
                collars.offset, round(collars.rate * length)
            )
            low, high = max(ours.born[i], theirs.born[j]), min(ours.dies[i], theirs.dies[j])
            if same and starts and ends and low < high:
                found.append((i, j, float(low), float(high)))
    return found


def as_rows(edges):
    return sorted(
        zip(*(column.tolist() for column in (edges.left, edges.right, edges.low, edges.high)), strict=True)
    )


@pytest.mark.parametrize("few", [-1, 10**9], ids=["chains", "windows"])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("collars", COLLARS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_all_that_share_a_level_within_the_collars(seed, collars, by_class, few, monkeypatch):
    monkeypatch.setattr(event, "_FEW", few)
    rng = np.random.default_rng(seed)
    ours, theirs = nested(rng, 40), nested(rng, 50)
    groups = group_of(ours, by_class), group_of(theirs, by_class)
    assert as_rows(level_edges(ours, theirs, *groups, collars)) == one_by_one(ours, theirs, collars, by_class)


@pytest.mark.parametrize("seed", range(3))
def test_windows_hold_lifetimes_that_are_not_nested(seed):
    rng = np.random.default_rng(seed)
    ours, theirs, collars = drawn(rng, 30), drawn(rng, 40), Collars(1, 2, 0.5)
    groups = group_of(ours, True), group_of(theirs, True)
    assert as_rows(level_edges(ours, theirs, *groups, collars)) == one_by_one(ours, theirs, collars, True)


@pytest.mark.parametrize("empty", ["reference", "system", "both"])
def test_no_lifetimes_have_no_pairs(empty):
    some = drawn(np.random.default_rng(0), 3)
    none = some.take(slice(0, 0))
    sides = (none if empty != "system" else some), (none if empty != "reference" else some)
    edges = level_edges(*sides, *(group_of(side, True) for side in sides), Collars(1, 1, 0.0))
    assert isinstance(edges, LevelEdges)
    assert as_rows(edges) == []
    assert [column.dtype for column in (edges.left, edges.right, edges.low, edges.high)] == [
        np.int64, np.int64, np.float64, np.float64,
    ]  # fmt: skip


TOO_MANY = (
    "too many events lie within each other's collars to match them; are rows repeated, or are there "
    "very many events at one time? Smaller collars leave fewer"
)


def alike(n):
    """Lifetimes of one file that all pair with one another."""
    code, time = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    return EventLifetimes(code, code, time, time + 1, np.zeros(n), np.ones(n))


def test_more_pairs_than_can_be_held_are_refused(monkeypatch):
    """Three and four that all pair are twelve."""
    ours, theirs, collars = alike(3), alike(4), Collars(1, 1, 0.0)
    groups = np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.int64)

    def by_chains():
        monkeypatch.setattr(event, "_FEW", -1)
        return len(level_edges(ours, theirs, *groups, collars).left)

    def within():
        return len(candidate_pairs(ours, theirs, *groups, collars)[0])

    for module, name, found in (
        (event, "MOST_PAIRS", by_chains),
        (event, "MOST_PAIRS", within),
        (event, "_MOST_LOOKED_AT", within),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 12)
            assert found() == 12
            patch.setattr(module, name, 11)
            with pytest.raises(TooManyPairsError) as refused:
                found()
            assert str(refused.value) == TOO_MANY


def test_pairs_are_counted_over_all_that_is_looked_at_at_a_time(monkeypatch):
    monkeypatch.setattr(event, "_AT_ONCE", 4)
    monkeypatch.setattr(event, "MOST_PAIRS", 11)
    groups = np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.int64)
    with pytest.raises(TooManyPairsError):
        candidate_pairs(alike(3), alike(4), *groups, Collars(1, 1, 0.0))
