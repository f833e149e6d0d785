"""Tables of text: at once by pyarrow, line by line where that fails."""

from __future__ import annotations

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.formats.sniff import Sniffed
from sedeval_soft.formats.source import Source
from sedeval_soft.formats.table import read_fast
from sedeval_soft.tables.event_table import EventTable


def read_sniffed(source: Source, sniffed: Sniffed, limits: Limits = LIMITS) -> EventTable:
    """Read a table of which is known what it looks like."""
    rows = read_fast(source, sniffed, limits)
    if rows is not None:
        return rows
    from sedeval_soft.formats.careful import read_carefully

    return read_carefully(source, sniffed, limits)
