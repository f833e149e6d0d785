"""Published evaluators against the numbers that the published code gives of random tables; arguments."""

import json
import math
import sys

import numpy as np
import pytest
from called import call
from golden_numbers import FOLDER, STOPS, digest, read_numbers
from random_answers import answer_files, windows
from random_tables import DESED, MAESTRO, case_of, data_sets, speech_cases
from tables import columns_of, long_rows

from sedeval_soft import EvaluationError, SettingsError
from sedeval_soft.apps.published import NAMES, dcase2024_task4, published_evaluator, published_scores
from sedeval_soft.apps.published.base import Inputs
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables import EventTable


def numbers_of(name, inputs, compute=None):
    """Return the numbers of an evaluator, or of its function; `STOPS` where the script does."""
    try:
        return (compute or published_evaluator(name).numbers)(inputs)
    except EvaluationError as error:
        if "the script" not in str(error) and "no file of the reference" not in str(error):
            raise
        return STOPS


def of_rows(reference, system, files=(), **how):
    """Return rows as the input of an evaluator; files: of the reference."""
    sides = ([row if row[-1] is not None else row[:4] for row in side] for side in (reference, system))
    return Inputs(*(long_rows(side, of) for side, of in zip(sides, (files, ()), strict=True)), **how)


def of_texts(*sides):
    """Return lines of JSON as the input of an evaluator."""
    return Inputs(
        long_rows([]), long_rows([]), texts=tuple("".join(f"{line}\n" for line in side) for side in sides)
    )


def of_few_shot(golden, number):
    case, scenes = case_of(golden, number), {"file0.wav": "HB", "file1.wav": "PB"}
    return numbers_of("few-shot", of_rows(case.reference, case.system, case.files, scenes=scenes))


def of_biodcase(golden, number, name="biodcase2025-task2"):
    """Two data sets have recordings of one name; the ranking stops without rows on a side."""
    case, sides = case_of(golden, number), []
    for rows in (case.reference, case.system):
        places = [divmod(int(row.file[4]), 2) for row in rows]
        names = [
            f"{('kerguelen2014', 'casey2017')[odd]}/2014-02-18T{21 + k}-00-00_000.wav" for k, odd in places
        ]
        sides.append([row._replace(file=file) for row, file in zip(rows, names, strict=True)])
    return STOPS if "ranking" in name and not all(sides) else numbers_of(name, of_rows(*sides))


def of_birdnet(golden, number):
    case, options = case_of(golden, number), golden["options"][number % len(golden["options"])]
    given = {"durations": dict.fromkeys(case.files, case.length) if number % 2 else None}
    given["options"] = {"metrics": "auroc precision recall f1 ap accuracy", **options}
    return numbers_of("birdnet-analyzer", of_rows(case.reference, case.system, **given))


def of_dcase2024(golden, number):
    """Only the areas: PSDS and F are ours, and take longer."""

    def areas(inputs):
        dcase2024_task4.shard_of(inputs, "desed")
        return dcase2024_task4.mean_areas(dcase2024_task4.shard_of(inputs, "maestro"))

    return numbers_of("dcase2024-task4", Inputs(*both_data_sets(golden, number)), areas)


def both_data_sets(golden, number):
    """Return a reference and a system of both data sets of 2024, and the lengths of their files."""
    rows, scores = [], {}
    for events, of_files in data_sets(golden, number).values():
        rows += [(name, *event, 1.0) for name, each in events.items() for event in each]
        scores |= of_files
    onset, file = np.tile(np.arange(20.0), len(scores)), np.repeat(np.arange(len(scores), dtype=np.int32), 20)
    values = tuple(np.concatenate([*scores.values()]).T)
    system = EventTable(tuple(scores), DESED + MAESTRO, file, onset, onset + 1, values)
    return long_rows(rows), system, dict.fromkeys(scores, 20.0)


def of_amr(_, number):
    return numbers_of("dcase2026-task6", of_texts(*(map(json.dumps, side) for side in windows(number))))


EVALUATORS = {
    "few_shot": (of_few_shot, 200),
    "biodcase": (of_biodcase, 200),
    "biodcase_ranking": (lambda *case: of_biodcase(*case, "biodcase2025-task2-ranking"), 200),
    "dcase2024": (of_dcase2024, 30),
    "birdnet": (of_birdnet, 210),
    "amr": (of_amr, 120),
}
"""By the name of the file: the numbers of a case, and how many cases are looked at each time."""


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
    golden = np.load(FOLDER / "lat_bench.npz")
    counts, scores = golden["counts"], golden["scores"]
    assert len(counts) == 10_000
    for case, lines in answer_files(number):
        samples, valid, *found = numbers_of("lat-bench", of_texts(lines, lines)).values()
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
    # From Python 3.12 on sum() of floats rounds less.
    same = np.testing.assert_array_equal if sys.version_info < (3, 12) else np.testing.assert_allclose
    for case, collar, skip_overlap, regions in speech_cases(last, first):
        uem.write_text("".join(f"{name} 1 {a!r} {b!r}\n" for name, each in regions.items() for a, b in each))
        options = {"collar": collar, "skip_overlap": float(skip_overlap), "uem": str(uem) if regions else ""}
        sides = (long_rows([row[:4] for row in rows], case.files) for rows in (case.reference, case.system))
        # Numbers of recordings are added in the order of files.
        ordered = (
            side.with_files(tuple(case.files), [case.files.index(name) for name in side.files])
            for side in sides
        )
        numbers = published_evaluator("pyannote-vad").numbers(Inputs(*ordered, options=options)).values()
        ours = [np.nan if value is None else value for value in numbers]
        same(ours, theirs[case.number], err_msg=str(case.number))


PAIR = columns_of([("x", 1.0, 2.0, "a"), ("x", 1.3, 2.0, "a")])
WIDE = {"filename": ["x"], "onset": [0], "offset": [1], "a": [0.5]}


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
        ("few-shot", {"system": WIDE}, "system"),
        ("biodcase2025-task2-ranking", {}, "recording began"),
    ],
)
def test_arguments_that_a_script_does_not_have_are_refused(name, given, said):
    with pytest.raises(SettingsError, match=said):
        published_scores(name, **{"reference": PAIR, "system": PAIR} | given)


def test_evaluators_are_listed_with_the_preset_of_their_rules():
    lines = call("published").out.splitlines()[:-2]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [*NAMES]
    presets = [line.split()[-1] for line in lines if line.startswith(" ")]
    assert presets == [e.preset for e in map(published_evaluator, NAMES) if e.preset]
    assert all(load_preset(name) for name in presets)
