"""Chance levels in tables of their own, below those of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sedeval_soft.core.value import Score, Scores
from sedeval_soft.errors import counted, visible
from sedeval_soft.report.layout import measure_label, of_parts
from sedeval_soft.report.table import Table, number

if TYPE_CHECKING:
    from sedeval_soft.core.chance import Chance, Level

    _Found = list[tuple[Score, Level]]


def said_of_chance(chance: Chance) -> str:
    """Return what chance levels are of."""
    drawn = f"all {chance.draws} moves there are" if chance.everything else counted(chance.draws, "move")
    return f"the same output moved in time by whole segments: {drawn}, seed {chance.seed}"


def levels_of(scores: Scores) -> _Found:
    """Return the scores that have a chance level, with it."""
    levels = {} if scores.chance is None else scores.chance.levels
    return [(scores.scores[name], level) for name, level in levels.items() if name in scores.scores]


def chance_tables(scores: Scores) -> list[Table]:
    """Return the chance levels of the main averages, and of the F1 of classes."""
    found = [(score, level) for score, level in levels_of(scores) if level.chance is not None]
    return [*_averages(scores, found), *_classes(scores, found)]


def _averages(scores: Scores, found: _Found) -> list[Table]:
    averages = [(score, level) for score, level in found if score.average is not None]
    of = of_parts(score.average for score, _ in averages)
    main = [(s, level) for s, level in averages if of.shows(s.measure, s.average)] or averages
    rows = [
        (
            *(score.basis, score.reading, measure_label(scores.settings, score.measure), score.average or ""),
            *(number(score.value), number(level.chance)),
            "" if level.error is None else number(level.error),
            number(level.normalised),
        )
        for score, level in main
    ]
    head = ("basis", "reading", "measure", "average", "score", "chance", "error", "normalised")
    return [Table("Chance levels", head, tuple(rows), names=4)] if rows else []


def _classes(scores: Scores, found: _Found) -> list[Table]:
    levels = {
        (f"{score.basis} {score.reading}", score.class_name): level
        for score, level in found
        if score.class_name is not None and score.measure == "f1"
    }
    families = tuple(dict.fromkeys(family for family, _ in levels))
    rows: list[tuple[str, ...]] = []
    for label in scores.classes:
        cells = [levels.get((family, label)) for family in families]
        if any(cells):
            rows.append((visible(label), *(text for cell in cells for text in _two(cell))))
    head = ("class", *(("chance", "normalised") * len(families)))
    groups = (("", 1), *((family, 2) for family in families))
    return [Table("Chance levels of classes: F1", head, tuple(rows), groups=groups)] if rows else []


def _two(level: Level | None) -> tuple[str, str]:
    return ("", "") if level is None else (number(level.chance), number(level.normalised))


def chance_notes(scores: Scores) -> list[str]:
    """Return what a reader must know of chance levels."""
    if scores.chance is None:
        return []
    found = ["Normalised is (score - chance) / (best - chance): 0 at chance, 1 for the best."]
    if any(level.error is not None for _, level in levels_of(scores)):
        draws = counted(scores.chance.draws, "draw")
        found.append(f"Error is the standard error of a mean over {draws}; without one the level is exact.")
    return found
