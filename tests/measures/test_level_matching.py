"""Matchings at all levels at once, against one that is made anew at each level, and sums in fractions."""

from __future__ import annotations

import itertools
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import event_counts
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from sedeval_soft import Evaluator
from sedeval_soft.measures import event, level_matching
from sedeval_soft.measures.event import count_soft_events
from sedeval_soft.measures.level_matching import matching_changes
from sedeval_soft.measures.matching import Collars, Overlap, PairRule, compiled_loop
from sedeval_soft.timeline.events import Activity, EventLifetimes

N_GROUPS = 30


@pytest.fixture(scope="module", params=[False, True], ids=["Python", "numba"])
def compiled(request):
    if request.param:
        pytest.importorskip("numba")
    return request.param


def lifetimes(rng: np.random.Generator, n: int, n_levels: int) -> EventLifetimes:
    """Return events of random groups at levels k / n_levels."""
    low, high = np.sort(rng.integers(0, n_levels, (2, n)), axis=0)
    time, group = np.arange(n), rng.integers(0, N_GROUPS, n).astype(np.int32)
    return EventLifetimes(group, group, time, time + 1, low / n_levels, (high + 1) / n_levels)


@settings(max_examples=8)
@given(
    st.integers(0, 2**32 - 1), *(st.sampled_from([800, 300, 20]) for _ in range(2)),
    st.sampled_from([4, 9, 30]), st.sampled_from([0.1, 0.3, 0.9]), st.booleans(),
)  # fmt: skip
def test_any_graph_is_matched_at_every_level(compiled, seed, n_ref, n_sys, n_levels, dense, always):
    """Few and many pairs, of which many or few come and go together; partners are taken over or not."""
    rng = np.random.default_rng(seed)
    ours, theirs = (lifetimes(rng, n, n_levels) for n in (n_ref, n_sys))
    share = np.maximum(ours.born[:, None], theirs.born) < np.minimum(ours.dies[:, None], theirs.dies)
    may = share & (ours.file[:, None] == theirs.file) & (rng.random(share.shape) < dense)
    left, right = np.argwhere(may)[rng.permutation(may.sum())].astype(np.int32).T
    groups = ours.file.astype(np.int64), theirs.file.astype(np.int64)
    with pytest.MonkeyPatch.context() as patch:
        if always and not compiled:
            patch.setattr(level_matching, "_CROWDED", 0)
        found = matching_changes(ours, theirs, groups, left, right, compiled=compiled)
    for level in (np.arange(n_levels) + 0.5) / n_levels:
        there = ours.alive(level)[left] & theirs.alive(level)[right]
        graph = csr_array((np.ones(there.sum()), (left[there], right[there])), shape=share.shape)
        hit = maximum_bipartite_matching(graph, "column") >= 0
        below = found.level < level
        size = np.bincount(found.group[below], found.change[below], minlength=N_GROUPS)
        assert size.tolist() == np.bincount(groups[0][hit], minlength=N_GROUPS).tolist()


RULES = {
    "collars": Collars(3, 3, 0.5), "no tolerance": Collars(0, 0, 0.0), "onsets": Collars(4, None, 0.0),
    "offsets": Collars(None, 2, 0.3), "wide": Collars(30, 30, 1.0), "overlap": Overlap(0.4),
    "any overlap": Overlap(1e-9),
}  # fmt: skip


def values(rng: np.random.Generator, form: str) -> Activity:
    """Values of three classes in two files: noise, smooth or tied, with gaps, in steps of many lengths."""
    parts = []
    for file, label in itertools.product(range(2), range(3)):
        n, step = int(rng.integers(0, 14)), int(rng.integers(1, 4))
        value = rng.random(n + 4)
        value = np.convolve(value, np.ones(5) / 5, "valid") if form == "smooth" else value[:n]
        if form == "tied":
            value = np.ceil(value * 4) / 4
        kept = rng.random(n) < 0.9
        onset = np.arange(n)[kept] * step + int(rng.integers(0, 5))
        codes = np.full((2, len(onset)), [[file], [label]], dtype=np.int32)
        parts.append(Activity(*codes, onset, onset + step, value[kept]))
    return Activity.joined(parts).sounding()


def rows(rng: np.random.Generator) -> EventLifetimes:
    """Rows that overlap, touch, or have no extent, each an event up to its value."""
    n = int(rng.integers(0, 25))
    file, label = np.sort(rng.integers(0, 2, n)).astype(np.int32), rng.integers(0, 3, n).astype(np.int32)
    onset, dies = rng.integers(0, 40, n), rng.integers(1, 6, n) / 5
    return EventLifetimes(file, label, onset, onset + rng.integers(0, 20, n), np.zeros(n), dies)


def exact(ours: EventLifetimes, theirs: EventLifetimes, rule: PairRule) -> dict[str, np.ndarray]:
    """Return the integrals of the counts, as fractions, of events matched anew at each level."""
    names = ("file", "label", "onset", "offset", "born", "dies")
    sides = [list(zip(*(getattr(side, n).tolist() for n in names), strict=True)) for side in (ours, theirs)]
    levels = sorted({0.0, *(each for side in sides for row in side for each in row[4:])})
    total: dict[str, np.ndarray] = {}
    for low, high in itertools.pairwise(levels):
        alive = ([row for row in side if row[4] <= low and high <= row[5]] for side in sides)
        for name, count in event_counts(*alive, rule, 2, 3).items():
            total[name] = total.get(name, 0) + count * (Fraction(high) - Fraction(low))
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", ["noise", "smooth", "tied", "rows", "rows against noise", "perfect"])
def test_soft_counts_are_the_exact_integrals(rule, form, monkeypatch):
    """Each is a float next to the exact sum, so that 0 is 0, and a perfect system has no errors."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(event, "_AT_ONCE", (1, 10, 10**6)[len(rule) % 3])
    sides = [
        rows(rng) if form == "rows" or (form == "rows against noise" and k) else
        EventLifetimes.of(values(rng, form))
        for k in range(2)
    ]  # fmt: skip
    if form == "perfect":
        sides[1] = sides[0]
    got, wanted = count_soft_events(*sides, 2, 3, RULES[rule]), exact(*sides, RULES[rule])
    for name, sums in wanted.items():
        found = np.vectorize(Fraction, otypes=[object])(getattr(got, name))
        assert (abs(found - sums) <= sums * Fraction(2) ** -52).all(), name


def test_bytes_do_not_depend_on_numba(monkeypatch):
    """With it and without it, where there is enough to do."""
    pytest.importorskip("numba")
    monkeypatch.setattr(level_matching, "_MUCH", 0)
    sides, counted = np.random.default_rng(0).random((2, 50, 4)), []
    for present in (True, False):
        compiled_loop.cache_clear()
        with monkeypatch.context() as patch:
            if not present:
                patch.setitem(sys.modules, "numba", None)
            assert (compiled_loop(level_matching._swap, _nrt=False) is not None) == present
            evaluator = Evaluator(segment_length=0.02, only=["event.soft", "event.optimal"])
            counted.append(evaluator.update(*sides, files="a.wav").to_bytes())
    compiled_loop.cache_clear()
    assert counted[0] == counted[1]
