"""Folders and archives with tables in folders of scenes: which are read, and how recordings are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from called import call
from drawn import facts, lay_out

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


def test_folders_of_scenes_are_the_events_of_all_whether_packed_or_not(tmp_path):
    reference = tmp_path / "ref.tsv"
    reference.write_text(ONE)
    folder = lay_out(tmp_path / "sys", SCENES | {".hidden/x.txt": "no table", "cafe/.y.txt": "none"})
    expected = evaluate(reference, reference)
    for system in (folder, packed(folder), f"{folder}/"):
        assert sorted(read_rows(system).files) == ["cafe_01", "cafe_02", "street_01"]
        scores = evaluate(reference, system)
        assert dict(scores) == dict(expected)
        assert not scores.warnings
        done = call(reference, system, "--score", "segment.soft.f1.micro", "--strict")
        assert (done.code, done.out, done.err) == (0, "1.0\n", "")
        assert call("convert", system, tmp_path / "made.tsv", "--quiet").code == 0
        assert facts(read_rows(tmp_path / "made.tsv")) == facts(read_rows(system))
    assert read_rows(folder).origin.sha256
    found = validate(folder, reference)
    assert (found.ok, found.files, found.form[:18]) == (True, 3, "folder of 3 tables")


def test_names_that_are_of_several_recordings_are_those_with_their_folders(tmp_path):
    """As some data sets count recordings within each scene."""
    texts = {f"{scene}/{k}.txt": f"0\t{k}\t{scene}\n" for scene in ("bus", "tram") for k in (1, 2)}
    folder = lay_out(tmp_path / "sys", texts | {"tram/9.txt": "0\t1\ttram\n"})
    reference = tmp_path / "ref.tsv"
    lines = [f"{scene}/{k}.wav\t0\t{k}\t{scene}\n" for scene in ("bus", "tram") for k in (1, 2)]
    reference.write_text("".join(lines) + "9.wav\t0\t1\ttram\n")
    for system in (folder, packed(folder)):
        assert sorted(read_rows(system).files) == ["9", "bus/1", "bus/2", "tram/1", "tram/2"]
        scores = evaluate(reference, system)
        assert scores["event.hard.f1.micro"] == 1
        said = [text for text in scores.warnings if "named with the folders of their tables" in text]
        assert "4 recordings (" in said[0]
    assert facts(read_rows(packed(folder))) == facts(read_rows(folder))
    (folder / "bus" / "1.csv").write_text("0,1,bus\n")
    with pytest.raises(InputError, match=r"bus/1\.csv and bus/1\.txt are both of recording '1'"):
        read_rows(folder)


def test_beside_tables_those_of_folders_are_left_out_and_that_is_said(tmp_path):
    more = {"old/c.txt": "0\t9\tcar\n", "old/b.txt": "0\t9\tcar\n", "notes/x.md": "no table"}
    folder = lay_out(tmp_path / "sys", {"a.txt": "0\t1\tcar\n"} | more)
    for system in (folder, packed(folder)):
        rows = read_rows(system)
        assert (rows.files, rows.offset.tolist()) == (("a",), [1])
        done = call(system, system, "--score", "event.hard.f1.micro")
        assert "1 folder ('old') in it holds tables and is left out" in done.err
    found = validate(folder)
    assert (found.ok, dict(found.counts)["folders-in-folder"]) == (True, 1)
    (folder / "old" / "a.csv").write_text("0,1,car\n")
    with pytest.raises(InputError, match=r"are both of recording 'a'"):
        read_rows(packed(folder))


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
