"""Presets against sed_eval, called as the rules of the challenges say."""

from __future__ import annotations

import csv
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from shared_data import shared
from tables import long_rows
from test_sed_eval_directly import FILES, LABELS, ODD, containers, dcase_util, lists, sed_eval

from sedeval_soft import evaluate
from sedeval_soft.settings_files import PRESETS, classes_of_preset, load_preset

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

OFFSETS_TOO = {"evaluate_onset": True, "evaluate_offset": True, "t_collar": 0.2, "percentage_of_length": 0.2}
EVENTS = {
    "dcase2017-task2": {"evaluate_onset": True, "evaluate_offset": False, "t_collar": 0.5},
    "dcase2019-task4": OFFSETS_TOO,
}
SEGMENTS = ("dcase2017-task3", "dcase2019-task4")
SAME = {"dcase2019-2022-task4": "dcase2019-task4", "dcase2016-task3": "dcase2017-task3"}
"""Presets that set what another one sets."""


def numbers(metrics):
    """Return what challenges report, under our names; None for what is undefined."""
    overall, macro = metrics.results_overall_metrics(), metrics.results_class_wise_average_metrics()
    found = {
        f"{name}.{form}": groups[group][theirs]
        for form, groups in (("micro", overall), ("macro", macro))
        for name, group, theirs in (
            ("f1", "f_measure", "f_measure"),
            ("error_rate", "error_rate", "error_rate"),
        )
    }
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def scored(preset, reference, system, durations=None):
    return evaluate(
        long_rows(reference, files=FILES),
        long_rows(system, files=FILES),
        durations=durations,
        preset=preset,
        classes=LABELS,
    )


def agree(scores, basis, theirs):
    assert any(value is not None for value in theirs.values())
    for name, value in theirs.items():
        mine = scores[f"{basis}.hard.{name}"]
        assert mine is value or mine == pytest.approx(value, rel=1e-12, abs=1e-15), name


@pytest.mark.parametrize("preset", SEGMENTS)
@settings(max_examples=30, deadline=None)
@given(reference=lists(ODD, 25), system=lists(ODD, 25))
def test_segments(preset, reference, system):
    metrics = sed_eval.sound_event.SegmentBasedMetrics(event_label_list=list(LABELS), time_resolution=1.0)
    ours, theirs = containers(reference), containers(system)
    lengths = dict.fromkeys(FILES, 6.0)
    for name in FILES:
        metrics.evaluate(ours[name], theirs[name], evaluated_length_seconds=lengths[name])
    agree(scored(preset, reference, system, lengths), "segment", numbers(metrics))


@pytest.mark.parametrize("preset", EVENTS)
@settings(max_examples=30, deadline=None)
@given(reference=lists(ODD, 25), system=lists(ODD, 25))
def test_events(preset, reference, system):
    metrics = sed_eval.sound_event.EventBasedMetrics(
        event_label_list=list(LABELS), empty_system_output_handling="zero_score", **EVENTS[preset]
    )
    ours, theirs = containers(reference), containers(system)
    for name in FILES:
        metrics.evaluate(ours[name], theirs[name])
    agree(scored(preset, reference, system), "event", numbers(metrics))


def read(path):
    """Return the events of a table by file, and the files that it names."""
    events, named = defaultdict(list), set()
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            named.add(row["filename"])
            if row.get("event_label"):
                events[row["filename"]].append(
                    {
                        "filename": row["filename"],
                        "onset": float(row["onset"]),
                        "offset": float(row["offset"]),
                        "event_label": row["event_label"],
                    }
                )
    return events, named


def test_the_baseline_of_2019():
    preset = "dcase2019-task4"
    folder = shared("dcase2019_task4")
    paths = [folder / f"{name}.csv" for name in ("dcase2019t4_gt", "baseline_0.5", "dcase2019t4_meta")]
    (ours, _), (theirs, _), (_, names) = map(read, paths)
    metrics = sed_eval.sound_event.EventBasedMetrics(
        event_label_list=list(classes_of_preset(preset)),
        empty_system_output_handling="zero_score",
        **EVENTS[preset],
    )
    container = dcase_util.containers.MetaDataContainer
    for name in sorted(names):
        metrics.evaluate(container(ours[name]), container(theirs[name]))
    scores = evaluate(*paths[:2], durations=paths[2], preset=preset)
    agree(scores, "event", numbers(metrics))
    assert scores["event.hard.f1.macro"] == pytest.approx(0.21649708602613468, abs=1e-12)


@pytest.fixture(scope="module")
def maestro():
    """MAESTRO's hard and soft labels, and a noisy system."""
    folder = shared("maestro")
    hard, soft = (pd.read_csv(folder / f"{name}.csv", sep="\t") for name in ("gt_dev", "soft_gt_dev"))
    noise = np.random.default_rng(2023).random((len(soft), 11))
    system = soft.copy()
    system.iloc[:, 3:] = 0.7 * soft.iloc[:, 3:].clip(0, 1) + 0.3 * noise
    return hard, soft, system


def test_task_4b_of_2023(maestro):
    """What was reported beside the ranking score: micro F and error rate."""
    hard, _, system = maestro
    labels = load_preset("dcase2023-task4b")["classes"]
    assert {*labels} == {*system.columns[3:]}
    long = system.melt(["filename", "onset", "offset"], var_name="event_label")
    active = long[long.value > 0.5].drop(columns="value")
    metrics = sed_eval.sound_event.SegmentBasedMetrics(event_label_list=labels, time_resolution=1.0)
    lengths = {name: float(part.offset.max()) for name, part in system.groupby("filename")}
    container = dcase_util.containers.MetaDataContainer
    for name, length in lengths.items():
        sides = (
            container([{**row, "onset": float(row["onset"]), "offset": float(row["offset"])} for row in rows])
            for rows in (side[side.filename == name].to_dict("records") for side in (hard, active))
        )
        metrics.evaluate(*sides, evaluated_length_seconds=length)
    scores = evaluate(hard, system, durations=lengths, preset="dcase2023-task4b")
    theirs = numbers(metrics)
    agree(scores, "segment", {name: theirs[name] for name in ("f1.micro", "error_rate.micro")})
    assert 0.5 < theirs["f1.micro"] < 0.95


def test_soft_labels_of_maestro(maestro):
    """The score of no challenge, against its definition: 2 sum min(y, p) / (sum y + sum p) of each class."""
    _, soft, system = maestro
    scores = evaluate(soft, system, preset="maestro-soft")
    labels = load_preset("maestro-soft")["classes"]
    y, p = (side[labels].clip(0, 1).to_numpy() for side in (soft, system))
    f1 = 2 * np.minimum(y, p).sum(axis=0) / (y.sum(axis=0) + p.sum(axis=0))
    for label, value in zip(labels, f1, strict=True):
        assert scores[f"segment.soft.f1[{label}]"] == pytest.approx(value, abs=1e-12)
    assert scores["segment.soft.f1.macro"] == pytest.approx(f1.mean(), abs=1e-12)


def test_names_of_the_same_rules_set_the_same():
    for name, other in SAME.items():
        assert load_preset(name) == load_preset(other)
        assert classes_of_preset(name) == classes_of_preset(other)
    assert classes_of_preset("dcase2019-task4") == classes_of_preset("dcase2024-task4-desed")
    for name in ("dcase2024-task4-maestro", "maestro-soft"):
        assert classes_of_preset(name) == classes_of_preset("dcase2023-task4b")


def test_no_preset_is_left_out():
    """Those of 2024, and the ranking score of 2023, are held against sed_scores_eval (tests/parity)."""
    elsewhere = {"dcase2024-task4-desed", "dcase2024-task4-maestro"}
    assert {*SEGMENTS, *EVENTS, *SAME, "dcase2023-task4b", "maestro-soft", *elsewhere} == {*PRESETS}
