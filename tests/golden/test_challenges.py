"""Few-shot and BioDCASE as published: the numbers that their scripts give, also where rules say otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from called import call
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.api.published import published_scores
from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.published.biodcase2025_task2 import JOINED
from sedeval_soft.tables.event_table import EventTable

SUBSETS = {"file0.wav": "HB", "file1.wav": "PB"}


def table(rows, files=()):
    names = tuple(dict.fromkeys([*files, *(row[0] for row in rows)]))
    classes = tuple(dict.fromkeys(row[3] for row in rows))
    file, label = (
        np.array([of.index(row[k]) for row in rows], np.int32) for k, of in ((0, names), (3, classes))
    )
    onset, offset = (np.array([row[k] for row in rows], float) for k in (1, 2))
    return EventTable(names, classes, file, onset, offset, label=label)


def numbers_of(name, reference, system, files=(), scenes=None):
    inputs = Inputs(table(reference, files), table(system), scenes=scenes)
    try:
        return published_evaluator(name).numbers(inputs)
    except SettingsError as error:
        if "the script stops" not in str(error):
            raise
        return STOPS


def of_few_shot(case):
    return numbers_of("few-shot", case.reference, case.system, case.files, SUBSETS)


def in_data_set(row):
    number = int(row.file[4])
    data_set = ("kerguelen2014", "casey2017")[number % 2]
    return row._replace(file=f"{data_set}/2014-02-18T{21 + number // 2}-00-00_000.wav")


def of_biodcase(case):
    return numbers_of("biodcase2025-task2", *([*map(in_data_set, x)] for x in (case.reference, case.system)))


EVALUATORS = {"few_shot": of_few_shot, "biodcase": of_biodcase}
SOME = 300


def check(name, first, last):
    golden = read_numbers(f"{name}.json")
    assert golden["count"] == len(golden["digests"]) >= 10_000
    tables = {key: tuple(v) if isinstance(v, list) else v for key, v in golden["tables"].items()}
    last, stopped = min(last, golden["count"]), 0
    for case in random_cases(golden["seed"], last, Options(**tables), first):
        numbers = EVALUATORS[name](case)
        if case.number < len(golden["shown"]):
            shown = golden["shown"][case.number]
            assert list(numbers) == list(shown)
            assert numbers == shown, case.number
        assert digest(numbers) == golden["digests"][case.number], f"case {case.number}"
        stopped += numbers == STOPS
    assert stopped < 0.2 * (last - first)


@pytest.mark.parametrize("name", EVALUATORS)
def test_some_tables_give_the_numbers_of_the_script(name):
    check(name, 0, SOME)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATORS)
def test_all_tables_give_the_numbers_of_the_script(name):
    check(name, SOME, 10**9)


# Tables made by hand, on which the scripts do something else than the rules say, and what they print of them.

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


def test_example_of_few_shot_is_scored_in_one_command(tmp_path):
    paths = few_shot_tables(tmp_path, *EXAMPLE)
    result = call(*paths, "--preset", "dcase2021-2024-few-shot")
    assert result.code == 0, result.err
    assert result.out.splitlines()[1] == "ranking score event.hard.f1.micro@scenes.harmonic: .800"
    scores = evaluate(*paths[:2], preset="dcase2021-2024-few-shot", by=paths[3])
    assert scores["event.hard.f1.micro@scenes.harmonic"] == pytest.approx(2 / (1.5 + 1), abs=1e-15)


def test_published_few_shot_reads_the_tables_of_the_challenge(tmp_path):
    paths = few_shot_tables(tmp_path, *EXAMPLE)
    numbers = published_scores("few-shot", *paths[:2], by=paths[3])
    scenes = {"a.wav": "a", "b.wav": "b"}
    assert numbers == numbers_of("few-shot", *EXAMPLE, scenes=scenes)
    assert numbers["fmeasure (percentage)"] == 80.0
    checked = call(*paths, "--preset", "dcase2021-2024-few-shot", "--check", "few-shot")
    assert "3 of 3 scores agree" in checked.out


def test_percentages_of_few_shot_are_compared_as_scores(tmp_path):
    """F is 4/7, of which the script prints three decimals of the percentage; nobody marked UNK here."""
    paths = few_shot_tables(tmp_path, CALLS, FOUND)
    assert published_scores("few-shot", *paths[:2], by=paths[3])["fmeasure (percentage)"] == 57.143
    checked = call(*paths, "--preset", "dcase2021-2024-few-shot", "--check", "few-shot")
    assert "3 of 3 scores agree" in checked.out and "ignore_class" not in checked.err
    worse = few_shot_tables(tmp_path, SWAPPED, FOUND)
    checked = call(*worse, "--preset", "dcase2021-2024-few-shot", "--check", "few-shot")
    assert "0 of 3 scores agree" in checked.out and "official-evaluators.md" not in checked.out
    assert "page 'Official evaluators' of the documentation" in checked.out


def test_example_of_biodcase_is_scored_in_one_command(tmp_path):
    paths = whale_tables(tmp_path, *BIODCASE["both are nearest to the first"][:2])
    result = call(*paths, "--preset", "biodcase2025-task2")
    assert result.out.splitlines()[1] == "ranking score event.hard.f1.micro: 1.000"
    numbers = published_scores("biodcase2025-task2", *paths[:2])
    assert numbers["Final results bmabz recall"] == 0.5
