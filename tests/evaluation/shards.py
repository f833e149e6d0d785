"""Shards for tests of tally files, what makes two of them the same, and tally files that were changed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass

import numpy as np
from tables import long_rows

from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.evaluation.shard import Input, Shard, count_rows
from sedeval_soft.evaluation.tally_file import pack_shard
from sedeval_soft.settings import Settings

ODD = ("", "\ud800\udc00", "\udcff.wav", "a\0b", "scène/ü 1.wav", 'tab\t"quote"', "\U0001f600", "…@[x]")
EVERYTHING = {"only": ("all",), "measures": ("all",), "max_efpr": 100.0}


def rows(seed: int, files: tuple[str, ...]):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(12):
        onset, label = float(rng.integers(0, 90)) / 10, str(rng.choice(["car", "dog", "b\u00ebll"]))
        value = float(rng.choice([rng.random(), 0.5, 1.0]))
        made.append((str(rng.choice(files[:-1] or files)), onset, onset + 0.7, label, value))
    return long_rows(made, files=files)


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


def full() -> Shard:
    """A shard with something in every place."""
    made = Settings.of(**EVERYTHING, groups={"z": ["dog", "car"], "a": ["car"]}, psds_median_filters=[0.5])
    report = AlignmentReport(
        missing=frozenset({*ODD, "b"}),
        notes=frozenset({"n"}),
        system_classes=frozenset({"car"}),
        beyond={"system": (3, 0.1 + 0.2), "reference": (1, 7.0)},
    )
    return shard(made, tuple(sorted(ODD)), durations=dict.fromkeys(ODD, 1 / 3), findings=report)


WHOLE = full()
PACKED = pack_shard(WHOLE, "0.1")


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def remade(data: bytes, **members: Callable[[bytes], bytes]) -> bytes:
    """Return a tally file whose members were changed: a whole zip, with the right hash."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members_of(data).items():
            archive.writestr(name, members.get(name, bytes)(content))
    return hashed(stream.getvalue())


def hashed(archive: bytes) -> bytes:
    """Return a zip without a comment as one that ends with the SHA-256 of what is before it."""
    data = archive[:-2] + (64).to_bytes(2, "little")
    return data + hashlib.sha256(data).hexdigest().encode()


def with_header(data: bytes, change: Callable[[dict], object]) -> bytes:
    """Return a tally file whose header was changed, or replaced where something is returned."""

    def edit(content: bytes) -> bytes:
        header = json.loads(content.decode("utf-8", "surrogatepass"))
        new = change(header)
        return json.dumps(header if new is None else new).encode()

    return remade(data, **{"header.json": edit})


def with_array(data: bytes, name: str, change: Callable[[np.ndarray], np.ndarray]) -> bytes:
    """Return a tally file with one other array, written by numpy itself."""

    def edit(content: bytes) -> bytes:
        stream = io.BytesIO()
        np.save(stream, change(np.load(io.BytesIO(content))), allow_pickle=True)
        return stream.getvalue()

    return remade(data, **{f"{name}.npy": edit})
