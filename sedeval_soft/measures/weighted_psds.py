"""PSDS of weighted files, of many weights at once: for bootstrap, jackknife and exchanges.

What each file counts at all thresholds is found once. At each threshold the counts of weighted files are a
product of weights and counts, and the PSD-ROC of a class is the best of these points:

- Without cross triggers a rate is a whole number of false positives in the time of all files. So the
  staircase is a table: the most events found with at most 0, 1, 2 .. false positives.
- With cross triggers it is a table, too: the lowest rate at which 1, 2, 3 .. events are found.

Thresholds with too many false positives for any part of the ROC are not looked at. Against a soft reference,
a class is counted anew only at levels at which its own reference changes; cross triggers are those of all
classes, so that with them each cut is counted.

The scores are those that `psds` gives of files drawn so often, but for rounding: sums are taken in another
order. Where evenly spaced levels stand for all, they are those of all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from sedeval_soft.arrays import Floats, Index
from sedeval_soft.measures.base import Averaged, Tables, ratio
from sedeval_soft.measures.candidates import Candidates
from sedeval_soft.measures.event import count_per_class, file_class, sum_groups
from sedeval_soft.measures.ignored import level_mostly, touched
from sedeval_soft.measures.intersections import Criteria, Judged, found_when
from sedeval_soft.measures.psd_roc import FALSE, FOUND, HOUR
from sedeval_soft.measures.psds import edges_of, is_cut_once, lifetimes_of, systems_of, triggered
from sedeval_soft.measures.tally import Tally
from sedeval_soft.measures.thresholds import N_SYS, Alive, ThresholdCounts
from sedeval_soft.plan import Plan
from sedeval_soft.settings import Settings
from sedeval_soft.tables.ticks import TICKS_PER_SECOND
from sedeval_soft.timeline.events import EventLifetimes, Events
from sedeval_soft.timeline.ranges import expand

_AT_ONCE = 1_000_000
"""Lifetimes of the system, over all cuts, that are counted at a time."""

_STEPS, _SORTED = 1 << 24, 1 << 20
"""Steps of staircases that are kept, and rates that are put in order, at a time."""


_MOST, _FEWEST = 20_000_000, 64
"""Lifetimes of the system, over all cuts, beyond which evenly spaced ones stand for all; at least so many."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Levels at which the reference is cut, (n,) ascending, and how many levels each stands for, (n,).

    exact: whether the reference is the same at all levels that a cut stands for.
    """

    level: Floats
    width: Floats
    exact: bool

    @classmethod
    def between(cls, tally: Tally) -> Self:
        """Return all different cuts of the reference, or evenly spaced ones where those would be too many."""
        edges, n_sys = edges_of(tally), len(tally.system("intersection"))
        if (len(edges) - 1) * n_sys <= _MOST or len(edges) - 1 <= _FEWEST:
            return cls(edges[1:], np.diff(edges), exact=True)
        n = max(_FEWEST, _MOST // n_sys)
        return cls(edges[-1] * (np.arange(n) + 0.5) / n, np.full(n, edges[-1] / n), exact=False)

    def notes(self) -> list[str]:
        """Return what a reader must know of intervals over these cuts."""
        sampled = f"intervals of soft PSDS are those of its mean over {len(self.level)} evenly spaced"
        return (
            [] if self.exact else [f"{sampled} levels of the reference, which has too many to resample all"]
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """What files count at all thresholds.

    classes: the candidates of each class. n_ref, ticks: (n_files, n_classes) how many events the reference
    has, and how long they last together. n_sys: (n_files, n_classes) detections of all thresholds.
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
        n_files: int,
        kind: Index,
        criteria: Criteria,
        classes: Sequence[Candidates] | None = None,
    ) -> Self:
        """Count each file.

        kind: (n_classes,) as for `triggered`, ascending. Counts are FOUND and N_SYS, both together, and where
        cross triggers count, those of each class of the same kind. classes: the candidates of the best
        intersection-based F, whose counts are these where no cross triggers count; None to find them.
        """
        n_classes = len(kind)
        shape = n_files, n_classes
        events = reference.lasting()
        n_ref = count_per_class(events, *shape)
        if classes is None or criteria.alpha_ct > 0:
            judged = Judged.of(reference, system, n_classes, criteria)
            classes = [*map(Candidates.of, _counts(judged, n_ref, kind, criteria))]
        lasted = (events.offset - events.onset).astype(np.float64)
        ticks = sum_groups(file_class(events, n_classes), lasted, shape)
        return cls(classes, n_ref, ticks, _detections(system, *shape))


def _counts(judged: Judged, n_ref: Index, kind: Index, criteria: Criteria) -> list[ThresholdCounts]:
    """Return what each file counts at all thresholds, of each class; see `Counted.of`."""
    n_counts, false = 2, judged.false()
    lives: list[tuple[Alive, Sequence[int]]] = [(of, (FOUND, N_SYS)) for of in found_when(judged, criteria)]
    lives.append((false, (N_SYS,)))
    if criteria.alpha_ct > 0:
        first = np.searchsorted(kind, kind).tolist()
        n_counts += int(np.bincount(kind).max(initial=0))
        rows: dict[int, list[Index]] = {}
        for other, which in triggered(judged, n_ref.sum(axis=0), criteria, kind):
            rows.setdefault(2 + other - first[other], []).append(which)
        label, file, born, dies, _ = false
        for row, parts in rows.items():
            which = np.concatenate(parts)
            lives.append((Alive(label[which], file[which], born[which], dies[which]), (row,)))
    return ThresholdCounts.of_lives(lives, n_ref, n_counts, apart=True)


def _detections(system: EventLifetimes, n_files: int, n_classes: int) -> Index:
    """Return how many detections of all thresholds each file has, (n_files, n_classes)."""
    counts = np.bincount(file_class(system, n_classes), minlength=n_files * n_classes)
    return counts.reshape(n_files, n_classes)


@dataclass(frozen=True, slots=True)
class Rocs:
    """The PSD-ROCs of weighted files, and the areas below them.

    weights: (n_weights, n_files). rate: (n_weights,) one false positive per hour, NaN where there is no time.
    """

    weights: Floats
    rate: Floats
    criteria: Criteria

    @classmethod
    def of(cls, weights: Floats, length: Index, criteria: Criteria) -> Self:
        """Find the rates of files with so many ticks, (n_files,)."""
        return cls(weights, ratio(np.asarray(HOUR), weights @ length / TICKS_PER_SECOND), criteria)

    def n_steps(self, n_false: int) -> int:
        """Return how long staircases may be; n_false: how many false positives weighted files may have."""
        least = float(np.min(self.rate, where=self.rate > 0, initial=np.inf))
        return 2 + min(int(self.criteria.max_efpr / least), n_false)

    def most_found(self, systems: Sequence[Candidates], n_steps: int) -> Floats:
        """Return how many events are found with at most 0, 1 .. false positives, (n_weights, n_steps).

        systems: of one class, of which the best is taken.
        """
        most = np.zeros((len(self.weights), n_steps))
        for own in systems:
            for row, (found, false, *_) in self._points(own):
                np.maximum.at(most.reshape(-1), row * n_steps + false.astype(np.int64), found)
        return np.maximum.accumulate(most, axis=1)

    def lowest_rates(self, systems: Sequence[Candidates], size: int, per_trigger: Floats) -> Floats:
        """Return from which eFPR on 1, 2 .. `size` events are found, (n_weights, size), infinite for never.

        systems: as for `most_found`. per_trigger: (n_weights, n_classes) what a cross trigger adds to it.
        """
        lowest = np.full((len(self.weights), size + 1), np.inf)
        for own in systems:
            for row, (found, false, *triggers) in self._points(own):
                efpr = false * self.rate[row]
                for other, amount in enumerate(triggers):
                    efpr += amount * per_trigger[row, other]
                np.minimum.at(lowest.reshape(-1), row * (size + 1) + found.astype(np.int64), efpr)
        return np.minimum.accumulate(lowest[:, :0:-1], axis=1)[:, ::-1]

    def _points(self, own: Candidates) -> Iterator[tuple[Index, Floats]]:
        """Yield points that may be on the ROC of a class: positions of weights, and each count, (n,)."""
        stretches, limit = own.stretches(self.weights), self.criteria.max_efpr
        # What is detected and has not found anything is false.
        fewest = stretches.least - stretches.most
        worth = (fewest * self.rate[:, None] < limit) & (stretches.most > 0)
        for _, row, counts in stretches.counts(worth):
            counts[FALSE] = counts[N_SYS] - counts[FOUND]
            at, some = np.nonzero((counts[FALSE] * self.rate[row] < limit) & (counts[FOUND] > 0))
            yield row[some], counts[:, at, some]

    def left(self, efpr: Floats) -> Floats:
        """Return which share of the area lies beyond a rate, 0 from the largest one on."""
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
        # By the widths of steps: where all is found at once the area is 1, whatever stood before.
        area: Floats = (etpr * (left - np.append(left[:, 1:], np.zeros((len(left), 1)), axis=1))).sum(axis=1)
        return area


_Areas = tuple[Floats, Floats]
"""PSDS of all classes together, (n_weights,), and of each, (n_classes, n_weights)."""


def _without_triggers(rocs: Rocs, found: Floats, n_ref: Floats) -> _Areas:
    """Return the areas below staircases; found: (n_classes, n_weights, n_steps)."""
    left = rocs.left(np.arange(found.shape[2]) * rocs.rate[:, None])
    # Sums over whole events: where all are found at once it is 1.
    classes = ratio((np.diff(found, axis=2, prepend=0.0) * left).sum(axis=2), n_ref)
    return rocs.below(found, left, n_ref) if rocs.criteria.alpha_st > 0 else _mean(classes), classes


def _with_triggers(
    rocs: Rocs, systems: Sequence[Sequence[Candidates]], n_ref: Floats, seconds: Floats
) -> _Areas:
    """Return the areas below the ROCs of classes that may trigger one another.

    systems: of each class. n_ref, seconds: (n_classes, n_weights) of the reference.
    """
    per_trigger = (
        rocs.criteria.alpha_ct * HOUR * np.where(n_ref > 0, 1 / np.where(n_ref > 0, seconds, 1.0), 0)
    )
    others = np.maximum((n_ref > 0).sum(axis=0) - (n_ref > 0), 1)
    lowest = [
        rocs.lowest_rates(own, int(n_ref[c].max(initial=0)), (per_trigger / others[c]).T)
        for c, own in enumerate(systems)
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
class WeightedPsds:
    """What gives the PSDS of weighted files.

    systems: by the names of `systems_of`, what is counted against the cut reference; none where nothing is.
    cuts: of the soft reference; None where that reading is not asked for, or where there is one cut, which is
    that of the hard reading. n_sys: detections of all thresholds, (n_files, n_classes) of each system.
    """

    tally: Tally
    settings: Settings
    systems: Sequence[Counted]
    cuts: Cuts | None
    n_sys: Sequence[Index]

    @classmethod
    def of(cls, tally: Tally, settings: Settings, candidates: Sequence[Candidates] | None = None) -> Self:
        """Count what all replicates share; candidates: those of the best intersection-based F if known."""
        readings, criteria = Plan.of(settings).psds, Criteria.of(settings)
        if not tally.per_file["length"].any():
            # Where there is no time events may not have been kept.
            return cls(tally, settings, [], None, [])
        systems, shape, cuts = [], (len(tally.files), len(tally.classes)), None
        if "soft" in readings:
            cuts = None if is_cut_once(tally) else Cuts.between(tally)
        if "hard" in readings or cuts is None:
            reference, kind = tally.events["reference"].events(), np.zeros(shape[1], dtype=np.int64)
            names = systems_of(settings) if "hard" in readings else systems_of(settings)[:1]
            # Those with a median filter have other events.
            known = [candidates, *[None] * len(names[1:])]
            systems = [
                Counted.of(reference, lifetimes_of(tally, name), shape[0], kind, criteria, classes)
                for name, classes in zip(names, known, strict=True)
            ]
        n_sys = [of.n_sys for of in systems]
        if cuts is not None:
            everything = tally.events.get("everything", tally.system("intersection"))
            n_sys.append(_detections(everything, *shape))
        return cls(tally, settings, systems, cuts, n_sys)

    def tables(self, weights: Floats) -> Tables:
        """Return PSDS by basis and reading, (n_weights,) and of classes (n_weights, n_classes).

        weights: (n_weights, n_files), whole numbers.
        """
        criteria, length = Criteria.of(self.settings), self.tally.per_file["length"]
        readings, n_steps = Plan.of(self.settings).psds, 0
        if not criteria.alpha_ct > 0:
            # No class has more false positives than weighted files have detections of all thresholds.
            most = max((int((weights @ n_sys).max(initial=0)) for n_sys in self.n_sys), default=0)
            n_steps = Rocs.of(weights, length, criteria).n_steps(most)
        step = max(1, _STEPS // max(len(self.tally.classes) * n_steps, 1))
        blocks = (weights[begin : begin + step] for begin in range(0, max(len(weights), 1), step))
        parts = [self._areas(Rocs.of(block, length, criteria), n_steps) for block in blocks]
        scores = {}
        for name in parts[0]:
            overall, classes = (
                np.concatenate(of, axis=-1) for of in zip(*(p[name] for p in parts), strict=True)
            )
            scores[name] = Averaged(classes.T, overall=overall)
        return {
            ("intersection", reading): {name: of for (each, name), of in scores.items() if each == reading}
            for reading in readings
        }

    def _areas(self, rocs: Rocs, n_steps: int) -> dict[tuple[str, str], _Areas]:
        """Return PSDS by reading and name; n_steps: how long staircases may be."""
        areas: dict[tuple[str, str], _Areas] = {}
        readings, timeless = Plan.of(self.settings).psds, np.isnan(rocs.rate)
        if "hard" in readings or self.cuts is None:
            areas["hard", "psds"] = self._hard(rocs, self.systems[:1], n_steps)
        if "hard" in readings and self.settings.psds_median_filters:
            areas["hard", "pipsds"] = self._hard(rocs, self.systems[1:], n_steps)
        if "soft" in readings:
            of_cuts = None if self.cuts is None else self._soft(rocs, self.cuts, n_steps)
            areas["soft", "psds"] = of_cuts or areas["hard", "psds"]
        return {
            name: (np.where(timeless, np.nan, of), np.where(timeless, np.nan, by))
            for name, (of, by) in areas.items()
        }

    def _hard(self, rocs: Rocs, systems: Sequence[Counted], n_steps: int) -> _Areas:
        """Return PSDS against the cut reference, of the best of some systems at each rate."""
        if not systems:
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

    def _soft(self, rocs: Rocs, cuts: Cuts, n_steps: int) -> _Areas:
        """Return the means over the levels where there is a reference."""
        shape, apart = (len(self.tally.classes), len(rocs.rate)), rocs.criteria.alpha_ct > 0
        sums, levels = np.zeros((2, shape[0] + 1, shape[1]))
        # Of each class at the cut that is looked at.
        found, n_ref = np.zeros((*shape, n_steps)), np.zeros(shape)
        for widths, cut, label, counted in self._at_cuts(cuts, every=apart):
            events, ticks = ((rocs.weights @ of).T for of in (counted.n_ref, counted.ticks))
            bounds = np.searchsorted(cut, np.arange(len(widths) + 1))
            for width, pairs in zip(widths.tolist(), map(np.arange, bounds[:-1], bounds[1:]), strict=True):
                n_ref[label[pairs]] = events[pairs]
                if apart:
                    systems = [[counted.classes[pair]] for pair in pairs.tolist()]
                    areas = _with_triggers(rocs, systems, n_ref, ticks[pairs] / TICKS_PER_SECOND)
                else:
                    for pair in pairs.tolist():
                        found[label[pair]] = rocs.most_found([counted.classes[pair]], n_steps)
                    areas = _without_triggers(rocs, found, n_ref)
                values = np.concatenate((areas[0][None], areas[1]))
                defined = ~np.isnan(values)
                sums += np.where(defined, values, 0.0) * width
                levels += defined * width
        means = ratio(sums, levels)
        return means[0], means[1:]

    def _at_cuts(self, cuts: Cuts, *, every: bool) -> Iterator[tuple[Floats, Index, Index, Counted]]:
        """Yield what is counted at some cuts: how many levels each stands for, and classes of some of them.

        These are pairs of a cut, ascending, and a class, (n,) each, and their counts: those where the class
        may have changed since the cut before, or every class of each cut.
        """
        n_files, n_classes, events = len(self.tally.files), len(self.tally.classes), self.tally.events
        reference, system = events["levels"], events.get("everything", self.tally.system("intersection"))
        changed = np.ones((len(cuts.level), n_classes), dtype=bool)
        for c in range(0 if every else n_classes):
            own = reference.take(reference.label == c)
            sides = [own, events["ignored"]] if "ignored" in events else [own]
            edges = np.unique(np.concatenate([ends for side in sides for ends in (side.born, side.dies)]))
            changed[1:, c] = np.diff(np.searchsorted(edges, cuts.level)) > 0
        begins = np.flatnonzero(changed.any(axis=1))
        if not len(begins):
            return
        changed, widths = changed[begins], np.add.reduceat(cuts.width, begins)
        upto = level_mostly(events["ignored"], system) if "ignored" in events else None
        orders = [np.argsort(side.label, kind="stable") for side in (reference, system)]
        sizes = np.cumsum(changed @ (np.bincount(system.label, minlength=n_classes) + n_files))
        for batch in np.split(np.arange(len(begins)), np.flatnonzero(np.diff(sizes // _AT_ONCE)) + 1):
            cut, label = np.nonzero(changed[batch])
            level, both = cuts.level[begins[batch][cut]], []
            for side, order in zip((reference, system), orders, strict=True):
                first, last = (np.searchsorted(side.label[order], label + end) for end in (0, 1))
                pair, at = expand(first, last)
                both.append((pair, order[at]))
            (pair, at), (owner, copied) = both
            alive = (reference.born[at] < level[pair]) & (level[pair] <= reference.dies[at])
            ours = reference.take(at[alive])
            ours = replace(ours, label=pair[alive].astype(np.int32))
            theirs = replace(system.take(copied), label=owner.astype(np.int32))
            if upto is not None:
                kept = (upto[copied] < level[owner]) | touched(ours.events(), theirs, len(cut))
                theirs = theirs.take(kept)
            criteria = Criteria.of(self.settings)
            yield widths[batch], cut, label, Counted.of(ours.events(), theirs, n_files, cut, criteria)
