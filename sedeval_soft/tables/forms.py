r"""Formats of tables: the content of each, the module that reads and writes it, and the format of a file.

Each format is a row of `forms.tsv`, in the order in which they are asked whether they read a file:

- name, title: as options have it, and in words. extensions: of files, the first is written.
- module: in this room, or in `apps` by its path, with two functions. `read_NAME(source, limits)` returns the
  rows, None for a file without any line; `write_NAME(rows)` returns the bytes of fitted rows. A module of
  several formats has functions of its own name, which also take `form`. `text` reads tables of text; `fit`
  writes them, and tables of columns.
- looks: a pattern of bytes that identifies a file of the format; without a pattern, `reads_NAME(source,
  limits)` of the module decides, if the module has it. begins: the usual first bytes of such files, as a
  first glance.
- kind: written, if it is not only read; folder, if it is always one of a file for each recording; text, fit
  for a terminal; of tables of text whether they have a header, and the delimiter of fields.
- lacks: the content that a file cannot have: values of rows; long or wide tables; several recordings, and the
  name of one; recordings (silent) or classes without rows; nothing at all; gaps between rows; blanks within
  names; times finer than a microsecond (fine).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, SettingsError
from sedeval_soft.tables.columns import UNCLEAR, data
from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
from sedeval_soft.tables.source import Source, extension_of

if TYPE_CHECKING:
    from sedeval_soft.tables.columns import Layout
    from sedeval_soft.tables.event_table import EventTable
    from sedeval_soft.tables.rows import Findings


class Form(NamedTuple):
    """A format of tables, a row of `forms.tsv`.

    looks: a regular expression for its first bytes; `holds`: bytes somewhere behind them. delimiter: of a
    table of text, empty for others.
    """

    name: str
    module: str
    extensions: tuple[str, ...]
    begins: tuple[bytes, ...]
    looks: str
    holds: bytes
    kind: frozenset[str]
    lacks: frozenset[str]
    title: str

    @property
    def written(self) -> bool:
        """Whether it is not only read."""
        return "written" in self.kind

    @property
    def folder(self) -> bool:
        """Whether it is always a folder of files, one per recording."""
        return "folder" in self.kind

    @property
    def of_text(self) -> bool:
        """Whether it is text that a terminal can show."""
        return "text" in self.kind

    @property
    def delimiter(self) -> str:
        """The delimiter between the fields of a table of text."""
        return "," if "comma" in self.kind else "\t"

    @property
    def apart(self) -> bool:
        """Whether several recordings need a file each."""
        return self.folder or "recordings" in self.lacks

    def reads(self, source: Source, limits: Limits = LIMITS) -> bool:
        """Return whether bytes are of this format, whatever the file is called; false of tables of text."""
        if self.looks:
            looks = re.match(self.looks.encode("latin-1"), source.data)
            return looks is not None and source.data.find(self.holds, looks.end()) >= 0
        return self.module != "text" and bool(self._function("reads")(source, limits))

    def read(self, source: Source, limits: Limits = LIMITS, **more: Any) -> EventTable | None:  # noqa: ANN401
        """Return the rows of a file other than text, None if it has no line; raises InputError."""
        rows: EventTable | None = self._function("read")(source, limits, **more)
        return rows

    def write(self, rows: EventTable) -> bytes:
        """Return the bytes of rows that fit this format, which must be one that is written."""
        written: bytes = self._function("write")(rows)
        return written

    def _function(self, name: str) -> Callable[..., Any]:
        """Return a function of the module of this format."""
        room = "sedeval_soft" if "." in self.module else "sedeval_soft.tables"
        own = "fit" if name == "write" and self.module != "annotation_document" else self.module
        module = import_module(f"{room}.{own}")
        of_one: Callable[..., Any] | None = getattr(module, f"{name}_{self.name.replace('-', '_')}", None)
        return of_one or partial(getattr(module, f"{name}_{self.module}"), form=self.name)


def _bytes(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def _form(*cells: str) -> Form:
    """Return a row of `forms.tsv`."""
    name, module, extensions, begins, looks, holds, kind, lacks, title = cells
    bytes_of = tuple(map(_bytes, begins.split()))
    words = frozenset(kind.split()), frozenset(lacks.split())
    return Form(name, module, tuple(extensions.split()), bytes_of, looks, _bytes(holds), *words, title)


FORMS = tuple(starmap(_form, data("forms.tsv")))

WRITTEN = tuple(form.name for form in FORMS if form.written)
ARCHIVES = tuple(form.name for form in FORMS if form.module == "archive")

TEXT_EXTENSIONS = frozenset({".tsv", ".csv", ".txt", ".ann", ".lab"})
_BY_NAME = {form.name: form for form in FORMS}
_BY_EXTENSION = {end: form for form in FORMS for end in form.extensions if end not in TEXT_EXTENSIONS}
_BEGINNINGS = tuple(begin for form in FORMS for begin in form.begins)

OTHER_EXTENSIONS = frozenset(_BY_EXTENSION)
"""Extensions of formats other than tables of text with delimiters."""

LAST_EXTENSIONS = frozenset({".json"})
"""Extensions of tables in a folder or an archive that has no others: beside tables a .json may be
anything."""

MEMBER_EXTENSIONS = (
    frozenset(end for end, form in _BY_EXTENSION.items() if form.name not in ARCHIVES) - LAST_EXTENSIONS
)
"""Extensions, among these, of tables that a folder or an archive may have."""


def form_of(name: str, option: str = "--to") -> Form:
    """Return the format of a name; raises SettingsError for an unknown one."""
    form = _BY_NAME.get(name.lower())
    if form is None:
        from sedeval_soft.names import did_you_mean

        hint = did_you_mean(name.lower(), _BY_NAME) or f"; expected one of {', '.join(_BY_NAME)}"
        raise SettingsError(f"{option} {name}: there is no such form{hint}")
    return form


FROM = "--from"
"""The option that gives the format that tables must have."""

_SIDES = ("reference", "system")


def forms_by_side(given: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 - whatever a user may give
    """Return the formats of sides, "" of both: of a name, some such as `reference=jams`, or a mapping.

    Raises SettingsError for an unknown format, and for two of one side.
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
    """Return the format that is written to a path, None if its extension is unknown; wide: of the rows."""
    extension = extension_of(path)
    names = {".tsv": ("long", "wide"), ".csv": ("csv", "wide-csv")}
    form = _BY_NAME[names[extension][wide]] if extension in names else _BY_EXTENSION.get(extension)
    return form if form is not None and form.written else None


def form_at_once(source: Source, limits: Limits = LIMITS) -> str:
    """Return the name of a source's format by its first bytes or its name; empty for text.

    For most tables a glance excludes the other formats.
    """
    begins = source.data[:8].startswith(_BEGINNINGS) or source.data[257:262] == b"ustar"
    return form_instead(source, limits) if begins or extension_of(source.name) in OTHER_EXTENSIONS else ""


def form_instead(source: Source, limits: Limits = LIMITS, layout: Layout | None = None) -> str:
    """Return the name of the format that recognises a table unreadable as text, empty if there is none.

    The content of a file decides its format, then its extension. layout: of the file as text.

    With a layout only formats that look like it count, as another format must not hide the problems of a
    table.
    """
    # An archive may contain files of other formats as they are.
    asked = sorted(FORMS, key=lambda form: form.name not in ARCHIVES)
    form = next((form for form in asked if form.reads(source, limits)), None)
    form = form or _BY_EXTENSION.get(extension_of(source.name))
    if form is None or layout is None:
        return "" if form is None else form.name
    alike = ("few-shot",) if layout.wide else () if layout.has_header else ("audacity",)
    return form.name if form.name in alike else ""


class Reading(NamedTuple):
    """A table as it was read.

    form: the name of its format, empty for a table of text. rows: the rows that can be scored, None if there
    are none. Of text, layout: None if it has no line. found: its problems, None if there are none.
    """

    form: str
    rows: EventTable | None
    layout: Layout | None = None
    found: Findings | None = None


def read(
    source: Source, form: str = "", limits: Limits = LIMITS, most: int = MAX_PROBLEMS, *, whole: bool = False
) -> Reading:
    """Read a table; raises InputError for other files, and with the problems of a table that is not text.

    form: its required format, or the required format of an archive's members; empty to find out. most, whole:
    the problems of text to look for, as for `rows.find_wrong`.
    """
    known = form_of(form, FROM) if form else None
    name = form_at_once(source, limits)
    if known is not None and name not in ARCHIVES:
        name = "" if known.module == "text" else known.name
    reading = Reading(name, None) if name else _read_text(source, known, limits, most, whole=whole)
    other = _BY_NAME.get(reading.form)
    if other is not None:
        members = {"of_members": known.name} if known and other is not known else {}
        try:
            reading = reading._replace(rows=other.read(source, limits, **members))
        except InputError as error:
            coded = [replace(p, code="malformed-file") if p.code == "invalid" else p for p in error.problems]
            raise InputError(coded, error.more) from error
    rows = reading.rows
    # In documents, times are in seconds.
    samples = other is None or other.name == "jsonl" or not other.module.startswith("annotation")
    if rows is not None and limits.sample_rate and not (rows.origin.timed and samples):
        lacking = (*rows.origin.lacking, "--sample-rate has no effect: there are no times in samples")
        reading = reading._replace(rows=replace(rows, origin=replace(rows.origin, lacking=lacking)))
    limits.check_dense(source.name, 0 if rows is None else len(rows), source.packed)
    return reading


def read_table(source: Source, form: str = "", limits: Limits = LIMITS) -> EventTable | None:
    """Read one table, None if it has no line at all; raises InputError. form: as for `read`."""
    reading = read(source, form, limits)
    if reading.found is not None:
        reading.found.check()
    return reading.rows


def _read_text(source: Source, known: Form | None, limits: Limits, most: int, *, whole: bool) -> Reading:
    """Read a table as text; if that fails, name another format that recognises it, unless one is given."""
    from sedeval_soft.tables.text import read_text, sniff

    try:
        layout = sniff(source, limits)
    except InputError as error:
        final = over_limit(error) or any(problem.code in UNCLEAR for problem in error.problems)
        form = "" if final or known else form_instead(source, limits)
        if form:
            return Reading(form, None)
        raise
    if layout is None:
        return Reading("", None)
    if known is not None:
        _check_layout(known, source, layout)
    rows, found = read_text(source, layout, limits, most, whole=whole)
    wrong = found is not None and found.problems and known is None
    form = form_instead(source, limits, layout) if wrong else ""
    return Reading(form, None) if form else Reading("", rows, layout, found)


def _check_layout(form: Form, source: Source, layout: Layout) -> None:
    """Refuse a table whose layout differs from the layout of a format of text; raises InputError."""
    from sedeval_soft.tables.event_table import WEAK
    from sedeval_soft.tables.text import origin_of

    wide, header = "long" in form.lacks, "header" in form.kind
    same = form.folder or (layout.delimiter, layout.has_header) == (form.delimiter, header)
    if layout.timed == (form.name != "weak") and (not layout.timed or (same and layout.wide == wide)):
        return
    kind = origin_of(source, layout).form if layout.timed else f"list of {WEAK}"
    message = f"is a {kind}; expected the form {form.name}: {form.title}"
    raise InputError(Problem(source.name, message, line=1, code="malformed-file"))
