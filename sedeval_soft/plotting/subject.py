"""What is drawn: systems with their scores, and what of them is wished for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sedeval_soft.errors import SettingsError, counted
from sedeval_soft.names import did_you_mean
from sedeval_soft.settings import finite

if TYPE_CHECKING:
    from sedeval_soft.core.board import Board
    from sedeval_soft.core.pair import Pair
    from sedeval_soft.core.value import Scores
    from sedeval_soft.run.curves import Curves
    from sedeval_soft.settings import Settings

Order = Literal["given", "name", "score", "size"]
ORDERS: tuple[Order, ...] = ("given", "name", "score", "size")
PARTS = ("segments", "files", "classes")
BINNINGS = ("width", "mass")


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
        for name, value, known in (
            ("sort", self.sort, ORDERS), ("of", self.of, PARTS), ("binning", self.binning, BINNINGS)
        ):  # fmt: skip
            if value is not None and value not in known:
                raise SettingsError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        if self.max_classes is not None and (not isinstance(self.max_classes, int) or self.max_classes < 1):
            raise SettingsError(f"max_classes must be a whole number, 1 or more, not {self.max_classes!r}")
        for name, seconds in (("start", self.start), ("end", self.end)):
            if seconds is not None:
                finite(name, seconds)
        twice = next((name for name in self.class_names if self.class_names.count(name) > 1), None)
        if twice is not None:
            raise SettingsError(f"class {twice!r} is named twice; expected each once")


@dataclass(frozen=True, slots=True)
class Subject:
    """One system as it is drawn.

    name: in the figure. pair: its table and the reference's, where values over time are drawn.
    """

    name: str
    scores: Scores
    pair: Pair | None = None

    @property
    def settings(self) -> Settings:
        """Return the settings that it was scored with."""
        return self.scores.settings

    @property
    def curves(self) -> Curves:
        """Return its curves over thresholds, made anew each time."""
        found: Curves = self.scores.curves
        return found

    def value(self, name: str) -> float | None:
        """Return the value of a score; None where it is undefined, or was not computed."""
        score = self.scores.scores.get(name)
        return None if score is None or score.value is None else float(score.value)


@dataclass(frozen=True, slots=True)
class Subjects:
    """All systems of a figure, at least one, scored against one reference; board: of several, ranked."""

    systems: tuple[Subject, ...]
    wish: Wish
    board: Board | None = None

    @property
    def first(self) -> Subject:
        """Return the system that came first."""
        return self.systems[0]

    @property
    def settings(self) -> Settings:
        """Return the settings that all were scored with."""
        return self.first.settings

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the classes of all systems in their order."""
        lists = [system.scores.classes for system in self.systems]
        if all(names == lists[0] for names in lists):
            return lists[0]
        return tuple(sorted({name for names in lists for name in names}))

    def chosen(self) -> tuple[str, ...]:
        """Return the classes that are wished for, all if none are named; raises SettingsError."""
        for name in self.wish.class_names:
            if name not in self.classes:
                hint = did_you_mean(name, self.classes) or f"; there are {_few(self.classes)}"
                raise SettingsError(f"class {name!r} is not among those that are evaluated{hint}")
        return self.wish.class_names or self.classes

    def size(self, name: str) -> float:
        """Return the size of the reference of a class, in whatever basis comes first."""
        for score in self.first.scores.scores.values():
            if score.measure == "n_ref" and score.class_name == name and score.group is None:
                return float(score.value or 0)
        return 0.0

    def kept(
        self, names: Sequence[str], most: int, ceiling: int | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the classes that are drawn, of too many those with most reference, and the others.

        most: how many where nothing is wished for. ceiling: how many at most whatever is wished for.
        """
        named = len(self.wish.class_names)
        limit = self.wish.max_classes or named or most
        limit = limit if ceiling is None else min(limit, ceiling)
        if len(names) <= limit:
            return list(names), []
        largest = {*sorted(names, key=lambda name: -self.size(name))[:limit]}
        return [n for n in names if n in largest], [n for n in names if n not in largest]


def said_of_others(others: Sequence[str]) -> list[str]:
    """Return the note on classes that are left out because there are too many."""
    if not others:
        return []
    return [f"Not drawn: the {counted(len(others), 'class')} with the least reference (--max-classes)."]


def _few(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
