"""Curves over thresholds: precision and recall, ROC, DET, F1, PSD-ROC, and reliability.

Thresholds are points; lines between them are drawn as steps or not at all. A precision-recall curve has the
precision of a threshold back to the recall of the one above, so that the area below it is the average
precision. A ROC is straight between thresholds, as the area under it has it. For events, recall may fall as
the threshold does: each threshold is a point, without lines.

Values of 0 are detected at no threshold. The last step of a curve, to all segments active, is dotted.

One system has a line for each class up to six. From seven on, it has the line of all classes together, the
best and the worst class, and the others in grey, or a panel for each class. Several systems have a line each,
of all classes together, or in a panel for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from textwrap import fill
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.run import System, Systems, Wish, joined
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures import Curve

POOLED = "all classes"

MOST_LINES, MOST_PANELS = 6, 12
"""Classes of which there is a line with a name, and a panel."""

LEAST = 10
"""Segments that a bin of a reliability diagram must have to be drawn."""

_NARROWEST = 1.6  # inches that a panel has at least
_MANY = 5000  # points from which they are drawn as pixels, whatever the form of the figure
_PERCENTS = (0.01, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 90.0, 95.0, 98.0, 99.5, 99.9, 99.99)
"""Rates at the ticks of normal deviates."""

_UNIT = (-0.02, 1.02)  # axes from 0 to 1 reach a little further, so that lines there are whole
_DOTS = (0, (1.0, 2.0))


Joins = Literal["default", "steps-pre", "steps-post", "points"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one system and class, or of all classes together.

    - x, y: (n,). joins: the line between points: a drawstyle of matplotlib, or `points`, none at all.
    - value: shown beside its name. merit: the number by which lines are the best or the worst.
    - mark: a point of it to emphasise. dotted: whether its last step leads to a point without threshold.
    - areas: (n,) of dots in square points.
    """

    x: Floats
    y: Floats
    joins: Joins = "default"
    value: str = ""
    merit: float | None = None
    mark: tuple[float, float] | None = None
    dotted: bool = False
    areas: Floats | None = None

    def style(self, stroke: dict[str, Any]) -> dict[str, Any]:
        """Return how it is drawn with a stroke: its marker only if there is nothing between points."""
        points = self.joins == "points"
        return stroke | ({"linestyle": "none"} if points else {"marker": "none", "drawstyle": self.joins})

    def draw(self, axes: Axes, stroke: dict[str, Any]) -> None:
        """Draw it with a stroke."""
        style = self.style(stroke)
        if self.joins == "points":
            style |= {"markersize": 1.6, "rasterized": len(self.x) > _MANY}
        if self.areas is not None:
            style |= {"linewidth": 0.7}
        solid = slice(-1 if self.dotted else None)
        axes.plot(self.x[solid], self.y[solid], **style)
        if self.dotted:
            thin = {"linestyle": _DOTS, "linewidth": 0.8}
            axes.plot(self.x[-2:], self.y[-2:], **style | thin)
        if self.areas is not None:
            axes.scatter(self.x, self.y, self.areas, color=stroke["color"], alpha=0.7, linewidths=0)
        if self.mark is not None:
            axes.plot(*self.mark, "o", color=stroke["color"], markeredgecolor="white", zorder=4)


Panels = dict[str, list[tuple[str, Line | None, dict[str, Any]]]]
"""The lines of panels by title: of each its name in the legend, empty for none, the line, and its stroke."""


def _draw_panels(
    wish: Wish,
    panels: Panels,
    notes: Sequence[str],
    labels: Sequence[str],
    *,
    behind: Callable[[Axes], object] = lambda _: None,
    heading: str = "",
    more: Sequence[layout.Entry] = (),
    square: bool = False,
    grid: Literal["", "y", "both"] = "",
    diagonal: bool = False,
) -> Figure:
    """Draw panels, at least one; the legend has the names of the first one.

    labels: of the axes. behind: draws the background once the lines are drawn, and limits the axes, which go
    from 0 to 1 elsewhere. heading: of the values beside names. more: further entries of the legend.
    square: whether axes are. grid: its axis, `both` or none. diagonal: whether it is drawn.
    """
    alone = len(panels) == 1
    width = wish.inches("single" if alone else "double")
    rows = ceil(len(panels) / max(1, int(width / _NARROWEST)))
    columns = ceil(len(panels) / rows)
    each = width / columns
    height = min(width * (0.9 if square else 0.72), 3.2) if alone else rows * each * (1.0 if square else 0.85)
    drawn = [line for lines in panels.values() for _, line, _ in lines if line]
    like = drawn[0] if drawn else Line(*np.zeros((2, 0)))
    entries = [
        layout.Entry(Line2D([], [], **like.style(stroke)), name, line.value if alone and line else "")
        for name, line, stroke in next(iter(panels.values()))
        if name
    ]
    dotted = any(line.dotted and np.isfinite(line.x[-1]) for line in drawn)
    notes = [*notes, *["Dotted: no threshold detects values of 0."] * dotted]
    figure, all_axes = layout.lay_out(
        wish, (width, height), (rows, columns), len(panels), entries=[*entries, *more],
        heading=heading if alone else "", notes=notes, sharex=True, sharey=True,
    )  # fmt: skip
    titles = layout.all_shortened([*panels], each * layout.POINTS * 0.7, layout.LABELS)
    # A label is not longer than its panel.
    labels = [fill(text, int(14 * each)) for text in labels]
    for i, (axes, title, lines) in enumerate(zip(all_axes, titles, panels.values(), strict=True)):
        # The value of the only line is not in the legend.
        value = "" if alone or not lines or lines[0][0] or not lines[0][1] else lines[0][1].value
        axes.set(
            xlim=_UNIT, ylim=_UNIT, xlabel=labels[0], ylabel=labels[1], title=f"{title}  {value}".strip()
        )
        axes.grid(bool(grid), axis=grid or "both")
        if diagonal:
            axes.axline((0, 0), slope=1, **layout.faint(0.3), zorder=1, linewidth=0.6)
        axes.set_box_aspect(1 if square else None)
        axes.label_outer()
        if i + columns >= len(panels):
            # The lowest of its column.
            axes.set_xlabel(labels[0])
            axes.xaxis.set_tick_params(labelbottom=True)
        if not any(line for _, line, _ in lines):
            layout.write_empty(axes)
        for _, line, stroke in lines:
            if line is not None:
                line.draw(axes, stroke)
        behind(axes)
    return figure


def _summary(lines: dict[str, Line], whole: Line | None) -> list[tuple[str, Line | None, dict[str, Any]]]:
    """Return the line of all classes together, of the best and the worst class, and the others in grey."""
    ranked = sorted((line.merit, name) for name, line in lines.items() if line.merit is not None)
    ends = {"best": ranked[-1][1], "worst": ranked[0][1]} if len(ranked) > 1 else {}
    named = [
        (f"{rank}: {name}", lines[name], stroke | {"zorder": 2.5})
        for (rank, name), stroke in zip(ends.items(), layout.strokes(2), strict=False)
    ]
    thin = {"color": layout.GREY, "alpha": 0.5, "linestyle": "-", "linewidth": 0.5}
    others = [replace(line, mark=None) for name, line in lines.items() if name not in ends.values()]
    count = f"{len(others)} other classes"
    grey = [("" if k else count, replace(line, value=""), thin) for k, line in enumerate(others)]
    return [(POOLED, whole, layout.BOLD), *named, *grey]


def _draw_systems(
    systems: Systems,
    line_of: Callable[[System, str | None], Line | None],
    *,
    notes: Sequence[str] = (),
    pooled: bool = False,
    most: int = MOST_LINES,
    reason: str = "Undefined",
    **frame: Any,  # noqa: ANN401 - as for _draw_panels
) -> Figure:
    """Draw the lines of all systems.

    line_of: returns the line of a class, of all classes for None. notes: for the caption. pooled: whether
    all classes have a line. most: classes of one system that have lines in one panel. reason: for a class
    with reference but without a line.
    """
    if len(systems.all) > layout.DISTINCT:
        raise SettingsError(
            f"{len(systems.all)} systems are too many: up to {layout.DISTINCT} lines can be told apart"
        )

    def drawable(label: str | None) -> list[Line | None]:
        lines = [line_of(system, label) for system in systems.all]
        return [
            line if line and np.any(np.isfinite(line.x) & np.isfinite(line.y)) else None for line in lines
        ]

    several, pooled = systems.several, pooled and not systems.wish.class_names
    whole = drawable(None) if pooled else []
    by_class = {} if pooled and several else {name: drawable(name) for name in systems.classes()}
    drawn = {name: lines for name, lines in by_class.items() if any(lines)}
    notes = [*notes, *systems.undefined([name for name in by_class if name not in drawn], reason)]
    chosen, omitted = systems.largest([*drawn], len(drawn) if any(whole) else MOST_PANELS)
    lines = {name: drawn[name][0] for name in chosen}
    if not several and len(chosen) > most and any(whole):
        panels: Panels = {"": _summary({name: line for name, line in lines.items() if line}, whole[0])}
    elif not several and len(chosen) <= most:
        own = zip(chosen, lines.values(), layout.strokes(len(chosen)), strict=True)
        panels = {"": [*own, *((POOLED, line, layout.BOLD) for line in whole if line)]}
    else:
        called = [system.name if several else "" for system in systems.all]
        by_panel = {"": whole} if pooled else {name: drawn[name] for name in chosen}
        for k, name in enumerate(called):
            absent = [title or POOLED for title, of_panel in by_panel.items() if of_panel[k] is None]
            notes += [f"{name} has no line for {joined(absent)}."] if absent else []
        by_panel, styles = by_panel or {"": [None] * len(called)}, layout.strokes(len(called))
        panels = {title: list(zip(called, each, styles, strict=True)) for title, each in by_panel.items()}
    return _draw_panels(systems.wish, panels, [*notes, *omitted], **frame)


def _draw_curves(
    systems: Systems,
    line_of: Callable[[Curve, Callable[..., float | None]], Line],
    **how: Any,  # noqa: ANN401 - as for _draw_systems
) -> Figure:
    """Draw the line of each curve of a class with reference.

    line_of: returns it, given the curve and a function that returns the value of a measure of the class, or
    of all classes, in the reading of the curve or another one.
    """
    basis, of_curve = systems.family
    family = f"{basis}.{of_curve}"
    curves = {system.name: system.scores.curves for system in systems.all}

    def line(system: System, label: str | None) -> Line | None:
        of_system = curves[system.name]
        by_class = of_system.pooled if label is None else of_system.families()[basis, of_curve]
        curve = by_class.get(label or family)
        if curve is None or not curve.n_ref:
            return None
        part = ".micro" if label is None else f"[{label}]"
        return line_of(
            curve, lambda measure, reading=of_curve: system.value(f"{basis}.{reading}.{measure}{part}")
        )

    pooled = all(family in each.pooled for each in curves.values())
    return _draw_systems(systems, line, pooled=pooled, **how)


def _based(systems: Systems, text: str) -> str:
    """Return the label of an axis, with its basis and reference."""
    basis, reading = systems.family
    return f"{text} ({basis}-based{', soft reference' if reading == 'soft' else ''})"


def _draw_rates(
    systems: Systems,
    rates: Callable[[Curve], tuple[Floats, Floats]],
    joins: Joins,
    measure: str,
    **how: Any,  # noqa: ANN401 - as for _draw_systems
) -> Figure:
    """Draw the line of two rates of each curve; measure: of its area, shown if lines join the points."""
    points = joins == "points"

    def line(curve: Curve, value: Callable[..., float | None]) -> Line:
        x, y = (axis[::-1] for axis in rates(curve))
        if points:
            return Line(x, y, joins)
        # The point of most detections may be reached at no threshold.
        dotted = len(curve.threshold) > 1 and bool(np.isnan(curve.threshold[0]))
        area = value(measure)
        return Line(x, y, joins, layout.number(area), area, dotted=dotted)

    heading = "" if points else measure.replace("roc_auc", "area under the curve").replace("_", " ")
    return _draw_curves(systems, line, heading=heading, **how)


def draw_pr(systems: Systems) -> Figure:
    """Draw precision over recall, and lines of equal F1 behind."""

    def behind(axes: Axes) -> None:
        for f in (0.2, 0.4, 0.6, 0.8):
            precision = np.geomspace(f / (2 - f), 1.0, 100)
            recall = f * precision / (2 * precision - f)
            axes.plot(recall, precision, **layout.faint(0.15), linewidth=0.6, zorder=0.5)
            if axes.get_subplotspec().is_last_col():  # type: ignore[union-attr]
                axes.text(
                    1.03, f / (2 - f), f"F1 {f:g}", va="center", color=layout.GREY, fontsize=layout.SMALL
                )

    joins: Joins = "steps-pre" if systems.family[0] in ("segment", "clip") else "points"
    return _draw_rates(
        systems, lambda curve: (curve.recall, curve.precision), joins, "average_precision",
        labels=(_based(systems, "Recall"), "Precision"), behind=behind, reason="Never detected",
    )  # fmt: skip


def draw_roc(systems: Systems) -> Figure:
    """Draw the true positive rate over the false positive rate."""
    return _draw_rates(
        systems, lambda curve: (curve.false_positive_rate, curve.recall), "default", "roc_auc",
        labels=(_based(systems, "False positive rate"), "True positive rate"), square=True, diagonal=True,
        reason="Active throughout in the reference",
    )  # fmt: skip


def draw_det(systems: Systems) -> Figure:
    """Draw the miss rate over the false alarm rate, both as normal deviates.

    An equal error rate is beside a name if a threshold has no fewer false alarms than misses.
    """

    def line(curve: Curve, value: Callable[..., float | None]) -> Line:
        # The rates of the point without threshold, 1 and 0, have no normal deviates.
        x, y = (axis[::-1] for axis in curve.det)
        known = ~np.isnan(curve.threshold)
        met = np.any(curve.false_positive_rate[known] >= curve.false_negative_rate[known])
        rate = value("equal_error_rate") if met else None
        text = layout.UNDEFINED if rate is None else f"{100 * rate:.1f}"
        # Of a budget of false alarms the misses are those of the last threshold that keeps to it.
        return Line(x, y, "steps-post", text, value("roc_auc"))

    def behind(axes: Axes) -> None:
        from scipy.special import ndtri

        # The diagonal is through 0, so that there is an end.
        ends = np.concatenate([each.dataLim.get_points() for each in axes.figure.axes])
        ends = ends[np.isfinite(ends).all(axis=1)]
        ticks = [float(ndtri(percent / 100)) for percent in _PERCENTS]
        span = np.clip(
            (min(ends.min() - 0.15, ticks[3]), max(ends.max() + 0.15, ticks[7])), ticks[0], ticks[-1]
        )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, [f"{percent:g}" for percent in _PERCENTS])
        axes.set(xlim=span, ylim=span)

    return _draw_curves(
        systems, line, labels=(_based(systems, "False alarms in %"), "Misses in %"), behind=behind,
        heading="equal error rate in %", square=True, grid="both", diagonal=True,
        reason="Beyond the axes (no threshold with misses and false alarms)",
    )  # fmt: skip


def draw_f_thresholds(systems: Systems) -> Figure:
    """Draw F1 over the system's threshold, and mark the best."""
    threshold = systems.settings.threshold

    def line(curve: Curve, value: Callable[..., float | None]) -> Line:
        # A curve ends with the threshold that nothing is above; it holds for all above that.
        known = ~np.isnan(curve.threshold)
        x, y = np.append(curve.threshold[known], 1.0), np.append(curve.f1[known], curve.f1[-1])
        at, best = value("threshold", "optimal"), value("f1", "optimal")
        if at is None and best:
            # All classes together have no such threshold.
            at, best = float(x[y.argmax()]), float(y.max())
        # If nothing is detected at best, F1 is 0 and no threshold is the best.
        mark = None if at is None or best is None else (at, best)
        return Line(x, y, "steps-post", layout.number(best), best, mark)

    more = (
        layout.Entry(Line2D([], [], color=layout.GREY, linestyle="none", marker="o"), "best threshold"),
        layout.Entry(Line2D([], [], color=layout.GREY, linestyle=":"), f"threshold {threshold:g}"),
    )
    return _draw_curves(
        systems, line, labels=("Threshold of the system", _based(systems, "F1")), heading="best F1",
        more=more, grid="y",
        behind=lambda axes: axes.axvline(threshold, color=layout.GREY, linestyle=":", zorder=1),
    )  # fmt: skip


def draw_reliability(systems: Systems) -> Figure:
    """Draw the mean reference over the mean of the system's values, bin by bin; dots grow with bins."""
    (basis, reading), family = systems.family, ".".join(systems.family)
    bins = {
        (system.name, label): equally_wide
        for system in systems.all
        for label, (equally_wide, _) in system.scores.curves.reliability.get(family, {}).items()
    }
    largest = max((int(each.size.max(initial=0)) for each in bins.values()), default=0)

    def line(system: System, label: str | None) -> Line | None:
        of_class = bins.get((system.name, label or ""))
        if of_class is None:
            return None
        drawn = of_class.size >= LEAST
        areas = 64.0 * np.sqrt(of_class.size[drawn] / largest)
        value = layout.number(system.value(f"{family}.expected_calibration_error[{label}]"))
        return Line(of_class.score[drawn], of_class.reference[drawn], "default", value, areas=areas)

    height = "Mean of the reference" if reading == "soft" else "Share active in the reference"
    labels, heading = (f"Mean of the system's values ({basis}s)", height), "expected calibration error"
    explained = (
        f"Larger dots are bins of more {basis}s (up to {largest}); those of fewer than {LEAST} are left out."
        + f" Numbers: {heading}." * (not systems.several)
    )
    return _draw_systems(
        systems, line, notes=[explained], most=0, reason=f"No bin of {LEAST} {basis}s", labels=labels,
        square=True, grid="both", diagonal=True, heading=heading,
    )  # fmt: skip


def draw_psd_roc(systems: Systems) -> Figure:
    """Draw the effective true positive rate over effective false positives per hour; the area is PSDS."""
    end = systems.settings.criterion("max_efpr")
    styles = layout.strokes(2 * len(systems.all))
    panels: Panels = {"": []}
    notes = []
    for system in systems.all:
        curves = system.scores.curves
        for roc, name in ((curves.psd_roc, "PSDS"), (curves.pi_psd_roc, "piPSDS")):
            if roc is not None and not np.isfinite(roc.etpr).any():
                notes.append(f"{system.name}: no class has a reference, so there is no {name}.")
            elif roc is not None:
                x, y = np.append(roc.efpr, end), np.append(roc.etpr, roc.etpr[-1])
                line = Line(x, y, "steps-post", f"{name} {roc.value:.3f}")
                panels[""].append((system.name, line, styles[len(panels[""])]))
    return _draw_panels(
        systems.wish, panels, notes, ("Effective false positives per hour", "Effective true positive rate"),
        behind=lambda axes: axes.set_xlim(0, end), grid="both",
    )  # fmt: skip
