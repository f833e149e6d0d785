"""DCASE 2019 task 4, public evaluation set, baseline at 0.5, against numbers of sed_eval 0.2.1.

Two sets of numbers. PER_FILE was computed with the sed_eval package over the 1168 distinct files.
PER_ROW are the published reference figures of the shared data's README. They come from a loop over
the rows of the metadata, which names a file once per event of it: files count 1 to 15 times. Both are
sed_eval's; the second is reproduced by repeating the files as often.
"""

from __future__ import annotations

from collections import Counter

import pytest
from shared_data import shared
from tables import long_rows

from sedeval_soft import evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.file_groups import read_durations

NAMES = (
    "event.hard.f1.micro",
    "event.hard.f1.macro",
    "event.hard.error_rate.micro",
    "segment.hard.f1.micro",
    "segment.hard.error_rate.micro",
    "segment.hard.f1.macro",
)
PER_FILE = (
    *(0.238375350140056, 0.21649708602613468, 1.2566100094428707),
    *(0.6416947520462205, 0.5261044176706827, 0.5576999664765097),
)
PER_ROW = (
    *(0.2171562738888282, 0.19065301651739483, 1.1881375937947896),
    *(0.6720071104628638, 0.4852643100372953, 0.5547354809118206),
)


@pytest.fixture(scope="module")
def data():
    folder = shared("dcase2019_task4")
    reference, system = (read_rows(folder / name) for name in ("dcase2019t4_gt.csv", "baseline_0.5.csv"))
    return reference, system, read_durations(folder / "dcase2019t4_meta.csv")


@pytest.mark.parametrize("compat", ["sed_eval", None])
def test_distinct_files(data, compat):
    """On this data our own rules give sed_eval's numbers, too.

    All classes are found at least once, so no NaN rule applies; times are to the millisecond or are frame
    times, none of which lies on the edge of a collar; and no matching leaves sed_eval's pass over
    leftovers fewer substitutions than there can be. Only the last bit of a float may differ.
    """
    reference, system, durations = data
    assert len(durations) == 1168
    scores = evaluate(reference, system, durations=durations, offset_collar_rate=0.2, compat=compat)
    assert [scores[name] for name in NAMES] == pytest.approx(
        PER_FILE, rel=0, abs=1e-12 if compat is None else 1e-15
    )


def _repeated(rows, times):
    """Repeat each file under as many names."""
    facts = [
        (rows.files[file], onset, offset, rows.classes[label])
        for file, onset, offset, label in zip(rows.file, rows.onset, rows.offset, rows.label, strict=True)
    ]
    copies = [(f"{row[0]}#{copy}", *row[1:]) for row in facts for copy in range(times[row[0]])]
    return long_rows(copies, files=[f"{name}#{copy}" for name in rows.files for copy in range(times[name])])


def test_files_repeated_as_in_the_metadata(data):
    reference, system, durations = data
    lines = (shared("dcase2019_task4") / "dcase2019t4_meta.csv").read_text().splitlines()[1:]
    times = Counter(line.split("\t")[0] for line in lines)
    assert times.total() == 4251
    sides = _repeated(reference, times), _repeated(system, times)
    lengths = {f"{name}#{copy}": durations[name] for name, many in times.items() for copy in range(many)}
    scores = evaluate(*sides, offset_collar_rate=0.2, compat="sed_eval", durations=lengths)
    assert [scores[name] for name in NAMES] == pytest.approx(PER_ROW, rel=0, abs=1e-9)


def test_what_differs_without_compat(data):
    """Where a class is never found, sed_eval leaves it out of macro segment-based F; we count it 0.

    Alarm_bell_ringing taken out of the system: their macro F is the mean over 9 classes, ours over 10.
    """
    reference, system, durations = data
    kept = system.label != system.classes.index("Alarm_bell_ringing")
    system = system.take(kept)
    ours, theirs = (
        evaluate(reference, system, durations=durations, compat=compat)["segment.hard.f1.macro"]
        for compat in (None, "sed_eval")
    )
    assert ours == pytest.approx(theirs * 9 / 10, abs=1e-12)
