"""Curves over thresholds: precision and recall, ROC, DET, F, PSD-ROC, reliability, the reference's sweep.

What is only known at thresholds is drawn as steps or points. A precision-recall curve has the precision of a
threshold back to the recall of the one above, so that the area below it is the average precision. A ROC is
straight between thresholds, as the area under it has it. Of events recall may fall as the threshold does:
each threshold is a point, and nothing lies between two of them.

Of one system there is a line for each class; of several there is one for each system, of all classes together
or in a panel for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.data import System, Systems, joined
from sedeval_soft.apps.plots.style import DISTINCT, Look
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.curve_scores import Curve
from sedeval_soft.names import did_you_mean

POOLED = "all classes"

MOST_LINES, MOST_PANELS = 12, 12
"""Classes of which there is a line, and a panel, where nothing else is said."""

_MANY = 5000  # points from which they are drawn as pixels, whatever the form of the figure
_PERCENTS = (0.01, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 90.0, 95.0, 98.0, 99.5, 99.9, 99.99)
"""Rates at the ticks of normal deviates."""

_UNIT = (-0.02, 1.02)  # axes from 0 to 1 reach a little further, so that lines there are whole
_GREY = "#808080"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one system and class, or of all classes together.

    x, y: (n,). joins: how it goes between points: a drawstyle of matplotlib; `points`, not at all; `marked`,
    by a thin line between marks. value: stands beside its name. mark: a point of it to look at.
    """

    x: Floats
    y: Floats
    joins: Literal["default", "steps-pre", "steps-post", "points", "marked"] = "default"
    value: str = ""
    mark: tuple[float, float] | None = None

    def style(self, stroke: dict[str, Any]) -> dict[str, Any]:
        """Return how it is drawn with a stroke: its marker only where there is nothing between points."""
        thin = 0.7 * layout.unit_of()
        marked: dict[str, dict[str, Any]] = {"points": {"linestyle": "none"}, "marked": {"linewidth": thin}}
        return stroke | marked.get(self.joins, {"marker": "none", "drawstyle": self.joins})

    def draw(self, axes: Axes, stroke: dict[str, Any]) -> None:
        """Draw it with a stroke."""
        style = self.style(stroke)
        if self.joins == "points":
            style |= {"markersize": 1.6 * layout.unit_of(), "rasterized": len(self.x) > _MANY}
        axes.plot(self.x, self.y, **style)
        if self.mark is not None:
            edge = axes.get_facecolor()
            axes.plot(*self.mark, "o", color=stroke["color"], markeredgecolor=edge, zorder=4)


Panels = dict[str, list[tuple[str, Line | None, dict[str, Any]]]]
"""The lines of panels by title: of each its name in the legend, None where there is none, and its stroke."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is around the lines of a figure.

    labels: of the axes. behind: draws what lies behind the lines, and limits the axes, which go from 0 to 1
    elsewhere. heading: of the values beside names. more: further entries of the legend. square: whether axes
    are. grid: its axis, `both` or none. diagonal: whether it is drawn.
    """

    labels: tuple[str, str]
    behind: Callable[[Axes], object] = lambda _: None
    heading: str = ""
    more: Sequence[layout.Entry] = ()
    square: bool = False
    grid: Literal["", "y", "both"] = ""
    diagonal: bool = False

    def draw(self, axes: Axes, labels: Sequence[str], title: str) -> None:
        """Draw what is around and behind lines."""
        axes.set(xlim=_UNIT, ylim=_UNIT, xlabel=labels[0], ylabel=labels[1], title=title)
        if self.grid:
            axes.grid(True, axis=self.grid)
        if self.diagonal:
            thin = 0.6 * layout.unit_of()
            axes.axline((0, 0), slope=1, **layout.faint(0.3), zorder=1, linewidth=thin)
        self.behind(axes)
        if self.square:
            axes.set_box_aspect(1)


def _draw_panels(look: Look, frame: Frame, panels: Panels, notes: Sequence[str]) -> Figure:
    """Draw panels, at least one; the legend has what the first one names."""
    alone = len(panels) == 1
    width = look.inches("single" if alone else "double")
    rows, columns = layout.grid_of(len(panels), width)
    height = min(width * (0.9 if frame.square else 0.72), 3.6 * layout.unit_of())
    if not alone:
        height = rows * (width / columns) * (1.0 if frame.square else 0.85)
    like = next((line for lines in panels.values() for _, line, _ in lines if line), Line(*np.zeros((2, 0))))
    entries = [
        layout.Entry(Line2D([], [], **like.style(stroke)), name, line.value if alone and line else "")
        for name, line, stroke in next(iter(panels.values()))
    ]
    figure, all_axes = layout.lay_out(
        look, (width, height), (rows, columns), len(panels), entries=[*entries, *frame.more],
        heading=frame.heading if alone else "", notes=notes, sharex=True, sharey=True,
    )  # fmt: skip
    each = width / columns * layout.POINTS, height / rows * layout.POINTS
    titles = layout.all_shortened([*panels], each[0] * 0.8, layout.points_of("axes.titlesize"))
    labels: Sequence[str] = frame.labels
    if not alone:
        # A label is not longer than its panel.
        size = layout.points_of("axes.labelsize")
        labels = ["\n".join(layout.wrapped(t, 0.75 * r, size)) for t, r in zip(labels, each, strict=True)]
    for i, (axes, title, lines) in enumerate(zip(all_axes, titles, panels.values(), strict=True)):
        frame.draw(axes, labels, title)
        layout.label_edges(axes, lowest=i + columns >= len(panels))
        if not any(line for _, line, _ in lines):
            layout.write_empty(axes)
        for _, line, stroke in lines:
            if line is not None:
                line.draw(axes, stroke)
    return figure


def _draw_systems(
    systems: Systems,
    look: Look,
    frame: Frame,
    line_of: Callable[[System, str | None], Line | None],
    *,
    pooled: bool = False,
    reason: str = "Undefined",
) -> Figure:
    """Draw the lines of all systems.

    line_of: returns the line of a class, of all classes for None. pooled: whether there is a line of all
    classes. reason: why a class with reference may have no line.
    """
    if len(systems.all) > DISTINCT:
        raise SettingsError(
            f"{len(systems.all)} systems are too many: up to {DISTINCT} lines can be told apart"
        )

    def drawable(label: str | None) -> list[Line | None]:
        lines = [line_of(system, label) for system in systems.all]
        return [
            line if line and np.any(np.isfinite(line.x) & np.isfinite(line.y)) else None for line in lines
        ]

    several, pooled = systems.several, pooled and not systems.wish.class_names
    by_class = {} if pooled and several else {name: drawable(name) for name in systems.classes()}
    drawn = [name for name, lines in by_class.items() if any(lines)]
    notes = systems.undefined([name for name in by_class if name not in drawn], reason)
    most = (MOST_PANELS, None) if several else (MOST_LINES, DISTINCT)
    chosen, omitted = systems.largest(drawn, *most)
    styles = layout.strokes(len(systems.all) if several else len(chosen))
    if not several:
        bold = {"color": layout.setting("text.color"), "linestyle": "-", "marker": "*", "zorder": 3}
        bold["linewidth"] = 1.6 * layout.setting("lines.linewidth")
        lines = [(name, by_class[name][0], style) for name, style in zip(chosen, styles, strict=True)]
        whole = drawable(None) if pooled else []
        panels: Panels = {"": [*lines, *((POOLED, line, bold) for line in whole if line is not None)]}
        return _draw_panels(look, frame, panels, [*notes, *omitted])
    by_panel = {"": drawable(None)} if pooled else {name: by_class[name] for name in chosen}
    called = [system.name for system in systems.all]
    for k, name in enumerate(called):
        absent = [title or POOLED for title, lines in by_panel.items() if lines[k] is None]
        notes += [f"{name} has no line for {joined(absent)}."] if absent else []
    by_panel = by_panel or {"": [None] * len(called)}
    panels = {title: list(zip(called, lines, styles, strict=True)) for title, lines in by_panel.items()}
    return _draw_panels(look, frame, panels, [*notes, *omitted])


def _draw_curves(
    systems: Systems,
    look: Look,
    frame: Frame,
    line_of: Callable[[Curve, System, str | None], Line],
    measure: str = "",
    reason: str = "Undefined",
) -> Figure:
    """Draw the line of each curve of a class with reference; measure: the score beside its name."""
    family = ".".join(systems.family)
    curves = {system.name: system.scores.curves for system in systems.all}

    def line(system: System, label: str | None) -> Line | None:
        of_system = curves[system.name]
        by_class = of_system.pooled if label is None else of_system.families()[systems.family]
        curve = by_class.get(label or family)
        if curve is None or not curve.n_ref:
            return None
        made = line_of(curve, system, label)
        name = f"{family}.{measure}" + (".micro" if label is None else f"[{label}]")
        return replace(made, value=layout.number(system.value(name))) if measure else made

    pooled = all(family in each.pooled for each in curves.values())
    return _draw_systems(systems, look, frame, line, pooled=pooled, reason=reason)


def _based(systems: Systems, text: str) -> str:
    """Return the label of an axis, which says of what basis and which reference it is."""
    basis, reading = systems.family
    return f"{text} ({basis}-based{', soft reference' if reading == 'soft' else ''})"


def draw_pr(systems: Systems, look: Look) -> Figure:
    """Draw precision over recall, and lines of equal F behind."""
    cells = systems.family[0] in ("segment", "clip")

    def behind(axes: Axes) -> None:
        thin = 0.6 * layout.unit_of()
        for f in (0.2, 0.4, 0.6, 0.8):
            precision = np.geomspace(f / (2 - f), 1.0, 100)
            recall = f * precision / (2 * precision - f)
            axes.plot(recall, precision, **layout.faint(0.15), linewidth=thin, zorder=0.5)
            axes.text(1.03, f / (2 - f), f"F {f:g}", fontsize=6 * layout.unit_of(), color=_GREY, va="center")

    def line(curve: Curve, *_: object) -> Line:
        return Line(curve.recall[::-1], curve.precision[::-1], "steps-pre" if cells else "points")

    labels, measure = (_based(systems, "recall"), "precision"), "average_precision" if cells else ""
    frame = Frame(labels, behind, measure.replace("_", " "))
    return _draw_curves(systems, look, frame, line, measure, "Never detected")


def draw_roc(systems: Systems, look: Look) -> Figure:
    """Draw the true positive rate over the false positive rate."""

    def line(curve: Curve, *_: object) -> Line:
        return Line(curve.false_positive_rate[::-1], curve.recall[::-1])

    labels = (_based(systems, "false positive rate"), "true positive rate")
    frame = Frame(labels, heading="area under the curve", square=True, diagonal=True)
    return _draw_curves(systems, look, frame, line, "roc_auc", "Active throughout in the reference")


def draw_det(systems: Systems, look: Look) -> Figure:
    """Draw the miss rate over the false alarm rate, both as normal deviates."""
    ends = [0.0]

    def line(curve: Curve, *_: object) -> Line:
        x, y = (axis[::-1] for axis in curve.det)
        inside = np.isfinite(x) & np.isfinite(y)
        ends.extend(end(axis[inside], initial=0.0) for end in (np.min, np.max) for axis in (x, y))
        # Of a budget of false alarms the misses are those of the last threshold that keeps to it.
        return Line(x, y, "steps-post")

    def behind(axes: Axes) -> None:
        from scipy.special import ndtri

        ticks = [float(ndtri(percent / 100)) for percent in _PERCENTS]
        span = max(min(ends) - 0.15, ticks[0]), min(max(ends) + 0.15, ticks[-1])
        span = min(span[0], ticks[3]), max(span[1], ticks[7])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, [f"{percent:g}" for percent in _PERCENTS])
        axes.set(xlim=span, ylim=span)

    labels = (_based(systems, "false alarms in %"), "misses in %")
    frame = Frame(labels, behind, "equal error rate", square=True, grid="both", diagonal=True)
    reason = "Beyond the axes, for no threshold has errors of both kinds"
    return _draw_curves(systems, look, frame, line, "equal_error_rate", reason)


def draw_f_thresholds(systems: Systems, look: Look) -> Figure:
    """Draw F over the system's threshold, and mark the best."""
    threshold, stem = systems.settings.threshold, f"{systems.family[0]}.optimal"

    def line(curve: Curve, system: System, label: str | None) -> Line:
        # A curve ends with the threshold that nothing is above; it holds for all above that.
        known = ~np.isnan(curve.threshold)
        x, y = np.append(curve.threshold[known], 1.0), np.append(curve.f1[known], curve.f1[-1])
        at, best = (system.value(f"{stem}.{name}[{label}]") for name in ("threshold", "f1"))
        if label is None and np.any(np.isfinite(y)):
            at, best = float(x[np.nanargmax(y)]), float(np.nanmax(y))
        value = "" if best is None else f"{best:.3f}"
        # Where nothing is detected at best, F is 0 and no threshold is the best.
        return Line(x, y, "steps-post", value, None if at is None or best is None else (at, best))

    more = (
        layout.Entry(Line2D([], [], color=_GREY, linestyle="none", marker="o"), "best threshold"),
        layout.Entry(Line2D([], [], color=_GREY, linestyle=":"), f"threshold {threshold:g}"),
    )
    labels = ("threshold of the system", _based(systems, "F1"))
    frame = Frame(
        labels, lambda axes: axes.axvline(threshold, color=_GREY, linestyle=":", zorder=1), "best F1", more,
        grid="y",
    )  # fmt: skip
    return _draw_curves(systems, look, frame, line)


def draw_reliability(systems: Systems, look: Look) -> Figure:
    """Draw the mean of the reference over that of the system's values, bin by bin."""
    (basis, reading), mass = systems.family, systems.wish.binning == "mass"
    family = f"{basis}.{reading}"
    bins = {system.name: system.scores.curves.reliability.get(family, {}) for system in systems.all}
    measure = "adaptive_calibration_error" if mass else "expected_calibration_error"

    def line(system: System, label: str | None) -> Line | None:
        if label not in bins[system.name]:
            return None
        of_class = bins[system.name][label][1 if mass else 0]
        value = layout.number(system.value(f"{family}.{measure}[{label}]"))
        return Line(of_class.score, of_class.reference, "marked", value)

    height = "mean of the reference" if reading == "soft" else "share active in the reference"
    labels, heading = (f"mean of the system's values ({basis}s)", height), measure.replace("_", " ")
    frame = Frame(labels, heading=heading, square=True, grid="both", diagonal=True)
    return _draw_systems(systems, look, frame, line)


def draw_psd_roc(systems: Systems, look: Look) -> Figure:
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
    labels = ("effective false positives per hour", "effective true positive rate")
    frame = Frame(labels, lambda axes: axes.set_xlim(0, end), grid="both")
    return _draw_panels(look, frame, panels, notes)


def draw_sweep(systems: Systems, look: Look) -> Figure:
    """Draw scores over thresholds of the reference."""
    sweeps = [system.scores.sweep for system in systems.all if system.scores.sweep is not None]
    swept = list(dict.fromkeys(name for sweep in sweeps for name in sweep.scores))
    for name in systems.wish.scores:
        if name not in swept:
            hint = did_you_mean(name, swept) or f"; there are {', '.join(swept)}"
            raise SettingsError(f"--score {name}: the sweep has no such score{hint}")
    main = [name for name in swept if name.endswith(".f1.macro")]
    names = list(systems.wish.scores) or (main[:1] if systems.several else main)
    pairs = [(system, name) for name in names for system in systems.all]
    panels: Panels = {"": []}
    absent = []
    for (system, name), style in zip(pairs, layout.strokes(len(pairs)), strict=True):
        sweep = system.scores.sweep
        values = np.array(sweep.scores.get(name, ()) if sweep else (), dtype=np.float64)
        label = name if not systems.several else system.name if len(names) == 1 else f"{system.name}: {name}"
        if sweep is None or not np.isfinite(values).any():
            absent.append(label)
        else:
            # Values are known at the marks only; the thin lines lead the eye.
            panels[""].append((label, Line(np.array(sweep.thresholds), values, "marked"), style))
    label = names[0] if len(names) == 1 else "score"
    frame = Frame(("threshold of the reference", label), lambda axes: axes.set_xlim(0.05, 0.95), grid="y")
    notes = [f"Undefined: {', '.join(absent)}."] if absent else []
    figure = _draw_panels(look, frame, panels, notes)
    if any("error_rate" in name or "n_ref" in name for name in names):
        # Only where all is drawn is it known how high it goes.
        figure.axes[0].autoscale(axis="y")
        figure.axes[0].set_ylim(_UNIT[0], None)
    return figure
