"""What is wrong with a file of each form is said, with where it stands; never a traceback."""

from __future__ import annotations

import csv
import gzip
import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import call
from drawn import WRITTEN
from tables import long_rows
from test_samples import tarred, written, zipped

from sedeval_soft.errors import MAX_PROBLEMS, InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.fit import fit
from sedeval_soft.tables.forms import FORMS
from sedeval_soft.tables.frames import rows_from_data
from sedeval_soft.tables.limits import Limits

HEAD = b"filename\tonset\toffset\tevent_label\tsoft_value\n"
LINES = (Path(__file__).parent / "malformed.tsv").read_text().splitlines()
TEXTS = {row["name"]: row for row in csv.DictReader(LINES, delimiter="\t", quoting=csv.QUOTE_NONE)}
"""Files that cannot be scored: form, or empty to find out; place and words of the first problem; bytes."""


@pytest.mark.parametrize("name", TEXTS)
def test_malformed_files_are_refused_where_they_are_wrong(name, tmp_path):
    row = TEXTS[name]
    path = tmp_path / "bad"
    path.write_bytes(json.loads('"{}"'.format(row["data"].replace('"', '\\"'))).encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_rows(path, form=row["form"])
    first = caught.value.problems[0]
    assert first.source == str(path)
    assert str(first).isprintable()
    assert all(word in first.message for word in row["words"].split("|")), first
    if name != "binary":
        assert str(first.line or "") == row["line"]
    if name != "binary" and not row["form"]:
        assert str(first.column or "") == row["column"]


def test_every_form_has_a_malformed_sample():
    forms = {form.name for form in FORMS if form.name not in {"maestro", "score-dir", "wide-csv"}}
    assert {row["form"] for row in TEXTS.values()} >= forms


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
     f"convert ref.tsv {LONG}.tsv", f"plot pr ref.tsv ref.tsv -o x.png --style {LONG}"],
)  # fmt: skip
def test_what_is_not_there_or_cannot_be_looked_at_is_refused(arguments, tmp_path, monkeypatch):
    """Anything but an error of the package is raised here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    assert call(*arguments.split()).code == 2


COLUMNS = {
    "nested onset": ({"onset": [[0.0]], "offset": [1.0], "label": ["a"]}, "onset is"),
    "text in numbers": ({"onset": ["x"], "offset": ["1"], "label": ["a"]}, "onset is 'x'"),
    "null label": ({"onset": [0.0], "offset": [1.0], "label": pa.array([None], pa.string())},
        "label is empty"),
    "null onset": ({"onset": [None, 1.0], "offset": [1.0, 2.0], "label": ["a", "b"]}, "onset is empty"),
    "NaN": ({"onset": [float("nan")], "offset": [1.0], "label": ["a"]}, "onset is empty"),
    "infinite": ({"onset": [0.0], "offset": [float("inf")], "label": ["a"]}, "offset 'inf' is not finite"),
    "negative": ({"onset": [-1.0], "offset": [1.0], "label": ["a"]}, "onset -1.0 is negative"),
    "backwards": ({"onset": [2.0], "offset": [1.0], "label": ["a"]}, "is before onset 2.0"),
    "value": ({"onset": [0.0, 0.0], "offset": [1.0, 1.0], "label": ["a", "b"], "value": [0.5, 7.0]},
        "row 1: value 7.0 is outside"),
    "no label": ({"onset": [0.0], "offset": [1.0]}, "no column of labels"),
    "no onset": ({"begn": [0.0], "offset": [1.0], "label": ["a"]}, "no onset"),
    "wide text": ({"onset": [0.0], "offset": [1.0], "car": ["loud"]}, "car is 'loud'"),
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


@pytest.mark.parametrize("data", [3, "text", [1, 2], {"a": [1]}, {}])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(InputError):
        rows_from_data(data, "system")


def test_an_extension_says_what_a_file_should_be(tmp_path):
    for extension in ("parquet", "arrow", "jsonl", "jams", "rttm", "zip", "tar", "arrows"):
        path = tmp_path / f"x.{extension}"
        for data, words in ((TABLE, "."), (b"", "is empty|cannot be read")):
            path.write_bytes(data)
            with pytest.raises(InputError, match=words):
                read_rows(path)


TABLE = b"onset\toffset\tlabel\n0\t1\tcar\n"


BOMB = b"\n" * (1 << 20)


def test_decompressed_bytes_are_counted_and_a_bomb_is_known_long_before_its_end(tmp_path):
    path = tmp_path / "bomb"
    many = {f"{i}.tsv": BOMB[: 1 << 17] for i in range(8)}
    packed = [tarred({"a.tsv": BOMB}, f"w:{z}") for z in ("xz", "bz2")]
    for data in (zipped({"a.tsv": BOMB}), zipped(many), *packed):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"--limit size=") as caught:
            read_rows(path, limits=Limits(size=1 << 19))
        assert caught.value.problems[0].code == "too-many-size"
    nothing = bytes(1 << 25)
    packed = [tarred({"a.tsv": nothing}, f"w:{z}") for z in ("xz", "bz2")]
    for data in (zipped({"a.tsv": nothing}), zipped({"a.tsv": gzip.compress(nothing)}), *packed):
        path.write_bytes(data)
        with pytest.raises(InputError, match="--limit ratio=") as caught:
            # By its size it would be known at its end only.
            read_rows(path, limits=Limits(size=(1 << 25) - 1, ratio=100))
        assert caught.value.problems[0].code == "too-many-ratio"


def test_the_size_that_a_zip_says_is_not_believed(tmp_path):
    data = bytearray(zipped({"a.tsv": BOMB}))
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.find(signature) + at
        data[place : place + 4] = struct.pack("<I", 10)
    path = tmp_path / "bomb.zip"
    path.write_bytes(bytes(data))
    with pytest.raises(InputError):
        read_rows(path)


def test_members_are_counted(tmp_path):
    for make in (zipped, tarred):
        path = tmp_path / "many"
        path.write_bytes(make({f"{i}.tsv": TABLE for i in range(5)}))
        assert len(read_rows(path, limits=Limits(members=5)).files) == 5
        with pytest.raises(InputError, match="--limit members=5"):
            read_rows(path, limits=Limits(members=4))


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrow-stream", "jsonl", "rttm", "elan", "jams"])
def test_what_a_table_has_is_held_to_the_limits(form, tmp_path):
    known = next(each for each in WRITTEN if each.name == form)
    rows = long_rows([("", 0.0, 1.0, "car"), ("", 1.0, 2.0, "dog")])
    path = tmp_path / f"x{known.extensions[0]}"
    path.write_bytes(known.write(fit(rows, known).rows))
    assert len(read_rows(path, limits=Limits(rows=2))) == 2
    for limits, option in (
        (Limits(rows=1), "rows=2"),
        (Limits(classes=1), "classes=2"),
        (Limits(name_length=2), "name_length=3"),
        (Limits(duration=1.5), "duration=SECONDS"),
    ):
        with pytest.raises(InputError, match=f"--limit {option} "):
            read_rows(path, limits=limits)


def test_columns_that_unfold_to_much_are_refused(tmp_path):
    table = pa.table({name: pa.array(np.zeros(1 << 20)) for name in ("onset", "offset", "car")})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    assert path.stat().st_size < 1 << 17
    with pytest.raises(InputError, match="--limit size="):
        read_rows(path, limits=Limits(size=1 << 20))


def test_there_is_no_path_from_a_name(tmp_path):
    """Nothing that a table names is opened or written: only the target is."""
    from sedeval_soft.tools.convert import convert

    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("../out", "/root/out-of-it", "a/b", "a\\b", "..", "C:x", "nul", ".x", "a\0b"):
        rows = replace(long_rows([("f", 0.0, 1.0, "car")]), files=(name,))
        with pytest.raises(InputError) as caught:
            convert(rows, inner / "made", to="maestro")
        assert caught.value.problems[0].code == "unsafe-name"
    assert list(inner.iterdir()) == []
    assert list(tmp_path.iterdir()) == [inner]
