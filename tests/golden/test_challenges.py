"""Few-shot and BioDCASE as published: the numbers that their scripts give, also where rules say otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from golden_numbers import STOPS

from sedeval_soft import SettingsError
from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.tables.event_table import EventTable


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


# Tables made by hand, on which the scripts do something else than the rules say, and what they print of them.

FIVE = [("a.wav", float(t), t + 1.0, "POS") for t in range(1, 11, 2)]


def events(*spans, label="POS", file="a.wav"):
    return [(file, float(onset), float(offset), label) for onset, offset in spans]


CALLS = [*FIVE, *events((20, 22), (30, 32), (40, 42))]
FOUND = events((20, 22), (30, 32), (50, 51), (60, 61))
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
BIODCASE = {
    "three detections of a call": (CALL, calls((10, 20), (11, 20), (10, 19)), (1, 0, 0)),
    "both are nearest to the first": (calls((10, 20), (14, 24)), calls((10, 20), (12, 21)), (1, 0, 1)),
    "a call of another data set": (CALL, ELSEWHERE, (1, 0, 0)),
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
