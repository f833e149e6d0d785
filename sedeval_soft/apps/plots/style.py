"""How figures look: sizes of a paper, a talk or a poster, colours that everybody can tell apart; their files.

Colours of lines are those of Okabe & Ito 2008, each with a dash of its own, so that a copy in grey can be
read, too. What a user told matplotlib elsewhere does not count: the same call gives the same figure.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from sedeval_soft.apps.plots.registry import KINDS, SUFFIXES
from sedeval_soft.errors import SettingsError, quoted, visible
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import Schema, in_form

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sedeval_soft.apps.plots.data import Systems

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
"""Okabe & Ito's, without black, which stands for all classes together, and yellow, which paper swallows."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
DISTINCT = len(COLOURS) * len(DASHES)
"""Lines that can be told apart: neighbours differ in both, for in grey the dash is all there is."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

HEAT = "viridis"

_STYLES = {"paper": (8.0, 3.5, 7.16), "talk": (16.0, 8.0, 12.0), "poster": (26.0, 12.0, 22.0)}
"""Points of letters, inches of one column and of two; those of a paper are IEEE's."""

STYLES = tuple(_STYLES)
COLUMNS = ("single", "double")

_HERE = Path(__file__).parent

_LEAST, _MOST = 1.0, 100.0  # inches that a side of a figure may have
_MOST_PIXELS = 2e8  # pixels of a figure, which take four bytes each, and as many again to be packed


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
        inches: Schema = {"type": "number", "minimum": _LEAST, "maximum": _MOST}
        if self.width is not None:
            in_form("width in inches", self.width, [inches, {"enum": COLUMNS}])
        if self.height is not None:
            in_form("height in inches", self.height, [inches])
        in_form("dpi", self.dpi, [{"type": "integer", "minimum": 30, "maximum": 2400}])
        in_form("style", self.style, [{"type": "string"}])
        if self.title:
            in_form("title", self.title, [{"type": "string"}])
        if self.height is not None:
            # Where both are known, too many pixels are refused before anything is drawn.
            self.check_pixels(self.inches(), self.height)

    def check_pixels(self, width: float, height: float) -> None:
        """Raise SettingsError for a figure of so many inches that has too many pixels."""
        if width * height * self.dpi**2 > _MOST_PIXELS:
            raise SettingsError(
                f"{width:g} x {height:g} inches at {self.dpi} dots each have more than {_MOST_PIXELS:g} "
                "pixels; expected fewer --dpi"
            )

    @property
    def sizes(self) -> tuple[float, float, float]:
        """Return the points of letters and the inches of one column and of two."""
        return _STYLES.get(self.style, _STYLES["paper"])

    def inches(self, preferred: str = "single") -> float:
        """Return the width; preferred: the columns that suit the kind of figure."""
        width = preferred if self.width is None else self.width
        return self.sizes[1 + COLUMNS.index(width)] if isinstance(width, str) else float(width)


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

        unit, repeats = look.sizes[0] / 8.0, range(DISTINCT)
        colours = [COLOURS[k % len(COLOURS)] for k in repeats]
        strokes = cycler(color=colours, linestyle=[DASHES[k % len(DASHES)] for k in repeats])
        with mpl.rc_context():
            mpl.rcdefaults()
            sizes = mpl.rc_params_from_file(_HERE / "sizes.mplstyle", use_default_template=False)
            style.use({name: size * unit for name, size in sizes.items()})
            style.use([_HERE / "paper.mplstyle", {"savefig.dpi": look.dpi, "axes.prop_cycle": strokes}])
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
    from matplotlib import rc_params_from_file, rcParams
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
        for number, line in enumerate(Path(style).read_text(encoding="utf-8").splitlines(), 1):
            setting = line.partition("#")[0].strip()
            name, colon, _ = setting.partition(":")
            # Of these matplotlib would only warn.
            if setting and not (colon and name.strip() in rcParams):
                hint = did_you_mean(name.strip(), rcParams) or "; expected NAME: VALUE"
                raise ValueError(f"line {number} is {quoted(setting)}{hint}")
        return dict(rc_params_from_file(style, fail_on_error=True, use_default_template=False).items())
    except (OSError, ValueError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SettingsError(f"style {style}: cannot be read as a style of matplotlib: {first}") from error


def figure_of(systems: Systems, look: Look) -> Figure:
    """Draw a figure; raises SettingsError for what the systems do not have."""
    module, _, name = KINDS[systems.kind].draw.partition(".")
    draw = getattr(import_module(f"sedeval_soft.apps.plots.{module}"), name)
    return drawn(lambda: draw(systems, look), look, systems.kind)


def drawn(draw: Callable[[], Figure], look: Look, kind: str) -> Figure:
    """Return a figure drawn in a look; raises SettingsError, which names its kind, where there is no room."""
    with drawn_as(look):
        figure = draw()
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*constrained_layout not applied")
            try:
                # What matplotlib makes when it first draws, ticks above all, is made in this look, too.
                figure.draw_without_rendering()
            except UserWarning as error:
                size = "{:g} x {:g} inches".format(*figure.get_size_inches())
                raise SettingsError(
                    f"{kind} has no room in {size}; expected more --width or --height"
                ) from error
    return figure


def form_of(path: str | os.PathLike[str], option: str = "-o") -> str:
    """Return the form of a figure that the suffix of a path stands for; raises SettingsError for others."""
    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        expected = ", ".join(f".{each}" for each in SUFFIXES)
        raise SettingsError(
            f"{option} {name}: the end of the name says the form of a figure; expected one of {expected}"
        )
    return suffix


def rendered(figure: Figure, form: str, look: Look, systems: Systems) -> bytes:
    """Return the file of a figure, which tells what it shows; form: one of `SUFFIXES`."""
    title = f"{systems.kind}: {', '.join(system.name for system in systems.all)}"
    signature = "\n".join(dict.fromkeys(system.scores.signature for system in systems.all))
    return file_of(figure, form, look, visible(title), visible(signature))


def file_of(figure: Figure, form: str, look: Look, title: str, signature: str) -> bytes:
    """Return the file of a figure with texts that tell what it shows."""
    look.check_pixels(*figure.get_size_inches())
    # No date: the same call gives the same bytes.
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": title, "Subject": signature, "CreationDate": None},
        "png": {"Title": title, "Description": signature},
        "svg": {"Title": title, "Description": signature, "Date": None},
    }
    written = io.BytesIO()
    with drawn_as(look):
        figure.savefig(written, format=form, dpi=look.dpi, metadata=metadata[form])
    return written.getvalue()
