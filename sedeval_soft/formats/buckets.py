"""Rows on the disk, parted by recording: what memory cannot hold at once is taken back part by part.

A bucket holds all rows of some recordings, in the order in which they were read. Names that could be of one
recording, with or without folders and extension, are in the same bucket, on either side of an evaluation.
Buckets are written and read by one run, on one machine: they are plain records, not files of any form.
"""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError
from sedeval_soft.formats.known import Known
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import stem_of

Records = npt.NDArray[Any]


class FullError(EvaluationError):
    """There is no room on the disk, or it cannot be written to."""


def bucket_of(name: str, n_buckets: int) -> int:
    """Return the bucket of a recording."""
    return zlib.crc32(stem_of(name).encode("utf-8", "surrogatepass")) % n_buckets


@dataclass(frozen=True, slots=True)
class Bucket:
    """All rows of some recordings, on the disk.

    path: of the records; None where there are none. empty: rows without any row, but with all else that they
    have: the recordings of the bucket, all classes of the table, where they are from. codes: (n_files,) what
    the records call the recordings. dtype: of the records.
    """

    path: Path | None
    empty: EventTable
    codes: npt.NDArray[np.int32]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        """Return the number of records."""
        return 0 if self.path is None else self.path.stat().st_size // self.dtype.itemsize

    def records(self) -> Records:
        """Return the records, recordings coded as in `empty`."""
        if self.path is None:
            return np.empty(0, dtype=self.dtype)
        records = np.fromfile(self.path, dtype=self.dtype)
        records["file"] = np.searchsorted(self.codes, records["file"])
        return records

    def rows(self, records: Records, files: npt.NDArray[np.intp]) -> EventTable:
        """Return the rows of some of the recordings, (n,) places in order; records: of the whole bucket."""
        place = np.full(len(self.codes), -1, dtype=np.int32)
        place[files] = np.arange(len(files), dtype=np.int32)
        file = place[records["file"]]
        kept = file >= 0
        if not kept.all():
            records, file = records[kept], file[kept]
        names = tuple(self.empty.files[at] for at in files.tolist())
        return _rows(records, replace(self.empty, files=names), file)


@dataclass(slots=True)
class Buckets:
    """The rows of a table as they are parted into files of a folder.

    folder: of our own. known: what is known of the table. n_buckets: how many parts.
    """

    folder: Path
    known: Known
    n_buckets: int
    _bucket: list[int] = field(default_factory=list)
    _written: set[int] = field(default_factory=set)

    def add(self, rows: EventTable) -> None:
        """Write rows to the buckets of their recordings; raises InputError over a limit, FullError."""
        known = len(self.known.files)
        file, label = self.known.enter(rows)
        new = [name for name, code in zip(rows.files, file.tolist(), strict=True) if code >= known]
        self._bucket += [bucket_of(name, self.n_buckets) for name in new]
        if not len(rows):
            return
        records = np.empty(len(rows), dtype=dtype_of(rows))
        codes = file[rows.file]
        bucket = np.asarray(self._bucket, dtype=np.uint16)[codes]
        order = np.argsort(bucket, kind="stable")
        records["file"], records["onset"], records["offset"] = (
            codes[order],
            rows.onset[order],
            rows.offset[order],
        )
        if rows.is_wide:
            for k, column in enumerate(rows.values):
                records["values"][:, k] = column[order]
        else:
            records["label"] = label[rows.label][order]
            if rows.value is not None:
                records["value"] = rows.value[order]
        end = np.cumsum(np.bincount(bucket, minlength=self.n_buckets)).tolist()
        for number, (begin, stop) in enumerate(zip([0, *end], end, strict=False)):
            if stop > begin:
                self._written.add(number)
                self._write(number, records[begin:stop])

    def buckets(self, empty: EventTable) -> list[Bucket]:
        """Return all buckets; empty: what `empty` returns."""
        of = np.asarray(self._bucket, dtype=np.int32)
        order = np.argsort(of, kind="stable")
        ends = np.cumsum(np.bincount(of, minlength=self.n_buckets)).tolist()
        found = []
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            codes = order[begin:end].astype(np.int32)
            files = tuple(empty.files[code] for code in codes.tolist())
            path = self._path(number) if number in self._written else None
            found.append(Bucket(path, replace(empty, files=files), codes, dtype_of(empty)))
        return found

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.known.role}.{number}"

    def _write(self, number: int, records: Records) -> None:
        with on_disk(self.folder), self._path(number).open("ab") as file:
            file.write(records.data)


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Say of temporary files that cannot be written what it is; raises FullError."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        needed = "; temporary files take about as much room as the input, uncompressed" if full else ""
        said = f"cannot be written: {error.strerror or error}{needed}"
        raise FullError(f"{folder}: {said}. TMPDIR says where they are") from error


@contextlib.contextmanager
def own_folder(inside: Path | None = None) -> Iterator[Path]:
    """Yield a folder for temporary files that nobody else may read, removed in the end.

    inside: a folder that it is in; where temporary files are if it is None. Raises FullError.
    """
    import tempfile

    with contextlib.ExitStack() as stack:
        with on_disk(inside or Path(os.environ.get("TMPDIR", "temporary files"))):
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="soft-sed-eval-", dir=inside))
        yield Path(made)


def dtype_of(rows: EventTable) -> np.dtype[Any]:
    """Return the type of the records of rows."""
    fields: list[Any] = [("onset", np.float64), ("offset", np.float64), ("file", np.int32)]
    if rows.is_wide:
        return np.dtype([*fields, ("values", np.float64, (len(rows.classes),))])
    fields.append(("label", np.int32))
    return np.dtype([*fields, ("value", np.float64)] if rows.value is not None else fields)


def _rows(records: Records, empty: EventTable, file: npt.NDArray[np.int32]) -> EventTable:
    columns: dict[str, Any] = {name: records[name].copy() for name in ("onset", "offset")}
    columns["file"] = file
    if empty.is_wide:
        values = records["values"]
        columns["values"] = tuple(values[:, k].copy() for k in range(len(empty.classes)))
    else:
        columns["label"] = records["label"].copy()
        columns["values"] = () if empty.value is None else (records["value"].copy(),)
    return replace(empty, **columns)
