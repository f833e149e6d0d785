"""Small things of reading: lengths as text, durations in columns, an index of pandas, tiers of one name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import sedeval_soft
from sedeval_soft import EvaluationError

ROWS = {
    "filename": ["a.wav", "a.wav"], "onset": [0.0, 2.0], "offset": [1.0, 3.0], "event_label": ["car", "car"],
}  # fmt: skip


def test_the_length_of_a_segment_may_be_a_number_in_text():
    """Three seconds are thirty segments of 0.1 s."""
    assert sedeval_soft.evaluate(ROWS, ROWS, segment_length="0.1").n_segments == 30
    for wrong in ("x", "0", "1/0"):
        with pytest.raises(EvaluationError, match="segment_length"):
            sedeval_soft.evaluate(ROWS, ROWS, segment_length=wrong)


@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_durations_may_be_a_table_as_regions_may(form):
    columns = {"filename": ["a.wav", "a.wav"], "duration": [9.0, 9.0]}
    assert sedeval_soft.evaluate(ROWS, ROWS, durations=form(columns)).length == 9.0
    with pytest.raises(EvaluationError, match=r"'a\.wav' has 9\.0 and 8\.0"):
        sedeval_soft.evaluate(ROWS, ROWS, durations=form({**columns, "duration": [9.0, 8.0]}))


def test_durations_by_file_name_may_be_of_files_that_are_called_as_columns():
    lengths = {"a.wav": 3.0, "filename": 9.0, "duration": 3.0}
    assert sedeval_soft.evaluate(ROWS, ROWS, durations=lengths).length == 15.0


def test_an_index_of_pandas_is_no_class(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",car,start_seconds,end_seconds\n0,.4,0,1\n1,.6,1,2\n")
    scores = sedeval_soft.evaluate(path, path)
    assert scores["segment.hard.n_ref.micro"] == 1
    assert scores["segment.soft.n_ref[car]"] == 1.0
    # Without a class it is no table: the column of texts is not a class, and labels are asked for.
    path.write_text(",name,start_seconds,end_seconds\n0,car,0,1\n1,dog,1,2\n")
    with pytest.raises(EvaluationError, match="name 'car' is not a number; .* event_label=name"):
        sedeval_soft.evaluate(path, path)


def tier(name: str, text: str) -> str:
    return f'"IntervalTier" "{name}" 0 3 1 0 3 "{text}"\n'


def test_tiers_of_one_name_are_told_of(tmp_path):
    path: Path = tmp_path / "a.TextGrid"
    head = 'File type = "ooTextFile"\n"TextGrid" 0 3 <exists> 2\n'
    path.write_text(head + tier("words", "car") + tier("words", "dog"))
    scores = sedeval_soft.evaluate(path, path)
    assert any("2 tiers are named 'words'" in text for text in scores.warnings)
    with pytest.raises(EvaluationError, match="2 tiers are named"):
        sedeval_soft.evaluate(path, path, strict=True)
    path.write_text(head + tier("words", "car") + tier("words", ""))
    assert not any("tiers are named" in text for text in sedeval_soft.evaluate(path, path).warnings)
