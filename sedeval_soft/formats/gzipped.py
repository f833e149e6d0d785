"""Gzipped bytes, decompressed piece by piece: a few of them can stand for more than any memory has."""

from __future__ import annotations

import zlib

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.errors import InputError, Problem
from sedeval_soft.formats.taken import SPARED, Bytes, Taken

_IN, _OUT = 1 << 16, 1 << 20
"""Bytes that are handed over at a time, and that come back at the most."""

_GZIP = 31
"""What zlib calls a stream with the head and the checksum of gzip."""


def decompress(name: str, raw: Bytes, limits: Limits = LIMITS) -> bytes:
    """Return what gzipped bytes stand for, of one member after another.

    name: of the input. Raises InputError where they are damaged, and where they become more than limits
    allow: they are counted as they come, whatever they declare.
    """
    taken = Taken(name, limits)
    unfold(name, raw, taken, limits)
    return taken.whole()


def unfold(name: str, raw: Bytes, taken: Taken, limits: Limits = LIMITS) -> None:
    """Gather what gzipped bytes stand for; arguments and errors as for `decompress`."""
    view = memoryview(raw)
    try:
        at = 0
        while at < len(view):
            at = _after_zeros(view, _member(name, view, at, taken, limits))
    except (EOFError, zlib.error) as error:
        raise InputError(
            Problem(name, f"begins like gzip, but cannot be decompressed: {error}", code="broken-gzip")
        ) from error
    finally:
        view.release()


def _member(name: str, view: memoryview, at: int, taken: Taken, limits: Limits) -> int:
    """Take in what a member stands for; return where it ends."""
    member = zlib.decompressobj(_GZIP)
    while not member.eof:
        given = bytes(view[at : at + _IN])
        if not given:
            raise EOFError("it ends before its end was marked")
        at += len(given)
        piece = b""
        while not member.eof and (given or len(piece) == _OUT):
            piece = member.decompress(given, _OUT)
            taken.add(piece)
            _check_ratio(name, taken.size, at, limits)
            given = member.unconsumed_tail
    return at - len(member.unused_data)


def _after_zeros(view: memoryview, at: int) -> int:
    """Return where another member begins, or the end: zeros may fill up the last block of a tape."""
    while at < len(view):
        piece = bytes(view[at : at + _IN])
        rest = piece.lstrip(b"\0")
        at += len(piece) - len(rest)
        if rest:
            break
    return at


def _check_ratio(name: str, size: int, read: int, limits: Limits) -> None:
    if size > max(SPARED, limits.ratio * read):
        found = f"has more than {limits.ratio} bytes for each compressed one"
        raise limits.refusal(name, "ratio", found)
