"""Boards: ranks, differences, p-values, ties and classes in which systems differ, against results by hand."""

import threading
from dataclasses import asdict, replace

import numpy as np
import pytest
from called import OTHER, REFERENCE, SYSTEM
from drawn_again import FILES, LABELS, Tables, differences_by_hand, random_table, tuples, value_of
from scipy.stats import binomtest
from tables import long_rows

from sedeval_soft import EvaluationError, SettingsError, UnknownScoreError, arrays, compare
from sedeval_soft.api import comparison
from sedeval_soft.evaluation.resample import bootstrap, exchanges
from sedeval_soft.settings import Settings


def noisy(rows, noise, seed):
    value = np.clip(rows.value + np.random.default_rng(seed).normal(0, noise, len(rows)), 0, 1)
    return replace(rows, values=(value,))


@pytest.fixture(scope="module")
def reference():
    return random_table(np.random.default_rng(7), files=[f"f{k}" for k in range(9)], n=180, form="fine")


@pytest.fixture(scope="module")
def systems(reference):
    made = {f"noise {noise}": noisy(reference, noise, seed) for seed, noise in enumerate((0.6, 0.05, 0.3))}
    return made | {"again 0.05": noisy(reference, 0.05, 9)}


def holm_by_hand(p_values):
    """Return p-values adjusted step by step, the smallest first."""
    adjusted, running = {}, 0.0
    for step, k in enumerate(sorted(p_values, key=p_values.get)):
        adjusted[k] = running = max(running, min(1.0, (len(p_values) - step) * p_values[k]))
    return adjusted


def test_p_values_are_those_of_the_differences(reference, systems):
    """p-values, intervals, Holm and places from replicates that are made here, by hand."""
    name, n, files = "segment.soft.f1.micro", 16, sorted(reference.files)
    settings = Settings(classes=LABELS, only=("segment.soft",), replicates=n)
    board = compare(reference, systems, rank_by=name, settings=settings)
    value = {k: value_of(reference, s, settings, name) for k, s in systems.items()}
    best, *others = order = sorted(value, key=lambda k: -value[k])
    assert [entry.system for entry in board.entries] == order and board.compared_to == best
    drawn, taken = (np.concatenate(list(draw(len(files), n, 0))) for draw in (bootstrap, exchanges))
    scores = {
        k: np.array([Tables(reference, s).drawn(row).scores(settings)[name] for row in drawn])
        for k, s in systems.items()
    }
    entries, p_exchange = {entry.system: entry for entry in board.entries}, {}

    def p_of(differences, observed):
        return (1 + np.count_nonzero(np.abs(differences) >= abs(observed) - 1e-9)) / (1 + len(differences))

    for k in others:
        observed, d = value[k] - value[best], scores[k] - scores[best]
        swapped = differences_by_hand(reference, (systems[best], systems[k]), settings, name, taken, files)
        p_exchange[k], of = p_of(swapped, observed), entries[k].difference
        wanted = [observed, *np.quantile(d, [0.025, 0.975]), p_of(d - observed, observed), p_exchange[k]]
        found = [of.value, of.low, of.high, of.p_bootstrap, of.p_exchange]
        assert found == pytest.approx(wanted, abs=1e-12)
    found = {k: entries[k].difference.p_adjusted for k in others}
    assert found == pytest.approx(holm_by_hand(p_exchange), abs=1e-12)
    assert entries[best].difference is None
    table = np.stack([scores[k] for k in order])
    for at, entry in enumerate(board.entries):
        ends = np.quantile(table[at], [0.025, 0.975]).tolist()
        assert [entry.low, entry.high] == pytest.approx(ends, abs=1e-12)
        place, out = np.sort(1 + (table > table[at]).sum(axis=0)), int(0.025 * (n - 1))
        found = [entry.place, entry.stability, entry.best_place, entry.worst_place]
        assert found == pytest.approx([at + 1, np.mean(place == at + 1), place[out], place[n - 1 - out]])


def test_the_order_in_which_systems_are_given_does_not_matter(reference, systems):
    asked = {"rank_by": "event.soft.f1.micro", "replicates": 20, "ci": "bca"}
    first, other = (compare(reference, of, **asked) for of in (systems, dict([*systems.items()][::-1])))
    for one, same in zip(first.entries, other.entries, strict=True):
        assert replace(one, difference=None) == replace(same, difference=None)
        assert one == same or asdict(one.difference) == pytest.approx(asdict(same.difference), abs=1e-12)
    assert other.agreement.names == first.agreement.names
    assert {d.system: d for d in other.discordances} == {d.system: d for d in first.discordances}


@pytest.mark.parametrize("room", [True, False])
def test_systems_at_the_same_time_have_the_board_that_they_have_one_after_another(
    monkeypatch, reference, systems, room
):
    """Two at a time where there is room, with warnings in the order of systems, and errors."""
    given = systems | {"beyond": long_rows([("new", 0.0, 1.0, "a", 0.9)])}
    settings = {"only": ("segment.soft",), "replicates": 5}
    board, threads_of, of_rows = compare(reference, given, **settings), [], comparison.count_rows

    def counted(*given, **how):
        threads_of.append(threading.get_ident())
        return of_rows(*given, **how)

    monkeypatch.setattr(comparison, "count_rows", counted)
    monkeypatch.setattr(comparison, "has_room", lambda _: room)
    monkeypatch.setattr(arrays, "_WORTH", 1)
    for module in (arrays, comparison):
        monkeypatch.setattr(module, "processors", lambda: 2)
    assert compare(reference, given, **settings) == board
    # Of five systems the last one is alone.
    assert threads_of.count(threading.get_ident()) == (1 if room else len(given))
    with pytest.raises(EvaluationError):
        compare(reference, given, strict=True, **settings)


@pytest.mark.parametrize("name", ["segment.optimal.f1.macro", "segment.hard.roc_auc.macro"])
def test_identical_systems_tie_with_p_1(reference, systems, name):
    given = dict.fromkeys("ab", systems["noise 0.3"]) | {"worse": systems["noise 0.6"]}
    board = compare(reference, given, rank_by=name, replicates=20)
    a, b, _ = board.entries
    assert a == replace(b, system="a", difference=None)
    assert (b.rank, b.place, b.letters) == (1, 1, "a")
    assert [*asdict(b.difference).values()] == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    of_b = {(d.only_system, d.only_other, d.p) for d in board.discordances if d.system == "b"}
    assert of_b == {(0, 0, 1.0)}


def test_what_is_undefined_comes_last_and_ties_with_nothing(reference, systems):
    silent = long_rows([], files=reference.files)
    given, asked = {"silent": silent, **systems, "mute": silent}, {"rank_by": "segment.hard.precision.micro"}
    board = compare(reference, given, replicates=20, only="segment.hard", **asked)
    *others, silent, mute = board.entries
    assert (silent.system, mute.system) == ("silent", "mute")
    for of in (silent, mute):
        assert {of.value, of.low, of.high, *asdict(of.difference).values()} == {None}
        assert of.place == 5 and of.rank > max(other.rank for other in others)
    # Nothing is known against a baseline without a score.
    board = compare(reference, given, baseline="mute", replicates=5, only="segment.hard", **asked)
    assert all(e.difference is None or e.difference.value is None for e in board.entries)


def test_a_baseline_is_what_the_others_are_compared_to(reference, systems):
    """Noise ruins F and divergence alike: higher F goes with lower divergence, which counts as agreement."""
    given = {k: s for k, s in systems.items() if k.startswith("noise")}
    board = compare(reference, given, baseline="noise 0.3", replicates=20)
    assert board.baseline == board.compared_to == "noise 0.3"
    off = {entry.system: entry.difference and np.sign(entry.difference.value) for entry in board.entries}
    assert off == {"noise 0.05": 1, "noise 0.3": None, "noise 0.6": -1}
    assert {d.system for d in board.discordances} == {*given} - {"noise 0.3"}
    tau = dict(zip(board.agreement.names, board.agreement.tau[0], strict=True))
    assert next(iter(tau)) == board.rank_by == "segment.soft.f1.macro"
    assert tau["segment.soft.f1.macro"] == tau["segment.soft.kl_divergence.micro"] == 1.0


def active_seconds(rows):
    """Which (file, class, second) are active: rows are on whole seconds here."""
    return {(file, label, second) for file, onset, offset, label, value in tuples(rows) if value > 0.5
            for second in range(int(onset), int(offset))}  # fmt: skip


def test_mcnemar_is_a_loop_over_segments():
    rng = np.random.default_rng(8)
    reference, one, other = (random_table(rng, files=(*FILES, f"own {k}"), n=120) for k in range(3))
    asked = {"baseline": "other", "replicates": 2, "only": "segment.hard", "rank_by": "segment.hard.f1.macro"}
    rows = compare(reference, {"one": one, "other": other}, **asked).discordances
    assert [(row.system, row.class_name) for row in rows] == [("one", label) for label in LABELS]
    truth, mine, yours = map(active_seconds, (reference, one, other))
    for row in rows:
        # One is right and the other wrong, or the other way about.
        wrong, others = ({k for k in truth ^ side if k[1] == row.class_name} for side in (mine, yours))
        assert (row.only_system, row.only_other) == (len(others - wrong), len(wrong - others))
        p = binomtest(row.only_system, row.only_system + row.only_other).pvalue
        assert row.p == pytest.approx(p, rel=1e-9) and row.only_system * row.only_other > 0
    adjusted = holm_by_hand({row.class_name: row.p for row in rows})
    assert {row.class_name: row.p_adjusted for row in rows} == pytest.approx(adjusted, rel=1e-9)


@pytest.mark.parametrize(
    "given",
    [*(dict.fromkeys(names) for names in ("a", ("a", ""), ("a", 3))), "a.tsv", ["a.tsv", "b.tsv", "a.tsv"]],
)
def test_systems_are_two_or_more_with_names_or_different_paths(reference, given):
    with pytest.raises(SettingsError, match=r"systems|name|'a\.tsv'"):
        compare(reference, given)


# --- real data ------------------------------------------------------------------------------------


SAMPLED = (REFERENCE, [SYSTEM, OTHER])


def test_what_ranks_is_measured_beside_what_a_preset_measures():
    asked = {"preset": "dcase2024-task4-maestro", "classes": ("car", "footsteps"), "replicates": 20}
    board = compare(*SAMPLED, rank_by="segment.hard.brier.micro", **asked)
    assert board.systems[0].settings.measures == ("curves", "divergence")
    with pytest.raises(UnknownScoreError, match="measures='divergence'"):
        compare(*SAMPLED, rank_by="segment.hard.brier.micro", measures=(), **asked)
    with pytest.raises(UnknownScoreError, match="only="):
        compare(*SAMPLED, rank_by="segment.optimal.f1.macro", preset="dcase2017-task2", replicates=20)


@pytest.mark.parametrize("name", ["event.optimal.f1.macro", "clip.hard.f1.macro"])
def test_readings_that_follow_no_package_rank_beside_one_that_does(name):
    spelt = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
    asked = ({"preset": "dcase2019-task4"}, spelt)
    boards = [compare(*SAMPLED, rank_by=name, replicates=20, **each) for each in asked]
    assert boards[0].systems[0].settings.compat == "sed_eval"
    assert boards[0].entries == boards[1].entries
