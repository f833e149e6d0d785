"""A sheet: axes, a legend below them, and at the foot what a reader must know, each with room of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import SettingsError
from sedeval_soft.plotting.look import Look
from sedeval_soft.plotting.texts import all_shortened, plain, points_of, told, width, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

POINTS = 72.0
"""Points of an inch."""

_HIGHEST = 100.0
"""Inches of a figure."""

_FEW = 6
"""Entries of a legend that may stand below one another."""

_MARGIN = 0.06
"""Inches left free at the sides of what is written at the foot."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend: what stands for it, and its name as it was read."""

    handle: Any
    name: str
    value: str = ""


@dataclass(slots=True)
class Sheet:
    """A figure on its way: panels are drawn on, entries and notes collected, then it is laid out.

    width: inches. height: inches of what stands above the legend, where the look does not say how high the
    whole is. entries: of the legend. notes: each begins a line at the foot. heading: above the legend.
    """

    look: Look
    width: float
    height: float
    rows: int = 1
    columns: int = 1
    notes: list[str] = field(default_factory=list)
    heading: str = ""
    panel: dict[str, Any] = field(default_factory=dict)

    def laid_out(self, entries: Sequence[Entry] = ()) -> tuple[Figure, list[Axes]]:
        """Return the figure, its legend and notes in place, and its axes, which are to be drawn on."""
        from matplotlib.figure import Figure

        lines = self._note_lines()
        foot = self._line() * len(lines) + _MARGIN if lines else 0.0
        legend, n_columns = self._legend(entries)
        head = 1.6 * self._line(1.15) if self.look.title else 0.0
        whole = self.look.height or self.height + foot + head + self._legend_height(len(legend), n_columns)
        if whole > _HIGHEST:
            raise SettingsError(
                f"the figure would be {whole:.0f} inches high; expected fewer classes (--max-classes), "
                f"systems or worst (--worst), or --height, {_HIGHEST:g} at most"
            )
        figure = Figure(figsize=(self.width, whole), layout="constrained")
        upper = self._upper(figure, whole, foot, lines)
        if self.look.title:
            upper.suptitle("\n".join(wrapped(self.look.title, self._inner(), self._points(1.15))))
        axes = upper.subplots(self.rows, self.columns, squeeze=False, **self.panel)
        if legend:
            upper.legend(
                [entry.handle for entry in entries],
                legend,
                loc="outside lower center",
                ncols=n_columns,
                title=plain(self.heading) or None,
            )
        return figure, list(axes.flat)

    def _upper(self, figure: Figure, whole: float, foot: float, lines: Sequence[str]) -> Figure | SubFigure:
        """Return what is left above the notes, which are written."""
        if not lines:
            return figure
        # Of a figure that is very low, whatever is asked for, something must be seen.
        foot = min(foot, 0.8 * whole)
        both: Any = figure.subfigures(2, 1, height_ratios=[whole - foot, foot])
        upper, lower = both
        lower.text(
            *(_MARGIN / self.width, 1.0), "\n".join(lines), va="top", ha="left", linespacing=1.15,
            fontsize=self._points(), alpha=0.75,
        )  # fmt: skip
        return upper  # type: ignore[no-any-return]  # matplotlib has none for it

    def _note_lines(self) -> list[str]:
        return [line for note in self.notes for line in wrapped(note, self._inner())]

    def _legend(self, entries: Sequence[Entry]) -> tuple[list[str], int]:
        """Return the texts of the legend, and in how many columns they fit."""
        if not entries:
            return [], 1
        size = self._points()
        around = (told("legend.handlelength") + told("legend.handletextpad")) * size
        between = told("legend.columnspacing") * size
        texts = self._texts(entries, self._inner() - around)
        columns = max(1, int((self._inner() + between) // (max(map(width, texts)) + around + between)))
        if columns == 1 and len(entries) > _FEW:
            # Long names of many would make the legend higher than what it explains.
            columns, each = 2, (self._inner() - between) / 2
            texts = self._texts(entries, each - around)
        return texts, min(len(texts), columns)

    def _texts(self, entries: Sequence[Entry], most: float) -> list[str]:
        """Return the texts of entries, each at most so many points wide."""
        values = [f"  {plain(entry.value)}" if entry.value else "" for entry in entries]
        room = most - max(map(width, values))
        names = all_shortened([entry.name for entry in entries], room)
        return [name + value for name, value in zip(names, values, strict=True)]

    def _legend_height(self, n: int, columns: int) -> float:
        if not n:
            return 0.0
        return (math.ceil(n / columns) + (1 if self.heading else 0)) * self._line(1.0) + 0.08

    def _inner(self) -> float:
        """Return how many points there are from side to side."""
        return (self.width - 2 * _MARGIN) * POINTS

    def _points(self, scale: float = 1.0) -> float:
        """Return the size of small letters."""
        return points_of("legend.fontsize") * scale

    def _line(self, scale: float = 1.0) -> float:
        """Return the height of a line of them in inches."""
        return self._points(scale) * 1.3 / POINTS
