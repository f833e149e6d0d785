"""Reference and system brought together, against a plain account of the rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft.errors import EvaluationError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.timeline.recordings import align

NAMES = ("a.wav", "b.wav", "c.wav", "d.wav")
LABELS = ("ant", "bee", "cat", "dog")

ROWS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(0, 9), st.sampled_from(LABELS)).map(
        lambda r: (r[0], float(min(r[1:3])), float(max(r[1:3])), r[3])
    ),
    max_size=8,
)


def facts(rows):
    columns = (rows.file, rows.onset, rows.offset, rows.label)
    return [(rows.files[f], on, off, rows.classes[c]) for f, on, off, c in zip(*columns, strict=True)]


def test_a_recording_without_a_name_is_called_so():
    pair = align(long_rows([(UNNAMED, 0.0, 1.0, "ant")]), long_rows([]), Settings())
    assert (
        pair.findings.warnings(Settings())[0]
        == "the system has no rows for 1 reference file (without a name); counted as misses"
    )


@given(
    ROWS,
    ROWS,
    st.none() | st.dictionaries(st.sampled_from(NAMES), st.integers(0, 20)),
    st.none() | st.permutations(LABELS).map(lambda names: tuple(names[:3])),
    st.booleans(),
)
def test_align(reference, system, durations, classes, bare):
    """`bare`: the system's names lack their extension."""
    theirs = [(row[0].removesuffix(".wav") if bare else row[0], *row[1:]) for row in system]
    pair = align(long_rows(reference), long_rows(theirs), Settings(classes=classes), durations)

    in_reference, in_system = ({row[0] for row in rows} for rows in (reference, system))
    known = in_reference | set(durations or {})
    # A system file that nothing else names has nothing to take an extension from.
    named = {name: name.removesuffix(".wav") if bare and name not in known else name for name in in_system}
    files = known | (set(named.values()) if durations is None else set())
    assert pair.files == tuple(sorted(files))

    labels = {row[3] for row in [*reference, *system]}
    assert pair.classes == (tuple(sorted(labels)) if classes is None else classes)

    for rows, side in ((reference, pair.reference), (system, pair.system)):
        renamed = [(named.get(row[0], row[0]) if rows is system else row[0], *row[1:]) for row in rows]
        assert facts(side) == [row for row in renamed if row[0] in files and row[3] in pair.classes]
        assert (side.files, side.classes) == (pair.files, pair.classes)

    # The reference alone says how long a recording is; the system may have segments after that.
    theirs = [(named[row[0]], *row[1:]) for row in system]
    said = [row for row in theirs if row[2] > row[1]]
    for name, length, reach in zip(pair.files, pair.length, pair.reach, strict=True):
        last = max((row[2] for row in reference if row[0] == name), default=0.0)
        assert length == (durations or {}).get(name, last)
        furthest = max([length, *(row[2] for row in said if row[0] == name)])
        assert reach == (durations or {}).get(name, furthest)
    shown = [row for row in theirs if row[3] in pair.classes]
    late = {
        name: [row[2] - length for row in shown if row[0] == name and row[2] > length]
        for name, length in zip(pair.files, pair.length, strict=True)
        # Of one that is declared to be without events no end is known.
        if name in in_reference and name not in (durations or {}) and length > 0
    }
    assert pair.findings.after_end == {name: (len(over), max(over)) for name, over in late.items() if over}

    missing = in_reference - in_system
    assert any("counted as misses" in text for text in pair.findings.warnings(Settings())) == bool(missing)
    extra = {} if durations is not None else in_system - in_reference
    assert any(
        "counted as false alarms, unless" in text for text in pair.findings.warnings(Settings())
    ) == bool(extra)
    dropped = in_system - files if durations is not None else set()
    assert any(
        "not in the reference or the durations" in text for text in pair.findings.warnings(Settings())
    ) == bool(dropped)
    unlisted = in_reference - set(durations) if durations is not None else set()
    assert any("no duration for" in text for text in pair.findings.warnings(Settings())) == bool(unlisted)


ONE = long_rows([("a.wav", 0.0, 1.0, "car")])

STRICT = [
    (ONE, long_rows([("a.wav", 0.0, 1.0, "car"), ("b.wav", 0.0, 1.0, "car")]), None, "1 system file"),
    (long_rows([], files=["a.wav", "b.wav"]), ONE, None, "1 reference file"),
    (ONE, long_rows([("a.wav", 0.0, 1.0, "cars")]), None, "did you mean 'car'"),
    (ONE, ONE, {"b.wav": 3.0}, "no duration for 1 reference file"),
    (
        ONE,
        long_rows([("x/a.wav", 0, 1, "car"), ("y/a.wav", 0, 1, "car")]),
        None,
        "could be more than one file",
    ),
]


@pytest.mark.parametrize(("reference", "system", "durations", "message"), STRICT)
def test_strict_makes_warnings_errors(reference, system, durations, message):
    assert any(
        message in text
        for text in align(reference, system, Settings(), durations).findings.warnings(Settings())
    )
    with pytest.raises(EvaluationError, match="strict makes") as error:
        align(reference, system, Settings(strict=True), durations).findings.warnings(Settings(strict=True))
    assert message in str(error.value)


def test_named_classes_are_no_reason_for_strict_to_fail():
    """What --classes leaves out was asked for; only a class that is nowhere is an error."""
    both = long_rows([("a.wav", 0.0, 1.0, "car"), ("a.wav", 0.0, 1.0, "dog")])
    found = align(both, both, Settings()).findings
    assert found.warnings(Settings(strict=True, classes=("dog",))) == (
        "1 class ('car') is not among the classes to evaluate; left out",
    )
    with pytest.raises(EvaluationError, match="'cat', one of those to evaluate, is in neither table"):
        found.warnings(Settings(strict=True, classes=("dog", "cat")))


def test_durations_match_names_as_systems_do():
    pair = align(ONE, ONE, Settings(strict=True), {"audio/a.flac": 7.0})
    assert (pair.files, pair.length.tolist()) == (("a.wav",), [7.0])


def test_wide_tables_get_silent_columns_and_lose_files():
    system = wide_rows(np.array([[0.1], [0.2], [0.3], [0.4]]), files=2)
    pair = align(long_rows([("file1", 0.0, 1.0, "class9")]), system, Settings(), {"file1": 2.0})
    assert pair.classes == ("class0", "class9")
    assert pair.files == ("file1",)
    assert [column.tolist() for column in pair.system.values] == [[0.3, 0.4], [0.0, 0.0]]
    assert pair.system.onset.tolist() == [0.0, 1.0]


def test_a_pair_of_unnamed_tables_takes_the_name_of_the_only_duration():
    """One file that no table names, and one duration: they can only mean each other."""
    rows = long_rows([(UNNAMED, 0.0, 1.0, "car")])
    pair = align(rows, rows, Settings(strict=True), {"a.wav": 5.0})
    assert pair.length.tolist() == [5.0]
    assert len(pair.files) == 1
