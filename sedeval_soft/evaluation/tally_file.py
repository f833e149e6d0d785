"""Tally files: a shard of an evaluation in one file, and back, to the last bit.

A file is a zip of numpy arrays, as `numpy.savez_compressed` writes it and `numpy.load` reads it, one for
each column, and of a header in JSON; nothing in it is ever unpickled. The same shard gives the same bytes:
times are fixed, and the heads of arrays are made here, so that they do not depend on a version of numpy.

Scores are computed from what is read back, so nothing is trusted: a member's declared size, the head of its
array and its checksum must be those that the header tells, before and after memory is taken for it. Names may
hold what no UTF-8 has (undecodable file names, kept as surrogates): the text keeps them so.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import EvaluationError, InputError, Problem, counted
from sedeval_soft.evaluation.scores import Input
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.tally import Tally, cells_of, evaluated_of
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.events import EventLifetimes

FORMAT, VERSION = "soft-sed-eval tally", 2

Kind = Literal["bool", "int32", "int64", "float64"]
KINDS = {"bool": "|b1", "int32": "<i4", "int64": "<i8", "float64": "<f8"}
"""The types of arrays, as numpy names them and as they are written."""

EVENT_KINDS: dict[str, Kind] = {
    "file": "int32",
    "label": "int32",
    "onset": "int64",
    "offset": "int64",
    "born": "float64",
    "dies": "float64",
}
"""The arrays of lifetimes, and their types."""

_HEADER = "header.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+ -]*", re.ASCII)
"""Names of columns: they are names of members."""

_COUNTS = frozenset(
    {"tp", "n_ref", "n_sys", "matched", "n_cells", "substitutions", "insertions", "deletions", "weight"}
)
"""Last parts of names of columns that are counts, even where soft ones are no whole numbers."""

_ROUNDING = 1e-9
"""How far means of values may be off by rounding."""

_MOST = 2.0**62
_LONGEST = int(LONGEST) * TICKS_PER_SECOND
_HIGHEST = 2.0
"""Levels are up to 1; an operating point at 1 stands a breath above it."""

_EPOCH, _UNIX, _MODE = (1980, 1, 1, 0, 0, 0), 3, 0o644 << 16
_LARGE, _PIECE = 1 << 31, 1 << 20
_DEFLATE = 1100
"""No deflated byte stands for more than 1032 others; what declares more is made up."""

_TEXT, _TEXT_RATIO = 1 << 24, 200
"""Bytes that the header may have in any case, and how many for each compressed one beyond that."""

_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError),
)
"""What zipfile raises for bytes that are not as they should be."""

_ROLES = {"reference", "system"}
_T = TypeVar("_T")


class TallyError(EvaluationError):
    """What is wrong with a tally file; the reader adds which."""


class Samples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The type of the values of cells, and how many cells there are."""

    kind: Kind
    cells: int


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many lifetimes there are, and whether they are nested."""

    events: int
    nested: bool


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tally without its numbers: of all classes (no group), or of a group of them."""

    group: str | None
    classes: tuple[str, ...]
    recipe: str | None
    expected: tuple[str, ...] | None
    per_class: dict[str, Kind]
    per_file: dict[str, Kind]
    samples: dict[str, Samples]
    events: dict[str, Events]

    def arrays(self) -> Iterator[str]:
        """Yield the names in a file of all arrays."""
        for group in ("per_class", "per_file", "samples"):
            yield from (f"{group}/{name}" for name in getattr(self, group))
        yield from (f"events/{name}/{field}" for name in self.events for field in EVENT_KINDS)


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard without its numbers. settings: as `Settings.of` takes them."""

    format: str
    version: int
    written_by: str
    settings: dict[str, Any]
    system: str
    files: tuple[str, ...]
    findings: dict[str, Any]
    inputs: list[dict[str, Any]]
    durations: dict[str, float] | None
    parts: tuple[Part, ...]


# Writing.


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard as the bytes of a tally file; version: of the program that writes it.

    Raises ValueError for a shard that no file can hold: groups of other files than the whole has, names of
    columns that are no names of members, other types of arrays.
    """
    shard.check_whole()
    arrays: dict[str, Array] = {}
    parts = []
    for number, (group, tally) in enumerate([(None, shard.tally), *sorted(shard.groups.items())]):
        if tally.files != shard.tally.files:
            raise ValueError(f"group {group!r} is of other files than the whole")
        arrays |= {f"{_folder(number)}/{name}": array for name, array in _arrays(tally)}
        part = {
            "group": group,
            "classes": tally.classes,
            "recipe": tally.recipe,
            "expected": None if tally.expected is None else sorted(tally.expected),
            "per_class": {name: tally.per_class[name].dtype.name for name in sorted(tally.per_class)},
            "per_file": {name: tally.per_file[name].dtype.name for name in sorted(tally.per_file)},
            "samples": {
                name: {"kind": array.dtype.name, "cells": array.shape[1]}
                for name, array in sorted(tally.samples.items())
            },
            "events": {
                name: {"events": len(events), "nested": events.nested}
                for name, events in sorted(tally.events.items())
            },
        }
        parts.append(part)
    findings = {name: getattr(shard.findings, name) for name in AlignmentReport.__slots__}
    lengths = shard.durations
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": version,
        # What `Settings.of` makes equal settings of, and in the same order where one shows.
        "settings": {name: getattr(shard.settings, name) for name in Settings.__slots__},
        "system": shard.system,
        "files": shard.tally.files,
        "findings": {
            name: sorted(value) if isinstance(value, frozenset) else dict(sorted(value.items()))
            for name, value in findings.items()
        },
        "inputs": shard.inputs,
        "durations": None if lengths is None else {name: float(lengths[name]) for name in sorted(lengths)},
        "parts": parts,
    }
    plain = msgspec.to_builtins(header, enc_hook=lambda number: number.item())
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _write(archive, _HEADER, [text.encode("utf-8", "surrogatepass")])
        for name in sorted(arrays):
            array = arrays[name]
            values = np.ascontiguousarray(array, dtype=KINDS[array.dtype.name]).reshape(-1).view(np.uint8)
            _write(archive, f"{name}.npy", [_head(array.dtype.name, array.shape), values.data])
    return stream.getvalue()


def _folder(number: int) -> str:
    return f"group{number}" if number else "whole"


def _arrays(tally: Tally) -> Iterator[tuple[str, Array]]:
    """Yield all arrays of a tally by their names in a file; raises ValueError for what no file holds."""
    for group in ("per_class", "per_file", "samples"):
        for name, array in getattr(tally, group).items():
            _check_name(name, ValueError)
            if array.dtype.name not in KINDS:
                raise ValueError(f"column {name} is of {array.dtype.name}")
            yield f"{group}/{name}", np.asarray(array)
    for name, events in tally.events.items():
        _check_name(name, ValueError)
        for field, kind in EVENT_KINDS.items():
            array = getattr(events, field)
            if array.dtype.name != kind:
                raise ValueError(f"{field} of events {name} is of {array.dtype}, not of {kind}")
            yield f"events/{name}/{field}", array


def _head(kind: str, shape: tuple[int, ...]) -> bytes:
    """Return what stands before the numbers of an array: the head of numpy's format 1.0."""
    text = f"{{'descr': '{KINDS[kind]}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("ascii")


def _write(archive: zipfile.ZipFile, name: str, content: Iterable[bytes | memoryview]) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = _UNIX, _MODE
    content = list(content)
    with archive.open(info, "w", force_zip64=sum(map(len, content)) >= _LARGE) as member:
        for part in content:
            for begin in range(0, len(part), _PIECE):
                member.write(part[begin : begin + _PIECE])


# Reading.


def read_shard(name: str, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; raises InputError for what is none."""
    from sedeval_soft.tables.source import read_bytes

    return unpack_shard(name, read_bytes(name, limits=limits)[:], limits)


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; name: of the file, for messages.

    Raises InputError for anything that is not a whole and sound tally file.
    """
    try:
        with _damage("the list of its members"):
            archive = zipfile.ZipFile(io.BytesIO(data))
        with archive:
            members = _checked_members(archive, len(data))
            size = sum(info.file_size for info in members.values())
            limits.check(name, "size", size, "bytes, unpacked")
            # Twice: arrays as they are read, and as they are put together.
            check_room(2 * size, f"{name}: to unpack it", "Expected smaller tallies")
            shard = _shard(archive, members)
        for what in ("files", "classes"):
            limits.check(name, what, len(getattr(shard.tally, what)), what)
        return shard
    except TallyError as error:
        raise InputError(Problem(name, f"{error}; expected a tally file")) from error


@contextmanager
def _damage(what: str) -> Iterator[None]:
    """Turn what broken bytes raise into a TallyError."""
    try:
        yield
    except MemoryError as error:
        raise TallyError(f"{what} does not fit into memory") from error
    except _BROKEN as error:
        raise TallyError(f"{what} is damaged: {error}") from error


def _checked_members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a zip of so many bytes by name; raises TallyError where they cannot be."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if info.filename in members:
            raise TallyError(f"has two members {info.filename!r}")
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} or info.flag_bits & 0x41:
            raise TallyError(f"{info.filename!r} is packed in a way that no tally is")
        if info.file_size > _DEFLATE * (info.compress_size + 1):
            raise TallyError(f"{info.filename!r} is {info.file_size} bytes long, which cannot be")
        members[info.filename] = info
    # Members that lie upon one another would unfold to more than there is.
    if sum(info.compress_size for info in members.values()) > size:
        raise TallyError("has members longer than itself")
    if _HEADER not in members:
        raise TallyError(f"has no {_HEADER}")
    return members


def _shard(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Shard:
    header = _header(archive, members[_HEADER])
    try:
        settings = Settings.of(**header.settings)
    except (EvaluationError, TypeError, ValueError, ArithmeticError) as error:
        raise TallyError(f"its settings cannot be: {error}") from error
    _check_header(header, settings)
    folders = [_folder(number) for number in range(len(header.parts))]
    wanted = {
        _HEADER,
        *(
            f"{at}/{name}.npy"
            for at, part in zip(folders, header.parts, strict=True)
            for name in part.arrays()
        ),
    }
    for what, names in (("lacks", wanted - {*members}), ("also has", {*members} - wanted)):
        if names:
            some = ", ".join(repr(each)[:80] for each in sorted(names)[:3])
            raise TallyError(f"{what} {len(names)} of its members: {some}")

    def array(name: str, kind: Kind, shape: tuple[int, ...]) -> Array:
        return _array(archive, members[f"{name}.npy"], name, kind, shape)

    tallies = [_tally(array, header.files, at, part) for at, part in zip(folders, header.parts, strict=True)]
    groups = {part.group: tally for part, tally in zip(header.parts, tallies, strict=True)}
    return Shard(
        settings=settings,
        system=header.system,
        tally=tallies[0],
        groups={name: groups[name] for name in settings.groups},
        findings=_findings(header.findings),
        inputs=tuple(map(_input, header.inputs)),
        durations=header.durations,
    )


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header:
    """Return the header of a tally file; raises TallyError where it is none, or one of another format."""

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is no number in JSON")

    if info.file_size > max(_TEXT, _TEXT_RATIO * info.compress_size):
        raise TallyError(f"{_HEADER} is {info.file_size} bytes long, which cannot be")
    with _damage(_HEADER):
        text = archive.read(info)
    try:
        plain = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise TallyError(f"its header is not JSON: {error}") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise TallyError(f"is not a {FORMAT}")
    version = plain.get("version")
    if isinstance(version, int) and version > VERSION:
        raise TallyError(
            f"was written by a newer version of soft-sed-eval, {_short(plain.get('written_by'))}, in format "
            f"{version}; expected format {VERSION}"
        )
    if version != VERSION or isinstance(version, bool):
        raise TallyError(f"has format version {_short(version)}; expected {VERSION}")
    return _converted(plain, Header)


def _check_header(header: Header, settings: Settings) -> None:
    """Raise TallyError where files, durations or parts of a header cannot be those of its settings."""
    for before, after in pairwise(header.files):
        if before >= after:
            raise TallyError(
                f"its files are not sorted and distinct: {_short(after)} follows {_short(before)}"
            )
    for name, seconds in (header.durations or {}).items():
        if not 0 <= seconds <= LONGEST:
            raise TallyError(f"its duration of {_short(name)} is {seconds}; expected 0 to {LONGEST:g} s")
    groups = [part.group for part in header.parts]
    if groups != [None, *sorted(settings.groups)]:
        raise TallyError(
            f"has tallies of the groups {groups[1:]}, but settings of the groups {sorted(settings.groups)}"
        )
    for part in header.parts:
        _check_part(part, settings.classes if part.group is None else settings.groups[part.group])
        # What has no settings is skipped in adding tallies: it must be nothing.
        if part.recipe is None and (header.files or part.classes or list(part.arrays())):
            raise TallyError("has a tally without a recipe")


def _check_part(part: Part, classes: tuple[str, ...] | None) -> None:
    """Raise TallyError where a part cannot be; classes: those it may have, None for any."""
    for name in (*part.per_class, *part.per_file, *part.samples, *part.events):
        _check_name(name, TallyError)
    if len({*part.classes}) < len(part.classes):
        raise TallyError("names a class twice")
    if classes is not None and not {*part.classes} <= {*classes}:
        raise TallyError(f"has classes {sorted({*part.classes} - {*classes})} that its settings do not")
    for name in part.samples:
        for column in (cells_of(name), evaluated_of(name)):
            if column not in part.per_file:
                raise TallyError(f"has samples {name} and no {column}")


def _converted(plain: object, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError) as error:
        raise TallyError(f"its header is not that of a tally: {error}") from error


def _of_fields(what: str, values: Mapping[str, Any], kind: type[_T]) -> _T:
    """Return an object of which a header has all fields and no others; raises TallyError."""
    fields: Sequence[str] = kind.__slots__  # type: ignore[attr-defined]
    if {*values} != {*fields}:
        named = ", ".join(map(_short, sorted({*values} ^ {*fields})))
        raise TallyError(f"its {what} lack or have what is not theirs: {named}")
    return _converted(values, kind)


def _findings(values: Mapping[str, Any]) -> AlignmentReport:
    report = _of_fields("findings", values, AlignmentReport)
    faults = [f"the role {role!r}" for role in {*report.beyond, *report.tables} - _ROLES]
    for name in ("beyond", "after_end"):
        numbers = (number for of_one in getattr(report, name).values() for number in of_one)
        faults += [f"{number} of {name}" for number in numbers if not 0 <= number <= _MOST]
    faults += [fault for table in report.tables.values() if (fault := table.fault())]
    if faults:
        raise TallyError(f"its findings have {faults[0][:60]}")
    return report


def _input(values: Mapping[str, Any]) -> Input:
    item = _of_fields("inputs", values, Input)
    if min(item.rows, item.files, item.classes) < 0:
        raise TallyError(f"its input {_short(item.name)} has fewer than 0 rows, files or classes")
    return item


def _check_name(name: str, error: type[Exception]) -> None:
    if not _NAME.fullmatch(name):
        raise error(f"{repr(name)[:60]} is not the name of a column")


def _short(value: object) -> str:
    return repr(value)[:60]


def _array(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, kind: Kind, shape: tuple[int, ...]
) -> Array:
    """Return an array that must be as the header says; raises TallyError."""
    head, expected = _head(kind, shape), np.dtype(KINDS[kind]).itemsize
    for length in shape:
        expected *= length
    with _damage(name), archive.open(info) as member:
        begins = member.read(len(head))
        if begins != head:
            text = begins[10:].partition(b"\n")[0].strip()[:80].decode("ascii", "backslashreplace")
            raise TallyError(f"array {name} begins {text!r}; expected {kind} {shape}")
        if info.file_size != len(head) + expected:
            raise TallyError(
                f"array {name} has {info.file_size} bytes; expected {len(head) + expected}, {kind} {shape}"
            )
        # To the end: the last read is what compares the checksum.
        array = np.frombuffer(bytearray(member.read()), dtype=KINDS[kind]).reshape(shape)
    if kind == "bool" and array.view(np.uint8).max(initial=0) > 1:
        raise TallyError(f"array {name} is of truth values, and holds others")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _tally(array: Any, files: tuple[str, ...], folder: str, part: Part) -> Tally:  # noqa: ANN401 - a function
    """Return the tally of a part; array: returns one by its name, type and shape."""
    shape = (len(files), len(part.classes))
    per_class, per_file = (
        {
            name: _counts(name, array(f"{folder}/{group}/{name}", kind, of_shape))
            for name, kind in getattr(part, group).items()
        }
        for group, of_shape in (("per_class", shape), ("per_file", shape[:1]))
    )
    samples = {}
    for name, sample in part.samples.items():
        cells = per_file[cells_of(name)]
        if (per_file[evaluated_of(name)] > cells).any():
            raise TallyError(f"has more evaluated cells than cells of samples {name}")
        if cells.dtype != np.int64 or int(cells.sum()) != sample.cells:
            raise TallyError(f"has {counted(sample.cells, 'cell')} of samples {name}; expected {cells.sum()}")
        values = array(f"{folder}/samples/{name}", sample.kind, (shape[1], sample.cells))
        samples[name] = _between(f"samples {name}", values, -_ROUNDING, 1 + _ROUNDING)
    most = {
        "file": shape[0] - 1,
        "label": shape[1] - 1,
        "onset": _LONGEST,
        "offset": _LONGEST,
        "born": _HIGHEST,
        "dies": _HIGHEST,
    }
    events = {}
    for name, lifetimes in part.events.items():
        at, n = f"{folder}/events/{name}", lifetimes.events
        if not 0 <= n < _MOST:
            raise TallyError(f"has {n} events")
        columns: Mapping[str, Any] = {
            field: _between(f"{at}/{field}", array(f"{at}/{field}", kind, (n,)), 0, most[field])
            for field, kind in EVENT_KINDS.items()
        }
        if (columns["onset"] > columns["offset"]).any() or (columns["born"] > columns["dies"]).any():
            raise TallyError(f"{at} has an event that ends before it begins")
        events[name] = EventLifetimes(**columns, nested=lifetimes.nested)
    expected = None if part.expected is None else frozenset(part.expected)
    return Tally(files, part.classes, per_class, per_file, samples, events, part.recipe, expected)


def _counts(name: str, column: Array) -> Array:
    """Return a column, all of whose numbers must be possible."""
    if not column.size or column.dtype == np.bool_:
        return column
    if column.dtype != np.float64:
        # Larger ones would overflow in sums.
        if column.min() < 0 or column.sum(dtype=np.float64) >= _MOST:
            raise TallyError(f"column {name} has counts below 0, or too many")
    elif name.rpartition(".")[2] in _COUNTS:
        _between(f"column {name}", column, -_ROUNDING, _MOST)
    return column


def _between(what: str, values: Array, least: float, most: float) -> Array:
    """Return values that must all be numbers in a range, its ends included."""
    if not np.all((values >= least) & (values <= most)):
        raise TallyError(f"{what} has a number that is not {least:g} to {most:g}")
    return values
