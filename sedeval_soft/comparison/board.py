"""A board: several systems scored against one reference, compared by one score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.evaluation.scores import Scores, document, plain, screen_of, tables_of
from sedeval_soft.names import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


class UnknownSystemError(EvaluationError, KeyError):
    """No system of that name is on a board."""

    def __str__(self) -> str:
        """Return the message itself: KeyError would quote it."""
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference between the score of a system and the score of the system to which it is compared.

    value: Its score minus the other's. low, high: The paired interval of the difference: both sides are
    resampled by the same files. p_bootstrap, p_exchange: Two-sided p-values of no difference, by the paired
    bootstrap and by approximate randomisation (files exchanged between the two). p_adjusted: The latter after
    Holm. None if the score of either is undefined.
    """

    value: float | None
    low: float | None
    high: float | None
    p_bootstrap: float | None
    p_exchange: float | None
    p_adjusted: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One system on a board.

    rank: from 1, the place of the first system with which it shares a letter. letters: two systems that share
    one are not significantly different (compact letter display: `a`, `ab`, `b`); empty if nothing is tested.
    place: its place by the score alone, from 1. value, low, high: the score and its interval.
    difference: None for the system to which the others are compared. stability: the share of replicates in
    which it has its place. best_place, worst_place: the interval of its place over replicates.
    """

    system: str
    rank: int
    letters: str
    place: int
    value: float | int | None
    low: float | None
    high: float | None
    difference: Difference | None
    stability: float | None
    best_place: int | None
    worst_place: int | None


@dataclass(frozen=True, slots=True)
class Discordance:
    """McNemar's test of one class: segments that only one of two systems has right, hard reading.

    only_system: segments that `system` has right and the other one wrong; only_other: the reverse.
    p: exact two-sided; p_adjusted: after Holm over all classes of all systems.
    """

    system: str
    class_name: str
    only_system: int
    only_other: int
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of scores on the ranking of systems: Kendall's tau-b of every two; None for a constant one.

    names: of the scores. tau: a row and a column for each; 1 if both rank all systems alike, with scores
    turned round for which lower is better.
    """

    names: tuple[str, ...]
    tau: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Board(Mapping[str, Scores]):
    """Systems in the order of a score, and how sure that order is.

    `board["sys.tsv"]` is the `Scores` of a system. Iteration yields the names of systems by place, as
    `board.items()` yields them with their scores; `len(board)` is how many there are. `print(board)` shows
    the output of the command.

    systems: The scores of each, in the order of `entries`. rank_by: The name of the score. compared_to: The
    system from which differences are taken: the named baseline, else the best. confidence: Confidence of
    intervals and significant differences. replicates, seed: Settings of the resampling.
    """

    systems: tuple[Scores, ...]
    rank_by: str
    compared_to: str
    baseline: str | None
    confidence: float
    replicates: int
    seed: int
    entries: tuple[Entry, ...]
    discordances: tuple[Discordance, ...]
    agreement: Agreement

    def __repr__(self) -> str:
        """Return a short form: the numbers are many."""
        return f"<Board of {counted(len(self), 'system')} by {self.rank_by}: {_some(self)}>"

    def __str__(self) -> str:
        """Return the text that the command prints."""
        return screen_of(self.systems, self)

    def _repr_html_(self) -> str:
        """Return the leaderboard as a table, for notebooks."""
        return tables_of(self.systems, self)

    def __getitem__(self, system: str) -> Scores:
        """Return the scores of a system by its name; raise UnknownSystemError with close matches."""
        for scores in self.systems:
            if scores.system == system:
                return scores
        # Systems that are given as paths have the whole path for a name.
        longer = [name for name in self if isinstance(system, str) and system and system in name]
        hint = did_you_mean(str(system), longer or self, cutoff=0.0 if longer else 0.6)
        known = "" if hint else f"; the systems are {_some(self)}"
        raise UnknownSystemError(f"no system is named {system!r}{hint or known}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the systems, by place."""
        return (scores.system for scores in self.systems)

    def __len__(self) -> int:
        """Return the number of systems."""
        return len(self.systems)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, in the form of the JSON output."""
        return board_document(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with one row per system, by place: the columns of the CSV output.

        Undefined or absent values are missing (pd.NA).
        """
        import pandas as pd

        frame = pd.DataFrame(board_rows(self))
        places, words = ["best_place", "worst_place"], ["system", "rank_by", "compared_to", "letters"]
        numbers = frame.columns.difference(["rank", "place", *places, *words])
        return frame.astype(dict.fromkeys(numbers, "Float64") | dict.fromkeys(places, "Int64"))


def board_document(board: Board) -> dict[str, Any]:
    """Return the JSON document of the systems of a board, with the board in it."""
    names = (field.name for field in fields(board) if field.name != "systems")
    return document(board.systems) | {"board": {name: plain(getattr(board, name)) for name in names}}


def _some(names: Iterable[str]) -> str:
    """Return the first few of some names."""
    first = [*names]
    more = f" and {len(first) - _SOME} more" if len(first) > _SOME else ""
    return f"{', '.join(map(repr, first[:_SOME]))}{more}"


_SOME = 3
"""Systems that a message names."""


ALL_ALIKE = "no two systems are significantly different"
"""Begin of the warning that no two systems differ significantly."""


def board_rows(board: Board) -> list[dict[str, Any]]:
    """Return a row for each system by the names of its columns, for CSV and data frames of a board."""
    rows = []
    for entry in board.entries:
        compared = plain(entry.difference) if entry.difference else dict.fromkeys(_COMPARED)
        rows.append(
            {
                **{name: getattr(entry, name) for name in ("system", "rank", "letters", "place")},
                "rank_by": board.rank_by,
                **{name: getattr(entry, name) for name in ("value", "low", "high")},
                "compared_to": board.compared_to,
                **{f"difference_{name}": value for name, value in compared.items()},
                **{name: getattr(entry, name) for name in ("stability", "best_place", "worst_place")},
            }
        )
    return rows


_COMPARED = [field.name for field in fields(Difference)]
