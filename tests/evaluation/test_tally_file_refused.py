"""Files that are no tally files, or damaged or made-up ones: each is refused with what is wrong."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from shards import PACKED, same, shard

from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.tally_file import _head, pack_shard, unpack_shard
from sedeval_soft.settings import Settings


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


@hypothesis_settings(max_examples=150, deadline=None)
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
        lambda h: h.update(version=3, written_by="9.9", surplus=1),
        "newer version of soft-sed-eval, '9.9', in format 3; expected format 2",
    ),
    "version 0": (lambda h: h.update(version=0), "format version 0; expected 2"),
    "version true": (lambda h: h.update(version=True), "format version True; expected 2"),
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
    "value": ("whole/samples/segment.system", put(1.5), "not -1e-09 to 1"),
    "no value": ("whole/samples/segment.system", put(np.nan), "not -1e-09 to 1"),
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
    name, n = "whole/events/system/file.npy", 10**9

    def edit(members):
        members[name] = _head("int32", (n,)) + bytes(100)

    made = pack_shard(shard(Settings.of(only=["event"]), ("a", "b")), "0.1")
    lying = with_header(
        remade(made, edit), lambda h: part(h, lambda p: p["events"]["system"].update(events=n))
    )
    # The head and the header agree, the member is too short.
    refused(lying, "array whole/events/system/file has 228 bytes; expected 4000000128")
    # The list of members, which stands last, agrees as well: 24 bytes into its entry is the size.
    data = bytearray(lying)
    entry = data.rindex(name.encode()) - 46
    data[entry + 24 : entry + 28] = (4 * n + 128).to_bytes(4, "little")
    refused(bytes(data), "'whole/events/system/file.npy' is 4000000128 bytes long, which cannot be")


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
    refused(local + entries + bytes(end), "has members longer than itself")
