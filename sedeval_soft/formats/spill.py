"""Arrays on the disk that memory has no room for; mapped back as a whole or in part, never changed.

They are written and read by one run, on one machine: plain numbers one after another, not files of any form.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.formats.buckets import on_disk

_NUMBER = itertools.count()
"""Numbers of files, no two of a process the same."""

Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Spilled:
    """Named arrays in one file: of each its type, its shape and where it begins."""

    path: Path
    arrays: Mapping[str, tuple[str, tuple[int, ...], int]]

    @classmethod
    def write(cls, folder: Path, kind: str, arrays: Mapping[str, Column]) -> Spilled:
        """Write arrays to a file of their own in a folder; kind: how its name begins. Raises FullError."""
        path = folder / f"{kind}.{os.getpid()}.{next(_NUMBER)}"
        places: dict[str, tuple[str, tuple[int, ...], int]] = {}
        with on_disk(folder), path.open("xb") as file:
            for name, array in arrays.items():
                # Each number lies where its size divides its place, as processors read it best.
                file.write(bytes(-file.tell() % 8))
                places[name] = (array.dtype.str, array.shape, file.tell())
                file.write(np.ascontiguousarray(array).data)
        return cls(path, places)

    def __getitem__(self, name: str) -> Column:
        """Return an array, which the system reads as it is looked at, and forgets where it has no room."""
        return self.part(name, 0, None)

    def part(self, name: str, begin: int, end: int | None) -> Column:
        """Return an array from one place of its first axis to another (None: to its end)."""
        kind, shape, offset = self.arrays[name]
        end = shape[0] if end is None else end
        kept = (end - begin, *shape[1:])
        dtype = np.dtype(kind)
        if not np.prod(kept):
            return np.zeros(kept, dtype=dtype)
        row = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
        mapped = np.memmap(self.path, dtype=dtype, mode="r", offset=offset + begin * row, shape=kept)
        return mapped.view(np.ndarray)

    def remove(self) -> None:
        """Remove the file: nothing will be asked for any more."""
        self.path.unlink()

    @property
    def nbytes(self) -> int:
        """Return the bytes of all arrays."""
        return sum(
            int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
            for kind, shape, _ in self.arrays.values()
        )
