"""What recall and precision depend on: bins add up to what was lost, and are what a slow look finds."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedeval_soft
from sedeval_soft.evaluation.sensitivity import classes_at_once, mean_over, plain_numbers, wilson
from sedeval_soft.timeline.events import Activity, Events, Timed

LABELS = ("car", "dog", "talk")


def random_rows(rng, n, files):
    onset = np.round(rng.uniform(0, 60, n), 1)
    return [
        (str(rng.choice(files)), a, round(a + float(rng.uniform(0.1, 4)), 1), str(rng.choice(LABELS)),
         float(rng.choice([0.2, 0.4, 0.6, 0.8, 1.0])))
        for a in onset.tolist()
    ]  # fmt: skip


def table(rows, files):
    rows = [*rows, *((file, None, None, None, None) for file in files)]
    names = ("filename", "onset", "offset", "event_label", "value")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def random_sides(seed, files, n=90):
    """Many of the reference's events are in the output, some with other ends; and there are others."""
    rng = np.random.default_rng(seed)
    reference = random_rows(rng, n, files)
    said = [(f, max(0, round(a + d, 1)), b, c, v) for (f, a, b, c, v), d in zip(
        reference[::2], rng.choice([0, 0, 0.1, -0.8], n), strict=False
    )]  # fmt: skip
    said = [row for row in said if row[2] > row[1]]
    return table(reference, files), table([*said, *random_rows(rng, n // 2, files)], files)


def by_factor(diagnosis):
    factors = defaultdict(list)
    for each in diagnosis.bins:
        factors[each.measure, each.factor].append(each)
    return factors


@pytest.mark.parametrize("seed", range(40))
def test_bins_of_each_factor_add_up_to_what_was_lost(seed):
    files = tuple("abcdefgh"[: 1 + seed % 8])
    sides = random_sides(seed, files, n=250)
    scenes = {name: "in" if name < "d" else "out" for name in files}
    how = {"events": ("rows", "merge")[seed % 2], "beta": (1.0, 2.0)[seed % 3 == 0], "replicates": 50}
    diagnosis = sedeval_soft.diagnose(*sides, only="event.hard", by=scenes, classes=LABELS, **how)
    factors, scores = by_factor(diagnosis), diagnosis.scores
    assert {name for _, name in factors} >= {"duration", "agreement", "gap before it", "value"}
    assert ("recall", "scene") in factors or len(files) <= 3
    lost = 1 - scores["event.hard.f1.micro" if how["beta"] == 1 else "event.hard.fbeta.micro"]
    for (measure, factor), bins in factors.items():
        assert abs(math.fsum(each.share for each in bins) - lost) < 1e-12, (measure, factor)
        count, unrelated = ("n_ref", "no reference") if measure == "recall" else ("n_sys", "no detection")
        assert sum(each.n for each in bins) == scores[f"event.hard.{count}.micro"]
        hits = math.fsum(each.n * each.value for each in bins if each.n)
        assert abs(hits - scores["event.hard.tp.micro"]) < 1e-9
        last = max(bins, key=lambda each: each.place)
        assert (last.name, last.n, last.value, last.differs) == (unrelated, 0, None, 0)


def test_files_of_few_events_are_one_bin():
    files = tuple("abcdefgh")
    sides = random_sides(1, files, n=60)
    rows = [*zip(*sides[0].values(), strict=True)]
    rows += [("a", 30.0 + k, 30.5 + k, "car", 1.0) for k in range(25)]
    reference = dict(zip(sides[0], map(list, zip(*rows, strict=True)), strict=True))
    bins = by_factor(sedeval_soft.diagnose(reference, sides[1], only="event.hard", replicates=50))[
        "recall", "file"
    ]
    named = {each.name: each for each in bins}
    assert {*named} == {"a", "files with fewer than 20 events", "no reference"}
    alone = named["a"]
    hits = round(alone.value * alone.n)
    assert (alone.low, alone.high) == pytest.approx(
        tuple(map(float, wilson(np.array(hits), np.array(alone.n), 0.95)))
    )
    rest = named["files with fewer than 20 events"]
    assert alone.rest == pytest.approx(rest.value) and rest.rest == pytest.approx(alone.value)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_may_be_in_several_scenes(seed):
    """Each scene has the recall, and as many events, as its files have; the rest is all other files."""
    files = tuple("abcdefgh")
    sides = random_sides(seed, files, n=200)
    scenes = {"early": ("a", "b", "c", "d"), "middle": ("c", "d", "e"), "one": ("h",)}
    by = dict.fromkeys(files, "north") | {"b": "south", "h": "south"}
    diagnosis = sedeval_soft.diagnose(
        *sides, only="event.hard", scenes=scenes, by=by, classes=LABELS, replicates=100
    )
    bins = {each.name: each for each in by_factor(diagnosis)["recall", "scene"]}
    assert {*bins} == {"early", "middle", "one", "north", "south", "no reference"}
    inside = scenes | {"north": tuple("acdefg"), "south": ("b", "h")}
    rows = [[*zip(*side.values(), strict=True)] for side in sides]
    for name, its_files in inside.items():
        scores = diagnosis.scores
        assert bins[name].n == scores[f"event.hard.n_ref.micro@{name}"]
        assert bins[name].value == pytest.approx(scores[f"event.hard.recall.micro@{name}"], abs=1e-12)
        others = [table([row for row in side if row[0] not in its_files and row[3]], ()) for side in rows]
        rest = sedeval_soft.evaluate(*others, only="event.hard", classes=LABELS)
        assert bins[name].rest == pytest.approx(rest["event.hard.recall.micro"], abs=1e-12)
        assert bins[name].low <= bins[name].value <= bins[name].high
    # What is lost in files of both early and middle is in both.
    of_by = math.fsum(bins[name].share for name in ("north", "south", "no reference"))
    assert of_by == pytest.approx(1 - diagnosis.scores["event.hard.f1.micro"], abs=1e-12)
    hits = round(bins["one"].value * bins["one"].n)
    ends = wilson(np.array(hits), np.array(bins["one"].n), 0.95)
    assert (bins["one"].low, bins["one"].high) == pytest.approx(tuple(map(float, ends)))


def test_files_in_no_scene_are_others():
    files = tuple("abcd")
    sides = random_sides(2, files)
    diagnosis = sedeval_soft.diagnose(
        *sides, only="event.hard", scenes={"one": ("a", "b")}, classes=LABELS, replicates=50
    )
    bins = {each.name: each for each in by_factor(diagnosis)["recall", "scene"]}
    assert {*bins} == {"one", "others", "no reference"}
    lost = 1 - diagnosis.scores["event.hard.f1.micro"]
    assert math.fsum(each.share for each in bins.values()) == pytest.approx(lost, abs=1e-12)


def test_a_merge_is_paid_for_by_all_of_its_events():
    """One detection holds two events; the loss is one false positive and two misses, half of it each."""
    reference = [("a", 0.0, 1.0, "car", 1.0), ("a", 1.5, 2.5, "car", 1.0)]
    reference += [("b", float(3 * k), 3.0 * k + 1, "dog", 1.0) for k in range(60)]
    system = [("a", 0.0, 2.5, "car", 1.0), *reference[2:]]
    files = ("a", "b")
    diagnosis = sedeval_soft.diagnose(
        table(reference, files), table(system, files), only="event.hard", by={"a": "x", "b": "y"},
        replicates=20,
    )  # fmt: skip
    factors = by_factor(diagnosis)
    lost = 1 - diagnosis.scores["event.hard.f1.micro"]
    assert {each.name: each.share for each in factors["recall", "scene"]} == pytest.approx(
        {"x": lost, "y": 0, "no reference": 0}
    )
    gaps = {each.name: each.share for each in factors["recall", "gap before it"]}
    assert gaps["first of its class"] == pytest.approx(lost / 2)


# Means over time.


def as_timed(rows, make=Timed):
    file, label, onset, offset = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(4))
    codes = file.astype(np.int32), label.astype(np.int32)
    more = (onset * 1e-6, offset * 1e-6) if make is Events else ()
    return make(*codes, onset, offset, *more)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 12), st.integers(0, 6)).map(
        lambda r: (*r[:3], r[2] + r[3])
    ),
    max_size=10,
)


@given(ROWS)
def test_classes_at_once_are_classes_not_events(rows):
    """Events of one class that overlap count once; every tick is looked at."""
    found = classes_at_once(as_timed(rows, Events))
    for (file, _, onset, offset), mean in zip(rows, found.tolist(), strict=True):
        active = [
            len({label for f, label, a, b in rows if f == file and a <= t < b}) for t in range(onset, offset)
        ]
        wanted = Fraction(sum(active), len(active)) if active else 0
        assert abs(mean - float(wanted)) < 1e-12


@given(ROWS, ROWS, st.lists(st.integers(0, 10**6), min_size=10, max_size=10))
def test_the_mean_of_what_sounds_while_an_event_lasts(events, pieces, values):
    values = values[: len(pieces)]
    ours, theirs = as_timed(events), as_timed(pieces)
    groups = ours.file.astype(np.int64), theirs.file.astype(np.int64)
    found = mean_over(ours, theirs, np.array(values, dtype=np.int64), groups)
    for (file, _, onset, offset), mean in zip(events, found.tolist(), strict=True):
        total = sum(
            value * max(0, min(offset, b) - max(onset, a))
            for (f, _, a, b), value in zip(pieces, values, strict=True)
            if f == file
        )
        wanted = Fraction(total, offset - onset) if offset > onset else 0
        assert mean == float(wanted)


def test_equal_values_have_equal_means_in_a_table_of_years():
    """Sums over all of it would have lost the digits, or have too many for a whole number."""
    n = 200_000
    onset = np.arange(n, dtype=np.int64) * 10**9
    file = np.zeros(n, dtype=np.int32)
    length = np.random.default_rng(0).integers(1, 10**9, n)
    pieces = Activity(file, file, onset, onset + length, np.full(n, 0.7))
    at = file.astype(np.int64)
    assert float(onset[-1]) * 0.7e6 > 2**63
    assert {*mean_over(pieces, pieces, np.full(n, 700_000), (at, at)).tolist()} == {700_000.0}


def test_events_of_many_overlapping_pieces_are_not_refused():
    """A hundred thousand rows at one time: their pairs are ten thousand million."""
    n = 100_000
    file = np.zeros(n, dtype=np.int32)
    side = Timed(file, file, np.arange(n), np.arange(n) + n)
    at = file.astype(np.int64)
    found = mean_over(side, side, np.ones(n, dtype=np.int64), (at, at))
    # While the first lasts, one more begins at each tick.
    assert found[0] == (n + 1) / 2


@pytest.mark.parametrize(
    ("edges", "texts"),
    [
        ([0.3374, 1.5, 12.0], ["0.337", "1.5", "12"]),
        ([999.6, 1000.0, 12345.6], ["999.6", "1000", "12346"]),
        ([1234.4, 100000.0], ["1234", "100000"]),
        ([0.50001, 0.50002], ["0.50001", "0.50002"]),
        ([0.00001234], ["0.0000123"]),
        ([], []),
    ],
)
def test_edges_are_plain_numbers_that_differ(edges, texts):
    assert plain_numbers(edges) == texts
