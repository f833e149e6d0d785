"""Tables larger than memory, and files of tallies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.tables.limits import LIMITS, Limits

if TYPE_CHECKING:
    from sedeval_soft.core.shard import Shard

__all__ = [
    "pack_shard",
    "read_shard",
    "unpack_shard",
]


def pack_shard(shard: Shard, version: str) -> bytes:
    """Return a shard of an evaluation as the bytes of a tally file; see `tally_file`."""
    from sedeval_soft.formats import tally_file

    return tally_file.pack(shard, version)


def read_shard(name: str, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; see `tally_file`."""
    from sedeval_soft.formats import tally_file
    from sedeval_soft.tables.source import read_bytes

    return tally_file.unpack(name, read_bytes(name, limits=limits)[:], limits)


def unpack_shard(name: str, data: bytes, limits: Limits = LIMITS) -> Shard:
    """Return the shard that a tally file holds; name: of the file; see `tally_file`."""
    from sedeval_soft.formats import tally_file

    return tally_file.unpack(name, data, limits)
