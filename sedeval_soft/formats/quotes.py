"""Quotes: a field in them may hold the delimiter, but no line break: one left open would swallow rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.formats.taken import Bytes

_QUOTE, _LF, _CR = b'"\n\r'
_LONG = 1 << 26
"""Bytes around quotes that are not looked at at once."""

_PIECE = 1 << 20
"""Bytes looked at in one go: they stay in the processor's cache."""


def quotes_are_plain(data: Bytes, delimiter: str) -> bool:
    """Return whether every quote opens or closes a whole field, and none is open at the end of a line.

    False also where a quote is a character of a name (`5" nail`): then a closer look is needed.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    begin = 0
    while begin < len(text):
        end = begin + _PIECE
        piece = text[begin:end]
        if not (piece == _QUOTE).any():
            begin = end
            continue
        # From the start of a line to the end of one: no quote is open at either.
        start = max(data.rfind(b"\n", 0, begin), 0) if begin else 0
        stop = data.find(b"\n", end) if end < len(text) else len(text)
        stop = len(text) if stop < 0 else stop
        if stop - start > _LONG:
            # Few tables have such lines; the careful pass takes them one by one.
            return False
        if not _are_plain(text[start:stop], delimiter):
            return False
        begin = stop
    return True


def _are_plain(text: npt.NDArray[np.uint8], delimiter: str) -> bool:
    """Answer for whole lines: their quotes, from the first on, open and close in turn."""
    quotes = np.flatnonzero(text == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    breaks = np.flatnonzero((text == _LF) | (text == _CR))
    if not np.array_equal(np.searchsorted(breaks, opening), np.searchsorted(breaks, closing)):
        return False
    # A quote beside a quote is one of the two that stand for one within quotes.
    edge = np.zeros(256, dtype=bool)
    edge[[ord(delimiter), _LF, _CR, _QUOTE]] = True
    before, after = opening[opening > 0] - 1, closing[closing < len(text) - 1] + 1
    return bool(edge[text[before]].all() and edge[text[after]].all())


def misquoted(line: str, delimiter: str) -> tuple[str, int] | None:
    """Return what is wrong with the quotes of a line, and in which field (from 1); None where nothing is.

    line: without its end. Quotes within a field that does not begin with one are characters like others.
    """
    at, column = 0, 1
    while line.find('"', at) >= 0:
        if line[at] == '"':
            end = _closing(line, at + 1)
            if end < 0:
                found = repr(line[at : at + 40])
                return f"a quote is opened and not closed on this line: {found}; expected its end", column
            # Not `partition`: to copy the rest of a long line at each of its fields would take forever.
            field_end = line.find(delimiter, end + 1)
            after = line[end + 1 : field_end if field_end >= 0 else len(line)]
            if after.strip():
                return f"{after[:40]!r} follows a closing quote; expected the end of the field", column
            at = end + 1
        at = line.find(delimiter, at) + 1
        if not at:
            return None
        column += 1
    return None


def _closing(line: str, at: int) -> int:
    """Return where the quote that was opened before a position is closed, -1 where it is not."""
    while True:
        end = line.find('"', at)
        if end < 0 or not line.startswith('""', end):
            return end
        at = end + 2
