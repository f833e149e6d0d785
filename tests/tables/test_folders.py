"""Folders and archives with tables in folders of scenes: which are read, and how recordings are named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from called import call
from drawn import cases, facts, lay_out

from sedeval_soft import InputError, Limits, evaluate, validate
from sedeval_soft.tables import read_rows

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
    """A folder, the same as an archive, or a pattern below it; how: which, found: as in `test_readings`."""
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
