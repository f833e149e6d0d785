"""Rows on the disk, parted by recording: what memory cannot hold at once is taken back part by part.

A bucket holds all rows of some recordings, in the order in which they were read. Names that could be of one
recording, with or without folders and extension, are in the same bucket, on either side of an evaluation.
Buckets are written and read by one run, on one machine: they are plain records, not files of any form.
"""

from __future__ import annotations

import contextlib
import errno
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.errors import EvaluationError, InputError, Problem
from sedeval_soft.core.filenames import stem_of
from sedeval_soft.core.intake import Limits
from sedeval_soft.core.rows import LongRows, Rows, WideRows
from sedeval_soft.formats.assemble import joined_notes

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
    empty: Rows
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

    def rows(self, records: Records, files: npt.NDArray[np.intp]) -> Rows:
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

    folder: of our own. role: `reference` or `system`. n_buckets: how many parts.
    """

    folder: Path
    role: str
    n_buckets: int
    limits: Limits
    n_rows: int = 0
    _files: dict[str, int] = field(default_factory=dict)
    _classes: dict[str, int] = field(default_factory=dict)
    _bucket: list[int] = field(default_factory=list)
    _first: Rows | None = None
    _notes: list[str] = field(default_factory=list)
    _written: set[int] = field(default_factory=set)

    def add(self, rows: Rows) -> None:
        """Write rows to the buckets of their recordings; raises InputError over a limit, FullError."""
        if self._first is None:
            self._first = _emptied(rows)
        source = self._first.origin.name
        self.n_rows += len(rows)
        self._notes += rows.origin.notes
        known = len(self._files)
        file = _coded(rows.files, self._files)
        label = _coded(rows.classes, self._classes)
        for what, found in (("rows", self.n_rows), ("files", len(self._files))):
            self.limits.check(source, what, found, what)
        self.limits.check(source, "classes", len(self._classes), "classes")
        new = [name for name, code in zip(rows.files, file.tolist(), strict=True) if code >= known]
        self._bucket += [bucket_of(name, self.n_buckets) for name in new]
        if not len(rows):
            return
        records = np.empty(len(rows), dtype=_dtype(self._first))
        codes = file[rows.file]
        bucket = np.asarray(self._bucket, dtype=np.uint16)[codes]
        order = np.argsort(bucket, kind="stable")
        records["file"], records["onset"], records["offset"] = (
            codes[order],
            rows.onset[order],
            rows.offset[order],
        )
        if isinstance(rows, WideRows):
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

    def empty(self, sha256: Callable[[], str]) -> Rows:
        """Return all names, and where the table is from, without any row; sha256: of its bytes."""
        if self._first is None:
            raise InputError(Problem(self.role, "is empty; expected a table", code="empty-file"))
        origin = replace(self._first.origin, sha256=sha256(), notes=joined_notes(self._notes))
        first = replace(self._first, files=tuple(self._files), origin=origin)
        return replace(first, classes=tuple(self._classes)) if isinstance(first, LongRows) else first

    def buckets(self, empty: Rows) -> list[Bucket]:
        """Return all buckets; empty: what `empty` returns."""
        of = np.asarray(self._bucket, dtype=np.int32)
        order = np.argsort(of, kind="stable")
        ends = np.cumsum(np.bincount(of, minlength=self.n_buckets)).tolist()
        found = []
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            codes = order[begin:end].astype(np.int32)
            files = tuple(empty.files[code] for code in codes.tolist())
            path = self._path(number) if number in self._written else None
            found.append(Bucket(path, replace(empty, files=files), codes, _dtype(empty)))
        return found

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.role}.{number}"

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


def _coded(names: Sequence[str], known: dict[str, int]) -> npt.NDArray[np.int32]:
    """Return the codes of names, (n_names,), new ones entered."""
    return np.asarray([known.setdefault(name, len(known)) for name in names], dtype=np.int32)


def _dtype(rows: Rows) -> np.dtype[Any]:
    fields: list[Any] = [("onset", np.float64), ("offset", np.float64), ("file", np.int32)]
    if isinstance(rows, WideRows):
        return np.dtype([*fields, ("values", np.float64, (len(rows.classes),))])
    fields.append(("label", np.int32))
    return np.dtype([*fields, ("value", np.float64)] if rows.value is not None else fields)


def _emptied(rows: Rows) -> Rows:
    """Return rows without any row."""
    none = slice(0, 0)
    one: dict[str, Any] = {"file": rows.file[none].copy(), "onset": np.zeros(0), "offset": np.zeros(0)}
    if isinstance(rows, WideRows):
        return replace(rows, **one, values=tuple(np.zeros(0) for _ in rows.values))
    value = None if rows.value is None else np.zeros(0)
    return replace(rows, **one, label=rows.label[none].copy(), value=value)


def _rows(records: Records, empty: Rows, file: npt.NDArray[np.int32]) -> Rows:
    columns: dict[str, Any] = {name: records[name].copy() for name in ("onset", "offset")}
    columns["file"] = file
    if isinstance(empty, WideRows):
        values = records["values"]
        columns["values"] = tuple(values[:, k].copy() for k in range(len(empty.classes)))
    else:
        columns["label"] = records["label"].copy()
        columns["value"] = None if empty.value is None else records["value"].copy()
    return replace(empty, **columns)
