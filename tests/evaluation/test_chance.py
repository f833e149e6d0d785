"""Chance levels: closed forms and means over moves agree, and a score is put between chance and the best."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import numpy as np
import pytest
from called import call
from hypothesis import given, settings
from hypothesis import strategies as st

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.evaluation.chance import closed_forms, moved
from sedeval_soft.measures.divergence import expected_common, expected_kl
from sedeval_soft.measures.segment import fuzzy_and
from sedeval_soft.report import schema
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.ticks import to_ticks
from sedeval_soft.timeline.grid import Grid, pool_rows
from sedeval_soft.timeline.recordings import align

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM = SAMPLES / "ref.tsv", SAMPLES / "sys.tsv"

values = st.sampled_from([0.0, 0.0, 0.2, 0.5, 0.6, 1.0])


@st.composite
def sides(draw):
    """Draw two tables of segments: 2 classes, files of 1 to 4 segments."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n = sum(lengths)
    tables = []
    for name in ("reference", "system"):
        columns = draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=2, max_size=2))
        file = np.repeat(np.arange(len(lengths)), lengths).astype(np.int32)
        onset = np.concatenate([np.arange(length, dtype=np.float64) for length in lengths])
        names = tuple(f"f{i}" for i in range(len(lengths)))
        del name
        tables.append(EventTable(names, ("a", "b"), file, onset, onset + 1, tuple(map(np.array, columns))))
    return tables


def unfolded(rows):
    """Return a wide table as a long one."""
    n = len(rows)
    tiled = {name: np.tile(getattr(rows, name), 2) for name in ("file", "onset", "offset")}
    label = np.repeat([0, 1], n).astype(np.int32)
    return EventTable(rows.files, rows.classes, label=label, values=(np.concatenate(rows.values),), **tiled)


@settings(max_examples=20, deadline=None)
@given(sides(), st.sampled_from(["minimum", "product", "lukasiewicz"]), st.booleans())
def test_closed_forms_are_the_means_over_all_moves(tables, t_norm, long):
    reference, system = tables
    system = unfolded(system) if long else system
    found = evaluate(reference, system, only=("segment",), t_norm=t_norm, chance=100)
    assert found.chance.everything
    assert found.chance.draws == len(reference)
    chosen = Settings(only=("segment",), t_norm=t_norm)
    exact = closed_forms(align(reference, system, chosen), chosen)
    assert {"segment.soft.f1.macro", "segment.soft.kl_divergence.micro"} & {*exact} or not found.chance.levels
    grid = Grid.over(to_ticks(align(reference, system, chosen).length), 1_000_000)
    moves = [moved(system, grid, k) for k in range(grid.size)]
    scores = [evaluate(reference, move, only=("segment",), t_norm=t_norm) for move in moves]
    for name, level in found.chance.levels.items():
        drawn = [each[name] for each in scores if each[name] is not None]
        if not drawn:
            assert level.chance is None
            continue
        assert level.chance == pytest.approx(np.mean(drawn), abs=1e-9), name
        assert level.error is None
        if name in exact:
            assert exact[name] == pytest.approx(np.mean(drawn), abs=1e-9), name


@given(sides(), st.integers(0, 11), st.booleans())
def test_moving_turns_the_grid(tables, k, long):
    rows = unfolded(tables[1]) if long else tables[1]
    length = np.bincount(tables[1].file) * 1_000_000
    grid = Grid.over(length, 1_000_000)
    shift = k % grid.size
    there = moved(rows, grid, shift)
    before, after = (pool_rows(each, grid, "max") for each in (rows, there))
    assert np.array_equal(np.roll(before, shift, axis=1), after)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 12)), max_size=8),
    st.integers(0, 99),
)
def test_moving_keeps_time_and_cuts_at_ends_of_files_only(events, shift):
    edges = np.array([0, 30, 30, 70], dtype=np.int64) * 100_000
    file, onset, length = (
        (np.array(column, dtype=np.int64) for column in zip(*events, strict=True))
        if events
        else (np.zeros(0, dtype=np.int64),) * 3
    )
    rows = EventTable(
        ("a", "b", "c"),
        ("x",),
        file.astype(np.int32),
        onset / 10,
        (onset + length) / 10,
        label=np.zeros(len(file), dtype=np.int32),
    )
    there = moved(rows, Grid.over(np.diff(edges), 100_000), shift % 70)
    inside = np.maximum(np.minimum(onset + length, np.diff(edges)[file] // 100_000) - onset, 0)
    assert (there.offset - there.onset).sum() * 10 == pytest.approx(inside.sum())
    assert np.all(there.onset >= 0)
    assert np.all(to_ticks(there.offset) <= np.diff(edges)[there.file])
    assert not np.any((there.file == 1) & (there.offset > there.onset))
    assert len(there) <= 3 * len(rows)


@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from(["minimum", "product", "lukasiewicz"]))
def test_sums_over_all_pairs_are_those_written_out(seed, n, t_norm):
    rng = np.random.default_rng(seed)
    y, p = rng.random((2, 3, n)).round(1)
    pairs = fuzzy_and(y[:, :, None], p[:, None, :], t_norm).sum(axis=(1, 2)) / n
    assert np.allclose(expected_common(y, p, t_norm), pairs)
    q = np.clip(p, 1e-7, 1 - 1e-7)[:, None, :]
    z = y[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(z > 0, z * np.log(z / q), 0) + np.where(z < 1, (1 - z) * np.log((1 - z) / (1 - q)), 0)
    assert np.allclose(expected_kl(y, p, 1e-7), kl.sum(axis=(1, 2)) / n)


def test_draws_come_close_to_closed_forms():
    only = ("segment.optimal", "segment.hard", "event.hard")
    found, everything = (evaluate(REFERENCE, SYSTEM, chance=n, only=only) for n in (40, 10_000))
    assert everything.chance.everything
    assert everything.chance.draws == found.n_segments
    for name in ("segment.optimal.f1.macro", "event.hard.f1.micro", "segment.hard.error_rate.micro"):
        few, whole = found.chance.levels[name], everything.chance.levels[name]
        assert abs(few.chance - whole.chance) < 4 * few.error
        assert whole.error is None


def test_a_perfect_system_is_1_and_an_ignorant_one_0():
    found = evaluate(REFERENCE, REFERENCE, chance=5)
    ends = [found.chance.levels[name].normalised for name in found if name.endswith(".f1.macro")]
    assert ends
    assert set(ends) == {1.0}
    same = np.full((8, 2), 0.7)
    other = np.tile([[0.2, 1.0], [0.9, 0.1]], (4, 1))
    found = evaluate(other, same, chance=5)
    assert found.chance.levels["segment.soft.f1.macro"].normalised == pytest.approx(0.0, abs=1e-12)
    assert found.chance.levels["segment.hard.error_rate.micro"].normalised == pytest.approx(0.0, abs=1e-12)


def test_counts_and_thresholds_have_no_chance_level():
    found = evaluate(REFERENCE, SYSTEM, chance=2)
    assert not {name for name in found.chance.levels if ".tp." in name or ".threshold" in name}


@pytest.mark.parametrize(
    "values_",
    [
        {"only": "all", "measures": "all", "psds": "dcase-psds1"},
        {"only": ("segment", "event"), "cross_tune": 2, "segment_length": 0.7, "pool": "mean"},
        {"only": "segment", "thresholds": "prior", "compat": "sed_eval"},
        {"only": "clip"},
        {"only": "event.hard", "median_filter": 3.0},
        {"only": ("intersection.hard",), "psds_median_filters": (1.0, 3.0)},
        {"groups": {"g": ("car",)}, "scenes": {"s": ("park*",)}, "strict": False, "ci": "jackknife"},
    ],
)
def test_whatever_is_evaluated_has_chance_levels(values_):
    found = evaluate(REFERENCE, SYSTEM, chance=2, **values_)
    assert found.chance.levels
    assert {*found.chance.levels} <= {*found}
    assert all(found.score(name).group is None for name in found.chance.levels)
    plain = evaluate(REFERENCE, SYSTEM, **values_)
    assert [*plain.values()] == [*found.values()]
    assert plain.chance is None


def test_folds_have_chance_levels():
    found = evaluate(REFERENCE, SYSTEM, chance=2, folds=SAMPLES / "folds.tsv")
    assert found.chance.levels["segment.tuned.f1.macro"].chance > 0


@pytest.mark.parametrize("chance", [0, -1, 1.5, "yes", 10**9])
def test_wrong_numbers_of_draws_are_refused(chance):
    with pytest.raises(SettingsError, match="chance must be"):
        evaluate(REFERENCE, SYSTEM, chance=chance)


def test_nothing_has_no_chance():
    nothing = {"filename": [], "onset": [], "offset": [], "event_label": []}
    found = evaluate(nothing, nothing, chance=True)
    assert all(level.chance is None for level in found.chance.levels.values())


def test_the_command_shows_what_the_library_finds():
    found = evaluate(REFERENCE, SYSTEM, chance=7, seed=4)
    asked = ("--chance", "--draws", "7", "--seed", "4")
    done = call(REFERENCE, SYSTEM, *asked, "--format", "json")
    assert done.code == 0
    jsonschema.validate(done.document, schema())
    (system,) = done.document["systems"]
    assert system["chance"]["seed"] == 4
    levels = {level.pop("name"): level for level in system["chance"]["levels"]}
    assert levels == {
        name: {"chance": level.chance, "error": level.error, "normalised": level.normalised}
        for name, level in found.chance.levels.items()
    }
    name = "segment.optimal.f1.macro"
    printed = call(REFERENCE, SYSTEM, *asked, "--score", name, "--only", "segment", "--only", "event").out
    # Fewer readings are evaluated, of the same moves.
    assert [float(field) for field in printed.split("\t")] == [
        found[name],
        found.chance.levels[name].chance,
        found.chance.levels[name].normalised,
    ]
    rows = [line.split(",") for line in call(REFERENCE, SYSTEM, *asked, "--format", "csv").out.splitlines()]
    assert rows[0][-3:] == ["chance", "chance_error", "normalised"]
    assert {len(row) for row in rows[:-1]} == {len(rows[0])}
    (row,) = [row for row in rows if row[1] == name]
    assert float(row[-3]) == found.chance.levels[name].chance
    text = call(REFERENCE, SYSTEM, *asked).out
    assert "\nchance " in text
    assert "Chance levels of classes: F1" in text


@pytest.mark.parametrize(
    "options",
    [
        ("--draws", "3"),
        ("--chance", "--draws", "0"),
        ("--chance", str(SAMPLES / "sys_b.tsv")),
        ("--seed", "1"),
    ],
)
def test_chance_that_cannot_be_is_refused(options):
    assert call(REFERENCE, SYSTEM, *options).code == 2


def test_operating_points_have_chance_levels():
    events = {"filename": ["cafe.wav"], "onset": [2.0], "offset": [9.0], "event_label": ["footsteps"]}
    found = evaluate(SAMPLES / "events.tsv", {0.3: events, 0.7: events}, chance=3)
    assert found.chance.levels["event.hard.f1.micro"].chance is not None
