"""Statistics of the rows of a table: counts of the checks' findings, and warnings that the table is misread.

Statistics of batches of whole recordings merge into the statistics of all files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sedeval_soft.arrays import Floats
from sedeval_soft.checks.rows import CHECKS, STEPS, TICK, Side
from sedeval_soft.tables.problem_codes import RULES

_MINUTE, _DAY = 60, 86_400.0  # seconds

# Powers of ten: a factor by which the ends of recordings must differ for units that differ (20 times); how
# far they are followed, and how many parts a power is counted in.
_FACTOR, _FARTHEST, _DIGITS = 1.3, 20, 1000
# Seconds: where all times are whole, some are as late, and half of the rows as long, they are frames.
_LONG, _TYPICAL = 1000.0, 50.0
# Share of a recording by which a row that begins in it may end after it, in a table that was read right: a
# frame of a system, a slip of an annotator, lengths that were rounded.
_OVERHANG = 0.05
FEW_ROWS = 10  # fewer rows may all stand at the beginning of their only recording
_MOST = 2**53  # above all counts and times
_NAMED = 3  # tables that a message names

_NOT_BY_SHARE = ("time-unit", "after-end", "touching-rows")
"""Checks that more is known of than how many rows they find."""


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """Statistics of the rows of one side, or of some of its recordings, that show how the rows were read.

    names: Names of the tables. rows, files: Number of rows, and of files with a row. multiple: 60 if all
    times are whole minutes, 1 if they are whole numbers, else 0. lasting: Rows as long as counts of frames or
    milliseconds, if times are whole. compared: Number of recordings whose end is compared with their expected
    length. powers, highest: Sum and maximum of 1000 log10 of the ratios, each rounded. exact: Number of those
    with a duration. last: The latest offset. late: Number of
    rows that end well after their recording of known length. counts: Number of rows, or recordings, that each
    check finds.
    """

    names: tuple[str, ...] = ()
    rows: int = 0
    files: int = 0
    multiple: int = _MINUTE
    lasting: int = 0
    compared: int = 0
    powers: int = 0
    highest: int = -_MOST
    exact: int = 0
    last: float = 0.0
    late: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, side: Side) -> RowStatistics:
        """Return the statistics of some recordings, all rows of each."""
        rows, lengths, last = side.rows, side.expected, side.last
        names = (rows.origin.name,)
        if not len(rows):
            return cls(names)
        compared = (lengths > 0) & (last > 0)
        ratios = np.log10(last[compared]) - np.log10(lengths[compared])
        powers = np.rint(_DIGITS * np.clip(ratios, -_FARTHEST, _FARTHEST)).astype(np.int64)
        multiple = _multiple(rows.onset, rows.offset)
        counts = {
            code: len(check.find(side).rows)
            for code, check in CHECKS.items()
            if code != "time-unit" and side.kind in check.kinds
        }
        return cls(
            names,
            len(rows),
            int(np.count_nonzero(last > 0)),
            multiple,
            int(np.count_nonzero(rows.offset - rows.onset >= _TYPICAL)) if multiple else 0,
            len(powers),
            int(powers.sum()),
            int(powers.max(initial=-_MOST)),
            int(np.count_nonzero(np.isfinite(side.whole[compared]))),
            float(last.max()),
            _well_after(side),
            # In order, and without zeros, like the sums of parts.
            {code: n for code, n in sorted(counts.items()) if n},
        )

    @staticmethod
    def merge(parts: Sequence[RowStatistics]) -> RowStatistics:
        """Return the statistics of all recordings of some parts, at least one, whatever their order."""
        columns = {name: [getattr(part, name) for part in parts] for name in RowStatistics.__slots__}
        return RowStatistics(**{name: _MERGED.get(name, sum)(column) for name, column in columns.items()})

    @property
    def possible(self) -> bool:
        """Whether statistics read from a file could be those of a table."""
        numbers = self.rows, self.files, self.lasting, self.compared, self.exact, self.last, self.late
        sound = all(0 <= number <= _MOST for number in (*numbers, *self.counts.values()))
        return sound and abs(self.powers) <= _FARTHEST * _DIGITS * self.compared

    def called(self, role: str) -> str:
        """Return the names of the tables, the first few if there are many; the role without names."""
        names = self.names or (f"the {role}",)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def unit(self) -> dict[str, Any]:
        """Return the facts of the message that times are not in seconds; nothing if they seem to be."""
        known, unit = 0 < self.compared == self.exact, ""
        # Ratios of all recordings alike are the ratio of two units: their geometric mean.
        mean = self.powers / self.compared / _DIGITS if self.compared else 0.0
        if mean >= _FACTOR:
            unit = (
                f"recordings end {float(f'{10**mean:.3g}'):,g} times as late as in the reference "
                "or the durations: these times could be milliseconds, frames or samples, or those minutes"
            )
        elif (
            self.compared
            and self.highest <= -_FACTOR * _DIGITS
            and (self.compared > 1 or self.rows >= FEW_ROWS)
        ):
            unit = (
                f"recordings end at {10**mean:.2g} of the times in the reference or the durations: these "
                "times could be minutes, or those milliseconds or frames"
            )
        is_of_minutes = self.multiple == _MINUTE and self.last <= _DAY
        is_long = 2 * self.lasting > self.rows and self.last >= _LONG
        if not unit and self.multiple and is_long and not (known or is_of_minutes):
            unit = (
                f"all times are whole numbers, and most rows have {_TYPICAL:g} of them or more: these could "
                "be milliseconds or frames"
            )
        return {"unit": unit, "offset": self.last} if unit else {}

    def doubts(self, role: str) -> Iterator[str]:
        """Yield a line for each reason to think that a table is misread; role: the side of the table."""
        unit = self.unit()
        for code, check in CHECKS.items():
            n, total = self.counts.get(code, 0), self.files if check.noun == "recording" else self.rows
            by_share = code not in _NOT_BY_SHARE and n and n >= (RULES[code].misread or 0) * total
            if by_share or (code == "time-unit" and unit):
                yield f"{self.called(role)}: {check.message(n, total, unit)} ({code})"


def _multiple(*times: Floats) -> int:
    """Return 60 if all times are whole minutes, 1 if they are whole numbers, else 0."""
    if not all(np.array_equal(column, np.floor(column)) for column in times):
        return 0
    return 1 if any(np.any(column % _MINUTE) for column in times) else _MINUTE


def _well_after(side: Side) -> int:
    """Return how many rows begin after the end of their recording, or end by a share of it later.

    Frames of a window go on after the end of what they were made of.
    """
    rows, at = side.rows, np.flatnonzero(side.late)[: 0 if side.kind == STEPS else None]
    end = side.whole[rows.file[at]]
    return int(
        np.count_nonzero((rows.onset[at] >= end - TICK / 2) | (rows.offset[at] > (1 + _OVERHANG) * end))
    )


_MERGED: Mapping[str, Callable[[list[Any]], Any]] = {
    "names": lambda parts: tuple(sorted({name for names in parts for name in names})),
    "multiple": min,
    "highest": max,
    "last": max,
    "counts": lambda parts: dict(sorted(sum(map(Counter, parts), Counter()).items())),
}
"""Functions that merge statistics of parts; fields not listed are added up."""
