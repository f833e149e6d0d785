"""Published evaluators against the numbers that the published code gives of random tables."""

from __future__ import annotations

import math

import make_dcase2023
import make_dcase2024
import numpy as np
import pytest
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.api.published import published_scores
from sedeval_soft.published import dcase2024_task4
from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable


def table(rows):
    files, classes = (tuple(dict.fromkeys(row[k] for row in rows)) for k in (0, 3))
    codes = [
        np.array([names.index(row[k]) for row in rows], np.int32) for k, names in ((0, files), (3, classes))
    ]
    onset, offset = (np.array([row[k] for row in rows], float) for k in (1, 2))
    values = (np.array([row[4] for row in rows], float),) if rows and rows[0][4] is not None else ()
    return EventTable(files, classes, codes[0], onset, offset, values, label=codes[1])


def numbers_of(name, reference, system, options, durations=None):
    try:
        return published_evaluator(name).numbers(Inputs(table(reference), table(system), durations, options))
    except SettingsError as error:
        if "script" not in str(error):
            raise
        return STOPS


def in_scene(row):
    return row._replace(file=("street/" if row.file[4] in "13" else "home/") + row.file)


def of_dcase2016(case, options):
    return numbers_of(
        "dcase2016-task3", [*map(in_scene, case.reference)], [*map(in_scene, case.system)], options
    )


def of_birdnet(case, options):
    durations = dict.fromkeys(case.files, case.length) if case.number % 2 else None
    options = {"metrics": "auroc precision recall f1 ap accuracy", **options}
    return numbers_of("birdnet-analyzer", case.reference, case.system, options, durations)


def of_dcase2023(case, options):
    """The system's rows are frames, with a column for each class."""
    rows, frames = make_dcase2023.frames_of(case)
    if not frames:
        return STOPS
    files, n_frames = tuple(frames), [len(each) for each in frames.values()]
    onset = np.concatenate([np.arange(n) * 0.2 for n in n_frames])
    values = tuple(np.concatenate([*frames.values()]).clip(0, 1).T)
    file = np.repeat(np.arange(len(files)), n_frames).astype(np.int32)
    system = EventTable(files, tuple(make_dcase2023.CLASSES), file, onset, onset + 0.2, values)
    numbers = published_evaluator("dcase2023-task4b").numbers(Inputs(table(rows), system, None, options))
    # That one is sed_scores_eval's, which did not make the file.
    assert 0 <= (numbers.pop("macro_average f") or 0) <= 1
    return numbers


def of_dcase2024(case, options):
    """Only the areas: PSDS and F are ours, and take longer."""
    numbers = all_of_dcase2024(case.number, areas_only=case.number >= SOME)
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


EVALUATORS = {
    "dcase2024": of_dcase2024,
    "dcase2023": of_dcase2023,
    "birdnet": of_birdnet,
    "dcase2016": of_dcase2016,
}
"""By the name of the file: the numbers of a case with some options."""

SOME = 300


def check(name, first, last):
    golden = read_numbers(f"{name}.json")
    assert golden["count"] == len(golden["digests"]) >= 10_000
    options, tables = (
        golden["options"],
        {key: tuple(v) if isinstance(v, list) else v for key, v in golden["tables"].items()},
    )
    compared = 0
    for case in random_cases(golden["seed"], min(last, golden["count"]), Options(**tables), first):
        numbers = EVALUATORS[name](case, options[case.number % len(options)])
        if case.number < len(golden["shown"]):
            shown = golden["shown"][case.number]
            assert list(numbers) == list(shown)
            assert numbers == shown
        assert digest(numbers) == golden["digests"][case.number], f"case {case.number}"
        compared += numbers != STOPS
    assert compared > 0.8 * (min(last, golden["count"]) - first)


@pytest.mark.parametrize("name", EVALUATORS)
def test_some_tables_give_the_numbers_of_the_published_code(name):
    check(name, 0, SOME)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATORS)
def test_all_tables_give_the_numbers_of_the_published_code(name):
    check(name, SOME, 10**9)


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


def deviation(name, reference, system, preset, **more):
    """Return the numbers as published, and the scores of the preset, for rows of hand."""
    columns = [
        dict(
            zip(
                ("filename", "onset", "offset", "event_label", "value"),
                map(list, zip(*rows, strict=True)),
                strict=False,
            )
        )
        for rows in (reference, system)
    ]
    theirs = {"options": more.pop("options", {}), "durations": more.get("durations")}
    return published_scores(name, *columns, **theirs), evaluate(*columns, preset=preset, **more)


def of_2016(reference, system, options=None):
    only = {"only": ("segment", "event"), "offset": False, "onset_collar": 0.2}
    return deviation("dcase2016-task3", reference, system, "dcase2016-task3", options=options or {}, **only)


PAIR = [("x", 1.0, 2, "a"), ("x", 1.3, 2, "a")]


def test_2016_the_order_of_rows_decides_who_is_matched():
    system = [("x", 1.15, 2, "a"), ("x", 0.9, 2, "a")]
    for rows, f in ((PAIR, 0.5), (PAIR[::-1], 1.0)):
        theirs, rules = of_2016(rows, system)
        assert theirs["Event/Overall F1"] == pytest.approx(f)
        assert rules["event.hard.f1.micro"] == 1.0


def test_2016_a_class_that_is_never_detected_counts_as_0():
    theirs, rules = of_2016([("x", 1, 2, "a"), ("x", 1, 2, "b")], [("x", 1, 2, "a")])
    assert theirs["Seg/Class F1"] == pytest.approx(0.5)
    assert rules["segment.hard.f1.macro"] == 1.0


def test_2016_scenes_are_scored_first_and_averaged_then():
    rows = [("home/x", 1, 2, "a"), ("street/y", 0, 9, "a")]
    theirs, rules = of_2016(rows, rows[:1], {"scenes": "folder"})
    assert [theirs[f"{scene} Main ER"] for scene in ("home", "street", "Average")] == [0.0, 1.0, 0.5]
    assert rules["segment.hard.error_rate.micro"] == pytest.approx(0.9)
    together, _ = of_2016(rows, rows[:1])
    assert together["Main ER"] == 0.9


def test_2016_what_only_the_system_has():
    found = ("x", 1, 2, "a")
    theirs, rules = of_2016([found], [found, ("y", 1, 2, "a")])
    assert theirs["Main ER"] == 0.0
    assert rules["segment.hard.error_rate.micro"] == pytest.approx(1)
    with pytest.raises(SettingsError, match="class 'c', the reference has not: the script stops"):
        of_2016([found], [found, ("x", 1, 2, "c")])


def test_2016_a_perfect_system_has_not_quite_1():
    theirs, rules = of_2016(PAIR[:1], PAIR[:1])
    assert theirs["Seg/Overall F1"] == 1 - 2.0**-52
    assert rules["segment.hard.f1.micro"] == 1.0


def test_2016_options_are_checked():
    with pytest.raises(SettingsError, match="scenes must be none, or folder"):
        of_2016(PAIR, PAIR, {"scenes": "city"})
    for wrong in (-1.0, math.nan, "1_0", None):
        with pytest.raises(SettingsError, match="time_resolution of dcase2016-task3 must be a number, 0 or"):
            of_2016(PAIR, PAIR, {"time_resolution": wrong})
    for resolution in (0.0, 1e-12):
        with pytest.raises(SettingsError, match="time_resolution is too short for 2 s"):
            of_2016(PAIR, PAIR, {"time_resolution": resolution})
    times = {"filename": ["x"], "onset": [0], "offset": [1]}
    with pytest.raises(SettingsError, match="has no use for durations"):
        published_scores("dcase2016-task3", *[{**times, "event_label": ["a"]}] * 2, durations={"x": 1.0})
    with pytest.raises(SettingsError, match="system has a column for each class; expected a list of events"):
        published_scores("dcase2016-task3", {**times, "event_label": ["a"]}, {**times, "a": [0.5]})


@pytest.mark.parametrize(("matching", "error_rate"), [("optimal", 0), ("greedy", 1)])
def test_2017_used_the_matching_of_that_time(matching, error_rate):
    columns = [
        {"filename": ["x", "x"], "onset": onset, "offset": [2, 2], "event_label": ["a", "a"]}
        for onset in ([1.0, 1.3], [1.4, 0.6])
    ]
    scores = evaluate(*columns, preset="dcase2017-task2", matching=matching)
    assert scores["event.hard.error_rate.macro"] == pytest.approx(error_rate)


def of_birdnet_rows(reference, system, options=None, durations=None):
    return deviation(
        "birdnet-analyzer", reference, system, "birdnet-analyzer", options=options or {}, durations=durations
    )


CALLS = [("x", 0, 3, "a"), ("x", 6, 9, "a")]
FOUND = [(*CALLS[0], 0.9), (*CALLS[1], 0.8)]
HALF_A_MINUTE = {"x": 30, "y": 30}


@pytest.mark.parametrize(("durations", "recall"), [(None, 1.0), (HALF_A_MINUTE, 0.5)])
def test_birdnet_recordings_without_detections_count_where_their_length_is_known(durations, recall):
    missed = [("y", *row[1:]) for row in CALLS]
    theirs, rules = of_birdnet_rows(CALLS + missed, FOUND, durations=durations)
    assert theirs["Overall Recall"] == recall
    assert rules["segment.hard.recall.macro"] == 0.5


@pytest.mark.parametrize(("empty", "precision"), [(0.0, 1.0), (1.0, 0.5)])
def test_birdnet_recordings_without_annotations_count_where_they_are_said_to_be_empty(empty, precision):
    alarms = [("y", 0, 3, "a", 0.9), ("y", 3, 6, "a", 0.95)]
    theirs, rules = of_birdnet_rows(
        CALLS, FOUND + alarms, {"score_unannotated_as_empty": empty}, HALF_A_MINUTE
    )
    assert theirs["Overall Precision"] == precision
    assert rules["segment.hard.precision.macro"] == 0.5


def test_birdnet_a_short_event_across_an_edge_is_in_no_window():
    theirs, rules = of_birdnet_rows([*CALLS, ("x", 11.8, 12.2, "a")], FOUND, durations=HALF_A_MINUTE)
    assert theirs["a: Support"] == 2
    assert theirs["Overall Recall"] == 1.0
    # By the rules it is in two windows.
    assert rules["segment.hard.recall.macro"] == 0.5
    theirs, rules = of_birdnet_rows([*CALLS, ("x", 11.3, 11.6, "a")], FOUND, durations=HALF_A_MINUTE)
    assert theirs["a: Support"] == 3
    assert theirs["Overall Recall"] == rules["segment.hard.recall.macro"] == pytest.approx(2 / 3)


def test_birdnet_windows_without_the_only_annotated_class_are_a_class():
    system = [FOUND[0], ("x", 3, 6, "a", 0.9)]
    alone, _ = of_birdnet_rows(CALLS, system, durations=HALF_A_MINUTE)
    theirs, rules = of_birdnet_rows(CALLS, [*system, ("x", 0, 3, "b", 0.9)], durations=HALF_A_MINUTE)
    assert theirs["Overall Precision"] == (1 / 2 + 7 / 8) / 2
    assert alone["Overall Precision"] == rules["segment.hard.precision.macro"] == 0.5


def test_birdnet_confidences():
    theirs, rules = of_birdnet_rows(CALLS, CALLS)
    assert (theirs["Overall Recall"], rules["segment.hard.recall.macro"]) == (0.0, 1.0)
    theirs, rules = of_birdnet_rows(CALLS, [(*CALLS[0], 0.1 - 1e-9)], durations=HALF_A_MINUTE)
    assert (theirs["Overall Recall"], rules["segment.hard.recall.macro"]) == (0.5, 0.0)


def test_birdnet_no_window_without_the_class():
    theirs, rules = of_birdnet_rows(CALLS[:1], FOUND[:1])
    assert theirs["Overall AUROC"] is None
    assert rules["segment.hard.roc_auc.macro"] is None


def test_birdnet_names_of_recordings_are_what_is_left_of_names_of_tables():
    names = ["a/r1.wav", "r1.flac", "b/r1.wav.BirdNET.selection.table.txt", "r1.BirdNET.results.csv"]
    theirs, _ = of_birdnet_rows([(name, 0, 3, "a") for name in names], [("r1.mp3", 0, 3, "a", 1.0)])
    assert theirs["a: Support"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.0}, "threshold must be between 0 and 1"),
        ({"min_overlap": 3.5}, "min_overlap must be more than 0, and no more than sample_duration"),
        ({"sample_duration": 0.0}, "min_overlap must be"),
        ({"recording_duration": 2.0}, "recording_duration must be 0"),
        ({"averaging": "samples"}, "averaging must be macro, micro or weighted"),
        ({"metrics": "auroc map"}, "metrics must be some of"),
    ],
)
def test_birdnet_options_are_checked(options, message):
    with pytest.raises(SettingsError, match=message):
        of_birdnet_rows(CALLS, FOUND, options)


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
        durations = dict.fromkeys({row[0] for row in reference}, 60)
        theirs, rules = of_birdnet_rows([row[:4] for row in reference], system, durations=durations)
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


def test_2024_the_sum_that_ranks_comes_first():
    reference, system, durations = both_data_sets()
    theirs = published_scores("dcase2024-task4", reference, system, durations=durations)
    of_files = {}
    for part in ("desed", "maestro"):
        sides = [
            {key: [v for v, name in zip(values, side["filename"], strict=True) if name.startswith(part)]
             for key, values in side.items()}
            for side in (reference, system)
        ]  # fmt: skip
        lengths = {name: seconds for name, seconds in durations.items() if name.startswith(part)}
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
    kept = [name != "silent" for name in system["filename"]]
    without = {key: [v for v, k in zip(values, kept, strict=True) if k] for key, values in system.items()}
    assert published_scores("dcase2024-task4", reference, without, durations=durations) == theirs


@pytest.mark.parametrize(("part", "other"), [("desed", "MAESTRO"), ("maestro", "DESED")])
def test_2024_needs_both_data_sets(part, other):
    reference, system, durations = both_data_sets()
    rows = [k for k, name in enumerate(reference["filename"]) if name.startswith(part)]
    one = {key: [values[k] for k in rows] for key, values in reference.items()}
    with pytest.raises(SettingsError, match=f"no file of the reference has an event of a class of {other}"):
        published_scores("dcase2024-task4", one, system, durations=durations)


def of_2023(labels, frames):
    """labels: (file, onset, offset, value) of one class; frames: their number and active ones by file."""
    reference = {
        key: [row[k] for row in labels] for k, key in enumerate(("filename", "onset", "offset", "value"))
    }
    reference["event_label"] = ["car"] * len(labels)
    rows = [
        (name, k / 5, (k + 1) / 5, 0.9 * any(first <= k < last for first, last in active))
        for name, (n_frames, *active) in frames.items()
        for k in range(n_frames)
    ]
    heads = ("filename", "onset", "offset", "car")
    system = dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))
    theirs = published_scores("dcase2023-task4b", reference, system)
    return theirs, evaluate(reference, system, preset="dcase2023-task4b")


@pytest.mark.parametrize(
    ("labels", "frames", "script", "rules"),
    [
        ([("x", 0, 1, 0.9), ("x", 3, 4, 0.9)], {"x": (20, (0, 5), (16, 19))}, 0.5, 0),
        ([("x", 0, 1, 0.9), ("x", 1, 2, 0.9)], {"x": (20, (4, 6))}, 0.5, 0),
        ([("x", 0, 1, 0.2), ("y", 1, 2, 0.9)], {"x": (8,), "y": (10, (4, 9))}, 0, 1),
        ([("x", 0, 1, 0.2), ("y", 1, 2, 0.9)], {"x": (10,), "y": (10, (4, 9))}, 2, 1),
    ],
)
def test_2023_ends_of_events_are_rounded_down_on_one_line_of_time(labels, frames, script, rules):
    theirs, ours = of_2023(labels, frames)
    assert theirs["Micro ER"] == pytest.approx(script)
    assert ours["segment.hard.error_rate.micro"] == rules


def test_2023_macro_f_is_of_11_classes():
    theirs, ours = of_2023([("x", 0, 1, 0.9)], {"x": (5, (0, 5))})
    assert theirs["Macro F1"] == 1 / 11
    assert theirs["macro_average f"] == ours["segment.hard.f1.macro"] == 1.0


def test_2023_the_last_row_of_a_class_counts():
    theirs, ours = of_2023([("x", 0, 1, 0.9), ("x", 0, 1, 0.2)], {"x": (5, (0, 5))})
    assert theirs["Micro F1"] is None
    assert ours["segment.hard.f1.micro"] == 1.0


def test_2023_stops_at_a_file_that_the_reference_has_not():
    with pytest.raises(SettingsError, match="the system has the file 'y', which the reference has not"):
        of_2023([("x", 0, 1, 0.9)], {"x": (5, (0, 5)), "y": (5,)})


def test_2024_equal_scores_have_no_area():
    reference, system, durations = both_data_sets()
    numbers = [name for name in system if name not in ("filename", "onset", "offset")]
    flat = system | dict.fromkeys(numbers, [0.5] * len(system["filename"]))
    theirs = published_scores("dcase2024-task4", reference, flat, durations=durations)
    assert (theirs["segment_mpauc"], theirs["segment_mauc"]) == (0.0, 0.0)
    of_maestro = [{k: [v for v, f in zip(side[k], side["filename"], strict=True) if f.startswith("maestro")]
                   for k in side} for side in (reference, flat)]  # fmt: skip
    rules = evaluate(*of_maestro, preset="dcase2024-task4-maestro")
    assert rules["segment.hard.partial_auc.macro"] == pytest.approx(0.05)


def test_2024_needs_an_event_of_each_class():
    reference, system, durations = both_data_sets()
    kept = [label != "Cat" for label in reference["event_label"]]
    without = {key: [v for v, k in zip(values, kept, strict=True) if k] for key, values in reference.items()}
    with pytest.raises(
        SettingsError, match="the reference of DESED has no event of the class 'Cat': the script"
    ):
        published_scores("dcase2024-task4", without, system, durations=durations)
