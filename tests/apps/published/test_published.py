"""Published evaluators against the numbers that the published code gives of random tables.

And tables made by hand, on which scripts do something else than the rules say.
"""

from __future__ import annotations

import math
from dataclasses import replace

import make_dcase2024
import numpy as np
import pytest
from called import call
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.apps.published import NAMES, dcase2024_task4, published_scores
from sedeval_soft.apps.published.base import Inputs, published_evaluator
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable


def table(rows, files=()):
    """Return rows as a table, of which no class but theirs is known; values, if the rows have some."""
    valued = bool(rows) and len(rows[0]) > 4 and rows[0][4] is not None
    names = [tuple(dict.fromkeys([*of, *(row[k] for row in rows)])) for k, of in ((0, files), (3, ()))]
    file, label = (np.array([names[n].index(row[k]) for row in rows], np.int32) for n, k in enumerate((0, 3)))
    onset, offset, *values = (np.array([row[k] for row in rows], float) for k in (1, 2, 4)[: 2 + valued])
    return EventTable(*names, file, onset, offset, tuple(values), label=label)


def numbers_of(name, reference, system, options=None, durations=None, *, files=(), scenes=None):
    inputs = Inputs(table(reference, files), table(system), durations, options or {}, scenes)
    try:
        return published_evaluator(name).numbers(inputs)
    except SettingsError as error:
        if "script" not in str(error):
            raise
        return STOPS


def of_birdnet(case, options):
    durations = dict.fromkeys(case.files, case.length) if case.number % 2 else None
    options = {"metrics": "auroc precision recall f1 ap accuracy", **options}
    return numbers_of("birdnet-analyzer", case.reference, case.system, options, durations)


def of_dcase2024(case, options):
    """Only the areas: PSDS and F are ours, and take longer."""
    try:
        inputs = Inputs(*both_data_sets(case.number))
        dcase2024_task4.shard_of(inputs, "desed")
        return dcase2024_task4.mean_areas(dcase2024_task4.shard_of(inputs, "maestro"))
    except SettingsError as error:
        if "the script stops" not in str(error) and "no file of the reference" not in str(error):
            raise
        return STOPS


def both_data_sets(number):
    """Return a reference and a system of both data sets of 2024, and the lengths of their files."""
    rows, scores = [], {}
    for events, of_files in make_dcase2024.tables_of(make_dcase2024.SEED, number).values():
        rows += [(name, *event, 1.0) for name, each in events.items() for event in each]
        scores |= of_files
    onset = np.tile(np.arange(20.0), len(scores))
    file = np.repeat(np.arange(len(scores)), 20).astype(np.int32)
    classes, values = (
        tuple(make_dcase2024.DESED + make_dcase2024.MAESTRO),
        np.concatenate([*scores.values()]).T,
    )
    system = EventTable(tuple(scores), classes, file, onset, onset + 1, tuple(values))
    return table(rows), system, dict.fromkeys(scores, 20.0)


SUBSETS = {"file0.wav": "HB", "file1.wav": "PB"}


def of_few_shot(case, options):
    return numbers_of("few-shot", case.reference, case.system, options, files=case.files, scenes=SUBSETS)


def in_data_set(row):
    number = int(row.file[4])
    data_set = ("kerguelen2014", "casey2017")[number % 2]
    return row._replace(file=f"{data_set}/2014-02-18T{21 + number // 2}-00-00_000.wav")


def of_biodcase(case, options):
    sides = ([*map(in_data_set, rows)] for rows in (case.reference, case.system))
    return numbers_of("biodcase2025-task2", *sides, options)


def of_ranking(case, options):
    if not (case.reference and case.system):
        return STOPS
    sides = ([*map(in_data_set, rows)] for rows in (case.reference, case.system))
    return numbers_of("biodcase2025-task2-ranking", *sides, options)


EVALUATORS = {
    "few_shot": of_few_shot,
    "biodcase": of_biodcase,
    "biodcase_ranking": of_ranking,
    "dcase2024": of_dcase2024,
    "birdnet": of_birdnet,
}
"""By the name of the file: the numbers of a case with some options."""

SOME = dict.fromkeys(EVALUATORS, 300) | {"dcase2024": 60}
"""How many cases are looked at each time."""


@pytest.mark.parametrize("name", EVALUATORS)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_random_tables_give_the_numbers_of_the_published_code(name, every):
    golden, compared = read_numbers(f"{name}.json"), 0
    assert golden["count"] == len(golden["digests"]) >= 3_000
    options, first, last = golden.get("options", [{}]), *((SOME[name], 10**5) if every else (0, SOME[name]))
    tables = {key: tuple(v) if isinstance(v, list) else v for key, v in golden["tables"].items()}
    for case in random_cases(golden["seed"], min(last, golden["count"]), Options(**tables), first):
        numbers = EVALUATORS[name](case, options[case.number % len(options)])
        if case.number < len(golden["shown"]):
            assert list(numbers.items()) == list(golden["shown"][case.number].items()), case.number
        assert digest(numbers) == golden["digests"][case.number], f"case {case.number}"
        compared += numbers != STOPS
    assert compared > 0.7 * (min(last, golden["count"]) - first)


@pytest.mark.parametrize("numbers", [range(15, 35), pytest.param(range(400), marks=pytest.mark.slow)])
def test_2024_psds_is_that_of_sed_scores_eval_to_rounding(numbers):
    golden = read_numbers("dcase2024.json")["psds1"]
    known = [number for number in numbers if golden[number] is not None]
    assert len(known) > 0.7 * len(numbers)
    for number in known:
        found = published_evaluator("dcase2024-task4").numbers(Inputs(*both_data_sets(number)))
        assert found["psds1"] == pytest.approx(golden[number], rel=1e-9, abs=1e-12), number
        assert found["psds1 + segment_mpauc"] == found["psds1"] + found["segment_mpauc"]


# Tables made by hand, on which the scripts do something else than the rules say, and what they print of them.

approx = pytest.approx
HEADS = ("filename", "onset", "offset", "event_label", "value")


def columns(rows):
    return dict(zip(HEADS, map(list, zip(*rows, strict=True)), strict=False))


PAIR = [("x", 1.0, 2, "a"), ("x", 1.3, 2, "a")]
WINDOWS = [("x", 0, 3, "a"), ("x", 6, 9, "a")]
HEARD = [(*WINDOWS[0], 0.9), (*WINDOWS[1], 0.8)]
MISSED = [*WINDOWS, *(("y", *row[1:]) for row in WINDOWS)]
ALARMS = [*HEARD, ("y", 0, 3, "a", 0.9), ("y", 3, 6, "a", 0.95)]
ALONE = [HEARD[0], ("x", 3, 6, "a", 0.9)]
NAMED = ["a/r1.wav", "r1.flac", "b/r1.wav.BirdNET.selection.table.txt", "r1.BirdNET.results.csv"]
LENGTHS = {"durations": {"x": 30, "y": 30}}
RECALL, PRECISION = (f"segment.hard.{measure}.macro" for measure in ("recall", "precision"))
OF_BIRDNET = {
    "recordings without detections": (MISSED, HEARD, {}, {"Overall Recall": 1.0}, {RECALL: 0.5}),
    "where their length is known": (MISSED, HEARD, LENGTHS, {"Overall Recall": 0.5}, {RECALL: 0.5}),
    "recordings without annotations": (
        WINDOWS, ALARMS, LENGTHS, {"Overall Precision": 1.0}, {PRECISION: 0.5}),
    "that are said to be empty": (
        WINDOWS, ALARMS, LENGTHS | {"options": {"score_unannotated_as_empty": 1.0}},
        {"Overall Precision": 0.5}, {PRECISION: 0.5}),
    # By the rules it is in two windows.
    "a short event across an edge is in no window": (
        [*WINDOWS, ("x", 11.8, 12.2, "a")], HEARD, LENGTHS, {"a: Support": 2, "Overall Recall": 1.0},
        {RECALL: 0.5}),
    "a short event in a window": (
        [*WINDOWS, ("x", 11.3, 11.6, "a")], HEARD, LENGTHS,
        {"a: Support": 3, "Overall Recall": approx(2 / 3)}, {RECALL: approx(2 / 3)}),
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


@pytest.mark.parametrize("case", OF_BIRDNET)
def test_birdnet_does_something_else_than_the_rules(case):
    reference, system, given, printed, rules = OF_BIRDNET[case]
    sides = columns(reference), columns(system)
    theirs = published_scores("birdnet-analyzer", *sides, **given)
    assert {name: theirs[name] for name in printed} == printed
    lengths = {"durations": given.get("durations")}
    scores = evaluate(*sides, preset="birdnet-analyzer", **lengths)
    assert {name: scores[name] for name in rules} == rules


@pytest.mark.parametrize(
    ("evaluator", "options", "message"),
    [
        ("few-shot", {"subsets": "city"}, "subsets"),
        ("few-shot", {"subsets": 1.0}, "subsets"),
        *(("birdnet-analyzer", {"threshold": wrong}, "threshold") for wrong in (-1.0, math.nan, "1_0", None)),
        ("birdnet-analyzer", {"threshold": 1.0}, "threshold"),
        ("birdnet-analyzer", {"min_overlap": 3.5}, "min_overlap"),
        ("birdnet-analyzer", {"sample_duration": 0.0}, "min_overlap"),
        ("birdnet-analyzer", {"recording_duration": 2.0}, "recording_duration"),
        ("birdnet-analyzer", {"averaging": "samples"}, "averaging"),
        ("birdnet-analyzer", {"metrics": "auroc map"}, "metrics"),
    ],
)
def test_options_of_scripts_are_checked(evaluator, options, message):
    with pytest.raises(SettingsError, match=message):
        published_scores(evaluator, columns(PAIR), columns(PAIR), options=options)


def test_evaluators_are_listed_with_the_preset_of_their_rules():
    lines = call("published").out.splitlines()[:-2]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [*NAMES]
    presets = [line.split()[-1] for line in lines if line.startswith(" ")]
    assert presets == [e.preset for e in map(published_evaluator, NAMES) if e.preset]
    assert all(load_preset(name) for name in presets)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "few-shoot"}, "'few-shoot'"),
        ({"name": 5}, "name"),
        ({"options": ["x"]}, "options"),
        ({"options": {"iou": 1}}, "'iou'"),
        ({"durations": {"x": 1.0}}, "durations"),
        ({"system": {"filename": ["x"], "onset": [0], "offset": [1], "a": [0.5]}}, "system"),
    ],
)
def test_arguments_that_there_are_not_or_that_a_script_does_not_look_at_are_refused(wrong, said):
    right = {"name": "few-shot", "reference": columns(PAIR), "system": columns(PAIR)}
    with pytest.raises(SettingsError, match=said):
        published_scores(**right | wrong)


def test_birdnet_preset_and_script_agree_where_nothing_crosses_an_edge(tmp_path):
    """All five numbers that the two have in common."""
    paths = [tmp_path / name for name in ("ref.tsv", "sys.tsv")]
    spoken = [("x", 0, 3, "a"), ("x", 3, 6, "b"), ("x", 9, 12, "a"), ("x", 9, 12, "b")]
    found = [("x", 0, 3, "a", 0.9), ("x", 3, 6, "a", 0.5), ("x", 9, 12, "b", 0.3), ("x", 6, 9, "b", 0.2)]
    for path, rows in zip(paths, (spoken, found), strict=True):
        path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (HEADS[: len(rows[0])], *rows)))
    lengths = tmp_path / "durations.tsv"
    lengths.write_text("filename\tduration\nx\t30\n")
    how = "--durations", lengths, "--preset", "birdnet-analyzer", "--with", "birdnet-analyzer"
    assert "5 of 5" in call("check", *paths, *how).out


PARTS = {"desed": make_dcase2024.DESED, "maestro": make_dcase2024.MAESTRO}


def of_part(side, part):
    return side.only_files(np.array([name.startswith(part) for name in side.files]))


def test_2024_the_sum_that_ranks_comes_first_and_files_without_an_event_do_not_count():
    reference, system, durations = both_data_sets(22)
    theirs = published_scores("dcase2024-task4", reference, system, durations=durations)
    assert next(iter(theirs)) == published_evaluator("dcase2024-task4").ranking
    of_files = {}
    for part in PARTS:
        own = of_part(reference, part)
        heard = of_part(system, part)
        heard = heard.only_files(np.array([name in own.files for name in heard.files]))
        lengths = {name: durations[name] for name in own.files}
        of_files |= evaluate(own, heard, durations=lengths, preset=f"dcase2024-task4-{part}")
    assert len(reference.files) < len(system.files)
    assert theirs["psds1"] == of_files["intersection.hard.psds"] > 0
    # No two scores of a class are equal.
    assert theirs["segment_mpauc"] == pytest.approx(of_files["segment.hard.partial_auc.macro"], rel=1e-12)
    assert theirs["segment_mauc"] == pytest.approx(of_files["segment.hard.roc_auc.macro"], rel=1e-12)
    assert theirs["segment_f1_macro_thresopt"] == of_files["segment.optimal.f1.macro"]


@pytest.mark.parametrize(
    ("label", "said"), [(PARTS["maestro"], "MAESTRO"), (PARTS["desed"], "DESED"), (["Cat"], "'Cat'")]
)
def test_2024_needs_both_data_sets_and_an_event_of_each_class(label, said):
    reference, system, durations = both_data_sets(22)
    kept = [reference.classes[k] not in label for k in reference.row_label]
    with pytest.raises(SettingsError, match=said):
        published_scores("dcase2024-task4", reference.take(np.array(kept)), system, durations=durations)


def test_2024_equal_scores_have_no_area():
    reference, system, durations = both_data_sets(22)
    flat = replace(system, values=tuple(np.full_like(each, 0.5) for each in system.values))
    theirs = published_scores("dcase2024-task4", reference, flat, durations=durations)
    assert (theirs["segment_mpauc"], theirs["segment_mauc"]) == (0.0, 0.0)
    sides = (of_part(side, "maestro") for side in (reference, flat))
    rules = evaluate(*sides, preset="dcase2024-task4-maestro")
    assert rules["segment.hard.partial_auc.macro"] == pytest.approx(0.05)


FIVE = [("a.wav", float(t), t + 1.0, "POS") for t in range(1, 11, 2)]


def events(*spans, label="POS", file="a.wav"):
    return [(file, float(onset), float(offset), label) for onset, offset in spans]


CALLS = [*FIVE, *events((20, 22), (30, 32), (40, 42))]
FOUND = events((20, 22), (30, 32), (50, 51), (60, 61))
TWICE = events((50, 51), (50, 51.5))
SWAPPED = [*CALLS[:4], CALLS[5], CALLS[4], *CALLS[6:]]
NEAR = [*events((100, 104)), *events((103, 107), label="UNK")]
TWO = events((99, 102.5), (102, 106))


def later(rows, seconds):
    return [(file, onset + seconds, offset + seconds, label) for file, onset, offset, label in rows]


FEW_SHOT = {
    "by onset": (CALLS, FOUND, (2, 2, 1)),
    "two rows swapped": (SWAPPED, FOUND, (1, 3, 1)),
    "all is found, the shots, too": (CALLS, CALLS, (3, 5, 0)),
    "exactly 0.3": ([*FIVE, *events((20, 30))], events((20, 23)), (0, 1, 1)),
    "two of one UNK": ([*CALLS, *events((50, 52), label="UNK")], [*CALLS[5:], *TWICE], (3, 1, 0)),
    "two of one call, one of them also of UNK": ([*FIVE, *later(NEAR, 100)], later(TWO, 100), (1, 0, 0)),
    "the same 100 s before, where times as text stand the other way": ([*FIVE, *NEAR], TWO, (1, 1, 0)),
}


FEW_SHOT_RULES = [(2, 2, 1), (2, 2, 1), (3, 0, 0), (1, 0, 0), (3, 0, 0), (1, 1, 0), (1, 1, 0)]


def check_rules(reference, system, counts, **how):
    # The one class of few-shot tables is Q.
    sides = ([(*row[:3], row[3].replace("POS", "Q")) for row in side] for side in (reference, system))
    scores = evaluate(*map(columns, sides), **how)
    assert tuple(scores[f"event.hard.{name}.micro"] for name in ("tp", "fp", "fn")) == counts


@pytest.mark.parametrize(("case", "rules"), [*zip(FEW_SHOT, FEW_SHOT_RULES, strict=True)])
def test_few_shot_counts_as_its_script_and_the_preset_by_its_rules(case, rules):
    reference, system, counts = FEW_SHOT[case]
    numbers = numbers_of("few-shot", reference, system)
    assert tuple(numbers[f"a.wav {word}"] for word in ("TP", "FP", "FN")) == counts
    check_rules(reference, system, rules, preset="dcase2021-2024-few-shot", by={"a.wav": "a"})


def test_few_shot_misses_the_shots_of_a_file_without_detections_and_takes_nothing_for_a_little():
    both, found = [*CALLS, *(("b.wav", *row[1:]) for row in CALLS)], events((20, 22), (30, 32), (40, 42))
    numbers = numbers_of("few-shot", both, FOUND)
    assert "b.wav FN" not in numbers and numbers["recall"] == 2 / (3 + 8)
    scenes = {"a.wav": "HB", "b.wav": "PB"}
    numbers = numbers_of("few-shot", both, [*found, *events((50, 51), file="b.wav")], scenes=scenes)
    assert numbers["scores_per_subset HB f-measure"] == 1.0
    assert numbers["scores_per_subset PB f-measure"] == 1e-5
    assert numbers["fmeasure (percentage)"] == 0.002
    # It stops where there are fewer shots, and at an unknown file.
    assert numbers_of("few-shot", CALLS[:4], FOUND) == STOPS
    assert numbers_of("few-shot", CALLS, events((20, 22), file="b.wav")) == STOPS


def calls(*spans, data_set="kerguelen2014", label="bma"):
    return events(*spans, file=f"{data_set}/2014-02-18T21-00-00_000.wav", label=label)


ELSEWHERE = calls((10, 20), data_set="casey2017")
CALL = calls((10, 20))
OTHER = [("casey2017/2014-02-18T22-00-00_000.wav", 3610.0, 3620.0, "bma")]
BIODCASE = {
    "three detections of a call": (CALL, calls((10, 20), (11, 20), (10, 19)), (1, 0, 0)),
    "both are nearest to the first": (calls((10, 20), (14, 24)), calls((10, 20), (12, 21)), (1, 0, 1)),
    "a call of another data set": ([*CALL, *OTHER], [*ELSEWHERE, *OTHER], (2, 0, 0)),
    "which then is taken": (CALL, [*CALL, *ELSEWHERE], (1, 1, 0)),
    "a class that the reference has nowhere": (CALL, [*CALL, *calls((50, 60), label="bmd")], (1, 0, 0)),
    "exactly 0.3": (CALL, calls((10, 13)), (0, 1, 1)),
}


BIODCASE_RULES = [(1, 2, 0), (2, 0, 0), (1, 1, 1), (1, 1, 0), (1, 1, 0), (1, 0, 0)]


@pytest.mark.parametrize(("case", "rules"), [*zip(BIODCASE, BIODCASE_RULES, strict=True)])
def test_biodcase_counts_as_its_script_and_the_preset_by_its_rules(case, rules):
    reference, system, counts = BIODCASE[case]
    numbers = numbers_of("biodcase2025-task2", reference, system)
    assert tuple(numbers[f"Final results bmabz {word}"] for word in ("tp", "fp", "fn")) == counts
    assert "nowhere" not in case or not [name for name in numbers if " d " in name]
    check_rules(reference, system, rules, preset="biodcase2025-task2", by="{deployment}/*")


# Tables in the form of the challenges, in one command with the preset.


EXAMPLE = (
    [*CALLS, *events((50, 52), label="UNK"), *(("b.wav", *row[1:]) for row in CALLS)],
    [*FOUND[:2], FOUND[3], *events((50, 51.5)), *events((20, 22), (30, 32), (40, 42), file="b.wav")],
)
"""One of three calls is missed, one detection is false and one of UNK in a.wav; b.wav is right."""


def few_shot_tables(folder, reference, system):
    """Write tables as the challenge has them; the subset of a file is its first letter."""
    for name in dict.fromkeys(row[0] for row in reference):
        place = folder / "reference" / name[0] / f"{name[:-4]}.csv"
        place.parent.mkdir(parents=True, exist_ok=True)
        write(place, "Audiofilename,Starttime,Endtime,Q", (row for row in reference if row[0] == name))
    system = write(folder / "sys.csv", "Audiofilename,Starttime,Endtime", (row[:3] for row in system))
    return folder / "reference", system, "--by", "{subset}.wav"


def write(path, header, rows):
    path.write_text("".join(f"{line}\n" for line in (header, *(",".join(map(str, row)) for row in rows))))
    return path


def test_published_few_shot_reads_the_tables_of_the_challenge(tmp_path):
    paths = few_shot_tables(tmp_path, *EXAMPLE)
    scores = evaluate(*paths[:2], preset="dcase2021-2024-few-shot", by=paths[3])
    assert scores["event.hard.f1.micro@scenes.harmonic"] == pytest.approx(2 / (1.5 + 1), abs=1e-15)
    numbers = published_scores("few-shot", *paths[:2], by=paths[3])
    assert numbers == numbers_of("few-shot", *EXAMPLE, scenes={"a.wav": "a", "b.wav": "b"})
    assert numbers["fmeasure (percentage)"] == 80.0


@pytest.mark.parametrize(("reference", "agree"), [(CALLS, "3 of 3"), (SWAPPED, "0 of 3")])
def test_percentages_of_few_shot_are_compared_as_scores(tmp_path, reference, agree):
    """F is 4/7, of which the script prints three decimals of the percentage."""
    paths = few_shot_tables(tmp_path, reference, FOUND)
    numbers = published_scores("few-shot", *paths[:2], by=paths[3])
    assert numbers["fmeasure (percentage)"] == 57.143 or reference is SWAPPED
    assert agree in call("check", *paths, "--preset", "dcase2021-2024-few-shot", "--with", "few-shot").out


THREE = [*calls((0, 10), (20, 30)), *calls((40, 50), label="bp20"), *calls((60, 70), label="bmd")]
RANKED = {
    # Recall 1, 0 and 0; precision 1 and 0 of the two classes that are detected, to us 0 of the third.
    "a class that is not detected": (THREE, [*THREE[:2], *calls((99, 109), label="bp20")], 0.4, 1 / 3),
    "several detections of a call": (CALL, calls((10, 20), (11, 20), (10, 19)), 1.0, 0.5),
    "a call of another data set": ([*CALL, *OTHER], [*ELSEWHERE, *OTHER], 1.0, 0.5),
}


@pytest.mark.parametrize("case", RANKED)
def test_biodcase_ranks_by_f_of_means(case):
    reference, system, theirs, ours = RANKED[case]
    numbers = numbers_of("biodcase2025-task2-ranking", reference, system)
    assert numbers["joined f1"] == pytest.approx(theirs)
    scores = evaluate(columns(reference), columns(system), preset="biodcase2025-task2")
    assert scores["event.hard.f1_of_means"] == pytest.approx(ours)


def test_biodcase_ranking_needs_names_that_are_dates():
    with pytest.raises(SettingsError, match="does not say when the recording began"):
        published_scores("biodcase2025-task2-ranking", columns(CALLS), columns(CALLS))


def test_example_of_biodcase_is_scored_in_one_command(tmp_path):
    paths, header = [], "dataset,filename,annotation,start_datetime,end_datetime"
    for name, spans in (("ref.csv", ((10, 20), (14, 24))), ("sys.csv", ((10, 20), (12, 21)))):
        times = ([f"2014-02-18T21:00:{t}+00:00" for t in span] for span in spans)
        rows = (["kerguelen2014", "2014-02-18T21-00-00_000.wav", "bmabz", *of] for of in times)
        paths.append(write(tmp_path / name, header, rows))
    result = call(*paths, "--preset", "biodcase2025-task2")
    assert result.out.splitlines()[2].split()[:2] == ["event.hard.f1_of_means", "1.000"]
    numbers = published_scores("biodcase2025-task2", *paths)
    assert numbers["Final results bmabz recall"] == 0.5
