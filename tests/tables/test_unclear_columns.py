"""Columns by other names: those that are known, those that are asked about, and those that are said."""

from __future__ import annotations

import csv
import shlex
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


@pytest.mark.parametrize(("name", "delimiter"), [("take", "\t"), ("the take, or so", ";"), ('a "take"', ",")])
def test_a_column_of_texts_is_asked_about_where_no_column_names_recordings(name, delimiter, tmp_path):
    known = table(tmp_path / "ref.tsv", ("filename", *TIMES), REFERENCE)
    path = table(tmp_path / "sys.txt", (name, *TIMES), SYSTEM, delimiter)
    said = refused(known, path)
    assert f"{path}:1:1: no column is known to name the recordings, but column {name!r}" in said
    assert f"--columns {shlex.quote(f'filename={name}')} if" in said
    assert f"--columns {shlex.quote(f'ignore={name}')} if" in said
    assert scored(known, path, "--columns", f"filename={name}") == F1
    assert scored(path, path, "--columns", f"ignore={name}") == 1
    assert str(path) in refused(path, known)


def test_a_folder_and_a_table_of_one_text_and_no_texts_are_read_as_ever(tmp_path):
    head = ("annotator", "blank", "flag", "low_freq", *TIMES)
    one = [("ann", "", "yes", 20 + k, *row[1:]) for k, row in enumerate(REFERENCE)]
    assert scored(*(table(tmp_path / "one.tsv", head, one),) * 2) == 1
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in "ab":
        rows = [(text, "", "no", 20, *row[1:]) for text, row in zip("xyz", REFERENCE, strict=True)]
        table(folder / f"{name}.tsv", head, rows)
    assert scored(folder, folder, "--strict") == 1


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


@pytest.mark.parametrize("name", ["p", "annotator_confidence"])
def test_numbers_that_may_be_values_are_asked_about_on_either_side(name, tmp_path):
    known, path = valued(tmp_path, name)
    for sides in ((known, path), (path, known)):
        said = refused(*sides, "--strict")
        assert f"{path}:1:5: there is no column of values, but column {name!r} has numbers in [0, 1]" in said
        assert f"--columns value={name}" in said
    assert scored(known, path, "--columns", f"ignore={name}") == F1
    assert scored(known, path, "--columns", f"value={name}") == pytest.approx(2 * 1 / (5 + 3))


@pytest.mark.parametrize("odd", [1.5, -0.01, "NA", "inf", "0,5", "50%", "x"])
@pytest.mark.parametrize(
    ("name", "rest"),
    [("p", (0.2, 0.3)), ("conf", (20, 30)), ("logit", (2.5, -2.5)), ("Model Score", ("0,2", ""))],
)
def test_a_column_that_is_called_like_values_is_asked_about_whatever_it_holds(name, rest, odd, tmp_path):
    for cells in ((*rest, odd), (odd, *rest)):
        rows = [(*row, cell) for row, cell in zip(SYSTEM, cells, strict=True)]
        path = table(tmp_path / "sys.tsv", ("filename", *TIMES, name), rows)
        said = refused(path, path)
        assert f"{path}:1:5: there is no column of values, but column {name!r} is called like one (" in said
        assert shlex.quote(f"value={name}") in said and shlex.quote(f"ignore={name}") in said
        assert scored(path, path, "--columns", f"ignore={name}", "--strict") == 1


def test_other_numbers_are_read_past(tmp_path):
    columns = [(name, (0, 1, 1)) for name in ("fold", "is_mixture", "Unnamed: 0", "event_id", "channel")]
    columns += [(name, (0.2, 0.3, 1)) for name in ("Low Freq (Hz)", "duration", "snr_db", "")]
    columns += [("p", x) for x in ((1, 1, 1), ("", "", ""), ("sure", "NA", ""))]
    columns += [("what", x) for x in ((1, 1, 1), (0.5, 2, 3), (0, 2, 1), ("x", 0.5, "y"), (-0.5, -1, 0))]
    for name, numbers in columns:
        rows = [(*row, number) for row, number in zip(SYSTEM, numbers, strict=True)]
        path = table(tmp_path / "sys.tsv", ("filename", *TIMES, name), rows)
        assert scored(path, path, "--strict") == 1


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


def test_another_word_than_present_is_refused_and_a_class_may_be_called_so(tmp_path):
    path = table(tmp_path / "framed.tsv", FRAMES, [*FRAMED, ("r1", 0.0, 1.0, "car", "MAYBE")])
    assert f"{path}:6:5: present 'MAYBE' is not a number" in refused(path, path)
    head = ("fname", "onset", "offset", "present", "absent")
    path = table(tmp_path / "wide.tsv", head, [("a", 0, 1, 1, 0)])
    assert scored(path, path) == 1


def test_validate_and_convert_ask_and_are_told(tmp_path):
    path = table(tmp_path / "sys.tsv", ("take", *TIMES, "p"), [(*row, 0.5) for row in SYSTEM])
    found = sedeval_soft.validate(path)
    assert [problem.code for problem in found.problems] == ["unclear-file-column", "unclear-value-column"]
    assert sedeval_soft.validate(path, columns="filename=take,value=p").files == 3
    assert "column 'take'" in refused("convert", path, tmp_path / "out.tsv")
    head = call("convert", path, "-", "--columns", "filename=take,value=p").out.splitlines()
    assert head[:2] == ["filename\tonset\toffset\tevent_label\tsoft_value", "r0\t4\t6\tcar\t0.5"]


def test_what_is_said_holds_over_what_is_known_and_is_told(tmp_path):
    rows = [("same", *row) for row in SYSTEM]
    path = table(tmp_path / "sys.tsv", ("filename", "segment", *TIMES), rows)
    known = table(tmp_path / "ref.tsv", ("filename", *TIMES), REFERENCE)
    assert scored(known, path, "--columns", "filename=Segment") == F1
    out = call(known, path, "--columns", "filename=Segment", "-v").out
    assert "long table with header, tab, filename from 'segment'" in out
    both_known = table(tmp_path / "two.tsv", ("ytid", "segment_id", *TIMES), rows)
    said = refused(known, both_known)
    assert "columns 'ytid' and 'segment_id' could each be the filename" in said
    assert scored(known, both_known, "--columns", "ignore=ytid") == F1
    times = table(tmp_path / "t.tsv", ("filename", "t0", "t1", "what"), REFERENCE)
    assert scored(known, times, "--columns", "onset=t0", "--columns", "offset=t1,label=what") == 1


def test_a_wide_table_leaves_out_what_is_to_be_ignored(tmp_path):
    head = ("take", "comment", "onset", "offset", "car")
    rows = [(name, k, 0.0, 1.0, 0.75) for k, name in enumerate(("r0", "r1"))]
    path = table(tmp_path / "wide.tsv", head, rows)
    assert "expected a number in [0, 1], or --columns ignore=take where that is no class" in refused(
        path, path
    )
    columns = ("--columns", "filename=take,ignore=comment")
    assert scored(path, path, *columns) == 1
    assert "2 rows, 2 files, 1 class; wide table" in call(path, path, *columns, "-v").out


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


@pytest.mark.parametrize(
    ("lines", "options", "place", "mend"),
    [
        ("0|1|0.5", "", "1:3", "onset=1,offset=2,value=3"),
        ("\n".join([*(f"{k}|{k + 1}|0" for k in range(300)), "", "300|301|1e-3"]), "", "302:3", "value=3"),
        ("a.wav|0|1|0.5|0.6", "", "1:4", "filename=1,onset=2,offset=3,event_label=4,value=5"),
        ("0|1|0\n1|2|1", "--label speech", "1:3", "onset=1,offset=2,value=3"),
        ("a.wav|0|1|0.5", "", "1", "event_label=1,onset=2,offset=3,value=4"),
        ("0|1|3\n1|2|-4", "", "", "3 -4"),
        ("0|1|0.5", "--columns onset=1,offset=2,event_label=3", "", "0.5"),
        ("0|1|0.5", "--columns onset=1,offset=2,value=3 --label speech", "", "speech"),
        ("0|1|car\n1|2|0.5", "--from audacity", "", "car 0.5"),
    ],
)
def test_numbers_in_the_place_of_labels_are_classes_if_whole(lines, options, place, mend, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(lines.replace("|", "\t") + "\n")
    if place:
        said = refused("convert", path, "-", *options.split())
        assert f"{path}:{place}: " in said and "class called by a number, or a" in said and mend in said
    else:
        rows = call("convert", path, "-", *options.split()).out.splitlines()[1:]
        assert [row.split("\t")[2] for row in rows] == mend.split()


def test_a_column_of_texts_without_a_name_is_asked_about_too(tmp_path):
    path = tmp_path / "x.csv"
    pd.DataFrame(SYSTEM, columns=["", *TIMES]).to_csv(path, index=False)
    said = refused(path, path)
    assert (
        f"{path}:1:1: no column is known to name the recordings, but column 1, which has no name, has" in said
    )
    assert "expected 'filename' as its name if it names them" in said
    path.write_text(f"filename{path.read_text()}")
    assert scored(path, path) == 1


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


@pytest.mark.parametrize("name", ["fold", "index", "ID", "Low Freq (Hz)", "duration"])
@pytest.mark.parametrize("last", [1, 3])
def test_a_column_that_is_called_as_no_class_is_none_of_a_wide_table(name, last, tmp_path):
    rows = [(file, 0, 1, k, k, last * k, 0.5) for k, file in enumerate(("r0", "r1"))]
    head = ("filename", "onset", "offset", "Unnamed: 0", "__index_level_0__", name, "car")
    path = table(tmp_path / "wide.tsv", head, rows)
    ignored = shlex.quote(f"ignore={name}")
    said = f"{path}:1:6: a wide table would have {name!r} among its classes; expected --columns {ignored}, or"
    assert said in refused(path, path)
    done = call(path, path, "--columns", f"ignore={name}", "--strict", "-v")
    assert "1 class; wide table" in done.out and "ignored columns: Unnamed: 0, __index_level_0__" in done.out
