"""Thresholds in the names of tables: `baseline_0.1.csv`, `0.010.tsv`, `predictions_th_0.01.tsv`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from sedeval_soft.tables.event_table import UNNAMED, EventTable

_NUMBER = re.compile(r"((?<!\d)(?<!\d\.)\d+(?:\.\d+)?(?:[eE]-?\d+)?(?!\d|\.\d))")
"""A number in a name, as it stands there; neither part of a longer one nor of a version such as 1.0.2."""

_EXTENSIONS = re.compile(r"(?:\.[A-Za-z]\w*)+$")
"""The end of a name that is no part of a number: `.csv`, `.tsv.gz`."""


def thresholds_in(names: Sequence[str]) -> list[float] | None:
    """Return the threshold that each of some names holds, None where they do not say.

    They say so where they differ in one number alone, which is in [0, 1], and another one in each.
    """
    split = [_NUMBER.split(_EXTENSIONS.sub("", last_of(name))) for name in names]
    if not split or len({len(parts) for parts in split}) > 1:
        return None
    columns = list(zip(*split, strict=True))
    varying = [at for at, texts in enumerate(columns) if len(set(texts)) > 1]
    if len(split) == 1:
        # Of a single name nothing differs: it must hold no other number.
        varying = [at for at in range(len(columns)) if at % 2]
    if len(varying) != 1 or not varying[0] % 2:
        return None
    found = [float(text) for text in columns[varying[0]]]
    distinct = len(set(found)) == len(found)
    return found if distinct and all(0 <= threshold <= 1 for threshold in found) else None


def seem_thresholds(names: Sequence[str]) -> bool:
    """Return whether names of several tables hold thresholds, though nobody said so.

    Of `part-0.tsv` and `part-1.tsv` the numbers are in [0, 1], too: one must be a fraction.
    """
    found = thresholds_in(names) if len(names) > 1 else None
    return found is not None and any(threshold % 1 for threshold in found)


def are_lists_of_one(tables: Sequence[EventTable]) -> bool:
    """Return whether tables can be lists of the events of one system, at several thresholds.

    Each must be long, without values, and name its recordings. Two must have one recording in common, unless
    only one of them has any: tables of different recordings are a table in parts. Only names are looked at,
    so that rows may be elsewhere.
    """
    with_files = [rows for rows in tables if rows.files]
    if any(rows.is_wide or rows.has_values or UNNAMED in rows.files for rows in with_files):
        return False
    files = [{*rows.files} for rows in with_files]
    return len(files) == 1 or sum(map(len, files)) > len(set[str]().union(*files))


def last_of(name: str) -> str:
    """Return the last part of the name of a file."""
    return PurePath(name).name
