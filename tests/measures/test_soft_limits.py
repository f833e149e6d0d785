"""The soft reading of events where not all can be matched at once, and cuts of a soft reference."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.evaluation.optimal import events_when
from sedeval_soft.measures import event, matching, psds
from sedeval_soft.measures.event import Collars, count_soft_events
from sedeval_soft.measures.matching import LevelEdges, TooManyPairsError, match_levels
from sedeval_soft.measures.psds import Cuts
from sedeval_soft.timeline.events import EventLifetimes

NAMES = ("tp", "n_ref", "n_sys", "substitutions", "deletions", "insertions")


def lives(rows, nested=False):
    """Lifetimes of file, class, onset, offset, birth and death."""
    columns = [np.array([row[k] for row in rows]) for k in range(6)]
    codes = [column.astype(np.int32) for column in columns[:2]]
    return EventLifetimes(*codes, *(c.astype(np.int64) for c in columns[2:4]), *columns[4:], nested)


def drawn(seed, n=40, n_files=4):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        born = int(rng.integers(0, 7))
        onset = int(rng.integers(0, 5))
        offset = onset + int(rng.integers(1, 4))
        rows.append(
            (rng.integers(n_files), rng.integers(2), onset, offset, born / 8, rng.integers(born + 1, 9) / 8)
        )
    return lives(rows)


@pytest.mark.parametrize("at_once", [1, 15, 10**6])
def test_files_matched_a_few_at_a_time_are_as_all_at_once(at_once, monkeypatch):
    ours, theirs, collars = drawn(0), drawn(1), Collars(1, 1, 0.0)
    # The files 3 and 5 have nothing.
    ours, theirs = ours.take(ours.file != 3), theirs.take(theirs.file != 3)
    together = count_soft_events(ours, theirs, 6, 2, collars)
    monkeypatch.setattr(event, "_LIFETIMES_AT_ONCE", at_once)
    apart = count_soft_events(ours, theirs, 6, 2, collars)
    for name in NAMES:
        assert getattr(apart, name).tolist() == getattr(together, name).tolist()
    # And as each file alone.
    for file in range(4):
        own = count_soft_events(ours.take(ours.file == file), theirs.take(theirs.file == file), 6, 2, collars)
        for name in NAMES:
            assert getattr(own, name)[file] == pytest.approx(getattr(together, name)[file], abs=1e-12)


@pytest.mark.parametrize("first", [0, 2])
def test_errors_of_a_file_with_too_many_pairs_are_undefined_and_of_no_other(first, monkeypatch):
    """One file has classes that all pair with one another at many levels; the other has one event."""
    rng = np.random.default_rng(7)
    file, other = first, 2 - first
    crowd = [
        [(file, label, int(rng.integers(0, 3)), 5, low / 64, high / 64)
         for label in (0, 1) for low, high in (sorted(rng.choice(65, 2, replace=False)) for _ in range(8))]
        for _ in range(2)
    ]  # fmt: skip
    one = (other, 1, 0, 5, 0.25, 0.75)
    ours, theirs = (lives([*rows, one]) for rows in crowd)
    collars = Collars(5, 5, 0.0)
    whole = count_soft_events(ours, theirs, 3, 2, collars)
    assert not any(np.isnan(getattr(whole, name)).any() for name in NAMES)
    monkeypatch.setattr(event, "_MOST_COPIES", 1)
    monkeypatch.setattr(matching, "_COPIES_PER_EDGE", 1)
    found = count_soft_events(ours, theirs, 3, 2, collars)
    for name in ("tp", "n_ref", "n_sys"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), abs=1e-12)
    for name in ("substitutions", "deletions", "insertions"):
        column = getattr(found, name)
        assert np.isnan(column[file])
        assert column[[1, other]] == pytest.approx(getattr(whole, name)[[1, other]], abs=1e-12)
    # Alone it is refused as well.
    alone = ours.take(ours.file == file), theirs.take(theirs.file == file)
    assert np.isnan(count_soft_events(*alone, 3, 2, collars).substitutions).tolist() == [
        k == file for k in range(3)
    ]


def test_copies_are_counted_of_what_competes(monkeypatch):
    """Three on the left compete for one, for one step, two and two: five copies in all."""
    edges = LevelEdges(np.array([0, 1, 2]), np.array([0, 0, 0]), np.zeros(3), np.array([0.5, 1.0, 1.0]))
    monkeypatch.setattr(matching, "_COPIES_PER_EDGE", 1)
    # Of 1, 2 and 2 steps.
    found = match_levels(edges, 5)
    assert (found.high - found.low).sum() == 1.0
    with pytest.raises(TooManyPairsError):
        match_levels(edges, 4)
    monkeypatch.setattr(matching, "_COPIES_PER_EDGE", 2)
    assert (match_levels(edges, 0).high - match_levels(edges, 0).low).sum() == 1.0


def test_a_vertex_matched_throughout_is_one_stretch():
    edges = LevelEdges(
        np.array([3, 3, 1]), np.array([0, 1, 1]), np.array([0.0, 0.5, 0.0]), np.array([0.5, 1.0, 0.5])
    )
    found = match_levels(edges)
    assert (found.left.tolist(), found.low.tolist(), found.high.tolist()) == ([1, 3], [0.0, 0.0], [0.5, 1.0])
    none = LevelEdges(*np.zeros((2, 0), dtype=np.int64), *np.zeros((2, 0)))
    assert len(none.left) == 0
    assert match_levels(none).left.tolist() == []


def test_too_many_cuts_are_sampled(monkeypatch):
    monkeypatch.setattr(psds, "_MOST", 100)
    monkeypatch.setattr(psds, "_FEWEST", 4)
    # Ten cuts of ten lifetimes are 100; of more than four of them one may stand for several.
    for n_edges, n_sys, n_cuts in ((11, 10, None), (12, 10, 10), (5, 1000, None), (6, 1000, 4), (12, 25, 4),
                                   (12, 24, 4), (12, 20, 5)):  # fmt: skip
        cuts = Cuts.of(np.arange(n_edges) / 16, n_sys)
        assert (cuts.exact, len(cuts.level)) == (n_cuts is None, n_cuts or n_edges - 1)
    edges = np.arange(12) / 16
    cuts = Cuts.of(edges, 10)
    assert cuts.level == pytest.approx((np.arange(10) + 0.5) * 11 / 160)
    assert cuts.width == pytest.approx([11 / 160] * 10)
    exact = Cuts.of(edges, 9)
    assert exact.level.tolist() == edges[1:].tolist()


def test_thresholds_of_too_many_pairs_are_refused(monkeypatch):
    """Three alike are in reach of three that live for two steps each: nine pairs, 18 copies."""
    ours = lives([(0, 0, 0, 4, 0.0, 1.0)] * 3)
    theirs = lives([(0, 0, 0, 4, low / 4, (low + 2) / 4) for low in (0, 1, 2)])
    monkeypatch.setattr(matching, "_COPIES_PER_EDGE", 1)
    ((hits, _), _), _ = events_when(ours.events(), theirs, 1, 1, Collars(1, 1, 0.0), most=10**6)
    # One or two are alive at any level, and all of them are matched.
    assert (hits.dies - hits.born).sum() == 1.5
    with pytest.raises(TooManyPairsError):
        events_when(ours.events(), theirs, 1, 1, Collars(1, 1, 0.0), most=1)
