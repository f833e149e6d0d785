"""The look of figures: columns of a paper, distinguishable colours; their files.

The colours of lines are by Okabe & Ito 2008, each with a dash of its own, so that a copy in grey stays
legible. Other settings of matplotlib do not count: the same call gives the same figure.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from sedeval_soft.apps.plots.registry import SUFFIXES
from sedeval_soft.errors import SettingsError

COLUMNS = {"single": 3.5, "double": 7.16}
"""Inches of one column and of two of a paper, as IEEE has them."""


@contextlib.contextmanager
def in_style() -> Iterator[None]:
    """Have matplotlib draw in the style of figures, and restore its settings afterwards."""
    # Messages of a folder that cannot be written, or of a first look at fonts, are not about the figure.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib as mpl
        from matplotlib import style

        with mpl.rc_context():
            mpl.rcdefaults()
            style.use(Path(__file__).parent / "paper.mplstyle")
            yield
    finally:
        logger.setLevel(level)


def form_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a figure by the suffix of a path; raises SettingsError for others."""
    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        raise SettingsError(
            f"-o {name}: a name ends with the form of a figure; expected one of .{', .'.join(SUFFIXES)}"
        )
    return suffix
