"""What is wrong with data in memory and in columns is said; messages are short and harmless.

Broken files of all forms are in tests/tools/bad_inputs.tsv.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from called import call
from test_samples import written

from sedeval_soft.errors import MAX_PROBLEMS, InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.columnar import rows_from_data

HEAD = b"filename\tonset\toffset\tevent_label\tsoft_value\n"


def test_many_problems_are_shown_ten_at_a_time(tmp_path):
    path, good = tmp_path / "many.tsv", tmp_path / "good.tsv"
    good.write_bytes(HEAD)
    path.write_bytes(HEAD + b"a.wav\t2\t1\tcar\t1\n" * 50)
    with pytest.raises(InputError, match="more problems") as caught:
        read_rows(path)
    assert [problem.line for problem in caught.value.problems] == list(range(2, 2 + MAX_PROBLEMS))
    done = call(good, path)
    assert (done.code, done.out) == (2, "")
    assert f"{path}:2:3" in done.err


def test_long_and_hostile_text_is_shortened_and_escaped(tmp_path):
    path = tmp_path / "hostile.tsv"
    path.write_bytes(HEAD + b"a.wav\t\x1b[31mred" + b"x" * 500 + b"\t1\tcar\t1\n")
    with pytest.raises(InputError) as caught:
        read_rows(path)
    message = str(caught.value)
    assert "\x1b" not in message
    assert "\\x1b[31mred" in message
    assert len(message) < 300
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="cannot be read as JAMS"):
        read_rows(path, form="jams")


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    ["ref.tsv missing.tsv", f"ref.tsv {LONG}", f"ref.tsv {LONG}*", f"ref.tsv ref.tsv --config {LONG}",
     f"ref.tsv ref.tsv --thresholds {LONG}", f"validate {LONG}", f"convert {LONG} x.tsv",
     f"convert ref.tsv {LONG}.tsv", f"plot pr ref.tsv ref.tsv -o x.png --durations {LONG}"],
)  # fmt: skip
def test_what_is_not_there_or_cannot_be_looked_at_is_refused(arguments, tmp_path, monkeypatch):
    """Anything but an error of the package is raised here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    assert call(*arguments.split()).code == 2


COLUMNS = {
    "nested onset": ({"onset": [[0.0]], "offset": [1.0], "label": ["a"]}, "onset is"),
    "text in numbers": ({"onset": ["x"], "offset": ["1"], "label": ["a"]}, "row 0: onset 'x' is not"),
    "null label": ({"onset": [0.0], "offset": [1.0], "label": pa.array([None], pa.string())},
        "label is empty"),
    "null onset": ({"onset": [None, 1.0], "offset": [1.0, 2.0], "label": ["a", "b"]}, "onset is empty"),
    "NaN": ({"onset": [float("nan")], "offset": [1.0], "label": ["a"]}, "onset (is empty|'nan' is not)"),
    "infinite": ({"onset": [0.0], "offset": [float("inf")], "label": ["a"]}, "offset 'inf' is not finite"),
    "negative": ({"onset": [-1.0], "offset": [1.0], "label": ["a"]}, "onset -1.0 is negative"),
    "backwards": ({"onset": [2.0], "offset": [1.0], "label": ["a"]}, "is before onset 2.0"),
    "value": ({"onset": [0.0, 0.0], "offset": [1.0, 1.0], "label": ["a", "b"], "value": [0.5, 7.0]},
        "row 1: value 7.0 is outside"),
    "no label": ({"onset": [0.0], "offset": [1.0]}, "no column of labels"),
    "no onset": ({"begn": [0.0], "offset": [1.0], "label": ["a"]}, "no onset"),
    "wide text": ({"onset": [0.0], "offset": [1.0], "car": ["loud"]}, "row 0: car 'loud' is not a number"),
    "bytes": ({"onset": [0.0], "offset": [1.0], "label": [b"a"]}, "label is"),
    "times": ({"onset": pa.array([1], pa.timestamp("s")), "offset": [1.0], "label": ["a"]}, "onset"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_cannot_be_scored_are_refused(name, tmp_path):
    columns, words = COLUMNS[name]
    for form in ("parquet", "file", "stream"):
        written(form, pa.table(columns), tmp_path / form)
        with pytest.raises(InputError, match=words):
            read_rows(tmp_path / form)
    for frame in (columns, pa.table(columns), pa.table(columns).to_pandas()):
        with pytest.raises(InputError, match=words):
            rows_from_data(frame, "system")


def test_an_arrow_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    path, whole = tmp_path / "a.arrow", tmp_path / "whole"
    written("file", pa.table({"onset": [0.0] * 99, "offset": [1.0] * 99, "label": ["a"] * 99}), whole)
    data = whole.read_bytes()
    for length in range(10, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="cannot be read as Arrow file"):
            read_rows(path)


@pytest.mark.parametrize("data", [3, "text", [1, 2], {"a": [1]}, {}])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(InputError):
        rows_from_data(data, "system")
