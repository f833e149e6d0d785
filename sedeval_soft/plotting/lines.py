"""Curves over thresholds: precision and recall, ROC, DET, F.

What is only known at thresholds is drawn as steps or points. A precision-recall curve has the precision of a
threshold back to the recall of the one above, so that the area below it is the average precision. A ROC is
straight between thresholds, as the area under it has it. Of events recall may fall as the threshold does:
each threshold is a point, and nothing lies between two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sedeval_soft.plotting.look import Look
from sedeval_soft.plotting.needs import Family, family_for
from sedeval_soft.plotting.panels import Line, Plan, draw_panels, unit_of
from sedeval_soft.plotting.sheet import Entry
from sedeval_soft.plotting.subject import Subject, Subjects

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sedeval_soft.measures.curves.curve import Curve

Floats = npt.NDArray[np.float64]

_PERCENTS = (0.01, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 90.0, 95.0, 98.0, 99.5, 99.9, 99.99)
"""Rates at the ticks of normal deviates."""

_EDGE = 0.02
"""How far axes reach beyond 0 and 1, so that lines there are whole."""


class _Found:
    """The curves of each system by class; those of all classes together at None."""

    def __init__(self, subjects: Subjects, family: Family) -> None:
        self.by_system: dict[str, dict[str | None, Curve]] = {}
        for system in subjects.systems:
            curves = system.curves
            own: dict[str | None, Curve] = dict(curves.families()[family].items())
            if (pooled := curves.pooled.get(".".join(family))) is not None:
                own[None] = pooled
            self.by_system[system.name] = own

    def of(self, system: Subject, label: str | None) -> Curve | None:
        curve = self.by_system[system.name].get(label)
        return None if curve is None or not curve.n_ref else curve

    @property
    def pooled(self) -> bool:
        return all(None in own for own in self.by_system.values())


def draw_pr(subjects: Subjects, look: Look) -> Figure:
    """Draw precision over recall."""
    family = family_for("pr", subjects.settings)
    curves, cells = _Found(subjects, family), family[0] in ("segment", "clip")

    def line(system: Subject, label: str | None) -> Line | None:
        curve = curves.of(system, label)
        if curve is None:
            return None
        value = _value(system, family, "average_precision", label) if cells else ""
        joins = "steps-pre" if cells else "points"
        return Line(curve.recall[::-1], curve.precision[::-1], joins, value)

    heading = "average precision" if cells else ""
    labels = (_label("recall", family), "precision")
    plan = Plan(line, _frame_pr, labels, curves.pooled, heading, lacking="Never detected")
    return draw_panels(subjects, look, plan)


def draw_roc(subjects: Subjects, look: Look) -> Figure:
    """Draw the true positive rate over the false positive rate."""
    family = family_for("roc", subjects.settings)
    curves = _Found(subjects, family)

    def line(system: Subject, label: str | None) -> Line | None:
        curve = curves.of(system, label)
        if curve is None:
            return None
        value = _value(system, family, "roc_auc", label)
        return Line(curve.false_positive_rate[::-1], curve.recall[::-1], value=value)

    labels = (_label("false positive rate", family), "true positive rate")
    lacking = "Active throughout in the reference"
    heading = "area under the curve"
    plan = Plan(line, _frame_roc, labels, curves.pooled, heading, lacking=lacking, square=True)
    return draw_panels(subjects, look, plan)


def draw_det(subjects: Subjects, look: Look) -> Figure:
    """Draw the miss rate over the false alarm rate, both as normal deviates."""
    family = family_for("det", subjects.settings)
    curves = _Found(subjects, family)
    low, high = 0.0, 0.0

    def line(system: Subject, label: str | None) -> Line | None:
        nonlocal low, high
        curve = curves.of(system, label)
        if curve is None:
            return None
        x, y = (axis[::-1] for axis in curve.det)
        inside = np.isfinite(x) & np.isfinite(y)
        ends = np.concatenate((x[inside], y[inside]))
        low, high = min(low, ends.min(initial=0.0)), max(high, ends.max(initial=0.0))
        # Of a budget of false alarms the misses are those of the last threshold that keeps to it.
        value = _value(system, family, "equal_error_rate", label)
        return Line(x, y, "steps-post", value)

    def frame(axes: Axes) -> None:
        from scipy.special import ndtri

        ticks = [float(ndtri(percent / 100)) for percent in _PERCENTS]
        span = max(low - 0.15, ticks[0]), min(high + 0.15, ticks[-1])
        span = min(span[0], ticks[3]), max(span[1], ticks[7])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, [f"{percent:g}" for percent in _PERCENTS])
        axes.grid(True)
        axes.plot(span, span, color="#b0b0b0", linestyle="-", linewidth=0.6 * unit_of(), zorder=1)
        axes.set(xlim=span, ylim=span)

    labels = (_label("false alarms in %", family), "misses in %")
    lacking = "Beyond the axes, for no threshold has errors of both kinds"
    plan = Plan(line, frame, labels, curves.pooled, "equal error rate", lacking=lacking, square=True)
    return draw_panels(subjects, look, plan)


def draw_f_thresholds(subjects: Subjects, look: Look) -> Figure:
    """Draw F over the system's threshold, and mark the best."""
    from matplotlib.lines import Line2D

    family = family_for("f-thresholds", subjects.settings)
    curves = _Found(subjects, family)
    optimal = f"{family[0]}.optimal"
    threshold = subjects.settings.threshold

    def line(system: Subject, label: str | None) -> Line | None:
        curve = curves.of(system, label)
        if curve is None:
            return None
        # A curve ends with the threshold that nothing is above; it holds for all above that.
        x, y = np.append(curve.threshold, max(1.0, curve.threshold[-1])), np.append(curve.f1, curve.f1[-1])
        if label is None:
            at, best = _highest(x, y)
        else:
            at, best = (system.value(f"{optimal}.{name}[{label}]") for name in ("threshold", "f1"))
        if at is None or best is None:
            return Line(x, y, "steps-post")
        return Line(x, y, "steps-post", f"{best:.3f}", (min(max(at, 0.0), 1.0), best))

    def frame(axes: Axes) -> None:
        axes.grid(True, axis="y")
        axes.axvline(threshold, color="#808080", linestyle=":", zorder=1)
        axes.set(xlim=(-_EDGE, 1 + _EDGE), ylim=(-_EDGE, 1 + _EDGE))

    grey = Line2D([], [], color="#808080", linestyle=":")
    mark = Line2D([], [], color="#808080", linestyle="none", marker="o")
    more = [Entry(mark, "best threshold"), Entry(grey, f"threshold {threshold:g}")]
    labels = ("threshold of the system", _label("F1", family))
    plan = Plan(line, frame, labels, curves.pooled, "best F1", more)
    return draw_panels(subjects, look, plan)


def _highest(x: Floats, y: Floats) -> tuple[float | None, float | None]:
    """Return the middle of the last step of those that are highest, and how high it is."""
    if not np.any(np.isfinite(y[:-1])):
        return None, None
    last = len(y) - 2 - int(np.nanargmax(y[-2::-1]))
    return float(max(x[last], 0.0) + x[last + 1]) / 2, float(y[last])


def _value(system: Subject, family: Family, measure: str, label: str | None) -> str:
    """Return the score of a class, or of all cells together, as it stands beside a name."""
    stem = f"{'.'.join(family)}.{measure}"
    value = system.value(f"{stem}.micro" if label is None else f"{stem}[{label}]")
    return "\u2013" if value is None else f"{value:.3f}"


def _label(text: str, family: Family) -> str:
    """Return the label of an axis, which says of what basis and which reference it is."""
    basis, reading = family
    soft = ", soft reference" if reading == "soft" else ""
    return f"{text} ({basis}-based{soft})"


def _frame_pr(axes: Axes) -> None:
    """Draw lines of equal F behind."""
    for f in (0.2, 0.4, 0.6, 0.8):
        precision = np.geomspace(f / (2 - f), 1.0, 100)
        recall = f * precision / (2 * precision - f)
        axes.plot(recall, precision, color="#d9d9d9", linestyle="-", linewidth=0.6 * unit_of(), zorder=0.5)
        axes.text(1.03, f / (2 - f), f"F {f:g}", fontsize=6 * unit_of(), color="#808080", va="center")
    axes.set(xlim=(-_EDGE, 1 + _EDGE), ylim=(-_EDGE, 1 + _EDGE))


def _frame_roc(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], color="#b0b0b0", linestyle="-", linewidth=0.6 * unit_of(), zorder=1)
    axes.set(xlim=(-_EDGE, 1 + _EDGE), ylim=(-_EDGE, 1 + _EDGE))
