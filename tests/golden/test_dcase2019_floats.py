"""Where ticks and sed_eval's floats part on the real data of DCASE 2019 task 4, and by how much.

All numbers were computed with this package on 2026-11-21; those with `compat` are sed_eval's, which
`tests/differential` holds it to. At 1 s nothing differs, at any of the five operating points.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from shared_data import shared

from sedeval_soft import evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.ticks import to_ticks


@pytest.fixture(scope="module")
def reference():
    return read_rows(shared("dcase2019_task4/dcase2019t4_gt.csv"))


def both(reference, point, **chosen):
    """Scores of the baseline at an operating point, ours and sed_eval's."""
    system, durations = (
        shared(f"dcase2019_task4/{name}.csv") for name in (f"baseline_{point}", "dcase2019t4_meta")
    )
    chosen = {"durations": durations, "offset_collar_rate": 0.2, **chosen}
    return [evaluate(reference, system, compat=compat, **chosen) for compat in (None, "sed_eval")]


@pytest.mark.parametrize("point", ["0.1", "0.3", "0.5", "0.7", "0.9"])
def test_nothing_differs_at_one_second(reference, point):
    """Every class is found, no time is on the edge of a collar, and no substitution is left out."""
    ours, theirs = both(reference, point, only=("segment.hard", "event"))
    assert list(ours.values()) == pytest.approx(list(theirs.values()), rel=1e-12, abs=1e-15)


# Point, and micro TP, N_ref and S, first ours, then sed_eval's.
TENTHS = [
    ("0.1", (58785, 92154, 15832), (58792, 92165, 15831)),
    ("0.5", (50875, 92154, 11943), (50882, 92165, 11941)),
    ("0.9", (41229, 92154, 7144), (41235, 92165, 7142)),
]


@pytest.mark.parametrize(("point", "ours", "theirs"), TENTHS, ids=[case[0] for case in TENTHS])
def test_eleven_onsets_begin_a_tenth_early_in_floats(reference, point, ours, theirs):
    """At 0.1 s sed_eval's rolls have 11 reference segments more.

    Of 4236 reference onsets 729 are on the grid of 0.1 s, and 11 of these lie, divided by 0.1, below their
    segment. No offset is moved up, and the system's times (frame times that are no decimals) are on it at
    0 only.
    """
    cell = np.floor(reference.onset * 1 / 0.1).astype(int)
    assert (cell < to_ticks(reference.onset) // 100_000).sum() == 11
    assert (to_ticks(reference.onset) % 100_000 == 0).sum() == 729
    names = [f"segment.hard.{name}.micro" for name in ("tp", "n_ref", "substitutions")]
    scores = both(reference, point, segment_length=0.1, only=("segment.hard",))
    assert [tuple(of[name] for name in names) for of in scores] == [ours, theirs]


# Rate of the offset collar, and micro TP and S, first ours, then sed_eval's.
SHIFTED = [(0.0, (4236, 0), (1356, 20)), (0.2, (4236, 0), (1780, 19))]


@pytest.mark.parametrize(("rate", "ours", "theirs"), SHIFTED)
def test_a_shift_by_the_collar_is_within_it(reference, rate, ours, theirs):
    """The reference against itself 0.2 s later, at collars of 0.2 s: every event is a hit, and by right.

    In floats 2280 onsets and 2212 offsets are more than 0.2 s late, by some 1e-16 s: 2882 of 4236 events miss
    on either. (With a rate of 20 % an event longer than 1 s has a wider collar for its offset.)
    """
    system = replace(reference, onset=reference.onset + 0.2, offset=reference.offset + 0.2)
    late = [
        np.abs(a - b) > 0.2 for a, b in ((system.onset, reference.onset), (system.offset, reference.offset))
    ]
    assert [int(late[0].sum()), int(late[1].sum()), int((late[0] | late[1]).sum())] == [2280, 2212, 2882]
    for compat, expected in ((None, ours), ("sed_eval", theirs)):
        scores = evaluate(reference, system, offset_collar_rate=rate, compat=compat, only=("event",))
        assert (scores["event.hard.tp.micro"], scores["event.hard.substitutions.micro"]) == expected
