"""The polyphonic sound detection score (PSDS), exact over all thresholds.

For each class the PSD-ROC gives the highest share of reference events found (TPR) at an effective rate of
false positives per hour (eFPR) of at most x: a staircase that starts at (0, 0).

    eFPR = FP / T + alpha_ct * mean over the other classes c' of CT[c'] / T_ref[c']
    eTPR(x) = max(0, mean over classes of TPR(x) - alpha_st * standard deviation over classes of TPR(x))
    PSDS = 1 / max_efpr * integral of eTPR(x) for x from 0 to max_efpr

T is the length of all files, T_ref that of all reference events of a class, CT[c'] the cross triggers of
class c', which are false positives too. Classes without reference take no part. Sources: Bilen et al. 2020
(PSDS), Ebbers et al. 2022 (all thresholds), Ebbers et al. 2023 (piPSDS: points of several post-processings
in one staircase).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.measures.base import Averaged, Tables, ratio
from sedeval_soft.measures.ignored import level_mostly, touched
from sedeval_soft.measures.intersections import Cover, Criteria, Judged, found_when, required
from sedeval_soft.measures.registry import OVERALL, ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.thresholds import TP, Alive, Ends, ThresholdCounts, uncrowded
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.sorting import distinct
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.threads import for_each
from sedeval_soft.timeline.events import EventLifetimes, Events
from sedeval_soft.timeline.ranges import expand, numbered

HOUR = 3600.0

FOUND, FALSE, _TRIGGERS = TP, 1, 2
"""Rows of counts: reference events found, false positives, cross triggers."""


@dataclass(frozen=True, slots=True)
class Staircases:
    """The PSD-ROC of every class.

    label: (n,) ascending. efpr: (n,) per hour, ascending within a class. tp: (n,) reference events found
    from there on, ascending within a class; before the first 0. n_ref: (n_classes,).
    """

    label: Index
    efpr: Floats
    tp: Index
    n_ref: Index

    @classmethod
    def under(cls, label: Index, efpr: Floats, tp: Index, n_ref: Index) -> Staircases:
        """Return the staircases that operating points, each (n,), make."""
        scale = int(n_ref.max(initial=0)) + 1
        # Of points that find as many only the one with the fewest false positives can be on the staircase.
        key = label * scale + tp
        fewest = np.full(len(n_ref) * scale, np.inf)
        np.minimum.at(fewest, key, efpr)
        key = np.flatnonzero(np.isfinite(fewest))
        efpr = fewest[key]
        label, tp = np.divmod(key, scale)
        order = np.lexsort((tp, efpr, label))
        label, efpr, tp = label[order], efpr[order], tp[order]
        highest = np.maximum.accumulate(label * scale + tp)
        before = np.concatenate(([-1], highest[:-1]))
        # A class begins at 0: only what lies above counts, and above all before.
        rises = highest > np.maximum(before, label * scale)
        return cls(label[rises], efpr[rises], tp[rises], n_ref)

    @classmethod
    def none(cls, n_classes: int) -> Staircases:
        """Return those of classes that have no reference."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, np.zeros(0), nothing, np.zeros(n_classes, dtype=np.int64))

    @classmethod
    def of_counts(cls, classes: Sequence[ThresholdCounts], rates: Rates) -> Staircases:
        """Return the staircases under what `points` counts of each class."""
        if not classes:
            return cls.none(0)
        counts = np.concatenate([of.steps()[1][:, :-1] for of in classes], axis=1)
        label = np.repeat(np.arange(len(classes)), [len(of.level) for of in classes])
        return cls.under(
            label, rates.efpr(counts), counts[FOUND], np.concatenate([of.n_ref for of in classes])
        )

    @staticmethod
    def joined(parts: Sequence[Staircases]) -> Staircases:
        """Return the staircases under the points of all: the best of several post-processings (piPSDS)."""
        label, efpr, tp = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("label", "efpr", "tp")
        )
        return Staircases.under(label, efpr, tp, parts[0].n_ref)

    def take(self, labels: Index) -> Staircases:
        """Return the staircases of some classes, in ascending order, numbered from 0."""
        first, last = (np.searchsorted(self.label, labels + end) for end in (0, 1))
        label, index = expand(first, last)
        return Staircases(label, self.efpr[index], self.tp[index], self.n_ref[labels])


def sounding(reference: Events, n_classes: int) -> Index:
    """Return how many events with an extent each class has, and their ticks together, (2, n_classes)."""
    ticks = np.bincount(reference.label, reference.offset - reference.onset, minlength=n_classes)
    return np.array([np.bincount(reference.label, minlength=n_classes), ticks]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Rates:
    """How counts become an eFPR per hour.

    seconds: length of all files together, above 0. alpha_ct: the weight of cross triggers. unit: what those
    are multiplied by to be whole numbers, so that what has begun and ended leaves exactly nothing.
    """

    seconds: float
    alpha_ct: float
    unit: float

    @classmethod
    def of(cls, seconds: float, alpha_ct: float, triggers: float = 0.0) -> Rates:
        """Choose the unit for the sum of all cross triggers."""
        return cls(seconds, alpha_ct, 2.0 ** (61 - math.frexp(triggers)[1]))

    @property
    def of_false(self) -> float:
        """What a false positive adds to the eFPR."""
        return HOUR / self.seconds

    def too_many(self, max_efpr: float) -> int:
        """Return how many false positives are too many for a PSD-ROC."""
        least = max(0, int(max_efpr / self.of_false) - 1)
        return next(n for n in count(least) if n * self.of_false >= max_efpr)

    def efpr(self, counts: Index) -> Floats:
        """Return the eFPR where `points` counts so much, (n_counts, n)."""
        efpr: Floats = counts[FALSE] * self.of_false
        if self.alpha_ct > 0:
            efpr = efpr + self.alpha_ct * HOUR * (counts[_TRIGGERS] / self.unit)
        return efpr


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
        lives.append((of_some, (_TRIGGERS,)))
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


def cross_triggers(judged: Judged, totals: Index, criteria: Criteria, kind: Index | None = None) -> Floats:
    """Return for each false positive its mean over other classes of CT / T_ref, (n_false,) per second.

    totals: what `sounding` returns of all files. kind: as for `triggered`; None: all are of one.
    """
    n_ref, ticks = totals
    kind = np.zeros(len(n_ref), dtype=np.int64) if kind is None else kind
    total = ticks / TICKS_PER_SECOND
    label = judged.system.label[~judged.passed]
    weight = np.zeros(len(label))
    for other, which in triggered(judged, n_ref, criteria, kind):
        weight[which] += 1 / total[other]
    scaled: Floats = weight / np.maximum(others_of(n_ref, kind), 1)[label]
    return scaled


def others_of(n_ref: Index, kind: Index) -> Index:
    """Return how many other classes of its kind have a reference, of each class, (n_classes,)."""
    others: Index = np.bincount(kind[n_ref > 0], minlength=int(kind.max(initial=0)) + 1)[kind] - (n_ref > 0)
    return others


@dataclass(frozen=True, slots=True)
class PsdRoc:
    """The PSD-ROC over all classes: eTPR holds from each eFPR to the next, and the score it gives.

    efpr, etpr: (n,). value: PSDS. classes: (n_classes,) that of each class alone, NaN without reference.
    """

    efpr: Floats
    etpr: Floats
    value: float
    classes: Floats


def psd_roc(stairs: Staircases, criteria: Criteria) -> PsdRoc:
    """Combine the staircases of all classes; the score is NaN where no class has a reference."""
    alpha_st, max_efpr = criteria.alpha_st, criteria.max_efpr
    classes = np.full(len(stairs.n_ref), np.nan)
    present = np.flatnonzero(stairs.n_ref)
    within = stairs.efpr < max_efpr
    label, efpr = stairs.label[within], stairs.efpr[within]
    tpr = stairs.tp[within] / stairs.n_ref[label]
    at = np.unique(np.concatenate(([0.0], efpr)))
    if not len(present):
        return PsdRoc(at, np.full(len(at), np.nan), math.nan, classes)
    first, last = (np.searchsorted(label, present + end) for end in (0, 1))
    curves = [(efpr[i:j], tpr[i:j]) for i, j in zip(first.tolist(), last.tolist(), strict=True)]
    classes[present] = [_area(*curve, max_efpr) for curve in curves]

    def height(x: Floats, y: Floats) -> Floats:
        steps: Floats = np.concatenate(([0.0], y))[np.searchsorted(x, at, side="right")]
        return steps

    total, squares = np.zeros((2, len(at)))
    for curve in curves:
        total += height(*curve)
    mean = total / len(present)
    for curve in curves if alpha_st > 0 else ():
        squares += (height(*curve) - mean) ** 2
    etpr = np.maximum(mean - alpha_st * np.sqrt(squares / len(present)), 0.0)
    return PsdRoc(at, etpr, _area(at, etpr, max_efpr), classes)


def _area(x: Floats, y: Floats, end: float) -> float:
    """Return the area under steps from x on to `end`, as a share of it: summed by rises, 1 is exactly 1."""
    return math.fsum(np.diff(y, prepend=0.0) * (1.0 - x / end))


# Against a soft reference PSDS is the mean over its levels of PSDS against the reference cut there. Between
# two levels at which a reference event is born or dies the cut does not change. Each cut of each class stands
# as a class of its own, so that many cuts are judged in one pass. Where there are very many different cuts,
# evenly spaced ones stand for all.


_AT_ONCE = 1_000_000  # lifetimes of the system, over all cuts, that are judged at a time
_MOST = 20_000_000  # the same beyond which evenly spaced cuts stand for all: some seconds
_FEWEST = 64  # evenly spaced cuts at the least


def changes_of(tally: Tally) -> Floats:
    """Return the levels at which the soft reference of a tally changes, or what is ignored, ascending."""
    sides = [tally.events[name] for name in ("levels", "ignored") if name in tally.events]
    return np.unique(np.concatenate([ends for side in sides for ends in (side.born, side.dies)]))


@dataclass(frozen=True, slots=True)
class Cuts:
    """Levels at which the reference is cut, (n,) ascending, and how many levels each stands for, (n,).

    exact: whether the reference is the same at all levels that a cut stands for.
    """

    level: Floats
    width: Floats
    exact: bool

    @classmethod
    def of(cls, edges: Floats, n_sys: int) -> Cuts:
        """Return all different cuts of a reference, or evenly spaced ones where those would be too many.

        edges: the levels at which it changes, ascending. n_sys: how many lifetimes the system has.
        """
        if (len(edges) - 1) * n_sys <= _MOST or len(edges) - 1 <= _FEWEST:
            return cls(edges[1:], np.diff(edges), exact=True)
        n = max(_FEWEST, _MOST // n_sys)
        return cls(edges[-1] * (np.arange(n) + 0.5) / n, np.full(n, edges[-1] / n), exact=False)

    @classmethod
    def between(cls, tally: Tally) -> Cuts:
        """Return the cuts of the reference of a tally against its system."""
        return cls.of(changes_of(tally), len(tally.system("intersection")))

    def notes(self, group: str | None) -> list[str]:
        """Return what a reader must know of PSDS over these cuts, for the whole or a group or scene."""
        name = ScoreName("intersection", "soft", "psds", OVERALL, group=group)
        sampled = f"the mean over {len(self.level)} evenly spaced levels of the reference"
        return [] if self.exact else [f"{name} is {sampled}, which has too many to take all"]

    def stretches(self, n_sys: int) -> list[tuple[int, int]]:
        """Return which cuts are judged at a time, first and one past the last, of so many lifetimes."""
        step = max(1, _AT_ONCE // max(1, n_sys))
        return [(begin, min(begin + step, len(self.level))) for begin in range(0, len(self.level), step)]

    def sides(
        self, reference: EventLifetimes, system: EventLifetimes, begin: int, end: int, n_classes: int
    ) -> tuple[Events, EventLifetimes]:
        """Return the events of some cuts, and the lifetimes for each.

        The classes of each cut are its own, numbered after those of the one before.
        """
        # The cuts at which each event is alive: born < level <= dies.
        first, last = (
            np.searchsorted(self.level, levels, side="right") for levels in (reference.born, reference.dies)
        )
        low, high = np.maximum(first, begin), np.minimum(last, end)
        index, cut = expand(low, np.maximum(low, high))
        events = reference.take(index)
        events = replace(events, label=((cut - begin) * n_classes + events.label).astype(np.int32))
        copies = system.take(np.tile(np.arange(len(system)), end - begin))
        number = np.repeat(np.arange(end - begin, dtype=np.int32), len(system))
        copies = replace(copies, label=(number * n_classes + copies.label).astype(np.int32))
        return events.events(), copies


@dataclass(frozen=True, slots=True)
class Roc:
    """A PSD-ROC to be found: of a system, by its name in tallies, against the reference of a scope.

    scope: a group or scene, None for the whole. size: how many lifetimes the system has. rates: how counts
    become an eFPR. cuts: of a soft reference, those from `begin` to `end`, each with classes of its own; None
    for the reference that is cut already. sounding: of all files, None where cross triggers do not count.
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
        n_classes, system = len(tally.classes), lifetimes_of(tally, self.system)
        if self.cuts is None:
            reference = tally.events["reference"].events()
        else:
            levels, system = tally.events["levels"], tally.events.get("everything", system)
            upto = level_mostly(tally.events["ignored"], system) if "ignored" in tally.events else None
            reference, system = self.cuts.sides(levels, system, self.begin, self.end, n_classes)
            if upto is not None:
                number = system.label // max(n_classes, 1)
                inside = np.tile(upto, self.end - self.begin) >= self.cuts.level[self.begin + number]
                of_all = n_classes * (self.end - self.begin)
                system = system.take(~inside | touched(reference, system, of_all))
        n_classes *= self.end - self.begin
        return Judged.of(reference, system, n_classes, criteria), n_classes

    def triggers(self, judged: Judged, n_classes: int, criteria: Criteria) -> Floats | None:
        """Return the cross triggers of some files, None where they do not count."""
        if self.sounding is None:
            return None
        n_cuts = self.end - self.begin
        kind = np.repeat(np.arange(n_cuts), n_classes // n_cuts)
        return cross_triggers(judged, self.sounding, criteria, kind)

    def with_triggers(self, total: float) -> Roc:
        """Return the same for the sum of all cross triggers."""
        return replace(self, rates=Rates.of(self.rates.seconds, self.rates.alpha_ct, total))

    def staircases(self, tally: Tally, criteria: Criteria) -> Staircases:
        """Return the PSD-ROC of every class over all thresholds, of a tally of all files."""
        judged, n_classes = self.judged(tally, criteria)
        roc, triggers = self, None
        if criteria.alpha_ct > 0:
            roc = replace(self, sounding=sounding(judged.reference, n_classes))
            triggers = roc.triggers(judged, n_classes, criteria)
            roc = roc.with_triggers(0.0 if triggers is None else math.fsum(triggers))
        counts = points(judged, criteria, n_classes, triggers, roc.rates)
        return Staircases.of_counts(counts, roc.rates)


def rocs_of(
    settings: Settings, seconds: float, n_sys: int, cuts: Cuts | None = None, scope: str | None = None
) -> list[Roc]:
    """Return the PSD-ROCs that PSDS is made of: none where there is no time.

    seconds: length of all files together. n_sys: how many lifetimes the system has. cuts: of the soft
    reference, None where it has no PSDS.
    """
    if not seconds:
        return []
    rates = Rates.of(seconds, Criteria.of(settings).alpha_ct)
    names = systems_of(settings) if "hard" in Plan.of(settings).psds else []
    rocs = [Roc(scope, name, n_sys, rates) for name in names]
    for begin, end in () if cuts is None else cuts.stretches(n_sys):
        rocs.append(Roc(scope, "system", n_sys * (end - begin), rates, cuts, begin, end))
    return rocs


@dataclass(frozen=True, slots=True)
class Integral:
    """PSDS summed over levels, and over how many it is defined: of all classes together, then of each.

    Divided by them it is the mean over the levels where the reference has events. A class counts in the mean
    over classes at those levels where it has some.
    """

    sums: Floats
    widths: Floats

    @classmethod
    def empty(cls, n_classes: int) -> Integral:
        """Return that over no levels."""
        return cls(*np.zeros((2, n_classes + 1)))

    def add(self, stairs: Staircases, widths: Floats, criteria: Criteria) -> None:
        """Add some cuts, which stand for so many levels each."""
        n_classes = len(self.sums) - 1
        for cut, levels in enumerate(widths.tolist()):
            roc = psd_roc(stairs.take(np.arange(cut * n_classes, (cut + 1) * n_classes)), criteria)
            values = np.append(roc.value, roc.classes)
            defined = ~np.isnan(values)
            self.sums[defined] += levels * values[defined]
            self.widths[defined] += levels

    def means(self) -> tuple[float, Floats]:
        """Return the means over levels, of all classes together and of each."""
        means = ratio(self.sums, self.widths)
        return float(means[0]), means[1:]


# PSDS of a tally: against the cut reference, over median filters, against all levels of the reference.


def lifetimes_of(tally: Tally, name: str) -> EventLifetimes:
    """Return the lifetimes of one of `systems_of`."""
    return tally.system("intersection") if name == "system" else tally.events[name]


def systems_of(settings: Settings) -> list[str]:
    """Return what the systems of the hard reading are called in a tally: first the one without filter."""
    return ["system", *(f"median {length}" for length in settings.psds_median_filters)]


def psds_tables(tally: Tally, settings: Settings) -> Tables:
    """Return the PSDS that the settings ask for, by basis and reading."""
    seconds, criteria, cuts, n_sys = _seconds(tally), Criteria.of(settings), None, 0
    if seconds:
        # Where there is no time events may not have been kept.
        system = tally.system("intersection")
        n_sys = len(system)
        if "soft" in Plan.of(settings).psds:
            cuts = Cuts.between(tally)
    rocs = rocs_of(settings, seconds, n_sys, cuts)
    return tables_of(((roc, roc.staircases(tally, criteria)) for roc in rocs), len(tally.classes), settings)


def tables_of(stairs: Iterable[tuple[Roc, Staircases]], n_classes: int, settings: Settings) -> Tables:
    """Return the PSDS that the settings ask for; stairs: those of `rocs_of`, in their order."""
    readings, criteria = Plan.of(settings).psds, Criteria.of(settings)
    hard = dict.fromkeys(systems_of(settings), Staircases.none(n_classes))
    integral = Integral.empty(n_classes)
    for each, of_roc in stairs:
        if each.cuts is None:
            hard[each.system] = of_roc
        else:
            integral.add(of_roc, each.cuts.width[each.begin : each.end], criteria)
    tables: Tables = {}
    if "hard" in readings:
        first, *filtered = (hard[name] for name in systems_of(settings))
        rocs = {"psds": psd_roc(first, criteria)}
        if filtered:
            rocs["pipsds"] = psd_roc(Staircases.joined(filtered), criteria)
        tables["intersection", "hard"] = {
            name: Averaged(roc.classes, overall=np.array(roc.value)) for name, roc in rocs.items()
        }
    if "soft" in readings:
        value, classes = integral.means()
        tables["intersection", "soft"] = {"psds": Averaged(classes, overall=np.array(value))}
    return tables


def psds_notes(tally: Tally, settings: Settings, group: str | None = None) -> list[str]:
    """Return what a reader must know of how PSDS was computed, for the whole or a group or scene."""
    if "soft" not in Plan.of(settings).psds:
        return []
    return Cuts.between(tally).notes(group)


def psds_curve(tally: Tally, settings: Settings, systems: Sequence[str]) -> PsdRoc:
    """Return the PSD-ROC under the operating points of some systems of the tally, by their names in it."""
    seconds, criteria = _seconds(tally), Criteria.of(settings)
    if not seconds:
        # Nothing happens so often an hour where there is no time; events may not have been kept.
        return psd_roc(Staircases.none(len(tally.classes)), criteria)
    rates = Rates.of(seconds, criteria.alpha_ct)
    stairs = [Roc(None, name, 0, rates).staircases(tally, criteria) for name in systems]
    return psd_roc(Staircases.joined(stairs), criteria)


def _seconds(tally: Tally) -> float:
    """Return the length of all files together."""
    return int(tally.total("length")) / TICKS_PER_SECOND
