"""Which column of a table plays which role, by its name and by what the user says of it.

Names are compared without case, and with `-`, blank and `_` alike. With a header the order of
columns is free, and columns that play no role are read past. Tables without a header are told
apart by which of their fields are numbers:

    onset offset label                      sed_eval
    onset offset label value                MAESTRO
    filename onset offset label             sed_eval
    filename onset offset label value
    filename scene onset offset label       dcase_util

A header with onset and offset but without any label column is that of a wide table: every other
column is a class. `filename onset offset number` could be a class called by a number, or a label,
its times and a value: it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sedeval_soft.errors import EvaluationError, InputError, Problem, SettingsError
from sedeval_soft.names import close_matches

COLUMNS = "--columns"
"""The option that says which column of a table plays which role, as `--columns ROLE=COLUMN`."""

ALIASES: dict[str, tuple[str, ...]] = {
    "filename": (
        "filename", "file", "file_name", "audio_filename", "audio_file", "audio", "wav", "wav_file", "clip",
        "clip_id", "clip_name", "recording", "recording_id", "file_id", "audio_id", "path", "filepath",
        "fname", "file_path", "audio_path", "audio_name", "wav_name", "wav_path", "sound_file", "begin_file",
        "soundscape", "segment_id", "video_id", "youtube_id", "yt_id", "ytid",
    ),
    "onset": (
        "onset", "event_onset", "start", "start_time", "start_seconds", "start_time_seconds", "begin",
        "begin_time", "begin_seconds", "event_start", "event_start_time", "start_sec", "start_time_s",
        "onset_time", "onset_seconds", "onset_s", "start_s", "time_start", "from",
    ),
    "offset": (
        "offset", "event_offset", "end", "end_time", "end_seconds", "end_time_seconds", "stop", "stop_time",
        "stop_seconds", "stop_time_seconds", "event_end", "event_end_time", "end_sec", "end_time_s",
        "offset_time", "offset_seconds", "offset_s", "end_s", "time_end", "to",
    ),
    "event_label": (
        "event_label", "label", "event", "class", "class_name", "class_label", "event_class", "event_type",
        "category",
        "tag", "sound_event", "sound_event_label",
    ),
    "soft_value": (
        "soft_value", "value", "score", "confidence", "probability", "prob", "activity", "soft_label", "soft",
        "likelihood", "posterior", "event_value", "agreement",
    ),
}  # fmt: skip
"""The names of each role; the first is canonical."""

DURATION_NAMES = frozenset(
    {"duration", "length", "duration_seconds", "seconds", "duration_s", "dur", "length_seconds"}
)
"""Of the column of seconds in a table of durations."""

PART_NAMES = frozenset(
    f"{name}{ending}"
    for name in ("fold", "split", "scene", "group", "part", "partition", "subset", "location", "city")
    for ending in ("", "_id", "_label", "_name", "_number")
)
"""Of the column of parts in a table of folds or scenes."""

PRESENT = "present"
"""A column of values in a table with labels: PRESENT or NOT_PRESENT, as AudioSet says of each frame."""

_RAVEN_TIMES = frozenset({"begin_time_(s)", "end_time_(s)"})
_RAVEN_OTHERS = frozenset(
    {
        *("selection", "view", "channel", "low_freq_(hz)", "high_freq_(hz)", "begin_file", "begin_path"),
        *("file_offset_(s)", "delta_time_(s)", "delta_freq_(hz)", "end_file", "end_path"),
    }
)
"""How Raven heads the columns of a selection table: the times always, of the others some."""

_ROLE_OF = {alias: role for role, aliases in ALIASES.items() for alias in aliases}

_OPTIONS = {**{role: role for role in ALIASES if role != "soft_value"}, "value": "soft_value", "ignore": ""}
"""What a column can be said to be, and the role that readers know it by: none where it is to be read past."""

_SPELLINGS = {**_OPTIONS, "label": "event_label", "soft_value": "soft_value"}
_NEXT_COLUMN = rf",(?=\s*(?:{'|'.join(_SPELLINGS)})\s*=)"

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""What is read as a number, surrounding blanks aside."""

BLANKS = " \t\r\n\f\v"
"""What may surround a number: `str.strip` alone takes separators for blanks that `float` does not know."""

UNCLEAR_FILE, UNCLEAR_VALUE, RAVEN = "unclear-file-column", "unclear-value-column", "raven-table"
"""Codes of problems that only the user can settle."""

_LISTED = 50
"""Columns, and characters of a name, up to which messages list them."""


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """What the user says of columns.

    roles: pairs of a role and the name of a column that plays it; a role may have several names, as the
    tables of two sides may. ignored: names of columns that play no role, whatever they look like.
    """

    roles: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: object) -> ColumnNames:
        """Return what a text such as `filename=segment_id,value=p` says, some texts, or a mapping.

        columns: a mapping has the names of columns by role, one name or several. Raises SettingsError.
        """
        roles: dict[tuple[str, str], None] = {}
        role_by_name: dict[str, str] = {}
        for option, text in _pairs(columns):
            role, name = _SPELLINGS.get(option.strip().lower()), text.strip()
            if role is None:
                expected = f"expected one of {', '.join(_OPTIONS)}"
                raise SettingsError(f"{COLUMNS} {option}={text}: there is no role {option!r}; {expected}")
            if not name:
                raise SettingsError(
                    f"{COLUMNS} {option}=: the name of the column is missing; expected ROLE=COLUMN"
                )
            if role_by_name.setdefault(name.casefold(), role) != role:
                raise SettingsError(f"{COLUMNS}: column {name!r} has two roles; expected one")
            roles[role, name] = None
        return cls(tuple(pair for pair in roles if pair[0]), tuple(name for role, name in roles if not role))

    def of_role(self, role: str) -> tuple[str, ...]:
        """Return the names that were given for a role."""
        return tuple(name for other, name in self.roles if other == role)


def _pairs(columns: object) -> Iterable[tuple[str, str]]:
    """Yield pairs of role and name; raises SettingsError for what is no pair."""
    if isinstance(columns, Mapping):
        for role, names in columns.items():
            several = [names] if isinstance(names, str) else names
            sound = isinstance(role, str) and isinstance(several, list | tuple | set | frozenset)
            for name in several if sound else [names]:
                if not sound or not isinstance(name, str):
                    raise SettingsError(
                        f"columns: {role!r}: {name!r:.60} is no name of a column; expected a text"
                    )
                yield role, name
        return
    texts = [columns] if isinstance(columns, str) else columns
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise SettingsError(
            f"columns must be a text such as 'filename=segment_id,value=p', or a mapping, not {columns!r:.60}"
        )
    for text in texts:
        for part in re.split(_NEXT_COLUMN, text):
            role, equals, name = part.partition("=")
            if not equals:
                options = ", ".join(_OPTIONS)
                raise SettingsError(f"{COLUMNS} {part!r}: expected ROLE=COLUMN with one of {options}")
            yield role.strip(), name


NO_COLUMNS = ColumnNames()
"""Where the user says nothing of columns."""


class LayoutError(EvaluationError):
    """A first line that is neither a header nor a row; the reader adds where it stands.

    code: of this kind of problem. column: the one that is wrong, from 1, where it is one.
    """

    def __init__(self, message: str, code: str, column: int | None = None) -> None:
        """Keep what the reader needs to say more."""
        super().__init__(message)
        self.code = code
        self.column = column

    def at(self, source: str, line: int) -> InputError:
        """Return the error of a table with this first line."""
        return InputError(Problem(source, str(self), line, self.column, self.code))


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out.

    names: of all columns, made up where there is no header. roles: for each column its role,
    `class` for a class column of a wide table, None for one that is read past. settled: positions of those
    that are read past because the user says so, or because another one has their role. named: the roles of
    which the user said which column plays them, with its name.
    """

    names: tuple[str, ...]
    roles: tuple[str | None, ...]
    has_header: bool
    settled: frozenset[int] = frozenset()
    named: tuple[tuple[str, str], ...] = ()

    @property
    def wide(self) -> bool:
        """Whether each class has a column of its own."""
        return "class" in self.roles

    @property
    def ignored(self) -> tuple[str, ...]:
        """Return the names of the columns that are read past."""
        return tuple(name for name, role in zip(self.names, self.roles, strict=True) if role is None)

    def position(self, role: str) -> int | None:
        """Return the position of the column with a role, None where there is none."""
        return self.roles.index(role) if role in self.roles else None

    def said(self) -> str:
        """Return which columns play a role because the user says so, to follow a description of the table."""
        return "".join(f", {_option(role)} from {name!r}" for role, name in self.named)

    def class_positions(self) -> list[int]:
        """Return the positions of the class columns of a wide table."""
        return [i for i, role in enumerate(self.roles) if role == "class"]

    def number_positions(self) -> list[int]:
        """Return the positions of the columns of times and values."""
        return [i for i, role in enumerate(self.roles) if role not in {None, "filename", "event_label"}]


def _option(role: str) -> str:
    return "value" if role == "soft_value" else role


def normal(name: str) -> str:
    """Return a column name as it is compared."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def role_of(name: str) -> str | None:
    """Return the role of a column that is called so, None where the name is of none."""
    return _ROLE_OF.get(normal(name))


def is_number(text: str) -> bool:
    """Return whether a field is read as a number."""
    return NUMBER.fullmatch(text.strip(BLANKS)) is not None


def only_the_user_knows(error: InputError) -> bool:
    """Return whether an input was refused as only the user can say what it is: no other form is tried."""
    return any(problem.code in {UNCLEAR_FILE, UNCLEAR_VALUE, RAVEN} for problem in error.problems)


def is_of_raven(fields: Sequence[str]) -> bool:
    """Return whether a line is the header of a selection table of Raven's."""
    names = {normal(field) for field in fields}
    return names >= _RAVEN_TIMES and bool(names & _RAVEN_OTHERS)


def of_raven() -> LayoutError:
    """Return why a selection table of Raven's is not read."""
    return LayoutError(
        "is a Raven selection table, which is not read: a selection has a row in each view, and its times "
        "may be counted from the first of several files; expected one row a selection, with the columns "
        "filename, onset, offset and event_label",
        RAVEN,
    )


def looks_like_header(fields: Sequence[str], columns: ColumnNames = NO_COLUMNS) -> bool:
    """Return whether a line names an onset and an offset column, or is the header of a table of Raven's."""
    return {"onset", "offset"} <= {*_roles_of(fields, columns)[0]} or is_of_raven(fields)


def _roles_of(fields: Sequence[str], columns: ColumnNames) -> tuple[list[str | None], set[int]]:
    """Return the role of each column by its name, and the positions of those settled to have none."""
    keys = [normal(field) for field in fields]
    roles = [_ROLE_OF.get(key) for key in keys]
    ignored = {normal(name) for name in columns.ignored}
    settled = {i for i, key in enumerate(keys) if key in ignored}
    for role in ALIASES if columns.roles else ():
        names = {normal(name) for name in columns.of_role(role)}
        chosen = {i for i, key in enumerate(keys) if key in names}
        if chosen:
            settled = settled.union(i for i, other in enumerate(roles) if other == role) - chosen
            roles = [role if i in chosen else other for i, other in enumerate(roles)]
    roles = [None if i in settled else role for i, role in enumerate(roles)]
    if PRESENT in keys and "event_label" in roles and not columns.of_role("soft_value"):
        at = keys.index(PRESENT)
        roles[at] = roles[at] if at in settled else roles[at] or "soft_value"
    return roles, settled


def layout_of_header(
    fields: Sequence[str], columns: ColumnNames = NO_COLUMNS, row: Sequence[str] = ()
) -> Layout:
    """Assign roles to the columns of a header; raises LayoutError where that is impossible.

    columns: what the user says of them. row: the fields of the first row, where they are known: a table that
    could be long or wide is refused then, as a class may be called `event`, or `activity`.
    """
    names = tuple(field.strip() for field in fields)
    if is_of_raven(names):
        raise of_raven()
    roles, settled = _roles_of(names, columns)
    for role, aliases in ALIASES.items():
        holders = [i for i, other in enumerate(roles) if other == role]
        if len(holders) < 2:
            continue
        canonical = [i for i in holders if normal(names[i]) == aliases[0]]
        if len(canonical) != 1:
            both = " and ".join(repr(names[i]) for i in holders[:_LISTED])
            option = f"{COLUMNS} {_option(role)}=NAME"
            message = (
                f"columns {both} could each be the {role}; expected one, or one named {role!r}, or {option}"
            )
            raise LayoutError(message, "repeated-column", holders[-1] + 1)
        for i in {*holders} - {*canonical}:
            roles[i] = None
            settled.add(i)
    for role in ("onset", "offset"):
        if role not in roles:
            close = [name for name in names[:_LISTED] if close_matches(normal(name), ALIASES[role], 1, 0.75)]
            hint = f"did you mean {role} by {close[0]!r}?" if close else f"expected one named {role!r}"
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            listed = ", ".join(map(repr, names[:_LISTED]))
            raise LayoutError(f"there is no {role} column among {listed}{more}; {hint}", "missing-column")
    if "event_label" in roles:
        _check_long(names, roles, row)
    elif "soft_value" in roles:
        value = names[roles.index("soft_value")]
        message = f"there is a column of values ({value!r}) but none of labels; expected event_label"
        raise LayoutError(message, "missing-column")
    else:
        _enter_classes(names, roles, settled)
    given = {(role, normal(name)) for role, name in columns.roles}
    named = [(role, name) for role, name in zip(roles, names, strict=True) if role] if given else []
    said = tuple((role, name) for role, name in named if (role, normal(name)) in given)
    return Layout(names, tuple(roles), has_header=True, settled=frozenset(settled), named=said)


def _check_long(names: Sequence[str], roles: Sequence[str | None], row: Sequence[str]) -> None:
    """Refuse a header of which the labels, and all columns that would be read past, are numbers."""
    at = roles.index("event_label")
    others = [i for i, role in enumerate(roles) if role is None]
    if len(row) != len(names) or not others or normal(names[at]) == ALIASES["event_label"][0]:
        return
    if all(is_number(row[i]) for i in (at, *others)):
        classes = ", ".join(repr(names[i]) for i in sorted((at, *others[:_LISTED])))
        raise LayoutError(
            f"{names[at]!r} could be the column of labels, or {classes} classes of a wide table; "
            "expected event_label as the name of labels, or another name for that class",
            "ambiguous-table",
            at + 1,
        )


def _enter_classes(names: Sequence[str], roles: list[str | None], settled: set[int]) -> None:
    """Make classes of the columns of a wide table that have no other role."""
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        first.setdefault(name, i)
    for i, name in enumerate(names):
        if roles[i] is not None or i in settled:
            continue
        if not name:
            message = f"column {i + 1} has no name; expected the name of a class"
            raise LayoutError(message, "unnamed-column", i + 1)
        if first[name] != i:
            message = f"two columns are named {name!r}; expected each class once"
            raise LayoutError(message, "repeated-column", i + 1)
        roles[i] = "class"
    if "class" not in roles:
        message = "there is no column of labels, and no column of a class; expected event_label"
        raise LayoutError(message, "missing-column")


_HEADERLESS: tuple[tuple[str, tuple[str | None, ...]], ...] = (
    ("nn[ns]", ("onset", "offset", "event_label")),
    ("nnsn", ("onset", "offset", "event_label", "soft_value")),
    ("[ns]nns", ("filename", "onset", "offset", "event_label")),
    ("[ns]nnsn", ("filename", "onset", "offset", "event_label", "soft_value")),
    ("snnnn", ("filename", "onset", "offset", "event_label", "soft_value")),
    ("ssnns", ("filename", None, "onset", "offset", "event_label")),
)
"""Rows of tables without header: which fields are numbers (n) and which are not (s), and their roles."""


def layout_of_row(fields: Sequence[str]) -> Layout | None:
    """Return the layout of a table without header from one of its rows, None where none fits."""
    mask = "".join("n" if is_number(field) else "s" for field in fields)
    for pattern, roles in _HEADERLESS:
        if re.fullmatch(pattern, mask):
            names = tuple(role or f"column {i + 1}" for i, role in enumerate(roles))
            return Layout(names, roles, has_header=False)
    return None


def explain_first_line(fields: Sequence[str]) -> LayoutError:
    """Return why a first line is neither a header nor a row of a table without one."""
    texts = [field.strip() for field in fields[:_LISTED]]
    line = ", ".join(repr(text if len(text) <= _LISTED else f"{text[:_LISTED]}...") for text in texts[:8])
    if [is_number(field) for field in fields] == [False, True, True, True]:
        return LayoutError(
            f"{line} could be filename, onset, offset and a class called by a number, or a label, its "
            "times and a value; expected a header that says which",
            "ambiguous-table",
        )
    for role in ("onset", "offset"):
        for i, text in enumerate(texts):
            if not role_of(text) and close_matches(normal(text), ALIASES[role], 1, 0.75):
                message = f"{line} is not a header that is known; did you mean {role!r} by {text!r}?"
                return LayoutError(message, "missing-column", i + 1)
    return LayoutError(
        f"{line} is neither a header nor a row; expected a header with the columns onset, offset and "
        "event_label (and filename, soft_value), or rows of [filename,] onset, offset, label[, value]",
        "not-a-table",
    )
