"""Columns of mostly nothing: what few of many classes have in each of many files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.timeline.ranges import expand

Array = npt.NDArray[Any]
Index = npt.NDArray[np.int64]

_ENTRY = 16
"""Bytes of an entry: its number, its file and its class."""

_CLASSES = 16
"""Classes from which entries may pay. Of one class alone numpy would add the numbers in another order."""


@dataclass(frozen=True, slots=True)
class SparseColumn:
    """Numbers by file and class, (n_files, n_classes), of which only those other than 0 are kept.

    file, label, value: (n_entries,) in the order of files.
    """

    shape: tuple[int, int]
    file: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    value: Array

    @classmethod
    def of(cls, column: Array) -> SparseColumn:
        """Return the entries of a column, (n_files, n_classes)."""
        file, label = np.nonzero(column)
        n_files, n_classes = column.shape
        codes = file.astype(np.int32), label.astype(np.int32)
        return cls((n_files, n_classes), *codes, column[file, label])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.value.dtype

    @property
    def nbytes(self) -> int:
        """The bytes that the entries take."""
        return self.file.nbytes + self.label.nbytes + self.value.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: ANN401
        """Return all numbers, (n_files, n_classes)."""
        full = np.zeros(self.shape, dtype=self.dtype)
        full[self.file, self.label] = self.value
        return full if dtype is None else full.astype(dtype)

    def total(self) -> Array:
        """Return the sum over files, (n_classes,): numbers are added in the order of files, as numpy does."""
        total = np.zeros(self.shape[1], dtype=self.dtype)
        np.add.at(total, self.label, self.value)
        return total

    def take(self, index: Index) -> SparseColumn:
        """Return the numbers of some files, (n,) positions, which may occur more than once."""
        start = np.searchsorted(self.file, np.arange(self.shape[0] + 1))
        owner, at = expand(start[index], start[index + 1])
        return SparseColumn(
            (len(index), self.shape[1]), owner.astype(np.int32), self.label[at], self.value[at]
        )

    def with_classes(self, code: Index, n_classes: int) -> SparseColumn:
        """Return the column among other classes; code: (n_classes,) the new number of each class."""
        label = code[self.label].astype(np.int32)
        return SparseColumn((self.shape[0], n_classes), self.file, label, self.value)

    @staticmethod
    def stack(columns: Sequence[SparseColumn]) -> SparseColumn:
        """Return the numbers of the files of all columns, one after another."""
        n_files = [column.shape[0] for column in columns]
        begin = np.cumsum(n_files) - n_files
        return SparseColumn(
            (sum(n_files), columns[0].shape[1]),
            np.concatenate([column.file + np.int32(at) for column, at in zip(columns, begin, strict=True)]),
            np.concatenate([column.label for column in columns]),
            np.concatenate([column.value for column in columns]),
        )


def entries_of(column: Array | SparseColumn) -> SparseColumn:
    """Return a column as its entries."""
    return column if isinstance(column, SparseColumn) else SparseColumn.of(column)


def slim(column: Array | SparseColumn) -> Array | SparseColumn:
    """Return a column as its entries, where these take less than half the memory."""
    if isinstance(column, SparseColumn) or column.shape[1] < _CLASSES:
        return column
    if 2 * _ENTRY * np.count_nonzero(column) >= column.nbytes:
        return column
    return SparseColumn.of(column)
