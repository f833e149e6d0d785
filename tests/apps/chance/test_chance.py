"""Chance levels are means over moves; scores are normalised between chance and the best."""

import jsonschema
import numpy as np
import pytest
from called import REFERENCE, SYSTEM, call
from contract.laws import cut_by_hand, random_table
from documents import schema
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft import SettingsError, chance_levels, evaluate
from sedeval_soft.apps.chance.levels import moved
from sedeval_soft.tables import to_ticks
from sedeval_soft.timeline import Grid

T_NORMS = {
    "minimum": np.minimum,
    "product": np.multiply,
    "lukasiewicz": lambda a, b: np.maximum(a + b - 1, 0),
}


def unfolded(rows):
    """Return a wide table as a long one."""
    times = [*zip([rows.files[code] for code in rows.file], rows.onset, rows.offset, strict=True)]
    cells = zip(rows.classes, rows.values, strict=True)
    return long_rows([(*times[k], label, of[k]) for label, of in cells for k in range(len(times))])


def scores_of_moves(reference, system, **asked):
    """Move a system by each number of segments of one second; return the scores of every move."""
    length = np.zeros(len(reference.files))
    np.maximum.at(length, reference.file, reference.offset)
    grid = Grid.over(to_ticks(length), 1_000_000)
    return [evaluate(reference, moved(system, grid, k), **asked) for k in range(grid.size)]


@settings(max_examples=6)
@given(
    st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 3), st.sampled_from([*T_NORMS]), st.booleans()
)
def test_chance_levels_are_the_means_over_all_moves(seed, n, files, t_norm, long):
    values = np.random.default_rng(seed).choice([0.0, 0.0, 0.2, 0.5, 0.6, 1.0], (2, n, 2))
    reference, system = tables = [wide_rows(each, files=files) for each in values]
    system = unfolded(system) if long else system
    asked = {"only": ("segment",), "t_norm": t_norm}
    chance = chance_levels(reference, system, **asked).chance
    assert chance.everything and chance.draws == len(reference)
    scores = scores_of_moves(reference, system, **asked)
    for name, level in chance.levels.items():
        drawn = [each[name] for each in scores if each[name] is not None]
        assert level.error is None
        assert level.chance == (pytest.approx(np.mean(drawn), abs=1e-9) if drawn else None), name
    # Each segment of the system meets each of the reference once: TP is the mean over all pairs.
    y, p = (np.array(rows.values[0]) for rows in tables)
    tp = T_NORMS[t_norm](y[:, None], p).sum() / len(y)
    if y.any():
        found = chance.levels["segment.soft.f1[class0]"].chance
        assert found == pytest.approx(2 * tp / (y.sum() + p.sum()), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 12)), max_size=8),
    st.integers(0, 99),
)
def test_moving_keeps_time_and_cuts_at_ends_of_files_only(events, shift):
    ends = {"a": 30, "b": 0, "c": 40}
    rows = long_rows([("abc"[f], on / 10, (on + length) / 10, "x") for f, on, length in events], files="abc")
    last = np.array([ends[name] for name in rows.files])
    there = moved(rows, Grid.over(last * 100_000, 100_000), shift % 70)
    inside = sum(max(min(on + length, ends["abc"[f]]) - on, 0) for f, on, length in events)
    assert (there.offset - there.onset).sum() * 10 == pytest.approx(inside)
    assert np.all(there.onset >= 0)
    assert np.all(to_ticks(there.offset) <= last[there.file] * 100_000)
    assert len(there) <= 3 * len(rows)


def test_a_perfect_system_is_1_and_an_ignorant_one_0():
    found = chance_levels(REFERENCE, REFERENCE, 5)
    assert {found.chance.levels[name].normalised for name in found if name.endswith(".f1.macro")} == {1.0}
    found = chance_levels(np.tile([[0.2, 1.0], [0.9, 0.1]], (4, 1)), np.full((8, 2), 0.7), 5)
    for name in ("segment.soft.f1.macro", "segment.hard.error_rate.micro"):
        assert found.chance.levels[name].normalised == pytest.approx(0.0, abs=1e-12)
    found = chance_levels(np.ones((3, 1)), np.full((3, 1), 0.95)).chance
    assert found.levels["segment.soft.f1.macro"].normalised == pytest.approx(0.0, abs=1e-12)
    nothing = {"filename": [], "onset": [], "offset": [], "event_label": []}
    found = chance_levels(nothing, nothing)
    assert {level.chance for level in found.chance.levels.values()} == {None}


def test_chance_is_the_mean_over_all_moves_within_the_regions():
    regions = {"a": [(0, 3), (5, 8)], "b": [(2, 4)]}
    sides = random_table(8), random_table(9)
    asked = {"only": "segment", "classes": ("car", "dog"), "segment_length": 1.0}
    chance = chance_levels(*sides, regions=regions, **asked).chance
    assert (chance.everything, chance.draws) == (True, 8)
    # Closed forms and moves agree if both exist.
    of_cut = chance_levels(*(cut_by_hand(each, {**regions, "c": []}) for each in sides), **asked).chance
    for name in ("segment.soft.f1.macro", "segment.hard.f1.micro", "segment.soft.kl_divergence.micro"):
        assert chance.levels[name].chance == pytest.approx(of_cut.levels[name].chance, abs=1e-12)
    # A region begins within a segment: the second move cuts 1 s at 0.5 s, and one of two detections is right.
    rows = [long_rows([("a", 0.5, offset, "car")]) for offset in (1.0, 2.0)]
    chance = chance_levels(*rows, regions={"a": [(0.5, 2.0)]}, only=("event.hard",)).chance
    assert chance.levels["event.hard.f1.macro"].chance == pytest.approx(1 / 3)


EVENTS = {"filename": ["cafe.wav"], "onset": [2.0], "offset": [9.0], "event_label": ["footsteps"]}


@pytest.mark.parametrize(
    "asked",
    [
        {"only": "all", "measures": "all", "psds": "dcase-psds1", "files": ("cafe.wav",)},
        {"only": ("segment", "event"), "cross_tune": 2, "segment_length": 0.7, "pool": "mean"},
        {"only": "segment", "thresholds": "prior", "compat": "sed_eval"},
        {"only": ("event.hard", "clip"), "median_filter": 3.0},
        {"only": ("intersection.hard",), "psds_median_filters": (1.0, 3.0)},
        {"groups": {"g": ("car",)}, "scenes": {"s": ("park*",)}, "strict": False, "ci": "jackknife"},
        {"folds": REFERENCE.replace("ref.tsv", "folds.tsv"), "only": "segment"},
        {"system": {0.3: EVENTS, 0.7: EVENTS}},
    ],
    ids=str,
)
def test_whatever_is_evaluated_has_chance_levels(asked):
    asked = {"system": SYSTEM} | asked
    plain, found = evaluate(REFERENCE, **asked), chance_levels(REFERENCE, draws=1, **asked)
    assert [*plain.values()] == [*found.values()] and plain.chance is None
    assert {*found.chance.levels} <= {*found}
    assert any(level.chance is not None for level in found.chance.levels.values())
    assert not {name for name in found.chance.levels if ".tp." in name or ".threshold" in name}
    assert all(found.score(name).group is None for name in found.chance.levels)


def test_the_command_shows_what_the_library_finds():
    name = "segment.optimal.f1.macro"
    found = chance_levels(REFERENCE, SYSTEM, 2, seed=4, only=("segment", "event"))
    asked = ("--draws", "2", "--seed", "4", "--only", "segment", "--only", "event")
    done = call("chance", REFERENCE, SYSTEM, *asked, "--format", "json")
    jsonschema.validate(done.document, schema())
    (system,) = done.document["systems"]
    assert (done.code, system["chance"]["seed"]) == (0, 4)
    assert {level.pop("name"): level for level in system["chance"]["levels"]} == {
        each: {"chance": level.chance, "error": level.error, "normalised": level.normalised}
        for each, level in found.chance.levels.items()
    }
    level = found.chance.levels[name]
    head, line = call("chance", REFERENCE, SYSTEM, *asked, "--score", name).out.splitlines()
    assert dict(zip(head.split("\t"), line.split("\t"), strict=True)) == {
        "system": "sys.tsv", name: repr(found[name]), f"{name}.chance": repr(level.chance),
        f"{name}.chance_error": repr(level.error), f"{name}.normalised": repr(level.normalised),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        *(({"draws": draws}, "draws must be") for draws in (0, -1, 1.5, "yes", True, 10**9)),
        ({"ignore_class": "car"}, "ignore_class"),
        ({"regions": {"cafe.wav": [(0, 3)]}, "region_edges": "onset"}, "region_edges"),
        ({"regions": {"cafe.wav": [(0.0, 1.0, "car")]}}, "regions of some classes"),
    ],
)
def test_chance_that_cannot_be_is_refused(asked, said):
    with pytest.raises(SettingsError, match=said):
        chance_levels(REFERENCE, SYSTEM, **asked)
