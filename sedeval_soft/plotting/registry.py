"""Which function draws which kind of figure."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from sedeval_soft.errors import SettingsError
from sedeval_soft.plotting.look import Look, drawn_as
from sedeval_soft.plotting.subject import Subjects

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN_BY: dict[str, str] = {
    "matrix": "matrix.draw_matrix",
    "classes": "bars.draw_classes",
    "pr": "lines.draw_pr",
    "roc": "lines.draw_roc",
    "det": "lines.draw_det",
    "psd-roc": "rates.draw_psd_roc",
    "f-thresholds": "lines.draw_f_thresholds",
    "reliability": "rates.draw_reliability",
    "confusion": "heat.draw_confusion",
    "surface": "heat.draw_surface",
    "timeline": "timeline.draw_timeline",
    "worst": "bars.draw_worst",
    "sweep": "rates.draw_sweep",
}
"""The module and the function of each kind: only one of them is needed at a time."""


def figure_of(kind: str, subjects: Subjects, look: Look) -> Figure:
    """Draw a figure; raises SettingsError for what the systems do not have."""
    module, _, name = DRAWN_BY[kind].partition(".")
    draw: Callable[[Subjects, Look], Figure] = getattr(import_module(f"sedeval_soft.plotting.{module}"), name)
    with drawn_as(look):
        figure = draw(subjects, look)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*constrained_layout not applied")
            try:
                # What matplotlib makes when it first draws, ticks above all, is made in this look, too.
                figure.draw_without_rendering()
            except UserWarning as error:
                width, height = figure.get_size_inches()
                raise SettingsError(
                    f"{kind} has no room in {width:g} x {height:g} inches; expected more --width or --height"
                ) from error
    return figure
