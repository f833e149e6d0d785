"""Promises that the property tests do not cover: each concerns one line of code, and has one test."""

import json
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from called import OTHER, REFERENCE, SYSTEM, call
from parted import count_in_parts
from pyarrow import parquet as pq
from tables import columns_of

from sedeval_soft import (
    InputError,
    Settings,
    annotate,
    chance_levels,
    compare,
    convert,
    diagnose,
    evaluate,
    threshold_curves,
    validate,
)
from sedeval_soft.evaluation import percentile
from sedeval_soft.measures.matching import Condition
from sedeval_soft.report import render, write_curves
from sedeval_soft.timeline import Regions

F1 = "segment.soft.f1.micro"
EVENT = columns_of([("a", 0.0, 1.0, "car")])


def lasting(*seconds):
    """Return events of class `car` in one file."""
    return columns_of([("a", onset, offset, "car") for onset, offset in seconds])


def test_points_without_commas_are_points(tmp_path):
    """1.234 and 2.345 could mean thousands only in a table with commas in numbers."""
    (tmp_path / "t.tsv").write_text("filename\tonset\toffset\tevent_label\na\t1.234\t2.345\tcar\n")
    assert validate(tmp_path / "t.tsv", fix=tmp_path / "out.tsv").mends == ()


def test_rows_of_later_groups_of_a_parquet_file_are_counted_from_the_first(tmp_path):
    table = lasting((0.0, 1.0), (2.0, 3.0), (4.0, 5.0), (7.0, 6.0))
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=2)
    with pytest.raises(InputError, match=r"row 3\b"):
        evaluate(EVENT, tmp_path / "t.parquet")


def test_means_over_runs_have_no_worst_files():
    """A message that advises JSON would lead to another refusal."""
    done = call(REFERENCE, SYSTEM, OTHER, "--runs", "--worst", "2")
    assert done.code == 2 and "--runs" in done.err and "--format" not in done.err


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
    """Soft F of the three shifts is 0.8, 0 and 0.4; a mean of two, a and b, has the error |a - b| / 2."""
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
    """Multiples of 1024 samples at 44.1 kHz, rounded to whole microseconds, and then to 24 bits."""
    edges = np.array([round(k * 1024 / 44100, 6) for k in (717, 738, 805, 826, 894)]).astype(np.float32)
    table = lasting(*((t, t + np.float32(2.0**-6)) for t in edges.tolist()))
    settings = {"segment_length": 1024 / 44100, "only": ["segment.hard"]}
    assert evaluate(table, table, **settings)["segment.hard.n_ref.micro"] == len(edges)


def test_shots_are_counted_by_onset():
    """The first event by onset ends at 10 s, and the evaluation begins there."""
    table = lasting((0.0, 10.0), (1.0, 2.0), (11.0, 12.0))
    scores = evaluate(table, table, after_shots="1", segment_length=1.0)
    assert scores["segment.hard.n_ref.micro"] == 1


def test_silent_files_of_a_system_are_not_told_beside_missing_ones():
    reference = columns_of([("a", 0.0, 1.0, "car"), ("b", 0.0, 1.0, "car")])
    system = columns_of([("a", 0.0, 1.0, "car")], files=["c"])
    told = "\n".join(evaluate(reference, system).warnings)
    assert "'b'" in told and "'c'" not in told


def test_time_steps_with_a_gap_between_them_are_two_events():
    steps = {
        "filename": ["a"] * 4,
        "onset": [0.0, 1.0, 3.0, 4.0],
        "offset": [1.0, 2.0, 4.0, 5.0],
        "car": [1.0] * 4,
    }
    assert evaluate(steps, steps, only="event.hard")["event.hard.n_ref.micro"] == 2


def test_the_last_step_of_a_table_may_go_on_after_the_end_of_its_recording():
    steps = {**lasting(*((float(k), k + 1.0) for k in range(3))), "value": [0.7] * 3}
    assert evaluate(steps, steps, durations={"a": 2.5}, only="segment.soft").warnings == ()


def test_a_time_that_was_cut_off_after_six_decimals_is_on_a_fractional_grid():
    """229/7 s is 32.7142857 s: the event fills two segments, and none of the segment before."""
    table = lasting((32.714285, 33.0))
    assert evaluate(table, table, segment_length=1 / 7, only="segment.hard")["segment.hard.n_ref.micro"] == 2


def test_columns_of_parquet_that_play_no_role_may_have_long_texts(tmp_path):
    pq.write_table(pa.table({**EVENT, "comment": ["x" * 20_000]}), tmp_path / "t.parquet")
    assert evaluate(EVENT, tmp_path / "t.parquet", only="event.hard")["event.hard.tp.micro"] == 1


def test_a_frame_may_have_a_column_in_its_index_beside_a_nameless_one():
    frame = pd.DataFrame(EVENT).set_index([[7], "onset"])
    frame.index.names = [None, "onset"]
    assert evaluate(EVENT, frame, only="event.hard")["event.hard.tp.micro"] == 1


def test_a_file_without_a_region_is_missed_in_no_part(tmp_path):
    head = "filename\tonset\toffset\tevent_label\na\t0\t1\tcar\n"
    sides = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    for path, rows in zip(sides, ("b\t0\t1\tcar\n", ""), strict=True):
        path.write_text(head + rows)
    found = count_in_parts(*sides, Settings(regions={"a": [(0.0, 9.0)]})).findings
    assert (found.missing, found.without_region) == (frozenset(), {"b"})


@pytest.mark.parametrize(("n", "bins"), [(50, [25, 25]), (30, [])])
def test_bins_of_fewer_than_20_events_are_joined(n, bins):
    """A quarter of the events has 12 or 13 of 50 events, and 7 or 8 of 30."""
    table = lasting(*((2.0 * k, 2.0 * k + 0.02 * (k + 1)) for k in range(n)))
    found = diagnose(table, table, only="event", ci=None).bins
    assert [each.n for each in found if (each.factor, each.measure) == ("duration", "recall")] == bins


def test_a_wrong_region_of_label_studio_has_its_place_in_the_document(tmp_path):
    spans = ((0, 1), (3, 2))
    regions = [{"type": "labels", "value": {"start": a, "end": b, "labels": ["car"]}} for a, b in spans]
    task = {"data": {"audio": "a.wav"}, "annotations": [{"result": regions}]}
    (tmp_path / "t.json").write_text(json.dumps([task]))
    with pytest.raises(InputError, match=re.escape("[0].annotations[0].result[1].offset")):
        evaluate(EVENT, tmp_path / "t.json")


def test_rows_that_are_segments_have_the_same_values_in_both_poolings():
    """The mean of one value equals the value to the last bit."""
    times = np.arange(200.0)
    steps = {
        "filename": ["a"] * 200,
        "onset": times,
        "offset": times + 1,
        "car": np.random.default_rng(0).random(200),
    }
    asked = {"only": "segment.soft", "segment_length": 1.0}
    pooled = [
        evaluate(steps, steps, pool=pool, **asked)["segment.soft.n_ref.micro"] for pool in ("mean", "max")
    ]
    assert pooled[0] == pooled[1]


def test_events_of_two_files_are_far_apart_on_a_line_that_is_too_short_for_both():
    """The files last years: the reference event is at the end of the first, the detection in the second."""
    late = 4 * 10**12
    pair = Condition(np.array([late]), np.array([0, late - 11]), np.array([10]), np.array([10]))
    _, first, last = pair.windows(np.array([0]), np.array([0, 1]))
    assert first.tolist() == last.tolist()


def test_a_class_that_only_the_best_system_detects_is_on_the_screen_of_a_board():
    """The score is undefined for the other system, which counts as the largest difference."""
    best, other = columns_of([("a", 0.0, 1.0, "car"), ("a", 1.0, 2.0, "cat")]), lasting((3.0, 4.0))
    board = compare(lasting((0.0, 1.0)), {"best": best, "other": other}, only="segment.soft", ci=None)
    assert "cat" in render(board.systems, "text", board=board)


def test_counts_of_all_classes_together_are_among_the_curves_of_a_reference_sweep(tmp_path):
    curves = threshold_curves(REFERENCE, SYSTEM, only="segment.hard", reference_sweep=True)
    write_curves(str(tmp_path / "curves.parquet"), {"s": curves})
    rows = pd.read_parquet(tmp_path / "curves.parquet").dropna(subset="reference_threshold")
    places = ["reference_threshold", "threshold"]
    of_classes = rows.dropna(subset="class").groupby(places)["tp"].sum()
    assert rows[rows["average"] == "micro"].set_index(places)["tp"].to_dict() == of_classes.to_dict()


def test_an_end_of_an_interval_that_is_a_replicate_is_finite_beside_an_infinite_one():
    """The quartiles of nine replicates are the third and the seventh."""
    low, high = percentile(np.array([*range(7), math.inf, math.inf], dtype=float), 0.5)
    assert (low, high) == (2.0, 6.0)


@pytest.mark.parametrize(
    ("form", "file", "label"),
    [("audacity", "a", '"car'), ("audacity", "a", "0.5"), ("sed-eval", "1.5", "car")],
)
def test_names_that_a_table_without_header_cannot_hold_are_refused(form, file, label, tmp_path):
    with pytest.raises(InputError) as caught:
        convert(columns_of([(file, 0.0, 1.0, label)]), tmp_path / "out", to=form)
    assert caught.value.problems[0].code == "cannot-hold"


def test_of_two_columns_of_a_role_the_one_with_the_standard_name_counts():
    """`start` could be the onset, too; it is ignored beside `onset`."""
    table = EVENT | {"start": [9.0]}
    assert evaluate(table, table, only="segment.hard", segment_length=1.0)["segment.hard.n_ref.micro"] == 1


def test_regions_of_two_files_need_the_names_of_files():
    unnamed = {"onset": [0.0], "offset": [1.0], "event_label": ["car"]}
    with pytest.raises(InputError) as caught:
        evaluate(unnamed, unnamed, regions={"x": [(0, 1)], "y": [(0, 1)]})
    assert caught.value.problems[0].code == "missing-filename-column"


def test_annotators_who_all_give_one_value_have_no_alpha():
    table = columns_of([("a", 0.0, 2.0, "car", 0.5)])
    assert {each[1:] for each in annotate([table, table]).agreement} == {(None, None, None)}
