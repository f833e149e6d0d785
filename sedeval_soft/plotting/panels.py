"""Lines in panels: of one system a line for each class, of several systems one line each.

Of several systems a panel shows all classes together, or there is a panel for each class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import SettingsError
from sedeval_soft.plotting.look import DASHES, DISTINCT, MARKERS, Look
from sedeval_soft.plotting.sheet import POINTS, Entry, Sheet
from sedeval_soft.plotting.subject import Subject, Subjects, said_of_others
from sedeval_soft.plotting.texts import all_shortened, joined, points_of, told, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

POOLED = "all classes"

MOST_LINES, MOST_PANELS = 12, 12
"""Classes of which there is a line, and a panel, where nothing else is said."""

_MANY = 5000
"""Points from which they are drawn as pixels, whatever the form of the figure."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one system and class, or of all classes together.

    x, y: (n,). joins: how it goes between points: a drawstyle of matplotlib; `points`, not at all; `marked`,
    by a thin line between marks. value: stands beside its name. mark: a point of it to look at.
    """

    x: Floats
    y: Floats
    joins: str = "default"
    value: str = ""
    mark: tuple[float, float] | None = None

    @property
    def drawable(self) -> bool:
        """Return whether there is anything to see."""
        return bool(np.any(np.isfinite(self.x) & np.isfinite(self.y)))


@dataclass(frozen=True, slots=True)
class Plan:
    """Which lines a figure has, and what is around them.

    line: that of a system and a class, None for all classes together; None where there is none. frame: draws
    what lies behind, and sets the axes. labels: of the axes. pooled: whether there is a line of all classes.
    heading: what the values beside names are. more: further entries of the legend. lacking: why a class with
    reference may have no line. square: whether axes are.
    """

    line: Callable[[Subject, str | None], Line | None]
    frame: Callable[[Axes], None]
    labels: tuple[str, str]
    pooled: bool = False
    heading: str = ""
    more: Sequence[Entry] = ()
    lacking: str = "Undefined"
    square: bool = False
    notes: list[str] = field(default_factory=list)


def strokes(count: int) -> list[dict[str, Any]]:
    """Return how each of some lines is drawn: colour and dash of the style, and a marker."""
    given = told("axes.prop_cycle").by_key()
    found = zip(
        islice(cycle(given.get("color", ["C0"])), count),
        islice(cycle(given.get("linestyle", DASHES)), count),
        islice(cycle(MARKERS), count),
        strict=True,
    )
    return [{"color": colour, "linestyle": dash, "marker": marker} for colour, dash, marker in found]


def draw_panels(subjects: Subjects, look: Look, plan: Plan) -> Figure:
    """Draw all lines of a plan."""
    names = subjects.chosen()
    if len(subjects.systems) > DISTINCT:
        raise SettingsError(
            f"up to {DISTINCT} lines can be told apart; found {len(subjects.systems)} systems"
        )
    if len(subjects.systems) == 1:
        return _of_one(subjects, look, plan, names)
    if plan.pooled and not subjects.wish.class_names:
        return _by_system(subjects, look, plan, [None])
    return _by_system(subjects, look, plan, list(names))


def _of_one(subjects: Subjects, look: Look, plan: Plan, names: Sequence[str]) -> Figure:
    """Draw one panel with a line for each class, and one of all together."""
    lines = {name: plan.line(subjects.first, name) for name in names}
    drawn = [name for name, line in lines.items() if line is not None and line.drawable]
    kept, others = subjects.kept(drawn, MOST_LINES, DISTINCT)
    notes = [
        *plan.notes,
        *undefined(subjects, [n for n in names if n not in drawn], plan.lacking),
        *said_of_others(others),
    ]
    chosen = [(name, lines[name], style) for name, style in zip(kept, strokes(len(kept)), strict=True)]
    whole = plan.line(subjects.first, None) if plan.pooled and not subjects.wish.class_names else None
    if whole is not None and whole.drawable:
        chosen.append((POOLED, whole, _ink()))
    sheet = _sheet(subjects, look, plan, 1, notes, single=True)
    entries = [Entry(_handle(style, line), name, line.value) for name, line, style in chosen if line]
    figure, (axes,) = sheet.laid_out([*entries, *plan.more])
    _frame(axes, plan)
    for _, line, style in chosen:
        if line is not None:
            _draw(axes, line, style)
    if not chosen:
        say_nothing(axes)
    return figure


def _by_system(subjects: Subjects, look: Look, plan: Plan, names: Sequence[str | None]) -> Figure:
    """Draw a panel for each class, or one of all together, with a line for each system."""
    lines = {name: [plan.line(system, name) for system in subjects.systems] for name in names}
    has = {name: [line is not None and line.drawable for line in own] for name, own in lines.items()}
    drawn = [name for name in names if any(has[name])]
    kept, others = subjects.kept([n for n in drawn if n is not None], MOST_PANELS)
    panels: list[str | None] = [*kept] if drawn != [None] else [None]
    notes = [
        *plan.notes,
        *undefined(subjects, [n for n in names if n is not None and n not in drawn], plan.lacking),
    ]
    for k, system in enumerate(subjects.systems):
        lacking = [n or POOLED for n in panels if n in has and not has[n][k]]
        notes += [f"{system.name} has nothing to be drawn of {joined(lacking)}."] if lacking else []
    sheet = _sheet(
        subjects, look, plan, len(panels), [*notes, *said_of_others(others)], single=panels == [None]
    )
    styles = strokes(len(subjects.systems))
    alone = len(panels) == 1
    entries = []
    for k, system in enumerate(subjects.systems):
        line = lines[panels[0]][k] if panels and panels[0] in lines else None
        value = line.value if alone and line is not None else ""
        entries.append(Entry(_handle(styles[k], line), system.name, value))
    sheet.heading = plan.heading if alone else ""
    figure, all_axes = sheet.laid_out([*entries, *plan.more])
    titles = _titles(panels, sheet)
    for i, axes in enumerate(all_axes):
        if i >= max(len(panels), 1):
            axes.set_axis_off()
            continue
        _frame(
            axes,
            plan,
            (sheet.width * POINTS / sheet.columns * 0.75, sheet.height * POINTS / sheet.rows * 0.75),
        )
        label_edges(axes, lowest=i + sheet.columns >= len(panels))
        if not panels or not any(has[panels[i]]):
            say_nothing(axes)
            continue
        if titles[i]:
            axes.set_title(titles[i])
        for line, style in zip(lines[panels[i]], styles, strict=True):
            if line is not None and line.drawable:
                _draw(axes, line, style)
    return figure


def label_edges(axes: Axes, *, lowest: bool) -> None:
    """Leave labels and numbers at the edges of a grid; lowest: whether no panel stands below this one."""
    text = axes.get_xlabel()
    axes.label_outer()
    if lowest:
        axes.set_xlabel(text)
        axes.xaxis.set_tick_params(labelbottom=True)


def _titles(panels: Sequence[str | None], sheet: Sheet) -> list[str]:
    room = sheet.width * POINTS / sheet.columns * 0.8
    names = [name for name in panels if name is not None]
    return all_shortened(names, room, points_of("axes.titlesize")) if names else [""] * len(panels)


def undefined(subjects: Subjects, names: Sequence[str], lacking: str = "Undefined") -> list[str]:
    """Return the notes on classes of which nothing can be drawn; lacking: why, of those with reference."""
    silent = [name for name in names if subjects.size(name) == 0]
    other = [name for name in names if name not in silent]
    found = [f"No reference: {joined(silent)}."] if silent else []
    return [*found, *([f"{lacking}: {joined(other)}."] if other else [])]


def grid_of(count: int, width: float, unit: float) -> tuple[int, int]:
    """Return in how many rows and columns so many panels stand."""
    columns = max(1, min(count, int(width / (1.6 * unit))))
    rows = math.ceil(max(count, 1) / columns)
    return rows, math.ceil(max(count, 1) / rows)


def unit_of() -> float:
    """Return how much larger letters are than those of a paper."""
    return points_of("font.size") / 8.0


def _sheet(
    subjects: Subjects, look: Look, plan: Plan, count: int, notes: list[str], *, single: bool
) -> Sheet:
    unit = unit_of()
    width = look.inches("single" if single or count <= 1 else "double")
    rows, columns = grid_of(count, width, unit)
    if columns == 1 and rows == 1:
        height = min(width * (0.9 if plan.square else 0.72), 3.6 * unit)
    else:
        height = rows * (width / columns) * (1.0 if plan.square else 0.85)
    panel = {"sharex": True, "sharey": True}
    sheet = Sheet(look, width, height, rows, columns, notes=notes, heading=plan.heading, panel=panel)
    del subjects
    return sheet


def _frame(axes: Axes, plan: Plan, room: tuple[float, float] | None = None) -> None:
    """Draw what lies behind; room: the points that labels may have along the axes, None for all they want."""
    plan.frame(axes)
    size = points_of("axes.labelsize")
    texts = (
        plan.labels
        if room is None
        else ["\n".join(wrapped(t, r, size)) for t, r in zip(plan.labels, room, strict=True)]
    )
    axes.set_xlabel(texts[0])
    axes.set_ylabel(texts[1])
    if plan.square:
        axes.set_box_aspect(1)


def _ink() -> dict[str, Any]:
    thick = 1.6 * told("lines.linewidth")
    return {"color": told("text.color"), "linestyle": "-", "linewidth": thick, "marker": "*", "zorder": 3}


def _line_style(style: dict[str, Any], line: Line | None) -> dict[str, Any]:
    """Return how a line is drawn: its marker only where there is nothing between points."""
    if line is not None and line.joins == "points":
        return {**style, "linestyle": "none"}
    if line is not None and line.joins == "marked":
        return {**style, "linewidth": 0.7 * unit_of()}
    return {**style, "marker": "none"}


def _handle(style: dict[str, Any], line: Line | None) -> Any:  # noqa: ANN401 - a Line2D
    from matplotlib.lines import Line2D

    return Line2D([], [], **_line_style(style, line))


def _draw(axes: Axes, line: Line, style: dict[str, Any]) -> None:
    drawstyle = line.joins if line.joins.startswith("steps") else "default"
    axes.plot(
        line.x,
        line.y,
        drawstyle=drawstyle,
        rasterized=line.joins == "points" and len(line.x) > _MANY,
        **_line_style(style, line) | ({"markersize": 1.6 * unit_of()} if line.joins == "points" else {}),
    )
    if line.mark is not None:
        axes.plot(
            *([value] for value in line.mark), linestyle="none", marker="o", color=style["color"],
            markeredgecolor=axes.get_facecolor(), zorder=4,
        )  # fmt: skip


def say_nothing(axes: Axes) -> None:
    """Write in the middle of axes that they are empty."""
    axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", alpha=0.75)
