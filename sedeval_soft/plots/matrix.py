"""The score matrix: bases by readings, as a heat map, as dots with intervals, or as a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.evaluation.scores import Score
from sedeval_soft.plan import Plan
from sedeval_soft.plots.data import System, Systems
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


class _Matrix:
    """One measure of systems in all bases and readings that are evaluated."""

    def __init__(self, systems: Systems) -> None:
        settings, plan = systems.settings, Plan.of(systems.settings)
        self.measure, self.average = matrix_score(systems.wish)
        self.label = plain(f"{self.average} {measure_label(settings, self.measure)}")
        self.bases = [b for b in MATRIX_BASES if plan.scores(b)]
        self.readings = [r for r in READINGS if any(plan.scores(b, r) for b in self.bases)]
        self.styles = dict(zip(self.readings, strokes(len(self.readings)), strict=True))

    def score(self, system: System, basis: str, reading: str) -> Score | None:
        """Return a score, None where that reading is not evaluated."""
        return system.scores.scores.get(f"{basis}.{reading}.{self.measure}.{self.average}")


def draw_matrix(systems: Systems, look: Look) -> Figure:
    """Draw one measure in all bases and readings."""
    if systems.several:
        return _draw_board(systems, look, _Matrix(systems))
    if systems.settings.ci is not None and len(systems.first.scores.files) > 1:
        return _draw_dots(systems, look, _Matrix(systems))
    return _draw_heatmap(systems, look, _Matrix(systems))


def _draw_heatmap(systems: Systems, look: Look, matrix: _Matrix) -> Figure:
    """Draw a cell for each basis and reading, with its number."""
    bases, readings = matrix.bases, matrix.readings
    scores = [[matrix.score(systems.first, basis, reading) for reading in readings] for basis in bases]
    values = np.array([[s.value if s else None for s in row] for row in scores], dtype=np.float64)
    width = look.inches()
    height = (0.5 + 0.36 * len(bases)) * unit_of() * max(1.0, width / 7.0)
    figure, (axes,) = lay_out(look, (width, height))
    image = draw_cells(axes, values)
    for i, row in enumerate(scores):
        for j, score in enumerate(row):
            if score is not None:
                text = UNDEFINED if score.value is None else f"{score.value:.3f}"
                axes.text(j, i, text, ha="center", va="center", color=ink_on(image, values[i, j]))
    axes.set_xticks(range(len(readings)), readings)
    axes.set_yticks(range(len(bases)), bases)
    axes.set_xlabel(f"reading ({matrix.label})")
    return figure


def _draw_dots(systems: Systems, look: Look, matrix: _Matrix) -> Figure:
    """Draw a dot with its interval for each basis and reading, and the number beside it."""
    rows = [
        (basis, reading, score)
        for basis in matrix.bases
        for reading in matrix.readings
        if (score := matrix.score(systems.first, basis, reading)) is not None
    ]
    height = (0.5 + 0.155 * (len(rows) + 0.6 * len(matrix.bases))) * unit_of()
    figure, (axes,) = lay_out(look, (look.inches(), height))
    # Bases stand apart.
    places = [1.0 + k + 0.6 * matrix.bases.index(basis) for k, (basis, _, _) in enumerate(rows)]
    for place, (_, reading, score) in zip(places, rows, strict=True):
        _draw_dot(axes, score, place, matrix.styles[reading])
        axes.text(
            1.02, place, _number(score), transform=axes.get_yaxis_transform(), va="center", fontsize="small"
        )
    axes.set_yticks(places, [f"{basis}, {reading}" for basis, reading, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(-0.02, 1.02), ylim=(places[-1] + 0.8, 0.2))
    axes.set_xlabel(f"{matrix.label}, {systems.settings.confidence * 100:g} % interval")
    axes.grid(True, axis="x")
    return figure


def _number(score: Score) -> str:
    """Return the number of a score, and its interval, as it stands beside a dot."""
    if score.value is None:
        return UNDEFINED
    interval = "" if score.low is None or score.high is None else f" [{score.low:.2f}, {score.high:.2f}]"
    return f"{score.value:.3f}{interval}"


def _draw_dot(axes: Axes, score: Score | None, place: float, style: dict[str, Any]) -> None:
    if score is None or score.value is None:
        return
    if score.low is not None and score.high is not None:
        axes.plot(
            [score.low, score.high], [place, place], color=style["color"], linestyle="-", marker="none",
            linewidth=0.9 * unit_of(), zorder=2,
        )  # fmt: skip
    axes.plot([score.value], [place], **{**style, "linestyle": "none"}, zorder=3)


def _draw_board(systems: Systems, look: Look, matrix: _Matrix) -> Figure:
    """Draw systems from the best down, a panel for each basis, with dots for the readings."""
    from matplotlib.lines import Line2D

    board, count, readings = systems.board, len(systems.all), matrix.readings
    ranks = {entry.system: f"{entry.rank}  " for entry in board.entries} if board is not None else {}
    width = look.inches("double" if len(matrix.bases) > 1 else "single")
    figure, panels = lay_out(
        look,
        (width, (0.6 + (0.11 * len(readings) + 0.08) * count) * unit_of()),
        (1, len(matrix.bases)),
        entries=[
            Entry(Line2D([], [], **{**style, "linestyle": "none"}), reading)
            for reading, style in matrix.styles.items()
        ],
        notes=[f"Ranked by {board.rank_by}; systems that cannot be told apart share a rank."]
        if board
        else [],
        sharey=True,
    )
    for basis, axes in zip(matrix.bases, panels, strict=True):
        for i, system in enumerate(systems.all):
            for k, reading in enumerate(readings):
                place = i + (k - (len(readings) - 1) / 2) * 0.76 / len(readings)
                _draw_dot(axes, matrix.score(system, basis, reading), place, matrix.styles[reading])
            if i:
                axes.axhline(i - 0.5, color="#d9d9d9", linestyle="-", linewidth=0.5 * unit_of(), zorder=0)
        axes.grid(True, axis="x")
        axes.set(title=basis, xlabel=matrix.label)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0)
    names = all_shortened([system.name for system in systems.all], width * POINTS * 0.25)
    texts = [ranks.get(s.name, "") + name for s, name in zip(systems.all, names, strict=True)]
    panels[0].set_yticks(range(count), texts)
    panels[0].set_ylim(count - 0.5, -0.5)
    return figure
