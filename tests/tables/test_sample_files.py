"""Files of other tools and of all forms: each gives the same events under any name, packed or not.

We made up the files in `dialects`, `documents` and `samples`, in the forms that the tools write. We wrote
`sample_files.tsv` by hand: file, onset, offset, label and value of each row, and recordings without rows.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from called import call
from drawn import cases, facts, lay_out, long, table, tarred, written, zipped

from sedeval_soft import convert
from sedeval_soft.tables import read_rows

HERE = Path(__file__).parent
ROWS = {row["file"]: row for row in cases("sample_files.tsv")}


def expected(name: str, called: str = "") -> tuple[object, ...]:
    """Return the facts of a file, see `drawn.facts`; called: the recording, if the file names none."""
    rows, silent = (json.loads(ROWS[name][column]) for column in ("rows", "recordings"))
    rows = [[row[0] or called, *row[1:]] for row in rows]
    if isinstance(rows[0][3], dict):
        steps = [(*row[:3], tuple(sorted(row[3].items()))) for row in rows]
        return "wide", steps, sorted({row[0] for row in rows}), sorted(rows[0][3])
    return long([(*row, *[None] * (5 - len(row))) for row in rows], silent)


@pytest.mark.parametrize("name", ROWS)
def test_a_file_is_its_events_whatever_it_is_called_and_its_lines_end_in(name, tmp_path):
    path, copy = HERE / name, tmp_path / Path(name).name
    if path.is_dir():
        assert facts(read_rows(path)) == expected(name)
        return
    for ends in (b"\r\n", b"\n"):
        copy.write_bytes(path.read_bytes().replace(b"\n", ends))
        assert facts(read_rows(copy)) == expected(name)
    if name.startswith("samples"):
        assert facts(read_rows(copy, form=path.stem.split("-")[0])) == expected(name)
    folder = lay_out(tmp_path / "folder", {path.name: path.read_text()})
    for source in (folder, shutil.make_archive(str(folder), "zip", folder)):
        assert facts(read_rows(source)) == expected(name, path.stem)
    if "audacity" not in name:  # the content reveals the form
        assert facts(read_rows(copy.rename(tmp_path / "annotations"))) == expected(name)


def given(way: str, path: Path, folder: Path) -> Any:
    """Return a table in some way; the Parquet file has blanks around the names of its columns."""
    if way == "line by line":
        # A quote within a field prevents fast parsing.
        copy, (head, *rows) = folder / path.name, path.read_text().splitlines()
        copy.write_text("\n".join([head, *(row.replace("rec1", 'rec1"') for row in rows)]) + "\n")
        return copy
    frame, table = pd.read_csv(path, sep=None, engine="python"), folder / "table"
    if way == "Parquet":
        frame.rename(columns=" {} ".format).to_parquet(table)
    elif way == "JSON lines":
        frame.to_json(table, orient="records", lines=True)
    else:
        dates = [name for name in frame if name.endswith("_datetime")]
        return frame.assign(**{name: pd.to_datetime(frame[name], format="ISO8601") for name in dates})
    return table


@pytest.mark.parametrize("way", ["data frame", "Parquet", "JSON lines", "line by line"])
@pytest.mark.parametrize(
    "name",
    ["raven-files.txt", "birdnet-raven.txt", "kaleidoscope-id.csv", "biodcase.csv", "urbansas.csv",
     "onset-duration.csv", "milliseconds.csv"],
)  # fmt: skip
def test_rows_are_the_same_in_every_way_of_reading(name, way, tmp_path):
    convert(given(way, HERE / "dialects" / name, tmp_path), tmp_path / "made.parquet")
    kind, rows, files, classes = facts(read_rows(tmp_path / "made.parquet"))
    rows = [(row[0].replace('"', ""), *row[1:]) for row in rows]
    assert (kind, rows, [file.replace('"', "") for file in files], classes) == expected(f"dialects/{name}")


def test_a_table_that_is_named_after_its_recording_is_of_it_by_an_assumption(tmp_path):
    rows = "Selection|View|Channel|Begin Time (s)|End Time (s)|Species", "1|V|1|0.5|1.5|car"
    path = table(tmp_path / "rec1.BirdNET.selection.table.txt", *rows)
    known = "filename|onset|offset|label", "rec1.wav|0.5|1.5|car", "rec2.wav|0.5|1.5|car"
    reference = table(tmp_path / "ref.tsv", *known)
    done = call(reference, path, "--score", "event.hard.recall.micro")
    assert done.out == "0.5\n" and "'rec1.wav'" in done.err
    assert call(reference, path, "--strict").code == 2
    assert call(reference, path.rename(tmp_path / "other.txt")).code == 2


# Tables and archives of other programs.

COLUMNS = {
    "file": ["a.wav", "b.wav", "quiet.wav"],
    "onset": [0.5, 1.0, None],
    "offset": [1.0, 2.0, None],
    "label": ["car", "dog", None],
    "score": [0.25, 0.5, None],
    "embedding": [[0.0] * 3, None, []],
}
STEPS = {"onset": [0.0, 0.5], "offset": [0.5, 1.0], "a.b": [0.25, 0.5], "dog": [0, 1]}


@pytest.mark.parametrize("form", ["parquet", "feather", "file", "stream"])
def test_columns_are_read(form, tmp_path):
    encoded = {"label": pa.array(COLUMNS["label"]).dictionary_encode(),
               "onset": pa.array(COLUMNS["onset"], pa.float32())}  # fmt: skip
    expected = long([("a.wav", 0.5, 1.0, "car", 0.25), ("b.wav", 1.0, 2.0, "dog", 0.5)], ["quiet.wav"])
    for each in (pa.table(COLUMNS), pa.table(COLUMNS | encoded)):
        rows = read_rows(written(form, each, tmp_path / "data"))
        assert (facts(rows), rows.origin.ignored) == (expected, ("embedding",))
    steps = [("", 0.0, 0.5, (("a.b", 0.25), ("dog", 0.0))), ("", 0.5, 1.0, (("a.b", 0.5), ("dog", 1.0)))]
    rows = read_rows(written(form, pa.table(STEPS), tmp_path / "data"))
    assert facts(rows) == ("wide", steps, [""], ["a.b", "dog"])


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


@pytest.mark.parametrize("mode", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
def test_archives_are_read_as_folders_are(mode, tmp_path):
    path = tmp_path / "submission"
    path.write_bytes(zipped(MEMBERS) if mode == "zip" else tarred(MEMBERS, mode))
    times = (("a", 0.0, 1.0, 0.5), ("b", 0.0, 1.0, 0.25), ("c", 4.0, 5.0, 1.0))
    steps = [(file, onset, offset, (("car", value),)) for file, onset, offset, value in times]
    assert facts(read_rows(path)) == ("wide", steps, ["a", "b", "c", "quiet", "silent"], ["car"])
    assert [*tmp_path.iterdir()] == [path], "nothing is unpacked"
