"""Reference and system are aligned by the rules of a plain account, and findings become warnings."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft.errors import EvaluationError, InputError
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


@given(
    ROWS,
    ROWS,
    st.none() | st.dictionaries(st.sampled_from(NAMES), st.integers(0, 20)),
    st.none() | st.permutations(LABELS).map(lambda names: tuple(names[:3])),
    st.booleans(),
)
@example([("b.wav", 0.0, 1.0, "ant")], [("b.wav", 0.0, 1.0, "ant")], {"a.wav": 2, "b.wav": 1}, None, False)
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
    theirs = [(named[row[0]], *row[1:]) for row in system]
    for rows, side in ((reference, pair.reference), (theirs, pair.system)):
        assert facts(side) == [row for row in rows if row[0] in files and row[3] in pair.classes]
        assert (side.files, side.classes) == (pair.files, pair.classes)

    # The reference alone says how long a recording is; the system may have segments after that.
    lasting = [row for row in theirs if row[2] > row[1]]
    for name, length, reach in zip(pair.files, pair.length, pair.reach, strict=True):
        last = max((row[2] for row in reference if row[0] == name), default=0.0)
        furthest = max([last, *(row[2] for row in lasting if row[0] == name)])
        given = (durations or {}).get(name)
        assert (length, reach) == ((last, furthest) if given is None else (given, given))
    ends = dict(zip(pair.files, pair.length.tolist(), strict=True))
    # Of one that is declared to be without events no end is known.
    assumed = {name for name in ends.keys() & in_reference - {*(durations or ())} if ends[name] > 0}
    late = [row[2] - ends[row[0]] for row in theirs if row[0] in assumed and row[2] > ends[row[0]]]
    rows = pair.findings.tables["system"]
    assert rows.counts.get("after-reference", 0) == len(late)
    assert rows.excess.get("after-reference", 0) == pytest.approx(max(late, default=0))

    found, listed = pair.findings, durations is not None
    dropped, unlisted = {*named.values()} - files, in_reference - set(durations) if listed else set()
    extra = set() if listed else {*named.values()} - in_reference
    wanted = (in_reference - in_system, extra, dropped, unlisted)
    assert (found.missing, found.extra, found.dropped, found.unlisted) == wanted
    warnings = "\n".join(found.warnings(Settings()))
    told = {
        "counted as misses": in_reference - in_system,
        "counted as false alarms (a row": extra,
        "neither in the reference nor in the durations": listed and in_system - files,
        " no duration; ": unlisted,
    }
    assert {text: text in warnings for text in told} == {text: bool(files) for text, files in told.items()}


ONE = long_rows([("a.wav", 0.0, 1.0, "car")])
WITH_SILENCE = long_rows([("a.wav", 0.0, 1.0, "car")], files=["a.wav", "b.wav"])
TWO = long_rows([("a.wav", 0.0, 1.0, "car"), ("b.wav", 0.0, 9.0, "dog")])
NOTHING = long_rows([], files=["a.wav"])
UNKNOWN = long_rows([(UNNAMED, 0.0, 1.0, "car")])


@pytest.mark.parametrize(
    ("reference", "system", "durations", "classes", "named"),
    [
        # A file in which nothing happens is neither missed nor detected in vain.
        *((WITH_SILENCE, ONE, None, None, None), (ONE, WITH_SILENCE, None, None, None)),
        (WITH_SILENCE, WITH_SILENCE, None, None, None),
        (ONE, TWO, None, ("car",), "1 system file"),
        (long_rows([("b.wav", 0.0, 1.0, "car")]), ONE, None, None, "1 reference file"),
        (ONE, long_rows([("a.wav", 0.0, 1.0, "cars")]), None, None, "'car'"),
        (ONE, ONE, {"b.wav": 3.0}, None, "'a.wav'"),
        (
            ONE,
            long_rows([("x/a.wav", 0, 1, "car"), ("y/a.wav", 0, 1, "car")]),
            None,
            None,
            "more than one file",
        ),
        (UNKNOWN, long_rows([]), None, None, "without a name"),
        # Where there are no classes at all, one is missed by itself.
        (NOTHING, NOTHING, None, ("Cat",), "'Cat'"),
        # Only a class that is nowhere is an error, not one that is left out.
        *(
            (TWO, TWO, None, classes, named)
            for classes, named in ((("dog",), None), (("car", "cat"), "'cat'"))
        ),
        # One file that no table names, and one duration: they can only mean each other.
        (UNKNOWN, UNKNOWN, {"a.wav": 5.0}, None, None),
    ],
)
def test_strict_makes_warnings_errors_but_not_of_what_was_asked_for(
    reference, system, durations, classes, named
):
    plain, strict = (Settings(classes=classes, strict=strict) for strict in (False, True))
    found = align(reference, system, plain, durations).findings
    assert (named or "") in "\n".join(found.warnings(plain))
    with pytest.raises(EvaluationError, match=named) if named else nullcontext():
        found.warnings(strict)


def test_recordings_last_as_long_as_the_reference_says_in_all_classes():
    pair = align(TWO, TWO, Settings(classes=("car",)))
    assert (pair.length.tolist(), len(pair.reference)) == ([1.0, 9.0], 1)
    # Durations match names as systems do.
    pair = align(ONE, ONE, Settings(), {"audio/a.flac": 7.0})
    assert (pair.files, pair.length.tolist()) == (("a.wav",), [7.0])
    far = long_rows([("a", 0, 1e12, "car")])
    with pytest.raises(InputError, match="31 years"):
        align(far, far, Settings())


def test_a_table_without_names_takes_the_name_of_the_only_file():
    for sides, name in (((ONE, UNKNOWN), "a.wav"), ((UNKNOWN, ONE), "a.wav"), ((UNKNOWN, UNKNOWN), UNNAMED)):
        assert align(*sides, Settings()).files == (name,)
    with pytest.raises(InputError, match="2 files"):
        align(TWO, UNKNOWN, Settings())


def test_wide_tables_get_silent_columns_and_lose_files():
    system = wide_rows(np.array([[0.1], [0.2], [0.3], [0.4]]), files=2)
    pair = align(long_rows([("file1", 0.0, 1.0, "class9")]), system, Settings(), {"file1": 2.0})
    values = [column.tolist() for column in pair.system.values]
    assert (pair.classes, pair.files) == (("class0", "class9"), ("file1",))
    assert (pair.system.onset.tolist(), values) == ([0.0, 1.0], [[0.3, 0.4], [0.0, 0.0]])
