"""The library: arguments that its functions take, errors for those that they refuse, and shown results."""

import pickle
import re
from functools import partial
from io import StringIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from dcase_util.containers import MetaDataContainer
from tables import columns_of, long_rows

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    Limits,
    Settings,
    SettingsError,
    UnknownScoreError,
    UnknownSystemError,
    compare,
    evaluate,
    mean_of_runs,
    threshold_curves,
)
from sedeval_soft.api.evaluator import merge_tallies
from sedeval_soft.evaluation import Execute
from sedeval_soft.report import render

TABLE = {
    "filename": ["a", "a", "b"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
ROWS = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]


@pytest.mark.parametrize(
    "make",
    {
        "file names as index": lambda table: pd.DataFrame(table).set_index("filename"),
        "categories": lambda table: pd.DataFrame(table).astype(
            {"event_label": "category", "soft_value": "f4"}
        ),
        "shuffled": lambda table: pd.DataFrame(table).sample(frac=1, random_state=0),
        "columns that play no role": lambda table: pd.DataFrame(table | {"notes": [1, "x", ["y"]]}),
        "numbers written as text": lambda table: pd.DataFrame(table).astype(str),
        "arrow": pa.table,
        "rows": lambda _: ROWS,
        "rows of which one says more": lambda _: ({**ROWS[0], "more": 1}, *ROWS[1:]),
        "dcase_util": lambda _: MetaDataContainer(ROWS),
    }.items(),
    ids=lambda named: named[0],
)
def test_tables_of_any_kind_give_the_same_scores(make):
    assert evaluate(make[1](TABLE), TABLE).scores == evaluate(TABLE, TABLE).scores


@pytest.mark.parametrize(
    ("only", "key", "words"),
    [
        # For a score that was left out or not asked for, the message names the setting that adds it.
        ("segment", "event.soft.f1.macro", "only="),
        ("segment", "segment.hard.roc_auc.macro", "measures='curves'"),
        ("event", "event.tuned.f1.macro", "cross_tune"),
        ("segment", "segment.hard.f_measure.micro", r"segment\.hard\.f1\.micro"),
        ("segment", "segment.hard.f1.harmonic", "harmonic"),
        ("segment", 5, "no score is named 5"),
        ("segment", ["a"], "no score is named"),
    ],
)
def test_scores_that_there_are_not(only, key, words):
    scores = evaluate(TABLE, TABLE, only=only)
    assert key not in scores
    with pytest.raises(KeyError, match=words):
        _ = scores[key]


def test_scalars_of_numpy_are_settings():
    given = {"segment_length": np.int64(2), "threshold": np.float32(0.25), "inclusive": np.bool_(True)}
    plain = {name: value.item() for name, value in given.items()}
    made, wanted = Settings.of(**given, classes=np.array(["car"])), Settings.of(**plain, classes=("car",))
    assert repr(made.to_dict()) == repr(wanted.to_dict())


# --- wrong calls: one error that names the mistake, and no partial results ---------------------------

VALUES = np.array([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
EVENTS = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
POINTS = {0.25: EVENTS, 0.75: EVENTS}
SYSTEMS = {"a": VALUES, "b": VALUES / 2}
ZEROS = np.zeros((3, 2))
COLUMNS = {"filename": ["a"], "onset": [0], "offset": [1]}
FRAMES = {
    "onset": 0.064 * np.arange(100),
    "duration": [0.064] * 100,
    "car": np.random.default_rng(0).random(100).round(4),
}


def refused(words, *, reference=TABLE, system=TABLE, error=InputError, **how):
    return error, lambda: evaluate(reference, system, **how), words


SETTINGS = [
    # Means over parts.
    ("harmonic", {"means": "harmonics"}), ("twice", {"means": ("harmonic", "harmonic")}),
    ("groups", {"means": "groups.mean"}),
    ("scenes.harmonic", {"scenes": {"scenes.harmonic": "*"}}), ("mean", {"groups": {"files.mean": "car"}}),
    ("scenes.harmonic", {"by": dict.fromkeys("ab", "scenes.harmonic")}),
    # Sweeps over thresholds of the reference.
    *(("reference_sweep", {"reference_sweep": True} | of) for of in (
        {"only": ("segment.soft",)}, {"compat": "sed_eval"}, {"matching": "greedy"}, {"reference_sweep": 1}
    )),
    # Ignored classes.
    *((words, {"ignore_class": "car"} | of) for words, of in (
        ("'car'", {"classes": ("car", "dog")}), ("compat=sed_eval", {"compat": "sed_eval"}),
        ("reference_sweep", {"reference_sweep": True}), ("ignore_class must be", {"ignore_class": ""}),
        ("'car' twice", {"ignore_class": ("car", "car")}),
    )),
    ("map_to needs the path of a table", {"map": {"car": "x"}, "map_to": "parent"}),
    *(("preset", of) for of in (
        {"preset": "dcase"}, {"preset": 3}, {"preset": "dcase2019-task4", "settings": Settings()}
    )),
    # Thresholds, given or tuned over folds.
    *(("threshold|at or above", of) for of in (
        {"thresholds": {"car": 0.5}, "cross_tune": 2}, {"thresholds": "median"}, {"thresholds": {"car": 3}},
        {"thresholds": {"car": float("nan")}}, {"thresholds": {"car": "0.5"}}, {"thresholds": {"car": True}},
        {"thresholds": {1: 0.5}}, {"thresholds": [0.5]}, {"threshold": -1e-9}, {"reference_threshold": -1e-9},
        {"thresholds": {"car": -1e-9}}, {"threshold": 0.0, "inclusive": True},
        {"reference_threshold": 0.0, "inclusive": True}, {"thresholds": {"car": 0.0}, "inclusive": True},
    )),
    *(("cross_tune", {"cross_tune": of}) for of in (1, 2.0, True, "parts")),
    *(("objective", {"objective": of}) for of in ("segment.recall", ["segment.f1"])),
    ("tuned", {"only": "segment.tuned"}),
    # Regions, and evaluation after some events.
    *(("regions", {"regions": of}) for of in (
        {}, [], {"a": []}, {"a": [1, 2]}, {"a": [[1]]}, {"a": [[1, 2, 3]]}, {"a": [[2, 1]]}, {"a": [[-1, 1]]},
        {"": [[0, 1]]}, {"a": [["0", "1"]]}, {"a": [[0, float("nan")]]}, {"a": [[0, 1e12]]}, 7, {1: [[0, 1]]},
        COLUMNS | {"onset": [0, 1]},
    )),
    *(("column 'note'", {"regions": of(COLUMNS | {"note": ["car"]})}) for of in (dict, pd.DataFrame)),
    ("regions and after_shots", {"compat": "sed_eval", "after_shots": 1}),
    ("needs regions or after_shots", {"region_edges": "onset"}), ("keep", {"region_edges": "keep"}),
    *(("after_shots", {"after_shots": of}) for of in (0, "POS", 1.5)),
    *(("regions of some classes", {"regions": {"a": [[0, 9, "speech"]]}} | of) for of in (
        {"region_edges": "onset"}, {"pool": "mean"}, {"only": "ranking"}, {"measures": "curves"}
    )),
]  # fmt: skip


@pytest.mark.parametrize(("words", "asked"), SETTINGS, ids=str)
def test_settings_that_cannot_be_or_contradict_each_other_are_refused(words, asked):
    with pytest.raises(SettingsError, match=words):
        evaluate(TABLE, TABLE, **asked)


REFUSED = [
    # Settings that do not fit these tables, or each other as these tables are.
    refused("'b'", folds={"a": "1"}),
    *(refused(words, error=EvaluationError, **asked) for words, asked in (
        ("folds and by", {of: {"a": "x", "b": "y"} for of in ("folds", "by")}),
        ("groups and by", {"groups": {"x": "car"}, "by": dict.fromkeys("ab", "x")}),
        ("scenes", {"means": "scenes.mean"}),
        ("ignore_class: class 'cat'", {"ignore_class": "cat", "strict": True}),
        ("cross_tune=6: there are 2 files", {"cross_tune": 6}),
        ("there is one fold, 'x'", {"folds": dict.fromkeys("ab", "x")}),
        ("cross_tune=folds: there are no folds", {"cross_tune": "folds"}),
        ("'A'", {"regions": {"a": [(0, 9)], "A": [(0, 9)]}, "strict": True}),
        ("nothing is left", {"regions": {"x": [(0, 9)]}}),
        ("did you mean 'car'", {"after_shots": "9 cars"}),
    )),
    *(refused("durations", durations={"a": of}) for of in ("x", float("nan"), -1, None, True, 1e12, 1j)),
    *(refused("durations", durations=of) for of in ([1], True, pd.Series({"a": 1.0}), {1: 5.0})),
    refused("masked array", reference=np.ma.masked_array(ZEROS, mask=True), system=ZEROS),
    refused("type Series is not a table; expected a path", system=pd.Series({"a": 1.0})),
    refused("a list is not a table", system=[*ROWS, 5]),
    refused("'onset' is 1 .* one value per row", system={"onset": 1, "offset": 2, "event_label": "car"}),
    refused("'offset' has 1 row, 'filename' has 3", system=TABLE | {"offset": [1.0]}),
    refused("row 2: onset '0,5' has a decimal comma", system=TABLE | {"onset": ["0", "1", "0,5"]}),
    refused("row 1: offset .*over 31536000 s", system=TABLE | {"offset": [1.0, 1e10, 1.0]}),
    refused("n_segments, n_classes", reference=np.zeros(3), system=np.zeros(3)),
    refused("expected that of the reference", reference=ZEROS, system=np.zeros((4, 2))),
    refused("expected numbers", reference=np.array([["x"]]), system=np.array([["x"]])),
    *(refused(name, error=SettingsError, **{name: of}) for name, of in (
        ("segment_lenght", 1), ("name", 5), ("threshold", np.array([0.5])), ("beta", np.bool_(True))
    )),
    *(refused("jobs must be", error=SettingsError, jobs=of) for of in (-1, True, "many")),
    *(refused("memory_limit must be", error=SettingsError, memory_limit=of) for of in (0, "much", 1.5)),
    refused("execute must be", error=SettingsError, execute=7),
    refused("no column of file names", reference=EVENTS, regions={"x.wav": [(1, 6)], "y.wav": [(0, 1)]}),
    refused("no known length", error=EvaluationError, reference={"a": [(0, 1, "car")], "b": []}, strict=True),
    refused("are exchanged", error=EvaluationError, reference=FRAMES, system=EVENTS, strict=True),
    refused("need tables in files", error=SettingsError, execute=Execute()),
    (EvaluationError, lambda: evaluate(REFERENCE, SYSTEM, memory_limit="1K"), "--memory-limit 1 KiB"),
    (EvaluationError, lambda: Evaluator().merge(3), "other must be an Evaluator, not 3"),
    (EvaluationError, lambda: Evaluator(name=3), "name must be a text, not 3"),
    (EvaluationError, lambda: Evaluator().merge(Evaluator()).compute(), "nothing has been counted yet"),
    (EvaluationError, lambda: Evaluator().merge(Evaluator(beta=2.0, pool="mean")),
     "pool is 'max' and 'mean'; beta is 1.0 and 2.0"),
    (EvaluationError, lambda: Evaluator.of_bytes(pickle.dumps({})), "tally"),
    (EvaluationError, lambda: Evaluator.of_bytes("text"), "tally"),
    (EvaluationError, lambda: Evaluator.of_bytes(Evaluator().update(TABLE, TABLE).to_bytes(),
                                                 limits=Limits(files=1)), "2 files"),
    *((InputError, partial(Evaluator().update, side, side, files=files), words) for side, files, words in (
        *((np.zeros((2, 5, 3)), files, "expected 2 names") for files in (None, "a", ["a", 3], ["a", ""])),
        (np.zeros((5, 3)), ["a", "b"], "expected 1 name, one"),
        (np.zeros((2, 2, 5, 3)), ["a", "b"], r"shape \(2, 2, 5, 3\).*expected numbers of shape"),
        (long_rows([("a", 0.0, 1.0, "car")]), ["a"], "files"),
    )),
    *((SettingsError, partial(compare, VALUES, systems), r"systems|name|'a\.tsv'") for systems in (
        *(dict.fromkeys(names) for names in ("a", ("a", ""), ("a", 3))), "a.tsv", ["a.tsv", "b.tsv", "a.tsv"]
    )),
    (SettingsError, lambda: compare(VALUES, SYSTEMS, rank_by="segment.optimal.f1.micro@files.mean"),
     "no best thresholds of their own"),
    (SettingsError,
     lambda: compare(TABLE, {"x": TABLE, "y": TABLE}, rank_by="segment.soft.f1.micro@one",
                     scenes={"one": "a", "two": "b"}), "leave out the @"),
    (UnknownScoreError,
     lambda: compare(VALUES, SYSTEMS, rank_by="segment.hard.brier.micro", preset="dcase2024-task4-maestro",
                     classes=("car", "dog"), measures=()), "measures='divergence'"),
    (UnknownScoreError,
     lambda: compare(VALUES, SYSTEMS, rank_by="segment.optimal.f1.macro", preset="dcase2017-task2"), "only="),
    (EvaluationError, lambda: evaluate(TABLE, TABLE).per_file("segment.optimal.threshold[car]"),
     "single files have no such score"),
    (EvaluationError,
     lambda: evaluate(TABLE, TABLE, measures="curves").per_file("segment.hard.roc_auc.macro"),
     "single files have no such score"),
    (KeyError, lambda: evaluate(TABLE, TABLE).per_file("segment.soft.f1.marco"), "did you mean"),
    (SettingsError, lambda: mean_of_runs(VALUES, SYSTEMS, worst=3), "worst cannot go with a mean of runs"),
    (EvaluationError, lambda: mean_of_runs(VALUES, SYSTEMS).per_file(),
     "a mean over runs has no scores of single files"),
    (EvaluationError, lambda: evaluate(VALUES, VALUES, folds=3), "folds: found 3; expected a mapping"),
    (EvaluationError, lambda: compare(VALUES, SYSTEMS, rank_by=3), "rank_by must be a name"),
    (EvaluationError, lambda: compare(VALUES, SYSTEMS, baseline=3), "baseline must be one of "),
    (EvaluationError, lambda: merge_tallies("a.tally"), "paths must be those of one or more tallies"),
    (EvaluationError, lambda: Evaluator().update(EVENTS, POINTS), "operating points have events only"),
    (EvaluationError, lambda: evaluate(EVENTS, POINTS, thresholds="prior"), "points have no values"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "action", "words"), REFUSED)
def test_calls_that_cannot_be_meant_are_one_error(error, action, words):
    with pytest.raises(error, match=words):
        action()


def test_operating_points_have_no_segments_however_many_systems_there_are():
    systems = {"a": POINTS, "b": {0.5: EVENTS}}
    whole = evaluate(EVENTS, POINTS)
    board = compare(EVENTS, systems, rank_by="event.soft.f1.macro", replicates=40)
    assert {score.basis for score in whole.scores.values()} == {"event"}
    for scores in (*board.systems, mean_of_runs(EVENTS, systems)):
        assert [*scores] == [*whole]
    assert dict(Evaluator(only=("event",)).update(EVENTS, POINTS).compute()) == dict(whole)


# --- `columns`, and tables in parts -----------------------------------------------------------------


@pytest.mark.parametrize(
    "numbers",
    [
        lambda *sides, **how: dict(compare(sides[0], dict.fromkeys("xy", sides[1]), **how)["x"]),
        lambda *sides, **how: dict(mean_of_runs(sides[0], dict.fromkeys("xy", sides[1]), **how)),
        lambda *sides, **how: threshold_curves(*sides, **how).classes,
    ],
)
def test_every_function_takes_the_names_of_columns(numbers, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(TABLE).rename(columns={"filename": "of", "soft_value": "p"}).to_csv(path, index=False)
    assert numbers(path, path, columns="filename=of,value=p") == numbers(TABLE, TABLE)


@pytest.mark.parametrize("how", [{"memory_limit": 1 << 32}, {"jobs": "all"}], ids=str)
def test_the_same_scores_in_parts(how):
    given = {"name": "x", "ci": "bootstrap", "replicates": 9}
    at_once = render([evaluate(REFERENCE, SYSTEM, **given)], "json")
    assert render([evaluate(REFERENCE, SYSTEM, **given, **how)], "json") == at_once
    # Tables in memory are not split.
    assert dict(evaluate(TABLE, TABLE, **how)) == dict(evaluate(TABLE, TABLE))


# --- results: `print`, `repr`, a board as a mapping, a data frame and a document ---------------------


@pytest.fixture(scope="module")
def board():
    return compare(REFERENCE, [OTHER, SYSTEM], replicates=40)


def test_printed_results_are_what_the_command_prints(board):
    assert f"{evaluate(REFERENCE, SYSTEM)}\n" == call(REFERENCE, SYSTEM).out
    assert f"{board}\n" == call(REFERENCE, OTHER, SYSTEM, "--replicates", "40").out
    assert f"{mean_of_runs(REFERENCE, [SYSTEM, OTHER])}\n" == call(REFERENCE, SYSTEM, OTHER, "--runs").out
    many = compare(TABLE, {f"system {k}": TABLE for k in range(9)}, only="segment", replicates=40)
    shown = repr(many), repr(board[SYSTEM])
    assert "\n" not in "".join(shown) and max(map(len, shown)) < 150


def test_a_board_is_a_mapping_of_systems_by_place(board):
    assert [*board] == [entry.system for entry in board.entries] == [SYSTEM, OTHER]
    assert len(board) == 2 and SYSTEM in board and "nobody" not in board
    assert [scores.system for scores in board.values()] == [*board]
    for name, guess in (("sys_b.tsv", OTHER), (OTHER.upper(), OTHER), ("baseline", SYSTEM), (0, SYSTEM)):
        with pytest.raises(UnknownSystemError, match=re.escape(repr(guess))):
            board[name]


def test_the_data_frame_of_a_board_is_its_csv(board):
    text = call(REFERENCE, OTHER, SYSTEM, "--replicates", "40", "--format", "csv").out
    read, made = pd.read_csv(StringIO(text), comment="#"), board.to_pandas()
    assert made["system"].tolist() == [SYSTEM, OTHER] and read["system"].tolist() == ["sys.tsv", "sys_b.tsv"]
    numbers = ["place", "value", "low", "high", "difference_value", "difference_p_adjusted", "worst_place"]
    pd.testing.assert_frame_equal(made[numbers], read[numbers], check_exact=True, check_dtype=False)
    assert made["difference_value"].isna().tolist() == [True, False]


def test_metrics_are_the_defined_scores_by_names_that_trackers_take():
    reference = columns_of([("a", 0.0, 2.0, "dog (big)", 0.7), ("b", 0.0, 1.0, "scène", 1.0)])
    scores = evaluate(reference, reference, scenes={"home": ["a*"]})
    metrics = scores.metrics()
    # MLflow 3 takes: alphanumerics, underscores, dashes, periods, spaces, slashes, colons.
    assert all(re.fullmatch(r"[\w\-. /:]+", name, re.ASCII) for name in metrics)
    assert len(metrics) == sum(value is not None for value in scores.values())
    assert metrics["segment/soft/f1/dog _big_"] == scores.metrics(".")["segment.soft.f1.sc_ne"] == 1.0
    assert metrics["segment/soft/tp/micro/home"] == scores["segment.soft.tp.micro@home"]
