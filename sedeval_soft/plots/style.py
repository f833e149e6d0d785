"""How figures look: sizes of a paper, a talk or a poster, colours that everybody can tell apart.

Colours of lines are those of Okabe & Ito 2008, each with a dash of its own, so that a copy in grey can be
read, too. What a user told matplotlib elsewhere does not count: the same call gives the same figure.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sedeval_soft.errors import SettingsError, quoted
from sedeval_soft.names import did_you_mean

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
"""Okabe & Ito's, without black, which stands for all classes together, and yellow, which paper swallows."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
DISTINCT = len(COLOURS) * len(DASHES)
"""Lines that can be told apart."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

HIT, MISS, FALSE_ALARM = "#009E73", "#56B4E9", "#D55E00"
"""Also in grey they differ: a miss is light, a hit darker, a false alarm darker still and hatched."""

HEAT = "viridis"

_POINTS = {"paper": 8.0, "talk": 16.0, "poster": 26.0}
_WIDTHS = {"paper": (3.5, 7.16), "talk": (8.0, 12.0), "poster": (12.0, 22.0)}
"""Inches of one column and of two; those of a paper are IEEE's."""

STYLES = tuple(_POINTS)
COLUMNS = ("single", "double")

_LEAST, _MOST = 1.0, 100.0
"""Inches that a side of a figure may have."""

_MOST_PIXELS = 2e8
"""Pixels of a figure, which take four bytes each, and as many again to be packed."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a figure looks like, whatever it shows.

    style: `paper`, `talk`, `poster`, or the name or path of a style of matplotlib, over that of a paper.
    width: inches, or `single` or `double` for one or both columns; None for what suits the kind of figure.
    height: inches, None for what suits the content. dpi: of a PNG, and of what is drawn as pixels elsewhere.
    title: above the figure.
    """

    style: str = "paper"
    width: str | float | None = None
    height: float | None = None
    dpi: int = 300
    title: str | None = None

    def __post_init__(self) -> None:
        """Check sizes; raises SettingsError."""
        width = None if self.width in COLUMNS else self.width
        for name, value in (("width", width), ("height", self.height)):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and _LEAST <= float(value) <= _MOST):
                or_named = f", or {' or '.join(COLUMNS)}" if name == "width" else ""
                raise SettingsError(f"{name} must be {_LEAST:g} to {_MOST:g} inches{or_named}, not {value!r}")
        if not isinstance(self.dpi, int) or isinstance(self.dpi, bool) or not 30 <= self.dpi <= 2400:
            raise SettingsError(f"dpi must be a whole number, 30 to 2400, not {self.dpi!r}")
        if self.height is not None:
            # Where both are known, too many pixels are refused before anything is drawn.
            self.check_pixels(self.inches(), self.height)
        if not isinstance(self.style, str) or not self.style:
            raise SettingsError(f"style must be the name or the path of a style, not {self.style!r}")
        if self.title is not None and not isinstance(self.title, str):
            raise SettingsError(f"title must be a text, not {self.title!r}")

    def check_pixels(self, width: float, height: float) -> None:
        """Raise SettingsError for a figure of so many inches that has too many pixels."""
        if width * height * self.dpi**2 > _MOST_PIXELS:
            raise SettingsError(
                f"{width:g} x {height:g} inches at {self.dpi} dots each have more than {_MOST_PIXELS:g} "
                "pixels; expected fewer --dpi"
            )

    @property
    def base(self) -> str:
        """Return which of our own styles is underneath."""
        return self.style if self.style in STYLES else "paper"

    def inches(self, preferred: str = "single") -> float:
        """Return the width; preferred: the columns that suit the kind of figure."""
        width = preferred if self.width is None else self.width
        return _WIDTHS[self.base][COLUMNS.index(width)] if isinstance(width, str) else float(width)


_SCALED = {
    **dict.fromkeys(("font.size", "figure.titlesize", "axes.titlesize", "axes.labelsize"), 8.0),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize", "legend.title_fontsize"), 7.0),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 2.5),
    **dict.fromkeys(("xtick.major.pad", "ytick.major.pad", "axes.labelpad"), 2.0),
    **dict.fromkeys(("lines.markeredgewidth", "patch.linewidth", "hatch.linewidth"), 0.5),
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "axes.titlepad": 3.0,
    "grid.linewidth": 0.4,
    **dict.fromkeys(("figure.constrained_layout.h_pad", "figure.constrained_layout.w_pad"), 0.04),
}
"""Sizes of a paper, which grow with its letters."""

# Neighbours differ in both, for in grey the dash is all there is; no two of them are the same.
_STROKES = [(COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]) for k in range(DISTINCT)]

_FIXED: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.25,
    "legend.borderaxespad": 0.2,
    "legend.borderpad": 0.2,
    "legend.handletextpad": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "image.cmap": HEAT,
    "figure.dpi": 100,
    # Letters stay letters: publishers refuse what has type 3 fonts.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    # Outlines look the same where the font is not there.
    "svg.fonttype": "path",
    "svg.hashsalt": "soft-sed-eval",
    "agg.path.chunksize": 20_000,
}


@contextlib.contextmanager
def drawn_as(look: Look) -> Iterator[None]:
    """Have matplotlib draw in a look, and in nothing that it was told elsewhere; as it was, afterwards.

    Raises SettingsError for a style that does not exist.
    """
    # Messages of a folder that cannot be written, or of a first look at fonts, are not about the figure.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl
        from cycler import cycler
        from matplotlib import style

        unit = _POINTS[look.base] / 8.0
        colours, dashes = zip(*_STROKES, strict=True)
        with mpl.rc_context():
            mpl.rcdefaults()
            style.use({name: size * unit for name, size in _SCALED.items()})
            style.use({**_FIXED, "savefig.dpi": look.dpi})
            style.use({"axes.prop_cycle": cycler(color=colours, linestyle=dashes)})
            with warnings.catch_warnings():
                # Of settings that are not about the look, such as the backend: they are left out.
                warnings.simplefilter("ignore")
                style.use(_style_parameters(look.style))
            # A name is no formula, and LaTeX, which a name could give orders, is not called.
            style.use({"text.usetex": False, "text.parse_math": True})
            yield
    finally:
        logger.setLevel(level)


def _style_parameters(style: str) -> dict[str, Any]:
    """Return what a style of matplotlib sets, nothing for our own; raises SettingsError."""
    from matplotlib import rc_params_from_file
    from matplotlib import style as styles

    if style in STYLES:
        return {}
    if style in styles.library:
        return dict(styles.library[style].items())
    if not os.path.isfile(style):
        expected = f"; expected {', '.join(STYLES)}, a name of matplotlib's or a file"
        hint = did_you_mean(style, [*STYLES, *styles.library]) or expected
        raise SettingsError(f"style {style!r} is neither a style nor a file{hint}")
    try:
        _check_lines(style)
        return dict(rc_params_from_file(style, fail_on_error=True, use_default_template=False).items())
    except (OSError, ValueError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SettingsError(f"style {style}: cannot be read as a style of matplotlib: {first}") from error


def _check_lines(path: str) -> None:
    """Raise ValueError for a line of a style that matplotlib would only warn of."""
    import matplotlib as mpl

    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        setting = line.partition("#")[0].strip()
        name, colon, _ = setting.partition(":")
        if setting and not (colon and name.strip() in mpl.rcParams):
            hint = did_you_mean(name.strip(), mpl.rcParams) or "; expected NAME: VALUE"
            raise ValueError(f"line {number} is {quoted(setting)}{hint}")
