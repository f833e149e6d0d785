"""Annotations and rows: what readers and writers of annotations have in common.

Readers take files apart into fields; `text.scan` says what is wrong with these, as of tables of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted, quoted
from sedeval_soft.memory import check_room
from sedeval_soft.tables.columns import Layout, normal, option, to_number
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.fit import check_text, unfold
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import Record, Scan, decode, scan
from sedeval_soft.tables.ticks import TICKS_PER_SECOND, tick, to_ticks

HEAD = 1 << 16
"""Bytes from which it is told what a file holds."""

_LISTED = 50  # of what was read past
_ESTIMATED, _FACTOR = 1 << 25, 8  # bytes from which on memory is estimated, as so many for each
_CHECKED, _SIZE = 1 << 14, 1000  # events after which limits and memory are looked at, and bytes of one
_MEND = "Expected less data, or batches of files"


def check_document(source: Source) -> None:
    """Refuse a document that memory cannot hold, by its size; raises RoomError."""
    size = len(source.data)
    if size > _ESTIMATED:
        check_room(_FACTOR * size, f"{source.name}: to read a document of {size} bytes", _MEND)


def rows_of(
    source: Source,
    limits: Limits,
    layout: Layout,
    records: list[Record],
    origin: Origin,
    declared: Sequence[str] = (),
) -> EventTable | None:
    """Return the rows that records hold; raises InputError with what is wrong with any.

    layout: of their fields; recordings and values may be missing where it has no header. declared:
    recordings, whether they have events or not.
    """
    for role in ("filename", "soft_value"):
        at = layout.position(role)
        if at is None:
            continue
        rows = [fields for _, fields in records if not isinstance(fields, Problem) and len(fields) > at]
        missing = [fields for fields in rows if not fields[at]]
        if len(missing) == len(rows) and not layout.has_header:
            layout = replace(layout, roles=(*layout.roles[:at], None, *layout.roles[at + 1 :]))
        elif missing and role == "soft_value":
            note = f"{counted(len(missing), 'event')} without a value count{'s' * (len(missing) == 1)} as 1.0"
            origin = replace(origin, notes=(*origin.notes, note))
            for fields in missing:
                fields[at] = "1"
    if not source.data[:].strip():
        return None
    limits.check(source.name, "rows", len(records), "rows")
    sound = _sound_rows(layout, records, origin, limits, declared)
    if sound is not None:
        return sound
    scanned = scan(source, layout, MAX_PROBLEMS, limits, records)
    scanned.mend(layout, None)
    scanned.problems = [replace(each, code="invalid") for each in scanned.problems]
    scanned.check()
    scanned.declared += declared
    return scanned.rows(layout, origin, limits)


def _sound_rows(
    layout: Layout, records: Sequence[Record], origin: Origin, limits: Limits, declared: Sequence[str]
) -> EventTable | None:
    """Return the rows of records of which nothing is wrong, None where they must be looked at one by one."""
    cells = [fields for _, fields in records if not isinstance(fields, Problem)]
    n_fields, positions = len(layout.names), layout.number_positions()
    if layout.units or len(cells) < len(records) or any(len(fields) != n_fields for fields in cells):
        return None
    numbers = [[to_number(fields[i]) for i in positions] for fields in cells]
    if np.isnan(np.array(numbers, dtype=np.float64)).any():
        return None
    return Scan(cells=cells, numbers=numbers, declared=[*declared]).rows(layout, origin, limits)


def origin_of(
    source: Source,
    form: str,
    notes: Sequence[str] = (),
    ignored: Sequence[str] = (),
    assumed: Sequence[str] = (),
) -> Origin:
    """Return where annotations come from; their form, and what was read past or assumed, in words."""
    more = [f"{len(ignored) - _LISTED} more"] * (len(ignored) > _LISTED)
    past = (*ignored[:_LISTED], *more)
    return Origin(source.name, source.sha256, form, past, tuple(notes), tuple(assumed))


def lines_of(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are not blank, with their numbers."""
    for line, text in enumerate(decode(source).split("\n"), 1):
        if text.strip():
            yield line, text.rstrip("\r")


def end_of(onset: str, duration: str) -> str:
    """Return the offset of an event, to the nearest tick; its duration where that is no number, 0 or more."""
    begin, length = to_number(onset), to_number(duration)
    if not (begin >= 0 and length >= 0):
        return duration
    end = begin + length
    return repr((tick(begin) + tick(length)) / TICKS_PER_SECOND if end < 1e9 else end)


def read_past(n: int, what: str) -> list[str]:
    """Return the note of what was read past, `{s}` its plural; none where nothing was."""
    words = what.format(s="s" * (n != 1), are="is" if n == 1 else "are")
    return [f"{n} {words} {'was' if n == 1 else 'were'} ignored"] * (n > 0)


def points_noted(n: int) -> list[str]:
    """Return the note of events that are points in time; none where there are none."""
    return [f"{counted(n, 'event')} {'is a point' if n == 1 else 'are points'} in time, without length"] * (
        n > 0
    )


def events_of(
    rows: EventTable, form: str, forbidden: str = "\r\n", *, files: bool = True
) -> Iterator[tuple[str, str, int, int, float | None]]:
    """Return file, label, onset and offset in ticks, and value of the events of rows, as a form writes them.

    forbidden: characters that names must not have. files: whether the names of recordings are written.
    Raises InputError for names that the form cannot hold.
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


def one_line_of(text: str) -> str:
    """Return a label without blanks around it; its lines are those of one text, with a blank between."""
    return " ".join(filter(None, map(str.strip, re.split(r"[\r\n]+", text))))


def seconds(ticks: int) -> str:
    """Return ticks as seconds with six decimals, exactly."""
    return f"{ticks // TICKS_PER_SECOND}.{ticks % TICKS_PER_SECOND:06d}"


# Events of documents: some are of one recording, some of many; some have lines, others places.

_EVENT = Layout(
    ("recording", "onset", "offset", "label", "value"),
    ("filename", "onset", "offset", "event_label", "soft_value"),
    has_header=False,
)


@dataclass(slots=True)
class Events:
    """The events of a document as they are found.

    source: the document. limits: the most that it may hold.
    fields: of each its recording, onset and offset in seconds, label and value; what is not known is empty.
    places: the line of each, or where it stands in a document, as messages have it. tiers: the name of what
    its label was found in: a tier of annotations, a control of labels.
    """

    source: Source
    limits: Limits
    fields: list[list[str]] = field(default_factory=list)
    places: list[int | str] = field(default_factory=list)
    tiers: list[str] = field(default_factory=list)

    def add(self, place: int | str, fields: list[str], tier: str = "") -> None:
        """Take in an event; raises InputError, or RoomError, before there are far too many."""
        self.fields.append(fields)
        number = len(self.fields)
        if not number % _CHECKED:
            if number > self.limits.rows:
                raise self.limits.refusal(self.source.name, "rows", f"has more than {self.limits.rows} rows")
            check_room(_SIZE * number, f"{self.source.name}: to hold {number} events or more", _MEND)
        self.places.append(place)
        self.tiers.append(tier)

    def choose(self, noun: str) -> tuple[list[str], list[str]]:
        """Keep the events of the tiers that the user names, of all where none is; all are of one table.

        `event_label=tier` makes the names of tiers labels. noun: what a tier is called. Returns which tiers
        were read past, and what had to be assumed.
        """
        names = [*dict.fromkeys(self.tiers)]
        given = {(role, normal(name)) for role, name in self.limits.columns}
        named = [name for name in names if ("event_label", normal(name)) in given]
        wanted = {*(named or (name for name in names if ("", normal(name)) not in given))}
        past = [f"{noun} {quoted(name)}" for name in names if name not in wanted]
        if past:
            rows = [i for i, tier in enumerate(self.tiers) if tier in wanted]
            self.fields = [self.fields[i] for i in rows]
            self.places = [self.places[i] for i in rows]
            self.tiers = [self.tiers[i] for i in rows]
        if not named and ("event_label", noun) in given:
            for fields, tier in zip(self.fields, self.tiers, strict=True):
                fields[3] = tier
        elif not named and len(wanted) > 1:
            several = [name for name in names if name in wanted]
            one, names_of = (option(("event_label", name)) for name in (several[0], noun))
            texts = any(fields[3] != tier for fields, tier in zip(self.fields, self.tiers, strict=True))
            assumption = (
                f"labels are the texts of {listing(several, noun)}; {one} takes those of one, "
                f"{names_of} the names of {noun}s"
            )
            return past, [assumption] * texts
        return past, []

    def rows(
        self, origin: Origin, declared: Sequence[str] = (), layout: Layout = _EVENT
    ) -> EventTable | None:
        """Return the events as rows, errors as of `rows_of`; layout: what the document calls their fields."""
        lined = all(isinstance(place, int) for place in self.places)
        records: list[Record] = [
            (place if isinstance(place, int) else number, fields)
            for number, (place, fields) in enumerate(zip(self.places, self.fields, strict=True))
        ]
        try:
            return rows_of(self.source, self.limits, layout, records, origin, declared)
        except InputError as error:
            if lined:
                problems = [replace(each, column=None) for each in error.problems]
            else:
                problems = [
                    each
                    if each.line is None
                    else replace(
                        each, message=f"{self.places[each.line]}{each.message}", line=None, column=None
                    )
                    for each in error.problems
                ]
            raise InputError(problems, error.more) from error
