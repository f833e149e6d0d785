"""Rows of some recordings that are from several shards of a table, brought together as those of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sedeval_soft.formats.buckets import Bucket, Buckets, Records, dtype_of
from sedeval_soft.tables.event_table import EventTable


@dataclass(frozen=True, slots=True)
class HeldBucket(Bucket):
    """All rows of some recordings in a shard, in memory: what one machine hands over to another."""

    held: Records

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.held)

    def records(self) -> Records:
        """Return the records, recordings coded as in `empty`."""
        records = self.held.copy()
        records["file"] = np.searchsorted(self.codes, records["file"])
        return records


@dataclass(slots=True)
class HeldBuckets(Buckets):
    """The rows of a shard as they are parted in memory."""

    _held: dict[int, list[Records]] = field(default_factory=dict)

    def buckets(self, empty: EventTable) -> list[Bucket]:
        """Return all buckets; empty: what `empty` returns."""
        found: list[Bucket] = []
        for number, bucket in enumerate(Buckets.buckets(self, empty)):
            held = self._held.pop(number, [np.empty(0, dtype=bucket.dtype)])
            whole = held[0] if len(held) == 1 else np.concatenate(held)
            found.append(HeldBucket(None, bucket.empty, bucket.codes, bucket.dtype, whole))
        return found

    def _write(self, number: int, records: Records) -> None:
        # A copy: what it is a part of would stay in memory with it.
        self._held.setdefault(number, []).append(records.copy())


@dataclass(frozen=True, slots=True)
class JoinedBucket(Bucket):
    """All rows of some recordings in all shards of a table, in their order."""

    pieces: tuple[Bucket, ...] = ()

    @classmethod
    def of(cls, empty: EventTable, pieces: Sequence[Bucket] = ()) -> JoinedBucket:
        """Return the bucket of the recordings and classes of `empty`, which has no rows."""
        codes = np.arange(len(empty.files), dtype=np.int32)
        return cls(None, empty, codes, dtype_of(empty), tuple(pieces))

    def __len__(self) -> int:
        """Return the number of records."""
        return sum(map(len, self.pieces))

    def records(self) -> Records:
        """Return the records, recordings and classes coded as in `empty`."""
        records = np.empty(len(self), dtype=self.dtype)
        begin = 0
        for piece in self.pieces:
            own = piece.records()
            self._take(records[begin : begin + len(own)], own, piece.empty)
            begin += len(own)
        return records

    def _take(self, records: Records, own: Records, theirs: EventTable) -> None:
        """Write the records of a piece in the terms of the whole."""
        for name in ("onset", "offset"):
            records[name] = own[name]
        records["file"] = _codes(theirs.files, self.empty.files)[own["file"]]
        classes = _codes(theirs.classes, self.empty.classes)
        if self.empty.is_wide:
            if len(classes) < len(self.empty.classes):
                # A class that a shard does not name is silent there.
                records["values"] = 0.0
            records["values"][:, classes] = own["values"]
            return
        records["label"] = classes[own["label"]]
        if self.empty.value is not None:
            records["value"] = 1.0 if "value" not in (own.dtype.names or ()) else own["value"]


def _codes(names: Sequence[str], known: Sequence[str]) -> npt.NDArray[np.int32]:
    """Return where names are among others, (n_names,); -1 for those that are not, which no record has."""
    position = {name: code for code, name in enumerate(known)}
    return np.asarray([position.get(name, -1) for name in names], dtype=np.int32)
