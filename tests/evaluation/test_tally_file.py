"""Tally files are read back to the last bit; damaged and other files are refused."""

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, make_dataclass, replace

import numpy as np
import pytest
from tables import long_rows, random_table, wide_rows

from sedeval_soft import Evaluator
from sedeval_soft.checks import AlignmentReport
from sedeval_soft.errors import InputError
from sedeval_soft.evaluation import Input, Shard, count_rows, pack_shard, unpack_shard
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.timeline.events import EventLifetimes

ODD = ("", "\ud800\udc00", "\udcff.wav", "a\0b", "scène/ü 1.wav", 'tab\t"quote"', "\U0001f600", "…@[x]")
Content = make_dataclass("Content", ["shard"])
EVERYTHING = {"only": ("all",), "measures": ("all",), "max_efpr": 100.0}


def rows(seed: int, files: tuple[str, ...]):
    """Return rows; the last file is silent."""
    how = {"files": files[:-1], "labels": ["car", "dog", "b\u00ebll"], "n": 12, "form": "fine"}
    return replace(random_table(np.random.default_rng(seed), **how), files=files)


def shard(made: Settings, files: tuple[str, ...] = ("a", "b", "c"), seed: int = 0, **parts) -> Shard:
    inputs = (Input("r.tsv", "reference", "0" * 64, 12, 3, 3, "long", True, "merge", ("scène",)),)
    of_rows = count_rows(rows(seed, files), rows(seed + 1, files), made, name="sys\udcff", batch=True)
    return of_rows._replace(inputs=inputs, **parts)


def packed(files: tuple[str, ...] = ("a", "b"), **asked) -> bytes:
    return pack_shard(shard(Settings.of(**asked), files), "0.1")


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
"""A shard with every kind of content."""


def zipped(method: int, members: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def changed(data: bytes, name: str, change: Callable) -> bytes:
    """Return a tally file with a changed header or array: a valid zip, with the right hash."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members, stream = {each: archive.read(each) for each in archive.namelist()}, io.BytesIO()
    if name == "header.json":
        change(header := json.loads(members[name].decode("utf-8", "surrogatepass")))
        stream.write(json.dumps(header).encode())
    else:
        np.save(stream, change(np.load(io.BytesIO(members[name]))), allow_pickle=True)
    return hashed(zipped(zipfile.ZIP_DEFLATED, members | {name: stream.getvalue()}))


def hashed(archive: bytes) -> bytes:
    """Return a zip with the SHA-256 of its other bytes as its comment."""
    data = archive[:-2] + (64).to_bytes(2, "little")
    return data + hashlib.sha256(data).hexdigest().encode()


SETTINGS = [
    {"only": "all", "measures": "all", "psds": "dcase-psds1"},
    {**EVERYTHING, "matching": "greedy", "pool": "mean", "psds_median_filters": [0.4, 1e-6, 0.1 + 0.2]},
    {"only": ["segment", "event"], "compat": "sed_eval", "matching": "greedy", "events": "rows"},
    {"classes": ["dog", "\udcff", "car"], "strict": True, "pool": "mean", "t_norm": "product"},
    {"groups": {"z": ["dog", "car"], "a": "car"}, "scenes": {"home": ["a*", "\udcff?"], "b": "[ab]"}},
    {"ci": "bca", "replicates": 7, "confidence": 0.1, "seed": 2**62 + 1, "fixed_thresholds": True},
    {"threshold": np.float64(1 / 3), "reference_threshold": 1e-300, "beta": 2, "iou": 1, "inclusive": True},
]


def odd_shards() -> Iterator[Shard]:
    """Yield shards: with every kind of content, of time steps, empty ones, and one with a level above 1."""
    yield WHOLE
    values = np.random.default_rng(0).random((30, 2))
    sides = [wide_rows(side, files=3) for side in (values, values[::-1])]
    wide = count_rows(*sides, Settings.of(**EVERYTHING))
    assert wide.tally.events["system"].nested and not wide.tally.events["reference"].nested
    yield wide
    yield count_rows(long_rows([]), long_rows([]), Settings(), {})
    nothing = Shard(Settings(), "", Tally(), {}, AlignmentReport(), ())
    code, time = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    events = EventLifetimes(code, code, time, time + 5, np.zeros(1), np.nextafter(np.ones(1), 2))
    yield nothing._replace(tally=Tally(("a",), ("x",), events={"system": events}, recipe=""))
    yield nothing._replace(settings=Settings.of(groups={"g": ["x"]}), groups={"g": Tally()})


@pytest.mark.parametrize("ours", [*(shard(Settings.of(**asked)) for asked in SETTINGS), *odd_shards()])
def test_a_shard_is_read_back_to_the_last_bit(ours):
    again = unpack_shard("t", pack_shard(ours, "0.1"))
    # Equal bytes also mean equal types of arrays.
    assert pack_shard(again, "0.1") == pack_shard(ours, "0.1")
    np.testing.assert_equal(*(asdict(Content(each._replace(variants={}))) for each in (again, ours)))


def reversed_dict(values: Mapping) -> dict:
    return dict(reversed(values.items()))


def test_the_same_shard_gives_the_same_bytes():
    """The order of mappings and sets does not matter; sets have another order in each process."""
    tally, findings = WHOLE.tally, WHOLE.findings
    kinds = ("per_class", "per_file", "samples", "events")
    other = WHOLE._replace(
        tally=replace(tally, **{kind: reversed_dict(getattr(tally, kind)) for kind in kinds}),
        groups=reversed_dict(WHOLE.groups),
        durations=reversed_dict(WHOLE.durations),
        findings=replace(findings, off_grid=reversed_dict(findings.off_grid)),
    )
    assert pack_shard(other, "0.1") == pack_shard(WHOLE, "0.1") != pack_shard(WHOLE, "0.2")
    with zipfile.ZipFile(io.BytesIO(pack_shard(WHOLE, "0.1"))) as archive:
        header = json.loads(archive.read("header.json").decode("utf-8", "surrogatepass"))
    assert header["findings"]["missing"] == sorted(findings.missing)
    assert header["parts"][0]["expected"] == sorted(tally.expected)


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
    cuts = (SMALL[: int(cut)] for cut in (*np.linspace(1, len(SMALL) - 65, 9), len(SMALL) - 1))
    nothing = zipped(zipfile.ZIP_DEFLATED, {"a": b""})
    for data in (b"", b"PK", b"filename\tonset\n", pickle.dumps(1), nothing, *flipped, *cuts):
        refused(bytes(data), "does not end with the SHA-256")
    refused(hashed(nothing), "header.json")
    refused(hashed(zipped(zipfile.ZIP_LZMA, {"header.json": b"{}"})), "neither stored nor deflated")


SMALL = pack_shard(shard(Settings.of(groups={"g": ["car"]}), ("a", "b"), durations={"a": 2.0}), "0.1")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
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
    ],
)  # fmt: skip
def test_headers_that_say_what_is_not_so_are_refused(change, expected):
    refused(changed(packed(groups={"g": ["car"]}, only="all"), "header.json", change), expected)


ALL = packed(only="all")


@pytest.mark.parametrize(
    ("array", "change", "expected"),
    [
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
    ],
)
def test_numbers_that_cannot_be_are_refused(array, change, expected):
    refused(changed(ALL, f"whole/{array}.npy", change), expected)


@pytest.mark.parametrize(
    "column", [{"segment.soft.tp": np.zeros((3, 3), int)}, {"surplus": np.zeros((3, 3), int)}]
)
def test_columns_that_the_settings_of_a_tally_do_not_count_are_refused(column):
    made = shard(Settings())
    made = made._replace(tally=replace(made.tally, per_class={**made.tally.per_class, **column}))
    with pytest.raises(InputError, match=f"per_class/{next(iter(column))} is .*its settings count"):
        Evaluator.of_bytes(pack_shard(made, "0.1"))
