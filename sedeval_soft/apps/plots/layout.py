"""A figure: axes, a legend below them, and texts that are shown as they are.

A figure has no text but names, numbers and labels. Its caption, which an author edits, is the figure's label.

Untrusted files give names. A dollar would begin a formula, a control character cannot be drawn, and a letter
that no font has would be a box: these are written as escapes, as everywhere else. Names that are wider than
their place lose their end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from sedeval_soft.apps.plots.run import Wish
from sedeval_soft.errors import escaped, visible

POINTS = 72.0  # points of an inch
LABELS, TICKS, SMALL = 8.0, 7.0, 6.5  # points of letters
GREY = "#808080"
UNDEFINED = "\u2013"
BOLD: dict[str, Any] = {"color": "black", "linestyle": "-", "marker": "*", "zorder": 3, "linewidth": 1.8}

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
"""The colours of Okabe & Ito, without black, which marks all classes together, and yellow, which paper
swallows."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DISTINCT = len(COLOURS) * len(DASHES)
"""Distinguishable lines: neighbours differ in colour and dash, for in grey only the dash is left."""

_FEW = 6  # entries of a legend that may have the whole width each
_HANDLE = 27.5  # points of a legend's handle and what is around it
_MARGIN = 0.06  # inches left free around a legend


class Entry(NamedTuple):
    """A line of a legend: its symbol, its name as it was read, and a number after the name."""

    handle: Any
    name: str
    value: str = ""


def lay_out(
    wish: Wish,
    size: tuple[float, float],
    grid: tuple[int, int] = (1, 1),
    count: int = 1,
    *,
    entries: Sequence[Entry] = (),
    heading: str = "",
    notes: Sequence[str] = (),
    **panels: Any,  # noqa: ANN401 - as for matplotlib's subplots
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its legend, and its axes, which are to be drawn on.

    size: inches of width, and of the height of the axes unless the height of the whole is wished for.
    grid: rows and columns of axes. count: of axes. heading: above the legend. notes: sentences for the
    caption.
    """
    figure = Figure(figsize=(size[0], 1.0), layout="constrained")
    figure.set_label(" ".join(notes))
    height = size[1]
    if entries:
        legend = _legend(figure, entries, heading, (size[0] - 2 * _MARGIN) * POINTS)
        height += legend.get_window_extent().height / figure.dpi + _MARGIN
    figure.set_size_inches(size[0], wish.height or height)
    axes = list(figure.subplots(*grid, squeeze=False, **panels).flat)
    for each in axes[count:]:
        each.set_axis_off()
    return figure, axes[:count]


def _legend(figure: Figure, entries: Sequence[Entry], heading: str, width: float) -> Any:  # noqa: ANN401
    """Return a legend below the axes, in as many columns as fit into so many points."""
    values = [f"  {plain(entry.value)}" if entry.value else "" for entry in entries]
    room = (width if len(entries) <= _FEW else width / 2) - _HANDLE - max(map(text_width, values))
    names = all_shortened([entry.name for entry in entries], room)
    texts = [name + value for name, value in zip(names, values, strict=True)]
    columns = min(len(texts), max(int(width / (max(map(text_width, texts)) + _HANDLE)), 1))
    return figure.legend(
        [entry.handle for entry in entries], texts, loc="outside lower center", ncols=columns,
        title=plain(heading) or None,
    )  # fmt: skip


def write_empty(axes: Axes) -> None:
    """Write in the middle of axes that they are empty."""
    axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", alpha=0.75)


def add_colour_bar(figure: Figure, image: Any, label: str = "", **options: Any) -> None:  # noqa: ANN401
    """Show the colour of each value."""
    bar = figure.colorbar(image, ax=figure.axes, **{"shrink": 0.8, "aspect": 25, "label": label, **options})
    bar.outline.set_visible(False)


def strokes(count: int) -> list[dict[str, Any]]:
    """Return how each of some lines is drawn: a colour, a dash and a marker."""
    properties = {"color": COLOURS, "linestyle": DASHES, "marker": MARKERS}
    return [{name: each[k % len(each)] for name, each in properties.items()} for k in range(count)]


def faint(share: float) -> dict[str, Any]:
    """Return how a line behind others is drawn: in black, of which a share is seen."""
    return {"color": "black", "alpha": share, "linestyle": "-"}


def number(value: float | None) -> str:
    """Return a score as figures have it."""
    return UNDEFINED if value is None else f"{value:.3f}"


def plain(text: str) -> str:
    """Return a text as it is handed to matplotlib to be drawn letter by letter."""
    letters = visible(text)
    if not letters.isascii():
        fonts = []
        for family in mpl.rcParams["font.family"]:
            with contextlib.suppress(ValueError):
                path = findfont(FontProperties(family=[family]), fallback_to_default=False)
                fonts.append(get_font(path))
        letters = "".join(
            c if c.isascii() or any(font.get_char_index(ord(c)) for font in fonts) else escaped(c)
            for c in letters
        )
    # Two dollars enclose a formula, unless each is behind a backslash, which is taken away again.
    return letters.replace("$", r"\$")


def shortened(text: str, points: float, size: float = TICKS) -> str:
    """Return a text that is at most so wide, its end left out if it is longer, ready to be drawn.

    points: the width. size: of the letters in points.
    """
    # Cut before it is measured: a name may be as long as a book.
    count = min(len(text), max(2 * int(points), 2))
    while True:
        cut = plain(text) if count == len(text) else plain(text[:count].rstrip(" ,")) + "\u2026"
        width = text_width(cut, size)
        if count <= 2 or width <= points:
            return cut
        count = min(count - 1, max(int(count * points / width), 2))


def all_shortened(texts: Sequence[str], points: float, size: float = TICKS) -> list[str]:
    """Return texts that are at most about so wide, numbered if they look alike afterwards."""
    short = {text: shortened(text, points, size) for text in texts}
    for cut in {cut for cut in short.values() if [*short.values()].count(cut) > 1}:
        for k, text in enumerate([text for text in short if short[text] == cut], 1):
            short[text] = f"{shortened(text, points - text_width(f' ({k})', size), size)} ({k})"
    return [short[text] for text in texts]


def text_width(text: str, size: float = TICKS) -> float:
    """Return how wide a text is when it is drawn, in points; size: of its letters."""
    font = FontProperties(size=size)
    return float(text_to_path.get_text_width_height_descent(text.replace(r"\$", "$"), font, ismath=False)[0])
