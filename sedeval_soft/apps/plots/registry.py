"""The kinds of figures: the content of each, its choices, its needs, and its drawing function.

`soft-sed-eval --help` reads this: nothing heavy is imported at the top.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of figure.

    - summary: its content. draw: the module and the function that draw it.
    - options: the fields of `Wish` that it uses.
    - families: the bases and readings of which it shows one, the preferred one first; beside: readings of the
      same basis that it needs as well.
    - only: its scores if the call does not choose any, and in any call if `fixed`.
    - group: of measures that it needs. intervals: whether it shows some.
    - single: whether it is of one system.
    """

    summary: str
    draw: str
    options: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    fixed: bool = False
    group: str = ""
    intervals: bool = False
    single: bool = False


MATRIX_BASES = ("segment", "event", "intersection")

_CLASSES = ("class_names", "max_classes")
_CELLS = ("segment.hard", "segment.soft", "clip.hard", "clip.soft")
_EVENTS = ("event.optimal", "intersection.optimal")

KINDS: dict[str, Kind] = {
    "matrix": Kind(
        "all bases and readings; of several systems a leaderboard", "scores.draw_matrix", ("scores",),
        only=MATRIX_BASES, intervals=True,
    ),
    "classes": Kind(
        "scores of each class", "scores.draw_classes", (*_CLASSES, "scores", "sort"), only=("segment",),
        intervals=True,
    ),
    "pr": Kind(
        "precision over recall", "curves.draw_pr", _CLASSES, (*_CELLS, *_EVENTS), group="curves"
    ),
    "roc": Kind(
        "true positive rate over false positive rate", "curves.draw_roc", _CLASSES, _CELLS, group="curves"
    ),
    "det": Kind(
        "misses over false alarms, as normal deviates", "curves.draw_det", _CLASSES, _CELLS, group="curves"
    ),
    "psd-roc": Kind(
        "the curve whose area is PSDS", "curves.draw_psd_roc", only=("intersection.hard",), fixed=True,
        group="curves",
    ),
    "f-thresholds": Kind(
        "F1 over the system's threshold, the best one marked", "curves.draw_f_thresholds", _CLASSES,
        ("segment.hard", "clip.hard", *_EVENTS), ("optimal",), group="curves",
    ),
    # Agreement of annotators is what a calibrated value means; of a hard reference the readings are one.
    "reliability": Kind(
        "how well the system's values are calibrated", "curves.draw_reliability", _CLASSES,
        ("segment.soft", "segment.hard", "clip.soft", "clip.hard"), group="calibration",
    ),
    "confusion": Kind(
        "which class is taken for which", "scores.draw_confusion", _CLASSES,
        ("segment.hard", "event.hard", "clip.hard"), group="confusion", single=True,
    ),
    "timeline": Kind(
        "one file over time: hits, misses and false alarms", "timeline.draw_timeline",
        (*_CLASSES, "file", "start", "end"), only=("segment.hard",), fixed=True,
    ),
    "errors": Kind(
        "how much F1 each kind of error costs", "scores.draw_errors", (),
        ("event.hard", "segment.hard", "segment.soft"), intervals=True,
    ),
}  # fmt: skip

OPTIONS = {
    "class_names": "--class", "max_classes": "--max-classes", "scores": "--score", "sort": "--sort",
    "file": "--file", "start": "--start", "end": "--end",
}  # fmt: skip
"""The fields of `Wish`, and their names on the command line."""

RESAMPLED = tuple(name for name, kind in KINDS.items() if kind.intervals)

SUFFIXES = ("pdf", "png", "svg")


def kinds_with(option: str) -> tuple[str, ...]:
    """Return the kinds of figures that have a use for a field of `Wish`."""
    return tuple(name for name, kind in KINDS.items() if option in kind.options)
