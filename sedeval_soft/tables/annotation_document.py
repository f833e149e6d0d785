"""A file of annotations while it is read: its events, their problems, and notes on the file.

Readers take files apart into the fields of events; `Columns.wrong` finds the problems of these, as in all
tables. Writers take events from `events_of`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from sedeval_soft.errors import InputError, Problem, be, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import TIMES, Layout, normal, option, role_of, to_number, without_effect
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.exact import columns_of, rows_of_columns
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.fit import check_text, unfold
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.lines import Record, decode
from sedeval_soft.tables.row_checks import Findings
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

HEAD = 1 << 16
"""Bytes from which a reader recognises the format of a file."""

EVENT = Layout(
    ("recording", "onset", "offset", "label", "value"),
    ("filename", "onset", "offset", "event_label", "soft_value"),
    has_header=False,
)
"""The fields of an event of a document whose own fields have other names, or none."""

NO_JSON = (msgspec.MsgspecError, ValueError, RecursionError)
"""The errors that msgspec raises for a text that is not the expected JSON."""

_LISTED = 50  # ignored elements in a note
_ESTIMATED, _FACTOR = 1 << 25, 8  # bytes from which on memory is estimated, as so many for each
_CHECKED, _SIZE = 1 << 14, 1000  # events after which limits and memory are checked, and bytes of one
_MEND = "Expected less data, or batches of files"


def check_document(source: Source, factor: int = _FACTOR) -> None:
    """Refuse a document that exceeds memory, at so many bytes for each of its bytes; raises RoomError."""
    size = len(source.data)
    if size > _ESTIMATED:
        check_room(factor * size, f"{source.name}: to read a document of {size} bytes", _MEND)


def objects(source: Source) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    """Yield the number of each line that is not blank, and the JSON object on it, or its problem."""
    decoded = msgspec.json.Decoder(dict[str, Any]).decode
    for line, text in enumerate(source.data[:].split(b"\n"), 1):
        try:
            if text.strip():
                row = decoded(text)
                # If only keys have colons, counting them is faster than reading them again.
                wrong = repeated_key(text) if text.count(b":") > len(row) else ""
                yield line, Problem(source.name, wrong, line) if wrong else row
        except NO_JSON as error:
            wrong = f"is not a JSON object: {error}; expected one in each line"
            yield line, Problem(source.name, wrong, line)


def repeated_key(text: bytes) -> str:
    """Return the problem of a JSON text of which an object has a key twice; empty if no object has.

    msgspec takes the last one.
    """
    found: list[str] = []

    def look(pairs: list[tuple[str, None]]) -> None:
        if len(dict(pairs)) < len(pairs):
            keys = Counter(key for key, _ in pairs)
            found.append(next(key for key, count in keys.items() if count > 1))

    with suppress(*NO_JSON):  # the reader of the text reports it
        json.loads(text, object_pairs_hook=look)
    return f"an object has the key {quoted(found[0])} twice; expected each key once" if found else ""


@dataclass(slots=True)
class Document:
    """The events of a file of annotations as they are read.

    source: the file. limits: the most that it may have. form: its format, in words. layout: of the fields of
    events; without a header, all events may lack a recording, or a value.

    records: the fields of each event, or its problem, with its line or its place in words, and the name of
    the tier that its label is from, if there are any.

    n_ignored: how often something was ignored, by its noun, `{s}` of the plural. notes, ignored, assumed: as
    in `Origin`. recordings: the recordings of the file, with or without events.
    """

    source: Source
    limits: Limits
    form: str
    layout: Layout = EVENT
    records: list[tuple[int | str, list[str] | Problem, str]] = field(default_factory=list)
    n_ignored: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    recordings: dict[str, None] = field(default_factory=dict)
    known: set[tuple[str, str]] = field(default_factory=set)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text that are not blank, with their numbers."""
        for line, text in enumerate(decode(self.source).split("\n"), 1):
            if text.strip():
                yield line, text.rstrip("\r")

    def add(self, place: int | str, fields: list[str], tier: str = "") -> None:
        """Add an event, times in seconds; raises InputError, or RoomError, before there are far too many."""
        self.records.append((place, fields, tier))
        number = len(self.records)
        if not number % _CHECKED:
            if number > self.limits.rows:
                raise self.limits.refusal(self.source.name, "rows", f"has more than {self.limits.rows} rows")
            check_room(_SIZE * number, f"{self.source.name}: to hold {number} events or more", _MEND)

    def wrong(self, line: int, message: str, column: int | None = None) -> None:
        """Enter the problem of a line; reading may go on."""
        self.records.append((line, Problem(self.source.name, message, line, column), ""))

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return the error of something that reading ends at."""
        return InputError(Problem(self.source.name, message, line))

    def label_of_all(self) -> list[str]:
        """Return the class that the user gives events without one; an empty list if the user gives none."""
        self.known.add(("label", self.limits.label))
        return [*filter(None, [self.limits.label])]

    def note_points(self, n: int) -> None:
        """Note that some events are points in time."""
        what = "is a point" if n == 1 else "are points"
        self.notes += [f"{counted(n, 'event')} {what} in time, without length"] * (n > 0)

    def choose(self, noun: str) -> None:
        """Leave the events of the tiers that the user names, or of all tiers; all are of one table.

        `event_label=tier` makes the names of tiers labels. noun: the word for a tier.
        """
        names = [*dict.fromkeys(tier for _, _, tier in self.records)]
        given = {(role, normal(name)) for role, name in self.limits.columns}
        self.known |= {(role, normal(name)) for name in names for role in ("event_label", "")}
        self.known.add(("event_label", noun))
        named = [name for name in names if ("event_label", normal(name)) in given]
        wanted = named or [name for name in names if ("", normal(name)) not in given]
        self.ignored |= {f"{noun} {quoted(name)}": None for name in names if name not in wanted}
        self.records = [record for record in self.records if record[2] in wanted]
        at = self.layout.roles.index("event_label")
        labelled = [(fields, tier) for _, fields, tier in self.records if isinstance(fields, list)]
        if not named and ("event_label", noun) in given:
            for fields, tier in labelled:
                fields[at] = tier
        elif not named and len(wanted) > 1 and any(fields[at] != tier for fields, tier in labelled):
            one, all_names = (option(("event_label", name)) for name in (wanted[0], noun))
            self.assumed.append(
                f"labels are the texts of {listing(wanted, noun)}; {one} takes those of one, "
                f"{all_names} the names of {noun}s"
            )

    def rows(self) -> EventTable | None:
        """Return the rows of all events, None if the file is blank; raises InputError for problems."""
        source, limits = self.source, self.limits
        if not source.data[:].strip():
            return None
        limits.check(source.name, "rows", len(self.records), "rows")
        self.notes += [
            f"{n} {noun.format(s='s' * (n != 1), are=be(n))} {'was' if n == 1 else 'were'} ignored"
            for noun, n in self.n_ignored.items()
            if n
        ]
        layout = self._as_said(self._without_missing())
        places = {n: place for n, (place, _, _) in enumerate(self.records) if isinstance(place, str)}
        records: list[Record] = [
            (n if isinstance(place, str) else place, fields)
            for n, (place, fields, _) in enumerate(self.records)
        ]
        more = [f"{len(self.ignored) - _LISTED} more"] * (len(self.ignored) > _LISTED)
        texts = ([*self.ignored][:_LISTED] + more, self.notes, self.assumed)
        origin = Origin(source.name, source.sha256, self.form, *map(tuple, texts))  # type: ignore[arg-type]
        origin = replace(origin, lacking=without_effect(limits.columns, limits.label, self.known))
        try:
            found = Findings()
            columns = columns_of(source.name, layout, records, found)
            columns = replace(columns, declared=[*columns.declared, *self.recordings])
            return rows_of_columns(source.name, columns, found, origin, limits)
        except InputError as error:
            if self.layout is not EVENT:
                raise
            problems = [
                replace(
                    each,
                    message=f"{places.get(each.line or 0, '')}{each.message}",
                    line=None if each.line in places else each.line,
                    column=None,
                )
                for each in error.problems
            ]
            raise InputError(problems, error.more) from error

    def _as_said(self, layout: Layout) -> Layout:
        """Return the layout with the roles that the user gives fields, by their names or by names of roles.

        Times and fields without names stay as they are. Raises InputError if no field has labels then.
        """
        roles, given = [*layout.roles], set[str]()
        for role, name in self.limits.columns if self.layout is not EVENT else ():
            keys = [*map(normal, layout.names)]
            # Without a header, a field may have the name of its role.
            same = role_of(name) if not layout.has_header and normal(name) not in keys else None
            at = next((i for i, key in enumerate(keys) if normal(name) == key), None)
            at = layout.position(same) if same else at
            if at is None or {role, layout.roles[at]} & {*TIMES}:
                continue
            self.known.add((role, normal(name)))
            if role not in given:
                roles = [None if role and other == role else other for other in roles]
                roles[at] = role or None
                given |= {role} - {""}
        if "event_label" in roles:
            return replace(layout, roles=tuple(roles))
        if not self.limits.label:
            raise self.error("has no labels but those that --columns ignores; expected --label NAME, too")
        self.known.add(("label", self.limits.label))
        return replace(layout, roles=tuple(roles), label=self.limits.label)

    def _without_missing(self) -> Layout:
        """Return the layout without roles that no event has; values that only some events have are 1."""
        layout = self.layout
        cells = [fields for _, fields, _ in self.records if isinstance(fields, list)]
        for role in ("filename", "soft_value"):
            at = layout.position(role)
            if at is None:
                continue
            missing = [fields for fields in cells if len(fields) > at and not fields[at]]
            if len(missing) == len(cells) and not layout.has_header:
                layout = replace(layout, roles=(*layout.roles[:at], None, *layout.roles[at + 1 :]))
            elif missing and role == "soft_value":
                counts = "counts" if len(missing) == 1 else "count"
                self.notes.append(f"{counted(len(missing), 'event')} without a value {counts} as 1.0")
                for fields in missing:
                    fields[at] = "1"
        return layout


def end_of(onset: str, duration: str) -> str:
    """Return the offset of an event, to the nearest tick; its duration if that is not a number, 0 or more."""
    begin, length = to_number(onset), to_number(duration)
    if not (begin >= 0 and length >= 0):
        return duration
    end = begin + length
    return repr((tick(begin) + tick(length)) / TICKS_PER_SECOND if end < 1e9 else end)


def one_line_of(text: str) -> str:
    """Return a label without blanks around it; its lines become one text, with a blank between."""
    return " ".join(filter(None, map(str.strip, re.split(r"[\r\n]+", text))))


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


def events_of(
    rows: EventTable, form: str, forbidden: str = "\r\n", *, files: bool = True
) -> Iterator[tuple[str, str, int, int, float | None]]:
    """Return file, label, onset and offset in ticks, and value of the events of rows, as a format has them.

    forbidden: characters that names must not have. files: whether the names of recordings are written. Raises
    InputError for names that the format cannot express.
    """
    rows = unfold(rows)
    check_text(rows.origin.name, (*(rows.files if files else ()), *rows.classes), form, forbidden)
    values = [None] * len(rows) if rows.value is None else rows.value.tolist()
    times = to_ticks(rows.onset).tolist(), to_ticks(rows.offset).tolist()
    columns = (rows.file.tolist(), rows.row_label.tolist(), *times, values)
    return (
        (rows.files[file], rows.classes[label], onset, offset, value)
        for file, label, onset, offset, value in zip(*columns, strict=True)
    )
