"""The score matrix: bases by readings, as a heat map, as dots with intervals, or as a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sedeval_soft.core.value import Score
from sedeval_soft.plotting.look import HEAT, Look
from sedeval_soft.plotting.needs import MATRIX_BASES, matrix_score
from sedeval_soft.plotting.panels import strokes, unit_of
from sedeval_soft.plotting.sheet import POINTS, Entry, Sheet
from sedeval_soft.plotting.subject import Subject, Subjects
from sedeval_soft.plotting.texts import all_shortened, plain
from sedeval_soft.report.layout import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

READINGS = ("hard", "tuned", "optimal", "soft")
UNDEFINED = "\u2013"


def draw_matrix(subjects: Subjects, look: Look) -> Figure:
    """Draw one measure in all bases and readings."""
    measure, average = matrix_score(subjects.wish)
    what = f"{average} {measure_label(subjects.settings, measure)}"
    bases = [b for b in MATRIX_BASES if subjects.settings.wants(b)]
    readings = [r for r in READINGS if any(subjects.settings.wants(b, r) for b in bases)]
    if len(subjects.systems) > 1:
        return _board(subjects, look, bases, readings, (measure, average, what))
    if subjects.settings.ci is not None and len(subjects.first.scores.files) > 1:
        return _dots(subjects, look, bases, readings, (measure, average, what))
    return _heat(subjects, look, bases, readings, (measure, average, what))


def _score(system: Subject, basis: str, reading: str, measure: str, average: str) -> Score | None:
    """Return a score, None where that reading is not evaluated."""
    return system.scores.scores.get(f"{basis}.{reading}.{measure}.{average}")


def _heat(
    subjects: Subjects, look: Look, bases: list[str], readings: list[str], of: tuple[str, str, str]
) -> Figure:
    """Draw a cell for each basis and reading, with its number."""
    measure, average, what = of
    found = [[_score(subjects.first, b, r, measure, average) for r in readings] for b in bases]
    values = np.array(
        [[np.nan if s is None or s.value is None else s.value for s in row] for row in found], dtype=float
    )
    width = look.inches()
    sheet = Sheet(look, width, (0.5 + 0.36 * len(bases)) * unit_of() * max(1.0, width / 7.0))
    figure, (axes,) = sheet.laid_out()
    image = cells(axes, values.reshape(len(bases), len(readings)))
    for i, row in enumerate(found):
        for j, score in enumerate(row):
            if score is not None:
                text = UNDEFINED if score.value is None else f"{score.value:.3f}"
                axes.text(j, i, text, ha="center", va="center", color=ink_on(image, values[i, j]))
    axes.set_xticks(range(len(readings)), readings)
    axes.set_yticks(range(len(bases)), bases)
    axes.set_xlabel(plain(f"reading ({what})"))
    return figure


def cells(axes: Axes, values: Any, vmax: float = 1.0, cmap: str = HEAT) -> Any:  # noqa: ANN401 - arrays, images
    """Draw a cell for each value between 0 and `vmax`; where there is none, hatches."""
    from matplotlib.patches import Rectangle

    image = axes.imshow(values, vmin=0.0, vmax=vmax, cmap=cmap, aspect="auto", interpolation="nearest")
    for i, j in np.argwhere(~np.isfinite(values)):
        axes.add_patch(
            Rectangle(
                (j - 0.5, i - 0.5), 1, 1, facecolor="#f2f2f2", edgecolor="#bfbfbf", hatch="////", linewidth=0
            )
        )
    rows, columns = values.shape
    for edges, line in ((range(1, columns), axes.axvline), (range(1, rows), axes.axhline)):
        for edge in edges:
            line(edge - 0.5, color="white", linestyle="-", linewidth=0.8 * unit_of())
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def ink_on(image: Any, value: float) -> str:  # noqa: ANN401 - an image
    """Return black or white, what can be read on the colour of a value."""
    if not np.isfinite(value):
        return "black"
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def _dots(
    subjects: Subjects, look: Look, bases: list[str], readings: list[str], of: tuple[str, str, str]
) -> Figure:
    """Draw a dot with its interval for each basis and reading, and the number beside it."""
    measure, average, what = of
    rows = [(b, r, _score(subjects.first, b, r, measure, average)) for b in bases for r in readings]
    rows = [row for row in rows if row[2] is not None]
    sheet = Sheet(look, look.inches(), (0.5 + 0.155 * (len(rows) + 0.6 * len(bases))) * unit_of())
    figure, (axes,) = sheet.laid_out()
    places, names, place, before = [], [], 0.0, ""
    for basis, reading, _ in rows:
        place += 1.6 if before and basis != before else 1.0
        before = basis
        places.append(place)
        names.append(f"{basis}, {reading}")
    styles = dict(zip(readings, strokes(len(readings)), strict=True))
    for where, (_, reading, score) in zip(places, rows, strict=True):
        _dot(axes, score, where, styles[reading])
        axes.text(
            1.02, where, told(score), transform=axes.get_yaxis_transform(), va="center", fontsize="small"
        )
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(place + 0.8, 0.2)
    axes.set_xlabel(plain(f"{what}, {subjects.settings.confidence * 100:g} % interval"))
    axes.set_xlim(-0.02, 1.02)
    axes.grid(True, axis="x")
    return figure


def told(score: Score | None) -> str:
    """Return the number of a score, and its interval, as it stands beside a dot."""
    if score is None or score.value is None:
        return UNDEFINED
    interval = "" if score.low is None or score.high is None else f" [{score.low:.2f}, {score.high:.2f}]"
    return f"{score.value:.3f}{interval}"


def _dot(axes: Axes, score: Score | None, where: float, style: dict[str, Any]) -> None:
    if score is None or score.value is None:
        return
    plain_style = {**style, "linestyle": "none"}
    if score.low is not None and score.high is not None:
        axes.plot(
            [score.low, score.high], [where, where], color=style["color"], linestyle="-", marker="none",
            linewidth=0.9 * unit_of(), zorder=2,
        )  # fmt: skip
    axes.plot([score.value], [where], **plain_style, zorder=3)


def _board(
    subjects: Subjects, look: Look, bases: list[str], readings: list[str], of: tuple[str, str, str]
) -> Figure:
    """Draw systems from the best down, a panel for each basis, with dots for the readings."""
    from matplotlib.lines import Line2D

    measure, average, what = of
    systems, board = subjects.systems, subjects.board
    ranks = {entry.system: entry.rank for entry in board.entries} if board is not None else {}
    styles = dict(zip(readings, strokes(len(readings)), strict=True))
    width = look.inches("double" if len(bases) > 1 else "single")
    notes = (
        []
        if board is None
        else [f"Ranked by {board.rank_by}; systems that cannot be told apart share a rank."]
    )
    each = 0.11 * len(readings) + 0.08
    sheet = Sheet(
        look,
        width,
        (0.6 + each * len(systems)) * unit_of(),
        1,
        len(bases),
        notes=notes,
        panel={"sharey": True},
    )
    entries = [Entry(Line2D([], [], **{**styles[r], "linestyle": "none"}), r) for r in readings]
    figure, panels = sheet.laid_out(entries)
    spread = 0.76 / len(readings)
    for basis, axes in zip(bases, panels, strict=True):
        for i, system in enumerate(systems):
            for k, reading in enumerate(readings):
                score = _score(system, basis, reading, measure, average)
                _dot(axes, score, i + (k - (len(readings) - 1) / 2) * spread, styles[reading])
            if i:
                axes.axhline(i - 0.5, color="#d9d9d9", linestyle="-", linewidth=0.5 * unit_of(), zorder=0)
        axes.grid(True, axis="x")
        axes.set_title(basis)
        axes.set_xlabel(plain(what))
        axes.margins(x=0.08)
    names = all_shortened([system.name for system in systems], width * POINTS * 0.25)
    texts = [f"{ranks[s.name]}  {n}" if s.name in ranks else n for s, n in zip(systems, names, strict=True)]
    panels[0].set_yticks(range(len(systems)), texts)
    panels[0].set_ylim(len(systems) - 0.5, -0.5)
    for axes in panels:
        axes.tick_params(axis="y", length=0)
    return figure
