"""The kinds of figures: what each shows, what can be chosen of it, and which function draws it.

`soft-sed-eval --help` reads this: nothing heavy is imported at the top.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sedeval_soft.plots.data import Systems
    from sedeval_soft.plots.style import Look


class Kind(NamedTuple):
    """A kind of figure.

    summary: what it shows. draw: the module and the function that draw it. options: the fields of `Wish` that
    it has a use for. families: the bases and readings of which it shows one, the one that it prefers first.
    intervals: whether it shows some. several: whether it shows more than one system.
    """

    summary: str
    draw: str
    options: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    intervals: bool = False
    several: bool = True


_CLASSES = ("class_names", "max_classes")
_CELLS = ("segment.hard", "segment.soft", "clip.hard", "clip.soft")
_EVENTS = ("event.optimal", "intersection.optimal")

KINDS: dict[str, Kind] = {
    "matrix": Kind(
        "all bases and readings; of several systems a leaderboard", "scores.draw_matrix", ("scores",),
        intervals=True,
    ),
    "classes": Kind(
        "scores of each class as bars", "scores.draw_classes", (*_CLASSES, "scores", "sort"), intervals=True
    ),
    "pr": Kind("precision over recall", "curves.draw_pr", _CLASSES, (*_CELLS, *_EVENTS)),
    "roc": Kind("true positive rate over false positive rate", "curves.draw_roc", _CLASSES, _CELLS),
    "det": Kind("misses over false alarms, as normal deviates", "curves.draw_det", _CLASSES, _CELLS),
    "psd-roc": Kind("the curve whose area is PSDS", "curves.draw_psd_roc"),
    "f-thresholds": Kind(
        "F over the system's threshold, the best one marked", "curves.draw_f_thresholds", _CLASSES,
        ("segment.hard", "clip.hard", *_EVENTS),
    ),
    # Agreement of annotators is what a calibrated value means; of a hard reference the readings are one.
    "reliability": Kind(
        "how well the system's values are calibrated", "curves.draw_reliability", (*_CLASSES, "binning"),
        ("segment.soft", "segment.hard", "clip.soft", "clip.hard"),
    ),
    "confusion": Kind(
        "which class is taken for which", "heatmaps.draw_confusion", (*_CLASSES, "sort"),
        ("segment.hard", "event.hard", "clip.hard"),
    ),
    "surface": Kind(
        "F over the thresholds of the reference and of the system", "heatmaps.draw_surface",
        ("class_names",), ("segment.hard", "clip.hard"),
    ),
    "timeline": Kind(
        "one file over time: hits, misses and false alarms", "timeline.draw_timeline",
        (*_CLASSES, "sort", "file", "start", "end"),
    ),
    "worst": Kind(
        "segments, files or classes with the most errors", "scores.draw_worst", ("of",), several=False
    ),
    "sweep": Kind("scores over thresholds of the reference", "curves.draw_sweep", ("scores",)),
}  # fmt: skip

OPTIONS = {
    "class_names": "--class", "max_classes": "--max-classes", "scores": "--score", "sort": "--sort",
    "file": "--file", "start": "--start", "end": "--end", "of": "--of", "binning": "--binning",
}  # fmt: skip
"""The fields of `Wish`, and what they are called on the command line."""

RESAMPLED = tuple(name for name, kind in KINDS.items() if kind.intervals)

SUFFIXES = ("pdf", "png", "svg")


def kinds_with(option: str) -> tuple[str, ...]:
    """Return the kinds of figures that have a use for a field of `Wish`."""
    return tuple(name for name, kind in KINDS.items() if option in kind.options)


def figure_of(kind: str, systems: Systems, look: Look) -> Figure:
    """Draw a figure; raises SettingsError for what the systems do not have."""
    import warnings

    from sedeval_soft.errors import SettingsError
    from sedeval_soft.plots.style import drawn_as

    module, _, name = KINDS[kind].draw.partition(".")
    draw = getattr(import_module(f"sedeval_soft.plots.{module}"), name)
    with drawn_as(look):
        figure: Figure = draw(systems, look)
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


def form_of(path: str | os.PathLike[str]) -> str:
    """Return the form of a figure that the suffix of a path stands for; raises SettingsError for others."""
    from sedeval_soft.errors import SettingsError

    name = os.fspath(path)
    suffix = PurePath(name).suffix.removeprefix(".").lower()
    if suffix not in SUFFIXES:
        expected = ", ".join(f".{each}" for each in SUFFIXES)
        raise SettingsError(f"-o {name}: a figure is written as its name ends; expected one of {expected}")
    return suffix


def rendered(figure: Figure, form: str, look: Look, kind: str, systems: Systems) -> bytes:
    """Return the bytes of a figure: of the same input the same.

    form: one of `SUFFIXES`. kind, systems: what it is of, which its file tells, with the signatures.
    """
    import io

    from sedeval_soft.errors import visible
    from sedeval_soft.plots.style import drawn_as

    look.check_pixels(*figure.get_size_inches())
    title = visible(f"{kind}: {', '.join(system.name for system in systems.all)}")
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
