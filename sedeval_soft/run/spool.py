"""Room for the scores of many replicates, which memory does not grow with."""

from __future__ import annotations

from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_IN_MEMORY = 1 << 20
"""Numbers that are kept in memory; where there are more, they lie in a temporary file."""

_SIZE = np.dtype(np.float64).itemsize


class Spool:
    """A table of numbers, (n_rows, n_columns), filled column by column and read row by row; to be closed."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        """Make room."""
        self.shape = (n_rows, n_columns)
        self._table: Floats | None = None
        self._file: IO[Any] | None = None
        self._filled = 0
        if n_rows * n_columns <= _IN_MEMORY:
            self._table = np.empty(self.shape)
        else:
            from tempfile import TemporaryFile

            # It has no name, and vanishes however the process ends.
            self._file = TemporaryFile(prefix="soft-sed-eval-")  # noqa: SIM115

    def __enter__(self) -> Self:
        """Return itself; `with` closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the room back."""
        if self._file is not None:
            self._file.close()

    def append(self, columns: Floats) -> None:
        """Fill the next columns, (n_rows, n)."""
        begin, self._filled = self._filled, self._filled + columns.shape[1]
        if self._table is not None:
            self._table[:, begin : self._filled] = columns
        elif self._file is not None:
            for number, row in enumerate(np.ascontiguousarray(columns)):
                self._file.seek((number * self.shape[1] + begin) * _SIZE)
                self._file.write(row.data)

    def rows(self, begin: int, end: int) -> Floats:
        """Return some rows, (n, n_columns)."""
        if self._table is not None:
            return self._table[begin:end]
        assert self._file is not None  # noqa: S101 - for the type checker: one of the two is there
        self._file.seek(begin * self.shape[1] * _SIZE)
        size = (end - begin) * self.shape[1]
        data = bytearray(self._file.read(size * _SIZE))
        return np.frombuffer(data, dtype=np.float64).reshape(end - begin, self.shape[1])
