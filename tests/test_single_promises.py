"""Promises that the laws do not reach: each is of one line of code, and protected by one test."""

import numpy as np
import pyarrow as pa
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from pyarrow import parquet as pq
from tables import columns_of

from sedeval_soft import InputError, chance_levels, evaluate, validate
from sedeval_soft.timeline.regions import Regions

F1 = "segment.soft.f1.micro"
EVENT = columns_of([("a", 0.0, 1.0, "car")])


def lasting(*seconds):
    """Return events of class `car` in one file."""
    return columns_of([("a", onset, offset, "car") for onset, offset in seconds])


def test_points_without_commas_are_points(tmp_path):
    """1.234 and 2.345 could be thousands only beside numbers with commas."""
    (tmp_path / "t.tsv").write_text("filename\tonset\toffset\tevent_label\na\t1.234\t2.345\tcar\n")
    assert validate(tmp_path / "t.tsv", fix=tmp_path / "out.tsv").mends == ()


def test_rows_of_later_groups_of_a_parquet_file_are_counted_from_the_first(tmp_path):
    table = lasting((0.0, 1.0), (2.0, 3.0), (4.0, 5.0), (7.0, 6.0))
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=2)
    with pytest.raises(InputError, match=r"row 3\b"):
        evaluate(EVENT, tmp_path / "t.parquet")


def test_means_over_runs_have_no_worst_files():
    asked = (REFERENCE, SYSTEM, OTHER, "--runs", "--format", "json", "-q")
    assert [call(*asked, *more).code for more in ((), ("--worst", "2"))] == [0, 2]


def test_a_warning_that_two_systems_share_is_printed_once(tmp_path):
    sides = [tmp_path / name for name in ("ref.tsv", "one.tsv", "two.tsv")]
    for path, more in zip(sides, ("2\t3\tCar\n", "", ""), strict=True):
        path.write_text(f"onset\toffset\tevent_label\n0\t1\tcar\n{more}")
    done = call(*sides, "--score", F1, "--replicates", "2")
    assert done.code == 0 and done.err.count("(similar-classes)") == 1


def test_a_requirement_is_missed_by_a_named_system():
    done = call(REFERENCE, SYSTEM, OTHER, "--replicates", "2", "-q", "--require", f"{F1}>=0.8")
    assert done.code == 1 and done.err.count("\n") == 1
    assert "sys_b.tsv" in done.err and "sys.tsv" not in done.err


@pytest.mark.parametrize("more", [(), (OTHER, "--replicates", "2")], ids=["one system", "a board"])
def test_a_score_that_is_named_twice_is_in_a_table_once(more):
    asked = (REFERENCE, SYSTEM, *more, "--format", "csv", "-q")
    once, twice = (call(*asked, *("--score", F1) * times) for times in (1, 2))
    assert once.code == 0 and once.out == twice.out


def test_a_lower_threshold_of_the_reference_is_told_beside_that_of_the_system():
    shown = call(REFERENCE, SYSTEM, "--reference-threshold", "0.375", "--words").out
    assert any("0.375" in line and "0.5" in line.split() for line in shown.splitlines())


def test_the_error_of_a_chance_level_is_of_a_sample():
    """Soft F of the three moves is 0.8, 0 and 0.4; of two of them the mean has the error |a - b| / 2."""
    reference, system = (np.array(side)[:, None] for side in ([1.0, 0.0, 0.0], [1.0, 0.5, 0.0]))
    asked = {"only": ["segment.soft", "clip.soft"]}
    level = chance_levels(reference, system, draws=2, **asked).chance.levels[F1]
    pairs = [((a + b) / 2, abs(a - b) / 2) for a, b in ((0.8, 0.0), (0.8, 0.4), (0.0, 0.4))]
    assert any((level.chance, level.error) == pytest.approx(pair, abs=1e-12) for pair in pairs)


def test_chance_levels_of_clips_are_drawn_though_all_moves_in_time_are_looked_at():
    sides = {name: np.array([[value]]) for name, value in zip("abcd", (1.0, 0.8, 0.1, 0.0), strict=True)}
    chance = chance_levels(sides, sides, draws=1000, only=["segment.soft", "clip.soft"]).chance
    assert chance.levels[F1].error is None and chance.levels["clip.soft.f1.micro"].error > 0


def test_regions_that_touch_are_one():
    joined = Regions.of(*(np.array(column) for column in ([0, 0, 1], [10, 0, 20], [20, 10, 30])))
    assert (joined.begin.tolist(), joined.end.tolist()) == ([0, 20], [20, 30])


def test_times_of_single_precision_are_on_fractional_grids():
    """17 segments and more of 1024 samples at 44.1 kHz, rounded to whole microseconds, then to 24 bits."""
    edges = np.array([round(k * 1024 / 44100, 6) for k in (717, 738, 805, 826, 894)]).astype(np.float32)
    table = lasting(*((t, t + np.float32(2.0**-6)) for t in edges.tolist()))
    settings = {"segment_length": 1024 / 44100, "only": ["segment.hard"]}
    assert evaluate(table, table, **settings)["segment.hard.n_ref.micro"] == len(edges)


def test_shots_are_counted_by_onset():
    """The first event by onset ends last: what is evaluated begins at 10 s."""
    table = lasting((0.0, 10.0), (1.0, 2.0), (11.0, 12.0))
    scores = evaluate(table, table, after_shots="1", segment_length=1.0)
    assert scores["segment.hard.n_ref.micro"] == 1


def test_silent_files_of_a_system_are_not_told_beside_missing_ones():
    reference = columns_of([("a", 0.0, 1.0, "car"), ("b", 0.0, 1.0, "car")])
    system = columns_of([("a", 0.0, 1.0, "car")], files=["c"])
    told = "\n".join(evaluate(reference, system).warnings)
    assert "'b'" in told and "'c'" not in told
