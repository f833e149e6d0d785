"""The look of figures: columns of a paper, distinguishable colours; their files.

The colours of lines are by Okabe & Ito 2008, each with a dash of its own, so that a copy in grey stays
legible. Other settings of matplotlib do not count: the same call gives the same figure.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from sedeval_soft.apps.plots.registry import SUFFIXES
from sedeval_soft.errors import SettingsError
from sedeval_soft.settings import Schema, in_form

COLUMNS = {"single": 3.5, "double": 7.16}
"""Inches of one column and of two of a paper, as IEEE has them."""

_INCHES: Schema = {"type": "number", "minimum": 1.0, "maximum": 100.0}  # of a side of a figure


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


def form_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a figure by the suffix of a path; raises SettingsError for others."""
    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        raise SettingsError(f"-o {name}: expected a name that ends with .{', .'.join(SUFFIXES)}")
    return suffix
