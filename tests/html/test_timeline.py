"""Files over time as a page embeds them: which files, their values, and what becomes of their events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from embedded import revived
from laws import random_table
from tables import long_rows, wide_rows

from sedeval_soft import evaluate
from sedeval_soft.api.sources import to_rows
from sedeval_soft.evaluation.curves import curves_of
from sedeval_soft.evaluation.shard import shard_of
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.html.page_data import Packer, ReportInput
from sedeval_soft.html.timeline import STEPS, strips_of, thinned, timelines
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import Activity
from sedeval_soft.timeline.recordings import align

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data"


def random_rows(seed, **asked):
    return to_rows(random_table(seed, **asked), "table", Settings())


def shown(reference, system, count=100, files=(), systems=1, **values):
    """The timelines of two tables, as a page's scripts have them."""
    settings = Settings(**{"worst": 3, **values})
    pair = align(reference, system, settings)
    shard = shard_of(pair, (), settings, "system")
    material = ReportInput(
        score_shard(shard, "0"), pair, shard.tally, settings, curves_of(shard.tally, settings)
    )
    pack = Packer()
    return revived(timelines(material, pack, count, files, systems), pack.text())


def outcomes(found):
    """Hits, misses and false alarms of events and of segments over all files that are shown."""
    ours, theirs = (
        np.concatenate([file["events"][side]["partner"] for file in found["files"]])
        for side in ("reference", "system")
    )
    runs = [(file["segments"]["outcome"], file["segments"]["count"]) for file in found["files"]]
    return {
        "event": ((ours > 0).sum(), (ours == 0).sum(), (theirs == 0).sum()),
        "segment": tuple(sum(count[outcome == of].sum() for outcome, count in runs) for of in (3, 1, 2)),
    }


def counted(scores, basis):
    tp, n_ref, n_sys = (scores[f"{basis}.hard.{name}.micro"] for name in ("tp", "n_ref", "n_sys"))
    return tp, n_ref - tp, n_sys - tp


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("values", [{}, {"compat": "sed_eval"}, {"threshold": 0.2, "min_gap": 1.0}], ids=str)
def test_what_is_coloured_adds_up_to_the_scores(seed, values):
    sides = random_rows(seed), random_rows(seed + 10)
    found, scores = outcomes(shown(*sides, **values)), evaluate(*sides, **values)
    for basis in ("event", "segment"):
        assert found[basis] == counted(scores, basis)


def test_partners_are_within_collars_and_each_other_s():
    found = shown(random_rows(5, fine=True, n=80), random_rows(6, fine=True, n=80))
    pairs = 0
    for file in found["files"]:
        ours, theirs = file["events"]["reference"], file["events"]["system"]
        for i, partner in enumerate(ours["partner"]):
            if partner:
                j = int(partner) - 1
                assert theirs["partner"][j] == i + 1 and ours["label"][i] == theirs["label"][j]
                assert abs(int(ours["onset"][i]) - int(theirs["onset"][j])) <= 200_000
                pairs += 1
    assert pairs > 3


def test_only_what_is_evaluated_is_coloured():
    sides = random_rows(1), random_rows(2)
    found = shown(*sides, only=("event",))
    assert found["views"] == ["event"] and found["files"][0]["segments"] is None
    found = shown(*sides, only=("segment",))
    assert found["views"] == ["segment"]
    assert all(
        (file["events"][side]["partner"] == 0).all() for file in found["files"] for side in file["events"]
    )
    assert sum(len(file["events"]["reference"]["onset"]) for file in found["files"]) > 0
    assert shown(*sides, only=("intersection",))["views"] == []


# Which files.


def many(n, cost=lambda i: i):
    """Files of which each costs some seconds, all missed."""
    rows = [(f"f{i:03}", 0.0, 60.0, "x", 0.0) for i in range(n)]
    rows += [(f"f{i:03}", 0.0, float(cost(i)), "car", 1.0) for i in range(n) if cost(i)]
    return long_rows(rows), long_rows([(f"f{i:03}", 0.0, 60.0, "x", 0.0) for i in range(n)])


def test_few_files_are_all_shown():
    found = shown(*many(6), count=3)
    assert [file["name"] for file in found["files"]] == [f"f{i:03}" for i in range(6)]
    assert {file["why"] for file in found["files"]} == {"all"} and found["said"] == "All 6 files."


def test_of_many_files_those_that_cost_most_and_some_at_random():
    found = shown(*many(49), count=5, worst=0)
    why = [file["why"] for file in found["files"]]
    assert why == ["cost"] * 5 + ["random"] * 5
    assert [file["name"] for file in found["files"][:5]] == ["f048", "f047", "f046", "f045", "f044"]
    assert [file["cost"] for file in found["files"][:2]] == [48.0, 47.0]
    assert found["said"] == "10 of 49 files: the 5 that cost most and 5 drawn at random."
    assert len({file["name"] for file in found["files"]}) == 10


def test_the_sample_is_the_seed_s():
    names = [[f["name"] for f in shown(*many(49), count=5, seed=seed)["files"]] for seed in (0, 0, 1)]
    assert names[0] == names[1] != names[2]


def test_files_of_the_worst_segments_and_those_asked_for_are_shown():
    rows, system = many(40)
    rows = long_rows(
        [(rows.files[f], a, b, rows.classes[c], v) for f, a, b, c, v in
         zip(rows.file, rows.onset, rows.offset, rows.label, rows.value, strict=True)]
        + [("f003", 1.0, 2.0, "dog", 1.0), ("f003", 1.0, 2.0, "cat", 1.0)]
    )  # fmt: skip
    found = shown(rows, system, count=2, worst=1, files=["f010", "f039", "not there"])
    by = {file["name"]: file["why"] for file in found["files"]}
    assert by["f010"] == by["f039"] == "asked" and by["f038"] == "cost" and by["f003"] == "segments"
    assert list(by)[:2] == ["f010", "f039"]
    assert found["said"] == (
        "6 of 40 files: 2 asked for, the one that costs most, one more with segments that cost most "
        "and 2 drawn at random. Not evaluated, but asked for: not there."
    )
    none = shown(rows, system, count=0, files=["f010"])
    assert [file["name"] for file in none["files"]] == ["f010"]


def test_nothing_at_all():
    nothing = long_rows([])
    assert shown(nothing, nothing)["files"] == []
    found = shown(long_rows([], files=("a",)), nothing)
    assert found["files"][0]["length"] == 0
    assert len(found["files"][0]["strips"]["system"]["value"]) == 0


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a\u202eb", "\udc80", "a\x1b[31m", "x" * 300])
def test_names_are_harmless(name):
    found = shown(long_rows([(name, 0.0, 1.0, name, 1.0)]), long_rows([]))
    for text in (found["files"][0]["name"], found["classes"][0]):
        text.encode("utf-8")
        assert not {*text} & {"\u202e", "\x1b", "\udc80"}


# Values.


def value_at(strip, label, tick):
    """What is drawn of a class at some tick."""
    labels, first = strip["label"].tolist(), strip["first"]
    if label not in labels:
        return 0.0
    own = slice(*first[labels.index(label) :][:2])
    place = np.searchsorted(np.cumsum(strip["width"][own].astype(float)), tick, side="right")
    return strip["value"][own][place] / STEPS


@pytest.mark.parametrize("wide", [False, True])
def test_values_are_those_of_the_tables(wide):
    if wide:
        rng = np.random.default_rng(0)
        reference, system = (wide_rows(np.round(rng.random((40, 3)), 2), files=2) for _ in range(2))
    else:
        reference, system = random_rows(3), random_rows(4)
    found = shown(reference, system)
    looked = 0
    for side, rows in (("reference", reference), ("system", system)):
        pieces = Activity.of_table(rows)
        for file in found["files"]:
            for label, name in enumerate(found["classes"]):
                for second in range(int(file["length"])):
                    tick = second * 1_000_000 + 500_000
                    there = (pieces.file == rows.files.index(file["name"])) & (pieces.onset <= tick)
                    there &= (pieces.offset > tick) & (pieces.label == rows.classes.index(name))
                    wanted = pieces.value[there].max(initial=0.0)
                    assert value_at(file["strips"][side], label, tick) == pytest.approx(wanted, abs=1e-5)
                    looked += wanted > 0
    assert looked > 60


def test_events_beyond_the_end_of_a_file_are_within_what_is_shown():
    settings = Settings(worst=3)
    rows = long_rows([("a", 0.0, 9.0, "car", 1.0)])
    pair = align(rows, rows, settings, {"a": 5.0})
    shard = shard_of(pair, (), settings, "s")
    material = ReportInput(
        score_shard(shard, "0"), pair, shard.tally, settings, curves_of(shard.tally, settings)
    )
    pack = Packer()
    found = revived(timelines(material, pack, 3), pack.text())
    assert found["files"][0]["length"] == 9.0


@pytest.mark.parametrize("end", [1_000, 999_983, 30_000_000])
@pytest.mark.parametrize("most", [0, 400, 1000])
def test_too_many_values_become_steps_of_the_highest(end, most):
    rng = np.random.default_rng(end)
    n = 1000
    edges = np.unique(np.concatenate(([0], rng.integers(1, end, n), [end])))
    n = len(edges) - 1
    file = np.zeros(2 * n, dtype=np.int32)
    label = np.repeat(np.array([1, 4], dtype=np.int32), n)
    value = rng.integers(0, 10, 2 * n) / 10
    pieces = Activity(file, label, np.tile(edges[:-1], 2), np.tile(edges[1:], 2), value)
    whole = strips_of(pieces, np.array([end]))
    found, step = thinned(whole, np.array([end]), most)
    assert 0 < len(found.width) <= max(most, 400) < len(whole.width) and step[0] > 0
    for c in (1, 4):
        own, before = found.label == c, whole.label == c
        assert found.width[own].sum() == end
        until, exact = np.cumsum(found.width[own]), np.cumsum(whole.width[before])
        for tick in rng.integers(0, end, 50):
            begin = tick // step[0] * step[0]
            first, last = np.searchsorted(exact, [begin, min(begin + step[0], end) - 1], side="right")
            drawn = found.value[own][np.searchsorted(until, tick, side="right")]
            assert drawn == whole.value[before][first : last + 1].max()


def test_long_files_keep_their_times():
    found = shown(long_rows([("a", 9000.0, 9001.5, "car", 1.0)]), long_rows([("a", 0.0, 1.0, "car", 1.0)]))
    event = found["files"][0]["events"]["reference"]
    assert (event["onset"][0], event["offset"][0]) == (9_000_000_000, 9_001_500_000)
    assert found["files"][0]["strips"]["reference"]["width"].tolist() == [9_000_000_000, 1_500_000]


def test_systems_share_the_room_of_a_page(monkeypatch):
    monkeypatch.setattr("sedeval_soft.html.timeline._PIECES", 4000)
    sides = [wide_rows(np.random.default_rng(side).random((700, 1))) for side in range(2)]
    alone, shared = (shown(*sides, systems=systems)["files"][0] for systems in (1, 10))
    assert alone["steps"]["system"] == 0.0 and shared["steps"]["system"] == 5.0
    assert len(shared["strips"]["system"]["value"]) < len(alone["strips"]["system"]["value"])
    assert (shared["events"]["system"]["onset"] == alone["events"]["system"]["onset"]).all()
