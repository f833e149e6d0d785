"""The library: what its functions take, and what they answer to what they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dcase_util.containers import MetaDataContainer

from sedeval_soft import (
    EvaluationError,
    Evaluator,
    InputError,
    Scores,
    Settings,
    SettingsError,
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
        "columns": dict,
        "pandas": pd.DataFrame,
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


@pytest.mark.parametrize("table", [DECLARING, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table, lambda table: pd.DataFrame(table).to_csv])
def test_rows_with_only_a_name_declare_files_as_in_files(make, table, tmp_path):
    made = make(table)
    if callable(made):
        made(tmp_path / "t.csv", index=False)
        made = tmp_path / "t.csv"
    scores = evaluate(made, made)
    assert scores.files == ("a", "quiet", "silent")
    assert scores.classes == (("car", "dog") if table is DECLARING else ("car",))
    assert [item.rows for item in scores.inputs] == [2, 2]


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_arrays_are_segments(dtype):
    values = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    scores = evaluate(values, values, classes=("car", "dog"), segment_length=0.1)
    assert (scores["segment.hard.n_ref[car]"], scores["event.hard.n_ref[dog]"]) == (2, 1)
    assert scores.n_segments == 3 and scores.length == pytest.approx(0.3)


@pytest.mark.parametrize("length", [1 / 3, 512 / 44100, 1.5e-6])
def test_rows_of_an_array_are_the_segments_whatever_their_length(length):
    values = np.random.default_rng(0).random((2000, 2))
    scores = evaluate(values, values, segment_length=length, threshold=0.9, only=["segment.hard"])
    assert scores["segment.hard.n_ref.micro"] == (values > 0.9).sum()
    assert (scores.n_segments, scores.settings.segment_length) == (2000, length)


@pytest.mark.parametrize(("events", "counted"), [("rows", 2), ("merge", 1), ("auto", 2)])
def test_rows_without_length_are_events_but_fill_no_segment(events, counted):
    table = {"onset": [0.0, 2.0], "offset": [1.0, 2.0], "event_label": ["car", "car"]}
    scores = evaluate(table, table, events=events)
    assert scores["event.hard.n_ref.micro"] == counted
    assert scores["event.hard.f1.micro"] == scores["segment.hard.n_ref.micro"] == 1


def test_durations_by_name_or_path(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("filename\tduration\na\t5\nb\t5\n")
    for durations, length in (
        ({"a": 5, "b": 5.0}, 10), (path, 10), ({"a": np.float32(5), "b": 0}, 5), ({"a": 3e7, "b": 0}, 3e7),
    ):  # fmt: skip
        assert evaluate(TABLE, TABLE, durations=durations, only="event").length == length


@pytest.mark.parametrize(
    "durations",
    [*({"a": seconds} for seconds in ("x", float("nan"), -1, None, True, 1e12, 1j)),
     [1], True, pd.Series({"a": 1.0}), {1: 5.0}],
    ids=str,
)  # fmt: skip
def test_durations_that_cannot_be_are_refused(durations):
    with pytest.raises(InputError, match="durations"):
        evaluate(TABLE, TABLE, durations=durations)


def test_scores_are_a_mapping():
    scores = evaluate(TABLE, TABLE)
    assert isinstance(scores, Scores) and F1 in scores
    assert next(iter(scores)) == "segment.hard.precision.micro"
    assert len(repr(scores)) < 100
    assert scores.to_pandas().set_index("name").loc[F1, "value"] == 1.0
    assert scores.to_dict()["systems"][0]["name"] == "system"


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


ZEROS = np.zeros((3, 2))


REFUSED = [
    (np.ma.masked_array(ZEROS, mask=True), ZEROS, "masked array"),
    (TABLE, pd.Series([1.0]), "type Series is not a table; expected a path"),
    (TABLE, [*ROWS, 5], "a list is not a table"),
    (TABLE, {"onset": 1, "offset": 2, "event_label": "car"}, "'onset' is 1 .* one value per row"),
    (TABLE, TABLE | {"offset": [1.0]}, "'offset' has 1 row, 'filename' has 3"),
    (TABLE, TABLE | {"onset": ["0", "1", "0,5"]}, "row 2: onset '0,5' has a decimal comma"),
    (TABLE, TABLE | {"offset": [1.0, 1e10, 1.0]}, "row 1: offset .*over 31536000 s"),
    (np.zeros(3), np.zeros(3), "n_segments, n_classes"),
    (ZEROS, np.zeros((4, 2)), "expected that of the reference"),
    (np.array([["x"]]), np.array([["x"]]), "expected numbers"),
]


@pytest.mark.parametrize(("reference", "system", "words"), REFUSED)
def test_what_cannot_be_scored_is_an_input_error(reference, system, words):
    with pytest.raises(InputError, match=words):
        evaluate(reference, system)


@pytest.mark.parametrize(
    "settings", [{"segment_lenght": 1}, {"name": 5}, {"threshold": np.array([0.5])}, {"beta": np.bool_(True)}]
)
def test_bad_settings_are_settings_errors(settings):
    with pytest.raises(SettingsError):
        evaluate(TABLE, TABLE, **settings)


def test_scalars_of_numpy_are_settings():
    given = {"segment_length": np.int64(2), "threshold": np.float32(0.25), "inclusive": np.bool_(True)}
    plain = {name: value.item() for name, value in given.items()} | {"classes": ("car",)}
    scores = evaluate(TABLE, TABLE, **given, classes=np.array(["car"]))
    assert scores.settings == Settings.of(**plain)
    for value in (*scores.settings.to_dict().values(), *scores.settings.classes):
        assert type(value).__module__ == "builtins"


# --- calls that cannot be meant: one error that says what was found, and nothing half done ---------

VALUES = np.array([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])
EVENTS = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
POINTS = {0.25: EVENTS, 0.75: EVENTS}
SYSTEMS = {"a": VALUES, "b": VALUES / 2}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Evaluator().merge(3), "other must be an Evaluator, not 3"),
        (lambda: Evaluator(name=3), "name must be a text, not 3"),
        (lambda: evaluate(VALUES, VALUES, folds=3), "folds: found 3; expected a mapping"),
        (
            lambda: compare(VALUES, SYSTEMS, rank_by=3),
            "rank_by must be a name",
        ),
        (lambda: compare(VALUES, SYSTEMS, baseline=3), "baseline must be one of "),
        (lambda: merge_tallies("a.tally"), "paths must be those of one or more tallies, not 'a.tally'"),
        (lambda: Evaluator().update(EVENTS, POINTS), "operating points have events only"),
        (
            lambda: evaluate(EVENTS, POINTS, only="event", thresholds="prior"),
            "operating points have no values",
        ),
    ],
)
def test_a_call_that_cannot_be_meant_is_one_error(action, words):
    with pytest.raises(EvaluationError, match=words):
        action()


def test_operating_points_have_no_segments_however_many_systems_there_are():
    systems = {"a": POINTS, "b": {0.5: EVENTS}}
    whole = evaluate(EVENTS, POINTS)
    board = compare(EVENTS, systems, rank_by="event.soft.f1.macro", replicates=40)
    for scores in (*board.systems, mean_of_runs(EVENTS, systems)):
        assert {score.basis for score in scores.scores.values()} == {"event"}
        assert [*scores.scores] == [*whole.scores]
    assert dict(Evaluator(only=("event",)).update(EVENTS, POINTS).compute()) == dict(whole)


# --- `columns`, and tables in parts -----------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE, SYSTEM, OTHER = (SAMPLES / name for name in ("ref.tsv", "sys.tsv", "sys_b.tsv"))


def test_every_function_takes_the_names_of_columns(tmp_path):
    reference, *systems = (tmp_path / name for name in ("ref.tsv", "a.tsv", "b.tsv"))
    for path, sample in zip((reference, *systems), (REFERENCE, SYSTEM, OTHER), strict=True):
        path.write_text(sample.read_text().replace("filename", "of", 1).replace("soft_value", "p", 1))
    for action, plain in (
        (compare, [SYSTEM, OTHER]),
        (mean_of_runs, [SYSTEM, OTHER]),
        (threshold_curves, SYSTEM),
    ):
        given = systems if isinstance(plain, list) else systems[0]
        with pytest.raises(InputError, match="--columns"):
            action(reference, given)
        found, wanted = action(reference, given, columns="filename=of,value=p"), action(REFERENCE, plain)
        assert numbers_of(found) == numbers_of(wanted)


def numbers_of(result):
    """Return the numbers of a board, of a mean, or of curves."""
    if isinstance(result, Scores):
        return dict(result)
    return [dict(scores) for scores in result.systems] if hasattr(result, "systems") else result.classes


@pytest.mark.parametrize("how", [{"memory_limit": 1 << 32}, {"jobs": "all"}], ids=str)
def test_the_same_scores_in_parts(how):
    given = {"name": "x", "ci": "bootstrap", "replicates": 9}
    at_once = render([evaluate(REFERENCE, SYSTEM, **given)], "json")
    assert render([evaluate(REFERENCE, SYSTEM, **given, **how)], "json") == at_once


def test_what_needs_all_rows_or_is_in_memory_is_read_at_once():
    assert dict(evaluate(TABLE, TABLE, jobs=2, memory_limit="4G")) == dict(evaluate(TABLE, TABLE))
    with pytest.raises(EvaluationError, match="--memory-limit 1 KiB"):
        evaluate(REFERENCE, SYSTEM, memory_limit="1K")


JOBS = "jobs must be a number of processes or 'all', not"
LIMIT = "memory_limit must be bytes, or a size such as '4G', not"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        *(({"jobs": number}, JOBS) for number in (-1, True, "many")),
        *(({"memory_limit": most}, LIMIT) for most in (0, "much", 1.5)),
        ({"execute": 7}, "execute must be"),
        ({"execute": Execute(), "reference": TABLE}, "need tables in files"),
    ],
)
def test_parts_that_cannot_be_asked_for(how, words):
    with pytest.raises(SettingsError, match=words):
        evaluate(**{"reference": REFERENCE, "system": SYSTEM, **how})
