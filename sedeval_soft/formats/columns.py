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
from collections.abc import Sequence
from dataclasses import dataclass

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.hints import close_matches

ALIASES: dict[str, tuple[str, ...]] = {
    "filename": (
        "filename", "file", "file_name", "audio_filename", "audio_file", "audio", "wav", "wav_file", "clip",
        "clip_id", "clip_name", "recording", "recording_id", "file_id", "audio_id", "path", "filepath",
    ),
    "onset": (
        "onset", "event_onset", "start", "start_time", "start_seconds", "start_time_seconds", "begin",
        "begin_time",
        "onset_time", "onset_seconds", "onset_s", "start_s", "time_start", "from",
    ),
    "offset": (
        "offset", "event_offset", "end", "end_time", "end_seconds", "end_time_seconds", "stop", "stop_time",
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

_ROLE_OF = {alias: role for role, aliases in ALIASES.items() for alias in aliases}

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
    `class` for a class column of a wide table, None for one that is read past.
    """

    names: tuple[str, ...]
    roles: tuple[str | None, ...]
    has_header: bool

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

    def class_positions(self) -> list[int]:
        """Return the positions of the class columns of a wide table."""
        return [i for i, role in enumerate(self.roles) if role == "class"]


def normal(name: str) -> str:
    """Return a column name as it is compared."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def is_number(text: str) -> bool:
    """Return whether a field is read as a number."""
    return NUMBER.fullmatch(text.strip(BLANKS)) is not None


def looks_like_header(fields: Sequence[str]) -> bool:
    """Return whether a line names an onset and an offset column."""
    roles = {_ROLE_OF.get(normal(field)) for field in fields}
    return {"onset", "offset"} <= roles


def layout_of_header(fields: Sequence[str]) -> Layout:
    """Assign roles to the columns of a header; raises LayoutError where that is impossible."""
    names = tuple(field.strip() for field in fields)
    roles: list[str | None] = [_ROLE_OF.get(normal(name)) for name in names]
    for role, aliases in ALIASES.items():
        holders = [i for i, found in enumerate(roles) if found == role]
        if len(holders) < 2:
            continue
        canonical = [i for i in holders if normal(names[i]) == aliases[0]]
        if len(canonical) != 1:
            both = " and ".join(repr(names[i]) for i in holders[:_LOOKED_AT])
            message = f"columns {both} could each be the {role}; expected one, or one named {role!r}"
            raise LayoutError(message, "repeated-column", holders[-1] + 1)
        for i in holders:
            roles[i] = role if i == canonical[0] else None
    for role in ("onset", "offset"):
        if role not in roles:
            raise LayoutError(_missing(role, names), "missing-column")
    if "event_label" in roles:
        return Layout(names, tuple(roles), has_header=True)
    if "soft_value" in roles:
        value = names[roles.index("soft_value")]
        message = f"there is a column of values ({value!r}) but none of labels; expected event_label"
        raise LayoutError(message, "missing-column")
    return _wide_layout(names, roles)


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


def _wide_layout(names: tuple[str, ...], roles: list[str | None]) -> Layout:
    classes = [i for i, role in enumerate(roles) if role is None]
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
