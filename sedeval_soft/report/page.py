"""What text and Markdown show, before either draws it."""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.core.value import Scores
from sedeval_soft.report.header import header
from sedeval_soft.report.table import Table
from sedeval_soft.report.tables import notes, tables


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results.

    title: what it is of. lines: what was read and how it is scored, as (name, text). notes: what a reader
    must know of the tables. signatures: what makes the result repeatable.
    """

    title: str
    lines: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    signatures: tuple[str, ...]


def page_of(scores: Scores) -> Page:
    """Return the page of one system."""
    shown = tables(scores)
    return Page(
        title=scores.system,
        lines=tuple(header(scores)),
        warnings=scores.warnings,
        tables=tuple(shown),
        notes=tuple(notes(scores, shown)),
        signatures=(scores.signature,),
    )
