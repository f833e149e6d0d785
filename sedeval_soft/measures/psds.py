"""The polyphonic sound detection score (PSDS), exact over all thresholds, of files with any weights.

At each threshold of the system each file has found reference events, false positives and cross triggers.
Files have weights: one for the score itself, the number of draws in a replicate for an interval. The counts
of weighted files are a product of weights and counts, and the PSD-ROC of a class is the best of these points:

- Without cross triggers a rate is a whole number of false positives in the time of all files. So the
  staircase is a table: the most events found with at most 0, 1, 2 .. false positives.
- With cross triggers the staircase is another table: the lowest rate at which 1, 2, 3 .. events are found.

Thresholds with too many false positives for any part of the ROC are skipped. The soft reading is the mean
over the levels of the reference (`Levels`).

PSD-ROCs, and the areas below them.

For each class the PSD-ROC gives the highest share of reference events found (TPR) at an effective rate of
false positives per hour (eFPR) of at most x: a staircase that starts at (0, 0).

    eFPR = FP / T + alpha_ct * mean over the other classes c' of CT[c'] / T_ref[c']
    eTPR(x) = max(0, mean over classes of TPR(x) - alpha_st * standard deviation over classes of TPR(x))
    PSDS = 1 / max_efpr * integral of eTPR(x) for x from 0 to max_efpr

T is the length of all files, T_ref the length of all reference events of a class, CT[c'] the cross triggers
of class c', which are also false positives. Classes without reference are left out.

Sources: Bilen et al. 2020 (PSDS), Ebbers et al. 2022 (all thresholds), Ebbers et al. 2023 (piPSDS: points of
several post-processings in one staircase).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from sedeval_soft.arrays import Floats, Index, heads, numbered
from sedeval_soft.measures.base import Averaged, Tables, ratio
from sedeval_soft.measures.event import Levels, sum_groups
from sedeval_soft.measures.ignored import without_ignored
from sedeval_soft.measures.intersections import Criteria, Judged, found_when, required
from sedeval_soft.measures.tally import Tally, blocks
from sedeval_soft.measures.thresholds import N_SYS, TP, Alive, Candidates, ThresholdCounts
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import EventLifetimes, Events
from sedeval_soft.timeline.regions import Regions

_STEPS, _SORTED = 1 << 24, 1 << 20
"""Steps of staircases that are kept, and rates that are put in order, at a time."""


def triggered(judged: Judged, n_ref: Index, criteria: Criteria) -> Iterator[tuple[int, Index]]:
    """Yield classes, and the false positives that are cross triggers of each, as positions among all.

    n_ref: (n_classes,) the number of reference events of each class: classes without any are left out.
    """
    wrong, n_classes = judged.system.take(~judged.passed), len(n_ref)
    union = Regions.of(judged.ours, judged.reference.onset, judged.reference.offset)
    needed = required(criteria.cttc, wrong.offset - wrong.onset)
    # Many begin and end at the same times.
    edge, file, time = numbered(np.tile(wrong.file, 2), np.concatenate((wrong.onset, wrong.offset)))
    first, last = np.split(edge, 2)
    for other in np.flatnonzero(n_ref > 0).tolist():
        before = union.before(file.astype(np.int64) * n_classes + other, time)
        overlap = before[last] - before[first]
        yield other, np.flatnonzero((overlap >= needed) & (wrong.label != other))


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of each owner's files at all thresholds.

    classes: the candidates of each class. n_ref, ticks: (n_owners, n_classes) the number of reference events,
    and their total length. n_sys: (n_owners, n_classes) detections of all thresholds.
    """

    classes: Sequence[Candidates]
    n_ref: Index
    ticks: Floats
    n_sys: Index

    @classmethod
    def of(
        cls,
        reference: Events,
        system: EventLifetimes,
        owner: Index,
        n_classes: int,
        criteria: Criteria,
        classes: Sequence[Candidates] | None = None,
    ) -> Self:
        """Count the files of each owner, (n_files,) numbers from 0.

        Counts are FOUND and N_SYS, both together, and cross triggers of each class if they count. classes:
        the candidates of the best intersection-based F, which have the same counts if cross triggers do not
        count; None to find them.
        """
        shape = int(owner.max(initial=0)) + 1, n_classes
        events = reference.lasting()
        group = owner[events.file] * n_classes + events.label
        n_ref = sum_groups(group, np.ones(len(group)), shape).astype(np.int64)
        if classes is None or criteria.alpha_ct > 0:
            judged = Judged.of(reference, system, n_classes, criteria)
            classes = [*map(Candidates.of, _counts(judged, owner, n_ref, criteria))]
        lasted = (events.offset - events.onset).astype(np.float64)
        ticks = sum_groups(group, lasted, shape)
        return cls(classes, n_ref, ticks, _detections(system, owner, *shape))


def _counts(judged: Judged, owner: Index, n_ref: Index, criteria: Criteria) -> list[ThresholdCounts]:
    """Return the counts of each owner's files at all thresholds, of each class; see `Counted.of`."""
    n_counts, false = 2, judged.false()
    lives: list[tuple[Alive, Sequence[int]]] = [(of, (FOUND, N_SYS)) for of in found_when(judged, criteria)]
    lives.append((false, (N_SYS,)))
    if criteria.alpha_ct > 0:
        n_counts += n_ref.shape[1]
        label, file, born, dies, _ = false
        for other, which in triggered(judged, n_ref.sum(axis=0), criteria):
            lives.append((Alive(label[which], file[which], born[which], dies[which]), (2 + other,)))
    owned = [(alive._replace(file=owner[alive.file].astype(np.int32)), rows) for alive, rows in lives]
    return ThresholdCounts.of_lives(owned, n_ref, n_counts)


def _detections(system: EventLifetimes, owner: Index, n_owners: int, n_classes: int) -> Index:
    """Return how many detections of all thresholds each owner has, (n_owners, n_classes)."""
    counts = np.bincount(owner[system.file] * n_classes + system.label, minlength=n_owners * n_classes)
    return counts.reshape(n_owners, n_classes)


@dataclass(frozen=True, slots=True)
class Rocs:
    """PSD-ROCs of weighted files, and the areas below them.

    weights: (n_weights, n_owners). rate: (n_weights,) one false positive per hour, NaN for files without
    time.
    """

    weights: Floats
    rate: Floats
    criteria: Criteria

    @classmethod
    def of(cls, weights: Floats, length: Index, criteria: Criteria) -> Self:
        """Find the rates of owners; length: (n_owners,) their ticks."""
        return cls(weights, ratio(np.asarray(HOUR), weights @ length / TICKS_PER_SECOND), criteria)

    def n_steps(self, n_false: int) -> int:
        """Return the length of staircases; n_false: the most false positives of weighted files."""
        least = float(np.min(self.rate, where=self.rate > 0, initial=np.inf))
        return 2 + min(int(self.criteria.max_efpr / least), n_false)

    def most_found(self, systems: Sequence[Candidates], n_steps: int) -> Floats:
        """Return the most events found with at most 0, 1 .. false positives, (n_weights, n_steps).

        systems: of one class, of which the best is taken.
        """
        most = np.zeros((len(self.weights), n_steps))
        for own in systems:
            for row, (found, false, *_) in self._points(own):
                np.maximum.at(most.reshape(-1), row * n_steps + false.astype(np.int64), found)
        return np.maximum.accumulate(most, axis=1)

    def lowest_rates(self, systems: Sequence[Candidates], size: int, per_trigger: Floats) -> Floats:
        """Return the lowest eFPR with 1, 2 .. `size` events found, (n_weights, size), infinite for never.

        systems: as for `most_found`. per_trigger: (n_weights, n_classes) the eFPR that a cross trigger adds.
        """
        lowest = np.full((len(self.weights), size + 1), np.inf)
        for row, found, efpr in self._rates(systems, per_trigger):
            # Lifetimes of a tally that somebody made may find more than there is.
            np.minimum.at(lowest.reshape(-1), row * (size + 1) + np.minimum(found, size), efpr)
        return np.minimum.accumulate(lowest[:, :0:-1], axis=1)[:, ::-1]

    def per_trigger(self, n_ref: Floats, seconds: Floats) -> Floats:
        """Return the eFPR that a cross trigger of each class adds to each class.

        Returns (n_classes, n_weights, n_classes), the class that is triggered last. n_ref, seconds:
        (n_classes, n_weights) of the reference.
        """
        present = n_ref > 0
        weight = self.criteria.alpha_ct * HOUR * ratio(present, seconds)
        others = np.maximum(present.sum(axis=0) - present, 1)
        per_trigger: Floats = np.nan_to_num(weight).T / others[:, :, None]
        return per_trigger

    def staircases(self, systems: Sequence[Counted]) -> Staircases:
        """Return the PSD-ROC of every class, of the first weights; systems: of which the best is taken."""
        n_ref, ticks = ((self.weights @ of).T for of in (systems[0].n_ref, systems[0].ticks))
        per_trigger = self.per_trigger(n_ref, ticks / TICKS_PER_SECOND)
        points = [
            (np.full(len(row), c), efpr, found)
            for c in range(len(n_ref))
            for row, found, efpr in self._rates([of.classes[c] for of in systems], per_trigger[c])
        ]
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)
        label, efpr, found = (np.concatenate(column) for column in zip(nothing, *points, strict=True))
        return Staircases.under(label, efpr, found, n_ref[:, 0].astype(np.int64))

    def _rates(
        self, systems: Sequence[Candidates], per_trigger: Floats
    ) -> Iterator[tuple[Index, Index, Floats]]:
        """Yield points: positions of weights, events found, and eFPR, (n,) each; arguments as above."""
        for own in systems:
            for row, (found, false, *triggers) in self._points(own):
                efpr = false * self.rate[row]
                for other, amount in enumerate(triggers):
                    efpr += amount * per_trigger[row, other]
                yield row, found.astype(np.int64), efpr

    def _points(self, own: Candidates) -> Iterator[tuple[Index, Floats]]:
        """Yield points that may be on the ROC of a class: positions of weights, and each count, (n,)."""
        for some in blocks(len(self.weights), len(own.value) * len(own.changes)):
            counts = np.array(own.counts(self.weights[some])[:-1])
            # Detections that have not found anything are false.
            counts[FALSE] = counts[N_SYS] - counts[FOUND]
            at, row = np.nonzero(
                (counts[FALSE] * self.rate[some] < self.criteria.max_efpr) & (counts[FOUND] > 0)
            )
            yield some.start + row, counts[:, at, row]

    def left(self, efpr: Floats) -> Floats:
        """Return the share of the area beyond a rate, 0 from the largest one on."""
        share: Floats = np.maximum(1.0 - efpr / self.criteria.max_efpr, 0.0)
        return share

    def below(self, found: Floats, left: Floats, n_ref: Floats) -> Floats:
        """Return the area below the mean of classes less their weighted deviation, (n_weights,).

        found: (n_classes, n_weights, n) at each step. left: (n_weights, n). n_ref: (n_classes, n_weights).
        """
        present = (n_ref > 0)[:, :, None]
        number = present.sum(axis=0)
        heights = found / np.where(present, n_ref[:, :, None], 1.0)
        mean = ratio(heights.sum(axis=0), number)
        squares = (((heights - mean) * present) ** 2).sum(axis=0)
        etpr = np.maximum(mean - self.criteria.alpha_st * np.sqrt(ratio(squares, number)), 0.0)
        # By the widths of steps: the area is 1 if all events are found at once, whatever came before.
        area: Floats = (etpr * (left - np.append(left[:, 1:], np.zeros((len(left), 1)), axis=1))).sum(axis=1)
        return area


_Areas = tuple[Floats, Floats]
"""PSDS of all classes together, (n_weights,), and of each, (n_classes, n_weights)."""


def _without_triggers(rocs: Rocs, found: Floats, n_ref: Floats) -> _Areas:
    """Return the areas below staircases; found: (n_classes, n_weights, n_steps)."""
    left = rocs.left(np.arange(found.shape[2]) * rocs.rate[:, None])
    # Sums over whole events: the area is 1 if all events are found at once.
    classes = ratio((np.diff(found, axis=2, prepend=0.0) * left).sum(axis=2), n_ref)
    return rocs.below(found, left, n_ref) if rocs.criteria.alpha_st > 0 else _mean(classes), classes


def _with_triggers(
    rocs: Rocs, systems: Sequence[Sequence[Candidates]], n_ref: Floats, seconds: Floats
) -> _Areas:
    """Return the areas below the ROCs of classes that may trigger one another.

    systems: of each class. n_ref, seconds: (n_classes, n_weights) of the reference.
    """
    per_trigger = rocs.per_trigger(n_ref, seconds)
    lowest = [
        rocs.lowest_rates(own, int(n_ref[c].max(initial=0)), per_trigger[c]) for c, own in enumerate(systems)
    ]
    classes = ratio(np.array([rocs.left(of_class).sum(axis=1) for of_class in lowest]), n_ref)
    if not rocs.criteria.alpha_st > 0:
        return _mean(classes), classes
    efpr = np.concatenate(lowest, axis=1)
    label = np.repeat(np.arange(len(lowest)), [of_class.shape[1] for of_class in lowest])
    area, step = np.full(len(efpr), np.nan), max(1, _SORTED // max(len(label) * len(lowest), 1))
    for begin in range(0, len(efpr), step):
        some = slice(begin, begin + step)
        order = np.argsort(efpr[some], axis=1, kind="stable")
        found = np.array([np.cumsum(label[order] == c, axis=1) for c in range(len(lowest))])
        left = rocs.left(np.take_along_axis(efpr[some], order, axis=1))
        area[some] = rocs.below(found, left, n_ref[:, some])
    return np.where((n_ref > 0).any(axis=0), area, np.nan), classes


def _mean(classes: Floats) -> Floats:
    """Return the mean over classes of their areas, (n_weights,)."""
    defined = ~np.isnan(classes)
    return ratio(np.where(defined, classes, 0.0).sum(axis=0), defined.sum(axis=0))


@dataclass(frozen=True, slots=True)
class Psds:
    """Functions of weights that return the PSDS of files.

    - owner: (n_files,) the owner of each file, numbers from 0: weights are of owners. length: (n_owners,)
      ticks.
    - systems: counts against the binarised reference by the names of `systems_of`; empty without counts.
    - levels: of the soft reference; None if the soft reading is not requested, or if the only level is the
      level of the hard reading.
    - n_sys: detections of all thresholds, (n_owners, n_classes) of each system.
    """

    tally: Tally
    settings: Settings
    owner: Index
    length: Index
    systems: Sequence[Counted]
    levels: Levels | None
    n_sys: Sequence[Index]

    @classmethod
    def of(
        cls, tally: Tally, settings: Settings, owner: Index, candidates: Sequence[Candidates] | None = None
    ) -> Self:
        """Count the files of each owner; candidates: of the best intersection-based F if known."""
        readings, criteria = Plan.of(settings).psds, Criteria.of(settings)
        length, levels = np.bincount(owner, tally.per_file["length"], 1).astype(np.int64), None
        if not length.any():
            # Events of files without time may not have been kept.
            return cls(tally, settings, owner, length, [], None, [])
        if "soft" in readings and not is_cut_once(tally):
            levels = levels_of(tally)
        systems = list[Counted]()
        if "hard" in readings or levels is None:
            names = systems_of(settings) if "hard" in readings else ["system"]
            # Systems with a median filter have other events.
            known = [candidates, *[None] * len(names[1:])]
            systems = [
                counted_of(tally, name, owner, criteria, classes)
                for name, classes in zip(names, known, strict=True)
            ]
        n_sys = [of.n_sys for of in systems]
        if levels is not None:
            everything = tally.events.get("everything", tally.system("intersection"))
            n_sys.append(_detections(everything, owner, len(length), len(tally.classes)))
        return cls(tally, settings, owner, length, systems, levels, n_sys)

    def tables(self, weights: Floats) -> Tables:
        """Return PSDS by basis and reading, (n_weights,) and of classes (n_weights, n_classes).

        weights: (n_weights, n_owners), whole numbers.
        """
        criteria, length, n_steps = Criteria.of(self.settings), self.length, 0
        if not criteria.alpha_ct > 0:
            # No class has more false positives than weighted files have detections of all thresholds.
            most = max((int((weights @ n_sys).max(initial=0)) for n_sys in self.n_sys), default=0)
            n_steps = Rocs.of(weights, length, criteria).n_steps(most)
        step = max(1, _STEPS // max(len(self.tally.classes) * n_steps, 1))
        blocks = (weights[begin : begin + step] for begin in range(0, max(len(weights), 1), step))
        parts = [self._areas(Rocs.of(block, length, criteria), n_steps) for block in blocks]
        tables: Tables = {}
        for reading, measure in parts[0]:
            overall, classes = (
                np.concatenate(of, axis=-1)
                for of in zip(*(part[reading, measure] for part in parts), strict=True)
            )
            levels = self.levels.sampled if reading == "soft" and self.levels is not None else None
            table = tables.setdefault(("intersection", reading), {})
            table[measure] = Averaged(classes.T, overall=overall, levels=levels)
        return tables

    def _areas(self, rocs: Rocs, n_steps: int) -> dict[tuple[str, str], _Areas]:
        """Return PSDS by reading and name; n_steps: how long staircases may be."""
        areas: dict[tuple[str, str], _Areas] = {}
        readings, timeless = Plan.of(self.settings).psds, np.isnan(rocs.rate)
        if "hard" in readings:
            areas["hard", "psds"] = self._hard(rocs, self.systems[:1], n_steps)
        if "hard" in readings and self.settings.psds_median_filters:
            areas["hard", "pipsds"] = self._hard(rocs, self.systems[1:], n_steps)
        if "soft" in readings and self.levels is not None:
            areas["soft", "psds"] = self._soft(rocs, self.levels, n_steps)
        elif "soft" in readings:
            areas["soft", "psds"] = areas.get(("hard", "psds")) or self._hard(rocs, self.systems[:1], n_steps)
        return {
            name: (np.where(timeless, np.nan, of), np.where(timeless, np.nan, by))
            for name, (of, by) in areas.items()
        }

    def _hard(self, rocs: Rocs, systems: Sequence[Counted], n_steps: int) -> _Areas:
        """Return PSDS against the binarised reference, of the best of some systems at each rate."""
        if not (systems and self.tally.classes):
            shape = len(self.tally.classes), len(rocs.rate)
            return np.full(shape[1], np.nan), np.full(shape, np.nan)
        n_ref, seconds = (
            (rocs.weights @ of).T for of in (systems[0].n_ref, systems[0].ticks / TICKS_PER_SECOND)
        )
        classes = [[of.classes[c] for of in systems] for c in range(len(n_ref))]
        if rocs.criteria.alpha_ct > 0:
            return _with_triggers(rocs, classes, n_ref, seconds)
        found = np.array([rocs.most_found(own, n_steps) for own in classes])
        return _without_triggers(rocs, found.reshape(*n_ref.shape, n_steps), n_ref)

    def _soft(self, rocs: Rocs, levels: Levels, n_steps: int) -> _Areas:
        """Return the means over the levels at which the reference has events."""
        sums, defined = np.zeros((2, len(self.tally.classes) + 1, len(rocs.rate)))
        for width, counted in zip(levels.width.tolist(), self._at_levels(levels), strict=True):
            pooled, classes = self._hard(rocs, [counted], n_steps)
            values = np.concatenate((pooled[None], classes))
            sums += np.nan_to_num(values) * width
            defined += ~np.isnan(values) * width
        means = ratio(sums, defined)
        return means[0], means[1:]

    def _at_levels(self, levels: Levels) -> Iterator[Counted]:
        """Yield the counts against the reference at each level."""
        n_classes, events, criteria = len(self.tally.classes), self.tally.events, Criteria.of(self.settings)
        reference, system = events["levels"], events.get("everything", self.tally.system("intersection"))
        for level in levels.level.tolist():
            ours, ignored = (
                side.take(side.alive(level, inclusive=True)).events()
                for side in (reference, events.get("ignored", reference.take(slice(0))))
            )
            theirs = without_ignored(ignored, ours, system, n_classes, None)
            yield Counted.of(ours, theirs, self.owner, n_classes, criteria)


# PSDS of a tally.


def levels_of(tally: Tally) -> Levels:
    """Return the levels of the soft reference of a tally."""
    return Levels.of([tally.events[name] for name in ("levels", "ignored") if name in tally.events])


def is_cut_once(tally: Tally) -> bool:
    """Return whether the reference has the events of the hard reading at all of its nonempty levels."""
    if levels_of(tally).n_distinct != 1 or "ignored" in tally.events:
        return False
    columns = [
        np.array([of.offset, of.onset, of.label, of.file])
        for of in (tally.events["reference"], tally.events["levels"])
    ]
    hard, soft = (of[:, np.lexsort(of)] for of in columns)
    return np.array_equal(hard, soft)


def systems_of(settings: Settings) -> list[str]:
    """Return the names of the systems of the hard reading in a tally: first the one without filter."""
    return ["system", *(f"median {length}" for length in settings.psds_median_filters)]


def counted_of(
    tally: Tally, name: str, owner: Index, criteria: Criteria, classes: Sequence[Candidates] | None = None
) -> Counted:
    """Count one of `systems_of` against the binarised reference; classes: as for `Counted.of`."""
    system = tally.system("intersection") if name == "system" else tally.events[name]
    reference = tally.events["reference"].events()
    return Counted.of(reference, system, owner, len(tally.classes), criteria, classes)


def psds_curve(tally: Tally, settings: Settings, systems: Sequence[str]) -> PsdRoc:
    """Return the PSD-ROC under the operating points of some of `systems_of`."""
    criteria, owner = Criteria.of(settings), np.zeros(len(tally.files), dtype=np.int64)
    rocs = Rocs.of(np.ones((1, 1)), tally.per_file["length"].sum(keepdims=True), criteria)
    if np.isnan(rocs.rate[0]):
        # Files without time have no rates per hour; their events may not have been kept.
        return psd_roc(Staircases.none(len(tally.classes)), criteria)
    return psd_roc(rocs.staircases([counted_of(tally, name, owner, criteria) for name in systems]), criteria)


HOUR = 3600.0

FOUND, FALSE = TP, 1
"""Rows of counts: reference events found, false positives; cross triggers of each class follow."""


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
        # Only the point with the fewest false positives, among points with equally many found events, can be
        # on the staircase.
        key = label * scale + tp
        fewest = np.full(len(n_ref) * scale, np.inf)
        np.minimum.at(fewest, key, efpr)
        key = np.flatnonzero(np.isfinite(fewest))
        efpr = fewest[key]
        label, tp = np.divmod(key, scale)
        return cls(*rising(label, efpr, tp), n_ref)

    @classmethod
    def none(cls, n_classes: int) -> Staircases:
        """Return the staircases of classes without reference."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, np.zeros(0), nothing, np.zeros(n_classes, dtype=np.int64))


def rising(label: Index, efpr: Floats, tp: Index) -> tuple[Index, Floats, Index]:
    """Return the points of staircases, by label and eFPR, that are above all before; points: (n,) each."""
    scale = int(tp.max(initial=0)) + 1
    order = np.lexsort((tp, efpr, label))
    label, efpr, tp = label[order], efpr[order], tp[order]
    highest = np.maximum.accumulate(label * scale + tp)
    # A staircase begins at 0.
    rises = highest > np.maximum(np.concatenate(([-1], highest[:-1])), label * scale)
    return label[rises], efpr[rises], tp[rises]


@dataclass(frozen=True, slots=True)
class PsdRoc:
    """The PSD-ROC over all classes, each eTPR from its eFPR to the next, and its score.

    efpr, etpr: (n,). value: PSDS. classes: (n_classes,) PSDS of each class alone, NaN without reference.
    """

    efpr: Floats
    etpr: Floats
    value: float
    classes: Floats


def psd_roc(stairs: Staircases, criteria: Criteria) -> PsdRoc:
    """Combine the staircases of all classes; the score is NaN if every class lacks a reference."""
    max_efpr, present = criteria.max_efpr, np.flatnonzero(stairs.n_ref)
    label, within = stairs.label, stairs.efpr < max_efpr
    _, at, etpr = combined(0 * label, label, stairs.efpr, stairs.tp, stairs.n_ref[None], criteria)
    value = float(areas(at, etpr, np.zeros(1, dtype=np.int64), max_efpr)[0])
    label, efpr = label[within], stairs.efpr[within]
    classes = np.full(len(stairs.n_ref), np.nan)
    tpr = stairs.tp[within] / stairs.n_ref[label]
    classes[present] = areas(efpr, tpr, np.searchsorted(label, present), max_efpr)
    return PsdRoc(at, etpr, value, classes)


def combined(
    cut: Index, label: Index, efpr: Floats, tp: Index, n_ref: Index, criteria: Criteria
) -> tuple[Index, Floats, Floats]:
    """Return the PSD-ROC over all classes of each cut: cuts, eFPR, and eTPR from there on, (n,) each.

    cut, label, efpr, tp: (n_points,) of the staircases of classes. n_ref: (n_cuts, n_classes). eTPR is NaN if
    every class lacks a reference. The first eFPR of each cut is 0.
    """
    n_cuts, n_classes = n_ref.shape
    within = np.flatnonzero(efpr < criteria.max_efpr)
    cut = np.concatenate((np.arange(n_cuts), cut.take(within)))
    label = np.concatenate((np.full(n_cuts, -1), label.take(within)))
    efpr = np.concatenate((np.zeros(n_cuts), efpr.take(within)))
    tp = np.concatenate((np.zeros(n_cuts, dtype=np.int64), tp.take(within)))
    order = np.lexsort((efpr, cut))
    cut, label, tp, efpr = *(of.take(order) for of in (cut, label, tp)), efpr.take(order)
    last = np.append(heads(cut, efpr)[1:], len(cut)) - 1
    start, at = cut * (int(tp.max(initial=0)) + 1), cut.take(last)
    present = n_ref > 0
    number = present.sum(axis=1).take(at)

    def height(c: int) -> Floats:
        """Return the TPR of a class with a reference, else 0."""
        found = np.maximum.accumulate(start + np.where(label == c, tp, 0)) - start
        return found.take(last) / np.maximum(n_ref[:, c], 1).take(at)

    total, squares = np.zeros((2, len(at)))
    for c in range(n_classes):
        total += height(c)
    mean = ratio(total, number)
    for c in range(n_classes) if criteria.alpha_st > 0 else ():
        squares += np.where(present[:, c].take(at), (height(c) - mean) ** 2, 0.0)
    etpr = np.maximum(mean - criteria.alpha_st * np.sqrt(ratio(squares, number)), 0.0)
    return at, efpr.take(last), etpr


def areas(x: Floats, y: Floats, begins: Index, end: float) -> Floats:
    """Return the areas under steps from x on to `end`, as a share of it: summed by rises, 1 is exactly 1.

    begins: the first step of each, ascending; before it y is 0.
    """
    before = np.append(0.0, y[:-1])[: len(y)]
    before[begins[begins < len(y)]] = 0.0
    terms = ((y - before) * (1.0 - x / end)).tolist()
    return np.array([math.fsum(terms[i:j]) for i, j in pairwise([*begins.tolist(), len(terms)])])
