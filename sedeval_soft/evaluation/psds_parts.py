"""PSDS of tables that are counted in parts: what parts count at all thresholds adds up to one staircase.

Cross triggers are weighed by how much the reference of all files has of each class, and rounded to a unit
that follows from all of them: where they count, two rounds find these before a last one counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.evaluation.scores import joined
from sedeval_soft.evaluation.shard import Shard, second_round, shard_of_rows
from sedeval_soft.measures.intersections import Criteria, Judged
from sedeval_soft.measures.psds import (
    Cuts,
    Integral,
    Rates,
    Staircases,
    cross_triggers,
    kinds_of,
    points,
    sounding,
    systems_of,
    tables_of,
)
from sedeval_soft.measures.tally import Tally
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


@dataclass(frozen=True, slots=True)
class Roc:
    """A PSD-ROC to be found: of a system, by its name in tallies, against the reference of a scope.

    size: how many lifetimes it has. rates: how counts become an eFPR. cuts: of a soft reference, those from
    `begin` to `end`, each with classes of its own; None for the reference that is cut already. sounding: of
    all files.
    """

    scope: str | None
    system: str
    size: int
    rates: Rates
    cuts: Cuts | None = None
    begin: int = 0
    end: int = 1
    sounding: Index | None = None

    def judged(self, tally: Tally, criteria: Criteria) -> tuple[Judged, int]:
        """Return the events of some files, judged, and how many classes there are."""
        n_classes, system = len(tally.classes), tally.events[self.system]
        if self.cuts is None:
            reference = tally.events["reference"].events()
        else:
            levels = tally.events["levels"]
            reference, system = self.cuts.sides(levels, system, self.begin, self.end, n_classes)
        n_classes *= self.end - self.begin
        return Judged.of(reference, system, n_classes, criteria), n_classes

    def triggers(self, judged: Judged, n_classes: int, criteria: Criteria) -> Floats | None:
        """Return the cross triggers of some files, None where they do not count."""
        if self.sounding is None:
            return None
        n_cuts = self.end - self.begin
        return cross_triggers(judged, self.sounding, criteria, kinds_of(n_cuts, n_classes // n_cuts))


@dataclass(slots=True)
class Found:
    """What is found of a scope: the staircases of each system, by its name, and the integral over cuts."""

    integral: Integral
    hard: dict[str, Staircases]

    def add(self, roc: Roc, stairs: Staircases, criteria: Criteria) -> None:
        """Enter the staircases of a PSD-ROC; those of cuts come in their order."""
        if roc.cuts is None:
            self.hard[roc.system] = stairs
        else:
            self.integral.add(stairs, roc.cuts.width[roc.begin : roc.end], criteria)


def with_psds(shard: Shard, sizes: Sequence[Sizes], parts: Sequence[Part], execute: Execute) -> Shard:
    """Return the shard of all parts with the tables of PSDS; sizes: of each part."""
    settings = shard.settings
    readings, criteria = Plan.of(settings).psds, Criteria.of(settings)
    found: dict[str | None, Found] = {}
    notes: dict[str | None, list[str]] = {}
    rocs: list[Roc] = []
    for scope, tally in shard.scopes():
        own = [part[scope] for part in sizes if scope in part]
        n_sys = sum(n for _, n in own)
        cuts = None
        if "soft" in readings:
            cuts = Cuts.of(np.unique(np.concatenate([edges for edges, _ in own])), n_sys)
            notes[scope] = cuts.notes(scope)
        seconds = int(tally.total("length")) / TICKS_PER_SECOND
        n_classes = len(tally.classes)
        hard = {name: Staircases.none(n_classes) for name in systems_of(settings)}
        found[scope] = Found(Integral.empty(n_classes), hard)
        if seconds:
            rocs += _rocs(scope, settings, n_sys, cuts, Rates.of(seconds, criteria.alpha_ct))
    for roc, stairs in _staircases(rocs, parts, settings, execute):
        found[roc.scope].add(roc, stairs, criteria)
    tables = {
        scope: joined(shard.tables.get(scope, {}), tables_of(result.hard, result.integral, settings))
        for scope, result in found.items()
    }
    return replace(shard, tables=tables, notes=notes)


def _rocs(scope: str | None, settings: Settings, n_sys: int, cuts: Cuts | None, rates: Rates) -> list[Roc]:
    """Return all PSD-ROCs of a scope; cuts: of the soft reference, None where it has no PSDS."""
    rocs = []
    if "hard" in Plan.of(settings).psds:
        rocs = [Roc(scope, system, n_sys, rates) for system in systems_of(settings)]
    for begin, end in () if cuts is None else cuts.stretches(n_sys):
        rocs.append(Roc(scope, "system", n_sys * (end - begin), rates, cuts, begin, end))
    return rocs


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
        rocs = [
            replace(roc, rates=Rates.of(roc.rates.seconds, roc.rates.alpha_ct, triggers))
            for roc, triggers in zip(rocs, sums, strict=True)
        ]
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
