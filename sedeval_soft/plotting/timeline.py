"""One file over time: for each class the reference above, the system below, and between them who is right.

Values are shades of grey, so that colour says one thing only. What is a hit, a miss or a false alarm is told
at every moment: whether both, only the reference or only the system is active at its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.activity import Activity, activities
from sedeval_soft.core.events import Events, active
from sedeval_soft.core.hard import hard_events
from sedeval_soft.core.pair import Pair, with_files
from sedeval_soft.core.ticks import TICKS_PER_SECOND
from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.plotting.look import FALSE_ALARM, HIT, MISS, Look
from sedeval_soft.plotting.panels import say_nothing, unit_of
from sedeval_soft.plotting.sheet import POINTS, Entry, Sheet
from sedeval_soft.plotting.subject import Subjects, said_of_others
from sedeval_soft.plotting.texts import all_shortened, joined
from sedeval_soft.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Spans = npt.NDArray[np.float64]
"""Onsets and offsets in seconds, (n, 2)."""

_MOST_CLASSES = 20
_PIECES = 1500
"""Pieces of a strip from which it is drawn as pixels, whatever the form of the figure."""

_GREYS = "Greys"
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
    def of(cls, activity: Activity, length: float) -> Strip:
        """Return the pieces of an activity of one file and class, with the silence between them."""
        onset, offset = activity.onset / TICKS_PER_SECOND, activity.offset / TICKS_PER_SECOND
        edges = np.unique(np.concatenate(([0.0, length], onset, offset)))
        values = np.zeros(max(len(edges) - 1, 0))
        # Pieces do not overlap, so that no edge lies within one.
        values[np.searchsorted(edges, onset)] = activity.value
        return cls(edges, values)

    def within(self, start: float, end: float) -> Strip:
        """Return the pieces of which anything lies between two times."""
        first = max(int(np.searchsorted(self.edges, start, side="right")) - 1, 0)
        last = min(int(np.searchsorted(self.edges, end)) + 1, len(self.edges))
        return Strip(self.edges[first:last], self.values[first : max(last - 1, first)])

    def at(self, times: Floats) -> Floats:
        """Return the values at some times, 0 outside."""
        if not len(self.values):
            return np.zeros(len(times))
        place = np.searchsorted(self.edges, times, side="right") - 1
        inside = (place >= 0) & (place < len(self.values))
        found: Floats = np.where(inside, self.values[np.clip(place, 0, len(self.values) - 1)], 0.0)
        return found


def compared(reference: Strip, system: Strip, settings: Settings) -> Strip:
    """Return what is right and wrong over time: 1 a hit, 2 a miss, 3 a false alarm, 0 neither side active."""
    edges = np.union1d(reference.edges, system.edges)
    middle = (edges[1:] + edges[:-1]) / 2
    ours = active(reference.at(middle), settings.reference_cut, settings.inclusive)
    theirs = active(system.at(middle), settings.threshold, settings.inclusive)
    return Strip(edges, np.select([ours & theirs, ours, theirs], [1.0, 2.0, 3.0], 0.0))


def _spans(edges: Floats, where: npt.NDArray[np.bool_]) -> Spans:
    """Return the longest runs of pieces, (n, 2)."""
    change = np.flatnonzero(np.diff(np.concatenate(([False], where, [False])).astype(np.int8)))
    spans: Spans = edges[change.reshape(-1, 2)]
    return spans


def draw_timeline(subjects: Subjects, look: Look) -> Figure:
    """Draw one file over time."""
    file, pairs = _file_of(subjects)
    length = max(float(pair.reach[0]) for pair in pairs)
    start, end = _span_of(subjects, length)
    files = [_File(pair, subjects.settings, (start, end), length) for pair in pairs]
    wanted = _sorted(subjects)
    silent = [name for name in wanted if name not in subjects.wish.class_names and not _sounds(files, name)]
    names, others = subjects.kept([name for name in wanted if name not in silent], _MOST_CLASSES)
    # The only file of a table without names has none.
    notes = [f"{file}, {start:g} to {end:g} s." if file else f"{start:g} to {end:g} s."]
    notes += [f"Neither side has anything of {joined(silent)} there."] if silent else []
    notes += said_of_others(others)
    if crowded := any(each.crowded for each in files):
        notes.append(
            "Hard events are too many to be seen, and not drawn; --start and --end show some of them."
        )
    count = len(pairs)
    each = _STRIP + count * (_BAND + _STRIP) + _GAP
    width = look.inches("double")
    sheet = Sheet(look, width, (0.55 + 0.1 * each * max(len(names), 1)) * unit_of(), notes=notes)
    figure, (axes,) = sheet.laid_out(_entries())
    image, ticks = None, []
    for row, name in enumerate(names):
        top = row * each
        ticks.append(top + (each - _GAP) / 2)
        image = _draw_class(axes, files, name, top, boxes=not crowded) or image
    axes.set_yticks(ticks, all_shortened(names, width * POINTS * 0.2))
    _name_strips(axes, subjects, len(names))
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(start, end), ylim=(max(len(names), 1) * each - _GAP + 0.15, -0.15))
    axes.set_xlabel("seconds")
    axes.spines["left"].set_visible(False)
    if image is not None:
        bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=18, pad=0.01, label="value")
        bar.outline.set_linewidth(0.4 * unit_of())
    if not names:
        say_nothing(axes)
    return figure


def _entries() -> list[Entry]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found = [Entry(Patch(**style, edgecolor="white"), name) for name, style in _VERDICTS.items()]
    return [
        *found,
        Entry(Line2D([], [], color="black", linestyle="-", linewidth=1.2 * unit_of()), "hard event"),
    ]


def _file_of(subjects: Subjects) -> tuple[str, list[Pair]]:
    """Return the file that is drawn, and of each system the tables of it alone; raises SettingsError."""
    pairs = [system.pair for system in subjects.systems if system.pair is not None]
    files = list(dict.fromkeys(file for pair in pairs for file in pair.files))
    name = subjects.wish.file
    if name is None and len(files) == 1:
        name = files[0]
    if name is None:
        raise SettingsError(
            f"timeline shows one of {len(files)} files; expected --file, one of {joined(files, 10)}"
        )
    if name not in files:
        hint = did_you_mean(name, files) or f"; there are {joined(files, 10)}"
        raise SettingsError(f"--file {name}: there is no such file{hint}")
    return name, [with_files(pair, (name,)) for pair in pairs]


def _span_of(subjects: Subjects, length: float) -> tuple[float, float]:
    """Return the seconds that are drawn; raises SettingsError for none."""
    start = 0.0 if subjects.wish.start is None else subjects.wish.start
    end = length if subjects.wish.end is None else min(subjects.wish.end, length)
    if not 0 <= start < max(length, 1.0):
        raise SettingsError(f"--start {start:g}: expected seconds of the file, which has {length:g}")
    if subjects.wish.end is not None and not subjects.wish.end > start:
        raise SettingsError(f"--end {subjects.wish.end:g}: expected seconds after --start, {start:g}")
    return start, end if end > start else start + 1.0


def _sorted(subjects: Subjects) -> list[str]:
    names, sort = list(subjects.chosen()), subjects.wish.sort
    if sort == "score":
        raise SettingsError("--sort score: a timeline has no score; expected given, name or size")
    if sort == "name":
        return sorted(names)
    return sorted(names, key=lambda name: -subjects.size(name)) if sort == "size" else names


class _File:
    """The strips and events of one system's tables of a file, by class."""

    def __init__(self, pair: Pair, settings: Settings, view: tuple[float, float], length: float) -> None:
        self.settings, self.view = settings, view
        self.classes = pair.classes
        self.reference, self.system = (
            [Strip.of(each, length).within(*view) for each in activities(rows)]
            for rows in (pair.reference, pair.system)
        )
        self.events = hard_events(pair, settings)

    def events_of(self, side: int, label: int) -> Spans:
        """Return onset and offset of the hard events of a class, (n, 2)."""
        events: Events = self.events[side]
        own = events.take(events.label == label)
        spans: Spans = np.stack([own.onset, own.offset], axis=1) / TICKS_PER_SECOND
        return spans[(spans[:, 1] > self.view[0]) & (spans[:, 0] < self.view[1])]

    @property
    def crowded(self) -> bool:
        """Return whether there are so many events of a class that boxes around them would be black."""
        return any(
            len(self.events_of(side, c)) > _PIECES for side in (0, 1) for c in range(len(self.classes))
        )


def _sounds(files: list[_File], name: str) -> bool:
    """Return whether a class has any value above 0 on any side, in what is shown."""
    return any(
        strips[file.classes.index(name)].values.any()
        for file in files
        if name in file.classes
        for strips in (file.reference, file.system)
    )


def _draw_class(axes: Axes, files: list[_File], name: str, top: float, *, boxes: bool) -> Any:  # noqa: ANN401 - a mesh
    """Draw the strips of a class below one another, and return one of them, of which the colours are told.

    boxes: whether hard events are drawn.
    """
    image = None
    for k, file in enumerate(files):
        if name not in file.classes:
            continue
        label = file.classes.index(name)
        reference, system = file.reference[label], file.system[label]
        if image is None:
            image = _draw_strip(axes, reference, top)
            if boxes:
                _draw_events(axes, file.events_of(0, label), top)
        band = top + _STRIP + k * (_BAND + _STRIP)
        _draw_verdicts(axes, compared(reference, system, file.settings), band)
        _draw_strip(axes, system, band + _BAND)
        if boxes:
            _draw_events(axes, file.events_of(1, label), band + _BAND)
    return image


def _draw_verdicts(axes: Axes, told: Strip, band: float) -> None:
    """Draw who is right: a box for each run of hits, misses and false alarms, pixels where they are many."""
    if len(told.values) > _PIECES:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([str(style["facecolor"]) for style in _VERDICTS.values()])
        codes = np.where(told.values > 0, told.values, np.nan)[None, :]
        axes.pcolormesh(
            told.edges,
            [band, band + _BAND],
            codes,
            cmap=colours,
            vmin=0.5,
            vmax=3.5,
            rasterized=True,
            zorder=2,
        )
        return
    for code, style in enumerate(_VERDICTS.values(), 1):
        spans = _spans(told.edges, told.values == code)
        _draw_boxes(axes, spans, (band, band + _BAND), **style, edgecolor="white", linewidth=0, zorder=2)


def _draw_strip(axes: Axes, strip: Strip, top: float) -> Any:  # noqa: ANN401 - a mesh
    # Where there is nothing, too, it is seen that it was looked at.
    axes.broken_barh(
        [(0.0, float(strip.edges[-1]))], (top, _STRIP), facecolor="none", edgecolor="#d9d9d9",
        linewidth=0.4 * unit_of(), zorder=1.5,
    )  # fmt: skip
    return axes.pcolormesh(
        strip.edges, [top, top + _STRIP], strip.values[None, :], cmap=_GREYS, vmin=0.0, vmax=1.0,
        rasterized=len(strip.values) > _PIECES, linewidth=0, zorder=1,
    )  # fmt: skip


def _draw_events(axes: Axes, events: Spans, top: float) -> None:
    """Draw hard events as boxes around the values that they were cut from."""
    ends = (top + 0.08, top + _STRIP - 0.08)
    _draw_boxes(axes, events, ends, facecolor="none", edgecolor="black", linewidth=0.8 * unit_of(), zorder=3)


def _draw_boxes(axes: Axes, spans: Spans, ends: tuple[float, float], **style: Any) -> None:  # noqa: ANN401
    """Draw a box from the onset to the offset of each span; ends: where it is high and low."""
    from matplotlib.collections import PolyCollection

    x = np.stack([spans[:, 0], spans[:, 1], spans[:, 1], spans[:, 0]], axis=1)
    y = np.broadcast_to(np.array([ends[0], ends[0], ends[1], ends[1]]), x.shape)
    boxes = PolyCollection(list(np.stack([x, y], axis=2)), **style)
    # They lie within the axes, which is known without looking at each.
    boxes.set_in_layout(False)
    axes.add_collection(boxes, autolim=False)


def _name_strips(axes: Axes, subjects: Subjects, rows: int) -> None:
    """Name the strips of the first class at its right; those of the others are in the same order."""
    if not rows:
        return
    systems = [s.name for s in subjects.systems]
    names = ["reference", *(systems if len(systems) > 1 else ["system"])]
    places = [_STRIP / 2 + k * (_BAND + _STRIP) for k in range(len(names))]
    size = 5.5 * unit_of()
    for place, name in zip(places, all_shortened(names, 60 * unit_of(), size), strict=True):
        axes.text(1.005, place, name, transform=axes.get_yaxis_transform(), va="center", fontsize=size)
