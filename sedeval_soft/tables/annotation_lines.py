"""Annotations as lines of text, read one by one: Audacity, RTTM.

- Audacity label tracks: lines of start, end and label, tabs between. A line that begins with a backslash has
  the frequencies of the label before it. Quotes are characters like others.
- RTTM: lines of `SPEAKER file channel onset duration <NA> <NA> name confidence <NA>`, blanks between.
"""

from __future__ import annotations

from sedeval_soft.errors import InputError, Problem, quoted
from sedeval_soft.tables.annotation_document import Document, end_of, events_of, seconds
from sedeval_soft.tables.columns import Layout
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import listing
from sedeval_soft.tables.fit import check_labels
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.source import Source

# Audacity

_TRACK = Layout(("start", "end", "label"), ("onset", "offset", "event_label"), has_header=False)


def read_audacity(source: Source, limits: Limits) -> EventTable | None:
    """Read labels; lines of frequencies are counted and ignored."""
    document = Document(source, limits, "Audacity label track", _TRACK)
    for line, text in document.lines():
        fields = text.split("\t", 2)
        if fields[0] != "\\":
            document.add(line, fields)
        elif len(fields) == 3 and document.records:
            document.n_ignored["line{s} of frequencies"] += 1
        else:
            document.wrong(line, "is not a line of frequencies after a label; expected \\, low, high")
    return document.rows()


def write_audacity(rows: EventTable) -> bytes:
    """Return a label for each row."""
    events = events_of(rows, "audacity", "\r\n\t", files=False)
    check_labels(rows, "audacity")
    for name in rows.classes:
        if name.startswith('"'):
            why = f"the name {quoted(name)} begins with a quote, which readers of tables take away"
            raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    lines = (f"{seconds(onset)}\t{seconds(offset)}\t{label}\n" for _, label, onset, offset, _ in events)
    return "".join(lines).encode()


# RTTM

_TYPES = frozenset({
    "SPEAKER", "SPKR-INFO", "NOSCORE", "NO_RT_METADATA", "SEGMENT", "LEXEME", "NON-LEX", "NON-SPEECH",
    "SU", "IP", "EDIT", "FILLER", "CB", "A/P", "SPKR_INFO",
})  # fmt: skip
_MISSING = "<NA>"
_ONE_CHANNEL = {"0", "1", _MISSING}  # of recordings that have no other
_SPEAKER = Layout(
    ("SPEAKER", "file", "channel", "onset", "duration", _MISSING, _MISSING, "name", "confidence", _MISSING),
    (None, "filename", None, "onset", "offset", None, None, "event_label", "soft_value", None),
    has_header=False,
)


def read_rttm(source: Source, limits: Limits) -> EventTable | None:
    """Read the SPEAKER lines; others are counted and ignored."""
    document, channels = Document(source, limits, "RTTM", _SPEAKER), dict[str, None]()
    for line, text in document.lines():
        fields = text.split()
        if fields[0] == "SPEAKER":
            fields += [""] * (len(fields) == 9)
            if len(fields) == 10:
                fields[1], fields[8] = ("" if fields[at] == _MISSING else fields[at] for at in (1, 8))
                fields[4] = end_of(fields[3], fields[4])
                channels[fields[2]] = None
            document.add(line, fields)
        elif fields[0] in _TYPES:
            document.n_ignored["line{s} of RTTM that {are} not SPEAKER"] += 1
        elif not fields[0].startswith(";;"):
            document.wrong(line, f"begins with {quoted(fields[0])}; expected SPEAKER", 1)
    if len(channels) > 1 or not {*channels} <= _ONE_CHANNEL:
        document.assumed.append(
            f"{listing([*channels], 'channel')} of recordings: channels are not kept apart; write one "
            "recording for each, as m1-1 and m1-2, if they are to be"
        )
    return document.rows()


def write_rttm(rows: EventTable) -> bytes:
    """Return a SPEAKER line for each row; its confidence is the value."""
    if _MISSING in rows.files:
        why = f"a recording called {_MISSING} would be read as one without a name"
        raise InputError(Problem(rows.origin.name, why, code="cannot-hold"))
    return "".join(
        f"SPEAKER {file or _MISSING} 1 {seconds(onset)} {seconds(offset - onset)} <NA> <NA> "
        f"{label} {_MISSING if value is None else repr(value)} <NA>\n"
        for file, label, onset, offset, value in events_of(rows, "rttm")
    ).encode()
