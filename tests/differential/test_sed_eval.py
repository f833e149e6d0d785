"""Compare with sed_eval, called file by file as in its documentation and without code of ours.

`tests/apps/second_opinion` calls sed_eval through `check`; these tests would find a mistake in `check`.
"""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared
from tables import long_rows

from sedeval_soft import Settings, evaluate
from sedeval_soft.settings_files import PRESETS, classes_of_preset, load_preset

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dcase_util
    from sed_eval.sound_event import EventBasedMetrics, SegmentBasedMetrics

# numpy warns of sed_eval's macro average if it is undefined for every class.
pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

FILES, LABELS = ("a", "b", "c"), ("car", "dog", "talk", "never")
ERRORS = ("substitutions", "deletions", "insertions")
COUNTS = {
    SegmentBasedMetrics: dict(
        zip((*ERRORS, "tp", "tn", "fp"), ("S", "D", "I", "Ntp", "Ntn", "Nfp"), strict=True)
    ),
    EventBasedMetrics: dict(zip((*ERRORS, "tp"), ("Nsubs", "Nfn", "Nfp", "Ntp"), strict=True)),
}
OF_CLASSES = {"n_ref": "Nref", "n_sys": "Nsys", "tp": "Ntp"}
"""sed_eval's names of counts of all classes (`COUNTS`) and of one class, by our names."""


def lists(times):
    """Draw events whose edges are near a few times, so that many pairs may match."""
    centre, label = st.sampled_from([0.0, 1.0, 1.2, 2.0, 3.3]), st.sampled_from(LABELS[:3])
    event = st.tuples(st.sampled_from(FILES), centre, times, st.integers(0, 2), times, label)
    rows = event.map(lambda e: (e[0], round(e[1] + e[2], 9), round(e[1] + e[2] + e[3] + abs(e[4]), 9), e[5]))
    return st.lists(rows, max_size=25)


ODD = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.7, 1 / 3, 0.123456])


COLUMNS = ("filename", "onset", "offset", "event_label")


def of_sed_eval(kind, reference, system, lengths=None, files=FILES, labels=LABELS, **how):
    """Return every number of sed_eval under our name for it, with None for NaN."""
    metrics = kind(event_label_list=list(labels), **how)
    sides = [[dict(zip(COLUMNS, row, strict=True)) for row in side] for side in (reference, system)]
    for name in files:
        own = ([row for row in side if row["filename"] == name] for side in sides)
        more = {"evaluated_length_seconds": lengths and lengths[name]} if kind is SegmentBasedMetrics else {}
        metrics.evaluate(*map(dcase_util.containers.MetaDataContainer, own), **more)
    classes, found = metrics.results_class_wise_metrics(), {}
    forms = {".micro": metrics.results_overall_metrics()}
    forms |= {".macro": metrics.results_class_wise_average_metrics()}
    for form, groups in (forms | {f"[{label}]": classes[label] for label in labels}).items():
        for group in ("f_measure", "error_rate", "accuracy"):
            for name, value in groups.get(group, {}).items():
                ours = {"f_measure": "f1"}.get(name, name)
                found[f"{ours}{form}"] = None if math.isnan(value) else float(value)
    for label in labels:
        counts = classes[label]["count"] | metrics.class_wise[label]
        found |= {f"{name}[{label}]": counts[of] for name, of in OF_CLASSES.items()}
    return found | {f"{name}.micro": metrics.overall[of] for name, of in COUNTS[kind].items()}


def of_events(reference, system, made, **how):
    """Return the event-based numbers of sed_eval under our settings."""
    return of_sed_eval(
        EventBasedMetrics, reference, system, evaluate_onset=made.onset, evaluate_offset=made.offset,
        t_collar=made.onset_collar, percentage_of_length=made.offset_collar_rate,
        event_matching_type=made.matching, empty_system_output_handling="zero_score", **how,
    )  # fmt: skip


def ours(reference, system, durations=None, **how):
    sides = (long_rows(side, files=FILES) for side in (reference, system))
    return evaluate(*sides, durations=durations, **how)


def assert_same(scores, theirs, prefix):
    """Require that all their numbers equal ours to 1e-12, or are undefined as ours."""
    assert len(theirs) > 50
    for name, value in theirs.items():
        mine = scores[f"{prefix}.{name}"]
        assert mine is value or math.isclose(mine, value, rel_tol=1e-12, abs_tol=1e-15), (name, mine, value)


@settings(max_examples=40)
@given(
    lists(ODD), lists(ODD), st.sampled_from([0.1, 0.3, 1.0]),
    st.sampled_from([None, {"a": 5.0, "b": 2.05, "c": 0.7}]),
)  # fmt: skip
def test_compat_segments(reference, system, length, durations):
    made = Settings(compat="sed_eval", segment_length=length, classes=LABELS, only=("segment.hard",))
    theirs = of_sed_eval(SegmentBasedMetrics, reference, system, durations, time_resolution=length)
    assert_same(ours(reference, system, durations, settings=made), theirs, "segment.hard")


COLLARS = st.fixed_dictionaries(
    {
        "collar": st.sampled_from([0.1, 0.2, 0.25, 0.5]),
        "offset_collar_rate": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
        "matching": st.sampled_from(["optimal", "greedy"]),
        "sides": st.sampled_from([(True, True), (True, False), (False, True)]),
    }
)


def event_settings(collar, sides, **more):
    collars = dict.fromkeys(("onset_collar", "offset_collar"), collar)
    return Settings(onset=sides[0], offset=sides[1], classes=LABELS, only=("event",), **collars, **more)


@settings(max_examples=80)
@given(lists(ODD), lists(ODD), COLLARS)
def test_compat_events(reference, system, chosen):
    made = event_settings(**chosen, compat="sed_eval")
    assert_same(ours(reference, system, settings=made), of_events(reference, system, made), "event.hard")


# Presets, with sed_eval called by the rules of the challenges.

ZERO = {"empty_system_output_handling": "zero_score", "evaluate_onset": True}
RULES = {
    ("dcase2017-task2", "event"): {**ZERO, "evaluate_offset": False, "t_collar": 0.5},
    ("dcase2019-task4", "event"): {
        **ZERO,
        "evaluate_offset": True,
        "t_collar": 0.2,
        "percentage_of_length": 0.2,
    },
    ("dcase2017-task3", "segment"): {"time_resolution": 1.0},
    ("dcase2019-task4", "segment"): {"time_resolution": 1.0},
}
SAME = {"dcase2019-2022-task4": "dcase2019-task4", "dcase2016-task3": "dcase2017-task3"}
"""Presets with the settings of another preset."""


@pytest.mark.parametrize(("preset", "basis"), RULES)
@settings(max_examples=20)
@given(lists(ODD), lists(ODD))
def test_presets(preset, basis, reference, system):
    kind = SegmentBasedMetrics if basis == "segment" else EventBasedMetrics
    lengths = dict.fromkeys(FILES, 6.0) if basis == "segment" else None
    theirs = of_sed_eval(kind, reference, system, lengths, **RULES[preset, basis])
    scores = ours(reference, system, lengths, preset=preset, classes=LABELS)
    assert_same(scores, theirs, f"{basis}.hard")


def read(path):
    return pd.read_csv(path, sep="\t")


def test_the_baseline_of_2019():
    preset, folder = "dcase2019-task4", shared("dcase2019_task4")
    paths = [folder / f"{name}.csv" for name in ("dcase2019t4_gt", "baseline_0.5", "dcase2019t4_meta")]
    rows = (read(path).dropna()[[*COLUMNS]] for path in paths[:2])
    theirs = of_sed_eval(
        EventBasedMetrics, *(side.itertuples(index=False) for side in rows), **RULES[preset, "event"],
        files=sorted({*read(paths[2]).filename}), labels=classes_of_preset(preset),
    )  # fmt: skip
    scores = evaluate(*paths[:2], durations=paths[2], preset=preset)
    assert_same(scores, theirs, "event.hard")
    assert scores["event.hard.f1.macro"] == pytest.approx(0.21649708602613468, abs=1e-12)


@pytest.fixture(scope="module")
def maestro():
    """Return MAESTRO's hard and soft labels, and a noisy system."""
    hard, soft = (read(shared("maestro") / f"{name}.csv") for name in ("gt_dev", "soft_gt_dev"))
    system = soft.copy()
    noise = np.random.default_rng(2023).random((len(soft), 11))
    system.iloc[:, 3:] = 0.7 * soft.iloc[:, 3:].clip(0, 1) + 0.3 * noise
    return hard, soft, system


def test_task_4b_of_2023(maestro):
    """Micro F and error rate, which the challenge reported beside its ranking score."""
    (hard, _, system), labels = maestro, load_preset("dcase2023-task4b")["classes"]
    assert {*labels} == {*system.columns[3:]}
    long = system.melt([*COLUMNS[:3]], var_name="event_label")
    sides = (
        of[[*COLUMNS]].astype(dict.fromkeys(COLUMNS[1:3], float)) for of in (hard, long[long.value > 0.5])
    )
    lengths = {name: float(part.offset.max()) for name, part in system.groupby("filename")}
    theirs = of_sed_eval(
        SegmentBasedMetrics, *(side.itertuples(index=False) for side in sides), lengths, lengths, labels,
        time_resolution=1.0,
    )  # fmt: skip
    scores = evaluate(hard, system, durations=lengths, preset="dcase2023-task4b")
    ranked = ("f1.micro", "error_rate.micro")
    assert [scores[f"segment.hard.{n}"] for n in ranked] == pytest.approx(
        [theirs[n] for n in ranked], rel=1e-12
    )
    assert 0.5 < theirs["f1.micro"] < 0.95


def test_soft_labels_of_maestro(maestro):
    """No challenge used soft F: compare it with 2 sum min(y, p) / (sum y + sum p) of each class."""
    _, soft, system = maestro
    scores, labels = evaluate(soft, system, preset="maestro-soft"), load_preset("maestro-soft")["classes"]
    y, p = (side[labels].clip(0, 1).to_numpy() for side in (soft, system))
    f1 = 2 * np.minimum(y, p).sum(axis=0) / (y.sum(axis=0) + p.sum(axis=0))
    assert [scores[f"segment.soft.f1[{label}]"] for label in labels] == pytest.approx(f1, abs=1e-12)
    assert scores["segment.soft.f1.macro"] == pytest.approx(f1.mean(), abs=1e-12)


def test_names_of_the_same_rules_set_the_same_and_no_preset_is_left_out():
    """tests/parity compares the scores of 2024, and the ranking score of 2023, with sed_scores_eval."""
    for name, other in SAME.items():
        settings_of = [(load_preset(each), classes_of_preset(each)) for each in (name, other)]
        assert settings_of[0] == settings_of[1]
    assert classes_of_preset("dcase2019-task4") == classes_of_preset("dcase2024-task4-desed")
    of_maestro = {"dcase2024-task4-maestro", "maestro-soft", "dcase2023-task4b"}
    assert len({classes_of_preset(name) for name in of_maestro}) == 1
    # tests/golden and tests/apps/published compare these with published evaluators.
    published = {"birdnet-analyzer", "audio-grounding", "voice-activity", "biodcase2025-task2",
                 "dcase2021-2024-few-shot", "dcase2026-task6"}  # fmt: skip
    assert {*SAME, *of_maestro, *published, "dcase2024-task4-desed", *(name for name, _ in RULES)} == {
        *PRESETS
    }
