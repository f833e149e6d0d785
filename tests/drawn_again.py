"""Draws files of tables again, as the bootstrap does, in the slow and obvious way.

If a file is drawn twice, the new tables have its rows twice, under two names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tables import long_rows
from tables import random_table as table_of

from sedeval_soft.api import evaluate_rows
from sedeval_soft.evaluation import Score, Scores, tally_pair
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.tables import EventTable
from sedeval_soft.timeline import align

FILES = tuple("abcde")
LABELS = ("car", "dog", "rain")


@dataclass(frozen=True)
class Tables:
    """A reference, a system, and the lengths of files that last longer than their rows, or have none."""

    reference: EventTable
    system: EventTable
    durations: Mapping[str, float] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Return all files, in the order of a tally."""
        return tuple(sorted({*self.reference.files, *self.system.files, *(self.durations or {})}))

    def tally(self, settings: Settings) -> Tally:
        """Return the statistics of the tables."""
        return tally_pair(align(self.reference, self.system, settings, self.durations))

    def scores(self, settings: Settings) -> Scores:
        """Score the tables, without intervals."""
        return evaluate_rows(self.reference, self.system, replace(settings, ci=None), self.durations)

    def drawn(self, weights: Sequence[float]) -> Tables:
        """Return tables that repeat each file as often as its weight."""
        pairs = zip(self.files, weights, strict=True)
        copies = [(file, f"{file}#{copy}") for file, weight in pairs for copy in range(int(weight))]
        lengths = self.durations and {
            new: self.durations[old] for old, new in copies if old in self.durations
        }
        return Tables(*(_copied(side, copies) for side in (self.reference, self.system)), lengths)


def _copied(rows: EventTable, copies: Sequence[tuple[str, str]]) -> EventTable:
    """Return the rows of some files under new names; files without rows stay declared."""
    known = [(rows.files.index(old), new) for old, new in copies if old in rows.files]
    drawn = [(copy, at) for copy, (code, _) in enumerate(known) for at in np.flatnonzero(rows.file == code)]
    file, at = np.array(drawn, dtype=np.int64).reshape(-1, 2).T
    return replace(rows.take(at), files=tuple(new for _, new in known), file=file.astype(np.int32))


def random_table(rng: np.random.Generator, **how: Any) -> EventTable:
    """Call `tables.random_table`, by default with our files and classes."""
    return table_of(rng, **{"files": FILES, "labels": LABELS, **how})


def random_tables(seed: int, form: str = "tied", n: int = 40) -> Tables:
    """Build two tables; a class may be in none of the files."""
    rng = np.random.default_rng(seed)
    return Tables(*(random_table(rng, n=n, form=form) for _ in range(2)))


def sparse_tables(seed: int) -> Tables:
    """Build tables in which each class is in one to three files, and two files are empty."""
    rng, of = np.random.default_rng(seed), {"car": FILES[:3], "dog": FILES[1:3], "rain": FILES[:1]}
    sides = ([random_table(rng, files=of[label], labels=[label], n=8) for label in of] for _ in range(2))
    rows = (long_rows([row for part in parts for row in tuples(part)], files=FILES) for parts in sides)
    return Tables(*rows, durations={file: 12.5 + code for code, file in enumerate(FILES)})


def key_of(score: Score) -> ScoreName:
    """Return the name of a score, in parts."""
    return ScoreName(score.basis, score.reading, score.measure, score.average, score.class_name)


def as_floats(scores: Mapping[str, float | int | None] | Scores, names: Sequence[str]) -> np.ndarray:
    """Return values by name as an array, NaN where undefined."""
    return np.array([np.nan if scores[name] is None else scores[name] for name in names], dtype=np.float64)


def same_numbers(
    ours: np.ndarray, theirs: np.ndarray, names: Sequence[str], tolerance: float = 1e-12
) -> None:
    """Require two arrays, one row for each name, to be equal up to rounding and undefined in the same cells.

    Inside the package, -inf marks a value that is undefined because of the reference alone.
    """
    assert ours.shape == theirs.shape and len(ours) == len(names)
    ours = np.where(np.isneginf(ours), np.nan, ours)
    undefined = np.isnan(ours) != np.isnan(theirs)
    far = undefined | (np.abs(ours - theirs) > tolerance * np.maximum(1.0, np.abs(theirs)))
    assert not far.any(), [
        (names[at[0]], at[1:], ours[tuple(at)], theirs[tuple(at)]) for at in np.argwhere(far)
    ]


# Exchange of files between systems in the slow and obvious way: rows of one table go to the other.


def tuples(rows):
    columns = zip(rows.file, rows.onset, rows.offset, rows.label, rows.value, strict=True)
    return [(rows.files[f], float(on), float(off), rows.classes[c], float(v)) for f, on, off, c, v in columns]


def exchanged(one, other, files):
    """Return two systems after exchanging some files, including files that one of them lacks."""
    first, second = tuples(one), tuples(other)
    kept, moved = ([row for row in side if row[0] not in files] for side in (first, second))
    names = [
        tuple(f for f in a.files if f not in files) + tuple(f for f in b.files if f in files)
        for a, b in ((one, other), (other, one))
    ]
    return (
        long_rows([*kept, *(row for row in second if row[0] in files)], files=names[0]),
        long_rows([*moved, *(row for row in first if row[0] in files)], files=names[1]),
    )


def value_of(reference, system, settings, name):
    value = evaluate_rows(reference, system, settings)[name]
    return np.nan if value is None else value


def differences_by_hand(reference, systems, settings, name, rows, files):
    found = []
    for row in rows:
        moved = {file for file, taken in zip(files, row, strict=True) if taken}
        one, other = (value_of(reference, side, settings, name) for side in exchanged(*systems, moved))
        found.append(one - other)
    return np.array(found)
