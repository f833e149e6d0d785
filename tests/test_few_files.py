"""Where there are few files, nothing is said that so few cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from sedeval_soft import compare

SAMPLES = Path(__file__).parents[1] / "sample_data"
SYSTEMS = {name: SAMPLES / f"{name}.tsv" for name in ("sys", "sys_b")}


# With 29 and 37, fewer than one in twenty of 1000 drawn exchanges leave the difference as large as it is.
@pytest.mark.parametrize("seed", [0, 29, 37])
def test_no_seed_makes_five_files_tell_systems_apart(seed):
    board = compare(SAMPLES / "ref.tsv", SYSTEMS, only="segment.soft", ci="jackknife", seed=seed)
    difference = board.entries[1].difference
    assert difference.p_exchange >= 2 / 2**5
    assert difference.p_adjusted >= 2 / 2**5
    assert all(entry.tied and entry.rank == 1 for entry in board.entries)
    said = "all systems tie: exchanging 5 files between two of them gives no p-value below 0.0625"
    assert said in board.systems[0].warnings
