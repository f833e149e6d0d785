"""Scores in figures: rows of dots with intervals, and cells as dark as their values.

Rows: bases or systems, classes, kinds of errors. Cells: which class is taken for which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from sedeval_soft import Board
from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.registry import MATRIX_BASES
from sedeval_soft.apps.plots.run import READINGS, Dot, System, Systems, class_scores, matrix_score
from sedeval_soft.arrays import Floats
from sedeval_soft.plan import Plan

COUNTS = "Blues"
"""Most shares are near 0, which is white: ink and eye are spared."""

_MOST_CELLS = 30  # classes of which there are cells if the call does not say how many
_NUMBERED = 14  # classes up to which there is room for numbers in the cells of a page's width
_MOST_ROWS = 40  # classes of which there are rows
_NAMES = 0.42  # share of the width that names may take


class Series(NamedTuple):
    """Dots of one kind: their name in the legend, their look, and one for each row."""

    name: str
    stroke: dict[str, Any]
    dots: Sequence[Dot]

    @property
    def entry(self) -> layout.Entry:
        """Return the line of the legend."""
        return layout.Entry(Line2D([], [], **self.stroke | {"linestyle": "none"}), self.name)


def height_of(rows: float, series: Sequence[Series]) -> float:
    """Return the inches that so many rows take, with room for intervals below one another."""
    have_ends = any(dot.low is not None for each in series for dot in each.dots)
    return 0.5 + rows * max(0.16, (0.065 if have_ends else 0.03) * len(series) + 0.05)


def draw_rows(axes: Axes, places: Floats, series: Sequence[Series]) -> None:
    """Draw dots and their intervals from the top down, the dots of a row a little below one another."""
    step = 0.7 / max(len(series), 2)
    for k, (_, stroke, dots) in enumerate(series):
        style = stroke | {"linestyle": "none", "markersize": 3, "clip_on": False, "zorder": 3}
        at = places + (k - (len(series) - 1) / 2) * step
        for place, dot in zip(at, dots, strict=True):
            if dot.low is not None and dot.high is not None:
                axes.plot(
                    [dot.low, dot.high], [place, place], color=stroke["color"], linestyle="-", marker="none",
                    linewidth=0.9, zorder=2,
                )  # fmt: skip
            if dot.value is None:
                axes.text(0.005, place, layout.UNDEFINED, transform=axes.get_yaxis_transform(), va="center",
                          color=stroke["color"], fontsize=layout.SMALL)  # fmt: skip
        known = [(dot.value, place) for dot, place in zip(dots, at, strict=True) if dot.value is not None]
        axes.plot(*(zip(*known, strict=True) if known else ([], [])), **style)
    if len(series) > 1:
        for place in places[1:]:
            axes.axhline(place - 0.5, **layout.faint(0.12), linewidth=0.4, zorder=0)
    axes.set_ylim(places[-1] + 0.55, places[0] - 0.55)
    axes.grid(True, axis="x")
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.04)


def draw_matrix(systems: Systems) -> Figure:
    """Draw one measure in all bases and readings; several systems have rows, the best first, in panels."""
    (measure, average), plan = matrix_score(systems.wish), Plan.of(systems.settings)
    bases = [basis for basis in MATRIX_BASES if plan.scores(basis)]
    readings = [reading for reading in READINGS if any(plan.scores(basis, reading) for basis in bases)]
    panels, names = {"": [(systems.all[0], basis) for basis in bases]}, bases
    width, notes = systems.wish.inches("double" if systems.several and len(bases) > 1 else "single"), []
    if systems.board is not None:
        panels = {f"{basis}-based": [(system, basis) for system in systems.all] for basis in bases}
        short = layout.all_shortened([system.name for system in systems.all], width * layout.POINTS * 0.25)
        names = [f"{entry.place}  {name}" for entry, name in zip(systems.board.entries, short, strict=True)]
        notes = _ranking(systems, systems.board)
    of_panels = [
        [
            Series(reading, stroke, [
                system.dot(f"{basis}.{reading}.{measure}.{average}") for system, basis in rows
            ])
            for reading, stroke in zip(readings, layout.strokes(len(readings)), strict=True)
        ]
        for rows in panels.values()
    ]  # fmt: skip
    figure, all_axes = layout.lay_out(
        systems.wish, (width, height_of(len(names), of_panels[0])), (1, len(panels)), len(panels),
        sharey=True, entries=[series.entry for series in of_panels[0]], notes=notes,
    )  # fmt: skip
    for title, axes, series in zip(panels, all_axes, of_panels, strict=True):
        draw_rows(axes, np.arange(len(names), dtype=np.float64), series)
        axes.set(title=title, xlabel=layout.plain(systems.label(measure, average=average)))
    all_axes[0].set_yticks(range(len(names)), names)
    return figure


def _ranking(systems: Systems, board: Board) -> list[str]:
    """Return sentences on the ranking of systems, and on systems that do not differ significantly."""
    basis, reading, measure, average = board.rank_by.split(".")
    score, sure = systems.label(measure, basis, reading, average), f"{board.confidence * 100:g} %"
    groups = [[f"{entry.place}" for entry in alike] for _, alike in groupby(board.entries, lambda e: e.rank)]
    ties = "; ".join(", ".join(group) for group in groups if len(group) > 1)
    alike = (
        f"Not significantly different ({sure}): {ties}." if ties else f"All differ significantly ({sure})."
    )
    return [f"Ranked by {score[:1].lower()}{score[1:]}; lines: {sure} intervals.", alike]


def draw_classes(systems: Systems) -> Figure:
    """Draw scores of each class, and below them their mean over classes."""
    stems = class_scores(systems.settings, systems.wish, several=systems.several)
    sources = [(system, stem) for stem in stems for system in systems.all]
    first = {name: systems.all[0].value(f"{stems[0]}[{name}]") for name in systems.classes()}
    orders: dict[str | None, Callable[[str], Any]] = {
        "name": str,
        "size": lambda name: -systems.size(name),
        # Undefined ones are the lowest.
        "score": lambda name: (first[name] is None, -(first[name] or 0.0)),
    }
    ordered = sorted(first, key=orders.get(systems.wish.sort, lambda _: 0))
    names, notes = systems.largest(ordered, _MOST_ROWS)
    parts = [stem.split(".") for stem in stems]
    alike = len({(basis, measure) for basis, _, measure in parts}) == 1
    basis, reading, measure = parts[0]
    label = systems.label(measure, basis, "" if len(stems) > 1 else reading) if alike else "Score"
    called = [
        system.name if systems.several else reading if alike else systems.label(measure, basis, reading)
        for basis, reading, measure in parts for system in systems.all
    ]  # fmt: skip
    series = [
        Series(name, stroke, [system.dot(stem + part) for part in
                              (*(f"[{name}]" for name in names), ".macro")])
        for (system, stem), name, stroke in zip(sources, called, layout.strokes(len(sources)), strict=True)
    ]  # fmt: skip
    silent = [
        name
        for k, name in enumerate(names)
        if not systems.size(name) or all(each.dots[k].value is None for each in series)
    ]
    figure, (axes,) = layout.lay_out(
        systems.wish, (systems.wish.inches(), height_of(len(names) + 1.4, series)),
        entries=[each.entry for each in series] if len(series) > 1 else (),
        notes=[*systems.undefined(silent), *notes],
    )  # fmt: skip
    # The mean stands apart from the classes that it is of.
    places = np.append(np.arange(len(names)), len(names) + 0.4)
    draw_rows(axes, places, series)
    texts = layout.all_shortened(names, systems.wish.inches() * layout.POINTS * _NAMES)
    axes.set_yticks(places, [*texts, "macro average"])
    axes.set_xlabel(layout.plain(label))
    return figure


def draw_errors(systems: Systems) -> Figure:
    """Draw the share of lost F1 of each kind of error, the costliest kind first."""
    basis, reading = systems.family
    tables = [
        [each for each in of.errors if (each.basis, each.reading, each.average) == (basis, reading, "micro")]
        for of in (system.diagnosis for system in systems.all) if of is not None
    ]  # fmt: skip
    order = sorted(range(len(tables[0])), key=lambda k: -max(table[k].share or 0.0 for table in tables))
    order = [k for k in order if any(table[k].count for table in tables)]
    series = [
        Series(system.name, stroke, [Dot(table[k].share or 0.0, table[k].low, table[k].high) for k in order])
        for system, stroke, table in zip(systems.all, layout.strokes(len(tables)), tables, strict=True)
    ]
    figure, (axes,) = layout.lay_out(
        systems.wish, (systems.wish.inches(), height_of(len(order) or 2, series)),
        entries=[each.entry for each in series] if systems.several else (),
    )  # fmt: skip
    if not order:
        layout.write_empty(axes)
        return figure
    draw_rows(axes, np.arange(len(order), dtype=np.float64), series)
    axes.set_yticks(range(len(order)), [tables[0][k].kind.replace("_", " ") for k in order])
    axes.set(xlabel=f"Share of lost F1 ({basis}-based, {reading})", xlim=(0, None))
    return figure


def draw_confusion(systems: Systems) -> Figure:
    """Draw how often each class of the reference meets each class of the system; dots have no share."""
    names, omitted = systems.largest(systems.classes(), _MOST_CELLS)
    count = len(names) + 1
    width = systems.wish.inches("double" if count > 9 else "single")
    texts = layout.all_shortened(names, width * layout.POINTS * 0.25)
    # Names stand upright below, and take as much as they do at the side.
    beside = max(map(layout.text_width, [*texts, "inserted"])) / layout.POINTS + 0.25
    cell = (width - beside - 0.3) / count
    high = beside + count * min(max(0.8 * cell, 0.14), 0.3)
    things = {"event": "events", "clip": "files"}.get(systems.family[0], "segments")
    explained = (
        f"Colour: the share of the reference's {things} with the row's class; the diagonal is the recall of "
        f"each class. Last row: the share of the system's {things} with the column's class."
    )
    figure, (axes,) = layout.lay_out(systems.wish, (width, high), notes=[explained, *omitted])
    if not names:
        layout.write_empty(axes)
        axes.set_axis_off()
        return figure
    counts, shares = _confusion(systems.all[0], systems.family, names)
    image = axes.imshow(shares, vmin=0.0, vmax=1.0, cmap=COUNTS, aspect="auto", interpolation="nearest")
    none: dict[str, Any] = {"facecolor": "#f2f2f2", "edgecolor": "#bfbfbf", "hatch": "....", "linewidth": 0}
    for i, j in np.argwhere(~np.isfinite(shares)):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **none))
    for edge in range(1, count):
        for draw_line in (axes.axvline, axes.axhline):
            draw_line(edge - 0.5, color="white", linestyle="-", linewidth=3 if edge == count - 1 else 0.8)
    for i, j in np.argwhere(np.isfinite(shares)) if len(names) <= _NUMBERED else ():
        # Black or white, what can be read on the colour.
        brightness = np.dot(image.to_rgba(shares[i, j])[:3], (0.299, 0.587, 0.114))
        axes.text(
            j, i, f"{counts[i, j]:.0f}" if counts[i, j] < 100_000 else f"{counts[i, j]:.1e}", ha="center",
            va="center", color="black" if brightness > 0.5 else "white", fontsize=layout.SMALL,
        )  # fmt: skip
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(count), [*texts, "missed"], rotation=90)
    axes.set_yticks(range(count), [*texts, "inserted"])
    axes.set(xlabel="System", ylabel="Reference")
    layout.add_colour_bar(figure, image, "Share")
    return figure


def _confusion(system: System, family: tuple[str, str], names: list[str]) -> tuple[Floats, Floats]:
    """Return the numbers of pairs, missed behind them and inserted below, and the shares of each row.

    A row is divided by the size of its reference, so that its own cell is the recall, the last row by how
    much the system has of a class. NaN if the divisor is missing, and in the corner.
    """
    table = next(each for each in system.scores.confusion if each.basis == family[0])
    at = [table.classes.index(name) for name in names]
    counts, whole = np.full((2, len(names) + 1, len(names) + 1), np.nan)
    counts[:-1, :-1] = np.array(table.pairs)[np.ix_(at, at)]
    counts[:-1, -1], counts[-1, :-1] = np.array(table.missed)[at], np.array(table.inserted)[at]
    n_ref, n_sys = (
        [system.value(f"{'.'.join(family)}.{measure}[{name}]") or np.nan for name in names]
        for measure in ("n_ref", "n_sys")
    )
    whole[:-1], whole[-1, :-1] = np.array(n_ref)[:, None], n_sys
    return counts, counts / whole
