"""Headers of other tools: what they leave open is said or asked, and what is wrong is refused.

That the files in `dialects` are read as their events, `test_sample_files.py` holds.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from called import call
from drawn import cases, facts, refused, table
from test_sample_files import ROWS

import sedeval_soft
from sedeval_soft import Settings
from sedeval_soft.api.sources import to_rows
from sedeval_soft.errors import InputError
from sedeval_soft.tables import read_rows

FILES = Path(__file__).parent / "dialects"


def test_a_row_of_a_folder_and_a_file_alone_declares_that_recording(tmp_path):
    path, row = tmp_path / "a.csv", "D:,night3,rec3.wav" + "," * 18 + "\n"
    for quote in ("", 'night"4'):
        # A quote that opens nothing takes the fast way away.
        text = (FILES / "kaleidoscope-cluster.csv").read_text() + row
        path.write_text(text.replace("D:\\bats,night1", f"D:\\bats,{quote or 'night1'}"))
        out = tmp_path / "out.tsv"
        assert call("convert", path, out, "--force").code == 0
        assert out.read_text().splitlines()[-1] == "night3/rec3.wav\t\t\t"


def test_a_raven_table_alone_is_of_one_recording_whatever_texts_it_has(tmp_path):
    path = table(tmp_path / "x.txt", f"{RAVEN}|Site|Species", "1|V|1|0|1|north|wren", "2|V|1|2|3|south|wren")
    assert call(path, path, "--strict", "--score", "event.hard.f1.micro").out == "1.0\n"


def test_blanks_around_names_of_columns_mean_nothing_in_parquet_either(tmp_path):
    frame = pd.read_csv(FILES / "stop-seconds.csv")
    frame.rename(columns=" {} ".format).to_parquet(tmp_path / "a.parquet")
    assert facts(read_rows(tmp_path / "a.parquet")) == facts(read_rows(FILES / "stop-seconds.csv"))


RAVEN = "Selection|View|Channel|Begin Time (s)|End Time (s)"


def test_the_label_of_a_raven_table_is_known_told_or_asked_for(tmp_path):
    path = table(tmp_path / "x.txt", f"{RAVEN}|Remark", "1|Spectrogram 1|1|0|1|call")
    message = refused(path, path)
    assert (
        f"{path}:1: Raven selection table, its views as one: no column is known to have the labels" in message
    )
    assert "--columns event_label=Remark" in message
    assert (
        call(path, path, "--columns", "event_label=Remark", "--score", "event.hard.f1.micro").out == "1.0\n"
    )
    two = table(tmp_path / "y.txt", f"{RAVEN}|Call Type|Species", "1|Spectrogram 1|1|0|1|song|wren")
    done = call(two, two, "-v")
    assert "event_label from 'Species'" in done.out
    assert "'Species' was read as the label, which 'Call Type' could be, too" in done.err
    assert "--columns 'event_label=Call Type'" in refused(two, two, "--strict")
    assert call(two, two, "--strict", "--columns", "event_label=Species").code == 0
    empty = table(tmp_path / "z.txt", f"{RAVEN}|Species|Call Type", "1|Spectrogram 1|1|0|1||song")
    assert "event_label from 'Call Type'" in call(empty, empty, "--strict", "-v").out
    some = table(tmp_path / "w.txt", f"{RAVEN}|Species|Call Type", "1|V|1|0|1||song", "2|V|1|1|2|a|b")
    assert f"{some}:2:6: Species is empty; expected a name, or --columns 'event_label=Call Type'" in refused(
        some, some
    )


def test_a_table_for_kaleidoscope_of_another_tool_says_whether_its_distances_are_values(tmp_path):
    path = tmp_path / "k.csv"
    path.write_text("INDIR,FOLDER,IN FILE,OFFSET,DURATION,TOP1MATCH,TOP1DIST\n/d,s,a.wav,0,3,wren,0.75\n")
    assert "--columns value=TOP1DIST" in refused(path, path)
    assert "with values" in call(path, path, "--columns", "value=TOP1DIST", "-v").out


@pytest.mark.parametrize("case", cases("refused_headers.tsv"), ids=lambda case: case["message"])
def test_what_is_wrong_is_said_with_its_place(case, tmp_path):
    """No column is proposed that is known to be another, or in another unit."""
    path, message = table(tmp_path / "x.tsv", case["head"], case["row"]), case["message"]
    for options in ((), ("--only", "clip")):
        assert message in refused(path, path, *options)
    if not case["kind"]:
        frame = pd.read_csv(path, sep="\t")
        with pytest.raises(InputError) as caught:
            sedeval_soft.evaluate(frame, frame)
        assert message[:8] in str(caught.value) or "does not hold" in str(caught.value)


def test_selections_of_two_files_are_told(tmp_path):
    head = f"{RAVEN}|Begin File|Species"
    path = table(tmp_path / "x.txt", head, "1|V|1|0|1|a.wav|wren", "2|V|1|60|61|b.wav|wren")
    assert "export them with 'File Offset (s)'" in call(path, path).err
    converted = call("convert", path, "-")
    assert "export them with 'File Offset (s)'" in converted.err
    assert converted.out.count("\n") == 3
    refused = call("convert", path, "-", "--strict")
    assert (refused.code, refused.out) == (2, "")
    head = f"{RAVEN}|Begin File|End File|File Offset (s)|Species"
    path = table(
        tmp_path / "x.txt", head, "1|V|1|59|61|a.wav|b.wav|59|wren", "2|V|1|60|61|b.wav|b.wav|0|wren"
    )
    assert "1 selection that ends in another file than that of the begin" in call(path, path).err


NAMES = {Path(name).name for name in ROWS if Path(name).suffix}
WITHOUT_HEADER = ("tut-2017.ann", "birdnet-audacity.txt", "seld-2019.csv")


def test_dates_that_no_calendar_has_are_refused(tmp_path):
    head = "filename|start_datetime|end_datetime|annotation"
    row = "20150204_030001.wav|0001-01-01T00:00:00+14:00|9999-12-31T23:59:59-14:00|x"
    path = table(tmp_path / "x.tsv", head, row)
    assert "is not a date and time of day" in refused(path, path)
    frame = pd.read_csv(path, sep="\t")
    with pytest.raises(InputError, match="row 0: start_datetime .* is not a date and time of day"):
        sedeval_soft.evaluate(frame, frame)


def test_dates_of_a_data_frame_may_be_those_of_pandas(tmp_path):
    frame = pd.read_csv(FILES / "biodcase.csv")
    for name in ("start_datetime", "end_datetime"):
        frame[name] = pd.to_datetime(frame[name], format="ISO8601")
    rows = to_rows(frame, "system", Settings())
    assert facts(rows) == facts(read_rows(FILES / "biodcase.csv"))


def test_columns_without_a_name_and_of_directions_are_read_past_and_told(tmp_path):
    done = call(FILES / "pandas.csv", FILES / "pandas.csv", "-v")
    assert "ignored columns: column 1, which has no name\n" in done.out
    assert "ignored columns: ele, azi, dist\n" in call(FILES / "seld", FILES / "seld", "-v").out
    wide = table(tmp_path / "w.tsv", "filename|onset|offset|car|azimuth", "a|0|1|1|-40")
    assert "ignored columns: azimuth\n" in call(wide, wide, "-v").out


def test_a_duration_beside_an_offset_means_nothing_and_is_no_class(tmp_path):
    long = table(tmp_path / "a.tsv", "filename|onset|duration|offset|label", "a|0|9|1|car")
    assert facts(read_rows(long))[1] == [("a", 0.0, 1.0, "car", None)]
    wide = table(tmp_path / "c.tsv", "filename|onset|offset|duration|car", "a|0|1|0.5|1")
    assert "expected --columns ignore=duration, or" in refused(wide, wide)
    assert "1 class;" in call(wide, wide, "-v", "--columns", "ignore=duration").out


@pytest.mark.parametrize(
    "name", ["rec1.Table.1.selections.txt", "rec1.Table.12.selections.txt", "rec1.selections.txt",
             "rec1.BirdNET.selection.table.txt", "rec1.BirdNET.results.csv", "rec1.txt"]
)  # fmt: skip
def test_a_table_in_a_folder_is_of_the_recording_before_what_its_tool_adds(name, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    table(folder / name, f"{RAVEN}|Species", "1|V|1|0.5|1.5|car")
    known = table(tmp_path / "ref.tsv", "filename|onset|offset|label", "rec1.wav|0.5|1.5|car")
    assert call(known, folder, "--strict", "--score", "event.hard.f1.micro").out == "1.0\n"
    with known.open("a") as file:
        file.write("rec2.wav\t0.5\t1.5\tcar\n")
    done = call(known, folder / name, "--score", "event.hard.recall.micro")
    assert done.out == "0.5\n"
    assert "it was assumed to be of recording 'rec1.wav', after which it is named" in done.err
    other = (folder / name).rename(folder / "other.txt")
    assert "there is no column of file names, but" in refused(known, other)


@pytest.mark.parametrize(
    ("head", "columns", "read"),
    [
        *((f"filename|onset{unit}|offset{unit}|label", "", "0.5 1.5") for unit in ("_ms", " (ms)", "_msec")),
        *((f"filename|start{unit}|end{unit}|label", "", "0.5 1.5") for unit in (" (ms)", " msec")),
        ("filename|onset (ms)|offset (ms)|label", "onset=onset (ms),offset=offset (ms)", "0.5 1.5"),
        ("filename|begin in msecs|end [ms]|label", "onset=begin in msecs,offset=end [ms]", "0.5 1.5"),
        ("site|t_min|t_max|label", "filename=site,onset=t_min,offset=t_max", "500 1500"),
        ("filename|start (min)|end (min)|label", "onset=start (min),offset=end (min)", ""),
        ("filename|onset|end_frame|label", "offset=end_frame", ""),
        ("filename|onset|minutes|label", "duration=minutes", ""),
    ],
)
def test_a_unit_in_a_name_holds_for_columns_that_are_given_too(head, columns, read, tmp_path):
    path = table(tmp_path / "x.tsv", head, "a.wav|500|1500|car")
    call_ = ("convert", path, "-", *(("--columns", columns) if columns else ()))
    if read:
        assert call(*call_).out.splitlines()[1].split() == ["a.wav", *read.split(), "car"]
    else:
        assert "by its name not in seconds; expected seconds, as onset and offset, or" in refused(*call_)
