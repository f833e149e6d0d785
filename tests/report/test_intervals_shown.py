"""Intervals, folds and what costs most, in every form of the results."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
import yaml
from resampled import with_folds, with_intervals, with_worst
from samples import build, registered, tables, without
from schemas import allowed, check

from sedeval_soft.core.spread import Folds, Spread
from sedeval_soft.report import FORMATS, render
from sedeval_soft.report.header import ends
from sedeval_soft.report.page import page_of

SEGMENTS = (("segment", "hard"), ("segment", "optimal"))


def table_of(scores, title):
    """Return the one table whose title begins so."""
    (found,) = (table for table in tables(scores) if table.title.startswith(title))
    return found


def column(table, name):
    """Return the cells below the first column of a name."""
    return [row[table.head.index(name)] for row in table.rows]


def header_of(scores):
    """Return the lines above the tables, by name."""
    lines = render([scores]).split("\n\n")[0].splitlines()
    return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}


def test_ends_stand_below_their_value():
    scores = with_intervals(build(families=SEGMENTS))
    summary = table_of(scores, "Summary")
    assert [row[:2] for row in summary.rows[:3]] == [("segment", "hard"), ("", "   2.5 %"), ("", "  97.5 %")]
    assert summary.details == {1, 2, 4, 5}
    found = scores.score("segment.hard.precision.micro")
    assert column(summary, "P")[:3] == [f"{v:.4f}" for v in (found.value, found.low, found.high)]
    counts = column(table_of(scores, "Counts"), "N_ref")
    found = scores.score("segment.hard.n_ref.micro")
    assert counts[:3] == [str(found.value), f"{found.low:.2f}", f"{found.high:.2f}"]


def test_a_score_without_interval_has_empty_cells_below_it():
    scores = with_intervals(build(families=SEGMENTS, missed=("car",)))
    optimal = table_of(scores, "Classes, segment-based, optimal reading")
    assert column(optimal, "class") == ["car", "   2.5 %", "  97.5 %", "speech", "   2.5 %", "  97.5 %"]
    assert column(optimal, "P")[:3] == ["-", "", ""]
    assert column(optimal, "threshold")[4:] == ["", ""]
    assert column(optimal, "R")[1] != ""


def test_tables_and_rows_without_any_interval_are_as_they_are():
    plain = build(families=SEGMENTS)
    assert tables(with_intervals(without(plain, lambda s: s.average is None)))[0].details
    some = {name: score for name, score in with_intervals(plain).scores.items() if score.reading == "hard"}
    mixed = replace(with_intervals(plain), scores={**plain.scores, **some})
    assert table_of(mixed, "Summary").details == {1, 2}
    optimal = "Classes, segment-based, optimal reading"
    assert table_of(mixed, optimal) == table_of(plain, optimal)
    assert not any("the ends of" in note for note in page_of(plain).notes)
    assert sum("rows 2.5 % and 97.5 %" in note for note in page_of(mixed).notes) == 1


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, ("2.5 %", "97.5 %")),
        (0.9, ("5 %", "95 %")),
        (0.99, ("0.5 %", "99.5 %")),
        (0.6827, ("15.865 %", "84.135 %")),
        (0.9999, ("0.005 %", "99.995 %")),
    ],
)
def test_ends_have_exact_short_names(confidence, expected):
    assert ends(confidence) == expected


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "95 % bootstrap percentiles, 1000 replicates of 5 files, seed 0"),
        (
            {"ci": "bca", "confidence": 0.9, "replicates": 200, "seed": 7},
            "90 % BCa, 200 replicates of 5 files, seed 7",
        ),
        ({"ci": "jackknife"}, "95 % delete-one jackknife over 5 files"),
        (
            {"fixed_thresholds": True},
            "95 % bootstrap percentiles, 1000 replicates of 5 files, seed 0, thresholds fixed",
        ),
    ],
)
def test_header_says_how_intervals_are_found(chosen, said):
    assert header_of(with_intervals(build(), **chosen))["intervals"] == said
    assert "intervals" not in header_of(build())


@pytest.mark.parametrize("width", [80, 120])
def test_parts_of_a_wide_table_have_all_ends(width):
    text = render([with_intervals(build(families=SEGMENTS))], color=True, width=width)
    summary = text.split("Averages weighted")[0]
    assert summary.count("2.5 %") == 2 * summary.count("Summary")
    assert "\x1b[2m" in summary


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_rows_and_frames_have_both_ends(form, delimiter):
    scores = with_intervals(build(missed=("car",)))
    text = render([scores], form)
    rows = list(csv.DictReader(io.StringIO(text[: text.index("\n# ") + 1]), delimiter=delimiter))
    assert list(rows[0])[-3:] == ["value", "low", "high"]
    frame = scores.to_pandas()
    for end in ("low", "high"):
        wanted = [getattr(score, end) for score in scores.scores.values()]
        assert [float(row[end]) if row[end] else None for row in rows] == wanted
        assert str(frame[end].dtype) == "Float64"
        assert frame[end].isna().tolist() == [value is None for value in wanted]
        assert frame[end].dropna().tolist() == [value for value in wanted if value is not None]
        assert None in wanted


def test_documents_have_everything():
    scores = with_worst(with_folds(with_intervals(build(missed=("car",)), ci="bca", worst=2)))
    document = json.loads(render([scores, build(system="b")], "json"))
    check(document)
    assert yaml.safe_load(render([scores, build(system="b")], "yaml")) == document
    assert document["board"] is None
    found, plain = document["systems"]
    assert (plain["folds"], plain["worst"]) == (None, None)
    assert {(s["name"], s["low"], s["high"]) for s in found["scores"]} == {
        (s.name, s.low, s.high) for s in scores.scores.values()
    }
    assert found["folds"]["files"] == [1, 2, 3]
    assert found["folds"]["spreads"][0]["values"] == list(scores.folds.spreads[0].values)
    assert {
        len(offender) for part in ("files", "classes", "segments") for offender in found["worst"][part]
    } == {10}
    assert found["worst"]["segments"][0] == {
        "file": "cafe_restaurant_00.wav",
        "class": "speech",
        "onset": 12.0,
        "offset": 13.0,
        "cost": 1.75,
        "share": 0.0055,
        "missed": 1.0,
        "inserted": 0.75,
        "reference": 1.0,
        "system": 0.0,
    }


BROKEN = {
    "no end": lambda d: d["systems"][0]["scores"][0].pop("low"),
    "end as text": lambda d: d["systems"][0]["scores"][0].update(high="1"),
    "no folds": lambda d: d["systems"][0].pop("folds"),
    "fold twice": lambda d: d["systems"][0]["folds"].update(names=["a", "a"]),
    "deviation": lambda d: d["systems"][0]["folds"]["spreads"][0].update(deviation=-0.1),
    "share": lambda d: d["systems"][0]["worst"]["files"][0].update(share=37.5),
    "offender": lambda d: d["systems"][0]["worst"]["segments"][0].pop("onset"),
    "interval": lambda d: d["settings"].update(ci="t"),
    "confidence": lambda d: d["settings"].update(confidence=95),
    "worst": lambda d: d["settings"].update(worst=None),
    "board": lambda d: d.pop("board"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_schema_refuses(broken):
    document = json.loads(render([with_worst(with_folds(with_intervals(build())))], "json"))
    check(document)
    BROKEN[broken](document)
    assert not allowed(document)


def test_folds_have_one_table_and_no_others():
    plain = build(families=SEGMENTS)
    scores = with_folds(plain)
    assert tables(scores)[:-1] == tables(plain)
    folds = tables(scores)[-1]
    assert folds.title == "Folds: spread of scores (files are pooled, folds are never averaged)"
    assert folds.head == (
        *("basis", "reading", "measure", "average", "pooled", "mean", "deviation"),
        *("fold1", "fold2", "fold3"),
    )
    row = next(row for row in folds.rows if row[:4] == ("segment", "hard", "F1", "macro"))
    pooled = scores["segment.hard.f1.macro"]
    values = [scores[f"segment.hard.f1.macro@fold{i}"] for i in (1, 2, 3)]
    assert row[4:] == (f"{pooled:.4f}", "0.5000", "0.0312", *(f"{value:.4f}" for value in values))
    assert header_of(scores)["folds"] == "3: fold1 (1 file), fold2 (2 files), fold3 (3 files)"
    assert "segment.hard.f1.macro@fold2" in render([scores], "csv")


def test_many_folds_have_no_columns_of_their_own():
    scores = with_folds(build(families=SEGMENTS), [f"f{i}" for i in range(11)])
    assert table_of(scores, "Folds").head[-1] == "deviation"
    assert header_of(scores)["folds"] == "11, of 1 to 11 files"
    assert "csv has what each fold scores." in render([scores])
    spreads = [s for s in scores.folds.spreads if s.name == "segment.hard.f1.micro"]
    few = replace(scores, folds=replace(scores.folds, spreads=tuple(spreads)))
    assert page_of(few).notes[-1] == "What each fold scores is in csv, JSON and YAML."


def test_only_main_scores_have_their_spread_in_the_table():
    scores = with_folds(registered(("car", "speech")))
    shown = {row[2:4] for row in table_of(scores, "Folds").rows}
    measures = ("P", "R", "F1", "F2", "ER", "KLD")
    expected = {(measure, average) for measure in measures for average in ("micro", "macro")}
    assert shown == expected | {("PSDS", "overall"), ("piPSDS", "overall")}
    note = "Spreads of all averages are in JSON and YAML; csv has what each fold scores."
    assert note in page_of(scores).notes
    document = json.loads(render([scores], "json"))
    spreads = {spread["name"] for spread in document["systems"][0]["folds"]["spreads"]}
    averages = {name for name, score in scores.items() if "@" not in name and scores.score(name).average}
    assert spreads == averages
    text = render([scores], "csv")
    assert all(f"{name}@fold1" in text for name in averages)


def test_where_no_main_score_has_a_spread_all_that_have_are_in_the_table():
    scores = with_folds(build(families=SEGMENTS))
    aside = tuple(s for s in scores.folds.spreads if ".accuracy." in s.name)
    scores = replace(scores, folds=replace(scores.folds, spreads=aside))
    assert [row[2:4] for row in table_of(scores, "Folds").rows[:3]] == [
        ("acc", "micro"),
        ("acc", "macro"),
        ("acc", "weighted"),
    ]
    assert not any("Spreads of all" in note for note in page_of(scores).notes)


def test_weighted_averages_have_their_spread_in_the_table_if_they_are_asked_for():
    scores = with_folds(build(families=SEGMENTS))
    text = render([scores], averages=["weighted"]).split("Folds: ")[1]
    assert "weighted" in text
    assert "F1" in text
    assert "weighted" not in render([scores]).split("Folds: ")[1].split("soft-sed-eval")[0]


def test_averages_that_are_left_out_have_no_spread():
    scores = with_folds(build(families=SEGMENTS))
    text = render([scores], averages=["macro"]).split("Folds: ")[1]
    assert "macro" in text
    assert "micro" not in text
    document = json.loads(render([scores], "json", averages=["macro"]))
    names = {spread["name"] for spread in document["systems"][0]["folds"]["spreads"]}
    assert names == {name for name in scores if name.endswith(".macro")}


def test_folds_of_classes_and_with_odd_names_are_shown():
    scores = build(("a|b", "speech"), (("segment", "hard"),))
    spread = Spread("segment.hard.f1[a|b]", (None, 0.25), None, None)
    scores = replace(scores, folds=Folds(("one\x1b", "|two"), (1, 1), (spread,)))
    row = table_of(scores, "Folds").rows[0]
    assert row == ("segment", "hard", "F1", "a|b", f"{scores[spread.name]:.4f}", "-", "-", "-", "0.2500")
    assert table_of(scores, "Folds").head[3] == "of"
    assert "one\\x1b" in render([scores])
    assert "folds \\|two" in render([scores], "markdown")


def test_what_costs_most_has_three_tables():
    scores = with_worst(build())
    files, classes, segments = tables(scores)[-3:]
    assert files.title == "Files that cost most, segment-based, soft reading"
    assert classes.title == "Classes that cost most, segment-based, soft reading"
    assert segments.title == "Segments that cost most, segment-based, soft reading"
    assert files.rows[0] == ("cafe_restaurant_00.wav", "120.25", "37.5 %", "100.00", "20.25")
    assert files.rows[1][0] == "b\\x1b|.wav"
    assert segments.rows[1] == (
        *("b\\x1b|.wav", "car", "0.3", "0.4", "0.0625", "1.0000"),
        *("0.9375", "0.3 %", "0.0000", "0.9375"),
    )
    events = with_worst(build(), "event")
    assert [row[1:] for row in tables(events)[-1].rows] == [("20", "100.0 %", "12", "8")]
    assert "Cost is missed + inserted, in events" in render([events])


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_in_a_name_is_obeyed(form):
    text = render([with_worst(build())], form)
    assert "\x1b" not in text
    if form == "markdown":
        assert "b\\\\x1b\\|.wav" in text


def test_every_end_is_shown():
    scores = with_intervals(registered(("car",)))
    text = render([scores])
    shown = {end for score in scores.scores.values() if score.low for end in (score.low, score.high)}
    assert len(shown) > 200
    assert all(f"{end:.4f}" in text or f"{end:.2f}" in text for end in shown)
