"""Confusion of classes, and F over the thresholds of both sides, as heat maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.value import Confusion
from sedeval_soft.errors import SettingsError
from sedeval_soft.plotting.look import HEAT, Look
from sedeval_soft.plotting.matrix import cells, ink_on
from sedeval_soft.plotting.needs import family_for
from sedeval_soft.plotting.panels import grid_of, label_edges, say_nothing, undefined, unit_of
from sedeval_soft.plotting.sheet import POINTS, Entry, Sheet
from sedeval_soft.plotting.subject import Subject, Subjects, said_of_others
from sedeval_soft.plotting.texts import all_shortened, points_of
from sedeval_soft.plotting.texts import width as text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sedeval_soft.measures.segment.surface import Surface

Floats = npt.NDArray[np.float64]

_MOST_CLASSES, _MOST_SYSTEMS = 30, 4
_NUMBERED = 14
"""Classes up to which there is room for numbers in the cells of a page's width."""

_COUNTS = "Blues"
"""Most cells are near 0, which is white: ink and eye are spared."""


def draw_confusion(subjects: Subjects, look: Look) -> Figure:
    """Draw how often each class of the reference meets each class of the system."""
    _check_few(subjects, "confusion")
    basis, _ = family_for("confusion", subjects.settings)
    tables = {
        system.name: next((c for c in system.scores.confusion if c.basis == basis), None)
        for system in subjects.systems
    }
    names, others = subjects.kept(_sorted(subjects), _MOST_CLASSES)
    notes = [
        "Colour: share of the row's reference; in the last row, of what the system has of the column's.",
        *said_of_others(others),
    ]
    count = len(subjects.systems)
    width = look.inches("double" if count > 1 or len(names) > 8 else "single")
    rows, columns = grid_of(count, width, (2.2 if count > 1 else 1.0) * unit_of())
    each = width / columns
    texts = all_shortened(names, each * POINTS * 0.25)
    # Names stand upright below, and take as much as they do at the side.
    beside = max(map(text_width, [*texts, "inserted"])) / POINTS + 0.25 * unit_of()
    cell = (each - beside - 0.3 * unit_of()) / (len(names) + 1)
    high = beside + (len(names) + 1) * min(max(0.8 * cell, 0.14 * unit_of()), 0.3 * unit_of())
    title = 0.2 * unit_of() if count > 1 else 0.0
    sheet = Sheet(look, width, rows * (high + title), rows, columns, notes=notes)
    figure, panels = sheet.laid_out()
    for k, axes in enumerate(panels):
        if k >= count:
            axes.set_axis_off()
            continue
        system = subjects.systems[k]
        _confusion(
            axes, system, tables[system.name], names, texts, numbered=len(names) * columns <= _NUMBERED
        )
        if count > 1:
            axes.set_title(all_shortened([system.name], each * POINTS * 0.6, points_of("axes.titlesize"))[0])
    if names:
        bar = figure.colorbar(panels[0].images[0], ax=panels, shrink=0.8, aspect=25)
        bar.outline.set_visible(False)
    return figure


def _confusion(
    axes: Axes,
    system: Subject,
    table: Confusion | None,
    names: list[str],
    texts: list[str],
    *,
    numbered: bool,
) -> None:
    """Draw the table of one system."""
    if table is None or not names:
        say_nothing(axes)
        axes.set_axis_off()
        return
    counts, shares = with_edges(system, table, names)
    image = cells(axes, shares, cmap=_COUNTS)
    n = len(names)
    for i, j in np.argwhere(np.isfinite(shares)) if numbered else ():
        size = 6.0 * unit_of()
        shown = f"{counts[i, j]:.0f}" if counts[i, j] < 100_000 else f"{counts[i, j]:.1e}"
        axes.text(j, i, shown, ha="center", va="center", fontsize=size, color=ink_on(image, shares[i, j]))
    for line in (axes.axvline, axes.axhline):
        line(n - 0.5, color=axes.get_facecolor(), linestyle="-", linewidth=3 * unit_of())
    axes.set_xticks(range(n + 1), [*texts, "missed"], rotation=90)
    axes.set_yticks(range(n + 1), [*texts, "inserted"])
    axes.set_xlabel("system")
    axes.set_ylabel("reference")


def with_edges(system: Subject, table: Confusion, names: list[str]) -> tuple[Floats, Floats]:
    """Return counts and shares, each (n + 1, n + 1): pairs, behind them what is missed, below the inserted.

    A row is divided by the size of its reference, so that its own cell is the recall, the last row by how
    much the system has of a class. NaN where there is nothing to divide by, and in the corner.
    """
    place = {label: k for k, label in enumerate(table.classes)}
    n = len(names)
    counts, whole = np.full((2, n + 1, n + 1), np.nan)
    for i, row in enumerate(names):
        if row not in place:
            continue
        counts[i, :n] = [table.pairs[place[row]][place[c]] if c in place else np.nan for c in names]
        counts[i, n], counts[n, i] = table.missed[place[row]], table.inserted[place[row]]
        stem = f"{table.basis}.{table.reading}"
        n_ref, n_sys = (system.value(f"{stem}.{count}[{row}]") for count in ("n_ref", "n_sys"))
        whole[i], whole[n, i] = n_ref or np.nan, n_sys or np.nan
    return counts, counts / whole


def _sorted(subjects: Subjects) -> list[str]:
    names, sort = list(subjects.chosen()), subjects.wish.sort
    if sort == "score":
        raise SettingsError("--sort score: a confusion has no score; expected given, name or size")
    if sort == "name":
        return sorted(names)
    return sorted(names, key=lambda name: -subjects.size(name)) if sort == "size" else names


def draw_surface(subjects: Subjects, look: Look) -> Figure:
    """Draw F over the thresholds of the reference and of the system."""
    from matplotlib.lines import Line2D

    _check_few(subjects, "surface")
    basis, _ = family_for("surface", subjects.settings)
    panels = _surfaces(subjects, basis)
    notes = undefined(subjects, [n for n in subjects.wish.class_names if subjects.size(n) == 0])
    count = max(len(panels), 1)
    width = look.inches("single" if count == 1 else "double")
    rows, columns = grid_of(count, width, unit_of())
    each = width / columns
    high = min(each * 0.85, 3.4 * unit_of()) if count == 1 else each * 0.9
    sheet = Sheet(
        look, width, rows * high, rows, columns, notes=notes, panel={"sharex": True, "sharey": True}
    )
    dashes: dict[str, Any] = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9 * unit_of()}
    entries = [
        Entry(Line2D([], [], color="#808080", **dashes), "best threshold of the system"),
        Entry(Line2D([], [], color="#808080", linestyle="none", marker="X"), "hard reading"),
    ]
    figure, all_axes = sheet.laid_out(entries)
    image = None
    for k, axes in enumerate(all_axes):
        if k >= len(panels):
            axes.set_axis_off()
            continue
        title, surface, values = panels[k]
        image = _surface(axes, surface, values, subjects)
        label_edges(axes, lowest=k + columns >= len(panels))
        if title:
            axes.set_title(all_shortened([title], each * POINTS * 0.7, points_of("axes.titlesize"))[0])
    if image is not None:
        bar = figure.colorbar(image, ax=all_axes, shrink=0.9, aspect=25)
        bar.outline.set_visible(False)
        bar.set_label(f"F ({basis}-based, {'all classes' if not subjects.wish.class_names else 'by class'})")
    return figure


def _surfaces(subjects: Subjects, basis: str) -> list[tuple[str, Surface, Floats]]:
    """Return the title, the thresholds and the values of each panel."""
    found = []
    several = len(subjects.systems) > 1
    for system in subjects.systems:
        surface: Surface | None = system.curves.surfaces.get(basis)
        if surface is None:
            continue
        if not subjects.wish.class_names:
            found.append((system.name if several else "", surface, surface.micro_f))
            continue
        classes = system.scores.classes
        for name in subjects.chosen():
            title = f"{name}, {system.name}" if several else name
            values = (
                surface.f[classes.index(name)] if name in classes else np.full_like(surface.micro_f, np.nan)
            )
            found.append((title, surface, values))
    return found


def _surface(axes: Axes, surface: Surface, values: Floats, subjects: Subjects) -> Any:  # noqa: ANN401 - an image
    """Draw the values over both thresholds, and where they are highest for each of the reference."""
    at = surface.thresholds
    half = (at[1] - at[0]) / 2
    ends = (at[0] - half, at[-1] + half)
    axes.set_facecolor("#e6e6e6")
    image = axes.imshow(
        values, origin="lower", extent=(*ends, *ends), vmin=0.0, vmax=1.0, cmap=HEAT, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    axes.set_autoscale_on(False)
    # Where F is 0 throughout, or nothing, no threshold is the best.
    defined = np.nan_to_num(values).max(axis=1) > 0
    best = np.full(len(at), np.nan)
    if defined.any():
        best[defined] = at[np.nanargmax(values[defined], axis=1)]
        axes.contour(
            at, at, values, levels=np.arange(0.1, 1.0, 0.1), colors="white", linewidths=0.4 * unit_of()
        )
    axes.plot(best, at, color="black", linestyle=(0, (3, 1.5)), linewidth=0.9 * unit_of())
    axes.plot(
        [subjects.settings.threshold], [subjects.settings.reference_cut], linestyle="none", marker="X",
        color="black", markeredgecolor="white", markersize=5 * unit_of(),
    )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_xlabel("threshold of the system")
    axes.set_ylabel("threshold of the reference")
    return image


def _check_few(subjects: Subjects, kind: str) -> None:
    if len(subjects.systems) > _MOST_SYSTEMS:
        raise SettingsError(
            f"{kind} shows up to {_MOST_SYSTEMS} systems side by side; found {len(subjects.systems)}"
        )
