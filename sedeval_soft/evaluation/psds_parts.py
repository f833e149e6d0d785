"""PSDS of tables that are counted in parts: what parts count at all thresholds adds up to one staircase.

Cross triggers are weighed by how much the reference of all files has of each class, and rounded to a unit
that follows from all of them: where they count, two rounds find these before a last one counts. Against a
reference of many levels, the events of all parts are brought together.
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
from sedeval_soft.measures.psd_roc import Staircases
from sedeval_soft.measures.psds import (
    SOFT,
    Roc,
    has_one_level,
    points,
    rocs_of,
    seconds_of,
    sounding,
    tables_of,
)
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.thresholds import ThresholdCounts
from sedeval_soft.memory import check_room, room
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct

if TYPE_CHECKING:
    from sedeval_soft.evaluation.execute import Execute
    from sedeval_soft.evaluation.partition import Part


Scope = str | None
"""A group or scene, None for the whole."""

Sizes = Mapping[Scope, tuple[Floats, int]]
"""By scope, the levels at which a soft reference changes, and how many lifetimes the system has."""

_EVENT = 300
"""Bytes of an event at some levels, while those of all parts are looked at."""

_LEVEL = 128
"""Bytes of a level of a lifetime, with its counts, while those of all parts are added."""


def with_psds(shard: Shard, sizes: Sequence[Sizes], parts: Sequence[Part], execute: Execute) -> Shard:
    """Return the shard of all parts with the tables of PSDS; sizes: of each part."""
    settings, tallies, rocs = shard.settings, dict(shard.scopes()), dict[Scope, list[Roc]]()
    n_soft = list[int]()
    for scope, tally in tallies.items():
        of_parts = [part[scope] for part in sizes if scope in part]
        edges, n_sys = distinct(np.concatenate([edges for edges, _ in of_parts])), sum(n for _, n in of_parts)
        rocs[scope] = rocs_of(settings, seconds_of(tally), n_sys, edges, scope)
        n_soft += [] if has_one_level(edges, settings) else [n_sys]
    if "soft" in Plan.of(settings).psds and n_soft:
        check_room(sum(n_soft) * _EVENT, "soft PSDS of all recordings", "A hard reference needs less")
        sides = execute.map(partial(_sides, settings), parts)
        for scope, tally in tallies.items():
            whole = Tally.merge([part[scope] for part in sides if scope in part])
            tallies[scope] = whole.with_classes(tally.classes)
    stairs = _staircases([roc for of_scope in rocs.values() for roc in of_scope], parts, settings, execute)
    tables = {
        scope: joined(
            shard.tables.get(scope, {}),
            tables_of(islice(stairs, len(of_scope)), tallies[scope], settings),
        )
        for scope, of_scope in rocs.items()
    }
    return shard._replace(tables=tables)


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


def _tallies(settings: Settings, part: Part) -> Mapping[Scope, Tally]:
    """Return the tallies of a part, with events."""
    again = second_round(settings, ("intersection.optimal",))
    return dict(shard_of_rows(*part.sides(), again, part.durations, batch=True).scopes())


def _sides(settings: Settings, part: Part) -> Mapping[Scope, Tally]:
    """Return the events of both sides of a part at all levels, as tallies of nothing else."""
    return {
        scope: replace(
            tally,
            per_class={},
            per_file={"length": tally.per_file["length"]},
            samples={},
            events={name: tally.events[name] for name in SOFT if name in tally.events},
        )
        for scope, tally in _tallies(settings, part).items()
    }


def _judged(settings: Settings, rocs: Sequence[Roc], part: Part) -> Iterator[tuple[int, Roc, Judged, int]]:
    """Yield the number of each ROC, what a part has for it, and of how many classes."""
    tallies, criteria = _tallies(settings, part), Criteria.of(settings)
    for k, roc in enumerate(rocs):
        if roc.scope in tallies:
            yield k, roc, roc.judged(tallies[roc.scope], criteria), len(tallies[roc.scope].classes)


def _soundings(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Index]:
    """Return what the reference of a part has of each class."""
    return {
        k: sounding(judged.reference, n_classes) for k, _, judged, n_classes in _judged(settings, rocs, part)
    }


def _trigger_terms(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Sequence[float]]:
    """Return a few numbers whose sum is exactly that of the cross triggers of a part."""
    criteria, of_rocs = Criteria.of(settings), {}
    for k, roc, judged, _ in _judged(settings, rocs, part):
        triggers = roc.triggers(judged, criteria)
        terms: list[float] = []
        while rest := math.fsum([*([] if triggers is None else triggers.tolist()), *(-t for t in terms)]):
            terms.append(rest)
        of_rocs[k] = terms
    return of_rocs


def _points(settings: Settings, rocs: Sequence[Roc], part: Part) -> Mapping[int, Sequence[ThresholdCounts]]:
    """Return what a part counts of each class at all thresholds."""
    criteria = Criteria.of(settings)
    return {
        k: points(judged, criteria, n_classes, roc.triggers(judged, criteria), roc.rates)
        for k, roc, judged, n_classes in _judged(settings, rocs, part)
    }
