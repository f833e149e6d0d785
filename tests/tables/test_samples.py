"""Each reader on a sample written by hand, with its rows beside it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn import facts, long
from pyarrow import feather

from sedeval_soft.tables import read_rows

SAMPLES = {path.stem: path for path in sorted(Path(__file__).with_name("samples").iterdir())}
"""Files by their names, which begin with their form."""


COLUMNS = {
    "file": ["a.wav", "b.wav", "quiet.wav"],
    "onset": [0.5, 1.0, None],
    "offset": [1.0, 2.0, None],
    "label": ["car", "dog", None],
    "score": [0.25, 0.5, None],
    "embedding": [[0.0] * 3, None, []],
}
EXPECTED = long([("a.wav", 0.5, 1.0, "car", 0.25), ("b.wav", 1.0, 2.0, "dog", 0.5)], ["quiet.wav"])


def written(form, table, path):
    """Write a table as other programs do."""
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "feather":
        feather.write_feather(table, str(path), compression="zstd")
    else:
        new = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize("form", ["parquet", "feather", "file", "stream"])
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary and single precision"])
def test_columns_are_read(form, encoded, tmp_path):
    table = pa.table(COLUMNS)
    if encoded:
        table = table.set_column(3, "label", table["label"].dictionary_encode())
        table = table.set_column(1, "onset", table["onset"].cast(pa.float32()))
    path = tmp_path / "data"
    written(form, table, path)
    rows = read_rows(path)
    assert facts(rows) == EXPECTED
    assert rows.origin.ignored == ("embedding",)
    table = pa.table({"onset": [0.0, 0.5], "offset": [0.5, 1.0], "a.b": [0.25, 0.5], "dog": [0, 1]})
    written(form, table, path)
    cells = [("", 0.0, 0.5, (("a.b", 0.25), ("dog", 0.0))), ("", 0.5, 1.0, (("a.b", 0.5), ("dog", 1.0)))]
    assert facts(read_rows(path)) == ("wide", cells, [""], ["a.b", "dog"])


MEMBERS = {
    "scores/a.tsv": b"onset\toffset\tcar\n0\t1\t0.5\n",
    "scores/b.csv": b"onset,offset,car\n0,1,0.25\n",
    "scores/c.tsv.gz": gzip.compress(b"onset\toffset\tcar\n4\t5\t1\n"),
    "scores/quiet.tsv": b"onset\toffset\tcar\n",
    "scores/silent.txt": b"",
    "scores/.hidden.tsv": b"junk",
    "scores/README.md": b"not a table",
    "__MACOSX/scores/._a.tsv": b"\0\0",
}
CELLS = [("a", 0.0, 1.0, (("car", 0.5),)), ("b", 0.0, 1.0, (("car", 0.25),))]
CELLS += [("c", 4.0, 5.0, (("car", 1.0),))]
ARCHIVED = ("wide", CELLS, ["a", "b", "c", "quiet", "silent"], ["car"])


def zipped(members, **how):
    """Return a zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(members, mode="w"):
    """Return a tar archive."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


ARCHIVES = {
    "x.zip": lambda: zipped(MEMBERS),
    "x.tar": lambda: tarred(MEMBERS),
    "x.tar.gz": lambda: tarred(MEMBERS, "w:gz"),
    "x.tar.bz2": lambda: tarred(MEMBERS, "w:bz2"),
    "x.tar.xz": lambda: tarred(MEMBERS, "w:xz"),
    "submission": lambda: tarred(MEMBERS, "w:gz"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_are_read_as_folders_are(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(ARCHIVES[name]())
    rows = read_rows(path)
    assert facts(rows) == ARCHIVED
    assert rows.origin.form.startswith("archive of 5 tables, wide table with header, tab")
    assert sorted(path.parent.iterdir()) == [path]
    folder = tmp_path / "scores"
    folder.mkdir()
    for member, data in MEMBERS.items():
        (folder / Path(member).name).write_bytes(data)
    assert facts(read_rows(folder)) == ARCHIVED


def test_members_of_every_form_and_tables_compressed_in_any_way_are_read(tmp_path):
    text = b"onset\toffset\tlabel\n0\t1\tcar\n"
    valued = b"onset\toffset\tlabel\tvalue\n0\t1\tcar\t1\n"
    sample = {"e.jsonl": SAMPLES["jsonl"].read_bytes(), "f.tsv.gz": gzip.compress(valued)}
    (tmp_path / "x.zip").write_bytes(zipped(sample))
    rows = read_rows(tmp_path / "x.zip")
    assert (rows.has_steps, rows.files) == (False, ("a.wav", "b.wav", "quiet.wav", "f"))
    for name, data in (("x.tsv.bz2", bz2.compress(text)), ("x.tsv.xz", lzma.compress(text))):
        (tmp_path / name).write_bytes(data)
        assert facts(read_rows(tmp_path / name)) == long([("", 0.0, 1.0, "car", None)])


def test_folders_of_other_forms_are_read_where_there_is_no_table_of_text(tmp_path):
    (tmp_path / "a.jams").write_bytes(SAMPLES["jams"].read_bytes())
    (tmp_path / "b.jsonl").write_text('{"onset": 0, "offset": 1, "label": "car", "value": 1}\n')
    assert read_rows(tmp_path).files == ("scene.wav", "b")
    (tmp_path / "b.tsv").write_text("onset\toffset\tlabel\n0\t1\tcar\n")
    assert read_rows(tmp_path).files == ("b",)


def test_a_table_with_the_mark_of_an_archive_in_its_text_is_a_table(tmp_path):
    path = tmp_path / "x.tsv"
    line = "0\t1\tx\n"
    path.write_text(line * 42 + "0\t1\tmustard\n" + line)
    assert path.read_bytes()[257:262] == b"ustar"
    assert len(read_rows(path)) == 44
    path.write_text("PK\x03\x04\t0\t1\tcar\n")
    assert read_rows(path).files == ("PK\x03\x04",)
