"""Attributes of files: the duration, or the part (fold of a cross-validation, scene) that a file belongs to.

The module also reads lists of files, without attributes, and of regions of files.

A table has a header that names the attribute, and its other columns are ignored; or it has no header. A file
may have many rows (DCASE metadata has a line per event) if their attributes agree. Durations may be those in
a UEM file: lines of `file channel begin end`, blanks between, which give the evaluated part of each file.
"""

from __future__ import annotations

import fnmatch
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sedeval_soft.errors import (
    EvaluationError,
    InputError,
    Problem,
    SettingsError,
    be,
    counted,
    quoted,
)
from sedeval_soft.settings import PART_NAMES, is_part_name
from sedeval_soft.tables.columns import (
    MILLISECONDS,
    NAMES,
    TIMES,
    WORD_LISTS,
    is_number,
    normal,
    role_of,
    to_number,
)
from sedeval_soft.tables.columns import PART_NAMES as PART_COLUMNS
from sedeval_soft.tables.event_table import LONGEST, UNNAMED, EventTable
from sedeval_soft.tables.filenames import listing, match_names, named_alike, unknown_names, without_extension
from sedeval_soft.tables.limits import LIMITS, Limits
from sedeval_soft.tables.lines import BLANK, DELIMITERS, Record, check_lines, decode, records, split
from sedeval_soft.tables.rows import Findings, wrong_number
from sedeval_soft.tables.source import Source, extension_of, open_source

T = TypeVar("T")

_Kind = tuple[str, int]
"""The role of a column of times, and how many of its units are a second."""

_LISTS: _Kind = ("labels", 0)
"""A column of labels of whole files, with commas between them."""

_Columns = Mapping[str, Sequence[tuple[Collection[str], _Kind]]]
"""Attributes of files, with the names of the column that has it, the best first, and what these names say."""


def _columns_of(*roles: str) -> list[tuple[Collection[str], _Kind]]:
    """Return the names of columns of times of some roles, for `_Columns`."""
    units = ((NAMES, 1), (MILLISECONDS, 1000))
    return [(names[role], (role, unit)) for role in roles for names, unit in units]


NOT_OF_REGIONS = (
    "cannot be in a table of regions; expected filename, onset and offset, perhaps event_label, and no other "
    "column"
)
"""The message about a column that could limit regions to something unknown: none is ignored."""

_Places = tuple[list[int], bool, list[_Kind]]
"""The positions of columns, whether the first line is a header, and the kinds of columns of times."""

_FIELD = re.compile(r"\{([^{}]*)\}")


class Partition(NamedTuple):
    """The part that each file belongs to.

    parts: by file name, as written. source: the name of a table, or the pattern. sha256: of the table.
    """

    parts: Mapping[str, str]
    source: str
    sha256: str | None = None


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name; raises InputError with all that is wrong, up to `MAX_PROBLEMS`."""
    durations: dict[str, float] = {}

    def enter(file: str, kinds: Sequence[_Kind], text: str) -> None:
        ((_, unit),) = kinds or [("duration", 1)]
        _enter_once(durations, file, _seconds("duration", text, limits, unit), "duration", text)

    _enter_lines(open_source(path, limits=limits), limits, {"duration": _columns_of("duration")}, enter)
    return durations


def read_partition(
    path: str | os.PathLike[str], prefer: Sequence[str] = (), limits: Limits = LIMITS
) -> Partition:
    """Return the part of each file that a table names; raises InputError as `read_durations` does.

    prefer: names of columns, as `fold`, that are parts even if there are others that could be.
    """
    parts: dict[str, str] = {}

    def enter(file: str, _: Sequence[_Kind], text: str) -> None:
        if not is_part_name(text):
            raise ValueError(f"part {text!r} cannot be part of a score's name; expected {PART_NAMES}")
        _enter_once(parts, file, text, "part", repr(text))

    source = open_source(path, limits=limits)
    _enter_lines(source, limits, {"part": [(prefer, ("part", 0)), (PART_COLUMNS, ("part", 0))]}, enter)
    return Partition(parts, source.name, source.sha256)


def read_map(path: str | os.PathLike[str], column: str = "class", limits: Limits = LIMITS) -> dict[str, str]:
    """Return the class of each label in a table of labels and classes.

    column: that has the classes; labels are in the column `label`, or in the first. Raises InputError for a
    table without such a column, for a row without either name, and for a label of two classes.
    """
    names: dict[str, str] = {}

    def layout(head: Sequence[str]) -> _Places:
        head = [field.strip() for field in head]
        if column not in head:
            raise ValueError(f"has no column {column!r}, but {', '.join(head)}; expected label and {column}")
        return [head.index("label") if "label" in head else 0, head.index(column)], True, []

    def enter(label: str, _: Sequence[_Kind], name: str) -> None:
        if not name:
            raise ValueError(f"{column} is empty; expected a name")
        if names.setdefault(label, name) != name:
            wrong = f"label {label!r} is {name!r} here and {names[label]!r} above; expected it once"
            raise ValueError(wrong, -1)

    _enter_lines(open_source(path, limits=limits), limits, {}, enter, layout, f"label and {column}")
    return names


def read_regions(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, list[list[Any]]]:
    """Return the regions of each file, onset and offset in seconds; raises InputError with all problems.

    A region that is limited to a class has the class behind its times. The file is one of three:

    - A table of text whose header has columns of file names, onsets and offsets, perhaps of classes, and no
      others; without a header, it has the first three.
    - File names and classes, for whole files.
    - A UEM file.

    Empty lines are ignored, and comments as in `_entries`.
    """
    regions: dict[str, list[list[Any]]] = {}

    def enter(file: str, kinds: Sequence[_Kind], *texts: str) -> None:
        own = regions.setdefault(file, [])
        if len(texts) == 1:
            labels = texts[0].split(",") if _LISTS in kinds else texts
            own.extend([0.0, LONGEST, label.strip()] for label in labels if label.strip())
            return
        (_, unit), (role, other) = kinds or [("onset", 1), ("offset", 1)]
        onset = _seconds("onset", texts[0], limits, unit)
        offset = _seconds("offset", texts[1], limits, other, 1, onset if role == "duration" else None)
        if not onset < offset:
            message = f"offset {texts[1]} is not after onset {texts[0]}; expected a region that has an extent"
            raise ValueError(message, 1)
        own.append([onset, offset, *filter(None, texts[2:])])

    source = open_source(path, limits=limits)
    columns = {"onset": _columns_of("onset"), "offset": _columns_of("offset", "duration")}
    _enter_lines(source, limits, columns, enter)
    if not regions:
        expected = f"expected rows of filename, onset and offset{_or_uem(columns)}"
        raise InputError(Problem(source.name, f"has no region; {expected}"))
    limits.check(source.name, "rows", sum(map(len, regions.values())), "regions")
    return regions


def _enter_once(values: dict[str, T], file: str, value: T, noun: str, text: str) -> None:
    """Enter an attribute of a file; raises ValueError if the file has another one already."""
    earlier = values.setdefault(file, value)
    if earlier != value:
        raise ValueError(f"{file!r} has {noun} {text}, but {earlier!r} on an earlier line; expected one")


def _seconds(
    noun: str, text: str, limits: Limits, unit: int, at: int = 0, begin: float | None = None
) -> float:
    """Return a time; raises ValueError if it is none, with which of the texts of a line it is.

    unit: how many are a second. begin: of the duration that the text is, in place of the time.
    """
    seconds = to_number(text) / unit
    if begin is not None:
        # As precise as a tick: a sum of decimals has as many of them.
        seconds = round(begin + seconds, 9)
    if not 0 <= seconds <= limits.duration:
        _, wrong = wrong_number(noun, "onset", text, limits, "s" if unit == 1 else "ms")
        raise ValueError(wrong, at)
    return seconds


def _enter_lines(
    source: Source,
    limits: Limits,
    columns: _Columns,
    enter: Callable[..., None],
    layout: Callable[[Sequence[str]], _Places] | None = None,
    nouns: str = "",
) -> None:
    """Enter the attributes of a file in each line of a table; raises InputError with all problems.

    enter: takes the name of a file, the kinds of columns and the texts in these, or raises ValueError with
    the problem, and with the index of the wrong text. layout: takes the first line, in place of `_layout_of`.
    nouns: the columns in words.

    A line that begins with `#` is a comment before a header, and without one if it is not a row: recordings
    may be called so.
    """
    layout, nouns = layout or partial(_layout_of, columns), nouns or _nouns(columns)
    text, times = _first_of(_lines(source, limits)), sum(noun in TIMES for noun in columns)
    lines, places = records(source, max(DELIMITERS, key=text.count)), list[int]()
    header, kinds = False, list[_Kind]()
    if times and _is_uem(source, text):
        places = [0, 2, 3] if "onset" in columns else [0, 3]
        lines = _uem_lines(source, zero="onset" not in columns)
    found, files = Findings(), dict[str, None]()
    for number, fields in lines:
        if isinstance(fields, Problem):
            found.add(fields)
            continue
        is_row = len(fields) > len(columns) and all(map(is_number, fields[len(fields) - times :]))
        if not header and fields[0].lstrip().startswith("#") and not is_row:
            continue
        try:
            if not places:
                places, header, kinds = layout(fields)
                if header:
                    continue
            file, *texts = _texts_of(fields, places, nouns, exactly="part" in columns and not header)
            files[file] = None
            enter(file, kinds, *texts)
        except ValueError as error:
            if not places:
                raise InputError(Problem(source.name, error.args[0], number, *error.args[1:])) from error
            message, at = (*error.args, 0)[:2]
            column = None if at is None else places[1 + at] + 1
            found.add(Problem(source.name, message, number, column))
    found.check()
    if not places:
        expected = f"expected a table of {nouns}{_or_uem(columns) if times else ''}"
        raise InputError(Problem(source.name, f"is empty; {expected}"))
    _check_names(source, limits, files)


def _texts_of(fields: Sequence[str], places: Sequence[int], nouns: str, *, exactly: bool) -> list[str]:
    """Return the texts of a line; raises ValueError without a name. exactly: it must have no other field."""
    # Other fields on the lines of a table of parts without a header could be meant.
    if max(places) >= len(fields) or (exactly and len(fields) != len(places)):
        raise ValueError(f"has {counted(len(fields), 'field')}; expected {nouns}", None)
    texts = [fields[at].strip() for at in places]
    if not texts[0]:
        raise ValueError(f"{nouns.split(maxsplit=1)[0].strip(',')} is empty; expected a name", -1)
    return texts


def _nouns(columns: _Columns) -> str:
    return "filename, onset and offset" if "onset" in columns else f"filename and {next(iter(columns))}"


def _layout_of(columns: _Columns, head: Sequence[str]) -> _Places:
    """Return the positions of columns, whether the first line is a header, and the kinds of columns of times.

    Kinds are known of a header's columns. Raises ValueError if the first line leaves roles open.
    """
    regions = "onset" in columns
    files = [at for at, field in enumerate(head) if role_of(field) == "filename"]
    lists = WORD_LISTS["label-lists"]
    may_label = (role_of(field) == "event_label" or normal(field) in lists for field in head)
    labels = [at for at, named in enumerate(may_label) if regions and named]
    if len(head) == 2 and len(labels) == len(files) == 1:
        return [*files, *labels], True, [_LISTS] * (role_of(head[labels[0]]) is None)
    others = [at for at in range(len(head)) if at not in labels]
    found = {noun: at for noun in columns for at in _named_column(head, others, noun, columns[noun])}
    if len(found) == len(columns):
        places = [*files[:1], *(at for at, _ in found.values()), *labels]
        if len(labels) > 1:
            raise ValueError(f"column {quoted(head[labels[1]])} is the second one of classes; expected one")
        for at, field in enumerate(head if regions else ()):
            if at not in places and not says_where(field):
                raise ValueError(f"column {quoted(field.strip())} {NOT_OF_REGIONS}", at + 1)
        return places, True, [kind for _, kind in found.values()]
    if len(others) != 1 + len(columns):
        what = f"{', '.join(map(repr, head))} is neither a header nor a row"
        raise ValueError(f"{what}; expected {_nouns(columns)}{_or_uem(columns)}")
    header = bool(files) and not any(map(is_number, head))
    file = files[0] if header else others[0]
    values = [at for at in others if at != file]
    if header and "part" not in columns:
        noun, at = next(each for each in zip(columns, values, strict=True) if each[0] not in found)
        known = " or ".join(dict.fromkeys(repr(role) for _, (role, _) in columns[noun]))
        message = f"column {quoted(head[at])} is not known as the {noun}; expected one named {known}"
        raise ValueError(f"{message}, in seconds")
    return [file, *values], header, []


def _named_column(
    head: Sequence[str], among: Sequence[int], noun: str, choices: Sequence[tuple[Collection[str], _Kind]]
) -> list[tuple[int, _Kind]]:
    """Return the position, among some, and the kind of the column of an attribute, if there is any.

    Raises ValueError if there are several.
    """
    named = ([(at, kind) for at in among if normal(head[at]) in names] for names, kind in choices)
    found = next(filter(None, named), [])
    if len(found) > 1:
        several = " and ".join(repr(head[at].strip()) for at, _ in found)
        raise ValueError(f"columns {several} could each be the {noun}; expected one of them")
    if found and "filename" not in map(role_of, head):
        name = head[found[0][0]].strip()
        raise ValueError(f"{name!r} names a column of {noun}s, but no column is filename; expected one")
    return found


def says_where(column: str) -> bool:
    """Return whether a column of a table of regions, by its name, has the file or a time of a region."""
    return role_of(column) in ("filename", "onset", "offset", "duration")


def _or_uem(columns: _Columns) -> str:
    """Return the addition to an expectation in a message if regions or durations may be in a UEM file."""
    return "" if "part" in columns else ", or a UEM file"


def _is_uem(source: Source, first: str) -> bool:
    """Return whether a source is a UEM file, by its extension or its first line."""
    fields = first.split()
    regions = len(fields) == 4 and all(map(is_number, fields[2:])) and not any(d in first for d in DELIMITERS)
    return regions or extension_of(source.name) == ".uem"


def _uem_lines(source: Source, *, zero: bool) -> Iterator[Record]:
    """Yield the lines of a UEM file, or their problems; zero: whether regions must begin at 0."""
    for number, line in enumerate(decode(source).splitlines(), 1):
        fields, wrong, column = line.split(), "", None
        if not fields or fields[0].startswith(";;"):
            continue
        if len(fields) != 4:
            wrong = f"has {counted(len(fields), 'field')}; expected file, channel, begin and end of a region"
        elif zero and (not is_number(fields[2]) or float(fields[2])):
            region = f"a region of {quoted(fields[0])} begins at {quoted(fields[2])}"
            expected = "write '0', or give this file as --regions"
            wrong, column = f"{region}, but a duration is counted from 0 on; {expected}", 3
        yield number, Problem(source.name, wrong, number, column) if wrong else fields


def read_listed(path: str | os.PathLike[str], limits: Limits = LIMITS) -> tuple[str, ...]:
    """Return the names of files in a list or a table, each once; raises InputError if there are none.

    A table of text with a header that has a column of file names has them there, others in the first field of
    each line. Blank lines and comments are ignored. Comments are lines before a header that begin with `#`,
    and others that begin with `#` and a blank and have neither all fields of the header nor the end of an
    audio file. Other lines that begin with `#` may be names: `unknown_names`, with the known recordings,
    decides. A table of another format names the recordings of its rows.
    """
    from sedeval_soft.tables.forms import form_at_once, read_table

    source = open_source(path, limits=limits)
    if form_at_once(source):
        rows = read_table(source, limits=limits)
        names = [] if rows is None else [name for name in rows.files if name != UNNAMED]
    else:
        lines = _lines(source, limits)
        first = _first_of(lines)
        delimiter = max(DELIMITERS, key=first.count)
        fields = [split(line, delimiter) for line in lines]
        roles = [role_of(field) for field in split(first, delimiter)]
        if "filename" in roles:
            at = roles.index("filename")
            below = (row for row in fields[lines.index(first) + 1 :] if len(row) > at)
            # A comment has no other fields.
            listed = (row[at].strip() for row in below if len(row) == len(roles) or not _is_comment(row[at]))
        else:
            listed = (_first_name(line, each[0].strip()) for line, each in zip(lines, fields, strict=True))
            listed = (name for name in listed if not _is_comment(name))
        names = [*filter(None, dict.fromkeys(listed))]
    if not names:
        message = "names no file; expected a name on each line, or a table with the column filename"
        raise InputError(Problem(source.name, message))
    _check_names(source, limits, names)
    return tuple(names)


def _is_comment(name: str) -> bool:
    return name[:2].strip() == "#" and without_extension(name) == name


def _first_name(line: str, field: str) -> str:
    """Return the name that a line of a list begins with: all of it if its first field alone is not a name."""
    whole = line.strip()
    return whole if without_extension(field) == field and without_extension(whole) != whole else field


def _first_of(lines: Sequence[str]) -> str:
    """Return the first line that begins without a comment sign, the first of all if there is none."""
    return next((line for line in lines if not line.lstrip().startswith(("#", ";;"))), next(iter(lines), ""))


def _lines(source: Source, limits: Limits) -> list[str]:
    """Return the lines of a text that are not blank."""
    check_lines(source, limits)
    return [line for line in decode(source).splitlines() if line.strip(BLANK)]


def _check_names(source: Source, limits: Limits, names: Collection[str]) -> None:
    longest = max(map(len, names), default=0)
    limits.check(source.name, "files", len(names), "files")
    limits.check(source.name, "name_length", longest, "characters in the name of a file")


def only_listed(rows: EventTable, files: Sequence[str]) -> tuple[EventTable, list[str]]:
    """Return the rows of listed files, whose names match with or without folders and extensions, and notes.

    Notes give the number of files left out, and the listed files that are missing. Classes of a long table
    that no longer have rows are removed. Raises InputError if no file is left.
    """
    match = match_names(rows.files, files)
    inside = {*match.canonical.values()} & {*rows.files}
    found = {name for name, own in match.canonical.items() if own in inside}
    unknown = unknown_names(files, found)
    notes, name = [], rows.origin.name
    left_out = [file for file in rows.files if file not in inside]
    if unknown:
        like = named_alike(sorted({*rows.files} - inside), unknown, (name, "list"))
        notes.append(f"{listing(unknown, 'listed file')} {be(len(unknown))} not in it{like}")
    if not inside:
        expected = (
            "expected names of files that it has"
            if UNNAMED not in rows.files
            else ("there is no column of file names; expected a filename column")
        )
        raise InputError(Problem(name, f"{notes[0]}; {expected}"))
    if left_out:
        rows = rows.only_files(
            np.array([file in inside for file in rows.files], dtype=bool)
        ).of_used_classes()
        notes.append(f"{listing(left_out, 'file')} {be(len(left_out))} not listed, and left out")
    return rows, notes


def by_pattern(files: Sequence[str], pattern: str) -> Partition:
    """Return the parts that file names contain.

    pattern: of whole file names, as a shell has them (`*`, `?`, `[ab]`, `[!ab]`; case matters, a slash is a
    character as others), with `{name}` in the place of the part, with any name: `{scene}_[0-9]*`. The part is
    the shortest text that makes the whole match, and of several such texts the first.

    Raises SettingsError for a pattern without one `{name}`, EvaluationError for files that it does not match.
    """
    fields = list(_FIELD.finditer(pattern))
    if len(fields) != 1 or not (fields[0][1].isidentifier() or not fields[0][1]):
        raise SettingsError(
            f"pattern {pattern!r} must have one {{name}} where the part of a file name stands, such as "
            "'{scene}_[0-9]*'"
        )
    before, after = (
        re.compile(fnmatch.translate(text)).match
        for text in (pattern[: fields[0].start()], pattern[fields[0].end() :])
    )

    def part_in(name: str) -> str:
        ends = [at for at in range(1, len(name) + 1) if after(name[at:])]
        begins = [at for at in range(ends[-1]) if before(name[:at])] if ends else []
        # The next end is the nearest one: a name may be long, and any of its places either.
        lengths = ((ends[bisect_right(ends, at)] - at, at) for at in begins)
        length, begin = min(lengths, default=(0, 0))
        return name[begin : begin + length]

    parts = {name: part_in(name) for name in files}
    strangers = [name for name, part in parts.items() if not part]
    if strangers:
        raise EvaluationError(
            f"pattern {pattern!r} does not match {listing(strangers, 'file')}; expected one that matches "
            "whole file names, folders and extensions included"
        )
    odd = [name for name, part in parts.items() if not is_part_name(part)]
    if odd:
        raise EvaluationError(
            f"pattern {pattern!r} finds {parts[odd[0]]!r} in {listing(odd, 'file')}; expected {PART_NAMES}"
        )
    return Partition(parts, pattern)


def of_mapping(parts: Mapping[str, object], source: str) -> Partition:
    """Return the parts in a mapping of file names; raises SettingsError for an invalid part's name."""
    named: dict[str, str] = {}
    for file, given in parts.items():
        part = str(given) if isinstance(given, Integral) else given
        if not isinstance(file, str) or not isinstance(part, str) or not is_part_name(part):
            raise SettingsError(f"{source}: {file!r} is in {part!r}; expected a file name, and {PART_NAMES}")
        named[file] = part
    return Partition(named, source)


def assign(partition: Partition, files: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the files of each part, and the names of the partition that are not among these files.

    Parts are in the order of their names, 2 before 10, files as given. Names match with or without folders
    and extensions if that is unambiguous. Raises InputError for files that are in no part.
    """
    match = match_names(files, partition.parts)
    part_of = {match.canonical[name]: part for name, part in partition.parts.items()}
    lost = [name for name in files if name not in part_of]
    if lost:
        names = listing(match.ambiguous, "name")
        doubt = f"; {names} could be more than one file, with and without folders or extension"
        doubt = doubt if match.ambiguous else ""
        message = f"has no part for {listing(lost, 'file')}; expected one for every evaluated file{doubt}"
        raise InputError(Problem(partition.source, message))
    parts: dict[str, list[str]] = {}
    for name in files:
        parts.setdefault(part_of[name], []).append(name)
    evaluated = set(files)
    strangers = tuple(name for name in partition.parts if match.canonical[name] not in evaluated)
    return {part: tuple(parts[part]) for part in sorted(parts, key=natural_key)}, strangers


def part_by_file(partition: Partition | None, files: Sequence[str]) -> dict[str, str] | None:
    """Return the part of each file, None without parts; raises as `assign` does."""
    parts = {} if partition is None else assign(partition, files)[0]
    return None if partition is None else {file: part for part, own in parts.items() for file in own}


def natural_key(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return a key that sorts names as people do: by text, and digits by their numbers."""
    # Digits are at odd places. The longer one of two numbers is larger.
    pieces = [piece.lstrip("0") if i % 2 else piece for i, piece in enumerate(re.split("([0-9]+)", name))]
    return [(len(piece) * (i % 2), piece) for i, piece in enumerate(pieces)], name
