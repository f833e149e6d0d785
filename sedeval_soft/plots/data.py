"""The data of a figure: systems with their scores, and what of them is wished for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import finite

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board
    from sedeval_soft.evaluation.scores import Scores
    from sedeval_soft.settings import Settings
    from sedeval_soft.timeline.recordings import Recordings

ORDERS = ("given", "name", "score", "size")
PARTS = ("segments", "files", "classes")
BINNINGS = ("width", "mass")

_LONG = 32
"""Letters of a name in a list, of a longer one the middle is left out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What of the systems is drawn; None stands for what suits the kind of figure.

    class_names: only these classes are drawn, in this order; what is averaged over classes stays as it is.
    max_classes: so many at most. scores: names of scores or parts of them, as the kind of figure has it.
    sort: the order of classes: as they are `given`, by `name`, by `score` or by `size` of their reference.
    file: the recording. start, end: seconds of it. of: which parts are the worst. binning: of calibration.
    """

    class_names: tuple[str, ...] = ()
    max_classes: int | None = None
    scores: tuple[str, ...] = ()
    sort: str | None = None
    file: str | None = None
    start: float | None = None
    end: float | None = None
    of: str | None = None
    binning: str | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without systems; raises SettingsError."""
        for name, choices in (("sort", ORDERS), ("of", PARTS), ("binning", BINNINGS)):
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise SettingsError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        if self.max_classes is not None and (not isinstance(self.max_classes, int) or self.max_classes < 1):
            raise SettingsError(f"max_classes must be a whole number, 1 or more, not {self.max_classes!r}")
        for name, seconds in (("start", self.start), ("end", self.end)):
            if seconds is not None:
                finite(name, seconds)
        twice = next((name for name in self.class_names if self.class_names.count(name) > 1), None)
        if twice is not None:
            raise SettingsError(f"class {twice!r} is named twice; expected each once")


@dataclass(frozen=True, slots=True)
class System:
    """One system as it is drawn.

    name: in the figure. pair: its table and the reference's, where values over time are drawn.
    """

    name: str
    scores: Scores
    pair: Recordings | None = None

    def value(self, name: str) -> float | None:
        """Return the value of a score; None where it is undefined, or was not computed."""
        score = self.scores.scores.get(name)
        return None if score is None or score.value is None else float(score.value)


@dataclass(frozen=True, slots=True)
class Systems:
    """All systems of a figure, at least one, scored against one reference; board: of several, ranked."""

    all: tuple[System, ...]
    wish: Wish
    board: Board | None = None

    @property
    def first(self) -> System:
        """Return the system that came first."""
        return self.all[0]

    @property
    def several(self) -> bool:
        """Return whether there is more than one system."""
        return len(self.all) > 1

    @property
    def settings(self) -> Settings:
        """Return the settings that all were scored with."""
        return self.first.scores.settings

    def classes(self) -> tuple[str, ...]:
        """Return the classes that are wished for, all if none are named; raises SettingsError."""
        lists = {system.scores.classes for system in self.all}
        classes = (
            self.first.scores.classes
            if len(lists) == 1
            else tuple(sorted({name for names in lists for name in names}))
        )
        for name in self.wish.class_names:
            if name not in classes:
                hint = did_you_mean(name, classes) or f"; there are {joined(classes, 10)}"
                raise SettingsError(f"class {name!r} is not among those that are evaluated{hint}")
        return self.wish.class_names or classes

    def sorted_classes(self, what: str) -> list[str]:
        """Return the classes in the order that is wished for; what: the figure, which has no one score."""
        names, sort = list(self.classes()), self.wish.sort
        if sort == "score":
            raise SettingsError(f"--sort score: a {what} has no score; expected given, name or size")
        if sort == "name":
            return sorted(names)
        return sorted(names, key=lambda name: -self.size(name)) if sort == "size" else names

    def size(self, name: str) -> float:
        """Return the size of the reference of a class, in whatever basis comes first."""
        for score in self.first.scores.scores.values():
            if score.measure == "n_ref" and score.class_name == name and score.group is None:
                return float(score.value or 0)
        return 0.0

    def largest(
        self, names: Sequence[str], most: int, ceiling: int | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the classes that are drawn, of too many those with most reference, and a note on the others.

        most: how many where nothing is wished for. ceiling: how many at most whatever is wished for.
        """
        limit = self.wish.max_classes or len(self.wish.class_names) or most
        limit = limit if ceiling is None else min(limit, ceiling)
        if len(names) <= limit:
            return list(names), []
        largest = {*sorted(names, key=lambda name: -self.size(name))[:limit]}
        omitted = counted(len(names) - limit, "class")
        note = f"Not drawn: the {omitted} with the least reference (--max-classes)."
        return [name for name in names if name in largest], [note]

    def undefined(self, names: Sequence[str], reason: str = "Undefined") -> list[str]:
        """Return the notes on classes of which nothing can be drawn; reason: why, of those with reference."""
        silent = [name for name in names if self.size(name) == 0]
        others = [name for name in names if name not in silent]
        notes = (("No reference", silent), (reason, others))
        return [f"{text}: {joined(listed)}." for text, listed in notes if listed]


def joined(names: Sequence[str], most: int = 6) -> str:
    """Return names in a row, those beyond the first few counted only; not ready to be drawn."""
    half = _LONG // 2
    texts = [name if len(name) <= _LONG else f"{name[:half]}\u2026{name[-half:]}" for name in names[:most]]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")
