"""A system known at some thresholds only: a list of events for each, as psds_eval takes them.

The list of a threshold stands for all from it up to the next one; that of the lowest for those below it,
too. So whatever is computed over all thresholds is an approximation, as coarse as the thresholds are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sedeval_soft.core.errors import InputError, Problem
from sedeval_soft.core.rows import LongRows, Origin, Rows
from sedeval_soft.formats.joined import join_long


def read_points(points: Mapping[Any, Any], role: str, read: Callable[[Any], Rows]) -> LongRows:
    """Return the rows of all lists, each with the thresholds between which it stands.

    points: what `read` takes, by threshold in [0, 1]. Raises InputError for a threshold that is none, and
    for a table with values.
    """
    thresholds = sorted(_threshold(key, role) for key in points)
    tables = {_threshold(key, role): read(source) for key, source in points.items()}
    if len(tables) < len(points):
        raise InputError(Problem(role, "has two operating points of one threshold"))
    parts: list[LongRows] = []
    # That of the last threshold stands up to 1, or a breath above it.
    ends = [*thresholds[1:], max(1.0, float(np.nextafter(thresholds[-1], 2.0)))]
    for low, high in zip(thresholds, ends, strict=True):
        rows = tables[low]
        if not isinstance(rows, LongRows) or rows.value is not None:
            raise InputError(
                Problem(rows.origin.name, "has values; expected a list of events, as of one threshold")
            )
        n, born = len(rows), 0.0 if low == thresholds[0] else low
        parts.append(replace(rows, value=np.full(n, high), born=np.full(n, born)))
    digest = hashlib.sha256()
    for low, part in zip(thresholds, parts, strict=True):
        digest.update(f"{low!r}\0{part.origin.sha256}\n".encode())
    known = all(part.origin.sha256 for part in parts)
    form = f"operating points at {', '.join(f'{low!r}' for low in thresholds)}"
    ignored = tuple(dict.fromkeys(column for part in parts for column in part.origin.ignored))
    notes = tuple(f"{part.origin.name}: {note}" for part in parts for note in part.origin.notes)
    assumed = tuple(f"{part.origin.name}: {text}" for part in parts for text in part.origin.assumed)
    name = f"{len(parts)} operating points"
    files = tuple(dict.fromkeys(file for part in parts for file in part.files))
    origin = Origin(name, digest.hexdigest() if known else None, form, ignored, notes, assumed)
    joined = join_long(parts, files, origin)
    return replace(joined, born=np.concatenate([part.born for part in parts if part.born is not None]))


def _threshold(key: Any, role: str) -> float:  # noqa: ANN401 - whatever was given
    number = isinstance(key, int | float | np.number) and not isinstance(key, bool)
    if not number or not 0 <= key <= 1:
        raise InputError(Problem(role, f"has an operating point at {key!r}; expected a threshold in [0, 1]"))
    return float(key)
