"""`regions`, `region_edges` and `after_shots`: what lies outside counts nowhere, and lengths shrink with it.

The second answer is an evaluation without regions, of tables that are cut here, tenth by tenth of a second.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from called import REFERENCE, SYSTEM, call
from contract.laws import ALL, FILES, FORMS, LABELS, cut_by_hand, random_table, rows_of, table_of
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from plotted import caption
from tables import long_rows, wide_rows

from sedeval_soft import InputError, Settings, SettingsError, evaluate, plot
from sedeval_soft.measures.registry import ScoreName

EVENTS = ("event", "intersection")


def pieces(row: tuple[Any, ...], inside: set[int], edges: str) -> list[tuple[Any, ...]]:
    """Cut a row to what lies inside, or keep it where its onset does."""
    file, onset, offset, *rest = row
    begin, end = round(10 * onset), round(10 * offset)
    if edges == "onset":
        return [row] * (begin in inside)
    runs = [(a, b) for a in range(begin, end) if a in inside and (a == begin or a - 1 not in inside)
            for b in [next(t for t in range(a, end + 1) if t == end or t not in inside)]]  # fmt: skip
    return [(file, a / 10, b / 10, *rest) for a, b in runs]


@tried(max_examples=tried.default.max_examples // 3)
@given(st.integers(0, 2**30), st.sampled_from([("cut", "merge"), ("cut", "rows"), ("onset", "rows")]))
def test_rows_are_those_that_are_cut_or_chosen_by_hand(seed, how):
    """Regions overlap, touch, cut segments, and reach over the end; values are all distinct."""
    rng, (edges, events) = random.Random(seed), how  # noqa: S311
    begins = {file: [rng.randrange(22) for _ in range(3)] for file in FILES}
    regions = {file: [(a, a + rng.randrange(1, 9)) for a in of] for file, of in begins.items()}
    inside = {file: {t for a, b in spans for t in range(a, b)} for file, spans in regions.items()}
    sides = [random_table(seed + k, fine=True) for k in range(2)]
    by_hand = [
        table_of([piece for row in rows_of(side) if row[1] is not None
                  for piece in pieces(row, inside[row[0]], edges)] + [(file, *[None] * 4) for file in FILES])
        for side in sides
    ]  # fmt: skip
    asked = {"only": ("segment", "clip", *EVENTS), "classes": LABELS, "segment_length": 0.3, "events": events}
    asked["durations"] = dict.fromkeys(FILES, 3.0)
    seconds = {file: [(a / 10, b / 10) for a, b in spans] for file, spans in regions.items()}
    scores, wanted = (
        evaluate(*sides, regions=seconds, region_edges=edges, **asked),
        evaluate(*by_hand, **asked),
    )
    counted = [
        name for name in wanted if ScoreName.parse(name).measure in ("tp", "n_ref", "n_sys", "f1", "fp")
    ]
    counted = [name for name in counted if edges == "cut" or name.startswith(EVENTS)]
    assert {n: scores[n] for n in counted} == pytest.approx({n: wanted[n] for n in counted}, abs=1e-12)


def test_of_touching_rows_that_are_one_event_the_first_onset_decides():
    rows = table_of([("a", 0, 2, "car", 1.0), ("a", 2, 4, "car", 1.0)])
    asked = {"regions": {"a": [(1, 9)]}, "region_edges": "onset", "only": "event.hard"}
    found = [evaluate(rows, rows, events=of, **asked)["event.hard.n_ref.micro"] for of in ("merge", "rows")]
    assert found == [0, 1]


@pytest.mark.parametrize("edges", ["cut", "onset"])
@pytest.mark.parametrize(("at", "n_events"), [(0.9, 0), (1, 1), (2, 1), (3, 1), (3.1, 0)])
def test_a_row_without_extent_is_in_a_region_that_it_touches(at, n_events, edges):
    rows, asked = table_of([("a", at, at, "car", 1.0)]), {"only": "event.hard", "events": "rows"}
    scores = evaluate(rows, rows, regions={"a": [(1, 3)]}, region_edges=edges, **asked, durations={"a": 5})
    assert scores["event.hard.n_ref.micro"] == n_events


def test_the_mean_of_a_segment_is_over_what_lies_in_regions():
    """By hand: of seconds 0 to 2 the region has one and a half, of which the row covers one."""
    rows = table_of([("a", 0, 1.5, "car", 0.75)])
    asked = {"regions": {"a": [(0.5, 2)]}, "segment_length": 2.0, "pool": "mean", "only": "segment.soft"}
    assert evaluate(rows, rows, **asked)["segment.soft.n_ref.micro"] == pytest.approx(0.5)


def test_wide_tables_are_scored_as_long_ones():
    """Time steps with a value of every class."""
    wide = wide_rows(np.random.default_rng(1).integers(0, 9, (80, 2)) / 8, 0.5, files=2)
    cells = zip(wide.file, wide.onset, wide.offset, *wide.values, strict=True)
    long = long_rows([(wide.files[f], on, off, label, value) for f, on, off, *values in cells
                      for label, value in zip(wide.classes, values, strict=True)])  # fmt: skip
    reference = long_rows([("file0", 1.2, 7.7, "class0", 1.0), ("file1", 15, 19, "class1", 1.0)])
    regions = {"file0": [(1.3, 6.1), (6.6, 12)], "file1": [(2.2, 17.9)]}
    by_class = {"file0": [(1.3, 6.1, "class0"), (6.6, 12, "class1")], "file1": [(2.2, 17.9, "class1")]}
    for how in (
        {"regions": regions}, {"regions": regions, "median_filter": 1.5, "region_edges": "onset"},
        {"regions": regions, "psds_median_filters": [0, 1.5]}, {"regions": by_class},
    ):  # fmt: skip
        found, wanted = (evaluate(reference, of, segment_length=0.3, **how) for of in (wide, long))
        assert dict(found) == pytest.approx(dict(wanted), abs=1e-12)


def test_the_worst_segments_lie_in_regions():
    regions = {"a": [(2.5, 4.2), (7, 9)], "b": [(0, 3), (10.5, 20)]}
    scores = evaluate(random_table(3), random_table(4), regions=regions, worst=200, only="segment.hard")
    for each in scores.worst.segments:
        assert any(each.onset < b and each.offset > a for a, b in regions[each.file])
    costs = sum(each.cost for each in scores.worst.segments)
    assert costs == scores["segment.hard.fp.micro"] + scores["segment.hard.fn.micro"] > 0


# Laws.


def with_regions(settings: Settings, regions: Any, **more: Any) -> Settings:
    return Settings.of(
        **{name: getattr(settings, name) for name in settings.__slots__} | {"regions": regions} | more
    )


@pytest.mark.parametrize(
    ("seed", "edges"),
    [
        (0, "cut"), (4, "onset"),
        *(pytest.param(k, of, marks=pytest.mark.slow) for k, of in ((1, "cut"), (2, "onset"), (3, "cut"))),
    ],
)  # fmt: skip
def test_regions_of_whole_files_change_no_score(seed, edges):
    fine, settings = FORMS[seed % len(FORMS)]
    settings = replace(settings, pool=("max", "mean")[seed % 2], worst=9)
    sides = random_table(seed, fine=fine), random_table(seed + 100, fine=fine)
    lengths = dict.fromkeys(FILES, 23.0)
    plain = evaluate(*sides, settings=settings, durations=lengths)
    for spans in ([(0, 23)], [(4, 30), (0, 4), (1, 2)]):
        chosen = with_regions(settings, dict.fromkeys(FILES, spans), region_edges=edges)
        scores = evaluate(*sides, settings=chosen, durations=lengths)
        assert dict(scores) == dict(plain)
        assert (scores.worst, scores.per_file().to_json()) == (plain.worst, plain.per_file().to_json())


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3))])
def test_regions_on_the_grid_are_recordings_cut_by_hand(seed):
    """Segments and rates are those of tables that were cut; so are events where regions are far apart."""
    regions = {"a": [(0, 5), (9, 14)], "b": [(3, 4)], "c": [(2, 9), (12, 20), (22, 25)]}
    more = {"pool": "mean"} if seed % 2 else {}
    # Means over recordings are those of others.
    more["measures"] = tuple(group for group in ALL.measures if group != "grounding")
    settings = replace(ALL, only=("segment", "ranking", "event", "intersection"), **more)
    sides = random_table(seed), random_table(seed + 50)
    lengths = {
        f"{file} {k}": float(b - a) for file, spans in regions.items() for k, (a, b) in enumerate(spans)
    }
    by_hand = evaluate(*(cut_by_hand(each, regions) for each in sides), settings=settings, durations=lengths)
    scores = evaluate(*sides, settings=with_regions(settings, regions))
    assert {*scores} == {*by_hand}
    for name, value in by_hand.items():
        if ".recall_at_1." in name or ".recall_at_1[" in name:
            continue  # it is of recordings
        same = scores[name] is None if value is None else scores[name] == pytest.approx(value, abs=1e-9)
        assert same, (name, scores[name], value)


@pytest.mark.parametrize("label", ["car", None])
def test_after_some_events_each_recording_begins_where_the_last_of_them_ends(label):
    sides, labels = (random_table(5, binary=True, n=30), random_table(6)), [label] if label else LABELS
    events = {
        name: sorted(row[1:3] for row in rows_of(sides[0]) if row[0] == name and row[3] in labels)
        for name in FILES
    }
    begins = {name: of[2][1] for name, of in events.items() if len(of) >= 3}
    assert begins
    how = {"only": "all", "classes": LABELS, "events": "rows", "durations": dict.fromkeys(FILES, 25)}
    asked = "3" if label is None else f" 03  {label} "
    for chosen in (None, {"a": [(0, 12)], "b": [(0, 5), (8, 30)], "c": [(9, 9.5)]}):
        spans = chosen or {name: [(0, 40)] for name in FILES}
        cut = {
            name: [(max(a, begin), b) for a, b in spans[name] if b > begin] for name, begin in begins.items()
        }
        by_hand = evaluate(*sides, regions={name: of for name, of in cut.items() if of}, **how)
        assert dict(evaluate(*sides, after_shots=asked, regions=chosen, **how)) == dict(by_hand)


def test_without_durations_what_comes_after_the_reference_are_false_alarms():
    """As of a whole file: they add no true negatives and no time."""
    reference = table_of([("a", 0, 1, "car", 1.0), ("a", 2, 3, "car", 1.0)])
    system = table_of([("a", 2, 3, "car", 1.0), ("a", 7, 8, "car", 1.0)])
    scores = evaluate(reference, system, after_shots=1, only="segment.hard")
    assert (scores["segment.hard.tp[car]"], scores["segment.hard.fp[car]"]) == (1, 1)
    assert scores["segment.hard.tn[car]"] == 1
    assert scores.per_file()["length"].tolist() == [2.0]


# How regions are given, and what is refused.

WAYS = {
    "tsv": "filename\tonset\toffset\ncafe.wav\t0\t20.5\ncafe.wav\t30\t40\npark.wav\t5.5\t60\n",
    "another order": "offset,file,onset\n40,cafe.wav,30\n60,park.wav,5.5\n20.5,cafe.wav,0\n",
    "no header": "cafe,0,20.5\n\ncafe,30,40\n# a comment\npark.wav,5.5,60\n",
    "uem": ";; of the test\ncafe 1 30.0 40\ncafe 1 0 20.5\npark 1 5.5 60.0\n",
}


MAPPING = {"cafe.wav": [(0, 20.5), (30, 40)], "park.wav": [(5.5, 60)]}
COLUMNS = {"filename": ["cafe.wav", "cafe.wav", "park.wav"], "onset": [0, 30, 5.5], "offset": [20.5, 40, 60]}


@pytest.fixture(scope="module")
def within():
    return dict(evaluate(REFERENCE, SYSTEM, regions=MAPPING, only=["segment", "event.hard"]))


@pytest.mark.parametrize("way", WAYS)
def test_each_file_gives_the_same_regions(way, within, tmp_path):
    path = tmp_path / ("regions.uem" if way == "uem" else "regions.tsv")
    path.write_text(WAYS[way])
    for given_as in (path, str(path)):
        assert dict(evaluate(REFERENCE, SYSTEM, regions=given_as, only=["segment", "event.hard"])) == within


@pytest.mark.parametrize("columns", [COLUMNS, pd.DataFrame(COLUMNS)], ids=["dict", "pandas"])
def test_regions_in_columns(columns, within):
    assert dict(evaluate(REFERENCE, SYSTEM, regions=columns, only=["segment", "event.hard"])) == within


def test_the_command_takes_regions_as_an_option_and_in_settings(within, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("regions.tsv").write_text(WAYS["tsv"])
    Path("a.yaml").write_text("regions: regions.tsv\n")
    Path("b.yaml").write_text("regions: {cafe.wav: [[0, 20.5], [30, 40]], park.wav: [[5.5, 60]]}\n")
    for options in ("--regions regions.tsv", "--config a.yaml", "--config b.yaml"):
        done = call(REFERENCE, SYSTEM, *options.split(), "--score", "segment.soft.f1.micro")
        assert (done.code, float(done.out)) == (0, within["segment.soft.f1.micro"])


BAD = {
    "": "is empty; expected a table of filename, onset and offset, or a UEM file",
    "filename\tonset\toffset\n": "has no region; expected rows of filename, onset and offset, or a UEM file",
    "hello\tworld\n": ":1: 'hello', 'world' is neither a header nor a row",
    "a\t1\n": ":1: 'a', '1' is neither a header nor a row",
    "filename\tonset\toffset\na\t5\t2\n": ":2:3: offset 2 is not after onset 5",
    "filename\tonset\toffset\na\t5\t5\n": ":2:3: offset 5 is not after onset 5",
    "filename\tonset\toffset\na\tsoon\t5\n": ":2:2: onset 'soon' is not a number of seconds, 0 or more",
    "filename\tonset\toffset\na\t-1\t5\n": ":2:2: onset '-1' is not a number",
    "filename\tonset\toffset\na\t1\tnan\n": ":2:3: offset 'nan' is not a number",
    "filename\tonset\toffset\n\t1\t5\n": ":2:1: filename is empty",
    "filename\tonset\toffset\na\t1\n": ":2: has 2 fields; expected filename, onset and offset",
    "filename\tonset\toffset\na\t1\t1e300\n": ":2:3: offset 1e300",
    "filename\tonset\toffset\tnote\ncafe.wav\t1\t5\tcar\n": ":1:4: column 'note' cannot be",
    "species,offset,file,onset\nowl,40,cafe.wav,30\n": ":1:1: column 'species' cannot be",
    "a 1 0 5 9\n": ":1: 'a 1 0 5 9' is neither a header nor a row; expected filename, onset and offset, or",
    "a 1 0 5\na 1 7\n": ":2: has 3 fields; expected file, channel, begin and end of a region",
    "a 1 0 5\na 1 7 x\n": ":2:4: offset 'x' is not a number",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_table_of_regions_is_refused(text, tmp_path):
    path = tmp_path / "regions.tsv"
    path.write_text(text)
    done = call(REFERENCE, SYSTEM, "--regions", path)
    assert done.code == 2
    assert BAD[text] in done.err
    with pytest.raises(InputError):
        evaluate(REFERENCE, SYSTEM, regions=path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--set compat=sed_eval --set after_shots=1",
            "compat=sed_eval cannot go with regions and after_shots",
        ),
        ("--set region_edges=onset", "region_edges=onset needs regions or after_shots"),
        ("--set after_shots=0", "such as '5 POS', not 0"),
        ("--set after_shots=POS", "after_shots must be"),
        ("--set after_shots=1.5", "after_shots must be"),
        ("--set region_edges=keep", "keep"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options, message):
    done = call(REFERENCE, SYSTEM, *options.split())
    assert done.code == 2
    assert message in done.err, done.err


def test_sed_eval_is_not_asked_of_regions():
    done = call("check", REFERENCE, SYSTEM, "--with", "sed_eval", "--set", "after_shots=1")
    assert done.code == 2 and "sed_eval knows no regions" in done.err


@pytest.mark.parametrize(
    "regions",
    [{}, [], {"a": []}, {"a": [1, 2]}, {"a": [[1]]}, {"a": [[1, 2, 3]]}, {"a": [[2, 1]]}, {"a": [[-1, 1]]},
     {"": [[0, 1]]}, {"a": [["0", "1"]]}, {"a": [[0, float("nan")]]}, {"a": [[0, 1e12]]}, 7, {1: [[0, 1]]},
     {"filename": ["a"], "onset": [0, 1], "offset": [1]}],
)  # fmt: skip
def test_regions_in_python_that_are_none_are_refused(regions):
    with pytest.raises(SettingsError, match="regions"):
        evaluate(REFERENCE, SYSTEM, regions=regions)


@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_a_column_that_could_limit_regions_to_something_else_is_refused(form):
    columns = {"filename": ["cafe.wav"], "onset": [1.0], "offset": [5.0]}
    assert evaluate(REFERENCE, SYSTEM, regions=form(columns)).length == 4
    for name in ("value", "note"):
        with pytest.raises(SettingsError, match=f"column '{name}'"):
            evaluate(REFERENCE, SYSTEM, regions=form({**columns, name: ["car"]}))


def test_files_without_regions_are_left_out_and_said(tmp_path):
    path = tmp_path / "regions.tsv"
    path.write_text("filename\tonset\toffset\ncafe.wav\t0\t9\nPark.wav\t0\t9\nmetro.wav\t70\t90\n")
    durations = str(Path(REFERENCE).with_name("durations.tsv"))
    done = call(REFERENCE, SYSTEM, "--regions", path, "--durations", durations, "--format", "json")
    assert done.code == 0
    # A region that begins after the end of its file is none.
    assert (
        "4 files ('metro.wav', 'night.wav', 'park.wav', 'street.wav') have no region that is evaluated"
        in done.err
    )
    assert "'Park.wav'" in done.err and "meant to be 'park.wav'" in done.err
    assert done.document["settings"]["regions"]["count"] == 3
    assert call(REFERENCE, SYSTEM, "--regions", path, "--strict").code == 2
    path.write_text("x.wav\t0\t9\n")
    done = call(REFERENCE, SYSTEM, "--regions", path)
    assert (done.code, "nothing is left to evaluate" in done.err) == (2, True)
    done = call(REFERENCE, SYSTEM, "--set", "after_shots=999 footstep")
    assert (done.code, "did you mean 'footsteps'" in done.err) == (2, True)


def test_regions_of_the_only_recording_of_tables_without_names():
    reference = {"onset": [0, 5], "offset": [2, 8], "event_label": ["car", "car"]}
    scores = evaluate(reference, reference, regions={"x.wav": [(1, 6)]}, only="segment.hard")
    assert scores["segment.hard.tp[car]"] == 2
    assert scores["segment.hard.tn[car]"] == 3
    with pytest.raises(InputError, match="no column of file names"):
        evaluate(reference, reference, regions={"x.wav": [(1, 6)], "y.wav": [(0, 1)]})


def test_a_figure_of_a_recording_shades_what_is_not_evaluated():
    regions = {"cafe.wav": [(2.5, 20), (30, 40)]}
    figure = plot("timeline", REFERENCE, SYSTEM, file="cafe.wav", regions=regions)
    shaded = [(patch.get_x(), patch.get_width()) for patch in figure.axes[0].patches if patch.get_alpha()]
    assert shaded == [(0, 2.5), (20, 10)]
    assert "Shaded: not evaluated." in caption(figure)


# Regions of some classes: each class as if it were evaluated alone, in its own regions.

WITH_SILENCE = {"tn", "accuracy", "balanced_accuracy", "specificity", "npv", "kl_divergence", "mcc"}
"""Measures of all time: a class that was looked for in some of it has no true negatives."""


@pytest.mark.parametrize("seed", range(3))
def test_a_class_scores_as_it_does_alone_in_its_regions(seed):
    rng = random.Random(seed)  # noqa: S311
    sides = [random_table(seed + k, fine=True, n=20) for k in (0, 100)]
    regions = {"a": [[0, 1.7]] * (seed % 2), "b": [[0, 1.7, LABELS[2]]]}
    for label, file in product(LABELS[:2], "ab"):
        begin = rng.randrange(15) / 10
        regions[file].append([begin, begin + rng.randrange(1, 10) / 10, label])
    asked = {"only": ["segment", *EVENTS], "classes": LABELS, "segment_length": 0.1}
    found, compared = evaluate(*sides, regions=regions, **asked), 0
    for label in LABELS:
        own = {
            file: [each[:2] for each in of if label in each[2:] or not each[2:]]
            for file, of in regions.items()
        }
        alone = evaluate(*sides, regions={file: of for file, of in own.items() if of}, **asked)
        for name, value in alone.items():
            of = ScoreName.parse(name)
            if of.class_name == label and of.measure not in WITH_SILENCE:
                assert found[name] == pytest.approx(value, abs=1e-12), name
                compared += 1
    assert compared > 100


ROWS = "filename\tonset\toffset\tevent_label\n"
LOOKED_FOR = {
    "weak.tsv": "filename\tevent_labels\na\tdog\nb\tcar,cow\n",
    "strong.tsv": f"{ROWS}a\t0\t9\tdog\nb\t0\t9\tcar\n",
}


def test_a_table_names_the_classes_that_were_looked_for(tmp_path):
    """Only dog was looked for in a: its car is nothing that a system must find, nor is one a false alarm."""
    sides = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    sides[0].write_text(f"{ROWS}a\t0\t2\tdog\na\t5\t6\tcar\nb\t0\t1\tcar\n")
    sides[1].write_text(f"{ROWS}a\t0\t2\tdog\na\t1\t3\tcar\nb\t0\t1\tcar\nb\t0\t4\tdog\n")
    given = {"filename": ["a", "b"], "onset": [0, 0], "offset": [9, 9], "event_label": ["dog", "car"]}
    for name, text in LOOKED_FOR.items():
        (tmp_path / name).write_text(text)
    for regions in (*(tmp_path / name for name in LOOKED_FOR), given):
        scores = evaluate(*sides, regions=regions, only=("segment", "event", "clip"))
        found = [scores[f"{basis}.hard.f1.macro"] for basis in ("event", "segment", "clip")]
        assert found == [1.0] * 3, regions
    assert evaluate(*sides)["event.hard.f1.macro"] < 1


@pytest.mark.parametrize(
    "asked", [{"region_edges": "onset"}, {"pool": "mean"}, {"only": "ranking"}, {"measures": "curves"}]
)
def test_settings_that_need_all_classes_or_silence_are_refused(asked):
    with pytest.raises(SettingsError, match="regions of some classes"):
        evaluate(REFERENCE, SYSTEM, regions={"cafe.wav": [[0, 9, "speech"]]}, **asked)
