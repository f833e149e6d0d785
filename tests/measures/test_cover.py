"""How much of a stretch events cover, against a look at every tick."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.measures.intersection import cover
from sedeval_soft.measures.intersection.cover import Cover, Line


def covered(events, group, onset, offset):
    """Ticks of a stretch that events of a group cover, each event on its own."""
    return sum(sum(on <= tick < off for tick in range(onset, offset)) for g, on, off in events if g == group)


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
    monkeypatch.setattr(cover, "_DENSE", dense)
    rng = np.random.default_rng(seed)
    # The group 2 and those from 6 on have no event; the last ones are beyond the line.
    events = drawn(rng, 12, [0, 1, 3, 5], apart)
    groups, onsets, offsets = (np.array(column, dtype=np.int64) for column in zip(*events, strict=True))
    found = Cover.of(groups, onsets, offsets)
    assert (found.line.groups is None) == (dense > 0)
    if apart:
        assert found.apart
    asked = [(g, a, b) for g in range(8) for a in range(0, 34, 5) for b in range(a, 40, 7)]
    of, begins, ends = (np.array(column, dtype=np.int64) for column in zip(*asked, strict=True))
    wanted = [covered(events, *stretch) for stretch in asked]
    assert found.overlap(of, begins, ends).tolist() == wanted


@pytest.mark.parametrize("dense", [0, 2**24])
def test_events_that_touch_are_apart_and_those_that_overlap_are_not(dense, monkeypatch):
    monkeypatch.setattr(cover, "_DENSE", dense)
    group, onset = np.array([4, 4]), np.array([0, 5])
    assert Cover.of(group, onset, np.array([5, 9])).apart is True
    assert Cover.of(group, onset, np.array([6, 9])).apart is False
    # Files lie one after another on the line: they do not overlap whatever their times.
    assert Cover.of(np.array([0, 1]), np.array([3, 0]), np.array([9, 4])).apart is True


def test_groups_lie_one_after_another_with_a_place_between():
    """The second of three ends at 4, the third at 7; the first has nothing."""
    line = Line.of(np.array([1, 2, 1]), np.array([4, 7, 2]))
    assert line.groups is None
    assert line.start.tolist() == [0, 1, 6]
    assert line.end.tolist() == [0, 5, 13]
    at, known = line.locate(np.array([1, 1, 2, 2, 3]), np.array([3, 9, 0, 7, 1]))
    assert known.tolist() == [True, True, True, True, False]
    assert at[:4].tolist() == [4, 5, 6, 13]


def test_groups_of_large_numbers_are_searched(monkeypatch):
    monkeypatch.setattr(cover, "_DENSE", 9)
    assert Line.of(np.array([8]), np.array([4])).groups is None
    line = Line.of(np.array([9, 3, 9]), np.array([4, 7, 2]))
    assert line.groups is not None and line.groups.tolist() == [3, 9]
    assert line.start.tolist() == [0, 8]
    assert line.end.tolist() == [7, 12]
    at, known = line.locate(np.array([3, 9, 5, 20, 0]), np.array([2, 1, 0, 0, 0]))
    assert known.tolist() == [True, True, False, False, False]
    assert at[:2].tolist() == [2, 9]


def test_without_events_nothing_is_covered():
    none = np.zeros(0, dtype=np.int64)
    found = Cover.of(none, none, none)
    assert found.overlap(np.array([0, 3]), np.array([0, 1]), np.array([5, 6])).tolist() == [0, 0]
    at, known = found.line.locate(np.array([0, 3]), np.array([1, 2]))
    assert (at.tolist(), known.tolist()) == ([0, 0], [False, False])
    assert (at.dtype, known.dtype) == (np.int64, np.bool_)
    some = Cover.of(np.array([0]), np.array([0]), np.array([5]))
    assert some.overlap(none, none, none).tolist() == []


def test_files_that_are_too_long_together_are_refused(monkeypatch):
    monkeypatch.setattr(cover, "_LINE", 13)
    assert Line.of(np.array([1, 2]), np.array([4, 6])).end.tolist() == [0, 5, 12]
    with pytest.raises(EvaluationError) as refused:
        Line.of(np.array([1, 2]), np.array([4, 7]))
    assert str(refused.value) == "the files are too long together; are the times in seconds?"
