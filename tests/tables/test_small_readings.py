"""Small things of reading: lengths as text, durations in columns, an index of pandas, tiers of one name."""

from __future__ import annotations

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
