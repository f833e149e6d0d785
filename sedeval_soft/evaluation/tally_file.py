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
from typing import Any, Literal, TypeVar, cast

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
from sedeval_soft.timeline.lifetimes import EventLifetimes

FORMAT, VERSION = "soft-sed-eval tally", 2

_LISTS = (
    "missing",
    "extra",
    "dropped",
    "unlisted",
    "doubtful",
    "notes",
    "reference_classes",
    "system_classes",
)

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


def written(header: Header) -> bytes:
    """Return a header as text."""
    plain = msgspec.to_builtins(header)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def parsed(text: bytes) -> Header:
    """Return the header that a text is; raises MemberError where it is none, or one of another format."""
    try:
        plain = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
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


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Return what `Settings.of` makes equal settings of, and in the same order where one shows."""
    return {name: getattr(settings, name) for name in settings.__slots__}


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings of a header; raises MemberError where they are none."""
    try:
        return Settings.of(**values)
    except (EvaluationError, TypeError, ValueError, ArithmeticError) as error:
        raise MemberError(f"its settings cannot be: {error}") from error


def plain_findings(findings: AlignmentReport) -> dict[str, Any]:
    """Return findings as lists in order."""
    lists: dict[str, Any] = {name: sorted(getattr(findings, name)) for name in _LISTS}
    rows = {role: (int(n), float(seconds)) for role, (n, seconds) in sorted(findings.beyond.items())}
    after_end = {name: (int(n), float(seconds)) for name, (n, seconds) in sorted(findings.after_end.items())}
    grid = {
        role: (int(n), int(near), float(seconds))
        for role, (n, near, seconds) in sorted(findings.off_grid.items())
    }
    tables = msgspec.to_builtins(dict(sorted(findings.tables.items())))
    return lists | {"beyond": rows, "after_end": after_end, "tables": tables, "off_grid": grid}


def findings_of(values: Mapping[str, Any]) -> AlignmentReport:
    """Return the findings of a header; raises MemberError where they are none."""
    _refuse_names("findings", values, AlignmentReport.__slots__)
    found = _converted(values, AlignmentReport)
    for role, (count, seconds) in found.beyond.items():
        if count < 0 or not math.isfinite(seconds) or role not in {"reference", "system"}:
            rows = counted(count, f"{_short(role)} row")
            raise MemberError(f"its findings have {rows} {seconds} s after the end of a file")
    for role, table in found.tables.items():
        fault = table.fault() if role in {"reference", "system"} else "a table of neither side"
        if fault is not None:
            raise MemberError(f"its findings of {_short(role)} have {_short(fault)}")
    for role, (n_rows, near, seconds) in found.off_grid.items():
        if not 0 <= near <= n_rows or not 0 <= seconds < math.inf or role not in {"reference", "system"}:
            raise MemberError(
                f"its findings have {near} of {n_rows} {_short(role)} rows {seconds} s off the grid"
            )
    for name, (count, seconds) in found.after_end.items():
        if count < 1 or not 0 <= seconds <= LONGEST:
            rows = counted(count, "system row")
            raise MemberError(f"its findings have {rows} of {_short(name)} {seconds} s after the end")
    return found


def plain_inputs(inputs: Sequence[Input]) -> list[dict[str, Any]]:
    """Return inputs as plain values."""
    return [{name: getattr(item, name) for name in Input.__slots__} for item in inputs]


def inputs_of(values: Sequence[Mapping[str, Any]]) -> tuple[Input, ...]:
    """Return the inputs of a header; raises MemberError where they are none."""
    for value in values:
        _refuse_names("inputs", value, Input.__slots__)
    inputs = tuple(_converted(value, Input) for value in values)
    for item in inputs:
        if min(item.rows, item.files, item.classes) < 0:
            raise MemberError(f"its input {_short(item.name)} has fewer than 0 rows, files or classes")
    return inputs


def check_names(header: Header) -> None:
    """Raise MemberError where files or durations of a header cannot be."""
    for before, after in pairwise(header.files):
        if before >= after:
            raise MemberError(
                f"its files are not sorted and distinct: {_short(after)} follows {_short(before)}"
            )
    for name, seconds in (header.durations or {}).items():
        if not 0 <= seconds <= LONGEST:
            raise MemberError(f"its duration of {_short(name)} is {seconds}; expected 0 to {LONGEST:g} s")


def _converted(plain: object, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError) as error:
        raise MemberError(f"its header is not that of a tally: {error}") from error


def _refuse_names(what: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    if set(values) != set(known):
        named = ", ".join(map(_short, sorted(set(values) ^ set(known))))
        raise MemberError(f"its {what} lack or have what is not theirs: {named}")


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


def _short(value: object) -> str:
    return repr(value)[:60]


_HEADER = "header.json"
_WHOLE = "whole"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+ -]*", re.ASCII)
"""Names of columns: they are names of members."""

EVENT_KINDS = {
    "file": "int32",
    "label": "int32",
    "onset": "int64",
    "offset": "int64",
    "born": "float64",
    "dies": "float64",
}
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


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard as the bytes of a tally file; version: of the program that writes it.

    Raises ValueError for a shard that no file can hold: groups of other files than the whole has, names of
    columns that are no names of members, other types of arrays.
    """
    shard.check_whole()
    parts = [(None, shard.tally), *sorted(shard.groups.items())]
    arrays: dict[str, Array] = {}
    told = []
    for number, (group, tally) in enumerate(parts):
        if tally.files != shard.tally.files:
            raise ValueError(f"group {group!r} is of other files than the whole")
        told.append(_part(group, tally))
        for name, array in _arrays(tally):
            arrays[f"{_folder(number)}/{name}"] = array
    durations = shard.durations
    header = Header(
        format=FORMAT,
        version=VERSION,
        written_by=version,
        settings=plain_settings(shard.settings),
        system=shard.system,
        files=shard.tally.files,
        findings=plain_findings(shard.findings),
        inputs=plain_inputs(shard.inputs),
        durations=None if durations is None else {name: float(durations[name]) for name in sorted(durations)},
        parts=tuple(told),
    )
    return write_members((_HEADER, written(header)), arrays)


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
    header = parsed(members.text(_HEADER))
    settings = settings_of(header.settings)
    check_names(header)
    _check_parts(header, settings)
    wanted = {
        _HEADER,
        *(f"{_folder(i)}/{name}.npy" for i, part in enumerate(header.parts) for name in _names(part)),
    }
    for what, names in (
        ("lacks", wanted - set(members.by_name)),
        ("also has", set(members.by_name) - wanted),
    ):
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
        findings=findings_of(header.findings),
        inputs=inputs_of(header.inputs),
        durations=header.durations,
    )


def _folder(number: int) -> str:
    return f"group{number}" if number else _WHOLE


def _part(group: str | None, tally: Tally) -> Part:
    """Return what a header says of a tally."""
    return Part(
        group,
        tally.classes,
        tally.recipe,
        None if tally.expected is None else tuple(sorted(tally.expected)),
        {name: _kind(name, np.asarray(tally.per_class[name])) for name in sorted(tally.per_class)},
        {name: _kind(name, tally.per_file[name]) for name in sorted(tally.per_file)},
        {name: Samples(_kind(name, array), array.shape[1]) for name, array in sorted(tally.samples.items())},
        {name: Events(len(events), events.nested) for name, events in sorted(tally.events.items())},
    )


def _kind(name: str, array: Array) -> Kind:
    kind = array.dtype.name
    if kind not in KINDS:
        raise ValueError(f"column {name} is of {kind}")
    return cast("Kind", kind)


def _arrays(tally: Tally) -> Iterator[tuple[str, Array]]:
    """Yield all arrays of a tally by their names in a file."""
    for group in ("per_class", "per_file", "samples"):
        for name, array in getattr(tally, group).items():
            _check_name(name, ValueError)
            yield f"{group}/{name}", np.asarray(array)
    for name, events in tally.events.items():
        _check_name(name, ValueError)
        for field, kind in EVENT_KINDS.items():
            array = getattr(events, field)
            if array.dtype.name != kind:
                raise ValueError(f"{field} of events {name} is of {array.dtype}, not of {kind}")
            yield f"events/{name}/{field}", array


def _names(part: Part) -> Iterator[str]:
    """Yield the names in a file of all arrays of a part."""
    for group in ("per_class", "per_file", "samples"):
        for name in getattr(part, group):
            yield f"{group}/{name}"
    for name in part.events:
        for field in EVENT_KINDS:
            yield f"events/{name}/{field}"


def _check_name(name: str, error: type[Exception]) -> None:
    if not _NAME.fullmatch(name):
        raise error(f"{repr(name)[:60]} is not the name of a column")


def _check_parts(header: Header, settings: Settings) -> None:
    """Raise MemberError where the parts of a header are not those of its settings."""
    groups = [part.group for part in header.parts]
    if groups != [None, *sorted(settings.groups)]:
        raise MemberError(
            f"has tallies of the groups {groups[1:]}, but settings of the groups {sorted(settings.groups)}"
        )
    for part in header.parts:
        _check_part(part, settings.classes if part.group is None else settings.groups[part.group])
        # What has no settings is skipped in adding tallies: it must be nothing.
        if part.recipe is None and (header.files or part.classes or list(_names(part))):
            raise MemberError("has a tally without a recipe")


def _check_part(part: Part, known: tuple[str, ...] | None) -> None:
    """Raise MemberError where a part cannot be; known: the classes it may have, None for any."""
    for names in (part.per_class, part.per_file, part.samples, part.events):
        for name in names:
            _check_name(name, MemberError)
    if len(set(part.classes)) < len(part.classes):
        raise MemberError("names a class twice")
    if known is not None and not set(part.classes) <= set(known):
        raise MemberError(f"has classes {sorted(set(part.classes) - set(known))} that its settings do not")
    for name in part.samples:
        for column in (cells_of(name), evaluated_of(name)):
            if column not in part.per_file:
                raise MemberError(f"has samples {name} and no {column}")


def _tally(members: Members, files: tuple[str, ...], number: int, part: Part) -> Tally:
    folder, shape = _folder(number), (len(files), len(part.classes))
    per_class = {
        name: _counted(name, members.array(f"{folder}/per_class/{name}", Spec(kind, shape)))
        for name, kind in part.per_class.items()
    }
    per_file = {
        name: _counted(name, members.array(f"{folder}/per_file/{name}", Spec(kind, shape[:1])))
        for name, kind in part.per_file.items()
    }
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


def _counted(name: str, column: Array) -> Array:
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
    found: Mapping[str, Array] = {
        name: members.array(f"{folder}/{name}", Spec(kind, (of.events,)))
        for name, kind in EVENT_KINDS.items()
    }
    for name, most in (
        ("file", shape[0] - 1),
        ("label", shape[1] - 1),
        ("onset", _LONGEST),
        ("offset", _LONGEST),
    ):
        _between(f"{folder}/{name}", found[name], 0, most)
    for name in ("born", "dies"):
        _between(f"{folder}/{name}", found[name], 0, _HIGHEST)
    if (found["onset"] > found["offset"]).any() or (found["born"] > found["dies"]).any():
        raise MemberError(f"{folder} has an event that ends before it begins")
    return EventLifetimes(**found, nested=of.nested)


def _between(what: str, values: Array, least: float, most: float) -> Array:
    """Return values that must all be numbers in a range, its ends included."""
    if not np.all((values >= least) & (values <= most)):
        raise MemberError(f"{what} has a number that is not {least:g} to {most:g}")
    return values


def read_shard(name: str, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; raises InputError for what is none."""
    from sedeval_soft.tables.source import read_bytes

    return unpack_shard(name, read_bytes(name, limits=limits)[:], limits)
