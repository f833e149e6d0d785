"""Times given as dates and times of day: they count from the recording's start, which its file's name has.

The name has year, month, day, hour, minute and second in this order, with or without `-`, `_`, `:` or `T`
between them, and perhaps three digits of milliseconds behind: `2015-02-04T03-00-00_000.wav`,
`SMM1_20150204_030000.wav`. A time without a zone is taken to be in the zone of the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import nan

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.tables.filenames import stem_of

SUCH_AS = "2015-02-04T03:12:36.154000+00:00"
"""A date and time as messages show one."""

NAMED = "20150204_031236"
"""A date and time in the name of a file, as messages show one."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_TIME = re.compile(r"\d{4}-?\d{2}-?\d{2}[T ]\d{2}:?\d{2}", re.ASCII)
_BEGIN = re.compile(
    r"(?<!\d)(\d{4})[-_]?(\d\d)[-_]?(\d\d)[-_T ]{1,2}(\d\d)[-_:]?(\d\d)[-_:]?(\d\d)(?:[_.-](\d{3}))?(?!\d)",
    re.ASCII,
)


def ticks_of(texts: Iterable[str]) -> Floats:
    """Return texts as whole microseconds since 1970, (n,): NaN for one without date or time of day."""
    stripped = (text.strip() for text in texts)
    return np.array([_ticks(text if _TIME.match(text) else "") for text in stripped], dtype=np.float64)


def beginnings(files: Iterable[str]) -> Floats:
    """Return the starts of recordings by their names, as above: NaN for a name without a date."""
    matches = [_BEGIN.search(stem_of(file)) for file in files]
    texts = ("{}-{}-{}T{}:{}:{}.{}".format(*match.groups("000")) if match else "" for match in matches)
    return np.array([*map(_ticks, texts)], dtype=np.float64)


def as_text(ticks: float) -> str:
    """Return microseconds since 1970 as a date and time."""
    return (_EPOCH + timedelta(microseconds=ticks)).isoformat()


def _ticks(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return nan
    return float((moment - _EPOCH) // _TICK)
