"""PSDS of tables that are counted in parts: what parts count at all thresholds adds up to one staircase.

Cross triggers are weighed by how much the reference of all files has of each class, and rounded to a unit
that follows from all of them: where they count, two rounds find these before a last one counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.evaluation.scores import joined
from sedeval_soft.evaluation.shard import Shard, second_round, shard_of_rows
from sedeval_soft.measures.intersections import Criteria, Judged
from sedeval_soft.measures.psds import (
    Cuts,
    Roc,
    Staircases,
    points,
    rocs_of,
    sounding,
    tables_of,
)
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.memory import room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

if TYPE_CHECKING:
    from sedeval_soft.evaluation.execute import Execute
    from sedeval_soft.evaluation.partition import Part


Sizes = Mapping[str | None, tuple[Floats, int]]
"""By scope, the levels at which a soft reference changes, and how many lifetimes the system has."""

_LEVEL = 128
"""Bytes of a level of a lifetime, with its counts, while those of all parts are added."""


def with_psds(shard: Shard, sizes: Sequence[Sizes], parts: Sequence[Part], execute: Execute) -> Shard:
    """Return the shard of all parts with the tables of PSDS; sizes: of each part."""
    settings = shard.settings
    notes: dict[str | None, list[str]] = {}
    rocs: dict[str | None, list[Roc]] = {}
    n_classes = {}
    for scope, tally in shard.scopes():
        of_parts = [part[scope] for part in sizes if scope in part]
        n_sys, cuts = sum(n for _, n in of_parts), None
        if "soft" in Plan.of(settings).psds:
            cuts = Cuts.of(np.unique(np.concatenate([edges for edges, _ in of_parts])), n_sys)
            notes[scope] = cuts.notes(scope)
        seconds = int(tally.total("length")) / TICKS_PER_SECOND
        rocs[scope] = rocs_of(settings, seconds, n_sys, cuts, scope)
        n_classes[scope] = len(tally.classes)
    stairs = _staircases([roc for of_scope in rocs.values() for roc in of_scope], parts, settings, execute)
    tables = {
        scope: joined(
            shard.tables.get(scope, {}),
            tables_of(islice(stairs, len(of_scope)), n_classes[scope], settings),
        )
        for scope, of_scope in rocs.items()
    }
    return shard._replace(tables=tables, notes=notes)


def _staircases(
    rocs: Sequence[Roc], parts: Sequence[Part], settings: Settings, execute: Execute
) -> Iterator[tuple[Roc, Staircases]]:
    """Yield the staircases of all parts together."""
    if Criteria.of(settings).alpha_ct > 0:
        soundings = execute.map(partial(_soundings, settings, rocs), parts)
        rocs = [
            replace(roc, sounding=sum(part[k] for part in soundings if k in part))
            for k, roc in enumerate(rocs)
        ]
        terms = execute.map(partial(_trigger_terms, settings, rocs), parts)
        sums = [math.fsum(term for part in terms for term in part.get(k, ())) for k in range(len(rocs))]
        rocs = [roc.with_triggers(triggers) for roc, triggers in zip(rocs, sums, strict=True)]
    begin = 0
    while begin < len(rocs):
        # As many at a time as memory holds the levels of.
        sizes = np.cumsum([roc.size for roc in rocs[begin:]])
        end = begin + max(1, int(np.searchsorted(sizes, room() // _LEVEL, side="right")))
        some = rocs[begin:end]
        counted = execute.map(partial(_points, settings, some), parts)
        for k, roc in enumerate(some):
            own = [part[k] for part in counted if k in part]
            classes = [ThresholdCounts.merge(of_class) for of_class in zip(*own, strict=True)]
            yield roc, Staircases.of_counts(classes, roc.rates)
        begin = end


def _judged(
    settings: Settings, rocs: Sequence[Roc], part: Part
) -> Iterator[tuple[int, Roc, Judged, int, Criteria]]:
    """Yield the number of each ROC, what a part has for it, of how many classes, and the criteria."""
    again = second_round(settings, ("intersection.optimal",))
    shard = shard_of_rows(*part.sides(), again, part.durations, batch=True)
    tallies, criteria = dict(shard.scopes()), Criteria.of(settings)
    for k, roc in enumerate(rocs):
        if roc.scope in tallies:
            yield k, roc, *roc.judged(tallies[roc.scope], criteria), criteria


def _soundings(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Index]:
    """Return what the reference of a part has of each class."""
    return {
        k: sounding(judged.reference, n_classes)
        for k, _, judged, n_classes, _ in _judged(settings, rocs, part)
    }


def _trigger_terms(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Sequence[float]]:
    """Return a few numbers whose sum is exactly that of the cross triggers of a part."""
    of_rocs = {}
    for k, roc, judged, n_classes, criteria in _judged(settings, rocs, part):
        triggers = roc.triggers(judged, n_classes, criteria)
        terms: list[float] = []
        while rest := math.fsum([*([] if triggers is None else triggers.tolist()), *(-t for t in terms)]):
            terms.append(rest)
        of_rocs[k] = terms
    return of_rocs


def _points(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Sequence[ThresholdCounts]]:
    """Return what a part counts of each class at all thresholds."""
    return {
        k: points(judged, criteria, n_classes, roc.triggers(judged, n_classes, criteria), roc.rates)
        for k, roc, judged, n_classes, criteria in _judged(settings, rocs, part)
    }
