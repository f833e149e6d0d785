"""DCASE 2026 task 6: the numbers of its script of random answers, and what it does that no rule says."""

from __future__ import annotations

import json

from called import call
from golden_numbers import STOPS, read_numbers
from make_amr import drawn

from sedeval_soft import InputError
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


def test_random_answers_give_the_numbers_of_the_published_code():
    golden = read_numbers("amr.json")
    assert golden["count"] == len(golden["shown"]) >= 40
    found = [numbers_of(*drawn(number)) for number in range(golden["count"])]
    assert found == golden["shown"] and found.count(STOPS) < 5


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


def test_the_command_reads_the_files_of_the_challenge(tmp_path):
    paths = tmp_path / "castella.jsonl", tmp_path / "submission.jsonl"
    for path, rows in zip(paths, task([[0, 10]], [[0, 7, 0.9]]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert published_scores("dcase2026-task6", *paths)["MR-full-mAP"] == 50.0
    done = call("published", "dcase2026-task6", *paths)
    assert done.code == 0 and "MR-full-R1@0.7" in done.out
    paths[1].write_text('{"qid": 1, "windows": []}\n')
    done = call("published", "dcase2026-task6", *paths)
    assert done.code == 2 and "submission.jsonl:1: is no such row" in done.err
