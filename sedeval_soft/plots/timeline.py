"""One file over time: for each class the reference above, the system below, and between them who is right.

Values are shades of grey, so that colour says one thing only. What is a hit, a miss or a false alarm is told
at every moment: whether both, only the reference or only the system is active at its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.plots.data import Systems, joined
from sedeval_soft.plots.figure import (
    POINTS,
    Entry,
    add_colour_bar,
    all_shortened,
    lay_out,
    unit_of,
    write_empty,
)
from sedeval_soft.plots.style import FALSE_ALARM, HIT, MISS, Look
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import Activity, active, activities
from sedeval_soft.timeline.recordings import Recordings, hard_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

_MOST_CLASSES = 20
_MANY = 1500
"""Pieces of a strip from which it is drawn as pixels, whatever the form of the figure."""

_VERDICTS: dict[str, dict[str, Any]] = {
    "hit": {"facecolor": HIT, "hatch": ""},
    "miss": {"facecolor": MISS, "hatch": ""},
    "false alarm": {"facecolor": FALSE_ALARM, "hatch": "//////"},
}

_STRIP, _BAND, _GAP = 1.0, 0.55, 0.5
"""Heights of a strip of values, of the band that says who is right, and of what parts classes."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The values of one side and class over time: edges (n + 1,) in seconds, values (n,)."""

    edges: Floats
    values: Floats

    @classmethod
    def of_activity(cls, activity: Activity, length: float, start: float, end: float) -> Strip:
        """Return the pieces of an activity of one file and class, with the silence between them.

        start, end: two times; what lies wholly outside of them is left out.
        """
        onset, offset = activity.onset / TICKS_PER_SECOND, activity.offset / TICKS_PER_SECOND
        edges = np.unique(np.concatenate(([0.0, length], onset, offset)))
        values = np.zeros(max(len(edges) - 1, 0))
        # Pieces do not overlap, so that no edge lies within one.
        values[np.searchsorted(edges, onset)] = activity.value
        first = max(int(np.searchsorted(edges, start, side="right")) - 1, 0)
        last = min(int(np.searchsorted(edges, end)) + 1, len(edges))
        return cls(edges[first:last], values[first : max(last - 1, first)])

    def at(self, times: Floats) -> Floats:
        """Return the values at some times, 0 outside."""
        place = np.searchsorted(self.edges, times, side="right") - 1
        inside = (place >= 0) & (place < len(self.values))
        values = np.zeros(len(times))
        values[inside] = self.values[place[inside]]
        return values


def verdicts(reference: Strip, system: Strip, settings: Settings) -> Strip:
    """Return what is right and wrong over time: 1 a hit, 2 a miss, 3 a false alarm, 0 neither side active."""
    edges = np.union1d(reference.edges, system.edges)
    middle = (edges[1:] + edges[:-1]) / 2
    ours = active(reference.at(middle), settings.reference_cut, settings.inclusive)
    theirs = active(system.at(middle), settings.threshold, settings.inclusive)
    return Strip(edges, np.select([ours & theirs, ours, theirs], [1.0, 2.0, 3.0], 0.0))


Rows = dict[str, list[tuple[Strip, Floats]]]
"""Of each class, for the reference and for the system: values over time, and hard events, (n, 2) seconds."""


def _rows(pair: Recordings, settings: Settings, start: float, end: float, length: float) -> Rows:
    """Return what is drawn of one file in one system's tables."""
    sides = []
    for rows, events in zip((pair.reference, pair.system), hard_events(pair, settings), strict=True):
        spans = np.stack([events.onset, events.offset], axis=1) / TICKS_PER_SECOND
        seen = (spans[:, 1] > start) & (spans[:, 0] < end)
        sides.append(
            [
                (Strip.of_activity(each, length, start, end), spans[seen & (events.label == c)])
                for c, each in enumerate(activities(rows))
            ]
        )
    return {name: list(each) for name, *each in zip(pair.classes, *sides, strict=True)}


def draw_timeline(systems: Systems, look: Look) -> Figure:
    """Draw one file over time."""
    name, pairs = _file(systems)
    length = max(float(pair.reach[0]) for pair in pairs)
    start, end = _span(systems, length)
    recordings = [_rows(pair, systems.settings, start, end, length) for pair in pairs]
    wanted = systems.sorted_classes("timeline")
    silent = [
        label
        for label in wanted
        if label not in systems.wish.class_names
        and not any(strip.values.any() for rows in recordings for strip, _ in rows.get(label, ()))
    ]
    labels, omitted = systems.largest([label for label in wanted if label not in silent], _MOST_CLASSES)
    # The only file of a table without names has none.
    notes = [f"{name}, {start:g} to {end:g} s." if name else f"{start:g} to {end:g} s."]
    notes += [f"Neither side has anything of {joined(silent)} there."] if silent else []
    notes += omitted
    # Boxes around so many events would be black.
    sides = [side for rows in recordings for both in rows.values() for side in both]
    if crowded := any(len(spans) > _MANY for _, spans in sides):
        notes.append(
            "Hard events are too many to be seen, and not drawn; --start and --end show some of them."
        )
    each = _STRIP + len(pairs) * (_BAND + _STRIP) + _GAP
    rows, width, unit = max(len(labels), 1), look.inches("double"), unit_of()
    size = width, (0.55 + 0.1 * each * rows) * unit
    figure, (axes,) = lay_out(look, size, entries=_entries(), notes=notes)
    image = None
    for row, label in enumerate(labels):
        of_class = {k: rows[label] for k, rows in enumerate(recordings) if label in rows}
        image = _draw_class(axes, of_class, systems.settings, row * each, boxes=not crowded) or image
    ticks = [row * each + (each - _GAP) / 2 for row in range(len(labels))]
    axes.set_yticks(ticks, all_shortened(labels, width * POINTS * 0.2))
    if labels:
        # Those of the other classes are in the same order.
        called = [system.name for system in systems.all] if systems.several else ["system"]
        small, right = 5.5 * unit, axes.get_yaxis_transform()
        for k, text in enumerate(all_shortened(["reference", *called], 60 * unit, small)):
            place = _STRIP / 2 + k * (_BAND + _STRIP)
            axes.text(1.005, place, text, transform=right, va="center", fontsize=small)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(start, end), ylim=(rows * each - _GAP + 0.15, -0.15), xlabel="seconds")
    axes.spines["left"].set_visible(False)
    if image is not None:
        add_colour_bar(figure, image, axes, "value", shrink=0.6, aspect=18, pad=0.01)
    if not labels:
        write_empty(axes)
    return figure


def _entries() -> list[Entry]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    event = Line2D([], [], color="black", linestyle="-", linewidth=1.2 * unit_of())
    patches = [Entry(Patch(**style, edgecolor="white"), name) for name, style in _VERDICTS.items()]
    return [*patches, Entry(event, "hard event")]


def _file(systems: Systems) -> tuple[str, list[Recordings]]:
    """Return the file that is drawn, and of each system the tables of it alone; raises SettingsError."""
    pairs = [system.pair for system in systems.all if system.pair is not None]
    files = list(dict.fromkeys(file for pair in pairs for file in pair.files))
    name = files[0] if systems.wish.file is None and len(files) == 1 else systems.wish.file
    if name is None:
        raise SettingsError(
            f"timeline shows one of {len(files)} files; expected --file, one of {joined(files, 10)}"
        )
    if name not in files:
        hint = did_you_mean(name, files) or f"; there are {joined(files, 10)}"
        raise SettingsError(f"--file {name}: there is no such file{hint}")
    return name, [pair.with_files((name,)) for pair in pairs]


def _span(systems: Systems, length: float) -> tuple[float, float]:
    """Return the seconds that are drawn; raises SettingsError for none."""
    wish = systems.wish
    start = 0.0 if wish.start is None else wish.start
    end = length if wish.end is None else min(wish.end, length)
    if not 0 <= start < max(length, 1.0):
        raise SettingsError(f"--start {start:g}: expected seconds of the file, which has {length:g}")
    if wish.end is not None and not wish.end > start:
        raise SettingsError(f"--end {wish.end:g}: expected seconds after --start, {start:g}")
    return start, end if end > start else start + 1.0


def _draw_class(
    axes: Axes, sides: dict[int, list[tuple[Strip, Floats]]], settings: Settings, top: float, *, boxes: bool
) -> Any:  # noqa: ANN401 - a mesh
    """Draw the strips of a class below one another, and return one of them, which has the colours.

    sides: of the class, by the place of the system. boxes: whether hard events are drawn.
    """
    image = None
    for k, (reference, system) in sides.items():
        band = top + _STRIP + k * (_BAND + _STRIP)
        _draw_verdicts(axes, verdicts(reference[0], system[0], settings), band)
        below = (*system, band + _BAND)
        for strip, events, y in [below] if image else [(*reference, top), below]:
            mesh = _draw_strip(axes, strip, y)
            image = image or mesh
            if boxes:
                _draw_boxes(
                    axes, events, (y + 0.08, y + _STRIP - 0.08), facecolor="none", edgecolor="black",
                    linewidth=0.8 * unit_of(), zorder=3,
                )  # fmt: skip
    return image


def _draw_verdicts(axes: Axes, strip: Strip, band: float) -> None:
    """Draw who is right: a box for each run of hits, misses and false alarms, pixels where they are many."""
    ends = (band, band + _BAND)
    if len(strip.values) > _MANY:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([str(style["facecolor"]) for style in _VERDICTS.values()])
        codes = np.where(strip.values > 0, strip.values, np.nan)[None, :]
        axes.pcolormesh(strip.edges, ends, codes, cmap=colours, vmin=0.5, vmax=3.5, rasterized=True, zorder=2)
        return
    for code, style in enumerate(_VERDICTS.values(), 1):
        change = np.flatnonzero(np.diff(strip.values == code, prepend=False, append=False))
        spans = strip.edges[change.reshape(-1, 2)]
        _draw_boxes(axes, spans, ends, **style, edgecolor="white", linewidth=0, zorder=2)


def _draw_strip(axes: Axes, strip: Strip, top: float) -> Any:  # noqa: ANN401 - a mesh
    # Where there is nothing, too, it is seen that it was looked at.
    axes.broken_barh(
        [(0.0, float(strip.edges[-1]))], (top, _STRIP), facecolor="none", edgecolor="#d9d9d9",
        linewidth=0.4 * unit_of(), zorder=1.5,
    )  # fmt: skip
    return axes.pcolormesh(
        strip.edges, [top, top + _STRIP], strip.values[None, :], cmap="Greys", vmin=0.0, vmax=1.0,
        rasterized=len(strip.values) > _MANY, linewidth=0, zorder=1,
    )  # fmt: skip


def _draw_boxes(axes: Axes, spans: Floats, ends: tuple[float, float], **style: Any) -> None:  # noqa: ANN401
    """Draw a box from the onset to the offset of each span, (n, 2); ends: where it is high and low."""
    from matplotlib.collections import PolyCollection

    x = spans[:, [0, 1, 1, 0]]
    y = np.broadcast_to(np.repeat(ends, 2), x.shape)
    boxes = PolyCollection(list(np.stack([x, y], axis=2)), **style)
    # They lie within the axes, which is known without looking at each.
    boxes.set_in_layout(False)
    axes.add_collection(boxes, autolim=False)
