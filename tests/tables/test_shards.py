"""Tables in shards: read as the one table that they are, here and elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sedeval_soft import InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.joined_tables import shards_of

HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
WIDE = "filename\tonset\toffset\t"


def lay_out(folder: Path, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path = path.with_name(f"{path.name}.tsv")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return f"{folder}/*.tsv"


def row(file: str, onset: int = 0, label: str = "car", value: float = 0.5) -> str:
    return f"{file}\t{onset}\t{onset + 1}\t{label}\t{value}\n"


def rows_of(rows: EventTable) -> list[tuple]:
    """EventTable as they would be written, in order."""
    if rows.has_steps:
        columns = [rows.files[code] for code in rows.file], rows.onset, rows.offset, *rows.values
    else:
        names = [rows.files[code] for code in rows.file], [rows.classes[code] for code in rows.label]
        columns = *names, rows.onset, rows.offset, rows.value
    return list(zip(*columns, strict=True))


def test_rows_of_all_shards_in_the_order_of_their_names(tmp_path):
    parts = [row("a", 1) + row("b"), row("c", 2, "dog"), row("a", 0, "dog", 0.25)]
    pattern = lay_out(tmp_path, p10=HEAD + parts[1], p1=HEAD + parts[0], p2=HEAD + parts[2])
    (tmp_path / "whole.txt").write_text(HEAD + "".join(parts))
    found, whole = read_rows(pattern), read_rows(tmp_path / "whole.txt")
    assert rows_of(found) == rows_of(whole)
    assert (found.files, found.classes) == (whole.files, whole.classes)
    assert found.origin.name == pattern
    assert found.origin.form == f"3 shards, {whole.origin.form}"


def test_a_hash_of_the_names_and_bytes_of_all_shards(tmp_path):
    texts = {"p1": HEAD + row("a"), "p2": HEAD + row("b")}
    lines = "".join(
        f"{name}.tsv\0{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in sorted(texts.items())
    )
    found = read_rows(lay_out(tmp_path, **texts)).origin.sha256
    assert found == hashlib.sha256(lines.encode()).hexdigest()
    (tmp_path / "elsewhere").mkdir()
    assert read_rows(lay_out(tmp_path / "elsewhere", **texts)).origin.sha256 == found
    assert read_rows(lay_out(tmp_path, p3=HEAD)).origin.sha256 != found


def test_folders_in_folders(tmp_path):
    lay_out(tmp_path, x__p=HEAD + row("a"), y__p=HEAD + row("b"))
    assert read_rows(f"{tmp_path}/*/*.tsv").files == ("a", "b")
    assert read_rows(f"{tmp_path}/**/p.tsv").files == ("a", "b")
    assert [file.label for file in shards_of(f"{tmp_path}/**/p.tsv")] == ["x/p.tsv", "y/p.tsv"]


def test_wide_shards_may_name_different_classes(tmp_path):
    pattern = lay_out(
        tmp_path, a=f"{WIDE}car\tdog\na\t0\t1\t0.1\t0.2\n", b=f"{WIDE}rain\tcar\nb\t0\t1\t0.3\t0.4\n"
    )
    found = read_rows(pattern)
    assert found.classes == ("car", "dog", "rain")
    assert rows_of(found) == [("a", 0.0, 1.0, 0.1, 0.2, 0.0), ("b", 0.0, 1.0, 0.4, 0.0, 0.3)]


def test_shards_that_do_not_name_their_recordings_are_named_after_their_files(tmp_path):
    head = HEAD.removeprefix("filename\t")
    pattern = lay_out(tmp_path, a=head + "0\t1\tcar\t0.5\n", b=head, c="")
    found = read_rows(pattern)
    assert (found.files, len(found)) == (("a", "b", "c"), 1)
    lay_out(tmp_path, sub__a=head)
    with pytest.raises(InputError, match=r"a\.tsv and .*/sub/a\.tsv are both of recording 'a'"):
        read_rows(f"{tmp_path}/**/*.tsv")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a": HEAD + row("a"), "b": "onset\toffset\tevent_label\tsoft_value\n0\t1\tcar\t1\n"},
         r"mixes tables: .*a\.tsv names its recordings, .*b\.tsv does not"),
        ({"a": HEAD + row("a"), "b": f"{WIDE}car\na\t0\t1\t0.1\n"},
         r"mixes tables: .*b\.tsv is wide, .*a\.tsv is long; expected one form"),
        ({"a": HEAD + row("a"), "b": "filename\tonset\toffset\tevent_label\nb\t0\t1\tcar\n"},
         r"mixes tables: .*a\.tsv is with values, .*b\.tsv is without values"),
        ({"a": HEAD + row("a"), "b": ""}, r"b\.tsv: is empty; expected a table \(a shard without rows"),
        ({"a": HEAD + row("a"), "b": HEAD + row("b") + "b\t0\tx\tcar\t1\n"},
         r"b\.tsv:3:3: offset 'x' is not a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_one_table_is_refused(files, told, tmp_path):
    with pytest.raises(InputError, match=told):
        read_rows(lay_out(tmp_path, **files))


def test_a_pattern_that_fits_nothing(tmp_path):
    with pytest.raises(InputError, match=r"none-\*\.tsv: fits no file; expected a pattern of names"):
        read_rows(tmp_path / "none-*.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(InputError, match="fits no file"):
        read_rows(tmp_path / "f*.tsv")
