"""Random pairs of tables, small enough for the intersection oracle, and the scores of the oracle.

Times are whole units of some ticks. The package gets a table; the oracle gets the events at one level,
merged by plain loops.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import intersection_oracle as oracle
import numpy as np
from oracles import TickRow, in_seconds, merged_events
from tables import long_rows, wide_rows

from sedeval_soft.checks.rows import are_steps
from sedeval_soft.tables import EventTable
from sedeval_soft.timeline.recordings import step_counts

FILES = ("file0", "file1")
LABELS = ("class0", "class1", "class2")

HALF_A_TICK = 0.5
"""Ticks by which an overlap may fall short of a criterion, since times were rounded to ticks."""

FORMS = ("frames", "rows", "marks")
"""Frames of equal length; rows with values that overlap, touch or leave gaps; rows without values."""


@dataclass(frozen=True)
class Side:
    """One table: its rows in ticks, whether touching rows are one event, and the table for the package."""

    rows: list[TickRow]
    merge: bool
    table: EventTable

    def events(self, level: float) -> list[oracle.Event]:
        """Return the events above a level, for the oracle."""
        kept = [row for row in self.rows if row[4] > level and row[2] > row[1]]
        found = merged_events(kept) if self.merge else [row[:4] for row in kept]
        return [(file, label, on, off) for file, on, off, label in found]

    def levels(self) -> list[float]:
        """Return 0 and all values: the events are the same at all levels between two of them."""
        return sorted({0.0, *(row[4] for row in self.rows)})


def frames(rng: np.random.Generator, n_classes: int, unit: int, longest: int = 7) -> Side:
    """Draw a wide table of frames of one to three units in two files."""
    values = _tracks(rng, 2 * int(rng.integers(2, longest + 1)), n_classes)
    length, n = unit * int(rng.integers(1, 4)), len(values) // 2
    return of_frames(values.reshape(2, n, n_classes), length)


def of_frames(values: np.ndarray, length: int) -> Side:
    """Build a wide table from values, (n_files, n_frames, n_classes), in frames of some ticks."""
    n_files, n, n_classes = values.shape
    rows = [
        (FILES[f], s * length, (s + 1) * length, LABELS[c], float(values[f, s, c]))
        for f, s, c in np.ndindex(values.shape)
    ]
    return Side(rows, True, wide_rows(values.reshape(n_files * n, n_classes), length * 1e-6, files=n_files))


def rows(rng: np.random.Generator, n_classes: int, unit: int, *, merge: bool, valued: bool) -> Side:
    """Draw a long table of up to nine rows for each file; some have no duration."""
    made: list[TickRow] = []
    steps = int(rng.integers(1, 6))
    for file in FILES:
        for _ in range(int(rng.integers(0, 10))):
            onset = int(rng.integers(0, 12))
            offset = onset + int(rng.integers(0, 7))
            value = int(rng.integers(0, steps + 1)) / steps if valued else 1.0
            made.append((file, onset * unit, offset * unit, LABELS[rng.integers(n_classes)], value))
    seconds = in_seconds(made)
    return Side(made, merge, long_rows(seconds if valued else [row[:4] for row in seconds], files=FILES))


def side(rng: np.random.Generator, form: str, events: str, n_classes: int, unit: int) -> Side:
    """Draw a side of one of the FORMS, joined according to the setting `events`."""
    if form == "frames":
        made = frames(rng, n_classes, unit)
        return made if events != "rows" else Side(made.rows, False, made.table)
    made = rows(rng, n_classes, unit, merge=events == "merge", valued=form == "rows")
    # test_time_steps has an oracle for whether rows are time steps.
    steps = events == "auto" and form == "rows" and are_steps(step_counts(made.table))
    return Side(made.rows, True, made.table) if steps else made


def _tracks(rng: np.random.Generator, n: int, n_classes: int) -> np.ndarray:
    """Draw values over time: tied, distinct, nested, wandering, with gaps, or 0 and 1."""
    shape = (n, n_classes)
    hill = np.minimum(np.arange(n), np.arange(n)[::-1])[:, None] / n
    kinds = (
        rng.integers(0, 5, shape) / 4,
        rng.random(shape),
        np.round(hill * rng.uniform(0.5, 2, n_classes) + rng.integers(0, 2, shape) / 8, 2),
        np.round(np.cumsum(rng.normal(0, 0.1, shape), axis=0) % 1, 2),
        rng.integers(1, 4, shape) / 3 * (rng.random(shape) < 0.6),
        (rng.random(shape) < 0.5) * 1.0,
    )
    return kinds[rng.integers(len(kinds))]


def criteria(rng: np.random.Generator) -> dict[str, float]:
    """Draw shares of overlap; 0.334 of 3 units is a tie only within half a tick."""
    shares = (0.1, 0.3, 0.334, 0.5, 0.7, 1.0)
    return {name: float(rng.choice(shares)) for name in ("dtc", "gtc", "cttc")}


def counts(
    system: Sequence[oracle.Event], reference: Sequence[oracle.Event], labels: Sequence[str], **shares: float
) -> oracle.Counts:
    """Return the oracle's counts, with the slack of the package."""
    return oracle.count(system, reference, labels, slack=HALF_A_TICK, **shares)


def n_ref(reference: Iterable[oracle.Event], label: str) -> int:
    """Return the number of reference events of a class."""
    return sum(event[1] == label for event in reference)


def table_of(score: Any, prefix: str, name: str, labels: Sequence[str]) -> list[float | None]:
    """Return one score for each class."""
    return [score[f"{prefix}.{name}[{label}]"] for label in labels]
