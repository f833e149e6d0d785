"""Tables of folds and scenes: which file belongs to which part."""

from __future__ import annotations

import hashlib

import pytest

from sedeval_soft.errors import InputError
from sedeval_soft.tables.file_groups import read_durations, read_partition

PARTS = {"a.wav": "1", "b.wav": "2"}


@pytest.mark.parametrize(
    "text",
    [
        "filename\tfold\na.wav\t1\nb.wav\t2\na.wav\t1\n",
        "a.wav\t1\nb.wav\t2\n",
        "a.wav,1\nb.wav,2\n",
        "\n\na.wav;1\r\nb.wav; 2 \r\n",
        "Fold,File Name\n1,a.wav\n2,b.wav\n",
        "audio_filename\tonset\tscene_label\toffset\na.wav\t0\t1\t9\nb.wav\t0\t2\t3\n",
        "filename\thome or office\na.wav\t1\nb.wav\t2\n",
        "where,path\n1,a.wav\n2,b.wav\n",
        'filename,part\n"a.wav","1"\nb.wav,2,surplus\n',
        "\ufefffilename,split\na.wav,1\nb.wav,2",
    ],
)
def test_a_part_for_each_file(text, tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_bytes(text.encode())
    found = read_partition(path)
    assert dict(found.parts) == PARTS
    assert (found.source, found.sha256) == (str(path), hashlib.sha256(text.encode()).hexdigest())


def test_a_first_row_with_a_number_is_no_header(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("clip\t1\nfile\t2\n")
    assert dict(read_partition(path).parts) == {"clip": "1", "file": "2"}


def test_preferred_columns_come_first(tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("filename\tscene_label\tfold\na.wav\thome\t1\n")
    assert dict(read_partition(path, prefer=("fold",)).parts) == {"a.wav": "1"}
    assert dict(read_partition(path, prefer=("scene", "scene_label")).parts) == {"a.wav": "home"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t.tsv: is empty; expected a table of filename and part"),
        ("\t\t\n", "t.tsv: is empty; expected a table of filename and part"),
        ("a.wav\n", "t.tsv:1: 'a.wav' is neither a header nor a row; expected filename and part"),
        ("a.wav\t1\t2\n", "t.tsv:1: 'a.wav', '1', '2' is neither a header nor a row"),
        ("file\tonset\toffset\n", "t.tsv:1: 'file', 'onset', 'offset' is neither a header nor a row"),
        (
            "filename\tfold\tscene\n",
            "t.tsv:1: columns 'fold' and 'scene' could each be the part; expected one",
        ),
        ("sample\tfold\na.wav\t1\n", "t.tsv:1: 'fold' names a column of parts, but no column is filename"),
        ("a.wav\t1\nb.wav\n", "t.tsv:2: has 1 fields; expected filename and part"),
        ("a.wav,1\nb,c.wav,2\n", "t.tsv:2: has 3 fields; expected filename and part"),
        ("filename,x,fold\na.wav,1\n", "t.tsv:2: has 2 fields; expected filename and part"),
        ("fold,file\n1,a.wav\n1,\n", "t.tsv:3:2: filename is empty; expected a name"),
        (
            "a.wav\t1\nb.wav\t \n",
            "t.tsv:2:2: part '' cannot stand in names of scores; expected printable text",
        ),
        ("a.wav\t1\nb.wav\tx@y\n", "t.tsv:2:2: part 'x@y' cannot stand in names of scores"),
        (
            "a.wav\t1\n\na.wav\t2\n",
            "t.tsv:3:2: 'a.wav' has part '2', but '1' on an earlier line; expected one",
        ),
        ('a.wav\t1\nb.wav\t"2\n', "t.tsv:2:2: a quote is opened and not closed on this line"),
    ],
)
def test_what_is_no_table_of_parts_is_refused_with_its_place(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_partition("t.tsv")
    assert str(caught.value).startswith(expected)


def test_all_problems_up_to_some_are_told(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("filename\tfold\n" + "a.wav\t[\n" * 30)
    with pytest.raises(InputError) as caught:
        read_partition(path)
    assert len(caught.value.problems) == 10
    assert caught.value.more is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t.tsv: is empty; expected a table of filename and duration"),
        ("a\nb\n", "t.tsv:1: 'a' is neither a header nor a row; expected filename and duration"),
        ("filename\tfold\n", "t.tsv:1: 'filename', 'fold' is neither a header nor a row"),
        ("a\t1\nb\n", "t.tsv:2: has 1 fields; expected filename and duration"),
        ("a\t1\n\t2\n", "t.tsv:2:1: filename is empty; expected a name"),
        ("a\t1\nb\tx\n", "t.tsv:2:2: duration 'x' is not a number of seconds, 0 or more"),
        ("a\t1\na\t2.50\n", "t.tsv:2:2: 'a' has duration 2.50, but 1.0 on an earlier line; expected one"),
    ],
)
def test_durations_are_refused_in_words_of_their_own(text, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_durations("t.tsv")
    assert str(caught.value).startswith(expected)


def test_rows_of_durations_may_have_more_fields(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,1\nb,2,surplus\n")
    assert read_durations(path) == {"a": 1.0, "b": 2.0}
