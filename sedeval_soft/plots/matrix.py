"""The score matrix: bases by readings, as a heat map, as dots with intervals, or as a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.evaluation.scores import Score
from sedeval_soft.plan import Plan
from sedeval_soft.plots.data import Systems
from sedeval_soft.plots.figure import (
    POINTS,
    UNDEFINED,
    Entry,
    all_shortened,
    lay_out,
    plain,
    strokes,
    unit_of,
)
from sedeval_soft.plots.heatmaps import draw_cells, ink_on
from sedeval_soft.plots.requirements import MATRIX_BASES, READINGS, matrix_score
from sedeval_soft.plots.style import Look
from sedeval_soft.report.layout import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cells = list[dict[tuple[str, str], Score | None]]
"""Of each system one measure by basis and reading; None where that reading is not evaluated."""


def draw_matrix(systems: Systems, look: Look) -> Figure:
    """Draw one measure in all bases and readings."""
    settings, plan = systems.settings, Plan.of(systems.settings)
    measure, average = matrix_score(systems.wish)
    bases = [basis for basis in MATRIX_BASES if plan.scores(basis)]
    readings = [reading for reading in READINGS if any(plan.scores(basis, reading) for basis in bases)]
    families = [(basis, reading) for basis in bases for reading in readings]
    cells: Cells = [
        {family: system.scores.scores.get(f"{'.'.join(family)}.{measure}.{average}") for family in families}
        for system in systems.all
    ]
    label = plain(f"{average} {measure_label(settings, measure)}")
    if systems.several:
        return _draw_board(systems, look, cells, label)
    if settings.ci is not None and len(systems.first.scores.files) > 1:
        return _draw_dots(look, cells[0], f"{label}, {settings.confidence * 100:g} % interval")
    return _draw_heatmap(look, cells[0], f"reading ({label})")


def _draw_heatmap(look: Look, cells: dict[tuple[str, str], Score | None], label: str) -> Figure:
    """Draw a cell for each basis and reading, with its number."""
    bases, readings = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    scores = list(cells.values())
    flat = np.array([score.value if score else None for score in scores], dtype=np.float64)
    width = look.inches()
    height = (0.5 + 0.36 * len(bases)) * unit_of() * max(1.0, width / 7.0)
    figure, (axes,) = lay_out(look, (width, height))
    image = draw_cells(axes, flat.reshape(len(bases), len(readings)))
    for k, score in enumerate(scores):
        if score is not None:
            text, place = UNDEFINED if score.value is None else f"{score.value:.3f}", divmod(k, len(readings))
            axes.text(*place[::-1], text, ha="center", va="center", color=ink_on(image, flat[k]))
    axes.set_xticks(range(len(readings)), readings)
    axes.set_yticks(range(len(bases)), bases)
    axes.set_xlabel(label)
    return figure


def _draw_dots(look: Look, cells: dict[tuple[str, str], Score | None], label: str) -> Figure:
    """Draw a dot with its interval for each basis and reading, and the number beside it."""
    bases, readings = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    styles = dict(zip(readings, strokes(len(readings)), strict=True))
    rows = [(*family, score) for family, score in cells.items() if score is not None]
    height = (0.5 + 0.155 * (len(rows) + 0.6 * len(bases))) * unit_of()
    figure, (axes,) = lay_out(look, (look.inches(), height))
    # Bases stand apart.
    places = [1.0 + k + 0.6 * bases.index(basis) for k, (basis, _, _) in enumerate(rows)]
    for place, (_, reading, score) in zip(places, rows, strict=True):
        _draw_dot(axes, score, place, styles[reading])
        text = UNDEFINED if score.value is None else f"{score.value:.3f}"
        if score.value is not None and score.low is not None and score.high is not None:
            text += f" [{score.low:.2f}, {score.high:.2f}]"
        beside = axes.get_yaxis_transform()
        axes.text(1.02, place, text, transform=beside, va="center", fontsize="small")
    axes.set_yticks(places, [f"{basis}, {reading}" for basis, reading, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(-0.02, 1.02), ylim=(places[-1] + 0.8, 0.2))
    axes.set_xlabel(label)
    axes.grid(True, axis="x")
    return figure


def _draw_dot(axes: Axes, score: Score | None, place: float, style: dict[str, Any]) -> None:
    if score is None or score.value is None:
        return
    if score.low is not None and score.high is not None:
        axes.plot(
            [score.low, score.high], [place, place], color=style["color"], linestyle="-", marker="none",
            linewidth=0.9 * unit_of(), zorder=2,
        )  # fmt: skip
    axes.plot([score.value], [place], **{**style, "linestyle": "none"}, zorder=3)


def _draw_board(systems: Systems, look: Look, cells: Cells, label: str) -> Figure:
    """Draw systems from the best down, a panel for each basis, with dots for the readings."""
    from matplotlib.lines import Line2D

    board, count = systems.board, len(systems.all)
    bases, readings = (list(dict.fromkeys(names)) for names in zip(*cells[0], strict=True))
    styles = strokes(len(readings))
    ranks = {entry.system: f"{entry.rank}  " for entry in board.entries} if board is not None else {}
    width = look.inches("double" if len(bases) > 1 else "single")
    ranked = "systems that cannot be told apart share a rank"
    figure, panels = lay_out(
        look,
        (width, (0.6 + (0.11 * len(readings) + 0.08) * count) * unit_of()),
        (1, len(bases)),
        entries=[
            Entry(Line2D([], [], **{**style, "linestyle": "none"}), reading)
            for reading, style in zip(readings, styles, strict=True)
        ],
        notes=[f"Ranked by {board.rank_by}; {ranked}."] if board else [],
        sharey=True,
    )
    for basis, axes in zip(bases, panels, strict=True):
        for i, of_system in enumerate(cells):
            for k, reading in enumerate(readings):
                place = i + (k - (len(readings) - 1) / 2) * 0.76 / len(readings)
                _draw_dot(axes, of_system[basis, reading], place, styles[k])
            if i:
                axes.axhline(i - 0.5, color="#d9d9d9", linestyle="-", linewidth=0.5 * unit_of(), zorder=0)
        axes.grid(True, axis="x")
        axes.set(title=basis, xlabel=label)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0)
    names = all_shortened([system.name for system in systems.all], width * POINTS * 0.25)
    texts = [ranks.get(s.name, "") + name for s, name in zip(systems.all, names, strict=True)]
    panels[0].set_yticks(range(count), texts)
    panels[0].set_ylim(count - 0.5, -0.5)
    return figure
