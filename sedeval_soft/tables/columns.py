"""The role of each column of a table, by its name and by the user's settings.

To have another name known, add it to its role in `columns.tsv`, with the unit of its times; the headers of
tools that give names another meaning are in `dialects.tsv`. Tables without header are in `headerless.tsv`.
Names are compared without case, and with `-`, blank and `_` alike. With a header the order of columns is
free, and columns that play no role are ignored. A duration takes the place of a missing offset. A header with
times but without any label column is the header of a wide table: every other column is a class.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.names import close_matches


def data(name: str) -> list[list[str]]:
    """Return the rows of a table of ours, without its header."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


_ROWS = [(role, unit, tuple(names.split())) for role, unit, _, names in data("columns.tsv")]

NAMES = {role: names for role, unit, names in _ROWS if unit in {"", "s"}}
"""Names of columns by role; those for times in seconds."""

MILLISECONDS = {role: names for role, unit, names in _ROWS if unit == "ms"}
"""Names of columns of times in milliseconds, by role."""

UNITS = {name: unit for _, unit, names in _ROWS for name in names if unit}
"""The units of times by the names of their columns: `s`, `ms`, or `date` for a date and time of day.

Other columns to which the user gives times are in milliseconds if their name has that unit, else in seconds.
"""

_UNITS = tuple(dict.fromkeys(UNITS.values()))

TIMES = ("onset", "offset", "duration")
"""Roles of columns of times."""

WORD_LISTS = {key: tuple(words.split()) for key, _, words in data("word_lists.tsv")}
"""Lists of words by name: words in the names of columns, fields and files."""

ALIASES = {role: NAMES[role] for role in ("filename", "onset", "offset", "event_label", "soft_value")}
"""The names of each role; the first is canonical."""

_HEADERLESS = [
    (pattern, tuple(None if role == "-" else role for role in roles.split()))
    for pattern, roles, _ in data("headerless.tsv")
]
"""Rows of tables without header: which fields are numbers (n) and which are not (s), and their roles.

`filename onset offset number` could be a class called by a number, or a label, its times and a value.
"""


class Dialect(NamedTuple):
    """Headers of a tool that gives columns another meaning: some rows of `dialects.tsv`.

    title: in words. has: names that its headers have; some: of which they have one at least, if there are
    any. same: columns that repeat the label in other words. past: columns that are ignored. nothing: labels
    of rows that declare a recording without events.

    roles: for each role the names of its columns, the best first; other columns follow `columns.tsv`.

    There are roles beside the roles of other tables.

    - folder: of the recording.
    - file_offset: seconds from the start of the recording if onsets count from the start of the first of
      several.
    - end_file: the recording in which a row ends.
    - selection and view: a selection has a row in each view, and counts once.
    """

    title: str
    has: frozenset[str]
    some: frozenset[str]
    same: frozenset[str]
    past: frozenset[str]
    nothing: frozenset[str]
    roles: Mapping[str, tuple[str, ...]]

    def fits(self, names: set[str]) -> bool:
        """Return whether a header with these names, as they are compared, is of this dialect."""
        return self.has <= names and (not self.some or not self.some.isdisjoint(names))

    def columns(self, names: Iterable[str]) -> dict[str, str]:
        """Return for each role that is listed the best of some names, as they are compared."""
        names = {*names}
        best = ((role, next((n for n in listed if n in names), None)) for role, listed in self.roles.items())
        return {role: name for role, name in best if name is not None}


def _dialects() -> tuple[Dialect, ...]:
    rows: dict[str, dict[str, str]] = {}
    for name, what, names in data("dialects.tsv"):
        rows.setdefault(name, {})[what] = names

    def names_of(row: dict[str, str], what: str) -> frozenset[str]:
        return frozenset(row.pop(what, "").split())

    return tuple(
        Dialect(
            title=row.pop("title"),
            has=names_of(row, "has"),
            some=names_of(row, "some"),
            same=names_of(row, "same"),
            past=names_of(row, "past"),
            nothing=names_of(row, "nothing"),
            roles={role: tuple(names.split()) for role, names in row.items()},
        )
        for row in rows.values()
    )


DIALECTS = _dialects()
"""In the order in which a header is compared with them."""

BESIDE = frozenset({"folder", "end_file", "selection", "view"})
"""Roles of columns of texts that some dialects have: alone they make no row."""

TEXTS = BESIDE | {"filename", "event_label"}
"""Roles of columns of texts."""

UNLABELLED = {"nn": ("onset", "offset"), "snn": ("filename", "onset", "offset")}
"""Rows of tables without header and labels, likewise."""

ONE_CLASS = ", or, where all rows are of one class, its name, as --label car"

PART_NAMES = {f"{name}{end}" for name in NAMES["part"] for end in ("", "_id", "_label", "_name", "_number")}
"""Names of the column of parts in a table of folds or scenes."""

PRESENT = "present"  # a column of PRESENT or NOT_PRESENT beside labels, as AudioSet has them for each frame
WORDS = {"PRESENT": "1", "NOT_PRESENT": "0", "TRUE": "1", "FALSE": "0"}  # words for a value of 1 or 0

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BLANKS = " \t\r\n\f\v"
"""Blanks around a number: `str.strip` alone takes separators for blanks that `float` does not know."""

COLUMNS = "--columns"
"""The option that gives columns of a table their roles, as `--columns ROLE=COLUMN`."""

_OPTIONS = {
    **{role: role for role in ALIASES if role != "soft_value"},
    "duration": "duration",
    "value": "soft_value",
    "ignore": "",
}
"""Roles that an option can give a column, and the role that readers know it by: none for an ignored
column."""

_ROLE_OF = {name: role for role, _, names in _ROWS if role in ALIASES for name in names}
_DURATIONS = frozenset(name for role, _, names in _ROWS if role == "duration" for name in names)
_SPELLINGS = {**_OPTIONS, "label": "event_label", "soft_value": "soft_value"}
_NEXT_COLUMN = rf",(?=\s*(?:{'|'.join(_SPELLINGS)})\s*=)"
_POSITION = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
_MADE_UP = re.compile(r"unnamed:_\d+|_index_level_\d+_|level_\d+")  # by pandas, if an index has no name
_JSON = re.compile(r'\s*(\[\s*\{|\{\s*")')
PLAIN = 5  # columns other than those of classes, at the most: file name, times, label, value
LISTED = 50  # columns, and characters of a name, up to which messages list them

UNCLEAR_FILE = "unclear-file-column"
UNCLEAR_VALUE = "unclear-value-column"
UNCLEAR = (UNCLEAR_FILE, UNCLEAR_VALUE)
"""Codes of problems that only the user can settle: the reader tries no other format."""


def spelt(columns: Iterable[tuple[str, str]]) -> str:
    """Return roles of columns, pairs of a role and a name, as `column_names` takes them."""
    return ",".join(f"{role.removeprefix('soft_') or 'ignore'}={column}" for role, column in columns)


def option(*columns: tuple[str, str], name: str = COLUMNS) -> str:
    """Return the option that gives columns roles, as a shell takes it: pairs of a role and a name."""
    return f"{name} {shlex.quote(spelt(columns))}"


ColumnNames = tuple[tuple[str, str], ...]
"""The user's roles of columns: pairs of a role and the name of a column, the role empty if it has none.

A role may have several names, as the tables of two sides may.
"""


def column_names(columns: object) -> ColumnNames:
    """Return the roles in a text such as `filename=segment_id,value=p`, in some texts, or in a mapping.

    columns: a mapping has the names of columns by role, one name or several. Raises SettingsError.
    """
    roles: dict[str, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for said, name in _roles_and_names(columns):
        role = _SPELLINGS.get(said.lower())
        if not name:
            message = "the name of the column is missing; expected ROLE=COLUMN"
            raise SettingsError(f"{COLUMNS} {said}=: {message}")
        if role is None:
            expected = f"expected one of {', '.join(_OPTIONS)}"
            raise SettingsError(f"{COLUMNS} {said}={name}: there is no role {said!r}; {expected}")
        if roles.setdefault(name.casefold(), role) != role:
            expected = "one, and for the ends of events a column of offsets or durations"
            raise SettingsError(f"{COLUMNS}: column {name!r} has two roles; expected {expected}")
        pairs[role, name] = None
    return tuple(pairs)


def _roles_and_names(columns: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - whatever a user may give
    if isinstance(columns, Mapping):
        several = (list, tuple, set, frozenset)
        lists = ((role, each if isinstance(each, several) else [each]) for role, each in columns.items())
        pairs = [(role, name) for role, names in lists for name in names]
    else:
        texts = columns if isinstance(columns, list | tuple) else [columns]
        parts = (re.split(_NEXT_COLUMN, text) if isinstance(text, str) else [text] for text in texts)
        pairs = [part.partition("=")[::2] if isinstance(part, str) else (part, "") for part in chain(*parts)]
    for role, name in pairs:
        if not (isinstance(role, str) and isinstance(name, str)):
            expected = "a text such as 'filename=segment_id,value=p', or a mapping of names"
            raise SettingsError(f"columns must be {expected}, not {columns!r:.60}")
        yield role.strip(), name.strip()


Choice = tuple[tuple[tuple[str, str], ...], str]
"""Roles that an option may give columns, as pairs of a role and a name, and the words that follow the
option."""


class LayoutError(EvaluationError):
    """A first line that is neither a header nor a row; the reader adds its place.

    code: of this kind of problem. column: the wrong one, from 1, if there is one.

    choices: roles that options may give columns; `advice.explained` tries them, and writes the helpful ones
    after `asking`, and `expected` beside them, or alone if none helps.
    """

    def __init__(
        self,
        wrong: str,
        code: str,
        column: int | None = None,
        *,
        expected: str = "",
        choices: Sequence[Choice] = (),
        asking: str = "expected ",
    ) -> None:
        super().__init__(f"{wrong}; expected {expected}" if expected else wrong)
        self.wrong, self.code, self.column = wrong, code, column
        self.expected, self.choices, self.asking = expected, choices, asking


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a table.

    names: of all columns, made up for a table without header.

    roles: for each column its role, `class` for a class column of a wide table, None for one that is ignored.

    settled: positions of the columns that are ignored because the user wants it, or because another one has
    their role.

    choices: in words, to follow a description of the table, which columns have their role from the user, and
    which is the label in a dialect.

    lacking: the user's settings that have no effect, such as `--columns value=p`. label: the class of all
    rows of a table without a column of classes.

    units: of columns of times that are not in seconds, by position. dialect: of the header. labels: positions
    of other columns that could be the label, the best first.

    assumed: assumptions, with their fix. lists: whether labels are lists of several. delimiter: between the
    fields of a table of text; skip: the number of lines before its rows.
    """

    names: tuple[str, ...]
    roles: tuple[str | None, ...]
    has_header: bool
    settled: frozenset[int] = frozenset()
    choices: str = ""
    lacking: tuple[str, ...] = ()
    label: str = ""
    units: Mapping[int, str] = field(default_factory=dict)
    dialect: Dialect | None = None
    labels: tuple[int, ...] = ()
    assumed: tuple[str, ...] = ()
    lists: bool = False
    delimiter: str = "\t"
    skip: int = 0

    @property
    def timed(self) -> bool:
        """Whether rows have times; labels of whole recordings have none."""
        return "onset" in self.roles

    @property
    def wide(self) -> bool:
        """Whether each class has a column of its own."""
        return "class" in self.roles

    @property
    def ignored(self) -> tuple[str, ...]:
        """Return the names of the columns that are ignored, or their places."""
        past = (i for i, role in enumerate(self.roles) if role is None)
        return tuple(self.names[i] or f"column {i + 1}, which has no name" for i in past)

    @property
    def once(self) -> bool:
        """Whether rows may be left out for others of the table: only all of them can be read."""
        return self.dialect is not None and "selection" in self.dialect.roles

    @property
    def past(self) -> frozenset[int]:
        """Return the positions of the columns in which cells need not be text."""
        return frozenset(at for at, role in enumerate(self.roles) if role in {None, "view"})

    def position(self, role: str) -> int | None:
        """Return the position of the column with a role, None without such a column."""
        return self.roles.index(role) if role in self.roles else None

    def number_positions(self) -> list[int]:
        """Return the positions of the columns of times and values, dates and times of day left out."""
        return [i for i in self.positions() if self.units.get(i) != "date"]

    def dates(self) -> list[int]:
        """Return the positions of the columns of dates and times of day."""
        return [i for i, unit in self.units.items() if unit == "date"]

    def positions(self) -> list[int]:
        """Return the positions of the columns of times and values."""
        return [i for i, role in enumerate(self.roles) if role is not None and role not in TEXTS]

    def of(self, positions: Sequence[int]) -> Layout:
        """Return the layout of some of the columns, which has all that play a role."""
        return replace(
            self,
            names=tuple(self.names[i] for i in positions),
            roles=tuple(self.roles[i] for i in positions),
            settled=frozenset(k for k, i in enumerate(positions) if i in self.settled),
            units={k: self.units[i] for k, i in enumerate(positions) if i in self.units},
            labels=(),
        )

    def says_nothing(self, label: str) -> bool:
        """Return whether a row of a label declares its recording to have no event."""
        return self.dialect is not None and label.strip().lower() in self.dialect.nothing


def normal(name: str) -> str:
    """Return a column name as it is compared."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def role_of(name: str) -> str | None:
    """Return the role of a column with this name, None if the name is not known."""
    return _ROLE_OF.get(normal(name))


def to_number(text: str) -> float:
    """Return the number in a field; NaN if it is not a number."""
    stripped = text.strip(BLANKS)
    return float(stripped) if NUMBER.fullmatch(stripped) else math.nan


def is_number(text: str) -> bool:
    """Return whether a field is read as a number."""
    return NUMBER.fullmatch(text.strip(BLANKS)) is not None


def dialect_of(fields: Sequence[str]) -> Dialect | None:
    """Return the dialect that a header is of, None if it is of none."""
    names = {normal(field) for field in fields}
    return next((dialect for dialect in DIALECTS if dialect.fits(names)), None)


def looks_like_header(fields: Sequence[str], columns: ColumnNames = ()) -> bool:
    """Return whether a line names a column of onsets, and one of offsets, durations or labels.

    Numbers are not names: they are of columns of a table without header.
    """
    named = tuple((role, name) for role, name in columns if not _POSITION.fullmatch(name))
    roles, _ = roles_of(fields, named, dialect_of(fields))
    return "onset" in roles and not {"offset", "duration", "event_label"}.isdisjoint(roles)


def roles_of(
    fields: Sequence[str], columns: ColumnNames, dialect: Dialect | None
) -> tuple[list[str | None], set[int]]:
    """Return the role of each column by its name, and the positions of those settled to have none."""
    keys = [normal(field) for field in fields]
    given = {normal(name): role for role, name in columns}
    chosen = {given[key] for key in keys if key in given}
    past = dialect.past if dialect else frozenset()
    meant = dialect.columns(key for key in keys if key not in given) if dialect else {}
    meant = {key: role for role, key in meant.items() if role not in chosen}
    chosen.update(meant.values())
    roles: list[str | None] = []
    settled: set[int] = set()
    for i, key in enumerate(keys):
        known = _ROLE_OF.get(key)
        role = given.get(key, meant.get(key, ""))
        if key not in given and key not in meant and known not in chosen and key not in past:
            roles.append(known)
            continue
        roles.append(role or None)
        settled.update([] if role else [i])
    if not {"offset", "duration"} & {*roles}:
        # Beside an offset a duration adds nothing new.
        for i, key in enumerate(keys):
            roles[i] = roles[i] or ("duration" if key in _DURATIONS and i not in settled else None)
    _in_one_unit(keys, roles, settled)
    if PRESENT in keys and "event_label" in roles and "soft_value" not in given.values():
        at = keys.index(PRESENT)
        roles[at] = roles[at] if at in settled else roles[at] or "soft_value"
    return roles, settled


def _in_one_unit(keys: Sequence[str], roles: list[str | None], settled: set[int]) -> None:
    """Keep the role of a time for its columns in one of several units: seconds, if any."""
    for role in TIMES:
        units = {i: _unit(keys[i], keys) for i, other in enumerate(roles) if other == role}
        first = next((unit for unit in _UNITS if unit in units.values()), "")
        for i in (i for i, unit in units.items() if unit != first):
            roles[i] = None
            settled.add(i)


def _unit(key: str, keys: Sequence[str]) -> str:
    """Return the unit of a column of times by its name; empty for a unit in which no times are read."""
    if key in UNITS:
        return UNITS[key]
    least = key.replace("min", "max") in {*keys} - {key}  # `t_min` beside `t_max` is not in minutes
    other = "" if _has_word(key, "other-units") and not least else "s"
    return "ms" if _has_word(key, "milliseconds") else other


INSTANTS = "no column has offsets: each event ends at its onset"
"""The assumption about a table with onsets alone."""


def layout_of_header(
    fields: Sequence[str],
    columns: ColumnNames = (),
    row: Sequence[str] = (),
    label: str = "",
    sample_rate: float = 0,
) -> Layout:
    """Assign roles to the columns of a header; raises LayoutError if that is impossible.

    columns: the user's roles.

    row: the fields of the first row, if they are known: a table that could be long or wide is refused then,
    as a class may be called `event`, or `activity`.

    label: the class of all rows of a table without a column of classes. sample_rate: in Hz if times are in
    samples, else 0.
    """
    names = tuple(field.strip() for field in fields)
    keys, dialect = [normal(name) for name in names], dialect_of(names)
    roles, settled = roles_of(names, columns, dialect)
    if not {"onset", "offset"} <= {*roles} and (weak := layout_of_labels(fields, columns, [row])) is not None:
        return weak
    _one_of_each(names, roles, settled)
    if "onset" not in roles:
        raise without_time("onset", names, columns)
    instants = not {"offset", "duration"} & {*roles}
    past = (i for i, role in enumerate(roles) if role is None and i not in settled)
    known = dialect is None and "event_label" in roles
    known = known and all(len(row) == len(names) and not is_number(row[i]) for i in past)
    if instants and not (known and misnamed(names, columns) is None):
        raise without_time("offset", names, columns)
    labels = _other_labels(keys, roles, settled, dialect, columns) if dialect else ()
    plain = (i for i, role in enumerate(roles) if role is None and i not in settled)
    others = [i for i in plain if not _MADE_UP.fullmatch(keys[i])]
    unlike = len(row) == len(names) and not any(_may_be_class(row[i]) for i in others)
    no_classes = "event_label" not in roles and (
        "soft_value" in roles or unlike or not others or dialect is not None
    )
    of_one_class = bool(label) and no_classes
    if "event_label" not in roles and dialect is not None and not of_one_class:
        same = [name for key, name in zip(keys, names, strict=True) if key in dialect.same]
        cells = row if len(row) == len(names) else names
        free = [name for name in (*(names[i] for i in others if not is_number(cells[i])), *same) if name]
        raise LayoutError(
            f"{dialect.title}: no column is known to have the labels",
            "missing-column",
            expected=f"event_label{ONE_CLASS}",
            choices=[((("event_label", name),), "") for name in free[:1]],
        )
    if "event_label" not in roles and not of_one_class:
        _enter_classes(names, roles, settled, row, ONE_CLASS if unlike else "")
    elif dialect is None and not of_one_class and len(row) == len(names) and None in roles:
        _check_labels(names, roles, [i for i in others if names[i]], columns, row)
    given = {(role, normal(name)) for role, name in columns}
    chosen = [(role, name) for role, name in zip(roles, names, strict=True) if (role, normal(name)) in given]
    labelled = [("event_label", names[roles.index("event_label")])] if dialect and not of_one_class else []
    chosen = list(dict.fromkeys([*chosen, *labelled]))
    choices = "".join(f", {(role or '').removeprefix('soft_')} from {name!r}" for role, name in chosen)
    units = {i: _unit(keys[i], keys) for i, role in enumerate(roles) if role in TIMES}
    units = {i: "s" if sample_rate and not unit else unit for i, unit in units.items()}
    if error := next((_in_no_unit(names, i) for i, unit in units.items() if not unit), None):
        raise error
    layout = Layout(names, tuple(roles), has_header=True, settled=frozenset(settled), choices=choices)
    units = {i: unit for i, unit in units.items() if unit != "s"}
    layout = replace(layout, units=units, dialect=dialect, labels=labels, assumed=(INSTANTS,) * instants)
    layout = _of_one_class(layout, label) if of_one_class else layout
    return in_samples(layout, sample_rate)


def in_samples(layout: Layout, rate: float) -> Layout:
    """Return a layout whose times, but for milliseconds and dates, are in samples; rate: in Hz, or 0."""
    plain = [i for i, role in enumerate(layout.roles) if role in TIMES and i not in layout.units]
    return replace(layout, units={**layout.units, **dict.fromkeys(plain, repr(rate))}) if rate else layout


def in_vain(layout: Layout, columns: ColumnNames, label: str) -> tuple[str, ...]:
    """Return the user's settings for a table that have no effect on the reader.

    If a role has several names, one is enough, as the tables of two sides may have other ones.
    """
    by_number = {str(at + 1) for at in layout.settled}
    keys = {*map(normal, layout.names)} if layout.has_header else by_number
    known = {(role, normal(name)) for role, name in columns if normal(name) in keys}
    roles = {role for role, _ in known} - {""}
    known |= {(role, normal(name)) for role, name in columns if role in roles}
    return without_effect(columns, label, known | {("label", layout.label)})


def without_effect(columns: ColumnNames, label: str, known: set[tuple[str, str]]) -> tuple[str, ...]:
    """Return which options have no effect on a table, and why.

    known: roles and names of its columns, as they are compared, and `label` with the class of all rows if
    that was needed.
    """
    vain = [option(each) for each in columns if (each[0], normal(each[1])) not in known]
    texts = [f"{text} has no effect: there is no such column" for text in vain]
    needless = bool(label) and ("label", label) not in known
    texts += [f"--label {shlex.quote(label)} has no effect: no row is without a class"] * needless
    return tuple(texts)


def _of_one_class(layout: Layout, label: str) -> Layout:
    return replace(layout, label=label, choices=f"{layout.choices}, all rows of {label!r}")


def _one_of_each(names: Sequence[str], roles: list[str | None], settled: set[int]) -> None:
    """Leave its role to the canonical one of several columns of a role; raises LayoutError if none is."""
    for role, aliases in (*ALIASES.items(), ("duration", NAMES["duration"])):
        holders = [i for i, other in enumerate(roles) if other == role]
        canonical = [i for i in holders if normal(names[i]) == aliases[0]]
        if len(holders) > 1 and len(canonical) != 1:
            both = " and ".join(repr(names[i]) for i in holders[:LISTED])
            wrong, expected = f"columns {both} could each be the {role}", "only one of them"
            choices = [(((role, names[i]),), "") for i in holders[:2]]
            if normal(names[holders[0]]) == normal(names[holders[1]]):
                wrong = f"columns {holders[0] + 1} and {holders[1] + 1} have one name: {both}"
                expected, choices = "another name for one of them, or only one", []
            raise LayoutError(wrong, "repeated-column", holders[-1] + 1, expected=expected, choices=choices)
        for i in {*holders} - {*canonical} if len(holders) > 1 else ():
            roles[i] = None
            settled.add(i)


def _other_labels(
    keys: Sequence[str],
    roles: Sequence[str | None],
    settled: set[int],
    dialect: Dialect,
    columns: ColumnNames,
) -> tuple[int, ...]:
    """Return the columns that could also be the label; none if the user names the label."""
    names = dialect.roles.get("event_label", ())
    free = {i: key for i, key in enumerate(keys) if roles[i] is None}
    others = sorted((i for i, key in free.items() if key in names), key=lambda i: names.index(keys[i]))
    settled.update(others)
    said = {normal(name) for _, name in columns}
    chosen = "event_label" in {role for role, name in columns if normal(name) in keys}
    return () if chosen else tuple(i for i in others if keys[i] not in said)


def with_label(layout: Layout, filled: Sequence[int]) -> Layout:
    """Return a layout of a dialect with the best of the columns that have texts as its label.

    filled: their positions. `assumed` reports other columns that could be the label and differ from it.
    """
    first = layout.roles.index("event_label")
    candidates = (first, *layout.labels)
    best, *doubtful = [i for i in candidates if i in filled] or [first]
    same = layout.dialect.same if layout.dialect else frozenset()
    doubtful = [i for i in doubtful if normal(layout.names[i]) not in same]
    label = layout.names[best]
    assumed = [
        f"column {label!r} was read as the label, which {layout.names[i]!r} could be, too; "
        f"{option(('event_label', label))} says so, {option(('event_label', layout.names[i]))} the other"
        for i in doubtful[:1]
    ]
    return replace(
        layout,
        roles=tuple({first: None, best: "event_label"}.get(i, role) for i, role in enumerate(layout.roles)),
        settled=(layout.settled | {*candidates}) - {best},
        choices=layout.choices.replace(f"from {layout.names[first]!r}", f"from {label!r}"),
        labels=tuple(i for i in candidates if i != best),
        assumed=tuple(assumed),
    )


def without_time(role: str, names: Sequence[str], columns: ColumnNames = ()) -> LayoutError:
    """Return the problem of a header without onsets, or offsets; its column is the likely one."""
    code, shown, more = "missing-column", names[:LISTED], len(names) - LISTED
    listed = ", ".join(map(repr, shown)) + (f" and {more} more" if more > 0 else "")
    wrong = f"there is no {role} column among {listed}" if names else "has no columns"
    expected = f"one named {role!r}{' or ' + repr('duration') if role == 'offset' else ''}, in seconds"
    said = {normal(name) for _, name in columns}
    meant = [i for i in _misspelt(role, shown) if normal(shown[i]) not in said]
    if not meant:
        return LayoutError(wrong, code, expected=expected)
    at = meant[0]
    also = [] if role == "offset" or "offset" in map(role_of, names) else _misspelt("offset", shown)
    pairs = ((role, shown[at]), *(("offset", shown[i]) for i in also[:1] if i != at))
    asking = f"did you mean {role!r} by {shown[at]!r}? "
    choices = [(pairs, " says so"), ((("", shown[at]),), " if it has no times")]
    return LayoutError(wrong, code, at + 1, expected=expected, choices=choices, asking=asking)


def words_in(name: str) -> set[str]:
    """Return the words that the name of a column is made of, in small letters."""
    return {*re.split(r"[^a-z]+", name.lower())}


def _has_word(name: str, words: str) -> bool:
    return not words_in(name).isdisjoint(WORD_LISTS[words])


def _misspelt(role: str, names: Sequence[str]) -> list[int]:
    """Return the positions of names that are close to names of a role, and are not names of any role."""
    known = [role_of(name) or normal(name) in _DURATIONS for name in names]
    unknown = (i for i, name in enumerate(names) if not known[i] and not _has_word(name, "other-units"))
    return [i for i in unknown if close_matches(normal(names[i]), ALIASES[role], 1, 0.75)]


def _check_labels(
    names: Sequence[str],
    roles: Sequence[str | None],
    others: Sequence[int],
    columns: ColumnNames,
    row: Sequence[str],
) -> None:
    # Labels are refused if they, and all others, columns that could be classes as well, are numbers.
    at = roles.index("event_label")
    known = normal(names[at]) == ALIASES["event_label"][0] or "event_label" in {role for role, _ in columns}
    if not known and others and all(is_number(row[i]) for i in (at, *others)):
        classes = ", ".join(repr(names[i]) for i in (at, *others[:LISTED]))
        wrong = f"{names[at]!r} could be the column of labels, or {classes} classes of a wide table"
        choices = [((("event_label", names[at]),), " if it has the labels")]
        expected = "another name for that class"
        raise LayoutError(wrong, "ambiguous-table", at + 1, expected=expected, choices=choices)


def _may_be_class(cell: str) -> bool:
    """Return whether a cell may be one of a class: a value, or a mark of a few-shot table."""
    return 0 <= to_number(cell) <= 1 or cell.strip() in WORD_LISTS["marks"]


def _enter_classes(
    names: Sequence[str], roles: list[str | None], settled: set[int], row: Sequence[str], one_class: str
) -> None:
    # one_class: the option for the class of all rows, if no column may be one.
    if "soft_value" in roles:
        value = names[roles.index("soft_value")]
        wrong = f"there is a column of values ({value!r}) but none of labels"
        raise LayoutError(wrong, "missing-column", expected=f"event_label{ONE_CLASS}")
    first = {name: i for i, name in reversed([*enumerate(names)])}
    for i, name in enumerate(names):
        if normal(name) in WORD_LISTS["directions"]:
            settled.add(i)
        if roles[i] is not None or i in settled or _MADE_UP.fullmatch(normal(name)):
            continue
        if not name and i == 0 and re.fullmatch(r"\d+", "".join(row[:1]).strip(), re.ASCII):
            # As pandas writes its index, which counts rows.
            settled.add(i)
            continue
        if not name:
            wrong = f"column {i + 1} has no name"
            raise LayoutError(wrong, "unnamed-column", i + 1, expected="the name of a class")
        if first[name] != i:
            wrong = f"two columns are named {name!r}"
            raise LayoutError(wrong, "repeated-column", i + 1, expected="each class once")
        roles[i] = "class"
    if "class" not in roles:
        wrong = "there is no column of labels, and no column of a class"
        raise LayoutError(wrong, "missing-column", expected=f"event_label{ONE_CLASS}")
    no_classes = _DURATIONS | {*WORD_LISTS["no-classes"]}
    odd = [i for i, role in enumerate(roles) if role == "class" and normal(names[i]) in no_classes]
    if odd:
        listed = ", ".join(repr(names[i]) for i in odd[:LISTED])
        wrong = f"a wide table would have {listed} among its classes"
        choices = [(tuple(("", names[i]) for i in odd[:LISTED]), "")]
        expected = f"event_label{one_class}" if one_class else "other names in the header if they are classes"
        raise LayoutError(wrong, "ambiguous-table", odd[0] + 1, expected=expected, choices=choices)


def _without_header(roles: Sequence[str | None]) -> Layout:
    names = tuple(role or f"column {i + 1}" for i, role in enumerate(roles))
    return Layout(names, tuple(roles), has_header=False)


FILES_ALONE = _without_header(("filename", "onset", "offset", "event_label"))
"""The layout of lines that have a file's name in the first of four fields, and nothing in the others."""


def mask_of(fields: Sequence[str]) -> str:
    """Return which fields are numbers (n) and which are not (s)."""
    return "".join("n" if is_number(field) else "s" for field in fields)


def layout_of_row(fields: Sequence[str], label: str = "") -> Layout | None:
    """Return the layout of a table without header from one of its rows, None if no layout fits.

    label: the class of rows that have none.
    """
    mask = mask_of(fields)
    if label and mask in UNLABELLED:
        return _of_one_class(_without_header(UNLABELLED[mask]), label)
    for pattern, roles in _HEADERLESS:
        if re.fullmatch(pattern, mask):
            return _without_header(roles)
    return None


def layout_of_labels(
    fields: Sequence[str], columns: ColumnNames, rows: Sequence[Sequence[str]] = ()
) -> Layout | None:
    """Return the layout of a header that names recordings and labels but no times; None for any other.

    rows: the fields of the first ones. A column that could have times in another spelling has them, unless
    the user gives it a role. Raises LayoutError for labels that are JSON.
    """
    names = tuple(field.strip() for field in fields)
    roles, settled = roles_of(names, columns, None)
    if {*TIMES} & {*roles} - {"duration"}:
        return None
    roles = [None if role == "duration" else role for role in roles]  # of the recording
    keys = [normal(name) for name in names]
    lists = [i for i, key in enumerate(keys) if key in WORD_LISTS["label-lists"] and i not in settled]
    several = "event_label" not in roles and len(lists) > 0
    if several:
        roles[lists[0]] = "event_label"
    if "filename" not in roles and (clips := [i for i, key in enumerate(keys) if key in WORD_LISTS["clips"]]):
        roles[clips[0]] = "filename"
    open_names = [name for i, name in enumerate(names) if i not in settled and roles[i] is None]
    may_have_times = any(_has_word(name, "of-times") for name in open_names) or any(
        _misspelt(role, open_names) for role in ("onset", "offset")
    )
    if roles.count("filename") != 1 or roles.count("soft_value") > 1 or may_have_times:
        return None
    if "event_label" not in roles:
        return _layout_of_clips(names, roles, settled, rows)
    if roles.count("event_label") > 1:
        return None
    at = roles.index("event_label")
    if any(_JSON.match(row[at]) for row in rows if len(row) == len(names)):
        wrong = f"column {names[at]!r} has JSON in place of labels, as tables of Label Studio have"
        raise LayoutError(wrong, "not-a-table", at + 1, expected="Label Studio's JSON, JSON-MIN or CSV")
    return Layout(names, tuple(roles), has_header=True, settled=frozenset(settled), lists=several)


def _layout_of_clips(
    names: tuple[str, ...], roles: list[str | None], settled: set[int], rows: Sequence[Sequence[str]]
) -> Layout | None:
    """Return the layout of a table of recordings with a column of values for each class; None for another.

    rows: the fields of the first ones; without any, it is another table.
    """
    free = [i for i, role in enumerate(roles) if role is None and i not in settled]
    cells = [row[i] for row in rows if len(row) == len(names) for i in free if names[i]]
    if "soft_value" in roles or not cells or not all(map(_may_be_class, cells)):
        return None
    _enter_classes(names, roles, settled, (*rows, ())[0], "")
    return Layout(names, tuple(roles), has_header=True, settled=frozenset(settled))


def layout_by_number(fields: Sequence[str], columns: ColumnNames, label: str = "") -> Layout | None:
    """Return the layout of a table without header whose columns the user names by number, as `onset=2`.

    fields: of its first row. label: the class of rows that have none. None if the table has no such columns,
    or no numbers as times. Raises LayoutError if the numbers leave out a time or the label.
    """
    given = {int(name) - 1: role for role, name in columns if _POSITION.fullmatch(name)}
    roles = tuple(given.get(i) or None for i in range(len(fields)))
    numbers = [i for i, role in enumerate(roles) if role in TIMES]
    if not any(roles) or max(given) >= len(fields) or not all(is_number(fields[i]) for i in numbers):
        return None
    end = "duration" if "duration" in roles and "offset" not in roles else "offset"
    of_one_class = bool(label) and "event_label" not in roles
    for role in ("onset", end, *(() if of_one_class else ("event_label",))):
        if roles.count(role) != 1:
            wrong = f"{COLUMNS} gives columns by number, but {roles.count(role) or 'none'} as the {role}"
            raise LayoutError(wrong, "missing-column", expected=f"{role}=NUMBER once")
    choices = "".join(
        f", {role.removeprefix('soft_')} from column {i + 1}" for i, role in enumerate(roles) if role
    )
    layout = replace(_without_header(roles), settled=frozenset(given), choices=choices)
    return _of_one_class(layout, label) if of_one_class else layout


def are_decimal(files: Sequence[str]) -> bool:
    """Return whether all names are numbers, some with decimals: times are such, file names are not."""
    return all(map(is_number, files)) and not all(name.isdigit() for name in files)


def as_duration(layout: Layout) -> str:
    """Return a hint for reading the offsets of a table as durations; empty if that is impossible.

    If a header names the offsets, the hint is not an option, which would also apply to the other side.
    """
    if "offset" not in layout.roles or layout.dialect:
        return ""
    at = layout.roles.index("offset")
    if layout.has_header and f", offset from {layout.names[at]!r}" in layout.choices:
        return f"{option(('duration', layout.names[at]))} if it is a duration"
    if layout.has_header:
        return f"'duration' in place of {layout.names[at]!r} in the header if it is one"
    roles = ((("duration" if role == "offset" else role), i) for i, role in enumerate(layout.roles))
    said = ((role, str(i + 1)) for role, i in roles if role)
    return f"{option(*said)} if column {at + 1} is a duration"


def misnamed(names: Sequence[str], columns: ColumnNames) -> LayoutError | None:
    """Return the problem of a column of times whose name makes it unreadable, if there is any."""
    errors = (without_time(role, names, columns) for role in ("onset", "offset"))
    if error := next((error for error in errors if error.column is not None), None):
        return error
    said = {normal(name) for _, name in columns}
    for i, name in enumerate(names):
        timed = _has_word(name, "of-times") and _has_word(name, "other-units") and normal(name) not in said
        if len(names) > 2 and timed:
            return _in_no_unit(names, i)
    return None


def _in_no_unit(names: Sequence[str], position: int) -> LayoutError:
    """Return the problem of a column of times whose name suggests minutes, frames or the like."""
    wrong = f"column {names[position]!r} has times, by its name not in seconds"
    expected = "seconds, as onset and offset, or milliseconds, as onset_ms and offset_ms, or --sample-rate HZ"
    return LayoutError(wrong, "missing-column", position + 1, expected=expected)
