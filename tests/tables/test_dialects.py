"""Headers of other tools: what they leave open is said or asked, and what is wrong is refused.

That the files in `dialects` are read as their events, `test_sample_files.py` holds.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from called import call
from drawn import cases, facts, refused, table

import sedeval_soft
from sedeval_soft import Settings
from sedeval_soft.api.sources import to_rows
from sedeval_soft.errors import InputError
from sedeval_soft.tables import read_rows

FILES = Path(__file__).parent / "dialects"


def test_blanks_around_names_of_columns_mean_nothing_in_parquet_either(tmp_path):
    frame = pd.read_csv(FILES / "stop-seconds.csv")
    frame.rename(columns=" {} ".format).to_parquet(tmp_path / "a.parquet")
    assert facts(read_rows(tmp_path / "a.parquet")) == facts(read_rows(FILES / "stop-seconds.csv"))


RAVEN = "Selection|View|Channel|Begin Time (s)|End Time (s)"


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
