"""Confusion of classes, and F over the thresholds of both sides, as heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.details import Confusion
from sedeval_soft.plots.data import System, Systems
from sedeval_soft.plots.figure import (
    POINTS,
    Entry,
    add_colour_bar,
    all_shortened,
    grid_of,
    label_edges,
    lay_out,
    points_of,
    text_width,
    unit_of,
    write_empty,
)
from sedeval_soft.plots.requirements import family_for
from sedeval_soft.plots.style import HEAT, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sedeval_soft.measures.curve_scores import Surface
    from sedeval_soft.settings import Settings

Floats = npt.NDArray[np.float64]

_MOST_CLASSES, _MOST_SYSTEMS = 30, 4
_NUMBERED = 14
"""Classes up to which there is room for numbers in the cells of a page's width."""

_COUNTS = "Blues"
"""Most cells are near 0, which is white: ink and eye are spared."""


def draw_cells(axes: Axes, values: Floats, colours: str = HEAT) -> Any:  # noqa: ANN401 - an image
    """Draw a cell for each value between 0 and 1, and hatches where there is none."""
    from matplotlib.patches import Rectangle

    image = axes.imshow(values, vmin=0.0, vmax=1.0, cmap=colours, aspect="auto", interpolation="nearest")
    none: dict[str, Any] = {"facecolor": "#f2f2f2", "edgecolor": "#bfbfbf", "hatch": "////", "linewidth": 0}
    for i, j in np.argwhere(~np.isfinite(values)):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **none))
    rows, columns = values.shape
    for count, draw_line in ((columns, axes.axvline), (rows, axes.axhline)):
        for edge in range(1, count):
            draw_line(edge - 0.5, color="white", linestyle="-", linewidth=0.8 * unit_of())
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def ink_on(image: Any, value: float) -> str:  # noqa: ANN401 - an image
    """Return black or white, what can be read on the colour of a value."""
    if not np.isfinite(value):
        return "black"
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def draw_confusion(systems: Systems, look: Look) -> Figure:
    """Draw how often each class of the reference meets each class of the system."""
    count = _checked_count(systems, "confusion")
    basis, _ = family_for("confusion", systems.settings)
    names, omitted = systems.largest(systems.sorted_classes("confusion"), _MOST_CLASSES)
    width, unit = look.inches("double" if count > 1 or len(names) > 8 else "single"), unit_of()
    rows, columns = grid_of(count, width, 2.2 if count > 1 else 1.0)
    each = width / columns
    texts = all_shortened(names, each * POINTS * 0.25)
    # Names stand upright below, and take as much as they do at the side.
    beside = max(map(text_width, [*texts, "inserted"])) / POINTS + 0.25 * unit
    cell = (each - beside - 0.3 * unit) / (len(names) + 1)
    high = beside + (len(names) + 1) * min(max(0.8 * cell, 0.14 * unit), 0.3 * unit)
    title = 0.2 * unit if count > 1 else 0.0
    explained = (
        "Colour: share of the row's reference; in the last row, of what the system has of the column's."
    )
    size = width, rows * (high + title)
    figure, panels = lay_out(look, size, (rows, columns), notes=[explained, *omitted])
    for axes in panels[count:]:
        axes.set_axis_off()
    for axes, system in zip(panels, systems.all, strict=False):
        table = next((c for c in system.scores.confusion if c.basis == basis), None)
        if table is None or not names:
            write_empty(axes)
            axes.set_axis_off()
        else:
            _draw_table(axes, system, table, names, texts, numbered=len(names) * columns <= _NUMBERED)
        if count > 1:
            axes.set_title(all_shortened([system.name], each * POINTS * 0.6, points_of("axes.titlesize"))[0])
    if names:
        add_colour_bar(figure, panels[0].images[0], panels)
    return figure


def _draw_table(
    axes: Axes, system: System, table: Confusion, names: list[str], texts: list[str], *, numbered: bool
) -> None:
    """Draw the shares of each row, with the numbers of pairs; missed behind them, inserted below.

    A row is divided by the size of its reference, so that its own cell is the recall, the last row by how
    much the system has of a class. Nothing is drawn where there is nothing to divide by, and in the corner.
    """
    n = len(names)
    place = {label: k for k, label in enumerate(table.classes)}
    counts, whole = np.full((2, n + 1, n + 1), np.nan)
    for i, row in enumerate(names):
        if row in place:
            pairs = table.pairs[place[row]]
            counts[i, :n] = [pairs[place[column]] if column in place else np.nan for column in names]
            counts[i, n], counts[n, i] = table.missed[place[row]], table.inserted[place[row]]
            stem = f"{table.basis}.{table.reading}"
            whole[i] = system.value(f"{stem}.n_ref[{row}]") or np.nan
            whole[n, i] = system.value(f"{stem}.n_sys[{row}]") or np.nan
    shares = counts / whole
    image = draw_cells(axes, shares, _COUNTS)
    for i, j in np.argwhere(np.isfinite(shares)) if numbered else ():
        text = f"{counts[i, j]:.0f}" if counts[i, j] < 100_000 else f"{counts[i, j]:.1e}"
        ink = ink_on(image, shares[i, j])
        axes.text(j, i, text, ha="center", va="center", fontsize=6.0 * unit_of(), color=ink)
    for draw_line in (axes.axvline, axes.axhline):
        draw_line(n - 0.5, color=axes.get_facecolor(), linestyle="-", linewidth=3 * unit_of())
    axes.set_xticks(range(n + 1), [*texts, "missed"], rotation=90)
    axes.set_yticks(range(n + 1), [*texts, "inserted"])
    axes.set(xlabel="system", ylabel="reference")


def draw_surface(systems: Systems, look: Look) -> Figure:
    """Draw F over the thresholds of the reference and of the system."""
    from matplotlib.lines import Line2D

    _checked_count(systems, "surface")
    basis, _ = family_for("surface", systems.settings)
    panels = _surfaces(systems, basis)
    count = max(len(panels), 1)
    width = look.inches("single" if count == 1 else "double")
    rows, columns = grid_of(count, width)
    each = width / columns
    high = min(each * 0.85, 3.4 * unit_of()) if count == 1 else each * 0.9
    ridge: dict[str, Any] = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9 * unit_of()}
    legend = (
        Entry(Line2D([], [], color="#808080", **ridge), "best threshold of the system"),
        Entry(Line2D([], [], color="#808080", linestyle="none", marker="X"), "hard reading"),
    )
    silent = [name for name in systems.wish.class_names if systems.size(name) == 0]
    figure, all_axes = lay_out(
        look, (width, rows * high), (rows, columns), entries=legend, notes=systems.undefined(silent),
        sharex=True, sharey=True,
    )  # fmt: skip
    for axes in all_axes[len(panels) :]:
        axes.set_axis_off()
    for k, (axes, (title, surface, values)) in enumerate(zip(all_axes, panels, strict=False)):
        _draw_surface(axes, surface.thresholds, values, systems.settings, ridge)
        label_edges(axes, lowest=k + columns >= len(panels))
        axes.set_title(all_shortened([title], each * POINTS * 0.7, points_of("axes.titlesize"))[0])
    if panels:
        which = "by class" if systems.wish.class_names else "all classes"
        add_colour_bar(figure, all_axes[0].images[0], all_axes, f"F ({basis}-based, {which})", shrink=0.9)
    return figure


def _surfaces(systems: Systems, basis: str) -> list[tuple[str, Surface, Floats]]:
    """Return the title, the thresholds and the values of each panel."""
    panels: list[tuple[str, Surface, Floats]] = []
    for system in systems.all:
        surface: Surface | None = system.scores.curves.surfaces.get(basis)
        if surface is None:
            continue
        if not systems.wish.class_names:
            panels.append((system.name if systems.several else "", surface, surface.micro_f))
            continue
        by_class = dict(zip(system.scores.classes, surface.f, strict=True))
        for name in systems.classes():
            title = f"{name}, {system.name}" if systems.several else name
            panels.append((title, surface, by_class.get(name, np.full_like(surface.micro_f, np.nan))))
    return panels


def _draw_surface(axes: Axes, at: Floats, values: Floats, settings: Settings, ridge: dict[str, Any]) -> None:
    """Draw values over both thresholds, (n, n), and where they are highest for each of the reference."""
    half = (at[1] - at[0]) / 2
    ends = (at[0] - half, at[-1] + half)
    axes.set_facecolor("#e6e6e6")
    axes.imshow(
        values, origin="lower", extent=(*ends, *ends), vmin=0.0, vmax=1.0, cmap=HEAT, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    axes.set_autoscale_on(False)
    # Where F is 0 throughout, or nothing, no threshold is the best.
    defined = np.nan_to_num(values).max(axis=1) > 0
    best = np.full(len(at), np.nan)
    if defined.any():
        best[defined] = at[np.nanargmax(values[defined], axis=1)]
        levels, thin = np.arange(0.1, 1.0, 0.1), 0.4 * unit_of()
        axes.contour(at, at, values, levels=levels, colors="white", linewidths=thin)
    axes.plot(best, at, color="black", **ridge)
    axes.plot(
        [settings.threshold], [settings.reference_cut], linestyle="none", marker="X", color="black",
        markeredgecolor="white", markersize=5 * unit_of(),
    )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="threshold of the system", ylabel="threshold of the reference")


def _checked_count(systems: Systems, kind: str) -> int:
    """Return how many systems there are; raises SettingsError for too many."""
    count = len(systems.all)
    if count > _MOST_SYSTEMS:
        raise SettingsError(f"{kind} shows up to {_MOST_SYSTEMS} systems side by side; found {count}")
    return count
