"""Tables in, rows out: one module per form, and one pass that finds what is wrong where.

A table is read by pyarrow in one go. Where that fails, or where the numbers it read cannot be
right, a second, careful pass over the text finds the first bad lines. What is seldom needed is
imported when it is: start-up is a feature.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sedeval_soft.core.intake import LIMITS, Limits
from sedeval_soft.formats.read import read_rows
from sedeval_soft.tables.event_table import EventTable

if TYPE_CHECKING:
    from sedeval_soft.core.partition import Partition
    from sedeval_soft.core.shard import Shard

__all__ = [
    "pack_shard",
    "points_in",
    "points_of_folder",
    "read_durations",
    "read_partition",
    "read_points",
    "read_rows",
    "read_shard",
    "rows_from_data",
    "unpack_shard",
]


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard of an evaluation as the bytes of a tally file; see `tally_file`."""
    from sedeval_soft.formats import tally_file

    return tally_file.pack(shard, version)


def points_in(path: str, limits: Limits = LIMITS) -> dict[float, str]:
    """Return the tables of a folder or a pattern by the thresholds in their names; see `points`."""
    from sedeval_soft.formats import points as module

    return module.points_in(path, limits)


def points_of_folder(path: str, limits: Limits = LIMITS) -> EventTable | None:
    """Return the rows of a folder of operating points, None where it is none; see `points`."""
    from sedeval_soft.formats import points as module

    return module.points_of_folder(path, limits)


def read_durations(path: str | os.PathLike[str], limits: Limits = LIMITS) -> dict[str, float]:
    """Return seconds by file name from a table of filename and duration; see `durations`."""
    from sedeval_soft.formats import durations

    return durations.read_durations(path, limits)


def read_partition(
    path: str | os.PathLike[str], prefer: Sequence[str] = (), limits: Limits = LIMITS
) -> Partition:
    """Return the part of each file from a table of filename and part; see `partition`."""
    from sedeval_soft.formats import partition

    return partition.read_partition(path, prefer, limits)


def read_points(points: Mapping[Any, Any], role: str, read: Callable[[Any], EventTable]) -> EventTable:
    """Return the rows of a system known at some thresholds; see `points`."""
    from sedeval_soft.formats import points as module

    return module.read_points(points, role, read)


def read_shard(name: str, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; see `tally_file`."""
    from sedeval_soft.formats import tally_file
    from sedeval_soft.formats.source import read_bytes

    return tally_file.unpack(name, read_bytes(name, limits=limits)[:], limits)


def rows_from_data(data: object, name: str, limits: Limits = LIMITS) -> EventTable:
    """Return the rows of a data frame or a mapping of columns; see `frames`."""
    from sedeval_soft.formats import frames

    return frames.rows_from_data(data, name, limits)


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; name: of the file; see `tally_file`."""
    from sedeval_soft.formats import tally_file

    return tally_file.unpack(name, data, limits)
