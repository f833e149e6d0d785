"""DCASE 2026 task 6: the numbers of its script of random answers, and what it does that no rule says."""

from __future__ import annotations

import json

import pytest
from called import call
from golden_numbers import STOPS, digest, read_numbers
from make_amr import drawn

from sedeval_soft import InputError, evaluate
from sedeval_soft.apps.published import published_scores
from sedeval_soft.apps.published.base import Inputs, published_evaluator
from sedeval_soft.tables.event_table import EventTable, Origin


def numbers_of(reference, system):
    sides = [EventTable.empty(Origin(name, None, "text")) for name in ("reference", "system")]
    texts = ["".join(json.dumps(row) + "\n" for row in rows) for rows in (reference, system)]
    try:
        return published_evaluator("dcase2026-task6").numbers(Inputs(*sides, texts=tuple(texts)))
    except InputError as error:
        if "the script stops" not in str(error):
            raise
        return STOPS


@pytest.mark.parametrize("last", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_answers_give_the_numbers_of_the_published_code(last):
    golden = read_numbers("amr.json")
    assert golden["count"] == len(golden["digests"]) == 10_000
    found = [numbers_of(*drawn(number)) for number in range(last)]
    assert found[:100] == golden["shown"] and found.count(STOPS) < last / 20
    assert [*map(digest, found)] == golden["digests"][:last]


def task(windows, answers):
    return [{"qid": 1, "relevant_windows": windows}], [{"qid": 1, "pred_relevant_windows": answers}]


def test_a_perfect_system_of_more_than_ten_windows_is_not_perfect():
    windows = [[10 * k, 10 * k + 5] for k in range(20)]
    numbers = numbers_of(*task(windows, [[*window, 0.9] for window in windows]))
    # Ten of twenty are looked at: recall ends at a half.
    assert numbers["MR-full-mAP"] == 50.0 and numbers["MR-full-R1@0.7"] == 100.0


def test_the_first_window_as_written_ranks_first_in_r1_alone():
    right, wrong = [0, 10, 0.9], [50, 60, 0.1]
    one, other = (numbers_of(*task([[0, 10]], rows)) for rows in ([right, wrong], [wrong, right]))
    assert one["MR-full-mAP"] == other["MR-full-mAP"] == 100.0
    assert (one["MR-full-R1@0.5"], other["MR-full-R1@0.5"]) == (100.0, 0.0)


def test_overlaps_at_a_threshold_count():
    # 7 of 10 s: an overlap of 0.7, at which 0.5 .. 0.7 are reached, five of ten thresholds.
    numbers = numbers_of(*task([[0, 10]], [[0, 7, 0.9]]))
    expected = {"R1@0.5": 100.0, "R1@0.7": 100.0, "mAP": 50.0, "mAP@0.5": 100.0, "mAP@0.75": 0.0}
    assert numbers == {f"MR-full-{name}": value for name, value in expected.items()}


def test_a_query_of_long_windows_alone_is_left_out_and_an_empty_answer_stops():
    reference, system = task([[0, 10]], [[0, 10, 0.5]])
    long = {"qid": 2, "relevant_windows": [[0, 1501]]}, {"qid": 2, "pred_relevant_windows": [[0, 1, 0.5]]}
    assert numbers_of([*reference, long[0]], [*system, long[1]])["MR-full-mAP"] == 100.0
    assert numbers_of(*task([[0, 10]], [])) == numbers_of(reference, [long[1]]) == STOPS


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


RANKED = {"R1@0.5": "recall_at_1", "mAP": "average_precision_voc_mean", "mAP@0.5": "average_precision_voc"}
"""The scores of the preset beside the numbers of the script."""


def ours(folder, reference, system, iou=0.5):
    sides = (lines(folder / name, rows) for name, rows in (("gt.jsonl", reference), ("sub.jsonl", system)))
    return evaluate(*sides, preset="dcase2026-task6", iou=iou)


def test_the_preset_by_hand(tmp_path):
    """Overlaps of the first query are 0.7 and 1, in this order; the second has none, the third 0.6."""
    found = {
        1: ([[0, 10], [20, 30]], [[20, 30, 0.4], [0, 7, 0.9]]),
        2: ([[0, 10]], []),
        3: ([[5, 10]], [[5, 8, 0.5], [40, 50, 0.4]]),
    }
    sides = [
        [{"qid": qid, "vid": "a" if qid < 3 else "b", field: rows[k]} for qid, rows in found.items()]
        for k, field in enumerate(("relevant_windows", "pred_relevant_windows"))
    ]  # fmt: skip
    half, more = (ours(tmp_path, *sides, iou=iou) for iou in (0.5, 0.75))
    precisions = [(5 * 1 + 5 * 0.25) / 10, 0, 3 / 10]
    name = "event.hard.average_precision_voc_mean"
    assert [half[f"{name}[{qid}]"] for qid in (1, 2, 3)] == pytest.approx(precisions)
    assert half[f"{name}.macro"] == more[f"{name}.macro"] == pytest.approx(sum(precisions) / 3)
    both = [
        [scores[f"event.hard.{each}.macro"] for each in ("average_precision_voc", "recall_at_1")]
        for scores in (half, more)
    ]
    assert both == [pytest.approx([2 / 3, 2 / 3]), pytest.approx([0.25 / 3, 0.0])]
    done = call(
        tmp_path / "gt.jsonl", tmp_path / "sub.jsonl", "--preset", "dcase2026-task6", "--format", "json"
    )
    assert done.scores[f"{name}.macro"]["value"] == half[f"{name}.macro"]


def test_the_preset_has_the_numbers_of_the_script_where_the_rules_meet(tmp_path):
    """With up to ten windows of some extent and of different scores, the best one first."""
    for number in range(40):
        reference, system = drawn(number)
        for row in reference:
            row["relevant_windows"] = [w for w in row["relevant_windows"] if 0 < w[1] - w[0] < 1500] or [
                [0, 1]
            ]
        for row in system:
            windows = [w[:2] for w in row["pred_relevant_windows"] if w[1] > w[0]][:10] or [[50, 60]]
            row["pred_relevant_windows"] = [[*w, 0.9 - k / 20] for k, w in enumerate(windows)]
        theirs, scores = numbers_of(reference, system), ours(tmp_path, reference, system)
        for label, measure in RANKED.items():
            value = round(100 * scores[f"event.hard.{measure}.macro"], 2)
            assert value == pytest.approx(theirs[f"MR-full-{label}"], abs=0.0101), (number, label)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pred_relevant_windows": [[0, 10]]},
        {"pred_relevant_windows": [[0, 10, "high"]]},
        {"pred_relevant_windows": None},
        {"qid": None},
        {"vid": " "},
        {"qid": 1},
    ],
)
def test_a_line_that_is_no_query_is_named(tmp_path, wrong):
    item = {"qid": 1, "vid": "a", "pred_relevant_windows": [[0, 10, 0.5]]}
    path = lines(tmp_path / "sub.jsonl", [item, item | {"qid": 2} | wrong])
    with pytest.raises(InputError) as caught:
        evaluate(path, path, preset="dcase2026-task6")
    assert caught.value.problems[0].line == 2


def test_the_command_reads_the_files_of_the_challenge(tmp_path):
    reference, system = ([row | {"vid": "a"} for row in rows] for rows in task([[0, 10]], [[0, 7, 0.9]]))
    paths = lines(tmp_path / "castella.jsonl", reference), lines(tmp_path / "submission.jsonl", system)
    assert published_scores("dcase2026-task6", *paths)["MR-full-mAP"] == 50.0
    assert "3 of 3" in call("check", *paths, "--preset", "dcase2026-task6", "--with", "dcase2026-task6").out
    lines(paths[1], [{"qid": 1, "windows": []}])
    done = call("published", "dcase2026-task6", *paths)
    assert done.code == 2 and "submission.jsonl:1:" in done.err
