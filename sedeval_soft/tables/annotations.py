"""Rows that are found one by one, each checked where it stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sedeval_soft.core.intake import Limits
from sedeval_soft.errors import MAX_PROBLEMS, InputError, Problem, counted
from sedeval_soft.tables.assemble import ROUNDING, Columns, Named
from sedeval_soft.tables.columns import BLANKS, NUMBER
from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
from sedeval_soft.tables.source import Source


@dataclass(slots=True)
class Events:
    """Events of annotations as they are found, and what is wrong with them.

    source: where they come from. limits: the most that is taken in. value: None for an event without one.
    """

    source: Source
    limits: Limits
    problems: list[Problem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)

    def wrong(self, line: int | None, message: str, column: int | None = None, code: str = "invalid") -> None:
        """Note a problem; raises InputError where there are too many to go on."""
        self.problems.append(Problem(self.source.name, message, line, column, code=code))
        if len(self.problems) > MAX_PROBLEMS:
            raise InputError(self.problems[:MAX_PROBLEMS], more=True)

    def add(
        self, line: int | None, file: str, label: str, times: tuple[float, float], value: float | None = None
    ) -> None:
        """Enter an event, or what is wrong with it."""
        onset, offset = times
        why = _wrong(label, (onset, offset), value, self.limits)
        if why:
            self.wrong(line, why)
            return
        self.files.append(file)
        self.labels.append(label)
        self.times.append(times)
        self.values.append(value)
        if len(self.times) > self.limits.rows:
            self.limits.check(self.source.name, "rows", len(self.times), "rows")

    def rows(self, form: str, notes: Sequence[str] = (), ignored: Sequence[str] = ()) -> EventTable:
        """Return all events as rows; raises InputError with what is wrong with any."""
        if self.problems:
            raise InputError(self.problems)
        table = np.array(self.times, dtype=np.float64).reshape(-1, 2)
        valued = any(value is not None for value in self.values)
        filled = sum(value is None for value in self.values) if valued else 0
        if filled:
            notes = (*notes, f"{counted(filled, 'event')} without a value count{'s' * (filled == 1)} 1.0")
        origin = Origin(self.source.name, self.source.sha256, form, tuple(ignored), tuple(notes))
        named = any(self.files) or bool(self.declared)
        rows = Columns(
            Named.of_texts(self.files) if named else None,
            Named.of_texts(self.labels),
            np.ascontiguousarray(table[:, 0]),
            np.ascontiguousarray(table[:, 1]),
            np.array([1.0 if value is None else value for value in self.values]) if valued else None,
            (),
            [name for name in self.declared if name != UNNAMED],
        ).rows(origin, self.limits)
        if rows is None:
            raise InputError(
                Problem(self.source.name, "holds an empty name, or a NUL in one; expected names")
            )
        return rows


def number(text: str) -> float:
    """Return what a field says; NaN where it is no number."""
    stripped = text.strip(BLANKS)
    return float(stripped) if NUMBER.fullmatch(stripped) else math.nan


def _wrong(label: str, times: tuple[float, float], value: float | None, limits: Limits) -> str:
    """Return what is wrong with an event, nothing where nothing is."""
    for what, seconds in zip(("onset", "offset"), times, strict=True):
        if not 0 <= seconds <= limits.duration:
            long = f", which {limits.too_long()}" if seconds > limits.duration else ""
            return f"{what} is {seconds:.15g}{long}; expected a number of seconds, 0 or more"
    onset, offset = times
    if offset < onset:
        return f"offset {offset:.15g} is before onset {onset:.15g}; expected onset <= offset"
    if not label.strip() or "\0" in label:
        return f"the label {'holds a NUL' if label.strip() else 'is empty'}; expected a name"
    if value is not None and not -ROUNDING <= value <= 1 + ROUNDING:
        hint = " (percent? divide by 100)" if 1 < value <= 100 else ""
        return f"the value {value:.15g} is outside [0, 1]{hint}; expected a number in [0, 1]"
    return ""
