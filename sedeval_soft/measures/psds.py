"""The polyphonic sound detection score (PSDS), exact over all thresholds: what is counted for the PSD-ROC.

At each threshold of the system there are found reference events, false positives and cross triggers. Where
false positives alone are too many for the PSD-ROC, nothing else is looked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.measures.base import Averaged, Tables
from sedeval_soft.measures.intersections import Cover, Criteria, Judged, found_when, required
from sedeval_soft.measures.psd_roc import FALSE, FOUND, TRIGGERS, PsdRoc, Rates, Staircases, psd_roc
from sedeval_soft.measures.soft_psds import changes, soft_psds
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.thresholds import Alive, Ends, ThresholdCounts, uncrowded
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import EventLifetimes, Events
from sedeval_soft.timeline.ranges import numbered

_LEVELS = "levels"
"""The reference at all levels, by its name in tallies."""


def sounding(reference: Events, n_classes: int) -> Index:
    """Return how many events with an extent each class has, and their ticks together, (2, n_classes)."""
    ticks = np.bincount(reference.label, reference.offset - reference.onset, minlength=n_classes)
    return np.array([np.bincount(reference.label, minlength=n_classes), ticks]).astype(np.int64)


def points(
    judged: Judged, criteria: Criteria, n_classes: int, triggers: Floats | None, rates: Rates
) -> list[ThresholdCounts]:
    """Return what is counted of each class at all thresholds: TP, FP and cross triggers, if they count.

    Where false positives alone are too many for the PSD-ROC, TP and cross triggers may be left out.

    triggers: what `cross_triggers` returns.
    """
    false, most = judged.false(), rates.too_many(criteria.max_efpr)
    by_class = Ends.by_class([(false, (FALSE,))], n_classes)
    few = for_each(lambda ends: uncrowded(ends, most), by_class, len(false.born))
    low, high = np.array([levels for *levels, _ in few]).reshape(-1, 2).T

    def may_count(of: Alive | EventLifetimes, some: Index) -> Index:
        label = of.label[some]
        outside: Index = some[(of.born[some] < low[label]) | (of.dies[some] > high[label])]
        return outside

    passed = np.zeros_like(judged.passed)
    passed[may_count(judged.system, np.flatnonzero(judged.passed))] = True
    lives: list[tuple[Alive, Sequence[int]]] = [
        (alive, (FOUND,)) for alive in found_when(replace(judged, passed=passed), criteria)
    ]
    if triggers is not None:
        some = may_count(false, np.arange(len(triggers)))
        weight = np.rint(triggers[some] * rates.unit).astype(np.int64)
        of_some = Alive(false.label[some], false.file[some], false.born[some], false.dies[some], weight)
        lives.append((of_some, (TRIGGERS,)))
    n_ref = np.bincount(judged.reference.label, minlength=n_classes)[None]
    others = Ends.by_class(lives, n_classes)
    ends = [[*own, *more] for (*_, own), more in zip(few, others, strict=True)]
    return ThresholdCounts.of_ends(ends, n_ref, 2 if triggers is None else 3)


def triggered(judged: Judged, n_ref: Index, criteria: Criteria, kind: Index) -> Iterator[tuple[int, Index]]:
    """Yield classes, and which false positives are cross triggers of each, positions among all of them.

    n_ref: (n_classes,) how many reference events each class has: those without are left out. kind:
    (n_classes,) classes of the same kind belong to one evaluation and can trigger one another.
    """
    wrong, n_classes = judged.system.take(~judged.passed), len(n_ref)
    cover = Cover.of(judged.ours, judged.reference.onset, judged.reference.offset)
    needed, of_kind = required(criteria.cttc, wrong.offset - wrong.onset), kind[wrong.label]
    for each in distinct(of_kind).tolist():
        own = np.flatnonzero(of_kind == each)
        of = wrong.take(own)
        # Many begin and end at the same times.
        edge, file, time = numbered(np.tile(of.file, 2), np.concatenate((of.onset, of.offset)))
        first, last = np.split(edge, 2)
        for other in np.flatnonzero((n_ref > 0) & (kind == each)).tolist():
            (before,) = cover.before(file.astype(np.int64) * n_classes + other, time)
            overlap = before[last] - before[first]
            yield other, own[(overlap >= needed[own]) & (of.label != other)]


def cross_triggers(judged: Judged, totals: Index, criteria: Criteria) -> Floats:
    """Return for each false positive its mean over other classes of CT / T_ref, (n_false,) per second.

    totals: what `sounding` returns of all files.
    """
    n_ref, ticks = totals
    total = ticks / TICKS_PER_SECOND
    label = judged.system.label[~judged.passed]
    weight = np.zeros(len(label))
    for other, which in triggered(judged, n_ref, criteria, np.zeros(len(n_ref), dtype=np.int64)):
        weight[which] += 1 / total[other]
    others = (n_ref > 0).sum() - (n_ref > 0)
    scaled: Floats = weight / np.maximum(others, 1)[label]
    return scaled


@dataclass(frozen=True, slots=True)
class Roc:
    """A PSD-ROC to be found: of a system against a reference of a scope, by their names in tallies.

    scope: a group or scene, None for the whole. size: how many lifetimes the system has. rates: how counts
    become an eFPR. sounding: of all files, None where cross triggers do not count.
    """

    scope: str | None
    system: str
    size: int
    rates: Rates
    reference: str = "reference"
    sounding: Index | None = None

    def judged(self, tally: Tally, criteria: Criteria) -> Judged:
        """Return the events of some files, judged."""
        reference, system = tally.events[self.reference].events(), lifetimes_of(tally, self.system)
        return Judged.of(reference, system, len(tally.classes), criteria)

    def triggers(self, judged: Judged, criteria: Criteria) -> Floats | None:
        """Return the cross triggers of some files, None where they do not count."""
        return None if self.sounding is None else cross_triggers(judged, self.sounding, criteria)

    def with_triggers(self, total: float) -> Roc:
        """Return the same for the sum of all cross triggers."""
        return replace(self, rates=Rates.of(self.rates.seconds, self.rates.alpha_ct, total))

    def staircases(self, tally: Tally, criteria: Criteria) -> Staircases:
        """Return the PSD-ROC of every class over all thresholds, of a tally of all files."""
        judged, n_classes = self.judged(tally, criteria), len(tally.classes)
        roc, triggers = self, None
        if criteria.alpha_ct > 0:
            roc = replace(self, sounding=sounding(judged.reference, n_classes))
            triggers = roc.triggers(judged, criteria)
            roc = roc.with_triggers(0.0 if triggers is None else math.fsum(triggers))
        return Staircases.of_counts(points(judged, criteria, n_classes, triggers, roc.rates), roc.rates)


def rocs_of(
    settings: Settings, seconds: float, n_sys: int, edges: Floats, scope: str | None = None
) -> list[Roc]:
    """Return the PSD-ROCs against one reference that PSDS is made of: none where there is no time.

    seconds: length of all files together. n_sys: how many lifetimes the system has. edges: `edges_of` all
    files. That of the soft reading is among them where its reference has one level.
    """
    if not seconds:
        return []
    readings, rates = Plan.of(settings).psds, Rates.of(seconds, Criteria.of(settings).alpha_ct)
    rocs = [Roc(scope, name, n_sys, rates) for name in systems_of(settings)] if "hard" in readings else []
    if "soft" in readings and has_one_level(edges, settings):
        rocs.append(Roc(scope, "system", n_sys, rates, _LEVELS))
    return rocs


def edges_of(tally: Tally) -> Floats:
    """Return the levels at which the soft reference of a tally changes, ascending; none where it has none."""
    return changes([tally.events[name] for name in (_LEVELS, "ignored") if name in tally.events])


def has_one_level(edges: Floats, settings: Settings) -> bool:
    """Return whether a soft reference is the same at all levels; edges: `edges_of` all files."""
    return len(edges) <= 2 and settings.ignore_class is None


def is_cut_once(tally: Tally) -> bool:
    """Return whether the reference has the events of the hard reading at all levels where it has any."""
    if len(edges_of(tally)) != 2 or "ignored" in tally.events:
        return False
    columns = [
        np.array([of.offset, of.onset, of.label, of.file])
        for of in (tally.events["reference"], tally.events[_LEVELS])
    ]
    hard, soft = (of[:, np.lexsort(of)] for of in columns)
    return np.array_equal(hard, soft)


# PSDS of a tally: against the cut reference, over median filters, against all levels of the reference.


def lifetimes_of(tally: Tally, name: str) -> EventLifetimes:
    """Return the lifetimes of one of `systems_of`."""
    return tally.system("intersection") if name == "system" else tally.events[name]


def systems_of(settings: Settings) -> list[str]:
    """Return what the systems of the hard reading are called in a tally: first the one without filter."""
    return ["system", *(f"median {length}" for length in settings.psds_median_filters)]


SOFT = _LEVELS, "everything", "system of intersection", "system", "ignored"
"""The events of a tally that PSDS against all levels of a reference needs, where they are there."""


def psds_tables(tally: Tally, settings: Settings) -> Tables:
    """Return the PSDS that the settings ask for, by basis and reading."""
    criteria = Criteria.of(settings)
    rocs, stairs = rocs_of(settings, seconds_of(tally), 0, edges_of(tally)), list[tuple[Roc, Staircases]]()
    for roc in rocs:
        # Of the same events there is one PSD-ROC.
        again = stairs and roc.reference == _LEVELS and is_cut_once(tally)
        stairs.append((roc, stairs[0][1] if again else roc.staircases(tally, criteria)))
    return tables_of(stairs, tally, settings)


def tables_of(stairs: Iterable[tuple[Roc, Staircases]], tally: Tally, settings: Settings) -> Tables:
    """Return the PSDS that the settings ask for.

    stairs: those of `rocs_of`. tally: for the soft reading, with the events of `SOFT`.
    """
    readings, criteria, n_classes = Plan.of(settings).psds, Criteria.of(settings), len(tally.classes)
    tables: Tables = {}
    found = {(each.reference, each.system): of_roc for each, of_roc in stairs}

    def averaged(of_roc: Staircases) -> Averaged:
        roc = psd_roc(of_roc, criteria)
        return Averaged(roc.classes, overall=np.array(roc.value))

    if "hard" in readings:
        none = Staircases.none(n_classes)
        first, *filtered = (found.get(("reference", name), none) for name in systems_of(settings))
        tables["intersection", "hard"] = {"psds": averaged(first)}
        if filtered:
            tables["intersection", "hard"]["pipsds"] = averaged(Staircases.joined(filtered))
    if (_LEVELS, "system") in found:
        tables["intersection", "soft"] = {"psds": averaged(found[_LEVELS, "system"])}
    elif "soft" in readings:
        (values, off), seconds = np.full((2, 1 + n_classes), np.nan), seconds_of(tally)
        if seconds:
            # Where there is no time events may not have been kept.
            events = tally.events
            system = events.get("everything", tally.system("intersection"))
            sides = events[_LEVELS], system, events.get("ignored")
            values, off = soft_psds(*sides, n_classes, seconds, criteria)
        tables["intersection", "soft"] = {"psds": Averaged(values[1:], overall=values[0], within=off)}
    return tables


def psds_curve(tally: Tally, settings: Settings, systems: Sequence[str]) -> PsdRoc:
    """Return the PSD-ROC under the operating points of some systems of the tally, by their names in it."""
    seconds, criteria = seconds_of(tally), Criteria.of(settings)
    if not seconds:
        # Nothing happens so often an hour where there is no time; events may not have been kept.
        return psd_roc(Staircases.none(len(tally.classes)), criteria)
    rates = Rates.of(seconds, criteria.alpha_ct)
    stairs = [Roc(None, name, 0, rates).staircases(tally, criteria) for name in systems]
    return psd_roc(Staircases.joined(stairs), criteria)


def seconds_of(tally: Tally) -> float:
    """Return the length of all files together."""
    return int(tally.total("length")) / TICKS_PER_SECOND
