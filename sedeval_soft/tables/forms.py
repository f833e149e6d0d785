"""Forms of tables: what each can hold, in which module it is read and written, and which of them a file is.

A module of a form has `reads(source)`: whether the bytes are of that form; `read(source, limits)`: the rows,
None for a file without any line; and `write(rows)`: the bytes of rows that the form can hold. Where a module
has several forms, its functions take `form`, the name of one, or are called after it: `read_jams`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import MAX_PROBLEMS, InputError, SettingsError
from sedeval_soft.tables.columns import UNCLEAR
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.source import Source, copy_command, extension_of, is_url, let_go, open_source

if TYPE_CHECKING:
    from sedeval_soft.tables.columns import ColumnNames, Layout
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.text import Scan


@dataclass(frozen=True, slots=True)
class Holds:
    """What a file of a form can hold.

    values: of rows. long, wide: rows of one class each, or a column per class. recordings: more than one;
    name: of a recording, where there is but one. silent: recordings without rows. nothing: a table without
    row and recording. classes: those without rows. gaps: times between the rows of a recording. blanks:
    within names. resolution: ticks that times are whole multiples of, 0 where they are kept exactly.
    """

    values: bool = True
    long: bool = True
    wide: bool = False
    recordings: bool = True
    name: bool = True
    silent: bool = True
    nothing: bool = True
    classes: bool = False
    gaps: bool = True
    blanks: bool = True
    resolution: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """A form of tables.

    name: as options have it. title: in words. extensions: of files, those of folders' members included, the
    first is what is written. module: in this package. holds: what is not lost in writing. begins: what files
    of this form begin with, and tables of text mostly do not. written: whether it is not only read. folder:
    always a folder of files, one per recording. text: lines of text, fit for a terminal. delimiter, header:
    of a table of text. assumes: what is assumed of a file that only looks like one of this form.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    module: str
    holds: Holds = Holds()
    begins: tuple[bytes, ...] = ()
    written: bool = True
    folder: bool = False
    text: bool = True
    delimiter: str = "\t"
    header: bool = True
    assumes: str = ""

    @property
    def apart(self) -> bool:
        """Whether several recordings need a file each."""
        return self.folder or not self.holds.recordings

    @property
    def named(self) -> bool:
        """Whether a file of a single recording says what that is called."""
        return self.holds.name and not self.folder

    def reads(self, source: Source, columns: ColumnNames = ()) -> bool:
        """Return whether bytes are of this form, whatever the file is called; false of tables of text.

        columns: what the user says of them, for lists with a header.
        """
        if self.module == "annotation_lists":
            return bool(self.function("reads")(source, columns))
        return self.module != "fit" and bool(self.function("reads")(source))

    def read(self, source: Source, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows of a file, None where it has no line; raises InputError."""
        rows: EventTable | None = self.function("read")(source, limits)
        return rows

    def write(self, rows: EventTable) -> bytes:
        """Return the bytes of rows that this form can hold, which is one that is written."""
        data: bytes = self.function("write")(rows)
        return data

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of the module of this form."""
        module = import_module(f"sedeval_soft.tables.{self.module}")
        of_one: Callable[..., Any] | None = getattr(module, f"{name}_{self.name.replace('-', '_')}", None)
        return of_one or partial(getattr(module, name), form=self.name)


_WIDE = Holds(long=False, wide=True, classes=True)
_text = partial(Form, module="fit")
_columnar = partial(Form, module="parquet", holds=Holds(wide=True), text=False)
_lines = partial(Form, module="annotations")
_json = partial(Form, module="annotation_json")
_jsonl = partial(Form, module="json_lines")
_answers = partial(Form, module="answers", written=False)
_tiers = partial(Form, module="annotation_tiers", written=False)
_list = partial(Form, module="annotation_lists", written=False)
_archive = partial(Form, module="archive", written=False, text=False)
_one = partial(Holds, recordings=False)

FORMS: tuple[Form, ...] = (
    _text("long", "DESED and DCASE tables: a row per event, with header, tab", (".tsv",)),
    _text("csv", "DCASE tables: a row per event, with header, comma", (".csv",), delimiter=","),
    _text("wide", "a column per class, with header, tab", (".tsv",), holds=_WIDE),
    _text("wide-csv", "a column per class, with header, comma", (".csv",), holds=_WIDE, delimiter=","),
    _text("sed-eval", "sed_eval lists: filename, onset, offset, label, without header, tab",
          (".ann", ".lab", ".txt"), holds=Holds(values=False, nothing=False), header=False),
    _text("maestro", "MAESTRO: a folder of tables of onset, offset, label, value, without header, tab",
          (".txt",), folder=True, header=False),
    _text("score-dir", "sed_scores_eval: a folder of wide tables, tab",
          (".tsv",), holds=replace(_WIDE, gaps=False), folder=True),
    _columnar("parquet", "Parquet", (".parquet", ".pq"), begins=(b"PAR1",)),
    _columnar("arrow", "Arrow IPC file (Feather version 2)", (".arrow", ".feather", ".ipc"),
              begins=(b"ARROW1",)),
    _columnar("arrow-stream", "Arrow IPC stream", (".arrows",), begins=(b"\xff\xff\xff\xff",)),
    _answers("answers", "answers of audio-language models, or what they should be: JSON lines", (),
             begins=(b"{",)),
    _jsonl("jsonl", "JSON lines: an object for each row",
            (".jsonl", ".ndjson"), holds=Holds(wide=True, nothing=False), begins=(b"{",)),
    _json("label-studio", "Label Studio's JSON and JSON-MIN: audio with labelled regions", (".json",),
          begins=(b"[",), written=False),
    _json("soundevent", "soundevent's and whombat's JSON: annotation sets, prediction sets", (),
          begins=(b"{",), written=False),
    _json("jams", "JAMS: a JSON document of annotations, of one recording",
            (".jams",), holds=_one(resolution=1), begins=(b"{",)),
    _lines("rttm", "RTTM: SPEAKER lines of file, onset, duration, name and confidence",
            (".rttm",), holds=Holds(silent=False, nothing=False, blanks=False, resolution=1),
            begins=(b"SPEAKER", b"SPKR", b";;")),
    _lines("elan", "ELAN's tab-delimited export: tier, begin and end time, annotation",
            (".txt",), holds=_one(values=False, name=False, resolution=1000)),
    _lines("audacity", "Audacity label tracks: start, end, label, without header, tab",
            (".txt",), holds=_one(values=False, name=False, nothing=False, resolution=1)),
    _lines("webvtt", "WebVTT: cues, whose text is the label", (".vtt",), begins=(b"WEBVTT",), written=False),
    _tiers("textgrid", "TextGrid of Praat, long or short text", (".textgrid",),
           begins=(b"File typ", b'"ooTextF', b"ooBinary")),
    _tiers("eaf", "documents of ELAN", (".eaf",), begins=(b"<?xml", b"<ANNOTAT")),
    _list("weak", "weak labels: filename and labels of whole recordings, without times", (".tsv", ".csv")),
    _list("few-shot", "DCASE few-shot: a column per class with cells of POS, NEG or UNK", (".csv",)),
    _list("seld", "SELD: frames of 0.1 s: frame, class, source, azimuth, elevation, comma", (".csv",),
          assumes="taken for SELD frames of 0.1 s (frame, class, and where it comes from); --from seld says "
          "that they are"),
    _archive("zip", "zip archive of tables", (".zip",), begins=(b"PK",)),
    _archive("tar", "tar archive of tables (gzip, bzip2, xz)", (".tar", ".tgz", ".tbz", ".tbz2", ".txz")),
)  # fmt: skip
"""In the order in which they are asked whether they read a file."""

WRITTEN = tuple(form.name for form in FORMS if form.written)

TEXT_EXTENSIONS = frozenset({".tsv", ".csv", ".txt", ".ann", ".lab"})
_BY_NAME = {form.name: form for form in FORMS}
ARCHIVES = tuple(form.name for form in FORMS if form.module == "archive")
_BY_EXTENSION = {end: form for form in FORMS for end in form.extensions if end not in TEXT_EXTENSIONS}
_BEGINNINGS = tuple(begin for form in FORMS for begin in form.begins)

OTHER_EXTENSIONS = frozenset(_BY_EXTENSION)
"""Of forms that are no tables of text with delimiters."""

LAST_EXTENSIONS = frozenset({".json"})
"""Of tables of a folder or an archive that has no others: beside tables a .json may be anything."""

MEMBER_EXTENSIONS = (
    frozenset(e for e, form in _BY_EXTENSION.items() if form.module != "archive") - LAST_EXTENSIONS
)
"""Of these, those of tables that a folder or an archive may have."""


def form_of(name: str, option: str = "--to") -> Form:
    """Return the form of a name; raises SettingsError for one that nobody knows."""
    form = _BY_NAME.get(name.lower())
    if form is None:
        from sedeval_soft.names import did_you_mean

        hint = did_you_mean(name.lower(), _BY_NAME) or f"; expected one of {', '.join(_BY_NAME)}"
        raise SettingsError(f"{option} {name}: there is no such form{hint}")
    return form


FROM = "--from"
"""The option that says what form tables must have."""

_SIDES = ("reference", "system")


def forms_by_side(given: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 - whatever a user may give
    """Return the forms of sides, "" of both: of a name, some such as `reference=jams`, or a mapping.

    Raises SettingsError for a form that nobody knows, and for two of one side.
    """
    if isinstance(given, Mapping):
        pairs = [*given.items()]
    else:
        texts = given if isinstance(given, list | tuple) else [given]
        split = (text.rpartition("=") if isinstance(text, str) else ("", "", text) for text in texts)
        pairs = [(side, name) for side, _, name in split]
    forms: dict[str, str] = {}
    for side, name in pairs:
        if not isinstance(name, str) or side not in ("", *_SIDES):
            expected = "expected the name of a form, or reference=FORM, system=FORM"
            raise SettingsError(f"{FROM} {f'{side}=' if side else ''}{name}: {expected}")
        form = form_of(name, FROM).name
        if forms.setdefault(side, form) != form:
            sides = side or "both sides"
            raise SettingsError(f"{FROM} {name}: {sides} must be {forms[side]}; expected one form")
    return tuple(forms.items())


def form_by_extension(path: str, *, wide: bool) -> Form | None:
    """Return the form that is written to a path, None where its extension does not say; wide: of the rows."""
    extension = extension_of(path)
    names = {".tsv": ("long", "wide"), ".csv": ("csv", "wide-csv")}
    form = _BY_NAME[names[extension][wide]] if extension in names else _BY_EXTENSION.get(extension)
    return form if form is not None and form.written else None


def form_at_once(source: Source) -> str:
    """Return the name of the form that a source is of by its first bytes or its name; empty for text.

    A glance says of most tables that no other form need be asked.
    """
    data = source.data
    begins = data[:8].startswith(_BEGINNINGS) or data[257:262] == b"ustar"
    return form_instead(source) if begins or extension_of(source.name) in OTHER_EXTENSIONS else ""


def form_instead(source: Source, layout: Layout | None = None, columns: ColumnNames = ()) -> str:
    """Return the name of the form that recognises what cannot be read as a table of text, empty for none.

    A form goes by what a file holds, then by its extension. layout: what it looks like as text. What is
    wrong with a table must not be read past in another form: only of these it looks like one. columns: what
    the user says of them.
    """
    form = next((form for form in FORMS if form.reads(source, columns)), None)
    form = form or _BY_EXTENSION.get(extension_of(source.name))
    if form is None or layout is None:
        return "" if form is None else form.name
    alike = ("elan", "few-shot") if layout.wide else () if layout.has_header else ("audacity",)
    return form.name if form.name in alike else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A table as it was read: as text, or, where it cannot be, the name of the form that recognises it.

    layout: of the text, None where it has no line. rows: those that can be scored, None where
    there are none. scan: what is wrong with it where it was read line by line.
    """

    form: str = ""
    layout: Layout | None = None
    rows: EventTable | None = None
    scan: Scan | None = None


def read_text(
    source: Source, limits: Limits, most: int = MAX_PROBLEMS, *, whole: bool = False, said: str = ""
) -> Reading:
    """Read a table as text, unless another form recognises what is wrong with it as its own.

    most, whole: of the problems that are looked for, as for `text.scan`. said: the form of text that it must
    be, if that is known: no other is asked. Raises InputError where it looks like no table.
    """
    from sedeval_soft.tables.text import origin_of, read_fast, scan, sniff

    try:
        layout = sniff(source, limits)
    except InputError as error:
        final = over_limit(error) or any(problem.code in UNCLEAR for problem in error.problems)
        form = "" if final or said else form_instead(source, columns=limits.columns)
        if form:
            return Reading(form)
        raise
    if layout is None:
        return Reading()
    if said:
        form_of(said).function("check_layout")(source, layout)
    rows = read_fast(source, layout, limits)
    if rows is not None:
        return Reading("", layout, rows)
    lines = scan(source, layout, most, limits, whole=whole)
    lines.mend(layout, copy_command(source.name))
    form = form_instead(source, layout, limits.columns) if lines.counts and not said else ""
    rows = None if form else lines.rows(layout, origin_of(source, layout), limits)
    return Reading(form) if form else Reading("", layout, rows, lines)


def read_table(source: Source, form: str = "", limits: Limits = LIMITS) -> EventTable | None:
    """Read one table, None where it has no line at all.

    form: what it must be, or, of an archive, what its members must be; empty to find out.
    """
    if form:
        rows = read_said(form, source, limits)
    else:
        form = form_at_once(source)
        reading = Reading(form) if form else read_text(source, limits)
        if reading.scan is not None:
            reading.scan.check()
        rows = read_as(reading.form, source, limits, found=True) if reading.form else reading.rows
    limits.check_dense(source.name, 0 if rows is None else len(rows), source.packed)
    return rows


def read_said(form: str, source: Source, limits: Limits) -> EventTable | None:
    """Read a table that must be of a form, or an archive whose members must; raises InputError."""
    form, packed = form_of(form, FROM).name, form_at_once(source)
    if packed != form and packed in ARCHIVES:
        rows: EventTable | None = form_of(packed).function("read")(source, limits, of_members=form)
        return rows
    return read_as(form, source, limits)


def read_as(form: str, source: Source, limits: Limits, *, found: bool = False) -> EventTable | None:
    """Read a table of a form; raises InputError with what is wrong. found: nobody said that it is of it."""
    try:
        rows = form_of(form).read(source, limits)
        assumed = form_of(form).assumes
        if rows is None or not (found and assumed):
            return rows
        return replace(rows, origin=replace(rows.origin, assumed=(*rows.origin.assumed, assumed)))
    except InputError as error:
        coded = [replace(p, code="malformed-file") if p.code == "invalid" else p for p in error.problems]
        raise InputError(coded, error.more) from error


# A table block by block: what has been read is let go of before more is read. Rows, and what is wrong with
# them, are those of the table read as a whole: a block of text ends with a line, and lines are counted on.


class UnfitError(Exception):
    """A table cannot be read block by block; the plain reader reads it, or says what is wrong with it."""


def blocks_of(
    name: str, scratch: Path, size: int, limits: Limits = LIMITS
) -> tuple[Iterator[EventTable], Callable[[], str]]:
    """Return the rows of a table in blocks of about so many bytes, some at least, and the hash of its bytes.

    scratch: a folder for what must be decompressed. Raises InputError with what is wrong with the table, and
    UnfitError, for standard input and a table without names of recordings; so does reading the blocks.
    """
    from sedeval_soft.tables.text import sniff

    if not is_url(name) and not os.path.isfile(name):
        raise UnfitError
    source = open_source(name, limits=limits, scratch=scratch)
    if not source.data:
        raise UnfitError
    form = form_at_once(source)
    if form and form_of(form).module == "parquet":
        blocks = form_of(form).function("read_batches")(source, limits, size=size)
        return _with_names(blocks), lambda: source.sha256
    try:
        layout = None if form else sniff(source, limits)
    except InputError as error:
        raise UnfitError from error
    if layout is None or layout.position("filename") is None:
        raise UnfitError
    blocks = _dense_enough(source, _blocks_of_text(source, layout, size, limits), limits)
    return _with_names(blocks), lambda: source.sha256


def _dense_enough(source: Source, blocks: Iterator[EventTable], limits: Limits) -> Iterator[EventTable]:
    """Yield blocks; raises InputError where all so far have far more rows than the source has bytes."""
    n_rows = 0
    for rows in blocks:
        n_rows += len(rows)
        limits.check_dense(source.name, n_rows, source.packed)
        yield rows


def _with_names(blocks: Iterator[EventTable]) -> Iterator[EventTable]:
    import pyarrow as pa

    for rows in blocks:
        if "" in rows.files:
            raise UnfitError
        yield rows
    # What was read with is not needed again.
    pa.default_memory_pool().release_unused()


def _blocks_of_text(source: Source, layout: Layout, size: int, limits: Limits) -> Iterator[EventTable]:
    """Yield the rows of blocks of lines; raises InputError with what is wrong in all of them, as for one."""
    from sedeval_soft.tables.text import Scan, line_ends, origin_of, read_fast, scan

    data = source.data
    size = len(data) if layout.once else size
    found, begin = Scan(), 0
    while begin < len(data) and found.counts.total() <= MAX_PROBLEMS:
        # Behind the last end of a line in the block, or the first one after it.
        end = data.rfind(b"\n", begin, begin + size) + 1 or data.find(b"\n", begin) + 1
        if begin + size >= len(data) or not end:
            end = len(data)
        block = Source(source.name, data[begin:end], str)
        part = replace(layout, skip=0) if begin else layout
        try:
            rows, lines = read_fast(block, part, limits), Scan()
            if rows is None:
                lines = scan(block, part, MAX_PROBLEMS, limits)
                rows = None if lines.problems else lines.rows(part, origin_of(block, part), limits)
        except InputError as error:  # over a limit
            before = line_ends(data, begin)
            moved = [p if p.line is None else replace(p, line=p.line + before) for p in error.problems]
            raise InputError(moved, error.more) from error
        if lines.problems and form_instead(source, layout, limits.columns):
            raise UnfitError
        lines.sound = len(rows) if rows is not None else lines.sound
        found.add(lines, line_ends(data, begin) if lines.problems else 0)
        if rows is not None and not found.problems:
            yield rows
        let_go(data, begin, end)
        begin = end
    found.mend(layout, copy_command(source.name))
    found.check()
