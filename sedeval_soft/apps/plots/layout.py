"""A figure: axes, a legend below them, notes at the foot, and texts that are shown as they are.

Names come from strangers. A dollar would begin a formula, a control character cannot be drawn, and a letter
that no font has would be a box: these are written as escapes, as everywhere else. Names that are wider than
their place lose their middle.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from sedeval_soft.apps.plots.style import DASHES, MARKERS, Look
from sedeval_soft.errors import SettingsError, escaped, visible
from sedeval_soft.report.outcomes import Outcome

POINTS = 72.0  # points of an inch
ELLIPSIS = "\u2026"
UNDEFINED = "\u2013"

_HIGHEST = 100.0  # inches of a figure
_NARROWEST = 1.6  # inches that a panel of a paper has at least
_FEW, _SOME = 6, 16  # entries of a legend that may stand below one another, always and where names are long
_MARGIN = 0.06  # inches left free around what is written
_HATCHES = ("", ".", "|", "o", "-", "+", "O", "*")  # none is the pattern of a miss or of a false alarm
_DENSITY = 6  # how often matplotlib is told a pattern: the more, the denser


class Entry(NamedTuple):
    """A line of a legend: what stands for it, its name as it was read, and a number behind that."""

    handle: Any
    name: str
    value: str = ""


def lay_out(
    look: Look,
    size: tuple[float, float],
    grid: tuple[int, int] = (1, 1),
    count: int = 1,
    *,
    entries: Sequence[Entry] = (),
    heading: str = "",
    notes: Sequence[str] = (),
    **panels: Any,  # noqa: ANN401 - as for matplotlib's subplots
) -> tuple[Figure, list[Axes]]:
    """Return a figure with its title, legend and notes, and its axes, which are to be drawn on.

    size: inches of width, and of the height of the axes, where the look does not say how high the whole is.
    grid: rows and columns of axes. count: how many of them are there; the labels between these are left out
    where they share axes. heading: above the legend. notes: each begins a line at the foot.
    """
    width, inside = size[0], (size[0] - 2 * _MARGIN) * POINTS
    small = points_of("legend.fontsize")
    figure = Figure(figsize=(width, 1.0), layout="constrained")
    rows = figure.add_gridspec(2 if notes else 1, 1)
    upper = figure.add_subfigure(rows[0])
    around, foot = [], 0.0
    if look.title:
        around.append(upper.suptitle("\n".join(wrapped(look.title, inside, small * 1.15))))
    if entries:
        around.append(_legend(upper, entries, heading, inside))
    if notes:
        # Of few dots each letter is a little wider than it was measured.
        lines = [line for note in notes for line in wrapped(note, 0.96 * inside)]
        lower = figure.add_subfigure(rows[1])
        text = lower.text(
            *(_MARGIN / width, 1.0), "\n".join(lines), va="top", ha="left", linespacing=1.15, fontsize=small,
            alpha=0.75,
        )  # fmt: skip
        foot = _height(text) + _MARGIN
    whole = look.height or size[1] + foot + sum(_height(each) + _MARGIN for each in around)
    if whole > _HIGHEST:
        raise SettingsError(
            f"the figure would be {whole:.0f} inches high; expected fewer classes (--max-classes), "
            f"systems or worst (--worst), or --height, {_HIGHEST:g} at most"
        )
    figure.set_size_inches(width, whole)
    if notes:
        # Of a figure that is very low, whatever is asked for, something must be seen.
        foot = min(foot, 0.8 * whole)
        rows.set_height_ratios([whole - foot, foot])
    axes = list(upper.subplots(*grid, squeeze=False, **panels).flat)
    for each in axes[count:]:
        each.set_axis_off()
    return figure, axes[:count]


def _legend(figure: Any, entries: Sequence[Entry], heading: str, width: float) -> Any:  # noqa: ANN401
    """Return a legend below the axes, in as many columns as fit into so many points."""
    parts = ("legend.handlelength", "legend.handletextpad", "legend.columnspacing")
    values = [f"  {plain(entry.value)}" if entry.value else "" for entry in entries]
    taken = sum(map(setting, parts)) * points_of("legend.fontsize") + max(map(text_width, values))
    whole, half = ([*all_shortened([e.name for e in entries], room - taken)] for room in (width, width / 2))
    # One column of very many long names would be higher than what it explains.
    names = whole if len(entries) <= _FEW or (whole != half and len(entries) <= _SOME) else half
    texts = [name + value for name, value in zip(names, values, strict=True)]
    columns = min(len(texts), max(1, int(width / min(map(text_width, texts)))))
    while True:
        legend = figure.legend(
            [entry.handle for entry in entries], texts, loc="outside lower center", ncols=columns,
            title=plain(heading) or None,
        )  # fmt: skip
        if columns == 1 or legend.get_window_extent().width * POINTS / figure.dpi <= width:
            return legend
        legend.remove()
        columns -= 1


def _height(artist: Any) -> float:  # noqa: ANN401 - a text or a legend
    """Return how high something is in inches."""
    return float(artist.get_window_extent().height / artist.get_figure(root=True).dpi)


def grid_of(count: int, width: float) -> tuple[int, int]:
    """Return in how many rows and columns so many panels stand."""
    columns = max(1, min(count, int(width / (_NARROWEST * unit_of()))))
    rows = math.ceil(max(count, 1) / columns)
    return rows, math.ceil(max(count, 1) / rows)


def label_edges(axes: Axes, *, lowest: bool) -> None:
    """Leave labels and numbers at the edges of a grid; lowest: whether no panel stands below this one."""
    text = axes.get_xlabel()
    axes.label_outer()
    if lowest:
        axes.set_xlabel(text)
        axes.xaxis.set_tick_params(labelbottom=True)


def write_empty(axes: Axes) -> None:
    """Write in the middle of axes that they are empty."""
    axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", va="center", alpha=0.75)


def name_rows(axes: Axes, places: Sequence[float] | Any, texts: Sequence[str]) -> None:  # noqa: ANN401
    """Write texts beside rows."""
    axes.set_yticks(places, texts)
    axes.tick_params(axis="y", length=0)


def add_colour_bar(figure: Figure, image: Any, label: str = "", **options: Any) -> None:  # noqa: ANN401
    """Show which colour stands for which value."""
    bar = figure.colorbar(image, ax=figure.axes, **{"shrink": 0.8, "aspect": 25, "label": label, **options})
    bar.outline.set_visible(False)


def strokes(count: int) -> list[dict[str, Any]]:
    """Return how each of some lines is drawn: colour and dash of the style, and a marker."""
    styles = setting("axes.prop_cycle").by_key()
    colours, dashes = styles.get("color", ["C0"]), styles.get("linestyle", DASHES)
    properties = zip(cycle(colours), cycle(dashes), cycle(MARKERS), strict=False)
    names = ("color", "linestyle", "marker")
    return [dict(zip(names, each, strict=True)) for each in islice(properties, count)]


def dark() -> bool:
    """Return whether the style draws on a dark ground."""
    red, green, blue = to_rgb(setting("axes.facecolor"))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def faint(share: float) -> dict[str, Any]:
    """Return how a line behind others is drawn: in the colour of texts, of which a share is seen."""
    return {"color": setting("text.color"), "alpha": share, "linestyle": "-"}


def colour_of(outcome: Outcome) -> str:
    """Return the colour of a hit, a miss or a false alarm on the ground of the style."""
    return outcome.dark if dark() else outcome.light


def hatched(pattern: str) -> str:
    """Return a pattern as matplotlib takes it: lines of larger figures are thicker, and further apart."""
    return max(2, round(_DENSITY / unit_of())) * pattern


def bar_styles(count: int) -> list[dict[str, Any]]:
    """Return how bars of some systems or readings are filled."""
    ground, hatches = setting("axes.facecolor"), map(hatched, cycle(_HATCHES))
    return [
        {"facecolor": stroke["color"], "hatch": hatch, "edgecolor": ground}
        for stroke, hatch in zip(strokes(count), hatches, strict=False)
    ]


def draw_interval(
    axes: Axes, ends: tuple[float | None, float | None], place: float, color: str, width: float = 0.9
) -> None:
    """Draw an interval as a line across a row, nothing where it has no ends; width: in points of a paper."""
    low, high = ends
    if low is not None and high is not None:
        style: dict[str, Any] = {"linestyle": "-", "marker": "none", "linewidth": width * unit_of()}
        axes.plot([low, high], [place, place], color=color, **style, zorder=2)


def number(value: float | None) -> str:
    """Return a score as figures have it."""
    return UNDEFINED if value is None else f"{value:.3f}"


def filled_as(outcome: Outcome) -> dict[str, Any]:
    """Return how an area that is a hit, a miss or a false alarm is filled: with its colour or its pattern."""
    colour = colour_of(outcome)
    ground = setting("axes.facecolor") if outcome.pattern else colour
    return {"facecolor": ground, "edgecolor": colour, "hatch": hatched(outcome.pattern)}


def unit_of() -> float:
    """Return how much larger letters are than those of a paper."""
    return points_of("font.size") / 8.0


def points_of(name: str) -> float:
    """Return a size of letters that a setting of matplotlib has, which may be a word, in points."""
    return float(FontProperties(size=setting(name)).get_size_in_points())


def setting(name: str) -> Any:  # noqa: ANN401 - each setting has its own type
    """Return the value of a setting of matplotlib."""
    parameters: Any = mpl.rcParams
    return parameters[name]


def plain(text: str) -> str:
    """Return a text as it is handed to matplotlib to be drawn letter by letter."""
    letters = visible(text)
    if not letters.isascii():
        fonts = _fonts()
        letters = "".join(
            c if c.isascii() or any(font.get_char_index(ord(c)) for font in fonts) else escaped(c)
            for c in letters
        )
    # Two dollars enclose a formula, unless each is behind a backslash, which is taken away again.
    return letters.replace("$", r"\$")


def shortened(text: str, points: float, size: float | None = None) -> str:
    """Return a text that is at most so wide, its middle left out where it is longer, ready to be drawn.

    points: the width. size: of the letters in points, None for that of the tick labels.
    """
    # Cut before it is measured: a name may be as long as a book.
    count = min(len(text), max(2 * int(points), 2))
    while True:
        start, end = text[: count - count // 2], text[len(text) - count // 2 :]
        cut = plain(text) if count == len(text) else f"{plain(start)}{ELLIPSIS}{plain(end)}"
        width = text_width(cut, size)
        if count <= 2 or width <= points:
            return cut
        count = min(count - 1, max(int(count * points / width), 2))


def all_shortened(texts: Sequence[str], points: float, size: float | None = None) -> list[str]:
    """Return texts that are at most about so wide, numbered where they look alike afterwards."""
    short = [shortened(text, points, size) for text in texts]
    alike: dict[str, list[str]] = {}
    for text, cut in dict(zip(texts, short, strict=True)).items():
        alike.setdefault(cut, []).append(text)
    for i, text in enumerate(texts):
        if len(alike[short[i]]) > 1:
            number = f" ({alike[short[i]].index(text) + 1})"
            short[i] = shortened(text, points - text_width(number, size), size) + number
    return short


def wrapped(text: str, points: float, size: float | None = None) -> list[str]:
    """Return the lines of a text, broken at blanks, each at most so wide, ready to be drawn."""
    lines: list[str] = []
    for word in text.split(" "):
        fitted = shortened(word, points, size)
        if lines and text_width(f"{lines[-1]} {fitted}", size) <= points:
            lines[-1] += f" {fitted}"
        else:
            lines.append(fitted)
    return lines


def text_width(text: str, size: float | None = None) -> float:
    """Return how wide a text is when it is drawn, in points; size: of its letters, None for tick labels."""
    font = FontProperties(size=setting("xtick.labelsize") if size is None else size)
    return float(text_to_path.get_text_width_height_descent(text.replace(r"\$", "$"), font, ismath=False)[0])


def _fonts() -> tuple[Any, ...]:
    """Return the fonts that texts are drawn with, those that are there, in their order."""
    fonts: dict[str, None] = {}
    for family in setting("font.family"):
        with contextlib.suppress(ValueError):
            fonts[findfont(FontProperties(family=[family]), fallback_to_default=False)] = None
    return tuple(get_font(path) for path in fonts or [findfont(FontProperties())])
