"""Tables of other forms than text, looked at as the text that they would be."""

from __future__ import annotations

from dataclasses import replace

from sedeval_soft.core.errors import InputError
from sedeval_soft.core.intake import Limits
from sedeval_soft.formats.read import read_as
from sedeval_soft.formats.source import Source


def as_text(source: Source, form: str, limits: Limits) -> tuple[Source, str] | None:
    """Return a table of text with the rows of a source of another form, and how they were read.

    None where there is nothing in it. Raises InputError with what is wrong.
    """
    from sedeval_soft.formats.forms.delimited import write_table

    rows = read_as(form, source, limits)
    if rows is None:
        return None
    shape = "wide" if rows.is_wide else "long"
    try:
        data = write_table(rows, "\t", header=True, form=shape)
    except InputError as error:
        # A name that no table of text can hold.
        coded = [
            replace(p, code="control-character") if p.code == "cannot-hold" else p for p in error.problems
        ]
        raise InputError(coded, error.more) from error
    return Source(source.name, data, lambda: source.sha256), rows.origin.form
