"""What is wrong with a file of each form is said, with where it stands; never a traceback."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import call
from drawn import WRITTEN
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tables import long_rows
from test_samples import SAMPLES, tarred, written, zipped

from sedeval_soft.errors import MAX_PROBLEMS, EvaluationError, InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.fit import fit
from sedeval_soft.tables.forms import FORMS, read_table
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source

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


def test_missing_files_and_folders_are_input_errors(tmp_path):
    for path in (tmp_path / "missing.tsv", tmp_path):
        with pytest.raises(InputError):
            read_rows(path)


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
    "value": ({"onset": [0.0], "offset": [1.0], "label": ["a"], "value": [7.0]}, "value 7.0 is outside"),
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


def test_an_extension_says_what_a_file_should_be(tmp_path):
    for extension in ("parquet", "arrow", "jsonl", "jams", "rttm", "zip", "tar", "arrows"):
        path = tmp_path / f"x.{extension}"
        for data, words in ((TABLE, "."), (b"", "is empty|cannot be read")):
            path.write_bytes(data)
            with pytest.raises(InputError, match=words):
                read_rows(path)


TABLE = b"onset\toffset\tlabel\n0\t1\tcar\n"


def tar_link(kind):
    """Return a tar archive with a link, or a device."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo("a.tsv")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    return made.getvalue()


def zip_link():
    """Return a zip archive with a symbolic link."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("a.tsv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def wrong_sum():
    """Return a zip archive whose member was changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.tsv", TABLE)
    return made.getvalue().replace(b"car\n", b"cat\n")


ARCHIVES = {
    "zip: absolute": (lambda: zipped({"/a.tsv": TABLE}), "unsafe-name"),
    "zip: backslashes": (lambda: zipped({"x\\..\\..\\a.tsv": TABLE}), "unsafe-name"),
    "zip: drive": (lambda: zipped({"C:a.tsv": TABLE}), "unsafe-name"),
    "zip: symlink": (zip_link, "archive-link"),
    "zip: zip called table": (lambda: zipped({"a.tsv": zipped({"b.tsv": TABLE})}), "nested-archive"),
    "zip: tar in it": (lambda: zipped({"a.tsv": tarred({"b.tsv": TABLE})}), "nested-archive"),
    "zip: wrong sum": (wrong_sum, "broken-archive"),
    "zip: no table": (lambda: zipped({"README.md": b"hello"}), "empty-folder"),
    "zip: one recording twice": (lambda: zipped({"a.tsv": TABLE, "x/a.csv": TABLE}), "repeated-recording"),
    "zip: long and wide": (lambda: zipped({"a.tsv": TABLE, "b.tsv": b"onset\toffset\tcar\n0\t1\t1\n"}),
        "mixed-tables"),
    "tar: parent folder": (lambda: tarred({"../a.tsv": TABLE}), "unsafe-name"),
    "tar: absolute": (lambda: tarred({"/root/a.tsv": TABLE}), "unsafe-name"),
    "tar: hard link": (lambda: tar_link(tarfile.LNKTYPE), "archive-link"),
    "tar: pipe": (lambda: tar_link(tarfile.FIFOTYPE), "archive-link"),
    "tar: device": (lambda: tar_link(tarfile.CHRTYPE), "archive-link"),
    "tar: tar in it": (lambda: tarred({"a.tar": tarred({"b.tsv": TABLE})}), "nested-archive"),
    "tar.gz: tar.gz called table": (lambda: tarred({"a.tsv": tarred({"b.tsv": TABLE}, "w:gz")}, "w:gz"),
        "nested-archive"),
    "tar.xz: truncated": (lambda: tarred({"a.tsv": TABLE * 1000}, "w:xz")[:200], "broken-gzip"),
    "tar: truncated": (lambda: tarred({"a.tsv": TABLE * 1000})[:1500], "broken-archive"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_bad_archives_are_refused(name, tmp_path):
    make, code = ARCHIVES[name]
    path = tmp_path / "submission"
    path.write_bytes(make())
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert caught.value.problems[0].code == code, str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


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


def seeds():
    """Return files of all forms as they should be."""
    rows = long_rows([("", 0.0, 1.0, "car", 0.5), ("", 1.0, 2.5, "dog", 0.25)])
    found = [(form.name, form.write(fit(rows, form, called="x").rows)) for form in WRITTEN if not form.folder]
    found += [(name.split()[0], text.encode()) for name, (_, text, _) in SAMPLES.items()]
    return [*found, ("zip", zipped({"a.tsv": TABLE})), ("tar", tarred({"a.tsv": TABLE}))]


SEEDS = seeds()


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(SEEDS),
    st.lists(
        st.tuples(
            st.integers(0, 1 << 16), st.sampled_from(["flip", "cut", "insert", "drop"]), st.binary(max_size=4)
        )
    ),
    st.booleans(),
)
@example(SEEDS[0], [], False)
def test_corrupted_files_are_read_or_refused(seed, changes, forced):
    form, data = seed
    made = bytearray(data)
    for at, how, more in changes:
        place = at % (len(made) + 1)
        if how == "flip" and place < len(made):
            made[place] ^= (more or b"\x01")[0]
        elif how == "insert":
            made[place:place] = more
        elif how == "drop":
            del made[place : place + len(more)]
        elif how == "cut" and at % 5 == 0:
            del made[place:]
    source = Source("x", bytes(made), lambda: "")
    try:
        rows = read_table(source, form if forced else "")
    except EvaluationError:
        return
    if rows is not None:
        assert np.all(rows.onset >= 0)
        assert np.all(rows.offset >= rows.onset)


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
