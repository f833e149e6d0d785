"""Folders and archives with tables in folders of scenes: which are read, and how recordings are named."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from called import call
from drawn import cases, facts, lay_out

from sedeval_soft import InputError, Limits, evaluate, validate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable

HEAD = "filename\tonset\toffset\tevent_label\tvalue\n"
SCENES = {
    "cafe/cafe_01.txt": "0\t1\tdishes\t0.75\n1\t2\tdishes\t0.25\n",
    "cafe/cafe_02.txt": "",
    "street/day/street_01.txt": "0\t1\tcar\t0.5\n",
}
"""As MAESTRO's: onset, offset, label, value."""

ONE = HEAD + (
    "cafe_01.wav\t0\t1\tdishes\t0.75\ncafe_01.wav\t1\t2\tdishes\t0.25\ncafe_02.wav\t\t\t\t\n"
    "street_01.wav\t0\t1\tcar\t0.5\n"
)


def packed(folder: Path) -> str:
    return shutil.make_archive(str(folder), "zip", folder.parent, folder.name)


@pytest.mark.parametrize("case", cases("layouts.tsv"), ids=lambda case: f"{case['how']} {case['files'][:40]}")
def test_files_are_one_table_or_are_refused(case, tmp_path):
    """A folder, the same as an archive, or a pattern below it; how: which, found: as in `test_texts_read`."""
    folder, how = lay_out(tmp_path / "x", json.loads(case["files"])), case["how"]
    try:
        rows = read_rows(packed(folder) if how == "archive" else folder / how)
    except InputError as error:
        found = [[p.line, p.column, p.code] for p in error.problems]
    else:
        found = [*facts(rows), len(rows.origin.notes), len(rows.origin.assumed)]
    assert json.loads(json.dumps(found)) == json.loads(case["found"])


def test_folders_of_scenes_are_the_events_of_all_whether_packed_or_not(tmp_path):
    reference = tmp_path / "ref.tsv"
    reference.write_text(ONE)
    folder = lay_out(tmp_path / "sys", SCENES | {".hidden/x.txt": "no table", "cafe/.y.txt": "none"})
    expected = evaluate(reference, reference)
    for system in (folder, packed(folder), f"{folder}/"):
        scores = evaluate(reference, system)
        assert (dict(scores), scores.warnings) == (dict(expected), ())
        assert call("convert", system, tmp_path / "made.tsv", "--quiet").code == 0
        assert facts(read_rows(tmp_path / "made.tsv")) == facts(read_rows(system))
    assert read_rows(folder).origin.sha256
    found = validate(folder, reference)
    assert (found.ok, found.files, found.form[:18]) == (True, 3, "folder of 3 tables")


def test_links_that_lead_in_a_circle_end_and_no_folder_is_read_twice(tmp_path):
    folder = lay_out(tmp_path / "sys", SCENES)
    try:
        (folder / "street" / "again").symlink_to(folder)
        (folder / "zoo").symlink_to(folder / "cafe")
        (folder / "itself").symlink_to("itself")
    except OSError:
        pytest.skip("links cannot be made here")
    assert read_rows(folder).files == ("cafe_01", "cafe_02", "street_01")


def test_files_of_all_folders_together_are_counted(tmp_path):
    folder = lay_out(tmp_path / "sys", SCENES)
    assert len(read_rows(folder, limits=Limits(members=6))) == 3
    with pytest.raises(InputError, match=r"--limit members=6 raises this"):
        read_rows(folder, limits=Limits(members=5))
    lay_out(tmp_path / "empty", {"a/b/x.md": ""})
    with pytest.raises(InputError, match="holds no table"):
        read_rows(tmp_path / "empty")


# Shards.

VALUED = "filename\tonset\toffset\tevent_label\tsoft_value\n"


def shards(folder: Path, **files: str) -> str:
    """Write shards, and return their pattern."""
    return f"{lay_out(folder, {f'{name}.tsv': text for name, text in files.items()})}/*.tsv"


def row(file: str, onset: int = 0, label: str = "car", value: float = 0.5) -> str:
    return f"{file}\t{onset}\t{onset + 1}\t{label}\t{value}\n"


def rows_of(rows: EventTable) -> list[tuple]:
    """Return the rows of a long table as they would be written, in order."""
    names = [rows.files[code] for code in rows.file], [rows.classes[code] for code in rows.label]
    return list(zip(*names, rows.onset, rows.offset, rows.value, strict=True))


def test_rows_of_all_shards_in_the_order_of_their_names(tmp_path):
    parts = [row("a", 1) + row("b"), row("c", 2, "dog"), row("a", 0, "dog", 0.25)]
    pattern = shards(tmp_path, p10=VALUED + parts[1], p1=VALUED + parts[0], p2=VALUED + parts[2])
    (tmp_path / "whole.txt").write_text(VALUED + "".join(parts))
    found, whole = read_rows(pattern), read_rows(tmp_path / "whole.txt")
    assert rows_of(found) == rows_of(whole)
    assert (found.files, found.classes) == (whole.files, whole.classes)
    assert found.origin.name == pattern
    assert found.origin.form == f"3 shards, {whole.origin.form}"


def test_a_hash_of_the_names_and_bytes_of_all_shards(tmp_path):
    texts = {"p1": VALUED + row("a"), "p2": VALUED + row("b")}
    lines = "".join(
        f"{name}.tsv\0{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in sorted(texts.items())
    )
    found = read_rows(shards(tmp_path, **texts)).origin.sha256
    assert found == hashlib.sha256(lines.encode()).hexdigest()
    assert read_rows(shards(tmp_path / "elsewhere", **texts)).origin.sha256 == found
    assert read_rows(shards(tmp_path, p3=VALUED)).origin.sha256 != found


def test_a_pattern_that_fits_folders_alone_fits_nothing(tmp_path):
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(InputError, match="fits no file"):
        read_rows(tmp_path / "f*.tsv")
