"""Bins of levels, and the way down through them, against a look at every level."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft.measures import descent
from sedeval_soft.measures.descent import Stretch, _Bins, _grouped, descend, summed


class Strict:
    """A run that takes whole numbers only, as one on a disk does."""

    def __init__(self, level, change):
        self.level, self.change = level, change

    def __len__(self):
        return len(self.level)

    def levels(self, begin, end):
        assert type(begin) is type(end) is int and 0 <= begin < end <= len(self)
        return self.level[begin:end]

    def changes(self, begin, end):
        assert type(begin) is type(end) is int and 0 <= begin < end <= len(self)
        return self.change[:, begin:end]


def drawn(rng, n_runs, n, n_counts=3):
    runs = []
    for _ in range(n_runs):
        level = np.unique(rng.integers(0, 3 * n, rng.integers(0, n + 1))) / (3 * n)
        runs.append(Strict(level, rng.integers(-3, 5, (n_counts, len(level)))))
    return runs


def every(runs, stretch):
    """The distinct levels of a stretch, descending, and the counts from each on, one by one."""
    entries = [
        (float(run.level[k]), run.change[:, k])
        for run, begin, end in zip(runs, stretch.begin, stretch.end, strict=True)
        for k in range(begin, end)
    ]
    found, above = [], stretch.above
    for level in sorted({level for level, _ in entries}, reverse=True):
        above = above + sum(change for own, change in entries if own == level)
        found.append((level, above.tolist()))
    return found


def part_of(rng, runs, n_counts=3):
    begin = np.array([rng.integers(0, len(run) + 1) for run in runs])
    end = np.array([rng.integers(b, len(run) + 1) for b, run in zip(begin, runs, strict=True)])
    return Stretch(runs, begin, end, rng.integers(0, 9, n_counts))


@pytest.mark.parametrize("edges", [1, 7, 64])
@pytest.mark.parametrize("positions", [4, 1 << 21])
@pytest.mark.parametrize("seed", range(4))
def test_bins_part_all_levels_and_bound_what_is_within(seed, positions, edges, monkeypatch):
    monkeypatch.setattr(descent, "EDGES", edges)
    monkeypatch.setattr(descent, "_POSITIONS", positions)
    rng = np.random.default_rng(seed)
    runs = drawn(rng, 3, 14)
    stretch = part_of(rng, runs) if seed % 2 else Stretch.whole(runs, 3)
    if not len(stretch):
        return
    bins = _Bins.of(stretch)
    parts = list(stretch.parts())
    # At least one edge of each run that has levels, and at most as many as are asked for.
    each = max(1, min(edges, positions // 3) // 3)
    assert 1 <= len(bins.edges) <= each * len(parts)
    assert bins.edges.tolist() == sorted({*bins.edges.tolist()})
    wanted = set()
    for run, begin, end in parts:
        own = run.level[begin:end]
        wanted |= {float(own[int((k + 0.5) * (end - begin) / each)]) for k in range(each)}
    assert {*bins.edges.tolist()} == wanted
    n_bins = 2 * len(bins.edges) + 1
    assert bins.place.shape == (3, n_bins + 1)
    assert bins.counts.shape == (3, n_bins + 1)
    # Below the first edge, at it, up to the next one, and so on.
    bounds = [-1.0, *(edge for edge in bins.edges for _ in range(2)), 2.0]

    def bin_of(level):
        at = int(np.searchsorted(bins.edges, level))
        return 2 * at + 1 if at < len(bins.edges) and bins.edges[at] == level else 2 * at

    assert len(bounds) == n_bins + 1
    counts, high, low = np.zeros((3, n_bins), dtype=int), [0] * n_bins, [0] * n_bins
    for number, (run, begin, end) in enumerate(zip(runs, stretch.begin, stretch.end, strict=True)):
        where = [bin_of(level) for level in run.level[begin:end]]
        starts = [begin + sum(at < k for at in where) for k in range(n_bins + 1)]
        assert bins.place[number].tolist() == starts
        for at, change in zip(where, run.change[:, begin:end].T, strict=True):
            counts[:, at] += change
            high[at] += max(int(change[0]), 0)
            low[at] += max(-int(change[1]), 0)
    assert bins.high.tolist() == high
    assert bins.low.tolist() == low
    below = stretch.above
    assert bins.counts[:, -1].tolist() == below.tolist()
    for k in range(n_bins)[::-1]:
        below = below + counts[:, k]
        assert bins.counts[:, k].tolist() == below.tolist()


class Everything:
    """Looks at all levels, and writes down which, and what is said of bins."""

    def __init__(self, may=None):
        self.seen, self.told, self.sizes, self.asked = [], [], [], []
        self.allowed = may

    def reached(self, counts):
        self.told += counts.T.tolist()

    def may(self, counts, high, low):
        self.asked.append(len(high))
        assert counts.shape[1] == len(high) == len(low)
        return np.ones(len(high), dtype=bool) if self.allowed is None else self.allowed(counts)

    def see(self, level, counts):
        self.sizes.append(len(level))
        self.seen += list(zip(level.tolist(), counts.T.tolist(), strict=True))


@pytest.mark.parametrize("most", [1, 3, 10, 10**9])
@pytest.mark.parametrize("edges", [1, 5, 16])
@pytest.mark.parametrize("seed", range(3))
def test_all_levels_are_seen_once_and_in_order(seed, edges, most, monkeypatch):
    monkeypatch.setattr(descent, "EDGES", edges)
    rng = np.random.default_rng(seed)
    runs = drawn(rng, 4, 12)
    stretch = Stretch.whole(runs, 3)
    wanted, seeker = every(runs, stretch), Everything()
    descend(stretch, seeker, most)
    assert seeker.seen == wanted
    assert max(seeker.sizes) <= most
    assert min(seeker.sizes) > 0
    # What is said to be reached is reached.
    assert all(counts in [[0, 0, 0], *(c for _, c in wanted)] for counts in seeker.told)


def test_bins_in_which_nothing_can_be_are_passed_over(monkeypatch):
    """Only the highest levels are wanted: those before which less than 2 are counted."""
    monkeypatch.setattr(descent, "EDGES", 4)
    level = np.arange(1, 17) / 16
    runs = [Strict(level, np.ones((2, 16), dtype=np.int64))]
    seeker = Everything(lambda counts: counts[0] < 2)
    descend(Stretch.whole(runs, 2), seeker, 2)
    seen = [at for at, _ in seeker.seen]
    assert seen[:2] == [1.0, 15 / 16]
    assert len(seen) < 8
    nothing = Everything(lambda counts: counts[0] < 0)
    descend(Stretch.whole(runs, 2), nothing, 2)
    assert nothing.seen == []


def test_a_whole_stretch_begins_with_nothing_counted():
    runs = drawn(np.random.default_rng(3), 3, 9)
    stretch = Stretch.whole(runs, 2)
    assert stretch.begin.tolist() == [0, 0, 0]
    assert stretch.end.tolist() == [len(run) for run in runs]
    assert stretch.above.tolist() == [0, 0]
    assert {stretch.begin.dtype, stretch.end.dtype, stretch.above.dtype} == {np.dtype(np.int64)}
    assert len(stretch) == sum(map(len, runs))


def test_runs_without_entries_are_left_out():
    runs = drawn(np.random.default_rng(4), 3, 9)
    stretch = Stretch(runs, np.array([1, 2, 0]), np.array([2, 2, 1]), np.zeros(3, dtype=np.int64))
    assert [(begin, end) for _, begin, end in stretch.parts()] == [(1, 2), (0, 1)]
    assert [run for run, _, _ in stretch.parts()] == [runs[0], runs[2]]
    assert len(stretch) == 2


def test_levels_of_several_runs_are_summed_by_hand():
    levels = [np.array([0.25, 0.5]), np.array([0.5, 0.75])]
    changes = [np.array([[1, 2], [10, 20]]), np.array([[4, 8], [40, 80]])]
    level, counts = summed(levels, changes, np.array([100, 1000]))
    assert level.tolist() == [0.75, 0.5, 0.25]
    assert counts.tolist() == [[108, 114, 115], [1080, 1140, 1150]]
    level, counts = summed([], [], np.array([7, 8]))
    assert level.shape == (0,) and counts.shape == (2, 0)
    assert counts.dtype == np.int64


@pytest.mark.parametrize(
    ("chosen", "sizes", "most", "wanted"),
    [
        ([], [3, 3], 9, []),
        ([0, 1, 2], [3, 3, 3], 6, [(1, 2), (0, 0)]),
        ([0, 1, 2], [3, 3, 3], 9, [(0, 2)]),
        ([0, 2], [3, 3, 3], 9, [(2, 2), (0, 0)]),
        # A bin without levels between two others does not part them.
        ([0, 2], [3, 0, 3], 9, [(0, 2)]),
        ([0, 1], [9, 2], 3, [(1, 1), (0, 0)]),
    ],
)
def test_neighbours_are_taken_together_while_they_are_not_too_many(chosen, sizes, most, wanted):
    assert list(_grouped(np.array(chosen, dtype=np.int64), np.array(sizes), most)) == wanted
