"""Each file, and each of many classes, scores as it does alone; counts of files add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from called import REFERENCE, SYSTEM
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from tables import FILES, LABELS, long_rows

from sedeval_soft import EvaluationError, compare, evaluate, mean_of_runs
from sedeval_soft.measures.registry import ScoreName

SETTINGS = {
    "default": {},
    "every basis": {"only": "all", "measures": ("divergence",), "beta": 2.0},
    "clips by given thresholds": {"only": ("clip", "event.tuned"), "thresholds": {"car": 0.25, "dog": 0.75}},
    "sed_eval": {"compat": "sed_eval", "only": ("segment.hard", "event.hard")},
    "at or above": {"inclusive": True, "threshold": 0.25, "segment_length": 0.7, "pool": "mean"},
}
LENGTHS = dict(zip(FILES, (4.0, 6.0, 5.0), strict=True))
COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")

ROWS = st.lists(
    st.tuples(
        *(st.sampled_from(FILES), st.integers(0, 3), st.integers(1, 2), st.sampled_from(LABELS)),
        st.sampled_from([0.125, 0.25, 0.5, 0.75, 1.0]),
    ).map(lambda row: (row[0], row[1], row[1] + row[2], *row[3:])),
    max_size=12,
)


def alone(rows, file):
    return long_rows([row for row in rows if row[0] == file], files=(file,))


@pytest.mark.parametrize("chosen", SETTINGS)
@tried(max_examples=tried.default.max_examples // 15)
@given(reference=ROWS, system=ROWS)
def test_counts_add_up_and_each_file_scores_as_it_does_alone(chosen, reference, system):
    # What an event is must not depend on which rows a table has.
    settings = {"classes": LABELS, "events": "merge", **SETTINGS[chosen]}
    sides = [long_rows(rows, files=FILES) for rows in (reference, system)]
    whole = evaluate(*sides, durations=LENGTHS, **settings)
    frame = whole.per_file()
    names = list(frame.columns[2:])
    assert list(frame["filename"]) == list(FILES)
    assert dict(zip(FILES, frame["length"], strict=True)) == LENGTHS
    assert {name.split(".")[2] for name in names} >= {"precision", "recall", "f1", "error_rate", "n_ref"}
    for name in names:
        if ScoreName.parse(name).measure in COUNTS:
            values = frame[name]
            total = pytest.approx(whole[name], rel=1e-12, abs=1e-12)
            assert values.sum() == whole[name] or values.isna().any() or float(values.sum()) == total, name
    for row, file in enumerate(FILES):
        parts = [alone(rows, file) for rows in (reference, system)]
        scores = evaluate(*parts, durations={file: LENGTHS[file]}, **settings)
        for name in names:
            if ScoreName.parse(name).reading != "optimal":
                value = frame[name][row]
                assert (None if value is pd.NA else value) == scores[name], (file, name)


@tried(max_examples=tried.default.max_examples // 4)
@given(reference=ROWS, system=ROWS)
def test_the_optimal_reading_of_a_file_is_that_at_the_best_thresholds_of_all(reference, system):
    only = ("segment.optimal", "event.optimal", "segment.tuned", "event.tuned")
    sides = [long_rows(rows, files=FILES) for rows in (reference, system)]
    how = {"classes": LABELS, "durations": LENGTHS, "only": only}
    whole = evaluate(*sides, **how, thresholds=dict.fromkeys(LABELS, 0.5))
    frame = whole.per_file()
    for basis in ("segment", "event"):
        best = {label: whole[f"{basis}.optimal.threshold[{label}]"] for label in LABELS}
        # A class without reference has none; nothing of it is detected.
        given = {label: 2.0 if at is None else at for label, at in best.items()}
        if min(given.values()) < 0:
            continue
        tuned = evaluate(*sides, **how, thresholds=given).per_file()
        for name in frame.columns:
            if name.startswith(f"{basis}.optimal"):
                assert frame[name].equals(tuned[name.replace("optimal", "tuned")]), name


def test_many_classes_and_files_are_computed_some_at_a_time():
    """Columns with few classes in each file are kept as entries, and files are looked at in blocks."""
    rng = np.random.default_rng(0)
    n_files, n_classes = 3000, 120
    table = {
        "filename": [f"{k:04d}" for k in range(n_files)],
        "onset": np.zeros(n_files),
        "offset": np.ones(n_files),
        "event_label": [f"c{k}" for k in rng.integers(0, n_classes, n_files)],
    }
    system = {**table, "event_label": [f"c{k}" for k in rng.integers(0, 2, n_files)]}
    frame = evaluate(table, system, only="segment.hard").per_file()
    hits = [ours == theirs for ours, theirs in zip(table["event_label"], system["event_label"], strict=True)]
    assert frame["segment.hard.tp.micro"].tolist() == hits
    assert frame["segment.hard.f1.micro"].tolist() == [float(hit) for hit in hits]


def test_scores_are_chosen_by_name_and_refused_where_files_have_none():
    scores = evaluate(REFERENCE, SYSTEM, measures=("curves",))
    names = ("segment.soft.f1.macro", "segment.hard.recall[car]", "segment.hard.specificity.micro")
    assert list(scores.per_file(*names).columns) == ["filename", "length", *names]
    assert scores.per_file(names[1])[names[1]].isna().tolist() == [True, True, True, True, False]
    for name in ("segment.optimal.threshold[car]", "segment.hard.roc_auc.macro"):
        with pytest.raises(EvaluationError, match="single files have no such score"):
            scores.per_file(name)
    with pytest.raises(KeyError, match="did you mean"):
        scores.per_file("segment.soft.f1.marco")


def test_of_several_systems_each_has_its_files_and_a_mean_of_runs_none():
    board = compare(REFERENCE, [SYSTEM, REFERENCE.replace("ref", "sys_b")], replicates=10)
    assert board.systems[0].per_file()["filename"].equals(board.systems[1].per_file()["filename"])
    runs = mean_of_runs(REFERENCE, [SYSTEM, REFERENCE.replace("ref", "sys_b")])
    with pytest.raises(EvaluationError, match="a mean over runs has no scores of single files"):
        runs.per_file()


TWELVE = tuple(f"c{k:02}" for k in range(12))


def few_values(seed):
    """Return rows of twelve classes; some have values without a common unit, some only tiny ones."""
    rng, rows = np.random.default_rng(seed), []
    for k, label in enumerate(TWELVE):
        for second in rng.choice(50, int(rng.integers(1, 5)), replace=False).tolist():
            file, onset = ("x", second) if second < 30 else ("y", second - 30)
            value = float(rng.random()) if k % 10 == 8 else float(rng.integers(1, 11)) / 10
            rows.append(
                (file, onset, onset + 1, label, value * 1e-170 if k % 10 == 9 and seed % 2 else value)
            )
    return long_rows(rows, files="xy")


def test_classes_that_are_counted_together_score_as_they_do_alone():
    sides, asked = (few_values(2), few_values(3)), {"only": ("segment", "clip", "event")}
    asked |= {"measures": ("curves", "calibration", "divergence"), "durations": {"x": 30.0, "y": 20.0}}
    together = evaluate(*sides, classes=TWELVE, **asked)
    for label in TWELVE:
        alone = evaluate(*sides, classes=(label,), **asked)
        names = [name for name in alone if name.endswith(f"[{label}]")]
        assert len(names) > 80
        assert {n: together[n] for n in names} == pytest.approx({n: alone[n] for n in names}, abs=1e-12)
