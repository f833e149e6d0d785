"""Tally files: what is written is read back to the last bit, and what was not written is refused."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft.core.errors import InputError, SettingsError
from sedeval_soft.core.findings import Findings
from sedeval_soft.core.lifetimes import EventLifetimes
from sedeval_soft.core.pair import align, with_classes
from sedeval_soft.core.settings import Settings
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.tally import Tally
from sedeval_soft.core.value import Input
from sedeval_soft.formats import pack_shard, unpack_shard
from sedeval_soft.formats.members import Spec
from sedeval_soft.formats.tally_file import _EVENT_KINDS
from sedeval_soft.run.scoring import score_tally
from sedeval_soft.run.single import recipe_of, tally_pair

ODD = ("", "\ud800\udc00", "\udcff.wav", "a\0b", "scène/ü 1.wav", 'tab\t"quote"', "\U0001f600", "…@[x]")
EVERYTHING = {"only": ("all",), "measures": ("all",), "max_efpr": 100.0}


def rows(seed: int, files: tuple[str, ...], n: int = 12):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        onset = float(rng.integers(0, 90)) / 10
        label = str(rng.choice(["car", "dog", "b\u00ebll"]))
        value = float(rng.choice([rng.random(), 0.5, 1.0]))
        found.append((str(rng.choice(files[:-1] or files)), onset, onset + 0.7, label, value))
    return long_rows(found, files=files)


def shard(made: Settings, files: tuple[str, ...] = ("a", "b", "c"), seed: int = 0, **parts) -> Shard:
    pair = align(rows(seed, files), rows(seed + 1, files), made)
    groups = {
        name: tally_pair(with_classes(pair, tuple(c for c in labels if c in pair.classes)), made)
        for name, labels in made.groups.items()
    }
    inputs = (Input("r.tsv", "reference", "0" * 64, 12, 3, 3, "long", True, "merge", ("scène",)),)
    whole = Shard(made, "sys\udcff", tally_pair(pair, made), groups, pair.findings, inputs)
    return replace(whole, **parts)


def same_array(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape) and ours.tobytes() == theirs.tobytes()


def same_tally(ours: Tally, theirs: Tally) -> bool:
    if (ours.files, ours.classes, ours.recipe) != (theirs.files, theirs.classes, theirs.recipe):
        return False
    for group in ("per_class", "per_file", "samples"):
        mine, other = getattr(ours, group), getattr(theirs, group)
        if set(mine) != set(other) or not all(same_array(mine[name], other[name]) for name in mine):
            return False
    return set(ours.events) == set(theirs.events) and all(
        ours.events[name].nested is theirs.events[name].nested
        and all(
            same_array(getattr(ours.events[name], at), getattr(theirs.events[name], at))
            for at in _EVENT_KINDS
        )
        for name in ours.events
    )


def same(ours: Shard, theirs: Shard) -> bool:
    plain = [
        (s.settings, s.system, list(s.groups), s.findings, s.inputs, s.durations, recipe_of(s.settings))
        for s in (ours, theirs)
    ]
    tallies = [
        (ours.tally, theirs.tally),
        *((ours.groups[name], theirs.groups[name]) for name in ours.groups),
    ]
    return plain[0] == plain[1] and all(same_tally(a, b) for a, b in tallies)


def refused(data: bytes, expected: str) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        unpack_shard("t.tally", data)
    assert str(caught.value).startswith("t.tally: ")


def remade(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """Return a tally file whose members were changed: a whole zip, with right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def with_header(data: bytes, change: Callable[[dict], object]) -> bytes:
    """Return a tally file whose header was changed, or replaced where something is returned."""

    def edit(members: dict[str, bytes]) -> None:
        header = json.loads(members["header.json"].decode("utf-8", "surrogatepass"))
        new = change(header)
        members["header.json"] = json.dumps(header if new is None else new).encode()

    return remade(data, edit)


def with_array(data: bytes, name: str, change: Callable[[np.ndarray], np.ndarray]) -> bytes:
    """Return a tally file with one other array, written by numpy itself."""

    def edit(members: dict[str, bytes]) -> None:
        stream = io.BytesIO()
        np.save(stream, change(np.load(io.BytesIO(members[f"{name}.npy"]))), allow_pickle=True)
        members[f"{name}.npy"] = stream.getvalue()

    return remade(data, edit)


def put(values: object) -> Callable[[np.ndarray], np.ndarray]:
    """Return a change of the last number of an array."""

    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.reshape(-1)[-1:] = values
        return array

    return change


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
@pytest.mark.parametrize("seed", range(10))
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
    ours = Shard(made, "s", tally, {}, Findings(), ())
    assert same(ours, unpack_shard("t", pack_shard(ours, "0.1")))


def full() -> Shard:
    """A shard with something in every place."""
    made = Settings.of(**EVERYTHING, groups={"z": ["dog", "car"], "a": ["car"]}, psds_median_filters=[0.5])
    found = Findings(
        missing=frozenset({"\udcff", "b"}),
        notes=frozenset({"n"}),
        system_classes=frozenset({"car"}),
        beyond={"system": (3, 0.1 + 0.2), "reference": (1, 7.0)},
    )
    whole = shard(made, tuple(sorted(ODD)), durations=dict.fromkeys(ODD, 1 / 3), findings=found)
    nan = whole.tally.per_class["segment.soft.kl_divergence"].copy()
    nan[0, 0] = np.nan
    kept = {**whole.tally.per_class, "segment.soft.kl_divergence": nan, "odd.flags": nan > 0}
    return replace(whole, tally=replace(whole.tally, per_class=kept))


WHOLE = full()
PACKED = pack_shard(WHOLE, "0.1")


def test_odd_names_and_missing_numbers_are_kept():
    assert same(unpack_shard("t", PACKED), WHOLE)
    assert unpack_shard("t", PACKED).tally.files == tuple(sorted(ODD))
    assert np.isnan(unpack_shard("t", PACKED).tally.per_class["segment.soft.kl_divergence"]).sum() == 1


def test_the_empty_shard_is_kept():
    for asked in ({}, {"groups": {"g": ["x"]}}):
        made = Settings.of(**asked)
        empty = Shard(made, "", Tally.empty(), {name: Tally.empty() for name in made.groups}, Findings(), ())
        assert same(unpack_shard("t", pack_shard(empty, "0.1")), empty)
    nothing = tally_pair(align(long_rows([]), long_rows([]), Settings()), Settings())
    ours = Shard(Settings(), "", nothing, {}, Findings(), (), {})
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
    code = (
        "import sys; sys.path[:0] = ['tests/formats', 'tests']; import hashlib, test_tally_file as t; "
        "print(hashlib.sha256(t.PACKED).hexdigest())"
    )
    digests = set()
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
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
        {"descr": Spec(kind, shape).head.split(b"'")[3].decode(), "fortran_order": False, "shape": shape},
    )
    ours = Spec(kind, shape).head
    assert ours[10:].split() == stream.getvalue()[10:].split()
    assert len(ours) % 64 == 0


def test_all_fields_of_events_are_written():
    assert [*_EVENT_KINDS, "nested"] == [field.name for field in fields(EventLifetimes)]


def test_cells_are_compressed():
    made = Settings.of(only=["segment.optimal"])
    values = np.zeros((100_000, 1))
    pair = align(wide_rows(values), wide_rows(values), made)
    assert len(pack_shard(Shard(made, "s", tally_pair(pair, made), {}, Findings(), ()), "0.1")) < 20_000


def test_what_no_file_can_hold_is_not_written():
    tally = WHOLE.groups["a"]
    other = Tally(("q",), ("car",), recipe=tally.recipe)
    with pytest.raises(ValueError, match="other files"):
        pack_shard(replace(WHOLE, groups={**WHOLE.groups, "a": other}), "0.1")
    for column in (np.array([1], dtype=np.float32), np.array([None])):
        odd = Shard(Settings(), "s", Tally(("q",), (), per_file={"x": column}, recipe=""), {}, Findings(), ())
        with pytest.raises(ValueError, match="column x is of"):
            pack_shard(odd, "0.1")
    odd = Shard(Settings(), "s", Tally((), (), per_file={"../x": np.zeros(0)}, recipe=""), {}, Findings(), ())
    with pytest.raises(ValueError, match="not the name of a column"):
        pack_shard(odd, "0.1")


def test_other_files_are_refused():
    for data in (b"", b"PK", b"filename\tonset\n", b"\x80\x04N.", PACKED[:100], pickle.dumps(1)):
        refused(data, "expected a tally file")
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.zeros(3))
    refused(stream.getvalue(), "has no header.json")


def test_cut_files_are_refused():
    cuts = np.random.default_rng(0).integers(0, len(PACKED), 60)
    for cut in [*cuts, len(PACKED) - 1]:
        refused(PACKED[:cut], "expected a tally file")


SMALL = pack_shard(shard(Settings.of(groups={"g": ["car"]}), ("a", "b"), durations={"a": 2.0}), "0.1")


@pytest.mark.parametrize("chunk", range(8))
def test_a_flipped_byte_is_refused_or_means_nothing(chunk):
    rng = np.random.default_rng(chunk)
    whole = unpack_shard("t", SMALL)
    for _ in range(120):
        data = bytearray(SMALL)
        for _ in range(rng.choice([1, 1, 1, 3])):
            # The end lists the members: it has no checksum.
            start = rng.choice([0, 0, SMALL.index(b"PK\x01\x02")])
            data[rng.integers(start, len(data))] ^= 1 << int(rng.integers(8))
        try:
            found = unpack_shard("t", bytes(data))
        except InputError:
            continue
        assert same(found, whole)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Return the paths of all places in a header."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [path, *(found for key, child in children for found in places(child, (*path, key)))]


with zipfile.ZipFile(io.BytesIO(SMALL)) as _archive:
    PLACES = places(json.loads(_archive.read("header.json")))


@hypothesis_settings(max_examples=300, deadline=None)
@given(st.sampled_from(PLACES[1:]), JSON | st.sampled_from([[["a"]], 10**400, -1, 2**63, {"a": 1}, "\udcff"]))
def test_a_header_with_anything_anywhere_is_read_or_refused(path, value):
    def change(header):
        for key in path[:-1]:
            header = header[key]
        header[path[-1]] = value

    try:
        found = unpack_shard("t", with_header(SMALL, change))
    except InputError:
        return
    # What is read can be written, and is the same.
    assert same(unpack_shard("t", pack_shard(found, "0.1")), found)


@given(st.binary(max_size=200))
def test_headers_of_anything_are_refused(text):
    refused(remade(SMALL, lambda members: members.update({"header.json": text})), "expected a tally file")


def part(header: dict, change: Callable[[dict], object], number: int = 0) -> None:
    change(header["parts"][number])


HEADERS = {
    "other format": (lambda h: h.update(format="x"), "is not a soft-sed-eval tally"),
    "newer": (
        lambda h: h.update(version=2, written_by="9.9", surplus=1),
        "newer version of soft-sed-eval, '9.9', in format 2; expected format 1",
    ),
    "version 0": (lambda h: h.update(version=0), "format version 0; expected 1"),
    "version true": (lambda h: h.update(version=True), "format version True; expected 1"),
    "no version": (lambda h: h.__delitem__("version"), "format version None"),
    "unknown key": (lambda h: h.update(surplus=1), "unknown field `surplus`"),
    "no files": (lambda h: h.__delitem__("files"), "missing required field `files`"),
    "list": (lambda h: [h], "is not a"),
    "unknown setting": (lambda h: h["settings"].update(treshold=1), "unknown setting 'treshold'"),
    "setting out of range": (lambda h: h["settings"].update(beta=1e9), "beta must be"),
    "unhashable setting": (lambda h: h["settings"].update(only=[["a"]]), "its settings cannot be"),
    "setting of a class": (lambda h: h["settings"].update(classes=["dog"]), "classes .* its settings do not"),
    "unsorted files": (lambda h: h.update(files=["b", "a"]), "not sorted and distinct: 'a' follows 'b'"),
    "file twice": (lambda h: h.update(files=["a", "a"]), "not sorted and distinct"),
    "more files": (lambda h: h.update(files=["a", "b", "c"]), "expected .* \\(3"),
    "fewer groups": (lambda h: h["settings"].update(groups={}), "groups \\['g'\\], but settings"),
    "no parts": (lambda h: h.update(parts=[]), "but settings of the groups"),
    "class of a group": (lambda h: part(h, lambda p: p.update(classes=["x"]), 1), "classes \\['x'\\]"),
    "class twice": (lambda h: part(h, lambda p: p.update(classes=["x"] * 3)), "a class twice"),
    "no recipe": (lambda h: part(h, lambda p: p.update(recipe=None)), "without a recipe"),
    "recipe a number": (
        lambda h: part(h, lambda p: p.update(recipe=1)),
        "Expected `str \\| null`, got `int`",
    ),
    "fewer columns": (
        lambda h: part(h, lambda p: p["per_file"].pop("length")),
        "also has 1 of its members: 'whole/per_file/length.npy'",
    ),
    "more columns": (
        lambda h: part(h, lambda p: p["per_file"].update(x="int64")),
        "lacks 1 of its members: 'whole/per_file/x.npy'",
    ),
    "odd column": (lambda h: part(h, lambda p: p["per_file"].update({"../x": "int64"})), "name of a column"),
    "objects": (lambda h: part(h, lambda p: p["per_file"].update(length="object")), "Invalid enum value"),
    "other type": (
        lambda h: part(h, lambda p: p["per_file"].update(length="float64")),
        "length begins .*<i8.*; expected float64 \\(2,\\)",
    ),
    "cells": (lambda h: part(h, lambda p: p["samples"]["segment.system"].update(cells=-1)), "has -1 cells"),
    "no cells": (
        lambda h: part(h, lambda p: p["per_file"].pop("n_segments")),
        "samples .* and no n_segments",
    ),
    "events": (lambda h: part(h, lambda p: p["events"]["system"].update(events=10**30)), "has 10+ events"),
    "event count": (
        lambda h: part(h, lambda p: p["events"]["system"].update(events=10**15)),
        "expected int32",
    ),
    "duration": (lambda h: h.update(durations={"a": -1.0}), "duration of 'a' is -1.0; expected 0"),
    "long duration": (lambda h: h.update(durations={"a": 1e10}), "duration of 'a'"),
    "infinite": (lambda h: h.update(durations={"a": float("inf")}), "Infinity is no number in JSON"),
    "finding": (lambda h: h["findings"].__delitem__("missing"), "findings lack"),
    "findings": (lambda h: h["findings"].update(missing="x"), "Expected `array`"),
    "rows beyond": (lambda h: h["findings"].update(beyond={"system": [-1, 0.0]}), "findings have -1"),
    "input": (lambda h: h["inputs"][0].update(rows=-1), "fewer than 0 rows"),
    "input of numbers": (lambda h: h["inputs"][0].update(name=1), "Expected `str`, got `int`"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_say_what_is_not_so_are_refused(name):
    change, expected = HEADERS[name]
    made = Settings.of(groups={"g": ["car"]}, only="all")
    refused(with_header(pack_shard(shard(made, ("a", "b")), "0.1"), change), expected)


def test_deep_and_large_headers_are_refused():
    for text in (b"[" * 10**6, b'{"a":' * 10**5, b"9" * 10**6):
        refused(remade(SMALL, lambda m, text=text: m.update({"header.json": text})), "header is not JSON")
    refused(remade(SMALL, lambda m: m.update({"header.json": b" " * 20_000_000})), "which cannot be")


ARRAYS = {
    "below 0": ("whole/per_class/segment.hard.tp", put(-1), "counts below 0"),
    "too many": ("whole/per_class/segment.hard.tp", put(2**63 - 1), "counts below 0, or too many"),
    "no number": ("whole/per_class/segment.soft.tp", put(np.nan), "a number that is not"),
    "infinite": ("whole/per_class/segment.soft.tp", put(np.inf), "a number that is not"),
    "soft below 0": ("whole/per_class/segment.soft.tp", put(-1.0), "a number that is not"),
    "cells": ("whole/per_file/n_segments", put(10**12), "cells of samples"),
    "float": ("whole/per_class/segment.hard.tp", lambda a: a.astype(float), "<f8.*expected int64"),
    "shape": ("whole/per_class/segment.hard.tp", lambda a: a.T, "expected int64 \\(2, 3\\)"),
    "Fortran": ("whole/per_class/segment.hard.tp", np.asfortranarray, "expected int64 \\(2, 3\\)"),
    "rows": ("whole/per_class/segment.hard.tp", lambda a: a[:1], "expected int64 \\(2, 3\\)"),
    "objects": ("whole/per_class/segment.hard.tp", lambda a: a.astype(object), "\\|O.*expected int64"),
    "value": ("whole/samples/segment.system", put(1.5), "not -1e-06 to 1"),
    "no value": ("whole/samples/segment.system", put(np.nan), "not -1e-06 to 1"),
    "file": ("whole/events/system/file", put(2), "events/system/file has a number that is not 0 to 1"),
    "file below 0": ("whole/events/system/file", put(-1), "events/system/file has a number"),
    "label": ("whole/events/system/label", put(3), "events/system/label has a number"),
    "onset": ("whole/events/system/onset", put(10**9), "ends before it begins"),
    "offset": ("whole/events/system/offset", put(10**17), "events/system/offset has a number"),
    "born": ("whole/events/system/born", put(np.nan), "events/system/born has a number"),
    "dies": ("whole/events/system/dies", put(-0.5), "events/system/dies has a number"),
    "never born": ("whole/events/system/born", put(1.5), "ends before it begins"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_numbers_that_cannot_be_are_refused(name):
    array, change, expected = ARRAYS[name]
    data = pack_shard(shard(Settings.of(only="all"), ("a", "b")), "0.1")
    assert same(unpack_shard("t", with_array(data, array, lambda a: a)), unpack_shard("t", data))
    refused(with_array(data, array, change), expected)


def test_truth_values_are_0_or_1():
    def edit(members):
        members["whole/per_class/odd.flags.npy"] = members["whole/per_class/odd.flags.npy"][:-1] + b"\2"

    refused(remade(PACKED, edit), "of truth values, and holds others")


def test_surplus_bytes_of_arrays_are_refused():
    def edit(members):
        members["whole/per_file/length.npy"] += b"\0" * 8

    refused(remade(SMALL, edit), "array whole/per_file/length has")


def test_members_that_are_there_twice_or_packed_otherwise_are_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header.json", b"{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("header.json", b"{}")
    refused(stream.getvalue(), "has two members")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("header.json", b"{}")
    refused(stream.getvalue(), "packed in a way")


def test_sizes_that_are_made_up_are_refused_before_memory_is_taken():
    # A member of 10 TB, as the list of members has it: its size stands 24 bytes into its entry.
    data = bytearray(SMALL)
    entry = SMALL.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (2**32 - 2).to_bytes(4, "little")
    refused(bytes(data), "bytes long, which cannot be")
    # An event table of which header, head and list agree, and the bytes do not.
    made = shard(Settings.of(only=["event"]), ("a", "b"))
    name, n = "whole/events/system/onset", 10**12

    def edit(members):
        members[f"{name}.npy"] = Spec("int64", (n,)).head + b"\0" * 100

    lying = with_header(
        remade(pack_shard(made, "0.1"), edit),
        lambda h: part(h, lambda p: p["events"]["system"].update(events=n)),
    )
    refused(lying, "expected")


def test_members_upon_one_another_are_refused():
    """The same compressed bytes, listed many times: each entry would unfold them again."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"\0" * 100_000)
    whole = stream.getvalue()
    at = whole.index(b"PK\x01\x02")
    entry, end = whole[at : whole.index(b"PK\x05\x06")], bytearray(whole[whole.index(b"PK\x05\x06") :])
    names = [bytes([ord("b") + i]) for i in range(20)]
    entries = b"".join(entry[:46] + name + entry[47:] for name in names)
    end[8:12] = len(names).to_bytes(2, "little") * 2
    end[12:16] = len(entries).to_bytes(4, "little")
    local = whole[:at]
    refused(local + entries + bytes(end), "longer than itself|expected a tally file")


def test_settings_that_are_equal_are_made_of_their_fields():
    for asked in SETTINGS:
        made = Settings.of(**asked)
        values = {field.name: getattr(made, field.name) for field in fields(made)}
        assert Settings.of(**json.loads(json.dumps(values))) == made
    with pytest.raises(SettingsError):
        Settings.of(**{**values, "surplus": 1})
