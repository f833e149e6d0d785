"""Rows of a table by recording: written once, in any order, and read back part by part.

A part holds all rows of some recordings, in the order in which they were read. Names that could be of one
recording, with or without folders and extension, are in the same part, on either side of an evaluation.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sedeval_soft.tables.blocks import Known
from sedeval_soft.tables.event_table import EventTable, enter_maxima
from sedeval_soft.tables.filenames import stem_of
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.temporary_folder import on_disk

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


def part_of(name: str, n_parts: int) -> int:
    """Return the part of a recording."""
    return zlib.crc32(stem_of(name).encode("utf-8", "surrogatepass")) % n_parts


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows that a table has in one part.

    names: rows without any row, but with all else: the recordings of the part, the classes of the table.
    data: the path of an Arrow stream, or its bytes.
    """

    names: EventTable
    data: str | bytes

    def read(self) -> EventTable:
        """Return the rows."""
        if isinstance(self.data, str):
            with pa.memory_map(self.data) as mapped:
                table = pa.ipc.open_stream(mapped).read_all()
        else:
            table = pa.ipc.open_stream(self.data).read_all()
        columns: dict[str, Any] = {name: table.column(name).to_numpy() for name in table.column_names}
        values = tuple(columns.pop(f"value {k}") for k in range(len(self.names.values)))
        return replace(self.names, **columns, values=values)


def read_pieces(names: EventTable, pieces: list[Piece]) -> EventTable:
    """Return the rows that some pieces have of the recordings of a part.

    names: rows without any row: the recordings, and all classes of the whole table.
    """
    wanted = set(names.files)
    found = [names]
    for piece in pieces:
        inside = np.array([name in wanted for name in piece.names.files], dtype=bool)
        if inside.any():
            found.append(piece.read() if inside.all() else piece.read().only_files(inside))
    return EventTable.join(found)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a table has of each recording.

    names: rows without any row. n_rows: (n_files,) rows; last: (n_files,) the last offset, in seconds.
    """

    names: EventTable
    n_rows: Index
    last: Floats

    @classmethod
    def of(cls, rows: EventTable) -> Extent:
        """Return the extent of rows."""
        last = np.zeros(len(rows.files))
        enter_maxima(last, rows.file, rows.offset)
        return cls(rows.emptied(), np.bincount(rows.file, minlength=len(last)), last)

    @property
    def width(self) -> int:
        """Return how many values a row has."""
        return len(self.names.classes) if self.names.is_wide else 1


@dataclass(slots=True)
class PartWriter:
    """Writes the rows of a table to the parts of their recordings.

    folder: where to; None keeps what is written as bytes. stem: how names of files begin.
    """

    n_parts: int
    limits: Limits
    folder: Path | None
    stem: str
    known: Known = field(init=False)
    _part: list[int] = field(default_factory=list)
    _code: list[int] = field(default_factory=list)
    _n_rows: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    _last: Floats = field(default_factory=lambda: np.zeros(0))
    _files: dict[int, list[str]] = field(default_factory=dict)
    _open: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Know nothing of the table yet."""
        self.known = Known(self.stem, self.limits)

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
        before = len(self.known.files)
        file, label = self.known.enter(rows)
        for name in [name for name, code in zip(rows.files, file.tolist(), strict=True) if code >= before]:
            part = part_of(name, self.n_parts)
            inside = self._files.setdefault(part, [])
            self._part.append(part)
            self._code.append(len(inside))
            inside.append(name)
        more = len(self._part) - len(self._last)
        self._n_rows, self._last = (
            np.append(self._n_rows, np.zeros(more, dtype=np.int64)),
            np.append(self._last, np.zeros(more)),
        )
        if not len(rows):
            return
        codes = file[rows.file]
        self._n_rows += np.bincount(codes, minlength=len(self._n_rows))
        enter_maxima(self._last, codes, rows.offset)
        parts = np.asarray(self._part, dtype=np.int64)[codes]
        order = np.argsort(parts, kind="stable")
        batch = _batch(rows, np.asarray(self._code, dtype=np.int32)[codes], label, order)
        ends = np.cumsum(np.bincount(parts, minlength=self.n_parts)).tolist()
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if end > begin:
                self._write(number, batch.slice(begin, end - begin))

    def close(self, sha256: Callable[[], str]) -> tuple[Extent, dict[int, Piece]]:
        """Return what the table has, and its parts that have rows; sha256: of its bytes."""
        names = self.known.empty(sha256)
        pieces = {}
        for number, (writer, sink) in self._open.items():
            with on_disk(self.folder or Path()):
                writer.close()
                data = sink.getvalue().to_pybytes() if self.folder is None else sink.name
                sink.close()
            pieces[number] = Piece(replace(names, files=tuple(self._files[number])), data)
        self._open = {}
        return Extent(names, self._n_rows, self._last), pieces

    def _write(self, number: int, batch: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        with on_disk(self.folder or Path()):
            if number not in self._open:
                sink = (
                    pa.BufferOutputStream()
                    if self.folder is None
                    else (self.folder / f"{self.stem}.{number}").open("wb")
                )
                self._open[number] = (pa.ipc.new_stream(sink, batch.schema), sink)
            self._open[number][0].write_batch(batch)


def _batch(rows: EventTable, file: npt.NDArray[np.int32], label: npt.NDArray[np.int32], order: Index) -> Any:  # noqa: ANN401
    """Return rows in an order as columns of Arrow; file, label: the codes of rows' files and of classes."""
    columns: dict[str, npt.NDArray[Any]] = {"file": file, "onset": rows.onset, "offset": rows.offset}
    if not rows.is_wide:
        columns["label"] = label[rows.row_label]
    columns |= {f"value {k}": column for k, column in enumerate(rows.values)}
    return pa.RecordBatch.from_pydict({name: column[order] for name, column in columns.items()})
