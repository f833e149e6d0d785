"""Crowds, whose pairs are not listed, are matched as if they were."""

from __future__ import annotations

import numpy as np
import pytest
from tables import long_rows

from sedeval_soft import EvaluationError, evaluate
from sedeval_soft.measures import crowds, pairs
from sedeval_soft.measures.crowds import count_within
from sedeval_soft.measures.event import count_events, count_soft_events, match_events, match_lifetimes
from sedeval_soft.measures.matching import TooManyPairsError
from sedeval_soft.measures.pairs import Collars, Overlap
from sedeval_soft.timeline.events import EventLifetimes

N_FILES, N_CLASSES = 2, 2
COLLARS = (
    Collars(5, 5, 0.5), Collars(0, 3, 0.0), Collars(10, None, 0.0), Collars(None, 4, 0.7), Collars(3, 0, 1.0),
    Collars(25, 25, 0.0), Overlap(0.05), Overlap(0.5), Overlap(0.9),
)  # fmt: skip


def side(rng: np.random.Generator, levels: int, born: int) -> EventLifetimes:
    """Return lifetimes of up to 70 events in time steps so few that many are alike."""
    n = int(rng.integers(0, 70))
    onset, label = rng.integers(0, 50, n), rng.integers(0, N_CLASSES, n).astype(np.int32)
    file = np.sort(rng.integers(0, N_FILES, n)).astype(np.int32)
    low = rng.integers(0, born + 1, n) / 8 if born else np.zeros(n)
    dies = np.full(n, 1.0) if levels == 1 else rng.integers(1, levels + 1, n) / levels
    return EventLifetimes(
        file, label, onset, onset + rng.integers(1, 30, n), low, np.maximum(dies, low + 1 / 16)
    )


@pytest.fixture
def everything_is_a_crowd(monkeypatch):
    def switch(is_so: bool) -> None:
        monkeypatch.setattr(pairs, "MANY_PAIRS", 0 if is_so else 10**9)
        monkeypatch.setattr(pairs, "MANY_OF_ONE", 0)

    return switch


@pytest.mark.parametrize("levels", [(1, 1), (1, 6), (6, 1), (30, 30)])
@pytest.mark.parametrize("seed", range(18))
def test_crowds_are_matched_as_others_are(seed, levels, everything_is_a_crowd):
    """At every level as many; the greedy matching is the same one; one made greedy is completed."""
    rng = np.random.default_rng(seed)
    ours, theirs = (side(rng, n, (seed == 11) * 3) for n in levels)
    collars = COLLARS[seed % len(COLLARS)]
    by_class, by_file = (
        tuple(each.file.astype(np.int64) * n + each.label * (n > 1) for each in (ours, theirs))
        for n in (N_CLASSES, 1)
    )
    told = []
    for crowded in (False, True):
        everything_is_a_crowd(crowded)
        sizes = []
        for groups in (by_class, by_file):
            matched = match_lifetimes(ours, theirs, groups, collars)
            for level in np.arange(1, 481) / 480:
                at = matched.level < level
                sizes.append(np.bincount(matched.group[at], matched.change[at], minlength=4).tolist())
        for way in ("optimal", "greedy"):
            partner = match_events(ours.events(), theirs.events(), N_CLASSES, collars, way)
            hit = partner >= 0
            assert len({*partner[hit].tolist()}) == hit.sum()
            assert np.array_equal(by_class[0][hit], by_class[1][partner[hit]])
            conditions, others = collars.conditions(ours, theirs)
            for condition in (*conditions, *others):
                assert condition.holds(hit.nonzero()[0], partner[hit]).all()
            counts = count_events(ours.events(), theirs.events(), N_FILES, N_CLASSES, collars, partner)
            sizes += [counts.tp.tolist(), counts.substitutions.tolist(), partner.tolist() * (way == "greedy")]
        told.append(sizes)
    assert told[0] == told[1]


def test_a_system_that_is_all_right_is_so_to_the_last_digit(everything_is_a_crowd):
    everything_is_a_crowd(True)
    ours = side(np.random.default_rng(3), 30, 0)
    counts = count_soft_events(ours, ours, N_FILES, N_CLASSES, Collars(0, 0, 0.0))
    assert counts.tp.tolist() == counts.n_ref.tolist() == counts.n_sys.tolist()
    assert not counts.substitutions.any()


@pytest.mark.parametrize("seed", range(5))
def test_count_within(seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 20, int(rng.integers(1, 70)))
    first, last = np.sort(rng.integers(0, len(times) + 1, (2, 40)), axis=0)
    low, high = rng.integers(-3, 23, (2, 40))
    high = np.maximum(low - 1, high)
    got = count_within(first, last, times, low, high)
    for k in range(40):
        part = times[first[k] : last[k]]
        assert got[k] == np.count_nonzero((low[k] <= part) & (part <= high[k]))


@pytest.mark.parametrize(
    ("place", "limit", "value", "said"),
    [(crowds, "MOST_PAIRS", 19, ": 20 pairs of an event"), (crowds, "_MOST_COMPARED", 3, "match them; are")],
)
def test_too_much_of_a_crowd_is_refused(place, limit, value, said, everything_is_a_crowd, monkeypatch):
    everything_is_a_crowd(True)
    monkeypatch.setattr(place, limit, value)
    whole = np.zeros(5, dtype=np.int32), np.zeros(5, dtype=np.int32), np.arange(5), np.arange(5) + 9
    five = EventLifetimes(*whole, np.zeros(5), np.ones(5))
    with pytest.raises(TooManyPairsError, match=said):
        match_events(five.take(slice(4)).events(), five.events(), 1, Collars(9, 9, 0.0))


@pytest.mark.parametrize("options", [{"compat": "sed_eval"}, {"measures": "curves", "only": "event.hard"}])
def test_what_would_take_too_long_of_a_crowd_is_not_begun(options):
    """2,100 events of either side that all pair, and overlap, are more than four million pairs."""
    rows = [("a", k * 1e-5, 1 + k * 1e-5, "car") for k in range(2100)]
    with pytest.raises(EvaluationError, match=r"4\.41e\+06 pairs.*--only segment needs none"):
        evaluate(long_rows(rows), long_rows(rows), **options)
    scores = evaluate(long_rows(rows), long_rows(rows), only="event.hard")
    assert scores["event.hard.f1.micro"] == 1
