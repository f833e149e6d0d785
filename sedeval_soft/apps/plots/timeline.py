"""One file over time: for each class the reference above, the system below, and between them who is right.

Values are shades of grey; colours are hits (both active at their thresholds), misses (only the reference) and
false alarms (only the system), at every moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.run import Systems, joined
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.report import OUTCOMES, Outcome
from sedeval_soft.settings import Settings
from sedeval_soft.tables import TICKS_PER_SECOND
from sedeval_soft.timeline import Recordings, active, activities, hard_events

_MOST_CLASSES = 20
_MANY = 1500  # pieces of a strip from which it is drawn as pixels, whatever the form of the figure
_STRIP, _BAND, _GAP = 1.0, 0.55, 0.5
"""Heights of a strip of values, of the band of outcomes, and of the gap between classes."""


class Strip(NamedTuple):
    """One side and class over time: edges (n + 1,) in seconds, values (n,), hard events (m, 2) in seconds."""

    edges: Floats
    values: Floats
    events: Floats

    def at(self, times: Floats) -> Floats:
        """Return the values at some times, 0 outside."""
        padded = np.concatenate(([0.0], self.values, [0.0]))
        return padded[np.searchsorted(self.edges, times, side="right")]


Rows = dict[str, list[Strip]]  # the strips of the reference and of the system by class


def _rows(pair: Recordings, start: float, end: float, length: float) -> Rows:
    """Return the data of one file in one system's tables that the figure shows."""
    rows: Rows = {name: [] for name in pair.classes}
    for side, events in zip((pair.reference, pair.system), hard_events(pair), strict=True):
        spans = np.stack([events.onset, events.offset], axis=1) / TICKS_PER_SECOND
        seen = (spans[:, 1] > start) & (spans[:, 0] < end)
        for c, activity in enumerate(activities(side)):
            onset, offset = activity.onset / TICKS_PER_SECOND, activity.offset / TICKS_PER_SECOND
            edges = np.unique(np.concatenate(([0.0, length], onset, offset)))
            values = np.zeros(max(len(edges) - 1, 0))
            # Pieces do not overlap, so that no edge lies within one.
            values[np.searchsorted(edges, onset)] = activity.value
            # Pieces wholly outside of the two times are left out.
            first = max(int(np.searchsorted(edges, start, side="right")) - 1, 0)
            last = min(int(np.searchsorted(edges, end)) + 1, len(edges))
            strip = Strip(
                edges[first:last], values[first : max(last - 1, first)], spans[seen & (events.label == c)]
            )
            rows[pair.classes[c]].append(strip)
    return rows


def draw_timeline(systems: Systems) -> Figure:
    """Draw one file over time."""
    settings, wish = systems.settings, systems.wish
    pairs = [system.pair for system in systems.all if system.pair is not None]
    name = _file(list(dict.fromkeys(file for pair in pairs for file in pair.files)), wish.file)
    pairs = [pair.with_files((name,)) for pair in pairs]
    length = max(float(pair.reach[0]) for pair in pairs)
    start, end = wish.start or 0.0, min(length if wish.end is None else wish.end, length)
    if not 0 <= start < max(end, 1.0):
        raise SettingsError(
            f"--start {start:g}: expected seconds before --end, or the end of the file, {length:g}"
        )
    end = end if end > start else start + 1.0
    recordings = [_rows(pair, start, end, length) for pair in pairs]
    strips = [(label, strip) for rows in recordings for label, both in rows.items() for strip in both]
    heard = {label for label, strip in strips if strip.values.any()} | {*wish.class_names}
    silent = [label for label in systems.classes() if label not in heard]
    labels, omitted = systems.largest([each for each in systems.classes() if each in heard], _MOST_CLASSES)
    left_out = _left_out(pairs[0], length)
    # Boxes around so many events would be black.
    crowded = any(len(strip.events) > _MANY for _, strip in strips)
    notes = [
        # The only file of a table without names has none.
        f"{name}, {start:g} to {end:g} s." if name else f"{start:g} to {end:g} s.",
        *[f"Silent on both sides: {joined(silent)}."] * bool(silent), *omitted,
        *["Shaded: not evaluated."] * bool(left_out),
        *["Hard events are too many to be drawn in so long a time."] * crowded,
    ]  # fmt: skip
    entries = [
        *(layout.Entry(Patch(**_filled_as(each)), name.replace("-", " ")) for name, each in OUTCOMES.items()),
        layout.Entry(Line2D([], [], color="black", linewidth=1.2), "hard event"),
    ]
    each, width = _STRIP + len(pairs) * (_BAND + _STRIP) + _GAP, wish.inches("double")
    high = max(len(labels), 1) * each
    figure, (axes,) = layout.lay_out(wish, (width, 0.55 + 0.11 * high), entries=entries, notes=notes)
    for left in left_out:
        axes.axvspan(*left, facecolor="black", alpha=0.15, linewidth=0, zorder=4)
    for row, label in enumerate(labels):
        # All systems have one reference, which is drawn with the first of them.
        of_class = [rows[label] for rows in recordings if label in rows]
        _draw_strip(axes, of_class[0][0], row * each, boxes=not crowded)
        for k, rows in enumerate(recordings):
            band = row * each + _STRIP + k * (_BAND + _STRIP)
            if label in rows:
                reference, system = rows[label]
                _draw_verdicts(axes, reference, system, settings, band)
                _draw_strip(axes, system, band + _BAND, boxes=not crowded)
    ticks = [row * each + (each - _GAP) / 2 for row in range(len(labels))]
    axes.set_yticks(ticks, layout.all_shortened(labels, width * layout.POINTS * 0.2))
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(start, end), ylim=(high - _GAP + 0.15, -0.15), xlabel="Seconds")
    axes.spines["left"].set_visible(False)
    if not labels:
        layout.write_empty(axes)
    # Systems of the other classes are in the same order.
    called = (
        ["reference", *(system.name for system in systems.all)]
        if systems.several
        else ["reference", "system"]
    )
    for k, text in enumerate(layout.all_shortened(called, 60, layout.SMALL)):
        axes.text(1.005, _STRIP / 2 + k * (_BAND + _STRIP), text, va="center", fontsize=layout.SMALL,
                  transform=axes.get_yaxis_transform())  # fmt: skip
    # Of a high figure as high as of a low one.
    shrink = min(0.6, 1.3 / (0.55 + 0.11 * high))
    values = ScalarMappable(Normalize(0, 1), "Greys")
    layout.add_colour_bar(figure, values, "Value", shrink=shrink, aspect=18, pad=0.01)
    return figure


def _left_out(pair: Recordings, length: float) -> list[tuple[float, float]]:
    """Return begin and end in seconds of the time of one file outside all evaluated regions."""
    if pair.regions is None:
        return []
    edges = np.stack((pair.regions.begin, pair.regions.end), axis=1).reshape(-1) / TICKS_PER_SECOND
    between = np.concatenate(([0.0], np.minimum(edges, length), [length])).reshape(-1, 2).tolist()
    return [(begin, end) for begin, end in between if begin < end]


def _file(files: list[str], wanted: str | None) -> str:
    """Return the file that is drawn; raises SettingsError."""
    name = files[0] if wanted is None and len(files) == 1 else wanted
    if name not in files:
        hint = did_you_mean(name or "", files) or f"; there are {joined(files, 10)}"
        raise SettingsError(f"--file {name or ''}: expected the name of the file that is drawn{hint}")
    return name


def _draw_verdicts(axes: Axes, reference: Strip, system: Strip, settings: Settings, band: float) -> None:
    """Draw outcomes: a box for each run of hits, misses and false alarms, as pixels if they are many."""
    edges, ends = np.union1d(reference.edges, system.edges), (band, band + _BAND)
    middle = (edges[1:] + edges[:-1]) / 2
    ours = active(reference.at(middle), settings.reference_cut, settings.inclusive)
    theirs = active(system.at(middle), settings.threshold, settings.inclusive)
    codes = np.select([ours & theirs, ours, theirs], [1, 2, 3], 0)
    for code, outcome in enumerate(OUTCOMES.values(), 1):
        change = np.flatnonzero(np.diff(codes == code, prepend=False, append=False))
        # Edges and patterns of very many boxes would hide one another.
        plain = {"facecolor": outcome.light, "linewidth": 0, "rasterized": True}
        style = plain if len(codes) > _MANY else _filled_as(outcome) | {"linewidth": 0.4}
        _draw_boxes(axes, edges[change.reshape(-1, 2)], ends, **style, zorder=2)


def _filled_as(outcome: Outcome) -> dict[str, Any]:
    """Return how the area of an outcome is filled: with its colour or its pattern."""
    ground = "white" if outcome.pattern else outcome.light
    return {"facecolor": ground, "edgecolor": outcome.light, "hatch": 6 * outcome.pattern}


def _draw_strip(axes: Axes, strip: Strip, top: float, *, boxes: bool) -> None:
    """Draw values and, in boxes, hard events."""
    # A frame shows that silence was looked at.
    axes.broken_barh(
        [(0.0, float(strip.edges[-1]))], (top, _STRIP), facecolor="none", alpha=0.15, edgecolor="black",
        linewidth=0.4, zorder=1.5,
    )  # fmt: skip
    axes.pcolormesh(
        strip.edges, [top, top + _STRIP], strip.values[None, :], vmin=0.0, vmax=1.0, cmap="Greys",
        rasterized=len(strip.values) > _MANY, linewidth=0, zorder=1,
    )  # fmt: skip
    if boxes:
        ends = (top + 0.08, top + _STRIP - 0.08)
        _draw_boxes(axes, strip.events, ends, facecolor="none", edgecolor="black", linewidth=0.8, zorder=3)


def _draw_boxes(axes: Axes, spans: Floats, ends: tuple[float, float], **style: Any) -> None:  # noqa: ANN401
    """Draw a box from the onset to the offset of each span, (n, 2); ends: its upper and lower edges."""
    x = spans[:, [0, 1, 1, 0]]
    y = np.broadcast_to(np.repeat(ends, 2), x.shape)
    boxes = PolyCollection(list(np.stack([x, y], axis=2)), **style)
    # They lie within the axes, which is known without looking at each.
    boxes.set_in_layout(False)
    axes.add_collection(boxes, autolim=False)
