"""Corrected copies: what is mended, what is left alone, and what is said of it."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from make_bad_inputs import EVENTS, GOOD, HEAD

from sedeval_soft import InputError, SettingsError, validate
from sedeval_soft.tables import read_rows

ZIPPED = gzip.compress((HEAD + GOOD).encode("utf-16"))
ZIPPED += b"\0" * (len(ZIPPED) % 2)
REFERENCE = HEAD + GOOD + "a.wav\t3\t4\tstreet_dog\t1\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.tsv").write_text(REFERENCE)
    return tmp_path


def fixed(data, **given):
    """Return the bytes of a corrected copy, and what was said."""
    data = data.encode() if isinstance(data, str) else data
    Path("t.tsv").write_bytes(data)
    found = validate("t.tsv", fix="out.tsv", **given)
    assert Path("t.tsv").read_bytes() == data
    assert not [path for path in Path().iterdir() if path.suffix == ".part"]
    return Path("out.tsv").read_bytes().decode(), found


@pytest.mark.parametrize(
    ("data", "copy", "mends"),
    [
        (HEAD + GOOD, HEAD + GOOD, ()),
        ("\ufeff" + HEAD + GOOD, HEAD + GOOD, ("byte order mark removed",)),
        ((HEAD + GOOD).replace("\n", "\r\n"), HEAD + GOOD, ("line ends made LF",)),
        ((HEAD + GOOD).replace("\n", "\r"), HEAD + GOOD, ("line ends made LF",)),
        (HEAD + GOOD[:-1], HEAD + GOOD, ()),
        (
            HEAD + "a.wav \t 0.0\t1.0\tcar\t0.5\n", HEAD + GOOD, ("blanks around a field removed (2)",),
        ),
        (
            HEAD + "a.wav\t0,5\t1,25\tcar\t0.5\n", HEAD + "a.wav\t0.5\t1.25\tcar\t0.5\n",
            ("decimal comma made a point (2)",),
        ),
        (
            "0;1;c\n1;1,5;a, b\n2,25;3;car\n", "0;1;c\n1;1.5;a, b\n2.25;3;car\n",
            ("decimal comma made a point (2)",),
        ),
        (
            HEAD + GOOD + "\n" + GOOD + "a.wav\t0\t1\tcar\t.5\n" + "b.wav\n", HEAD + GOOD + "\nb.wav\n",
            ("duplicate rows left out (2: lines 4, 5)",),
        ),
        (
            EVENTS + "a\t2\t1\tcar\na\t4.5\t3\tdog\n", EVENTS + "a\t1\t2\tcar\na\t3\t4.5\tdog\n",
            ("onset and offset of a row swapped (2)",),
        ),
    ],
)  # fmt: skip
def test_safe_mends(data, copy, mends, here):
    text, found = fixed(data)
    assert text == copy
    assert found.mends == mends
    assert found.source == "out.tsv"
    assert found.ok
    read_rows("out.tsv")


@pytest.mark.parametrize(
    "data",
    [
        HEAD + "a.wav\t1\t2\tcar\t85\na.wav\t2\t3\tcar\t40\n",  # percent: is 1 one percent, or certainty?
        HEAD + "a.wav\t1,250\t2,500\tcar\t1\n",  # thousands?
        "filename,onset,offset,event_label\na.wav,1,5,2,0,car\n",  # commas of both kinds
        EVENTS + "a\t2\t1\tcar\n",  # one row alone
        EVENTS + "a\t2\t1\tcar\na\t3\t4\tdog\n",  # not all are swapped
        HEAD + GOOD + "a.wav\t1.0\t2.0\tcar\t0.5\n",  # touching rows
        HEAD + GOOD + 'a.wav\t0\t1\t"car\t1\n',
        'onset,offset,label\n0,1,"a, ""b"""\n\n2,1,car\n',
    ],
)
def test_what_is_not_safe_is_left_alone(data, here):
    text, found = fixed(data)
    assert text == data
    assert found.mends == ()


def test_classes_are_written_as_the_reference_has_them(here):
    data = HEAD + GOOD + "a.wav\t2\t3\tCar\t1\na.wav\t3\t4\tstreet  Dog\t1\na.wav\t4\t5\tcat\t1\n"
    text, found = fixed(data, reference="r.tsv")
    assert text == data.replace("Car", "car").replace("street  Dog", "street_dog")
    assert found.mends == ("class 'Car' written 'car' (1)", "class 'street  Dog' written 'street_dog' (1)")
    assert found.counts == {"unknown-class": 1}
    assert fixed(data)[0] == data


def test_class_columns_are_written_as_they_are_known(here):
    data = "onset,offset,Car,Street dog\n0,1,0.5,0\n"
    text, found = fixed(data, classes=["car", "street_dog"])
    assert text == "onset,offset,car,street_dog\n0,1,0.5,0\n"
    assert len(found.mends) == 2
    assert fixed(data, classes=["car", "CAR", "x"])[0] == data  # which of the two?
    both = "onset,offset,Car,car\n0,1,0.5,0\n"
    assert fixed(both, classes=["car"])[0] == both  # they would be one


def test_quotes_are_kept_and_put_where_needed(here):
    data = 'onset;offset;label\n0;1,5;"a; ""b"""\n1;2;"c"\n'
    assert fixed(data)[0] == 'onset;offset;label\n0;1.5;"a; ""b"""\n1;2;"c"\n'


def test_gzip_is_copied_as_text(here):
    Path("t.tsv.gz").write_bytes(gzip.compress((HEAD + GOOD + GOOD).encode()))
    validate("t.tsv.gz", fix="out.tsv")
    assert Path("out.tsv").read_text() == HEAD + GOOD


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_written_as_utf_8(encoding, here):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text, found = fixed(mark + (HEAD + GOOD.replace("car", "caf\xe9")).encode(encoding))
    assert text == HEAD + GOOD.replace("car", "caf\xe9")
    assert (found.mends, found.counts) == (("UTF-16 written as UTF-8",), {})


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00", b"\xff\xfe\x00\xd8x\x00", (HEAD + GOOD).encode("utf-32"), ZIPPED]
)
def test_what_only_begins_like_utf_16_is_not_copied(data, here):
    Path("t.tsv").write_bytes(data)
    found = validate("t.tsv", fix="out.tsv")
    assert found.mends[0].startswith("no copy was written")
    assert found.counts == {"utf-16": 1}
    assert not Path("out.tsv").exists()


def test_standard_input_is_copied(here):
    found = validate("-", stdin=io.BytesIO((HEAD + GOOD + GOOD).encode()), fix="out.tsv")
    assert Path("out.tsv").read_text() == HEAD + GOOD
    assert found.counts == {}
    found = validate("-", stdin=io.BytesIO(b"junk\n"), fix="out.tsv")
    assert found.counts == {"not-a-table": 1}


def test_what_was_there_stays_where_nothing_can_be_written(here):
    Path("out.tsv").write_text("before")
    Path("t.tsv").write_bytes(b"junk\n")
    assert not validate("t.tsv", fix="out.tsv").ok
    assert Path("out.tsv").read_text() == "before"
    with pytest.raises(InputError):
        validate("missing.tsv", fix="out.tsv")
    with pytest.raises(SettingsError, match="this is the system output"):
        validate("t.tsv", fix="t.tsv")
    Path("link.tsv").symlink_to("t.tsv")
    with pytest.raises(SettingsError, match="this is the system output"):
        validate("t.tsv", fix="link.tsv")
    with pytest.raises(SettingsError, match="is a folder"):
        validate(".", fix="out.tsv")
    assert Path("t.tsv").read_bytes() == b"junk\n"
