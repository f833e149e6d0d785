"""The look of figures: columns of a paper, distinguishable colours; their files.

The colours of lines are by Okabe & Ito 2008, each with a dash of its own, so that a copy in grey stays
legible. Other settings of matplotlib do not count: the same call gives the same figure.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from sedeval_soft.apps.plots.registry import KINDS, SUFFIXES
from sedeval_soft.errors import SettingsError, visible
from sedeval_soft.settings import Schema, in_form

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sedeval_soft.apps.plots.run import Systems

COLUMNS = {"single": 3.5, "double": 7.16}
"""Inches of one column and of two of a paper, as IEEE has them."""

_INCHES: Schema = {"type": "number", "minimum": 1.0, "maximum": 100.0}  # of a side of a figure
_MOST_PIXELS = 2e8  # pixels of a figure, which take four bytes each, and as many again to be packed


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a figure, independent of its content.

    width: inches, or `single` or `double` for one or both columns; None for the default of the kind of
    figure. height: inches, None to fit the content. dpi: of a PNG, and of pixel images in other formats.
    """

    width: str | float | None = None
    height: float | None = None
    dpi: int = 300

    def __post_init__(self) -> None:
        """Check sizes; raises SettingsError."""
        if self.width is not None:
            in_form("width in inches", self.width, [_INCHES, {"enum": tuple(COLUMNS)}])
        if self.height is not None:
            in_form("height in inches", self.height, [_INCHES])
        in_form("dpi", self.dpi, [{"type": "integer", "minimum": 30, "maximum": 2400}])

    def inches(self, preferred: str = "single") -> float:
        """Return the width; preferred: the columns that suit the kind of figure."""
        width = preferred if self.width is None else self.width
        return COLUMNS[width] if isinstance(width, str) else float(width)


@contextlib.contextmanager
def drawn_as(look: Look) -> Iterator[None]:
    """Have matplotlib draw in a look, without its other settings, and restore these afterwards."""
    # Messages of a folder that cannot be written, or of a first look at fonts, are not about the figure.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl
        from matplotlib import style

        with mpl.rc_context():
            mpl.rcdefaults()
            style.use([Path(__file__).parent / "paper.mplstyle", {"savefig.dpi": look.dpi}])
            yield
    finally:
        logger.setLevel(level)


def figure_of(systems: Systems, look: Look) -> Figure:
    """Draw a figure, labelled with its caption; raises SettingsError if the space is too small."""
    with drawn_as(look), warnings.catch_warnings():
        # Matplotlib, which this imports, reports what it cannot find unless it is told not to.
        module, _, name = KINDS[systems.kind].draw.partition(".")
        figure: Figure = getattr(import_module(f"sedeval_soft.apps.plots.{module}"), name)(systems, look)
        warnings.filterwarnings("error", message=".*constrained_layout not applied")
        try:
            # What matplotlib makes when it first draws, ticks above all, is made in this look as well.
            figure.draw_without_rendering()
        except UserWarning as error:
            size = "{:g} x {:g} inches".format(*figure.get_size_inches())
            raise SettingsError(
                f"{systems.kind} has no room in {size}; expected more --width or --height"
            ) from error
    figure.set_label(systems.caption(str(figure.get_label())))
    return figure


def form_of(path: str | os.PathLike[str], option: str = "-o") -> str:
    """Return the format of a figure by the suffix of a path; raises SettingsError for others."""
    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        expected = ", ".join(f".{each}" for each in SUFFIXES)
        raise SettingsError(
            f"{option} {name}: the end of the name says the form of a figure; expected one of {expected}"
        )
    return suffix


def rendered(figure: Figure, form: str, look: Look, systems: Systems) -> bytes:
    """Return the file of a figure, with a description of its content; form: one of `SUFFIXES`.

    Raises SettingsError for too many pixels.
    """
    width, height = figure.get_size_inches()
    if width * height * look.dpi**2 > _MOST_PIXELS:
        raise SettingsError(
            f"{width:g} x {height:g} inches at {look.dpi} dots each have more than {_MOST_PIXELS:g} pixels; "
            "expected fewer --dpi"
        )
    title = visible(f"{systems.kind}: {', '.join(system.name for system in systems.all)}")
    signature = visible("\n".join(dict.fromkeys(system.scores.signature for system in systems.all)))
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
