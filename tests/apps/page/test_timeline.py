"""Files over time as a page embeds them: the files that it chooses, their values and their events."""

import json
from itertools import product

import numpy as np
import pytest
from embedded import revived
from tables import long_rows, random_rows, wide_rows

from sedeval_soft.apps.page.page_data import Packer, ReportInput
from sedeval_soft.apps.page.timeline import (
    FALSE_ALARM,
    HIT,
    MISS,
    STEPS,
    event_outcomes,
    segment_outcomes,
    strips_of,
    thinned,
    timelines,
)
from sedeval_soft.evaluation import score_shard, shard_of, tally_pair
from sedeval_soft.settings import Settings
from sedeval_soft.timeline import Activity, align


def shown(reference, system, count=100, files=(), systems=1, durations=None, **values):
    """Return the timelines of two tables, as the scripts of a page read them."""
    settings, pack = Settings(**{"worst": 3, **values}), Packer()
    pair = align(reference, system, settings, durations)
    shard = shard_of(pair, (), "system")
    inputs = ReportInput(score_shard(shard, "0"), pair, shard.tally, settings)
    found = timelines(inputs, pack, count, files, systems)
    return revived(json.dumps(found), pack.text())


@pytest.mark.parametrize("basis", ["event", "segment", "intersection"])
def test_events_have_partners_on_the_other_side(basis):
    found, hits = shown(*(random_rows(seed, fine=True, n=80) for seed in (5, 6)), only=(basis,)), 0
    assert found["views"] == [basis] * (basis != "intersection")
    for ours, theirs in (file["events"].values() for file in found["files"]):
        for at, partner in enumerate(ours["partner"].tolist(), 1):
            assert not partner or theirs["partner"][partner - 1] == at
            assert not partner or theirs["label"][partner - 1] == ours["label"][at - 1]
            hits += partner > 0
    assert (hits > 3) == (basis == "event")


@pytest.mark.parametrize(
    "values",
    [
        {}, {"threshold": 0.3, "reference_threshold": 0.7, "inclusive": True}, {"matching": "greedy"},
        {"compat": "sed_eval"}, {"compat": "sed_eval", "matching": "greedy", "segment_length": 0.7},
        {"pool": "mean", "segment_length": 0.3}, {"segment_length": 0.1, "events": "rows"},
        {"min_gap": 0.4, "min_duration": 0.5, "events": "merge"}, {"threshold": 0.0},
        {"onset_collar": 2.0, "offset": False},
        {"regions": {"a": [(2.5, 4.2), (7, 9)], "b": [(0, 3), (10.5, 20)], "c": [(1, 2)]}},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(("seed", "binary"), [(0, False), (1, False), (2, True), (0, None)])
def test_outcomes_add_up_to_the_counts_of_the_hard_reading(values, seed, binary):
    made = Settings(**values)
    sides = [random_rows(2 * seed + k, binary=bool(binary), n=60, fine=bool(seed % 2)) for k in range(2)]
    pair = align(sides[0], long_rows([]) if binary is None else sides[1], made)
    expected = tally_pair(pair).per_class

    def check(name, file, label, weight=1):
        sums = np.zeros((len(pair.files), len(pair.classes)), dtype=int)
        np.add.at(sums, (file, label), weight)
        assert sums.tolist() == expected[name].tolist()

    events = event_outcomes(pair, made)
    for name, (of, partner) in zip(("n_ref", "n_sys"), events, strict=True):
        check(f"event.hard.{name}", of.file, of.label)
        check("event.hard.tp", of.file[partner >= 0], of.label[partner >= 0])
    for ours, theirs in enumerate(events[0][1]):
        assert theirs < 0 or events[1][1][theirs] == ours
    segments = segment_outcomes(pair, made)
    for name, outcomes in {"tp": [HIT], "n_ref": [HIT, MISS], "n_sys": [HIT, FALSE_ALARM]}.items():
        at = np.isin(segments["outcome"], outcomes)
        check(f"segment.hard.{name}", *(segments[column][at] for column in ("file", "label", "count")))


def many(n, more=()):
    """Return both sides of n files: the system misses i seconds of file i, and the rows in `more`."""
    rows = [(f"f{i:03}", 0.0, 60.0, "x", 0.0) for i in range(n)]
    costs = [(f"f{i:03}", 0.0, float(i), "car", 1.0) for i in range(1, n)]
    return long_rows([*rows, *costs, *more]), long_rows(rows)


DOUBLE = [("f003", 1.0, 2.0, "dog", 1.0), ("f003", 1.0, 2.0, "cat", 1.0)]
CHOSEN = {
    "few": (many(6), {"count": 3}, ["all"] * 6, [], 6),
    "many": (
        many(49), {"count": 5, "worst": 0}, ["cost"] * 5 + ["random"] * 5,
        ["f048", "f047", "f046", "f045", "f044"], 49,
    ),
    "asked": (
        many(40, DOUBLE), {"count": 2, "worst": 1, "files": ["f010", "f039", "not there"]},
        ["asked", "asked", "cost", "segments", "random", "random"], ["f010", "f039", "f038", "f003"], 40,
    ),
    "alone": (many(40), {"count": 0, "files": ["f010"]}, ["asked"], [], 40),
    "none": ((long_rows([]), long_rows([])), {}, [], [], 0),
}  # fmt: skip


@pytest.mark.parametrize("case", CHOSEN)
def test_files_that_cost_most_some_at_random_and_those_asked_for_are_shown(case):
    sides, values, why, first, n_files = CHOSEN[case]
    found = shown(*sides, **values)
    names = [file["name"] for file in found["files"]]
    assert [file["why"] for file in found["files"]] == why
    assert found["said"].startswith(f"{len(why)} of {n_files} files")
    assert len({*names}) == len(names) and names[: len(first)] == first
    if case == "many":
        assert [file["cost"] for file in found["files"][:2]] == [48.0, 47.0]
        same, other = ([f["name"] for f in shown(*sides, **values, seed=seed)["files"]] for seed in (0, 1))
        assert same == names != other


def values_of(strip, ticks):
    """Return the values drawn at some ticks, for each class that is not silent."""
    found = {}
    for label, first, last in zip(strip["label"].tolist(), strip["first"], strip["first"][1:], strict=False):
        ends = np.cumsum(strip["width"][first:last].astype(float))
        found[label] = strip["value"][first:last][np.searchsorted(ends, ticks, side="right")] / STEPS
    return found


@pytest.mark.parametrize(
    "sides",
    [
        [random_rows(3), random_rows(4)],
        [wide_rows(np.random.default_rng(k).random((40, 3)).round(2), files=2) for k in range(2)],
    ],
    ids=["long", "wide"],
)
def test_values_are_those_of_the_tables(sides):
    found, looked = shown(*sides), 0
    for (side, rows), file in product(zip(("reference", "system"), sides, strict=True), found["files"]):
        pieces, ticks = (
            Activity.of_table(rows),
            np.arange(500_000, int(file["length"]) * 1_000_000, 1_000_000),
        )
        drawn = values_of(file["strips"][side], ticks)
        for label, name in enumerate(found["classes"]):
            own = (pieces.file == rows.files.index(file["name"])) & (pieces.label == rows.classes.index(name))
            inside = (pieces.onset[own, None] <= ticks) & (pieces.offset[own, None] > ticks)
            wanted = np.max(pieces.value[own, None] * inside, axis=0, initial=0.0)
            assert drawn.get(label, np.zeros(len(ticks))) == pytest.approx(wanted, abs=1e-5)
            looked += np.count_nonzero(wanted)
    assert looked > 60


def test_long_files_and_events_beyond_their_ends_keep_their_times():
    late, early = (long_rows([("a", *times, "car", 1.0)]) for times in ((9000.0, 9001.5), (0.0, 1.0)))
    (file,) = shown(late, early, durations={"a": 9000.5})["files"]
    event = file["events"]["reference"]
    assert (event["onset"][0], event["offset"][0], file["length"]) == (9_000_000_000, 9_001_500_000, 9001.5)
    assert file["strips"]["reference"]["width"].tolist()[0] == 9_000_000_000
    (file,) = shown(long_rows([], files=("a",)), long_rows([]))["files"]
    assert file["length"] == len(file["strips"]["system"]["value"]) == 0


@pytest.mark.parametrize("end", [1_000, 999_983, 30_000_000])
@pytest.mark.parametrize("most", [0, 400, 1000])
def test_too_many_values_become_steps_of_the_highest(end, most):
    rng = np.random.default_rng(end)
    edges = np.unique([0, *rng.integers(1, end, 1000), end])
    n = len(edges) - 1
    file, label = np.zeros(2 * n, dtype=np.int32), np.repeat(np.array([1, 4], dtype=np.int32), n)
    times = np.tile(edges[:-1], 2), np.tile(edges[1:], 2)
    whole = strips_of(Activity(file, label, *times, rng.integers(0, 10, 2 * n) / 10), np.array([end]))
    found, step = thinned(whole, np.array([end]), most)
    assert 0 < len(found.width) <= max(most, 400) < len(whole.width) and step[0] > 0
    for before, after in ((whole.take(whole.label == c), found.take(found.label == c)) for c in (1, 4)):
        until, exact = np.cumsum(after.width), np.cumsum(before.width)
        assert until[-1] == end
        for tick in rng.integers(0, end, 50):
            begin = tick // step[0] * step[0]
            first, last = np.searchsorted(exact, [begin, min(begin + step[0], end) - 1], side="right")
            drawn = after.value[np.searchsorted(until, tick, side="right")]
            assert drawn == before.value[first : last + 1].max()


def test_systems_share_the_room_of_a_page(monkeypatch):
    monkeypatch.setattr("sedeval_soft.apps.page.timeline._PIECES", 4000)
    sides = [wide_rows(np.random.default_rng(side).random((700, 1))) for side in range(2)]
    alone, shared = (shown(*sides, systems=systems)["files"][0] for systems in (1, 10))
    assert (alone["steps"]["system"], shared["steps"]["system"]) == (0.0, 5.0)
    assert len(shared["strips"]["system"]["value"]) < len(alone["strips"]["system"]["value"])
    assert (shared["events"]["system"]["onset"] == alone["events"]["system"]["onset"]).all()
    # Files share this room as well.
    sides = [wide_rows(np.random.default_rng(side).random((2800, 1)), files=4) for side in range(2)]
    assert all(file["steps"]["system"] > 0 for file in shown(*sides)["files"])
