"""Tally files: what is written is read back to the last bit; what is none, or damaged, is refused."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tables import long_rows, wide_rows

from sedeval_soft import Evaluator
from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation.scores import score_tally
from sedeval_soft.evaluation.shard import Input, Shard, count_rows
from sedeval_soft.evaluation.tally_file import pack_shard, unpack_shard
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import EventLifetimes

ODD = ("", "\ud800\udc00", "\udcff.wav", "a\0b", "scène/ü 1.wav", 'tab\t"quote"', "\U0001f600", "…@[x]")
EVERYTHING = {"only": ("all",), "measures": ("all",), "max_efpr": 100.0}


def rows(seed: int, files: tuple[str, ...]):
    rng = np.random.default_rng(seed)
    names, labels = rng.choice(files[:-1], 12), rng.choice(["car", "dog", "b\u00ebll"], 12)
    cells = zip(
        names, rng.integers(0, 90, 12) / 10, labels, rng.choice([*rng.random(9), 0.5, 1.0], 12), strict=True
    )
    return long_rows([(str(f), on, on + 0.7, str(c), float(v)) for f, on, c, v in cells], files=files)


def shard(made: Settings, files: tuple[str, ...] = ("a", "b", "c"), seed: int = 0, **parts) -> Shard:
    inputs = (Input("r.tsv", "reference", "0" * 64, 12, 3, 3, "long", True, "merge", ("scène",)),)
    of_rows = count_rows(rows(seed, files), rows(seed + 1, files), made, name="sys\udcff", batch=True)
    return of_rows._replace(inputs=inputs, **parts)


def packed(files: tuple[str, ...] = ("a", "b"), **asked) -> bytes:
    return pack_shard(shard(Settings.of(**asked), files), "0.1")


def plain(value: object) -> object:
    """Return the content of a value, arrays as bytes: equal if it is the same to the last bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Shard):
        return plain(value._asdict())
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def same(ours: Shard, theirs: Shard) -> bool:
    return plain(ours) == plain(theirs) and [*ours.groups] == [*theirs.groups]


REPORT = AlignmentReport(
    missing=frozenset({*ODD, "b"}),
    notes=frozenset({"n"}),
    system_classes=frozenset({"car"}),
    off_grid={"system": (3, 2, 0.1 + 0.2), "reference": (1, 1, 7.0)},
)
WHOLE = shard(
    Settings.of(**EVERYTHING, groups={"z": ["dog", "car"], "a": ["car"]}, psds_median_filters=[0.5]),
    tuple(sorted(ODD)),
    durations=dict.fromkeys(ODD, 1 / 3),
    findings=REPORT,
)
"""A shard with something in every place."""

PACKED = pack_shard(WHOLE, "0.1")


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(method: int, members: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def remade(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return a tally file of which a member was changed: a whole zip, with the right hash."""
    members = members_of(data)
    return hashed(zipped(zipfile.ZIP_DEFLATED, members | {name: change(members[name])}))


def hashed(archive: bytes) -> bytes:
    """Return a zip without a comment as one that ends with the SHA-256 of what is before it."""
    data = archive[:-2] + (64).to_bytes(2, "little")
    return data + hashlib.sha256(data).hexdigest().encode()


def with_header(data: bytes, change: Callable[[dict], object]) -> bytes:
    """Return a tally file whose header was changed."""

    def edit(content: bytes) -> bytes:
        header = json.loads(content.decode("utf-8", "surrogatepass"))
        change(header)
        return json.dumps(header).encode()

    return remade(data, "header.json", edit)


def with_array(data: bytes, name: str, change: Callable[[np.ndarray], np.ndarray]) -> bytes:
    """Return a tally file with one other array, written by numpy itself."""

    def edit(content: bytes) -> bytes:
        stream = io.BytesIO()
        np.save(stream, change(np.load(io.BytesIO(content))), allow_pickle=True)
        return stream.getvalue()

    return remade(data, f"{name}.npy", edit)


SETTINGS = [
    {"only": "all", "measures": "all", "psds": "dcase-psds1"},
    {**EVERYTHING, "matching": "greedy", "pool": "mean", "psds_median_filters": [0.4, 1e-6, 0.1 + 0.2]},
    {"only": ["segment", "event"], "compat": "sed_eval", "matching": "greedy", "events": "rows"},
    {"classes": ["dog", "\udcff", "car"], "strict": True, "pool": "mean", "t_norm": "product"},
    {"groups": {"z": ["dog", "car"], "a": "car"}, "scenes": {"home": ["a*", "\udcff?"], "b": "[ab]"}},
    {"ci": "bca", "replicates": 7, "confidence": 0.1, "seed": 2**62 + 1, "fixed_thresholds": True},
    {"threshold": np.float64(1 / 3), "reference_threshold": 1e-300, "beta": 2, "iou": 1, "inclusive": True},
]


@pytest.mark.parametrize("asked", SETTINGS, ids=str)
def test_a_shard_is_read_back_to_the_last_bit(asked):
    ours = shard(Settings.of(**asked))
    theirs = unpack_shard("t", pack_shard(ours, "0.1"))
    assert same(ours, theirs)
    # Columns are in another order: scores do not depend on it.
    assert repr(score_tally(ours.tally, ours.settings)) == repr(score_tally(theirs.tally, theirs.settings))
    assert Shard.merge([theirs, shard(ours.settings, ("d", "e"), 5)]).tally.files == tuple("abcde")


def test_odd_shards_are_read_back_too():
    """One with something in every place, steps, nothing, and an operating point of 1, which is above 1."""
    values = np.random.default_rng(0).random((30, 2))
    wide = count_rows(
        *(wide_rows(side, files=3) for side in (values, values[::-1])), Settings.of(**EVERYTHING)
    )
    assert wide.tally.events["system"].nested and not wide.tally.events["reference"].nested
    code, time = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    events = EventLifetimes(code, code, time, time + 5, np.zeros(1), np.nextafter(np.ones(1), 2))
    grouped = Settings.of(groups={"g": ["x"]})
    for ours in (
        WHOLE,
        wide,
        count_rows(long_rows([]), long_rows([]), Settings(), {}),
        Shard(Settings(), "", Tally(), {}, AlignmentReport(), ()),
        Shard(grouped, "", Tally(), {"g": Tally()}, AlignmentReport(), ()),
        Shard(
            Settings(),
            "s",
            Tally(("a",), ("x",), events={"system": events}, recipe=""),
            {},
            AlignmentReport(),
            (),
        ),
    ):
        assert same(unpack_shard("t", pack_shard(ours, "0.1")), ours)


def test_the_same_shard_gives_the_same_bytes():
    """In whatever order mappings and sets are, sets in every process in another."""

    def reversed_dict(values: Mapping) -> dict:
        return dict(reversed(values.items()))

    t = WHOLE.tally
    kinds = ("per_class", "per_file", "samples", "events")
    other = WHOLE._replace(
        tally=replace(t, **{kind: reversed_dict(getattr(t, kind)) for kind in kinds}),
        groups=reversed_dict(WHOLE.groups),
        durations=reversed_dict(WHOLE.durations),
        findings=replace(WHOLE.findings, off_grid=reversed_dict(WHOLE.findings.off_grid)),
    )
    assert pack_shard(other, "0.1") == PACKED != pack_shard(WHOLE, "0.2")
    header = json.loads(members_of(PACKED)["header.json"].decode("utf-8", "surrogatepass"))
    for names in (header["findings"]["missing"], header["parts"][0]["expected"]):
        assert len(names) > 2 and names == sorted(names)


# --- what is refused ------------------------------------------------------------------------------


def refused(data: bytes, expected: str) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        unpack_shard("t.tally", data)
    assert str(caught.value).startswith("t.tally: ")


def put(values: object) -> Callable[[np.ndarray], np.ndarray]:
    """Return a change of the last number of an array."""
    return lambda array: np.append(array.reshape(-1)[:-1], values).astype(array.dtype).reshape(array.shape)


def test_other_files_cut_ones_and_flipped_bytes_are_refused():
    assert SMALL[-64:] == hashlib.sha256(SMALL[:-64]).hexdigest().encode()
    flipped = [bytearray(SMALL) for _ in range(0, len(SMALL), 97)]
    for k, data in enumerate(flipped):
        data[97 * k] ^= 1 << k % 8
    cuts = (PACKED[: int(cut)] for cut in (*np.linspace(1, len(PACKED) - 65, 9), len(PACKED) - 1))
    nothing = zipped(zipfile.ZIP_DEFLATED, {"a": b""})
    for data in (b"", b"PK", b"filename\tonset\n", pickle.dumps(1), nothing, *flipped, *cuts):
        refused(bytes(data), "does not end with the SHA-256")
    refused(hashed(nothing), "header.json")
    refused(hashed(zipped(zipfile.ZIP_LZMA, {"header.json": b"{}"})), "neither stored nor deflated")


SMALL = pack_shard(shard(Settings.of(groups={"g": ["car"]}), ("a", "b"), durations={"a": 2.0}), "0.1")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Return the paths of all places in a header."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in pairs for place in places(child, (*path, key)))]


PLACES = places(json.loads(members_of(SMALL)["header.json"]))


@hypothesis_settings(max_examples=15)
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


HEADERS = [
    (lambda h: h.update(format="x"), "is not a soft-sed-eval tally"),
    (lambda h: h.update(version=5, written_by="9.9", surplus=1),
     "format version 5, written by soft-sed-eval '9.9'; this one reads format 4"),
    (lambda h: h.__delitem__("files"), "missing required field `files`"),
    (lambda h: h["settings"].update(treshold=1), "unknown setting 'treshold'"),
    (lambda h: h["settings"].update(groups={"h": ["car"]}), r"groups \['g'\], its settings of \['h'\]"),
    (lambda h: h["settings"].update(classes=["dog"]), "classes .* its settings do not"),
    (lambda h: h.update(files=["b", "a"]), "files of a tally must be sorted and distinct"),
    (lambda h: h["parts"][0].update(classes=["car", "car", "dog"]), "names a class twice"),
    (lambda h: h.update(files=["a", "b", "c"]), "expected .*\\(3"),
    (lambda h: h["parts"][0]["nested"].__delitem__("system"), "also has events/system/"),
    (lambda h: h["parts"][0]["nested"].update(other=True), "events/other/file"),
    (lambda h: h.update(durations={"a": float("inf")}), "Infinity is not a number in JSON"),
    (lambda h: h["findings"].update(off_grid={"system": [-1, 0, 0.0]}), "findings have -1"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), HEADERS)
def test_headers_that_say_what_is_not_so_are_refused(change, expected):
    refused(with_header(packed(groups={"g": ["car"]}, only="all"), change), expected)


ARRAYS = [
    ("per_class/segment.hard.tp", put(-1), "tp has a number that is not 0 to"),
    ("per_class/segment.hard.tp", lambda a: a.astype(object), "Object arrays cannot be loaded"),
    ("per_class/segment.hard.tp", lambda a: a.astype(bool), "numbers are bool"),
    ("per_file/n_segments", put(10**12), "samples segment.reference have shape"),
    ("samples/segment.system", put(np.nan), "not -1e-09 to 1"),
    ("events/system/offset", put(10**17), "events/system/offset has a number"),
    ("events/system/offset", lambda a: a[:-1], "system has columns of different lengths"),
    ("events/system/born", put(1.0), "ends before it begins"),
    ("events/system/file", put(2), "events/system/file has a number that is not 0 to 1"),
    ("events/system/label", put(-1), "events/system/label has a number that is not 0 to 2"),
    ("per_class/segment.hard.tp", lambda a: a[:-1], "tp has shape \\(1, 3\\), expected \\(2, 3\\)"),
    ("per_class/segment.soft.kl_divergence", put(np.nan), "kl_divergence has a number"),
    ("per_class/segment.soft.kl_divergence", put(np.inf), "kl_divergence has a number"),
    ("events/system/dies", put(1.5), "dies has a number that is not 0 to 1"),
    ("per_class/segment.hard.n_sys", np.zeros_like, "segment.hard has a class with FP < 0"),
    ("per_class/clip.hard.n_ref", np.zeros_like, "clip.hard has a class with FN < 0"),
    ("per_file/segment.hard.n_cells", np.zeros_like, "segment.hard has a class with TN < 0"),
]


ALL = packed(only="all")


@pytest.mark.parametrize(("array", "change", "expected"), ARRAYS)
def test_numbers_that_cannot_be_are_refused(array, change, expected):
    assert same(unpack_shard("t", with_array(ALL, f"whole/{array}", np.array)), unpack_shard("t", ALL))
    refused(with_array(ALL, f"whole/{array}", change), expected)


def test_arrays_of_other_names_or_types_than_the_settings_count_are_refused():
    """The file is whole, and its header describes its content."""
    tally = shard(Settings()).tally
    tp = tally.per_class["segment.hard.tp"]
    lacking = {name: column for name, column in tally.per_class.items() if column is not tp}
    for columns, expected in (
        (
            {**tally.per_class, "segment.hard.tp": tp.astype(np.float64)},
            "per_class/segment.hard.tp is float64; its settings count int64",
        ),
        ({**tally.per_class, "surplus": tp}, "per_class/surplus is int64; its settings count nothing"),
        (lacking, "per_class/segment.hard.tp is nothing; its settings count int64"),
    ):
        made = shard(Settings())._replace(tally=replace(tally, per_class=columns))
        with pytest.raises(InputError, match=expected):
            Evaluator.of_bytes(pack_shard(made, "0.1"))


FULL = {
    **EVERYTHING,
    "groups": {"z": ["dog", "car"]},
    "psds": "dcase-psds1",
    "classes": ["car", "dog", "b\u00ebll"],
}
WIDE = {"only": ["event", "intersection"], "psds": "dcase-psds2"}


def of_steps() -> bytes:
    """Return a tally of steps."""
    values = np.random.default_rng(0).random((20, 2))
    sides = (wide_rows(of_side, files=3) for of_side in (values, values[::-1]))
    return pack_shard(count_rows(*sides, Settings.of(**WIDE)), "0.1")


@pytest.mark.parametrize(
    ("made", "every"),
    [
        (of_steps, 16),
        pytest.param(of_steps, 1, marks=pytest.mark.slow),
        pytest.param(lambda: packed(("a", "b", "c", "d"), **FULL), 1, marks=pytest.mark.slow),
    ],
)
def test_a_tally_with_the_right_hash_and_any_numbers_is_scored_or_refused(made, every):
    """Its scores may be anything, but nothing else than an InputError is raised."""
    data, n_scored = made(), 0
    names = [name.removesuffix(".npy") for name in members_of(data) if name.startswith("whole/")]
    changes = (np.zeros_like, np.ones_like, lambda a: a * 3, lambda a: a[..., ::-1].copy(), put(1))
    for place in range(0, len(names), every):
        with suppress(InputError):
            changed = with_array(data, names[place], changes[place // every % len(changes)])
            Evaluator.of_bytes(changed).compute()
            n_scored += 1
    assert n_scored
