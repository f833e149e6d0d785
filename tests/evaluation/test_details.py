"""Scores of single files, the highest costs, scores of folds, and sweeps over thresholds of the reference."""

import statistics
from dataclasses import replace
from itertools import product

import laws
import numpy as np
import pandas as pd
import pytest
import tables
from called import REFERENCE, SYSTEM
from drawn_again import FILES, LABELS, random_tables, tuples
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.api import evaluate_rows
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.report import write_curves
from sedeval_soft.settings import Settings

# --- the highest costs ----------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["soft", "hard"])
@pytest.mark.parametrize("count", [3, 1000])
def test_costs_are_those_of_seconds_that_are_recordings_of_their_own(reading, count):
    """Many costs are equal: then the first file, class or second comes first. Zero costs are not listed."""
    sides = [laws.random_table(seed) for seed in (1, 2)]
    asked = {"only": f"segment.{reading}", "classes": laws.LABELS}
    worst = evaluate(*sides, worst=count, **asked).worst
    seconds = {file: [(k, k + 1) for k in range(23)] for file in laws.FILES}
    counts = [f"segment.{reading}.{of}[{label}]" for label in laws.LABELS for of in ("n_ref", "n_sys", "tp")]
    alone = evaluate(*(laws.cut_by_hand(side, seconds) for side in sides), **asked).per_file(*counts)
    cells = []
    for label in laws.LABELS:
        n_ref, n_sys, tp = (alone[f"segment.{reading}.{of}[{label}]"] for of in ("n_ref", "n_sys", "tp"))
        cells.append(pd.DataFrame({
            "file": alone["filename"].str[0], "onset": alone["filename"].str[2:].astype(float),
            "class_name": label, "reference": n_ref, "system": n_sys,
            "missed": n_ref - tp, "inserted": n_sys - tp, "cost": n_ref + n_sys - 2 * tp,
        }))  # fmt: skip
    cells = pd.concat(cells)
    for offenders, keys in (
        (worst.files, ["file"]), (worst.classes, ["class_name"]), (worst.segments, ["file", "onset"])
    ):  # fmt: skip
        wanted = cells.groupby(keys)[["missed", "inserted", "cost"]].sum().round(9).reset_index()
        wanted["share"] = wanted["cost"] / wanted["cost"].sum()
        wanted = wanted.sort_values("cost", ascending=False, kind="stable")[lambda of: of["cost"] > 0][:count]
        found = pd.DataFrame([{name: getattr(of, name) for name in wanted} for of in offenders])
        pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True), check_dtype=False)
    most = cells.sort_values("cost", ascending=False, kind="stable").groupby(["file", "onset"]).first()
    for of in worst.segments:
        own = most.loc[of.file, of.onset]
        assert (of.class_name, of.offset) == (own["class_name"], of.onset + 1)
        assert reading == "hard" or (of.reference, of.system) == (own["reference"], own["system"])


def test_times_of_segments_are_those_of_their_files():
    """Each file has its own grid, and its last segment ends with the file."""
    reference = long_rows(
        [("a", 0.0, 0.75, "car", 1.0), ("b", 0.0, 1.3, "car", 0.5), ("c", 0.0, 0.5, "car", 1.0)]
    )
    system = long_rows([("a", 0.0, 0.5, "car", 1.0), ("b", 0.5, 1.0, "car", 0.25)], files="abc")
    lengths, half = {"a": 0.75, "b": 1.3, "c": 2.0}, {"worst": 9, "segment_length": 0.5}
    worst = evaluate(reference, system, durations=lengths, **half).worst
    assert [(of.file, of.onset, of.offset, of.cost) for of in worst.segments] == [
        ("a", 0.5, 0.75, 1.0), ("c", 0.0, 0.5, 1.0),
        ("b", 0.0, 0.5, 0.5), ("b", 1.0, 1.3, 0.5), ("b", 0.5, 1.0, 0.25),
    ]  # fmt: skip
    # Without a given length, a false alarm after the end of a file is in a whole segment.
    late = evaluate(reference, long_rows([("a", 1.0, 1.5, "car", 1.0)], files="abc"), **half).worst
    assert ("a", 1.0, 1.5) in [(of.file, of.onset, of.offset) for of in late.segments]


@pytest.mark.parametrize(
    ("only", "family"),
    [
        (("event", "segment.hard"), "segment.hard"), (("event.hard", "clip"), "event.hard"),
        (("clip", "intersection"), "clip.soft"), (("segment.optimal", "ranking"), None),
    ],
    ids=str,
)  # fmt: skip
def test_costs_are_of_the_first_family_that_is_evaluated(only, family):
    scores = evaluate(
        random_tables(5).reference, random_tables(6).system, worst=50, only=only, classes=LABELS
    )
    worst = scores.worst
    assert (worst and f"{worst.basis}.{worst.reading}") == family
    for part in (worst.files, worst.classes) if worst else ():
        sums = [sum(getattr(of, name) for of in part) for name in ("missed", "inserted", "share")]
        tp, n_ref, n_sys = (scores[f"{family}.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
        assert sums == pytest.approx([n_ref - tp, n_sys - tp, 1.0])


# --- folds and scenes -----------------------------------------------------------------------------

FOLDS = {"a": "2", "b": "10", "c": "2", "d": "1", "e": "10"}


def test_spread_is_that_of_the_scores_of_each_fold():
    tables, asked = random_tables(7), {"only": ("segment", "event.hard", "clip"), "classes": LABELS}
    scores = evaluate(tables.reference, tables.system, folds=FOLDS, **asked)
    plain, names = evaluate(tables.reference, tables.system, **asked), scores.folds.names
    # Tuned thresholds come from the other folds, which an evaluation of one fold does not have.
    assert {n: value for n, value in scores.items() if "@" not in n and ".tuned." not in n} == dict(plain)
    assert (names, scores.folds.files) == (("1", "2", "10"), (1, 2, 2))
    parts = [tables.drawn([FOLDS[f] == fold for f in FILES]).scores(Settings(**asked)) for fold in names]
    spreads = {spread.name: spread for spread in scores.folds.spreads if ".tuned." not in spread.name}
    assert [*spreads] == [n for n, s in plain.scores.items() if s.average]
    for name, spread in spreads.items():
        assert spread.values == tuple(scores[f"{name}@{fold}"] for fold in names)
        assert spread.values == tuple(part[name] and pytest.approx(part[name], abs=1e-12) for part in parts)
        defined = [value for value in spread.values if value is not None]
        wanted = (statistics.fmean(defined), statistics.stdev(defined)) if len(defined) > 1 else (None, None)
        assert (spread.mean, spread.deviation) == pytest.approx(wanted, abs=1e-12)


# --- sweeps over thresholds of the reference, against an evaluation at each -----------------------

ASKED = Settings(
    classes=LABELS,
    only=("segment", "event", "intersection", "clip"),
    reference_sweep=True,
    segment_length=0.5,
)


def tenths(seed, n=40):
    """Return rows with values in tenths, so that many are exactly at a threshold."""
    rows = random_tables(seed, "tied", n).reference
    return replace(rows, values=(np.random.default_rng(seed).integers(0, 11, n) / 10,))


@pytest.mark.parametrize(("inclusive", "events"), [(False, "auto"), (True, "rows")])
def test_each_threshold_scores_as_if_it_were_that_of_the_evaluation(inclusive, events):
    sides = tenths(0), tenths(100)
    asked = replace(ASKED, inclusive=inclusive, events=events, beta=2.0)
    sweep = evaluate_rows(*sides, asked).sweep
    assert sweep.thresholds == tuple(k / 10 for k in range(1, 10))
    measures = ("f1.macro", "fbeta.micro", "error_rate.micro", "precision.weighted", "n_ref.micro")
    assert {*map(".".join, product(ASKED.only, ("hard", "optimal"), measures))} <= {*sweep.scores}
    for k, threshold in enumerate(sweep.thresholds):
        own = evaluate_rows(*sides, replace(asked, reference_sweep=False, reference_threshold=threshold))
        for name, values in sweep.scores.items():
            assert values[k] == pytest.approx(own[name], abs=1e-12), (name, threshold)


def test_what_is_exactly_at_a_threshold_is_what_the_sign_decides():
    """`sweep.at` counts the segments (events, clips) that "at or above" adds to "above"; rows are events."""
    asked = (replace(ASKED, events="rows", inclusive=inclusive) for inclusive in (False, True))
    sweep, at = (evaluate_rows(tenths(3), tenths(4), each).sweep for each in asked)
    for basis in ("segment", "event", "clip"):
        above, upwards = (np.array(each.scores[f"{basis}.hard.n_ref.micro"]) for each in (sweep, at))
        assert tuple(upwards - above) == sweep.at[basis] == at.at[basis] and sum(at.at[basis])


def test_the_file_of_curves_has_counts_at_all_pairs_of_thresholds(tmp_path):
    curves = evaluate_rows(tenths(0), tenths(1), replace(ASKED, only=("segment", "event.hard"))).curves
    write_curves(str(tmp_path / "curves.parquet"), {"s": curves})
    rows = pd.read_parquet(tmp_path / "curves.parquet").query(
        "`class` == 'car' and reference_threshold == 0.3 and basis == 'segment'"
    )
    assert rows["tp"].tolist() == curves.surfaces["segment"].tp[LABELS.index("car"), 29].tolist()
    assert len(rows) == 99


# --- single files score as they do alone, also with many classes ----------------------------------

BY_FILE = {
    "default": {},
    "every basis": {"only": "all", "measures": ("divergence",), "beta": 2.0},
    "clips by given thresholds": {"only": ("clip", "event.tuned"), "thresholds": {"car": 0.25, "dog": 0.75}},
    "sed_eval": {"compat": "sed_eval", "only": ("segment.hard", "event.hard")},
    "at or above": {"inclusive": True, "threshold": 0.25, "segment_length": 0.7, "pool": "mean"},
}
LENGTHS = dict(zip(tables.FILES, (24.0, 26.0, 25.0), strict=True))
COUNTS = ("n_ref", "n_sys", "tp", "fp", "fn", "tn", "substitutions", "deletions", "insertions")


@pytest.mark.parametrize("chosen", BY_FILE)
@pytest.mark.parametrize("n", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_counts_add_up_and_each_file_scores_as_it_does_alone(chosen, n):
    # With `events` set, events do not depend on the other rows of a table.
    settings = {"classes": tables.LABELS, "events": "merge", **BY_FILE[chosen]}
    sides = [tables.random_rows(seed, n=n) for seed in (n, n + 1)]
    whole = evaluate(*sides, durations=LENGTHS, **settings)
    frame = whole.per_file().set_index("filename")
    assert frame.pop("length").to_dict() == LENGTHS
    counts = [n for n in frame if ScoreName.parse(n).measure in COUNTS and not frame[n].isna().any()]
    assert len(counts) > 15
    assert frame[counts].sum().to_dict() == pytest.approx({n: whole[n] for n in counts}, rel=1e-12)
    own = [name for name in frame if ScoreName.parse(name).reading != "optimal"]
    assert {name.split(".")[2] for name in own} >= {"precision", "recall", "f1", "error_rate", "n_ref"}
    for file in tables.FILES:
        parts = [long_rows([each for each in tuples(of) if each[0] == file], files=(file,)) for of in sides]
        scores = evaluate(*parts, durations={file: LENGTHS[file]}, **settings)
        assert frame.loc[file, own].replace({pd.NA: None}).to_dict() == {name: scores[name] for name in own}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimal_reading_of_a_file_is_that_at_the_best_thresholds_of_all(seed):
    """A class without reference has no best threshold, and so no detections."""
    sides = [tables.random_rows(seed, n=15), tables.random_rows(seed + 5, n=15)]
    for basis in ("segment", "event"):
        how = {"classes": tables.LABELS, "durations": LENGTHS, "only": (f"{basis}.optimal", f"{basis}.tuned")}
        whole = evaluate(*sides, **how, thresholds=dict.fromkeys(tables.LABELS, 0.5))
        best = {label: whole[f"{basis}.optimal.threshold[{label}]"] for label in tables.LABELS}
        given = {label: 2.0 if at is None else at for label, at in best.items()}
        frame, tuned = whole.per_file(), evaluate(*sides, **how, thresholds=given).per_file()
        names = [name for name in frame if name.startswith(f"{basis}.optimal")]
        assert len(names) > 9
        assert all(frame[name].equals(tuned[name.replace("optimal", "tuned")]) for name in names)


def test_many_classes_and_files_are_computed_some_at_a_time():
    """Columns with few classes in each file are kept as entries, and files are computed in blocks."""
    ours, theirs = (np.random.default_rng(n).integers(0, n, 3000) for n in (120, 2))
    sides = ([(f"{k:04d}", 0.0, 1.0, f"c{c}") for k, c in enumerate(labels)] for labels in (ours, theirs))
    frame = evaluate(*map(tables.columns_of, sides), only="segment.hard").per_file()
    hits = (ours == theirs).tolist()
    assert frame["segment.hard.tp.micro"].tolist() == frame["segment.hard.f1.micro"].tolist() == hits


def test_scores_are_chosen_by_name():
    names = ["segment.soft.f1.macro", "segment.hard.recall[car]", "segment.hard.specificity.micro"]
    frame = evaluate(REFERENCE, SYSTEM, measures=("curves",)).per_file(*names)
    assert [*frame] == ["filename", "length", *names]
    assert frame[names[1]].isna().tolist() == [True, True, True, True, False]
