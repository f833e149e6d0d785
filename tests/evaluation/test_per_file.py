"""Each file, and each of many classes, scores as it does alone; counts of files add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SYSTEM
from drawn_again import tuples
from tables import FILES, LABELS, long_rows, random_rows

from sedeval_soft import EvaluationError, evaluate, mean_of_runs
from sedeval_soft.measures.registry import ScoreName

SETTINGS = {
    "default": {},
    "every basis": {"only": "all", "measures": ("divergence",), "beta": 2.0},
    "clips by given thresholds": {"only": ("clip", "event.tuned"), "thresholds": {"car": 0.25, "dog": 0.75}},
    "sed_eval": {"compat": "sed_eval", "only": ("segment.hard", "event.hard")},
    "at or above": {"inclusive": True, "threshold": 0.25, "segment_length": 0.7, "pool": "mean"},
}
LENGTHS = dict(zip(FILES, (24.0, 26.0, 25.0), strict=True))
COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")


@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("n", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_counts_add_up_and_each_file_scores_as_it_does_alone(chosen, n):
    # An event must not depend on which rows a table has.
    settings = {"classes": LABELS, "events": "merge", **SETTINGS[chosen]}
    sides = [random_rows(seed, n=n) for seed in (n, n + 1)]
    whole = evaluate(*sides, durations=LENGTHS, **settings)
    frame = whole.per_file()
    names = list(frame.columns[2:])
    assert dict(zip(frame["filename"], frame["length"], strict=True)) == LENGTHS
    assert {name.split(".")[2] for name in names} >= {"precision", "recall", "f1", "error_rate", "n_ref"}
    counts = [n for n in names if ScoreName.parse(n).measure in COUNTS and not frame[n].isna().any()]
    assert len(counts) > 15
    assert {n: float(frame[n].sum()) for n in counts} == pytest.approx(
        {n: whole[n] for n in counts}, rel=1e-12
    )
    own = [name for name in names if ScoreName.parse(name).reading != "optimal"]
    for row, file in enumerate(FILES):
        parts = [long_rows([each for each in tuples(of) if each[0] == file], files=(file,)) for of in sides]
        scores = evaluate(*parts, durations={file: LENGTHS[file]}, **settings)
        found = {name: None if frame[name][row] is pd.NA else frame[name][row] for name in own}
        assert found == {name: scores[name] for name in own}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimal_reading_of_a_file_is_that_at_the_best_thresholds_of_all(seed):
    """A class without reference has none; nothing of it is detected."""
    sides = [random_rows(seed, n=15), random_rows(seed + 5, n=15)]
    for basis in ("segment", "event"):
        how = {"classes": LABELS, "durations": LENGTHS, "only": (f"{basis}.optimal", f"{basis}.tuned")}
        whole = evaluate(*sides, **how, thresholds=dict.fromkeys(LABELS, 0.5))
        best = {label: whole[f"{basis}.optimal.threshold[{label}]"] for label in LABELS}
        given = {label: 2.0 if at is None else at for label, at in best.items()}
        frame, tuned = whole.per_file(), evaluate(*sides, **how, thresholds=given).per_file()
        names = [name for name in frame.columns if name.startswith(f"{basis}.optimal")]
        assert (
            names
            and [name for name in names if not frame[name].equals(tuned[name.replace("optimal", "tuned")])]
            == []
        )


def test_many_classes_and_files_are_computed_some_at_a_time():
    """Columns with few classes in each file are kept as entries, and files are looked at in blocks."""
    rng, n_files = np.random.default_rng(0), 3000
    ours, theirs = ([f"c{k}" for k in rng.integers(0, n, n_files)] for n in (120, 2))
    table = {
        "filename": [f"{k:04d}" for k in range(n_files)],
        "onset": [0.0] * n_files,
        "offset": [1.0] * n_files,
    }
    sides = (table | {"event_label": labels} for labels in (ours, theirs))
    frame = evaluate(*sides, only="segment.hard").per_file()
    hits = [one == other for one, other in zip(ours, theirs, strict=True)]
    assert frame["segment.hard.tp.micro"].tolist() == frame["segment.hard.f1.micro"].tolist() == hits


def test_scores_are_chosen_by_name_and_refused_where_files_have_none():
    scores = evaluate(REFERENCE, SYSTEM, measures=("curves",))
    names = ("segment.soft.f1.macro", "segment.hard.recall[car]", "segment.hard.specificity.micro")
    assert list(scores.per_file(*names).columns) == ["filename", "length", *names]
    assert scores.per_file(names[1])[names[1]].isna().tolist() == [True, True, True, True, False]
    for name in ("segment.optimal.threshold[car]", "segment.hard.roc_auc.macro"):
        with pytest.raises(EvaluationError, match="single files have no such score"):
            scores.per_file(name)
    with pytest.raises(EvaluationError, match="a mean over runs has no scores of single files"):
        mean_of_runs(REFERENCE, [SYSTEM, OTHER]).per_file()
    with pytest.raises(KeyError, match="did you mean"):
        scores.per_file("segment.soft.f1.marco")
