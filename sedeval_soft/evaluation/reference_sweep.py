"""Scores over thresholds of the reference, from a tally that kept its values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sedeval_soft.evaluation.optimal import counts_at, optimal_scores
from sedeval_soft.evaluation.score import named, plain
from sedeval_soft.evaluation.scores import THRESHOLDS, Sweep
from sedeval_soft.measures.base import Tables
from sedeval_soft.measures.detection import detection_scores
from sedeval_soft.measures.surface import Surface
from sedeval_soft.measures.tally import Tally
from sedeval_soft.plan import CELLS, Plan
from sedeval_soft.settings import BASES, Settings
from sedeval_soft.timeline.lifetimes import EventLifetimes

_MEASURES = frozenset({"n_ref", "precision", "recall", "f1", "fbeta", "error_rate"})


def sweep_of(tally: Tally, settings: Settings) -> Sweep | None:
    """Return the averages of hard and optimal readings at thresholds of the reference, if asked for."""
    if not settings.reference_sweep:
        return None
    bases = Plan.of(settings).swept
    at: dict[str, list[int]] = {basis: [] for basis in bases}
    found: dict[str, list[float | int | None]] = {}
    for threshold in THRESHOLDS:
        for basis in bases:
            at[basis].append(_count_at(tally, basis, threshold))
        tables = _tables(tally, threshold, settings)
        for key, value in named(tables, tally.classes):
            if key.average is not None and key.measure in _MEASURES:
                name = f"{key.basis}.{key.reading}.{key.measure}.{key.average}"
                found.setdefault(name, []).append(None if value is None else plain(value.item()))
    scores = {name: tuple(values) for name, values in found.items()}
    return Sweep(THRESHOLDS, {basis: tuple(counts) for basis, counts in at.items()}, scores)


def surfaces_of(tally: Tally, settings: Settings) -> dict[str, Surface]:
    """Return the counts over thresholds of both sides by basis, `segment` or `clip`, if asked for."""
    swept = Plan.of(settings).swept
    return {
        basis: Surface.of(
            tally.samples[f"{basis}.reference"],
            tally.samples[f"{basis}.system"],
            settings.beta,
            inclusive=settings.inclusive,
        )
        for basis in CELLS
        if basis in swept
    }


def _count_at(tally: Tally, basis: str, threshold: float) -> int:
    """Return how much of the reference is decided by whether a threshold is passed at it."""
    if basis in CELLS:
        return int(np.count_nonzero(tally.samples[f"{basis}.reference"] == threshold))
    return int(np.count_nonzero(tally.events["levels"].dies == threshold))


def _tables(tally: Tally, threshold: float, settings: Settings) -> Tables:
    """Return the tables of hard and optimal readings with the reference cut at a threshold."""
    settings = replace(settings, reference_threshold=threshold, measures=(), satisfice=None)
    plan = Plan.of(settings)
    if plan.sweeps_events:
        levels = tally.events["levels"]
        cut = levels.take(levels.alive(threshold, settings.inclusive)).events()
        tally = replace(tally, events={**tally.events, "reference": EventLifetimes.from_events(cut)})
    tables: Tables = {}
    for basis in BASES:
        if plan.scores(basis, "hard"):
            one = np.full(len(tally.classes), settings.threshold)
            tables[basis, "hard"] = detection_scores(
                counts_at(tally, basis, one, settings).total(), settings.beta
            )
        if plan.scores(basis, "optimal"):
            tables[basis, "optimal"] = optimal_scores(tally, basis, settings)
    return tables
