"""Calls of the library that cannot be meant: one error that says what was found, and nothing half done."""

from __future__ import annotations

import numpy as np
import pytest

from sedeval_soft import Evaluator, compare, evaluate, mean_of_runs
from sedeval_soft.api.evaluator import merge_tallies
from sedeval_soft.errors import EvaluationError

VALUES = np.array([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
EVENTS = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
POINTS = {0.25: EVENTS, 0.75: EVENTS}
SYSTEMS = {"a": VALUES, "b": VALUES / 2}


def evaluator(**values):
    return Evaluator(only=("segment.soft",), **values)


MISUSED = {
    "files": (lambda: evaluator().update(VALUES, VALUES, files=3), "found 3; expected 1 name"),
    "no dimension": (lambda: evaluator().update(np.array(0.5), np.array(0.5), files="a"), "shape ()"),
    "four dimensions": (
        lambda: evaluator().update(VALUES[None, None], VALUES[None, None], files="a"),
        "shape (1, 1, 3, 2)",
    ),
    "merge": (lambda: evaluator().merge(3), "other must be an Evaluator, not 3"),
    "name": (lambda: evaluator(name=3), "name must be a text, not 3"),
    "name of runs": (lambda: mean_of_runs(VALUES, SYSTEMS, name=3), "name must be a text, not 3"),
    "folds": (lambda: evaluate(VALUES, VALUES, folds=3), "folds: found 3; expected a mapping"),
    "by": (lambda: evaluate(VALUES, VALUES, by=b"x"), "by: found b'x'; expected a mapping"),
    "rank": (
        lambda: compare(VALUES, SYSTEMS, rank_by=3),
        "rank_by must be the name of a score, such as segment.soft.f1.macro, not 3",
    ),
    "baseline": (lambda: compare(VALUES, SYSTEMS, baseline=3), "baseline must be one of "),
    "no tallies": (lambda: merge_tallies([]), "paths must be those of one or more tallies, not []"),
    "a tally": (
        lambda: merge_tallies("a.tally"),
        "paths must be those of one or more tallies, not 'a.tally'",
    ),
}


@pytest.mark.parametrize("what", MISUSED)
def test_a_call_that_cannot_be_meant_is_one_error(what):
    call, words = MISUSED[what]
    with pytest.raises(EvaluationError) as caught:
        call()
    assert words in str(caught.value)


def test_an_unknown_baseline_is_refused_before_anything_is_scored():
    with pytest.raises(EvaluationError, match="not 'c'"):
        compare("none.tsv", {"a": "none.tsv", "b": "none.tsv"}, baseline="c")


def test_operating_points_have_no_segments_however_many_systems_there_are():
    systems = {"a": POINTS, "b": {0.5: EVENTS}}
    whole = evaluate(EVENTS, POINTS)
    board = compare(EVENTS, systems, rank_by="event.soft.f1.macro", replicates=40)
    for scores in (*board.systems, mean_of_runs(EVENTS, systems)):
        assert {score.basis for score in scores.scores.values()} == {"event"}
        assert [*scores.scores] == [*whole.scores]
    with pytest.raises(EvaluationError, match="operating points have events only"):
        Evaluator().update(EVENTS, POINTS)
    counted = Evaluator(only=("event",)).update(EVENTS, POINTS).compute()
    assert {name: counted[name] for name in counted} == {name: whole[name] for name in whole}


def test_folds_may_be_numbers_of_numpy():
    folds = dict(zip("ab", np.array([1, 2]), strict=True))
    batch = evaluator().update(np.stack([VALUES, VALUES]), np.stack([VALUES, VALUES]), files=["a", "b"])
    assert batch.compute(folds=folds).folds.names == ("1", "2")
