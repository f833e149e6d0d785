"""Tables of file durations: filename and duration, with or without a header."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.formats.by_file import Places, Saying, file_columns, read_by_file
from sedeval_soft.formats.columns import is_number, normal
from sedeval_soft.formats.source import open_source

_DURATION = frozenset(
    {"duration", "length", "duration_seconds", "seconds", "duration_s", "dur", "length_seconds"}
)


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name.

    A file may stand there many times (DCASE metadata has a line per event) if it has one duration.
    Raises InputError with all that is wrong, up to `MAX_PROBLEMS`.
    """
    saying = Saying("duration", _places, partial(_seconds, limits=limits))
    return read_by_file(open_source(path, limits=limits), saying, limits)


def _places(fields: Sequence[str]) -> Places | None:
    files = file_columns(fields)
    lengths = [i for i, field in enumerate(fields) if normal(field) in _DURATION]
    if files and lengths:
        return Places(files[0], lengths[0], header=True)
    if len(fields) == 2 and not is_number(fields[0]) and is_number(fields[1]):
        return Places(0, 1, header=False)
    return None


def _seconds(text: str, limits: Limits) -> float:
    if not is_number(text) or float(text) < 0:
        raise ValueError(f"duration {text!r} is not a number of seconds, 0 or more")
    if float(text) > limits.duration:
        raise ValueError(f"duration {text} {limits.too_long()}; expected seconds")
    return float(text)
