"""Best thresholds and PSDS found batch by batch, from the disk: the bytes of all batches at once."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from drawn_again import FILES, Tables, random_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import long_rows
from test_evaluator import batch_of

from sedeval_soft import EvaluationError, __version__
from sedeval_soft.api import read_parts, shard_of_rows
from sedeval_soft.core.shard import Shard
from sedeval_soft.formats import pack_shard
from sedeval_soft.measures import descent
from sedeval_soft.report import render
from sedeval_soft.run import batches, levels, waited, waited_psds
from sedeval_soft.run.batches import Keeper, can_wait
from sedeval_soft.run.evaluation import score_shard
from sedeval_soft.run.waited import joined
from sedeval_soft.run.workers import Workers
from sedeval_soft.settings import Settings

BASES = ("segment", "event", "intersection", "clip")
WAITING = {
    "all": Settings(only=BASES),
    "optimal alone": Settings(only=tuple(f"{basis}.optimal" for basis in BASES)),
    "another F": Settings(only=BASES, beta=0.3, inclusive=True),
    "rows are events": Settings(only=BASES, events="rows", beta=3.0, reference_threshold=0.2),
    "parts": Settings(
        only=BASES, groups={"animals": ("dog",), "two": ("rain", "car")},
        scenes={"first": ("[ab]",), "rest": ("[!a]",)},
    ),
    "given thresholds": Settings(only=BASES, thresholds={"dog": 0.3, "car": 0.0}),
    "no onsets": Settings(only=("event",), onset=False, reference_threshold=0.1, inclusive=True),
    "psds": Settings(only=("intersection",), psds="dcase-psds1"),
    "psds with cross triggers": Settings(only=BASES, psds="dcase-psds2", max_efpr=2000.0),
    "psds of rows and parts": Settings(
        only=("intersection.hard",), psds="dcase-psds2", events="rows", max_efpr=5000.0, gtc=0.2, dtc=0.2,
        cttc=0.1, groups={"two": ("rain", "car")}, scenes={"first": ("[ab]",), "rest": ("[!a]",)},
    ),
    "median filters": Settings(only=("intersection",), psds_median_filters=(3.0, 0.0, 5.0), alpha_ct=1.0),
    "cut high": Settings(only=BASES, reference_threshold=0.97),
}  # fmt: skip


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Very few levels are held at a time."""
    monkeypatch.setattr(batches, "_BUNDLE", 1)
    for module in (levels, waited, waited_psds):
        monkeypatch.setattr(module, "entries", lambda: FEW[0])
    monkeypatch.setattr(descent, "EDGES", 4)


FEW = [3]


def both(tables, made, order, cuts, folder, room=0):
    """Return what is shown of batches that wait, and of all of them at once."""
    edges = [0, *sorted(set(cuts)), len(order)]
    named = [order[a:b] for a, b in itertools.pairwise(edges)]
    shards = [shard_of_rows(*batch_of(tables, files), made, batch=True) for files in named]
    shard = waiting(shards, folder, room)
    assert not shard.tally.samples and not shard.tally.events
    return [render([score_shard(of, __version__)], "json") for of in (shard, Shard.merge(shards))]


def waiting(shards, folder, room=0):
    keeper = Keeper(folder, room)
    with Workers(1) as workers:
        return joined([keeper.keep(shard) for shard in shards], folder, workers, None)


def test_what_was_scored_already_is_not_parted_saved_or_merged(tmp_path):
    tables = random_tables(1)
    shards = [shard_of_rows(*batch_of(tables, files), Settings(), batch=True) for files in ("ab", "cde")]
    shard = waiting(shards, tmp_path)
    folds = read_parts({file: "xy"[file > "b"] for file in FILES}, "folds", FILES)
    for how in ({"folds": folds}, {"by": folds}):
        with pytest.raises(EvaluationError, match="not saved, merged or parted"):
            score_shard(shard, __version__, **how)
    with pytest.raises(EvaluationError, match="not saved, merged or parted"):
        pack_shard(shard, __version__)
    with pytest.raises(EvaluationError, match="not saved, merged or parted"):
        Shard.merge([shard, shards[0]])


@pytest.mark.parametrize("chosen", WAITING)
@settings(max_examples=5)
@given(
    seed=st.integers(0, 2**20),
    form=st.sampled_from(["tied", "fine"]),
    n=st.integers(6, 50),
    order=st.permutations(FILES),
    cuts=st.lists(st.integers(1, len(FILES) - 1), max_size=4),
    most=st.sampled_from([1, 2, 5, 9, 30, 10**6]),
    room=st.sampled_from([0, 0, 2000]),
    bundled=st.booleans(),
)
def test_batches_that_wait_give_the_same_bytes(
    chosen, seed, form, n, order, cuts, most, room, bundled, tmp_path_factory
):
    FEW[0] = most
    batches._BUNDLE = 1 if bundled else 1 << 60
    made = WAITING[chosen]
    assert can_wait(made)
    tables = random_tables(seed, form, n)
    if made.groups:
        known = {*tables.reference.classes, *tables.system.classes}
        made = replace(made, groups={name: of for name, of in made.groups.items() if {*of} <= known})
    ours, theirs = both(tables, made, order, cuts, tmp_path_factory.mktemp("scratch"), room)
    assert ours == theirs


HOSTILE = {
    "nothing": ([], []),
    "no reference": ([], [("a", 0.0, 2.0, "dog", 0.7), ("b", 0.0, 1.0, "<b>", 0.0)]),
    "no system": ([("a", 0.0, 2.0, "dog", 0.7), ("b", 1.0, 1.0, "car", 1.0)], []),
    "no time": ([("a", 0.0, 0.0, "dog", 0.7)], [("b", 0.0, 0.0, "dog", 0.7)]),
    "all alike": ([(f, 0.0, 3.0, "dog", 1.0) for f in "abc"], [(f, 0.0, 3.0, "dog", 1.0) for f in "abc"]),
    "silence": ([(f, 0.0, 3.0, "dog", 0.0) for f in "ab"], [(f, 0.0, 3.0, "dog", 0.0) for f in "ab"]),
    "tiny and repeated": (
        [("a", 0.0, 5.0, "dog", 1.0), ("b", 0.0, 5.0, "dog", 5e-324)],
        [("a", 0.5 * k, 0.5 * k + 1, "dog", v) for k, v in enumerate([5e-324, 1e-300, 0.5, 0.5, 1.0])] * 2,
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("only", [("segment", "clip"), ("event", "intersection")])
@pytest.mark.parametrize("inclusive", [True, False])
def test_what_there_is_little_of(kind, only, inclusive, tmp_path):
    reference, system = HOSTILE[kind]
    files = tuple("abcde")
    sides = (long_rows(rows, files=files) for rows in (reference, system))
    tables = Tables(*(side if len(side) else replace(side, values=(np.zeros(0),)) for side in sides))
    psds = "dcase-psds2" if only[0] == "event" else None
    for made in (Settings(only=only, inclusive=inclusive, psds=psds), Settings(only=only, events="rows")):
        ours, theirs = both(tables, made, FILES, [1, 2], tmp_path)
        assert ours == theirs
