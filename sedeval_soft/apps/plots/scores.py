"""Scores in figures: matrices of readings, classes and thresholds, a leaderboard, bars, and the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.data import READINGS, System, Systems, class_scores, matrix_score
from sedeval_soft.apps.plots.registry import MATRIX_BASES
from sedeval_soft.apps.plots.style import HEAT, Look
from sedeval_soft.arrays import Floats
from sedeval_soft.comparison.board import Board
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.scores import Score
from sedeval_soft.measures.registry import ScoreName, measure_of
from sedeval_soft.plan import Plan
from sedeval_soft.report.legend import measure_label
from sedeval_soft.report.outcomes import FALSE_ALARM, MISS

Cells = dict[tuple[str, str], Score | None]
"""One measure of a system by basis and reading; None where that reading is not evaluated."""

_MOST_BARS, _MOST_CELLS = 40, 30  # classes of which there are bars, and cells, where nothing else is said
_NUMBERED = 14  # classes up to which there is room for numbers in the cells of a page's width
_COUNTS = "Blues"  # most cells are near 0, which is white: ink and eye are spared
_NAMES = 0.42  # share of the width that names may take


def draw_cells(
    axes: Axes,
    values: Floats,
    texts: Mapping[tuple[int, int], str],
    colours: str = HEAT,
    **font: Any,  # noqa: ANN401 - as for matplotlib's texts
) -> None:
    """Draw a cell for each value in [0, 1], hatches where there is none, and texts by row and column."""
    image = axes.imshow(values, vmin=0.0, vmax=1.0, cmap=colours, aspect="auto", interpolation="nearest")
    none: dict[str, Any] = {"facecolor": "#f2f2f2", "edgecolor": "#bfbfbf", "hatch": "....", "linewidth": 0}
    for i, j in np.argwhere(~np.isfinite(values)):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **none))
    for count, draw_line in zip(values.shape[::-1], (axes.axvline, axes.axhline), strict=True):
        for edge in range(1, count):
            draw_line(edge - 0.5, color="white", linestyle="-", linewidth=0.8 * layout.unit_of())
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), text in texts.items():
        # Black or white, what can be read on the colour.
        light = True
        if np.isfinite(values[i, j]):
            red, green, blue, _ = image.cmap(image.norm(values[i, j]))
            light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        axes.text(j, i, text, ha="center", va="center", color="black" if light else "white", **font)


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
    label = layout.plain(f"{average} {measure_label(settings, measure)}")
    styles = dict(zip(readings, layout.strokes(len(readings)), strict=True))
    if systems.several:
        return _draw_board(systems, look, bases, styles, cells, label)
    scores = [*cells[0].values()]
    height = (0.5 + 0.36 * len(bases)) * layout.unit_of() * max(1.0, look.inches() / 7.0)
    figure, (axes,) = layout.lay_out(look, (look.inches(), height))
    values = np.array([score.value if score else None for score in scores], dtype=np.float64)
    texts = {divmod(k, len(readings)): _number(score) for k, score in enumerate(scores) if score is not None}
    size = layout.points_of("font.size")
    if any("\n" in text for text in texts.values()):
        label, size = f"{label}, {settings.confidence * 100:g} % interval", 0.8 * size
    draw_cells(axes, values.reshape(len(bases), len(readings)), texts, fontsize=size)
    axes.set_xticks(range(len(readings)), readings)
    axes.set_yticks(range(len(bases)), bases)
    axes.set_xlabel(f"reading ({label})")
    return figure


def _number(score: Score) -> str:
    """Return the value of a score, and its interval below it where it has one."""
    interval = f"\n[{score.low:.2f}, {score.high:.2f}]" if None not in (score.low, score.high) else ""
    return f"{layout.number(score.value)}{interval}"


def _draw_dot(axes: Axes, score: Score | None, place: float, style: dict[str, Any]) -> None:
    if score is not None and score.value is not None:
        layout.draw_interval(axes, (score.low, score.high), place, style["color"])
        axes.plot([score.value], [place], **{**style, "linestyle": "none"}, zorder=3)


def _draw_board(
    systems: Systems,
    look: Look,
    bases: Sequence[str],
    styles: dict[str, dict[str, Any]],
    cells: list[Cells],
    label: str,
) -> Figure:
    """Draw systems from the best down, a panel for each basis, with dots for the readings."""
    board, count = systems.board, len(systems.all)
    width = look.inches("double" if len(bases) > 1 else "single")
    size = width, (0.6 + (0.11 * len(styles) + 0.08) * count) * layout.unit_of()
    dots = [layout.Entry(Line2D([], [], **{**styles[name], "linestyle": "none"}), name) for name in styles]
    notes = [f"Places are by {board.rank_by}. {_ties(board)}"] if board else []
    figure, panels = layout.lay_out(
        look, size, (1, len(bases)), len(bases), entries=dots, notes=notes, sharey=True
    )  # fmt: skip
    for basis, axes in zip(bases, panels, strict=True):
        for i, of_system in enumerate(cells):
            for k, (reading, style) in enumerate(styles.items()):
                place = i + (k - (len(styles) - 1) / 2) * 0.76 / len(styles)
                _draw_dot(axes, of_system[basis, reading], place, style)
            if i:
                axes.axhline(i - 0.5, **layout.faint(0.15), linewidth=0.5 * layout.unit_of(), zorder=0)
        axes.grid(True, axis="x")
        axes.set(title=basis, xlabel=label)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0)
    names = layout.all_shortened([system.name for system in systems.all], width * layout.POINTS * 0.25)
    before = {entry.system: f"{entry.place}  " for entry in board.entries} if board else {}
    texts = [before.get(each.name, "") + name for each, name in zip(systems.all, names, strict=True)]
    panels[0].set_yticks(range(count), texts)
    panels[0].set_ylim(count - 0.5, -0.5)
    return figure


def _ties(board: Board) -> str:
    """Return a sentence that says at which places systems cannot be told apart."""
    groups: dict[int, list[str]] = {}
    for entry in board.entries:
        groups.setdefault(entry.rank, []).append(str(entry.place))
    ties = [group for group in groups.values() if len(group) > 1]
    sure = f"at {board.confidence * 100:g} % confidence"
    if not ties:
        return f"There are no ties {sure}."
    if len(groups) == 1:
        return f"No system can be told apart from the first {sure}."
    spans = [f"{group[0]}\N{EN DASH}{group[-1]}" if len(group) > 2 else " and ".join(group) for group in ties]
    return f"Tied with the first of them {sure}: {'; '.join(spans)}."


def draw_classes(systems: Systems, look: Look) -> Figure:
    """Draw scores of each class as bars, and below them their mean over classes."""
    stems = class_scores(systems.settings, systems.wish, several=systems.several)
    series = [(system, stem) for stem in stems for system in systems.all]
    names = systems.classes()
    if systems.wish.sort == "score":
        first = {name: _score(*series[0], name).value for name in names}
        # Undefined ones are the lowest.
        names.sort(key=lambda name: (first[name] is None, -(first[name] or 0.0)))
    names, notes = systems.largest(names, _MOST_BARS)
    bars = [[_score(*one, name) for name in (*names, None)] for one in series]
    values = [[score.value for score in scores] for scores in bars]
    silent = [
        name
        for name, column in zip(names, zip(*values, strict=True), strict=False)
        if not systems.size(name) or column.count(None) == len(series)
    ]
    styles = layout.bar_styles(len(series))
    called = [system.name if systems.several else stem for system, stem in series]
    figure, (axes,) = layout.lay_out(
        look,
        (look.inches(), _height(len(names) + 1, len(series))),
        entries=[layout.Entry(Patch(**style), name) for style, name in zip(styles, called, strict=True)],
        notes=[*systems.undefined(silent), *notes],
    )
    # The mean stands apart from the classes that it is of.
    places = np.append(np.arange(len(names)), len(names) + 0.4)
    thick = 0.8 / len(series)
    for k, (scores, style) in enumerate(zip(bars, styles, strict=True)):
        _draw_bars(axes, scores, places + (k - (len(series) - 1) / 2) * thick, thick, style)
    texts = layout.all_shortened(names, look.inches() * layout.POINTS * _NAMES)
    _name_bars(axes, places, [*texts, "macro average"])
    measures = [measure_of(f"{stem}[class]") for stem in stems]
    if all(measure.low == 0 for measure in measures):
        axes.set_xlim(0, 1.02 if all(measure.high == 1 for measure in measures) else None)
    labels = dict.fromkeys(measure_label(systems.settings, measure.name) for measure in measures)
    axes.set_xlabel(layout.plain(stems[0] if systems.several else ", ".join(labels)))
    return figure


def _score(system: System, stem: str, label: str | None) -> Score:
    """Return the score of a class, or the macro average; an undefined one where there is none."""
    basis, reading, measure = stem.split(".")
    average = "macro" if label is None else None
    name = str(ScoreName(basis, reading, measure, average, label))
    return system.scores.scores.get(name) or Score(name, basis, reading, measure, average, label, None)


def _draw_bars(axes: Axes, scores: list[Score], places: Floats, thick: float, style: dict[str, Any]) -> None:
    """Draw bars, their intervals, and a dash where there is nothing to draw."""
    unit = layout.unit_of()
    axes.barh(places, [score.value or 0.0 for score in scores], thick, **style, linewidth=0.3 * unit)
    for place, score in zip(places, scores, strict=True):
        if not score.value:
            # Neither has a bar, but they are not the same.
            text = f" {layout.UNDEFINED}" if score.value is None else " 0"
            axes.text(0, place, text, va="center", fontsize=5.5 * unit)
        elif score.low is not None and score.high is not None:
            ends = [[max(score.value - score.low, 0.0)], [max(score.high - score.value, 0.0)]]
            axes.errorbar(
                [score.value], [place], xerr=ends, fmt="none", ecolor=layout.setting("text.color"),
                elinewidth=0.7 * unit, capsize=1.2 * unit, capthick=0.7 * unit,
            )  # fmt: skip


def _height(rows: int, series: int) -> float:
    """Return the inches that so many rows of so many bars take."""
    return (0.55 + rows * max(0.17, 0.075 * series + 0.05)) * layout.unit_of()


def _name_bars(axes: Axes, places: Floats, texts: Sequence[str]) -> None:
    """Write texts beside rows, from the top down."""
    layout.name_rows(axes, places, texts)
    low, high = (places[0], places[-1]) if len(places) else (0.0, 0.0)
    axes.set_ylim(high + 0.6, low - 0.6)
    axes.grid(True, axis="x")


def draw_worst(systems: Systems, look: Look) -> Figure:
    """Draw the segments, files or classes with the most misses and false alarms."""
    worst = systems.all[0].scores.worst
    assert worst is not None, "it is asked for, and there is what costs"  # noqa: S101
    if systems.wish.of == "segments" and worst.basis != "segment":
        raise SettingsError(f"--of segments needs segment-based scores; --only names {worst.basis}")
    what = systems.wish.of or ("segments" if worst.basis == "segment" else "files")
    offenders = getattr(worst, what)
    unit = {"segment": "segments", "clip": "files"}.get(worst.basis, "events")
    missed, inserted = layout.filled_as(MISS), layout.filled_as(FALSE_ALARM)
    figure, (axes,) = layout.lay_out(
        look,
        (look.inches(), _height(max(len(offenders), 2), 2)),
        entries=[layout.Entry(Patch(**missed), "misses"), layout.Entry(Patch(**inserted), "false alarms")],
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
    room = look.inches() * layout.POINTS * _NAMES - max(map(layout.text_width, spans), default=0.0)
    texts = [name + span for name, span in zip(layout.all_shortened(names, room), spans, strict=True)]
    _name_bars(axes, places, texts)
    axes.set_xlabel(f"{unit}, {worst.reading} reading")
    # A bar that begins where another one ends is no edge to stop at.
    axes.use_sticky_edges = False
    axes.margins(x=0.03)
    axes.set_xlim(0, None if offenders else 1)
    if not offenders:
        layout.write_empty(axes)
    return figure


def draw_confusion(systems: Systems, look: Look) -> Figure:
    """Draw how often each class of the reference meets each class of the system."""
    names, omitted = systems.largest(systems.classes(), _MOST_CELLS)
    count = len(names) + 1
    width, unit = look.inches("double" if count > 9 else "single"), layout.unit_of()
    texts = layout.all_shortened(names, width * layout.POINTS * 0.25)
    # Names stand upright below, and take as much as they do at the side.
    beside = max(map(layout.text_width, [*texts, "inserted"])) / layout.POINTS + 0.25 * unit
    cell = (width - beside - 0.3 * unit) / count
    high = beside + count * min(max(0.8 * cell, 0.14 * unit), 0.3 * unit)
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
    draw_cells(axes, shares, numbers, _COUNTS, fontsize=6.0 * unit)
    for draw_line in (axes.axvline, axes.axhline):
        draw_line(count - 1.5, color=axes.get_facecolor(), linestyle="-", linewidth=3 * unit)
    axes.set_xticks(range(count), [*texts, "missed"], rotation=90)
    axes.set_yticks(range(count), [*texts, "inserted"])
    axes.set(xlabel="system", ylabel="reference")
    layout.add_colour_bar(figure, axes.images[0], "share")
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
    """Draw F over the thresholds of the reference and of the system, of all classes or some by themselves."""
    (basis, _), wanted, settings = systems.family, systems.wish.class_names, systems.settings
    scores, classes = systems.all[0].scores, systems.classes()
    surface = scores.curves.surfaces[basis]
    panels = {name: surface.f[scores.classes.index(name)] for name in classes} if wanted else {}
    panels = panels or {"": surface.micro_f}
    count, unit = len(panels), layout.unit_of()
    width = look.inches("single" if count == 1 else "double")
    rows, columns = layout.grid_of(count, width)
    each = width / columns
    high = min(each * 0.85, 3.4 * unit) if count == 1 else each * 0.9
    ridge: dict[str, Any] = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9 * unit}
    legend = (
        layout.Entry(Line2D([], [], color="#808080", **ridge), "best threshold of the system"),
        layout.Entry(Line2D([], [], color="#808080", linestyle="none", marker="X"), "hard reading"),
    )
    silent = [name for name in wanted if systems.size(name) == 0]
    figure, all_axes = layout.lay_out(
        look, (width, rows * high), (rows, columns), count, entries=legend, notes=systems.undefined(silent),
        sharex=True, sharey=True,
    )  # fmt: skip
    hard: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "markersize": 5 * unit}
    for k, (axes, (title, values)) in enumerate(zip(all_axes, panels.items(), strict=True)):
        _draw_surface(axes, surface.thresholds, values, ridge)
        axes.plot(settings.threshold, settings.reference_cut, "X", **hard)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set(xlabel="threshold of the system", ylabel="threshold of the reference")
        layout.label_edges(axes, lowest=k + columns >= count)
        axes.set_title(
            layout.shortened(title, each * layout.POINTS * 0.7, layout.points_of("axes.titlesize"))
        )
    label = f"F ({basis}-based, {'by class' if wanted else 'all classes'})"
    layout.add_colour_bar(figure, all_axes[0].images[0], label, shrink=0.9)
    return figure


def _draw_surface(axes: Axes, at: Floats, values: Floats, ridge: dict[str, Any]) -> None:
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
    defined = np.nan_to_num(values)
    best = np.where(defined.max(axis=1) > 0, at[defined.argmax(axis=1)], np.nan)
    if np.isfinite(best).any():
        levels, thin = np.arange(0.1, 1.0, 0.1), 0.4 * layout.unit_of()
        axes.contour(at, at, values, levels=levels, colors="white", linewidths=thin)
    axes.plot(best, at, color="black", **ridge)
