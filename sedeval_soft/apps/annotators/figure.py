"""Scores of systems over the number of annotators, as a figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sedeval_soft.errors import SettingsError, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sedeval_soft.apps.annotators.annotate import Annotation
    from sedeval_soft.plots.style import Look

_MOST_COLUMNS = 2
"""Panels beside one another."""


def figure_of(annotation: Annotation, look: Look) -> Figure:
    """Draw a panel for each score, a line for each system; raises SettingsError where there is no system."""
    if not annotation.systems:
        raise SettingsError("a figure shows systems over the number of annotators; expected systems")
    from sedeval_soft.plots.style import drawn

    return drawn(lambda: _draw(annotation, look), look, "the figure")


def file_of(annotation: Annotation, form: str, look: Look) -> bytes:
    """Return the file of the figure; form: pdf, png or svg."""
    from sedeval_soft.plots import style

    names = ", ".join(system.name for system in annotation.systems)
    tables = ", ".join(annotator.name for annotator in annotation.annotators)
    settings = " ".join(f"{name}={value}" for name, value in annotation.settings.items())
    texts = f"annotators: {names}", f"{annotation.method} of {tables}; {settings}"
    return style.file_of(figure_of(annotation, look), form, look, *map(visible, texts))


def _draw(annotation: Annotation, look: Look) -> Figure:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    from sedeval_soft.plots import layout

    systems, scores = annotation.systems, annotation.systems[0].scores
    columns = min(len(scores), _MOST_COLUMNS)
    rows, unit = math.ceil(len(scores) / columns), layout.unit_of()
    styles = layout.strokes(len(systems))
    enough = {"color": layout.setting("text.color"), "linestyle": (0, (1, 1.5)), "linewidth": 0.8 * unit}
    entries = [
        layout.Entry(Line2D([], [], **style), system.name)
        for style, system in zip(styles, systems, strict=True)
    ]
    confidence = 100 * float(annotation.settings["confidence"])
    notes = [f"Bars: {confidence:g} % intervals over annotators and files."]
    if annotation.rankings:
        entries.append(layout.Entry(Line2D([], [], **enough), "ranks hold from here on"))
    width = look.inches("double" if columns > 1 else "single")
    figure, panels = layout.lay_out(
        look, (width, 1.9 * rows * unit), (rows, columns), len(scores), entries=entries, notes=notes,
        sharex=True,
    )  # fmt: skip
    for number, axes in enumerate(panels):
        for k, (system, style) in enumerate(zip(systems, styles, strict=True)):
            over = [point for point in system.scores[number].over if point.value is not None]
            # Beside one another, so that bars can be told apart.
            moved = 0.3 * ((k + 0.5) / len(systems) - 0.5)
            at = [point.annotators + moved for point in over]
            values = [point.value for point in over if point.value is not None]
            bar = {"color": style["color"], "linewidth": 0.7 * unit, "linestyle": "-", "marker": "none"}
            for place, point in zip(at, over, strict=True):
                if point.low is not None and point.high is not None:
                    axes.plot([place, place], [point.low, point.high], alpha=0.6, **bar)
            axes.plot(at, values, markersize=2.6 * unit, **style)
        if annotation.rankings:
            axes.axvline(annotation.rankings[number].enough, **enough)
        axes.set_title(layout.plain(scores[number].score))
        axes.set_xlabel("annotators")
        axes.set_ylabel("score")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        layout.label_edges(axes, lowest=number + columns >= len(scores))
        # Each score has a scale of its own.
        axes.yaxis.set_tick_params(labelleft=True)
    return figure
