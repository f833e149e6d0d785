"""Replicates of several systems: tables of which files are drawn, or exchanged between two of them."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawn_again import FILES, LABELS, Tables, differences_by_hand, random_table, same_numbers

from sedeval_soft.api.evaluation import evaluate_rows
from sedeval_soft.comparison.paired import Paired
from sedeval_soft.evaluation.resample import bootstrap
from sedeval_soft.measures.registry import group_of
from sedeval_soft.settings import Settings

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
    """Return what yields these weights, whatever it is asked for."""
    return lambda *_: iter(blocks)


def three_sides(seed, form="tied", n=50):
    rng = np.random.default_rng(seed)
    return [random_table(rng, n=n, form=form) for _ in range(3)]


def asked(name, **more):
    only = ("intersection",) if "psds" in name else (".".join(name.split(".")[:2]),)
    group = group_of(name)
    values = {"classes": LABELS, "only": only, "measures": (group,) if group else (), **more}
    return Settings(**values, psds="dcase-psds2" if "psds" in name else None)


def check_exchanges(monkeypatch, reference, systems, settings, name, rows, files=FILES, by_hand=None):
    """Compare differences with those of exchanged rows; by_hand: their systems, settings and name."""
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
    theirs = check_exchanges(monkeypatch, reference, systems, asked(name), name, rows)
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
    """Files are false alarms of whoever has them; one without rows that one names is nothing to either.

    Classes are not named: a system that is given files with a class has that class.
    """
    rng, settings = np.random.default_rng(3), asked(name, classes=LABELS if how == "files" else None)
    own = [{"files": tuple(of)} for of in ("abc", "abcx", "bcyz")]
    if how == "classes":
        own = [{"labels": of} for of in (("car", "dog"), ("car", "bird"), ("dog", "cat", "car"))]
    reference, *systems = (random_table(rng, **of) for of in own)
    files = sorted("abcxyz" if how == "files" else FILES)
    rows = np.array(
        [[number >> k & 1 for k in range(len(files))] for number in (0, 31, 63, 5, 40, 21, 11)], dtype=float
    )
    # Named classes would be expected: silence in those that the reference lacks would count for accuracy.
    classes = settings.classes or (None if "accuracy" in name else ("bird", "car", "cat", "dog"))
    by_hand = systems, replace(settings, classes=classes), name
    check_exchanges(monkeypatch, reference, systems, settings, name, rows, files, by_hand=by_hand)


def test_with_kept_thresholds_detections_at_them_are_exchanged(monkeypatch):
    """Each system is cut where its own files have it best, before anything is exchanged."""
    reference, *systems = three_sides(5)
    name, hard, cut = "event.optimal.f1.micro", "event.hard.f1.micro", []
    settings = asked(name, fixed_thresholds=True)
    for system in systems:
        scores = evaluate_rows(reference, system, settings)
        limits = {label: scores[f"event.optimal.threshold[{label}]"] for label in LABELS}
        # Where a class has no best threshold (NaN here), nothing of it is a detection.
        at = np.array([limits[system.classes[k]] for k in system.label], dtype=float)
        cut.append(replace(system, values=((system.value > at).astype(float),)))
    rows = np.array([[0, 0, 0, 0, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 0.0]])
    check_exchanges(monkeypatch, reference, systems, settings, name, rows, by_hand=(cut, asked(hard), hard))


@pytest.mark.parametrize(
    "name", ["segment.soft.f1.macro", "event.optimal.f1.macro", "segment.hard.roc_auc.macro"]
)
def test_systems_are_drawn_by_the_same_files(monkeypatch, name):
    rng, settings = np.random.default_rng(6), asked(name, replicates=4)
    reference, *systems = (random_table(rng, files=files) for files in (FILES, FILES, ("0", *FILES)))
    rows = np.concatenate(list(bootstrap(6, 4, 1)))
    monkeypatch.setattr("sedeval_soft.comparison.paired.bootstrap", instead(rows[:3], rows[3:]))
    sides = [Tables(reference, system) for system in systems]
    ours = Paired.of_tallies([tables.tally(settings) for tables in sides], name, settings).bootstrap()
    for k, tables in enumerate(sides):
        theirs = [tables.drawn(row[6 - len(tables.files) :]).scores(settings)[name] for row in rows]
        same_numbers(ours[None, :, k], np.array([theirs], dtype=float), [name])
