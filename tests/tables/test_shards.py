"""Tables in shards: read as the one table that they are, here and elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sedeval_soft import InputError
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable

HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"


def lay_out(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.tsv").write_text(text)
    return f"{folder}/*.tsv"


def row(file: str, onset: int = 0, label: str = "car", value: float = 0.5) -> str:
    return f"{file}\t{onset}\t{onset + 1}\t{label}\t{value}\n"


def rows_of(rows: EventTable) -> list[tuple]:
    """Return the rows of a long table as they would be written, in order."""
    names = [rows.files[code] for code in rows.file], [rows.classes[code] for code in rows.label]
    return list(zip(*names, rows.onset, rows.offset, rows.value, strict=True))


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


def test_a_pattern_that_fits_nothing(tmp_path):
    with pytest.raises(InputError, match=r"none-\*\.tsv: fits no file; expected a pattern of names"):
        read_rows(tmp_path / "none-*.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(InputError, match="fits no file"):
        read_rows(tmp_path / "f*.tsv")
