"""The published evaluator of DCASE few-shot against the numbers that its script gives, and where rules differ."""

from __future__ import annotations

import numpy as np
import pytest
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError
from sedeval_soft.published.base import Inputs, published_evaluator
from sedeval_soft.tables.event_table import EventTable

SUBSETS = {"file0.wav": "HB", "file1.wav": "PB", "file2.wav": "PB"}


def table(rows, files=()):
    names = tuple(dict.fromkeys([*files, *(row[0] for row in rows)]))
    classes = tuple(dict.fromkeys(row[3] for row in rows))
    file, label = (
        np.array([of.index(row[k]) for row in rows], np.int32) for k, of in ((0, names), (3, classes))
    )
    onset, offset = (np.array([row[k] for row in rows], float) for k in (1, 2))
    return EventTable(names, classes, file, onset, offset, label=label)


def numbers_of(reference, system, files=(), scenes=None):
    inputs = Inputs(table(reference, files), table(system), scenes=scenes)
    try:
        return published_evaluator("few-shot").numbers(inputs)
    except SettingsError as error:
        assert "the script stops" in str(error)
        return STOPS


def check(first, last):
    golden = read_numbers("few_shot.json")
    assert golden["count"] == len(golden["digests"]) >= 10_000
    options = {key: tuple(v) if isinstance(v, list) else v for key, v in golden["tables"].items()}
    last = min(last, golden["count"])
    stopped = 0
    for case in random_cases(golden["seed"], last, Options(**options), first):
        numbers = numbers_of(case.reference, case.system, case.files, SUBSETS)
        if case.number < len(golden["shown"]):
            shown = golden["shown"][case.number]
            assert list(numbers) == list(shown)
            assert numbers == shown, case.number
        assert digest(numbers) == golden["digests"][case.number], f"case {case.number}"
        stopped += numbers == STOPS
    assert stopped < 0.2 * (last - first)


def test_some_tables_give_the_numbers_of_the_script():
    check(0, 300)


@pytest.mark.slow
def test_all_tables_give_the_numbers_of_the_script():
    check(300, 10**9)
