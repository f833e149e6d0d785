"""Columns of data that cannot be scored are refused, in memory and in files; messages are short and harmless.

Broken files of all forms are in tests/tools/bad_inputs.tsv.
"""

from __future__ import annotations

from unittest import mock

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import call
from drawn import written
from parted import count_in_parts
from tables import columns_of

from sedeval_soft import Settings, convert
from sedeval_soft.errors import InputError
from sedeval_soft.memory import RoomError

HEAD = b"filename\tonset\toffset\tevent_label\tsoft_value\n"


def test_ten_problems_are_shown_of_many_and_text_is_shortened_and_escaped(tmp_path):
    path, good = tmp_path / "many.tsv", tmp_path / "good.tsv"
    good.write_bytes(HEAD)
    path.write_bytes(HEAD + b"a.wav\t\x1b[31mred" + b"x" * 500 + b"\t1\tcar\t1\n" + b"a\t2\t1\tcar\t1\n" * 50)
    done = call(good, path)
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
    """Anything but an error of the package is raised here."""
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


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_cannot_be_scored_are_refused_by_place(name, tmp_path):
    columns, place = COLUMNS[name]
    table = pa.table(columns)
    for source, code in (
        *((source, "invalid") for source in (columns, table, table.to_pandas())),
        *((written(f, table, tmp_path / f), "malformed-file") for f in ("parquet", "file", "stream")),
    ):
        with pytest.raises(InputError) as caught:
            convert(source, tmp_path / "out.tsv")
        first = caught.value.problems[0]
        assert place in first.message and first.code == code


UNEVEN = {"onset": [0.0, 1.0], "offset": [1.0], "label": ["a"]}


@pytest.mark.parametrize("data", [3, "text", [1, 2], {"a": [1]}, {}, UNEVEN], ids=repr)
def test_data_that_are_not_a_table_are_refused(data, tmp_path):
    with pytest.raises(InputError):
        convert(data, tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("form", ["parquet", "tsv"])
def test_a_problem_in_a_later_block_has_its_place_in_the_whole_table(form, tmp_path, monkeypatch):
    """The memory of this machine is replaced: a table that fits is read as a whole when a block is wrong."""
    rows = columns_of([("a", float(k), float(k + 1 - 2 * (k == 20)), "car") for k in range(30)])
    path = tmp_path / f"x.{form}"
    if form == "parquet":
        pq.write_table(pa.table(rows), path, row_group_size=7)
    else:
        pd.DataFrame(rows).to_csv(path, sep="\t", index=False)
    for room in ({}, {"side_effect": RoomError("too large")}):
        monkeypatch.setattr("sedeval_soft.tables.stored_rows.check_text_room", mock.Mock(**room))
        with pytest.raises(InputError) as caught:
            count_in_parts(path, path, Settings(), block=40)
        first = caught.value.problems[0]
        assert "row 20: " in str(first) if form == "parquet" else (first.line, first.column) == (22, 3)
