"""Tally files: a shard of an evaluation in one file, and back, to the last bit.

A file is a zip of numpy arrays, one for each column, and of a header in JSON; nothing in it is ever
unpickled. The same shard gives the same bytes. What is read back is what scores are computed from: all of
it is checked, so that a damaged or made-up file is refused with what is wrong, and not found out later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.core.room import check_room
from sedeval_soft.core.shard import Shard
from sedeval_soft.core.tally import Tally, cells_of, evaluated_of
from sedeval_soft.errors import InputError, Problem, counted
from sedeval_soft.formats.members import (
    KINDS,
    Array,
    MemberError,
    Members,
    Spec,
    open_members,
    write_members,
)
from sedeval_soft.formats.tally_header import (
    FORMAT,
    VERSION,
    Events,
    Header,
    Kind,
    Part,
    Samples,
    check_names,
    findings_of,
    inputs_of,
    parsed,
    plain_findings,
    plain_inputs,
    plain_settings,
    settings_of,
    written,
)
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.lifetimes import EventLifetimes

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


def pack(shard: Shard, version: str) -> bytes:
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


def unpack(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
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
