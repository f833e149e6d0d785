"""Cells as dark as their values: which class is taken for which, and F1 over both sides' thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.data import System, Systems
from sedeval_soft.apps.plots.style import Look
from sedeval_soft.arrays import Floats

HEAT = "viridis"
COUNTS = "Blues"
"""Most shares are near 0, which is white: ink and eye are spared."""

_MOST_CELLS = 30  # classes of which there are cells if the call does not say how many
_NUMBERED = 14  # classes up to which there is room for numbers in the cells of a page's width


def draw_cells(
    axes: Axes,
    values: Floats,
    texts: Mapping[tuple[int, int], str],
    colours: str = HEAT,
    **font: Any,  # noqa: ANN401 - as for matplotlib's texts
) -> None:
    """Draw a cell for each value in [0, 1], dots if there is none, and texts by row and column."""
    image = axes.imshow(values, vmin=0.0, vmax=1.0, cmap=colours, aspect="auto", interpolation="nearest")
    none: dict[str, Any] = {"facecolor": "#f2f2f2", "edgecolor": "#bfbfbf", "hatch": "....", "linewidth": 0}
    for i, j in np.argwhere(~np.isfinite(values)):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **none))
    for count, draw_line in zip(values.shape[::-1], (axes.axvline, axes.axhline), strict=True):
        for edge in range(1, count):
            draw_line(edge - 0.5, color="white", linestyle="-", linewidth=0.8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), text in texts.items():
        # Black or white, what can be read on the colour.
        brightness = np.dot(image.to_rgba(values[i, j])[:3], (0.299, 0.587, 0.114))
        light = not np.isfinite(values[i, j]) or brightness > 0.5
        axes.text(j, i, text, ha="center", va="center", color="black" if light else "white", **font)


def draw_confusion(systems: Systems, look: Look) -> Figure:
    """Draw how often each class of the reference meets each class of the system."""
    names, omitted = systems.largest(systems.classes(), _MOST_CELLS)
    count = len(names) + 1
    width = look.inches("double" if count > 9 else "single")
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
    figure, (axes,) = layout.lay_out(look, (width, high), notes=[explained, *omitted])
    if not names:
        layout.write_empty(axes)
        axes.set_axis_off()
        return figure
    counts, shares = _confusion(systems.all[0], systems.family, names)
    shown = np.isfinite(shares) if len(names) <= _NUMBERED else np.zeros_like(shares, dtype=bool)
    numbers = {
        (i, j): f"{counts[i, j]:.0f}" if counts[i, j] < 100_000 else f"{counts[i, j]:.1e}"
        for i, j in np.argwhere(shown).tolist()
    }
    draw_cells(axes, shares, numbers, COUNTS, fontsize=layout.SMALL)
    for draw_line in (axes.axvline, axes.axhline):
        draw_line(count - 1.5, color=axes.get_facecolor(), linestyle="-", linewidth=3)
    axes.set_xticks(range(count), [*texts, "missed"], rotation=90)
    axes.set_yticks(range(count), [*texts, "inserted"])
    axes.set(xlabel="System", ylabel="Reference")
    layout.add_colour_bar(figure, axes.images[0], "Share")
    return figure


def _confusion(system: System, family: tuple[str, str], names: list[str]) -> tuple[Floats, Floats]:
    """Return the numbers of pairs, missed behind them and inserted below, and the shares of each row.

    A row is divided by the size of its reference, so that its own cell is the recall, the last row by how
    much the system has of a class. NaN where there is nothing to divide by, and in the corner.
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


def draw_surface(systems: Systems, look: Look) -> Figure:
    """Draw F1 over the thresholds of the reference and of the system, of all classes or of some."""
    (basis, _), wanted, settings = systems.family, systems.wish.class_names, systems.settings
    scores, classes = systems.all[0].scores, systems.classes()
    surface = scores.curves.surfaces[basis]
    panels = {name: surface.f[scores.classes.index(name)] for name in classes} if wanted else {}
    panels = panels or {"": surface.micro_f}
    count, at = len(panels), surface.thresholds
    width = look.inches("single" if count == 1 else "double")
    rows, columns = layout.grid_of(count, width)
    each = width / columns
    ridge: dict[str, Any] = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9}
    legend = (
        layout.Entry(Line2D([], [], color=layout.GREY, **ridge), "best threshold of the system"),
        layout.Entry(Line2D([], [], color=layout.GREY, linestyle="none", marker="X"), "thresholds in use"),
    )
    silent = [name for name in wanted if systems.size(name) == 0]
    figure, all_axes = layout.lay_out(
        look, (width, rows * min(each * 0.87, 3.2)), (rows, columns), count, entries=legend,
        notes=systems.undefined(silent), sharex=True, sharey=True,
    )  # fmt: skip
    hard: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "markersize": 5}
    titles = layout.all_shortened([*panels], each * layout.POINTS * 0.7, layout.LABELS)
    half = (at[1] - at[0]) / 2
    ends = (at[0] - half, at[-1] + half)
    for k, (axes, title, values) in enumerate(zip(all_axes, titles, panels.values(), strict=True)):
        axes.set_facecolor("#e6e6e6")
        axes.imshow(
            values, origin="lower", extent=(*ends, *ends), vmin=0.0, vmax=1.0, cmap=HEAT, aspect="auto",
            interpolation="nearest",
        )  # fmt: skip
        axes.set_autoscale_on(False)
        # If F1 is 0 throughout, or undefined, no threshold is the best.
        defined = np.nan_to_num(values)
        best = np.where(defined.max(axis=1) > 0, at[defined.argmax(axis=1)], np.nan)
        if np.isfinite(best).any():
            levels = np.arange(0.1, 1.0, 0.1)
            axes.contour(at, at, values, levels=levels, colors="white", linewidths=0.4)
        axes.plot(best, at, color="black", **ridge)
        axes.plot(settings.threshold, settings.reference_cut, "X", **hard)
        axes.set(xlim=(0, 1), ylim=(0, 1), title=title)
        axes.set(xlabel="Threshold of the system", ylabel="Threshold of the reference")
        layout.label_edges(axes, lowest=k + columns >= count)
    label = systems.label("f1", basis, average="" if wanted else "micro")
    layout.add_colour_bar(figure, all_axes[0].images[0], label, shrink=0.9)
    return figure
