"""A span of a table: what is read of it by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Some of the lines of a table of text, or of the row groups of Parquet.

    begin, end: bytes at which lines begin, or numbers of row groups. first, last: whether nothing of the
    table stands before, or after. of_groups: whether row groups are meant.
    """

    begin: int
    end: int
    first: bool
    last: bool
    of_groups: bool = False

    @property
    def groups(self) -> range | None:
        """The row groups of the span, None where all are read."""
        return range(self.begin, self.end) if self.of_groups else None


WHOLE = Span(0, 0, first=True, last=True)
"""All of a table."""
