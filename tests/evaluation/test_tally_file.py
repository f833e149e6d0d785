"""Tally files: what is written is read back to the last bit."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from shards import EVERYTHING, ODD, PACKED, WHOLE, same, same_array, shard
from tables import long_rows, wide_rows

from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.scores import score_tally
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.evaluation.tally_file import EVENT_KINDS, _head, pack_shard, unpack_shard
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.recordings import align

SETTINGS = [
    {},
    {"only": "all", "measures": "all", "psds": "dcase-psds1"},
    {"only": ["segment", "event"], "compat": "sed_eval", "matching": "greedy", "events": "rows"},
    {"psds_median_filters": [0.5, 1e-6, 0.1 + 0.2], "only": ["intersection"]},
    {"median_filter": {"dog": 0.3, "car": 1 / 3}, "min_gap": 0.25, "min_duration": {"\udcff": 1}},
    {"classes": ["dog", "\udcff", "car"], "strict": True, "pool": "mean", "t_norm": "product"},
    {"groups": {"z": ["dog", "car"], "a": "car"}, "scenes": {"home": ["a*", "\udcff?"], "b": "[ab]"}},
    {
        "ci": "bca",
        "replicates": 7,
        "confidence": 0.1,
        "seed": 2**62 + 1,
        "fixed_thresholds": True,
        "worst": 3,
    },
    {"dtc": 0.1, "gtc": 1 / 3, "cttc": 1, "alpha_ct": 0, "alpha_st": 1, "max_efpr": 50},
    {"threshold": np.float64(1 / 3), "reference_threshold": 1e-300, "beta": 2, "iou": 1, "inclusive": True},
    {"segment_length": 0.1 + 0.2, "onset": False, "bins": 3, "entropy_unit": "bits", "epsilon": 1e-9},
]


@pytest.mark.parametrize("asked", SETTINGS, ids=str)
def test_a_shard_is_read_back_to_the_last_bit(asked):
    ours = shard(Settings.of(**asked))
    theirs = unpack_shard("t", pack_shard(ours, "0.1"))
    assert same(ours, theirs)
    # Columns are in another order: scores do not depend on it.
    assert repr(score_tally(ours.tally, ours.settings)) == repr(score_tally(theirs.tally, theirs.settings))
    assert Shard.merge([theirs, shard(ours.settings, ("d", "e"), 5)]).tally.files == tuple("abcde")


@pytest.mark.parametrize("matching", ["optimal", "greedy"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_counted_can_be_read(seed, matching):
    made = Settings.of(**EVERYTHING, matching=matching, pool="mean", psds_median_filters=[0.4])
    ours = shard(made, ("a", "b"), seed)
    assert same(ours, unpack_shard("t", pack_shard(ours, "0.1")))


def test_wide_tables_have_nested_lifetimes():
    values = np.random.default_rng(0).random((30, 2))
    made = Settings.of(**EVERYTHING)
    pair = align(wide_rows(values, files=3), wide_rows(values[::-1], files=3), made)
    tally = tally_pair(pair, made)
    assert tally.events["system"].nested and not tally.events["reference"].nested
    ours = Shard(made, "s", tally, {}, pair.findings, ())
    assert same(ours, unpack_shard("t", pack_shard(ours, "0.1")))


def test_operating_points_stand_a_breath_above_1():
    events = EventLifetimes(
        *(np.zeros(1, dtype=np.int32),) * 2,
        *(np.array([0]), np.array([5]), np.zeros(1), np.nextafter(np.ones(1), 2)),
    )
    made = Settings()
    tally = Tally(("a",), ("x",), events={"system": events}, recipe="")
    ours = Shard(made, "s", tally, {}, AlignmentReport(), ())
    assert same(ours, unpack_shard("t", pack_shard(ours, "0.1")))


def test_odd_names_and_missing_numbers_are_kept():
    assert same(unpack_shard("t", PACKED), WHOLE)
    assert unpack_shard("t", PACKED).tally.files == tuple(sorted(ODD))
    assert np.isnan(unpack_shard("t", PACKED).tally.per_class["segment.soft.kl_divergence"]).sum() == 1


def test_the_empty_shard_is_kept():
    for asked in ({}, {"groups": {"g": ["x"]}}):
        made = Settings.of(**asked)
        empty = Shard(made, "", Tally(), {name: Tally() for name in made.groups}, AlignmentReport(), ())
        assert same(unpack_shard("t", pack_shard(empty, "0.1")), empty)
    nothing = tally_pair(align(long_rows([]), long_rows([]), Settings()), Settings())
    ours = Shard(Settings(), "", nothing, {}, AlignmentReport(), (), {})
    assert same(unpack_shard("t", pack_shard(ours, "0.1")), ours)


def reversed_dict(values: Mapping) -> dict:
    return dict(reversed(list(values.items())))


def test_the_same_shard_gives_the_same_bytes():
    groups = {
        name: replace(tally, per_class=reversed_dict(tally.per_class)) for name, tally in WHOLE.groups.items()
    }
    t = WHOLE.tally
    kinds = ("per_class", "per_file", "samples", "events")
    other = replace(
        WHOLE,
        tally=replace(t, **{kind: reversed_dict(getattr(t, kind)) for kind in kinds}),
        groups=reversed_dict(groups),
        durations=reversed_dict(WHOLE.durations),
        findings=replace(WHOLE.findings, beyond=reversed_dict(WHOLE.findings.beyond)),
    )
    assert pack_shard(other, "0.1") == PACKED
    # In memory the columns of C and of Fortran are one.
    columns = {name: np.asfortranarray(column) for name, column in t.per_class.items()}
    assert pack_shard(replace(WHOLE, tally=replace(t, per_class=columns)), "0.1") == PACKED
    assert pack_shard(WHOLE, "0.2") != PACKED


def test_sets_give_the_same_bytes_in_every_process():
    code = "import hashlib, shards; print(hashlib.sha256(shards.PACKED).hexdigest())"
    folders = [str(Path(__file__).parent), *sys.path]
    digests = set()
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(folders)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_numpy_reads_the_columns():
    found = np.load(io.BytesIO(PACKED), allow_pickle=False)
    assert same_array(found["whole/per_class/segment.hard.tp"], WHOLE.tally.per_class["segment.hard.tp"])
    assert same_array(found["whole/samples/segment.system"], WHOLE.tally.samples["segment.system"])
    # Groups are in the order of their names.
    assert same_array(found["group1/per_file/length"], WHOLE.groups["a"].per_file["length"])
    assert json.loads(found["header.json"].decode("utf-8", "surrogatepass"))["written_by"] == "0.1"


@pytest.mark.parametrize("kind", ["bool", "int32", "int64", "float64"])
@pytest.mark.parametrize("shape", [(0,), (7,), (3, 2), (0, 5), (10**6, 17)])
def test_heads_are_those_of_numpy(kind, shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream,
        {"descr": _head(kind, shape).split(b"'")[3].decode(), "fortran_order": False, "shape": shape},
    )
    ours = _head(kind, shape)
    assert ours[10:].split() == stream.getvalue()[10:].split()
    assert len(ours) % 64 == 0


def test_all_fields_of_events_are_written():
    assert [*EVENT_KINDS, "nested"] == [field.name for field in fields(EventLifetimes)]


def test_cells_are_compressed():
    made = Settings.of(only=["segment.optimal"])
    values = np.zeros((100_000, 1))
    pair = align(wide_rows(values), wide_rows(values), made)
    assert (
        len(pack_shard(Shard(made, "s", tally_pair(pair, made), {}, AlignmentReport(), ()), "0.1")) < 20_000
    )


def test_what_no_file_can_hold_is_not_written():
    tally = WHOLE.groups["a"]
    other = Tally(("q",), ("car",), recipe=tally.recipe)
    with pytest.raises(ValueError, match="other files"):
        pack_shard(replace(WHOLE, groups={**WHOLE.groups, "a": other}), "0.1")
    for column in (np.array([1], dtype=np.float32), np.array([None])):
        odd = Shard(
            Settings(), "s", Tally(("q",), (), per_file={"x": column}, recipe=""), {}, AlignmentReport(), ()
        )
        with pytest.raises(ValueError, match="column x is of"):
            pack_shard(odd, "0.1")
    odd = Shard(
        Settings(), "s", Tally((), (), per_file={"../x": np.zeros(0)}, recipe=""), {}, AlignmentReport(), ()
    )
    with pytest.raises(ValueError, match="not the name of a column"):
        pack_shard(odd, "0.1")


def test_settings_that_are_equal_are_made_of_their_fields():
    for asked in SETTINGS:
        made = Settings.of(**asked)
        values = {field.name: getattr(made, field.name) for field in fields(made)}
        assert Settings.of(**json.loads(json.dumps(values))) == made
