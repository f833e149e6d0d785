"""Published evaluators, compared with the numbers of the published code for random tables, and by hand.

For the tables made by hand, the scripts and the rules of their challenges give different numbers.
"""

import json
import math
import sys

import numpy as np
import pytest
from called import call
from golden_numbers import FOLDER, STOPS, digest, read_numbers
from random_answers import answer_files, windows
from random_tables import DESED, MAESTRO, PARTS, case_of, data_sets, speech_cases
from tables import columns_of, long_rows

from sedeval_soft import EvaluationError, InputError, SettingsError, evaluate
from sedeval_soft.apps.published import NAMES, dcase2024_task4, published_evaluator, published_scores
from sedeval_soft.apps.published.base import Inputs
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables import EventTable


def numbers_of(name, inputs, compute=None):
    """Return the numbers of an evaluator, or of its function; `STOPS` if the script stops."""
    try:
        return (compute or published_evaluator(name).numbers)(inputs)
    except EvaluationError as error:
        if "the script" not in str(error) and "no file of the reference" not in str(error):
            raise
        return STOPS


def of_rows(reference, system, files=(), **how):
    """Return rows as the input of an evaluator; files: all files of the reference."""
    sides = ([row if row[-1] is not None else row[:4] for row in side] for side in (reference, system))
    return Inputs(*(long_rows(side, of) for side, of in zip(sides, (files, ()), strict=True)), **how)


def of_texts(*sides):
    """Return lines of JSON as the input of an evaluator."""
    texts = tuple("".join(f"{line}\n" for line in side) for side in sides)
    return Inputs(long_rows([]), long_rows([]), texts=texts)


def of_few_shot(golden, number):
    case, scenes = case_of(golden, number), {"file0.wav": "HB", "file1.wav": "PB"}
    return numbers_of("few-shot", of_rows(case.reference, case.system, case.files, scenes=scenes))


def of_biodcase(golden, number, name="biodcase2025-task2"):
    """Two data sets have recordings of the same name; the ranking stops if a side has no rows."""
    _, _, files, _, *sides = case_of(golden, number)
    sets = "kerguelen2014", "casey2017"
    names = {
        f"file{k}.wav": f"{sets[k % 2]}/2014-02-18T{21 + k // 2}-00-00_000.wav" for k in range(len(files))
    }
    sides = [[row._replace(file=names[row.file]) for row in rows] for rows in sides]
    return STOPS if "ranking" in name and not all(sides) else numbers_of(name, of_rows(*sides))


def of_birdnet(golden, number):
    case, options = case_of(golden, number), golden["options"][number % len(golden["options"])]
    given = {"durations": dict.fromkeys(case.files, case.length) if number % 2 else None}
    given["options"] = {"metrics": "auroc precision recall f1 ap accuracy", **options}
    return numbers_of("birdnet-analyzer", of_rows(case.reference, case.system, **given))


def of_dcase2024(golden, number):
    """Compare only the areas: our own code computes PSDS and F, which takes longer."""

    def areas(inputs):
        dcase2024_task4.shard_of(inputs, "desed")
        return dcase2024_task4.mean_areas(dcase2024_task4.shard_of(inputs, "maestro"))

    return numbers_of("dcase2024-task4", Inputs(*both_data_sets(golden, number)), areas)


def both_data_sets(golden, number):
    """Return a reference and a system with both data sets of 2024, and the lengths of their files."""
    rows, scores = [], {}
    for events, of_files in data_sets(golden, number).values():
        rows += [(name, *event, 1.0) for name, each in events.items() for event in each]
        scores |= of_files
    onset, file = np.tile(np.arange(20.0), len(scores)), np.repeat(np.arange(len(scores), dtype=np.int32), 20)
    values = tuple(np.concatenate([*scores.values()]).T)
    system = EventTable(tuple(scores), DESED + MAESTRO, file, onset, onset + 1, values)
    return long_rows(rows), system, dict.fromkeys(scores, 20.0)


def retrieved(reference, system):
    """Return the numbers of the script for moment retrieval, from lines of both sides."""
    return numbers_of("dcase2026-task6", of_texts(map(json.dumps, reference), map(json.dumps, system)))


EVALUATORS = {
    "few_shot": (of_few_shot, 200),
    "biodcase": (of_biodcase, 200),
    "biodcase_ranking": (lambda *case: of_biodcase(*case, "biodcase2025-task2-ranking"), 200),
    "dcase2024": (of_dcase2024, 30),
    "birdnet": (of_birdnet, 210),
    "amr": (lambda _, number: retrieved(*windows(number)), 120),
}
"""The numbers of a case and how many cases run each time, by the name of the golden file."""


@pytest.mark.parametrize("name", EVALUATORS)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_random_tables_give_the_numbers_of_the_published_code(name, every):
    golden, (numbers, some) = read_numbers(f"{name}.json"), EVALUATORS[name]
    assert golden["count"] == len(golden["digests"]) >= 3_000
    chosen = range(some, golden["count"]) if every else range(some)
    found = {number: numbers(golden, number) for number in chosen}
    for number, each in found.items():
        if number < len(golden["shown"]):
            assert [*each.items()] == [*golden["shown"][number].items()], number
        assert digest(each) == golden["digests"][number], number
    assert sum(each == STOPS for each in found.values()) < 0.3 * len(chosen)


@pytest.mark.parametrize("numbers", [range(15, 25), pytest.param(range(400), marks=pytest.mark.slow)])
def test_2024_psds_is_that_of_sed_scores_eval_to_rounding(numbers):
    golden = read_numbers("dcase2024.json")
    known = [number for number in numbers if golden["psds1"][number] is not None]
    assert len(known) > 0.7 * len(numbers)
    for number in known:
        found = published_evaluator("dcase2024-task4").numbers(Inputs(*both_data_sets(golden, number)))
        assert found["psds1"] == pytest.approx(golden["psds1"][number], rel=1e-9, abs=1e-12), number
        assert found["psds1 + segment_mpauc"] == found["psds1"] + found["segment_mpauc"]


@pytest.mark.parametrize("number", [150, pytest.param(10_000, marks=pytest.mark.slow)])
def test_lat_bench(number):
    counts, scores = map(np.load(FOLDER / "lat_bench.npz").get, ("counts", "scores"))
    assert len(counts) == 10_000
    for case, answers in answer_files(number):
        samples, valid, *found = numbers_of("lat-bench", of_texts(answers, answers)).values()
        assert [samples, valid] == counts[case].tolist(), case
        assert found == [each for each in scores[case].tolist() if not np.isnan(each)], case


@pytest.mark.parametrize(
    ("first", "last"),
    # In case 9098 a collar ends less than a microsecond before a region does.
    [(0, 150), (9098, 9099), pytest.param(0, 10_000, marks=pytest.mark.slow)],
)
def test_pyannote(tmp_path, first, last):
    theirs, uem = np.load(FOLDER / "pyannote_vad.npz")["numbers"], tmp_path / "uem"
    assert len(theirs) == 10_000
    # From Python 3.12 on, sum() of floats rounds less.
    same = np.testing.assert_array_equal if sys.version_info < (3, 12) else np.testing.assert_allclose
    for case, collar, skip_overlap, regions in speech_cases(last, first):
        uem.write_text("".join(f"{name} 1 {a!r} {b!r}\n" for name, each in regions.items() for a, b in each))
        options = {"collar": collar, "skip_overlap": float(skip_overlap), "uem": str(uem) if regions else ""}
        sides = (long_rows([row[:4] for row in rows], case.files) for rows in (case.reference, case.system))
        # The script adds the numbers of recordings in the order of files.
        ordered = (
            side.with_files(tuple(case.files), [case.files.index(name) for name in side.files])
            for side in sides
        )
        numbers = published_evaluator("pyannote-vad").numbers(Inputs(*ordered, options=options)).values()
        found = [np.nan if value is None else value for value in numbers]
        same(found, theirs[case.number], err_msg=str(case.number))


# Tables made by hand.


def events(*spans, label="Q", file="a.wav"):
    return [(file, float(onset), float(offset), label) for onset, offset in spans]


def written(path, rows, separator="\t", header="filename\tonset\toffset\tevent_label\tvalue"):
    """Write rows as a table, with a heading for each of their columns."""
    heads = header.split(separator)[: len(rows[0])]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in (heads, *rows)))
    return path


# Few-shot: counts by the script, and by the rules.

FIVE = events(*((t, t + 1) for t in range(1, 11, 2)))
CALLS = [*FIVE, *events((20, 22), (30, 32), (40, 42))]
FOUND = events((20, 22), (30, 32), (50, 51), (60, 61))
TWICE = events((50, 51), (50, 51.5))
UNSURE = events((50, 52), label="UNK")
FEW_SHOT = {
    "by onset": (CALLS, FOUND, (2, 2, 1), (2, 2, 1)),
    "two rows swapped": (
        [*CALLS[:4], CALLS[5], CALLS[4], *CALLS[6:]], FOUND, (1, 3, 1), (2, 2, 1)),
    "all is found, the shots, too": (CALLS, CALLS, (3, 5, 0), (3, 0, 0)),
    "exactly 0.3": ([*FIVE, *events((20, 30))], events((20, 23)), (0, 1, 1), (1, 0, 0)),
    "two of one UNK": ([*CALLS, *UNSURE], [*CALLS[5:], *TWICE], (3, 1, 0), (3, 0, 0)),
    "two of one call, one of them also of UNK": (
        [*FIVE, *events((200, 204)), *events((203, 207), label="UNK")], events((199, 202.5), (202, 206)),
        (1, 0, 0), (1, 1, 0)),
    "the same 100 s before, where times as text have another order": (
        [*FIVE, *events((100, 104)), *events((103, 107), label="UNK")], events((99, 102.5), (102, 106)),
        (1, 1, 0), (1, 1, 0)),
}  # fmt: skip

# BioDCASE likewise.


def calls(*spans, data_set="kerguelen2014", label="bma"):
    return events(*spans, file=f"{data_set}/2014-02-18T21-00-00_000.wav", label=label)


CALL, ELSEWHERE = calls((10, 20)), calls((10, 20), data_set="casey2017")
OTHER = events((3610, 3620), label="bma", file="casey2017/2014-02-18T22-00-00_000.wav")
BIODCASE = {
    "three detections of a call": (CALL, calls((10, 20), (11, 20), (10, 19)), (1, 0, 0), (1, 2, 0)),
    "both are nearest to the first": (
        calls((10, 20), (14, 24)), calls((10, 20), (12, 21)), (1, 0, 1), (2, 0, 0)),
    "a call of another data set": ([*CALL, *OTHER], [*ELSEWHERE, *OTHER], (2, 0, 0), (1, 1, 1)),
    "which then is taken": (CALL, [*CALL, *ELSEWHERE], (1, 1, 0), (1, 1, 0)),
    "a class that the reference has nowhere": (
        CALL, [*CALL, *calls((50, 60), label="bmd")], (1, 0, 0), (1, 1, 0)),
    "exactly 0.3": (CALL, calls((10, 13)), (0, 1, 1), (1, 0, 0)),
}  # fmt: skip

# Ranking of BioDCASE: F of means.

THREE = [*calls((0, 10), (20, 30)), *calls((40, 50), label="bp20"), *calls((60, 70), label="bmd")]
RANKED = {
    # Recall is 1, 0 and 0; precision is 1 and 0 for both detected classes; we count 0 for the third.
    "a class that is not detected": (THREE, [*THREE[:2], *calls((99, 109), label="bp20")], 0.4, 1 / 3),
    "several detections of a call": (CALL, calls((10, 20), (11, 20), (10, 19)), 1.0, 0.5),
    "a call of another data set": ([*CALL, *OTHER], [*ELSEWHERE, *OTHER], 1.0, 0.5),
}

# BirdNET.

WINDOWS = [("x", 0, 3, "a"), ("x", 6, 9, "a")]
HEARD = [(*WINDOWS[0], 0.9), (*WINDOWS[1], 0.8)]
MISSED = [*WINDOWS, *(("y", *row[1:]) for row in WINDOWS)]
ALARMS = [*HEARD, ("y", 0, 3, "a", 0.9), ("y", 3, 6, "a", 0.95)]
ALONE = [HEARD[0], ("x", 3, 6, "a", 0.9)]
NAMED = ["a/r1.wav", "r1.flac", "b/r1.wav.BirdNET.selection.table.txt", "r1.BirdNET.results.csv"]
LENGTHS = {"durations": {"x": 30, "y": 30}}
RECALL, PRECISION = (f"segment.hard.{measure}.macro" for measure in ("recall", "precision"))
BIRDNET = {
    "recordings without detections": (MISSED, HEARD, {}, {"Overall Recall": 1.0}, {RECALL: 0.5}),
    "where their length is known": (MISSED, HEARD, LENGTHS, {"Overall Recall": 0.5}, {RECALL: 0.5}),
    "recordings without annotations": (
        WINDOWS, ALARMS, LENGTHS, {"Overall Precision": 1.0}, {PRECISION: 0.5}),
    "that are said to be empty": (
        WINDOWS, ALARMS, LENGTHS | {"options": {"score_unannotated_as_empty": 1.0}},
        {"Overall Precision": 0.5}, {PRECISION: 0.5}),
    # By the rules, two windows have the event.
    "a short event across an edge is in no window": (
        [*WINDOWS, ("x", 11.8, 12.2, "a")], HEARD, LENGTHS, {"a: Support": 2, "Overall Recall": 1.0},
        {RECALL: 0.5}),
    "a short event in a window": (
        [*WINDOWS, ("x", 11.3, 11.6, "a")], HEARD, LENGTHS,
        {"a: Support": 3, "Overall Recall": 2 / 3}, {RECALL: 2 / 3}),
    "windows without the only annotated class are a class": (
        WINDOWS, [*ALONE, ("x", 0, 3, "b", 0.9)], LENGTHS, {"Overall Precision": (1 / 2 + 7 / 8) / 2},
        {PRECISION: 0.5}),
    "unless there is no other": (WINDOWS, ALONE, LENGTHS, {"Overall Precision": 0.5}, {PRECISION: 0.5}),
    "detections without confidence": (WINDOWS, WINDOWS, {}, {"Overall Recall": 0.0}, {RECALL: 1.0}),
    "confidences have 32 bits": (
        WINDOWS, [(*WINDOWS[0], 0.1 - 1e-9)], LENGTHS, {"Overall Recall": 0.5}, {RECALL: 0.0}),
    "no window without the class": (
        WINDOWS[:1], HEARD[:1], {}, {"Overall AUROC": None}, {"segment.hard.roc_auc.macro": None}),
    "names of recordings are what is left of names of tables": (
        [(name, 0, 3, "a") for name in NAMED], [("r1.mp3", 0, 3, "a", 1.0)], {}, {"a: Support": 1}, {}),
}  # fmt: skip

# The detection error rate of pyannote.metrics in per cent, and by the rule.

SPOKEN, SILENT = [("a", 1, 3, "speech")], [("a", None, None, None)]
SPEECH = {
    "as the rule says": (SPOKEN, [("a", 2, 4, "speech")], 100.0, 1.0, {}),
    "no speech, false alarms": (SILENT, SPOKEN, 100.0, None, {}),
    "no speech": (SILENT, [("a", 1, 1, "speech")], 0.0, None, {}),
    "a recording of the system": (SPOKEN, [("b", 0, 9, "speech")], 100.0, 5.5, {}),
    "names of classes": (SPOKEN, [("a", 1, 3, "Ann")], 0.0, 1.0, {}),
    "two speakers at a time": (
        [("a", 1, 3, "Ann"), ("a", 2, 4, "Bob")], [("a", 1, 4, "Ann")], 0.0, 0.5, {}),
    "collar, half of it inside": (SPOKEN, [("a", 1.25, 3, "speech")], 0.0, 0.125, {"collar": 0.5}),
    "overlaps left out": (
        [("a", 1, 3, "s"), ("a", 2, 4, "s")], [("a", 1, 2, "s")], 50.0, 2 / 3, {"skip_overlap": 1.0}),
    "a microsecond": (SPOKEN, [("a", 1.000001, 3, "speech")], 0.0, 5e-7, {}),
    "five of them": (SPOKEN, [("a", 1.000005, 3, "speech")], 2.5e-4, 2.5e-6, {}),
}  # fmt: skip

RULES = [f"event.hard.{name}.micro" for name in ("tp", "fp", "fn")]
SHOT = ["a.wav TP", "a.wav FP", "a.wav FN"]
FINAL = [f"Final results bmabz {word}" for word in ("tp", "fp", "fn")]
CASES = [
    *(("few-shot", *row[:2], {}, dict(zip(SHOT, row[2], strict=True)), {"by": {"a.wav": "a"}},
       dict(zip(RULES, row[3], strict=True))) for row in FEW_SHOT.values()),
    *(("biodcase2025-task2", *row[:2], {}, dict(zip(FINAL, row[2], strict=True)), {"by": "{deployment}/*"},
       dict(zip(RULES, row[3], strict=True))) for row in BIODCASE.values()),
    *(("biodcase2025-task2-ranking", *row[:2], {}, {"joined f1": row[2]}, {},
       {"event.hard.f1_of_means": row[3]}) for row in RANKED.values()),
    *(("birdnet-analyzer", *row[:4], {"durations": row[2].get("durations")}, row[4])
      for row in BIRDNET.values()),
    *(("pyannote-vad", *row[:2], {"options": row[4]}, {"detection error rate %": row[2]}, {},
       {"segment.hard.error_rate.micro": row[3]}) for row in SPEECH.values()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "reference", "system", "given", "printed", "how", "rules"),
    CASES,
    ids=[*FEW_SHOT, *BIODCASE, *RANKED, *BIRDNET, *SPEECH],
)
def test_scripts_do_something_else_than_the_rules(name, reference, system, given, printed, how, rules):
    sides = columns_of(reference), columns_of(system)
    numbers = published_scores(name, *sides, **given)
    assert {key: numbers[key] for key in printed} == pytest.approx(printed, abs=1e-12)
    scores = evaluate(*sides, preset=published_evaluator(name).preset, **how)
    assert {key: scores[key] for key in rules} == pytest.approx(rules, abs=1e-12)


def test_few_shot_misses_all_calls_of_a_file_without_detections():
    both = [*CALLS, *(("b.wav", *row[1:]) for row in CALLS)]
    numbers = numbers_of("few-shot", of_rows(both, FOUND))
    assert (numbers["precision"], numbers["recall"], "b.wav FN" in numbers) == (2 / 4, 2 / (3 + 8), False)


@pytest.mark.parametrize(
    "sides", [(CALLS[:4], FOUND), (CALLS, events((20, 22), file="b.wav"))], ids=["four shots", "unknown file"]
)
def test_few_shot_stops(sides):
    assert numbers_of("few-shot", of_rows(*sides)) == STOPS
    assert numbers_of("few-shot", of_rows(FIVE, FOUND))["a.wav FP"] == 4


# DCASE 2024.


SIDES_OF_2024 = both_data_sets(read_numbers("dcase2024.json"), 22)


def test_2024_the_sum_that_ranks_comes_first_and_files_without_an_event_do_not_count():
    reference, system, durations = SIDES_OF_2024
    theirs = published_scores("dcase2024-task4", reference, system, durations=durations)
    evaluator = published_evaluator("dcase2024-task4")
    assert next(iter(theirs)) == evaluator.ranking and len(reference.files) < len(system.files)
    of_files = {}
    for part in PARTS:
        own = {name: durations[name] for name in reference.files if name.startswith(part)}
        sides = (side.only_files(np.isin(side.files, [*own])) for side in (reference, system))
        of_files |= evaluate(*sides, durations=own, preset=f"dcase2024-task4-{part}")
    # No two scores of a class are equal.
    same = evaluator.same | {
        "segment_mauc": "segment.hard.roc_auc.macro",
        "segment_f1_macro_thresopt": "segment.optimal.f1.macro",
    }
    values = {name: of_files[ours] for name, ours in same.items()}
    assert {name: theirs[name] for name in same} == pytest.approx(values, rel=1e-12) and min(
        values.values()
    ) > 0


@pytest.mark.parametrize(
    ("label", "said"), [(PARTS["maestro"], "MAESTRO"), (PARTS["desed"], "DESED"), (["Cat"], "'Cat'")]
)
def test_2024_needs_both_data_sets_and_an_event_of_each_class(label, said):
    reference, system, durations = SIDES_OF_2024
    kept = np.array([reference.classes[k] not in label for k in reference.row_label])
    with pytest.raises(SettingsError, match=said):
        published_scores("dcase2024-task4", reference.take(kept), system, durations=durations)


# Moment retrieval, and answers of LAT-Bench.


def lines(path, rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def task(windows, answers):
    return [{"qid": 1, "relevant_windows": windows}], [{"qid": 1, "pred_relevant_windows": answers}]


def test_a_query_of_long_windows_alone_is_left_out_and_an_empty_answer_stops():
    reference, system = task([[0, 10]], [[0, 10, 0.5]])
    long = {"qid": 2, "relevant_windows": [[0, 1501]]}, {"qid": 2, "pred_relevant_windows": [[0, 1, 0.5]]}
    assert retrieved([*reference, long[0]], [*system, long[1]])["MR-full-mAP"] == 100.0
    assert retrieved(*task([[0, 10]], [])) == retrieved(reference, [long[1]]) == STOPS


def ours(folder, reference, system, iou=0.5):
    sides = lines(folder / "gt.jsonl", reference), lines(folder / "sub.jsonl", system)
    return evaluate(*sides, preset="dcase2026-task6", iou=iou)


def test_the_preset_of_retrieval_by_hand(tmp_path):
    """Query 1 has overlaps of 0.7 and 1, in this order; query 2 has none, and query 3 has 0.6."""
    found = [
        ("a", [[0, 10], [20, 30]], [[20, 30, 0.4], [0, 7, 0.9]]),
        ("a", [[0, 10]], []),
        ("b", [[5, 10]], [[5, 8, 0.5], [40, 50, 0.4]]),
    ]
    sides = [
        [{"qid": qid, "vid": row[0], field: row[k]} for qid, row in enumerate(found, 1)]
        for k, field in enumerate(("relevant_windows", "pred_relevant_windows"), 1)
    ]
    half, more = (ours(tmp_path, *sides, iou=iou) for iou in (0.5, 0.75))
    precisions, name = [(5 * 1 + 5 * 0.25) / 10, 0, 3 / 10], "event.hard.average_precision_voc_mean"
    assert [half[f"{name}[{qid}]"] for qid in (1, 2, 3)] == pytest.approx(precisions)
    assert half[f"{name}.macro"] == more[f"{name}.macro"] == pytest.approx(sum(precisions) / 3)
    names = [f"event.hard.{each}.macro" for each in ("average_precision_voc", "recall_at_1")]
    assert [scores[name] for scores in (half, more) for name in names] == pytest.approx(
        [2 / 3, 2 / 3, 0.25 / 3, 0]
    )


def test_the_preset_of_retrieval_has_the_numbers_of_the_script_where_the_rules_meet(tmp_path):
    """Both agree on up to ten windows with some extent and different scores, the best one first."""
    for number in range(12):
        reference, system = windows(number)
        for row in reference:
            inside = [window for window in row["relevant_windows"] if 0 < window[1] - window[0] < 1500]
            row["relevant_windows"] = inside or [[0, 1]]
        for row in system:
            found = [each[:2] for each in row["pred_relevant_windows"] if each[1] > each[0]] or [[50, 60]]
            row["pred_relevant_windows"] = [[*each, 0.9 - k / 20] for k, each in enumerate(found[:10])]
        theirs, scores = retrieved(reference, system), ours(tmp_path, reference, system)
        for label, name in published_evaluator("dcase2026-task6").same.items():
            assert round(100 * scores[name], 2) == pytest.approx(theirs[label], abs=0.0101), (number, label)


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
    with pytest.raises(InputError, match=r"sub\.jsonl:2:"):
        evaluate(path, path, preset="dcase2026-task6")


SPAN = "[00:10-00:20]"
ANSWERS = {
    "99 refusals": ([SPAN] + ["I cannot tell."] * 99, 1.0, 0.01),
    "seconds": ([SPAN, "10 - 20"], 1.0, 1.0),
    "fractions, at the end": ([SPAN, "[00:10-00:20.5]"], 1.0, (1 + 10 / 10.5) / 2),
    "fractions, at the beginning": ([SPAN, "[00:10.5-00:20]"], 1.0, (1 + 9.5 / 10) / 2),
    "hours": ([SPAN, "[00:00:10-00:00:20]"], 0.5, 1.0),
    "the second of two spans": (["[00:10-00:15], [00:15-00:20]"], 0.5, 1.0),
    "a span that is thought of": (["<think>00:00-00:05?</think>[00:10-00:20]"], 0.0, 1.0),
    "60 seconds and more": (["[00:10-00:80]"], 10 / 70, 0.0),
    "the end before the beginning": ([SPAN, "[00:20-00:10]"], 0.5, 0.5),
    "JSON": ([SPAN, '{"start": "00:10", "end": "00:20"}'], 1.0, 1.0),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name, tmp_path):
    answers, theirs, rule = ANSWERS[name]
    path = lines(tmp_path / "tag.jsonl", [{"labels": SPAN, "response": each} for each in answers])
    assert published_scores("lat-bench", path, path)["mIoU"] == theirs
    assert evaluate(path, path, preset="audio-grounding")["segment.hard.mean_iou.micro"] == pytest.approx(
        rule
    )


def test_lines_of_answers_that_cannot_be_read_leave_the_mean_or_stop_the_script(tmp_path):
    right = {"labels": SPAN, "response": SPAN}
    path = lines(tmp_path / "tag.jsonl", [right, {"labels": "soon", "response": SPAN}, "no JSON"])
    numbers = published_scores("lat-bench", path, path)
    assert [numbers[name] for name in ("Total samples", "Valid samples", "mIoU")] == [3, 1, 1.0]
    with pytest.raises(EvaluationError, match="2: .*'soon'"):
        evaluate(path, path, preset="audio-grounding")
    for line in ("[1]", {"labels": SPAN, "response": f"{'1' * 5000}:00-00:01"}):
        with pytest.raises(EvaluationError, match=":2"):
            published_scores("lat-bench", path, lines(path, [right, line]))


# Tables in the formats of the challenges, in one command with the preset.


def few_shot_tables(folder, reference, system):
    """Write tables in the format of the challenge; the first letter of a file is its subset."""
    for name in {row[0] for row in reference}:
        rows = [(*row[:3], row[3].replace("Q", "POS")) for row in reference if row[0] == name]
        place = folder / "reference" / name[0] / f"{name[:-4]}.csv"
        written(place, rows, ",", "Audiofilename,Starttime,Endtime,Q")
    found = written(folder / "sys.csv", [row[:3] for row in system], ",", "Audiofilename,Starttime,Endtime")
    return folder / "reference", found


def test_few_shot_reads_the_tables_of_the_challenge(tmp_path):
    """In a.wav, one of three calls is missed, one detection is false and one is of UNK; b.wav is right."""
    reference = [*CALLS, *UNSURE, *(("b.wav", *row[1:]) for row in CALLS)]
    system = [*FOUND[:2], FOUND[3], TWICE[1], *(("b.wav", *row[1:]) for row in CALLS[5:])]
    paths, by = few_shot_tables(tmp_path, reference, system), "{subset}.wav"
    scores = evaluate(*paths, preset="dcase2021-2024-few-shot", by=by)
    assert scores["event.hard.f1.micro@scenes.harmonic"] == pytest.approx(2 / (1.5 + 1), abs=1e-15)
    assert published_scores("few-shot", *paths, by=by)["fmeasure (percentage)"] == 80.0


def retrieved_tables(folder, *sides):
    """Write lines about moment retrieval, all of one recording."""
    for k, rows in enumerate(sides):
        yield lines(folder / f"{k}.jsonl", [row | {"vid": "a"} for row in rows])


def event_tables(folder, *sides):
    return [written(folder / f"{k}.tsv", rows) for k, rows in enumerate(sides)]


@pytest.mark.parametrize(
    ("name", "write", "sides", "how", "agree"),
    [
        # F is 4/7; the script prints its percentage with three decimals.
        ("few-shot", few_shot_tables, (CALLS, FOUND), ("--by", "{subset}.wav"), "3 of 3"),
        ("dcase2026-task6", retrieved_tables, task([[0, 10]], [[0, 7, 0.9]]), (), "3 of 3"),
        # No event crosses an edge of a window.
        ("birdnet-analyzer", event_tables, (
            [("x", 0, 3, "a"), ("x", 3, 6, "b"), ("x", 9, 12, "a"), ("x", 9, 12, "b")],
            [("x", 0, 3, "a", 0.9), ("x", 3, 6, "a", 0.5), ("x", 9, 12, "b", 0.3), ("x", 6, 9, "b", 0.2)],
        ), ("--durations", "durations.tsv"), "5 of 5"),
        # The system misses 1 s of 3 s, and detects 0.5 s too much: 1.5 / 3.
        ("pyannote-vad", event_tables, (
            [("a.wav", 1, 4, "speech")], [("a.wav", 2, 4.5, "speech")],
        ), (), "1 of 1"),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_scores(name, write, sides, how, agree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "durations.tsv").write_text("filename\tduration\nx\t30\n")
    asked = ("--preset", published_evaluator(name).preset, "--with", name, *how)
    assert agree in call("check", *write(tmp_path, *sides), *asked).out


def test_a_difference_is_shown(tmp_path):
    path = lines(tmp_path / "tag.jsonl", [{"labels": SPAN, "response": each} for each in (SPAN, "no")])
    words = call("check", path, path, "--preset", "audio-grounding", "--with", "lat-bench").out.split()
    assert words[words.index("segment.hard.mean_iou.micro") :][1:3] == ["0.500000", "1.000000"]


def test_example_of_biodcase_is_scored_in_one_command(tmp_path):
    header = "dataset,filename,annotation,start_datetime,end_datetime"
    recorded, day = ("kerguelen2014", "2014-02-18T21-00-00_000.wav", "bmabz"), "2014-02-18T21:00"
    paths = [
        written(
            tmp_path / name, [(*recorded, *(f"{day}:{t}+00:00" for t in span)) for span in spans], ",", header
        )
        for name, spans in (("ref.csv", ((10, 20), (14, 24))), ("sys.csv", ((10, 20), (12, 21))))
    ]
    result = call(*paths, "--preset", "biodcase2025-task2")
    assert result.out.splitlines()[2].split()[:2] == ["event.hard.f1_of_means", "1.000"]
    assert published_scores("biodcase2025-task2", *paths)["Final results bmabz recall"] == 0.5


def test_fields_and_thresholds_of_answers_are_options_of_the_command(tmp_path):
    path = lines(tmp_path / "tag.jsonl", [{"truth": SPAN, "said": SPAN}, {"truth": SPAN, "said": "no"}])
    fields = ("--set", "ref-field=truth", "--set", "pred-field=said", "--set", "thresholds=0.9")
    done = call("published", "lat-bench", path, path, *fields, "--format", "json")
    assert done.document["scores"] == {"Total samples": 2, "Valid samples": 1, "mIoU": 1.0, "R@0.9": 1.0}
    other = lines(tmp_path / "other.jsonl", [{"qid": 1}])
    refused = [call("published", name, path, other) for name in ("lat-bench", "dcase2026-task6")]
    assert [each.code for each in refused] == [2, 2] and "tag.jsonl:1:" in refused[1].err


def test_rttm_and_uem_are_read_by_the_command(tmp_path):
    line = "SPEAKER rec 1 {} {} <NA> <NA> {} <NA> <NA>\n"
    reference, found, uem = (tmp_path / name for name in ("ref.rttm", "sys.rttm", "rec.uem"))
    reference.write_text(line.format(1, 2, "ann") + line.format(6, 1, "bob"))
    found.write_text(line.format(2, 2, "x"))
    uem.write_text(";; evaluated\nrec 1 0.0 3.5\nrec 1 9.0 10.0\n")
    asked = ("published", "pyannote-vad", reference, found, "--set", f"uem={uem}")
    assert list(call(*asked, "--format", "json").document["scores"].items()) == [
        ("detection error rate %", 75.0), ("total", 2.0), ("false alarm", 0.5), ("false alarm %", 25.0),
        ("miss", 1.0), ("miss %", 50.0),
    ]  # fmt: skip
    ruled = evaluate(reference, found, preset="voice-activity", regions=uem)
    assert ruled["segment.hard.n_ref.micro"] == 2_000_000
    uem.write_text("rec 1 soon\n")
    assert "rec.uem:1: " in call(*asked).err


# Arguments.


PAIR = columns_of([("x", 1.0, 2.0, "a"), ("x", 1.3, 2.0, "a")])


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("few-shot", {"options": {"subsets": "city"}}, "subsets"),
        ("few-shot", {"options": {"subsets": 1.0}}, "subsets"),
        *(
            ("birdnet-analyzer", {"options": {"threshold": wrong}}, "threshold")
            for wrong in (-1.0, math.nan, "1_0", None, 1.0)
        ),
        ("birdnet-analyzer", {"options": {"min_overlap": 3.5}}, "min_overlap"),
        ("birdnet-analyzer", {"options": {"sample_duration": 0.0}}, "min_overlap"),
        ("birdnet-analyzer", {"options": {"recording_duration": 2.0}}, "recording_duration"),
        ("birdnet-analyzer", {"options": {"averaging": "samples"}}, "averaging"),
        ("birdnet-analyzer", {"options": {"metrics": "auroc map"}}, "metrics"),
        ("few-shoot", {}, "'few-shoot'"),
        (5, {}, "name"),
        ("few-shot", {"options": ["x"]}, "options"),
        ("few-shot", {"options": {"iou": 1}}, "'iou'"),
        ("few-shot", {"durations": {"x": 1.0}}, "durations"),
        ("few-shot", {"system": {"filename": ["x"], "onset": [0], "offset": [1], "a": [0.5]}}, "system"),
        ("biodcase2025-task2-ranking", {}, "recording began"),
    ],
)
def test_arguments_that_a_script_does_not_have_are_refused(name, given, said):
    with pytest.raises(SettingsError, match=said):
        published_scores(name, **{"reference": PAIR, "system": PAIR} | given)


def test_evaluators_are_listed_with_the_preset_of_their_rules():
    listed = call("published").out.splitlines()[:-2]
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == [*NAMES]
    presets = [e.preset for e in map(published_evaluator, NAMES) if e.preset]
    assert [line.split()[-1] for line in listed if line.startswith(" ")] == presets
    assert all(map(load_preset, presets))
