"""Scores of classes, and what costs most, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.spread import Offender, Worst
from sedeval_soft.core.value import Score
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.plotting.look import FALSE_ALARM, MISS, Look
from sedeval_soft.plotting.needs import class_scores
from sedeval_soft.plotting.panels import say_nothing, strokes, undefined, unit_of
from sedeval_soft.plotting.sheet import POINTS, Entry, Sheet
from sedeval_soft.plotting.subject import Subject, Subjects, said_of_others
from sedeval_soft.plotting.texts import all_shortened, plain, told, width
from sedeval_soft.report.layout import measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

HATCHES = ("", "/////", ".....", "xxxxx", "\\\\\\\\\\", "-----", "+++++", "|||||")

_MOST_CLASSES = 40
_NAMES = 0.42
"""Share of the width that names may take."""

_Series = tuple[Subject, str]


def draw_classes(subjects: Subjects, look: Look) -> Figure:
    """Draw scores of each class as bars, and below them their mean over classes."""
    from matplotlib.patches import Patch

    several = len(subjects.systems) > 1
    stems = class_scores(subjects.settings, subjects.wish, several=several)
    series = [(system, stem) for stem in stems for system in subjects.systems]
    names, others = subjects.kept(_in_order(subjects, series[0]), _MOST_CLASSES)
    silent = [n for n in names if not subjects.size(n) or all(_score(s, n).value is None for s in series)]
    notes = [*undefined(subjects, silent), *said_of_others(others)]
    styles = [
        {"facecolor": style["color"], "hatch": HATCHES[k % len(HATCHES)], "edgecolor": "white"}
        for k, style in enumerate(strokes(len(series)))
    ]
    labels = [system.name if several else stem for system, stem in series]
    rows: list[str | None] = [*names, None]
    sheet = Sheet(look, look.inches(), _height(len(rows), len(series)), notes=notes)
    figure, (axes,) = sheet.laid_out(
        [Entry(Patch(**style), label) for style, label in zip(styles, labels, strict=True)]
    )
    # The mean stands apart from the classes that it is of.
    places = np.append(np.arange(len(names)), len(names) + 0.4)
    thick = 0.8 / len(series)
    for k, (one, style) in enumerate(zip(series, styles, strict=True)):
        _bars(
            axes,
            [_score(one, name) for name in rows],
            places + (k - (len(series) - 1) / 2) * thick,
            thick,
            style,
        )
    _name_rows(axes, [*names], places, sheet, last="macro average")
    _frame_classes(axes, subjects, stems, several=several)
    return figure


def _frame_classes(axes: Axes, subjects: Subjects, stems: tuple[str, ...], *, several: bool) -> None:
    measures = [measure_of(f"{stem}[class]") for stem in stems]
    bounded = all(measure.low == 0 and measure.high == 1 for measure in measures)
    if bounded:
        axes.set_xlim(0, 1.02)
    elif all(measure.low == 0 for measure in measures):
        axes.set_xlim(left=0)
    labels = dict.fromkeys(measure_label(subjects.settings, measure.name) for measure in measures)
    axes.set_xlabel(plain(stems[0] if several else ", ".join(labels)))
    axes.grid(True, axis="x")


def _in_order(subjects: Subjects, one: _Series) -> list[str]:
    """Return the classes in the order that is wished for; undefined ones have the lowest scores."""
    names, sort = list(subjects.chosen()), subjects.wish.sort
    if sort == "name":
        return sorted(names)
    if sort == "size":
        return sorted(names, key=lambda name: -subjects.size(name))
    if sort == "score":
        values = {name: _score(one, name).value for name in names}
        return sorted(names, key=lambda name: (values[name] is None, -(values[name] or 0.0)))
    return names


def _score(one: _Series, label: str | None) -> Score:
    """Return the score of a class, or the macro average; an undefined one where there is none."""
    system, stem = one
    basis, reading, measure = stem.split(".")
    average = "macro" if label is None else None
    name = str(ScoreName(basis, reading, measure, average, label))
    return system.scores.scores.get(name) or Score(name, basis, reading, measure, average, label, None)


def _bars(axes: Axes, scores: list[Score], places: Floats, thick: float, style: dict[str, Any]) -> None:
    """Draw bars, their intervals, and a dash where there is nothing to draw."""
    values = np.array([np.nan if s.value is None else s.value for s in scores], dtype=np.float64)
    axes.barh(places, np.nan_to_num(values), thick, **style, linewidth=0.3 * unit_of())
    ink = told("text.color")
    for place, score, value in zip(places, scores, values, strict=True):
        if not score.value:
            # Neither has a bar, but they are not the same.
            shown = " \u2013" if score.value is None else " 0"
            axes.text(0, place, shown, va="center", fontsize=5.5 * unit_of())
        elif score.low is not None and score.high is not None:
            ends = [[max(value - score.low, 0.0)], [max(score.high - value, 0.0)]]
            axes.errorbar(
                [value], [place], xerr=ends, fmt="none", ecolor=ink, elinewidth=0.7 * unit_of(),
                capsize=1.2 * unit_of(), capthick=0.7 * unit_of(),
            )  # fmt: skip


def _height(rows: int, series: int) -> float:
    """Return the inches that so many rows of so many bars take."""
    return (0.55 + rows * max(0.17, 0.075 * series + 0.05)) * unit_of()


def _name_rows(
    axes: Axes,
    names: list[str],
    places: Floats,
    sheet: Sheet,
    behind: Sequence[str] = (),
    last: str | None = None,
) -> None:
    """Write names beside rows, from the top down.

    behind: what stands behind each name, never cut. last: the name of a further row.
    """
    room = sheet.width * POINTS * _NAMES
    behind = behind or [""] * len(names)
    texts = (
        all_shortened(names, room - max(map(width, behind), default=0.0))
        if any(behind)
        else all_shortened(names, room)
    )
    texts = [name + span for name, span in zip(texts, behind, strict=True)]
    axes.set_yticks(places, [*texts, *([last] if last else [])])
    axes.tick_params(axis="y", length=0)
    low, high = (places[0], places[-1]) if len(places) else (0.0, 0.0)
    axes.set_ylim(high + 0.6, low - 0.6)


def draw_worst(subjects: Subjects, look: Look) -> Figure:
    """Draw the segments, files or classes with the most misses and false alarms."""
    from matplotlib.patches import Patch

    worst = subjects.first.scores.worst
    of, offenders = _offenders(worst, subjects.wish.of)
    styles: list[dict[str, Any]] = [
        {"facecolor": MISS, "hatch": "", "edgecolor": "white"},
        {"facecolor": FALSE_ALARM, "hatch": "/////", "edgecolor": "white"},
    ]
    notes = [] if offenders else ["There are no misses and no false alarms."]
    sheet = Sheet(look, look.inches(), _height(max(len(offenders), 2), 2), notes=notes)
    entries = [
        Entry(Patch(**style), name) for style, name in zip(styles, ("missed", "inserted"), strict=True)
    ]
    figure, (axes,) = sheet.laid_out(entries)
    places = np.arange(len(offenders), dtype=np.float64)
    missed = np.array([o.missed for o in offenders], dtype=np.float64)
    inserted = np.array([o.inserted for o in offenders], dtype=np.float64)
    axes.barh(places, missed, 0.7, **styles[0], linewidth=0.3 * unit_of())
    axes.barh(places, inserted, 0.7, left=missed, **styles[1], linewidth=0.3 * unit_of())
    _name_rows(axes, [_name(o, of) for o in offenders], places, sheet, [_span(o, of) for o in offenders])
    if worst is not None:
        what = {"segment": "segments", "clip": "files"}.get(worst.basis, "events")
        axes.set_xlabel(f"{what}, {worst.reading} reading")
    axes.set_xlim(left=0)
    axes.grid(True, axis="x")
    if not offenders:
        axes.set_xlim(0, 1)
        say_nothing(axes)
    return figure


def _offenders(worst: Worst | None, of: str | None) -> tuple[str, tuple[Offender, ...]]:
    """Return which parts are shown, and the worst of them; raises SettingsError for segments of events."""
    if worst is None:
        return of or "segments", ()
    if of == "segments" and worst.basis != "segment":
        raise SettingsError(f"--of segments is of segment-based scores; --only names {worst.basis}")
    chosen = of or ("segments" if worst.basis == "segment" else "files")
    return chosen, {"segments": worst.segments, "files": worst.files, "classes": worst.classes}[chosen]


def _name(offender: Offender, of: str) -> str:
    return str(offender.class_name if of == "classes" else offender.file)


def _span(offender: Offender, of: str) -> str:
    """Return which seconds of a file a segment is."""
    if of != "segments" or offender.onset is None or offender.offset is None:
        return ""
    return f" {offender.onset:g}\u2013{offender.offset:g} s"
