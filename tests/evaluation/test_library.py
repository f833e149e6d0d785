"""The library: what its functions take, what they answer to what they do not, and what their results show."""

from __future__ import annotations

import re
from io import StringIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from dcase_util.containers import MetaDataContainer
from tables import columns_of

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    Settings,
    SettingsError,
    UnknownSystemError,
    compare,
    evaluate,
    mean_of_runs,
    threshold_curves,
)
from sedeval_soft.api.evaluator import merge_tallies
from sedeval_soft.evaluation.partition import Execute
from sedeval_soft.report import render

TABLE = {
    "filename": ["a", "a", "b"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
F1 = "segment.soft.f1.micro"
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
    scores = evaluate(make[1](TABLE), TABLE)
    assert scores.scores == evaluate(TABLE, TABLE).scores
    assert scores[F1] == 1.0


DECLARING = {
    "filename": ["quiet", "a", "quiet", None, "a", "silent"],
    "onset": [None, 0.0, None, None, 1.0, None],
    "offset": [None, 1.0, None, None, 2.0, None],
    "event_label": [None, "car", None, None, "dog", ""],
    "soft_value": [None, 0.5, None, None, 0.75, None],
}
WIDE = {name: DECLARING[name] for name in ("filename", "onset", "offset")} | {
    "car": [None, 0.5, None, None, 0.0, float("nan")],
}


def csv_of(table, path):
    pd.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("table", [DECLARING, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("make", [lambda table, _: table, lambda table, _: pa.table(table), csv_of])
def test_rows_with_only_a_name_declare_files_as_in_files(make, table, tmp_path):
    made = make(table, tmp_path / "t.csv")
    scores = evaluate(made, made)
    assert scores.files == ("a", "quiet", "silent")
    assert scores.classes == (("car", "dog") if table is DECLARING else ("car",))
    assert [item.rows for item in scores.inputs] == [2, 2]


def test_durations_by_name_or_path(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("filename\tduration\na\t5\nb\t5\n")
    for durations, length in ((path, 10), ({"a": np.float32(5), "b": 0}, 5), ({"a": 3e7, "b": 5.0}, 3e7 + 5)):
        assert evaluate(TABLE, TABLE, durations=durations, only="event").length == length


@pytest.mark.parametrize(
    ("only", "key", "words"),
    [
        # Of scores that were left out, or not asked for, the message names the setting that asks for them.
        ("segment", "event.soft.f1.macro", "only="),
        ("segment", "segment.hard.roc_auc.macro", "measures='curves'"),
        ("event", "event.tuned.f1.macro", "cross_tune"),
        ("segment", "segment.hard.f_measure.micro", r"segment\.hard\.f1\.micro"),
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


# --- calls that cannot be meant: one error that names what was found, and nothing half done ---------

VALUES = np.array([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
EVENTS = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
POINTS = {0.25: EVENTS, 0.75: EVENTS}
SYSTEMS = {"a": VALUES, "b": VALUES / 2}


ZEROS = np.zeros((3, 2))
SERIES = pd.Series({"a": 1.0})


def refused(words, *, reference=TABLE, system=TABLE, error=InputError, **how):
    return error, lambda: evaluate(reference, system, **how), words


REFUSED = [
    *(refused("durations", durations={"a": of}) for of in ("x", float("nan"), -1, None, True, 1e12, 1j)),
    *(refused("durations", durations=of) for of in ([1], True, SERIES, {1: 5.0})),
    refused("masked array", reference=np.ma.masked_array(ZEROS, mask=True), system=ZEROS),
    refused("type Series is not a table; expected a path", system=SERIES),
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
    refused("need tables in files", error=SettingsError, execute=Execute()),
    (EvaluationError, lambda: evaluate(REFERENCE, SYSTEM, memory_limit="1K"), "--memory-limit 1 KiB"),
    (EvaluationError, lambda: Evaluator().merge(3), "other must be an Evaluator, not 3"),
    (EvaluationError, lambda: Evaluator(name=3), "name must be a text, not 3"),
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
    renamed = pd.DataFrame(TABLE).rename(columns={"filename": "of", "soft_value": "p"})
    path = csv_of(renamed, tmp_path / "t.csv")
    assert numbers(path, path, columns="filename=of,value=p") == numbers(TABLE, TABLE)


@pytest.mark.parametrize("how", [{"memory_limit": 1 << 32}, {"jobs": "all"}], ids=str)
def test_the_same_scores_in_parts(how):
    given = {"name": "x", "ci": "bootstrap", "replicates": 9}
    at_once = render([evaluate(REFERENCE, SYSTEM, **given)], "json")
    assert render([evaluate(REFERENCE, SYSTEM, **given, **how)], "json") == at_once
    # Tables in memory are read at once.
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
