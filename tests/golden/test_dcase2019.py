"""DCASE 2019 task 4, public evaluation set, against sed_eval 0.2.1, and the effects of its float times.

PER_FILE was computed with the sed_eval package over the 1168 distinct files. Counts were computed with this
package on 2026-11-21; with `compat` they equal sed_eval's, as `tests/differential` checks.
"""

from dataclasses import replace

import numpy as np
import pytest
from shared_data import shared

from sedeval_soft import evaluate
from sedeval_soft.tables import read_rows, to_ticks
from sedeval_soft.tables.file_groups import read_durations

PER_FILE = {
    "event.hard.f1.micro": 0.238375350140056,
    "event.hard.f1.macro": 0.21649708602613468,
    "event.hard.error_rate.micro": 1.2566100094428707,
    "segment.hard.f1.micro": 0.6416947520462205,
    "segment.hard.error_rate.micro": 0.5261044176706827,
    "segment.hard.f1.macro": 0.5576999664765097,
}


@pytest.fixture(scope="module")
def reference():
    return read_rows(shared("dcase2019_task4/dcase2019t4_gt.csv"))


@pytest.fixture(scope="module")
def durations():
    return read_durations(shared("dcase2019_task4/dcase2019t4_meta.csv"))


@pytest.fixture(scope="module")
def system():
    points = ("0.1", "0.3", "0.5", "0.7", "0.9")
    return {point: read_rows(shared(f"dcase2019_task4/baseline_{point}.csv")) for point in points}


def both(*sides, offset_collar_rate=0.2, **chosen):
    """Return the scores by our rules and by sed_eval's."""
    chosen["offset_collar_rate"] = offset_collar_rate
    return [evaluate(*sides, compat=compat, **chosen) for compat in (None, "sed_eval")]


def test_distinct_files(reference, system, durations):
    """On this data our rules give sed_eval's numbers at every operating point, up to the last bit of a float.

    Every class is found at least once, so no rule for NaN applies. Times are in milliseconds or are frame
    times, and none is on the edge of a collar. And after every matching, sed_eval's pass over unmatched
    events finds all possible substitutions.
    """
    assert len(durations) == 1168
    for point, rows in system.items():
        ours, theirs = both(reference, rows, durations=durations, only=("segment.hard", "event"))
        # A class has no best threshold if it has no detections there.
        values = [np.array([*side.values()], dtype=np.float64) for side in (ours, theirs)]
        assert values[0] == pytest.approx(values[1], rel=1e-12, abs=1e-15, nan_ok=True)
        if point == "0.5":
            assert {name: ours[name] for name in PER_FILE} == pytest.approx(PER_FILE, rel=0, abs=1e-12)
            assert {name: theirs[name] for name in PER_FILE} == pytest.approx(PER_FILE, rel=0, abs=1e-15)


def test_what_differs_without_compat(reference, system, durations):
    """sed_eval leaves a class that is never found out of macro segment-based F; we count it as 0.

    Without Alarm_bell_ringing in the system, their macro F is the mean over 9 classes, ours over 10.
    """
    rows = system["0.5"]
    silent = rows.take(rows.label != rows.classes.index("Alarm_bell_ringing"))
    ours, theirs = (of["segment.hard.f1.macro"] for of in both(reference, silent, durations=durations))
    assert ours == pytest.approx(theirs * 9 / 10, abs=1e-12)


@pytest.mark.parametrize(
    ("point", "ours", "theirs"),
    [
        # Micro TP, N_ref and S, first ours, then sed_eval's.
        ("0.1", (58785, 92154, 15832), (58792, 92165, 15831)),
        ("0.5", (50875, 92154, 11943), (50882, 92165, 11941)),
        ("0.9", (41229, 92154, 7144), (41235, 92165, 7142)),
    ],
)
def test_eleven_onsets_begin_a_tenth_early_in_floats(reference, system, durations, point, ours, theirs):
    """With segments of 0.1 s, sed_eval counts 11 reference segments more.

    729 of 4236 reference onsets are on the grid of 0.1 s; 11 of these, divided by 0.1 in floats, fall into
    the segment before. No offset moves up. The system's frame times are on the grid only at 0.
    """
    cell = np.floor(reference.onset * 1 / 0.1).astype(int)
    assert (cell < to_ticks(reference.onset) // 100_000).sum() == 11
    assert (to_ticks(reference.onset) % 100_000 == 0).sum() == 729
    names = [f"segment.hard.{name}.micro" for name in ("tp", "n_ref", "substitutions")]
    asked = {"durations": durations, "segment_length": 0.1, "only": ("segment.hard",)}
    found = [tuple(of[name] for name in names) for of in both(reference, system[point], **asked)]
    assert found == [ours, theirs]


# Rate of the offset collar, and micro TP and S, first ours, then sed_eval's.
@pytest.mark.parametrize(
    ("rate", "ours", "theirs"), [(0.0, (4236, 0), (1356, 20)), (0.2, (4236, 0), (1780, 19))]
)
def test_a_shift_by_the_collar_is_within_it(reference, rate, ours, theirs):
    """The system is the reference 0.2 s later: with collars of 0.2 s every event is a hit.

    In floats 2280 onsets and 2212 offsets are more than 0.2 s late, by some 1e-16 s, so 2882 of 4236 events
    miss. With a rate of 20 %, an event longer than 1 s has a wider collar for its offset.
    """
    moved = replace(reference, onset=reference.onset + 0.2, offset=reference.offset + 0.2)
    late = [np.abs(getattr(moved, end) - getattr(reference, end)) > 0.2 for end in ("onset", "offset")]
    assert [int(of.sum()) for of in (*late, late[0] | late[1])] == [2280, 2212, 2882]
    names = [f"event.hard.{name}.micro" for name in ("tp", "substitutions")]
    scores = both(reference, moved, offset_collar_rate=rate, only=("event",))
    assert [tuple(of[name] for name in names) for of in scores] == [ours, theirs]
