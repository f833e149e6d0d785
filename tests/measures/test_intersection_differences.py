"""Where explanations/differences.md says that intersections and PSDS are counted otherwise than elsewhere.

What the others give was found by running psds_eval 0.5.3 and sed_scores_eval 0.0.4 on these same cases.
"""

from __future__ import annotations

import pytest

from sedeval_soft import evaluate
from sedeval_soft.errors import SettingsError

TWO = [("a", 0, 2, "x"), ("a", 4, 6, "y")]


def table(*rows):
    columns = map(list, zip(*rows, strict=True))
    return dict(zip(("filename", "onset", "offset", "event_label"), columns, strict=True))


def scored(reference, system, **settings):
    scores = evaluate(table(*reference), table(*system), only=("intersection.hard",), **settings)
    return {name.removeprefix("intersection.hard."): value for name, value in scores.items()}


def test_a_criterion_is_met_by_what_was_written():
    """psds_eval: a false positive."""
    scores = scored([("a", 1.6, 2.3, "x")], [("a", 1.3, 2.3, "x")], dtc=0.7)
    assert (scores["tp.micro"], scores["fp.micro"]) == (1, 0)


@pytest.mark.parametrize("name", ["dtc", "gtc", "cttc"])
def test_a_criterion_of_0_is_refused(name):
    with pytest.raises(SettingsError, match=f"{name} must be above 0"):
        scored(TWO, TWO, **{name: 0.0})


def test_a_class_without_reference_takes_no_part_in_psds():
    """psds_eval ignores its detections, sed_scores_eval refuses."""
    scores = scored(TWO, [*TWO, ("a", 7, 8, "z")], psds="dcase-psds1")
    assert (scores["psds"], scores["f1.macro"]) == (1.0, 1.0)
    assert (scores["fp.micro"], scores["f1.micro"]) == (1, 0.8)


def test_a_detection_beyond_the_duration_counts():
    """One in ten seconds is 360 an hour: beyond max_efpr. psds_eval: PSDS 1, no false positive."""
    late = [*TWO, ("a", 20, 22, "y")]
    scores = scored(TWO, late, durations={"a": 10.0}, psds="dcase-psds1")
    assert (scores["fp.micro"], scores["psds[y]"], scores["psds[x]"]) == (1, 0.0, 1.0)


@pytest.mark.parametrize("name", ["dcase-psds1", "dcase-psds2"])
def test_one_class_works(name):
    """psds_eval: 0. sed_scores_eval: TypeError where alpha_ct is above 0."""
    assert scored(TWO[:1], TWO[:1], psds=name)["psds"] == 1.0


def test_a_class_that_was_not_found_counts_in_macro_f():
    """psds_eval: 1.0."""
    assert scored(TWO, TWO[:1])["f1.macro"] == 0.5


def test_overlapping_reference_rows_each_count():
    """Both refuse; where rows are merged they are one."""
    overlapping = [("a", 0, 2, "x"), ("a", 1, 3, "x")]
    scores = scored(overlapping, [("a", 0, 3, "x")])
    assert (scores["tp.micro"], scores["n_ref.micro"], scores["fp.micro"]) == (2, 2, 0)
    assert scored(overlapping, [("a", 0, 3, "x")], events="merge")["n_ref.micro"] == 1


def test_events_without_length_take_no_part():
    """sed_scores_eval: the reference's counts, and is found."""
    scores = scored([TWO[0], ("a", 5, 5, "x")], [TWO[0], ("a", 7, 7, "x")])
    assert (scores["tp.micro"], scores["n_ref.micro"], scores["fp.micro"]) == (1, 1, 0)


def test_neither_true_nor_false():
    """As both tools: it passes the DTC, and covers too little of the event."""
    scores = scored([("a", 0, 10, "x")], TWO[:1])
    assert (scores["tp.micro"], scores["fp.micro"], scores["fn.micro"]) == (0, 0, 1)
