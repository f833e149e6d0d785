"""Forms of tables: what each can hold, in which module it is read and written, and which of them a file is.

A module of a form has `reads(source)`: whether the bytes are of that form; `read(source, limits)`: the rows,
None for a file without any line; and `write(rows)`: the bytes of rows that the form can hold. Where a module
has several forms, its functions take `form`, the name of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import InputError, SettingsError
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.source import Source, extension_of

if TYPE_CHECKING:
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.text_lines import Sniffed


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
    of this form begin with, and tables of text mostly do not. own: whether no other form has these
    extensions. several: whether its module has other forms, too. written: whether it is not only read.
    folder: always a folder of files, one per recording. text: lines of text, fit for a terminal.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    module: str
    holds: Holds = Holds()
    begins: tuple[bytes, ...] = ()
    own: bool = False
    several: bool = False
    written: bool = True
    folder: bool = False
    text: bool = True

    @property
    def apart(self) -> bool:
        """Whether several recordings need a file each."""
        return self.folder or not self.holds.recordings

    @property
    def named(self) -> bool:
        """Whether a file of a single recording says what that is called."""
        return self.holds.name and not self.folder

    def reads(self, source: Source) -> bool:
        """Return whether bytes are of this form, whatever the file is called; false of tables of text."""
        return self.module != "delimited" and bool(self._function("reads")(source))

    def read(self, source: Source, limits: Limits = LIMITS) -> EventTable | None:
        """Return the rows of a file, None where it has no line; raises InputError."""
        rows: EventTable | None = self._function("read")(source, limits)
        return rows

    def write(self, rows: EventTable) -> bytes:
        """Return the bytes of rows that this form can hold, which is one that is written."""
        data: bytes = self._function("write")(rows)
        return data

    def _function(self, name: str) -> Callable[..., Any]:
        function = getattr(import_module(f"sedeval_soft.tables.{self.module}"), name)
        return partial(function, form=self.name) if self.several else function


_WIDE = Holds(long=False, wide=True, classes=True)
_text = partial(Form, module="delimited", several=True)
_columnar = partial(Form, module="parquet", holds=Holds(wide=True), own=True, several=True, text=False)
_events = partial(Form, module="annotations", several=True)
_archive = partial(Form, module="archive", several=True, written=False, text=False)

FORMS: tuple[Form, ...] = (
    _text("long", "DESED and DCASE tables: a row per event, with header, tab", (".tsv",)),
    _text("csv", "DCASE tables: a row per event, with header, comma", (".csv",)),
    _text("wide", "a column per class, with header, tab", (".tsv",), holds=_WIDE),
    _text("wide-csv", "a column per class, with header, comma", (".csv",), holds=_WIDE),
    _text(
        "sed-eval",
        "sed_eval lists: filename, onset, offset, label, without header, tab",
        (".ann", ".lab", ".txt"),
        holds=Holds(values=False, nothing=False),
    ),
    _text(
        "maestro",
        "MAESTRO: a folder of tables of onset, offset, label, value, without header, tab",
        (".txt",),
        folder=True,
    ),
    _text(
        "score-dir",
        "sed_scores_eval: a folder of wide tables, tab",
        (".tsv",),
        holds=replace(_WIDE, gaps=False),
        folder=True,
    ),
    _columnar("parquet", "Parquet", (".parquet", ".pq"), begins=(b"PAR1",)),
    _columnar(
        "arrow",
        "Arrow IPC file (Feather version 2)",
        (".arrow", ".feather", ".ipc"),
        begins=(b"ARROW1",),
    ),
    _columnar("arrow-stream", "Arrow IPC stream", (".arrows",), begins=(b"\xff\xff\xff\xff",)),
    Form(
        "jsonl",
        "JSON lines: an object for each row",
        (".jsonl", ".ndjson"),
        "json_lines",
        Holds(wide=True, nothing=False),
        begins=(b"{",),
        own=True,
    ),
    _events(
        "jams",
        "JAMS: a JSON document of annotations, of one recording",
        (".jams",),
        holds=Holds(recordings=False, resolution=1),
        begins=(b"{",),
        own=True,
    ),
    _events(
        "rttm",
        "RTTM: SPEAKER lines of file, onset, duration, name and confidence",
        (".rttm",),
        holds=Holds(silent=False, nothing=False, blanks=False, resolution=1),
        begins=(b"SPEAKER", b"SPKR", b";;"),
        own=True,
    ),
    Form(
        "elan",
        "ELAN's tab-delimited export: tier, begin and end time, annotation",
        (".txt",),
        "elan",
        Holds(values=False, recordings=False, name=False, resolution=1000),
    ),
    _events(
        "audacity",
        "Audacity label tracks: start, end, label, without header, tab",
        (".txt",),
        holds=Holds(values=False, recordings=False, name=False, nothing=False, resolution=1),
    ),
    _archive("zip", "zip archive of tables", (".zip",), begins=(b"PK",), own=True),
    _archive(
        "tar",
        "tar archive of tables (gzip, bzip2, xz)",
        (".tar", ".tgz", ".tbz", ".tbz2", ".txz"),
        own=True,
    ),
    _archive(
        "compressed",
        "a table of another form, or a tar archive, compressed with bzip2 or xz",
        (".bz2", ".xz"),
        begins=(b"BZh", b"\xfd7zXZ"),
    ),
)
"""In the order in which they are asked whether they read a file."""

WRITTEN = tuple(form.name for form in FORMS if form.written)

_BY_NAME = {form.name: form for form in FORMS}
_BY_EXTENSION = {extension: form for form in FORMS if form.own for extension in form.extensions}
_BEGINNINGS = tuple(begin for form in FORMS for begin in form.begins)

TEXT_EXTENSIONS = frozenset({".tsv", ".csv", ".txt", ".ann", ".lab"})
"""Of tables of text with delimiters."""

OTHER_EXTENSIONS = frozenset(_BY_EXTENSION)
"""Of forms that are no tables of text with delimiters."""

MEMBER_EXTENSIONS = frozenset(e for e, form in _BY_EXTENSION.items() if form.written)
"""Of these, those of tables that a folder or an archive may have."""


def form_of(name: str, option: str = "--to") -> Form:
    """Return the form of a name; raises SettingsError for one that nobody knows."""
    form = _BY_NAME.get(name.lower())
    if form is None:
        from sedeval_soft.names import did_you_mean

        hint = did_you_mean(name.lower(), _BY_NAME) or f"; expected one of {', '.join(_BY_NAME)}"
        raise SettingsError(f"{option} {name}: there is no such form{hint}")
    return form


def form_by_extension(path: str, *, wide: bool) -> Form | None:
    """Return the form that is written to a path, None where its extension does not say; wide: of the rows."""
    extension = extension_of(path)
    names = {".tsv": ("long", "wide"), ".csv": ("csv", "wide-csv")}
    if extension in names:
        return _BY_NAME[names[extension][wide]]
    form = _BY_EXTENSION.get(extension)
    return form if form is not None and form.written else None


def form_at_once(source: Source) -> str:
    """Return the name of the form that a source is of by its first bytes or its name; empty for text.

    A glance says of most tables that no other form need be asked.
    """
    data = source.data
    begins = data[:8].startswith(_BEGINNINGS) or data[257:262] == b"ustar"
    return form_instead(source) if begins or extension_of(source.name) in OTHER_EXTENSIONS else ""


def form_instead(source: Source, sniffed: Sniffed | None = None) -> str:
    """Return the name of the form that recognises what cannot be read as a table of text, empty for none.

    A form goes by what a file holds, then by its extension. sniffed: what it looks like as text. What is
    wrong with a table must not be read past in another form: only of these it looks like one.
    """
    form = next((form for form in FORMS if form.reads(source)), None)
    form = form or _BY_EXTENSION.get(extension_of(source.name))
    if form is None:
        return ""
    if sniffed is not None:
        alike = "elan" if sniffed.layout.wide else "" if sniffed.layout.has_header else "audacity"
        return form.name if form.name == alike else ""
    return form.name


def read_table(source: Source, form: str = "", limits: Limits = LIMITS) -> EventTable | None:
    """Read one table, None where it has no line at all; form: what it must be, empty to find out."""
    from sedeval_soft.tables.columns import only_the_user_knows
    from sedeval_soft.tables.text import read_sniffed, sniff

    form = form_of(form, "--from").name if form else form_at_once(source)
    if form:
        return read_as(form, source, limits)
    sniffed = None
    try:
        sniffed = sniff(source, limits)
        return None if sniffed is None else read_sniffed(source, sniffed, limits)
    except InputError as error:
        final = over_limit(error) or only_the_user_knows(error)
        form = "" if final else form_instead(source, sniffed)
        if not form:
            raise
    return read_as(form, source, limits)


def read_as(form: str, source: Source, limits: Limits) -> EventTable | None:
    """Read a table of a known form; raises InputError with what is wrong."""
    try:
        return form_of(form).read(source, limits)
    except InputError as error:
        coded = [replace(p, code="malformed-file") if p.code == "invalid" else p for p in error.problems]
        raise InputError(coded, error.more) from error
