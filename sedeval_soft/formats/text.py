"""Tables of text: at once by pyarrow, line by line where that fails."""

from __future__ import annotations

from sedeval_soft.core.rows import Rows
from sedeval_soft.formats.sniff import Sniffed, sniff
from sedeval_soft.formats.source import Source
from sedeval_soft.formats.table import read_fast


def read_text(source: Source) -> Rows | None:
    """Read one table of text, None where it has no line at all."""
    sniffed = sniff(source)
    return None if sniffed is None else read_sniffed(source, sniffed)


def read_sniffed(source: Source, sniffed: Sniffed) -> Rows:
    """Read a table of which is known what it looks like."""
    rows = read_fast(source, sniffed)
    if rows is not None:
        return rows
    from sedeval_soft.formats.careful import read_carefully

    return read_carefully(source, sniffed)
