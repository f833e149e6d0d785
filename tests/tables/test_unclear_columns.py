"""Columns by other names are asked about alike, however a table is given and read.

Which columns are known, asked about, or named by the user, `readings.tsv` has.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn import lay_out

from sedeval_soft import evaluate, validate
from sedeval_soft.errors import InputError

COLUMNS = ["filename", "onset", "offset", "event_label"]
REFERENCE = pd.DataFrame(
    [("r0", 0.0, 2.0, "car"), ("r1", 4.0, 6.0, "car"), ("r2", 1.0, 2.0, "dog")], columns=COLUMNS
)
SYSTEM = pd.DataFrame(
    [("r0", 4.0, 6.0, "car"), ("r1", 0.0, 2.0, "car"), ("r2", 1.0, 2.0, "dog")], columns=COLUMNS
)
"""Of one recording all would be found: of three only the dog is."""

AN_EVENT = {"onset": 0.0, "offset": 1.0, "event_label": "car"}
SCORE = "segment.hard.f1.micro"
F1 = pytest.approx(1 / 5)


def check_asked(code: str, word: str, system: object, **how: object) -> None:
    """Check that a system is refused by a code, and that the message has a word."""
    with pytest.raises(InputError, match=word) as caught:
        evaluate(REFERENCE, system, **how)
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize(("name", "ending"), [("clipp", ""), ("what", ".wav"), ("take", "")])
def test_tables_of_a_folder_are_asked_about_where_a_column_seems_to_name_recordings(name, ending, tmp_path):
    """A folder, archive or pattern of one table is asked about as that table."""
    frame = SYSTEM.rename(columns={"filename": name}).assign(**{name: SYSTEM["filename"] + ending})
    parts = [frame] if name == "take" else [frame[:2], frame[2:]]
    texts = {f"part-{k}.tsv": part.to_csv(sep="\t", index=False) for k, part in enumerate(parts)}
    folder = lay_out(tmp_path / "folder", texts)
    for system in (folder, shutil.make_archive(str(folder), "zip", folder), f"{folder}/*.tsv"):
        check_asked("unclear-file-column", f"'{name}'", system)
        assert evaluate(REFERENCE, system, columns=f"filename={name}")[SCORE] == F1
    assert "unclear-file-column" in validate(folder).counts


def given(way: str, frame: pd.DataFrame, path: Path) -> object:
    """Return a table as it is given to `evaluate`."""
    if way == "data frame":
        return frame
    if way == "Parquet":
        pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=7)
    elif way == "JSON lines":
        path.write_text(frame.to_json(orient="records", lines=True))
    else:
        frame.to_csv(path, sep="\t", index=False)
    return path


@pytest.mark.parametrize(
    ("way", "how"),
    [("text", {}), ("text", {"jobs": 1}), ("Parquet", {}), ("Parquet", {"jobs": 1}), ("JSON lines", {}),
     ("data frame", {})],
)  # fmt: skip
def test_a_table_is_asked_about_alike_however_it_is_read(way, how, tmp_path):
    values = [0.25, 0.75, 0.625, *(k / 100 for k in range(40))]
    more = pd.DataFrame({"filename": [f"x{k:03}" for k in range(40)]} | AN_EVENT)
    valued = pd.concat([SYSTEM, more], ignore_index=True).assign(p=values)
    system = given(way, valued, tmp_path / "p")
    check_asked("unclear-value-column", r"'p' .*0\.25, 0\.", system, **how)
    scores = evaluate(REFERENCE, system, columns={"value": "p"}, only="segment", **how)
    assert dict(scores) == dict(evaluate(REFERENCE, valued.rename(columns={"p": "value"}), only="segment"))
    # One number that is not a value, at the end: a column of any other name is reported, not asked about.
    system = given(way, valued.assign(what=[*values[:-1], 7]).drop(columns="p"), tmp_path / "what")
    for columns in ((), "ignore=what"):
        warnings = evaluate(REFERENCE, system, columns=columns, only="event.hard", **how).warnings
        assert sum("'what'" in text and "(0.25, 0." in text for text in warnings) == (not columns)
    system = given(way, SYSTEM.rename(columns={"filename": "take"}), tmp_path / "take")
    check_asked("unclear-file-column", "'take' .*'r0', 'r1', 'r2'", system, **how)
    names = {"filename": ["other", "take"]}
    assert evaluate(REFERENCE, system, columns=names, only="segment.hard", **how)[SCORE] == F1


def test_texts_of_an_index_without_a_name_are_asked_about_as_in_parquet_and_numbers_are_not(tmp_path):
    frame = pd.DataFrame({"onset": [0, 1.0], "offset": [1, 2.0], "car": [0.2, 0.3]})
    named = frame.set_axis(["r0", "r1"])
    named.to_parquet(tmp_path / "x.parquet")
    named.to_csv(tmp_path / "x.csv")
    parts = pd.concat({"r0": frame[:1], "r1": frame[1:]})
    for data in (named, tmp_path / "x.parquet", pd.read_csv(tmp_path / "x.csv"), parts):
        check_asked("unclear-file-column", "'r0', 'r1'", data)
        columns = {"filename": ["__index_level_0__", "Unnamed: 0"]}
        assert evaluate(data, data, columns=columns, only="segment").files == ("r0", "r1")
    frame[::-1].to_parquet(tmp_path / "y.parquet")
    for data in (frame, frame[::-1], tmp_path / "y.parquet"):
        scores = evaluate(data, data, only="segment")
        assert (scores.files, scores.warnings) == (("",), ())
