"""Scores of classes, and what costs most, as bars."""

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
from sedeval_soft.plots.requirements import class_scores
from sedeval_soft.plots.style import FALSE_ALARM, MISS, Look
from sedeval_soft.report.layout import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

HATCHES = ("", "/////", ".....", "xxxxx", "\\\\\\\\\\", "-----", "+++++", "|||||")

_MOST_CLASSES = 40
_NAMES = 0.42
"""Share of the width that names may take."""


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
