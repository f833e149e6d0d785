"""The tuned reading: counts at thresholds that were found elsewhere, on other data or on other files.

What thresholds are best for weighted files is known from the candidates of each class; a fold's thresholds
are those that are best with the weight of its own files 0. `tune` finds thresholds to be used on other data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import EvaluationError, be, counted
from sedeval_soft.evaluation.count import Columns, columns_of, with_columns
from sedeval_soft.evaluation.optimal import candidates_of, counts_at
from sedeval_soft.measures.base import ratio
from sedeval_soft.measures.detection import DetectionCounts, f_beta
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.threshold_counts import Merit, error_merit, f_merit, threshold_between
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import BASES, Settings
from sedeval_soft.timeline.recordings import positive

Floats = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tuned:
    """Thresholds of some files: those at `files`, (n,), have `thresholds`, (n_classes,)."""

    files: Index
    thresholds: Floats


def has_tuned(tally: Tally) -> bool:
    """Return whether a tally has counts of the tuned reading."""
    return any(f"{basis}.tuned.tp" in tally.per_class for basis in BASES)


def with_tuned(tally: Tally, settings: Settings, folds: Mapping[str, Sequence[str]]) -> Tally:
    """Return a tally with the counts of the tuned reading of all bases that are evaluated.

    folds: the files of each, if the settings tune over given folds.
    """
    plan = Plan.of(settings)
    columns: Columns = {}
    for basis in BASES:
        if plan.scores(basis, "tuned"):
            parts = tuned_thresholds(tally, basis, settings, folds)
            columns |= columns_of(f"{basis}.tuned", _counts(tally, basis, parts, settings))
    return with_columns(tally, columns)


def tuned_thresholds(
    tally: Tally, basis: str, settings: Settings, folds: Mapping[str, Sequence[str]]
) -> list[Tuned]:
    """Return which files have which thresholds: given ones, or those best for the files of other folds.

    A class without reference in all other folds has the threshold of the settings.
    """
    every = np.arange(len(tally.files))
    if isinstance(settings.thresholds, dict):
        own = [settings.thresholds.get(label, settings.threshold) for label in tally.classes]
        return [Tuned(every, np.array(own, dtype=np.float64))]
    parts = _dealt(len(tally.files), settings) if settings.cross_tune != "folds" else _folds(tally, folds)
    weights = np.ones((len(parts), len(tally.files)))
    for row, files in enumerate(parts):
        weights[row, files] = 0.0
    found = best_thresholds(tally, basis, weights, settings)
    return [Tuned(files, row) for files, row in zip(parts, found, strict=True)]


def with_rule_followed(settings: Settings, tally: Tally) -> Settings:
    """Return settings that name the thresholds that follow from their rule, if they have one."""
    if not isinstance(settings.thresholds, str):
        return settings
    scores, reference = tally.samples["segment.system"], tally.samples["segment.reference"]
    if not scores.size:
        return replace(settings, thresholds={})
    if settings.thresholds == "midpoint":
        found = ((scores.min(axis=1) + scores.max(axis=1)) / 2).tolist()
    else:
        active = positive(reference, settings).sum(axis=1).tolist()
        found = [
            _passed_by(np.sort(row), n, settings.inclusive) for row, n in zip(scores, active, strict=True)
        ]
    return replace(settings, thresholds=dict(zip(tally.classes, found, strict=True)))


def _passed_by(ordered: Floats, count: int, inclusive: bool) -> float:
    """Return a threshold that so many of some ascending values pass, or as few more as ties allow."""
    if not count:
        return 2.0 if inclusive else 1.0
    lowest = ordered[len(ordered) - count]
    below = int(np.searchsorted(ordered, lowest, side="left"))
    return threshold_between(float(ordered[below - 1]) if below else None, float(lowest), inclusive)


def best_thresholds(tally: Tally, basis: str, weights: Floats, settings: Settings) -> Floats:
    """Return the thresholds of all classes that are best for weighted files, (n_weights, n_classes).

    weights: (n_weights, n_files). basis: whose F they are best for where the settings name no objective.
    """
    of, merit = merit_of(settings.objective or f"{basis}.f1", settings.beta)
    columns = []
    for candidates in candidates_of(tally, of, settings):
        at = candidates.best(weights, [merit])[0].at
        columns.append(candidates.thresholds(weights, at, inclusive=settings.inclusive))
    found = np.stack(columns, axis=1) if columns else np.zeros((len(weights), 0))
    return np.where(np.isnan(found), settings.threshold, found)


def merit_of(objective: str, beta: float) -> tuple[str, Merit]:
    """Return the basis whose counts thresholds are best for, and what of these is to be highest."""
    basis, _, measure = objective.partition(".")
    return basis, f_merit(beta) if measure == "f1" else error_merit


def _folds(tally: Tally, folds: Mapping[str, Sequence[str]]) -> list[Index]:
    if not folds:
        raise EvaluationError("cross_tune=folds: there are no folds; expected a table of filename and fold")
    position = {file: i for i, file in enumerate(tally.files)}
    parts = [
        np.array([position[f] for f in files if f in position], dtype=np.int64) for files in folds.values()
    ]
    return [part for part in parts if len(part)]


def _dealt(n_files: int, settings: Settings) -> list[Index]:
    """Deal files into as many parts as the settings say, of sizes as equal as can be."""
    count = int(settings.cross_tune or 0)
    if n_files < count:
        raise EvaluationError(
            f"cross_tune={count}: there {be(n_files)} {counted(n_files, 'file')}; expected one or more for "
            f"each of {count} parts"
        )
    order = np.random.default_rng(settings.seed).permutation(n_files)
    return [np.sort(order[k::count]) for k in range(count)]


def _counts(tally: Tally, basis: str, parts: Sequence[Tuned], settings: Settings) -> DetectionCounts:
    bare = _bare(tally, basis)
    found = [counts_at(bare.take(part.files), basis, part.thresholds, settings) for part in parts]
    order = np.argsort(np.concatenate([part.files for part in parts]))
    names = DetectionCounts.__slots__
    return DetectionCounts(*(np.concatenate([getattr(of, name) for of in found])[order] for name in names))


def _bare(tally: Tally, basis: str) -> Tally:
    """Return a tally with no more than what counting a basis needs."""
    samples = {name: of for name, of in tally.samples.items() if name.startswith(f"{basis}.")}
    events = tally.events if basis in ("event", "intersection") else {}
    return replace(tally, per_class={}, samples=samples, events=events)


def tune(tally: Tally, settings: Settings) -> dict[str, Any]:
    """Return the best threshold of each class, for the objective that the settings name, as a file has them.

    A class without reference has none. Of each class it is told how large its reference is, what it reaches,
    and between which thresholds all are as good.
    """
    objective = settings.objective or "segment.f1"
    basis, merit = merit_of(objective, settings.beta)
    candidates = candidates_of(tally, basis, settings, every=basis not in CELLS, together=True)
    every = np.ones((1, 1))
    thresholds: dict[str, float] = {}
    classes: dict[str, dict[str, Any]] = {}
    for label, own in zip(tally.classes, candidates, strict=True):
        best = own.best(every, [merit])[0]
        if best.at[0] < 0:
            classes[label] = {"n_ref": 0, "score": None, "as_good": [None, None]}
            continue
        thresholds[label] = float(own.thresholds(every, best.at, inclusive=settings.inclusive)[0])
        tp, n_sys, n_ref = best.tp[0], best.n_sys[0], best.n_ref[0]
        is_f = objective.endswith(".f1")
        score = f_beta(tp, n_ref, n_sys, settings.beta) if is_f else ratio(n_ref + n_sys - 2 * tp, n_ref)
        as_good = [*own.plateau(int(best.at[0]), merit)]
        classes[label] = {"n_ref": int(n_ref), "score": float(score), "as_good": as_good}
    return {
        "thresholds": thresholds,
        "objective": objective,
        "beta": settings.beta,
        "inclusive": settings.inclusive,
        "classes": classes,
    }
