"""Against sed_eval called as its documentation says, file by file, with nothing of ours in between.

`test_check_sed_eval` goes by way of `--check`; here a mistake in that could not hide. Lists are longer and
denser, and counts are compared, too.
"""

from __future__ import annotations

import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import maximum_size
from tables import long_rows

from sedeval_soft import Settings, evaluate

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dcase_util
    import sed_eval

# sed_eval's macro average over classes none of which is defined.
pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

FILES, LABELS = ("a", "b", "c"), ("car", "dog", "talk", "never")


def lists(times, spread: int):
    """Events whose edges crowd around few times, so that many are candidates of one another."""
    centre = st.sampled_from([0.0, 1.0, 1.2, 2.0, 3.3])
    event = st.tuples(
        st.sampled_from(FILES), centre, times, st.integers(0, 2), times, st.sampled_from(LABELS[:3])
    )
    return st.lists(
        event.map(lambda e: (e[0], round(e[1] + e[2], 9), round(e[1] + e[2] + e[3] + abs(e[4]), 9), e[5])),
        max_size=spread,
    )


ODD = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.7, 1 / 3, 0.123456])
EXACT = st.integers(0, 32).map(lambda n: n / 64)


def containers(rows):
    made = {}
    for name in FILES:
        made[name] = dcase_util.containers.MetaDataContainer(
            [
                {"filename": name, "onset": onset, "offset": offset, "event_label": label}
                for file, onset, offset, label in rows
                if file == name
            ]
        )
    return made


def flat(metrics, counts):
    """Every number of sed_eval under our name for it."""
    names = {"f_measure": "f1"}
    found = {}
    overall, macro, classes = (
        metrics.results_overall_metrics(),
        metrics.results_class_wise_average_metrics(),
        metrics.results_class_wise_metrics(),
    )
    forms = [(".micro", overall), (".macro", macro), *((f"[{label}]", classes[label]) for label in LABELS)]
    for form, groups in forms:
        for group in ("f_measure", "error_rate", "accuracy"):
            for name, value in groups.get(group, {}).items():
                found[f"{names.get(name, name)}{form}"] = None if math.isnan(value) else float(value)
    for label in LABELS:
        found[f"n_ref[{label}]"], found[f"n_sys[{label}]"] = (
            classes[label]["count"][name] for name in ("Nref", "Nsys")
        )
        found[f"tp[{label}]"] = metrics.class_wise[label]["Ntp"]
    for ours, theirs in counts.items():
        found[f"{ours}.micro"] = metrics.overall[theirs]
    return found


def segment_based(reference, system, length, durations):
    metrics = sed_eval.sound_event.SegmentBasedMetrics(event_label_list=list(LABELS), time_resolution=length)
    ours, theirs = containers(reference), containers(system)
    for name in FILES:
        metrics.evaluate(ours[name], theirs[name], evaluated_length_seconds=durations and durations[name])
    counts = {
        "substitutions": "S",
        "deletions": "D",
        "insertions": "I",
        "tp": "Ntp",
        "tn": "Ntn",
        "fp": "Nfp",
    }
    return flat(metrics, counts)


def event_based(reference, system, made):
    metrics = sed_eval.sound_event.EventBasedMetrics(
        event_label_list=list(LABELS),
        evaluate_onset=made.onset,
        evaluate_offset=made.offset,
        t_collar=made.onset_collar,
        percentage_of_length=made.offset_collar_rate,
        event_matching_type=made.matching,
        empty_system_output_handling="zero_score",
    )
    ours, theirs = containers(reference), containers(system)
    for name in FILES:
        metrics.evaluate(ours[name], theirs[name])
    counts = {"substitutions": "Nsubs", "deletions": "Nfn", "insertions": "Nfp", "tp": "Ntp"}
    return flat(metrics, counts)


def ours(reference, system, made, durations=None):
    return evaluate(
        long_rows(reference, files=FILES), long_rows(system, files=FILES), settings=made, durations=durations
    )


def differences(scores, theirs, prefix):
    """Name what is not the same to 1e-12, undefined and all."""
    found = {}
    for name, value in theirs.items():
        mine = scores[f"{prefix}.{name}"]
        same = (
            mine is value
            if None in (mine, value)
            else math.isclose(mine, value, rel_tol=1e-12, abs_tol=1e-15)
        )
        if not same:
            found[name] = (mine, value)
    return found


@settings(max_examples=60)
@given(
    lists(ODD, 25),
    lists(ODD, 25),
    st.sampled_from([0.1, 0.3, 1.0]),
    st.sampled_from([None, {"a": 5.0, "b": 2.05, "c": 0.7}]),
)
def test_compat_segments(reference, system, length, durations):
    made = Settings(compat="sed_eval", segment_length=length, classes=LABELS, only=("segment.hard",))
    theirs = segment_based(reference, system, length, durations)
    assert len(theirs) > 60
    assert not differences(ours(reference, system, made, durations), theirs, "segment.hard")


COLLARS = st.fixed_dictionaries(
    {
        "collar": st.sampled_from([0.1, 0.2, 0.25, 0.5]),
        "offset_collar_rate": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
        "matching": st.sampled_from(["optimal", "greedy"]),
        "sides": st.sampled_from([(True, True), (True, False), (False, True)]),
    }
)


def event_settings(chosen, **more):
    onset, offset = chosen["sides"]
    return Settings(
        onset_collar=chosen["collar"],
        offset_collar=chosen["collar"],
        offset_collar_rate=chosen["offset_collar_rate"],
        matching=chosen["matching"],
        onset=onset,
        offset=offset,
        classes=LABELS,
        only=("event",),
        **more,
    )


@settings(max_examples=120)
@given(lists(ODD, 25), lists(ODD, 25), COLLARS)
def test_compat_events(reference, system, chosen):
    made = event_settings(chosen, compat="sed_eval")
    theirs = event_based(reference, system, made)
    assert len(theirs) > 50
    assert not differences(ours(reference, system, made), theirs, "event.hard")


def within(a, b, made):
    if made.onset and abs(a[1] - b[1]) > made.onset_collar:
        return False
    return not made.offset or abs(a[2] - b[2]) <= max(
        made.offset_collar, made.offset_collar_rate * (a[2] - a[1])
    )


@settings(max_examples=120)
@given(lists(EXACT, 25), lists(EXACT, 25), COLLARS)
def test_events_by_our_own_rules(reference, system, chosen):
    """Times exact as floats and ticks: TP is theirs, S = M - TP at least theirs, M that of all pairs."""
    chosen = chosen | {"collar": {0.1: 0.125, 0.2: 0.25}.get(chosen["collar"], chosen["collar"])}
    made = event_settings(chosen)
    reference, system = ([(f, n(on), n(off), c) for f, on, off, c in rows] for rows in (reference, system))
    scores, theirs = ours(reference, system, made), event_based(reference, system, made)
    for label in LABELS:
        assert [scores[f"event.hard.{name}[{label}]"] for name in ("tp", "n_ref", "n_sys")] == [
            theirs[f"{name}[{label}]"] for name in ("tp", "n_ref", "n_sys")
        ]
    assert scores["event.hard.substitutions.micro"] >= theirs["substitutions.micro"]
    edges = [
        (i, j)
        for i, a in enumerate(reference)
        for j, b in enumerate(system)
        if a[0] == b[0] and within(a, b, made)
    ]
    m = maximum_size(edges, len(reference), len(system))
    tp = scores["event.hard.tp.micro"]
    assert [scores[f"event.hard.{name}.micro"] for name in ("substitutions", "deletions", "insertions")] == [
        *(m - tp, len(reference) - m, len(system) - m)
    ]
    check_averages(scores, theirs, "event.hard")


def n(time):
    """Round to 1/64 s: what is not already (sums of centres) becomes exact as float and as ticks."""
    return round(time * 64) / 64


WHOLE = st.lists(
    st.tuples(st.sampled_from(FILES), st.integers(0, 9), st.integers(0, 4), st.sampled_from(LABELS[:3])),
    max_size=20,
)


@settings(max_examples=80)
@given(
    WHOLE,
    WHOLE,
    st.sampled_from([None, {"a": 14.0, "b": 6.0, "c": 3.0}]),
)
def test_segments_by_our_own_rules(reference, system, durations):
    """On whole seconds all counts are theirs, and so is what both define."""
    reference, system = (
        [(f, float(on), float(on + length), c) for f, on, length, c in rows] for rows in (reference, system)
    )
    made = Settings(classes=LABELS, only=("segment.hard",))
    # For them files end with the last offset of either side.
    rows = reference + system
    ends = {name: max([row[2] for row in rows if row[0] == name], default=0.0) for name in FILES}
    scores = ours(reference, system, made, durations or ends)
    theirs = segment_based(reference, system, 1.0, durations)
    for name in theirs:
        if name.partition(".")[0].partition("[")[0] in {"tp", "tn", "fp", "n_ref", "n_sys", *ERRORS}:
            assert scores[f"segment.hard.{name}"] == theirs[name], name
    check_averages(scores, theirs, "segment.hard")


ERRORS = ("substitutions", "deletions", "insertions")


def check_averages(scores, theirs, prefix):
    """The documented differences, and no other.

    Of one class: F is 0 for us where their precision or recall is undefined but there is something to count.
    Macro: ours is over the classes with a reference, an undefined precision counting 0; theirs over whatever
    is not NaN.
    """
    for label in LABELS:
        for name in ("precision", "recall"):
            value = theirs[f"{name}[{label}]"]
            if prefix == "event.hard" and name == "precision" and not theirs[f"n_sys[{label}]"]:
                value = None  # zero_score makes it 0 in theirs
            assert scores[f"{prefix}.{name}[{label}]"] == pytest.approx(value)
        either = theirs[f"n_ref[{label}]"] + theirs[f"n_sys[{label}]"] > 0
        expected = (theirs[f"f1[{label}]"] or 0.0) if either else None
        assert scores[f"{prefix}.f1[{label}]"] == pytest.approx(expected)
    known = [label for label in LABELS if theirs[f"n_ref[{label}]"]]
    for name in ("precision", "recall", "f1", "error_rate"):
        values = [theirs[f"{name}[{label}]"] or 0.0 for label in known]
        expected = sum(values) / len(values) if values else None
        assert scores[f"{prefix}.{name}.macro"] == pytest.approx(expected), name
