"""Rows of a table on the disk: written once by recording, in any order, and read back part by part.

A part holds all rows of some recordings, in the order in which they were read. Names that could be of one
recording, with or without folders and extension, are in the same part, on either side of an evaluation.
"""

from __future__ import annotations

import contextlib
import errno
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sedeval_soft.arrays import Array, Floats, Index
from sedeval_soft.errors import EvaluationError, InputError, Problem
from sedeval_soft.tables.event_table import EventTable
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.rows import joined_notes

_NO_ROWS = np.zeros(0, dtype=np.intp)
"""A slice of no rows would hold all of them in memory."""


class FullError(EvaluationError):
    """There is no room on the disk, or it cannot be written to."""


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Say what is wrong where temporary files cannot be written; raises FullError."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        needed = "; temporary files take about as much room as the input, uncompressed" if full else ""
        text = f"cannot be written: {error.strerror or error}{needed}"
        raise FullError(f"{folder}: {text}. TMPDIR says where they are") from error


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder for temporary files that nobody else reads, removed in the end; raises FullError."""
    import tempfile

    with contextlib.ExitStack() as stack:
        with on_disk(Path(os.environ.get("TMPDIR", "temporary files"))):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="soft-sed-eval-"))
        yield Path(folder)


def part_of(name: str, n_parts: int) -> int:
    """Return the part of a recording."""
    return zlib.crc32(stem_of(name).encode("utf-8", "surrogatepass")) % n_parts


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows that a table has in one part.

    names: an empty table of the recordings of the part and the classes of the table. data: the path of an
    Arrow stream, or its bytes, or the rows where they are in memory.
    """

    names: EventTable
    data: str | bytes | EventTable

    def read(self) -> EventTable:
        """Return the rows."""
        if isinstance(self.data, EventTable):
            return self.data
        in_file = isinstance(self.data, str)
        with pa.memory_map(self.data) if in_file else pa.BufferReader(self.data) as stream:
            table = pa.ipc.open_stream(stream).read_all()
        columns: dict[str, Any] = {name: table.column(name).to_numpy() for name in table.column_names}
        values = tuple(columns.pop(f"value {k}") for k in range(len(self.names.values)))
        return replace(self.names, **columns, values=values)


def read_pieces(names: EventTable, pieces: list[Piece]) -> EventTable:
    """Return the rows that some pieces have of some recordings of a part.

    names: an empty table of these recordings, and of all classes of the whole table.
    """
    wanted = set(names.files)
    tables = [names]
    for piece in pieces:
        inside = np.array([name in wanted for name in piece.names.files], dtype=bool)
        if inside.any():
            tables.append(piece.read() if inside.all() else piece.read().only_files(inside))
    return EventTable.join(tables)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a table has of each recording.

    names: the table without its rows. n_rows: (n_files,) rows; last: (n_files,) the last offset, in seconds.
    """

    names: EventTable
    n_rows: Index
    last: Floats

    @classmethod
    def of(cls, rows: EventTable) -> Extent:
        """Return the extent of rows."""
        last = np.zeros(len(rows.files))
        np.maximum.at(last, rows.file, rows.offset)
        return cls(rows.take(_NO_ROWS), np.bincount(rows.file, minlength=len(last)), last)


class PartWriter:
    """Writes the blocks of a table, as they come, to the parts of their recordings."""

    def __init__(self, n_parts: int, limits: Limits, folder: Path | None, stem: str) -> None:
        """Begin with no row. folder: where to write; None keeps bytes. stem: how names of files begin."""
        self._n_parts, self._limits, self._folder, self._stem = n_parts, limits, folder, stem
        self._files: dict[str, int] = {}
        self._classes: dict[str, int] = {}
        # Of each file its part, and its number there.
        self._part: list[int] = []
        self._code: list[int] = []
        self._members: dict[int, list[str]] = {}
        self._n_rows = np.zeros(0, dtype=np.int64)
        self._last = np.zeros(0)
        self._first: EventTable | None = None
        self._notes: list[str] = []
        self._assumed: list[str] = []
        self._lacking: tuple[str, ...] = ()
        self._open: dict[int, tuple[Any, Any]] = {}

    def __enter__(self) -> Self:
        """Return itself; `with` closes what is open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of files that were not closed, as where something went wrong."""
        for _, sink in self._open.values():
            with contextlib.suppress(OSError):
                sink.close()

    def add(self, rows: EventTable) -> None:
        """Write rows; raises InputError over a limit, and FullError."""
        file, label = (
            np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int32)
            for names, codes in ((rows.files, self._files), (rows.classes, self._classes))
        )
        if self._first is None:
            self._first = rows.take(_NO_ROWS)
            self._lacking = rows.origin.lacking
        self._lacking = tuple(text for text in self._lacking if text in rows.origin.lacking)
        self._notes += rows.origin.notes
        self._assumed += rows.origin.assumed
        source, n_rows = self._first.origin.name, int(self._n_rows.sum()) + len(rows)
        for what, n in (("rows", n_rows), ("files", len(self._files)), ("classes", len(self._classes))):
            self._limits.check(source, what, n, what)
        new = list(islice(self._files, len(self._part), None))
        for name in new:
            part = part_of(name, self._n_parts)
            members = self._members.setdefault(part, [])
            self._part.append(part)
            self._code.append(len(members))
            members.append(name)
        self._n_rows = np.append(self._n_rows, np.zeros(len(new), dtype=np.int64))
        self._last = np.append(self._last, np.zeros(len(new)))
        if not len(rows):
            return
        codes = file[rows.file]
        self._n_rows += np.bincount(codes, minlength=len(self._n_rows))
        np.maximum.at(self._last, codes, rows.offset)
        parts = np.array(self._part, dtype=np.uint16)[codes]
        columns: dict[str, Array] = {"file": np.array(self._code, dtype=np.int32)[codes]}
        columns |= {"onset": rows.onset, "offset": rows.offset}
        if rows.label is not None:
            columns["label"] = label[rows.label]
        columns |= {f"value {k}": column for k, column in enumerate(rows.values)}
        order = np.argsort(parts, kind="stable")
        batch = pa.RecordBatch.from_pydict({name: column[order] for name, column in columns.items()})
        bounds = np.searchsorted(parts[order], np.arange(self._n_parts + 1)).tolist()
        with on_disk(self._folder or Path()):
            for part, (begin, end) in enumerate(pairwise(bounds)):
                if begin < end:
                    self._stream(part, batch.schema).write_batch(batch.slice(begin, end - begin))

    def close(self, sha256: Callable[[], str]) -> tuple[Extent, dict[int, Piece]]:
        """Return what the table has, and its parts that have rows; sha256: of its bytes."""
        if self._first is None:
            raise InputError(Problem(self._stem, "is empty; expected a table", code="empty-file"))
        origin = replace(
            self._first.origin,
            sha256=sha256(),
            notes=joined_notes(self._notes),
            assumed=tuple(dict.fromkeys(self._assumed)),
            lacking=self._lacking,
        )
        names = replace(self._first, files=tuple(self._files), classes=tuple(self._classes), origin=origin)
        pieces = {}
        for part, (writer, sink) in self._open.items():
            with on_disk(self._folder or Path()):
                writer.close()
                data = sink.getvalue().to_pybytes() if self._folder is None else sink.name
                sink.close()
            pieces[part] = Piece(replace(names, files=tuple(self._members[part])), data)
        self._open = {}
        return Extent(names, self._n_rows, self._last), pieces

    def _stream(self, part: int, schema: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the Arrow stream of a part, begun where it has none."""
        if part not in self._open:
            path = self._folder and self._folder / f"{self._stem}.{part}"
            sink = pa.BufferOutputStream() if path is None else path.open("wb")
            self._open[part] = (pa.ipc.new_stream(sink, schema), sink)
        return self._open[part][0]
