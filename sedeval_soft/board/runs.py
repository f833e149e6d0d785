"""Several runs of one system: the mean of its scores over repeated trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.core.signature import sign_together
from sedeval_soft.core.spread import Folds, Spread
from sedeval_soft.core.value import Score, Scores
from sedeval_soft.errors import EvaluationError
from sedeval_soft.evaluation.intervals import mean_of_runs
from sedeval_soft.evaluation.score import plain


def mean_scores(runs: Sequence[Scores], name: str) -> Scores:
    """Return the mean of each score over runs, with the jackknife's interval of it.

    A score that is undefined in a run, or that a run does not have, has no mean; folds differ in means. What
    costs most, confusions and curves are of single runs. Source: Harju & Mesaros 2023, table 2. Raises
    EvaluationError for fewer than two runs.
    """
    if len(runs) < 2:
        raise EvaluationError(f"a mean over runs needs two or more of them; there is {len(runs)}")
    first = runs[0]
    known = [key for key in first.scores if all(key in run.scores for run in runs)]
    values = np.array(
        [[np.nan if run[key] is None else run[key] for key in known] for run in runs], dtype=np.float64
    )
    columns = (column.tolist() for column in mean_of_runs(values, first.settings.confidence))
    scores = {
        key: replace(first.scores[key], value=plain(mean), low=plain(low), high=plain(high))
        for key, mean, low, high in zip(known, *columns, strict=True)
    }
    inputs = {(item.role, item.name): item for run in runs for item in run.inputs}
    warnings = dict.fromkeys(warning for run in runs for warning in run.warnings)
    return replace(
        first,
        scores=scores,
        system=name,
        runs=tuple(run.system for run in runs),
        inputs=tuple(inputs.values()),
        warnings=tuple(warnings),
        signature=sign_together(
            [(run.signature, run.inputs) for run in runs],
            runs=len(runs),
            confidence=first.settings.confidence,
        ),
        confusion=(),
        folds=None if first.folds is None else _folds(first.folds, scores),
        worst=None,
        chance=None,
        make_curves=None,
    )


def _folds(folds: Folds, means: Mapping[str, Score]) -> Folds:
    """Return how means differ between folds; those that a run does not have are left out."""
    spreads = []
    for spread in folds.spreads:
        names = [f"{spread.name}@{fold}" for fold in folds.names]
        if all(name in means for name in (spread.name, *names)):
            spreads.append(Spread.of(spread.name, [means[name].value for name in names]))
    return replace(folds, spreads=tuple(spreads))
