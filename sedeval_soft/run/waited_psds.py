"""PSDS found batch by batch: the staircase of each class is made of what all batches count at each level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.tally import Tally
from sedeval_soft.formats.spill import Spilled
from sedeval_soft.measures.averages import Averaged
from sedeval_soft.measures.base import Table, Tables
from sedeval_soft.measures.descent import Stretch, descend
from sedeval_soft.measures.intersection.criteria import Criteria
from sedeval_soft.measures.intersection_thresholds import Judged
from sedeval_soft.measures.psds import (
    Cuts,
    Integral,
    PsdWeights,
    Rates,
    Sounding,
    Staircases,
    cross_triggers,
    cuts_between,
    kinds_of,
    points,
    psd_roc,
    psds_tables,
    sampled_cuts,
    sampled_note,
    too_many,
)
from sedeval_soft.measures.stairs import Climb
from sedeval_soft.run.batches import Batch, Job
from sedeval_soft.run.levels import Entries, Levels, entries, runs_of, shares
from sedeval_soft.run.workers import Workers
from sedeval_soft.tables.ticks import TICKS_PER_SECOND

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Roc:
    """A PSD-ROC to be found.

    system: the system's name in tallies. cuts: of a soft reference, None for the one that is cut already;
    begin, end: which of these. sounding: of the reference, in all files. apart: as for `found_when`. rates:
    how counts become an eFPR.
    """

    system: str
    cuts: Cuts | None = None
    begin: int = 0
    end: int = 1
    sounding: Sounding | None = None
    apart: bool = True
    rates: Rates | None = None

    def judged(self, batch: Batch, job: Job) -> Judged:
        """Judge a batch."""
        n_classes, name = len(job.part.classes), "reference" if self.cuts is None else "levels"
        tally = batch.tally(job.part, job.nested, (name, self.system))
        reference, system = tally.events[name], tally.events[self.system]
        events = reference.events()
        if self.cuts is not None:
            events, system = self.cuts.sides(reference, system, self.begin, self.end, n_classes)
        return Judged.of(events, system, self.n_classes(job), Criteria.of(job.settings))

    def n_classes(self, job: Job) -> int:
        """Return how many classes there are, those of each cut for themselves."""
        return len(job.part.classes) * (self.end - self.begin)

    def entries(self, batch: Batch, triggers: Spilled | None, job: Job) -> Entries:
        """Return what a batch counts at all levels; triggers: what `_triggered` wrote, which is removed."""
        judged = self.judged(batch, job)
        n_classes, criteria = self.n_classes(job), Criteria.of(job.settings)
        assert self.rates is not None  # noqa: S101 - for the type checker: levels come last
        weight = None
        if triggers is not None:
            weight = np.array(triggers["weight"])
            triggers.remove()
        table = points(judged, criteria, n_classes, weight, self.rates, self.apart)
        label = np.repeat(np.arange(n_classes), np.diff(table.bounds))
        return Entries(label, table.level, table.changes, table.n_ref)


def waited_psds(batches: Sequence[Batch], job: Job, workers: Workers) -> tuple[Tables, list[str]]:
    """Return the PSDS of a part that are asked for, by basis and reading, and what is to be told of them."""
    settings, n_classes = job.settings, len(job.part.classes)
    if not settings.wants_psds:
        return {}, []
    seconds = sum(batch.length(job.part) for batch in batches) / TICKS_PER_SECOND
    if not seconds:
        nothing = Tally(classes=job.part.classes, per_file={"length": np.zeros(0, dtype=np.int64)})
        return psds_tables(nothing, settings), []
    weights = PsdWeights.of(settings)
    tables: Tables = {}
    notes = []
    if settings.wants_psds_of("hard"):
        filters = [f"median {length}" for length in settings.psds_median_filters]
        hard: Table = {}
        for name, systems in (("psds", ["system"]), ("pipsds", filters)):
            if systems:
                found = [_staircases(batches, Roc(system), seconds, job, workers) for system in systems]
                roc = psd_roc(Staircases.joined(found), weights.alpha_st, weights.max_efpr)
                hard[name] = Averaged(roc.classes, overall=np.array(roc.value))
        tables["intersection", "hard"] = hard
    if settings.wants_psds_of("soft"):
        cuts, n_sys = _cuts(batches, job, workers)
        integral = Integral.empty(n_classes)
        for begin, end in cuts.stretches(n_sys):
            stairs = _staircases(batches, Roc("system", cuts, begin, end), seconds, job, workers)
            integral.add(stairs, cuts.width[begin:end], weights)
        value, classes = integral.means()
        tables["intersection", "soft"] = {"psds": Averaged(classes, overall=np.array(value))}
        notes = [] if cuts.exact else [sampled_note(len(cuts.level), job.part.name)]
    return tables, notes


def _staircases(batches: Sequence[Batch], roc: Roc, seconds: float, job: Job, workers: Workers) -> Staircases:
    facts = workers.each(_facts, [(batch, roc, job) for batch in batches])
    sounding = Sounding(*(np.sum([getattr(of, n) for _, of in facts], axis=0) for n in ("n_ref", "ticks")))
    roc = replace(roc, sounding=sounding, apart=all(apart for apart, _ in facts))
    alpha_ct = PsdWeights.of(job.settings).alpha_ct
    rates, triggers = Rates.of(seconds, alpha_ct), {}
    if alpha_ct > 0:
        triggered = workers.each(_triggered, [(batch, roc, job) for batch in batches])
        rates = Rates.of(seconds, alpha_ct, math.fsum(term for terms, _ in triggered for term in terms))
        triggers = {batch.spilled.path: of for batch, (_, of) in zip(batches, triggered, strict=True)}
    roc = replace(roc, rates=rates)
    bundles = [
        [(batch, triggers.get(batch.spilled.path)) for batch in bundle] for bundle in job.bundles(batches)
    ]
    levels = workers.each(_levels, [(bundle, roc, job) for bundle in bundles])
    with job.within():
        ranges = shares(levels, entries())
    found = workers.each(_climbed, [(levels, *own, rates, job) for own in ranges])
    for of in levels:
        of.spilled.remove()
    label, efpr, tp = (
        np.concatenate([np.zeros(0, dtype=kind), *(getattr(of, name) for of in found)])
        for name, kind in (("label", np.int64), ("efpr", np.float64), ("tp", np.int64))
    )
    return Staircases(label, efpr, tp, sounding.n_ref)


def _facts(work: tuple[Batch, Roc, Job]) -> tuple[bool, Sounding]:
    batch, roc, job = work
    with job.within():
        judged = roc.judged(batch, job)
        return judged.is_apart(), Sounding.of(judged.reference, roc.n_classes(job))


def _triggered(work: tuple[Batch, Roc, Job]) -> tuple[list[float], Spilled]:
    """Write the cross triggers of a batch; return a few numbers whose sum is exactly theirs, and the file."""
    batch, roc, job = work
    assert roc.sounding is not None  # noqa: S101 - for the type checker: what sounds is known by now
    with job.within():
        kind = kinds_of(roc.end - roc.begin, len(job.part.classes))
        triggers = cross_triggers(roc.judged(batch, job), roc.sounding, Criteria.of(job.settings), kind)
        terms: list[float] = []
        while rest := math.fsum([*triggers.tolist(), *(-term for term in terms)]):
            terms.append(rest)
        return terms, Spilled.write(job.folder, "triggers", {"weight": triggers})


def _levels(work: tuple[Sequence[tuple[Batch, Spilled | None]], Roc, Job]) -> Levels:
    bundle, roc, job = work
    with job.within():
        return Levels.write(job.folder, [roc.entries(batch, of, job) for batch, of in bundle])


def _climbed(work: tuple[Sequence[Levels], int, int, Rates, Job]) -> Staircases:
    levels, first, last, rates, job = work
    with job.within():
        most = entries()
        n_ref = np.sum([of.n_ref[first:last] for of in levels], axis=0)
        found = []
        for k, runs in enumerate(runs_of(levels, first, last, most)):
            climb = Climb.of(int(n_ref[k]), rates)
            descend(Stretch.whole(runs, levels[0].n_counts), climb, most)
            found.append(climb.found)
        label = np.repeat(np.arange(first, last), [len(of.label) for of in found])
        efpr, tp = (np.concatenate([getattr(of, name) for of in found]) for name in ("efpr", "tp"))
        return Staircases(label, efpr, tp, n_ref)


def _cuts(batches: Sequence[Batch], job: Job, workers: Workers) -> tuple[Cuts, int]:
    """Return the cuts of the reference of all files, and how many lifetimes the system has."""
    found = workers.each(_edges, [(batch, job) for batch in batches])
    n_sys = sum(n for _, n, _ in found)
    edges, sampled = np.zeros(0), False
    for own, _, many in found:
        edges = np.union1d(edges, own)
        if many or too_many(len(edges), n_sys):
            edges, sampled = edges[-1:], True
    return (sampled_cuts(float(edges[-1]), n_sys) if sampled else cuts_between(edges, n_sys)), n_sys


def _edges(work: tuple[Batch, Job]) -> tuple[Floats, int, bool]:
    """Return the levels at which a batch's reference changes, its lifetimes, and whether there are too many.

    Of too many only the highest level is returned.
    """
    batch, job = work
    with job.within():
        tally = batch.tally(job.part, job.nested, ("levels", "system"))
        levels, n_sys = tally.events["levels"], len(tally.events["system"])
        edges = np.unique(np.concatenate((levels.born, levels.dies)))
        many = too_many(len(edges), n_sys)
        return edges[-1:] if many else edges, n_sys, many
