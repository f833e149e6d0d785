"""The library: what `evaluate` takes, and what it answers to what it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sedeval_soft import EvaluationError, InputError, Scores, Settings, SettingsError, evaluate

TABLE = {
    "filename": ["a", "a", "b"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
F1 = "segment.soft.f1.micro"


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda table: pd.DataFrame(table).set_index("filename"),
        lambda table: pd.DataFrame(table).astype({"event_label": "category", "soft_value": "float32"}),
        lambda table: pd.DataFrame(table).sample(frac=1, random_state=0),
        pa.table,
        dict,
    ],
    ids=["pandas", "file names as index", "categories", "shuffled", "arrow", "columns"],
)
def test_tables_of_any_kind_give_the_same_scores(make):
    assert dict(evaluate(make(TABLE), TABLE)) == dict(evaluate(TABLE, TABLE))
    assert evaluate(make(TABLE), TABLE)[F1] == 1.0


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


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("onset", "row 1: onset is empty"),
        ("event_label", "row 1: event_label is"),
        ("filename", "row 1: filename"),
    ],
)
def test_rows_that_lack_one_thing_are_counted_with_the_declared_ones(make, column, words):
    broken = DECLARING | {column: [*DECLARING[column][:1], None, *DECLARING[column][2:]]}
    with pytest.raises(InputError, match=words):
        evaluate(make(broken), TABLE)


def test_a_frame_without_rows_is_an_output_without_events():
    empty = pd.DataFrame({name: [] for name in TABLE})
    assert evaluate(TABLE, empty)["segment.hard.recall.micro"] == 0.0


def test_numbers_written_as_text_are_numbers():
    assert dict(evaluate(TABLE, pd.DataFrame(TABLE).astype(str))) == dict(evaluate(TABLE, TABLE))
    with pytest.raises(InputError, match=r"row 2: onset is '0,5' \(str\): .* expected a number"):
        evaluate(TABLE, TABLE | {"onset": ["0", "1", "0,5"]})


def test_columns_that_play_no_role_may_hold_anything():
    table = pd.DataFrame(TABLE | {"notes": [1, "x", ["y"]]})
    assert dict(evaluate(table, table)) == dict(evaluate(TABLE, TABLE))


def test_paths_and_tables_in_memory_give_the_same_scores(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    assert dict(evaluate(path, str(path))) == dict(evaluate(TABLE, TABLE))


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_arrays_are_segments(dtype):
    values = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    scores = evaluate(values, values, classes=("car", "dog"), segment_length=0.1)
    assert scores["segment.hard.n_ref[car]"] == 2
    assert scores["event.hard.n_ref[dog]"] == 1
    assert scores.n_segments == 3
    assert scores.length == pytest.approx(0.3)


@pytest.mark.parametrize(("events", "counted"), [("rows", 2), ("merge", 1), ("auto", 2)])
def test_rows_without_length_are_events_but_fill_no_segment(events, counted):
    table = {"onset": [0.0, 2.0], "offset": [1.0, 2.0], "event_label": ["car", "car"]}
    scores = evaluate(table, table, events=events)
    assert scores["event.hard.n_ref.micro"] == counted
    assert scores["event.hard.f1.micro"] == 1.0
    assert scores["segment.hard.n_ref.micro"] == 1


def test_durations_by_name_or_path(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("filename\tduration\na\t5\nb\t5\n")
    assert evaluate(TABLE, TABLE, durations={"a": 5, "b": 5.0}).length == 10
    assert evaluate(TABLE, TABLE, durations=path).length == 10


def test_scores_are_a_mapping():
    scores = evaluate(TABLE, TABLE)
    assert isinstance(scores, Scores)
    assert F1 in scores
    assert next(iter(scores)) == "segment.hard.precision.micro"
    assert len(repr(scores)) < 100
    frame = scores.to_pandas()
    assert frame.set_index("name").loc[F1, "value"] == 1.0
    assert scores.to_dict()["systems"][0]["name"] == "system"
    with pytest.raises(KeyError, match=r"segment\.soft\.f1\.micro"):
        _ = scores["segment.soft.f1.mikro"]
    for key in (5, None, ["a"], ("segment", "soft")):
        with pytest.raises(KeyError, match=r"no score is named .*; expected a text such as"):
            _ = scores[key]
        assert key not in scores


def test_rows_may_name_their_cells():
    """As event lists of sed_eval and dcase_util do; what a row does not name is missing."""
    from dcase_util.containers import MetaDataContainer

    rows = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
    for form in (rows, tuple(rows), MetaDataContainer(rows), [{**rows[0], "more": 1}, *rows[1:]]):
        assert evaluate(TABLE, form).scores == evaluate(TABLE, TABLE).scores
    silent = [*rows, {"filename": "silent.wav"}]
    assert len(evaluate(silent, silent).files) == len(evaluate(TABLE, TABLE).files) + 1
    for wrong, words in (
        ([{}], "expected"),
        ([*rows, 5], "a list is not a table"),
        ([{"zoo": 1}], "expected"),
    ):
        with pytest.raises(InputError, match=words):
            evaluate(TABLE, wrong)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("segment.hard.f_measure.micro", "did you mean 'segment.hard.f1.micro'"),
        ("segment.soft.f[dog]", r"did you mean 'segment\.soft\.f1\[dog\]'"),
        ("f_measure", "did you mean 'segment.hard.f1.macro'"),
    ],
)
def test_names_of_other_tools_are_answered(name, ours):
    with pytest.raises(KeyError, match=ours):
        _ = evaluate(TABLE, TABLE)[name]


@pytest.mark.parametrize(
    ("reference", "system", "words"),
    [
        (np.ma.masked_array(np.zeros((3, 2)), mask=True), np.zeros((3, 2)), "masked array"),
        (
            TABLE | {"onset": np.ma.masked_array([0.0, 1.0, 0.0], mask=[0, 1, 0])},
            TABLE,
            "'onset' is a masked",
        ),
        (TABLE, pd.Series([1.0]), "a pandas Series is not a table; expected a path"),
        (TABLE, [(0, 1, "car")], "a list is not a table; expected .*DataFrame"),
        (TABLE, ((0, 1, "car"),), "a tuple is not a table; expected"),
        (TABLE, pd.DataFrame, "not a table; expected a path"),
        (TABLE, b"ref.tsv", "not a table; expected a path"),
        (TABLE, {"onset": 1, "offset": 2, "event_label": "car"}, "'onset' is 1 .* one value per row"),
        (TABLE, TABLE | {"offset": [1.0]}, "'offset' has 1 row, 'filename' has 3"),
        (TABLE, TABLE | {"event_label": ["car", 5, "car"]}, r"row 1: event_label is 5 \(int\)"),
        (TABLE, TABLE | {"event_label": [["car"], ["car", "dog"], None]}, r"row 0: event_label is \['car'\]"),
        (TABLE, pd.DataFrame(TABLE | {"event_label": ["car", 5, "car"]}), r"row 1: event_label is 5 \(int\)"),
        (TABLE, TABLE | {"event_label": [1.0, 2.0, 1.0]}, r"row 0: event_label is 1\.0 \(float\)"),
        (TABLE, pd.DataFrame(TABLE | {"filename": [["a"], "a", "b"]}), r"row 0: filename is \['a'\]"),
        (TABLE, TABLE | {"onset": [0.0, "x", 0.0]}, "row 1: onset is 'x' .* does not hold numbers"),
        (TABLE, TABLE | {"offset": [1.0, 1e10, 1.0]}, "row 1: offset .*over 31536000 s"),
        (TABLE, TABLE | {"event_label": ["car", " ", "car"]}, "row 1: event_label is empty"),
        (np.zeros(3), np.zeros(3), "n_segments, n_classes"),
        (np.zeros((3, 2)), np.zeros((4, 2)), "expected that of the reference"),
        (np.zeros((3, 2)), np.zeros((3, 3)), "expected that of the reference"),
        (np.full((3, 2), np.nan), np.zeros((3, 2)), "is nan"),
        (np.full((3, 2), 2.0), np.zeros((3, 2)), "is 2.0"),
        (np.array([["x"]]), np.array([["x"]]), "expected numbers"),
        (None, TABLE, "not a table; expected a path"),
        ([1, 2], TABLE, "not a table"),
        (TABLE | {"onset": [0.0, None, 1.0]}, TABLE, "row 1: onset is empty"),
        (TABLE, {"a": [1]}, "no onset column"),
    ],
)
def test_what_cannot_be_scored_is_an_input_error(reference, system, words):
    with pytest.raises(InputError, match=words):
        evaluate(reference, system)


@pytest.mark.parametrize(
    "seconds", ["x", float("nan"), float("inf"), -1, None, True, 1e300, 1e12, 10**400, 1j, np.complex128(1)]
)
def test_durations_must_be_seconds(seconds):
    with pytest.raises(InputError, match="expected a number of seconds"):
        evaluate(TABLE, TABLE, durations={"a": seconds})


@pytest.mark.parametrize("durations", [[1], 5, True, b"d.tsv", pd.Series({"a": 1.0}), {1: 5.0}, {None: 5.0}])
def test_durations_are_a_mapping_of_names_or_a_path(durations):
    with pytest.raises(InputError, match="durations: .*expected"):
        evaluate(TABLE, TABLE, durations=durations)


def test_durations_of_numpy_and_up_to_a_year_are_taken():
    for seconds in (np.float32(5), np.int64(5), 3e7):
        assert evaluate(TABLE, TABLE, durations={"a": seconds, "b": 0}, only="event").length == seconds


@pytest.mark.parametrize(
    "settings",
    [
        {"segment_lenght": 1},
        {"threshold": "x"},
        {"threshold": float("nan")},
        {"classes": []},
        {"classes": [1]},
        {"cls": 1},
        {"name": 5},
        {"self": 1},
        {"beta": 1e200},
        {"beta": 1e-4},
        {"beta": 1001},
        {"beta": np.bool_(True)},
        {"threshold": np.array([0.5])},
        {"threshold": np.complex128(1)},
        {"onset": np.int64(1)},
        {"only": []},
        {"only": ["segment.tuned"]},
        {"matching": "best"},
        {"inclusive": 1},
        {"onset": False, "offset": False},
    ],
    ids=str,
)
def test_bad_settings_are_settings_errors(settings):
    with pytest.raises(SettingsError):
        evaluate(TABLE, TABLE, **settings)
    assert issubclass(SettingsError, EvaluationError)


def test_scalars_of_numpy_are_settings():
    given = {
        "segment_length": np.int64(2),
        "threshold": np.float32(0.25),
        "inclusive": np.bool_(True),
        "pool": np.str_("mean"),
        "beta": np.float64(1000),
        "classes": np.array(["car"]),
    }
    plain = {name: value.item() for name, value in given.items() if name != "classes"} | {"classes": ("car",)}
    scores = evaluate(TABLE, TABLE, **given)
    assert scores.settings == Settings.of(**plain)
    for value in (*scores.settings.to_dict().values(), *scores.settings.classes):
        assert type(value).__module__ == "builtins"
    assert dict(scores) == dict(evaluate(TABLE, TABLE, **plain))


@pytest.mark.parametrize("beta", [1e-3, 1e3])
def test_the_extremes_of_beta_give_numbers(beta):
    table = TABLE | {"soft_value": [1e-3, 0.0, 1.0]}
    assert evaluate(TABLE, table, beta=beta)["segment.soft.fbeta.micro"] is not None


def test_number_of_class_names_must_fit_an_array():
    with pytest.raises(EvaluationError, match="2 columns"):
        evaluate(np.zeros((3, 2)), np.zeros((3, 2)), classes=("car",))


@pytest.mark.parametrize("length", [1 / 3, 512 / 44100, 1.5e-6])
def test_rows_of_an_array_are_the_segments_whatever_their_length(length):
    values = np.random.default_rng(0).random((2000, 2))
    scores = evaluate(values, values, segment_length=length, threshold=0.9, only=["segment.hard"])
    assert scores["segment.hard.n_ref.micro"] == (values > 0.9).sum()
    assert scores.n_segments == 2000
    assert scores.settings.segment_length == length


def test_all_bases_are_named_by_all_however_settings_are_made():
    bases = ("segment", "event", "intersection", "clip", "ranking")
    assert Settings(only=("all",)).only == Settings.of(only=["segment", "all"]).only == bases
