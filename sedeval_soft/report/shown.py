"""Selection of the scores that a result shows to people: programs get all of them.

If neither table has values or operating points, optimal and soft readings repeat the hard one. They are shown
only if the user asked for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from sedeval_soft.evaluation.scores import Score, Scores, has_soft_reference, main_score
from sedeval_soft.measures.registry import AVERAGES, FAMILIES, ScoreName
from sedeval_soft.settings import CLASS_MEANS

if TYPE_CHECKING:
    from sedeval_soft.comparison.board import Board

Family = tuple[str, str]
"""A basis and a reading."""

_FAMILY_OF = attrgetter("basis", "reading")


def families(scores: Scores) -> list[Family]:
    """Return each basis and reading with scores: families of the registry in its order, then others."""
    present = dict.fromkeys(map(_FAMILY_OF, scores.scores.values()))
    registered = dict.fromkeys((family.basis, family.reading) for family in FAMILIES)
    return [family for family in {**registered, **present} if family in present]


def in_order(*systems: Scores, of: Callable[[Scores], list[Family]] = families) -> list[Family]:
    """Return the bases and readings of some systems in the order of a screen of the first.

    For a soft reference the order is soft, hard, optimal; for a hard one hard, optimal, soft. The basis and
    reading of the score that is named first precede all others. of: which families of a system are meant.
    """
    order = list(dict.fromkeys(family for scores in systems for family in of(scores)))
    soft = has_soft_reference(systems[0])
    readings = ("soft", "hard", "tuned", "optimal") if soft else ("hard", "tuned", "optimal", "soft")
    bases = [*dict.fromkeys(basis for basis, _ in order)]
    rows = sorted(order, key=lambda family: (bases.index(family[0]), readings.index(family[1])))
    main = main_score(systems[0])
    return ranked_first(rows, ScoreName.parse(main) if main else None)


def ranked_first(order: Sequence[Family], ranking: Score | ScoreName | None) -> list[Family]:
    """Return bases and readings in order, but first the basis that ranks, with its reading at the front.

    ranking: the score that ranks first, None without one.
    """
    if ranking is None:
        return [*order]
    first = ranking.basis, ranking.reading
    return sorted(
        order, key=lambda family: (family[0] != first[0], family[0] == first[0] and family != first)
    )


def shown_families(scores: Scores) -> list[Family]:
    """Return each basis and reading that people are shown."""
    return _shown_of(families(scores), scores)


def has_thresholds(scores: Scores, *roles: str) -> bool:
    """Return whether thresholds matter for inputs, of some roles (`reference`, `system`) or of all."""
    return any(item.has_thresholds for item in scores.inputs if not roles or item.role in roles)


def _shown_of(every: list[Family], scores: Scores) -> list[Family]:
    """Return the bases and readings among all of them that people are shown."""
    if not scores.inputs or has_thresholds(scores):
        return every
    settings = scores.settings
    asked = {"optimal"} if settings.satisfice or settings.reference_sweep else set()
    shown = [
        (basis, reading)
        for basis, reading in every
        if reading not in {"optimal", "soft"} or reading in asked or f"{basis}.{reading}" in settings.only
    ]
    return shown or every


def shown(scores: Scores) -> Scores:
    """Return the scores that people are shown."""
    every = families(scores)
    kept, worst = {*_shown_of(every, scores)}, scores.worst
    if len(kept) == len(every):
        return scores
    if worst is not None and (worst.basis, "hard") in kept and (worst.basis, worst.reading) not in kept:
        # The worst lists are the same in both readings.
        scores = replace(scores, worst=replace(worst, reading="hard"))
    return _with(scores, lambda score: (score.basis, score.reading) in kept)


def shown_of_board(board: Board) -> Board:
    """Return a board with the scores that people are shown, that by which it ranks in any case."""
    name = ScoreName.parse(board.rank_by)
    kept = {family for scores in board.systems for family in shown_families(scores)}
    kept.add((name.basis, name.reading))
    systems = [_with(scores, lambda score: (score.basis, score.reading) in kept) for scores in board.systems]
    return replace(board, systems=tuple(systems))


def with_averages(scores: Scores, averages: Collection[str]) -> Scores:
    """Return the scores without averages of other kinds; scores of classes, and over all classes, stay."""
    unwanted = {*AVERAGES, *CLASS_MEANS} - {*averages}
    return _with(scores, lambda score: score.average not in unwanted)


def with_scores(scores: Scores, names: Sequence[str]) -> Scores:
    """Return the scores of these names alone, in this order."""
    chosen = _with(scores, lambda score: score.name in names)
    return replace(chosen, scores={name: chosen.scores[name] for name in names})


def _with(scores: Scores, wanted: Callable[[Score], bool]) -> Scores:
    """Return the wanted scores, with folds and other data restricted to them."""
    members = {name: score for name, score in scores.scores.items() if wanted(score)}
    if len(members) == len(scores.scores):
        return scores
    folds, sweep = scores.folds, scores.sweep
    if folds is not None:
        folds = replace(folds, spreads=tuple(spread for spread in folds.spreads if spread.name in members))
    if sweep is not None:
        values = {name: values for name, values in sweep.scores.items() if name in members}
        sweep = replace(sweep, scores=values)
    return replace(scores, scores=members, folds=folds, sweep=sweep)
