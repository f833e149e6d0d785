"""A board: several systems scored against one reference, compared by one score."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from sedeval_soft.evaluation.scores import Scores, document, plain


@dataclass(frozen=True, slots=True)
class Difference:
    """How the score of a system differs from that of the system it is compared to.

    value: its score minus the other's. low, high: the interval of that, paired: both sides are resampled by
    the same files. p_bootstrap, p_exchange: two-sided p-values of no difference, by the paired bootstrap and
    by approximate randomisation (files exchanged between the two); p_adjusted: the latter after Holm.
    None where the score of either is undefined.
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

    rank: from 1; tied systems share the rank of the first of them. tied: whether others have its rank.
    place: its place by the score alone, from 1. value, low, high: the score and its interval.
    difference: None for the system to which the others are compared. stability: the share of replicates in
    which it has its place. best_place, worst_place: the interval of its place over replicates.
    """

    system: str
    rank: int
    tied: bool
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
    """How alike scores rank the systems: Kendall's tau-b of every two; None where one is constant.

    names: of the scores. tau: a row and a column for each; 1 where both rank all systems alike, with scores
    of which lower is better turned round.
    """

    names: tuple[str, ...]
    tau: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Board:
    """Systems in the order of a score, and how sure that order is.

    systems: the scores of each, in the order of `entries`. rank_by: the name of the score. compared_to: the
    system from which differences are taken: the baseline that was named, else the best. confidence: of the
    intervals and of what is a tie. replicates, seed: of the resampling.
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


def board_document(board: Board) -> dict[str, Any]:
    """Return the JSON document of the systems of a board, with the board in it."""
    names = (field.name for field in fields(board) if field.name != "systems")
    return document(board.systems) | {"board": {name: plain(getattr(board, name)) for name in names}}
