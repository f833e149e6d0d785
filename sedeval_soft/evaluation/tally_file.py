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
import math
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.evaluation.scores import Input
from sedeval_soft.evaluation.shard import Shard
from sedeval_soft.measures.tally import Tally, cells_of
from sedeval_soft.memory import check_room
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.alignment_report import AlignmentReport
from sedeval_soft.timeline.events import EventLifetimes
from sedeval_soft.timeline.ranges import Pyramid

FORMAT, VERSION = "soft-sed-eval tally", 2

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
_DEFLATE = 1100
"""No deflated byte stands for more than 1032 others; what declares more is made up."""

_TEXT, _TEXT_RATIO = 1 << 24, 200
"""Bytes that the header may have in any case, and how many for each compressed one beyond that."""

Arrays = dict[str, dict[str, dict[str, Array]]]
"""The arrays of a tally by group, name and field, see `Described`."""

_Count = Annotated[int, msgspec.Meta(ge=0, lt=_MOST)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]


class TallyError(Exception):
    """What is wrong with a tally file; the reader adds which."""


class Described(NamedTuple):
    """An array of a tally: what it is called there, its type and shape, and the range of its numbers, if any.

    group: `per_class`, `per_file`, `samples` or `events`, each of which has arrays by name, or lifetimes by
    name, of which each field is an array.
    """

    group: str
    name: str
    field: str
    kind: Kind
    shape: tuple[int, ...]
    least: float | None = None
    most: float | None = None

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
                counts = (0, _MOST // max(1, math.prod(shape))) if kind != "float64" else ()
                yield Described(group, name, "", kind, shape, *counts)
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
    return stream.getvalue()


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
        with _refused("the list of its members is damaged"):
            archive = zipfile.ZipFile(io.BytesIO(data))
        with archive:
            members = _checked_members(archive, len(data))
            size = sum(info.file_size for info in members.values())
            limits.check(name, "size", size, "bytes, unpacked")
            # Twice: arrays as they are read, and as they are put together.
            check_room(2 * size, f"{name}: to unpack it", "Expected smaller tallies")
            shard = _shard(archive, members)
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
    with _refused("its settings cannot be"):
        settings = Settings.of(**header.settings)
    groups = [part.group for part in header.parts]
    if groups != [None, *sorted(settings.groups)]:
        raise TallyError(f"has tallies of the groups {groups[1:]}, its settings of {sorted(settings.groups)}")
    described = [*header.arrays()]
    wanted = {_HEADER, *(f"{place}.npy" for place, *_ in described)}
    for what, names in (("lacks", wanted - {*members}), ("also has", {*members} - wanted)):
        if names:
            some = ", ".join(repr(each)[:80] for each in sorted(names)[:3])
            raise TallyError(f"{what} {len(names)} of its members: {some}")
    arrays: list[Arrays] = [{} for _ in header.parts]
    for place, number, array in described:
        values = _array(archive, members[f"{place}.npy"], place, array)
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


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header:
    """Return the header of a tally file; raises TallyError where it is none, or one of another format."""

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number in JSON")

    if info.file_size > max(_TEXT, _TEXT_RATIO * info.compress_size):
        raise TallyError(f"{_HEADER} is {info.file_size} bytes long, which cannot be")
    with _refused(f"{_HEADER} is damaged"):
        text = archive.read(info)
    with _refused("its header is not JSON"):
        plain = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=refuse_constant)
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


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, expected: Described) -> Array:
    """Return an array that must be as the header describes it; raises TallyError."""
    *_, kind, shape, least, most = expected
    head, size = expected.head, np.dtype(KINDS[kind]).itemsize * math.prod(shape)
    with _refused(f"{place} is damaged"), archive.open(info) as member:
        begins = member.read(len(head))
        if begins != head:
            text = begins[10:].partition(b"\n")[0].strip()[:80].decode("ascii", "backslashreplace")
            raise TallyError(f"{place} begins {text!r}; expected {kind} {shape}")
        if info.file_size != len(head) + size:
            raise TallyError(
                f"{place} has {info.file_size} bytes; expected {len(head) + size}, {kind} {shape}"
            )
        # To the end: the last read is what compares the checksum.
        array = np.frombuffer(bytearray(member.read()), dtype=KINDS[kind]).reshape(shape)
    if least is not None and not np.all((array >= least) & (array <= most)):
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
    if any(part.per_file.get(cells_of(name)) != "int64" for name in part.samples):
        raise TallyError("has samples, and not how many cells each file has")
    events = {
        name: EventLifetimes(**columns, nested=part.events[name].nested)
        for name, columns in arrays.pop("events", {}).items()
    }
    for name, each in events.items():
        if (each.onset > each.offset).any() or (each.born > each.dies).any():
            raise TallyError(f"{name} has an event that ends before it begins")
        if each.nested and not _are_nested(each):
            raise TallyError(f"{name} has events of one file and class that are not one within the other")
    columns = {
        group: {name: fields[""] for name, fields in of_group.items()} for group, of_group in arrays.items()
    }
    expected = None if part.expected is None else frozenset(part.expected)
    with _refused("its arrays do not fit together"):
        return Tally(files, part.classes, events=events, recipe=part.recipe, expected=expected, **columns)


def _are_nested(lifetimes: EventLifetimes) -> bool:
    """Return whether of two events of a file and class at one time one is within the other, and above it.

    So it is of an activity, where at each level all events are apart.
    """
    each = lifetimes.take(
        np.lexsort((lifetimes.dies, -lifetimes.offset, lifetimes.onset, lifetimes.label, lifetimes.file))
    )
    times, place = np.unique(np.concatenate((each.onset, each.offset)), return_inverse=True)
    onset, offset = place.reshape(2, -1)
    # What is of one file and class is above all before it, so that a search for what goes on ends there.
    floor = len(times) * np.append(0, np.cumsum(~each.goes_on())[: len(each)])
    ends = np.append(-len(times), floor - offset)
    around = Pyramid(ends).before(np.arange(1, len(ends)), (floor - onset), or_equal=False) - 1
    inside = np.flatnonzero((around >= 0) & (floor[around] == floor))
    outer = around[inside]
    return bool(np.all((offset[outer] >= offset[inside]) & (each.dies[outer] <= each.born[inside])))
