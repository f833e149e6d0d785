"""What docs/explanations/lifetimes.md states, checked on random values against every level by itself."""

from __future__ import annotations

import numpy as np
import pytest
from documents import ROOT
from levels import CLASSES, cut, every_statement, levels_of, random_table

from sedeval_soft import evaluate
from sedeval_soft.timeline.events import level_runs

SEEDS = pytest.mark.parametrize("seed", range(2))
LEVELS = [level / 10 for level in range(1, 11)]
Run = tuple[int, int]


def pieces(seed: int, n: int = 30) -> np.ndarray:
    """Values with ties between walls of silence; some pieces are silent, too."""
    return np.pad(np.random.default_rng(seed).integers(0, 6, n) / 5, 1)


def events_at(values: np.ndarray, level: float) -> set[Run]:
    """The longest runs of values of at least a level."""
    edges = np.diff((values >= level).astype(int))
    return {*zip(np.flatnonzero(edges == 1) + 1, np.flatnonzero(edges == -1), strict=True)}


def lifetimes(values: np.ndarray) -> dict[Run, tuple[float, float]]:
    """The lifetimes that the package finds: for each run its born and dies."""
    return {
        (int(a) + 1, int(b) - 1): (max(values[a], values[b]), values[s])
        for s, a, b in zip(*level_runs(values), strict=True)
        if values[s] > 0
    }


@SEEDS
def test_1_events_are_nested_or_apart(seed):
    values = pieces(seed)
    for low, high in zip(LEVELS, LEVELS[1:], strict=False):
        for begin, end in events_at(values, high):
            assert sum(a <= begin and end <= b for a, b in events_at(values, low)) == 1


@SEEDS
def test_2_a_run_is_an_event_at_the_levels_of_its_lifetime(seed):
    values = pieces(seed)
    found = lifetimes(values)
    for (begin, end), (born, dies) in found.items():
        assert dies == values[begin : end + 1].min()
        assert born == max(values[begin - 1], values[end + 1])
    for level in LEVELS:
        alive = {run for run, (born, dies) in found.items() if born < level <= dies}
        assert alive == events_at(values, level)


@SEEDS
def test_3_there_are_at_most_as_many_events_as_pieces(seed):
    values = pieces(seed)
    leftmost = [begin + int(np.argmin(values[begin : end + 1])) for begin, end in lifetimes(values)]
    assert len(set(leftmost)) == len(leftmost) <= np.count_nonzero(values)


@SEEDS
def test_4_the_soft_number_of_events_is_all_lifetimes_and_all_rises(seed):
    values, table = pieces(seed), random_table(seed)
    rises = np.maximum(0, np.diff(values)).sum()
    assert sum(dies - born for born, dies in lifetimes(values).values()) == pytest.approx(rises)
    rises = np.maximum(0, np.diff(np.array(table["value"]).reshape(-1, 12), prepend=0)).sum()
    scores = evaluate(table, table, classes=CLASSES, only=["event.soft"])
    assert scores["event.soft.n_ref.micro"] == pytest.approx(rises, abs=1e-9)


def of_table(table: dict[str, list]) -> list[tuple[int, Run, float, float]]:
    """All lifetimes of a random table, each with the number of its file and class."""
    each = np.pad(np.array(table["value"]).reshape(-1, 12), ((0, 0), (1, 1)))
    return [(k, run, *life) for k, values in enumerate(each) for run, life in lifetimes(values).items()]


def pair_sum(reference: dict[str, list], system: dict[str, list], collar: float) -> tuple[float, bool]:
    """The right side of the fifth statement, for onsets alone, and whether nothing has a choice anywhere."""
    pairs = [
        ((where, run), (where, other), max(born, born_2), min(dies, dies_2))
        for where, run, born, dies in of_table(reference)
        for there, other, born_2, dies_2 in of_table(system)
        if where == there and abs(run[0] - other[0]) <= collar and max(born, born_2) < min(dies, dies_2)
    ]
    choice = any(
        (a[0] == b[0]) != (a[1] == b[1]) and max(a[2], b[2]) < min(a[3], b[3]) for a in pairs for b in pairs
    )
    return sum(high - low for *_, low, high in pairs), not choice


@SEEDS
@pytest.mark.parametrize("collar", [0.2, 1.0, 3.0])
def test_5_soft_hits_are_at_most_what_compatible_lifetimes_share(collar, seed):
    sides = random_table(2 * seed), random_table(2 * seed + 1)
    most, clear = pair_sum(*sides, collar)
    scores = evaluate(*sides, classes=CLASSES, only=["event.soft"], onset_collar=collar, offset=False)
    found = scores["event.soft.tp.micro"]
    assert found <= most + 1e-9
    # Onsets of one list are never as near to one another as a collar of 0.2 s allows.
    assert clear or collar > 0.2
    if clear:
        assert found == pytest.approx(most, abs=1e-9)
    elif collar == 3.0:
        assert found < most - 1e-3


@SEEDS
@pytest.mark.parametrize("done", [{"median_filter": 3.0}, {"min_gap": 2.5}, {"min_duration": 2.5}], ids=str)
def test_6_post_processing_and_cutting_can_be_exchanged(done, seed):
    reference, system = random_table(2 * seed), random_table(2 * seed + 1)
    names, changed = ("event.hard.n_sys.micro", "event.hard.tp.micro"), 0
    settings = {"classes": CLASSES, "only": ["event.hard"], "inclusive": True, "reference_threshold": 0.5}
    for level, _ in levels_of(system):
        before = evaluate(reference, system, threshold=level, **settings)
        after = evaluate(reference, system, threshold=level, **settings, **done)
        cut_first = evaluate(reference, cut(system, level), threshold=0.5, **settings, **done)
        assert [after[name] for name in names] == [cut_first[name] for name in names]
        changed += any(after[name] != before[name] for name in names)
    assert changed


def test_every_statement_has_a_test():
    every_statement(ROOT / "docs" / "explanations" / "lifetimes.md", globals())
