"""The intersection oracle against numbers of psds_eval 0.5.3 on its own example, in data/psds_eval.

make_psds_eval.py wrote the numbers, and explains the two readings of overlapping events. The tests round
times to microseconds, and give the criteria half a microsecond of slack. One comparison needs it: a
detection of Frying from 2.2247619... to 2.5955555... is a cross-trigger of Speech by an exact tie, which
rounding moves by a fifth of a microsecond. All other comparisons on this data are at least three
microseconds from a tie.
"""

import json
from pathlib import Path

import pytest
from intersection_oracle import count, f_measure, psds, staircases
from shared_data import shared
from tables import columns_of

from sedeval_soft import evaluate

RESULTS = json.loads((Path(__file__).parents[1] / "data/psds_eval/dcase2019.json").read_text())["results"]


def events_of(name):
    lines = (shared("dcase2019_task4") / name).read_text().splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    return [
        (row["filename"], row["event_label"], *(round(float(row[at]) * 1e6) for at in ("onset", "offset")))
        for row in rows
        if row["event_label"]
    ]


def references_of(overlaps):
    """Return the events of the reference; "joined" makes one event of those that overlap."""
    result, events = [], events_of("dcase2019t4_gt.csv")
    if overlaps == "as_is":
        return events
    for event in sorted(events):
        if result and result[-1][:2] == event[:2] and event[2] < result[-1][3]:
            result[-1] = (*result[-1][:3], max(result[-1][3], event[3]))
        else:
            result.append(event)
    return result


CASES = [
    pytest.param(
        overlaps, criteria, marks=[pytest.mark.slow] * ((overlaps, criteria) != ("as_is", "example"))
    )
    for overlaps, numbers in RESULTS.items()
    for criteria in numbers
]


@pytest.mark.parametrize(("overlaps", "criteria"), CASES)
def test_oracle_agrees(overlaps, criteria):
    golden = RESULTS[overlaps][criteria]
    classes = sorted(golden["reference_seconds"])
    references, points = references_of(overlaps), []
    for level, numbers in golden["at"].items():
        detections = events_of(f"baseline_{level}.csv")
        found = count(detections, references, classes, **golden["criteria"], slack=0.5, once=False)
        points.append(found)
        triggers = {(c, other): n for c, row in numbers["ct"].items() for other, n in row.items()}
        assert (found.tp, found.fp) == (numbers["tp"], numbers["fp"])
        assert {pair: n for pair, n in found.ct.items() if n} == triggers
        f = {c: float(f_measure(found.tp[c], found.fp[c], found.tp[c] + numbers["fn"][c])) for c in classes}
        assert f == pytest.approx(numbers["f1"], rel=1e-14)
        assert sum(f.values()) / len(f) == pytest.approx(numbers["f1_macro"], rel=1e-14)
    assert len(points) == 5
    for score in golden["psds"]:
        curves = staircases(
            points, references, classes, round(golden["seconds"] * 1e6), alpha_ct=score["alpha_ct"]
        )
        value = psds(curves, alpha_st=score["alpha_st"], max_efpr=score["max_efpr"])
        assert value == pytest.approx(score["value"], rel=1e-12)


def test_where_it_matters_that_what_overlaps_counts_once():
    """A detection of Dishes at 0.1 is 70% within two events only if their shared time counts for both."""
    references, golden = references_of("as_is"), RESULTS["as_is"]["psds1"]
    for level, one in (("0.1", 1), ("0.9", 0)):
        numbers = golden["at"][level]
        found = count(
            events_of(f"baseline_{level}.csv"), references, [*numbers["tp"]], **golden["criteria"], slack=0.5
        )
        assert found.tp == numbers["tp"] | {"Dishes": numbers["tp"]["Dishes"] - one}
        assert found.fp == numbers["fp"] | {"Dishes": numbers["fp"]["Dishes"] + one}


def points():
    """Return the files of the five lists of events, by threshold."""
    return {level: shared("dcase2019_task4") / f"baseline_{level}.csv" for level in (0.1, 0.3, 0.5, 0.7, 0.9)}


@pytest.mark.parametrize(("overlaps", "criteria"), [case.values for case in CASES])
def test_operating_points_give_the_psds_of_psds_eval(overlaps, criteria):
    golden = RESULTS[overlaps][criteria]
    rows = [(file, on / 1e6, off / 1e6, label) for file, label, on, off in references_of(overlaps)]
    lasting = {"durations": shared("dcase2019_task4") / "dcase2019t4_meta.csv"}
    for score in golden["psds"]:
        weights = {name: score[name] for name in ("alpha_ct", "alpha_st", "max_efpr")}
        asked = {"only": ("intersection.hard",), **golden["criteria"], **weights}
        scores = evaluate(columns_of(rows), points(), **lasting, **asked)
        assert scores["intersection.hard.psds"] == pytest.approx(score["value"], rel=1e-12)


def test_an_operating_point_is_its_list_at_its_threshold():
    reference, golden = shared("dcase2019_task4/dcase2019t4_gt.csv"), RESULTS["as_is"]["example"]
    asked = {"only": ("event.hard", "intersection.hard"), "reference_threshold": 0.5, **golden["criteria"]}
    for level, alone in points().items():
        scores = evaluate(reference, points(), threshold=level, **asked)
        assert dict(scores) == dict(evaluate(reference, alone, **asked))
        numbers = golden["at"][str(level)]
        for name in ("tp", "fp", "fn"):
            assert {c: scores[f"intersection.hard.{name}[{c}]"] for c in numbers[name]} == numbers[name]
