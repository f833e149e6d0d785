"""Several runs of one system: the mean of its scores over repeated trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sedeval_soft.core.errors import EvaluationError
from sedeval_soft.core.spread import Folds
from sedeval_soft.core.value import Score, Scores
from sedeval_soft.measures.names import spell
from sedeval_soft.resample.intervals import mean_of_runs
from sedeval_soft.run.evaluation import spread_of
from sedeval_soft.run.scoring import plain


def mean_scores(runs: Sequence[Scores], name: str) -> Scores:
    """Return the mean of each score over runs, with the jackknife's interval of it.

    A score that is undefined in a run, or that a run does not have, has no mean. Source: Harju & Mesaros
    2023, table 2. Raises EvaluationError for fewer than two runs.
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
    hashes = "".join(f" {_hash(run)}" for run in runs[1:])
    return replace(
        first,
        scores=scores,
        system=name,
        runs=tuple(run.system for run in runs),
        inputs=tuple(inputs.values()),
        warnings=tuple(warnings),
        signature=f"{first.signature}{hashes} | runs={len(runs)} confidence={first.settings.confidence}",
        confusion=(),
        folds=None if first.folds is None else _folds(first.folds, scores),
        worst=None,
        make_curves=None,
    )


def _folds(folds: Folds, scores: Mapping[str, Score]) -> Folds:
    """Return how means over runs spread over folds.

    Of a run that lacks a score no mean is known, and so no spread of it.
    """
    whole = {name: score for name, score in scores.items() if score.group is None}
    of_folds = {
        fold: {name: own for name, score in whole.items() if (own := scores.get(_in_part(score, fold)))}
        for fold in folds.names
    }
    known = {name: score for name, score in whole.items() if all(name in own for own in of_folds.values())}
    return spread_of(known, of_folds, folds.files)


def _in_part(score: Score, part: str) -> str:
    return spell(score.basis, score.reading, score.measure, score.average, score.class_name, part)


def _hash(run: Scores) -> str:
    return " ".join(f"system:sha256={item.sha256 or 'none'}" for item in run.inputs if item.role == "system")
