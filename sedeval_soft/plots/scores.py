"""Scores in figures: a matrix of bases and readings, a leaderboard, bars of classes, and the worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.details import Offender
from sedeval_soft.evaluation.scores import Score
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.plan import Plan
from sedeval_soft.plots.data import System, Systems
from sedeval_soft.plots.figure import (
    POINTS,
    UNDEFINED,
    Entry,
    all_shortened,
    lay_out,
    plain,
    setting,
    strokes,
    text_width,
    unit_of,
    write_empty,
)
from sedeval_soft.plots.heatmaps import draw_cells, ink_on
from sedeval_soft.plots.requirements import MATRIX_BASES, READINGS, class_scores, matrix_score
from sedeval_soft.plots.style import FALSE_ALARM, MISS, Look
from sedeval_soft.report.layout import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

Cells = dict[tuple[str, str], Score | None]
"""One measure of a system by basis and reading; None where that reading is not evaluated."""

HATCHES = ("", "/////", ".....", "xxxxx", "\\\\\\\\\\", "-----", "+++++", "|||||")

_MOST_CLASSES = 40
_NAMES = 0.42
"""Share of the width that names may take."""


def draw_matrix(systems: Systems, look: Look) -> Figure:
    """Draw one measure in all bases and readings."""
    settings, plan = systems.settings, Plan.of(systems.settings)
    measure, average = matrix_score(systems.wish)
    bases = [basis for basis in MATRIX_BASES if plan.scores(basis)]
    readings = [reading for reading in READINGS if any(plan.scores(basis, reading) for basis in bases)]
    families = [(basis, reading) for basis in bases for reading in readings]
    cells: list[Cells] = [
        {family: system.scores.scores.get(f"{'.'.join(family)}.{measure}.{average}") for family in families}
        for system in systems.all
    ]
    label = plain(f"{average} {measure_label(settings, measure)}")
    if systems.several:
        return _draw_board(systems, look, cells, label)
    if settings.ci is not None and len(systems.first.scores.files) > 1:
        return _draw_dots(look, cells[0], f"{label}, {settings.confidence * 100:g} % interval")
    return _draw_heatmap(look, cells[0], f"reading ({label})")


def _draw_heatmap(look: Look, cells: Cells, label: str) -> Figure:
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


def _draw_dots(look: Look, cells: Cells, label: str) -> Figure:
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


def _draw_board(systems: Systems, look: Look, cells: list[Cells], label: str) -> Figure:
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


def draw_classes(systems: Systems, look: Look) -> Figure:
    """Draw scores of each class as bars, and below them their mean over classes."""
    from matplotlib.patches import Patch

    stems = class_scores(systems.settings, systems.wish, several=systems.several)
    series = [(system, stem) for stem in stems for system in systems.all]
    if systems.wish.sort == "score":
        # Undefined ones are the lowest.
        first = {name: _score(*series[0], name).value for name in systems.classes()}
        ordered = sorted(first, key=lambda name: (first[name] is None, -(first[name] or 0.0)))
    else:
        ordered = systems.sorted_classes("class")
    names, notes = systems.largest(ordered, _MOST_CLASSES)
    bars = [[_score(*one, name) for name in (*names, None)] for one in series]
    silent = [
        name
        for k, name in enumerate(names)
        if not systems.size(name) or all(scores[k].value is None for scores in bars)
    ]
    styles = [
        {"facecolor": style["color"], "hatch": HATCHES[k % len(HATCHES)], "edgecolor": "white"}
        for k, style in enumerate(strokes(len(series)))
    ]
    called = [system.name if systems.several else stem for system, stem in series]
    figure, (axes,) = lay_out(
        look,
        (look.inches(), _height(len(names) + 1, len(series))),
        entries=[Entry(Patch(**style), name) for style, name in zip(styles, called, strict=True)],
        notes=[*systems.undefined(silent), *notes],
    )
    # The mean stands apart from the classes that it is of.
    places = np.append(np.arange(len(names)), len(names) + 0.4)
    thick = 0.8 / len(series)
    for k, (scores, style) in enumerate(zip(bars, styles, strict=True)):
        _draw_bars(axes, scores, places + (k - (len(series) - 1) / 2) * thick, thick, style)
    texts = all_shortened(names, look.inches() * POINTS * _NAMES)
    _name_rows(axes, places, [*texts, "macro average"])
    measures = [measure_of(f"{stem}[class]") for stem in stems]
    if all(measure.low == 0 for measure in measures):
        axes.set_xlim(0, 1.02 if all(measure.high == 1 for measure in measures) else None)
    labels = dict.fromkeys(measure_label(systems.settings, measure.name) for measure in measures)
    axes.set_xlabel(plain(stems[0] if systems.several else ", ".join(labels)))
    return figure


def _score(system: System, stem: str, label: str | None) -> Score:
    """Return the score of a class, or the macro average; an undefined one where there is none."""
    basis, reading, measure = stem.split(".")
    average = "macro" if label is None else None
    name = str(ScoreName(basis, reading, measure, average, label))
    return system.scores.scores.get(name) or Score(name, basis, reading, measure, average, label, None)


def _draw_bars(axes: Axes, scores: list[Score], places: Floats, thick: float, style: dict[str, Any]) -> None:
    """Draw bars, their intervals, and a dash where there is nothing to draw."""
    unit = unit_of()
    axes.barh(places, [score.value or 0.0 for score in scores], thick, **style, linewidth=0.3 * unit)
    for place, score in zip(places, scores, strict=True):
        if not score.value:
            # Neither has a bar, but they are not the same.
            text = f" {UNDEFINED}" if score.value is None else " 0"
            axes.text(0, place, text, va="center", fontsize=5.5 * unit)
        elif score.low is not None and score.high is not None:
            ends = [[max(score.value - score.low, 0.0)], [max(score.high - score.value, 0.0)]]
            axes.errorbar(
                [score.value], [place], xerr=ends, fmt="none", ecolor=setting("text.color"),
                elinewidth=0.7 * unit, capsize=1.2 * unit, capthick=0.7 * unit,
            )  # fmt: skip


def _height(rows: int, series: int) -> float:
    """Return the inches that so many rows of so many bars take."""
    return (0.55 + rows * max(0.17, 0.075 * series + 0.05)) * unit_of()


def _name_rows(axes: Axes, places: Floats, texts: Sequence[str]) -> None:
    """Write texts beside rows, from the top down."""
    axes.set_yticks(places, texts)
    axes.tick_params(axis="y", length=0)
    low, high = (places[0], places[-1]) if len(places) else (0.0, 0.0)
    axes.set_ylim(high + 0.6, low - 0.6)
    axes.grid(True, axis="x")


def draw_worst(systems: Systems, look: Look) -> Figure:
    """Draw the segments, files or classes with the most misses and false alarms."""
    from matplotlib.patches import Patch

    what, offenders, label = _offenders(systems)
    edge: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.3 * unit_of()}
    missed: dict[str, Any] = {"facecolor": MISS, **edge}
    inserted: dict[str, Any] = {"facecolor": FALSE_ALARM, "hatch": "/////", **edge}
    figure, (axes,) = lay_out(
        look,
        (look.inches(), _height(max(len(offenders), 2), 2)),
        entries=[Entry(Patch(**missed), "missed"), Entry(Patch(**inserted), "inserted")],
        notes=[] if offenders else ["There are no misses and no false alarms."],
    )
    places = np.arange(len(offenders), dtype=np.float64)
    misses = [float(each.missed) for each in offenders]
    axes.barh(places, misses, 0.7, **missed)
    axes.barh(places, [float(each.inserted) for each in offenders], 0.7, left=misses, **inserted)
    names = [str(each.class_name if what == "classes" else each.file) for each in offenders]
    spans = [
        f" {each.onset:g}\u2013{each.offset:g} s" if what == "segments" and each.onset is not None else ""
        for each in offenders
    ]
    # The seconds of a segment are never cut.
    room = look.inches() * POINTS * _NAMES - max(map(text_width, spans), default=0.0)
    texts = [name + span for name, span in zip(all_shortened(names, room), spans, strict=True)]
    _name_rows(axes, places, texts)
    axes.set_xlabel(label)
    axes.set_xlim(0, None if offenders else 1)
    if not offenders:
        write_empty(axes)
    return figure


def _offenders(systems: Systems) -> tuple[str, tuple[Offender, ...], str]:
    """Return which parts are shown, the worst of them, and what they are counted in; raises SettingsError."""
    worst, wanted = systems.first.scores.worst, systems.wish.of
    if worst is None:
        return wanted or "segments", (), ""
    if wanted == "segments" and worst.basis != "segment":
        raise SettingsError(f"--of segments is of segment-based scores; --only names {worst.basis}")
    what = wanted or ("segments" if worst.basis == "segment" else "files")
    offenders: tuple[Offender, ...] = getattr(worst, what)
    counts = {"segment": "segments", "clip": "files"}.get(worst.basis, "events")
    return what, offenders, f"{counts}, {worst.reading} reading"
