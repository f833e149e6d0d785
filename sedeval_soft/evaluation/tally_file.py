"""Tally files: a shard of an evaluation in one file, and back, to the last bit.

A file is a zip of numpy arrays, as `numpy.savez_compressed` writes it and `numpy.load` reads it, one for
each column, and of a header in JSON; nothing in it is ever unpickled. The same shard gives the same bytes:
times are fixed, and the heads of arrays are made here, so that they do not depend on a version of numpy.

The comment of the zip, with which the file ends, is the SHA-256 of all bytes before it: a damaged file is
refused. Who makes a file with the right hash can put any numbers into it: names, types and shapes of arrays,
and the ranges of their numbers, are checked so that every file is scored or refused, and no more. Names may
hold what no UTF-8 has (undecodable file names, kept as surrogates): the text keeps them so.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.evaluation.scores import Input
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.tally import Tally
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import EventLifetimes

FORMAT, VERSION = "soft-sed-eval tally", 3

Kind = Literal["int32", "int64", "float64"]
KINDS = {"int32": "<i4", "int64": "<i8", "float64": "<f8"}
"""The types of arrays, as numpy names them and as they are written."""

_HEADER = "header.json"
_ROUNDING = 1e-9
"""How far means of values may be off by rounding."""

_MOST = 2**62
"""What whole numbers may add up to: more would overflow in sums."""

_LONGEST = int(LONGEST) * TICKS_PER_SECOND
_HIGHEST = math.nextafter(1.0, 2.0)
"""Levels are up to 1; an operating point at 1 has the next number above it."""

_EPOCH, _UNIX, _MODE = (1980, 1, 1, 0, 0, 0), 3, 0o644 << 16
_LARGE, _PIECE = 1 << 31, 1 << 20
_DIGEST = 64
"""Letters of a SHA-256."""

Arrays = dict[str, dict[str, dict[str, Array]]]
"""The arrays of a tally by group, name and field, see `Described`."""

_Count = Annotated[int, msgspec.Meta(ge=0, lt=_MOST)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]


class TallyError(Exception):
    """What is wrong with a tally file; the reader adds which."""


class Described(NamedTuple):
    """An array of a tally: what it is called there, its type and shape, and the range of its numbers.

    group: `per_class`, `per_file`, `samples` or `events`, each of which has arrays by name, or lifetimes by
    name, of which each field is an array.
    """

    group: str
    name: str
    field: str
    kind: Kind
    shape: tuple[int, ...]
    least: float
    most: float

    @property
    def place(self) -> str:
        """Where it is in the file, below its tally."""
        return "/".join(filter(None, (self.group, self.name, self.field)))

    def values(self, tally: Tally) -> Array:
        """Return the array of a tally."""
        column = getattr(tally, self.group)[self.name]
        values = getattr(column, self.field) if self.field else column
        return np.ascontiguousarray(values, dtype=KINDS[self.kind])

    @property
    def head(self) -> bytes:
        """What stands before the numbers: the head of numpy's format 1.0."""
        text = f"{{'descr': '{KINDS[self.kind]}', 'fortran_order': False, 'shape': {self.shape!r}, }}"
        text += " " * (-(len(text) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("ascii")


class Samples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The type of the values of cells, and how many cells there are."""

    kind: Kind
    cells: _Count


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many lifetimes there are, and whether they are nested."""

    events: _Count
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

    @classmethod
    def of(cls, group: str | None, tally: Tally) -> Part:
        """Return what stands of a tally in the header."""
        return cls(
            group,
            tally.classes,
            tally.recipe,
            None if tally.expected is None else tuple(sorted(tally.expected)),
            {name: _kind(column) for name, column in sorted(tally.per_class.items())},
            {name: _kind(column) for name, column in sorted(tally.per_file.items())},
            {name: Samples(_kind(of), of.shape[1]) for name, of in sorted(tally.samples.items())},
            {name: Events(len(of), of.nested) for name, of in sorted(tally.events.items())},
        )

    def arrays(self, n_files: int) -> Iterator[Described]:
        """Yield all arrays of a tally of so many files."""
        n_classes = len(self.classes)
        for group, kinds, shape in (
            ("per_class", self.per_class, (n_files, n_classes)),
            ("per_file", self.per_file, (n_files,)),
        ):
            for name, kind in kinds.items():
                above: float = _MOST // max(1, math.prod(shape))
                yield Described(group, name, "", kind, shape, -above if kind == "float64" else 0, above)
        for name, sample in self.samples.items():
            shape = n_classes, sample.cells
            yield Described("samples", name, "", sample.kind, shape, -_ROUNDING, 1 + _ROUNDING)
        fields: dict[str, tuple[Kind, float]] = {
            "file": ("int32", n_files - 1),
            "label": ("int32", n_classes - 1),
            "onset": ("int64", _LONGEST),
            "offset": ("int64", _LONGEST),
            "born": ("float64", _HIGHEST),
            "dies": ("float64", _HIGHEST),
        }
        for name, lifetimes in self.events.items():
            for field, (kind, most) in fields.items():
                yield Described("events", name, field, kind, (lifetimes.events,), 0, most)


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard without its numbers. settings: as `Settings.of` takes them."""

    format: str
    version: int
    written_by: str
    settings: dict[str, Any]
    system: str
    files: tuple[str, ...]
    findings: AlignmentReport
    inputs: tuple[Input, ...]
    durations: dict[str, _Seconds] | None
    parts: tuple[Part, ...]

    def arrays(self) -> Iterator[tuple[str, int, Described]]:
        """Yield the place of each array in the file, and the number of the part that it belongs to."""
        for number, part in enumerate(self.parts):
            folder = f"group{number}" if number else "whole"
            for array in part.arrays(len(self.files)):
                yield f"{folder}/{array.place}", number, array


def _kind(array: Any) -> Any:  # noqa: ANN401 - a column of a tally
    return array.dtype.name


# Writing.


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard as the bytes of a tally file; version: of the program that writes it."""
    tallies = [(None, shard.tally), *sorted(shard.groups.items())]
    findings = {name: getattr(shard.findings, name) for name in AlignmentReport.__slots__}
    lengths = shard.durations
    header = Header(
        FORMAT,
        VERSION,
        version,
        # What `Settings.of` makes equal settings of, and in the same order where one shows.
        {name: getattr(shard.settings, name) for name in Settings.__slots__}
        | {"regions": shard.settings.regions and shard.settings.regions.by_file()},
        shard.system,
        shard.tally.files,
        {
            name: sorted(value) if isinstance(value, frozenset) else dict(sorted(value.items()))
            for name, value in findings.items()
        },  # type: ignore[arg-type]
        shard.inputs,
        None if lengths is None else {name: float(lengths[name]) for name in sorted(lengths)},
        tuple(Part.of(group, tally) for group, tally in tallies),
    )
    plain = msgspec.to_builtins(header, enc_hook=lambda number: number.item())
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _write(archive, _HEADER, text.encode("utf-8", "surrogatepass"))
        for place, number, array in sorted(header.arrays()):
            values = array.values(tallies[number][1]).reshape(-1).view(np.uint8)
            _write(archive, f"{place}.npy", array.head, values.data)
        archive.comment = bytes(_DIGEST)
    data = stream.getvalue()[:-_DIGEST]
    return data + _digest(data)


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _write(archive: zipfile.ZipFile, name: str, *content: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = _UNIX, _MODE
    with archive.open(info, "w", force_zip64=sum(map(len, content)) >= _LARGE) as member:
        for part in content:
            for begin in range(0, len(part), _PIECE):
                member.write(part[begin : begin + _PIECE])


# Reading.


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; name: of the file, for messages.

    Raises InputError for anything that is not a whole and sound tally file.
    """
    try:
        if data[-_DIGEST:] != _digest(memoryview(data)[:-_DIGEST]):
            raise TallyError(
                "does not end with the SHA-256 of what is before it: it is damaged, older than "
                f"format {VERSION}, or something else"
            )
        with _refused("the list of its members is damaged"):
            archive = zipfile.ZipFile(io.BytesIO(data))
        with archive:
            # Of what is packed in other ways zipfile may unfold more than a member says that it has.
            if {info.compress_type for info in archive.infolist()} - {
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            }:
                raise TallyError("has members that are neither stored nor deflated")
            size = sum(info.file_size for info in archive.infolist())
            limits.check(name, "size", size, "bytes, unpacked")
            # Twice: arrays as they are read, and as they are put together.
            check_room(2 * size, f"{name}: to unpack it", "Expected smaller tallies")
            shard = _shard(archive)
    except TallyError as error:
        raise InputError(Problem(name, f"{error}; expected a tally file")) from error
    for what in ("files", "classes"):
        limits.check(name, what, len(getattr(shard.tally, what)), what)
    return shard


@contextmanager
def _refused(message: str) -> Iterator[None]:
    """Turn what broken bytes and impossible contents raise into a TallyError."""
    try:
        yield
    except TallyError:
        raise
    except Exception as error:
        raise TallyError(f"{message}: {error}") from error


def _shard(archive: zipfile.ZipFile) -> Shard:
    header = _header(archive)
    with _refused("its settings cannot be"):
        settings = Settings.of(**header.settings)
    groups = [part.group for part in header.parts]
    if groups != [None, *sorted(settings.groups)]:
        raise TallyError(f"has tallies of the groups {groups[1:]}, its settings of {sorted(settings.groups)}")
    described = [*header.arrays()]
    wanted = {_HEADER, *(f"{place}.npy" for place, *_ in described)}
    found = {*archive.namelist()}
    for what, names in (("lacks", wanted - found), ("also has", found - wanted)):
        if names:
            some = ", ".join(repr(each)[:80] for each in sorted(names)[:3])
            raise TallyError(f"{what} {len(names)} of its members: {some}")
    arrays: list[Arrays] = [{} for _ in header.parts]
    for place, number, array in described:
        values = _array(archive, place, array)
        arrays[number].setdefault(array.group, {}).setdefault(array.name, {})[array.field] = values
    tallies = {
        part.group: _tally(of_part, header.files, part, settings)
        for of_part, part in zip(arrays, header.parts, strict=True)
    }
    return Shard(
        settings=settings,
        system=header.system,
        tally=tallies[None],
        groups={name: tallies[name] for name in settings.groups},
        findings=header.findings,
        inputs=header.inputs,
        durations=header.durations,
    )


def _header(archive: zipfile.ZipFile) -> Header:
    """Return the header of a tally file; raises TallyError where it is none, or one of another format."""

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number in JSON")

    with _refused("its header is not JSON"):
        text = archive.read(_HEADER).decode("utf-8", "surrogatepass")
        plain = json.loads(text, parse_constant=refuse_constant)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise TallyError(f"is not a {FORMAT}")
    version = plain.get("version")
    if type(version) is not int or version != VERSION:
        written_by = repr(plain.get("written_by"))[:60]
        raise TallyError(
            f"has format version {version!r:.60}, written by soft-sed-eval {written_by}; this one reads "
            f"format {VERSION}"
        )
    with _refused("its header is not that of a tally"):
        header = msgspec.convert(plain, Header)
    _check_findings(header.findings)
    return header


def _check_findings(report: AlignmentReport) -> None:
    """Raise TallyError for roles and numbers that no report has."""
    roles = {*report.beyond, *report.tables, *report.off_grid, *report.steps} - {"reference", "system"}
    faults = [f"the role {role!r}" for role in roles]
    for name in ("beyond", "after_end", "off_grid", "ignored", "steps"):
        numbers = (number for of_one in getattr(report, name).values() for number in of_one)
        faults += [f"{number} of {name}" for number in numbers if not 0 <= number <= _MOST]
    faults += [fault for table in report.tables.values() if (fault := table.fault())]
    if faults:
        raise TallyError(f"its findings have {faults[0][:60]}")


def _array(archive: zipfile.ZipFile, place: str, expected: Described) -> Array:
    """Return an array that must be as the header describes it; raises TallyError."""
    *_, kind, shape, least, most = expected
    head = expected.head
    with _refused(f"{place} cannot be read"), archive.open(f"{place}.npy") as member:
        begins = member.read(len(head))
        if begins != head:
            text = begins[10:].partition(b"\n")[0].strip()[:80].decode("ascii", "backslashreplace")
            raise TallyError(f"{place} begins {text!r}; expected {kind} {shape}")
        array = np.frombuffer(bytearray(member.read()), dtype=KINDS[kind]).reshape(shape)
    if not np.all((array >= least) & (array <= most)):
        raise TallyError(f"{place} has a number that is not {least:g} to {most:g}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _tally(arrays: Arrays, files: tuple[str, ...], part: Part, settings: Settings) -> Tally:
    """Return the tally of a part; raises TallyError where it cannot be one."""
    classes = settings.classes if part.group is None else settings.groups[part.group]
    if len({*part.classes}) < len(part.classes):
        raise TallyError("names a class twice")
    if classes is not None and not {*part.classes} <= {*classes}:
        raise TallyError(f"has classes {sorted({*part.classes} - {*classes})} that its settings do not")
    # What has no settings is skipped in adding tallies: it must be nothing.
    if part.recipe is None and (files or part.classes or arrays):
        raise TallyError("has a tally without a recipe")
    events = {
        name: EventLifetimes(**columns, nested=part.events[name].nested)
        for name, columns in arrays.pop("events", {}).items()
    }
    for name, each in events.items():
        if (each.onset > each.offset).any() or (each.born > each.dies).any():
            raise TallyError(f"{name} has an event that ends before it begins")
    columns = {
        group: {name: fields[""] for name, fields in of_group.items()} for group, of_group in arrays.items()
    }
    expected = None if part.expected is None else frozenset(part.expected)
    with _refused("its arrays do not fit together"):
        return Tally(files, part.classes, events=events, recipe=part.recipe, expected=expected, **columns)
