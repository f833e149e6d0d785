"""`--check sed_scores_eval`: its scores beside ours."""

import peer_intersection as peer
import pytest
from called import REFERENCE, SYSTEM, call
from tables import long_rows

from sedeval_soft import Settings, SettingsError, evaluate
from sedeval_soft.apps.second_opinion.comparison import same
from sedeval_soft.apps.second_opinion.sed_scores_eval import opinion, refuse_settings
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.timeline.recordings import align

pytest.importorskip("sed_scores_eval", reason="needs sed_scores_eval: pip install --group parity")

ALL = {"only": ("segment", "event", "intersection"), "psds": "dcase-psds1", "measures": ("curves",)}


def compared(reference, system, durations=None, **chosen):
    """Return by name our score and theirs, and notes."""
    made = Settings(**ALL | chosen)
    ours = evaluate(reference, system, settings=made, durations=durations)
    pair = align(reference, system, made, durations)
    refuse_settings(made)
    theirs, notes = opinion(pair, tally_pair(pair), made)
    return {name: (ours[name], value) for name, value in theirs.items()}, notes


def test_its_scores_are_ours_but_for_its_rules():
    """Stairs below ties take area away, and where nothing is detected its precision is 1."""
    seen = set()
    for seed in range(6):
        levels = [None, 2, 5][seed % 3]
        case = peer.made(seed, levels)
        rows, notes = compared(*case.sides(), case.durations(), segment_length=[1.0, 0.2][seed % 2])
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


def test_classes_without_a_reference_are_left_out_and_files_that_a_side_lacks_are_silent():
    reference = long_rows([("a", 0, 1, "car"), ("b", 2, 3, "car"), ("a", 2, 3.5, "dog")])
    found = [
        ("a", 0, 1.5, "car", 0.9),
        ("c", 0, 1, "car", 0.4),
        ("a", 3, 4, "dog", 0.3),
        ("a", 1, 2, "bird", 0.8),
    ]
    rows, (note,) = compared(reference, long_rows(found), dict.fromkeys("abc", 5.0))
    assert "bird" in note and not any("bird" in name for name in rows)
    # Of five seconds and ten without: one of two is found, at 0.9, with half a second too much.
    assert rows["segment.optimal.f1[car]"] == pytest.approx((0.5, 0.5))
    for name in ("segment.hard.average_precision[car]", "event.optimal.f1[dog]"):
        assert rows[name][0] == pytest.approx(rows[name][1])


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
        compared(long_rows(rows), long_rows(rows), **chosen)


def test_the_command_prints_it_whatever_rules_of_sed_eval_are_asked(tmp_path):
    table = tmp_path / "t.tsv"
    table.write_text("filename\tonset\toffset\tevent_label\tvalue\na\t0\t1\tcar\t0.9\na\t2\t3\tdog\t0.4\n")
    assert "left out: dog" in call("check", table, table, "--with", "sed_scores_eval").out
    asked = ("check", REFERENCE, SYSTEM, "--with", "sed_scores_eval", "-q")
    rules, plain = (call(*asked, "--set", f"compat={each}") for each in ("sed_eval", "none"))
    assert rules.code == 0 and " differs" in rules.out and rules.out == plain.out
