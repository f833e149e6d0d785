"""Published evaluators against the numbers that the published code gives of random tables."""

from __future__ import annotations

import numpy as np
import pytest
from golden_numbers import STOPS, digest, read_numbers
from random_tables import Options, random_cases

from sedeval_soft import SettingsError, evaluate
from sedeval_soft.api.published import published_scores
from sedeval_soft.published.base import Inputs, published_evaluator
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


EVALUATORS = {"dcase2016": of_dcase2016}
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
    options = more.pop("options", {})
    return published_scores(name, *columns, options=options), evaluate(*columns, preset=preset, **more)


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
    times = {"filename": ["x"], "onset": [0], "offset": [1]}
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
