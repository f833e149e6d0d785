"""Which files two tables have, on both sides or on one, and by what names they go."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.checks.alignment import AlignmentReport
from sedeval_soft.checks.names import NAMES
from sedeval_soft.errors import InputError, Problem, be
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.columns import option
from sedeval_soft.tables.event_table import AXES, UNNAMED, EventTable, Origin
from sedeval_soft.tables.filenames import listing, match_names, named_alike, without_folders

_NAMED = 3  # columns that a message proposes


def _of_axes(*shapes: tuple[int, ...] | None) -> list[str]:
    """Return what is said of two arrays, if both are, whose axes seem to be exchanged."""
    shape = shapes[0]
    if shape is None or None in shapes or shape[-1] <= shape[-2]:
        return []
    sizes = f"more classes ({shape[-1]}) than segments ({shape[-2]})"
    return [
        f"arrays of shape {shape} have {sizes}; if classes come first, exchange the axes: expected {AXES}"
    ]


def match_files(
    reference: EventTable,
    system: EventTable,
    durations: Mapping[str, float] | None,
    chosen: Sequence[str] | None = None,
) -> tuple[tuple[str, ...], Mapping[str, str], dict[str, float], AlignmentReport]:
    """Return the files to evaluate, how the reference writes those of the system, durations, and findings.

    Files are those of the reference and of the durations, as the reference writes them; without durations
    those of the system, too. chosen: of these just those that are named, which match like those of a side.
    """
    doubtful, notes = [], []
    for side in (reference, system):
        notes += [f"{side.origin.name}: {text}" for text in side.origin.notes]
        doubtful += [f"{side.origin.name}: {text}" for text in side.origin.assumed]
    notes += _of_axes(reference.origin.shape, system.origin.shape)
    if vain := sorted({*reference.origin.lacking} & {*system.origin.lacking}):
        both = " and ".join(dict.fromkeys((reference.origin.name, system.origin.name)))
        raise InputError([Problem(both, text, code="no-effect") for text in vain])
    listed = match_names(reference.files, durations or {})
    lengths = {listed.canonical[name]: seconds for name, seconds in (durations or {}).items()}
    expected = dict.fromkeys([*reference.files, *lengths])
    match = match_names([*expected], system.files)
    unclear = [("durations", "file name", listed.ambiguous)]
    unlisted = {*reference.files} - {*lengths} if durations is not None else set()
    unknown = {*lengths} - {*reference.files}
    hint = named_alike(unlisted, unknown, ("reference", "durations")) if unlisted and unknown else ""
    if hint:
        files = f"{listing(sorted(unknown), 'file')} {be(len(unknown))}"
        doubtful.append(f"durations: {files} not in the reference{hint}")
    in_system = {*match.canonical.values()}
    evaluated = {*expected} if durations is not None else {*expected} | in_system
    inside, chosen_by = {*expected} | in_system, frozenset[str]()
    if chosen is not None:
        every = [*expected, *sorted(in_system - {*expected})]
        if UNNAMED in every:
            text = "there is no column of file names, but files are listed; expected a filename column"
            raise InputError(Problem(reference.origin.name, text, code="missing-filename-column"))
        of_list = match_names(every, chosen)
        inside = {*of_list.canonical.values()} & {*every}
        chosen_by = frozenset(name for name, own in of_list.canonical.items() if own in inside)
        evaluated &= inside
        lengths = {name: seconds for name, seconds in lengths.items() if name in inside}
        unclear.append(("files", "listed name", of_list.ambiguous))
    for source, noun, names in unclear:
        text = NAMES["ambiguous-file"].counted
        text = text.format(files=listing(names, noun), other=reference.origin.name)
        doubtful += [f"{source}: {text}"] * bool(names)
    missing, extra = {*reference.files} & inside - in_system, (in_system & evaluated) - {*expected}
    silent = missing - files_with_events(reference, missing)
    detected = {name for name in system.files if match.canonical[name] in extra}
    silent |= extra - {match.canonical[name] for name in files_with_events(system, detected)}
    findings = AlignmentReport(
        missing=frozenset(missing),
        extra=frozenset(extra),
        silent=frozenset(silent),
        dropped=frozenset((in_system & inside) - evaluated),
        unlisted=frozenset(unlisted & inside),
        ambiguous=frozenset(match.ambiguous),
        listed=chosen_by,
        reference_outside=frozenset({*reference.files} - inside),
        system_outside=frozenset(in_system - inside),
        doubtful=frozenset(doubtful),
        notes=frozenset(notes),
        reference_classes=frozenset(reference.classes),
        system_classes=frozenset(system.classes),
    )
    return tuple(sorted(evaluated)), match.canonical, lengths, findings


def files_with_events(rows: EventTable, files: Collection[str]) -> set[str]:
    """Return which of some files of a table have a value above 0."""
    if not files:
        return set()
    some = rows.only_files(np.array([name in files for name in rows.files], dtype=bool))
    return {some.files[code] for code in distinct(some.file[some.levels()[0]]).tolist()}


def name_single_file(
    reference: EventTable, system: EventTable, durations: Mapping[str, float]
) -> tuple[EventTable, EventTable]:
    """Give the rows of a table without file names the name of the other table's, or duration's, only file."""
    if reference.files == system.files == (UNNAMED,) and len(durations) == 1:
        return replace(reference, files=tuple(durations)), replace(system, files=tuple(durations))
    sides = [reference, system]
    for side, other in ((0, 1), (1, 0)):
        files = sides[other].files
        if UNNAMED not in sides[side].files or UNNAMED in files or not files:
            continue
        origin, named = sides[side].origin, _named_as_table(sides[side], files) if len(files) > 1 else ""
        if named:
            note = f"it was assumed to be of recording {named!r}, after which it is named"
            origin = replace(origin, notes=(*origin.notes, note))
            sides[side] = replace(sides[side], files=(named,), origin=origin)
            continue
        if len(files) > 1:
            text = (
                f"there is no column of file names, but {sides[other].origin.name} has {len(files)} files; "
                f"expected {_name_column(origin)}a folder with a table for each, which has its name"
            )
            raise InputError(Problem(sides[side].origin.name, text, code="missing-filename-column"))
        sides[side] = replace(sides[side], files=files)
    return sides[0], sides[1]


def _name_column(origin: Origin) -> str:
    """Return what could be the column of file names, as it precedes another way."""
    names = origin.ignored[:_NAMED] if "long" in origin.form else ()
    mend = ", or ".join(option(("filename", name)) for name in names)
    return f"{mend} if that names the recordings, or " if mend else "a filename column, or "


def _named_as_table(rows: EventTable, files: Sequence[str]) -> str:
    """Return the file that a table without file names is called after, empty where it is not."""
    from sedeval_soft.tables.joined_tables import recording_of

    table = recording_of(without_folders(rows.origin.name))
    named = match_names(files, [table]).canonical[table]
    return named if named in files and rows.files == (UNNAMED,) else ""
