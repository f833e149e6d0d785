"""`regions`, `region_edges` and `after_shots`: time outside counts nowhere, and shortens recordings.

Expected results come from an evaluation without regions, of tables that the tests cut by tenths of a second.
"""

import random
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from called import REFERENCE, SYSTEM, call
from contract.laws import ALL, FILES, LABELS, cut_by_hand, random_table, rows_of
from drawn import lay_out
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from plotted import caption
from tables import columns_of, long_rows, wide_rows

from sedeval_soft import InputError, evaluate, plot
from sedeval_soft.measures.registry import ScoreName

EVENTS = ("event", "intersection")


def pieces(row: tuple[Any, ...], inside: set[int], edges: str) -> list[tuple[Any, ...]]:
    """Return the parts of a row inside regions, or the whole row if its onset is inside."""
    file, onset, offset, *rest = row
    begin, end = round(10 * onset), round(10 * offset)
    if edges == "onset":
        return [row] * (begin in inside)
    left = [t in inside for t in range(begin, end)]
    changes = [begin + k for k, (a, b) in enumerate(pairwise([False, *left, False])) if a != b]
    return [(file, a / 10, b / 10, *rest) for a, b in zip(changes[::2], changes[1::2], strict=True)]


@tried(max_examples=tried.default.max_examples // 5)
@given(st.integers(0, 2**30), st.sampled_from([("cut", "merge"), ("cut", "rows"), ("onset", "rows")]))
def test_rows_are_those_that_are_cut_or_chosen_by_hand(seed, how):
    """Regions overlap, touch, cut segments, and extend beyond the end; all values differ."""
    rng, (edges, events) = random.Random(seed), how  # noqa: S311
    begins = {file: [rng.randrange(22) for _ in range(3)] for file in FILES}
    regions = {file: [(a, a + rng.randrange(1, 9)) for a in of] for file, of in begins.items()}
    inside = {file: {t for a, b in spans for t in range(a, b)} for file, spans in regions.items()}
    sides, by_hand = [random_table(seed + k, fine=True, declared=()) for k in range(2)], []
    for side in sides:
        left = [piece for row in rows_of(side) for piece in pieces(row, inside[row[0]], edges)]
        by_hand.append(columns_of(left, FILES))
    asked = {
        "only": ("segment", "clip", *EVENTS), "classes": LABELS, "segment_length": 0.3, "events": events,
        "durations": dict.fromkeys(FILES, 3.0),
    }  # fmt: skip
    seconds = {file: [(a / 10, b / 10) for a, b in spans] for file, spans in regions.items()}
    scores = evaluate(*sides, regions=seconds, region_edges=edges, **asked)
    wanted = {
        name: value for name, value in evaluate(*by_hand, **asked).items()
        if ScoreName.parse(name).measure in ("tp", "n_ref", "n_sys", "f1", "fp")
        and (edges == "cut" or name.startswith(EVENTS))
    }  # fmt: skip
    assert {name: scores[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)


ONE = [("a", 0, 2, "car", 1.0), ("a", 2, 4, "car", 1.0)]
N_REF, N_SOFT = "event.hard.n_ref.micro", "segment.soft.n_ref.micro"


@pytest.mark.parametrize(
    ("sides", "asked", "expected"),
    [
        # If touching rows are one event, the first onset decides.
        *(((ONE, ONE), {"regions": {"a": [(1, 9)]}, "region_edges": "onset", "events": of}, {N_REF: n})
          for of, n in (("merge", 0), ("rows", 1))),
        # A row without extent is in a region that it touches.
        *((([("a", at, at, "car", 1.0)],) * 2,
           {"regions": {"a": [(1, 3)]}, "region_edges": edges, "events": "rows", "durations": {"a": 5}},
           {N_REF: n})
          for edges in ("cut", "onset") for at, n in ((0.9, 0), (1, 1), (3, 1), (3.1, 0))),
        # The region has 1.5 s of the first segment, and the row covers 1 s of them.
        (([("a", 0, 1.5, "car", 0.75)],) * 2,
         {"regions": {"a": [(0.5, 2)]}, "segment_length": 2.0, "pool": "mean"}, {N_SOFT: 0.5}),
        # Without durations, a detection after the reference is a false alarm but adds no time: one second
        # is silent.
        (([("a", 0, 1, "car", 1.0), ("a", 2, 3, "car", 1.0)],
          [("a", 2, 3, "car", 1.0), ("a", 7, 8, "car", 1.0)]),
         {"after_shots": 1}, {f"segment.hard.{name}[car]": 1 for name in ("tp", "fp", "tn")}),
    ],
)  # fmt: skip
def test_counts_by_hand(sides, asked, expected):
    scores = evaluate(*map(columns_of, sides), only=("segment", "event"), **asked)
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    "how",
    [{}, {"median_filter": 1.5, "region_edges": "onset"}, {"psds_median_filters": [0, 1.5]},
     {"regions": {"file0": [(1.3, 6.1, "class0"), (6.6, 12, "class1")], "file1": [(2.2, 17.9, "class1")]}}],
)  # fmt: skip
def test_wide_tables_are_scored_as_long_ones(how):
    """Both tables have the same time steps, with a value of every class."""
    wide = wide_rows(np.random.default_rng(1).integers(0, 9, (80, 2)) / 8, 0.5, files=2)
    times = [*zip([wide.files[f] for f in wide.file], wide.onset, wide.offset, strict=True)]
    long = long_rows([(*times[k], label, value) for label, own in zip(wide.classes, wide.values, strict=True)
                      for k, value in enumerate(own)])  # fmt: skip
    reference = long_rows([("file0", 1.2, 7.7, "class0", 1.0), ("file1", 15, 19, "class1", 1.0)])
    how = {"regions": {"file0": [(1.3, 6.1), (6.6, 12)], "file1": [(2.2, 17.9)]}, "segment_length": 0.3} | how
    assert dict(evaluate(reference, wide, **how)) == pytest.approx(
        dict(evaluate(reference, long, **how)), abs=1e-12
    )


@pytest.mark.parametrize("pool", ["max", pytest.param("mean", marks=pytest.mark.slow)])
def test_regions_on_the_grid_are_recordings_cut_by_hand(pool):
    """Each region scores as a recording of its own, as regions are far apart."""
    regions = {"a": [(0, 5), (9, 14)], "b": [(3, 4)], "c": [(2, 9), (12, 20), (22, 25)]}
    # Means over recordings differ, as each region is a recording there.
    groups = tuple(group for group in ALL.measures if group != "grounding")
    settings = replace(ALL, only=("segment", "ranking", *EVENTS), measures=groups, pool=pool, worst=200)
    sides = random_table(1), random_table(51)
    lengths = {f"{of} {k}": float(b - a) for of, spans in regions.items() for k, (a, b) in enumerate(spans)}
    by_hand = evaluate(*(cut_by_hand(each, regions) for each in sides), settings=settings, durations=lengths)
    wanted = {name: value for name, value in by_hand.items() if ".recall_at_1" not in name}
    asked = {name: getattr(settings, name) for name in settings.__slots__}
    scores = evaluate(*sides, **asked | {"regions": regions})
    assert {name: scores[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)
    assert [of.cost for of in scores.worst.segments] == [of.cost for of in by_hand.worst.segments]


@pytest.mark.parametrize(("label", "asked"), [("car", " 03  car "), (None, "3")])
@pytest.mark.parametrize("chosen", [None, {"a": [(0, 12)], "b": [(0, 5), (8, 30)], "c": [(9, 9.5)]}])
def test_after_some_events_each_recording_begins_where_the_last_of_them_ends(label, asked, chosen):
    reference, system = random_table(5, binary=True, n=30), random_table(6)
    how = {"only": "all", "classes": LABELS, "events": "rows", "durations": dict.fromkeys(FILES, 25)}
    cut = {}
    for name in FILES:
        shots = sorted(
            r[1:3] for r in rows_of(reference) if r[0] == name and r[3] in ([label] if label else LABELS)
        )
        # A recording with fewer than three of these events is not evaluated.
        end = shots[2][1] if len(shots) > 2 else 40
        cut[name] = [(max(a, end), b) for a, b in (chosen or {name: [(0, 40)]})[name] if b > end]
    cut = {name: spans for name, spans in cut.items() if spans}
    scores = evaluate(reference, system, after_shots=asked, regions=chosen, **how)
    assert dict(scores) == dict(evaluate(reference, system, regions=cut, **how))


# Formats of regions, and errors.

COLUMNS = {"filename": ["cafe.wav", "cafe.wav", "park.wav"], "onset": [0, 30, 5.5], "offset": [20.5, 40, 60]}
WAYS = {
    "tsv": "filename\tonset\toffset\ncafe.wav\t0\t20.5\ncafe.wav\t30\t40\npark.wav\t5.5\t60\n",
    "another order": "offset,file,onset\n40,cafe.wav,30\n60,park.wav,5.5\n20.5,cafe.wav,0\n",
    "no header": "cafe,0,20.5\n\ncafe,30,40\n# a comment\npark.wav,5.5,60\n",
    "uem": ";; of the test\ncafe 1 30.0 40\ncafe 1 0 20.5\npark 1 5.5 60.0\n",
    "columns": COLUMNS,
    "pandas": pd.DataFrame(COLUMNS),
}


@pytest.mark.parametrize("given", WAYS.values(), ids=WAYS)
def test_each_way_gives_the_same_regions(given, tmp_path):
    if isinstance(given, str):
        given = lay_out(tmp_path, {"regions.txt": given}) / "regions.txt"
    mapping = {"cafe.wav": [(0, 20.5), (30, 40)], "park.wav": [(5.5, 60)]}
    found, wanted = (evaluate(REFERENCE, SYSTEM, regions=of, only="segment.hard") for of in (given, mapping))
    assert dict(found) == dict(wanted)


HEAD = "filename\tonset\toffset"
BAD = {
    "": (None, None), f"{HEAD}\n": (None, None), "hello\tworld\n": (1, None), "a\t1\n": (1, None),
    f"{HEAD}\na\t5\t2\n": (2, 3), f"{HEAD}\na\t5\t5\n": (2, 3), f"{HEAD}\na\tsoon\t5\n": (2, 2),
    f"{HEAD}\na\t-1\t5\n": (2, 2), f"{HEAD}\na\t1\tnan\n": (2, 3), f"{HEAD}\n\t1\t5\n": (2, 1),
    f"{HEAD}\na\t1\n": (2, None), f"{HEAD}\na\t1\t1e300\n": (2, 3),
    f"{HEAD}\tnote\ncafe.wav\t1\t5\tcar\n": (1, 4), "species,offset,file,onset\nowl,40,cafe.wav,30\n": (1, 1),
    "a 1 0 5 9\n": (1, None), "a 1 0 5\na 1 7\n": (2, None), "a 1 0 5\na 1 7 x\n": (2, 4),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place"), BAD.items())
def test_files_that_are_not_tables_of_regions_are_refused(text, place, tmp_path):
    with pytest.raises(InputError) as caught:
        evaluate(REFERENCE, SYSTEM, regions=lay_out(tmp_path, {"regions.tsv": text}) / "regions.tsv")
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [place]


def test_sed_eval_is_not_asked_of_regions():
    done = call("check", REFERENCE, SYSTEM, "--with", "sed_eval", "--set", "after_shots=1")
    assert done.code == 2 and "regions" in done.err


def test_files_without_regions_are_left_out_and_named():
    """A region that begins after the end of its file does not count."""
    regions = {"cafe.wav": [(0, 9)], "Park.wav": [(0, 9)], "metro.wav": [(70, 90)]}
    scores = evaluate(
        REFERENCE, SYSTEM, durations=REFERENCE.replace("ref.tsv", "durations.tsv"), regions=regions
    )
    assert any("4 files ('metro.wav', 'night.wav', 'park.wav', 'street.wav')" in of for of in scores.warnings)
    assert any("'Park.wav'" in of and "meant to be 'park.wav'" in of for of in scores.warnings)
    assert scores.to_dict()["settings"]["regions"]["count"] == 3


def test_regions_of_the_only_recording_of_tables_without_names():
    reference = {"onset": [0, 5], "offset": [2, 8], "event_label": ["car", "car"]}
    scores = evaluate(reference, reference, regions={"x.wav": [(1, 6)]}, only="segment.hard")
    assert (scores["segment.hard.tp[car]"], scores["segment.hard.tn[car]"]) == (2, 3)


def test_a_figure_of_a_recording_shades_what_is_not_evaluated():
    figure = plot("timeline", REFERENCE, SYSTEM, file="cafe.wav", regions={"cafe.wav": [(2.5, 20), (30, 40)]})
    shaded = [(patch.get_x(), patch.get_width()) for patch in figure.axes[0].patches if patch.get_alpha()]
    assert shaded == [(0, 2.5), (20, 10)] and "Shaded" in caption(figure)


# Regions of some classes: each class scores as if it were evaluated alone, in its own regions.

WITH_SILENCE = {"tn", "accuracy", "balanced_accuracy", "specificity", "npv", "kl_divergence", "mcc"}
"""Measures that count silence: a class that was annotated in some of the time has no true negatives."""


@pytest.mark.parametrize("seed", range(2))
def test_a_class_scores_as_it_does_alone_in_its_regions(seed):
    rng = random.Random(seed)  # noqa: S311
    sides = [random_table(seed + k, fine=True, n=20) for k in (0, 100)]
    regions = {"a": [[0, 1.7]] * (seed % 2), "b": [[0, 1.7, LABELS[2]]]}
    for label, file in product(LABELS[:2], "ab"):
        begin = rng.randrange(15) / 10
        regions[file].append([begin, begin + rng.randrange(1, 10) / 10, label])
    asked = {"only": ["segment", *EVENTS], "classes": LABELS, "segment_length": 0.1}
    found = evaluate(*sides, regions=regions, **asked)
    for label in LABELS:
        own = {
            file: [(a, b) for a, b, *of in spans if label in (of or [label])]
            for file, spans in regions.items()
        }
        alone = evaluate(*sides, regions={file: of for file, of in own.items() if of}, **asked)
        names = [
            n for n in alone if n.endswith(f"[{label}]") and ScoreName.parse(n).measure not in WITH_SILENCE
        ]
        assert len(names) > 33
        assert [found[n] for n in names] == pytest.approx([alone[n] for n in names], abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "filename\tevent_labels\na\tdog\nb\tcar,cow\n",
        f"{HEAD}\tevent_label\na\t0\t9\tdog\nb\t0\t9\tcar\n",
    ],
)
def test_a_table_names_the_classes_that_were_looked_for(text, tmp_path):
    """Only dog was annotated in a: a car there is neither a miss nor a false alarm."""
    reference = [("a", 0, 2, "dog", 1), ("a", 5, 6, "car", 1), ("b", 0, 1, "car", 1)]
    system = [("a", 0, 2, "dog", 1), ("a", 1, 3, "car", 1), ("b", 0, 1, "car", 1), ("b", 0, 4, "dog", 1)]
    regions = lay_out(tmp_path, {"regions.tsv": text}) / "regions.tsv"
    only = [f"{basis}.hard" for basis in ("event", "segment", "clip")]
    scores = evaluate(columns_of(reference), columns_of(system), regions=regions, events="rows", only=only)
    assert [scores[f"{family}.f1.macro"] for family in only] == [1.0] * 3
