"""Impossible columns are refused, and columns with unknown names are asked about, for any kind of input.

tests/tools/bad_inputs.tsv has broken files of all forms. `readings.tsv` has the columns that are known, asked
about, or named by the user.
"""

import shutil
from pathlib import Path
from unittest import mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import call
from drawn import lay_out, written
from parted import count_in_parts
from tables import columns_of

from sedeval_soft import InputError, Settings, convert, evaluate, validate
from sedeval_soft.memory import RoomError

HEAD = b"filename\tonset\toffset\tevent_label\tsoft_value\n"


def test_ten_problems_are_shown_of_many_and_text_is_shortened_and_escaped(tmp_path):
    rows = b"a.wav\t\x1b[31mred" + b"x" * 500 + b"\t1\tcar\t1\n" + b"a\t2\t1\tcar\t1\n" * 50
    path = lay_out(tmp_path, {"good.tsv": HEAD, "many.tsv": HEAD + rows}) / "many.tsv"
    done = call(tmp_path / "good.tsv", path)
    assert (done.code, done.out, "\x1b" in done.err) == (2, "", False)
    first, *lines = done.err.splitlines()
    assert first.startswith(f"{path}:2:2: ") and "\\x1b[31mred" in first and len(first) < 300
    assert [line.startswith(f"{path}:{k}:3: ") for k, line in enumerate(lines, 3)] == [*[True] * 9, False]


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    ["ref.tsv missing.tsv", f"ref.tsv {LONG}", f"ref.tsv {LONG}*", f"ref.tsv ref.tsv --config {LONG}",
     f"ref.tsv ref.tsv --thresholds {LONG}", f"validate {LONG}", f"convert {LONG} x.tsv",
     f"convert ref.tsv {LONG}.tsv", f"plot pr ref.tsv ref.tsv -o x.png --durations {LONG}"],
)  # fmt: skip
def test_files_that_are_missing_or_have_impossible_names_are_refused(arguments, tmp_path, monkeypatch):
    """`call` raises any other error than the package's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    assert call(*arguments.split()).code == 2


COLUMNS = {
    "nested onset": ({"onset": [[0.0]], "offset": [1.0], "label": ["a"]}, "onset is "),
    "text in numbers": ({"onset": ["x"], "offset": ["1"], "label": ["a"]}, "row 0: onset 'x' "),
    "null label": ({"onset": [0.0], "offset": [1.0], "label": pa.array([None], pa.string())}, "row 0: label"),
    "null onset": ({"onset": [None, 1.0], "offset": [1.0, 2.0], "label": ["a", "b"]}, "row 0: onset "),
    "NaN": ({"onset": [float("nan")], "offset": [1.0], "label": ["a"]}, "row 0: onset "),
    "infinite": ({"onset": [0.0], "offset": [float("inf")], "label": ["a"]}, "row 0: offset 'inf' "),
    "negative": ({"onset": [-1.0], "offset": [1.0], "label": ["a"]}, "row 0: onset -1.0 "),
    "backwards": ({"onset": [2.0], "offset": [1.0], "label": ["a"]}, "row 0: offset 1.0 "),
    "value": ({"onset": [0.0, 0.0], "offset": [1.0, 1.0], "label": ["a", "b"], "value": [0.5, 7.0]},
        "row 1: value 7.0 "),
    "no label": ({"onset": [0.0], "offset": [1.0]}, "event_label"),
    "no onset": ({"begn": [0.0], "offset": [1.0], "label": ["a"]}, "'begn'"),
    "wide text": ({"onset": [0.0], "offset": [1.0], "car": ["loud"]}, "row 0: car 'loud' "),
    "bytes": ({"onset": [0.0], "offset": [1.0], "label": [b"a"]}, "row 0: label "),
    "times": ({"onset": pa.array([1], pa.timestamp("s")), "offset": [1.0], "label": ["a"]}, "onset is "),
    "negative duration": ({"onset": [0.0], "duration": [-1.0], "label": ["a"]}, "row 0: duration -1.0 "),
    "milliseconds": ({"onset_ms": [9.0], "offset_ms": [8.0], "label": ["a"]}, "row 0: offset 8.0 "),
    "years": ({"filename": ["20150204_030001.wav"], "start_datetime": ["0001-01-01T00:00:00+14:00"],
        "end_datetime": ["9999-12-31T23:59:59-14:00"], "annotation": ["x"]}, "row 0: start_datetime "),
}  # fmt: skip
"""Columns, and the place of the problem: the row from 0 on, and the column."""


@pytest.mark.parametrize(("columns", "place"), COLUMNS.values(), ids=COLUMNS)
def test_columns_that_cannot_be_scored_are_refused_by_place(columns, place, tmp_path):
    table = pa.table(columns)
    for source, code in (
        *((source, "invalid") for source in (columns, table, table.to_pandas())),
        *((written(f, table, tmp_path / f), "malformed-file") for f in ("parquet", "file", "stream")),
    ):
        with pytest.raises(InputError) as caught:
            convert(source, tmp_path / "out.tsv")
        first = caught.value.problems[0]
        assert place in first.message and first.code == code


@pytest.mark.parametrize(
    "data",
    [3, "text", [1, 2], {"a": [1]}, {}, {"onset": [0.0, 1.0], "offset": [1.0], "label": ["a"]}],
    ids=repr,
)
def test_data_that_are_not_a_table_are_refused(data, tmp_path):
    with pytest.raises(InputError):
        convert(data, tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("way", ["Parquet", "text"])
def test_a_problem_in_a_later_block_has_its_place_in_the_whole_table(way, tmp_path, monkeypatch):
    """If a block is wrong, a table that fits into memory is read as a whole; a mock sets the memory."""
    rows = columns_of([("a", float(k), float(k + 1 - 2 * (k == 20)), "car") for k in range(30)])
    path = given(way, pd.DataFrame(rows), tmp_path / "x")
    for room in ({}, {"side_effect": RoomError("too large")}):
        monkeypatch.setattr("sedeval_soft.tables.stored_rows.check_text_room", mock.Mock(**room))
        with pytest.raises(InputError) as caught:
            count_in_parts(path, path, Settings(), block=40)
        first = caught.value.problems[0]
        assert "row 20: " in str(first) if way == "Parquet" else (first.line, first.column) == (22, 3)


# Columns with unknown names.

REFERENCE, SYSTEM = (
    pd.DataFrame(columns_of(rows))
    for rows in (
        [("r0", 0.0, 2.0, "car"), ("r1", 4.0, 6.0, "car"), ("r2", 1.0, 2.0, "dog")],
        [("r0", 4.0, 6.0, "car"), ("r1", 0.0, 2.0, "car"), ("r2", 1.0, 2.0, "dog")],
    )
)
"""If all rows were of one recording, the system would find all events; with three, it finds only the dog."""

SCORE = "segment.hard.f1.micro"
F1 = pytest.approx(1 / 5)


def check_asked(code: str, word: str, system: object, **how: object) -> None:
    """Check that a system is refused with a code, and that the message has a word."""
    with pytest.raises(InputError, match=word) as caught:
        evaluate(REFERENCE, system, **how)
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize(("name", "ending"), [("clipp", ""), ("what", ".wav"), ("take", "")])
def test_tables_of_a_folder_are_asked_about_where_a_column_seems_to_name_recordings(name, ending, tmp_path):
    """A folder, archive or pattern with one table leads to the same question as the table."""
    frame = SYSTEM.rename(columns={"filename": name}).assign(**{name: SYSTEM["filename"] + ending})
    parts = [frame] if name == "take" else [frame[:2], frame[2:]]
    texts = {f"part-{k}.tsv": part.to_csv(sep="\t", index=False) for k, part in enumerate(parts)}
    folder = lay_out(tmp_path / "folder", texts)
    for system in (folder, shutil.make_archive(str(folder), "zip", folder), f"{folder}/*.tsv"):
        check_asked("unclear-file-column", f"'{name}'", system)
        assert evaluate(REFERENCE, system, columns=f"filename={name}")[SCORE] == F1
    assert "unclear-file-column" in validate(folder).counts


def given(way: str, frame: pd.DataFrame, path: Path) -> object:
    """Return a table in one of the ways in which `evaluate` takes it."""
    if way == "data frame":
        return frame
    if way == "Parquet":
        pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=7)
    elif way == "JSON lines":
        path.write_text(frame.to_json(orient="records", lines=True))
    else:
        frame.to_csv(path, sep="\t", index=False)
    return path


@pytest.mark.parametrize(
    ("way", "how"),
    [("text", {}), ("text", {"jobs": 1}), ("Parquet", {}), ("Parquet", {"jobs": 1}), ("JSON lines", {}),
     ("data frame", {})],
)  # fmt: skip
def test_a_table_is_asked_about_alike_however_it_is_read(way, how, tmp_path):
    values = [0.25, 0.75, 0.625, *(k / 100 for k in range(40))]
    more = pd.DataFrame(columns_of([(f"x{k:03}", 0.0, 1.0, "car") for k in range(40)]))
    valued = pd.concat([SYSTEM, more], ignore_index=True).assign(p=values)
    system = given(way, valued, tmp_path / "p")
    check_asked("unclear-value-column", r"'p' .*0\.25, 0\.", system, **how)
    scores = evaluate(REFERENCE, system, columns={"value": "p"}, only="segment", **how)
    assert dict(scores) == dict(evaluate(REFERENCE, valued.rename(columns={"p": "value"}), only="segment"))
    # If the last number is not a value, a column with an unknown name is reported, not asked about.
    system = given(way, valued.assign(what=[*values[:-1], 7]).drop(columns="p"), tmp_path / "what")
    for columns in ((), "ignore=what"):
        warnings = evaluate(REFERENCE, system, columns=columns, only="event.hard", **how).warnings
        assert sum("'what'" in text and "(0.25, 0." in text for text in warnings) == (not columns)
    system = given(way, SYSTEM.rename(columns={"filename": "take"}), tmp_path / "take")
    check_asked("unclear-file-column", "'take' .*'r0', 'r1', 'r2'", system, **how)
    names = {"filename": ["other", "take"]}
    assert evaluate(REFERENCE, system, columns=names, only="segment.hard", **how)[SCORE] == F1


def test_texts_of_an_index_without_a_name_are_asked_about_as_in_parquet_and_numbers_are_not(tmp_path):
    frame = pd.DataFrame({"onset": [0, 1.0], "offset": [1, 2.0], "car": [0.2, 0.3]})
    named = frame.set_axis(["r0", "r1"])
    named.to_parquet(tmp_path / "x.parquet")
    named.to_csv(tmp_path / "x.csv")
    parts = pd.concat({"r0": frame[:1], "r1": frame[1:]})
    for data in (named, tmp_path / "x.parquet", pd.read_csv(tmp_path / "x.csv"), parts):
        check_asked("unclear-file-column", "'r0', 'r1'", data)
        names = "filename=__index_level_0__,filename=Unnamed: 0"
        assert evaluate(data, data, columns=names, only="segment").files == ("r0", "r1")
    frame[::-1].to_parquet(tmp_path / "y.parquet")
    for data in (frame, frame[::-1], tmp_path / "y.parquet"):
        scores = evaluate(data, data, only="segment")
        assert (scores.files, scores.warnings) == (("",), ())
