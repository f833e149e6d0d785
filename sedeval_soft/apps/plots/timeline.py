"""One file over time: for each class the reference above, the system below, and between them who is right.

Values are shades of grey, so that colour says one thing only. What is a hit, a miss or a false alarm is told
at every moment: whether both, only the reference or only the system is active at its threshold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sedeval_soft.apps.plots import layout
from sedeval_soft.apps.plots.data import Systems, joined
from sedeval_soft.apps.plots.style import Look
from sedeval_soft.arrays import Floats
from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.report.outcomes import OUTCOMES
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import Activity, active, activities
from sedeval_soft.timeline.recordings import Recordings, hard_events

_MOST_CLASSES = 20
_MANY = 1500  # pieces of a strip from which it is drawn as pixels, whatever the form of the figure
_STRIP, _BAND, _GAP = 1.0, 0.55, 0.5
"""Heights of a strip of values, of the band that says who is right, and of what parts classes."""


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
    """Return what is drawn of one file in one system's tables."""

    def strip(activity: Activity, events: Floats) -> Strip:
        onset, offset = activity.onset / TICKS_PER_SECOND, activity.offset / TICKS_PER_SECOND
        edges = np.unique(np.concatenate(([0.0, length], onset, offset)))
        values = np.zeros(max(len(edges) - 1, 0))
        # Pieces do not overlap, so that no edge lies within one.
        values[np.searchsorted(edges, onset)] = activity.value
        # What lies wholly outside of the two times is left out.
        first = max(int(np.searchsorted(edges, start, side="right")) - 1, 0)
        last = min(int(np.searchsorted(edges, end)) + 1, len(edges))
        return Strip(edges[first:last], values[first : max(last - 1, first)], events)

    sides = []
    for rows, events in zip((pair.reference, pair.system), hard_events(pair), strict=True):
        spans = np.stack([events.onset, events.offset], axis=1) / TICKS_PER_SECOND
        seen = (spans[:, 1] > start) & (spans[:, 0] < end)
        strips = enumerate(activities(rows))
        sides.append([strip(each, spans[seen & (events.label == c)]) for c, each in strips])
    return {name: list(each) for name, *each in zip(pair.classes, *sides, strict=True)}


def draw_timeline(systems: Systems, look: Look) -> Figure:
    """Draw one file over time."""
    settings, wish = systems.settings, systems.wish
    pairs = [system.pair for system in systems.all if system.pair is not None]
    name = _file(list(dict.fromkeys(file for pair in pairs for file in pair.files)), wish.file)
    pairs = [pair.with_files((name,)) for pair in pairs]
    length = max(float(pair.reach[0]) for pair in pairs)
    start, end = _span(wish.start or 0.0, wish.end, length)
    recordings = [_rows(pair, start, end, length) for pair in pairs]
    wanted = systems.classes()
    heard = {
        label for rows in recordings for label, both in rows.items() for each in both if each.values.any()
    }
    silent = [label for label in wanted if label not in heard and label not in wish.class_names]
    labels, omitted = systems.largest([label for label in wanted if label not in silent], _MOST_CLASSES)
    # The only file of a table without names has none.
    notes = [f"{name}, {start:g} to {end:g} s." if name else f"{start:g} to {end:g} s."]
    notes += [f"Silent on both sides: {joined(silent)}."] if silent else []
    notes += omitted
    notes += ["Shaded: not evaluated."] * bool(_left_out(pairs[0], length))
    # Boxes around so many events would be black.
    counts = [len(side.events) for rows in recordings for both in rows.values() for side in both]
    if crowded := any(count > _MANY for count in counts):
        notes.append("There are too many hard events to draw; --start and --end show a part of the file.")
    each = _STRIP + len(pairs) * (_BAND + _STRIP) + _GAP
    n_rows, width, unit = max(len(labels), 1), look.inches("double"), layout.unit_of()
    entries = [
        layout.Entry(Patch(**layout.filled_as(outcome)), name.replace("-", " "))
        for name, outcome in OUTCOMES.items()
    ]
    box = Line2D([], [], color=layout.setting("text.color"), linestyle="-", linewidth=1.2 * unit)
    size = width, (0.55 + 0.1 * each * n_rows) * unit
    figure, (axes,) = layout.lay_out(
        look, size, entries=[*entries, layout.Entry(box, "hard event")], notes=notes
    )
    for left in _left_out(pairs[0], length):
        axes.axvspan(*left, facecolor=layout.setting("text.color"), alpha=0.15, linewidth=0, zorder=4)
    image = None
    for row, label in enumerate(labels):
        of_class = [(k, rows[label]) for k, rows in enumerate(recordings) if label in rows]
        for k, (reference, system) in of_class:
            top, band = row * each, row * each + _STRIP + k * (_BAND + _STRIP)
            _draw_verdicts(axes, reference, system, settings, band)
            # All systems have one reference, which is drawn with the first of them.
            strips = {band + _BAND: system} if k != of_class[0][0] else {top: reference, band + _BAND: system}
            for y, strip in strips.items():
                mesh = _draw_strip(axes, strip, y, boxes=not crowded)
                image = image or mesh
    ticks = [row * each + (each - _GAP) / 2 for row in range(len(labels))]
    layout.name_rows(axes, ticks, layout.all_shortened(labels, width * layout.POINTS * 0.2))
    if labels:
        # Those of the other classes are in the same order.
        called = [system.name for system in systems.all] if systems.several else ["system"]
        small, right = 5.5 * unit, axes.get_yaxis_transform()
        for k, text in enumerate(layout.all_shortened(["reference", *called], 60 * unit, small)):
            place = _STRIP / 2 + k * (_BAND + _STRIP)
            axes.text(1.005, place, text, transform=right, va="center", fontsize=small)
    axes.set(xlim=(start, end), ylim=(n_rows * each - _GAP + 0.15, -0.15), xlabel="seconds")
    axes.spines["left"].set_visible(False)
    if image is not None:
        # Of a high figure as high as of a low one.
        shrink = min(0.6, 1.3 * unit / size[1])
        layout.add_colour_bar(figure, image, "value", shrink=shrink, aspect=18, pad=0.01)
    if not labels:
        layout.write_empty(axes)
    return figure


def _left_out(pair: Recordings, length: float) -> list[tuple[float, float]]:
    """Return begin and end in seconds of the time of one file that lies in no evaluated region."""
    if pair.regions is None:
        return []
    edges = np.stack((pair.regions.begin, pair.regions.end), axis=1).reshape(-1) / TICKS_PER_SECOND
    between = np.concatenate(([0.0], np.minimum(edges, length), [length])).reshape(-1, 2).tolist()
    return [(begin, end) for begin, end in between if begin < end]


def _file(files: list[str], wanted: str | None) -> str:
    """Return the file that is drawn; raises SettingsError."""
    name = files[0] if wanted is None and len(files) == 1 else wanted
    if name is None:
        raise SettingsError(f"timeline draws one of {len(files)} files; --file names it: {joined(files, 10)}")
    if name not in files:
        hint = did_you_mean(name, files) or f"; there are {joined(files, 10)}"
        raise SettingsError(f"--file {name}: there is no such file{hint}")
    return name


def _span(start: float, wanted: float | None, length: float) -> tuple[float, float]:
    """Return the seconds that are drawn; raises SettingsError for none."""
    if not 0 <= start < max(length, 1.0):
        raise SettingsError(f"--start {start:g}: expected seconds of the file, which has {length:g}")
    if wanted is not None and not wanted > start:
        raise SettingsError(f"--end {wanted:g}: expected seconds after --start, {start:g}")
    end = length if wanted is None else min(wanted, length)
    return start, end if end > start else start + 1.0


def _draw_verdicts(axes: Axes, reference: Strip, system: Strip, settings: Settings, band: float) -> None:
    """Draw who is right: a box for each run of hits, misses and false alarms, pixels where they are many."""
    edges, ends = np.union1d(reference.edges, system.edges), (band, band + _BAND)
    middle = (edges[1:] + edges[:-1]) / 2
    ours = active(reference.at(middle), settings.reference_cut, settings.inclusive)
    theirs = active(system.at(middle), settings.threshold, settings.inclusive)
    codes = np.select([ours & theirs, ours, theirs], [1.0, 2.0, 3.0], np.nan)
    if len(codes) > _MANY:
        colours = ListedColormap([layout.colour_of(outcome) for outcome in OUTCOMES.values()])
        image = codes[None, :]
        axes.pcolormesh(edges, ends, image, cmap=colours, vmin=0.5, vmax=3.5, rasterized=True, zorder=2)
        return
    thin = 0.4 * layout.unit_of()
    for code, outcome in enumerate(OUTCOMES.values(), 1):
        change = np.flatnonzero(np.diff(codes == code, prepend=False, append=False))
        style = layout.filled_as(outcome)
        _draw_boxes(axes, edges[change.reshape(-1, 2)], ends, **style, linewidth=thin, zorder=2)


def _draw_strip(axes: Axes, strip: Strip, top: float, *, boxes: bool) -> Any:  # noqa: ANN401 - a mesh
    """Draw values and, in boxes, hard events; return what has the colours."""
    # Where there is nothing, too, it is seen that it was looked at.
    axes.broken_barh(
        [(0.0, float(strip.edges[-1]))], (top, _STRIP), facecolor="none", alpha=0.15,
        edgecolor=layout.setting("text.color"), linewidth=0.4 * layout.unit_of(), zorder=1.5,
    )  # fmt: skip
    mesh = axes.pcolormesh(
        strip.edges, [top, top + _STRIP], strip.values[None, :], vmin=0.0, vmax=1.0,
        cmap="Greys_r" if layout.dark() else "Greys",
        rasterized=len(strip.values) > _MANY, linewidth=0, zorder=1,
    )  # fmt: skip
    if boxes:
        _draw_boxes(
            axes, strip.events, (top + 0.08, top + _STRIP - 0.08), facecolor="none",
            edgecolor=layout.setting("text.color"), linewidth=0.8 * layout.unit_of(), zorder=3,
        )  # fmt: skip
    return mesh


def _draw_boxes(axes: Axes, spans: Floats, ends: tuple[float, float], **style: Any) -> None:  # noqa: ANN401
    """Draw a box from the onset to the offset of each span, (n, 2); ends: where it is high and low."""
    x = spans[:, [0, 1, 1, 0]]
    y = np.broadcast_to(np.repeat(ends, 2), x.shape)
    boxes = PolyCollection(list(np.stack([x, y], axis=2)), **style)
    # They lie within the axes, which is known without looking at each.
    boxes.set_in_layout(False)
    axes.add_collection(boxes, autolim=False)
