"""What is counted of a batch at each level of each class, on the disk; the best thresholds of all batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.room import room
from sedeval_soft.core.tally import Tally
from sedeval_soft.evaluation.optimal import threshold_counts
from sedeval_soft.formats.spill import Spilled
from sedeval_soft.measures.descent import Run, Stretch, descend
from sedeval_soft.measures.peak import Peak
from sedeval_soft.measures.threshold_counts import ThresholdCounts
from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

BYTES_PER_LEVEL = 200
"""Memory that a level of a batch takes while all batches' are put together: its counts, and their order."""

_SHARE = 4
"""Which part of memory is taken for that."""


class Entries(NamedTuple):
    """The levels of a batch: classes in ascending order, the levels of each, and what changes there.

    label, level: (n,). changes: (n_counts, n). n_ref: (n_classes,).
    """

    label: Index
    level: Floats
    changes: Index
    n_ref: Index


def _summed(parts: Sequence[Entries]) -> Entries:
    label, level = (np.concatenate([getattr(part, name) for part in parts]) for name in ("label", "level"))
    order = np.lexsort((level, label))
    label, level = label[order], level[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (label[1:] != label[:-1]) | (level[1:] != level[:-1])
    first = np.flatnonzero(new)
    total = np.zeros((len(parts[0].changes), len(order) + 1), dtype=np.int64)
    np.cumsum(np.concatenate([part.changes for part in parts], axis=1)[:, order], axis=1, out=total[:, 1:])
    changes = np.diff(total[:, np.append(first, len(order))], axis=1)
    return Entries(label[first], level[first], changes, np.sum([part.n_ref for part in parts], axis=0))


@dataclass(frozen=True, slots=True)
class Levels:
    """The distinct levels of each class in some files, ascending, and what changes at each, on the disk.

    A change is by how much a count grows from above a level to below it. bounds: (n_classes + 1,) where the
    levels of each class begin. n_counts: how many counts there are. n_ref: (n_classes,).
    """

    spilled: Spilled
    bounds: Index
    n_counts: int
    n_ref: Index

    @classmethod
    def write(cls, folder: Path, parts: Sequence[Entries]) -> Levels:
        """Write the levels of some batches as one to a file of a folder; raises FullError."""
        label, level, changes, n_ref = parts[0] if len(parts) == 1 else _summed(parts)
        columns = {f"count {k}": row for k, row in enumerate(changes)}
        spilled = Spilled.write(folder, "levels", {"level": level, **columns})
        return cls(spilled, np.searchsorted(label, np.arange(len(n_ref) + 1)), len(changes), n_ref)

    def run(self, first: int, last: int) -> Stored:
        """Return the levels of some classes, one class after another."""
        return Stored(self.spilled, int(self.bounds[first]), int(self.bounds[last]), self.n_counts)


@dataclass(frozen=True, slots=True)
class Stored:
    """Levels on the disk."""

    spilled: Spilled
    first: int
    last: int
    n_counts: int

    def __len__(self) -> int:
        """Return how many there are."""
        return self.last - self.first

    def levels(self, begin: int, end: int) -> Floats:
        """Return the levels of a stretch."""
        return self.spilled.part("level", self.first + begin, self.first + end)

    def changes(self, begin: int, end: int) -> Index:
        """Return the changes of a stretch, (n_counts, n)."""
        place = self.first + begin, self.first + end
        return np.array([self.spilled.part(f"count {k}", *place) for k in range(self.n_counts)])


class Held(NamedTuple):
    """Levels in memory, and their changes."""

    level: Floats
    change: Index

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.level)

    def levels(self, begin: int, end: int) -> Floats:
        """Return the levels of a stretch."""
        return self.level[begin:end]

    def changes(self, begin: int, end: int) -> Index:
        """Return the changes of a stretch, (n_counts, n)."""
        return self.change[:, begin:end]


def entries_of(tally: Tally, basis: str, settings: Settings, *, apart: bool) -> Entries:
    """Return TP and FP of a basis at all levels; apart: as for `found_when`."""
    return of_table(threshold_counts(tally, basis, settings, apart))


def of_table(table: ThresholdCounts) -> Entries:
    """Return the counts of a table, FP in place of N_sys, as levels."""
    label = np.repeat(np.arange(len(table.n_ref)), np.diff(table.bounds))
    tp, n_sys = table.changes
    return Entries(label, table.level, np.stack((tp, n_sys - tp)), table.n_ref)


def shares(levels: Sequence[Levels], most: int) -> list[tuple[int, int]]:
    """Return ranges of classes whose levels are held together: at most so many, or one class alone."""
    if not levels:
        return []
    size = np.sum([np.diff(of.bounds) for of in levels], axis=0).tolist()
    found, first, held = [], 0, 0
    for c, own in enumerate(size):
        if c > first and held + own > most:
            found.append((first, c))
            first, held = c, 0
        held += own
    return [*found, (first, len(size))] if size else []


def entries() -> int:
    """Return how many levels of batches may be held at a time."""
    return max(1, room() // _SHARE // BYTES_PER_LEVEL)


def runs_of(levels: Sequence[Levels], first: int, last: int, most: int) -> Iterator[list[Run]]:
    """Yield the runs of each of some classes: held in memory, where they may be."""
    stored = [of.run(first, last) for of in levels]
    if last - first == 1 and sum(map(len, stored)) > most:
        yield list(stored)
        return
    whole = [Held(run.levels(0, len(run)), run.changes(0, len(run))) for run in stored]
    for c in range(first, last):
        yield [
            Held(run.level[slice(*own)], run.change[:, slice(*own)])
            for run, of in zip(whole, levels, strict=True)
            for own in [(of.bounds[c : c + 2] - of.bounds[first]).tolist()]
        ]


class Best(NamedTuple):
    """The best thresholds of some classes, (n_classes,) each.

    threshold: that of the best F. errors_at: that of the fewest errors, and what is counted there: tp, n_sys.
    """

    threshold: Floats
    errors_at: Floats
    tp: Index
    n_sys: Index

    @classmethod
    def joined(cls, parts: Sequence[Best]) -> Best:
        """Return the classes of all parts, in order."""
        if not parts:
            none = np.zeros(0, dtype=np.int64)
            return cls(np.zeros(0), np.zeros(0), none, none)
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def best_of(levels: Sequence[Levels], first: int, last: int, settings: Settings, *, errors: bool) -> Best:
    """Return the best thresholds of some classes; errors: whether those of the fewest errors, too."""
    most = entries()
    threshold, errors_at = np.full((2, last - first), np.inf)
    tp, n_sys = np.zeros((2, last - first), dtype=np.int64)
    n_ref = np.sum([of.n_ref[first:last] for of in levels], axis=0).tolist()
    for k, runs in enumerate(runs_of(levels, first, last, most)):
        if not n_ref[k]:
            continue
        for peak in (Peak.of_f(n_ref[k], settings.beta), Peak.of_errors(n_ref[k]))[: 1 + errors]:
            descend(Stretch.whole(runs, 2), peak, most)
            at = peak.threshold(runs, inclusive=settings.inclusive)
            if peak.slack:
                threshold[k] = at
            else:
                errors_at[k], tp[k], n_sys[k] = at, peak.counts[0], peak.counts.sum()
    return Best(threshold, errors_at, tp, n_sys)
