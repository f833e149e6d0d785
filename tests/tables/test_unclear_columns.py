"""Columns by other names: those that are known, those that are asked about, and those that are said."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import call
from drawn import refused

import sedeval_soft
from sedeval_soft.errors import InputError, SettingsError

REFERENCE = [("r0", 0.0, 2.0, "car"), ("r1", 4.0, 6.0, "car"), ("r2", 1.0, 2.0, "dog")]
SYSTEM = [("r0", 4.0, 6.0, "car"), ("r1", 0.0, 2.0, "car"), ("r2", 1.0, 2.0, "dog")]
"""Of one recording all would be found: of three only the dog is."""

TIMES = ("onset", "offset", "event_label")
SCORE = "segment.hard.f1.micro"
F1 = pytest.approx(1 / 5)


def table(path: Path, names: tuple[str, ...], rows: list[tuple], delimiter: str = "\t") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows([names, *rows])
    return path


def both(folder: Path, name: str, times: tuple[str, ...] = TIMES) -> tuple[Path, Path]:
    head = (name, *times)
    return table(folder / "ref.tsv", head, REFERENCE), table(folder / "sys.tsv", head, SYSTEM)


def scored(*arguments: object) -> float:
    done = call(*map(str, arguments), "--score", SCORE)
    assert done.code == 0, done.err
    return float(done.out)


AUDIOSET = ("start_time_seconds", "end_time_seconds", "label")


@pytest.mark.parametrize(("name", "ending"), [("clipp", ""), ("what", ".wav"), ("take", "")])
def test_tables_of_a_folder_are_asked_about_where_a_column_seems_to_name_recordings(name, ending, tmp_path):
    """A folder, archive or pattern of one table is asked about as that table."""
    known = table(tmp_path / "ref.tsv", ("filename", *TIMES), REFERENCE)
    folder = tmp_path / "folder"
    folder.mkdir()
    rows = [(row[0] + ending, *row[1:]) for row in SYSTEM]
    parts = [rows] if name == "take" else [rows[:2], rows[2:]]
    for k, part in enumerate(parts):
        table(folder / f"part-{k}.tsv", (name, *TIMES), part)
    archive = shutil.make_archive(str(folder), "zip", folder)
    for system in (folder, archive, f"{folder}/*.tsv"):
        assert f"column {name!r} has several texts" in refused(known, system)
        assert scored(known, system, "--columns", f"filename={name}") == F1
    assert "unclear-file-column" in call("validate", folder).out


VALUED = [(*row, value) for row, value in zip(SYSTEM, (0.25, 0.75, 0.625), strict=True)]


def valued(folder: Path, name: str = "p", more: int = 0) -> tuple[Path, Path]:
    rows = [*VALUED, *((f"x{k:05}", 0.0, 1.0, "car", (k % 99) / 100) for k in range(more))]
    head = ("filename", *TIMES, name)
    return table(folder / "ref.tsv", ("filename", *TIMES), REFERENCE), table(folder / "sys.tsv", head, rows)


WAYS = ("at once", "jobs", "Parquet", "Parquet, jobs", "JSON lines")


def given(way: str, path: Path) -> tuple[object, dict[str, object]]:
    """Return a table as something that `evaluate` takes, and how it is read."""
    frame = pd.read_csv(path, sep="\t")
    how = {"jobs": 1} if "jobs" in way else {}
    if way.startswith("Parquet"):
        pq.write_table(pa.Table.from_pandas(frame), f"{path}.parquet", row_group_size=7)
        return f"{path}.parquet", how
    if way == "JSON lines":
        Path(f"{path}.jsonl").write_text(frame.to_json(orient="records", lines=True))
        return f"{path}.jsonl", how
    return frame if way == "data frame" else str(path), how


@pytest.mark.parametrize("way", [*WAYS, "data frame"])
def test_a_table_is_asked_about_alike_however_it_is_read(way, tmp_path):
    known, path = valued(tmp_path, more=300)
    system, how = given(way, path)
    with pytest.raises(InputError, match=r"column 'p' has numbers in \[0, 1\] \(0.25, 0.") as caught:
        sedeval_soft.evaluate(str(known), system, **how)
    assert [problem.code for problem in caught.value.problems] == ["unclear-value-column"]
    scores = sedeval_soft.evaluate(str(known), system, columns="value=p", **how)
    assert dict(scores) == dict(sedeval_soft.evaluate(str(known), str(path), columns={"value": "p"}))
    # One number that is no value, at the end: what is not called like values is told, not asked about.
    path.write_text(path.read_text().replace("\tp\n", "\twhat\n") + "z\t0\t1\tcar\t7\n")
    system, how = given(way, path)
    said = "column 'what' was ignored, but most of its numbers are in [0, 1] (0.25, 0."
    for columns in ((), "ignore=what"):
        warnings = sedeval_soft.evaluate(str(known), system, columns=columns, **how).warnings
        assert [said in text for text in warnings].count(True) == (not columns)
    system, how = given(way, table(tmp_path / "take.tsv", ("take", *TIMES), SYSTEM))
    with pytest.raises(InputError, match=r"column 'take' has several texts \('r0', 'r1', 'r2'\)"):
        sedeval_soft.evaluate(str(known), system, **how)
    names = {"filename": ["other", "take"]}
    assert sedeval_soft.evaluate(str(known), system, columns=names, **how)[SCORE] == F1


FRAMES = ("segment_id", *AUDIOSET, "present")
FRAMED = [
    ("r0", 0.0, 1.0, "car", "PRESENT"),
    ("r0", 1.0, 2.0, "car", "PRESENT"),
    ("r0", 2.0, 3.0, "car", "NOT_PRESENT"),
    ("r1", 0.0, 4.0, "car", "NOT_PRESENT"),
]


@pytest.mark.parametrize("way", ["at once", "jobs", "Parquet", "JSON lines", "data frame"])
def test_what_is_not_present_in_audioset_s_frames_is_no_event(way, tmp_path):
    framed, _ = given(way, table(tmp_path / "framed.tsv", FRAMES, FRAMED))
    system = table(
        tmp_path / "sys.tsv", ("filename", *TIMES), [("r0", 0.0, 2.0, "car"), ("r1", 1.0, 2.0, "car")]
    )
    how = {"jobs": 1} if way == "jobs" else {}
    scores = sedeval_soft.evaluate(framed, str(system), **how)
    assert scores["segment.hard.recall.micro"] == 1
    assert scores["segment.hard.precision.micro"] == pytest.approx(2 / 3)
    assert scores["segment.hard.accuracy.micro"] == pytest.approx(6 / 7), "the length is known"
    assert scores["event.hard.recall.micro"] == 1, "frames that touch are one event"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("filename", "expected ROLE=COLUMN"),
        ("filename=", "the name of the column is missing"),
        ("file=x", "there is no role 'file'; expected one of filename"),
        ("filename=x,value=X", "column 'X' has two roles"),
        ("", "expected ROLE=COLUMN"),
        *((columns, "column") for columns in (3, {"filename": 3}, {"filename": [3]}, {3: "x"}, [3])),
    ],
)
def test_columns_that_are_given_wrongly_are_refused(columns, message, tmp_path):
    known, path = both(tmp_path, "filename")
    with pytest.raises(SettingsError, match=message):
        sedeval_soft.evaluate(str(known), str(path), columns=columns)


def test_texts_of_an_index_without_a_name_are_asked_about_as_in_parquet_and_numbers_are_not(tmp_path):
    frame = pd.DataFrame({"onset": [0, 1.0], "offset": [1, 2.0], "car": [0.2, 0.3]})
    named = frame.set_axis(["r0", "r1"])
    named.to_parquet(tmp_path / "x.parquet")
    named.to_csv(tmp_path / "x.csv")
    parts = pd.concat({"r0": frame[:1], "r1": frame[1:]})
    for data in (named, str(tmp_path / "x.parquet"), pd.read_csv(tmp_path / "x.csv"), parts):
        with pytest.raises(InputError, match=r"has several texts \('r0', 'r1'\)"):
            sedeval_soft.evaluate(data, data)
        columns = {"filename": ["__index_level_0__", "Unnamed: 0"]}
        assert sedeval_soft.evaluate(data, data, columns=columns).files == ("r0", "r1")
    frame[::-1].to_parquet(tmp_path / "y.parquet")
    for data in (frame, frame[::-1], str(tmp_path / "y.parquet")):
        scores = sedeval_soft.evaluate(data, data)
        assert (scores.files, scores.warnings) == (("",), ())
