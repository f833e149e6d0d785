"""Many sorted arrays as one, block by block of values.

To bring what several sorted arrays hold into one order, their values are parted at some levels. What lies
between two levels is a slice of each array, small enough to be worked on in the processor's cache; blocks
are independent of one another. Equal values are never parted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.order import in_order, middle_ranks

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_BLOCK = 1 << 15
"""Values that a block should have."""

_PROBES = 8
"""Values looked at for each block that an array may have, to find levels."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Ascending arrays cut at common levels.

    parts: the arrays, at least one. edges: (n_parts, n_blocks + 1) positions; block b is what lies between
    `edges[:, b]` and `edges[:, b + 1]`. size: (n_blocks,) values in each.
    before: (n_blocks + 1,) values before each, and in all.
    """

    parts: Sequence[Floats]
    edges: Index
    size: Index
    before: Index

    @classmethod
    def of(cls, parts: Sequence[Floats]) -> Blocks:
        """Cut ascending arrays with values in [0, 1] into blocks of about equal size."""
        levels = _levels(parts)
        inner = [np.searchsorted(part, levels, side="left") for part in parts]
        edges = np.zeros((len(parts), len(levels) + 2), dtype=np.int64)
        for row, cuts, part in zip(edges, inner, parts, strict=True):
            row[1:-1], row[-1] = cuts, len(part)
        before = edges.sum(axis=0)
        return cls(parts, edges, np.diff(before), before)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.size)

    def slices(self, block: int) -> list[slice]:
        """Return where a block lies in each part."""
        return [slice(int(row[block]), int(row[block + 1])) for row in self.edges]

    def ordered(self, block: int) -> tuple[Floats, Index | None]:
        """Return the values of a block in order, and their places in the slices one after another.

        The places are None where the slices are in order as they are.
        """
        found = self._values(block)
        if not found:
            return np.zeros(0), None
        joined = np.concatenate(found) if len(found) > 1 else found[0]
        if len(found) == 1 or self.level(block) is not None:
            return joined, None
        return in_order(joined)

    def level(self, block: int) -> float | None:
        """Return the value that all of a block have; None where they differ, or there are none."""
        ends = {float(value) for values in self._values(block) for value in (values[0], values[-1])}
        return ends.pop() if len(ends) == 1 else None

    def _values(self, block: int) -> list[Floats]:
        found = [part[own] for part, own in zip(self.parts, self.slices(block), strict=True)]
        return [values for values in found if len(values)]

    def sums(self, part: int, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sums of weights of a part in each block, (n_blocks,); int64 if they are no floats."""
        kind = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
        total, edges = np.zeros(len(self), dtype=kind), self.edges[part]
        full = np.flatnonzero(np.diff(edges))
        if len(full):
            total[full] = np.add.reduceat(weights, edges[full], dtype=kind)
        return total

    def rank(self, block: int) -> list[Floats]:
        """Return the ranks of a block's values among all, for each part; ties have their mean."""
        below = int(self.before[block])
        lengths = [own.stop - own.start for own in self.slices(block)]
        if self.level(block) is not None:
            # One value may fill a block beyond all bounds: silence.
            rank = np.full(1, below + (int(self.size[block]) + 1) / 2)
            return [np.broadcast_to(rank, length) for length in lengths]
        values, order = self.ordered(block)
        ranks = middle_ranks(values) + below
        if order is not None:
            placed = np.empty(len(ranks))
            placed[order] = ranks
            ranks = placed
        return np.split(ranks, np.cumsum(lengths)[:-1])


def _levels(parts: Sequence[Floats]) -> Floats:
    """Return ascending levels that part all values into blocks; a value that fills some is one by itself."""
    total = sum(map(len, parts))
    n_blocks = max(1, total // _BLOCK)
    step = max(1, total // (n_blocks * _PROBES))
    # Probes of different arrays at different places: alike arrays would have theirs at the same values.
    probes = [part[step * i // len(parts) :: step] for i, part in enumerate(parts)]
    levels = np.sort(np.concatenate(probes))[_PROBES::_PROBES]
    many = levels[1:][levels[1:] == levels[:-1]]
    return np.unique(np.concatenate((levels, np.nextafter(many, 2.0))))
