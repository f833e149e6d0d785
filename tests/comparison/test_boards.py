"""Boards: ranks, differences, p-values, ties and classes in which systems differ, against results by hand."""

from __future__ import annotations

import threading
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from drawn_again import FILES, LABELS, Tables, differences_by_hand, random_table, tuples, value_of
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
    rng = np.random.default_rng(7)
    return random_table(rng, files=[f"f{k:02}" for k in range(12)], n=250, form="fine")


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
    name, n, files = "segment.hard.f1.micro", 24, sorted(reference.files)
    settings = Settings(classes=LABELS, only=("segment.hard",))
    board = compare(reference, systems, rank_by=name, replicates=n, only=("segment.hard",), classes=LABELS)
    value = {k: value_of(reference, s, settings, name) for k, s in systems.items()}
    best, *others = order = sorted(value, key=lambda k: -value[k])
    assert [entry.system for entry in board.entries] == order
    assert board.compared_to == best
    drawn = np.concatenate(list(bootstrap(len(files), n, 0)))
    taken = np.concatenate(list(exchanges(len(files), n, 0)))
    scores = {
        k: np.array([Tables(reference, s).drawn(row).scores(settings)[name] for row in drawn])
        for k, s in systems.items()
    }
    entries, p_exchange = {entry.system: entry for entry in board.entries}, {}
    for k in others:
        observed, d = value[k] - value[best], scores[k] - scores[best]
        swapped = differences_by_hand(reference, (systems[best], systems[k]), settings, name, taken, files)
        p_exchange[k] = (1 + np.count_nonzero(np.abs(swapped) >= abs(observed) - 1e-9)) / (1 + len(taken))
        p_bootstrap = (1 + np.count_nonzero(np.abs(d - observed) >= abs(observed) - 1e-9)) / (1 + n)
        of = entries[k].difference
        assert [of.value, of.low, of.high, of.p_bootstrap, of.p_exchange] == pytest.approx(
            [observed, *np.quantile(d, [0.025, 0.975]), p_bootstrap, p_exchange[k]], abs=1e-12
        )
    for k, p in holm_by_hand(p_exchange).items():
        assert entries[k].difference.p_adjusted == pytest.approx(p, abs=1e-12)
    assert entries[best].difference is None
    table = np.stack([scores[k] for k in order])
    for at, k in enumerate(order):
        place, entry = np.sort(1 + (table > table[at]).sum(axis=0)), entries[k]
        found = [entry.place, entry.stability, entry.best_place, entry.worst_place]
        assert found == pytest.approx(
            [
                at + 1,
                np.mean(place == at + 1),
                place[int(0.025 * (n - 1))],
                place[n - 1 - int(0.025 * (n - 1))],
            ]
        )
        ends = np.quantile(scores[k], [0.025, 0.975]).tolist()
        assert k == best or [entry.low, entry.high] == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("name", ["segment.hard.error_rate.micro", "event.soft.f1.micro"])
def test_the_order_in_which_systems_are_given_does_not_matter(reference, systems, name):
    boards = []
    for order in ([*systems], [*systems][::-1]):
        given = {k: systems[k] for k in order}
        boards.append(compare(reference, given, rank_by=name, replicates=50, ci="bca"))
    first, other = boards
    assert [entry.system for entry in other.entries] == [entry.system for entry in first.entries]
    for ours, wanted in zip(*([asdict(entry) for entry in board.entries] for board in boards), strict=True):
        differences = [each.pop("difference") for each in (ours, wanted)]
        assert ours == wanted
        assert differences[0] == (differences[1] and pytest.approx(differences[1], abs=1e-12))
    assert other.agreement.names == first.agreement.names
    assert {d.system: d for d in other.discordances} == {d.system: d for d in first.discordances}


@pytest.mark.parametrize("room", [True, False])
def test_systems_at_the_same_time_have_the_board_that_they_have_one_after_another(
    monkeypatch, reference, systems, room
):
    """Two at a time where there is room, with warnings and errors in the order of systems."""
    given = systems | {"beyond": long_rows([("new", 0.0, 1.0, "a", 0.9)])}
    settings = {"only": ("segment.soft", "event.optimal"), "replicates": 30}
    board = compare(reference, given, **settings)
    threads_of, of_rows = [], comparison.count_rows

    def counted(*given, **how):
        threads_of.append(threading.get_ident())
        return of_rows(*given, **how)

    monkeypatch.setattr(comparison, "count_rows", counted)
    monkeypatch.setattr(arrays, "_WORTH", 1)
    monkeypatch.setattr(arrays, "processors", lambda: 2)
    monkeypatch.setattr(comparison, "processors", lambda: 2)
    monkeypatch.setattr(comparison, "has_room", lambda _: room)
    assert compare(reference, given, **settings) == board
    # Of five systems the last one is alone.
    assert threads_of.count(threading.get_ident()) == (1 if room else len(given))
    with pytest.raises(EvaluationError):
        compare(reference, given | {"last": given["beyond"]}, strict=True, **settings)


@pytest.mark.parametrize("name", ["segment.optimal.f1.macro", "segment.hard.roc_auc.macro"])
def test_identical_systems_tie_with_p_1(reference, systems, name):
    one = systems["noise 0.3"]
    given = {"a": one, "b": one, "worse": systems["noise 0.6"]}
    board = compare(reference, given, rank_by=name, replicates=20)
    a, b = ({entry.system: entry for entry in board.entries}[name] for name in "ab")
    assert (a.rank, b.rank, a.letters, b.letters) == (1, 1, "a", "a")
    assert a.place == b.place == 1 and a.value == b.value
    assert b.difference.p_bootstrap == b.difference.p_exchange == b.difference.p_adjusted == 1.0
    assert (b.difference.value, b.difference.low, b.difference.high) == (0.0, 0.0, 0.0)
    of_b = {(d.only_system, d.only_other, d.p) for d in board.discordances if d.system == "b"}
    assert of_b == {(0, 0, 1.0)}


def test_what_is_undefined_comes_last_and_ties_with_nothing(reference, systems):
    silent = long_rows([], files=reference.files)
    given = {"silent": silent, **systems, "mute": silent}
    asked = {"rank_by": "segment.hard.precision.micro", "replicates": 30}
    board = compare(reference, given, **asked)
    last = board.entries[-2:]
    assert [entry.system for entry in last] == ["silent", "mute"]
    for entry in last:
        assert (entry.value, entry.low, entry.high, entry.place) == (None, None, None, 5)
        of = entry.difference
        assert (of.value, of.low, of.p_exchange, of.p_adjusted) == (None,) * 4
    assert min(entry.rank for entry in last) > max(entry.rank for entry in board.entries[:-2])
    # Nothing is known about those that all lack a score, nor against a baseline without.
    board = compare(reference, given, baseline="mute", **asked)
    assert all(e.difference is None or e.difference.value is None for e in board.entries)


def test_a_baseline_is_what_the_others_are_compared_to(reference, systems):
    board = compare(reference, systems, baseline="noise 0.3", replicates=40)
    assert board.baseline == board.compared_to == "noise 0.3"
    differences = {entry.system: entry.difference for entry in board.entries}
    assert differences.pop("noise 0.3") is None and differences.pop("noise 0.6").value < 0
    assert all(difference.value > 0 for difference in differences.values())
    assert {d.system for d in board.discordances} == {*systems} - {"noise 0.3"}
    with pytest.raises(SettingsError, match=r"'noise 0\.4'"):
        compare(reference, systems, baseline="noise 0.4")


def test_agreement_has_the_sign_of_the_direction(reference, systems):
    """Noise ruins F and divergence alike: higher F goes with lower divergence, which counts as agreement."""
    given = {k: s for k, s in systems.items() if k.startswith("noise")}
    board = compare(reference, given, replicates=20)
    names = list(board.agreement.names)
    assert names[0] == board.rank_by == "segment.soft.f1.macro"
    assert "segment.soft.kl_divergence.micro" in names and "event.hard.f1.macro" in names
    tau = dict(zip(names, board.agreement.tau[0], strict=True))
    assert tau["segment.soft.f1.macro"] == 1.0
    assert tau["segment.soft.kl_divergence.micro"] == 1.0
    np.testing.assert_array_equal(board.agreement.tau, np.transpose(board.agreement.tau))


def active_seconds(rows, threshold=0.5):
    """Which (file, class, second) are active: rows are on whole seconds here."""
    found = {}
    for file, onset, offset, label, value in tuples(rows):
        for second in range(int(onset), int(offset)):
            key = (file, label, second)
            found[key] = max(found.get(key, 0.0), value)
    return {key for key, value in found.items() if value > threshold}


def test_mcnemar_is_a_loop_over_segments():
    from scipy.stats import binomtest

    rng = np.random.default_rng(8)
    reference, one, other = (random_table(rng, files=(*FILES, f"own {k}"), n=120) for k in range(3))
    asked = {
        "baseline": "other",
        "replicates": 10,
        "rank_by": "segment.hard.f1.macro",
        "only": "segment.hard",
    }
    board = compare(reference, {"one": one, "other": other}, **asked)
    truth, mine, yours = (active_seconds(rows) for rows in (reference, one, other))
    raw = []
    assert [(d.system, d.class_name) for d in board.discordances] == [("one", label) for label in LABELS]
    for row in board.discordances:
        everywhere = [k for k in truth | mine | yours if k[1] == row.class_name]
        right = [((k in truth) == (k in mine), (k in truth) == (k in yours)) for k in everywhere]
        assert row.only_system == right.count((True, False)) > 0
        assert row.only_other == right.count((False, True)) > 0
        total = row.only_system + row.only_other
        raw.append(binomtest(row.only_system, total).pvalue)
        assert row.p == pytest.approx(raw[-1], rel=1e-9)
    for k, p in holm_by_hand(dict(enumerate(raw))).items():
        assert board.discordances[k].p_adjusted == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    "given",
    [*(dict.fromkeys(names) for names in ("a", ("a", ""), ("a", 3))), "a.tsv", ["a.tsv", "b.tsv", "a.tsv"]],
)
def test_systems_are_two_or_more_with_names_or_different_paths(reference, given):
    with pytest.raises(SettingsError, match=r"systems|name|'a\.tsv'"):
        compare(reference, given)


# --- real data ------------------------------------------------------------------------------------


SAMPLES = Path(__file__).parents[2] / "sample_data"
SAMPLED = (SAMPLES / "ref.tsv", [SAMPLES / "sys.tsv", SAMPLES / "sys_b.tsv"])


def test_what_ranks_is_measured_beside_what_a_preset_measures():
    asked = {"preset": "dcase2024-task4-maestro", "classes": ("car", "footsteps"), "replicates": 20}
    board = compare(*SAMPLED, rank_by="segment.hard.brier.micro", **asked)
    assert board.systems[0].settings.measures == ("curves", "divergence")
    with pytest.raises(UnknownScoreError, match="measures='divergence'"):
        compare(*SAMPLED, rank_by="segment.hard.brier.micro", measures=(), **asked)


def test_what_is_not_evaluated_cannot_rank():
    with pytest.raises(UnknownScoreError, match="only="):
        compare(*SAMPLED, rank_by="segment.optimal.f1.macro", preset="dcase2017-task2", replicates=20)


@pytest.mark.parametrize("name", ["event.optimal.f1.macro", "clip.hard.f1.macro"])
def test_readings_that_follow_no_package_rank_beside_one_that_does(name):
    spelt = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
    asked = ({"preset": "dcase2019-task4"}, spelt)
    boards = [compare(*SAMPLED, rank_by=name, replicates=20, **each) for each in asked]
    assert boards[0].systems[0].settings.compat == "sed_eval"
    assert boards[0].entries == boards[1].entries
