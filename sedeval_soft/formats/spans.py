"""Where two tables can be cut so that the same recordings are in the same spans of both, about.

A cut is where a recording begins in one table, and where the same one is found in the other. What does not
fit together all the same is for who reads the spans to find out: see `api.in_step`.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sedeval_soft.core.intake import LIMITS, Limits, intake_of
from sedeval_soft.core.paths import is_file
from sedeval_soft.errors import InputError
from sedeval_soft.formats.blocks import UnfitError, opened
from sedeval_soft.formats.span import Span
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.tables.forms import form_at_once
from sedeval_soft.tables.sniff import Sniffed, sniff
from sedeval_soft.tables.source import Source
from sedeval_soft.tables.text import read_sniffed

_WINDOW = 1 << 24
"""Bytes that are searched at a time."""

_SEARCHED = 2.0
"""How many times as much as a table has is searched for all cuts together; then only what is near."""

_MISSES = 8
"""How often something else may look like the name of a recording."""


class Cuttable(Protocol):
    """A table that can be cut at some places."""

    def near(self, share: float) -> int:
        """Return the place where so much of the table is before."""

    def name_at(self, place: int) -> str | None:
        """Return the recording at a place, by the least of its names; None where it cannot be told."""

    def find(self, stem: str, share: float, within: float) -> int | None:
        """Return a place where a recording is, looked for from where so much of the table is before.

        within: in how much of the table to either side.
        """

    def span(self, begin: int, end: int) -> Span:
        """Return what is between two places."""

    @property
    def size(self) -> int:
        """The place at the end."""


def spans_of(
    reference: str, system: str, n: int, scratch: Path, limits: Limits = LIMITS
) -> list[tuple[Span, Span]] | None:
    """Return about n spans of each of two tables in files, None where they cannot be cut.

    scratch: as of `blocks_of`.
    """
    try:
        sides = [_cuttable(name, scratch, limits) for name in (reference, system)]
    except (InputError, UnfitError):
        return None
    ours, theirs = sides
    if ours is None or theirs is None or not ours.size or not theirs.size:
        return None
    cuts = [(0, 0)]
    left = _SEARCHED
    for k in range(1, n):
        here = ours.near(k / n)
        stem = ours.name_at(here)
        # From the last cut both go on alike, as far as anybody knows.
        before, after = cuts[-1][0] / ours.size, cuts[-1][1] / theirs.size
        share = max(0.0, after + (1 - after) * (k / n - before) / (1 - before))
        there = theirs.near(share)
        if stem is not None:
            reach = max(left, 1 / n)
            found = theirs.find(stem, share, reach)
            left -= min(1.0, reach) if found is None else abs(found / theirs.size - share)
            there = there if found is None else found
        if cuts[-1][0] < here < ours.size and cuts[-1][1] < there < theirs.size:
            cuts.append((here, there))
    cuts.append((ours.size, theirs.size))
    if len(cuts) == 2:
        return None
    return [(ours.span(begin[0], end[0]), theirs.span(begin[1], end[1])) for begin, end in pairwise(cuts)]


def _cuttable(name: str, scratch: Path, limits: Limits) -> Cuttable | None:
    if not is_file(name) or _is_packed(name):
        return None
    source = opened(name, scratch, limits, hashed=False)
    form = form_at_once(source)
    if form == "parquet":
        return _Groups(source, limits)
    if form:
        return None
    sniffed = sniff(source, limits)
    if sniffed is None or not sniffed.sound or sniffed.layout.position("filename") is None:
        return None
    return _Lines(source, sniffed, limits)


def _is_packed(name: str) -> bool:
    try:
        with Path(name).open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        # Whoever reads it says what is wrong with it.
        raise UnfitError from error


class _Lines:
    """A table of text: places are bytes at which lines begin."""

    def __init__(self, source: Source, sniffed: Sniffed, limits: Limits) -> None:
        self._source, self._limits = source, limits
        self._form = Sniffed(sniffed.delimiter, sniffed.layout, 0)

    @property
    def size(self) -> int:
        return len(self._source.data)

    def near(self, share: float) -> int:
        return self._source.data.find(b"\n", int(share * self.size)) + 1 or self.size

    def name_at(self, place: int) -> str | None:
        data = self._source.data
        line = data[place : data.find(b"\n", place) + 1 or self.size]
        try:
            rows = read_sniffed(Source(self._source.name, line, str), self._form, self._limits)
        except InputError:
            return None
        return stem_of(rows.files[0]) if rows.files and rows.files[0] != UNNAMED else None

    def find(self, stem: str, share: float, within: float) -> int | None:
        data, needle = self._source.data, stem.encode()
        below = above = self.near(share)
        first = max(0, below - int(within * self.size))
        last = min(self.size, above + int(within * self.size))
        misses = 0
        while (below > first or above < last) and misses < _MISSES:
            hit = data.find(needle, above, min(last, above + _WINDOW))
            above = hit + 1 if hit >= 0 else min(last, above + _WINDOW)
            if hit < 0 and below > first:
                hit = data.rfind(needle, max(first, below - _WINDOW), below)
                below = hit if hit >= 0 else max(first, below - _WINDOW)
            if hit >= 0:
                place = data.rfind(b"\n", 0, hit) + 1
                if self.name_at(place) == stem:
                    return place
                misses += 1
        return None

    def span(self, begin: int, end: int) -> Span:
        return Span(begin, end, first=begin == 0, last=end == self.size)


class _Groups:
    """Parquet: places are numbers of row groups."""

    def __init__(self, source: Source, limits: Limits) -> None:
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(source.data)))
        except (pa.ArrowException, OSError) as error:
            raise UnfitError from error
        from sedeval_soft.tables.columns import LayoutError, layout_of_header

        names = [str(name) for name in self._file.schema_arrow.names]
        try:
            position = layout_of_header(names, intake_of(limits).columns).position("filename")
        except LayoutError as error:
            raise UnfitError from error
        if position is None:
            raise UnfitError
        self._column = names[position]

    @property
    def size(self) -> int:
        found: int = self._file.metadata.num_row_groups
        return found

    def near(self, share: float) -> int:
        return round(share * self.size)

    def name_at(self, place: int) -> str | None:
        return next(iter(self._names(place)), None)

    def find(self, stem: str, share: float, within: float) -> int | None:
        middle, reach = min(self.near(share), self.size - 1), math.ceil(within * self.size)
        near = range(max(0, middle - reach), min(self.size, middle + reach + 1))
        for place in sorted(near, key=lambda k: abs(k - middle)):
            if stem in self._names(place):
                return place
        return None

    def _names(self, place: int) -> list[str]:
        """Return the recordings of a row group, in order of first appearance."""
        try:
            column: Any = self._file.read_row_group(place, columns=[self._column]).column(0)
            found = column.unique().to_pylist()
        except (pa.ArrowException, OSError):
            return []
        return [stem_of(name) for name in found if isinstance(name, str)]

    def span(self, begin: int, end: int) -> Span:
        return Span(begin, end, first=begin == 0, last=end == self.size, of_groups=True)
