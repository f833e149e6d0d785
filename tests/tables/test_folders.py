"""Folders and archives with tables in folders of scenes: which are read, and how recordings are named."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest
from drawn import cases, found, lay_out

from sedeval_soft import InputError, Limits
from sedeval_soft.tables import read_rows

HEAD = "filename\tonset\toffset\tevent_label\tvalue\n"
SCENES = {
    "cafe/cafe_01.txt": "0\t1\tdishes\t0.75\n1\t2\tdishes\t0.25\n",
    "cafe/cafe_02.txt": "",
    "street/day/street_01.txt": "0\t1\tcar\t0.5\n",
}
"""As MAESTRO's: onset, offset, label, value."""


@pytest.mark.parametrize("case", cases("layouts.tsv"), ids=lambda case: f"{case['how']} {case['files'][:40]}")
def test_files_are_one_table_or_are_refused(case, tmp_path):
    """A folder, the same as an archive, or a pattern below it; how: which, found: as in `drawn.found`."""
    folder, how = lay_out(tmp_path / "x", json.loads(case["files"])), case["how"]
    archive = shutil.make_archive(str(folder), "zip", tmp_path, "x") if how == "archive" else ""
    assert found(archive or folder / how) == json.loads(case["found"])


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
    with pytest.raises(InputError) as caught:
        read_rows(folder, limits=Limits(members=5))
    assert caught.value.problems[0].code == "too-many-members"


def test_a_hash_of_the_names_and_bytes_of_all_shards(tmp_path):
    texts = {f"p{k}.tsv": HEAD + f"{name}\t0\t1\tcar\t0.5\n" for k, name in enumerate("ab")}
    lines = [f"{name}\0{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in texts.items()]
    for folder in ("x", "elsewhere"):
        found = read_rows(lay_out(tmp_path / folder, texts) / "*.tsv").origin.sha256
        assert found == hashlib.sha256("".join(lines).encode()).hexdigest()
    lay_out(tmp_path / "x", {"p3.tsv": HEAD})
    assert read_rows(tmp_path / "x" / "*.tsv").origin.sha256 != found
