"""The detection error rate of pyannote.metrics, to the last bit; where the rule gives another.

Golden numbers: tests/golden/make_pyannote.py names the versions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from random_speech import speech_cases

from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.tables.event_table import EventTable

GOLDEN = Path(__file__).parents[1] / "data" / "published" / "pyannote_vad.npz"
NUMBER, FEW = 10_000, 300
RATE = "segment.hard.error_rate.micro"


def rows_of(case, rows):
    """Return rows as a table that knows all recordings of a case."""
    file = np.array([case.files.index(row.file) for row in rows], dtype=np.int32)
    times = [np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in ("onset", "offset")]
    return EventTable(tuple(case.files), ("speech",), file, *times, label=np.zeros(len(rows), dtype=np.int32))


def compare(tmp_path, number):
    with np.load(GOLDEN) as golden:
        theirs = golden["numbers"]
    assert len(theirs) == NUMBER
    for case, collar, skip_overlap, regions in speech_cases(number):
        uem = tmp_path / "regions.uem"
        lines = (f"{name} 1 {a!r} {b!r}\n" for name, each in regions.items() for a, b in each)
        uem.write_text("".join(lines))
        options = {"collar": collar, "skip_overlap": float(skip_overlap), "uem": str(uem) if regions else ""}
        inputs = Inputs(rows_of(case, case.reference), rows_of(case, case.system), None, options)
        numbers = published_evaluator("pyannote-vad").numbers(inputs)
        ours = [np.nan if value is None else value for value in numbers.values()]
        same = np.testing.assert_array_equal
        if sys.version_info >= (3, 12):
            same = np.testing.assert_allclose  # there sum() of floats rounds less
        same(ours, theirs[case.number], err_msg=str(case.number))


def test_a_few_golden_numbers(tmp_path):
    compare(tmp_path, FEW)


@pytest.mark.slow
def test_all_golden_numbers(tmp_path):
    compare(tmp_path, NUMBER)
