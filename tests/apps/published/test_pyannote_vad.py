"""The detection error rate of pyannote.metrics, to the last bit; where the rule gives another.

Golden numbers: tests/apps/published/make_pyannote.py names the versions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from called import call
from random_speech import speech_cases

from sedeval_soft import evaluate
from sedeval_soft.apps.published import published_evaluator, published_scores
from sedeval_soft.apps.published.base import Inputs
from sedeval_soft.tables.event_table import EventTable

GOLDEN = Path(__file__).parents[2] / "data" / "published" / "pyannote_vad.npz"
NUMBER, FEW = 10_000, 300
RATE = "segment.hard.error_rate.micro"


def rows_of(case, rows):
    """Return rows as a table that knows all recordings of a case."""
    file = np.array([case.files.index(row.file) for row in rows], dtype=np.int32)
    times = [np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in ("onset", "offset")]
    return EventTable(tuple(case.files), ("speech",), file, *times, label=np.zeros(len(rows), dtype=np.int32))


@pytest.mark.parametrize(
    ("first", "number"),
    # In case 9098 a collar ends less than a microsecond before a region does.
    [(0, FEW), (9098, 9099), pytest.param(0, NUMBER, marks=pytest.mark.slow)],
)
def test_golden_numbers(tmp_path, first, number):
    with np.load(GOLDEN) as golden:
        theirs = golden["numbers"]
    assert len(theirs) == NUMBER
    for case, collar, skip_overlap, regions in speech_cases(number, first):
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


def table(*rows):
    """Return rows of recording, onset, offset and class as a table."""
    columns = ("filename", "onset", "offset", "event_label")
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def theirs(reference, system, durations=None, **options):
    return published_scores("pyannote-vad", reference, system, durations=durations, options=options)


SPOKEN = table(("a", 1, 3, "speech"))


@pytest.mark.parametrize(
    ("reference", "system", "rate", "ours", "options"),
    [
        pytest.param(SPOKEN, table(("a", 2, 4, "speech")), 100.0, 1.0, {}, id="as the rule says"),
        pytest.param(table(("a", None, None, None)), SPOKEN, 100.0, None, {}, id="no speech, false alarms"),
        pytest.param(table(("a", None, None, None)), table(("a", 1, 1, "speech")), 0.0, None, {},
                     id="no speech"),
        pytest.param(SPOKEN, table(("b", 0, 9, "speech")), 100.0, 5.5, {}, id="a recording of the system"),
        pytest.param(SPOKEN, table(("a", 1, 3, "Ann")), 0.0, 1.0, {}, id="names of classes"),
        pytest.param(table(("a", 1, 3, "Ann"), ("a", 2, 4, "Bob")), table(("a", 1, 4, "Ann")), 0.0, 0.5, {},
                     id="two speakers at a time"),
        pytest.param(SPOKEN, table(("a", 1.25, 3, "speech")), 0.0, 0.125, {"collar": 0.5},
                     id="collar, half of it inside"),
        pytest.param(table(("a", 1, 3, "s"), ("a", 2, 4, "s")), table(("a", 1, 2, "s")), 50.0, 2 / 3,
                     {"skip_overlap": 1.0}, id="overlaps left out"),
        pytest.param(SPOKEN, table(("a", 1.000001, 3, "speech")), 0.0, 5e-7, {}, id="a microsecond"),
        pytest.param(SPOKEN, table(("a", 1.000005, 3, "speech")), 2.5e-4, 2.5e-6, {}, id="five of them"),
    ],
)  # fmt: skip
def test_known_deviations(reference, system, rate, ours, options):
    assert theirs(reference, system, **options)["detection error rate %"] == pytest.approx(rate, abs=1e-9)
    rule = evaluate(reference, system, preset="voice-activity")[RATE]
    assert rule == (None if ours is None else pytest.approx(ours, abs=1e-12))


def test_rttm_and_uem_are_read_by_the_command(tmp_path):
    line = "SPEAKER rec 1 {} {} <NA> <NA> {} <NA> <NA>\n"
    ours, found, uem = (tmp_path / name for name in ("ref.rttm", "sys.rttm", "rec.uem"))
    ours.write_text(line.format(1, 2, "ann") + line.format(6, 1, "bob"))
    found.write_text(line.format(2, 2, "x"))
    uem.write_text(";; evaluated\nrec 1 0.0 3.5\nrec 1 9.0 10.0\n")
    done = call("published", "pyannote-vad", ours, found, "--set", f"uem={uem}", "--format", "json")
    assert list(done.document["scores"].items()) == [
        ("detection error rate %", 75.0), ("total", 2.0), ("false alarm", 0.5), ("false alarm %", 25.0),
        ("miss", 1.0), ("miss %", 50.0),
    ]  # fmt: skip
    regions = ("--regions", uem, "--format", "json")
    scores = call(*(path for path in (ours, found)), "--preset", "voice-activity", *regions).scores
    assert scores["segment.hard.n_ref.micro"]["value"] == 2_000_000
    uem.write_text("rec 1 soon\n")
    refused = call("published", "pyannote-vad", ours, found, "--set", f"uem={uem}")
    assert refused.code == 2 and "rec.uem:1: " in refused.err


def test_the_percentage_is_compared_as_a_score(tmp_path):
    """2 s of 3 s are found, and half a second more: 1.5 / 3."""
    paths = [tmp_path / name for name in ("ref.tsv", "sys.tsv")]
    for path, times in zip(paths, ("1\t4", "2\t4.5"), strict=True):
        path.write_text(f"filename\tonset\toffset\tevent_label\na.wav\t{times}\tspeech\n")
    checked = call("check", *paths, "--preset", "voice-activity", "--with", "pyannote-vad")
    assert "1 of 1" in checked.out and checked.out.count(" 0.500000 ") == 2
