"""Which column of a table plays which role.

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
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sedeval_soft.core.intake import COLUMNS, NO_COLUMNS, ColumnNames
from sedeval_soft.errors import EvaluationError
from sedeval_soft.names import close_matches

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

_SAID = {"soft_value": "value"}
"""What roles are called in options, where that is otherwise."""

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""What is read as a number, surrounding blanks aside."""

BLANKS = " \t\r\n\f\v"
"""What may surround a number: `str.strip` alone takes separators for blanks that `float` does not know."""


_LOOKED_AT = 50
"""Columns, and characters of a name, up to which messages tell them."""


class LayoutError(EvaluationError):
    """A first line that is neither a header nor a row; the reader adds where it stands.

    code: of this kind of problem. column: the one that is wrong, from 1, where it is one.
    """

    def __init__(self, message: str, code: str, column: int | None = None) -> None:
        """Keep what the reader needs to say more."""
        super().__init__(message)
        self.code = code
        self.column = column


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
        return "".join(f", {_SAID.get(role, role)} from {name!r}" for role, name in self.named)

    def class_positions(self) -> list[int]:
        """Return the positions of the class columns of a wide table."""
        return [i for i, role in enumerate(self.roles) if role == "class"]

    def number_positions(self) -> list[int]:
        """Return the positions of the columns of times and values."""
        return [i for i, role in enumerate(self.roles) if role not in {None, "filename", "event_label"}]


def normal(name: str) -> str:
    """Return a column name as it is compared."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def role_of(name: str) -> str | None:
    """Return the role of a column that is called so, None where the name is of none."""
    return _ROLE_OF.get(normal(name))


def is_number(text: str) -> bool:
    """Return whether a field is read as a number."""
    return NUMBER.fullmatch(text.strip(BLANKS)) is not None


def looks_like_header(fields: Sequence[str], columns: ColumnNames = NO_COLUMNS) -> bool:
    """Return whether a line names an onset and an offset column."""
    roles, _ = _roles_of(fields, columns)
    return {"onset", "offset"} <= {*roles}


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
        "raven-table",
    )


def _roles_of(fields: Sequence[str], columns: ColumnNames) -> tuple[list[str | None], set[int]]:
    """Return the role of each column by its name, and the positions of those settled to have none."""
    keys = [normal(field) for field in fields]
    roles = [_ROLE_OF.get(key) for key in keys]
    ignored = {normal(name) for name in columns.ignored}
    settled = {i for i, key in enumerate(keys) if key in ignored}
    for role in ALIASES:
        given = {normal(name) for name in columns.of_role(role)}
        chosen = [i for i, key in enumerate(keys) if key in given]
        if chosen:
            settled |= {i for i, other in enumerate(roles) if other == role}
            settled -= {*chosen}
            roles = [
                role if i in chosen else None if other == role else other for i, other in enumerate(roles)
            ]
    roles = [None if i in settled else role for i, role in enumerate(roles)]
    if PRESENT in keys and "event_label" in roles and not columns.of_role("soft_value"):
        at = keys.index(PRESENT)
        roles[at] = roles[at] if at in settled else roles[at] or "soft_value"
    return roles, settled


def layout_of_header(fields: Sequence[str], columns: ColumnNames = NO_COLUMNS) -> Layout:
    """Assign roles to the columns of a header; raises LayoutError where that is impossible.

    columns: what the user says of them.
    """
    names = tuple(field.strip() for field in fields)
    if is_of_raven(names):
        raise of_raven()
    roles, settled = _roles_of(names, columns)
    for role, aliases in ALIASES.items():
        holders = [i for i, found in enumerate(roles) if found == role]
        if len(holders) < 2:
            continue
        canonical = [i for i in holders if normal(names[i]) == aliases[0]]
        if len(canonical) != 1:
            both = " and ".join(repr(names[i]) for i in holders[:_LOOKED_AT])
            option = f"{COLUMNS} {_SAID.get(role, role)}=NAME"
            message = (
                f"columns {both} could each be the {role}; expected one, or one named {role!r}, or {option}"
            )
            raise LayoutError(message, "repeated-column", holders[-1] + 1)
        for i in holders:
            roles[i] = role if i == canonical[0] else None
            settled |= {i} - {*canonical}
    for role in ("onset", "offset"):
        if role not in roles:
            raise LayoutError(_missing(role, names), "missing-column")
    given = {(role, normal(name)) for role, name in columns.roles}
    named = tuple(
        (role, name)
        for role, name in zip(roles, names, strict=True)
        if role and (role, normal(name)) in given
    )
    if "event_label" in roles:
        return Layout(names, tuple(roles), has_header=True, settled=frozenset(settled), named=named)
    if "soft_value" in roles:
        value = names[roles.index("soft_value")]
        message = f"there is a column of values ({value!r}) but none of labels; expected event_label"
        raise LayoutError(message, "missing-column")
    return replace(_wide_layout(names, roles, settled), settled=frozenset(settled), named=named)


def check_first_row(layout: Layout, fields: Sequence[str]) -> None:
    """Refuse a table that could be long or wide: a class may be called `event`, or `activity`.

    fields: of the first row below the header. Raises LayoutError if the labels, and all columns that would be
    read past, are numbers, and the column of labels goes by another name than event_label.
    """
    at = layout.position("event_label")
    others = [i for i, role in enumerate(layout.roles) if role is None]
    if at is None or not others or normal(layout.names[at]) == ALIASES["event_label"][0]:
        return
    if len(fields) == len(layout.names) and all(is_number(fields[i]) for i in (at, *others)):
        classes = ", ".join(repr(layout.names[i]) for i in sorted((at, *others[:_LOOKED_AT])))
        raise LayoutError(
            f"{layout.names[at]!r} could be the column of labels, or {classes} classes of a wide table; "
            "expected event_label as the name of labels, or another name for that class",
            "ambiguous-table",
            at + 1,
        )


def _missing(role: str, names: Sequence[str]) -> str:
    close = [name for name in names[:_LOOKED_AT] if close_matches(normal(name), ALIASES[role], 1, 0.75)]
    hint = f"; did you mean {role} by {close[0]!r}?" if close else f"; expected one named {role!r}"
    more = f" and {len(names) - _LOOKED_AT} more" if len(names) > _LOOKED_AT else ""
    return f"there is no {role} column among {', '.join(map(repr, names[:_LOOKED_AT]))}{more}{hint}"


def _wide_layout(names: tuple[str, ...], roles: list[str | None], settled: Collection[int]) -> Layout:
    classes = [i for i, role in enumerate(roles) if role is None and i not in settled]
    if not classes:
        message = "there is no column of labels, and no column of a class; expected event_label"
        raise LayoutError(message, "missing-column")
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        first.setdefault(name, i)
    for i in classes:
        if not names[i]:
            message = f"column {i + 1} has no name; expected the name of a class"
            raise LayoutError(message, "unnamed-column", i + 1)
        if first[names[i]] != i:
            message = f"two columns are named {names[i]!r}; expected each class once"
            raise LayoutError(message, "repeated-column", i + 1)
        roles[i] = "class"
    return Layout(names, tuple(roles), has_header=True)


def layout_of_row(fields: Sequence[str]) -> Layout | None:
    """Return the layout of a table without header from one of its rows, None where none fits."""
    mask = "".join("n" if is_number(field) else "s" for field in fields)
    label, filename = "event_label", "filename"
    forms: list[tuple[str, tuple[str | None, ...]]] = [
        ("nn[ns]", ("onset", "offset", label)),
        ("nnsn", ("onset", "offset", label, "soft_value")),
        ("[ns]nns", (filename, "onset", "offset", label)),
        ("[ns]nnsn", (filename, "onset", "offset", label, "soft_value")),
        ("snnnn", (filename, "onset", "offset", label, "soft_value")),
        ("ssnns", (filename, None, "onset", "offset", label)),
    ]
    for pattern, roles in forms:
        if re.fullmatch(pattern, mask):
            names = tuple(role or f"column {i + 1}" for i, role in enumerate(roles))
            return Layout(names, roles, has_header=False)
    return None


def explain_first_line(fields: Sequence[str]) -> LayoutError:
    """Return why a first line is neither a header nor a row of a table without one."""
    shown = ", ".join(_shortened(field.strip()) for field in fields[:8])
    mask = "".join("n" if is_number(field) else "s" for field in fields)
    if mask == "snnn":
        return LayoutError(
            f"{shown} could be filename, onset, offset and a class called by a number, or a label, its "
            "times and a value; expected a header that says which",
            "ambiguous-table",
        )
    names = [normal(field) for field in fields[:_LOOKED_AT]]
    for role in ("onset", "offset"):
        close = [
            field
            for field, name in zip(fields[:_LOOKED_AT], names, strict=False)
            if name not in _ROLE_OF and close_matches(name, ALIASES[role], 1, 0.75)
        ]
        if close:
            message = f"{shown} is not a header that is known; did you mean {role!r} by {close[0].strip()!r}?"
            return LayoutError(message, "missing-column", list(fields).index(close[0]) + 1)
    return LayoutError(
        f"{shown} is neither a header nor a row; expected a header with the columns onset, offset and "
        "event_label (and filename, soft_value), or rows of [filename,] onset, offset, label[, value]",
        "not-a-table",
    )


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _LOOKED_AT else f"{text[:_LOOKED_AT]}...")
