"""Tally files: a shard of an evaluation in one file, and back, to the last bit.

A file is a zip of numpy arrays, one for each column, and of a header in JSON; nothing in it is ever
unpickled. The same shard gives the same bytes. What is read back is what scores are computed from: all of
it is checked, so that a damaged or made-up file is refused with what is wrong, and not found out later.
Names may hold what no UTF-8 has (undecodable file names, kept as surrogates): the text keeps them so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np

from sedeval_soft.errors import EvaluationError, InputError, Problem, counted
from sedeval_soft.evaluation.array_archive import (
    KINDS,
    Array,
    MemberError,
    Members,
    Spec,
    open_members,
    write_members,
)
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

EVENT_KINDS = {
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

_SIDES = ("reference", "system")
_T = TypeVar("_T")

Kind = Literal["bool", "int32", "int64", "float64"]


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
            for name in getattr(self, group):
                yield f"{group}/{name}"
        for name in self.events:
            for field in EVENT_KINDS:
                yield f"events/{name}/{field}"


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
            name: sorted(of) if isinstance(of, frozenset) else dict(sorted(of.items()))
            for name, of in findings.items()
        },
        "inputs": shard.inputs,
        "durations": None if lengths is None else {name: float(lengths[name]) for name in sorted(lengths)},
        "parts": parts,
    }
    plain = msgspec.to_builtins(header, enc_hook=lambda number: number.item())
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return write_members((_HEADER, text.encode("utf-8", "surrogatepass")), arrays)


def _folder(number: int) -> str:
    return f"group{number}" if number else "whole"


def _arrays(tally: Tally) -> Iterator[tuple[str, Array]]:
    """Yield all arrays of a tally by their names in a file."""
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


def read_shard(name: str, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; raises InputError for what is none."""
    from sedeval_soft.tables.source import read_bytes

    return unpack_shard(name, read_bytes(name, limits=limits)[:], limits)


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; name: of the file, for messages.

    Raises InputError for anything that is not a whole and sound tally file.
    """
    try:
        with open_members(data) as members:
            size = sum(info.file_size for info in members.by_name.values())
            limits.check(name, "size", size, "bytes, unpacked")
            # Twice: arrays as they are read, and as they are put together.
            check_room(2 * size, f"{name}: to unpack it", "Expected smaller tallies")
            shard = _shard(members)
            for what in ("files", "classes"):
                limits.check(name, what, len(getattr(shard.tally, what)), what)
            return shard
    except MemberError as error:
        raise InputError(Problem(name, f"{error}; expected a tally file")) from error


def _shard(members: Members) -> Shard:
    header = _parsed(members.text(_HEADER))
    try:
        settings = Settings.of(**header.settings)
    except (EvaluationError, TypeError, ValueError, ArithmeticError) as error:
        raise MemberError(f"its settings cannot be: {error}") from error
    _check_header(header, settings)
    wanted = {
        _HEADER,
        *(f"{_folder(i)}/{name}.npy" for i, part in enumerate(header.parts) for name in part.arrays()),
    }
    has = set(members.by_name)
    for what, names in (("lacks", wanted - has), ("also has", has - wanted)):
        if names:
            shown = ", ".join(repr(each)[:80] for each in sorted(names)[:3])
            raise MemberError(f"{what} {len(names)} of its members: {shown}")
    tallies = [_tally(members, header.files, i, part) for i, part in enumerate(header.parts)]
    groups = {part.group: tally for part, tally in zip(header.parts, tallies, strict=True)}
    return Shard(
        settings=settings,
        system=header.system,
        tally=tallies[0],
        groups={name: groups[name] for name in settings.groups},
        findings=_findings(header.findings),
        inputs=_inputs(header.inputs),
        durations=header.durations,
    )


# The header.


def _parsed(text: bytes) -> Header:
    """Return the header that a text is; raises MemberError where it is none, or one of another format."""

    def refuse_constant(name: str) -> float:
        raise ValueError(f"{name} is no number in JSON")

    try:
        plain = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MemberError(f"its header is not JSON: {error}") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise MemberError(f"is not a {FORMAT}")
    version = plain.get("version")
    if isinstance(version, int) and version > VERSION:
        raise MemberError(
            f"was written by a newer version of soft-sed-eval, {_short(plain.get('written_by'))}, in format "
            f"{version}; expected format {VERSION}"
        )
    if version != VERSION or isinstance(version, bool):
        raise MemberError(f"has format version {_short(version)}; expected {VERSION}")
    return _converted(plain, Header)


def _check_header(header: Header, settings: Settings) -> None:
    """Raise MemberError where files, durations or parts of a header cannot be those of its settings."""
    for before, after in pairwise(header.files):
        if before >= after:
            raise MemberError(
                f"its files are not sorted and distinct: {_short(after)} follows {_short(before)}"
            )
    for name, seconds in (header.durations or {}).items():
        if not 0 <= seconds <= LONGEST:
            raise MemberError(f"its duration of {_short(name)} is {seconds}; expected 0 to {LONGEST:g} s")
    groups = [part.group for part in header.parts]
    if groups != [None, *sorted(settings.groups)]:
        raise MemberError(
            f"has tallies of the groups {groups[1:]}, but settings of the groups {sorted(settings.groups)}"
        )
    for part in header.parts:
        _check_part(part, settings.classes if part.group is None else settings.groups[part.group])
        # What has no settings is skipped in adding tallies: it must be nothing.
        if part.recipe is None and (header.files or part.classes or list(part.arrays())):
            raise MemberError("has a tally without a recipe")


def _check_part(part: Part, classes: tuple[str, ...] | None) -> None:
    """Raise MemberError where a part cannot be; classes: those it may have, None for any."""
    for names in (part.per_class, part.per_file, part.samples, part.events):
        for name in names:
            _check_name(name, MemberError)
    if len(set(part.classes)) < len(part.classes):
        raise MemberError("names a class twice")
    if classes is not None and not set(part.classes) <= set(classes):
        raise MemberError(f"has classes {sorted(set(part.classes) - set(classes))} that its settings do not")
    for name in part.samples:
        for column in (cells_of(name), evaluated_of(name)):
            if column not in part.per_file:
                raise MemberError(f"has samples {name} and no {column}")


def _findings(values: Mapping[str, Any]) -> AlignmentReport:
    """Return the findings of a header; raises MemberError where they are none."""
    _refuse_names("findings", values, AlignmentReport.__slots__)
    report = _converted(values, AlignmentReport)
    for role, (count, seconds) in report.beyond.items():
        if count < 0 or not math.isfinite(seconds) or role not in _SIDES:
            rows = counted(count, f"{_short(role)} row")
            raise MemberError(f"its findings have {rows} {seconds} s after the end of a file")
    for role, table in report.tables.items():
        fault = table.fault() if role in _SIDES else "a table of neither side"
        if fault is not None:
            raise MemberError(f"its findings of {_short(role)} have {_short(fault)}")
    for role, (n_rows, near, seconds) in report.off_grid.items():
        if not 0 <= near <= n_rows or not 0 <= seconds < math.inf or role not in _SIDES:
            raise MemberError(
                f"its findings have {near} of {n_rows} {_short(role)} rows {seconds} s off the grid"
            )
    for name, (count, seconds) in report.after_end.items():
        if count < 1 or not 0 <= seconds <= LONGEST:
            rows = counted(count, "system row")
            raise MemberError(f"its findings have {rows} of {_short(name)} {seconds} s after the end")
    return report


def _inputs(values: Sequence[Mapping[str, Any]]) -> tuple[Input, ...]:
    """Return the inputs of a header; raises MemberError where they are none."""
    for value in values:
        _refuse_names("inputs", value, Input.__slots__)
    inputs = tuple(_converted(value, Input) for value in values)
    for item in inputs:
        if min(item.rows, item.files, item.classes) < 0:
            raise MemberError(f"its input {_short(item.name)} has fewer than 0 rows, files or classes")
    return inputs


def _converted(plain: object, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError) as error:
        raise MemberError(f"its header is not that of a tally: {error}") from error


def _refuse_names(what: str, values: Mapping[str, Any], expected: Sequence[str]) -> None:
    if set(values) != set(expected):
        named = ", ".join(map(_short, sorted(set(values) ^ set(expected))))
        raise MemberError(f"its {what} lack or have what is not theirs: {named}")


def _check_name(name: str, error: type[Exception]) -> None:
    if not _NAME.fullmatch(name):
        raise error(f"{repr(name)[:60]} is not the name of a column")


def _short(value: object) -> str:
    return repr(value)[:60]


# The numbers.


def _tally(members: Members, files: tuple[str, ...], number: int, part: Part) -> Tally:
    folder, shape = _folder(number), (len(files), len(part.classes))
    per_class, per_file = (
        {
            name: _counts(name, members.array(f"{folder}/{group}/{name}", Spec(kind, of_shape)))
            for name, kind in getattr(part, group).items()
        }
        for group, of_shape in (("per_class", shape), ("per_file", shape[:1]))
    )
    samples = {}
    for name, of in part.samples.items():
        cells = per_file[cells_of(name)]
        if (per_file[evaluated_of(name)] > cells).any():
            raise MemberError(f"has more evaluated cells than cells of samples {name}")
        if cells.dtype != np.int64 or int(cells.sum()) != of.cells:
            raise MemberError(f"has {counted(of.cells, 'cell')} of samples {name}; expected {cells.sum()}")
        values = members.array(f"{folder}/samples/{name}", Spec(of.kind, (shape[1], of.cells)))
        samples[name] = _between(f"samples {name}", values, -_ROUNDING, 1 + _ROUNDING)
    events = {
        name: _lifetimes(members, f"{folder}/events/{name}", of, shape) for name, of in part.events.items()
    }
    expected = None if part.expected is None else frozenset(part.expected)
    return Tally(files, part.classes, per_class, per_file, samples, events, part.recipe, expected)


def _counts(name: str, column: Array) -> Array:
    """Return a column, all of whose numbers must be possible."""
    if not column.size or column.dtype == np.bool_:
        return column
    if column.dtype != np.float64:
        # Larger ones would overflow in sums.
        if column.min() < 0 or column.sum(dtype=np.float64) >= _MOST:
            raise MemberError(f"column {name} has counts below 0, or too many")
    elif name.rpartition(".")[2] in _COUNTS:
        _between(f"column {name}", column, -_ROUNDING, _MOST)
    return column


def _lifetimes(members: Members, folder: str, of: Events, shape: tuple[int, int]) -> EventLifetimes:
    if not 0 <= of.events < _MOST:
        raise MemberError(f"has {of.events} events")
    most = {
        "file": shape[0] - 1,
        "label": shape[1] - 1,
        "onset": _LONGEST,
        "offset": _LONGEST,
        "born": _HIGHEST,
        "dies": _HIGHEST,
    }
    read = {
        name: members.array(f"{folder}/{name}", Spec(kind, (of.events,)))
        for name, kind in EVENT_KINDS.items()
    }
    columns: Mapping[str, Any] = {
        name: _between(f"{folder}/{name}", array, 0, most[name]) for name, array in read.items()
    }
    if (columns["onset"] > columns["offset"]).any() or (columns["born"] > columns["dies"]).any():
        raise MemberError(f"{folder} has an event that ends before it begins")
    return EventLifetimes(**columns, nested=of.nested)


def _between(what: str, values: Array, least: float, most: float) -> Array:
    """Return values that must all be numbers in a range, its ends included."""
    if not np.all((values >= least) & (values <= most)):
        raise MemberError(f"{what} has a number that is not {least:g} to {most:g}")
    return values
