"""Published evaluators against the numbers that the published code gives of random tables.

And tables made by hand, on which scripts do something else than the rules say.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import make_dcase2024
import numpy as np
import pytest
from called import call
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.apps.published import NAMES, dcase2024_task4, published_scores
from sedeval_soft.apps.published.base import Inputs, published_evaluator
from sedeval_soft.apps.published.biodcase2025_task2 import JOINED
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable


def table(rows, files=()):
    files, classes = (
        tuple(dict.fromkeys([*of, *(row[k] for row in rows)])) for k, of in ((0, files), (3, ()))
    )
    codes = [
        np.array([names.index(row[k]) for row in rows], np.int32) for k, names in ((0, files), (3, classes))
    ]
    onset, offset = (np.array([row[k] for row in rows], float) for k in (1, 2))
    values = (
        (np.array([row[4] for row in rows], float),)
        if rows and len(rows[0]) > 4 and rows[0][4] is not None
        else ()
    )
    return EventTable(files, classes, codes[0], onset, offset, values, label=codes[1])


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
    numbers = all_of_dcase2024(case.number, areas_only=case.number >= SOME["dcase2024"])
    return {
        name: value for name, value in numbers.items() if name in ("stops", "segment_mpauc", "segment_mauc")
    }


def all_of_dcase2024(number, *, areas_only=False):
    classes = tuple(make_dcase2024.DESED + make_dcase2024.MAESTRO)
    rows, scores = [], {}
    for events, of_files in make_dcase2024.tables_of(read_numbers("dcase2024.json")["seed"], number).values():
        rows += [(name, *event, 1.0) for name, each in events.items() for event in each]
        scores |= of_files
    files = tuple(scores)
    onset = np.tile(np.arange(20.0), len(files))
    file = np.repeat(np.arange(len(files)), 20).astype(np.int32)
    values = tuple(np.concatenate([*scores.values()]).T)
    system = EventTable(files, classes, file, onset, onset + 1, values)
    try:
        inputs = Inputs(table(rows), system, dict.fromkeys(files, 20.0))
        if areas_only:
            dcase2024_task4.shard_of(inputs, "desed")
            return dcase2024_task4.mean_areas(dcase2024_task4.shard_of(inputs, "maestro"))
        return published_evaluator("dcase2024-task4").numbers(inputs)
    except SettingsError as error:
        if "the script stops" not in str(error) and "no file of the reference" not in str(error):
            raise
        return STOPS


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
"""How many cases are looked at each time; of the one also what takes long."""


def check(name, first, last):
    golden = read_numbers(f"{name}.json")
    assert golden["count"] == len(golden["digests"]) >= 10_000
    options, compared = golden.get("options", [{}]), 0
    tables = {key: tuple(v) if isinstance(v, list) else v for key, v in golden["tables"].items()}
    for case in random_cases(golden["seed"], min(last, golden["count"]), Options(**tables), first):
        numbers = EVALUATORS[name](case, options[case.number % len(options)])
        if case.number < len(golden["shown"]):
            shown = golden["shown"][case.number]
            assert list(numbers) == list(shown)
            assert numbers == shown, case.number
        assert digest(numbers) == golden["digests"][case.number], f"case {case.number}"
        compared += numbers != STOPS
    assert compared > 0.7 * (min(last, golden["count"]) - first)


@pytest.mark.parametrize("name", EVALUATORS)
def test_some_tables_give_the_numbers_of_the_published_code(name):
    check(name, 0, SOME[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATORS)
def test_all_tables_give_the_numbers_of_the_published_code(name):
    check(name, SOME[name], 10**9)


@pytest.mark.slow
def test_2024_psds_is_that_of_sed_scores_eval_to_rounding():
    golden = read_numbers("dcase2024.json")["psds1"]
    compared = 0
    for number, theirs in enumerate(golden):
        if theirs is not None:
            numbers = all_of_dcase2024(number)
            assert numbers["psds1"] == pytest.approx(theirs, rel=1e-9, abs=1e-12), number
            assert numbers["psds1 + segment_mpauc"] == numbers["psds1"] + numbers["segment_mpauc"]
            compared += 1
    assert compared >= 300


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


@pytest.mark.parametrize(("matching", "error_rate"), [("optimal", 0), ("greedy", 1)])
def test_2017_used_the_matching_of_that_time(matching, error_rate):
    sides = ([("x", onset, 2, "a") for onset in onsets] for onsets in ([1.0, 1.3], [1.4, 0.6]))
    scores = evaluate(*map(columns, sides), preset="dcase2017-task2", matching=matching)
    assert scores["event.hard.error_rate.macro"] == pytest.approx(error_rate)


def test_birdnet_preset_and_script_agree_where_nothing_crosses_an_edge():
    """With events of whole windows, all classes and recordings on both sides."""
    options = Options(files=3, shortest=3, longest=3, grids=(1,), repeated=0, empty=0, least=1, scores=True)
    compared = 0
    for case in random_cases("birdnet-preset", 60, options):
        reference, system = (
            [(row.file, row.onset // 3 * 3, row.onset // 3 * 3 + 3, row.label, row.score) for row in rows]
            for rows in (case.reference, case.system)
        )
        sides = [{(row[0], row[3]) for row in rows} for rows in (reference, system)]
        if sides[0] != sides[1] or len({label for _, label in sides[0]}) < 2:
            continue
        tables = columns([row[:4] for row in reference]), columns(system)
        lengths = {"durations": dict.fromkeys({row[0] for row in reference}, 60)}
        theirs = published_scores("birdnet-analyzer", *tables, **lengths)
        rules = evaluate(*tables, preset="birdnet-analyzer", **lengths)
        for label, score in published_evaluator("birdnet-analyzer").same.items():
            assert rules[score] == pytest.approx(theirs[label], rel=1e-12), label
        compared += 1
    assert compared >= 10


def both_data_sets():
    """Return a reference and a system of both data sets of 2024, and the lengths of their files."""
    classes = {part: load_preset(f"dcase2024-task4-{part}")["classes"] for part in ("desed", "maestro")}
    draws = np.random.default_rng(2024)
    reference, system, durations = [], [], {}
    for k, part in enumerate(["desed", "maestro"] * 3):
        name = f"{part}{k}"
        durations[name] = 20.0
        for label in classes[part]:
            onset, value = (
                float(draws.integers(15)),
                0.9 if k < 2 else float(draws.choice([0.4, 0.9])),
            )
            reference.append((name, onset, onset + 4, label, value))
        times = [(name, t / 2, (t + 1) / 2) for t in range(40)]
        rows = {row[3]: row for row in reference if row[0] == name}
        for row in times:
            near = [
                c in rows and rows[c][1] <= row[1] < rows[c][2] for each in classes.values() for c in each
            ]
            system.append((*row, *(0.4 * draws.random(21) + 0.55 * np.array(near))))
    system += [("silent", 0.0, 1.0, *[0.99] * 21)]
    durations["silent"] = 20.0
    heads = ("filename", "onset", "offset"), [c for each in classes.values() for c in each]
    columns = lambda rows, names: dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))  # noqa: E731
    return (
        columns(reference, (*heads[0], "event_label", "value")),
        columns(system, (*heads[0], *heads[1])),
        durations,
    )


def taken(side, kept):
    """Return some of the rows of a table."""
    return {key: [v for v, k in zip(values, kept, strict=True) if k] for key, values in side.items()}


def of_part(side, part):
    return taken(side, [name.startswith(part) for name in side["filename"]])


def test_2024_the_sum_that_ranks_comes_first():
    reference, system, durations = both_data_sets()
    theirs = published_scores("dcase2024-task4", reference, system, durations=durations)
    of_files = {}
    for part in ("desed", "maestro"):
        lengths = {name: seconds for name, seconds in durations.items() if name.startswith(part)}
        sides = (of_part(side, part) for side in (reference, system))
        of_files |= evaluate(*sides, durations=lengths, preset=f"dcase2024-task4-{part}")
    assert theirs["psds1"] == of_files["intersection.hard.psds"] > 0
    # No two scores of a class are equal.
    assert theirs["segment_mpauc"] == pytest.approx(of_files["segment.hard.partial_auc.macro"], rel=1e-12)
    assert theirs["segment_mauc"] == pytest.approx(of_files["segment.hard.roc_auc.macro"], rel=1e-12)
    assert theirs["segment_f1_macro_thresopt"] == of_files["segment.optimal.f1.macro"]
    assert next(iter(theirs)) == published_evaluator("dcase2024-task4").ranking
    assert theirs["psds1 + segment_mpauc"] == theirs["psds1"] + theirs["segment_mpauc"]


def test_2024_files_without_an_event_do_not_count():
    """The file that only the system has is full of false alarms, and has a length."""
    reference, system, durations = both_data_sets()
    theirs = published_scores("dcase2024-task4", reference, system, durations=durations)
    without = taken(system, [name != "silent" for name in system["filename"]])
    assert published_scores("dcase2024-task4", reference, without, durations=durations) == theirs


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (lambda name, _: name.startswith("desed"), "MAESTRO"),
        (lambda name, _: name.startswith("maestro"), "DESED"),
        (lambda _, label: label != "Cat", "'Cat'"),
    ],
    ids=["desed", "maestro", "no cat"],
)
def test_2024_needs_both_data_sets_and_an_event_of_each_class(kept, said):
    reference, system, durations = both_data_sets()
    named = zip(reference["filename"], reference["event_label"], strict=True)
    with pytest.raises(SettingsError, match=said):
        published_scores(
            "dcase2024-task4", taken(reference, [kept(*each) for each in named]), system, durations=durations
        )


def test_2024_equal_scores_have_no_area():
    reference, system, durations = both_data_sets()
    numbers = [name for name in system if name not in ("filename", "onset", "offset")]
    flat = system | dict.fromkeys(numbers, [0.5] * len(system["filename"]))
    theirs = published_scores("dcase2024-task4", reference, flat, durations=durations)
    assert (theirs["segment_mpauc"], theirs["segment_mauc"]) == (0.0, 0.0)
    rules = evaluate(
        *(of_part(side, "maestro") for side in (reference, flat)), preset="dcase2024-task4-maestro"
    )
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


@pytest.mark.parametrize("case", FEW_SHOT)
def test_few_shot_counts_as_its_script(case):
    reference, system, counts = FEW_SHOT[case]
    numbers = numbers_of("few-shot", reference, system)
    assert tuple(numbers[f"a.wav {word}"] for word in ("TP", "FP", "FN")) == counts


def test_few_shot_misses_the_shots_of_a_file_without_detections():
    other = [("b.wav", *row[1:]) for row in CALLS]
    numbers = numbers_of("few-shot", [*CALLS, *other], FOUND)
    assert "b.wav FN" not in numbers
    assert numbers["recall"] == 2 / (3 + 8)


def test_few_shot_takes_nothing_for_a_hundredth_of_a_thousandth():
    reference = [*CALLS, *(("b.wav", *row[1:]) for row in CALLS)]
    system = [*events((20, 22), (30, 32), (40, 42)), *events((50, 51), file="b.wav")]
    numbers = numbers_of("few-shot", reference, system, scenes={"a.wav": "HB", "b.wav": "PB"})
    assert numbers["scores_per_subset HB f-measure"] == 1.0
    assert numbers["scores_per_subset PB f-measure"] == 1e-5
    assert numbers["fmeasure (percentage)"] == 0.002


def test_few_shot_stops_where_there_are_fewer_shots():
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


@pytest.mark.parametrize("case", BIODCASE)
def test_biodcase_counts_as_its_script(case):
    reference, system, counts = BIODCASE[case]
    numbers = numbers_of("biodcase2025-task2", reference, system)
    assert tuple(numbers[f"Final results bmabz {word}"] for word in ("tp", "fp", "fn")) == counts
    if "nowhere" in case:
        assert not [name for name in numbers if " d " in name]


# The same by the rules: tables in the form of the challenges, in one command with the preset.


def few_shot_tables(folder, reference, system):
    """Write tables as the challenge has them; the subset of a file is its first letter."""
    files = dict.fromkeys(row[0] for row in reference)
    for name in files:
        place = folder / "reference" / name[0] / f"{name[:-4]}.csv"
        place.parent.mkdir(parents=True, exist_ok=True)
        rows = (row for row in reference if row[0] == name)
        place.write_text("Audiofilename,Starttime,Endtime,Q\n" + "".join(map(line, rows)))
    (folder / "system.csv").write_text(
        "Audiofilename,Starttime,Endtime\n" + "".join(line(row[:3]) for row in system)
    )
    (folder / "subsets.tsv").write_text(
        "filename\tsubset\n" + "".join(f"{name}\t{name[0]}\n" for name in files)
    )
    return folder / "reference", folder / "system.csv", "--by", folder / "subsets.tsv"


def line(cells):
    return ",".join(map(str, cells)) + "\n"


def whale_tables(folder, reference, system):
    """Write tables as the challenge has them, of calls that are joined."""
    header = "dataset,filename,annotation,start_datetime,end_datetime\n"
    for name, rows in (("reference.csv", reference), ("system.csv", system)):
        (folder / name).write_text(header + "".join(map(whale_call, rows)))
    return folder / "reference.csv", folder / "system.csv", "--by", "{deployment}/*"


def whale_call(row):
    times = (
        (datetime(2014, 2, 18, 21, tzinfo=UTC) + timedelta(seconds=time)).isoformat() for time in row[1:3]
    )
    return line([*row[0].split("/"), JOINED[row[3]], *times])


def rates(tp, fp, fn):
    """Return precision, recall and error rate of counts."""
    return tp / (tp + fp), tp / (tp + fn), (fp + fn) / (tp + fn)


def check_rules(preset, paths, counts):
    result = call(*paths, "--preset", preset, "--format", "json")
    assert result.code == 0, result.err
    scores = [
        result.scores[f"event.hard.{name}.micro"]["value"] for name in ("precision", "recall", "error_rate")
    ]
    assert scores == pytest.approx(rates(*counts), abs=1e-15)


FEW_SHOT_RULES = dict(
    zip(FEW_SHOT, [(2, 2, 1), (2, 2, 1), (3, 0, 0), (1, 0, 0), (3, 0, 0), (1, 1, 0), (1, 1, 0)], strict=True)
)
BIODCASE_RULES = dict(
    zip(BIODCASE, [(1, 2, 0), (2, 0, 0), (1, 1, 1), (1, 1, 0), (1, 1, 0), (1, 0, 0)], strict=True)
)


@pytest.mark.parametrize("case", FEW_SHOT_RULES)
def test_few_shot_by_its_rules(tmp_path, case):
    paths = few_shot_tables(tmp_path, *FEW_SHOT[case][:2])
    check_rules("dcase2021-2024-few-shot", paths, FEW_SHOT_RULES[case])


@pytest.mark.parametrize("case", BIODCASE_RULES)
def test_biodcase_by_its_rules(tmp_path, case):
    paths = whale_tables(tmp_path, *BIODCASE[case][:2])
    check_rules("biodcase2025-task2", paths, BIODCASE_RULES[case])


EXAMPLE = (
    [*CALLS, *events((50, 52), label="UNK"), *(("b.wav", *row[1:]) for row in CALLS)],
    [*FOUND[:2], FOUND[3], *events((50, 51.5)), *events((20, 22), (30, 32), (40, 42), file="b.wav")],
)
"""One of three calls is missed, one detection is false and one of UNK in a.wav; b.wav is right."""


def test_published_few_shot_reads_the_tables_of_the_challenge(tmp_path):
    paths = few_shot_tables(tmp_path, *EXAMPLE)
    scores = evaluate(*paths[:2], preset="dcase2021-2024-few-shot", by=paths[3])
    assert scores["event.hard.f1.micro@scenes.harmonic"] == pytest.approx(2 / (1.5 + 1), abs=1e-15)
    numbers = published_scores("few-shot", *paths[:2], by=paths[3])
    scenes = {"a.wav": "a", "b.wav": "b"}
    assert numbers == numbers_of("few-shot", *EXAMPLE, scenes=scenes)
    assert numbers["fmeasure (percentage)"] == 80.0
    checked = call("check", *paths, "--preset", "dcase2021-2024-few-shot", "--with", "few-shot")
    assert "3 of 3" in checked.out


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
    paths = whale_tables(tmp_path, *BIODCASE["both are nearest to the first"][:2])
    result = call(*paths, "--preset", "biodcase2025-task2")
    assert result.out.splitlines()[2].split()[:2] == ["event.hard.f1_of_means", "1.000"]
    numbers = published_scores("biodcase2025-task2", *paths[:2])
    assert numbers["Final results bmabz recall"] == 0.5
