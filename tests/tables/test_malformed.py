"""What is wrong with a file of each form is said, with where it stands; never a traceback."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn import WRITTEN
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tables import long_rows
from test_samples import SAMPLES, tarred, zipped

from sedeval_soft.errors import EvaluationError, InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.fit import fit
from sedeval_soft.tables.forms import FORMS, read_table
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source

SPEAKER = "SPEAKER a 1 {} {} <NA> <NA> {} {} <NA>\n"
GOOD = SPEAKER.format("0", "1", "car", "0.5")


def observed(namespace, data):
    """Return a JAMS document of one annotation."""
    return f'{{"annotations": [{{"namespace": "{namespace}", "data": {data}}}]}}'


TEXTS = {
    "rttm: too few fields": ("rttm", GOOD + "SPEAKER a 1 0 1\n", 2, "5 fields"),
    "rttm: another line": ("rttm", GOOD + "hello\n", 2, "expected SPEAKER"),
    "rttm: onset is no number": ("rttm", GOOD + SPEAKER.format("x", "1", "car", "1"), 2, "onset 'x'"),
    "rttm: duration is negative": ("rttm", GOOD + SPEAKER.format("1", "-1", "car", "1"), 2, "-1 is negative"),
    "rttm: onset is NaN": ("rttm", SPEAKER.format("nan", "1", "car", "1"), 1, "onset 'nan'"),
    "rttm: infinite": ("rttm", SPEAKER.format("0", "1e999", "car", "1"), 1, "duration 'inf' is not finite"),
    "rttm: beyond all time": ("rttm", SPEAKER.format("0", "1e12", "car", "1"), 1, "duration=SECONDS"),
    "rttm: confidence": ("rttm", SPEAKER.format("0", "1", "car", "high"), 1, "confidence 'high'"),
    "rttm: percent": ("rttm", SPEAKER.format("0", "1", "car", "85"), 1, "percent"),
    "rttm: not UTF-8": ("rttm", GOOD.encode() + b"\xff\n", 2, "not UTF-8"),
    "audacity: one field": ("audacity", "0\t1\tcar\n\\\t1\t2\nhello\n", 3, "1 fields"),
    "audacity: no number": ("audacity", "0\t1\tcar\n\\\t1\t2\na\t1\tb\n", 3, "not a number"),
    "audacity: frequencies first": ("audacity", "\\\t1\t2\n0\t1\tcar\n", 1, "no line of frequencies"),
    "audacity: empty label": ("audacity", "0\t1\t\n", 1, "label is empty"),
    "audacity: backwards": ("audacity", "2\t1\tcar\n\\\t1\t2\n", 1, "before onset"),
    "audacity: negative": ("audacity", "-2\t1\tcar\n\\\t1\t2\n", 1, "start -2 is negative"),
    "elan: no times": ("elan", "Tier\tAnnotation\nx\tcar\n", 1, "neither a header"),
    "elan: a time of letters": ("elan",
        "Tier\tBegin Time - ss.msec\tEnd Time - ss.msec\tAnnotation\nx\ta\t1\tcar\n", 2, "'a' is not a time"),
    "elan: seconds for clock": ("elan",
        "Begin Time - hh:mm:ss.ms\tEnd Time - hh:mm:ss.ms\tAnnotation\n1\t2\tcar\n", 2, "hours"),
    "elan: too many fields": ("elan", "Begin Time - msec\tEnd Time - msec\tAnnotation\n1\t2\tcar\tx\n", 2,
        "4 fields"),
    "elan: no label": ("elan", "Begin Time - msec\tEnd Time - msec\tAnnotation\n1\t2\t\n", 2,
        "Annotation is empty"),
    "elan: no tier": ("elan", "Begin Time - msec\tEnd Time - msec\tA\tB\n1\t2\t\t\n", 2, "A is empty"),
    "jams: no JSON": ("jams", '{"annotations": [', None, "truncated"),
    "jams: no annotations": ("jams", '{"file_metadata": {}}', None, "field `annotations`"),
    "jams: none of events": ("jams", '{"annotations": [{"namespace": "beat", "data": []}]}', None,
        "no annotation"),
    "jams: deep": ("jams", "[" * 100_000, None, "cannot be read as JAMS"),
    "jams: a list": ("jams", "[1]", None, "Expected `object`, got `array`"),
    "jams: strange annotations": ("jams", '{"annotations": [1, null, "x"]}', None, "`$.annotations[0]`"),
    "jams: observations are text": ("jams", '{"annotations": [{"namespace": "segment_open", "data": "x"}]}',
        None, "annotations[0].data: Expected"),
    "jams: an observation is a number": ("jams",
        '{"annotations": [{"namespace": "segment_open", "data": [1]}]}', None, "got `int`"),
    "jams: columns of other lengths": ("jams",
        observed("segment_open", '{"time": [1], "duration": [], "value": [], "confidence": []}'), None,
        "not as many"),
    "jams: duration is null": ("jams",
        observed("segment_open", '[{"time": 1, "duration": null, "value": "a"}]'), None, "$[0].duration"),
    "jams: scaper without label": ("jams", observed("scaper", '[{"time": 1, "duration": 1, "value": {}}]'),
        None, "field `label` - at `$[0].value`"),
    "jams: label is a number": ("jams", observed("segment_open", '[{"time": 1, "duration": 1, "value": 5}]'),
        None, "`$[0].value`"),
    "jsonl: no JSON": ("jsonl", '{"onset": 0, "offset": 1, "label": "a"}\n{"onset": 0,\n', 2, "no JSON"),
    "jsonl: NaN": ("jsonl", '{"onset": NaN, "offset": 1, "label": "a"}\n', 1, "no JSON object"),
    "jsonl: a list": ("jsonl", '{"onset": 0, "offset": 1, "label": "a"}\n[1, 2]\n', 2, "got `array`"),
    "jsonl: no onset": ("jsonl", '{"offset": 1, "label": "a"}\n', 1, "no onset"),
    "jsonl: missing": ("jsonl", '{"onset": 0, "offset": 1, "label": "a"}\n{"onset": 0, "label": "a"}\n', 2,
        "offset is empty"),
    "jsonl: null": ("jsonl", '{"onset": null, "offset": 1, "label": "a"}\n', 1, "onset is empty"),
    "jsonl: true": ("jsonl", '{"onset": true, "offset": 1, "label": "a"}\n', 1, "onset is True"),
    "jsonl: text": ("jsonl", '{"onset": "0,5", "offset": 1, "label": "a"}\n', 1, "onset is '0,5'"),
    "jsonl: huge": ("jsonl", '{"onset": 0, "offset": 1' + "0" * 400 + ', "label": "a"}\n', 1,
        "offset is a value of type int"),
    "jsonl: negative": ("jsonl", '{"onset": -1, "offset": 1, "label": "a"}\n', 1, "onset -1.0 is negative"),
    "jsonl: backwards": ("jsonl", '{"onset": 2, "offset": 1, "label": "a"}\n', 1, "before onset"),
    "jsonl: value": ("jsonl", '{"onset": 0, "offset": 1, "label": "a", "value": 1.5}\n', 1, "[0, 1]"),
    "jsonl: empty label": ("jsonl", '{"onset": 0, "offset": 1, "label": " "}\n', 1,
        "label is empty"),
    "jsonl: NUL": ("jsonl", '{"onset": 0, "offset": 1, "label": "a\\u0000b"}\n', 1, "expected a name"),
    "jsonl: a class is missing": ("jsonl",
        '{"onset": 0, "offset": 1, "a": 1}\n{"onset": 1, "offset": 2, "b": 1}\n', 1, "b is empty"),
    "parquet: truncated": ("parquet", b"PAR1\x15\x04", None, "cannot be read as Parquet"),
    "parquet: only its ends": ("parquet", b"PAR1" + b"\xff" * 40 + b"PAR1", None,
        "cannot be read as Parquet"),
    "arrow: truncated": ("arrow", b"ARROW1\0\0\xff\xff\xff\xff", None, "cannot be read as Arrow"),
    "arrow-stream: broken": ("arrow-stream", b"\xff\xff\xff\xff\x10\0\0\0" + b"\x07" * 40, None,
        "cannot be read as Arrow"),
    "zip: truncated": ("zip", b"PK\x03\x04" + b"\0" * 40, None, "cannot be read as an archive"),
    "tar: broken": ("tar", b"a" * 257 + b"ustar" + b"\xff" * 300, None, "cannot be read as an archive"),
    "compressed: broken": ("compressed", b"BZh91AY&SY" + b"\0" * 40, None, "cannot be decompressed"),
    "xz: broken": ("compressed", b"\xfd7zXZ\x00" + b"\0" * 40, None, "cannot be decompressed"),
    "long: is wide": ("long", "onset\toffset\tcar\n0\t1\t0.5\n", 1, "expected a long table with header, tab"),
    "csv: is tab": ("csv", "onset\toffset\tlabel\n0\t1\tcar\n", 1,
        "expected a long table with header, comma"),
    "wide: is long": ("wide", "onset\toffset\tlabel\n0\t1\tcar\n", 1, "expected a wide table"),
    "sed-eval: has a header": ("sed-eval", "onset\toffset\tlabel\n0\t1\tcar\n", 1, "without header"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_malformed_files_are_refused_where_they_are_wrong(name, tmp_path):
    form, data, line, words = TEXTS[name]
    path = tmp_path / "bad"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(InputError) as caught:
        read_rows(path, form=form)
    first = caught.value.problems[0]
    assert (first.source, first.line) == (str(path), line)
    assert words in first.message


def test_every_form_has_a_malformed_sample():
    assert {entry[0] for entry in TEXTS.values()} >= {
        form.name for form in FORMS if form.name not in {"maestro", "score-dir", "wide-csv"}
    }


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


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrow-stream"])
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_cannot_be_scored_are_refused(name, form, tmp_path):
    columns, words = COLUMNS[name]
    table = pa.table(columns)
    path = tmp_path / "bad"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        new = pa.ipc.new_stream if form == "arrow-stream" else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match=words):
        read_rows(path)


@pytest.mark.parametrize("extension", ["parquet", "arrow", "jsonl", "jams", "rttm", "zip", "tar", "arrows"])
def test_an_extension_says_what_a_file_should_be(extension, tmp_path):
    path = tmp_path / f"x.{extension}"
    path.write_bytes(b"onset\toffset\tlabel\n0\t1\tcar\n")
    with pytest.raises(InputError):
        read_rows(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"is empty|cannot be read"):
        read_rows(path)


TABLE = b"onset\toffset\tlabel\n0\t1\tcar\n"


def linked(kind):
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


def encrypted():
    """Return a zip archive whose only member says that it is encrypted."""
    data = bytearray(zipped({"a.tsv": TABLE}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature) + at
        data[place] |= 1
    return bytes(data)


def wrong_sum():
    """Return a zip archive whose member was changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.tsv", TABLE)
    return made.getvalue().replace(b"car\n", b"cat\n")


ARCHIVES = {
    "zip: parent folder": (lambda: zipped({"../a.tsv": TABLE}), "unsafe-name"),
    "zip: absolute": (lambda: zipped({"/a.tsv": TABLE}), "unsafe-name"),
    "zip: backslashes": (lambda: zipped({"x\\..\\..\\a.tsv": TABLE}), "unsafe-name"),
    "zip: drive": (lambda: zipped({"C:a.tsv": TABLE}), "unsafe-name"),
    "zip: symlink": (zip_link, "archive-link"),
    "zip: encrypted": (encrypted, "encrypted"),
    "zip: zip in it": (lambda: zipped({"a.zip": zipped({"b.tsv": TABLE})}), "nested-archive"),
    "zip: zip called table": (lambda: zipped({"a.tsv": zipped({"b.tsv": TABLE})}), "nested-archive"),
    "zip: tar in it": (lambda: zipped({"a.tsv": tarred({"b.tsv": TABLE})}), "nested-archive"),
    "zip: wrong sum": (wrong_sum, "broken-archive"),
    "zip: nothing": (lambda: zipped({}), "empty-folder"),
    "zip: no table": (lambda: zipped({"README.md": b"hello"}), "empty-folder"),
    "zip: one recording twice": (lambda: zipped({"a.tsv": TABLE, "x/a.csv": TABLE}), "repeated-recording"),
    "zip: long and wide": (lambda: zipped({"a.tsv": TABLE, "b.tsv": b"onset\toffset\tcar\n0\t1\t1\n"}),
        "mixed-tables"),
    "tar: parent folder": (lambda: tarred({"../a.tsv": TABLE}), "unsafe-name"),
    "tar: absolute": (lambda: tarred({"/root/a.tsv": TABLE}), "unsafe-name"),
    "tar: symlink": (lambda: linked(tarfile.SYMTYPE), "archive-link"),
    "tar: hard link": (lambda: linked(tarfile.LNKTYPE), "archive-link"),
    "tar: pipe": (lambda: linked(tarfile.FIFOTYPE), "archive-link"),
    "tar: device": (lambda: linked(tarfile.CHRTYPE), "archive-link"),
    "tar: tar in it": (lambda: tarred({"a.tar": tarred({"b.tsv": TABLE})}), "nested-archive"),
    "tar.gz: tar.gz called table": (lambda: tarred({"a.tsv": tarred({"b.tsv": TABLE}, "w:gz")}, "w:gz"),
        "nested-archive"),
    "tar.xz: truncated": (lambda: tarred({"a.tsv": TABLE * 1000}, "w:xz")[:200], "broken-archive"),
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


@pytest.mark.parametrize(
    "make",
    [
        lambda: zipped({"a.tsv": BOMB}),
        lambda: zipped({f"{i}.tsv": BOMB[: 1 << 17] for i in range(8)}),
        lambda: tarred({"a.tsv": BOMB}, "w:xz"),
        lambda: tarred({"a.tsv": BOMB}, "w:bz2"),
    ],
    ids=["zip", "zip of many", "tar.xz", "tar.bz2"],
)
def test_decompressed_bytes_are_counted(make, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(make())
    with pytest.raises(InputError, match=r"--limit size=") as caught:
        read_rows(path, limits=Limits(size=1 << 19))
    assert caught.value.problems[0].code == "too-many-size"


@pytest.mark.parametrize(
    "make",
    [
        lambda data: zipped({"a.tsv": data}),
        lambda data: tarred({"a.tsv": data}, "w:xz"),
        lambda data: tarred({"a.tsv": data}, "w:bz2"),
        lambda data: zipped({"a.tsv": gzip.compress(data)}),
    ],
    ids=["zip", "tar.xz", "tar.bz2", "gzip in zip"],
)
def test_a_bomb_is_known_long_before_its_end(make, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(make(bytes(1 << 25)))
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
    return [*found, ("zip", zipped({"a.tsv": TABLE})), ("tar", tarred({"a.tsv": TABLE}, "w:xz"))]


SEEDS = seeds()


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
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
