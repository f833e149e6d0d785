"""Ranks, differences, p-values, ties and classes in which systems differ, against results by hand.

The replicates by hand evaluate tables whose files are drawn, or exchanged between two systems.
"""

import itertools
import threading
from dataclasses import asdict, replace

import numpy as np
import pytest
from called import OTHER, REFERENCE, SYSTEM
from drawn_again import (
    FILES,
    LABELS,
    Tables,
    differences_by_hand,
    random_table,
    same_numbers,
    tuples,
    value_of,
)
from scipy.stats import binomtest
from tables import long_rows

from sedeval_soft import EvaluationError, arrays, compare
from sedeval_soft.api import comparison, evaluate_rows
from sedeval_soft.comparison import Paired
from sedeval_soft.evaluation import bootstrap
from sedeval_soft.evaluation.resample import exchanges
from sedeval_soft.measures.registry import group_of
from sedeval_soft.settings import Settings


def noisy(rows, noise, seed):
    value = np.clip(rows.value + np.random.default_rng(seed).normal(0, noise, len(rows)), 0, 1)
    return replace(rows, values=(value,))


TRUTH = random_table(np.random.default_rng(7), files=[f"f{k}" for k in range(9)], n=180, form="fine")
SYSTEMS = {
    "noise 0.6": noisy(TRUTH, 0.6, 0),
    "noise 0.05": noisy(TRUTH, 0.05, 1),
    "noise 0.3": noisy(TRUTH, 0.3, 2),
    "again 0.05": noisy(TRUTH, 0.05, 9),
}


def holm_by_hand(p_values):
    """Return p-values adjusted step by step, the smallest first."""
    adjusted, running = {}, 0.0
    for step, k in enumerate(sorted(p_values, key=p_values.get)):
        adjusted[k] = running = max(running, min(1.0, (len(p_values) - step) * p_values[k]))
    return adjusted


def test_p_values_are_those_of_the_differences():
    """Compute p-values, intervals, Holm and places by hand, from replicates that are made here."""
    name, n, files = "segment.soft.f1.micro", 16, sorted(TRUTH.files)
    settings = Settings(classes=LABELS, only=("segment.soft",), replicates=n)
    board = compare(TRUTH, SYSTEMS, rank_by=name, settings=settings)
    value = {k: value_of(TRUTH, s, settings, name) for k, s in SYSTEMS.items()}
    best, *others = order = sorted(value, key=lambda k: -value[k])
    assert [entry.system for entry in board.entries] == order and board.compared_to == best
    drawn, taken = (np.concatenate(list(draw(len(files), n, 0))) for draw in (bootstrap, exchanges))
    scores = {
        k: np.array([Tables(TRUTH, s).drawn(row).scores(settings)[name] for row in drawn])
        for k, s in SYSTEMS.items()
    }
    entries, p_exchange = {entry.system: entry for entry in board.entries}, {}

    def p_of(differences, observed):
        return (1 + np.count_nonzero(np.abs(differences) >= abs(observed) - 1e-9)) / (1 + len(differences))

    for k in others:
        observed, d = value[k] - value[best], scores[k] - scores[best]
        swapped = differences_by_hand(TRUTH, (SYSTEMS[best], SYSTEMS[k]), settings, name, taken, files)
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


def test_the_order_in_which_systems_are_given_does_not_matter():
    asked = {"rank_by": "event.soft.f1.micro", "replicates": 20, "ci": "bca"}
    first, other = (compare(TRUTH, of, **asked) for of in (SYSTEMS, dict([*SYSTEMS.items()][::-1])))
    for one, same in zip(first.entries, other.entries, strict=True):
        assert replace(one, difference=None) == replace(same, difference=None)
        assert one == same or asdict(one.difference) == pytest.approx(asdict(same.difference), abs=1e-12)
    assert other.agreement.names == first.agreement.names
    assert {d.system: d for d in other.discordances} == {d.system: d for d in first.discordances}


@pytest.mark.parametrize("room", [True, False])
def test_systems_at_the_same_time_have_the_board_that_they_have_one_after_another(monkeypatch, room):
    """If memory allows, two systems are counted at a time; warnings keep the order of systems."""
    given = SYSTEMS | {"beyond": long_rows([("new", 0.0, 1.0, "a", 0.9)])}
    settings = {"only": ("segment.soft",), "replicates": 5}
    board, threads_of, of_rows = compare(TRUTH, given, **settings), [], comparison.count_rows

    def counted(*given, **how):
        threads_of.append(threading.get_ident())
        return of_rows(*given, **how)

    monkeypatch.setattr(comparison, "count_rows", counted)
    monkeypatch.setattr(comparison, "has_room", lambda _: room)
    monkeypatch.setattr(arrays, "_WORTH", 1)
    for module in (arrays, comparison):
        monkeypatch.setattr(module, "processors", lambda: 2)
    assert compare(TRUTH, given, **settings) == board
    # Two pairs run in threads; the fifth system runs alone, in this thread.
    assert threads_of.count(threading.get_ident()) == (1 if room else len(given))
    with pytest.raises(EvaluationError):
        compare(TRUTH, given, strict=True, **settings)


@pytest.mark.parametrize("name", ["segment.optimal.f1.macro", "segment.hard.roc_auc.macro"])
def test_identical_systems_tie_with_p_1(name):
    given = dict.fromkeys("ab", SYSTEMS["noise 0.3"]) | {"worse": SYSTEMS["noise 0.6"]}
    board = compare(TRUTH, given, rank_by=name, replicates=20)
    a, b, _ = board.entries
    assert a == replace(b, system="a", difference=None)
    assert (b.rank, b.place, b.letters) == (1, 1, "a")
    assert [*asdict(b.difference).values()] == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert {(of.only_system, of.only_other, of.p) for of in board.discordances if of.system == "b"} == {
        (0, 0, 1.0)
    }


def test_what_is_undefined_comes_last_and_ties_with_nothing():
    silent = long_rows([], files=TRUTH.files)
    given, asked = {"silent": silent, **SYSTEMS, "mute": silent}, {"rank_by": "segment.hard.precision.micro"}
    board = compare(TRUTH, given, replicates=20, only="segment.hard", **asked)
    *others, silent, mute = board.entries
    assert (silent.system, mute.system) == ("silent", "mute")
    for of in (silent, mute):
        assert {of.value, of.low, of.high, *asdict(of.difference).values()} == {None}
        assert of.place == 5 and of.rank > max(other.rank for other in others)
    # No system can be compared to a baseline without a score.
    board = compare(TRUTH, given, baseline="mute", replicates=5, only="segment.hard", **asked)
    assert all(e.difference is None or e.difference.value is None for e in board.entries)


def test_a_baseline_is_what_the_others_are_compared_to():
    """More noise gives a lower F and a higher divergence: rankings by the two agree."""
    given = {k: s for k, s in SYSTEMS.items() if k.startswith("noise")}
    board = compare(TRUTH, given, baseline="noise 0.3", replicates=20)
    assert board.baseline == board.compared_to == "noise 0.3"
    assert {of.system: of.difference and np.sign(of.difference.value) for of in board.entries} == {
        "noise 0.05": 1, "noise 0.3": None, "noise 0.6": -1
    }  # fmt: skip
    assert {d.system for d in board.discordances} == {*given} - {"noise 0.3"}
    tau = dict(zip(board.agreement.names, board.agreement.tau[0], strict=True))
    assert next(iter(tau)) == board.rank_by == "segment.soft.f1.macro"
    assert tau["segment.soft.f1.macro"] == tau["segment.soft.kl_divergence.micro"] == 1.0


def active_seconds(rows):
    """Return the active (file, class, second): rows are on whole seconds here."""
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
        # One system is right and the other wrong, or the reverse.
        wrong, others = ({k for k in truth ^ side if k[1] == row.class_name} for side in (mine, yours))
        assert (row.only_system, row.only_other) == (len(others - wrong), len(wrong - others))
        p = binomtest(row.only_system, row.only_system + row.only_other).pvalue
        assert row.p == pytest.approx(p, rel=1e-9) and row.only_system * row.only_other > 0
    adjusted = holm_by_hand({row.class_name: row.p for row in rows})
    assert {row.class_name: row.p_adjusted for row in rows} == pytest.approx(adjusted, rel=1e-9)


# --- replicates: files that are drawn, or exchanged --------------------------------------------------

RANKED = (
    "segment.hard.f1.micro", "segment.hard.error_rate.micro", "segment.hard.accuracy.macro",
    "segment.soft.f1.macro", "segment.soft.kl_divergence.micro", "segment.soft.f1[dog]",
    "segment.optimal.f1.macro", "segment.optimal.error_rate.micro", "event.hard.f1.macro",
    "event.hard.onset_spread.micro", "event.soft.f1.micro", "event.optimal.f1.micro",
    "event.optimal.error_rate.micro", "event.optimal.best_error_rate.macro", "intersection.soft.f1.macro",
    "intersection.optimal.f1.micro", "clip.optimal.f1.macro", "clip.soft.f1.weighted",
    "segment.hard.average_precision.macro", "segment.soft.roc_auc.micro", "segment.soft.pearson.micro",
    "segment.hard.expected_calibration_error.micro", "event.hard.average_precision.macro",
    "ranking.hard.label_ranking_average_precision", "intersection.hard.psds", "intersection.soft.psds",
)  # fmt: skip


def instead(*blocks):
    """Return a function that yields these weights, whatever its arguments."""
    return lambda *_: iter(blocks)


def three_sides(seed, form="tied", n=50):
    rng = np.random.default_rng(seed)
    return [random_table(rng, n=n, form=form) for _ in range(3)]


def settings_for(name, **more):
    only = ("intersection",) if "psds" in name else (".".join(name.split(".")[:2]),)
    group = group_of(name)
    values = {"classes": LABELS, "only": only, "measures": (group,) if group else (), **more}
    return Settings(**values, psds="dcase-psds2" if "psds" in name else None)


def check_exchanges(monkeypatch, reference, systems, settings, name, rows, files=FILES, by_hand=None):
    """Compare differences with evaluations of tables whose rows are exchanged.

    by_hand: the systems, settings and score name of these evaluations, if others.
    """
    monkeypatch.setattr("sedeval_soft.comparison.paired.exchanges", instead(rows[:2], rows[2:]))
    tallies = [Tables(reference, system).tally(settings) for system in systems]
    ours = Paired.of_tallies(tallies, name, replace(settings, replicates=len(rows))).exchanged(0, 1)
    theirs = differences_by_hand(reference, *(by_hand or (systems, settings, name)), rows, files)
    same_numbers(ours[None], theirs[None], [name])
    return theirs


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=[] if k % 2 else pytest.mark.slow)
        for k, (name, form) in enumerate(zip(RANKED, itertools.cycle(("tied", "fine", "fine")), strict=False))
    ],
)
def test_exchanging_is_exchanging_rows_of_tables(monkeypatch, name, form):
    n = 20 if name == "intersection.soft.psds" else 50
    reference, *systems = three_sides(sum(map(ord, name)), form, n)
    rows = np.array([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 1.0]])
    theirs = check_exchanges(monkeypatch, reference, systems, settings_for(name), name, rows)
    assert abs(theirs[0] + theirs[1]) < 1e-12


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("segment.soft.f1.micro", "files"), ("event.hard.f1.micro", "files"),
        ("segment.optimal.f1.micro", "files"), ("segment.soft.f1.macro", "classes"),
        ("segment.hard.accuracy.micro", "classes"), ("clip.optimal.f1.micro", "classes"),
    ],
)  # fmt: skip
def test_exchanging_what_only_one_system_has(monkeypatch, name, how):
    """A system that takes over a file has its false alarms; a file without rows changes nothing.

    Without `classes`, a system that takes over files with a class has that class.
    """
    rng, settings = np.random.default_rng(3), settings_for(name, classes=LABELS if how == "files" else None)
    own = [{"files": tuple(of)} for of in ("abc", "abcx", "bcyz")]
    if how == "classes":
        own = [{"labels": of} for of in (("car", "dog"), ("car", "bird"), ("dog", "cat", "car"))]
    reference, *systems = (random_table(rng, **of) for of in own)
    files = sorted("abcxyz" if how == "files" else FILES)
    rows = np.array(
        [[number >> k & 1 for k in range(len(files))] for number in (0, 31, 63, 5, 40, 21, 11)], dtype=float
    )
    # For accuracy no classes are named: silence in a named class that the reference lacks would count.
    classes = settings.classes or (None if "accuracy" in name else ("bird", "car", "cat", "dog"))
    by_hand = systems, replace(settings, classes=classes), name
    check_exchanges(monkeypatch, reference, systems, settings, name, rows, files, by_hand=by_hand)


def test_with_kept_thresholds_detections_at_them_are_exchanged(monkeypatch):
    """Each system is binarised at its own best thresholds before files are exchanged."""
    reference, *systems = three_sides(5)
    name, hard, cut = "event.optimal.f1.micro", "event.hard.f1.micro", []
    settings = settings_for(name, fixed_thresholds=True)
    for system in systems:
        scores = evaluate_rows(reference, system, settings)
        limits = {label: scores[f"event.optimal.threshold[{label}]"] for label in LABELS}
        # A class without a best threshold (NaN here) has no detections.
        at = np.array([limits[system.classes[k]] for k in system.label], dtype=float)
        cut.append(replace(system, values=((system.value > at).astype(float),)))
    rows = np.array([[0, 0, 0, 0, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 0.0]])
    check_exchanges(
        monkeypatch, reference, systems, settings, name, rows, by_hand=(cut, settings_for(hard), hard)
    )


@pytest.mark.parametrize(
    "name", ["segment.soft.f1.macro", "event.optimal.f1.macro", "segment.hard.roc_auc.macro"]
)
def test_systems_are_drawn_by_the_same_files(monkeypatch, name):
    rng, settings = np.random.default_rng(6), settings_for(name, replicates=4)
    reference, *systems = (random_table(rng, files=files) for files in (FILES, FILES, ("0", *FILES)))
    rows = np.concatenate(list(bootstrap(6, 4, 1)))
    monkeypatch.setattr("sedeval_soft.comparison.paired.bootstrap", instead(rows[:3], rows[3:]))
    sides = [Tables(reference, system) for system in systems]
    ours = Paired.of_tallies([tables.tally(settings) for tables in sides], name, settings).bootstrap()
    for k, tables in enumerate(sides):
        theirs = [tables.drawn(row[6 - len(tables.files) :]).scores(settings)[name] for row in rows]
        same_numbers(ours[None, :, k], np.array([theirs], dtype=float), [name])


# --- real data ------------------------------------------------------------------------------------


SAMPLED = (REFERENCE, [SYSTEM, OTHER])


def test_what_ranks_is_measured_beside_what_a_preset_measures():
    asked = {"preset": "dcase2024-task4-maestro", "classes": ("car", "footsteps")}
    board = compare(*SAMPLED, rank_by="segment.hard.brier.micro", replicates=20, **asked)
    assert board.systems[0].settings.measures == ("curves", "divergence")


@pytest.mark.parametrize("name", ["event.optimal.f1.macro", "clip.hard.f1.macro"])
def test_readings_that_follow_no_package_rank_beside_one_that_does(name):
    how = {"rank_by": name, "replicates": 20}
    board = compare(*SAMPLED, preset="dcase2019-task4", **how)
    spelt = compare(*SAMPLED, onset_collar=0.2, offset_collar=0.2, offset_collar_rate=0.2, **how)
    assert board.systems[0].settings.compat == "sed_eval" and board.entries == spelt.entries
