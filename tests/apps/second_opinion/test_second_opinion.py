"""`--check`: sed_eval and sed_scores_eval have other numbers only because of their rules."""

from importlib.util import find_spec

import numpy as np
import peer_intersection as peer
import pytest
from called import REFERENCE, SYSTEM, call, written
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft import Settings, SettingsError, evaluate
from sedeval_soft.apps.second_opinion import second_opinion, sed_eval
from sedeval_soft.apps.second_opinion.comparison import same
from sedeval_soft.apps.second_opinion.sed_scores_eval import opinion, refuse_settings
from sedeval_soft.evaluation import tally_pair
from sedeval_soft.timeline import align

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning")

FILES = ("a", "b")
LABELS = ("car", "dog", "talk")


ODD_TIMES = st.one_of(
    st.integers(0, 60).map(lambda n: n / 10),
    st.floats(0, 6, allow_subnormal=False),
    st.integers(0, 6).map(float),
)
EVENTS = st.lists(
    st.tuples(st.sampled_from(FILES), ODD_TIMES, ODD_TIMES, st.sampled_from(LABELS)).map(
        lambda row: (row[0], *sorted(row[1:3]), row[3])
    ),
    max_size=12,
)


def compared(reference, system, **chosen):
    """Return each score that both have: ours, theirs, and ours by their rules."""
    made = Settings(**chosen)
    ours, pair = evaluate(reference, system, settings=made), align(reference, system, made)
    theirs, _ = sed_eval.opinion(pair, None, made)
    followed = sed_eval.by_its_rules(pair, made)
    return {name: (ours[name], value, followed[name]) for name, value in theirs.items() if name in ours}


@settings(max_examples=20)
@given(
    reference=EVENTS,
    system=EVENTS,
    segment_length=st.sampled_from([0.1, 0.3, 1.0]),
    collar=st.sampled_from([0.1, 0.2, 0.25, 1.0]),
    offset_collar_rate=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    matching=st.sampled_from(["optimal", "greedy"]),
    sides=st.sampled_from([{}, {"offset": False}, {"onset": False}]),
)
def test_its_rules_make_up_every_difference(reference, system, collar, sides, **chosen):
    chosen |= sides | {"onset_collar": collar, "offset_collar": collar, "classes": LABELS}
    tables = [long_rows(side, files=FILES) for side in (reference, system)]
    rows = compared(*tables, **chosen)
    assert len(rows) > 50
    assert {name: row for name, row in rows.items() if not same(row[1], row[2])} == {}


def test_it_gets_events_in_the_order_of_rows():
    """Six detections match five events; the order decides which is left over, and so the substitutions."""
    instant, long = ("a", 0.0, 0.0, "car"), ("a", 0.0, 0.1, "car")
    chosen = {"onset_collar": 0.1, "offset_collar": 0.1, "offset_collar_rate": 0.0, "classes": LABELS}
    reference = long_rows([*[instant] * 5, ("a", 0.0, 0.2, "dog")])
    for last, expected in (((long, instant), 0.0), ((instant, long), 1 / 6)):
        rows = compared(reference, long_rows([*[instant] * 4, *last]), segment_length=0.1, **chosen)
        assert rows["event.hard.substitution_rate.micro"] == pytest.approx((1 / 6, expected, expected))


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_means_of_segments_are_another_rule(seed):
    rng = np.random.default_rng(seed)
    sides = (wide_rows(rng.random((40, 2)), 0.25, name=name) for name in ("ref", "sys"))
    rows = compared(*sides, pool="mean", only=("segment.hard",))
    assert {name: row for name, row in rows.items() if not same(row[1], row[2])} == {}
    assert not same(*rows["segment.hard.f1.micro"][:2])


@pytest.mark.parametrize(
    ("reference", "system", "name", "values", "length"),
    [
        # floor(0.3 / 0.1) is 2 in floats: the reference has one more active segment than the system.
        ([("a", 0.3, 0.6, "car")], [("a", 0.4, 0.6, "car")],
         "segment.hard.recall.micro", (2 / 3, 0.5), 0.1),
        # 1.1 - 0.9 is 0.20000000000000007.
        ([("a", 0.9, 2.0, "car")], [("a", 1.1, 2.0, "car")],
         "event.hard.f1.micro", (1.0, 0.0), 1.0),
        # sed_eval gives the first event the detection that the second needs; another would fit the first.
        ([("a", 0.25, 1.0, "car"), ("a", 0.3125, 2.0, "dog")],
         [("a", 0.25, 1.25, "bird"), ("a", 0.28125, 1.0, "talk")],
         "event.hard.substitution_rate.micro", (1.0, 0.5), 1.0),
        ([("a", 0, 1, "car"), ("a", 2, 3, "dog")], [("a", 0, 1, "car")],
         "segment.hard.f1.macro", (0.5, 1.0), 1.0),
        # sed_eval gives a class that only the system has an error rate of 4.5e15.
        ([("a", 0, 1, "car"), ("a", 2, 3, "dog")],
         [("a", 0, 1, "car"), ("a", 2, 3, "dog"), ("a", 4, 5, "bird")],
         "segment.hard.error_rate.macro", (0.0, 4.5e15 / 3), 1.0),
    ],
)  # fmt: skip
def test_one_rule_that_matters(reference, system, name, values, length):
    rows = compared(long_rows(reference), long_rows(system), segment_length=length)
    ours, theirs, followed = rows[name]
    assert (ours, theirs) == (values[0], pytest.approx(values[1], rel=0.01)) and same(theirs, followed)


def told(reference, system, made, ours=None):
    """Return the text of the comparison; ours: scores in place of our scores of the sides."""
    pair, ours = align(reference, system, made), ours or evaluate(reference, system, settings=made)
    return second_opinion("sed_eval", pair, tally_pair(pair), made, ours)


def test_the_comparison_can_fail():
    rows, made = long_rows([("a", 0, 1, "car")]), Settings(only=("event",))
    other = evaluate(rows, long_rows([("a", 3, 4, "car")]), settings=made)
    (line,) = (line for line in told(rows, rows, made, other).splitlines() if "event.hard.f1.micro" in line)
    assert line.split() == ["event.hard.f1.micro", "0.000000", "1.000000", "-1.00e+00", "differs", "1.000000"]
    assert "0 of" not in told(rows, rows, made)
    assert (same(1.0, 1.0 + 1e-10), same(1.0, 1.0 + 1e-8)) == (True, False)


def test_what_is_printed_counts_what_agrees_by_its_rules_and_rows_that_touch():
    rows = [*(("a", k, k + 1, "car", 0.9) for k in range(3)), ("a", 4, 5, "dog", 0.9)]
    sides = long_rows(rows), long_rows([("a", 0, 3, "car", 0.9)])
    text = told(*sides, Settings(only=("segment.hard",)))
    count = sum(" differs " in line for line in text.splitlines())
    assert count >= 1 and f"{count} of the {count} that differ agree" in text
    assert "reference: 4 active rows" in text and "were given as 2." in text and "system: " not in text
    text = told(*sides, Settings(only=("segment.hard",), compat="sed_eval"))
    assert "by its rules" not in text and " differs" not in text


# sed_scores_eval.

needs_peer = pytest.mark.skipif(
    find_spec("sed_scores_eval") is None, reason="needs sed_scores_eval: pip install --group parity"
)


def both(reference, system, durations=None, **chosen):
    """Return our score and theirs by name, and notes."""
    made = Settings(
        **{"only": ("segment", "event", "intersection"), "psds": "dcase-psds1", "measures": ("curves",)}
        | chosen
    )
    ours = evaluate(reference, system, settings=made, durations=durations)
    pair = align(reference, system, made, durations)
    refuse_settings(made)
    theirs, notes = opinion(pair, tally_pair(pair), made)
    return {name: (ours[name], value) for name, value in theirs.items()}, notes


@needs_peer
def test_its_scores_are_ours_but_for_its_rules():
    """Its stairs below ties take area away, and its precision without detections is 1."""
    seen = set()
    for seed in range(6):
        levels = [None, 2, 5][seed % 3]
        case = peer.made(seed, levels)
        rows, notes = both(*case.sides(), case.durations(), segment_length=[1.0, 0.2][seed % 2])
        assert len(rows) > 60 and notes == []
        for name, (ours, theirs) in rows.items():
            if same(ours, theirs):
                continue
            measure = name.split(".")[2].split("[")[0]
            seen.add(measure)
            if measure == "roc_auc":
                assert levels is not None and ours > theirs, (seed, name)
            elif "[" in name:
                assert (measure, ours, theirs) == ("precision", None, 1.0), (seed, name)
            else:
                assert name.endswith(".precision.macro") and ours < theirs, (seed, name)
    assert seen == {"roc_auc", "precision"}


@needs_peer
def test_classes_without_a_reference_are_left_out_and_files_that_a_side_lacks_are_silent():
    reference = long_rows([("a", 0, 1, "car"), ("b", 2, 3, "car"), ("a", 2, 3.5, "dog")])
    found = [
        ("a", 0, 1.5, "car", 0.9),
        ("c", 0, 1, "car", 0.4),
        ("a", 3, 4, "dog", 0.3),
        ("a", 1, 2, "bird", 0.8),
    ]
    rows, (note,) = both(reference, long_rows(found), dict.fromkeys("abc", 5.0))
    assert "bird" in note and not any("bird" in name for name in rows)
    # The system finds one of two active segments, and half a second too much: one false alarm.
    assert rows["segment.optimal.f1[car]"] == pytest.approx((0.5, 0.5))
    for name in ("segment.hard.average_precision[car]", "event.optimal.f1[dog]"):
        assert rows[name][0] == pytest.approx(rows[name][1])


@needs_peer
@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"only": ("segment.soft",), "psds": None}, "--only leaves them out"),
        ({"pool": "mean"}, "--set pool=max"),
        ({"offset": False}, "onsets and offsets"),
        ({"events": "rows"}, "events=merge"),
    ],
)
def test_what_it_cannot_be_asked(chosen, said):
    rows = [("a", 0, 1, "car", 0.9), ("a", 1, 2, "car", 0.9)]
    with pytest.raises(SettingsError, match=said):
        both(long_rows(rows), long_rows(rows), **chosen)


@needs_peer
def test_the_command_prints_it_whatever_rules_of_sed_eval_are_asked(tmp_path):
    table = written(tmp_path / "t.tsv", long_rows([("a", 0, 1, "car", 0.9), ("a", 2, 3, "dog", 0.4)]))
    assert "left out: dog" in call("check", table, table, "--with", "sed_scores_eval").out
    asked = ("check", REFERENCE, SYSTEM, "--with", "sed_scores_eval", "-q")
    rules, plain = (call(*asked, "--set", f"compat={each}") for each in ("sed_eval", "none"))
    assert rules.code == 0 and " differs" in rules.out and rules.out == plain.out
