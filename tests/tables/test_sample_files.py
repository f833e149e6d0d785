"""Files of other tools and of all forms: each is its events, however it is called, packed and read.

The files in `dialects`, `documents` and `samples` are ours: made up, in the form of what the tools write.
Their rows in `sample_files.tsv` were written by hand: the recordings without any, and file, onset, offset,
label and value of the others.
"""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from called import call
from drawn import facts, long
from parted import count_in_parts

import sedeval_soft
from sedeval_soft import Limits, Settings
from sedeval_soft.api.sources import sides_of, to_rows
from sedeval_soft.evaluation.shard import count_rows
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.memory import taken
from sedeval_soft.tables import read_rows

HERE = Path(__file__).parent
with (HERE / "sample_files.tsv").open(newline="") as file:
    ROWS = {
        row["file"]: (json.loads(row["rows"]), json.loads(row["recordings"]))
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    }
PERFECT = ("--strict", "--score", "segment.soft.f1.micro")


def expected(name: str) -> tuple[object, ...]:
    """Return the facts of a file, see `drawn.facts`."""
    rows, silent = ROWS[name]
    if isinstance(rows[0][3], dict):
        steps = [(*row[:3], tuple(sorted(row[3].items()))) for row in rows]
        return "wide", steps, sorted({row[0] for row in rows}), sorted(rows[0][3])
    return long([(*row, *[None] * (5 - len(row))) for row in rows], silent)


def ours(name: str, path: Path) -> Path:
    """Write the events of a file as a table of ours; recordings without a name are called as the file."""
    rows, silent = ROWS[name]
    rows = [[*row[:3], label, value] for row in rows for label, value in row[3].items()] if isinstance(
        rows[0][3], dict) else rows  # fmt: skip
    head = ("filename", "onset", "offset", "event_label", "soft_value")[: len(rows[0])]
    lines = [head, *((row[0] or Path(name).stem, *row[1:]) for row in rows)]
    lines += [(recording, *[""] * (len(head) - 1)) for recording in silent]
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    return path


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
    if "audacity" not in name:  # content says the form where the name does not
        assert facts(read_rows(copy.rename(tmp_path / "annotations"))) == expected(name)


@pytest.mark.parametrize("name", [name for name in ROWS if "answers" not in name])
def test_it_is_scored_as_the_same_events_in_our_form_in_a_folder_and_an_archive_too(name, tmp_path):
    path, folder = HERE / name, tmp_path / "folder"
    if path.is_dir():
        shutil.copytree(path, folder)
    else:
        folder.mkdir()
        shutil.copy(path, folder)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        for member in folder.iterdir():
            archive.write(member, member.name)
    table = ours(name, tmp_path / "ours.tsv")
    for sides in ((table, folder), (folder, table), (table, tmp_path / "archive.zip")):
        done = call(*sides, *PERFECT)
        assert (done.code, done.out) == (0, "1.0\n"), done
    strict = ["--reference", table, "--strict"] if name.startswith("documents") else []
    assert call("validate", folder, *strict).code == 0


def given(way: str, path: Path, folder: Path) -> Any:
    """Return a table as it is given in a way."""
    if way == "line by line":
        # A quote that opens nothing takes the fast way away.
        copy, (head, *rows) = folder / path.name, path.read_text().splitlines()
        copy.write_text("\n".join([head, *(row.replace("rec1", 'rec1"') for row in rows)]) + "\n")
        return copy
    frame = pd.read_csv(path, sep=None, engine="python")
    if way == "dicts":
        return frame.to_dict("list")
    if way == "Parquet":
        frame.to_parquet(folder / "table.parquet")
    elif way == "JSON lines":
        frame.to_json(folder / "table.jsonl", orient="records", lines=True)
    return {"Parquet": folder / "table.parquet", "JSON lines": folder / "table.jsonl"}.get(way, frame)


DIALECTS = ("raven-files.txt", "birdnet-raven.txt", "kaleidoscope-id.csv", "biodcase.csv", "urbansas.csv",
            "onset-duration.csv", "milliseconds.csv")  # fmt: skip


@pytest.mark.parametrize("way", ["data frame", "dicts", "Parquet", "JSON lines", "line by line"])
@pytest.mark.parametrize("name", DIALECTS)
def test_rows_are_the_same_in_every_way_of_reading(name, way, tmp_path):
    rows = to_rows(given(way, HERE / "dialects" / name, tmp_path), "system", Settings())
    rows = replace(rows, files=tuple(file.replace('"', "") for file in rows.files))
    assert facts(rows) == expected(f"dialects/{name}")


@pytest.mark.parametrize("way", ["memory limit", "jobs"])
@pytest.mark.parametrize("name", DIALECTS)
def test_scores_are_the_same_in_every_way_of_counting(name, way, tmp_path):
    how = {"jobs": 2} if way == "jobs" else {"memory_limit": taken() + (100 << 20)}
    table = ours(f"dialects/{name}", tmp_path / "ours.tsv")
    scores = sedeval_soft.evaluate(str(HERE / "dialects" / name), str(table), strict=True, **how)
    assert scores["segment.soft.f1.micro"] == 1


@pytest.mark.parametrize("name", ["raven-files.txt", "birdnet-raven.txt", "biodcase.csv", "urbansas.csv"])
@pytest.mark.parametrize("ending", ["txt", "parquet"])
def test_it_is_the_same_in_blocks_of_a_few_lines(name, ending, tmp_path):
    path, table = HERE / "dialects" / name, ours(f"dialects/{name}", tmp_path / "ours.tsv")
    sides, settings = (given("Parquet", path, tmp_path) if ending == "parquet" else path, table), Settings()
    whole = count_rows(*sides_of(*map(str, sides), settings, Limits()), settings)
    shard = count_in_parts(*sides, settings, block=40)
    assert pack_shard(shard, "1") == pack_shard(whole, "1")


SAID = {
    "samples/rttm.rttm": (
        "1 line of RTTM that is not SPEAKER was ignored", "2 events without a value count as 1.0"
    ),
    "samples/audacity.txt": ("1 line of frequencies was ignored",),
    "samples/jams.jams": (
        "namespace 'beat'", "1 background was ignored", "2 events without a value count as 1.0"
    ),
    "samples/jsonl.jsonl": ("note",),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_is_ignored_is_said(name):
    origin = read_rows(HERE / name).origin
    assert (*origin.ignored, *origin.notes) == SAID[name]
