"""Errors in figures: what each kind costs and in which class, and what the recall of events depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.data import Systems
from sedeval_soft.apps.plots.scores import draw_cells
from sedeval_soft.apps.plots.style import Look

_ROW = 0.24
"""Inches of a row of a paper's figure."""


def draw_errors(systems: Systems, look: Look) -> Figure:
    """Draw the share of each kind of error as bars, gains as marks; of one system also what classes pay."""
    basis, reading = systems.family
    diagnoses = [system.diagnosis for system in systems.all if system.diagnosis is not None]
    tables = [
        [each for each in of.errors if (each.basis, each.reading, each.average) == (basis, reading, "micro")]
        for of in diagnoses
    ]
    order = sorted(range(len(tables[0])), key=lambda k: -max(table[k].share or 0.0 for table in tables))
    order = [k for k in order if any(table[k].count for table in tables)]
    names, notes = systems.largest(systems.classes(), 12)
    alone = not systems.several and bool(order)
    styles = layout.bar_styles(len(tables))
    mark = {"marker": "D", "linestyle": "none", "color": layout.setting("text.color")}
    entries = [
        layout.Entry(Patch(**style), f"share of 1 - F{f', {system.name}' * systems.several}")
        for style, system in zip(styles, systems.all, strict=True)
    ]
    unit = layout.unit_of()
    figure, axes = layout.lay_out(
        look, (look.inches(), (0.7 + _ROW * max(len(order), 2) * max(1.0, 0.6 * len(tables))) * unit),
        (1, 2) if alone else (1, 1), 2 if alone else 1,
        entries=[*entries, layout.Entry(Line2D([], [], **mark), "gain of F without the kind")],
        notes=notes if alone else (), sharey=True,
    )  # fmt: skip
    if not order:
        layout.write_empty(axes[0])
        return figure
    places, thick = np.arange(len(order)), 0.8 / len(tables)
    for i, (table, style) in enumerate(zip(tables, styles, strict=True)):
        rows = [table[k] for k in order]
        at = places + (i - (len(tables) - 1) / 2) * thick
        axes[0].barh(at, [row.share or 0.0 for row in rows], thick, **style, linewidth=0.3 * unit)
        marked = [(row.gain, place) for row, place in zip(rows, at, strict=True) if row.gain]
        axes[0].plot(*zip(*marked, strict=True), **mark, markersize=2.4 * unit, clip_on=False)
        for row, place in zip(rows, at, strict=True):
            layout.draw_interval(axes[0], (row.low, row.high), place, mark["color"], 0.8)
    layout.name_rows(axes[0], places, [tables[0][k].kind.replace("_", " ") for k in order])
    axes[0].set_ylim(len(order) - 0.4, -0.6)
    axes[0].grid(True, axis="x")
    axes[0].set_xlim(left=0)
    # Beside a matrix there is less room.
    axes[0].set_xlabel(f"part of 1 - F{chr(10) if alone else ' '}({basis}, {reading})")
    if alone:
        costs = {(each.kind, each.class_name): each.share or 0.0 for each in diagnoses[0].classes
                 if (each.basis, each.reading) == (basis, reading)}  # fmt: skip
        kinds = [tables[0][k].kind for k in order]
        lost = sum(each.share or 0.0 for each in tables[0]) or 1.0
        cells = np.array([[costs.get((kind, name), 0.0) / lost for name in names] for kind in kinds])
        texts = {(i, j): f"{100 * cells[i, j]:.0f}" for i, j in np.argwhere(cells >= 0.005).tolist()}
        draw_cells(axes[1], cells / max(cells.max(), 1e-9), texts, "Blues", fontsize=5.5 * unit)
        short = layout.all_shortened(names, 0.9 * layout.POINTS * unit)
        axes[1].set_xticks(range(len(names)), short, rotation=90)
        axes[1].set_xlabel("% of what is lost")
    return figure


def draw_sensitivity(systems: Systems, look: Look) -> Figure:
    """Draw recall and precision of events by what they have in common, with those of all as lines."""
    system = systems.all[0]
    every = system.diagnosis.bins if system.diagnosis is not None else ()
    # Factors as they differ, those of recall first; of each all bins in their order.
    factors = [*dict.fromkeys(map(_factor, every))]
    rows = sorted(
        (each for each in every if each.value is not None),
        key=lambda each: (each.measure != "recall", factors.index(_factor(each)), each.place),
    )
    unit, colour = layout.unit_of(), layout.strokes(1)[0]["color"]
    figure, (axes,) = layout.lay_out(
        look, (look.inches(), (0.6 + 0.2 * (max(len(rows), 2) + 6)) * unit),
        notes=["Recall of events and precision of detections, with intervals and numbers; lines: of all."],
    )  # fmt: skip
    if not rows:
        layout.write_empty(axes)
        return figure
    # A factor is named once, above its bins.
    heads = [k for k, each in enumerate(rows) if not k or _factor(rows[k - 1]) != _factor(each)]
    places = np.arange(len(rows)) + np.searchsorted(heads, np.arange(len(rows)), side="right") - 1.0
    for measure, shade in (("recall", 0.4), ("precision", 0.2)):
        of_measure = [place for each, place in zip(rows, places, strict=True) if each.measure == measure]
        total = system.value(f"event.hard.{measure}.micro")
        if of_measure and total is not None:
            axes.plot([total, total], [of_measure[0] - 0.5, of_measure[-1] + 0.5], **layout.faint(shade),
                      linewidth=0.8 * unit, marker="none")  # fmt: skip
    for each, place in zip(rows, places, strict=True):
        layout.draw_interval(axes, (each.low, each.high), place, colour)
    axes.plot([each.value or 0.0 for each in rows], places, color=colour, linestyle="none", marker="o",
              markersize=3 * unit, clip_on=False)  # fmt: skip
    texts = [f"{each.name} ({each.n})" for each in rows]
    room = look.inches() * layout.POINTS * 0.5
    layout.name_rows(axes, places, [layout.shortened(text, room) for text in texts])
    for k in heads:
        axes.text(0.01, places[k] - 0.75, _factor(rows[k]), va="center", fontweight="bold",
                  fontsize=0.9 * layout.points_of("font.size"),
                  transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_ylim(places[-1] + 0.6, -1.4)
    axes.set_xlim(0, min(1.08 * max(max(each.value or 0.0, each.high or 0.0) for each in rows), 1.02) or 1.0)
    axes.grid(True, axis="x")
    axes.set_xlabel("recall, precision (event, hard)")
    return figure


def _factor(each: Any) -> str:  # noqa: ANN401 - a bin of a diagnosis
    """Return what a group of bins is headed by."""
    return f"{each.measure}, by {each.factor}"
