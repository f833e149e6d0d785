"""What docs/explanations/lifetimes.md states, checked on random values against every level by itself."""

from __future__ import annotations

import re

import numpy as np
import pytest
from documents import ROOT
from levels import CLASSES, cut, levels_of, random_table

from sedeval_soft import evaluate
from sedeval_soft.timeline.events import level_runs

PAGE = ROOT / "docs" / "explanations" / "lifetimes.md"
SEEDS = range(6)

Run = tuple[int, int]


def pieces(seed: int, n: int = 30) -> np.ndarray:
    """Values with ties between walls of silence; some pieces are silent, too."""
    values = np.random.default_rng(seed).integers(0, 6, n) / 5
    return np.concatenate([[0.0], values, [0.0]])


def events_at(values: np.ndarray, level: float) -> list[Run]:
    """The longest runs of values of at least a level, looked at one by one."""
    found: list[Run] = []
    for i, value in enumerate(values):
        if value >= level:
            if found and found[-1][1] == i - 1:
                found[-1] = (found[-1][0], i)
            else:
                found.append((i, i))
    return found


def lifetimes(values: np.ndarray) -> dict[Run, tuple[float, float]]:
    """The lifetimes that the package finds: for each run its born and dies."""
    slot, left, right = level_runs(values)
    return {
        (int(a) + 1, int(b) - 1): (max(values[a], values[b]), values[s])
        for s, a, b in zip(slot, left, right, strict=True)
        if values[s] > 0
    }


LEVELS = [level / 10 for level in range(1, 11)]


@pytest.mark.parametrize("seed", SEEDS)
def test_1_events_are_nested_or_apart(seed):
    values = pieces(seed)
    for low, high in zip(LEVELS, LEVELS[1:], strict=False):
        for begin, end in events_at(values, high):
            assert sum(a <= begin and end <= b for a, b in events_at(values, low)) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_2_a_run_is_an_event_at_the_levels_of_its_lifetime(seed):
    values = pieces(seed)
    found = lifetimes(values)
    for (begin, end), (born, dies) in found.items():
        assert dies == values[begin : end + 1].min()
        assert born == max(values[begin - 1], values[end + 1])
    for level in LEVELS:
        alive = {run for run, (born, dies) in found.items() if born < level <= dies}
        assert alive == set(events_at(values, level))


@pytest.mark.parametrize("seed", SEEDS)
def test_3_there_are_at_most_as_many_events_as_pieces(seed):
    values = pieces(seed)
    leftmost = [begin + int(np.argmin(values[begin : end + 1])) for begin, end in lifetimes(values)]
    assert len(set(leftmost)) == len(leftmost) <= np.count_nonzero(values)


@pytest.mark.parametrize("seed", SEEDS)
def test_4_the_soft_number_of_events_is_all_lifetimes_and_all_rises(seed):
    values = pieces(seed)
    rises = np.maximum(0, np.diff(values)).sum()
    assert sum(dies - born for born, dies in lifetimes(values).values()) == pytest.approx(rises)
    table = random_table(seed)
    each = np.array(table["value"]).reshape(-1, 12)
    rises = np.maximum(0, np.diff(each, prepend=0)).sum()
    scores = evaluate(table, table, classes=CLASSES, only=["event.soft"])
    assert scores["event.soft.n_ref.micro"] == pytest.approx(rises, abs=1e-9)


def shared(table: dict[str, list]) -> list[tuple[str, Run, float, float]]:
    """All lifetimes of a random table, each with the name of its file and class."""
    found = []
    each = np.array(table["value"]).reshape(3, len(CLASSES), 12)
    for file, label in np.ndindex(each.shape[:2]):
        values = np.concatenate([[0.0], each[file, label], [0.0]])
        found += [(f"{file}/{label}", run, *life) for run, life in lifetimes(values).items()]
    return found


def pair_sum(reference: dict[str, list], system: dict[str, list], collar: float) -> tuple[float, bool]:
    """The right side of the fifth statement, for onsets alone, and whether nothing has a choice anywhere."""
    pairs = []
    for where, run, born, dies in shared(reference):
        for other, second, born_2, dies_2 in shared(system):
            low, high = max(born, born_2), min(dies, dies_2)
            if where == other and abs(run[0] - second[0]) <= collar and low < high:
                pairs.append(((where, run), (other, second), low, high))
    choice = any(
        (a[0] == b[0]) != (a[1] == b[1]) and max(a[2], b[2]) < min(a[3], b[3]) for a in pairs for b in pairs
    )
    return sum(high - low for *_, low, high in pairs), not choice


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("collar", [0.2, 1.0, 3.0])
def test_5_soft_hits_are_at_most_what_compatible_lifetimes_share(collar, seed):
    reference, system = random_table(2 * seed), random_table(2 * seed + 1)
    most, clear = pair_sum(reference, system, collar)
    scores = evaluate(
        reference, system, classes=CLASSES, only=["event.soft"], onset_collar=collar, offset=False
    )
    found = scores["event.soft.tp.micro"]
    assert found <= most + 1e-9
    # Onsets of one list are never as near to one another as a collar of 0.2 s allows.
    assert clear or collar > 0.2
    if clear:
        assert found == pytest.approx(most, abs=1e-9)
    elif collar == 3.0:
        assert found < most - 1e-3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("done", [{"median_filter": 3.0}, {"min_gap": 2.5}, {"min_duration": 2.5}], ids=str)
def test_6_post_processing_and_cutting_can_be_exchanged(done, seed):
    reference, system = random_table(2 * seed), random_table(2 * seed + 1)
    changed = 0
    for level, _ in levels_of(system):
        settings = {"classes": CLASSES, "only": ["event.hard"], "inclusive": True}
        before = evaluate(reference, system, threshold=level, reference_threshold=0.5, **settings)
        after = evaluate(reference, system, threshold=level, reference_threshold=0.5, **settings, **done)
        cut_first = evaluate(reference, cut(system, level), threshold=0.5, **settings, **done)
        for count in ("n_sys", "tp"):
            name = f"event.hard.{count}.micro"
            assert after[name] == cut_first[name]
            changed += after[name] != before[name]
    assert changed


def test_every_statement_has_a_test():
    told = set(re.findall(r"^\*\*Statement (\d+)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    checked = {match[1] for name in globals() if (match := re.match(r"test_(\d+)_", name))}
    assert told == checked
