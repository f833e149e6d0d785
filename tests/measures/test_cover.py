"""How much of a stretch events cover, against a look at every tick."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.errors import EvaluationError
from sedeval_soft.measures import intersections
from sedeval_soft.measures.intersections import Cover, Line, in_union
from sedeval_soft.timeline.events import EventLifetimes


def covered(events, group, onset, offset):
    """Ticks of a stretch that some event of a group covers."""
    own = [(on, off) for g, on, off in events if g == group]
    return sum(any(on <= tick < off for on, off in own) for tick in range(onset, offset))


def drawn(rng, n, groups, apart):
    if apart:
        # One after another, some of which touch.
        events = []
        for group in groups:
            ends = np.sort(rng.integers(0, 30, 2 * (n // len(groups))))
            events += [(group, int(a), int(b)) for a, b in ends.reshape(-1, 2)]
        return events
    times = np.sort(rng.integers(0, 30, (n, 2)), axis=1)
    return [(int(rng.choice(groups)), int(a), int(b)) for a, b in times]


@pytest.mark.parametrize("dense", [0, 2**24], ids=["searched", "looked up"])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_overlap_is_that_of_every_tick(seed, apart, dense, monkeypatch):
    monkeypatch.setattr(intersections, "_DENSE", dense)
    rng = np.random.default_rng(seed)
    # The group 2 and those from 6 on have no event; the last ones are beyond the line.
    events = drawn(rng, 12, [0, 1, 3, 5], apart)
    groups, onsets, offsets = (np.array(column, dtype=np.int64) for column in zip(*events, strict=True))
    found = Cover.of(groups, onsets, offsets)
    assert (found.line.groups is None) == (dense > 0)
    asked = [(g, a, b) for g in range(8) for a in range(0, 34, 5) for b in range(a, 40, 7)]
    of, begins, ends = (np.array(column, dtype=np.int64) for column in zip(*asked, strict=True))
    wanted = [covered(events, *stretch) for stretch in asked]
    assert found.overlap(of, begins, ends).tolist() == wanted


@pytest.mark.parametrize("dense", [0, 2**24])
def test_events_that_overlap_are_one_stretch_and_those_that_touch_are_not(dense, monkeypatch):
    monkeypatch.setattr(intersections, "_DENSE", dense)
    group, onset = np.array([4, 4]), np.array([0, 5])
    assert len(Cover.of(group, onset, np.array([5, 9])).onset) == 2
    assert len(Cover.of(group, onset, np.array([6, 9])).onset) == 1
    assert len(Cover.of(group, np.array([0, 0]), np.array([6, 6])).onset) == 1
    # Files lie one after another on the line: they do not overlap whatever their times.
    assert len(Cover.of(np.array([0, 1]), np.array([3, 0]), np.array([9, 4])).onset) == 2


def test_files_that_are_too_long_together_are_refused(monkeypatch):
    monkeypatch.setattr(intersections, "_LINE", 13)
    assert Line.of(np.array([1, 2]), np.array([4, 6])).end.tolist() == [0, 5, 12]
    with pytest.raises(EvaluationError) as refused:
        Line.of(np.array([1, 2]), np.array([4, 7]))
    assert str(refused.value) == "the files are too long together; are the times in seconds?"


def lifetimes(rng, n, births):
    """Return random lifetimes of two groups; `births`: at 0, those of operating points, or anywhere."""
    onset = rng.integers(0, 12, n)
    times = onset, onset + rng.integers(1, 8, n)
    born, dies = np.zeros(n), rng.integers(1, 6, n) / 5
    if births == "points":
        born = rng.integers(0, 3, n) / 3
        dies = np.nextafter(born + 1 / 3, 2)
        dies = np.where(born < 0.5, (born * 3 + 1) / 3, dies)
    elif births == "anywhere":
        born, dies = np.sort(rng.choice(10, 2 * n + 20)[: 2 * n].reshape(2, n) / 9, axis=0)
    codes = rng.integers(0, 2, n).astype(np.int32), rng.integers(0, 2, n).astype(np.int32)
    return EventLifetimes(*codes, *times, born, dies)


def at(events, level):
    """Ticks of each file and class at which something is alive at a level, each as often as it is."""
    alive = events.take(events.alive(level, inclusive=True))
    columns = (alive.file, alive.label, alive.onset, alive.offset)
    return sorted((f, c, t) for f, c, on, off in zip(*columns, strict=True) for t in range(on, off))


@pytest.mark.parametrize("births", ["0", "points", "anywhere"])
def test_pieces_cover_at_every_level_what_events_cover_and_once(births):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        events = lifetimes(rng, int(rng.integers(1, 12)), births)
        pieces, group = in_union(events, events.file * 2 + events.label.astype(np.int64))
        assert (group == pieces.file * 2 + pieces.label).all()
        levels = np.unique(np.concatenate((events.born, events.dies)))
        for level in (levels[1:] + levels[:-1]) / 2:
            assert at(pieces, level) == sorted(set(at(events, level)))


def test_events_that_do_not_overlap_are_left_as_they_are():
    ends = np.arange(0, 10, 2)
    zeros = np.zeros(5, dtype=np.int32)
    events = EventLifetimes(zeros, zeros, ends, ends + 2, np.zeros(5), np.ones(5))
    assert in_union(events, np.zeros(5, dtype=np.int64))[0] is events
