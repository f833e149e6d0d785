"""Tally files: a shard of an evaluation in one file, and back, to the last bit.

A file is a zip of numpy arrays and a header in JSON. `numpy.savez_compressed` writes the arrays and
`numpy.load` reads them, one for each column; nothing in the file is ever unpickled. The same shard gives the
same bytes.

The comment of the zip, at the end of the file, is the SHA-256 of all bytes before it: a damaged file is
refused. Anybody who makes a file with the right hash can put any scores into it: the reader only checks
shapes, ranges of numbers and that no cell is counted less than zero times, so that every file is scored or
refused. Names may contain characters outside
UTF-8 (undecodable file names, kept as surrogates): the text keeps them.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
import numpy as np

from sedeval_soft.arrays import Array
from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.evaluation.shard import Input, Shard
from sedeval_soft.measures.detection import PER_CLASS
from sedeval_soft.measures.registry import variants_of
from sedeval_soft.measures.tally import Tally
from sedeval_soft.memory import check_room
from sedeval_soft.plan import CELLS
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import EventLifetimes

FORMAT, VERSION = "soft-sed-eval tally", 4

_HEADER = "header.json"
_COLUMNS, _TIMES = ("per_class", "per_file", "samples"), ("file", "label", "onset", "offset", "born", "dies")
_TYPES = ("<i4", "<i8", "<f8")

_ROUNDING = 1e-9
"""Largest error of means of values by rounding."""

_MOST = 2**62
"""Largest sum of whole numbers: larger sums would overflow."""

_HIGHEST = math.nextafter(1.0, 2.0)
"""Levels are up to 1; an operating point at 1 has the next number above it."""

_EPOCH, _UNIX, _MODE = (1980, 1, 1, 0, 0, 0), 3, 0o644 << 16
_DIGEST = 64
"""Letters of a SHA-256."""


class TallyError(Exception):
    """Error of a tally file; the reader adds its name."""


class PackedTally(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tally without its arrays: of all classes (no group), or of a group of them.

    nested: whether they are, for lifetimes by name.
    """

    group: str | None
    classes: tuple[str, ...]
    recipe: str | None
    expected: tuple[str, ...] | None
    nested: dict[str, bool]


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard without its arrays. settings: as `Settings.of` takes them."""

    format: str
    version: int
    written_by: str
    settings: dict[str, Any]
    system: str
    files: tuple[str, ...]
    findings: AlignmentReport
    inputs: tuple[Input, ...]
    durations: dict[str, Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]] | None
    parts: tuple[PackedTally, ...]


def _folder(number: int) -> str:
    """Return the folder of the arrays of a part."""
    return f"group{number}" if number else "whole"


def _arrays(tally: Tally) -> dict[str, Array]:
    """Return the arrays of a tally by their places in its folder."""
    columns = {f"{kind}/{name}": array for kind in _COLUMNS for name, array in getattr(tally, kind).items()}
    return columns | {
        f"events/{name}/{field}": getattr(events, field)
        for name, events in tally.events.items()
        for field in _TIMES
    }


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard as the bytes of a tally file; version: of the program that writes it."""
    tallies = [(None, shard.tally), *sorted({**shard.groups, **shard.variants}.items())]
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
        tuple(
            PackedTally(
                group,
                tally.classes,
                tally.recipe,
                None if tally.expected is None else tuple(sorted(tally.expected)),
                {name: of.nested for name, of in sorted(tally.events.items())},
            )
            for group, tally in tallies
        ),
    )
    plain = msgspec.to_builtins(header, enc_hook=lambda number: number.item())
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _write(archive, _HEADER, text.encode("utf-8", "surrogatepass"))
        for number, (_, tally) in enumerate(tallies):
            for place, array in sorted(_arrays(tally).items()):
                member = io.BytesIO()
                little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
                np.lib.format.write_array(member, little, version=(1, 0), allow_pickle=False)
                _write(archive, f"{_folder(number)}/{place}.npy", member.getvalue())
        archive.comment = bytes(_DIGEST)
    data = stream.getvalue()[:-_DIGEST]
    return data + _digest(data)


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = _UNIX, _MODE
    archive.writestr(info, content)


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard in a tally file; name: of the file, for messages.

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
            # Compression methods other than ours may unfold to more bytes than a member declares.
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
    """Turn errors from broken bytes and impossible contents into a TallyError."""
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
        variants = [f"{name}@{text}" for text in variants_of(settings) for name in ("", *settings.groups)]
    groups = [part.group for part in header.parts]
    expected = sorted([*settings.groups, *variants])
    if groups != [None, *expected]:
        raise TallyError(f"has tallies of the groups {groups[1:]}, its settings of {expected}")
    arrays: dict[str, dict[str, Array]] = {_folder(number): {} for number in range(len(groups))}
    for member in sorted({*archive.namelist()} - {_HEADER}):
        folder, _, place = member.removesuffix(".npy").partition("/")
        with _refused(f"{member} cannot be read"), archive.open(member) as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
            if array.dtype.str not in _TYPES:
                raise ValueError(f"its numbers are {array.dtype}")
            arrays[folder][place] = array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
    tallies = {
        part.group: _tally(arrays[_folder(number)], header.files, part, settings)
        for number, part in enumerate(header.parts)
    }
    return Shard(
        settings=settings,
        system=header.system,
        tally=tallies[None],
        groups={name: tallies[name] for name in settings.groups},
        findings=header.findings,
        inputs=header.inputs,
        durations=header.durations,
        variants={name: tallies[name] for name in variants},
    )


def _header(archive: zipfile.ZipFile) -> Header:
    """Return the header of a tally file; raises TallyError if it is absent or has another format."""

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number in JSON")

    with _refused("its header is not JSON"):
        text = archive.read(_HEADER).decode("utf-8", "surrogatepass")
        plain = json.loads(text, parse_constant=refuse_constant)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise TallyError(f"is not a {FORMAT}")
    version = plain.get("version")
    if type(version) is not int or version != VERSION:
        raise TallyError(
            f"has format version {version!r:.60}, written by soft-sed-eval "
            f"{plain.get('written_by')!r:.60}; this one reads format {VERSION}"
        )
    with _refused("its header is not that of a tally"):
        header = msgspec.convert(plain, Header)
    _check_findings(header.findings)
    return header


def _check_findings(report: AlignmentReport) -> None:
    """Raise TallyError for roles and numbers that no report has."""
    roles = {*report.tables, *report.off_grid, *report.steps} - {"reference", "system"}
    faults = [f"the role {role!r}" for role in roles]
    for name in ("off_grid", "ignored", "steps"):
        numbers = (number for of_one in getattr(report, name).values() for number in of_one)
        faults += [f"{number} of {name}" for number in numbers if not 0 <= number <= _MOST]
    faults += [
        f"impossible numbers of the {role}" for role, rows in report.tables.items() if not rows.possible
    ]
    if faults:
        raise TallyError(f"its findings have {faults[0][:60]}")


def _tally(
    arrays: Mapping[str, Array], files: tuple[str, ...], part: PackedTally, settings: Settings
) -> Tally:
    """Return the tally of a part; raises TallyError if its arrays cannot be one."""
    group = (part.group or "").partition("@")[0]
    classes = settings.groups[group] if group else settings.classes
    if len({*part.classes}) < len(part.classes):
        raise TallyError("names a class twice")
    if classes is not None and not {*part.classes} <= {*classes}:
        raise TallyError(f"has classes {sorted({*part.classes} - {*classes})} that its settings do not")
    # Adding tallies skips arrays without settings: they must be empty.
    if part.recipe is None and (files or part.classes or arrays):
        raise TallyError("has a tally without a recipe")
    groups = {
        kind: {
            place.removeprefix(f"{kind}/"): of for place, of in arrays.items() if place.startswith(f"{kind}/")
        }
        for kind in _COLUMNS
    }
    with _refused("its arrays do not fit together"):
        events = {
            name: EventLifetimes(
                **{field: arrays[f"events/{name}/{field}"] for field in _TIMES}, nested=nested
            )
            for name, nested in part.nested.items()
        }
        expected = None if part.expected is None else frozenset(part.expected)
        tally = Tally(files, part.classes, events=events, recipe=part.recipe, expected=expected, **groups)
        if surplus := arrays.keys() - _arrays(tally).keys():
            raise TallyError(f"also has {min(surplus)}")
    _check_numbers(tally)
    return tally


def _check_numbers(tally: Tally) -> None:
    """Raise TallyError for a number that no tally has."""
    most = {
        "file": len(tally.files) - 1,
        "label": len(tally.classes) - 1,
        "onset": (last := int(LONGEST) * TICKS_PER_SECOND),
        "offset": last,
        "born": _HIGHEST,
        "dies": _HIGHEST,
    }
    for place, array in _arrays(tally).items():
        kind, _, name = place.partition("/")
        low, high = 0.0, _MOST / max(1, array.size)
        if kind == "events":
            high = most[name.rpartition("/")[2]]
        elif kind == "samples":
            low, high = -_ROUNDING, 1 + _ROUNDING
        elif array.dtype.kind == "f":
            low = -high
        if not np.all((array >= low) & (array <= high)):
            raise TallyError(f"{place} has a number that is not {low:g} to {high:g}")
    for name, each in tally.events.items():
        if len({len(getattr(each, field)) for field in _TIMES}) > 1:
            raise TallyError(f"{name} has columns of different lengths")
        if (each.onset > each.offset).any() or (each.born > each.dies).any():
            raise TallyError(f"{name} has an event that ends before it begins")
    for basis in CELLS:
        _check_cells(tally, basis)


def _check_cells(tally: Tally, basis: str) -> None:
    """Raise TallyError for a class with less than zero hits, errors or silent cells of a file."""
    try:
        columns = (tally.per_class[f"{basis}.hard.{name}"] for name in (*PER_CLASS, "beyond"))
        tp, n_ref, n_sys, beyond = (column.astype(np.float64) for column in columns)
        n_cells = tally.per_file[f"{basis}.hard.n_cells"]
    except KeyError:
        return  # The settings count no such cells, or the check against the settings refuses the file.
    fp, fn = n_sys - tp, n_ref - tp
    for count, cells in {"FP": fp, "FN": fn, "TN": n_cells[:, None] - n_ref - (fp - beyond)}.items():
        if (cells < 0).any():
            raise TallyError(f"its {basis}.hard has a class with {count} < 0")
