"""Which averages are shown: all, or those that are asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sedeval_soft.core.value import Scores
from sedeval_soft.measures.names import AVERAGES


def with_averages(scores: Scores, averages: Collection[str]) -> Scores:
    """Return the scores without averages of other kinds; those of classes, and over all classes, stay.

    averages: of `AVERAGES`. Raises ValueError for any other.
    """
    for average in averages:
        if average not in AVERAGES:
            raise ValueError(f"{average!r} is not one of {', '.join(AVERAGES)}")
    unwanted = set(AVERAGES) - set(averages)
    kept = {name: score for name, score in scores.scores.items() if score.average not in unwanted}
    folds = scores.folds
    if folds is not None:
        folds = replace(folds, spreads=tuple(spread for spread in folds.spreads if spread.name in kept))
    sweep = scores.sweep
    if sweep is not None:
        sweep = replace(sweep, scores={name: values for name, values in sweep.scores.items() if name in kept})
    return replace(scores, scores=kept, folds=folds, sweep=sweep)
