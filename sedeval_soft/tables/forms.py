"""All forms, and which of them a file is."""

from __future__ import annotations

from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.tables.archive import COMPRESSED, TAR, ZIP
from sedeval_soft.tables.audacity import AUDACITY
from sedeval_soft.tables.delimited import CSV, LONG, MAESTRO, SCORE_DIR, SED_EVAL, WIDE, WIDE_CSV
from sedeval_soft.tables.elan import ELAN
from sedeval_soft.tables.form import Form
from sedeval_soft.tables.jams import JAMS
from sedeval_soft.tables.json_lines import JSON_LINES
from sedeval_soft.tables.parquet import ARROW, ARROW_STREAM, PARQUET
from sedeval_soft.tables.rttm import RTTM
from sedeval_soft.tables.source import Source, extension_of

FORMS: tuple[Form, ...] = (
    *(LONG, CSV, WIDE, WIDE_CSV, SED_EVAL, MAESTRO, SCORE_DIR),
    *(PARQUET, ARROW, ARROW_STREAM, JSON_LINES, JAMS, RTTM, ELAN, AUDACITY),
    *(ZIP, TAR, COMPRESSED),
)
"""In the order in which they are asked whether they recognise a file."""

_BY_NAME = {form.name: form for form in FORMS}


def form_of(name: str, option: str = "--to") -> Form:
    """Return the form of a name; raises SettingsError for one that nobody knows."""
    form = _BY_NAME.get(name.lower())
    if form is None:
        hint = did_you_mean(name.lower(), _BY_NAME) or f"; expected one of {', '.join(_BY_NAME)}"
        raise SettingsError(f"{option} {name}: there is no such form{hint}")
    return form


def recognised(source: Source) -> Form | None:
    """Return which form a file is, by what it holds, then by its extension; None for a table of text."""
    for form in FORMS:
        if form.recognises(source):
            return form
    extension = extension_of(source.name)
    return next((form for form in FORMS if extension in form.own), None)


def form_by_extension(path: str, *, wide: bool) -> Form | None:
    """Return the form that is written to a path, None where its extension does not say; wide: of the rows."""
    extension = extension_of(path)
    if extension == ".tsv":
        return WIDE if wide else LONG
    if extension == ".csv":
        return WIDE_CSV if wide else CSV
    return next((form for form in FORMS if form.write and extension in form.own), None)
